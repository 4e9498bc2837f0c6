package store

import (
	"context"
	"reflect"
	"testing"
	"time"

	"gatehouse/core"
)

func leaseOf(session core.SessionID, holder core.ProcessID, token string) core.Lease {
	return core.Lease{Session: session, Turn: 1, Holder: holder, Token: token, TakenAt: noon}
}

func setLease(t *testing.T, db *DB, before, after core.Lease, want bool) {
	t.Helper()
	session := max(before.Session, after.Session)
	write(t, db, func(tx core.Tx) error {
		got, err := tx.SetLease(session, before, after)
		if err == nil && got != want {
			t.Errorf("lease from %q to %q: got %t, want %t", before.Token, after.Token, got, want)
		}
		return err
	})
}

func TestSetLease_IsACompareAndSet(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "work")
	none, a, b, c := core.Lease{}, leaseOf(s, "p1", "a"), leaseOf(s, "p2", "b"), leaseOf(s, "p3", "c")
	setLease(t, db, none, a, true)
	setLease(t, db, none, b, false) // taken
	setLease(t, db, c, b, false)    // not the one in the store
	setLease(t, db, leaseOf(s, "p2", "a"), b, false)
	setLease(t, db, a, b, true)
	setLease(t, db, a, none, false) // no longer a's to give back
	read(t, db, func(v core.View) error {
		got, err := v.Lease(s)
		if got != b {
			t.Errorf("got lease %+v, want %+v", got, b)
		}
		return err
	})
	setLease(t, db, b, none, true)
	read(t, db, func(v core.View) error {
		got, err := v.Lease(s)
		if got != none {
			t.Errorf("got lease %+v, want none", got)
		}
		return err
	})
}

func someTurn(s core.SessionID) core.Turn {
	return core.Turn{
		Session: s, State: core.TurnRunning, Model: "script a", Source: "a.yaml", By: "alice", OnDenial: core.DenialEnd,
		Limits: core.TurnLimits{Steps: 30, Time: time.Hour}, RunningSince: noon, StartedAt: noon, UpdatedAt: noon,
	}
}

func TestTurn_ComesBackAsItWasAndChangesByVersion(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "work")
	turn := someTurn(s)
	write(t, db, func(tx core.Tx) error { return tx.InsertTurn(&turn) })
	if turn.Number != 1 || turn.Version != 1 {
		t.Fatalf("got turn %d of version %d, want the first of both", turn.Number, turn.Version)
	}
	second := someTurn(s)
	if err := db.Write(context.Background(), func(tx core.Tx) error { return tx.InsertTurn(&second) }); !constraint(err) {
		t.Errorf("got %v, want a second open turn refused", err)
	}
	after := turn
	after.State, after.End, after.Reason, after.Worked = core.TurnDone, core.TurnEndSteps, "the limit", time.Minute
	after.RunningSince, after.StopAsked, after.UpdatedAt = time.Time{}, true, noon.Add(time.Minute)
	for _, want := range []bool{true, false} {
		write(t, db, func(tx core.Tx) error {
			got, err := tx.ChangeTurn(turn, &after)
			if got != want {
				t.Errorf("got %t, want %t", got, want)
			}
			return err
		})
	}
	second = someTurn(s)
	write(t, db, func(tx core.Tx) error { return tx.InsertTurn(&second) })
	read(t, db, func(v core.View) error {
		got, err := v.Turns(s)
		if want := []core.Turn{after, second}; !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
		newest, found := v.NewestTurn(s)
		if found != nil || newest.Number != 2 {
			t.Errorf("got newest %d (%v), want 2", newest.Number, found)
		}
		return err
	})
}

func TestStep_ComesBackAsItWas(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "work")
	turn := someTurn(s)
	step := core.Step{
		Session: s, Turn: 1, Number: 1, At: noon,
		Decisions: []core.Decided{{ID: 3, State: "rejected", Title: "a <b>", Reason: "no"}},
		Response: core.Response{
			Text: "say\nit", Usage: core.Usage{Input: 3, Output: 4},
			Calls: []core.ToolCall{{ID: "1", Name: "NOTES.create", Args: `{"title": `}},
		},
	}
	write(t, db, func(tx core.Tx) error {
		if err := tx.InsertTurn(&turn); err != nil {
			return err
		}
		return tx.InsertStep(step)
	})
	if err := db.Write(context.Background(), func(tx core.Tx) error { return tx.InsertStep(step) }); err == nil {
		t.Error("a step was stored twice")
	}
	step.ClosedAt = noon.Add(time.Second)
	write(t, db, func(tx core.Tx) error { return tx.CloseStep(s, 1, 1, step.ClosedAt) })
	if err := db.Write(context.Background(), func(tx core.Tx) error { return tx.CloseStep(s, 1, 1, noon) }); err == nil {
		t.Error("a step was closed twice")
	}
	read(t, db, func(v core.View) error {
		got, err := v.NewestStep(s, 1)
		if !reflect.DeepEqual(got, step) {
			t.Errorf("got %+v, want %+v", got, step)
		}
		return err
	})
}

func TestMessagesAndNotices_AreDeliveredOnce(t *testing.T) {
	db := openNew(t)
	s, other := newSession(t, db, "work"), newSession(t, db, "other")
	messages := []core.Message{
		{Session: s, By: "alice", Kind: core.MessageQueued, Text: "one", At: noon},
		{Session: s, By: "bob", Kind: core.MessageSteering, Text: "two", At: noon},
		{Session: other, By: "bob", Kind: core.MessageQueued, Text: "elsewhere", At: noon},
	}
	write(t, db, func(tx core.Tx) error {
		for i := range messages {
			if err := tx.InsertMessage(&messages[i]); err != nil {
				return err
			}
		}
		if err := tx.InsertNotice(core.Notice{Session: s, Turn: 1, Action: 7, State: "rejected", Title: "t", Reason: "r", At: noon}); err != nil {
			return err
		}
		all := []int64{messages[0].ID, messages[2].ID} // the second is another session's
		if err := tx.DeliverMessages(s, 1, 1, all); err != nil {
			return err
		}
		return tx.DeliverMessages(s, 2, 5, all)
	})
	messages[0].Turn, messages[0].Step = 1, 1
	read(t, db, func(v core.View) error {
		got, err := v.Messages(s)
		if !reflect.DeepEqual(got, messages[:2]) {
			t.Errorf("got %+v, want the first told once", got)
		}
		queued, err2 := v.QueuedMessages(other)
		if err2 != nil || len(queued) != 1 {
			t.Errorf("got %v (%v), want the other session's message left alone", queued, err2)
		}
		return err
	})
	var notices []core.Notice
	read(t, db, func(v core.View) (err error) {
		notices, err = v.UntoldNotices(s)
		return err
	})
	if len(notices) != 1 || notices[0].Action != 7 || notices[0].Reason != "r" || !notices[0].At.Equal(noon) {
		t.Fatalf("got notices %+v, want the one", notices)
	}
	write(t, db, func(tx core.Tx) error { return tx.TellNotices(s, 1, 1, []int64{notices[0].ID}) })
	read(t, db, func(v core.View) error {
		left, err := v.UntoldNotices(s)
		if len(left) != 0 {
			t.Errorf("got %+v, want nothing left to tell", left)
		}
		return err
	})
}
