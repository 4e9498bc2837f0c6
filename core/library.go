package core

import "context"

// LibraryChange is what a person does to the skill library: publish, import, edit, delete, pin. The kernel knows no more
// of it than what stands in the record.
type LibraryChange struct {
	Event   string    // what happened, in one word: "imported"
	Session SessionID // of a pin
	Subject string    // such as "collection runbooks"
	// Apply makes the change and returns what the row is to say: ids, counts and hashes. Where it changed nothing it
	// returns nil, and there is no row.
	Apply func(Tx) (map[string]any, error)
}

// MayChangeLibrary refuses whoever is no person deciding (kernel R34). It is asked before work that only a change makes
// sense of; ChangeLibrary asks again.
func (k *Kernel) MayChangeLibrary(ctx context.Context, by Authority) error {
	_, err := k.authorize(ctx, by)
	return err
}

// ChangeLibrary changes the skill library in one transaction with its row of the record. It is a decision of a person
// (kernel R34): no agent has a way here.
func (k *Kernel) ChangeLibrary(ctx context.Context, c LibraryChange, by Authority) error {
	by, err := k.authorize(ctx, by)
	if err != nil {
		return err
	}
	return k.store.Write(ctx, func(tx Tx) error {
		pairs, err := c.Apply(tx)
		if err != nil || pairs == nil {
			return err
		}
		pairs["event"] = c.Event
		return tx.Append(Entry{
			At: k.clock.Now(), Type: EventLibrary, Session: c.Session, Actor: string(by.Person), Authority: by.String(),
			Subject: c.Subject, Detail: detail(pairs),
		})
	})
}
