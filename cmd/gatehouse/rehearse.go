package main

import (
	"context"
	"errors"

	"gatehouse/core"
)

// rehearsal is what is said whenever --as is used (kernel R12a).
const rehearsal = "as %s: a rehearsal on one store, with no protection between its people; see gatehouse help guarantees"

// actAs makes the commands of this process those of another person that the
// store knows. It protects nothing and says so.
func (a *app) actAs(ctx context.Context, p *parts) error {
	if a.flags.as == "" || core.PersonID(a.flags.as) == p.person {
		return nil
	}
	known, err := p.known(ctx, core.PersonID(a.flags.as))
	if err != nil {
		return err
	}
	if !known {
		return &core.NotFoundError{What: "person", Name: a.flags.as, Hint: "see gatehouse people list; gatehouse people add makes one"}
	}
	p.person, p.rehearsed = core.PersonID(a.flags.as), true
	if !a.json {
		a.say(rehearsal, p.person)
	}
	return nil
}

// known reports somebody who was added, or owns a session.
func (p *parts) known(ctx context.Context, person core.PersonID) (bool, error) {
	people, err := p.kernel.People(ctx)
	if err != nil {
		return false, err
	}
	for _, q := range people {
		if q.ID == person {
			return true, nil
		}
	}
	sessions, err := p.kernel.Sessions(ctx)
	for _, s := range sessions {
		if s.Owner == person {
			return true, nil
		}
	}
	return false, err
}

// enter lets a rehearsed person into a session, after every unit it has read
// was checked for them; without --as whoever has the file has what is in it.
func (a *app) enter(ctx context.Context, p *parts, session string, needs core.Role) error {
	if !p.rehearsed {
		return nil
	}
	err := p.kernel.Admit(ctx, session, p.person, needs)
	var denied *core.OpenDeniedError
	if !errors.As(err, &denied) {
		return err
	}
	return a.printDenied(denied)
}

// enterAll enters the sessions of actions.
func (a *app) enterAll(ctx context.Context, p *parts, ids []core.ActionID, needs core.Role) error {
	if !p.rehearsed {
		return nil
	}
	entered := make(map[core.SessionID]bool)
	for _, id := range ids {
		d, err := p.kernel.Peek(ctx, id)
		if err != nil {
			return err
		}
		session := d.Action.Session
		if d.Question != nil {
			session = d.Question.Session
		}
		if entered[session] {
			continue
		}
		entered[session] = true
		err = a.enter(ctx, p, string(session), needs)
		if errors.Is(err, core.ErrNotFound) {
			return &core.NotFoundError{What: "action", Name: id.String(), Hint: "see gatehouse queue list --state all"}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// verdictObject is what --json prints of one line of an open report.
type verdictObject struct {
	Unit       string            `json:"unit"`
	Connection core.ConnectionID `json:"connection"`
	Verdict    core.Access       `json:"verdict"`
	Reason     string            `json:"reason"`
}

// deniedOpen tells what was refused from what did not answer.
func deniedOpen(e *core.OpenDeniedError) *fault {
	if e.Unreachable() {
		return &fault{code: codeUnreachable, message: e.Error(), hint: "try again later"}
	}
	return &fault{code: codeDenied, message: e.Error(), hint: "connect what is missing and try again, or ask the owner"}
}

// printDenied shows every line of an open that was refused, and ends the command.
func (a *app) printDenied(denied *core.OpenDeniedError) error {
	f := deniedOpen(denied)
	objects := make([]verdictObject, len(denied.Lines))
	t := newTable("SOURCE", "CONNECTION", "VERDICT", "REASON")
	for i, l := range denied.Lines {
		objects[i] = verdictObject{l.Name, l.Connection, l.Check.Access, l.Check.Reason}
		t.add(l.Name, string(l.Connection), string(l.Check.Access), l.Check.Reason)
	}
	if a.json {
		f.told = true
		return errors.Join(f, a.object(struct {
			Opened   bool            `json:"opened"`
			Verdicts []verdictObject `json:"verdicts"`
			Error    faultObject     `json:"error"`
		}{false, objects, faultObject{string(f.code), f.message, f.hint}}))
	}
	return errors.Join(f, t.print(a.out, ""))
}

// mine keeps what belongs to sessions of the person; a rehearsed person sees no
// others in lists over all sessions, since each of those has to be opened.
func (p *parts) mine(ctx context.Context) (func(core.SessionID) bool, error) {
	if !p.rehearsed {
		return func(core.SessionID) bool { return true }, nil
	}
	sessions, err := p.kernel.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	own := make(map[core.SessionID]bool)
	for _, s := range sessions {
		own[s.ID] = s.Owner == p.person
	}
	return func(id core.SessionID) bool { return own[id] }, nil
}

// named refuses, in a rehearsal, a list over all sessions that cannot be kept
// to one's own.
func (p *parts) named(session string) error {
	if p.rehearsed && session == "" {
		return usage("name the session with --session", "as %s: a list over all sessions is their owners'", p.person)
	}
	return nil
}
