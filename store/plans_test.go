package store

import (
	"errors"
	"reflect"
	"testing"

	"gatehouse/core"
)

func TestK42_PlanIsConfirmedOnce(t *testing.T) {
	db := openNew(t)
	p := core.PlanRecord{
		ID: "p1", By: "alice", How: core.MeansTerminal, Holder: "h", ConfirmedAt: noon,
		Items: []core.PlanItem{
			{Action: 9, Digest: core.Digest{1}, Verdict: core.VerdictReject, Reason: "no"},
			{Action: 4, Digest: core.Digest{2}, Verdict: core.VerdictApprove},
		},
	}
	insert := func(p core.PlanRecord) error {
		return db.Write(background, func(tx core.Tx) error { return tx.InsertPlan(p) })
	}
	if err := insert(p); err != nil {
		t.Fatal(err)
	}
	if err := insert(p); !errors.Is(err, core.ErrPlanConfirmed) {
		t.Errorf("confirmed twice: %v", err)
	}
	p.Results = []core.Result{{Action: 9, Outcome: core.OutcomeNotStarted}, {Action: 4, Outcome: core.OutcomeNotStarted}}
	expect := func(when string) {
		t.Helper()
		read(t, db, func(v core.View) error {
			got, err := v.Plan("p1")
			if !reflect.DeepEqual(got, p) {
				t.Errorf("%s: got\n%+v\nwant\n%+v", when, got, p)
			}
			return err
		})
	}
	expect("confirmed")
	write(t, db, func(tx core.Tx) error { return tx.SetPlanItem("p1", 4, core.OutcomeFailed, "disk full") })
	p.Results[1].Outcome, p.Results[1].Reason = core.OutcomeFailed, "disk full"
	write(t, db, func(tx core.Tx) error { return tx.FinishPlan("p1", noon.Add(1)) })
	p.FinishedAt = noon.Add(1)
	expect("finished")
	for name, fn := range map[string]func(core.Tx) error{
		"item of another plan": func(tx core.Tx) error { return tx.SetPlanItem("p1", 5, core.OutcomeApplied, "") },
		"item of no plan":      func(tx core.Tx) error { return tx.SetPlanItem("p9", 4, core.OutcomeApplied, "") },
		"finished twice":       func(tx core.Tx) error { return tx.FinishPlan("p1", noon) },
	} {
		if err := db.Write(background, fn); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	second := p
	second.ID, second.Items = "p2", nil
	third := p
	third.ID, third.Items = "p3", make([]core.PlanItem, core.PlanLimit+1)
	if err := insert(second); err != nil {
		t.Fatal(err)
	}
	if err := insert(third); err == nil {
		t.Error("a plan over the limit was stored")
	}
	read(t, db, func(v core.View) error {
		newest, err := v.Plans(1)
		all, err2 := v.Plans(0)
		if len(newest) != 1 || newest[0].ID != "p2" || len(all) != 2 || !reflect.DeepEqual(all[1], p) {
			t.Errorf("newest %+v, all %+v", newest, all)
		}
		return errors.Join(err, err2)
	})
	expect("in the end")
}

func TestDraftsAreAPersonsOwn(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	for range 3 {
		submit(t, db, draftOf(s, "a"))
	}
	draft := func(person core.PersonID, id core.ActionID, verdict core.Verdict, at int) core.DraftedDecision {
		return core.DraftedDecision{Person: person, Action: id, Digest: core.Digest{7}, Verdict: verdict, Reason: "r", At: noon.AddDate(0, 0, at)}
	}
	put := func(drafts ...core.DraftedDecision) {
		write(t, db, func(tx core.Tx) error {
			for _, d := range drafts {
				if err := tx.PutDraft(d); err != nil {
					return err
				}
			}
			return nil
		})
	}
	replaced := draft("alice", 1, core.VerdictReject, 3)
	kept := draft("alice", 2, core.VerdictApprove, 2)
	put(draft("alice", 1, core.VerdictApprove, 1), kept, draft("bob", 3, core.VerdictApprove, 1), replaced)
	expect := func(person core.PersonID, want ...core.DraftedDecision) {
		t.Helper()
		read(t, db, func(v core.View) error {
			got, err := v.Drafts(person)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %+v, want %+v", person, got, want)
			}
			return err
		})
	}
	expect("alice", kept, replaced)
	write(t, db, func(tx core.Tx) error { return tx.DropDrafts("alice", []core.ActionID{2, 3}) })
	expect("alice", replaced)
	expect("bob", draft("bob", 3, core.VerdictApprove, 1))
	write(t, db, func(tx core.Tx) error { return tx.DropDrafts("alice", nil) })
	expect("alice")
	if err := db.Write(background, func(tx core.Tx) error { return tx.PutDraft(draft("bob", 99, core.VerdictApprove, 1)) }); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("on no action: %v", err)
	}
}

func TestOpenedIsPerPersonAndDigest(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	a := submit(t, db, draftOf(s, "a"))
	mark := func(person core.PersonID, digest core.Digest) (first bool) {
		write(t, db, func(tx core.Tx) (err error) {
			first, err = tx.MarkOpened(person, a.ID, digest, noon)
			return err
		})
		return first
	}
	opened := func(person core.PersonID) (is bool) {
		read(t, db, func(v core.View) error {
			m, err := v.Opened(person, []core.ActionID{a.ID, 99})
			is = m[a.ID]
			return err
		})
		return is
	}
	if !mark("alice", core.Digest{1}) || opened("alice") {
		t.Error("an older digest counts")
	}
	if !mark("alice", a.Digest) || mark("alice", a.Digest) || !opened("alice") || opened("bob") {
		t.Error("opened is not per person and digest, once")
	}
}

func TestOperatorKeysAndAnswers(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	insert := func() error {
		return db.Write(background, func(tx core.Tx) error { return tx.InsertOperatorKey("hash", "alice", noon) })
	}
	if err := insert(); err != nil {
		t.Fatal(err)
	}
	if err := insert(); !errors.Is(err, core.ErrNameTaken) {
		t.Errorf("the same key again: %v", err)
	}
	want := core.Answer{Session: s, Turn: 1, Step: 2, CallID: "c", ArgsHash: "h", Body: []byte(`{"a": 1}`)}
	empty := core.Answer{Session: s, Turn: 1, Step: 3, CallID: "d"}
	write(t, db, func(tx core.Tx) error { return errors.Join(tx.InsertAnswer(want), tx.InsertAnswer(empty)) })
	if err := db.Write(background, func(tx core.Tx) error { return tx.InsertAnswer(want) }); !errors.Is(err, core.ErrNameTaken) {
		t.Errorf("the same call again: %v", err)
	}
	read(t, db, func(v core.View) error {
		person, err := v.OperatorKey("hash")
		got, err2 := v.Answer(s, 1, "c", "h")
		_, other := v.Answer(s, 1, "c", "other arguments")
		all, err3 := v.Answers(s)
		if person != "alice" || !reflect.DeepEqual(got, want) || !errors.Is(other, core.ErrNotFound) || !reflect.DeepEqual(all, []core.Answer{want, empty}) {
			t.Errorf("person %s, answer %+v, other %v, all %+v", person, got, other, all)
		}
		return errors.Join(err, err2, err3)
	})
}
