package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"gatehouse/core"
)

func TestActionComesBackByteForByte(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	want := submit(t, db, draftOf(s, "a"))
	if want.ID != 1 || want.Version != 1 {
		t.Fatalf("id %d version %d, want 1 and 1", want.ID, want.Version)
	}
	read(t, db, func(v core.View) error {
		got, err := v.Action(1)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got\n%+v\nwant\n%+v", got, want)
		}
		light, lerr := v.ActionState(1)
		want.Args, want.Draft.Payload, want.Draft.Value = nil, nil, nil
		want.Draft.Fields = []core.Field{{Name: "text"}, {Name: "mode"}}
		if !reflect.DeepEqual(light, want) {
			t.Errorf("state: got\n%+v\nwant\n%+v", light, want)
		}
		return errors.Join(err, lerr)
	})
}

// The digest is computed over what comes back, so every byte of what it covers has to.
func TestDigestSurvivesTheStore(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	value := rapid.Custom(func(t *rapid.T) json.RawMessage {
		text, err := json.Marshal(rapid.String().Draw(t, "text"))
		if err != nil {
			t.Fatal(err)
		}
		forms := []string{
			`null`, string(text), ` `, `{"a":` + string(text) + `,"a":1.0e2}`, `[ 1 , -0 , "<&>` + "\u2028" + `" ]`, "\"\xff\"", `{"\u0041":"\/"}`,
		}
		form := rapid.SampledFrom(forms).Draw(t, "form")
		if form == ` ` {
			return nil
		}
		return json.RawMessage(form)
	})
	rapid.Check(t, func(t *rapid.T) {
		a := draftOf(s, "a")
		a.Draft.Payload, a.Draft.Value, a.Args = value.Draw(t, "payload"), value.Draw(t, "value"), value.Draw(t, "args")
		a.Draft.Fields = nil
		for i := range rapid.IntRange(0, 3).Draw(t, "fields") {
			name := rapid.String().Draw(t, "name")
			if json.Valid([]byte(name)) || strings.ToValidUTF8(name, "") != name {
				name = fmt.Sprint("f", i)
			}
			a.Draft.Fields = append(a.Draft.Fields, core.Field{Name: name, Before: value.Draw(t, "before"), After: value.Draw(t, "after")})
		}
		if err := db.Write(background, func(tx core.Tx) error { return tx.InsertAction(&a) }); err != nil {
			t.Fatal(err)
		}
		err := db.Read(background, func(v core.View) error {
			got, err := v.Action(a.ID)
			if !reflect.DeepEqual(got, a) {
				t.Errorf("got\n%+v\nwant\n%+v", got, a)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestFieldThatIsNotJSONIsRefused(t *testing.T) {
	db := openNew(t)
	a := draftOf(newSession(t, db, "one"), "a")
	a.Draft.Fields[0].After = json.RawMessage(`"x`)
	if err := db.Write(background, func(tx core.Tx) error { return tx.InsertAction(&a) }); err == nil {
		t.Error("stored, and could not be read again")
	}
}

func TestRiskIsTheSameWithoutContent(t *testing.T) {
	db := openNew(t)
	a := draftOf(newSession(t, db, "one"), "a")
	a.Draft.Lane = core.LaneAwait
	a = submit(t, db, a)
	read(t, db, func(v core.View) error {
		light, err := v.ActionState(a.ID)
		if light.Risk() != core.RiskLow {
			t.Errorf("risk %s: an awaited action with a preview is low", light.Risk())
		}
		return err
	})
}

func change(t testing.TB, db *DB, id core.ActionID, fn func(*core.Action)) core.Action {
	t.Helper()
	var after core.Action
	write(t, db, func(tx core.Tx) error {
		before, err := tx.ActionState(id)
		if err != nil {
			return err
		}
		after = before
		fn(&after)
		won, err := tx.ChangeAction(before, &after)
		if !won {
			t.Errorf("action %d: lost", id)
		}
		return err
	})
	return after
}

func to(state core.State) func(*core.Action) {
	return func(a *core.Action) {
		a.State = state
		a.ClaimHolder = "p"
	}
}

func TestChangeIsCompareAndSet(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	a := submit(t, db, draftOf(s, "a"))
	b := submit(t, db, draftOf(s, "b"))
	change(t, db, b.ID, func(b *core.Action) { b.Reason = "first" }) // the state stays what it was
	write(t, db, func(tx core.Tx) error {
		after := b
		after.Reason = "second"
		won, err := tx.ChangeAction(b, &after)
		if won {
			t.Error("a change was overwritten unseen")
		}
		return err
	})
	change(t, db, a.ID, to(core.StateClaimed))
	write(t, db, func(tx core.Tx) error {
		after := a
		after.State, after.Reason = core.StateRejected, "late"
		won, err := tx.ChangeAction(a, &after)
		replaced, rerr := tx.ReplaceDraft(a, &after)
		if won || replaced || after.Version != a.Version {
			t.Errorf("an old version won: %t %t", won, replaced)
		}
		return errors.Join(err, rerr)
	})
	read(t, db, func(v core.View) error {
		got, err := v.ActionState(a.ID)
		if got.State != core.StateClaimed || got.Version != 2 || got.Reason != "" {
			t.Errorf("state %s version %d reason %q", got.State, got.Version, got.Reason)
		}
		return err
	})
}

func TestChangeKeepsContentAndStoresOutcome(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	want := submit(t, db, draftOf(s, "a"))
	change(t, db, want.ID, to(core.StateClaimed))
	change(t, db, want.ID, func(a *core.Action) {
		a.State, a.Rule, a.DecidedBy, a.DecidedHow, a.DecidedAt = core.StateApplied, "r", "alice", core.MeansKey, noon
		a.Created = []core.Created{{Name: "~1", Real: "x"}}
		a.Versions = []core.BaseVersion{{Target: "a", Version: "v2"}}
		a.Result, a.UndoSize = json.RawMessage(`{"id": "x"}`), 7
	})
	got := change(t, db, want.ID, to(core.StateReverted)) // from ActionState, which has no result
	read(t, db, func(v core.View) error {
		a, err := v.Action(want.ID)
		if string(a.Result) != `{"id": "x"}` || len(a.Created) != 1 || len(a.Versions) != 1 || a.UndoSize != 7 || a.Version != got.Version {
			t.Errorf("outcome: %+v", a)
		}
		if a.DecidedBy != "alice" || a.DecidedHow != core.MeansKey || !a.DecidedAt.Equal(noon) || a.Rule != "r" {
			t.Errorf("decision: %+v", a)
		}
		if !reflect.DeepEqual(a.Draft, want.Draft) || string(a.Args) != string(want.Args) || a.Digest != want.Digest {
			t.Errorf("content: %+v", a.Draft)
		}
		return err
	})
}

func TestSchemaRefusesStatesThatAreNone(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	for name, spoil := range map[string]func(*core.Action){
		"state":                 func(a *core.Action) { a.State = "done" },
		"lane":                  func(a *core.Action) { a.Draft.Lane = core.LaneRead },
		"no lane":               func(a *core.Action) { a.Draft.Lane = "" },
		"kind":                  func(a *core.Action) { a.Draft.Kind = "" },
		"question":              func(a *core.Action) { a.Draft.Kind = core.QueueKindQuestion },
		"drift":                 func(a *core.Action) { a.Drift = "some" },
		"claim of nobody":       func(a *core.Action) { a.State = core.StateClaimed },
		"session of nobody":     func(a *core.Action) { a.Session = "s99" },
		"decided in some way":   func(a *core.Action) { a.DecidedHow = "magic" },
		"undo smaller than any": func(a *core.Action) { a.UndoSize = -1 },
	} {
		a := draftOf(s, "a")
		spoil(&a)
		if err := db.Write(background, func(tx core.Tx) error { return tx.InsertAction(&a) }); err == nil {
			t.Errorf("%s: stored", name)
		}
	}
}

func TestUnknownActionsAreNotFound(t *testing.T) {
	db := openNew(t)
	newSession(t, db, "one")
	read(t, db, func(v core.View) error {
		_, err1 := v.Action(7)
		_, err2 := v.ActionState(7)
		_, err3 := v.Question(7)
		_, err4 := v.Plan("p")
		_, err5 := v.OperatorKey("k")
		_, err6 := v.Answer("s1", 1, "c", "h")
		_, err7 := v.Session("nobody")
		_, err8 := v.Binding("s1", "SITE")
		_, err9 := v.Connection("c7")
		for i, err := range []error{err1, err2, err3, err4, err5, err6, err7, err8, err9} {
			if !errors.Is(err, core.ErrNotFound) {
				t.Errorf("%d: got %v, want not found", i+1, err)
			}
		}
		return nil
	})
}

func TestClaimsAndCounts(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	for range 5 {
		submit(t, db, draftOf(s, "a"))
	}
	change(t, db, 2, to(core.StateClaimed))
	change(t, db, 3, to(core.StateClaimed))
	change(t, db, 3, to(core.StateUnknown))
	change(t, db, 4, to(core.StateRejected))
	change(t, db, 5, func(a *core.Action) { a.Drift = core.DriftStale })
	read(t, db, func(v core.View) error {
		open, err1 := v.CountOpen(s, "SITE")
		elsewhere, err2 := v.CountOpen(s, "OTHER")
		claim, found, err3 := v.OpenClaim("c1")
		_, none, err4 := v.OpenClaim("c2")
		claimed, err5 := v.Claimed()
		stale, err6 := v.Stale("")
		staleElsewhere, err7 := v.Stale("s2")
		rejected, was, err8 := v.RejectedInTurn(s, 2, draftOf(s, "a").Digest)
		_, other, err9 := v.RejectedInTurn(s, 1, draftOf(s, "a").Digest)
		_, another, err10 := v.RejectedInTurn(s, 2, core.Digest{})
		if open != 3 || elsewhere != 0 || !found || claim.ID != 2 || none || len(claimed) != 1 || claimed[0].ClaimHolder != "p" {
			t.Errorf("open %d %d, claim %d %t %t, claimed %v", open, elsewhere, claim.ID, found, none, claimed)
		}
		if len(stale) != 1 || stale[0] != 5 || len(staleElsewhere) != 0 || !was || rejected != 4 || other || another {
			t.Errorf("stale %v %v, rejected %d %t %t %t", stale, staleElsewhere, rejected, was, other, another)
		}
		page, err := v.Queue(core.QueueQuery{Count: true})
		if page.Waiting != 2 || page.Drifted != 1 || page.Unknown != 1 || page.Total != 4 {
			t.Errorf("header: %+v", page)
		}
		return errors.Join(err, err1, err2, err3, err4, err5, err6, err7, err8, err9, err10)
	})
	fsckOK(t, db)
}

func fsckOK(t testing.TB, db *DB) {
	t.Helper()
	found, err := db.Fsck(background)
	if err != nil || !found.OK() {
		t.Errorf("fsck: %+v (%v)", found.FirstBad, err)
	}
}

func TestReplaceDraftMovesEverything(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	first := submit(t, db, draftOf(s, "a"))
	a := draftOf(s, "a")
	a.Draft.Needs = []core.Reference{{Name: "~1", Provider: first.ID}}
	a.Draft.After = []core.Reference{{Name: "a", Provider: first.ID}}
	a.Draft.Provides = []string{"~1", "a/file"}
	a = submit(t, db, a)
	before := a
	after := a
	after.Draft = draftOf(s, "b").Draft
	after.Draft.Title, after.Draft.Kind, after.Draft.Irreversible = "Other", "files.move", true
	after.Draft.Provides = []string{"~1", "~2"}
	after.Digest, after.Drift = core.Digest{9}, core.DriftFresh
	var seen int64
	read(t, db, func(v core.View) (err error) {
		seen, err = v.TargetsVersion(s, "root", exact([]string{"a"}))
		return err
	})
	write(t, db, func(tx core.Tx) error {
		won, err := tx.ReplaceDraft(before, &after)
		if !won {
			t.Error("lost")
		}
		return err
	})
	read(t, db, func(v core.View) error {
		got, err := v.Action(a.ID)
		if !reflect.DeepEqual(got, after) {
			t.Errorf("got\n%+v\nwant\n%+v", got, after)
		}
		deps, err2 := v.Dependents(first.ID)
		now, err3 := v.TargetsVersion(s, "root", exact([]string{"a"}))
		onA, err4 := v.LiveEffects(s, "root", exact([]string{"a"}))
		onB, err5 := v.LiveEffects(s, "root", exact([]string{"b", "b/parent"}))
		names, next, err6 := v.Names(s, "root", []string{"~1", "~2"})
		if len(deps) != 0 || now <= seen || len(onA) != 1 || len(onB) != 1 || onB[0].Action != a.ID || next != 3 || names["~2"].Provider != a.ID {
			t.Errorf("deps %v, version %d after %d, on a %d, on b %d, names %v", deps, now, seen, len(onA), len(onB), names)
		}
		return errors.Join(err, err2, err3, err4, err5, err6)
	})
	fsckOK(t, db)
}

func TestUndoIsStreamedAndLimited(t *testing.T) {
	db := openNew(t)
	a := submit(t, db, draftOf(newSession(t, db, "one"), "a"))
	store := func(r io.Reader) (n int64, err error) {
		err = db.Write(background, func(tx core.Tx) (err error) {
			n, err = tx.StoreUndo(a.ID, r)
			return err
		})
		return n, err
	}
	want := bytes.Repeat([]byte("0123456789"), 1<<18) // two and a half parts
	if _, err := store(strings.NewReader("earlier claim")); err != nil {
		t.Fatal(err)
	}
	if n, err := store(iotest.HalfReader(bytes.NewReader(want))); err != nil || n != int64(len(want)) {
		t.Errorf("%d bytes (%v), want %d", n, err, len(want))
	}
	for name, r := range map[string]io.Reader{
		"too large":   io.LimitReader(zeros{}, core.UndoLimit+1),
		"fails early": iotest.ErrReader(errors.New("moved")),
		"fails late":  io.MultiReader(io.LimitReader(zeros{}, 3<<20), iotest.ErrReader(errors.New("moved"))),
	} {
		if _, err := store(r); err == nil {
			t.Errorf("%s: stored", name)
		}
	}
	var got []byte
	read(t, db, func(v core.View) error {
		return v.(*view).l.each(background, `SELECT data FROM undo WHERE action = ? ORDER BY part`, []any{int64(a.ID)}, func(row scanner) error {
			var part []byte
			err := row.Scan(&part)
			got = append(got, part...)
			return err
		})
	})
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes kept, want the %d of the last that was whole", len(got), len(want))
	}
	if n, err := store(io.LimitReader(zeros{}, core.UndoLimit)); err != nil || n != core.UndoLimit {
		t.Errorf("just at the limit: %d (%v)", n, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
