package core

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// readyAction is an action about to be claimed: loaded, its digest good, its prerequisites applied, its base resolved.
type readyAction struct {
	action   Action
	at       located
	gone     error // why the binding leads nowhere any more
	dispatch Dispatch
	missing  string // a target whose expected version is not known: nothing can be compared with it
}

// moved names the first target whose version is not the one that the action was made on.
func (r *readyAction) moved(now []BaseVersion) string {
	if r.missing != "" {
		return r.missing
	}
	for _, want := range r.dispatch.Base {
		same := false
		for _, got := range now {
			same = same || want.Same(got)
		}
		if !same {
			return want.Target
		}
	}
	return ""
}

// ready loads an item and holds it against what was approved.
func (l *connectionLane) ready(ctx context.Context, item PlannedItem) (*readyAction, error) {
	r := &readyAction{}
	err := l.k.store.Read(ctx, func(v View) error {
		a, err := v.Action(item.Action)
		if err != nil {
			return err
		}
		r.action = a
		if err := l.approvable(a, item); err != nil {
			return err
		}
		if err := stillApplied(v, a); err != nil {
			return err
		}
		names, err := namesOf(v, a)
		if err != nil {
			return err
		}
		l.nameLanded(names)
		for _, refs := range [][]Reference{a.Draft.Needs, a.Draft.After} {
			if err := l.happened(v, refs, names); err != nil {
				return err
			}
		}
		r.at, r.gone = locateIn(v, string(a.Session), a.Binding)
		base, missing, err := l.resolveBase(v, a.Draft.Base)
		r.missing = missing
		r.dispatch = Dispatch{
			Action: a.ID, Kind: a.Draft.Kind, Payload: a.Draft.Payload, Base: base, Provides: a.Draft.Provides,
			Names: names, WantUndo: a.Draft.Revertible, At: l.k.clock.Now(),
		}
		if a.Reverts != 0 && err == nil {
			r.dispatch.Undo, err = l.k.undoFor(ctx, v, a.Reverts)
		}
		return err
	})
	return r, err
}

// call is the way to the service that the action goes; where it is gone nothing is sent.
func (l *connectionLane) call(ctx context.Context, r *readyAction) (*callInProgress, error) {
	err := r.gone
	if err == nil {
		r.at.resource, err = l.k.resource(ctx, r.at.connection, r.at.binding.URL)
	}
	var call *callInProgress
	if err == nil {
		call, err = callAt(r.at, r.action)
	}
	if err != nil {
		return nil, held(OutcomeSkipped, "%s", cleanReason(err.Error()))
	}
	return call, nil
}

// namesOf finds the provisional ids that an action is written with.
func namesOf(v actionView, a Action) (Names, error) {
	written := newMentions()
	written.draft(a.Draft)
	names, _, err := v.Names(a.Session, a.Resource, written.words)
	return names, err
}

// approvable refuses what is not, or no more, what the person saw (kernel R18, K35, K36).
func (l *connectionLane) approvable(a Action, item PlannedItem) error {
	if why := l.c.allowed(a); why != "" {
		return held(OutcomeNotPending, "%s", why)
	}
	digest, err := DigestOf(a.Binding, a.Draft)
	if err != nil {
		return err
	}
	switch {
	case digest != a.Digest:
		return held(OutcomeSkipped, "refused: digest differs, what is stored is not what was submitted")
	case a.Drift == DriftStale || a.Drift == DriftBlocked:
		return held(OutcomeDrifted, "%s", a.Reason)
	case a.Digest != item.Digest:
		return held(OutcomeDrifted, "changed since it was seen; look at it again")
	}
	return nil
}

// happened refuses an action one of whose prerequisites has not happened, or is not bound (kernel R13, R17).
func (l *connectionLane) happened(v actionView, refs []Reference, names Names) error {
	for _, ref := range refs {
		state := StateApplied
		if l.prev == nil || l.prev.action.ID != ref.Provider || l.prev.outcome.End != EndApplied {
			provider, err := v.ActionState(ref.Provider)
			if err != nil {
				return err
			}
			state = provider.State
		}
		if state != StateApplied && state != StateReverted {
			// What was held back because somebody else applied it stops nothing (K42).
			if _, stopped := l.stopped[ref.Provider]; stopped {
				return held(OutcomeSkipped, "behind action %d", ref.Provider)
			}
			return held(OutcomeSkipped, "prerequisite missing: action %d is %s", ref.Provider, state)
		}
		if Provisional(ref.Name) && names[ref.Name].Real == "" {
			return held(OutcomeSkipped, "prerequisite missing: %s of action %d is not bound; settle it with --created", ref.Name, ref.Provider)
		}
	}
	return nil
}

// nameLanded adds what the outcome that waits to be stored has created.
func (l *connectionLane) nameLanded(names Names) {
	if l.prev == nil || l.prev.outcome.End != EndApplied {
		return
	}
	for _, created := range l.prev.outcome.Created {
		if name, found := names[created.Name]; found && name.Real == "" {
			name.Real = created.Real
			names[created.Name] = name
		}
	}
}

// resolveBase puts real versions in the place of "result of": one's own writes never drift (kernel R18). A result that
// is not known is named as missing.
func (l *connectionLane) resolveBase(v actionView, base []BaseVersion) (resolved []BaseVersion, missing string, err error) {
	for _, b := range base {
		if b.ResultOf == 0 {
			resolved = append(resolved, b)
			continue
		}
		versions, err := l.versionsAfter(v, b.ResultOf)
		if err != nil {
			return nil, "", err
		}
		found := false
		for _, got := range versions {
			if got.Target == b.Target && got.ResultOf == 0 {
				resolved, found = append(resolved, got), true
				break
			}
		}
		if !found && missing == "" {
			missing = b.Target
		}
	}
	return resolved, missing, nil
}

func (l *connectionLane) versionsAfter(v actionView, id ActionID) ([]BaseVersion, error) {
	if l.prev != nil && l.prev.action.ID == id {
		return l.prev.outcome.Versions, nil
	}
	a, err := v.ActionState(id)
	if err != nil {
		return nil, err
	}
	if a.State != StateApplied {
		return nil, nil
	}
	return a.Versions, nil
}

// claimHeldError says that another claim is open at the connection.
type claimHeldError struct {
	action ActionID
	holder ProcessID
}

func (e *claimHeldError) Error() string {
	return fmt.Sprintf("action %d is being carried out by process %s", e.action, e.holder)
}

// claim makes the right to send durable, together with the outcome before it (kernel R19).
func (l *connectionLane) claim(ctx context.Context, call *callInProgress, r *readyAction, current Current) error {
	prev := l.prev
	err := l.k.store.Write(context.WithoutCancel(ctx), func(tx Tx) error {
		if prev != nil {
			if err := l.k.storeOutcome(tx, l.c.plan, prev); err != nil {
				return err
			}
		}
		open, found, err := tx.OpenClaim(l.connection)
		if err != nil {
			return err
		}
		if found {
			return &claimHeldError{action: open.ID, holder: open.ClaimHolder}
		}
		return l.claimRow(ctx, tx, call, r, current)
	})
	var undo *undoError
	if errors.As(err, &undo) {
		return l.unasked(ctx, call, undo)
	}
	if err != nil {
		if r.action.State == StateClaimed {
			// The store may have kept it all the same, as when a sync fails behind the commit. Nothing is sent for it.
			l.k.keep(l.c.plan, &landed{action: r.action, call: call, outcome: Outcome{End: EndRetryable}, words: gated{text: "not sent"}, doubted: true})
		}
		return err
	}
	if prev == nil {
		return nil
	}
	if err := l.stored(prev); err != nil {
		// The claim came with the outcome, and nothing is sent for it now.
		l.prev = &landed{action: r.action, call: call, outcome: Outcome{End: EndRetryable}, words: gated{text: "not sent"}}
		return err
	}
	return nil
}

func (l *connectionLane) claimRow(ctx context.Context, tx Tx, call *callInProgress, r *readyAction, current Current) error {
	a, now := r.action, l.k.clock.Now()
	if err := l.stillAllowed(tx, a.Session); err != nil {
		return err
	}
	if l.c.rule != "" {
		if err := l.k.useRule(ctx, tx, l.c.rule, a); err != nil {
			return err
		}
	}
	after := a
	after.Rule = string(l.c.rule)
	after.State, after.ClaimHolder, after.ClaimedAt = StateClaimed, l.k.alive.Self(), now
	after.DecidedBy, after.DecidedHow, after.DecidedAt = l.c.by.Person, l.c.by.Means, now
	after.Reason, after.Retryable = "", false
	if current.Undo != nil {
		var err error
		if after.UndoSize, err = tx.StoreUndo(a.ID, current.Undo); err != nil {
			return undoFault(err)
		}
	}
	if err := change(tx, a, &after); err != nil {
		return l.lost(tx, a.ID, err)
	}
	r.action = after
	row := l.k.decisionRow(after, l.c.by, map[string]any{"verdict": VerdictApprove, "from": a.State, "plan": l.c.plan})
	if err := tx.Append(row); err != nil {
		return err
	}
	// The decision on what leaves stands in the row of the claim, and how it went in that of the outcome (sharing E2).
	pairs := map[string]any{
		"holder": after.ClaimHolder, "egress": call.connection.Service, "egress_rule": call.leaving.verdict.Rule,
	}
	if call.leaving.question != 0 {
		pairs["egress_question"] = call.leaving.question
	}
	row = l.k.actionRow(after, EventClaim, pairs)
	if err := tx.Append(row); err != nil {
		return err
	}
	if err := l.k.fault.At(FaultConfirmClaiming); err != nil {
		return err
	}
	// What a kill from here on leaves behind is exactly this.
	return tx.SetPlanItem(l.c.plan, a.ID, OutcomeUnknown, "claimed; its outcome was not heard")
}

// stillAllowed holds a claim against the latch and against who may decide, as they are now (kernel R7, R12).
func (l *connectionLane) stillAllowed(tx Tx, session SessionID) error {
	s, err := tx.Session(string(session))
	if err != nil {
		return err
	}
	err = unlatched(tx, s, "apply")
	if err == nil {
		err = mayDecide(tx, s, l.c.by.Person)
	}
	var latched *LatchedError
	var role *RoleError
	var removed *RemovedError
	if errors.As(err, &latched) || errors.As(err, &role) || errors.As(err, &removed) {
		return held(OutcomeSkipped, "%s", err)
	}
	return err
}

// undoFault keeps apart what the driver says of undo data, which has to pass the gate, and what the store does.
func undoFault(err error) error {
	var driver *undoError
	if errors.As(err, &driver) {
		return driver
	}
	return held(OutcomeSkipped, "undo data could not be kept: %s", cleanReason(err.Error()))
}

// lost says who was first where a change of an action came too late.
func (l *connectionLane) lost(tx actionView, id ActionID, cause error) error {
	var race *LostRaceError
	if !errors.As(cause, &race) {
		return cause
	}
	a, err := tx.ActionState(id)
	if err != nil {
		return err
	}
	return held(OutcomeNotPending, "%s", lostRace(a).Error())
}

// awaitClaim waits until the open claim at the connection has ended, or its holder has (kernel R19).
func (l *connectionLane) awaitClaim(ctx context.Context, id ActionID, busy *claimHeldError) error {
	l.c.began(id, string(busy.holder))
	timer := time.NewTimer(0)
	defer timer.Stop()
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		}
		if _, err := l.k.Recover(ctx); err != nil {
			return err
		}
		open := false
		err := l.k.store.Read(ctx, func(v View) (err error) {
			_, open, err = v.OpenClaim(l.connection)
			return err
		})
		if err != nil || !open {
			return err
		}
		timer.Reset(wait)
	}
}

// storeOutcome writes how an apply ended, binds what it created, and settles what hangs on it (kernel R13, R17, R20).
func (k *Kernel) storeOutcome(tx Tx, plan PlanID, o *landed) error {
	if err := k.withholdIfJoined(tx, o); err != nil {
		return err
	}
	after, late, err := k.land(tx, o)
	if late || err != nil {
		return err
	}
	if len(after.Created) > 0 {
		if err := tx.BindNames(after.ID, after.Created); err != nil {
			return err
		}
	}
	if err := k.recordGated(tx, o.call, o.words); err != nil {
		return err
	}
	row := k.actionRow(after, EventOutcome, map[string]any{
		"retryable": after.Retryable, "created": len(after.Created), "reason": textHash(after.Reason),
	})
	if err := tx.Append(row); err != nil {
		return err
	}
	if err := k.notify(tx, after); err != nil {
		return err
	}
	r := o.result()
	if err := tx.SetPlanItem(plan, r.Action, r.Outcome, r.Reason); err != nil {
		return err
	}
	if after.State == StateFailed && !after.Retryable {
		return k.endDependents(tx, after)
	}
	return k.endReverted(tx, after)
}

// withholdIfJoined drops the words of an outcome whose session got other people since the gate let them pass: the effect
// has happened and is told of, its words can be asked for again.
func (k *Kernel) withholdIfJoined(tx Tx, o *landed) error {
	if len(o.words.found) == 0 {
		return nil
	}
	err := unjoined(tx, o.call)
	if !errors.Is(err, errJoined) {
		return err
	}
	var refused *RefusedError
	errors.As(errTooManyJoined(), &refused)
	o.words, o.outcome.Value = gated{text: withheld, refused: refused}, nil
	return nil
}

// land writes an outcome over its claim. A claim that someone else ended meanwhile, in the belief that we were gone,
// still takes it where it is unknown now (kernel R13); where a person settled it, the outcome comes too late.
func (k *Kernel) land(tx Tx, o *landed) (after Action, late bool, err error) {
	after = o.over(o.action)
	err = change(tx, o.action, &after)
	var race *LostRaceError
	if !errors.As(err, &race) {
		return after, false, err
	}
	a, err := tx.ActionState(o.action.ID)
	if err != nil {
		return a, false, err
	}
	mine := a.ClaimHolder == k.alive.Self() && a.ClaimedAt.Equal(o.action.ClaimedAt)
	if !mine || (a.State != StateClaimed && a.State != StateUnknown) {
		return a, true, tx.Append(k.actionRow(a, EventOutcome, map[string]any{"late": o.state()}))
	}
	after = o.over(a)
	if a.State != after.State {
		err = change(tx, a, &after)
	}
	return after, false, err
}

var errNotSettled = errors.New("only an action whose outcome is unknown can be settled")
