package core

import (
	"context"
	"errors"
	"fmt"
	"sort"
)

// Settlement is what a person says of an action whose outcome is unknown.
type Settlement struct {
	Applied bool
	Created map[string]string // for Applied: what provisional ids became, such as "~1" → "42"
	Reason  string
}

// Settle ends an unknown outcome by a person's word (kernel R13). A create settled as applied asks the driver to find
// what was created; what it does not find has to be given, else what needs it stays skipped.
func (k *Kernel) Settle(ctx context.Context, id ActionID, by Authority, s Settlement) (Result, error) {
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
	if a.State != StateUnknown {
		return Result{}, fmt.Errorf("action %d: is %s: %w", id, a.State, errNotSettled)
	}
	var created []Created
	if s.Applied {
		if created, err = k.createdBy(ctx, a, s.Created); err != nil {
			return Result{}, err
		}
	}
	out := Result{Action: id, Outcome: OutcomeRejected, Reason: cleanReason(s.Reason)}
	err = k.store.Write(ctx, func(tx Tx) error {
		now, err := tx.ActionState(id)
		if err != nil {
			return err
		}
		if now.State != StateUnknown {
			return lostRace(now)
		}
		if err := maySettle(tx, now.Session, by.Person); err != nil {
			return err
		}
		if !s.Applied {
			return k.rejectAction(tx, now, s.Reason, by, map[string]any{"settled": "not-applied"})
		}
		out.Outcome = OutcomeApplied
		return k.settleApplied(tx, now, created, s.Reason, by)
	})
	if err != nil {
		return Result{}, err
	}
	if err := k.refreshStale(ctx, a.Session); err != nil {
		return out, err
	}
	k.drainAfter(ctx, a.Session)
	return out, nil
}

func (k *Kernel) settleApplied(tx Tx, a Action, created []Created, reason string, by Authority) error {
	after := a
	after.State, after.Reason, after.Created = StateApplied, cleanReason(reason), created
	after.DecidedBy, after.DecidedHow, after.DecidedAt = by.Person, by.Means, k.clock.Now()
	if err := change(tx, a, &after); err != nil {
		return err
	}
	if err := tx.BindNames(a.ID, created); err != nil {
		return err
	}
	row := k.decisionRow(after, by, map[string]any{
		"settled": "applied", "created": len(created), "reason": textHash(after.Reason),
	})
	if err := tx.Append(row); err != nil {
		return err
	}
	if err := k.endReverted(tx, after); err != nil {
		return err
	}
	return k.notify(tx, after)
}

// createdBy works out what an action made: what the person says, then what the driver finds.
func (k *Kernel) createdBy(ctx context.Context, a Action, given map[string]string) ([]Created, error) {
	created, err := givenNames(a, given)
	if err != nil || len(created) > 0 || !makesNames(a.Draft) {
		return created, err
	}
	c, err := k.callOf(ctx, a)
	if err != nil {
		return nil, nil // the binding is gone: there is nobody to ask, and the person's word stands
	}
	finder, can := c.resource.(Finder)
	if !can {
		return nil, nil
	}
	var names Names
	err = k.store.Read(ctx, func(v View) (err error) {
		names, err = namesOf(v, a)
		return err
	})
	if err != nil {
		return nil, err
	}
	found, err := finder.Find(ctx, Dispatch{
		Action: a.ID, Kind: a.Draft.Kind, Payload: a.Draft.Payload, Base: a.Draft.Base, Provides: a.Draft.Provides,
		Names: names, At: a.ClaimedAt,
	})
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		words := k.gateError(ctx, c, PurposeApply, err)
		return nil, fmt.Errorf("action %d: what it created could not be looked for: %s; name it with --created", a.ID, words.text)
	}
	return promised(a.Draft, found), nil
}

func givenNames(a Action, given map[string]string) ([]Created, error) {
	var created []Created
	for name, real := range given {
		if !contains(a.Draft.Provides, name) {
			return nil, fmt.Errorf("action %d: does not create %q; it creates %v", a.ID, name, a.Draft.Provides)
		}
		if real == "" || Provisional(real) {
			return nil, fmt.Errorf("action %d: %s=%q: give the id that the service uses", a.ID, name, real)
		}
		created = append(created, Created{Name: name, Real: real})
	}
	sort.Slice(created, func(i, j int) bool { return created[i].Name < created[j].Name })
	return created, nil
}

// Retry sends a failed action again, or, with force, one whose outcome is unknown (kernel R13). It passes digest, base
// and claim like an approval.
func (k *Kernel) Retry(ctx context.Context, id ActionID, by Authority, force bool, progress func(Progress)) (Result, error) {
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
	allowed := retryable(force)
	if why := allowed(a); why != "" {
		return Result{}, errors.New(why)
	}
	planID, err := k.randomID("p")
	if err != nil {
		return Result{}, err
	}
	plan := &Plan{ID: PlanID(planID), By: by.Person, Items: []PlannedItem{{
		PlanItem: PlanItem{Action: id, Digest: a.Digest, Verdict: VerdictApprove}, Summary: a.Summary(), Effect: EffectApply,
	}}}
	c := k.newCarrier(plan.ID, by, progress)
	c.allowed = allowed
	if err := c.begin(ctx, plan, ConfirmOptions{}); err != nil {
		return Result{}, err
	}
	carryErr := c.applyAll(ctx, plan.Items)
	if err := c.finish(ctx); err != nil && carryErr == nil {
		carryErr = err
	}
	// The one result is the answer of this call: no front end has to show it again.
	if err := k.DismissPlan(context.WithoutCancel(ctx), plan.ID, by.Person); err != nil && carryErr == nil {
		carryErr = err
	}
	k.drainAfter(ctx, a.Session)
	return c.inOrder(plan.Items)[0], carryErr
}

func retryable(force bool) func(Action) string {
	return func(a Action) string {
		switch {
		case a.State == StateFailed && a.Retryable:
			return ""
		case a.State == StateFailed:
			return fmt.Sprintf("action %d: failed for good and cannot be retried; reject it", a.ID)
		case a.State == StateUnknown && force:
			return ""
		case a.State == StateUnknown:
			return fmt.Sprintf("action %d: its outcome is unknown; look at the service and settle it, or retry with --force", a.ID)
		default:
			return fmt.Sprintf("action %d: is %s; only failed actions are retried", a.ID, a.State)
		}
	}
}

func (k *Kernel) action(ctx context.Context, id ActionID) (Action, error) {
	var a Action
	err := k.store.Read(ctx, func(v View) (err error) {
		a, err = v.Action(id)
		return err
	})
	if errors.Is(err, ErrNotFound) {
		return a, notFound("action", id.String(), "see gatehouse queue list --state all")
	}
	return a, err
}
