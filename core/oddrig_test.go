package core_test

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"

	"gatehouse/core"
	"gatehouse/gatekeepers/memory"
)

// odd is the memory driver with faults: each hook that is set stands in front of a method.
type odd struct {
	*memory.Driver
	read    func(core.Call) (core.Fetched, error)
	prepare func(core.Draft) core.Draft
	current func(context.Context, core.Dispatch, core.Current) (core.Current, error)
	apply   func(core.Dispatch, core.Outcome) (core.Outcome, error)
	extend  func(core.Intent) core.Intent
}

func (o *odd) Open(ctx context.Context, c core.Connection, url string) (core.Resource, error) {
	r, err := o.Driver.Open(ctx, c, url)
	return &oddResource{r, o}, err
}

type oddResource struct {
	core.Resource
	odd *odd
}

func (r *oddResource) Extend(i core.Intent, j core.Journal) core.Intent {
	if r.odd.extend != nil {
		return r.odd.extend(i)
	}
	return r.Resource.Extend(i, j)
}

func (r *oddResource) Read(ctx context.Context, c core.Call, j core.Journal) (core.Fetched, error) {
	if r.odd.read != nil {
		return r.odd.read(c)
	}
	return r.Resource.Read(ctx, c, j)
}

func (r *oddResource) Prepare(ctx context.Context, c core.Call, j core.Journal) (core.Draft, error) {
	d, err := r.Resource.Prepare(ctx, c, j)
	if err == nil && r.odd.prepare != nil {
		d = r.odd.prepare(d)
	}
	return d, err
}

func (r *oddResource) Current(ctx context.Context, d core.Dispatch) (core.Current, error) {
	now, err := r.Resource.Current(ctx, d)
	if err == nil && r.odd.current != nil {
		return r.odd.current(ctx, d, now)
	}
	return now, err
}

func (r *oddResource) Apply(ctx context.Context, d core.Dispatch) (core.Outcome, error) {
	o, err := r.Resource.Apply(ctx, d)
	if err == nil && r.odd.apply != nil {
		return r.odd.apply(d, o)
	}
	return o, err
}

// newOddRig is a rig whose driver has faults.
func newOddRig(t testing.TB, options ...rigOption) (*rig, *odd) {
	t.Helper()
	o := &odd{}
	r := newRig(t, append(options, func(k *core.Options) {
		o.Driver = k.Gatekeepers[0].(*memory.Driver)
		k.Gatekeepers = []core.Gatekeeper{o}
	})...)
	return r, o
}

// brokenStore fails its writes on demand, as a full disk does.
type brokenStore struct {
	core.Store
	broken atomic.Bool
}

var errDiskFull = errors.New("disk is full")

func (s *brokenStore) Write(ctx context.Context, fn func(core.Tx) error) error {
	if s.broken.Load() {
		return errDiskFull
	}
	return s.Store.Write(ctx, fn)
}

// noPreviews takes everything but fresh previews.
type noPreviews struct{ core.Store }

func (s noPreviews) Write(ctx context.Context, fn func(core.Tx) error) error {
	return s.Store.Write(ctx, func(tx core.Tx) error { return fn(noPreviewsTx{tx}) })
}

type noPreviewsTx struct{ core.Tx }

func (noPreviewsTx) ReplaceDraft(core.Action, *core.Action) (bool, error) { return false, errDiskFull }

// faultAt does something at one fault point.
type faultAt struct {
	point core.FaultPoint
	do    func() error
}

func (f faultAt) At(p core.FaultPoint) error {
	if p == f.point && f.do != nil {
		return f.do()
	}
	return nil
}

// brokenUndo is undo data that cannot be read.
type brokenUndo struct{ err error }

func (u brokenUndo) Read([]byte) (int, error) {
	if u.err == nil {
		panic("undo: a fault")
	}
	return 0, u.err
}

func (brokenUndo) Close() error { return nil }

var _ io.ReadCloser = brokenUndo{}
