package conformance

import (
	"slices"

	"gatehouse/core"
)

func (b *bench) edits(n int) []core.Action {
	b.t.Helper()
	b.need(len(b.setup.Sample.Edits) >= 3, "three of Sample.Edits")
	var actions []core.Action
	for _, r := range b.setup.Sample.Edits[:n] {
		actions = append(actions, b.queue(r))
	}
	return actions
}

func ids(actions []core.Action) []core.ActionID {
	out := make([]core.ActionID, len(actions))
	for i, a := range actions {
		out[i] = a.ID
	}
	return out
}

func pendingTouchesNothing(b *bench) {
	before := b.snapshot()
	b.edits(3)
	b.queue(b.setup.Sample.Create)
	b.read(b.setup.Sample.Read)
	b.read(b.setup.Sample.List)
	if after := b.snapshot(); after != before {
		b.t.Errorf("the service changed while everything was pending:\n%s\nbefore:\n%s", after, before)
	}
}

// GK4, GK1: an action's fields and properties are those that its kind declares.
func fieldsAreDeclared(b *bench) {
	kinds := make(map[string]core.ActionKind)
	for _, k := range b.setup.Gatekeeper.Manifest().Kinds {
		kinds[k.Name] = k
	}
	requests := append(slices.Clone(b.setup.Sample.Edits), b.setup.Sample.Create)
	if b.setup.Sample.Await != nil {
		requests = append(requests, *b.setup.Sample.Await)
	}
	for _, r := range requests {
		a := b.queue(r)
		kind := kinds[a.Draft.Kind]
		if len(a.Draft.Fields) == 0 {
			b.t.Errorf("%s: an action without fields shows nothing of what will be sent", r)
		}
		for _, f := range a.Draft.Fields {
			if !slices.ContainsFunc(kind.Fields, func(d core.FieldDef) bool { return d.Name == f.Name }) {
				b.t.Errorf("%s: field %q is not declared for %s", r, f.Name, kind.Name)
			}
		}
		if !slices.Contains(kind.Revertible, a.Draft.Revertible) || !slices.Contains(kind.Irreversible, a.Draft.Irreversible) ||
			!slices.Contains(kind.CostsMoney, a.Draft.CostsMoney) {
			b.t.Errorf("%s: revertible %v, irreversible %v, costs money %v are not what %s declares",
				r, a.Draft.Revertible, a.Draft.Irreversible, a.Draft.CostsMoney, kind.Name)
		}
		if len(a.Draft.Targets) == 0 || len(a.Draft.Base) == 0 || a.Draft.Title == "" {
			b.t.Errorf("%s: targets %v, base %v, title %q; an action has all three", r, a.Draft.Targets, a.Draft.Base, a.Draft.Title)
		}
		for _, v := range a.Draft.Base {
			if !slices.Contains(a.Draft.Targets, v.Target) {
				b.t.Errorf("%s: base %s is not among its targets", r, v.Target)
			}
		}
	}
}

// K56 and more: after each edit a read shows all so far, and what it showed is what the service has once the same edits
// were approved, one by one.
func replayInOrder(b *bench) {
	before := b.comparable(b.read(b.setup.Sample.Read))
	var shown []answer
	var queued []core.Action
	for i, r := range b.setup.Sample.Edits {
		queued = append(queued, b.queue(r))
		out := b.read(b.setup.Sample.Read)
		if out.Pending() != i+1 || len(out.Incomplete()) != 0 {
			b.t.Errorf("after %s: pending %d, incomplete %v, want %d and nothing", r, out.Pending(), out.Incomplete(), i+1)
		}
		shown = append(shown, b.comparable(out))
		if last := before; same(shown[i], last) {
			b.t.Fatalf("%s: does not change what %s shows", r, b.setup.Sample.Read)
		}
		before = shown[i]
	}
	b.queue(b.setup.Sample.Create)
	if out := b.read(b.setup.Sample.Read); out.Pending() != len(queued) {
		b.t.Errorf("with an effect elsewhere: pending %d, want %d", out.Pending(), len(queued))
	}
	for i, a := range queued {
		b.wantOutcomes(b.approve(a.ID), map[core.ActionID]core.ItemOutcome{a.ID: core.OutcomeApplied})
		out := b.read(b.setup.Sample.Read)
		if out.Pending() != len(queued)-i-1 {
			b.t.Errorf("%d approved: pending %d", i+1, out.Pending())
		}
		if got := b.comparable(out); !same(got, shown[len(shown)-1]) {
			b.t.Errorf("%d approved, the rest pending:\ngot  %s\nwant %s", i+1, got, shown[len(shown)-1])
		}
	}
}

// GK7, G49: an object that is edited into or out of a filter moves.
func filtersAfterProjection(b *bench) {
	b.need(b.setup.Sample.Filtered.Method != "", "Sample.Filtered")
	_, before := b.pages(b.setup.Sample.Filtered)
	for _, c := range []struct {
		write Request
		more  int
	}{{b.setup.Sample.FilterOut, -1}, {b.setup.Sample.FilterIn, 1}} {
		a := b.queue(c.write)
		_, shown := b.pages(b.setup.Sample.Filtered)
		if len(shown)-len(before) != c.more {
			b.t.Errorf("%s: shows %d objects, then %d; want %+d", c.write, len(before), len(shown), c.more)
		}
		b.wantOutcomes(b.reject(a.ID), map[core.ActionID]core.ItemOutcome{a.ID: core.OutcomeRejected})
	}
	if _, after := b.pages(b.setup.Sample.Filtered); len(after) != len(before) {
		b.t.Errorf("rejected, and %d objects instead of %d", len(after), len(before))
	}
}

// K64: edits of one object, approved together.
func ownWritesNeverDrift(b *bench) {
	queued := b.edits(3)
	for i, a := range queued[1:] {
		if !slices.ContainsFunc(a.Draft.Base, func(v core.BaseVersion) bool { return v.ResultOf == queued[i].ID }) {
			b.t.Errorf("action %d: base %+v, want the result of %d", a.ID, a.Draft.Base, queued[i].ID)
		}
	}
	shown := b.comparable(b.read(b.setup.Sample.Read))
	backwards := ids(queued)
	slices.Reverse(backwards)
	want := make(map[core.ActionID]core.ItemOutcome)
	for _, id := range backwards {
		want[id] = core.OutcomeApplied
	}
	b.wantOutcomes(b.approve(backwards...), want)
	if got := b.comparable(b.read(b.setup.Sample.Read)); !same(got, shown) {
		b.t.Errorf("got  %s\nwant %s", got, shown)
	}
}

// K64: the second of two edits names the first, and is never applied on a base that was not seen.
func secondEditAlone(b *bench) {
	queued := b.edits(2)
	before := b.snapshot()
	plan, err := b.kernel.PlanApprove(b.context(), person, []core.ActionID{queued[1].ID}, core.PlanOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	if !slices.Equal(plan.Prerequisites, []core.ActionID{queued[0].ID}) {
		b.t.Errorf("prerequisites %v, want %d", plan.Prerequisites, queued[0].ID)
	}
	for _, r := range b.confirm(plan) {
		if r.Outcome != core.OutcomeSkipped && r.Outcome != core.OutcomeDrifted {
			b.t.Errorf("action %d: got %s, want skipped or drifted", r.Action, r.Outcome)
		}
	}
	if after := b.snapshot(); after != before {
		b.t.Errorf("something was sent: %s", after)
	}
}

// K65: what only comes after a rejected edit is previewed anew.
func rejectFirstOfTwo(b *bench) {
	queued := b.edits(2)
	b.wantOutcomes(b.reject(queued[0].ID), map[core.ActionID]core.ItemOutcome{queued[0].ID: core.OutcomeRejected})
	if _, err := b.kernel.PlanApprove(b.context(), person, []core.ActionID{queued[1].ID}, core.PlanOptions{}); err != nil {
		b.t.Fatal(err)
	}
	second := b.action(queued[1].ID)
	if second.State != core.StatePending || second.Drift == core.DriftNone {
		b.t.Fatalf("the second edit is %s, drift %q; want pending and drifted", second.State, second.Drift)
	}
	if second.Drift == core.DriftBlocked {
		b.t.Logf("no preview without the first: %s", second.Reason)
		return
	}
	if second.Digest == queued[1].Digest {
		b.t.Error("the fresh preview has the old digest")
	}
	shown := b.comparable(b.read(b.setup.Sample.Read))
	b.wantOutcomes(b.approve(second.ID), map[core.ActionID]core.ItemOutcome{second.ID: core.OutcomeApplied})
	if got := b.comparable(b.read(b.setup.Sample.Read)); !same(got, shown) {
		b.t.Errorf("got  %s\nwant %s", got, shown)
	}
}

// created queues a create and what needs it.
func (b *bench) created() (create, dependent core.Action, provides string) {
	b.t.Helper()
	b.need(b.setup.Sample.OnCreated != nil && b.setup.Sample.Created != nil, "Sample.OnCreated and Sample.Created")
	create = b.queue(b.setup.Sample.Create)
	if len(create.Draft.Provides) == 0 {
		b.t.Fatalf("%s provides nothing", b.setup.Sample.Create)
	}
	provides = create.Draft.Provides[0]
	dependent = b.queue(b.setup.Sample.OnCreated(provides))
	if !slices.ContainsFunc(dependent.Draft.Needs, func(r core.Reference) bool { return r.Provider == create.ID }) {
		b.t.Errorf("action %d: needs %v, want what action %d provides", dependent.ID, dependent.Draft.Needs, create.ID)
	}
	return create, dependent, provides
}

// K37, K38: what needs something is not sent before it exists, and is sent with its real name.
func provisionalUntilBound(b *bench) {
	create, dependent, provides := b.created()
	before := b.snapshot()
	b.wantOutcomes(b.approve(dependent.ID), map[core.ActionID]core.ItemOutcome{dependent.ID: core.OutcomeSkipped})
	if after := b.snapshot(); after != before {
		b.t.Errorf("something was sent: %s", after)
	}
	shown := b.comparable(b.read(b.setup.Sample.Created(provides)))
	b.wantOutcomes(b.approve(create.ID), map[core.ActionID]core.ItemOutcome{create.ID: core.OutcomeApplied})
	if got := b.comparable(b.read(b.setup.Sample.Created(provides))); !same(got, shown) {
		b.t.Errorf("bound, the rest pending:\ngot  %s\nwant %s", got, shown)
	}
	for _, c := range b.action(create.ID).Created {
		if c.Name != provides || !core.Provisional(provides) {
			continue
		}
		// by its real name too, although what is pending was queued under the provisional one
		if got := b.comparable(b.read(b.setup.Sample.Created(c.Real))); !same(got, shown) {
			b.t.Errorf("by its real name:\ngot  %s\nwant %s", got, shown)
		}
	}
	b.wantOutcomes(b.approve(dependent.ID), map[core.ActionID]core.ItemOutcome{dependent.ID: core.OutcomeApplied})
	if got := b.comparable(b.read(b.setup.Sample.Created(provides))); !same(got, shown) {
		b.t.Errorf("all approved:\ngot  %s\nwant %s", got, shown)
	}
	if out := b.call(b.setup.Sample.Created("~99")); core.Provisional(provides) && out.Code() != core.CodeNotFound {
		b.t.Errorf("an id that nothing provides: got %s %s, want not found", out.Status(), out.Code())
	}
}

// K39, G77: rejecting what others need strands them, and reads show neither.
func rejectCascade(b *bench) {
	list := b.comparable(b.read(b.setup.Sample.List))
	create, dependent, provides := b.created()
	b.wantOutcomes(b.reject(create.ID), map[core.ActionID]core.ItemOutcome{create.ID: core.OutcomeRejected})
	if got := b.action(dependent.ID); got.State != core.StateStranded {
		b.t.Errorf("action %d: got %s, want stranded", got.ID, got.State)
	}
	out := b.read(b.setup.Sample.List)
	if got := b.comparable(out); !same(got, list) || out.Pending() != 0 {
		b.t.Errorf("the list still shows something: %s", got)
	}
	if out := b.call(b.setup.Sample.Created(provides)); out.Status() != core.StatusError {
		b.t.Errorf("what will never exist can be read: %s", out.Value())
	}
	b.wantOutcomes(b.reject(dependent.ID), map[core.ActionID]core.ItemOutcome{dependent.ID: core.OutcomeRejected})
}

// K36: a base that moved is never overwritten, and never taken for success.
func drift(b *bench) {
	b.need(b.service.Stranger != nil, "Service.Stranger")
	a := b.edits(1)[0]
	if err := b.service.Stranger(); err != nil {
		b.t.Fatal(err)
	}
	before := b.snapshot()
	b.wantOutcomes(b.approve(a.ID), map[core.ActionID]core.ItemOutcome{a.ID: core.OutcomeDrifted})
	if after := b.snapshot(); after != before {
		b.t.Errorf("something was sent on a base that nobody saw: %s", after)
	}
	fresh := b.action(a.ID)
	if fresh.State != core.StatePending || fresh.Drift == core.DriftNone {
		b.t.Fatalf("got %s, drift %q; want pending and drifted", fresh.State, fresh.Drift)
	}
	if fresh.Drift == core.DriftBlocked {
		b.t.Logf("no fresh preview on what is there now: %s", fresh.Reason)
		return
	}
	if fresh.Digest == a.Digest {
		b.t.Error("the fresh preview has the old digest")
	}
	shown := b.comparable(b.read(b.setup.Sample.Read))
	b.wantOutcomes(b.approve(a.ID), map[core.ActionID]core.ItemOutcome{a.ID: core.OutcomeApplied})
	if got := b.comparable(b.read(b.setup.Sample.Read)); !same(got, shown) {
		b.t.Errorf("got  %s\nwant %s", got, shown)
	}
}

// R15, R16: an awaited action waits, is named, and is not shown.
func awaitIsNotShown(b *bench) {
	b.need(b.setup.Sample.Await != nil, "Sample.Await")
	before := b.comparable(b.read(b.setup.Sample.Read))
	out := b.call(*b.setup.Sample.Await)
	if out.Status() != core.StatusPending || out.Action() == 0 || string(out.Value()) != "null" {
		b.t.Fatalf("got %s, action %d, value %s; want pending, an id and nothing", out.Status(), out.Action(), out.Value())
	}
	after := b.read(b.setup.Sample.Read)
	if got := b.comparable(after); !same(got, before) {
		b.t.Errorf("the read shows what only the service can tell: %s", got)
	}
	if !slices.ContainsFunc(after.Incomplete(), func(g core.Gap) bool { return g.Action == out.Action() }) {
		b.t.Errorf("incomplete %v, want action %d named", after.Incomplete(), out.Action())
	}
	b.wantOutcomes(b.approve(out.Action()), map[core.ActionID]core.ItemOutcome{out.Action(): core.OutcomeApplied})
}
