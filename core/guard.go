package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A driver that panics has a fault, and nothing more: the call fails, or its outcome is unknown, and the process goes on
// with what it has claimed. The words of the panic may hold the service's data; as an error they pass the gate.

// caught turns a panic of a driver into its error.
func caught(kind, what string, err *error) {
	if fault := recover(); fault != nil {
		*err = fmt.Errorf("driver %s: fault in %s: %v", kind, what, fault)
	}
}

func normalizeGuarded(g Gatekeeper, url string) (normal string, err error) {
	defer caught(g.Manifest().Kind, "normalize", &err)
	return g.Normalize(url)
}

func connectGuarded(ctx context.Context, g Gatekeeper, url string) (c Connection, err error) {
	defer caught(g.Manifest().Kind, "connect", &err)
	return g.Connect(ctx, url)
}

// openGuarded opens a resource; neither that nor anything asked of it later panics.
func openGuarded(ctx context.Context, g Gatekeeper, c Connection, url string) (r Resource, err error) {
	defer caught(c.Kind, "open", &err)
	opened, err := g.Open(ctx, c, url)
	if err != nil {
		return nil, err
	}
	if opened == nil {
		return nil, fmt.Errorf("driver %s: opened nothing and gave no error", c.Kind)
	}
	out := guarded{Resource: opened, kind: c.Kind}
	out.reverter, _ = opened.(Reverter)
	if finder, can := opened.(Finder); can {
		return guardedFinder{out, finder}, nil
	}
	return out, nil
}

// guarded is a resource whose panics are errors.
type guarded struct {
	Resource
	kind     string
	reverter Reverter // nil where the driver takes nothing back
}

// reverterOf is a resource as one that takes back what it applied, where it can.
func reverterOf(r Resource) (Reverter, bool) {
	g, is := r.(interface {
		guardedReverter() (guardedReverter, bool)
	})
	if !is {
		return nil, false
	}
	return g.guardedReverter()
}

func (g guarded) guardedReverter() (guardedReverter, bool) {
	return guardedReverter{g.reverter, g.kind}, g.reverter != nil
}

type guardedReverter struct {
	inner Reverter
	kind  string
}

func (g guardedReverter) IntendRevert(r Reversal) (i Intent, err error) {
	defer caught(g.kind, "revert", &err)
	return g.inner.IntendRevert(r)
}

func (g guardedReverter) PrepareRevert(ctx context.Context, r Reversal, j Journal) (out Reverse, err error) {
	defer caught(g.kind, "revert", &err)
	return g.inner.PrepareRevert(ctx, r, j)
}

// Unit of a driver with a fault is a unit that nobody can read.
func (g guarded) Unit() (f Found) {
	defer func() {
		if recover() != nil {
			f = Found{Unit: Unit{Gatekeeper: g.kind}, OwnerOnly: true}
		}
	}()
	return g.Resource.Unit()
}

// Covers of a driver with a fault covers nothing.
func (g guarded) Covers(u Unit) (covers bool) {
	defer func() {
		if recover() != nil {
			covers = false
		}
	}()
	return g.Resource.Covers(u)
}

func (g guarded) Intend(c Call) (i Intent, err error) {
	defer caught(g.kind, "intend", &err)
	return g.Resource.Intend(c)
}

// extended is Extend of a call's resource, with an error for a fault of the driver: it has none to give.
func (c *callInProgress) extended(i Intent, j Journal) (wider Intent, err error) {
	defer caught(c.connection.Kind, "extend", &err)
	return c.resource.Extend(i, j), nil
}

func (g guarded) Read(ctx context.Context, c Call, j Journal) (f Fetched, err error) {
	defer caught(g.kind, "read", &err)
	if f, err = g.Resource.Read(ctx, c, j); err != nil {
		return f, err
	}
	if len(f.Value) > 0 && !json.Valid(f.Value) {
		return Fetched{Incomplete: f.Incomplete}, fmt.Errorf("driver %s: %s returned what is not JSON", g.kind, c.Method)
	}
	return f, nil
}

func (g guarded) Prepare(ctx context.Context, c Call, j Journal) (d Draft, err error) {
	defer caught(g.kind, "prepare", &err)
	return g.Resource.Prepare(ctx, c, j)
}

func (g guarded) Current(ctx context.Context, d Dispatch) (c Current, err error) {
	defer caught(g.kind, "current", &err)
	if c, err = g.Resource.Current(ctx, d); c.Undo != nil {
		c.Undo = guardedUndo{c.Undo, g.kind}
	}
	return c, err
}

// Apply of a driver with a fault has an unknown outcome, like any error after dispatch (kernel R20).
func (g guarded) Apply(ctx context.Context, d Dispatch) (o Outcome, err error) {
	defer caught(g.kind, "apply", &err)
	return g.Resource.Apply(ctx, d)
}

// preface is that of a resource that has one; others have nothing to say.
func (g guarded) preface(ctx context.Context, c Call) (p Preface, err error) {
	defer caught(g.kind, "preface", &err)
	if prefacer, can := g.Resource.(Prefacer); can {
		return prefacer.Preface(ctx, c)
	}
	return Preface{}, nil
}

// goes is where a call goes, for a resource that says so.
func (g guarded) goes(c Call) (going Going, known bool, err error) {
	defer caught(g.kind, "goes", &err)
	outbound, can := g.Resource.(Outbound)
	if !can {
		return Going{}, false, nil
	}
	going, err = outbound.Goes(c)
	return going, true, err
}

func (g guarded) Close() (err error) {
	defer caught(g.kind, "close", &err)
	return g.Resource.Close()
}

type guardedFinder struct {
	guarded
	finder Finder
}

func (g guardedFinder) Find(ctx context.Context, d Dispatch) (found []Created, err error) {
	defer caught(g.kind, "find", &err)
	return g.finder.Find(ctx, d)
}

// guardedUndo is undo data whose errors are told apart from the store's: its words are the driver's.
type guardedUndo struct {
	inner io.ReadCloser
	kind  string
}

func (u guardedUndo) Read(p []byte) (n int, err error) {
	defer func() {
		if err != nil && !errors.Is(err, io.EOF) {
			err = &undoError{err}
		}
	}()
	defer caught(u.kind, "undo", &err)
	return u.inner.Read(p)
}

func (u guardedUndo) Close() (err error) {
	defer caught(u.kind, "undo", &err)
	return u.inner.Close()
}

// undoError is undo data that could not be read.
type undoError struct{ err error }

func (e *undoError) Error() string { return "undo data: " + e.err.Error() }
func (e *undoError) Unwrap() error { return e.err }
