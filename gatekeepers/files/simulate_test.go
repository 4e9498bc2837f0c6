package files

import (
	"maps"
	"slices"
	"testing"

	"gatehouse/core"
)

func TestF1_AWriteIsInEveryReadAndNotOnDisk(t *testing.T) {
	b := newBench(t, map[string]string{"index.html": "<h1>hi</h1>\n"})
	before := b.tree()
	id, d := b.queue(opWrite, "path", "a/b.txt", "text", "needle one\ntwo\n")
	if got := d.Provides; !slices.Equal(got, []string{"a/b.txt", "a"}) {
		t.Errorf("provides: got %v", got)
	}
	list := b.read(opList, "path", "a")
	if got := b.names("a"); !slices.Equal(got, []string{"b.txt"}) {
		t.Errorf("list a: got %v", got)
	}
	wantIDs(t, "list a", list.Projected, id)
	if got := b.names(""); !slices.Equal(got, []string{"a", "index.html"}) {
		t.Errorf("list: got %v", got)
	}
	if got := b.text("a/b.txt"); got != "needle one\ntwo\n" {
		t.Errorf("read: got %q", got)
	}
	wantIDs(t, "read", b.read(opRead, "path", "a/b.txt").Projected, id)
	found := b.read(opSearch, "query", "needle")
	hits := decodeAs[searchValue](t, found.Value).Hits
	if len(hits) != 1 || hits[0] != (hit{Path: "a/b.txt", Line: 1, Text: "needle one"}) {
		t.Errorf("search: got %+v", hits)
	}
	wantIDs(t, "search", found.Projected, id)
	stat := b.read(opStat, "path", "a/b.txt")
	if v := decodeAs[statValue](t, stat.Value); v.Size != 15 || v.Kind != kindFile {
		t.Errorf("stat: got %+v", v)
	}
	wantIDs(t, "stat", stat.Projected, id)
	if after := b.tree(); !maps.Equal(before, after) {
		t.Errorf("disk: got %v, want %v", after, before)
	}
	b.applyAll()
	b.wantDisk("a/b.txt", "needle one\ntwo\n")
}

func TestF2_AnEditNeedsExactlyOneOccurrence(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "one two two\n", "aaa.txt": "aaa"})
	b.wantRefused("does not occur", opEdit, "path", "a.txt", "old", "three", "new", "3")
	b.wantRefused("more than once", opEdit, "path", "a.txt", "old", "two", "new", "2")
	b.wantRefused("more than once", opEdit, "path", "aaa.txt", "old", "aa", "new", "b")
	b.wantRefused("empty", opEdit, "path", "a.txt", "old", "", "new", "b")
	b.queue(opEdit, "path", "a.txt", "old", "one", "new", "two")
	// The simulated file counts, not the one on disk.
	b.wantRefused("does not occur", opEdit, "path", "a.txt", "old", "one", "new", "1")
	b.queue(opEdit, "path", "a.txt", "old", "two two two", "new", "x")
	b.applyAll()
	b.wantDisk("a.txt", "x\n")
}

func TestF3_EachStepIsProjectedInOrder(t *testing.T) {
	b := newBench(t, map[string]string{"keep.txt": "k"})
	missing := func(path string) {
		t.Helper()
		if _, err := b.tryRead(opRead, "path", path); !isNotFound(err) {
			t.Errorf("read %s: got %v, want not found", path, err)
		}
	}
	write, _ := b.queue(opWrite, "path", "old.txt", "text", "one")
	if got := b.text("old.txt"); got != "one" {
		t.Errorf("after write: got %q", got)
	}
	missing("new.txt")
	edit, ed := b.queue(opEdit, "path", "old.txt", "old", "one", "new", "two")
	wantIDs(t, "edit needs", references(ed.Needs), write)
	if got := b.text("old.txt"); got != "two" {
		t.Errorf("after edit: got %q", got)
	}
	move, md := b.queue(opMove, "from", "old.txt", "to", "dir/new.txt")
	wantIDs(t, "move needs", references(md.Needs), write)
	wantIDs(t, "move after", references(md.After), edit)
	missing("old.txt")
	if got := b.text("dir/new.txt"); got != "two" {
		t.Errorf("after move: got %q", got)
	}
	wantIDs(t, "read of the new name", b.read(opRead, "path", "dir/new.txt").Projected, write, edit, move)
	_, dd := b.queue(opDelete, "path", "dir/new.txt")
	wantIDs(t, "delete needs", references(dd.Needs), move)
	missing("old.txt")
	missing("dir/new.txt")
	if got := b.names("dir"); len(got) != 0 {
		t.Errorf("list dir: got %v", got)
	}
	b.applyAll()
	if got, want := b.tree(), map[string]string{"keep.txt": "k", "dir/": ""}; !maps.Equal(got, want) {
		t.Errorf("disk: got %v, want %v", got, want)
	}
}

func TestF3_AMovedFolderTakesWhatIsPendingInItAlong(t *testing.T) {
	b := newBench(t, map[string]string{"a/x.txt": "x", "a/sub/y.txt": "y"})
	b.queue(opEdit, "path", "a/x.txt", "old", "x", "new", "X")
	b.queue(opWrite, "path", "a/sub/z.txt", "text", "z")
	b.queue(opMove, "from", "a", "to", "b")
	b.queue(opEdit, "path", "b/sub/y.txt", "old", "y", "new", "Y")
	b.queue(opMove, "from", "b/sub", "to", "c")
	for path, want := range map[string]string{"b/x.txt": "X", "c/z.txt": "z", "c/y.txt": "Y"} {
		if got := b.text(path); got != want {
			t.Errorf("read %s: got %q, want %q", path, got, want)
		}
	}
	if got := b.names(""); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("list: got %v", got)
	}
	b.queue(opDelete, "path", "b")
	b.applyAll()
	if got, want := b.tree(), map[string]string{"c/": "", "c/z.txt": "z", "c/y.txt": "Y"}; !maps.Equal(got, want) {
		t.Errorf("disk: got %v, want %v", got, want)
	}
}

func isNotFound(err error) bool {
	e, ok := err.(*core.CallError)
	return ok && e.Code == core.CodeNotFound
}

func TestF3_MovesInACircleEnd(t *testing.T) {
	b := newBench(t, map[string]string{"p/q/z.txt": "z", "p/other.txt": "o"})
	b.queue(opWrite, "path", "p/q/new.txt", "text", "new")
	b.queue(opMove, "from", "p", "to", "t")
	b.queue(opMove, "from", "t/q", "to", "p")
	b.queue(opMove, "from", "t", "to", "p/t")
	for path, want := range map[string]string{"p/z.txt": "z", "p/new.txt": "new", "p/t/other.txt": "o"} {
		if got := b.text(path); got != want {
			t.Errorf("read %s: got %q, want %q", path, got, want)
		}
	}
	b.applyAll()
	b.wantDisk("p/t/other.txt", "o")
	b.wantDisk("p/new.txt", "new")
}
