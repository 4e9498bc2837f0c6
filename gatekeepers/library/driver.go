package library

import (
	"context"
	"fmt"
	"slices"

	"gatehouse/core"
	"gatehouse/skills"
)

// Pins tells which collections a person pinned to a session.
type Pins interface {
	Pinned(ctx context.Context, session core.SessionID) ([]skills.CollectionID, error)
}

// Options are the parts of the driver. Shelf and Engine hold the same documents; Service names this library in units and
// is the name of no other.
type Options struct {
	Shelf   skills.Shelf
	Engine  skills.Engine
	Service string
	Pins    Pins // nil: nothing is pinned
}

// Driver is the gatekeeper of the skill library.
type Driver struct {
	shelf   skills.Shelf
	library *skills.Library
	service string
	pins    Pins
}

var (
	_ core.Gatekeeper    = (*Driver)(nil)
	_ core.AccessChecker = (*Driver)(nil)
)

// New makes the driver. It asks nothing of the shelf yet.
func New(o Options) *Driver {
	return &Driver{shelf: o.Shelf, library: skills.New(o.Shelf, o.Engine), service: o.Service, pins: o.Pins}
}

// Manifest is what the driver says of itself.
func (d *Driver) Manifest() core.Manifest { return manifest() }

// Normalize prints a binding URL in its one form.
func (d *Driver) Normalize(url string) (string, error) {
	p, err := parsePlace(url)
	return p.String(), err
}

// Connect describes the one connection to the library; it carries no access.
func (d *Driver) Connect(_ context.Context, url string) (core.Connection, error) {
	if _, err := parsePlace(url); err != nil {
		return core.Connection{}, err
	}
	return core.Connection{Kind: Kind, Name: Kind, Service: d.service, Root: scheme}, nil
}

// Open narrows the library to a collection, or not. Whether a collection exists is nobody's business here: a binding is
// no oracle (GK3).
func (d *Driver) Open(_ context.Context, c core.Connection, url string) (core.Resource, error) {
	p, err := parsePlace(url)
	if err != nil {
		return nil, err
	}
	if c.Service != d.service {
		return nil, fmt.Errorf("connection %s: is to another library than that of this store", c.Name)
	}
	return &resource{Driver: d, place: p}, nil
}

// Admits asks the shelf whether a person may read a collection, by our own rule (kernel R11).
func (d *Driver) Admits(ctx context.Context, _ core.Connection, unit core.Unit, who core.Observer) core.AccessCheck {
	if unit.Gatekeeper != Kind || unit.Service != d.service || unit.Name == everything {
		return core.AccessCheck{Access: core.AccessNotVerifiable, Reason: "it is not of this library"}
	}
	readable, err := d.shelf.Collections(ctx, skills.For(skills.AccountID(who.Person)))
	if err != nil {
		return core.AccessCheck{Access: core.AccessUnreachable, Reason: "the library could not be read"}
	}
	scope := skills.For(skills.AccountID(who.Person))
	if slices.ContainsFunc(readable, func(c skills.Collection) bool { return string(c.ID) == unit.Name && scope.Reads(c) }) {
		return core.AccessCheck{Access: core.AccessPassed}
	}
	return core.AccessCheck{Access: core.AccessDenied}
}

// Reaches is Admits for whoever wants to read: no connection says more than our own rule.
func (d *Driver) Reaches(ctx context.Context, own core.Connection, unit core.Unit, _ string) core.AccessCheck {
	return d.Admits(ctx, core.Connection{}, unit, core.Observer{Person: own.Owner})
}
