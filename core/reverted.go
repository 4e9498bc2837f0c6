package core

import (
	"cmp"
	"context"
	"errors"
	"slices"
)

// RevertState is an action that reverts another, or is reverted by one.
type RevertState struct {
	Action ActionID
	State  State
	Title  string
}

// loadReverts tells both ways of a revert, and whether one could be queued.
func (d *Detail) loadReverts(v actionView) error {
	state := func(id ActionID) (RevertState, error) {
		a, err := v.ActionState(id)
		return RevertState{Action: id, State: a.State, Title: a.Draft.Title}, err
	}
	if id := d.Action.Reverts; id != 0 {
		original, err := state(id)
		if err != nil {
			return err
		}
		d.Reverts = &original
	}
	ids, err := v.RevertsOf(d.Action.ID)
	if err != nil {
		return err
	}
	for _, id := range ids {
		r, err := state(id)
		if err != nil {
			return err
		}
		d.RevertedBy = append(d.RevertedBy, r)
	}
	var refused *NotRevertibleError
	if err := revertible(v, d.Action); err != nil && !errors.As(err, &refused) {
		return err
	}
	d.CanRevert = refused == nil
	return nil
}

// Revertible picks, of a set of actions, those for which a revert could be queued now, newest first: the order in which
// to take them back. Whether a driver finds a way is known when it is asked.
func (k *Kernel) Revertible(ctx context.Context, ids []ActionID) ([]ActionID, error) {
	var out []ActionID
	err := k.store.Read(ctx, func(v View) error {
		for _, id := range ids {
			a, err := v.ActionState(id)
			if err != nil {
				return err
			}
			var refused *NotRevertibleError
			if err := revertible(v, a); err != nil && !errors.As(err, &refused) {
				return err
			}
			if refused == nil {
				out = append(out, id)
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b ActionID) int { return cmp.Compare(b, a) })
	return out, err
}
