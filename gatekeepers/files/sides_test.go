package files_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"gatehouse/core"
	"gatehouse/gatekeepers/files"
)

// F5: a drifted action keeps what it was made on, however often the file changes, beside what is there now and what it
// was to become.
func TestF5_ThreeSidesOfADrift(t *testing.T) {
	for _, c := range []struct{ method, args, ours string }{
		{"write", `{"path":"f","text":"one\nours\nthree\n"}`, `"one\nours\nthree\n"`},
		{"edit", `{"path":"f","old":"three","new":"THREE"}`, `"one\ntwo\nTHREE\n"`},
	} {
		t.Run(c.method, func(t *testing.T) {
			d := newDesk(t, files.Options{}, map[string]string{"f": "one\ntwo\nthree\n"})
			id := d.queue(c.method, c.args)
			if sides := d.action(id).Sides(); len(sides) != 0 {
				t.Errorf("before it drifted: got %v", sides)
			}
			for _, theirs := range []string{"one\ntheirs\nthree\n", "one\nlater\nthree\n"} {
				write(t, filepath.Join(d.dir, "f"), theirs)
				wantOutcome(t, d.approve(id), id, core.OutcomeDrifted)
				got := map[string]core.Sides{}
				for _, s := range d.action(id).Sides() {
					got[s.Name] = s
				}
				text := got["text"]
				if string(text.Base) != `"one\ntwo\nthree\n"` || string(text.Ours) != c.ours {
					t.Errorf("text: got base %s, ours %s", text.Base, text.Ours)
				}
				if want := encode(t, theirs); string(text.Theirs) != want {
					t.Errorf("text: got theirs %s, want %s", text.Theirs, want)
				}
				if _, found := got["path"]; found {
					t.Error("the path did not move")
				}
			}
			wantOutcome(t, d.approve(id), id, core.OutcomeApplied)
			if sides := d.action(id).Sides(); len(sides) != 0 {
				t.Errorf("once it was applied: got %v", sides)
			}
		})
	}
}

// An edit whose place is gone can only be rejected; what it met is shown all the same.
func TestF5_AnEditThatFitsNoMore(t *testing.T) {
	d := newDesk(t, files.Options{}, map[string]string{"f": "one\ntwo\nthree\n"})
	id := d.queue("edit", `{"path":"f","old":"two","new":"ours"}`)
	write(t, filepath.Join(d.dir, "f"), "one\ntheirs\nthree\n")
	wantOutcome(t, d.approve(id), id, core.OutcomeDrifted)
	a := d.action(id)
	if a.Drift != core.DriftBlocked {
		t.Fatalf("got drift %q", a.Drift)
	}
	sides := a.Sides()
	if len(sides) != 1 || string(sides[0].Base) != `"one\ntwo\nthree\n"` || string(sides[0].Theirs) != `"one\ntheirs\nthree\n"` || string(sides[0].Ours) != `"one\nours\nthree\n"` {
		t.Errorf("got %s", sides)
	}
	wantOutcome(t, d.approve(id), id, core.OutcomeDrifted)
	d.wantDisk("f", "one\ntheirs\nthree\n")
	wantOutcome(t, d.reject(id), id, core.OutcomeRejected)
}

// A file that is gone has no side of its own.
func TestF5_AFileThatIsGone(t *testing.T) {
	d := newDesk(t, files.Options{}, map[string]string{"f": "one\n"})
	id := d.queue("write", `{"path":"f","text":"ours\n"}`)
	if err := os.Remove(filepath.Join(d.dir, "f")); err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, d.approve(id), id, core.OutcomeDrifted)
	for _, s := range d.action(id).Sides() {
		if s.Name == "text" && string(s.Theirs) == "null" && string(s.Base) == `"one\n"` {
			return
		}
	}
	t.Errorf("got %v", d.action(id).Sides())
}

func encode(t *testing.T, s string) string {
	t.Helper()
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
