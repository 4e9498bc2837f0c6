package files

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"gatehouse/core"
)

func (b *bench) current(id core.ActionID) core.Current {
	b.t.Helper()
	dispatch := b.dispatch(id)
	dispatch.WantUndo = true
	c, err := b.res.Current(context.Background(), dispatch)
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

// undoEntries reads undo data back: path, then kind and content.
func undoEntries(t *testing.T, data []byte) map[string]string {
	t.Helper()
	all := map[string]string{}
	r := bufio.NewReader(bytes.NewReader(data))
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return all
		}
		var e undoEntry
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		content := make([]byte, e.Size)
		if _, err := io.ReadFull(r, content); err != nil {
			t.Fatal(err)
		}
		all[e.Path+string(e.Raw)] = fmt.Sprintf("%s %04o %s%s", e.Kind, e.Mode, content, e.Link)
	}
}

func TestUndoHoldsWhatIsReplaced(t *testing.T) {
	defer goleak.VerifyNone(t)
	b := newBench(t, map[string]string{"f.txt": "one\n", "d/a.bin": "\x00\xff", "d/sub/x.txt": "x\n", "empty/.keep": ""})
	b.link("nowhere", "d/link")
	if err := os.Remove(filepath.Join(b.dir, "empty/.keep")); err != nil {
		t.Fatal(err)
	}
	edit, _ := b.queue(opEdit, "path", "f.txt", "old", "one", "new", "two")
	tree, _ := b.queue(opDelete, "path", "d")
	empty, _ := b.queue(opDelete, "path", "empty")
	for id, want := range map[core.ActionID]map[string]string{
		edit: {"": "file 0644 one\n"},
		tree: {
			"": "folder 0755 ", "a.bin": "file 0644 \x00\xff", "sub": "folder 0755 ", "sub/x.txt": "file 0644 x\n", "link": "link 0777 nowhere",
		},
		empty: {"": "folder 0755 "},
	} {
		c := b.current(id)
		data, err := io.ReadAll(c.Undo)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Undo.Close(); err != nil {
			t.Fatal(err)
		}
		if got := undoEntries(t, data); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("undo of %d: got %q, want %q", id, got, want)
		}
	}
	// What makes something, or only moves it, needs no copy.
	write, _ := b.queue(opWrite, "path", "new.txt", "text", "n")
	move, _ := b.queue(opMove, "from", "f.txt", "to", "g.txt")
	for _, id := range []core.ActionID{write, move} {
		if c := b.current(id); c.Undo != nil {
			t.Errorf("undo of %d: got some, want none", id)
		}
	}
	// One that is not read to its end lets go.
	if err := b.current(tree).Undo.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestUndoFailsWhenTheFileMovesOn(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, what := range []string{"f.txt", "d"} {
		b := newBench(t, map[string]string{"f.txt": strings.Repeat("one\n", 100), "d/x.txt": "x\n"})
		id, _ := b.queue(opDelete, "path", what)
		c := b.current(id)
		if what == "d" {
			b.disk("d/y.txt", "y\n")
		} else {
			b.disk("f.txt", strings.Repeat("two\n", 100))
		}
		if _, err := io.ReadAll(c.Undo); err == nil {
			t.Errorf("%s: the undo of what is no longer there was kept", what)
		}
		if err := c.Undo.Close(); err != nil {
			t.Fatal(err)
		}
		if !b.drifted(id) {
			t.Errorf("%s: no drift", what)
		}
	}
}

func TestF5_AFileChangedOnDiskDrifts(t *testing.T) {
	for name, c := range map[string]struct {
		args   []any
		change func(b *bench)
	}{
		"edit":           {[]any{opEdit, "path", "f.txt", "old", "one", "new", "1"}, func(b *bench) { b.disk("f.txt", "one\ntwo\n") }},
		"edit, mode":     {[]any{opEdit, "path", "f.txt", "old", "one", "new", "1"}, func(b *bench) { _ = os.Chmod(filepath.Join(b.dir, "f.txt"), 0o600) }},
		"write":          {[]any{opWrite, "path", "f.txt", "text", "1"}, func(b *bench) { _ = os.Remove(filepath.Join(b.dir, "f.txt")) }},
		"write new":      {[]any{opWrite, "path", "n.txt", "text", "1"}, func(b *bench) { b.disk("n.txt", "mine") }},
		"parent is made": {[]any{opWrite, "path", "n/n.txt", "text", "1"}, func(b *bench) { _ = os.Mkdir(filepath.Join(b.dir, "n"), 0o755) }},
		"parent is gone": {[]any{opWrite, "path", "d/n.txt", "text", "1"}, func(b *bench) { _ = os.RemoveAll(filepath.Join(b.dir, "d")) }},
		"move":           {[]any{opMove, "from", "f.txt", "to", "g.txt"}, func(b *bench) { b.disk("f.txt", "two\n") }},
		"move, taken":    {[]any{opMove, "from", "f.txt", "to", "g.txt"}, func(b *bench) { b.disk("g.txt", "mine") }},
		"move a folder":  {[]any{opMove, "from", "d", "to", "e"}, func(b *bench) { b.disk("d/deep/x.txt", "changed\n") }},
		"delete":         {[]any{opDelete, "path", "f.txt"}, func(b *bench) { b.disk("f.txt", "two\n") }},
		"delete folder":  {[]any{opDelete, "path", "d"}, func(b *bench) { b.disk("d/deep/new.txt", "mine") }},
		"mkdir":          {[]any{opMkdir, "path", "n"}, func(b *bench) { b.disk("n", "a file") }},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f.txt": "one\n", "d/deep/x.txt": "x\n"})
			id, _ := b.queue(c.args[0].(string), c.args[1:]...)
			if b.drifted(id) {
				t.Fatal("drifted by itself")
			}
			c.change(b)
			if !b.drifted(id) {
				t.Error("no drift")
			}
			before := fmt.Sprint(b.tree())
			o, err := b.res.Apply(context.Background(), b.dispatch(id))
			if err != nil || o.End == core.EndApplied {
				t.Errorf("apply on a base that moved: got %+v %v", o, err)
			}
			if after := fmt.Sprint(b.tree()); after != before {
				t.Errorf("apply on a base that moved: got %s, want %s", after, before)
			}
		})
	}
}

// A read of a file whose pending edit no longer fits says so, and shows the disk.
func TestF5_WhatNoLongerFitsIsNamed(t *testing.T) {
	b := newBench(t, map[string]string{"f.txt": "one\n"})
	edit, _ := b.queue(opEdit, "path", "f.txt", "old", "one", "new", "1")
	over, _ := b.queue(opEdit, "path", "f.txt", "old", "1", "new", "eins")
	b.disk("f.txt", "two\n")
	f := b.read(opRead, "path", "f.txt")
	if v := decodeAs[readValue](t, f.Value); *v.Text != "two\n" || len(f.Projected) != 0 {
		t.Errorf("read: got %q, projected %v", *v.Text, f.Projected)
	}
	if len(f.Incomplete) != 2 || f.Incomplete[0].Action != edit || f.Incomplete[1].Action != over || f.Incomplete[1].Reason != "behind action 1" {
		t.Errorf("incomplete: got %+v", f.Incomplete)
	}
}
