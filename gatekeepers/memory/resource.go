package memory

import (
	"context"
	"fmt"

	"gatehouse/core"
)

// resource counts calls and fails on demand around what the kit makes of the driver.
type resource struct {
	core.Resource
	items *items
}

var (
	_ core.Resource = (*resource)(nil)
	_ core.Finder   = (*resource)(nil)
)

// Read fails by method.
func (r *resource) Read(ctx context.Context, call core.Call, journal core.Journal) (core.Fetched, error) {
	if err := r.fail(ctx, call.Method, call); err != nil {
		return core.Fetched{}, err
	}
	return r.Resource.Read(ctx, call, journal)
}

// Current fails at "current".
func (r *resource) Current(ctx context.Context, d core.Dispatch) (core.Current, error) {
	r.items.service.count("current:" + d.Kind)
	if err := r.items.service.at(ctx, PointCurrent, d.Kind); err != nil {
		return core.Current{}, err
	}
	if err := r.fail(ctx, "current", core.Call{}); err != nil {
		return core.Current{}, err
	}
	return r.Resource.Current(ctx, d)
}

func (r *resource) fail(ctx context.Context, where string, call core.Call) error {
	if len(r.items.address.failures) == 0 {
		return nil
	}
	target := ""
	if request, err := r.items.Parse(call); err == nil {
		target = request.Target
	}
	mode, held, err := r.items.failNow(where, target)
	if err != nil {
		return err
	}
	if mode == FailLeak || mode == FailLeakError {
		return fmt.Errorf("item %q cannot be shown: its body is %q", held.ID, held.Body)
	}
	return failAsked(ctx, mode)
}

// Find looks for what an action created whose outcome was never heard.
func (r *resource) Find(ctx context.Context, d core.Dispatch) ([]core.Created, error) {
	return r.items.Find(ctx, d)
}
