package store

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/core"
)

func TestLiveEffectCarriesWhatReplayNeeds(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	a := draftOf(s, "a")
	a.Draft.Provides, a.Draft.Needs, a.Draft.After = []string{"~1"}, []core.Reference{{Name: "x", Provider: 1}}, []core.Reference{{Name: "y", Provider: 1}}
	submit(t, db, draftOf(s, "z"))
	a = submit(t, db, a)
	d := a.Draft
	want := core.LiveEffect{
		Effect: core.Effect{
			Action: a.ID, Kind: d.Kind, Payload: d.Payload, Fields: d.Fields, Targets: d.Targets, Provides: d.Provides,
			Needs: d.Needs, After: d.After, CreatedAt: noon, State: core.StatePending,
		},
		Lane: core.LaneSimulate,
	}
	read(t, db, func(v core.View) error {
		got, err := v.LiveEffects(s, "root", exact([]string{"a"}))
		if len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("got\n%+v\nwant\n%+v", got, want)
		}
		return err
	})
}

// The journal and its versions are compared with the plain definition over random histories.
func TestJournalAgainstItsDefinition(t *testing.T) {
	targets := []string{"a", "a/b", "a/b/c", "a/x", "ab", "b", "é", "\U0010ffff", "\U0010ffff/x"}
	db := openNew(t)
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		sessions := []core.SessionID{newSession(t, db, fmt.Sprint("one ", round)), newSession(t, db, fmt.Sprint("two ", round))}
		var model []core.Action
		versions := map[string]int64{}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			var touched core.Action
			if len(model) == 0 || rapid.Bool().Draw(rt, "submit") {
				a := draftOf(rapid.SampledFrom(sessions).Draw(rt, "session"), "")
				a.Connection = core.ConnectionID(fmt.Sprint("c", round, "-", len(model))) // one claim at each
				a.Resource = rapid.SampledFrom([]string{"root", "other"}).Draw(rt, "resource")
				a.Draft.Targets = rapid.SliceOfNDistinct(rapid.SampledFrom(targets), 1, 4, rapid.ID[string]).Draw(rt, "targets")
				touched = submit(t, db, a)
				model = append(model, touched)
			} else {
				i := rapid.IntRange(0, len(model)-1).Draw(rt, "which")
				state := rapid.SampledFrom(core.States()).Draw(rt, "state")
				retry := rapid.Bool().Draw(rt, "retryable")
				model[i] = change(t, db, model[i].ID, func(a *core.Action) {
					a.State, a.Retryable, a.ClaimHolder = state, retry, "p"
				})
				touched = model[i]
			}
			for _, s := range selections(targets) {
				for _, session := range sessions {
					for _, resource := range []string{"root", "other"} {
						checkSelection(t, db, model, touched, versions, session, resource, s)
					}
				}
			}
		}
	})
	fsckOK(t, db)
}

func selections(targets []string) []core.Selector {
	out := []core.Selector{{Reach: core.ReachAll}, {Reach: core.ReachPrefix}, {Reach: core.ReachPrefix, Target: "\xff"}}
	for _, target := range targets {
		out = append(out, core.Selector{Reach: core.ReachExact, Target: target}, core.Selector{Reach: core.ReachPrefix, Target: target})
	}
	return out
}

func checkSelection(t *testing.T, db *DB, model []core.Action, touched core.Action, versions map[string]int64, session core.SessionID, resource string, s core.Selector) {
	t.Helper()
	matches := func(a core.Action) bool {
		return a.Session == session && a.Resource == resource && slices.ContainsFunc(a.Draft.Targets, s.Matches)
	}
	var want, got []core.ActionID
	for _, a := range model {
		if a.Live() && matches(a) {
			want = append(want, a.ID)
		}
	}
	read(t, db, func(v core.View) error {
		live, err := v.LiveEffects(session, resource, []core.Selector{s, s})
		for _, e := range live {
			got = append(got, e.Action)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s %s %+v: live %v, want %v", session, resource, s, got, want)
		}
		version, verr := v.TargetsVersion(session, resource, []core.Selector{s})
		key := fmt.Sprint(session, resource, s)
		if grew := version > versions[key]; grew != matches(touched) || version < versions[key] {
			t.Fatalf("%s: version %d after %d; touched %t", key, version, versions[key], matches(touched))
		}
		versions[key] = version
		return errors.Join(err, verr)
	})
}

// Work grows with what matches (P6): the plans use the keys, whatever is live elsewhere.
func TestJournalIsFoundByKey(t *testing.T) {
	db := openNew(t)
	for _, s := range []core.Selector{{Reach: core.ReachExact, Target: "a"}, {Reach: core.ReachPrefix, Target: "a"}} {
		where, args, err := within("name", s)
		if err != nil {
			t.Fatal(err)
		}
		for _, query := range []string{`SELECT action FROM target`, `SELECT coalesce(max(version), 0) FROM target`} {
			plan := explainQuery(t, db, query+` WHERE session = ? AND resource = ?`+where, append([]any{"s1", "root"}, args...)...)
			if !strings.Contains(plan, "USING PRIMARY KEY (session=? AND resource=? AND name") {
				t.Errorf("%s: %s", s.Reach, plan)
			}
		}
	}
}

func explainQuery(t testing.TB, db *DB, query string, args ...any) string {
	t.Helper()
	var lines []string
	read(t, db, func(v core.View) error {
		return v.(*view).l.each(background, `EXPLAIN QUERY PLAN `+query, args, func(row scanner) error {
			var id, parent, unused int
			var line string
			err := row.Scan(&id, &parent, &unused, &line)
			lines = append(lines, line)
			return err
		})
	})
	return strings.Join(lines, "; ")
}

func TestDependentsByProvider(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	submit(t, db, draftOf(s, "a"))
	for range 4 {
		a := draftOf(s, "a")
		a.Draft.Needs = []core.Reference{{Name: "~1", Provider: 1}, {Name: "path", Provider: 1}}
		a.Draft.After = []core.Reference{{Name: "a", Provider: 1}}
		submit(t, db, a)
	}
	change(t, db, 3, to(core.StateStranded))
	change(t, db, 4, to(core.StateRejected))
	change(t, db, 5, func(a *core.Action) { a.State = core.StateFailed })
	read(t, db, func(v core.View) error {
		got, err := v.Dependents(1)
		var want []core.Dependent
		for _, d := range []struct {
			id    core.ActionID
			state core.State
		}{{2, core.StatePending}, {3, core.StateStranded}} {
			want = append(want,
				core.Dependent{Action: d.id, Name: "path", Needs: true, State: d.state},
				core.Dependent{Action: d.id, Name: "~1", Needs: true, State: d.state},
				core.Dependent{Action: d.id, Name: "a", State: d.state})
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
		return err
	})
}

func TestProvisionalNamesAreNeverRedirected(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	for _, name := range []string{"~1", "~10", "dir/file"} {
		a := draftOf(s, "a")
		a.Draft.Provides = []string{name}
		submit(t, db, a)
	}
	bind := func(id core.ActionID, name, real string) {
		write(t, db, func(tx core.Tx) error { return tx.BindNames(id, []core.Created{{Name: name, Real: real}}) })
	}
	bind(1, "~1", "real-1")
	bind(1, "~1", "real-2")  // bound for ever
	bind(1, "~10", "stolen") // another action's
	bind(3, "dir/file", "x") // no provisional id
	taken := draftOf(s, "a")
	taken.Draft.Provides = []string{"~10"}
	if err := db.Write(background, func(tx core.Tx) error { return tx.InsertAction(&taken) }); !errors.Is(err, core.ErrNameTaken) {
		t.Errorf("a second provider: %v", err)
	}
	read(t, db, func(v core.View) error {
		names, next, err := v.Names(s, "root", []string{"real-1", "a", "~10", "~7"})
		want := core.Names{"~1": {Provider: 1, Real: "real-1"}, "~10": {Provider: 2}}
		if !reflect.DeepEqual(names, want) || next != 11 {
			t.Errorf("names %v next %d, want %v and 11", names, next, want)
		}
		none, first, err2 := v.Names(s, "elsewhere", []string{"~1"})
		if len(none) != 0 || first != 1 {
			t.Errorf("elsewhere: %v, next %d", none, first)
		}
		other, after, err3 := v.Names(s, "root", []string{"a"})
		if len(other) != 0 || after != 11 {
			t.Errorf("not mentioned: %v, next %d", other, after)
		}
		return errors.Join(err, err2, err3)
	})
}
