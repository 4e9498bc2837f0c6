package faulty

import (
	"context"

	"gatehouse/core"
)

// resource is what a faulty driver opens.
type resource struct {
	core.Resource
	driver *Driver
}

// Read implements core.Resource.
func (r *resource) Read(ctx context.Context, call core.Call, j core.Journal) (f core.Fetched, err error) {
	err = r.driver.do(ctx, "read", func(ctx context.Context) error {
		f, err = r.Resource.Read(ctx, call, j)
		return err
	})
	return f, err
}

// Prepare implements core.Resource.
func (r *resource) Prepare(ctx context.Context, call core.Call, j core.Journal) (d core.Draft, err error) {
	err = r.driver.do(ctx, "prepare", func(ctx context.Context) error {
		d, err = r.Resource.Prepare(ctx, call, j)
		return err
	})
	return d, err
}

// Current implements core.Resource. Undo data of an answer that is lost is closed.
func (r *resource) Current(ctx context.Context, d core.Dispatch) (c core.Current, err error) {
	err = r.driver.do(ctx, "current", func(ctx context.Context) error {
		c, err = r.Resource.Current(ctx, d)
		return err
	})
	if err != nil && c.Undo != nil {
		_ = c.Undo.Close() // nobody reads it
		c.Undo = nil
	}
	return c, err
}

// Apply implements core.Resource. The answer of an effect that happened is lost with the fault.
func (r *resource) Apply(ctx context.Context, d core.Dispatch) (o core.Outcome, err error) {
	err = r.driver.do(ctx, "apply", func(ctx context.Context) error {
		o, err = r.Resource.Apply(ctx, d)
		return err
	})
	if err != nil {
		return core.Outcome{}, err
	}
	return o, nil
}

// Find implements core.Finder; a driver inside that cannot look has found nothing.
func (r *resource) Find(ctx context.Context, d core.Dispatch) (found []core.Created, err error) {
	finder, can := r.Resource.(core.Finder)
	if !can {
		return nil, core.ErrNotFound
	}
	err = r.driver.do(ctx, "find", func(ctx context.Context) error {
		found, err = finder.Find(ctx, d)
		return err
	})
	return found, err
}

// IntendRevert implements core.Reverter; it asks no service and does not fail.
func (r *resource) IntendRevert(back core.Reversal) (core.Intent, error) {
	reverter, can := r.Resource.(core.Reverter)
	if !can {
		return core.Intent{}, core.Invalid("nothing is taken back by this driver")
	}
	return reverter.IntendRevert(back)
}

// PrepareRevert implements core.Reverter.
func (r *resource) PrepareRevert(ctx context.Context, back core.Reversal, j core.Journal) (out core.Reverse, err error) {
	reverter, can := r.Resource.(core.Reverter)
	if !can {
		return core.Reverse{}, core.Invalid("nothing is taken back by this driver")
	}
	err = r.driver.do(ctx, "prepare-revert", func(ctx context.Context) error {
		out, err = reverter.PrepareRevert(ctx, back, j)
		return err
	})
	return out, err
}
