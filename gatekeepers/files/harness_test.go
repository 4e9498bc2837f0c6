package files

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
)

// bench is a folder with a binding and a queue, without the kernel: drafts become effects, and are applied by hand.
type bench struct {
	t       *testing.T
	dir     string
	driver  *Driver
	res     core.Resource
	actions map[core.ActionID]core.Draft
	order   []core.ActionID
	done    map[core.ActionID][]core.BaseVersion
	next    core.ActionID
}

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func newBench(t *testing.T, files map[string]string) *bench {
	t.Helper()
	return newBenchIn(t, t.TempDir(), "", files, Options{})
}

func newBenchIn(t *testing.T, dir, sub string, files map[string]string, options Options) *bench {
	t.Helper()
	b := &bench{t: t, dir: dir, driver: New(options), actions: map[core.ActionID]core.Draft{}, done: map[core.ActionID][]core.BaseVersion{}, next: 1}
	for name, content := range files {
		b.disk(name, content)
	}
	url := place{root: dir, sub: sub}.String()
	connection, err := b.driver.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	if b.res, err = b.driver.Open(context.Background(), connection, url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.res.Close() })
	return b
}

// disk writes a file behind the driver's back.
func (b *bench) disk(name, content string) {
	b.t.Helper()
	full := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// onDisk is what a file of the folder holds, "" and false where there is none.
func (b *bench) onDisk(name string) (string, bool) {
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	return string(data), err == nil
}

func (b *bench) wantDisk(name, want string) {
	b.t.Helper()
	if got, found := b.onDisk(name); !found || got != want {
		b.t.Errorf("%s on disk: got %q (%v), want %q", name, got, found, want)
	}
}

func (b *bench) wantGone(name string) {
	b.t.Helper()
	if _, err := os.Lstat(filepath.Join(b.dir, name)); !errors.Is(err, os.ErrNotExist) {
		b.t.Errorf("%s on disk: got %v, want nothing", name, err)
	}
}

func call(method string, pairs ...any) core.Call {
	args := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		args[pairs[i].(string)] = pairs[i+1]
	}
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return core.Call{Method: method, Args: raw, At: at}
}

// journal is what the kernel would hand out: the effects that the selectors pick, found in as many rounds as it takes.
func (b *bench) journal(res core.Resource, c core.Call) (core.Journal, error) {
	intent, err := res.Intend(c)
	if err != nil {
		return core.Journal{}, err
	}
	for {
		var j core.Journal
		for _, id := range b.order {
			d := b.actions[id]
			picked := slices.ContainsFunc(d.Targets, func(target string) bool {
				return slices.ContainsFunc(intent.Targets, func(s core.Selector) bool { return s.Matches(target) })
			})
			if picked {
				j.Effects = append(j.Effects, core.Effect{
					Action: id, Kind: d.Kind, Payload: d.Payload, Fields: d.Fields, Targets: d.Targets, Provides: d.Provides,
					Needs: d.Needs, After: d.After, CreatedAt: at, State: core.StatePending,
				})
			}
		}
		before := len(intent.Targets)
		intent = res.Extend(intent, j)
		if len(intent.Targets) == before {
			return j, nil
		}
	}
}

func (b *bench) tryRead(method string, pairs ...any) (core.Fetched, error) {
	c := call(method, pairs...)
	j, err := b.journal(b.res, c)
	if err != nil {
		return core.Fetched{}, err
	}
	return b.res.Read(context.Background(), c, j)
}

func (b *bench) read(method string, pairs ...any) core.Fetched {
	b.t.Helper()
	f, err := b.tryRead(method, pairs...)
	if err != nil {
		b.t.Fatalf("%s %v: %v", method, pairs, err)
	}
	return f
}

func decodeAs[T any](t *testing.T, raw json.RawMessage) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

// text is what a read of a file shows.
func (b *bench) text(path string) string {
	b.t.Helper()
	v := decodeAs[readValue](b.t, b.read(opRead, "path", path).Value)
	if v.Text == nil {
		b.t.Fatalf("read %s: got base64, want text", path)
	}
	return *v.Text
}

func (b *bench) names(path string) []string {
	b.t.Helper()
	var list []string
	for _, e := range decodeAs[listValue](b.t, b.read(opList, "path", path).Value).Entries {
		list = append(list, e.Name)
	}
	return list
}

func (b *bench) try(method string, pairs ...any) (core.ActionID, core.Draft, error) {
	c := call(method, pairs...)
	j, err := b.journal(b.res, c)
	if err != nil {
		return 0, core.Draft{}, err
	}
	d, err := b.res.Prepare(context.Background(), c, j)
	if err != nil {
		return 0, d, err
	}
	id := b.next
	b.next++
	b.actions[id] = d
	b.order = append(b.order, id)
	return id, d, nil
}

func (b *bench) queue(method string, pairs ...any) (core.ActionID, core.Draft) {
	b.t.Helper()
	id, d, err := b.try(method, pairs...)
	if err != nil {
		b.t.Fatalf("%s %v: %v", method, pairs, err)
	}
	return id, d
}

// wantRefused queues something that must be refused, with a word of the reason.
func (b *bench) wantRefused(word, method string, pairs ...any) {
	b.t.Helper()
	var callError *core.CallError
	_, _, err := b.try(method, pairs...)
	if !errors.As(err, &callError) || !strings.Contains(err.Error(), word) {
		b.t.Errorf("%s %v: got %v, want a refusal with %q", method, pairs, err, word)
	}
}

func (b *bench) dispatch(id core.ActionID) core.Dispatch {
	d := b.actions[id]
	base := slices.Clone(d.Base)
	for i, v := range base {
		if v.ResultOf == 0 {
			continue
		}
		for _, result := range b.done[v.ResultOf] {
			if result.Target == v.Target {
				base[i] = result
			}
		}
	}
	return core.Dispatch{Action: id, Kind: d.Kind, Payload: d.Payload, Base: base, Provides: d.Provides, At: at}
}

// drifted asks for the current base and says whether it moved.
func (b *bench) drifted(id core.ActionID) bool {
	b.t.Helper()
	dispatch := b.dispatch(id)
	dispatch.WantUndo = b.actions[id].Revertible
	current, err := b.res.Current(context.Background(), dispatch)
	if err != nil {
		b.t.Fatalf("current of %d: %v", id, err)
	}
	if current.Undo != nil {
		if _, err := io.Copy(io.Discard, current.Undo); err != nil {
			b.t.Fatalf("undo of %d: %v", id, err)
		}
		if err := current.Undo.Close(); err != nil {
			b.t.Fatal(err)
		}
	}
	for i, v := range current.Versions {
		if !v.Same(dispatch.Base[i]) {
			b.t.Logf("action %d: base %+v, now %+v", id, dispatch.Base[i], v)
			return true
		}
	}
	return false
}

// apply carries out an action that must not have drifted.
func (b *bench) apply(id core.ActionID) {
	b.t.Helper()
	if b.drifted(id) {
		b.t.Fatalf("action %d (%s): drifted", id, b.actions[id].Title)
	}
	o, err := b.res.Apply(context.Background(), b.dispatch(id))
	if err != nil || o.End != core.EndApplied {
		b.t.Fatalf("apply %d (%s): %v %+v", id, b.actions[id].Title, err, o)
	}
	b.done[id] = o.Versions
	b.drop(id)
}

func (b *bench) drop(id core.ActionID) {
	b.order = slices.DeleteFunc(b.order, func(o core.ActionID) bool { return o == id })
}

func (b *bench) applyAll() {
	b.t.Helper()
	for len(b.order) > 0 {
		b.apply(b.order[0])
	}
}

// tree is what is on the disk, path by path; folders end in a slash.
func (b *bench) tree() map[string]string {
	b.t.Helper()
	all := map[string]string{}
	err := filepath.Walk(b.dir, func(p string, info os.FileInfo, err error) error {
		if err != nil || p == b.dir {
			return err
		}
		rel, _ := filepath.Rel(b.dir, p)
		switch {
		case info.IsDir():
			all[rel+"/"] = ""
		case info.Mode().IsRegular():
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			all[rel] = string(data)
		default:
			to, _ := os.Readlink(p)
			all[rel] = "-> " + to
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return all
}

func wantIDs(t *testing.T, what string, got []core.ActionID, want ...core.ActionID) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func references(list []core.Reference) []core.ActionID {
	var ids []core.ActionID
	for _, r := range list {
		ids = append(ids, r.Provider)
	}
	slices.Sort(ids)
	return ids
}
