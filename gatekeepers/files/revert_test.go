package files_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"gatehouse/core"
	"gatehouse/gatekeepers/files"
)

// long ago is a time that nothing gets by itself; it has nanoseconds.
func longAgo() time.Time { return time.Date(2001, 2, 3, 4, 5, 6, 789012345, time.UTC) }

// facts is everything below a path, with modes and times; links have no time of ours.
func (d *desk) facts(name string) map[string]string {
	d.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(filepath.Join(d.dir, name), func(path string, _ fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == filepath.Join(d.dir, name) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		said := info.Mode().String()
		switch {
		case info.Mode().Type() == fs.ModeSymlink:
			to, err := os.Readlink(path)
			said += " to " + to
			all[path] = said
			return err
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			said += fmt.Sprintf(" %q", data)
		}
		all[path] = said + " " + info.ModTime().UTC().String()
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return all
}

// touch gives a path a mode and a time.
func (d *desk) touch(name string, mode fs.FileMode) {
	d.t.Helper()
	path := filepath.Join(d.dir, name)
	err := os.Chtimes(path, longAgo(), longAgo())
	if err == nil {
		err = os.Chmod(path, mode)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) applied(method, args string) core.ActionID {
	d.t.Helper()
	id := d.queue(method, args)
	wantOutcome(d.t, d.approve(id), id, core.OutcomeApplied)
	return id
}

func (d *desk) tryRevert(id core.ActionID) (core.ActionID, error) {
	d.t.Helper()
	result, err := d.kernel.Revert(d.t.Context(), id, core.Authority{Person: "alice", Means: core.MeansPipe})
	return result.Action, err
}

// reverted queues the revert of an action and approves it.
func (d *desk) reverted(id core.ActionID) core.ActionID {
	d.t.Helper()
	back, err := d.tryRevert(id)
	if err != nil {
		d.t.Fatal(err)
	}
	if a := d.action(back); a.Drift != core.DriftNone {
		d.t.Errorf("revert of %d: drifted from the start (%s)", id, a.Reason)
	}
	wantOutcome(d.t, d.approve(back), back, core.OutcomeApplied)
	if a := d.action(id); a.State != core.StateReverted {
		d.t.Errorf("action %d: got %s, want reverted", id, a.State)
	}
	return back
}

func (d *desk) wantFacts(when, name string, want map[string]string) {
	d.t.Helper()
	if got := d.facts(name); fmt.Sprint(got) != fmt.Sprint(want) {
		d.t.Errorf("%s: got  %v\nwant %v", when, got, want)
	}
}

func TestF8_DeleteAndRevert(t *testing.T) {
	large := strings.Repeat("a line of a large file\n", 140_000) // 3 MiB: above what a field holds
	for name, content := range map[string]string{
		"text": "one\ntwo\n", "empty": "", "binary": "\x00\xff\xfe", "large": large, "one MiB": strings.Repeat("x", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, files.Options{}, map[string]string{"f": content})
			d.touch("f", 0o640)
			before := d.facts("f")
			id := d.applied("delete", `{"path":"f"}`)
			d.wantFacts("deleted", "f", map[string]string{})
			back := d.reverted(id)
			d.wantFacts("reverted", "f", before)
			// What is sent stands in the fields, or its hash and size do.
			fields := fmt.Sprint(d.action(back).Draft.Fields)
			if hashed := strings.Contains(fields, "sha256"); hashed != (len(content) > 1<<20) {
				t.Errorf("fields: got a hash %v for %d bytes", hashed, len(content))
			}
			// And once more: gone, and back.
			again := d.reverted(back)
			d.wantFacts("revert reverted", "f", map[string]string{})
			d.reverted(again)
			d.wantFacts("and reverted", "f", before)
		})
	}
}

func TestF8_DeleteOfAFolderAndRevert(t *testing.T) {
	for _, large := range []bool{false, true} {
		t.Run(fmt.Sprintf("large %v", large), func(t *testing.T) {
			text := "one\n"
			if large {
				text = strings.Repeat(text, 500_000)
			}
			d := newDesk(t, files.Options{}, map[string]string{"d/a.txt": text, "d/sub/b.bin": "\x00\x01", "d/sub/deep/c": "c", "d/bad\xff": "not UTF-8"})
			if err := os.Symlink("../nowhere", filepath.Join(d.dir, "d/link")); err != nil {
				t.Fatal(err)
			}
			for name, mode := range map[string]fs.FileMode{
				"d/a.txt": 0o600, "d/sub/b.bin": 0o755, "d/sub/deep/c": 0o444, "d/sub/deep": 0o555, "d/sub": 0o711, "d": 0o750,
			} {
				d.touch(name, mode)
			}
			for _, name := range []string{"d/sub/deep", "d/sub", "d"} { // touching what is in it changed it
				d.touch(name, map[string]fs.FileMode{"d/sub/deep": 0o555, "d/sub": 0o711, "d": 0o750}[name])
			}
			before := d.facts("d")
			id := d.applied("delete", `{"path":"d"}`)
			d.wantFacts("deleted", "d", map[string]string{})
			back := d.reverted(id)
			d.wantFacts("reverted", "d", before)
			d.reverted(back)
			d.wantFacts("revert reverted", "d", map[string]string{})
		})
	}
}

func TestF8_OtherWritesAndRevert(t *testing.T) {
	for name, c := range map[string]struct{ method, args string }{
		"write":                       {"write", `{"path":"f.txt","text":"other"}`},
		"write, base64":               {"write", `{"path":"f.txt","base64":"AP8="}`},
		"edit":                        {"edit", `{"path":"f.txt","old":"one","new":"two"}`},
		"write of a new file":         {"write", `{"path":"n.txt","text":"new"}`},
		"write in new folders":        {"write", `{"path":"n/m/n.txt","text":"new"}`},
		"move":                        {"move", `{"from":"f.txt","to":"g.txt"}`},
		"move into new folders":       {"move", `{"from":"f.txt","to":"n/m/g.txt"}`},
		"move of a folder":            {"move", `{"from":"d","to":"e"}`},
		"move of a folder into a new": {"move", `{"from":"d","to":"n/e"}`},
		"mkdir":                       {"mkdir", `{"path":"n"}`},
		"mkdir in new folders":        {"mkdir", `{"path":"n/m/o"}`},
		"delete in a folder":          {"delete", `{"path":"d/x.txt"}`},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, files.Options{}, map[string]string{"f.txt": "one\n", "d/x.txt": "x"})
			d.touch("f.txt", 0o640)
			d.touch("d/x.txt", 0o600)
			all := func() string {
				facts := map[string]string{}
				for path, said := range d.facts("") {
					if rel, err := filepath.Rel(d.dir, path); err == nil && !strings.HasPrefix(said, "d") { // folders change their times
						facts[rel] = said
					} else {
						facts[rel] = said[:10]
					}
				}
				return fmt.Sprint(facts)
			}
			before := all()
			id := d.applied(c.method, c.args)
			after := all()
			if after == before {
				t.Fatal("nothing was changed")
			}
			back := d.reverted(id)
			if got := all(); got != before {
				t.Errorf("reverted: got  %s\nwant %s", got, before)
			}
			d.reverted(back)
			if got := all(); got != after && c.method != "edit" && c.method != "mkdir" {
				t.Errorf("revert reverted: got  %s\nwant %s", got, after)
			}
		})
	}
}

func TestF8_WhatIsNotTakenBack(t *testing.T) {
	for name, c := range map[string]struct {
		method, args string
		change       func(dir string) error
		why          string
	}{
		"a folder that is not empty": {"mkdir", `{"path":"n"}`, func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "n/mine"), []byte("mine"), 0o600)
		}, "only an empty folder"},
		"what is gone":         {"write", `{"path":"n","text":"n"}`, func(dir string) error { return os.Remove(filepath.Join(dir, "n")) }, "not there any more"},
		"what was moved on":    {"move", `{"from":"f","to":"g"}`, func(dir string) error { return os.Remove(filepath.Join(dir, "g")) }, "not there any more"},
		"a place that is used": {"delete", `{"path":"f"}`, func(dir string) error { return os.WriteFile(filepath.Join(dir, "f"), nil, 0o600) }, "is there again"},
		"a move to such a one": {"move", `{"from":"f","to":"g"}`, func(dir string) error { return os.WriteFile(filepath.Join(dir, "f"), nil, 0o600) }, "is there already"},
		"what is a folder now": {"write", `{"path":"f","text":"n"}`, func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "f")), os.Mkdir(filepath.Join(dir, "f"), 0o700))
		}, "something else now"},
		"what became a link": {"write", `{"path":"n","text":"n"}`, func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "n")), os.Symlink("f", filepath.Join(dir, "n")))
		}, "something else now"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, files.Options{}, map[string]string{"f": "one\n"})
			id := d.applied(c.method, c.args)
			if err := c.change(d.dir); err != nil {
				t.Fatal(err)
			}
			before := d.facts("")
			_, err := d.tryRevert(id)
			var refused *core.NotRevertibleError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.why) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %q", err, c.why)
			}
			d.wantFacts("refused", "", before)
			if a := d.action(id); a.State != core.StateApplied {
				t.Errorf("the original is %s", a.State)
			}
		})
	}
}

// A file that was changed since is shown as it is now, and the revert is drifted from the start; so is one that
// changes while the revert waits.
func TestF8_RevertOfWhatChangedSince(t *testing.T) {
	for _, early := range []bool{true, false} {
		d := newDesk(t, files.Options{}, map[string]string{"f": "one\n"})
		id := d.applied("edit", `{"path":"f","old":"one","new":"two"}`)
		change := func() { write(t, filepath.Join(d.dir, "f"), "two\nthree\n") }
		if early {
			change()
		}
		back, err := d.tryRevert(id)
		if err != nil {
			t.Fatal(err)
		}
		if !early {
			change()
			wantOutcome(t, d.approve(back), back, core.OutcomeDrifted)
		}
		a := d.action(back)
		if a.Drift != core.DriftFresh || a.Risk() != core.RiskHigh || !strings.Contains(fieldsOf(a), `two\nthree`) {
			t.Errorf("early %v: got %s %s %s", early, a.Drift, a.Risk(), fieldsOf(a))
		}
		d.wantDisk("f", "two\nthree\n")
		wantOutcome(t, d.approve(back), back, core.OutcomeApplied)
		d.wantDisk("f", "one\n")
	}
}

func fieldsOf(a core.Action) string {
	var b strings.Builder
	for _, f := range a.Draft.Fields {
		fmt.Fprintf(&b, "%s: %s -> %s\n", f.Name, f.Before, f.After)
	}
	return b.String()
}

// What is put back is what the digest holds, byte for byte, whatever became of the store.
func TestF8_UndoDataThatWasAltered(t *testing.T) {
	for name, alter := range map[string]string{
		"altered": `UPDATE undo SET data = CAST(replace(CAST(data AS TEXT), 'large', 'LARGE') AS BLOB)`,
		"cut":     `DELETE FROM undo WHERE part = 2`,
		"longer":  `INSERT INTO undo (action, part, data) SELECT action, 3, x'00' FROM undo LIMIT 1`,
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, files.Options{}, map[string]string{"f": strings.Repeat("a line of a large file\n", 110_000)})
			id := d.applied("delete", `{"path":"f"}`)
			back, err := d.tryRevert(id)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := sql.Open("sqlite", d.db)
			if err != nil {
				t.Fatal(err)
			}
			defer raw.Close()
			if _, err := raw.Exec(alter); err != nil {
				t.Fatal(err)
			}
			wantOutcome(t, d.approve(back), back, core.OutcomeFailed)
			d.wantFacts("refused", "", map[string]string{d.dir: d.facts("")[d.dir]})
			if a := d.action(id); a.State != core.StateApplied {
				t.Errorf("the original is %s", a.State)
			}
		})
	}
}

// While a revert waits reads show what it will bring; of what is too large they say so.
func TestF8_ReadsShowAPendingRevert(t *testing.T) {
	d := newDesk(t, files.Options{}, map[string]string{
		"d/a.txt": "one\n", "large": strings.Repeat("a line of a large file\n", 140_000),
	})
	folder, large := d.applied("delete", `{"path":"d"}`), d.applied("delete", `{"path":"large"}`)
	if _, err := d.tryRevert(folder); err != nil {
		t.Fatal(err)
	}
	out := d.call("SITE", "read", `{"path":"d/a.txt"}`)
	if out.Pending() != 1 || !bytes.Contains(out.Value(), []byte(`one\n`)) {
		t.Errorf("read: got %s, pending %d", out.Value(), out.Pending())
	}
	back, err := d.tryRevert(large)
	if err != nil {
		t.Fatal(err)
	}
	out = d.call("SITE", "stat", `{"path":"large"}`)
	if gaps := out.Incomplete(); len(gaps) != 1 || gaps[0].Action != back || !strings.Contains(gaps[0].Reason, "too large") {
		t.Errorf("stat of a large one: got %s, incomplete %v", out.Value(), gaps)
	}
}
