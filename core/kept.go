package core

import (
	"context"
	"sync"
)

// kept holds outcomes that this process heard and the store did not take, as when the disk is full, and claims that it
// may have taken while it said that it did not: they would hold their connection for as long as this process lives. They
// are stored with the next look at open claims; if the process ends before, they are unknown like any other (kernel R19).
type kept struct {
	mu   sync.Mutex
	list []keptOutcome
}

type keptOutcome struct {
	plan PlanID
	*landed
}

func (k *Kernel) keep(plan PlanID, o *landed) {
	k.kept.mu.Lock()
	defer k.kept.mu.Unlock()
	k.kept.list = append(k.kept.list, keptOutcome{plan, o})
}

// storeKept tries again what could not be stored. What the store takes no more than before stays.
func (k *Kernel) storeKept(ctx context.Context) {
	k.kept.mu.Lock()
	defer k.kept.mu.Unlock()
	still := k.kept.list[:0]
	for _, o := range k.kept.list {
		err := k.store.Write(ctx, func(tx Tx) error {
			if o.doubted {
				a, err := tx.ActionState(o.action.ID)
				if err != nil || a.Version != o.action.Version || a.ClaimHolder != o.action.ClaimHolder {
					return err // it was not stored, or somebody has ended it
				}
			}
			return k.storeOutcome(tx, o.plan, o.landed)
		})
		if err != nil {
			// Where the store takes anything else, it is the outcome that cannot be stored.
			_, err = k.loseClaim(ctx, o.action, "its outcome could not be stored")
		}
		if err != nil {
			still = append(still, o)
		}
	}
	k.kept.list = still
}
