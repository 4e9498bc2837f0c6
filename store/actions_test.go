package store

import (
	"reflect"
	"testing"

	"gatehouse/core"
)

func TestActionComesBackByteForByte(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	want := submit(t, db, draftOf(s, "a"))
	if want.ID != 1 || want.Version != 1 {
		t.Fatalf("id %d version %d, want 1 and 1", want.ID, want.Version)
	}
	read(t, db, func(v core.View) error {
		got, err := v.Action(1)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got\n%+v\nwant\n%+v", got, want)
		}
		digest, derr := core.DigestOf(got.Binding, got.Draft)
		if derr != nil || digest != want.Digest {
			t.Errorf("digest of what came back: %s (%v), want %s", digest, derr, want.Digest)
		}
		return err
	})
}
