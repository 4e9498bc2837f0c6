package kit_test

import (
	"errors"
	"reflect"
	"testing"

	"gatehouse/core"
	"gatehouse/gatekeepers/kit"
)

func someNames() core.Names {
	return core.Names{"~1": {Provider: 11, Real: "i7"}, "~2": {Provider: 12}, "~3": {Provider: 13, Real: "i7"}}
}

func TestNames_ResolveForEverAndNeverRedirect(t *testing.T) {
	for _, c := range []struct{ target, want string }{
		{"c/~1", "c/i7"}, {"c/~2", "c/~2"}, {"c/~9", "c/~9"}, {"c/i7", "c/i7"}, {"~1/~2/x~1", "i7/~2/x~1"}, {"c", "c"},
	} {
		if got := kit.ResolveTarget(someNames(), c.target); got != c.want {
			t.Errorf("%s: got %s, want %s", c.target, got, c.want)
		}
	}
}

func TestNames_SpellingsMeetWhatWasQueuedBefore(t *testing.T) {
	got := kit.Spellings(someNames(), "c/~1")
	want := []string{"c/i7", "c/~1", "c/~3"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestBindRefs_ReplacesDeepInsideAndRefusesUnbound(t *testing.T) {
	payload := []byte(`{"id":"~1","links":[{"to":"~1"},{"to":"plain"}],"by":{"a":"~1"},"body":"~1","n":12345678901234567890}`)
	got, err := kit.BindRefs(someNames(), payload, []string{"id", "links.*.to", "by.*", "none.here"})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"body":"~1","by":{"a":"i7"},"id":"i7","links":[{"to":"i7"},{"to":"plain"}],"n":12345678901234567890}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	_, err = kit.BindRefs(someNames(), []byte(`{"links":[{"to":"~2"}]}`), []string{"links.*.to"})
	var refused *core.CallError
	if !errors.As(err, &refused) || refused.Code != core.CodeNotCreated || refused.Text != core.NotCreated("~2", 12).Text {
		t.Errorf("unbound: got %v, want not created yet, naming action 12", err)
	}
	if _, err = kit.BindRefs(someNames(), []byte(`{"id":"~9"}`), []string{"id"}); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("unknown id: got %v, want not found", err)
	}
}

func TestBindRefs_LeavesOtherPayloadsByteForByte(t *testing.T) {
	payload := []byte(`{ "b": 1.50, "a": "x" }`)
	got, err := kit.BindRefs(someNames(), payload, []string{"a"})
	if err != nil || string(got) != string(payload) {
		t.Errorf("got %s, %v", got, err)
	}
}
