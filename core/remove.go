package core

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// RemovedFor is how long a removed session can be brought back, before its content goes for good (kernel R33).
const RemovedFor = 30 * 24 * time.Hour

// Removal is what became of a session that a person took away. The zero value is that nobody did.
type Removal struct {
	At     time.Time // since when it is hidden
	Name   string    // the name it had; another session may have it now
	By     string    // on whose authority
	Purged time.Time // since when its content is gone
}

// Goes is when the content of a hidden session goes by itself.
func (r Removal) Goes() time.Time { return r.At.Add(RemovedFor) }

// RemovedError refuses what a session may not do while it is hidden, and after.
type RemovedError struct {
	Session SessionID
	Removal Removal
}

func (e *RemovedError) Error() string {
	if !e.Removal.Purged.IsZero() {
		return fmt.Sprintf("session %s: its content was purged; only what the record says of it is left", e.Session)
	}
	return fmt.Sprintf("session %s: was removed, and can be brought back until %s", e.Session, e.Removal.Goes().UTC().Format(time.DateOnly))
}

// Hint says the way back, where there is one.
func (e *RemovedError) Hint() string {
	if !e.Removal.Purged.IsZero() {
		return "see gatehouse log"
	}
	return fmt.Sprintf("gatehouse session restore %s", e.Session)
}

// Is makes it match ErrNotFound: whoever looks for a session does not find it.
func (e *RemovedError) Is(target error) bool { return target == ErrNotFound }

// unremoved refuses anything in a session that is hidden.
func unremoved(s Session) error {
	if s.Removed.At.IsZero() {
		return nil
	}
	return &RemovedError{Session: s.ID, Removal: s.Removed}
}

// RemoveSession hides a session: from lists, from look-ups and from the queue. For RemovedFor a person can bring it back.
// Its owner alone may do it, and neither while a turn runs nor while something of it is being carried out.
func (k *Kernel) RemoveSession(ctx context.Context, ref string, by Authority) (Session, error) {
	return k.changeRemoved(ctx, by, func(tx Tx, by Authority) (Session, error) {
		s, err := sessionFor(tx, ref, by.Person, RoleOwner)
		if err != nil {
			return s, err
		}
		return s, k.hide(tx, s, by)
	})
}

func (k *Kernel) hide(tx Tx, s Session, by Authority) error {
	if err := k.atRest(tx, s); err != nil {
		return err
	}
	if err := tx.RemoveSession(s.ID, by.String(), k.clock.Now()); err != nil {
		return err
	}
	return tx.Append(k.removalRow(s, string(by.Person), by.String(), map[string]any{"event": "remove"}))
}

// atRest refuses to take away what somebody works on at this moment.
func (k *Kernel) atRest(tx Tx, s Session) error {
	turn, err := tx.NewestTurn(s.ID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if err == nil && turn.State == TurnRunning {
		lease, err := tx.Lease(s.ID)
		if err != nil {
			return err
		}
		if k.alive.Alive(lease.Holder) {
			return Invalid("session %s: turn %d is running; stop it first", s.ID, turn.Number)
		}
	}
	claimed, err := tx.Claimed()
	if err != nil {
		return err
	}
	for _, a := range claimed {
		if a.Session == s.ID {
			return Invalid("session %s: action %d is being carried out; wait for its outcome", s.ID, a.ID)
		}
	}
	return nil
}

// RestoreSession brings a hidden session back, under another name where one is given. ErrNameTaken is that its own name
// has been given to another session meanwhile.
func (k *Kernel) RestoreSession(ctx context.Context, ref, name string, by Authority) (Session, error) {
	if name != "" {
		if err := checkName("session name", name); err != nil {
			return Session{}, err
		}
	}
	return k.changeRemoved(ctx, by, func(tx Tx, by Authority) (Session, error) {
		s, err := removedFor(tx, ref, by.Person)
		switch {
		case err != nil:
			return s, err
		case s.Removed.At.IsZero():
			return s, Invalid("session %s: was not removed", s.ID)
		case !s.Removed.Purged.IsZero():
			return s, unremoved(s)
		}
		if name == "" {
			name = s.Removed.Name
		}
		if err := tx.RestoreSession(s.ID, name, k.clock.Now()); err != nil {
			return s, namedError("session", name, err)
		}
		s.Name, s.Removed = name, Removal{}
		return s, tx.Append(k.removalRow(s, string(by.Person), by.String(), map[string]any{"event": "restore", "name": textHash(name)}))
	})
}

// PurgeSession removes for good what a session holds: what was said, asked, answered and read into it, what would have
// been sent and what it takes to undo, names and reasons. Rows stay: those of the record, of actions with their digests,
// of the set and of the latch (kernel R4, R7, R33). A session that is not hidden yet is hidden by it.
func (k *Kernel) PurgeSession(ctx context.Context, ref string, by Authority) (Session, error) {
	s, err := k.changeRemoved(ctx, by, func(tx Tx, by Authority) (Session, error) {
		s, err := removedFor(tx, ref, by.Person)
		if err != nil {
			return s, err
		}
		if s.Removed.At.IsZero() {
			if err := k.hide(tx, s, by); err != nil {
				return s, err
			}
		}
		return s, k.purge(tx, s, string(by.Person), by.String())
	})
	if err != nil {
		return s, err
	}
	return s, k.scrubbed(ctx, s)
}

// scrubbed clears the file of what the rows no longer hold.
func (k *Kernel) scrubbed(ctx context.Context, s Session) error {
	if k.scrub == nil {
		return nil
	}
	if err := k.scrub(ctx); err != nil {
		return fmt.Errorf("session %s: is purged, but the file may still hold traces; purge it again: %w", s.ID, err)
	}
	return nil
}

func (k *Kernel) purge(tx Tx, s Session, actor, authority string) error {
	if !s.Removed.Purged.IsZero() {
		return nil // the file is scrubbed once more
	}
	if err := tx.PurgeSession(s.ID, k.clock.Now()); err != nil {
		return err
	}
	return tx.Append(k.removalRow(s, actor, authority, map[string]any{"event": "purge"}))
}

// PurgeExpired purges the session that was hidden longest, where its time is over; false where there is none. It is
// called at a start, and does one at a time. The authority in its row is that of whoever removed it.
func (k *Kernel) PurgeExpired(ctx context.Context) (Session, bool, error) {
	due, found, err := k.expired(ctx)
	if err != nil || !found {
		return due, false, err
	}
	purged := false
	err = k.store.Write(ctx, func(tx Tx) error {
		s, err := tx.Session(string(due.ID))
		if err != nil || !k.over(s) {
			return err
		}
		purged = true
		return k.purge(tx, s, "gatehouse", s.Removed.By)
	})
	if err != nil || !purged {
		return due, false, err
	}
	return due, true, k.scrubbed(ctx, due)
}

func (k *Kernel) over(s Session) bool {
	return !s.Removed.At.IsZero() && s.Removed.Purged.IsZero() && !k.clock.Now().Before(s.Removed.Goes())
}

func (k *Kernel) expired(ctx context.Context) (Session, bool, error) {
	removed, err := k.RemovedSessions(ctx)
	for _, s := range removed {
		if k.over(s) {
			return s, true, err
		}
	}
	return Session{}, false, err
}

// RemovedSessions lists the sessions that are hidden and not purged, the one that goes first in front.
func (k *Kernel) RemovedSessions(ctx context.Context) ([]Session, error) {
	var out []Session
	err := k.store.Read(ctx, func(v View) (err error) {
		out, err = v.RemovedSessions()
		return err
	})
	return out, err
}

// changeRemoved runs a decision about a whole session in one transaction.
func (k *Kernel) changeRemoved(ctx context.Context, by Authority, fn func(Tx, Authority) (Session, error)) (Session, error) {
	by, err := k.authorize(ctx, by)
	if err != nil {
		return Session{}, err
	}
	var s Session
	err = k.store.Write(ctx, func(tx Tx) error {
		s, err = fn(tx, by)
		return err
	})
	return s, err
}

// removedFor finds a session of a person, hidden or not, by its id or, where it is not hidden, by its name.
func removedFor(v View, ref string, person PersonID) (Session, error) {
	s, err := v.Session(ref)
	if errors.Is(err, ErrNotFound) || (err == nil && s.Owner != person) {
		return Session{}, notFound("session", ref, "see gatehouse session list --removed")
	}
	return s, err
}

func (k *Kernel) removalRow(s Session, actor, authority string, pairs map[string]any) Entry {
	return Entry{
		At: k.clock.Now(), Type: EventSession, Session: s.ID, Actor: actor, Authority: authority,
		Subject: "session " + string(s.ID), Detail: detail(pairs),
	}
}
