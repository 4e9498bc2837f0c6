package core

import (
	"context"
	"fmt"
	"slices"
)

// Fork says what a new session is to take over of an old one.
type Fork struct {
	Session string // id or name of the old one
	At      int    // the last turn that is taken over; 0 takes bindings alone
	Name    string // of the new session
}

// ForkSession makes a session that is what another was after a turn: its transcript, bindings and set, without what waits
// and without its people (kernel R7). It belongs to whoever forks, who has to own the old one: nobody gets to keep by a
// fork what they were only shown. It is a decision of a person.
func (k *Kernel) ForkSession(ctx context.Context, f Fork, by Authority) (Session, error) {
	by, err := k.authorize(ctx, by)
	if err != nil {
		return Session{}, err
	}
	if err := checkName("session name", f.Name); err != nil {
		return Session{}, err
	}
	now := k.clock.Now()
	forked := Session{Name: f.Name, Owner: by.Person, CreatedAt: now, UpdatedAt: now}
	err = k.store.Write(ctx, func(tx Tx) error {
		old, err := forkable(tx, f, by.Person)
		if err != nil {
			return err
		}
		if err := tx.InsertSession(&forked); err != nil {
			return namedError("session", f.Name, err)
		}
		if err := tx.CopySession(old.ID, forked.ID, f.At); err != nil {
			return err
		}
		if forked.Latched, err = k.latchFork(tx, old, forked.ID, f.At); err != nil {
			return err
		}
		return tx.Append(Entry{
			At: now, Type: EventSession, Session: forked.ID, Actor: string(by.Person), Authority: by.String(),
			Subject: "session " + string(forked.ID),
			Detail:  detail(map[string]any{"event": "fork", "of": old.ID, "at": f.At, "name": textHash(f.Name)}),
		})
	})
	return forked, err
}

// forkable finds the session to fork and holds the turn against its turns.
func forkable(tx Tx, f Fork, by PersonID) (Session, error) {
	old, err := sessionFor(tx, f.Session, by, RoleOwner)
	if err != nil {
		return old, err
	}
	if err := writable(old); err != nil {
		return old, err
	}
	turns, err := tx.Turns(old.ID)
	if err != nil {
		return old, err
	}
	last := 0
	for _, t := range turns {
		if t.Number == f.At && (t.State == TurnRunning || t.State == TurnSuspended) {
			return old, Invalid("turn %d of session %s: has not ended; fork at %d, or stop it first", f.At, old.ID, f.At-1)
		}
		last = max(last, t.Number)
	}
	if last == 0 && f.At != 0 {
		return old, Invalid("turn %d: session %s has no turns; 0 takes its bindings alone", f.At, old.ID)
	}
	if f.At < 0 || f.At > last {
		return old, Invalid("turn %d: session %s has turns 1 to %d; 0 takes its bindings alone", f.At, old.ID, last)
	}
	return old, nil
}

// latchFork latches a fork that took over what its original was latched for.
func (k *Kernel) latchFork(tx Tx, old Session, forked SessionID, at int) (bool, error) {
	set, err := tx.Observations(forked)
	if err != nil {
		return false, err
	}
	for _, o := range set {
		took := o.Found.OwnerOnly
		if !took && old.Latched {
			// The set keeps what was said of a unit when it was first seen: the latch knows what became of it.
			if took, err = latchedBy(tx, old, o.Found.Unit, at); err != nil {
				return false, err
			}
		}
		if took {
			latch := Latch{Session: forked, At: k.clock.Now(), Turn: o.Turn, Unit: o.Found.Unit, Read: fmt.Sprintf("a read of session %s", old.ID)}
			return tx.SetLatch(latch)
		}
	}
	return false, nil
}

// latchedBy reports that a session was latched for a unit by the end of a turn.
func latchedBy(tx Tx, s Session, unit Unit, at int) (bool, error) {
	latch, err := tx.Latch(s.ID)
	if err != nil || latch.Unit != unit || latch.Turn > 0 {
		return err == nil && latch.Unit == unit && latch.Turn <= at, err
	}
	turns, err := tx.Turns(s.ID)
	return slices.ContainsFunc(turns, func(t Turn) bool { return t.Number == at && !latch.At.After(t.UpdatedAt) }), err
}
