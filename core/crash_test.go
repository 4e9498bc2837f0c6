package core_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gatehouse/core"
)

// bulk is a decision of five approvals, with needs and after among them, and two rejections: one strands, one leaves
// something behind that has to be previewed anew.
type bulk struct {
	approve  []core.ActionID
	reject   []core.ActionID
	stranded core.ActionID
	behind   core.ActionID
}

func (s *scene) bulk() bulk {
	s.t.Helper()
	var b bulk
	first := s.queue("create", map[string]string{"title": "first"})
	b.approve = []core.ActionID{
		first,
		s.append(s.action(first).Draft.Provides[0], "needs the first\n"),
		s.append("item-1", "one\n"),
		s.append("item-1", "two\n"),
		s.queue("add_label", map[string]string{"id": "item-2", "label": "seen"}),
	}
	second := s.queue("create", map[string]string{"title": "second"})
	b.stranded = s.append(s.action(second).Draft.Provides[0], "needs the second\n")
	third := s.append("item-3", "one\n")
	b.behind = s.append("item-3", "two\n")
	b.reject = []core.ActionID{second, third}
	return b
}

func (b bulk) items() []core.PlanItem {
	items := approveItems(b.approve...)
	for _, id := range b.reject {
		items = append(items, core.PlanItem{Action: id, Verdict: core.VerdictReject, Reason: "no"})
	}
	return items
}

// needed is what has to happen before an approval can, by their places.
var needed = map[int]int{1: 0, 3: 2}

// left is what a kill at a point of a bulk leaves behind, in places of approvals, counted from one.
type left struct {
	planned, rejected bool
	applied           int // the first ones
	unknown           int // 0 is none
	sent              int // effects of the first ones
}

func leftBy(point core.FaultPoint, nth int) left {
	switch point {
	case core.FaultConfirmStart:
		return left{}
	case core.FaultConfirmStored:
		return left{planned: true}
	case core.FaultConfirmRejected:
		return left{planned: true, rejected: true}
	case core.FaultConfirmBase, core.FaultConfirmClaiming:
		// The outcome of the item before shares the transaction of this claim, which never was.
		return left{planned: true, rejected: true, applied: max(0, nth-2), unknown: nth - 1, sent: nth - 1}
	case core.FaultConfirmClaimed:
		return left{planned: true, rejected: true, applied: nth - 1, unknown: nth, sent: nth - 1}
	case core.FaultConfirmDispatched:
		return left{planned: true, rejected: true, applied: nth - 1, unknown: nth, sent: nth}
	case core.FaultConfirmOutcome:
		// The claim of the next item came with it.
		return left{planned: true, rejected: true, applied: nth, unknown: (nth + 1) % 6, sent: nth}
	default:
		return left{planned: true, rejected: true, applied: 5, sent: 5}
	}
}

// trace notes every point that is passed and never fails.
type trace struct{ points []core.FaultPoint }

func (f *trace) At(p core.FaultPoint) error {
	f.points = append(f.points, p)
	return nil
}

func (f *trace) count(p core.FaultPoint) int {
	n := 0
	for _, passed := range f.points {
		if passed == p {
			n++
		}
	}
	return n
}

// TestCrash_AtEveryPoint kills a process at every pass of every point of a submit and of a bulk confirm. The points are
// enumerated by a run that is not killed, so that a new one cannot be forgotten.
func TestCrash_AtEveryPoint(t *testing.T) {
	passed := &trace{}
	s := newScene(t)
	b := s.bulk()
	s.leave()
	s.enter(func(o *core.Options) { o.Fault = passed })
	if _, err := s.agentCall(); err != nil {
		t.Fatal(err)
	}
	plan, err := s.kernel.Plan(context.Background(), "alice", b.items())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.confirm(plan, nil); err != nil {
		t.Fatal(err)
	}
	for _, point := range core.FaultPoints() {
		n := passed.count(point)
		if n == 0 {
			t.Errorf("point %s is never passed by a submit or a confirm", point)
		}
		for nth := 1; nth <= n; nth++ {
			t.Run(fmt.Sprintf("%s/%d", point, nth), func(t *testing.T) {
				t.Parallel()
				if strings.HasPrefix(string(point), "submit.") {
					crashInSubmit(t, point)
				} else {
					crashInConfirm(t, point, nth)
				}
			})
		}
	}
}

// crashInSubmit: an action is absent or pending, and what the agent is told when it asks again agrees (K34).
func crashInSubmit(t *testing.T, point core.FaultPoint) {
	s := newScene(t)
	s.killAt(point, 1, childSpec{Role: roleSubmit})
	stored := 0
	if point == core.FaultSubmitStored {
		stored = 1
	}
	actions := func() []core.QueueRow {
		page, err := s.kernel.Queue(context.Background(), core.QueueQuery{AllState: true})
		if err != nil {
			t.Fatal(err)
		}
		return page.Rows
	}
	rows := actions()
	if len(rows) != stored {
		t.Fatalf("got %d actions, want %d", len(rows), stored)
	}
	if lost := s.recovered(); len(lost) != 0 {
		t.Errorf("got %v unknown after a submit", lost)
	}
	again, err := s.agentCall()
	if err != nil {
		t.Fatal(err)
	}
	if again.Action() == 0 || again.Status() != core.StatusOK {
		t.Fatalf("asked again: got %s (%s), want the action", again.Status(), again.Reason())
	}
	if stored == 1 && again.Action() != rows[0].ID {
		t.Errorf("asked again: got action %d, want the stored %d", again.Action(), rows[0].ID)
	}
	if rows = actions(); len(rows) != 1 {
		t.Errorf("asked again: got %d actions, want one", len(rows))
	}
	s.wantState(again.Action(), core.StatePending)
	s.wantSent()
	s.wantWhole()
}

func crashInConfirm(t *testing.T, point core.FaultPoint, nth int) {
	s := newScene(t)
	b := s.bulk()
	s.killAt(point, nth, childSpec{Role: roleCarry, Person: "alice", Items: b.items()})
	want := leftBy(point, nth)
	s.wantLeft(b, want)
	s.wantWhole()
	s.confirmAgain(b, want)
	if want.unknown > 0 {
		truth := nth%2 == 0 // a person can be wrong, too
		s.settle(b.approve[want.unknown-1], (want.sent >= want.unknown) == truth)
	}
	s.toTheEnd(b)
	s.wantWhole()
}

// wantLeft holds store, service and stored plan against what a kill must leave behind.
func (s *scene) wantLeft(b bulk, want left) {
	s.t.Helper()
	lost := s.recovered()
	states := make([]core.State, 0, len(b.approve))
	for i, id := range b.approve {
		state := core.StatePending
		switch place := i + 1; {
		case place <= want.applied:
			state = core.StateApplied
		case place == want.unknown:
			state = core.StateUnknown
			if !slices.Equal(lost, []core.ActionID{id}) {
				s.t.Errorf("recovered %v, want %d alone", lost, id)
			}
		}
		s.wantState(id, state)
		states = append(states, state)
	}
	if want.unknown == 0 && len(lost) > 0 {
		s.t.Errorf("recovered %v, want none", lost)
	}
	s.wantSent(b.approve[:want.sent]...)
	rejected, stranded := core.StatePending, core.StatePending
	if want.rejected {
		rejected, stranded = core.StateRejected, core.StateStranded
	}
	for _, id := range b.reject {
		s.wantState(id, rejected)
	}
	s.wantState(b.stranded, stranded)
	s.wantState(b.behind, core.StatePending)
	if drifted := s.action(b.behind).Drift != core.DriftNone; drifted != want.rejected {
		s.t.Errorf("action %d: got drifted %v, want %v", b.behind, drifted, want.rejected)
	}
	s.wantPlan(b, want, states)
}

// wantPlan: the stored result says applied and unknown where they are, and not-started for the rest.
func (s *scene) wantPlan(b bulk, want left, states []core.State) {
	s.t.Helper()
	plans, err := s.kernel.LastPlans(context.Background(), 5)
	if err != nil {
		s.t.Fatal(err)
	}
	if !want.planned {
		if len(plans) != 0 {
			s.t.Errorf("got %d plans, want none", len(plans))
		}
		return
	}
	if len(plans) != 1 {
		s.t.Fatalf("got %d plans, want one", len(plans))
	}
	if !plans[0].FinishedAt.IsZero() {
		s.t.Error("the plan is closed, and its process was killed")
	}
	outcomes := make(map[core.ActionID]core.ItemOutcome)
	for _, r := range plans[0].Results {
		outcomes[r.Action] = r.Outcome
	}
	wanted := make(map[core.ActionID]core.ItemOutcome)
	for i, id := range b.approve {
		wanted[id] = map[core.State]core.ItemOutcome{
			core.StateApplied: core.OutcomeApplied, core.StateUnknown: core.OutcomeUnknown,
			core.StatePending: core.OutcomeNotStarted,
		}[states[i]]
	}
	for _, id := range b.reject {
		wanted[id] = core.OutcomeNotStarted
		if want.rejected {
			wanted[id] = core.OutcomeRejected
		}
	}
	if b.stranded != 0 {
		wanted[b.stranded] = core.OutcomeNotStarted
		if want.rejected {
			wanted[b.stranded] = core.OutcomeStranded
		}
	}
	for id, outcome := range wanted {
		if outcomes[id] != outcome {
			s.t.Errorf("stored plan: action %d: got %s, want %s", id, outcomes[id], outcome)
		}
	}
}

// confirmAgain approves all five once more: what is unknown is not sent, what needs it or comes after it waits, and the
// rest is applied.
func (s *scene) confirmAgain(b bulk, was left) {
	s.t.Helper()
	results := s.approve(b.approve...)
	var sent []core.ActionID
	for i, id := range b.approve {
		want, place := core.OutcomeApplied, i+1
		before, waits := needed[i]
		switch {
		case place <= was.applied, place == was.unknown:
			want = core.OutcomeNotPending
		case waits && before+1 == was.unknown:
			want = core.OutcomeSkipped
		}
		if got := results[id]; got.Outcome != want {
			s.t.Errorf("confirmed again: action %d: got %s (%s), want %s", id, got.Outcome, got.Reason, want)
		}
		if place <= was.sent || want == core.OutcomeApplied {
			sent = append(sent, id)
		}
		if place == was.unknown {
			s.wantState(id, core.StateUnknown)
			if got := results[id]; !strings.Contains(got.Reason, "settle") {
				s.t.Errorf("action %d: got reason %q, want what to do about it", id, got.Reason)
			}
		}
	}
	s.wantSent(sent...)
}

func (s *scene) settle(id core.ActionID, applied bool) {
	s.t.Helper()
	by := core.Authority{Person: "alice", Means: core.MeansPipe}
	r, err := s.kernel.Settle(context.Background(), id, by, core.Settlement{Applied: applied, Reason: "looked"})
	if err != nil {
		s.t.Fatal(err)
	}
	outcome, state := core.OutcomeRejected, core.StateRejected
	if applied {
		outcome, state = core.OutcomeApplied, core.StateApplied
	}
	if r.Outcome != outcome {
		s.t.Errorf("settled: got %s, want %s", r.Outcome, outcome)
	}
	s.wantState(id, state)
}

// toTheEnd approves what is left, previewed anew where it has to be, until nothing changes. Nothing may be claimed or
// unknown then, and what the kernel calls applied happened once, but for the one that a person settled.
func (s *scene) toTheEnd(b bulk) {
	s.t.Helper()
	for range 3 {
		var pending []core.ActionID
		for _, id := range b.approve {
			if s.action(id).State == core.StatePending {
				pending = append(pending, id)
			}
		}
		if len(pending) > 0 {
			s.approve(pending...)
		}
	}
	sent := s.sent()
	for _, id := range b.approve {
		a := s.action(id)
		switch a.State {
		case core.StateApplied:
			if settled := a.Reason == "looked"; !settled && sent[id] != 1 {
				s.t.Errorf("action %d: applied, and its effect is lost", id)
			}
		case core.StateRejected, core.StateStranded:
			if a.State == core.StateStranded && sent[id] != 0 {
				s.t.Errorf("action %d: stranded, and its effect happened", id)
			}
		case core.StatePending:
			if len(a.Draft.Needs) == 0 { // what was created was not found, so nothing can bind the name
				s.t.Errorf("action %d: still pending (%s)", id, a.Reason)
			}
		default:
			s.t.Errorf("action %d: ended %s (%s)", id, a.State, a.Reason)
		}
	}
}

func TestK33_KilledBetweenClaimAndOutcome(t *testing.T) {
	for point, sent := range map[core.FaultPoint]bool{core.FaultConfirmClaimed: false, core.FaultConfirmDispatched: true} {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			id := s.append("item-1", "once\n")
			s.killAt(point, 1, childSpec{Role: roleCarry, Person: "alice", Items: approveItems(id)})
			s.wantState(id, core.StateClaimed)
			if lost := s.recovered(); !slices.Equal(lost, []core.ActionID{id}) {
				t.Fatalf("recovered %v, want %d", lost, id)
			}
			s.wantState(id, core.StateUnknown)
			if got := s.approve(id)[id]; got.Outcome != core.OutcomeNotPending {
				t.Errorf("approved again: got %s (%s), want no-longer-pending", got.Outcome, got.Reason)
			}
			if sent {
				s.wantSent(id)
			} else {
				s.wantSent()
			}
			if lost := s.recovered(); len(lost) != 0 {
				t.Errorf("recovered %v a second time", lost)
			}
			s.wantWhole()
		})
	}
}

func TestK34_KilledInsideSubmit(t *testing.T) {
	for _, point := range []core.FaultPoint{core.FaultSubmitPrepared, core.FaultSubmitInside, core.FaultSubmitStored} {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			crashInSubmit(t, point)
		})
	}
}

func TestK41a_KilledAfterTheSecondEffectOfFive(t *testing.T) {
	s := newScene(t)
	var ids []core.ActionID
	for i := range 5 {
		ids = append(ids, s.append(fmt.Sprintf("item-%d", i+1), "once\n"))
	}
	s.killAt(core.FaultConfirmDispatched, 2, childSpec{Role: roleCarry, Person: "alice", Items: approveItems(ids...)})
	s.recovered()
	want := []core.State{
		core.StateApplied, core.StateUnknown, core.StatePending, core.StatePending, core.StatePending,
	}
	for i, id := range ids {
		s.wantState(id, want[i])
	}
	s.wantSent(ids[:2]...)
	s.wantPlan(bulk{approve: ids}, left{planned: true}, want)
	// Nothing is drained later on the old confirmation: a new one is needed, and does not send the second again.
	s.approve(ids...)
	s.wantSent(ids...)
	s.wantState(ids[1], core.StateUnknown)
	s.wantWhole()
}

func TestK69_SuspendedHolderKeepsItsClaim(t *testing.T) {
	s := newScene(t)
	held, other := s.append("item-1", "once\n"), s.append("item-2", "once\n")
	c := startChild(t, childSpec{
		Role: roleCarry, Dir: s.dir, Person: "bob", Items: approveItems(held),
		Point: core.FaultConfirmClaimed, Nth: 1, Signal: unix.SIGSTOP,
	})
	var status unix.WaitStatus
	if _, err := unix.Wait4(c.cmd.Process.Pid, &status, unix.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("child did not stop: %v, status %v: %s", err, status, c.errs)
	}
	s.leave()
	s.enter(func(o *core.Options) { o.Clock = wallClock{ahead: time.Hour} })
	if lost := s.recovered(); len(lost) != 0 {
		t.Errorf("recovered %v from a process that sleeps", lost)
	}
	s.wantState(held, core.StateClaimed)
	holder := s.action(held).ClaimHolder
	s.wantWaiting(other, holder)
	if err := c.cmd.Process.Signal(unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	c.tell("go on")
	results := hear[[]core.Result](c)
	c.end()
	if results[0].Outcome != core.OutcomeApplied {
		t.Errorf("after it woke: got %s (%s), want applied", results[0].Outcome, results[0].Reason)
	}
	s.wantState(held, core.StateApplied)
	s.wantSent(held)
	if got := s.approve(other)[other]; got.Outcome != core.OutcomeApplied {
		t.Errorf("the connection is not free: got %s (%s)", got.Outcome, got.Reason)
	}
	s.wantWhole()
}

// wantWaiting approves another action at the connection, which has to wait for the holder until its context ends.
func (s *scene) wantWaiting(id core.ActionID, holder core.ProcessID) {
	s.t.Helper()
	plan, err := s.kernel.PlanApprove(context.Background(), "alice", []core.ActionID{id}, core.PlanOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	waited := ""
	by := core.Authority{Person: "alice", Means: core.MeansPipe}
	results, err := s.kernel.Confirm(ctx, plan, by, core.ConfirmOptions{}, func(p core.Progress) {
		if p.Waiting != "" {
			waited = p.Waiting
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || len(results) != 1 || results[0].Outcome != core.OutcomeNotStarted {
		s.t.Errorf("got %v, %v; want it not started", results, err)
	}
	if !strings.Contains(waited, string(holder)) {
		s.t.Errorf("waited for %q, want the holder %q", waited, holder)
	}
	s.wantState(id, core.StatePending)
}

var _ core.Fault = (*trace)(nil)
