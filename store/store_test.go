package store

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gatehouse/core"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 5, time.UTC)

func openAt(t testing.TB, path string) *DB {
	t.Helper()
	db, err := Open(context.Background(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func openNew(t testing.TB) *DB {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "g.db"))
}

func write(t testing.TB, db *DB, fn func(core.Tx) error) {
	t.Helper()
	if err := db.Write(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, db *DB, fn func(core.View) error) {
	t.Helper()
	if err := db.Read(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

func newSession(t testing.TB, db *DB, name string) core.SessionID {
	t.Helper()
	s := core.Session{Name: name, Owner: "alice", CreatedAt: noon, UpdatedAt: noon}
	write(t, db, func(tx core.Tx) error { return tx.InsertSession(&s) })
	return s.ID
}

// draftOf is an action as a driver could make it, with every part set.
func draftOf(session core.SessionID, target string) core.Action {
	d := core.Draft{
		Kind: "files.edit", Lane: core.LaneSimulate, LaneReason: "small", Title: "Edit " + target,
		Payload: json.RawMessage(`{"text":"<b>&  é\u2028","n":1e3}`),
		Fields: []core.Field{
			{Name: "text", Before: json.RawMessage(`null`), After: json.RawMessage(`"Grüße <b>"`)},
			{Name: "mode", After: json.RawMessage(`{ "a" : 1 }`)},
		},
		Targets:   []string{target, target + "/parent"},
		Base:      []core.BaseVersion{{Target: target, Version: "v1"}, {Target: target + "/parent", Absent: true}},
		Value:     json.RawMessage(`{"ok": true}`),
		Found:     []core.Found{{Unit: core.Unit{Gatekeeper: "files", Service: "home", Name: "site"}, Permission: "read", Labels: []string{"a"}}},
		Projected: []core.ActionID{1}, Incomplete: []core.Gap{{Action: 2, Reason: "claimed"}},
		Revertible: true, AutoApprovable: true,
	}
	digest, err := core.DigestOf("SITE", d)
	if err != nil {
		panic(err)
	}
	return core.Action{
		Session: session, Binding: "SITE", Gatekeeper: "files", Connection: "c1", Resource: "root", Method: "edit",
		Args: json.RawMessage(`{"path": "a"}`), CreatedAt: noon, Context: 3, Draft: d, Digest: digest, State: core.StatePending,
		Caller: core.Caller{Kind: core.CallerAgent, Person: "alice", Turn: 2, Step: 1, CallID: "x", Name: "script"},
	}
}

func submit(t testing.TB, db *DB, a core.Action) core.Action {
	t.Helper()
	write(t, db, func(tx core.Tx) error { return tx.InsertAction(&a) })
	return a
}

func TestOpenMakesAPrivateFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?#%", "g.db")
	openAt(t, path)
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): os.ModeDir | 0o700} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s: mode %s, want %s", name, info.Mode(), want)
		}
	}
}

var background = context.Background()

func exact(targets []string) []core.Selector {
	out := make([]core.Selector, len(targets))
	for i, t := range targets {
		out[i] = core.Selector{Reach: core.ReachExact, Target: t}
	}
	return out
}
