package core_test

import (
	"context"
	"errors"
	"testing"

	"gatehouse/core"
	"gatehouse/gatekeepers/memory"
)

// TestR17_ReferencesThatAreNone: an action refers to earlier actions of its session at its resource and to nothing else.
func TestR17_ReferencesThatAreNone(t *testing.T) {
	r, o := newOddRig(t)
	elsewhere := r.submit("append", `{"id":%q,"text":"x"}`, r.made("a"))
	b := r.made("b")
	for name, change := range map[string]func(*core.Draft){
		"an action on something else": func(d *core.Draft) { d.After = []core.Reference{{Name: "x", Provider: elsewhere}} },
		"no action":                   func(d *core.Draft) { d.Needs = []core.Reference{{Name: "~9", Provider: 999}} },
		"itself":                      func(d *core.Draft) { d.Needs = []core.Reference{{Name: "x", Provider: elsewhere + 2}} },
		"a result without an order":   func(d *core.Draft) { d.Base = []core.BaseVersion{{Target: d.Targets[0], ResultOf: elsewhere}} },
		"no version":                  func(d *core.Draft) { d.Base = []core.BaseVersion{{Target: d.Targets[0]}} },
		"two versions":                func(d *core.Draft) { d.Base[0].Absent = true },
		"a name of another action":    func(d *core.Draft) { d.Provides = []string{"~1"} },
		"a name far ahead":            func(d *core.Draft) { d.Provides = []string{"~2147483647"} },
		"a base that is no target":    func(d *core.Draft) { d.Base[0].Target = "elsewhere" },
	} {
		t.Run(name, func(t *testing.T) {
			o.prepare = func(d core.Draft) core.Draft { change(&d); return d }
			out := r.call("NOTES", "append", `{"id":%q,"text":"y"}`, b)
			r.wantStatus(out, core.StatusError)
			if out.Action() != 0 {
				t.Errorf("queued action %d", out.Action())
			}
		})
	}
}

// TestR15_FlagsThatAreNotDeclared: what an action says of itself is among what its kind declares, so that no driver calls
// low what it declared to be high risk.
func TestR15_FlagsThatAreNotDeclared(t *testing.T) {
	r, o := newOddRig(t)
	real := r.made("a")
	o.prepare = func(d core.Draft) core.Draft {
		d.Irreversible, d.CostsMoney = false, false
		return d
	}
	r.wantStatus(r.call("NOTES", "publish", `{"id":%q}`, real), core.StatusError)
	r.wantStatus(r.call("NOTES", "charge", `{"id":%q,"amount":5}`, real), core.StatusError)
	r.wantStatus(r.call("NOTES", "append", `{"id":%q,"text":"x"}`, real), core.StatusOK)
}

// TestR17_PreviewThatCannotBeStored: one action whose fresh preview the store does not take is drifted without one, and
// nothing else is held up by it.
func TestR17_PreviewThatCannotBeStored(t *testing.T) {
	r := newRig(t, func(k *core.Options) { k.Store = noPreviews{k.Store} })
	target := r.made("a")
	id := r.submit("append", `{"id":%q,"text":"x"}`, target)
	other := r.submit("append", `{"id":%q,"text":"x"}`, r.made("b"))
	if err := r.service(notesURL).Put("items/"+target, memory.Item{Title: "changed"}); err != nil {
		t.Fatal(err)
	}
	r.wantOutcomes(r.approve(id), core.OutcomeDrifted)
	if got := r.action(id).Drift; got != core.DriftBlocked {
		t.Errorf("got drift %q, want %q", got, core.DriftBlocked)
	}
	r.wantOutcomes(r.approve(other), core.OutcomeApplied)
	r.wantOutcomes(r.reject("", id), core.OutcomeRejected)
}

// TestR18_NameBoundAnew: a binding's name that leads to something else by now carries nothing of what was queued before.
func TestR18_NameBoundAnew(t *testing.T) {
	ctx := context.Background()
	r := newRig(t)
	real := r.made("a")
	id := r.submit("append", `{"id":%q,"text":"x"}`, real)
	again := func(url string) {
		t.Helper()
		if err := r.kernel.Unbind(ctx, string(r.session.ID), "NOTES", "alice"); err != nil {
			t.Fatal(err)
		}
		r.bind("NOTES", url)
	}
	plan := r.planApprove(id)
	again("memory://notes/others")
	r.wantOutcomes(r.confirm(plan), core.OutcomeSkipped)
	r.wantState(id, core.StatePending)
	r.wantOutcomes(r.reject("", id), core.OutcomeRejected)

	again(notesURL)
	id = r.submit("append", `{"id":%q,"text":"x"}`, real)
	again(notesURL)
	r.wantOutcomes(r.approve(id), core.OutcomeApplied)
}

// TestR28_StopAfterADenial: a turn that waits for an answer, and would end with it because of a denial, can be stopped.
func TestR28_StopAfterADenial(t *testing.T) {
	ctx := context.Background()
	r := newRig(t)
	real := r.made("a")
	session := string(r.session.ID)
	lease, err := r.kernel.StartTurn(ctx, core.StartTurn{
		Session: session, Task: "publish it", By: "alice", Model: "m", OnDenial: core.DenialEnd,
	})
	if err != nil {
		t.Fatal(err)
	}
	next, err := r.kernel.NextStep(ctx, lease)
	if err != nil {
		t.Fatal(err)
	}
	step, err := r.kernel.StoreResponse(ctx, lease, next.Request, core.Response{Calls: []core.ToolCall{
		{ID: "c1", Name: "NOTES.publish", Args: `{"id":"` + real + `"}`},
		{ID: "c2", Name: core.ToolAsk, Args: `{"question":"and then?"}`},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var published core.ActionID
	for _, call := range step.Response.Calls {
		out, err := r.kernel.RunCall(ctx, lease, step.Number, call)
		if err != nil {
			t.Fatal(err)
		}
		if published == 0 {
			published = out.Action()
		}
	}
	if next, err = r.kernel.NextStep(ctx, lease); err != nil || next.Do != core.NextSuspended {
		t.Fatalf("got %v %v, want the turn suspended", next.Do, err)
	}
	r.wantOutcomes(r.reject("no", published), core.OutcomeRejected)
	turn, err := r.kernel.StopTurn(ctx, session, "alice")
	if err != nil {
		t.Fatal(err)
	}
	if turn.State != core.TurnDone || turn.End != core.TurnEndStopped {
		t.Errorf("got %s %s, want it stopped", turn.State, turn.End)
	}
	_, err = r.kernel.ContinueTurn(ctx, session)
	var none *core.NoTurnError
	if !errors.As(err, &none) {
		t.Errorf("got %v, want no turn to continue", err)
	}
}
