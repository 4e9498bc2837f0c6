package conformance

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"gatehouse/core"
)

// revert queues the revert of an action; false where the driver says that there is no way back.
func (b *bench) revert(id core.ActionID) (core.ActionID, bool) {
	b.t.Helper()
	result, err := b.kernel.Revert(b.context(), id, authority())
	var refused *core.NotRevertibleError
	switch {
	case errors.As(err, &refused):
		if refused.Action != id || refused.Why == "" {
			b.t.Errorf("revert of %d: refused without words: %v", id, err)
		}
		return 0, false
	case err != nil:
		b.t.Fatalf("revert of %d: %v", id, err)
	case result.Outcome != core.OutcomeQueued:
		b.t.Fatalf("revert of %d: got %s, want %s", id, result.Outcome, core.OutcomeQueued)
	}
	return result.Action, true
}

// mustRevert is revert of something that Sample.Edits did.
func (b *bench) mustRevert(id core.ActionID) core.ActionID {
	b.t.Helper()
	back, can := b.revert(id)
	if !can {
		_, err := b.kernel.Revert(b.context(), id, authority())
		b.t.Fatalf("%v", err)
	}
	return back
}

// appliedEdit is the first edit of the sample, applied, and what a read showed before it.
func (b *bench) appliedEdit() (core.Action, answer) {
	b.t.Helper()
	before := b.comparable(b.read(b.setup.Sample.Read))
	a := b.edits(1)[0]
	b.wantOutcomes(b.approve(a.ID), map[core.ActionID]core.ItemOutcome{a.ID: core.OutcomeApplied})
	return a, before
}

// K68: while it waits reads show what was before, once it is applied they still do, and the original is reverted.
func revertApplied(b *bench) {
	a, before := b.appliedEdit()
	back := b.mustRevert(a.ID)
	r := b.action(back)
	if r.Reverts != a.ID || r.Drift != core.DriftNone || r.Draft.Lane == "" {
		b.t.Errorf("the revert: reverts %d, drift %q (%s), lane %q", r.Reverts, r.Drift, r.Reason, r.Draft.Lane)
	}
	b.declares(r)
	if r.Draft.Lane == core.LaneSimulate {
		if got := b.comparable(b.read(b.setup.Sample.Read)); !same(got, before) {
			b.t.Errorf("while it waits: got %s\nwant %s", got, before)
		}
	}
	b.wantOutcomes(b.approve(back), map[core.ActionID]core.ItemOutcome{back: core.OutcomeApplied})
	b.wantState(a.ID, core.StateReverted, false)
	if got := b.comparable(b.read(b.setup.Sample.Read)); !same(got, before) {
		b.t.Errorf("after it: got %s\nwant %s", got, before)
	}
	if _, again := b.revert(a.ID); again {
		b.t.Error("it was reverted twice")
	}
}

// declares holds a revert's kind and fields against the manifest; the kernel's own field comes first.
func (b *bench) declares(r core.Action) {
	b.t.Helper()
	if len(r.Draft.Fields) < 2 || r.Draft.Fields[0].Name != "reverts" {
		b.t.Fatalf("the revert sends nothing that a person sees: %+v", r.Draft.Fields)
	}
	for _, kind := range b.setup.Gatekeeper.Manifest().Kinds {
		if kind.Name != r.Draft.Kind {
			continue
		}
		known := make(map[string]bool)
		for _, f := range kind.Fields {
			known[f.Name] = true
		}
		for _, f := range r.Draft.Fields[1:] {
			if !known[f.Name] {
				b.t.Errorf("field %q of kind %s is not declared", f.Name, r.Draft.Kind)
			}
		}
		return
	}
	b.t.Errorf("kind %q is not declared", r.Draft.Kind)
}

// K68: the base moved.
func revertDrifts(b *bench) {
	b.need(b.service.Stranger != nil, "Service.Stranger")
	a, _ := b.appliedEdit()
	back := b.mustRevert(a.ID)
	if err := b.service.Stranger(); err != nil {
		b.t.Fatal(err)
	}
	before := b.snapshot()
	b.wantOutcomes(b.approve(back), map[core.ActionID]core.ItemOutcome{back: core.OutcomeDrifted})
	b.wantState(a.ID, core.StateApplied, false)
	if after := b.snapshot(); after != before {
		b.t.Errorf("something was sent: %s", after)
	}
}

// K68: the answer was lost.
func revertUnknown(b *bench) {
	b.need(b.service.Failing != nil, "Service.Failing")
	b.bind("FAILING", b.service.Failing(FailAnswer))
	a := b.queueOn("FAILING", b.setup.Sample.Edits[0])
	b.wantOutcomes(b.approve(a.ID), map[core.ActionID]core.ItemOutcome{a.ID: core.OutcomeUnknown})
	if _, err := b.kernel.Settle(b.context(), a.ID, authority(), core.Settlement{Applied: true}); err != nil {
		b.t.Fatal(err)
	}
	back := b.mustRevert(a.ID)
	// Whether it is as it was left was never heard, so it has to be looked at.
	if r := b.action(back); r.Risk() != core.RiskHigh {
		b.t.Errorf("revert of what a person settled: risk %s", r.Risk())
	}
	b.wantOutcomes(b.approve(back), map[core.ActionID]core.ItemOutcome{back: core.OutcomeUnknown})
	b.wantState(a.ID, core.StateApplied, false)
	if _, err := b.kernel.Settle(b.context(), back, authority(), core.Settlement{Applied: true}); err != nil {
		b.t.Fatal(err)
	}
	b.wantState(a.ID, core.StateReverted, false)
}

// step is a write that was applied, with what reads showed before it.
type step struct {
	id     core.ActionID
	before string
	told   string
}

// R25, GK12: what was applied and reverted is as it was, and taking the reverts back brings it again.
func revertFidelity(b *bench) {
	b.need(b.setup.Write != nil && len(b.setup.Reads) > 0 && b.setup.Histories > 0, "Write, Reads and Histories")
	histories := number(b, "GATEHOUSE_HISTORIES", max(b.setup.Histories/10, 10))
	seed := number(b, "GATEHOUSE_SEED", int(rand.Uint32()))
	b.t.Logf("reverts %s: GATEHOUSE_SEED=%d", b.setup.Name, seed)
	reverted, refused := 0, 0
	for i := range histories {
		b.begin(fmt.Sprintf("reverts %d", i))
		r := rand.New(rand.NewPCG(uint64(seed+i), 1))
		steps := b.steps(r)
		done, no := b.takeBack(r, steps, fmt.Sprintf("seed %d", seed+i))
		reverted, refused = reverted+done, refused+no
		if b.t.Failed() {
			return
		}
	}
	if reverted == 0 {
		b.t.Error("nothing was reverted")
	}
	b.t.Logf("reverts %s: %d of %d brought back what was before; %d more were refused in words", b.setup.Name, reverted, reverted, refused)
}

// steps applies random writes, one after the other, and keeps those that a revert is offered for.
func (b *bench) steps(r *rand.Rand) []step {
	b.t.Helper()
	var steps []step
	for range 1 + r.IntN(5) {
		before := b.everything()
		w := b.setup.Write(r)
		out := b.call(w)
		if out.Action() == 0 {
			continue
		}
		b.wantOutcomes(b.approve(out.Action()), map[core.ActionID]core.ItemOutcome{out.Action(): core.OutcomeApplied})
		if !b.action(out.Action()).Draft.Revertible {
			steps = nil // what came before it cannot be compared any more
			continue
		}
		steps = append(steps, step{id: out.Action(), before: before, told: fmt.Sprintf("%d: %s", out.Action(), w)})
	}
	return steps
}

// takeBack reverts steps, newest first, now and then each revert as well.
func (b *bench) takeBack(r *rand.Rand, steps []step, when string) (done, refused int) {
	b.t.Helper()
	for i := len(steps) - 1; i >= 0; i-- {
		s := steps[i]
		told := func() string {
			var all []string
			for _, step := range steps {
				all = append(all, step.told)
			}
			return when + ":\n" + strings.Join(all, "\n")
		}
		after := b.everything()
		back, can := b.revert(s.id)
		if !can {
			return done, refused + 1
		}
		pending := b.everything()
		b.wantOutcomes(b.approve(back), map[core.ActionID]core.ItemOutcome{back: core.OutcomeApplied})
		if got := b.everything(); got != s.before || pending != s.before {
			b.t.Errorf("%s\nrevert of %d: before %s\nwhile pending %s\nafterwards    %s", told(), s.id, s.before, pending, got)
			return done, refused
		}
		done++
		if r.IntN(3) != 0 {
			continue
		}
		again := b.mustRevert(back)
		b.wantOutcomes(b.approve(again), map[core.ActionID]core.ItemOutcome{again: core.OutcomeApplied})
		if got := b.everything(); got != after {
			b.t.Errorf("%s\nrevert of the revert of %d: before %s\nafterwards %s", told(), s.id, after, got)
			return done, refused
		}
		last := b.mustRevert(again)
		b.wantOutcomes(b.approve(last), map[core.ActionID]core.ItemOutcome{last: core.OutcomeApplied})
		if got := b.everything(); got != s.before {
			b.t.Errorf("%s\nrevert of %d, once more: before %s\nafterwards %s", told(), s.id, s.before, got)
			return done, refused
		}
		done += 2
	}
	return done, refused
}

// everything is what all the reads of the setup answer now.
func (b *bench) everything() string {
	b.t.Helper()
	var s strings.Builder
	for _, read := range b.setup.Reads {
		pages, _ := b.pages(read)
		s.WriteString(b.answers(pages))
	}
	return s.String()
}
