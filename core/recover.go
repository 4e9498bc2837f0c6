package core

import "context"

// Recover turns claims of processes that are gone into unknown: whether their effect happened is for a person to say
// (kernel R19, K33). It is called at every start and on the ticks of a front end. Outcomes that this process could not
// store are tried again first.
func (k *Kernel) Recover(ctx context.Context) ([]ActionID, error) {
	k.storeKept(ctx)
	var claimed []Action
	err := k.store.Read(ctx, func(v View) (err error) {
		claimed, err = v.Claimed()
		return err
	})
	if err != nil {
		return nil, err
	}
	var lost []ActionID
	for _, a := range claimed {
		if k.alive.Alive(a.ClaimHolder) {
			continue
		}
		changed, err := k.loseClaim(ctx, a, "the process that carried it out ended before the outcome was known")
		if err != nil {
			return lost, err
		}
		if changed {
			lost = append(lost, a.ID)
		}
	}
	return lost, nil
}

func (k *Kernel) loseClaim(ctx context.Context, seen Action, why string) (changed bool, err error) {
	err = k.store.Write(ctx, func(tx Tx) error {
		a, err := tx.ActionState(seen.ID)
		if err != nil {
			return err
		}
		if a.State != StateClaimed || a.ClaimHolder != seen.ClaimHolder {
			return nil
		}
		after := a
		after.State, after.Reason = StateUnknown, why
		if err := change(tx, a, &after); err != nil {
			return err
		}
		changed = true
		row := k.actionRow(after, EventOutcome, map[string]any{"holder": a.ClaimHolder})
		if err := tx.Append(row); err != nil {
			return err
		}
		return k.notify(tx, after)
	})
	return changed, err
}
