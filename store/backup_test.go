package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/core"
)

func TestBackupIsAWholeStore(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	for range 300 {
		submit(t, db, draftOf(s, "a"))
	}
	dest := filepath.Join(t.TempDir(), "it's.db")
	if err := db.Backup(background, dest); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dest)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("%v (%v), want a private file", info, err)
	}
	if names := tree(t, filepath.Dir(dest)); len(names) != 1 {
		t.Errorf("files beside the backup: %d", len(names)-1)
	}
	submit(t, db, draftOf(s, "later"))
	copied := openAt(t, dest)
	read(t, copied, func(v core.View) error {
		page, err := v.Queue(core.QueueQuery{Count: true, Words: []string{"edit a"}})
		if page.Total != 300 {
			t.Errorf("%d actions, want 300", page.Total)
		}
		return err
	})
	if found, err := copied.Fsck(background); err != nil || !found.OK() {
		t.Errorf("fsck of the backup: %+v (%v)", found.FirstBad, err)
	}
}

func TestBackupLeavesNothingAfterAnError(t *testing.T) {
	db := openNew(t)
	newSession(t, db, "one")
	dir := t.TempDir()
	dest := filepath.Join(dir, "b.db")
	ctx, cancel := context.WithCancel(background)
	cancel()
	if err := db.Backup(ctx, dest); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	if names := tree(t, dir); len(names) != 0 {
		t.Errorf("left behind: %v", names)
	}
	if err := os.WriteFile(dest, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, there := range []string{dest, dir, db.Path()} {
		err := db.Backup(background, there)
		if !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), there) {
			t.Errorf("%s: %v, want a refusal that names it", there, err)
		}
	}
	if content, err := os.ReadFile(dest); string(content) != "mine" || err != nil {
		t.Errorf("overwritten: %q (%v)", content, err)
	}
	if err := db.Backup(background, filepath.Join(dir, "none", "b.db")); err == nil {
		t.Error("a folder that is not there was accepted")
	}
}
