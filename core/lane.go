package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// connectionLane carries out the approvals of one connection, one claim at a time (kernel R19). It is used by one
// goroutine.
type connectionLane struct {
	c          *carrier
	k          *Kernel
	connection ConnectionID
	items      []PlannedItem
	prev       *landed               // an outcome that is known and not stored yet
	failed     map[string]ActionID   // by resource: what failed there stops the rest
	stopped    map[ActionID]struct{} // what did not happen stops what needs or comes after it
}

func newConnectionLane(c *carrier, id ConnectionID) *connectionLane {
	return &connectionLane{
		c: c, k: c.k, connection: id, failed: make(map[string]ActionID), stopped: make(map[ActionID]struct{}),
	}
}

// landed is the outcome of an apply between the driver's word and the store.
type landed struct {
	action  Action
	call    *callInProgress
	outcome Outcome
	words   gated
	doubted bool // whether the claim itself was stored is not known
}

func (o *landed) state() State {
	switch o.outcome.End {
	case EndApplied:
		return StateApplied
	case EndRetryable, EndFailed:
		return StateFailed
	default:
		return StateUnknown
	}
}

func (o *landed) result() Result {
	outcome := map[State]ItemOutcome{
		StateApplied: OutcomeApplied, StateFailed: OutcomeFailed, StateUnknown: OutcomeUnknown,
	}[o.state()]
	return Result{Action: o.action.ID, Outcome: outcome, Reason: o.words.text}
}

// over is an action with its outcome.
func (o *landed) over(a Action) Action {
	a.State, a.Reason, a.Retryable = o.state(), o.words.text, o.outcome.End == EndRetryable
	if a.State == StateApplied {
		a.Drift, a.Created, a.Versions, a.Result = DriftNone, o.outcome.Created, o.outcome.Versions, o.outcome.Value
	}
	return a
}

func (l *connectionLane) run(ctx context.Context) error {
	var fault error
	for _, item := range l.items {
		if ctx.Err() != nil {
			fault = ctx.Err()
			break
		}
		l.c.began(item.Action, "")
		if fault = l.c.awaitOthers(ctx, l, item); fault != nil {
			break
		}
		if fault = l.step(ctx, item); fault != nil {
			break
		}
	}
	err := l.flush(ctx)
	if err != nil && l.prev != nil {
		l.k.keep(l.c.plan, l.prev)
	}
	return together(fault, err)
}

// heldBack is why nothing is sent for an item: its outcome, and the reason.
type heldBack struct {
	outcome ItemOutcome
	reason  string
}

func (h *heldBack) Error() string { return h.reason }

func held(outcome ItemOutcome, format string, args ...any) *heldBack {
	return &heldBack{outcome: outcome, reason: fmt.Sprintf(format, args...)}
}

// step carries one item out, or says why not. A claim of another process is waited for.
func (l *connectionLane) step(ctx context.Context, item PlannedItem) error {
	for {
		err := l.attempt(ctx, item)
		var busy *claimHeldError
		var back *heldBack
		switch {
		case errors.As(err, &busy):
			if err := l.flush(ctx); err != nil {
				return err
			}
			if err := l.awaitClaim(ctx, item.Action, busy); err != nil {
				return err
			}
		case errors.As(err, &back):
			l.stopped[item.Action] = struct{}{}
			return l.settleBack(ctx, item.Action, back)
		default:
			return err
		}
	}
}

func (l *connectionLane) attempt(ctx context.Context, item PlannedItem) error {
	if first, found := l.failed[item.Summary.Resource]; found {
		return held(OutcomeSkipped, "behind action %d, which failed", first)
	}
	ready, err := l.ready(ctx, item)
	if err != nil {
		return err
	}
	call, err := l.call(ctx, ready)
	if err != nil {
		return err
	}
	if err := l.gate(ctx, call, ready.action); err != nil {
		return err
	}
	current, err := l.current(ctx, call, ready)
	if err != nil {
		return err
	}
	if current.Undo != nil {
		defer func() { _ = current.Undo.Close() }() // read to its end or of no use
	}
	if moved := ready.moved(current.Versions); moved != "" {
		return l.drift(ctx, ready.action, moved)
	}
	if err := l.k.fault.At(FaultConfirmBase); err != nil {
		return err
	}
	if err := l.claim(ctx, call, ready, current); err != nil {
		return err
	}
	return l.dispatch(ctx, call, ready)
}

// gate asks the checks and the egress policy once more before anything is sent.
func (l *connectionLane) gate(ctx context.Context, call *callInProgress, a Action) error {
	p := call.passage(PurposeApply)
	p.Found = call.labelled([]Found{call.resource.Unit()})
	if err := l.k.checkIntent(ctx, p); err != nil {
		return l.refused(ctx, call, err)
	}
	leaving, err := l.k.permit(ctx, EgressRequest{
		Sink: SinkApply, Session: a.Session, Caller: a.Caller, Destination: call.connection.Service, Bytes: len(a.Draft.Payload),
		Local: l.k.local(call.connection.Kind), Latched: call.session.Latched, Digest: a.Digest.String(),
	}, string(a.Draft.Payload))
	var stays *EgressError
	if errors.As(err, &stays) {
		return held(OutcomeSkipped, "%s", cleanReason(stays.Error()))
	}
	call.leaving = leaving
	return err
}

// refused keeps why the gate refused in the blocked row, which alone names the unit (kernel R5).
func (l *connectionLane) refused(ctx context.Context, call *callInProgress, cause error) error {
	var refusal *RefusedError
	if !errors.As(cause, &refusal) {
		return cause
	}
	err := l.k.store.Write(ctx, func(tx Tx) error { return tx.Append(l.k.blockedRow(call, refusal)) })
	if err != nil {
		return err
	}
	return held(OutcomeSkipped, "%s", refusedBody(refusal).Reason)
}

// asked is the answer of a base query.
type asked struct {
	current Current
	err     error
}

// current asks for the base as it is now. While it does, the outcome before it waits to share the claim's transaction,
// but no longer than the deadline (kernel R19).
func (l *connectionLane) current(ctx context.Context, call *callInProgress, r *readyAction) (Current, error) {
	got := make(chan asked, 1)
	go func() {
		current, err := call.resource.Current(ctx, r.dispatch)
		got <- asked{current, err}
	}()
	timer := time.NewTimer(l.k.baseDeadline)
	defer timer.Stop()
	for {
		select {
		case a := <-got:
			if a.err != nil && ctx.Err() != nil {
				return Current{}, ctx.Err()
			}
			if a.err != nil {
				return Current{}, l.unasked(ctx, call, a.err)
			}
			return a.current, nil
		case <-ctx.Done():
			go letGo(got) // a driver that does not hear of it keeps nobody
			return Current{}, ctx.Err()
		case <-timer.C:
			if err := l.flush(ctx); err != nil {
				go letGo(got)
				return Current{}, err
			}
		}
	}
}

// letGo closes what a base query brings that nobody waits for any more.
func letGo(got <-chan asked) {
	if a := <-got; a.current.Undo != nil {
		_ = a.current.Undo.Close() // it was not read
	}
}

// unasked is a base query that failed: nothing was sent and the action stays pending. Its words pass the gate.
func (l *connectionLane) unasked(ctx context.Context, call *callInProgress, cause error) error {
	words := l.k.gateError(ctx, call, PurposeApply, cause)
	err := l.k.store.Write(ctx, func(tx Tx) error { return l.k.recordGated(tx, call, words) })
	if errors.Is(err, errJoined) {
		words.text = withheld
	} else if err != nil {
		return err
	}
	return held(OutcomeSkipped, "the service could not be asked: %s", words.text)
}

// drift stops an action whose base moved: it gets a fresh preview and digest and waits for a new approval.
func (l *connectionLane) drift(ctx context.Context, a Action, moved string) error {
	if a.State == StateUnknown {
		return held(OutcomeDrifted, "%s changed since it was made, perhaps by this very action: settle it", cleanReason(moved))
	}
	err := l.k.store.Write(ctx, func(tx Tx) error { return l.k.markMoved(tx, a, moved) })
	if err != nil {
		return err
	}
	if err := l.flush(ctx); err != nil {
		return err
	}
	if err := l.k.refresh(ctx, a.ID); err != nil {
		return err
	}
	return held(OutcomeDrifted, "%s changed since it was made; look at it again", cleanReason(moved))
}

func (k *Kernel) markMoved(tx Tx, a Action, moved string) error {
	now, err := tx.ActionState(a.ID)
	if err != nil {
		return err
	}
	if now.Version != a.Version {
		return held(OutcomeNotPending, "%s", lostRace(now).Error())
	}
	after := now
	after.Drift, after.Reason = DriftStale, cleanReason(moved+" changed since it was made")
	if err := change(tx, now, &after); err != nil {
		return err
	}
	row := k.actionRow(after, EventDrift, map[string]any{"drift": DriftStale, "target": textHash(moved)})
	if err := tx.Append(row); err != nil {
		return err
	}
	return k.staleDependents(tx, a.ID)
}

// dispatch sends the effect and keeps what the driver says of it; the store learns it with the next claim, or at once
// where nothing follows.
func (l *connectionLane) dispatch(ctx context.Context, call *callInProgress, r *readyAction) error {
	var outcome Outcome
	err := l.k.fault.At(FaultConfirmClaimed)
	if err == nil {
		err = ctx.Err() // nothing left yet, and nothing need be unknown
	}
	if err != nil {
		err = NotSent(err)
	} else {
		outcome, err = call.resource.Apply(ctx, r.dispatch)
		if fault := l.k.fault.At(FaultConfirmDispatched); fault != nil {
			outcome, err = Outcome{}, fault
		}
	}
	if err != nil {
		outcome.End, outcome.Text = EndUnknown, err.Error()
		if IsNotSent(err) {
			outcome.End = EndRetryable
		}
	}
	outcome.Created = promised(r.action.Draft, outcome.Created)
	if !json.Valid(outcome.Value) {
		outcome.Value = nil
	}
	l.prev = &landed{action: r.action, call: call, outcome: outcome}
	l.prev.words = l.words(ctx, call, r.action, &l.prev.outcome, err)
	switch l.prev.state() {
	case StateFailed:
		l.failed[r.action.Resource] = r.action.ID
	case StateUnknown:
		l.stopped[r.action.ID] = struct{}{}
	}
	return nil
}

// promised keeps of what a driver says was created what the action was to create, under ids of the service.
func promised(d Draft, created []Created) []Created {
	var out []Created
	for _, c := range created {
		if contains(d.Provides, c.Name) && c.Real != "" && !Provisional(c.Real) {
			out = append(out, c)
		}
	}
	return out
}

// words passes the text and the value of an outcome through the gate; what is refused is dropped (K67). The value of a
// simulated action tells nobody anything: its caller went on over the simulated one.
func (l *connectionLane) words(ctx context.Context, call *callInProgress, a Action, o *Outcome, cause error) gated {
	ctx = context.WithoutCancel(ctx)
	var plain *CallError
	if errors.As(cause, &plain) {
		return gated{text: cleanReason(plain.Text)}
	}
	if a.Draft.Lane == LaneSimulate {
		o.Value = nil
	}
	if o.Text == "" && len(o.Value) == 0 {
		return gated{}
	}
	g := l.k.gateText(ctx, call, PurposeApply, o.Text, o.Found)
	if g.refused != nil {
		o.Value = nil
	}
	return g
}

// flush stores an outcome that still waits for a claim to share its transaction with. It is not cancelled: the effect
// has happened.
func (l *connectionLane) flush(ctx context.Context) error {
	if l.prev == nil {
		return nil
	}
	prev := l.prev
	err := l.k.store.Write(context.WithoutCancel(ctx), func(tx Tx) error { return l.k.storeOutcome(tx, l.c.plan, prev) })
	if err != nil {
		return err
	}
	return l.stored(prev)
}

// stored tells that an outcome is durable.
func (l *connectionLane) stored(o *landed) error {
	l.prev = nil
	l.c.done(o.result())
	return l.k.fault.At(FaultConfirmOutcome)
}

// settleBack keeps why an item was not sent.
func (l *connectionLane) settleBack(ctx context.Context, id ActionID, why *heldBack) error {
	r := Result{Action: id, Outcome: why.outcome, Reason: cleanReason(why.reason)}
	err := l.k.store.Write(context.WithoutCancel(ctx), func(tx Tx) error {
		return tx.SetPlanItem(l.c.plan, r.Action, r.Outcome, r.Reason)
	})
	if err != nil {
		return err
	}
	l.c.done(r)
	return nil
}
