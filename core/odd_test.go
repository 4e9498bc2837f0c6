package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/gatekeepers/memory"
)

// TestR20_DriverThatPanics: a fault of a driver is an error of its call, and what was claimed is unknown.
func TestR20_DriverThatPanics(t *testing.T) {
	r, o := newOddRig(t)
	real := r.made("a")
	o.read = func(core.Call) (core.Fetched, error) { panic("read") }
	out := r.call("NOTES", "get", `{"id":%q}`, real)
	r.wantStatus(out, core.StatusError)
	o.read = nil

	o.extend = func(core.Intent) core.Intent { panic("extend") }
	r.wantStatus(r.call("NOTES", "get", `{"id":%q}`, real), core.StatusError)
	o.extend = nil

	o.prepare = func(core.Draft) core.Draft { panic("prepare") }
	r.wantStatus(r.call("NOTES", "append", `{"id":%q,"text":"x"}`, real), core.StatusError)
	o.prepare = nil

	id := r.submit("append", `{"id":%q,"text":"x"}`, real)
	o.current = func(context.Context, core.Dispatch, core.Current) (core.Current, error) { panic("current") }
	r.wantOutcomes(r.approve(id), core.OutcomeSkipped)
	r.wantState(id, core.StatePending)

	o.current = func(_ context.Context, _ core.Dispatch, now core.Current) (core.Current, error) {
		now.Undo = brokenUndo{}
		return now, nil
	}
	r.wantOutcomes(r.approve(id), core.OutcomeSkipped)
	r.wantState(id, core.StatePending)
	o.current = nil

	o.apply = func(core.Dispatch, core.Outcome) (core.Outcome, error) { panic("apply") }
	r.wantOutcomes(r.approve(id), core.OutcomeUnknown)
	r.wantState(id, core.StateUnknown)
}

// TestR3_WordsOfUndoDataPassTheGate: why undo data cannot be read may hold the service's data.
func TestR3_WordsOfUndoDataPassTheGate(t *testing.T) {
	check := &refuse{half: core.HalfExact, unit: "items"}
	r, o := newOddRig(t, func(k *core.Options) { k.Checks = []core.Check{check} })
	id := r.submit("append", `{"id":%q,"text":"x"}`, r.made("a"))
	o.current = func(_ context.Context, _ core.Dispatch, now core.Current) (core.Current, error) {
		now.Undo = brokenUndo{errors.New("row 7 holds a-secret")}
		return now, nil
	}
	check.set(true)
	results := r.approve(id)
	r.wantOutcomes(results, core.OutcomeSkipped)
	if strings.Contains(results[0].Reason, "a-secret") {
		t.Errorf("got %q, want the words withheld", results[0].Reason)
	}
	if len(r.rows(core.EventBlocked)) == 0 {
		t.Error("no blocked row")
	}
}

// TestR20_OutcomeThatIsNonsense: an effect that happened is kept as applied, without what makes no sense of it.
func TestR20_OutcomeThatIsNonsense(t *testing.T) {
	r, o := newOddRig(t)
	o.apply = func(_ core.Dispatch, out core.Outcome) (core.Outcome, error) {
		out.Value = json.RawMessage(`{"half`)
		out.Versions = nil
		return out, nil
	}
	id := r.submit("publish", `{"id":%q}`, r.made("a"))
	r.wantOutcomes(r.approve(id), core.OutcomeApplied)
	d, err := r.kernel.Peek(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(d); err != nil {
		t.Errorf("the detail of the action cannot be printed: %v", err)
	}
}

// TestR1_ReadThatIsNotJSON: what is no value is an error, with its row, and not a failure of the program.
func TestR1_ReadThatIsNotJSON(t *testing.T) {
	r, o := newOddRig(t)
	real := r.made("a")
	o.read = func(core.Call) (core.Fetched, error) { return core.Fetched{Value: json.RawMessage(`{"a":`)}, nil }
	out := r.callAs(core.Caller{Kind: core.CallerAgent, Person: "alice", Turn: 1, Step: 1, CallID: "c1"}, "NOTES", "get", `{"id":%q}`, real)
	r.wantStatus(out, core.StatusError)
}

// TestR17_CreatedByAnother: an outcome binds what its own action promised, to ids of the service, and nothing else.
func TestR17_CreatedByAnother(t *testing.T) {
	r, o := newOddRig(t)
	first, firstName := r.create("first")
	second, secondName := r.create("second")
	comment := r.submit("append", `{"id":%q,"text":"for the second"}`, secondName)
	o.apply = func(d core.Dispatch, out core.Outcome) (core.Outcome, error) {
		switch d.Action {
		case first:
			out.Created = append(out.Created, core.Created{Name: secondName, Real: out.Created[0].Real})
		case second:
			out.Created = []core.Created{{Name: secondName, Real: firstName}}
		}
		return out, nil
	}
	results := r.approve(first, second, comment)
	r.wantOutcomes(results, core.OutcomeApplied, core.OutcomeApplied, core.OutcomeSkipped)
	if n := len(r.action(second).Created); n != 0 {
		t.Errorf("got %d created by the second, want none under a provisional id", n)
	}
	for _, c := range r.action(first).Created {
		if c.Name != firstName {
			t.Errorf("the first created %s, which it never promised", c.Name)
		}
	}
}

// TestR19_ContextThatEndsAtTheClaim: nothing was sent, so nothing is unknown.
func TestR19_ContextThatEndsAtTheClaim(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	fault := &faultAt{point: core.FaultConfirmClaimed}
	r := newRig(t, func(k *core.Options) { k.Fault = fault })
	id := r.submit("append", `{"id":%q,"text":"x"}`, r.made("a"))
	plan := r.planApprove(id)
	fault.do = func() error { cancel(); return nil }
	if _, err := r.kernel.Confirm(ctx, plan, r.by, core.ConfirmOptions{}, nil); !errors.Is(err, context.Canceled) && err != nil {
		t.Fatal(err)
	}
	fault.do = nil
	if a := r.action(id); a.State != core.StateFailed || !a.Retryable {
		t.Errorf("got %s, retryable %v; want failed, to be retried", a.State, a.Retryable)
	}
}

// TestR19_BaseQueryThatHearsNothing: a driver that does not hear its context end holds nobody back.
func TestR19_BaseQueryThatHearsNothing(t *testing.T) {
	r, o := newOddRig(t)
	id := r.submit("append", `{"id":%q,"text":"x"}`, r.made("a"))
	plan := r.planApprove(id)
	ctx, cancel := context.WithCancel(context.Background())
	release := make(chan struct{})
	o.current = func(_ context.Context, _ core.Dispatch, now core.Current) (core.Current, error) {
		cancel()
		<-release
		return now, nil
	}
	done := make(chan error, 1)
	go func() {
		_, err := r.kernel.Confirm(ctx, plan, r.by, core.ConfirmOptions{}, nil)
		done <- err
	}()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the context's end", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the confirm waits for a driver that does not answer")
	}
	close(release)
	o.current = nil
	r.wantState(id, core.StatePending)
}

// TestR3_RefusedAtTheClaim: the gate is asked once more before anything is sent, and its refusal is a blocked row, which
// alone names the unit (kernel R5).
func TestR3_RefusedAtTheClaim(t *testing.T) {
	check := &refuse{half: core.HalfIntent, unit: "items"}
	r := newRig(t, func(k *core.Options) { k.Checks = []core.Check{check} })
	id := r.submit("append", `{"id":%q,"text":"x"}`, r.made("a"))
	plan := r.planApprove(id)
	check.set(true)
	results := r.confirm(plan)
	r.wantOutcomes(results, core.OutcomeSkipped)
	if strings.Contains(results[0].Reason, "items") || strings.Contains(results[0].Reason, "bob") {
		t.Errorf("got %q, want no unit and no person named", results[0].Reason)
	}
	rows := r.rows(core.EventBlocked)
	if len(rows) != 1 || len(rows[0].Entry.Units) != 1 || rows[0].Entry.Units[0] != memory.Unit("notes", "items") {
		t.Errorf("got %d blocked rows, want one that names the unit", len(rows))
	}
	r.wantState(id, core.StatePending)
}

// TestK70_PrerequisiteAppliedMeanwhile: what the plan skips can still be sent, so it has to have been opened as well.
func TestK70_PrerequisiteAppliedMeanwhile(t *testing.T) {
	r := newRig(t)
	create, name := r.create("a")
	charge := r.submit("charge", `{"id":%q,"amount":5}`, name)
	plan := r.planApprove(charge)
	r.wantOutcomes(r.approve(create), core.OutcomeApplied)
	_, err := r.kernel.Confirm(context.Background(), plan, r.by, core.ConfirmOptions{}, nil)
	var refused *core.DecisionRefusedError
	if !errors.As(err, &refused) {
		t.Errorf("got %v, want the confirm refused: action %d was never opened", err, charge)
	}
	r.wantState(charge, core.StatePending)
}

// TestK38_OverTwoConnections: what needs something that another connection makes in the same plan waits for it.
func TestK38_OverTwoConnections(t *testing.T) {
	r := newRig(t)
	_, err := r.kernel.Bind(context.Background(), core.BindRequest{
		Session: string(r.session.ID), Name: "OTHER", URL: notesURL, Person: "bob",
	})
	if err != nil {
		t.Fatal(err)
	}
	var ids []core.ActionID
	for range 5 {
		id, name := r.create("a")
		comment := r.submitTo("OTHER", "append", `{"id":%q,"text":"b"}`, name)
		again := r.submit("append", `{"id":%q,"text":"c"}`, name)
		ids = append(ids, id, comment, again)
	}
	if a, b := r.action(ids[0]).Connection, r.action(ids[1]).Connection; a == b {
		t.Fatal("both go over one connection")
	}
	for _, result := range r.approve(ids...) {
		if result.Outcome != core.OutcomeApplied {
			t.Errorf("action %d: got %s (%s), want applied", result.Action, result.Outcome, result.Reason)
		}
	}
}

// TestR19_OutcomeThatCannotBeStored: a full disk loses no outcome. Once there is room it is stored, and its connection
// is free again.
func TestR19_OutcomeThatCannotBeStored(t *testing.T) {
	var disk *brokenStore
	r, o := newOddRig(t, func(k *core.Options) {
		disk = &brokenStore{Store: k.Store}
		k.Store = disk
	})
	real := r.made("a")
	id := r.submit("append", `{"id":%q,"text":"x"}`, real)
	plan := r.planApprove(id)
	o.apply = func(_ core.Dispatch, out core.Outcome) (core.Outcome, error) {
		disk.broken.Store(true)
		return out, nil
	}
	_, err := r.kernel.Confirm(context.Background(), plan, r.by, core.ConfirmOptions{}, nil)
	if !errors.Is(err, errDiskFull) {
		t.Fatalf("got %v, want the full disk", err)
	}
	o.apply = nil
	disk.broken.Store(false)
	next := r.submit("append", `{"id":%q,"text":"y"}`, real)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	plan, err = r.kernel.PlanApprove(ctx, "alice", []core.ActionID{next}, core.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	results, err := r.kernel.Confirm(ctx, plan, r.by, core.ConfirmOptions{Unopened: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.wantState(id, core.StateApplied)
	if results[0].Outcome == core.OutcomeNotStarted {
		t.Errorf("got %v: the connection is not free", results)
	}
}
