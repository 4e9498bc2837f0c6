package core

import "context"

// DismissPlan notes that a person has seen the result of a plan that they confirmed, so that no front end shows it at
// its start again (T1). It decides nothing. A plan that does not exist, or is another's, is ErrNotFound.
func (k *Kernel) DismissPlan(ctx context.Context, id PlanID, by PersonID) error {
	return k.store.Write(ctx, func(tx Tx) error { return tx.DismissPlan(id, by) })
}
