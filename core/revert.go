package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// A revert is an action of its own that takes another back (kernel R25). It is queued by a person, and passes digest,
// drift check, claim and outcome like any other; in the transaction in which it becomes applied, what it reverts becomes
// reverted. What it reverts is among its fields, so its digest holds it without being made of anything but what R14 says.

// Reverter is a Resource that can take back what it applied. Both methods get the action as it was stored, and say in a
// *CallError why it cannot be taken back where that is so.
type Reverter interface {
	// IntendRevert is Intend for the reverse of an action: pure, and without the undo data.
	IntendRevert(Reversal) (Intent, error)

	// PrepareRevert turns an applied action into the draft of its reverse, over what is there now with the pending
	// effects of the journal. It may read, also the undo data, and changes nothing. The draft's kind is a declared one,
	// of any operation or of none; its fields hold everything that will be sent, and of content that is too large for
	// a field a hash and its size (GK4).
	PrepareRevert(ctx context.Context, r Reversal, journal Journal) (Reverse, error)
}

// Reversal is an applied action on its way back: the facts that the store holds of it.
type Reversal struct {
	Action   ActionID
	Kind     string
	Payload  json.RawMessage // as written: provisional ids are in Names
	Fields   []Field
	Base     []BaseVersion // as it was submitted
	Targets  []string
	Provides []string
	Created  []Created
	Versions []BaseVersion // of its targets once it was applied; none where only a person's word says that it was
	Names    Names
	Undo     UndoSource // nil where nothing was kept
	UndoSize int64
	At       time.Time // when it was asked for
}

// Reverse is the reverse of an action as its driver prepared it.
type Reverse struct {
	Draft Draft

	// Moved says in one line what is not as the action left it: "site.css", say. Such a revert is drifted from the start,
	// so that nobody approves it unseen. Targets whose base is the result of a pending action are for the kernel to judge.
	Moved string
}

// UndoSource opens the undo data that an action kept, at its beginning. The reader takes bounded memory; it fails where
// the data is not whole any more.
type UndoSource func() io.Reader

// NotRevertibleError says why an action is not reverted.
type NotRevertibleError struct {
	Action ActionID
	By     ActionID // what reverted it, or waits to; 0 where nothing does
	Why    string
}

func (e *NotRevertibleError) Error() string { return fmt.Sprintf("action %d: %s", e.Action, e.Why) }

// methodRevert stands where other actions have the method that made them.
const methodRevert = "revert"

// fieldReverts is the kernel's own field, in every revert and in nothing else.
const fieldReverts = "reverts"

// Revert queues an action that takes an applied one back, on a person's word, and gives its id with OutcomeQueued. It
// is refused, as a *NotRevertibleError, for what is not applied, cannot be reverted, or is reverted already or about to be.
func (k *Kernel) Revert(ctx context.Context, id ActionID, by Authority) (Result, error) {
	by, err := k.authorize(ctx, by)
	if err != nil {
		return Result{}, err
	}
	if _, err := k.Recover(ctx); err != nil {
		return Result{}, err
	}
	a, err := k.action(ctx, id)
	if err != nil {
		return Result{}, err
	}
	err = k.store.Read(ctx, func(v View) error {
		if err := maySettle(v, a.Session, by.Person); err != nil {
			return err
		}
		return revertible(v, a)
	})
	if err != nil {
		return Result{}, err
	}
	c, err := k.reversal(ctx, a, by)
	if err != nil {
		return Result{}, &NotRevertibleError{Action: id, Why: fmt.Sprintf("cannot be reverted: %s", cleanReason(err.Error()))}
	}
	queued, err := k.queueRevert(ctx, c)
	if err != nil {
		return Result{}, err
	}
	return Result{Action: queued, Outcome: OutcomeQueued, Reason: fmt.Sprintf("reverts action %d", id)}, nil
}

// revertible refuses what no revert is queued for. What a person rejected or what failed for good stands in nobody's way.
func revertible(v actionView, a Action) error {
	refuse := func(by ActionID, format string, args ...any) error {
		return &NotRevertibleError{Action: a.ID, By: by, Why: fmt.Sprintf(format, args...)}
	}
	reverts, err := v.RevertsOf(a.ID)
	if err != nil {
		return err
	}
	for _, id := range reverts {
		r, err := v.ActionState(id)
		if err != nil {
			return err
		}
		switch {
		case a.State == StateReverted && (r.State == StateApplied || r.State == StateReverted):
			return refuse(id, "is reverted already, by action %d; revert that one to have it back", id)
		case r.Live():
			return refuse(id, "action %d is to revert it and is %s; decide that one", id, r.State)
		}
	}
	switch {
	case a.State != StateApplied:
		return refuse(0, "is %s; only what was applied can be reverted", a.State)
	case !a.Draft.Revertible:
		return refuse(0, "cannot be reverted: there is no way back that could be offered for it")
	}
	return nil
}

// reversal is the call that a person makes by asking for a revert, through the binding of the original.
func (k *Kernel) reversal(ctx context.Context, original Action, by Authority) (*callInProgress, error) {
	c, err := k.callOf(ctx, original)
	if err != nil {
		return nil, err
	}
	return &callInProgress{
		located: c.located, op: k.revertOperation(c.connection.Kind), method: methodRevert, args: revertArgs(original.ID),
		caller: Caller{Kind: CallerPerson, Person: by.Person}, reverts: &original, by: by,
	}, nil
}

func revertArgs(id ActionID) json.RawMessage { return detail(map[string]any{"action": id}) }

// revertOperation is what a revert's draft is held against: any declared kind, queued in either lane.
func (k *Kernel) revertOperation(gatekeeper string) Operation {
	op := Operation{Name: methodRevert, Lanes: []Lane{LaneSimulate, LaneAwait}}
	for name := range k.kinds[gatekeeper] {
		op.Kinds = append(op.Kinds, name)
	}
	return op
}

// queueRevert is submit for a revert: the same preparation, gate and transaction, with errors for a person in the place
// of an answer for an agent.
func (k *Kernel) queueRevert(ctx context.Context, c *callInProgress) (ActionID, error) {
	var extra []Selector
	for attempt := 0; attempt <= changeRetries; attempt++ {
		look, err := k.lookAhead(ctx, c, extra, 0)
		if err != nil {
			return 0, k.unreverted(ctx, c, err)
		}
		passage := c.passage(PurposePrepare)
		passage.Found = c.labelled(look.intent.Units)
		if err := k.checkIntent(ctx, passage); err != nil {
			return 0, k.refuseRevert(ctx, c, err)
		}
		p, missing, err := k.prepare(ctx, c, look)
		if err != nil && k.changedSince(ctx, c, look) {
			continue
		}
		if err != nil {
			return 0, k.unreverted(ctx, c, err)
		}
		if len(missing) > 0 {
			extra = append(extra, missing...)
			continue
		}
		p.draft.Found = c.labelled(p.draft.Found)
		passage.Found = p.draft.Found
		if err := k.checkExact(ctx, passage); err != nil {
			return 0, k.refuseRevert(ctx, c, err)
		}
		if err := k.fault.At(FaultSubmitPrepared); err != nil {
			return 0, err
		}
		id, err := k.storeRevert(ctx, c, p)
		if errors.Is(err, errChanged) || errors.Is(err, errNumberGiven) {
			continue
		}
		if errors.Is(err, errJoined) {
			if err = k.meetAgain(ctx, c); err == nil {
				attempt-- // nothing that it depends on changed
				continue
			}
		}
		if err == nil {
			err = k.fault.At(FaultSubmitStored)
		}
		return id, k.refuseRevert(ctx, c, err)
	}
	return 0, changedTooOften(c)
}

// storeRevert is the one transaction of a revert: it is absent or pending.
func (k *Kernel) storeRevert(ctx context.Context, c *callInProgress, p *prepared) (id ActionID, err error) {
	err = k.store.Write(ctx, func(tx Tx) error {
		now, err := tx.ActionState(c.reverts.ID)
		if err == nil {
			err = maySettle(tx, now.Session, c.by.Person)
		}
		if err != nil {
			return err
		}
		if err := revertible(tx, now); err != nil {
			return err
		}
		if err := k.stillAsSeen(tx, c, p); err != nil {
			return err
		}
		if p.moved == "" {
			if p.moved, err = movedByPending(tx, now, p.draft.Base); err != nil {
				return err
			}
		}
		a, err := k.newAction(tx, c, p)
		if err != nil {
			return err
		}
		id = a.ID
		return k.fault.At(FaultSubmitInside)
	})
	return id, err
}

// movedByPending names a target that a pending action changes, unless all that one does is to take back what was made on
// the original: reverts that are queued newest first are no surprise to each other.
func movedByPending(v actionView, original Action, base []BaseVersion) (string, error) {
	for _, b := range base {
		if b.ResultOf == 0 {
			continue
		}
		pending, err := v.ActionState(b.ResultOf)
		if err != nil {
			return "", err
		}
		back := false
		if pending.Reverts != 0 {
			later, err := v.ActionState(pending.Reverts)
			if err != nil {
				return "", err
			}
			back = madeOn(later, original, b.Target)
		}
		if !back {
			return b.Target, nil
		}
	}
	return "", nil
}

// madeOn reports whether an action was made on what another left at a target.
func madeOn(later, earlier Action, target string) bool {
	for _, b := range later.Draft.Base {
		if b.Target != target {
			continue
		}
		if b.ResultOf == earlier.ID {
			return true
		}
		for _, left := range earlier.Versions {
			if left.Same(b) {
				return true
			}
		}
	}
	return false
}

// unreverted words why no revert was prepared. What the driver says beside a *CallError passes the gate.
func (k *Kernel) unreverted(ctx context.Context, c *callInProgress, cause error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	words := k.gateError(ctx, c, PurposePrepare, cause)
	err := k.store.Write(ctx, func(tx Tx) error { return k.recordGated(tx, c, words) })
	if err != nil {
		return err
	}
	return &NotRevertibleError{Action: c.reverts.ID, Why: "cannot be reverted: " + words.text}
}

// refuseRevert keeps a refusal of the gate in the blocked row, like that of any submit.
func (k *Kernel) refuseRevert(ctx context.Context, c *callInProgress, cause error) error {
	var refusal *RefusedError
	if cause == nil || !errors.As(cause, &refusal) {
		return cause
	}
	err := k.store.Write(ctx, func(tx Tx) error { return tx.Append(k.blockedRow(c, refusal)) })
	if err != nil {
		return err
	}
	return &NotRevertibleError{Action: c.reverts.ID, Why: "cannot be reverted: " + refusedBody(refusal).Reason}
}

// intend asks the driver what a call touches.
func (c *callInProgress) intend(call Call) (Intent, error) {
	if c.reverts == nil {
		return c.resource.Intend(call)
	}
	r, can := reverterOf(c.resource)
	if !can {
		return Intent{}, errNoReverts(c.connection.Kind)
	}
	return r.IntendRevert(c.backwards(call))
}

// draft asks the driver for what a write, or a revert, will do.
func (k *Kernel) draft(ctx context.Context, c *callInProgress, look *lookahead) (Draft, string, error) {
	if c.reverts == nil {
		d, err := c.resource.Prepare(ctx, look.call, look.journal)
		if err == nil && revertsField(d) != 0 {
			err = fmt.Errorf("driver %s: %s has a field %q, which is the kernel's", c.connection.Kind, d.Kind, fieldReverts)
		}
		return d, "", err
	}
	r, can := reverterOf(c.resource)
	if !can {
		return Draft{}, "", errNoReverts(c.connection.Kind)
	}
	back := c.backwards(look.call)
	if c.reverts.UndoSize > 0 {
		back.Undo = k.undoOf(ctx, *c.reverts)
	}
	reverse, err := r.PrepareRevert(ctx, back, look.journal)
	if err != nil {
		return Draft{}, "", err
	}
	d := reverse.Draft
	d.AutoApprovable = false // no rule decides what a person asked for by hand
	d.Title = fmt.Sprintf("revert %d: %s", c.reverts.ID, d.Title)
	field := Field{Name: fieldReverts, Before: json.RawMessage("null"), After: json.RawMessage(c.reverts.ID.String())}
	d.Fields = append([]Field{field}, d.Fields...)
	return d, reverse.Moved, nil
}

func errNoReverts(kind string) error { return Invalid("%s takes nothing back", kind) }

func (c *callInProgress) backwards(call Call) Reversal {
	o := c.reverts
	return Reversal{
		Action: o.ID, Kind: o.Draft.Kind, Payload: o.Draft.Payload, Fields: o.Draft.Fields, Base: o.Draft.Base, Targets: o.Draft.Targets,
		Provides: o.Draft.Provides, Created: o.Created, Versions: o.Versions, Names: call.Names, UndoSize: o.UndoSize,
		At: call.At,
	}
}

// revertsField is what a draft says that it reverts: what the person saw and the digest holds.
func revertsField(d Draft) ActionID {
	for _, f := range d.Fields {
		var id ActionID
		if f.Name == fieldReverts && json.Unmarshal(f.After, &id) == nil {
			return id
		}
	}
	return 0
}

// markRevert makes a new action a revert. One made on what is not as the original left it is drifted from the start:
// it is of high risk and has to be opened (kernel R26).
func (a *Action) markRevert(original ActionID, moved string) {
	a.Reverts = original
	if moved != "" {
		a.Drift = DriftFresh
		a.Reason = cleanReason(fmt.Sprintf("%s is not as action %d left it", moved, original))
	}
}

// tellRevert adds to a row of the record what the action reverts.
func (a Action) tellRevert(pairs map[string]any) map[string]any {
	if a.Reverts != 0 {
		pairs["reverts"] = a.Reverts
	}
	return pairs
}

// stillApplied refuses a revert of what is not applied any more, or of something else than was approved (K35).
func stillApplied(v actionView, a Action) error {
	if a.Reverts != revertsField(a.Draft) {
		return held(OutcomeSkipped, "refused: digest differs, what is stored is not what was submitted")
	}
	if a.Reverts == 0 {
		return nil
	}
	original, err := v.ActionState(a.Reverts)
	if err != nil {
		return err
	}
	if original.State != StateApplied {
		return held(OutcomeSkipped, "action %d, which it reverts, is %s", original.ID, original.State)
	}
	return nil
}

// endReverted makes the original of a revert that was applied reverted, in the same transaction (K68). What waits behind
// the original was made on what is there no more.
func (k *Kernel) endReverted(tx Tx, revert Action) error {
	if revert.Reverts == 0 || revert.State != StateApplied {
		return nil
	}
	a, err := tx.ActionState(revert.Reverts)
	if err != nil || a.State != StateApplied {
		return err // what is not applied is not made reverted; the revert's own outcome stands whatever that is
	}
	after := a
	after.State, after.Reason = StateReverted, fmt.Sprintf("reverted by action %d", revert.ID)
	if err := change(tx, a, &after); err != nil {
		return err
	}
	row := k.actionRow(after, EventOutcome, map[string]any{"reverted_by": revert.ID})
	if err := tx.Append(row); err != nil {
		return err
	}
	if err := k.notify(tx, after); err != nil {
		return err
	}
	return k.staleDependents(tx, a.ID)
}
