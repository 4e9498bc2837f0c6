package files

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// work counts what is looked at on disk.
type work struct{ folders, looks, opens int }

func (w *work) count(what, _ string) {
	switch what {
	case "folder":
		w.folders++
	case "look":
		w.looks++
	case "open":
		w.opens++
	}
}

func (b *bench) watch(w *work) {
	r, ok := b.res.(*resource)
	if !ok {
		b.t.Fatal("not a resource of this package")
	}
	r.disk.watch = w.count
}

func makeFiles(t *testing.T, dir string, folders, each int, content func(i int) string) {
	t.Helper()
	i := 0
	for f := range folders {
		at := filepath.Join(dir, fmt.Sprintf("d%03d", f))
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		for range each {
			if err := os.WriteFile(filepath.Join(at, fmt.Sprintf("f%06d.txt", i)), []byte(content(i)), 0o644); err != nil {
				t.Fatal(err)
			}
			i++
		}
	}
}

// scratch is a folder in memory where there is such a place: these tests are about counted work, not about the disk.
func scratch(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "gatehouse-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// allocated is how many bytes a call takes from memory in all.
func allocated(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestF10_TenThousandFilesInOneFolder(t *testing.T) {
	const files = 10000
	b := newBenchIn(t, scratch(t), "", nil, Options{})
	makeFiles(t, b.dir, 1, files, func(i int) string { return "x" })
	b.queue(opWrite, "path", "d000/f000500-new.txt", "text", "n")
	b.queue(opDelete, "path", "d000/f000501.txt")
	b.queue(opMove, "from", "d000/f000502.txt", "to", "d000/z.txt")
	var all []string
	cursor, pages := "", 0
	for {
		var w work
		b.watch(&w)
		var v listValue
		taken := allocated(func() { v = decodeAs[listValue](t, b.read(opList, "path", "d000", "cursor", cursor).Value) })
		pages++
		for _, e := range v.Entries {
			all = append(all, e.Name)
		}
		// A page looks at what it lists, and at what the few effects act on, wherever it begins.
		if w.looks > pageEntries+30 {
			t.Errorf("page %d: looked at %d names", pages, w.looks)
		}
		if taken > 6<<20 {
			t.Errorf("page %d: took %d bytes", pages, taken)
		}
		if v.Next == "" {
			break
		}
		cursor = v.Next
	}
	if !slices.IsSorted(all) || len(all) != files || len(slices.Compact(slices.Clone(all))) != files {
		t.Errorf("got %d names, sorted %v; want %d, each once, in order", len(all), slices.IsSorted(all), files)
	}
	if slices.Contains(all, "f000501.txt") || !slices.Contains(all, "f000500-new.txt") || all[len(all)-1] != "z.txt" {
		t.Error("the pending changes are not in the pages")
	}
	if pages != files/pageEntries {
		t.Errorf("got %d pages", pages)
	}
}

func TestF10_AHundredThousandFilesInATree(t *testing.T) {
	const folders, each = 100, 1000
	b := newBenchIn(t, scratch(t), "", nil, Options{})
	makeFiles(t, b.dir, folders, each, func(i int) string {
		if i%200 == 0 {
			return "first\nneedle here\n"
		}
		return "nothing\n"
	})
	b.queue(opWrite, "path", "d050/a-new.txt", "text", "needle\nneedle\n")
	var hits []hit
	cursor, pages, opens := "", 0, 0
	for {
		var w work
		b.watch(&w)
		var v searchValue
		taken := allocated(func() { v = decodeAs[searchValue](t, b.read(opSearch, "query", "needle", "cursor", cursor).Value) })
		pages++
		hits = append(hits, v.Hits...)
		opens += w.opens
		if taken > 100<<20 || w.opens > maxLooked {
			t.Errorf("page %d: opened %d files, took %d bytes", pages, w.opens, taken)
		}
		if v.Next == "" {
			break
		}
		cursor = v.Next
	}
	if want := folders*each/200 + 2; len(hits) != want {
		t.Errorf("got %d hits, want %d", len(hits), want)
	}
	if !slices.IsSortedFunc(hits, func(a, b hit) int { return strings.Compare(a.Path, b.Path) }) {
		t.Error("hits are not in order")
	}
	// No page opens again what a page before it had searched.
	if opens != folders*each {
		t.Errorf("opened %d files in %d pages, want each of %d once", opens, pages, folders*each)
	}
	if pages < 3 {
		t.Errorf("got %d pages", pages)
	}
}

func TestF10_AListThatMovedIsNotGoneOnWith(t *testing.T) {
	b := newBenchIn(t, scratch(t), "", nil, Options{})
	makeFiles(t, b.dir, 1, pageEntries+10, func(int) string { return "needle\n" })
	for _, c := range []struct {
		method string
		change func()
	}{
		{opList, func() { b.disk("d000/new.txt", "x") }},
		{opList, func() { b.queue(opWrite, "path", "d000/newer.txt", "text", "x") }},
		{opSearch, func() { b.disk("d000/third.txt", "x") }},
		{opSearch, func() { b.queue(opDelete, "path", "d000/f000001.txt") }},
	} {
		args := []any{"path", "d000"}
		if c.method == opSearch {
			args = append(args, "query", "needle")
		}
		next := decodeAs[struct{ Next string }](t, b.read(c.method, args...).Value).Next
		if next == "" {
			t.Fatalf("%s: got one page", c.method)
		}
		if _, err := b.tryRead(c.method, append(args, "cursor", next)...); err != nil {
			t.Errorf("%s: nothing moved, got %v", c.method, err)
		}
		c.change()
		if _, err := b.tryRead(c.method, append(args, "cursor", next)...); err == nil || !strings.Contains(err.Error(), "list changed") {
			t.Errorf("%s: got %v, want list changed", c.method, err)
		}
	}
	for _, cursor := range []string{"x", "", "e30", "eyJmIjoiLi4iLCJzIjoiIn0"} {
		if _, err := b.tryRead(opList, "path", "d000", "cursor", cursor); (err == nil) != (cursor == "") {
			t.Errorf("cursor %q: got %v", cursor, err)
		}
	}
}

func TestF10_SearchGoesOnWithinAFile(t *testing.T) {
	var text strings.Builder
	for i := range 2*maxHits + 50 {
		fmt.Fprintf(&text, "line %d has it\nnot this\n", i)
	}
	b := newBench(t, map[string]string{"a.txt": "has it\n", "b.txt": text.String(), "c.txt": "has it"})
	for _, path := range []string{"", "b.txt"} {
		var hits []hit
		for cursor := ""; ; {
			v := decodeAs[searchValue](t, b.read(opSearch, "query", "has it", "path", path, "cursor", cursor).Value)
			hits = append(hits, v.Hits...)
			if cursor = v.Next; cursor == "" {
				break
			}
		}
		want := 2*maxHits + 50
		if path == "" {
			want += 2
		}
		if len(hits) != want {
			t.Fatalf("path %q: got %d hits, want %d", path, len(hits), want)
		}
		for i, h := range hits {
			if h.Path == "b.txt" && h.Text != fmt.Sprintf("line %d has it", (h.Line-1)/2) {
				t.Fatalf("hit %d: got %+v", i, h)
			}
		}
	}
}

func TestFolderOfTooManyIsRefusedWhenQueued(t *testing.T) {
	b := newBenchIn(t, scratch(t), "", nil, Options{})
	makeFiles(t, b.dir, 1, maxEntries, func(int) string { return "" })
	id, _ := b.queue(opDelete, "path", "d000")
	if b.drifted(id) {
		t.Error("a folder of 10,000 drifts by itself")
	}
	b.drop(id)
	b.disk("d000/one-more", "")
	b.wantRefused("more than 10,000", opDelete, "path", "d000")
	b.wantRefused("more than 10,000", opMove, "from", "d000", "to", "d001")
	if !b.drifted(id) {
		t.Error("a file more is no drift")
	}
}
