package core

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Latch is set by the first read of an owner-only unit and is never cleared (kernel R6, R7).
type Latch struct {
	Session SessionID
	At      time.Time
	Turn    int    // 0 is a person by hand
	Read    string // the call, such as "MAIL.list"
	Unit    Unit
}

// String names the read, and not the unit: some who are told of the latch may not know the unit.
func (l Latch) String() string {
	if l.Turn == 0 {
		return fmt.Sprintf("%s, by hand, at %s", l.Read, l.At.UTC().Format("2006-01-02 15:04"))
	}
	return fmt.Sprintf("%s in turn %d, at %s", l.Read, l.Turn, l.At.UTC().Format("2006-01-02 15:04"))
}

// LatchedError refuses what a latched session may not do; it names the read that set the latch.
type LatchedError struct {
	Latch Latch
	What  string // what was refused
}

func (e *LatchedError) Error() string {
	return fmt.Sprintf("%s: refused, session %s is latched: %s read what only its owner may see", e.What, e.Latch.Session, e.Latch)
}

// Hint says the way out.
func (e *LatchedError) Hint() string {
	if e.Latch.Turn > 1 {
		return fmt.Sprintf("go on in a fork from before that read: gatehouse session fork %s --at %d", e.Latch.Session, e.Latch.Turn-1)
	}
	return "go on in a new session: this one read it from its beginning"
}

// Latch is the latch of a session; false where it is not set.
func (k *Kernel) Latch(ctx context.Context, session string) (latch Latch, set bool, err error) {
	err = k.store.Read(ctx, func(v View) error {
		s, err := findSession(v, session)
		if err != nil || !s.Latched {
			return err
		}
		set = true
		latch, err = v.Latch(s.ID)
		return err
	})
	return latch, set, err
}

// unlatched refuses something in a session whose latch is set.
func unlatched(v sessionView, s Session, what string) error {
	if !s.Latched {
		return nil
	}
	latch, err := v.Latch(s.ID)
	if err != nil {
		return err
	}
	return &LatchedError{Latch: latch, What: what}
}

// latchCheck stops writes of a latched session, before they are queued and before they are sent, and fetches of the web
// (kernel R7). Other reads go on.
type latchCheck struct{ store Store }

func (latchCheck) Name() string { return "latch" }

func (c latchCheck) CheckIntent(ctx context.Context, p Passage) error {
	// A latch that was set since the call began is found in the transaction that queues or claims. Nothing comes behind a
	// fetch, so it is looked for.
	writes := p.Purpose == PurposePrepare || p.Purpose == PurposeApply
	if p.Sink != SinkFetch && (!p.Session.Latched || !writes) {
		return nil
	}
	return c.store.Read(ctx, func(v View) error {
		s, err := v.Session(string(p.Session.ID))
		if err != nil {
			return err
		}
		what := "write"
		if p.Sink == SinkFetch {
			what = "fetch"
		}
		return latchRefusal(v, s, what)
	})
}

func (latchCheck) CheckExact(context.Context, Passage) error { return nil }

// latchRefusal is unlatched as a refusal of the gate.
func latchRefusal(v sessionView, s Session, what string) error {
	err := unlatched(v, s, what)
	latched, ok := err.(*LatchedError)
	if !ok {
		return err
	}
	why := latched.Error()
	return &RefusedError{Why: why, Public: why + "; " + latched.Hint()}
}

// setLatch sets the latch in the transaction that releases an owner-only unit, and writes its row (kernel R6).
func (k *Kernel) setLatch(tx Tx, c *callInProgress, at time.Time, found []Found) error {
	var first Unit
	for _, f := range found {
		if f.OwnerOnly {
			first = f.Unit
			break
		}
	}
	latch := Latch{
		Session: c.session.ID, At: at, Turn: c.caller.Turn, Unit: first,
		Read: strings.Join([]string{string(c.binding.Name), c.method}, "."),
	}
	set, err := tx.SetLatch(latch)
	if err != nil || !set {
		return err
	}
	row := c.entry(k, EventLatch, []Unit{first}, map[string]any{})
	row.At = at
	return tx.Append(row)
}

func anyOwnerOnly(found []Found) bool {
	for _, f := range found {
		if f.OwnerOnly {
			return true
		}
	}
	return false
}
