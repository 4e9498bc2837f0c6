package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// openFor is how long the verdicts of one attempt to open live (kernel R10).
const openFor = 2 * time.Minute

// OpenLine is the verdict on one unit. For those who are not the owner, units of private kinds have no name.
type OpenLine struct {
	Unit       Unit         // zero where the person may not know it
	Name       string       // the unit in words, or "a private source"
	Connection ConnectionID // the opener's own that was asked; empty where there was none to ask
	Check      AccessCheck
}

// OpenDeniedError is an attempt to open that not every line of passed. Nothing was shown.
type OpenDeniedError struct {
	Session SessionID // empty for a session that would come out of a file
	File    string
	Lines   []OpenLine
}

func (e *OpenDeniedError) what() string {
	if e.Session == "" {
		return "file " + shortFile(e.File)
	}
	return "session " + string(e.Session)
}

// Error names the first line that did not pass, and counts the rest.
func (e *OpenDeniedError) Error() string {
	failed := 0
	var first OpenLine
	for _, l := range e.Lines {
		if !l.Check.Passed() {
			if failed == 0 {
				first = l
			}
			failed++
		}
	}
	return fmt.Sprintf("%s: not opened, %d of %d sources not passed; %s: %s", e.what(), failed, len(e.Lines), first.Name, first.Check)
}

// Unreachable reports that nothing was refused: services did not answer, and it may work later.
func (e *OpenDeniedError) Unreachable() bool {
	for _, l := range e.Lines {
		if !l.Check.Passed() && l.Check.Access != AccessUnreachable {
			return false
		}
	}
	return true
}

// String is the verdict with its reason.
func (c AccessCheck) String() string {
	access := c.Access
	if access == "" {
		access = AccessNotVerifiable
	}
	if c.Reason == "" {
		return string(access)
	}
	return fmt.Sprintf("%s (%s)", access, c.Reason)
}

// Opening is one attempt of somebody to open a session (kernel R10). Its lines can be run again one by one, after
// connecting something; Release runs all of them again and alone lets in. It is for one goroutine.
type Opening struct {
	k       *Kernel
	session Session
	person  PersonID
	started time.Time
	units   []Observation
	lines   []OpenLine
}

// Open begins to open a session for a person with a role in it and runs every line once. Whoever has no role is told
// that there is no such session (K18); a latched session is its owner's alone (kernel R7). The owner has no lines.
func (k *Kernel) Open(ctx context.Context, session string, person PersonID) (*Opening, error) {
	o := &Opening{k: k, person: person, started: k.clock.Now()}
	if err := o.look(ctx, session); err != nil {
		return nil, err
	}
	return o, o.runAll(ctx)
}

// look reads what has to be checked now.
func (o *Opening) look(ctx context.Context, session string) error {
	return o.k.store.Read(ctx, func(v View) (err error) {
		if o.session, err = sessionFor(v, session, o.person, RoleView); err != nil {
			return err
		}
		o.units = nil
		if o.person == o.session.Owner {
			return nil
		}
		if err := unlatched(v, o.session, "open"); err != nil {
			return err
		}
		o.units, err = v.Observations(o.session.ID)
		return err
	})
}

func (o *Opening) runAll(ctx context.Context) error {
	own, err := o.k.connectionsOf(ctx, o.person)
	if err != nil {
		return err
	}
	o.lines = make([]OpenLine, len(o.units))
	atOnce(len(o.units), func(i int) { o.lines[i] = o.k.openLine(ctx, own, o.units[i].Found, o.person) })
	return ctx.Err()
}

// Lines are the verdicts so far, one a unit, all at once.
func (o *Opening) Lines() []OpenLine { return slices.Clone(o.lines) }

// Passed reports that every line has.
func (o *Opening) Passed() bool {
	return !slices.ContainsFunc(o.lines, func(l OpenLine) bool { return !l.Check.Passed() })
}

// Again runs one line again (K17).
func (o *Opening) Again(ctx context.Context, line int) error {
	if line < 0 || line >= len(o.lines) {
		return Invalid("line %d: there are %d", line+1, len(o.lines))
	}
	own, err := o.k.connectionsOf(ctx, o.person)
	if err != nil {
		return err
	}
	o.lines[line] = o.k.openLine(ctx, own, o.units[line].Found, o.person)
	return ctx.Err()
}

// errOpenTooLong ends an attempt whose first verdicts are old.
var errOpenTooLong = errors.New("opening took longer than two minutes; begin again")

// Release runs every line again and lets the person in where all pass; else the error is an *OpenDeniedError. The attempt
// is a row of the record either way.
func (o *Opening) Release(ctx context.Context) error {
	if o.k.clock.Now().Sub(o.started) > openFor {
		return errOpenTooLong
	}
	for range changeRetries {
		if err := o.look(ctx, string(o.session.ID)); err != nil {
			return err
		}
		if o.person == o.session.Owner {
			return nil
		}
		if err := o.runAll(ctx); err != nil {
			return err
		}
		err := o.k.store.Write(ctx, o.record)
		if errors.Is(err, errJoined) {
			continue
		}
		if err == nil && !o.Passed() {
			err = &OpenDeniedError{Session: o.session.ID, Lines: o.Lines()}
		}
		return err
	}
	return fmt.Errorf("session %s: reads on while it is opened; try again", o.session.ID)
}

// record writes how the attempt ended, if the session is still as it was checked.
func (o *Opening) record(tx Tx) error {
	now, err := sessionFor(tx, string(o.session.ID), o.person, RoleView)
	if err != nil {
		return err
	}
	if err := unlatched(tx, now, "open"); err != nil {
		return err
	}
	units, err := tx.CountObservations(now.ID)
	if err != nil {
		return err
	}
	if units != len(o.units) || now.PeopleVersion != o.session.PeopleVersion {
		return errJoined
	}
	return tx.Append(o.row())
}

func (o *Opening) row() Entry {
	verdicts := make(map[Access]int)
	var refused []Unit
	for i, l := range o.lines {
		verdicts[l.Check.Access]++
		if !l.Check.Passed() {
			refused = append(refused, o.units[i].Found.Unit)
		}
	}
	return Entry{
		At: o.k.clock.Now(), Type: EventOpen, Session: o.session.ID, Actor: string(o.person), Units: refused,
		Subject: "session " + string(o.session.ID), Detail: detail(map[string]any{"verdicts": verdicts, "opened": len(refused) == 0}),
	}
}

// Admit opens a session for a person in one go, with a role they need there; nil lets in.
func (k *Kernel) Admit(ctx context.Context, session string, person PersonID, needs Role) error {
	err := k.store.Read(ctx, func(v View) error {
		_, err := sessionFor(v, session, person, needs)
		return err
	})
	if err != nil {
		return err
	}
	o := &Opening{k: k, person: person, started: k.clock.Now(), session: Session{ID: SessionID(session)}}
	return o.Release(ctx)
}

func (k *Kernel) connectionsOf(ctx context.Context, person PersonID) ([]Connection, error) {
	all, err := k.Connections(ctx)
	return slices.DeleteFunc(all, func(c Connection) bool { return c.Owner != person }), err
}

// openLine asks whether a person may read a unit: with their own connection to its service, or by our own rule.
func (k *Kernel) openLine(ctx context.Context, own []Connection, f Found, person PersonID) OpenLine {
	strategy := k.strategyOf(f.Unit.Gatekeeper)
	line := OpenLine{Unit: f.Unit, Name: f.Unit.String()}
	if strategy == StrategyPrivate || strategy == StrategyVisibility || f.OwnerOnly {
		line.Unit, line.Name = Unit{}, "a private source"
	}
	switch {
	case f.OwnerOnly || strategy == StrategyPrivate:
		line.Check = AccessCheck{Access: AccessNotVerifiable, Reason: "nobody else may ever read it"}
	case strategy == StrategyPublic, strategy == StrategyVisibility:
		line.Check = k.admits(ctx, Connection{}, f.Unit, Observer{Person: person})
	default:
		k.reach(ctx, &line, own, f)
	}
	return line
}

// reach tries the opener's own connections to the service of a unit until one passes.
func (k *Kernel) reach(ctx context.Context, line *OpenLine, own []Connection, f Found) {
	line.Check = AccessCheck{
		Access: AccessNotVerifiable,
		Reason: fmt.Sprintf("no connection of yours to %s %s; make one with gatehouse connect", f.Unit.Gatekeeper, f.Unit.Service),
	}
	for _, c := range own {
		if c.Kind != f.Unit.Gatekeeper || c.Service != f.Unit.Service {
			continue
		}
		line.Connection = c.ID
		line.Check = k.asked(ctx, c.Kind, func(ctx context.Context, checker AccessChecker) AccessCheck {
			return checker.Reaches(ctx, c, f.Unit, f.Permission)
		})
		if line.Check.Passed() {
			return
		}
	}
}
