package main

import (
	"context"
	"fmt"

	"gatehouse/core"
	"gatehouse/gatekeepers/library"
	"gatehouse/skills"
	"gatehouse/store"
)

// pinObject is what --json prints of a pin.
type pinObject struct {
	Collection string         `json:"collection"`
	Session    core.SessionID `json:"session"`
	Pinned     bool           `json:"pinned"`
}

func (a *app) pin(ctx context.Context, id, session string) error {
	d, sid, err := a.pinPlace(ctx, session)
	if err != nil {
		return err
	}
	if err := d.pin(ctx, a.authority(d.parts), id, sid); err != nil {
		return err
	}
	return a.pinned(pinObject{line(id), sid, true})
}

// pin makes the collection part of what the session has read, in the transaction that pins it (S108). Whoever is in the
// session must be able to read it.
func (d *desk) pin(ctx context.Context, by core.Authority, id string, sid core.SessionID) error {
	if err := d.kernel.Admit(ctx, string(sid), d.person, core.RoleBuild); err != nil {
		return err
	}
	collection := skills.CollectionID(id)
	before, err := d.kernel.Session(ctx, string(sid))
	if err != nil {
		return err
	}
	everybody, err := d.present(ctx, sid)
	if err != nil {
		return err
	}
	service, err := d.shelf.Service(ctx)
	if err != nil {
		return err
	}
	err = d.kernel.ChangeLibrary(ctx, core.LibraryChange{
		Event: "pinned", Session: sid, Subject: "collection " + id,
		Apply: func(tx core.Tx) (map[string]any, error) {
			t, err := store.SkillsIn(tx)
			if err != nil {
				return nil, err
			}
			c, err := t.Entry(d.scope, collection)
			if err != nil {
				return nil, err
			}
			if !everybody.Reads(c.Collection) {
				return nil, &fault{
					code: codeDenied, message: fmt.Sprintf("collection %q: somebody who can see this session may not read it", id),
					hint: "see gatehouse session people " + string(sid),
				}
			}
			s, err := tx.Session(string(sid))
			if err == nil && s.PeopleVersion != before.PeopleVersion {
				err = &fault{code: codeFailed, message: "session " + string(sid) + ": somebody joins or leaves just now", hint: "try again"}
			}
			if err != nil {
				return nil, err
			}
			now := systemClock{}.Now()
			fresh, err := t.Pin(store.SkillPin{Session: sid, Collection: collection, By: d.person, At: now})
			if err != nil || !fresh {
				return nil, err
			}
			unit := core.Unit{Gatekeeper: library.Kind, Service: service, Name: id}
			return map[string]any{"collection": id}, tx.Observe(sid, 0, now, []core.Found{{Unit: unit, Permission: "read"}})
		},
	}, by)
	if err != nil {
		return err
	}
	// The catalog comes with the library: without it the pin would show nothing.
	_, err = d.bindLibrary(ctx, string(sid))
	return err
}

func (a *app) unpin(ctx context.Context, id, session string) error {
	d, sid, err := a.pinPlace(ctx, session)
	if err != nil {
		return err
	}
	if err := d.unpin(ctx, a.authority(d.parts), id, sid); err != nil {
		return err
	}
	return a.pinned(pinObject{line(id), sid, false})
}

// unpin takes a pin away; what was read by it stays read.
func (d *desk) unpin(ctx context.Context, by core.Authority, id string, sid core.SessionID) error {
	return d.kernel.ChangeLibrary(ctx, core.LibraryChange{
		Event: "unpinned", Session: sid, Subject: "collection " + id,
		Apply: func(tx core.Tx) (map[string]any, error) {
			t, err := store.SkillsIn(tx)
			if err != nil {
				return nil, err
			}
			there, err := t.Unpin(sid, skills.CollectionID(id))
			if err == nil && !there {
				err = &fault{code: codeNotFound, message: fmt.Sprintf("collection %q: is not pinned to session %s", id, sid), hint: "see gatehouse skills catalog -s " + string(sid)}
			}
			return map[string]any{"collection": id}, err
		},
	}, by)
}

func (a *app) pinned(o pinObject) error {
	if a.json {
		return a.object(o)
	}
	word := "is pinned to"
	if !o.Pinned {
		word = "is no longer pinned to"
	}
	a.say("%s %s session %s", o.Collection, word, string(o.Session))
	return nil
}
