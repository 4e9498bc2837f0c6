package core_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/gatekeepers/memory"
)

// revert queues the revert of an action.
func (r *rig) revert(id core.ActionID) core.ActionID {
	r.t.Helper()
	result, err := r.kernel.Revert(context.Background(), id, r.by)
	if err != nil {
		r.t.Fatal(err)
	}
	if result.Outcome != core.OutcomeQueued || result.Action == 0 || result.Action == id {
		r.t.Fatalf("revert of %d: got %+v, want a new action, queued", id, result)
	}
	return result.Action
}

// edited makes an item, appends to it, and gives the item and the append that was applied.
func (r *rig) edited(binding string) (item string, id core.ActionID) {
	r.t.Helper()
	item = r.made("one")
	id = r.submitTo(binding, "append", `{"id":%q,"text":"more"}`, item)
	r.wantOutcomes(r.approve(id), core.OutcomeApplied)
	return item, id
}

func (r *rig) body(item string) string {
	r.t.Helper()
	found, err := r.service(notesURL).Item("items/" + item)
	if err != nil {
		r.t.Fatal(err)
	}
	return found.Body
}

func TestK68_RevertApplied(t *testing.T) {
	r := newRig(t)
	item, id := r.edited("NOTES")
	back := r.revert(id)
	r.wantState(id, core.StateApplied)
	a := r.action(back)
	if a.Reverts != id || a.State != core.StatePending || a.Drift != core.DriftNone || a.Caller.Person != "alice" {
		t.Errorf("the revert: got %+v", a)
	}
	// It is in the journal like any other.
	out := r.call("NOTES", "get", `{"id":%q}`, item)
	if out.Pending() != 1 || field[string](t, out, "body") != "" || r.body(item) != "more" {
		t.Errorf("while it waits: got %s, pending %d; the service has %q", out.Value(), out.Pending(), r.body(item))
	}
	r.wantOutcomes(r.approve(back), core.OutcomeApplied)
	r.wantState(id, core.StateReverted)
	r.wantState(back, core.StateApplied)
	if got := r.body(item); got != "" {
		t.Errorf("after it: the service has %q", got)
	}
	// Both ways, on the screen and in the record.
	for _, look := range []core.ActionID{id, back} {
		d, err := r.kernel.Peek(context.Background(), look)
		if err != nil {
			t.Fatal(err)
		}
		if look == back && (d.Reverts == nil || d.Reverts.Action != id || d.Reverts.State != core.StateReverted || !d.CanRevert) {
			t.Errorf("show of the revert: got %+v, can be reverted %v", d.Reverts, d.CanRevert)
		}
		if look == id && (len(d.RevertedBy) != 1 || d.RevertedBy[0].Action != back || d.CanRevert) {
			t.Errorf("show of the original: got %+v, can be reverted %v", d.RevertedBy, d.CanRevert)
		}
	}
	for _, event := range []core.EventType{core.EventSubmit, core.EventDecision, core.EventClaim, core.EventOutcome} {
		if n := r.count(event, fmt.Sprintf(`"reverts":%d`, id)); n != 1 {
			t.Errorf("%s: got %d rows that name what is reverted, want 1", event, n)
		}
	}
	if n := r.count(core.EventOutcome, fmt.Sprintf(`"reverted_by":%d`, back)); n != 1 {
		t.Errorf("outcome: got %d rows for the original, want 1", n)
	}
	// One transaction for both: the rows stand side by side.
	rows := r.rows(core.EventOutcome)
	if last := rows[len(rows)-2:]; last[0].Seq+1 != last[1].Seq {
		t.Errorf("outcome and original: rows %d and %d are not of one transaction", last[0].Seq, last[1].Seq)
	}
}

// count counts rows of a type that hold a text.
func (r *rig) count(event core.EventType, text string) int {
	r.t.Helper()
	n := 0
	for _, row := range r.rows(event) {
		if strings.Contains(string(row.Blob), text) {
			n++
		}
	}
	return n
}

func TestK68_RevertWhoseBaseMoved(t *testing.T) {
	r := newRig(t)
	item, id := r.edited("NOTES")
	back := r.revert(id)
	if err := r.service(notesURL).Put("items/"+item, memory.Item{Title: "one", Body: "a stranger's"}); err != nil {
		t.Fatal(err)
	}
	old := r.action(back).Digest
	r.wantOutcomes(r.approve(back), core.OutcomeDrifted)
	r.wantState(id, core.StateApplied)
	if a := r.action(back); a.State != core.StatePending || a.Drift != core.DriftFresh || a.Digest == old || a.Risk() != core.RiskHigh {
		t.Errorf("the revert: got %s %s %s", a.State, a.Drift, a.Risk())
	}
	if got := r.body(item); got != "a stranger's" {
		t.Errorf("the service has %q", got)
	}
	// Approved again, as it is now, it happens.
	r.wantOutcomes(r.approve(back), core.OutcomeApplied)
	r.wantState(id, core.StateReverted)
	if got := r.body(item); got != "" {
		t.Errorf("the service has %q", got)
	}
}

func TestK68_RevertWhoseOutcomeIsUnknown(t *testing.T) {
	for _, applied := range []bool{true, false} {
		t.Run(fmt.Sprint(applied), func(t *testing.T) {
			r := newRig(t)
			r.bind("LOST", notesURL+"?fail=unknown:update")
			_, id := r.edited("LOST")
			back := r.revert(id)
			r.wantOutcomes(r.approve(back), core.OutcomeUnknown)
			r.wantState(id, core.StateApplied)
			if _, err := r.kernel.Revert(context.Background(), id, r.by); err == nil {
				t.Error("a second revert beside an unknown one was queued")
			}
			if _, err := r.kernel.Settle(context.Background(), back, r.by, core.Settlement{Applied: applied}); err != nil {
				t.Fatal(err)
			}
			want := core.StateApplied
			if applied {
				want = core.StateReverted
			}
			r.wantState(id, want)
			if n := r.count(core.EventDecision, fmt.Sprintf(`"reverts":%d`, id)); n != 2 {
				t.Errorf("got %d decisions, want 2: approved and settled", n)
			}
		})
	}
}

// A revert that is taken back is the action once more; each is reverted once.
func TestR25_RevertOfARevert(t *testing.T) {
	r := newRig(t)
	item, id := r.edited("NOTES")
	want := []string{"", "more", ""}
	for _, body := range want {
		back := r.revert(id)
		r.wantOutcomes(r.approve(back), core.OutcomeApplied)
		r.wantState(id, core.StateReverted)
		if got := r.body(item); got != body {
			t.Errorf("after %d: the service has %q, want %q", back, got, body)
		}
		id = back
	}
}

func TestR25_WhatIsNotReverted(t *testing.T) {
	r := newRig(t)
	item, id := r.edited("NOTES")
	pending := r.submit("append", `{"id":%q,"text":"later"}`, item)
	created, _ := r.create("two")
	r.wantOutcomes(r.approve(created), core.OutcomeApplied)
	back := r.revert(id)
	r.wantState(back, core.StatePending)
	refused := func(id core.ActionID, by core.ActionID, why string) {
		t.Helper()
		_, err := r.kernel.Revert(context.Background(), id, r.by)
		var e *core.NotRevertibleError
		if !errors.As(err, &e) || e.By != by || !strings.Contains(e.Error(), why) {
			t.Errorf("revert of %d: got %v, want %q naming %d", id, err, why, by)
		}
	}
	refused(pending, 0, "is pending")
	refused(created, 0, "cannot be reverted")
	refused(id, back, "decide that one")
	if _, err := r.kernel.Revert(context.Background(), 999, r.by); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("revert of nothing: got %v", err)
	}
	by := r.by
	by.AgentMark = "CLAUDECODE"
	var agent *core.DecisionRefusedError
	if _, err := r.kernel.Revert(context.Background(), id, by); !errors.As(err, &agent) {
		t.Errorf("revert by an agent: got %v", err)
	}
	// One that was rejected stands in nobody's way.
	r.wantOutcomes(r.reject("", back), core.OutcomeRejected)
	back = r.revert(id)
	r.wantOutcomes(r.reject("", pending), core.OutcomeRejected)
	r.action(back) // its fresh preview: it was made on the pending one
	r.wantOutcomes(r.approve(back), core.OutcomeApplied)
	refused(id, back, "reverted already")
	ids, err := r.kernel.Revertible(context.Background(), []core.ActionID{created, id, back, pending})
	if err != nil || fmt.Sprint(ids) != fmt.Sprint([]core.ActionID{back}) {
		t.Errorf("revertible: got %v %v, want %d alone", ids, err, back)
	}
}

// What was changed since is not overwritten unseen: the revert is drifted, so of high risk, and has to be opened.
func TestR25_RevertOfWhatChangedSince(t *testing.T) {
	r := newRig(t)
	item, id := r.edited("NOTES")
	later := r.submit("append", `{"id":%q,"text":" and more"}`, item)
	r.wantOutcomes(r.approve(later), core.OutcomeApplied)
	back := r.revert(id)
	if a := r.action(back); a.Drift != core.DriftFresh || a.Risk() != core.RiskHigh || !strings.Contains(a.Reason, "left it") {
		t.Errorf("got %q %s (%s), want it drifted", a.Drift, a.Risk(), a.Reason)
	}
	plan := r.planApprove(back)
	if _, err := r.kernel.Confirm(context.Background(), plan, r.by, core.ConfirmOptions{}, nil); err == nil {
		t.Error("it was approved unopened")
	}
}

// Reverts that are queued newest first are no drift to each other, and are carried out in that order.
func TestR25_RevertsOfTwoEdits(t *testing.T) {
	r := newRig(t)
	item := r.made("one")
	first := r.submit("append", `{"id":%q,"text":"1"}`, item)
	second := r.submit("append", `{"id":%q,"text":"2"}`, item)
	r.wantOutcomes(r.approve(first, second), core.OutcomeApplied, core.OutcomeApplied)
	ids, err := r.kernel.Revertible(context.Background(), []core.ActionID{first, second})
	if err != nil {
		t.Fatal(err)
	}
	var backs []core.ActionID
	for _, id := range ids {
		backs = append(backs, r.revert(id))
	}
	for _, back := range backs {
		if a := r.action(back); a.Drift != core.DriftNone {
			t.Errorf("revert of %d: drifted (%s)", a.Reverts, a.Reason)
		}
	}
	r.wantOutcomes(r.approve(backs...), core.OutcomeApplied, core.OutcomeApplied)
	r.wantState(first, core.StateReverted)
	r.wantState(second, core.StateReverted)
	if got := r.body(item); got != "" {
		t.Errorf("the service has %q", got)
	}
}

// K35 for what a revert takes back: the digest holds it.
func TestR14_WhatIsRevertedIsInTheDigest(t *testing.T) {
	r := newRig(t)
	_, id := r.edited("NOTES")
	_, other := r.edited("NOTES")
	back := r.revert(id)
	plan := r.planApprove(back)
	raw, err := sql.Open("sqlite", r.db.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.Exec(`UPDATE item SET reverts = ? WHERE id = ?`, int64(other), int64(back)); err != nil {
		t.Fatal(err)
	}
	results := r.confirm(plan)
	r.wantOutcomes(results, core.OutcomeSkipped)
	if !strings.Contains(results[0].Reason, "digest differs") {
		t.Errorf("got %q", results[0].Reason)
	}
}

// The cap of a binding counts reverts, and what is refused leaves nothing.
func TestR24_RevertsCount(t *testing.T) {
	r := newRig(t, func(o *core.Options) { o.Cap = 1 })
	item, id := r.edited("NOTES")
	r.submit("append", `{"id":%q,"text":"x"}`, item)
	var capped *core.CapError
	if _, err := r.kernel.Revert(context.Background(), id, r.by); !errors.As(err, &capped) {
		t.Errorf("got %v, want the cap", err)
	}
	if n := r.count(core.EventSubmit, `"reverts"`); n != 0 {
		t.Errorf("got %d rows of a revert that was refused", n)
	}
}
