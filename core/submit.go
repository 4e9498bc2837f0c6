package core

import (
	"context"
	"errors"
	"fmt"
)

// prepared is a draft that passed the gate, with what must not change until it is stored.
type prepared struct {
	look   *lookahead
	draft  Draft
	digest Digest
	moved  string // for a revert: what is not as the original left it
}

// submit is the second walk of the house: the driver prepares, the gate checks what preparing read, and one transaction
// stores action, references, units and answer (kernel R13).
func (k *Kernel) submit(ctx context.Context, c *callInProgress) (Released, error) {
	var extra []Selector
	for attempt := 0; attempt <= changeRetries; attempt++ {
		look, err := k.lookAhead(ctx, c, extra, 0)
		if err != nil {
			return k.releaseError(ctx, c, err)
		}
		if released, refused, err := k.gateIntent(ctx, c, look); refused || err != nil {
			return released, err
		}
		p, missing, err := k.prepare(ctx, c, look)
		if err != nil && attempt < changeRetries && k.changedSince(ctx, c, look) {
			continue
		}
		if err != nil {
			c.gaps = mergeGaps(look.journal.Gaps)
			return k.releaseError(ctx, c, err)
		}
		if len(missing) > 0 {
			extra = append(extra, missing...)
			continue
		}
		p.draft.Found = c.labelled(p.draft.Found)
		passage := c.passage(PurposePrepare)
		passage.Found = p.draft.Found
		if err := k.checkExact(ctx, passage); err != nil {
			return k.releaseRefusal(ctx, c, err)
		}
		if err := k.fault.At(FaultSubmitPrepared); err != nil {
			return Released{}, err
		}
		released, err := k.storeAction(ctx, c, p)
		if errors.Is(err, errNumberGiven) {
			attempt-- // nothing changed that it depends on, and whoever was first is done
			continue
		}
		if errors.Is(err, errChanged) {
			continue
		}
		if errors.Is(err, errJoined) {
			if err := k.meetAgain(ctx, c); err != nil {
				return k.releaseRefusal(ctx, c, err)
			}
			attempt-- // nothing that it depends on changed
			continue
		}
		var refused *RefusedError
		if errors.As(err, &refused) {
			return k.releaseRefusal(ctx, c, refused)
		}
		if err == nil {
			err = k.fault.At(FaultSubmitStored)
		}
		return released, err
	}
	return k.releasePlainError(ctx, c, changedTooOften(c))
}

// prepare asks the driver for a draft and holds it against the manifest. Targets of the draft that were not looked at
// come back as selectors: their versions were not noted, so the driver has to prepare again over them.
func (k *Kernel) prepare(ctx context.Context, c *callInProgress, look *lookahead) (*prepared, []Selector, error) {
	draft, moved, err := k.draft(ctx, c, look)
	if err != nil {
		return nil, nil, err
	}
	if missing := uncovered(draft.Targets, look.intent.Targets); len(missing) > 0 {
		return nil, missing, nil
	}
	if err := draft.normalize(); err != nil {
		return nil, nil, err
	}
	if err := draft.check(c.op, k.kinds[c.connection.Kind], look); err != nil {
		return nil, nil, fmt.Errorf("driver %s: %w", c.connection.Kind, err)
	}
	draft.Title = cleanReason(draft.Title)
	digest, err := DigestOf(c.binding.Name, draft)
	if err != nil {
		return nil, nil, err
	}
	return &prepared{look: look, draft: draft, digest: digest, moved: moved}, nil, nil
}

func uncovered(targets []string, selectors []Selector) []Selector {
	var missing []Selector
	for _, t := range targets {
		covered := false
		for _, s := range selectors {
			covered = covered || s.Matches(t)
		}
		if !covered {
			missing = append(missing, Selector{Reach: ReachExact, Target: t})
		}
	}
	return missing
}

func contains(list []string, s string) bool {
	for _, item := range list {
		if item == s {
			return true
		}
	}
	return false
}

// storeAction is the one transaction of a submit: an action is absent or pending (K34).
func (k *Kernel) storeAction(ctx context.Context, c *callInProgress, p *prepared) (Released, error) {
	var out Released
	var rules []Rule
	var capped *CapError
	err := k.store.Write(ctx, func(tx Tx) error {
		if err := k.stillAsSeen(tx, c, p); err != nil {
			return err
		}
		a, err := k.newAction(tx, c, p)
		if err != nil {
			return err
		}
		if err := k.fault.At(FaultSubmitInside); err != nil {
			return err
		}
		if rules, err = tx.Rules(c.session.ID); err != nil {
			return err
		}
		out, err = c.keepAnswer(tx, submittedBody(a, p))
		return err
	})
	if err == nil && len(rules) > 0 {
		k.drainAfter(ctx, c.session.ID)
	}
	if errors.As(err, &capped) {
		return k.releasePlainError(ctx, c, &CallError{Code: "cap", Text: capped.Error()})
	}
	var repeated *rejectedBeforeError
	if errors.As(err, &repeated) {
		return k.releaseRepeated(ctx, c, repeated)
	}
	return out, err
}

// stillAsSeen refuses what may not be stored: too many open actions, a digest that this turn had rejected, anything in
// a session that was removed or latched or got other people meanwhile, or over targets that changed since the driver prepared.
func (k *Kernel) stillAsSeen(tx Tx, c *callInProgress, p *prepared) error {
	session, err := tx.Session(string(c.session.ID))
	if err != nil {
		return err
	}
	if err := unremoved(session); err != nil {
		return err
	}
	if err := latchRefusal(tx, session, "write"); err != nil {
		return err
	}
	if session.PeopleVersion != c.session.PeopleVersion {
		return errJoined
	}
	open, err := tx.CountOpen(c.session.ID, c.binding.Name)
	if err != nil {
		return err
	}
	if limit := k.openCap(); open >= limit {
		return &CapError{Binding: c.binding.Name, Cap: limit}
	}
	if c.caller.Turn > 0 {
		id, rejected, err := tx.RejectedInTurn(c.session.ID, c.caller.Turn, p.digest)
		if err != nil {
			return err
		}
		if rejected {
			return &rejectedBeforeError{id}
		}
	}
	if makesNames(p.draft) {
		_, next, err := tx.Names(c.session.ID, c.resource.Key(), nil)
		if err != nil {
			return err
		}
		if next != p.look.call.Next {
			return errNumberGiven
		}
	}
	version, err := tx.TargetsVersion(c.session.ID, c.resource.Key(), p.look.intent.Targets)
	if err != nil {
		return err
	}
	if version != p.look.version {
		return errChanged
	}
	return nil
}

// errNumberGiven says that another submit was given the provisional id that this one was prepared with.
var errNumberGiven = errors.New("its provisional id was given to another action")

func makesNames(d Draft) bool {
	for _, name := range d.Provides {
		if Provisional(name) {
			return true
		}
	}
	return false
}

// rejectedBeforeError stops an agent from asking the same again in a turn that was told no (K52).
type rejectedBeforeError struct{ action ActionID }

func (e *rejectedBeforeError) Error() string {
	return fmt.Sprintf("already rejected in this turn as action %d", e.action)
}

func (k *Kernel) releaseRepeated(ctx context.Context, c *callInProgress, cause *rejectedBeforeError) (Released, error) {
	var out Released
	err := k.store.Write(ctx, func(tx Tx) error {
		row := c.entry(k, EventBlocked, nil, map[string]any{"check": "repeat", "action": cause.action})
		if err := tx.Append(row); err != nil {
			return err
		}
		var err error
		out, err = c.keepAnswer(tx, releasedBody{Status: StatusRefused, Code: "rejected", Reason: cause.Error()})
		return err
	})
	return out, err
}

func (k *Kernel) newAction(tx Tx, c *callInProgress, p *prepared) (Action, error) {
	now := k.clock.Now()
	if now.Before(c.binding.CreatedAt) {
		now = c.binding.CreatedAt // a clock that was put back makes nothing older than what it went through
	}
	seen, err := tx.CountObservations(c.session.ID)
	if err != nil {
		return Action{}, err
	}
	a := Action{
		Session: c.session.ID, Binding: c.binding.Name, Gatekeeper: c.connection.Kind, Connection: c.connection.ID,
		Resource: c.resource.Key(), Method: c.method, Args: c.args, CreatedAt: now, Caller: c.caller, Context: seen,
		Draft: p.draft, Digest: p.digest, State: StatePending,
	}
	if c.reverts != nil {
		a.markRevert(c.reverts.ID, p.moved)
	}
	if err := tx.InsertAction(&a); err != nil {
		return Action{}, err
	}
	if len(p.draft.Found) > 0 {
		if err := k.recordRead(tx, c, p.draft.Found, map[string]any{"prepares": a.ID}); err != nil {
			return Action{}, err
		}
	}
	pairs := map[string]any{"action": a.ID, "kind": p.draft.Kind, "lane": p.draft.Lane, "bytes": len(p.draft.Payload)}
	row := c.entry(k, EventSubmit, nil, a.tellRevert(pairs))
	if a.Reverts != 0 {
		row.Authority = c.by.String()
	}
	row.Subject, row.Digest = actionSubject(a.ID), a.Digest.String()
	return a, tx.Append(row)
}

func actionSubject(id ActionID) string { return fmt.Sprintf("action %d", id) }

// submittedBody is what the caller of a write gets: the simulated value, or pending (kernel R15, R31).
func submittedBody(a Action, p *prepared) releasedBody {
	body := releasedBody{
		Status: StatusOK, Value: p.draft.Value, Pending: len(p.draft.Projected) + 1, Action: a.ID,
		Incomplete: mergeGaps(p.look.journal.Gaps, p.draft.Incomplete), Units: unitsOf(p.draft.Found),
	}
	if p.draft.Lane == LaneAwait {
		body.Status, body.Value, body.Pending = StatusPending, nil, len(p.draft.Projected)
		body.Reason = "waits for a person's decision"
	}
	return body
}
