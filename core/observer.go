package core

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Access is what came of asking whether a person may read a unit (kernel R10). Only AccessPassed passes; the zero value
// is AccessNotVerifiable.
type Access string

// The verdicts.
const (
	AccessPassed        Access = "passed"
	AccessDenied        Access = "denied"         // 403, 404, the service says no
	AccessExpired       Access = "expired"        // 401 on their own token
	AccessUnreachable   Access = "unreachable"    // 5xx, timeout
	AccessGone          Access = "gone"           // 410, proven deletion
	AccessNotVerifiable Access = "not-verifiable" // no connection, no way to ask
)

// AccessCheck is a verdict with its reason, one line in the words of the driver.
type AccessCheck struct {
	Access Access
	Reason string
}

// Passed reports whether the person may read it.
func (c AccessCheck) Passed() bool { return c.Access == AccessPassed }

// Observer is a person whose access is asked for, with who they are at the service by the people map.
type Observer struct {
	Person  PersonID
	Account string // empty where nobody said
}

// AccessChecker is a Gatekeeper that can tell what others may read. One whose manifest says acl or visibility and that is
// no AccessChecker is private (kernel R11).
type AccessChecker interface {
	// Admits asks from the side of whoever connected: by the service's own lists, or by what that person wrote down. With
	// strategy visibility the connection is empty.
	Admits(ctx context.Context, connection Connection, unit Unit, who Observer) AccessCheck
	// Reaches asks with the connection of the one who wants to read, freshly.
	Reaches(ctx context.Context, own Connection, unit Unit, permission string) AccessCheck
}

// Limits of checks.
const (
	checksAtOnce  = 32
	checkDeadline = 20 * time.Second
	joinRetries   = 20 // how often people may come and go during one call
)

// strategyOf is how it is found out who may read the units of a kind; a kind without a driver is private (K20).
func (k *Kernel) strategyOf(kind string) Strategy {
	g, known := k.gatekeepers[kind]
	if !known {
		return StrategyPrivate
	}
	switch s := g.Manifest().Observers; s {
	case StrategyACL, StrategyVisibility:
		if _, able := g.(AccessChecker); able {
			return s
		}
		return StrategyPrivate
	case StrategyPublic:
		return s
	default:
		return StrategyPrivate
	}
}

// admits asks from the owner's side whether a person may read a unit. Cannot tell counts as cannot.
func (k *Kernel) admits(ctx context.Context, connection Connection, unit Unit, who Observer) AccessCheck {
	switch k.strategyOf(unit.Gatekeeper) {
	case StrategyPublic:
		return AccessCheck{Access: AccessPassed}
	case StrategyVisibility:
		connection = Connection{}
	case StrategyACL:
	default:
		return AccessCheck{Access: AccessNotVerifiable, Reason: "nobody else may ever read it"}
	}
	return k.asked(ctx, unit.Gatekeeper, func(ctx context.Context, checker AccessChecker) AccessCheck {
		return checker.Admits(ctx, connection, unit, who)
	})
}

// asked runs a check under its deadline. A driver that panics or says nothing has not passed anybody.
func (k *Kernel) asked(ctx context.Context, kind string, ask func(context.Context, AccessChecker) AccessCheck) AccessCheck {
	checker, able := k.gatekeepers[kind].(AccessChecker)
	if !able {
		return AccessCheck{Access: AccessNotVerifiable, Reason: "its driver cannot tell"}
	}
	ctx, cancel := context.WithTimeout(ctx, checkDeadline)
	defer cancel()
	got := make(chan AccessCheck, 1)
	go func() {
		out := AccessCheck{Access: AccessUnreachable, Reason: "the driver failed"}
		defer func() {
			_ = recover() // its words are nobody's
			got <- out
		}()
		out = ask(ctx, checker)
	}()
	select {
	case out := <-got:
		if out.Access == "" {
			out.Access = AccessNotVerifiable
		}
		out.Reason = cleanReason(out.Reason)
		return out
	case <-ctx.Done():
		return AccessCheck{Access: AccessUnreachable, Reason: "no answer in time"}
	}
}

// peopleCheck keeps what others could see within what they may read (kernel R6, R8, R9).
type peopleCheck struct{ k *Kernel }

func (peopleCheck) Name() string { return "people" }

func (c peopleCheck) CheckIntent(ctx context.Context, p Passage) error {
	if p.Purpose == PurposeApply {
		return nil // nothing is read; what comes back passes the other half
	}
	if c.k.strategyOf(p.Binding.Kind) == StrategyVisibility {
		// No service is called. Asked now, of a name that the caller may not know, the answer would tell what exists by who
		// could read it: only the driver makes missing and forbidden one answer.
		return nil
	}
	return c.check(ctx, p)
}

func (c peopleCheck) CheckExact(ctx context.Context, p Passage) error { return c.check(ctx, p) }

// publicRefusal is what a caller is told who may not know who could not read what.
const publicRefusal = "refused by the people check: somebody who can see this session may not read that; " +
	"the owner can go on in a private fork (gatehouse session fork)"

func (c peopleCheck) check(ctx context.Context, p Passage) error {
	if p.Session.PeopleVersion == 0 || len(p.Found) == 0 {
		return nil // never shared
	}
	others, err := c.k.others(ctx, p.Session.ID, c.k.authorityOf(p))
	if err != nil {
		return err
	}
	for _, f := range p.Found {
		if f.OwnerOnly && len(others) > 0 {
			who := others[0].ID
			return &RefusedError{
				Unit: f.Unit, Person: who, Public: publicRefusal,
				Why: fmt.Sprintf("only the owner may see it, and %s has a role", who),
			}
		}
	}
	return c.each(ctx, p, others)
}

// authorityOf is whose access the data comes from: everybody else has to be asked about. Our own rule knows no
// connections: there it is whoever drives, and the one who once made the connection is asked about too.
func (k *Kernel) authorityOf(p Passage) PersonID {
	if k.strategyOf(p.Binding.Kind) == StrategyVisibility {
		return p.Caller.Person
	}
	if p.Connection.Owner != "" {
		return p.Connection.Owner
	}
	return p.Session.Owner
}

// each asks about every person and unit, several at once; the first refusal in their order counts.
func (c peopleCheck) each(ctx context.Context, p Passage, people []Person) error {
	units := unitsOf(p.Found)
	checks := make([]AccessCheck, len(people)*len(units))
	atOnce(len(checks), func(i int) {
		who, unit := people[i/len(units)], units[i%len(units)]
		checks[i] = c.k.admits(ctx, p.Connection, unit, Observer{Person: who.ID, Account: who.account(unit.Gatekeeper)})
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i, got := range checks {
		if !got.Passed() {
			who, unit := people[i/len(units)], units[i%len(units)]
			return &RefusedError{
				Unit: unit, Person: who.ID, Public: publicRefusal,
				Why: fmt.Sprintf("%s cannot read it: %s", who.ID, got.Access),
			}
		}
	}
	return nil
}

// atOnce runs n pieces of work, a bounded number of them at a time.
func atOnce(n int, work func(int)) {
	var wait sync.WaitGroup
	slots := make(chan struct{}, checksAtOnce)
	for i := range n {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			work(i)
		})
	}
	wait.Wait()
}

// others lists who has a role in a session but one person; someone this store has no record of is a bare name.
func (k *Kernel) others(ctx context.Context, id SessionID, but PersonID) ([]Person, error) {
	var out []Person
	err := k.store.Read(ctx, func(v View) error {
		s, err := v.Session(string(id))
		if err != nil {
			return err
		}
		grants, err := v.RoleGrants(id)
		if err != nil {
			return err
		}
		for _, name := range present(rightsOf(s.Owner, grants), but) {
			person, err := v.Person(name)
			if errors.Is(err, ErrNotFound) {
				person, err = Person{ID: name}, nil
			}
			if err != nil {
				return err
			}
			out = append(out, person)
		}
		return nil
	})
	return out, err
}

// audience lists everybody who can see a session, its owner first.
func audience(v peopleView, s Session) ([]PersonID, error) {
	all := []PersonID{s.Owner}
	if s.PeopleVersion == 0 {
		return all, nil // never shared
	}
	grants, err := v.RoleGrants(s.ID)
	if err != nil {
		return nil, err
	}
	return append(all, present(rightsOf(s.Owner, grants), s.Owner)...), nil
}

// errJoined says that the people of a session, or its latch, changed between a check and the release: the check is made again.
var errJoined = errors.New("the people of the session changed meanwhile")

// unjoined holds a release against the people as they were when it was checked (kernel R8). It runs in the transaction
// that releases.
func unjoined(v sessionView, c *callInProgress) error {
	now, err := v.Session(string(c.session.ID))
	if err == nil && now.PeopleVersion != c.session.PeopleVersion {
		err = errJoined
	}
	return err
}

// meetAgain looks at the session afresh, so that the call is checked over the people there are now. Its caller may be one
// of those who left.
func (k *Kernel) meetAgain(ctx context.Context, c *callInProgress) error {
	if c.met++; c.met > joinRetries {
		return errTooManyJoined()
	}
	return k.store.Read(ctx, func(v View) (err error) {
		if c.session, err = v.Session(string(c.session.ID)); err != nil || c.caller.Person == "" || c.reverts != nil {
			return err // who may revert is held against the right to decide, by the transaction
		}
		own, err := rights(v, c.session, c.caller.Person)
		if err == nil && !own.Role.Includes(RoleBuild) {
			err = &RefusedError{
				Check: "people", Half: HalfExact, Person: c.caller.Person, Why: fmt.Sprintf("%s lost the role for it meanwhile", c.caller.Person),
				Public: "refused: the role that this takes was taken away meanwhile",
			}
		}
		return err
	})
}

func errTooManyJoined() error {
	return &RefusedError{Check: "people", Half: HalfExact, Why: "people join and leave", Public: "refused: people join and leave this session just now; try again"}
}
