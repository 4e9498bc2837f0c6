package conformance

import (
	"encoding/json"
	"slices"
	"sync"

	"gatehouse/core"
)

// failing binds the service a second time, to fail as told, and queues the first edit there.
func (b *bench) failing(f Failure) core.Action {
	b.t.Helper()
	b.need(b.service.Failing != nil, "Service.Failing")
	b.bind("FAILING", b.service.Failing(f))
	return b.queueOn("FAILING", b.setup.Sample.Edits[0])
}

func (b *bench) wantState(id core.ActionID, state core.State, retryable bool) {
	b.t.Helper()
	if a := b.action(id); a.State != state || a.Retryable != retryable {
		b.t.Errorf("action %d: got %s, retryable %v (%s); want %s, %v", id, a.State, a.Retryable, a.Reason, state, retryable)
	}
}

// wantGap reads and wants an action named as not shown.
func (b *bench) wantGap(id core.ActionID, shown answer) {
	b.t.Helper()
	out := b.read(b.setup.Sample.Read)
	if !slices.ContainsFunc(out.Incomplete(), func(g core.Gap) bool { return g.Action == id }) {
		b.t.Errorf("incomplete %v, want action %d named", out.Incomplete(), id)
	}
	if got := b.comparable(out); !same(got, shown) {
		b.t.Errorf("got  %s\nwant %s", got, shown)
	}
}

// K57: a gap is named, and nothing is shown over it.
func cannotBeProjected(b *bench) {
	b.need(b.service.Failing != nil, "Service.Failing")
	before := b.comparable(b.read(b.setup.Sample.Read))
	gap := b.queue(b.setup.Sample.Edits[0])
	over := b.queue(b.setup.Sample.Edits[1])
	b.bind("FAILING", b.service.Failing(FailProject))
	out := b.callOn("FAILING", b.setup.Sample.Read)
	if out.Status() != core.StatusOK || out.Pending() != 0 {
		b.t.Errorf("got %s (%s), pending %d; want ok and 0", out.Status(), out.Reason(), out.Pending())
	}
	if got := b.comparable(out); !same(got, before) {
		b.t.Errorf("shown over the gap: %s", got)
	}
	for _, id := range []core.ActionID{gap.ID, over.ID} {
		if !slices.ContainsFunc(out.Incomplete(), func(g core.Gap) bool { return g.Action == id && g.Reason != "" }) {
			b.t.Errorf("incomplete %v, want action %d named with a reason", out.Incomplete(), id)
		}
	}
}

// K66: while an effect is on its way it is neither shown twice nor missed.
func readWhileClaimed(b *bench) {
	b.need(b.service.Hold != nil, "Service.Hold")
	without := b.comparable(b.read(b.setup.Sample.Read))
	a := b.edits(1)[0]
	with := b.comparable(b.read(b.setup.Sample.Read))
	entered, release := b.service.Hold()
	defer release()
	plan, err := b.kernel.PlanApprove(b.context(), person, []core.ActionID{a.ID}, core.PlanOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Go(func() {
		if _, err := b.kernel.Confirm(b.context(), plan, authority(), core.ConfirmOptions{Unopened: true}, nil); err != nil {
			b.t.Error(err)
		}
	})
	<-entered
	out := b.read(b.setup.Sample.Read)
	got := b.comparable(out)
	named := slices.ContainsFunc(out.Incomplete(), func(g core.Gap) bool { return g.Action == a.ID })
	if !named || (!same(got, without) && !same(got, with)) {
		b.t.Errorf("while it is sent: got %s, incomplete %v", got, out.Incomplete())
	}
	release()
	done.Wait()
	if got := b.comparable(b.read(b.setup.Sample.Read)); !same(got, with) {
		b.t.Errorf("after it: got %s\nwant %s", got, with)
	}
}

func failedBefore(b *bench) {
	shown := b.comparable(b.read(b.setup.Sample.Read))
	before := b.snapshot()
	a := b.failing(FailBefore)
	b.wantOutcomes(b.approve(a.ID), map[core.ActionID]core.ItemOutcome{a.ID: core.OutcomeFailed})
	b.wantState(a.ID, core.StateFailed, true)
	b.wantGap(a.ID, shown)
	if after := b.snapshot(); after != before {
		b.t.Errorf("the service changed: %s", after)
	}
}

// K29: the service said not now.
func refusedRetryable(b *bench) {
	shown := b.comparable(b.read(b.setup.Sample.Read))
	a := b.failing(FailRetryable)
	b.wantOutcomes(b.approve(a.ID), map[core.ActionID]core.ItemOutcome{a.ID: core.OutcomeFailed})
	b.wantState(a.ID, core.StateFailed, true)
	b.wantGap(a.ID, shown)
	b.wantOutcomes(b.reject(a.ID), map[core.ActionID]core.ItemOutcome{a.ID: core.OutcomeRejected})
	if out := b.read(b.setup.Sample.Read); len(out.Incomplete()) != 0 {
		b.t.Errorf("rejected, and still named: %v", out.Incomplete())
	}
}

// K29, G43: the service said no.
func refusedForGood(b *bench) {
	a := b.failing(FailForGood)
	b.wantOutcomes(b.approve(a.ID), map[core.ActionID]core.ItemOutcome{a.ID: core.OutcomeFailed})
	b.wantState(a.ID, core.StateFailed, false)
	if out := b.read(b.setup.Sample.Read); len(out.Incomplete()) != 0 || out.Pending() != 0 {
		b.t.Errorf("what failed for good is still in the way: pending %d, incomplete %v", out.Pending(), out.Incomplete())
	}
	b.wantOutcomes(b.reject(a.ID), map[core.ActionID]core.ItemOutcome{a.ID: core.OutcomeRejected})
}

// K30, K31: the answer was lost. Nothing is sent again by itself; reads say what they do not know.
func unknownOutcome(b *bench) {
	b.need(b.service.Failing != nil, "Service.Failing")
	a := b.failing(FailAnswer)
	b.wantOutcomes(b.approve(a.ID), map[core.ActionID]core.ItemOutcome{a.ID: core.OutcomeUnknown})
	b.wantState(a.ID, core.StateUnknown, false)
	sent := b.snapshot()
	b.wantOutcomes(b.approve(a.ID), map[core.ActionID]core.ItemOutcome{a.ID: core.OutcomeNotPending})
	if again := b.snapshot(); again != sent {
		b.t.Errorf("it was sent again: %s", again)
	}
	out := b.read(b.setup.Sample.Read)
	if !slices.ContainsFunc(out.Incomplete(), func(g core.Gap) bool { return g.Action == a.ID }) {
		b.t.Errorf("incomplete %v, want action %d named", out.Incomplete(), a.ID)
	}
	other := b.queue(b.setup.Sample.Create)
	b.wantOutcomes(b.approve(other.ID), map[core.ActionID]core.ItemOutcome{other.ID: core.OutcomeApplied})
	r, err := b.kernel.Settle(b.context(), a.ID, authority(), core.Settlement{Applied: true, Reason: "seen there"})
	if err != nil || r.Outcome != core.OutcomeApplied {
		b.t.Errorf("settle: got %s, %v", r.Outcome, err)
	}
	if out := b.read(b.setup.Sample.Read); len(out.Incomplete()) != 0 {
		b.t.Errorf("settled, and still named: %v", out.Incomplete())
	}
}

// K59: effects of one resource mean nothing at another: not to the kernel's journal, not to the driver's replay, and
// not to its apply.
func journalOfAnother(b *bench) {
	b.need(b.service.Other != "", "Service.Other")
	a := b.edits(1)[0]
	b.bind("OTHER", b.service.Other)
	if out := b.callOn("OTHER", b.setup.Sample.List); out.Pending() != 0 {
		b.t.Errorf("the other resource shows %d effects", out.Pending())
	}
	other := b.open(b.service.Other)
	foreign := core.Effect{
		Action: a.ID, Kind: a.Draft.Kind, Payload: a.Draft.Payload, Fields: a.Draft.Fields, Targets: a.Draft.Targets,
		Provides: a.Draft.Provides, CreatedAt: a.CreatedAt, State: core.StatePending,
	}
	call := core.Call{Method: b.setup.Sample.List.Method, Args: json.RawMessage(b.setup.Sample.List.Args), At: a.CreatedAt}
	fetched, err := other.Read(b.context(), call, core.Journal{Effects: []core.Effect{foreign}})
	if err == nil && len(fetched.Projected) != 0 {
		b.t.Errorf("the driver replays a foreign effect: %s", fetched.Value)
	}
	before := b.snapshot()
	outcome, err := other.Apply(b.context(), core.Dispatch{
		Action: a.ID, Kind: a.Draft.Kind, Payload: a.Draft.Payload, Base: a.Draft.Base, Provides: a.Draft.Provides, At: a.CreatedAt,
	})
	if err == nil && outcome.End != core.EndFailed && outcome.End != core.EndRetryable {
		b.t.Errorf("the driver applies a foreign action: end %d", outcome.End)
	}
	if err != nil && !core.IsNotSent(err) {
		b.t.Errorf("got %v; nothing may have left", err)
	}
	if after := b.snapshot(); after != before {
		b.t.Errorf("something changed: %s", after)
	}
}
