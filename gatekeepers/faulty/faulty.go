package faulty

import (
	"context"
	"sync"

	"gatehouse/core"
)

// When is the side of its effect on which a call fails.
type When int

// The sides. The zero value lets nothing through.
const (
	Before When = iota
	After
)

func (w When) String() string {
	if w == After {
		return "after"
	}
	return "before"
}

// Fault says which call fails, and how. The zero value never does.
type Fault struct {
	Call  int   // which call, counted from 1; 0 is none
	Times int   // how many from there on; 0 is all
	When  When  // the side of its effect
	Err   error // what the call returns; nil is the error of its context, which is cancelled
}

// hits reports whether the nth call is one that fails.
func (f Fault) hits(n int) bool {
	return f.Call > 0 && n >= f.Call && (f.Times == 0 || n < f.Call+f.Times)
}

// Driver is a gatekeeper whose calls fail as its fault says. It passes on what else the driver inside can do.
type Driver struct {
	core.Gatekeeper
	fault Fault

	mu    sync.Mutex
	calls []string // what was called, in order
}

var (
	_ core.Gatekeeper    = (*Driver)(nil)
	_ core.AccessChecker = (*Driver)(nil)
	_ core.Finder        = (*resource)(nil)
	_ core.Reverter      = (*resource)(nil)
)

// New wraps a driver.
func New(inside core.Gatekeeper, fault Fault) *Driver {
	return &Driver{Gatekeeper: inside, fault: fault}
}

// Calls lists what was called so far, in order: what a test enumerates.
func (d *Driver) Calls() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.calls...)
}

// do counts a call, and runs it unless it fails before its effect.
func (d *Driver) do(ctx context.Context, what string, call func(context.Context) error) error {
	d.mu.Lock()
	d.calls = append(d.calls, what)
	hit := d.fault.hits(len(d.calls))
	d.mu.Unlock()
	if !hit {
		return call(ctx)
	}
	if d.fault.When == After {
		if err := call(ctx); err != nil {
			return err // the effect did not happen: there is nothing to lose the answer of
		}
	}
	if d.fault.Err != nil {
		return d.fault.Err
	}
	return ended(ctx)
}

// ended is the error of a context that was called off.
func ended(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx.Err()
}

// Connect implements core.Gatekeeper.
func (d *Driver) Connect(ctx context.Context, url string) (c core.Connection, err error) {
	err = d.do(ctx, "connect", func(ctx context.Context) error {
		c, err = d.Gatekeeper.Connect(ctx, url)
		return err
	})
	return c, err
}

// Open implements core.Gatekeeper.
func (d *Driver) Open(ctx context.Context, c core.Connection, url string) (core.Resource, error) {
	var opened core.Resource
	err := d.do(ctx, "open", func(ctx context.Context) (err error) {
		opened, err = d.Gatekeeper.Open(ctx, c, url)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &resource{opened, d}, nil
}

// Admits implements core.AccessChecker where the driver inside does; a check that fails cannot tell.
func (d *Driver) Admits(ctx context.Context, c core.Connection, unit core.Unit, who core.Observer) core.AccessCheck {
	return d.check(ctx, "admits", func(checker core.AccessChecker, ctx context.Context) core.AccessCheck {
		return checker.Admits(ctx, c, unit, who)
	})
}

// Reaches implements core.AccessChecker like Admits.
func (d *Driver) Reaches(ctx context.Context, own core.Connection, unit core.Unit, permission string) core.AccessCheck {
	return d.check(ctx, "reaches", func(checker core.AccessChecker, ctx context.Context) core.AccessCheck {
		return checker.Reaches(ctx, own, unit, permission)
	})
}

func (d *Driver) check(ctx context.Context, what string, ask func(core.AccessChecker, context.Context) core.AccessCheck) core.AccessCheck {
	checker, able := d.Gatekeeper.(core.AccessChecker)
	if !able {
		return core.AccessCheck{Access: core.AccessNotVerifiable, Reason: "the driver cannot ask"}
	}
	var got core.AccessCheck
	err := d.do(ctx, what, func(ctx context.Context) error {
		got = ask(checker, ctx)
		return nil
	})
	if err != nil {
		return core.AccessCheck{Access: core.AccessUnreachable, Reason: err.Error()}
	}
	return got
}
