package core

import (
	"context"
	"errors"
	"fmt"
	"sort"
)

// refreshStale asks drivers for the fresh previews that drifted actions wait for, oldest first, so that each is made on
// the fresh one before it (kernel R17). One that cannot be made leaves its action blocked, with the reason.
func (k *Kernel) refreshStale(ctx context.Context, session SessionID) error {
	for last := ""; ; {
		var ids []ActionID
		err := k.store.Read(ctx, func(v View) (err error) {
			ids, err = v.Stale(session)
			return err
		})
		if err != nil || len(ids) == 0 {
			return err
		}
		sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
		if now := fmt.Sprint(ids); now == last {
			return nil // their targets do not hold still; the next show or plan tries again
		} else {
			last = now
		}
		for _, id := range ids {
			if err := k.refresh(ctx, id); err != nil {
				return err
			}
		}
	}
}

// refresh replaces a stale draft by one made on what is there now. Its digest is new, so it must be approved again.
func (k *Kernel) refresh(ctx context.Context, id ActionID) error {
	for attempt := 0; attempt <= changeRetries; attempt++ {
		var a Action
		err := k.store.Read(ctx, func(v View) (err error) {
			if a, err = v.Action(id); err != nil {
				return err
			}
			s, err := v.Session(string(a.Session))
			if err == nil {
				err = unremoved(s) // else its preview would be lost for a binding that is only hidden
			}
			return err
		})
		if err != nil {
			return err
		}
		waits := a.State == StatePending || (a.State == StateFailed && a.Retryable)
		if !waits || a.Drift != DriftStale {
			return nil
		}
		err = k.refreshOnce(ctx, a)
		if !errors.Is(err, errChanged) {
			return err
		}
	}
	return nil // it stays stale; the next show or plan tries again
}

func (k *Kernel) refreshOnce(ctx context.Context, a Action) error {
	c, err := k.callOf(ctx, a)
	if err != nil {
		return k.block(ctx, a, nil, gated{text: fmt.Sprintf("no fresh preview: %v", err)})
	}
	p, err := k.prepareAgain(ctx, c, a)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return k.blockBeside(ctx, a, c, err)
	}
	p.draft.Found = c.labelled(p.draft.Found)
	passage := c.passage(PurposePreview)
	passage.Found = p.draft.Found
	if err := k.checkExact(ctx, passage); err != nil {
		out := gated{text: "no fresh preview: what it would show is refused"}
		errors.As(err, &out.refused)
		return k.block(ctx, a, c, out)
	}
	err = k.store.Write(ctx, func(tx Tx) error { return k.storeFresh(tx, c, a, p) })
	if errors.Is(err, errJoined) {
		return errChanged
	}
	if err == nil || errors.Is(err, errChanged) || ctx.Err() != nil {
		return err
	}
	// What the store does not take holds up nobody else, where it takes anything.
	return k.block(ctx, a, c, gated{text: "no fresh preview: it could not be stored"})
}

func (k *Kernel) storeFresh(tx Tx, c *callInProgress, a Action, p *prepared) error {
	if err := stillThere(tx, a.Session); err != nil {
		return err
	}
	version, err := tx.TargetsVersion(a.Session, a.Resource, p.look.intent.Targets)
	if err != nil {
		return err
	}
	if version != p.look.version {
		return errChanged
	}
	after := a
	after.Draft, after.Digest = p.draft, p.digest
	if after.Draft.Submitted = a.Draft.Submitted; len(after.Draft.Submitted) == 0 {
		after.Draft.Submitted = a.Draft.Fields
	}
	after.Drift = DriftFresh
	won, err := tx.ReplaceDraft(a, &after)
	if err != nil {
		return err
	}
	if !won {
		return errChanged
	}
	if len(p.draft.Found) > 0 {
		if err := k.recordRead(tx, c, p.draft.Found, map[string]any{"previews": a.ID}); err != nil {
			return err
		}
	}
	row := k.actionRow(after, EventDrift, map[string]any{"drift": DriftFresh, "old_digest": a.Digest.String()})
	if err := tx.Append(row); err != nil {
		return err
	}
	return k.staleDependents(tx, a.ID)
}

// stillThere keeps content out of a session that was removed meanwhile, and may be purged: it is errChanged, and who
// looks again is told.
func stillThere(v sessionView, session SessionID) error {
	s, err := v.Session(string(session))
	if err == nil && !s.Removed.At.IsZero() {
		err = errChanged
	}
	return err
}

// block leaves an action pending and drifted without a preview: approve is refused, reject works.
func (k *Kernel) block(ctx context.Context, a Action, c *callInProgress, why gated) error {
	return k.store.Write(ctx, func(tx Tx) error {
		if err := stillThere(tx, a.Session); err != nil {
			return err
		}
		after := a
		after.Drift, after.Reason = DriftBlocked, cleanReason(why.text)
		won, err := tx.ChangeAction(a, &after)
		if err != nil {
			return err
		}
		if !won {
			return errChanged
		}
		if err := k.recordGated(tx, c, why); errors.Is(err, errJoined) {
			return errChanged
		} else if err != nil {
			return err
		}
		return tx.Append(k.actionRow(after, EventDrift, map[string]any{"drift": DriftBlocked, "reason": textHash(after.Reason)}))
	})
}

// callOf is the call that made an action, to be prepared again. The binding may be gone; then there is no preview.
func (k *Kernel) callOf(ctx context.Context, a Action) (*callInProgress, error) {
	at, err := k.locate(ctx, string(a.Session), a.Binding)
	if err != nil {
		return nil, err
	}
	c, err := callAt(at, a)
	if err != nil || a.Reverts == 0 {
		return c, err
	}
	original, err := k.action(ctx, a.Reverts)
	c.reverts, c.op = &original, k.revertOperation(c.connection.Kind)
	return c, err
}

// callAt is callOf where the binding was found already.
func callAt(at located, a Action) (*callInProgress, error) {
	// A binding that was put back as it was is as old as it was.
	if at.binding.CreatedAt.After(a.CreatedAt) {
		return nil, fmt.Errorf("binding %s: was bound to something else since", a.Binding)
	}
	if at.connection.ID != a.Connection {
		return nil, fmt.Errorf("binding %s: leads to another connection now", a.Binding)
	}
	if at.resource.Key() != a.Resource {
		return nil, fmt.Errorf("binding %s: leads to another resource now", a.Binding)
	}
	op, found := findOperation(at.resource.Operations(), a.Method)
	if !found && a.Reverts == 0 {
		return nil, fmt.Errorf("binding %s: has no method %s any more", a.Binding, a.Method)
	}
	caller := a.Caller
	caller.CallID = "" // nothing is answered
	return &callInProgress{located: at, op: op, caller: caller, method: a.Method, args: a.Args}, nil
}

// prepareAgain makes a draft from the first call over the actions before this one.
func (k *Kernel) prepareAgain(ctx context.Context, c *callInProgress, a Action) (*prepared, error) {
	var extra []Selector
	for range changeRetries {
		look, err := k.lookAhead(ctx, c, extra, a.ID)
		if err != nil {
			return nil, err
		}
		look.call.Next = firstProvisional(a.Draft, look.call.Next)
		p, missing, err := k.prepare(ctx, c, look)
		if err != nil {
			return nil, err
		}
		if len(missing) == 0 {
			if p.draft.Lane != a.Draft.Lane || p.draft.Kind != a.Draft.Kind {
				return nil, Invalid("it would be a %s now, not a %s", p.draft.Kind, a.Draft.Kind)
			}
			return p, nil
		}
		extra = append(extra, missing...)
	}
	return nil, changedTooOften(c)
}

// firstProvisional keeps the provisional id that an action has promised already.
func firstProvisional(d Draft, next int) int {
	for _, name := range d.Provides {
		if Provisional(name) {
			var n int
			if _, err := fmt.Sscanf(name, "~%d", &n); err == nil {
				return n
			}
		}
	}
	return next
}

// withheld stands in the place of words that the gate refused.
const withheld = "the service's words are withheld: they may hold data that is refused"

// gated is a text of a driver after the gate: the words that may be kept, and what the record has to say of it.
type gated struct {
	text    string
	found   []Found       // what was released with the text
	refused *RefusedError // why it was withheld
}

// gateText passes the words of a driver's error, or of its outcome, through the gate (kernel R3, K67). Without a better
// unit the whole resource counts.
func (k *Kernel) gateText(ctx context.Context, c *callInProgress, purpose Purpose, words string, found []Found) gated {
	if len(found) == 0 {
		found = []Found{c.resource.Unit()}
	}
	found = c.labelled(found)
	p := c.passage(purpose)
	p.Found = found
	err := k.checkExact(ctx, p)
	if err == nil {
		return gated{text: cleanReason(words), found: found}
	}
	out := gated{text: withheld}
	errors.As(err, &out.refused)
	return out
}

// gateError is gateText for an error; a CallError holds nothing of the service and needs no gate.
func (k *Kernel) gateError(ctx context.Context, c *callInProgress, purpose Purpose, cause error) gated {
	var plain *CallError
	if errors.As(cause, &plain) {
		return gated{text: cleanReason(plain.Text)}
	}
	return k.gateText(ctx, c, purpose, cause.Error(), nil)
}

// recordGated writes the rows and the units of a text that passed, or was withheld.
func (k *Kernel) recordGated(tx Tx, c *callInProgress, g gated) error {
	if g.refused != nil {
		return tx.Append(k.blockedRow(c, g.refused))
	}
	if len(g.found) > 0 {
		return k.recordRead(tx, c, g.found, map[string]any{"words": textHash(g.text)})
	}
	return nil
}
