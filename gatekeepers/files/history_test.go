package files

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/core"
)

// view is everything that reads show of a folder, times aside.
type view struct {
	Lists  map[string][]entry
	Files  map[string]readValue
	Search []hit
}

func (b *bench) view(t *rapid.T) view {
	v := view{Lists: map[string][]entry{}, Files: map[string]readValue{}}
	must := func(f core.Fetched, err error) core.Fetched {
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Incomplete) > 0 {
			t.Fatalf("incomplete: %+v", f.Incomplete)
		}
		return f
	}
	into := func(raw json.RawMessage, to any) {
		if err := json.Unmarshal(raw, to); err != nil {
			t.Fatal(err)
		}
	}
	folders := []string{""}
	for len(folders) > 0 {
		at := folders[0]
		folders = folders[1:]
		var list listValue
		into(must(b.tryRead(opList, "path", at)).Value, &list)
		v.Lists[at] = list.Entries
		for _, e := range list.Entries {
			p := join(at, e.Name)
			var stat statValue
			into(must(b.tryRead(opStat, "path", p)).Value, &stat)
			if stat.Kind != e.Kind || stat.Size != e.Size {
				t.Fatalf("stat of %s: got %+v, listed %+v", p, stat, e)
			}
			if e.Kind == kindFolder {
				folders = append(folders, p)
				continue
			}
			var read readValue
			into(must(b.tryRead(opRead, "path", p)).Value, &read)
			v.Files[p+" "+stat.Mode] = read
		}
	}
	var found searchValue
	into(must(b.tryRead(opSearch, "query", "x")).Value, &found)
	v.Search = found.Hits
	return v
}

// TestHistories makes random sequences of writes, keeps what reads showed while all was pending, applies all of it, and
// compares with what reads show then. It also holds that one's own writes never drift, in whatever order they touch
// files and the folders around them.
func TestHistories(t *testing.T) {
	compared, refused := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "h")
		if err != nil {
			rt.Fatal(err)
		}
		b := newBenchIn(t, dir, "", map[string]string{
			"a": "x1\n", "d/a": "x2\nx3\n", "d/b": "", "d/d/a": "x4", "e/a": "no\n",
		}, Options{})
		names := rapid.SampledFrom([]string{"a", "b", "d", "e"})
		path := rapid.Custom(func(rt *rapid.T) string {
			p := names.Draw(rt, "name")
			for range rapid.IntRange(0, 2).Draw(rt, "depth") {
				p = join(p, names.Draw(rt, "name"))
			}
			return p
		})
		text := rapid.SampledFrom([]string{"", "x", "x\nx\n", "y", "\xe2\x82\xacx"})
		for range rapid.IntRange(1, 14).Draw(rt, "actions") {
			var err error
			switch rapid.SampledFrom([]string{opWrite, opWrite, opEdit, opMove, opMove, opDelete, opMkdir}).Draw(rt, "op") {
			case opWrite:
				_, _, err = b.try(opWrite, "path", path.Draw(rt, "path"), "text", text.Draw(rt, "text"))
			case opEdit:
				_, _, err = b.try(opEdit, "path", path.Draw(rt, "path"), "old", "x", "new", text.Draw(rt, "text"))
			case opMove:
				_, _, err = b.try(opMove, "from", path.Draw(rt, "from"), "to", path.Draw(rt, "to"))
			case opDelete:
				_, _, err = b.try(opDelete, "path", path.Draw(rt, "path"))
			case opMkdir:
				_, _, err = b.try(opMkdir, "path", path.Draw(rt, "path"))
			}
			var callError *core.CallError
			if err != nil && !errors.As(err, &callError) {
				rt.Fatal(err)
			}
			if err != nil {
				refused++
			}
		}
		before := b.view(rt)
		for _, id := range slices.Clone(b.order) {
			b.applyIn(rt, id)
		}
		after := b.view(rt)
		want, got := mustJSON(before), mustJSON(after)
		if got != want {
			rt.Fatalf("after applying: got\n%s\nshown before\n%s", got, want)
		}
		compared++
		left, err := filepath.Glob(filepath.Join(dir, "*", tempPrefix+"*"))
		if err != nil || len(left) > 0 {
			rt.Fatalf("left behind: %v %v", left, err)
		}
	})
	t.Logf("%d histories equal, %d writes refused", compared, refused)
}

func (b *bench) applyIn(rt *rapid.T, id core.ActionID) {
	dispatch := b.dispatch(id)
	current, err := b.res.Current(b.t.Context(), dispatch)
	if err != nil {
		rt.Fatalf("current of %d: %v", id, err)
	}
	for i, v := range current.Versions {
		if !v.Same(dispatch.Base[i]) {
			rt.Fatalf("action %d (%s) drifted: base %+v, now %+v", id, b.actions[id].Title, dispatch.Base[i], v)
		}
	}
	o, err := b.res.Apply(b.t.Context(), dispatch)
	if err != nil || o.End != core.EndApplied {
		rt.Fatalf("apply %d (%s): %v %+v", id, b.actions[id].Title, err, o)
	}
	b.done[id] = o.Versions
	b.drop(id)
	for _, target := range b.actions[id].Targets {
		if !slices.ContainsFunc(o.Versions, func(v core.BaseVersion) bool { return v.Target == target }) {
			rt.Fatalf("action %d (%s): no version of its target %s", id, b.actions[id].Title, target)
		}
	}
}

func mustJSON(v any) string {
	raw, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		panic(err)
	}
	return string(raw)
}
