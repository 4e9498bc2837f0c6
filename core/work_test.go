package core_test

import (
	"context"
	"sync/atomic"
	"testing"

	"gatehouse/core"
)

// counting is a store that counts what is asked of it: transactions, snapshots, and what single queries bring back.
type counting struct {
	core.Store
	writes, reads           atomic.Int64
	effects, names, actions atomic.Int64
}

func (c *counting) Write(ctx context.Context, fn func(core.Tx) error) error {
	c.writes.Add(1)
	return c.Store.Write(ctx, func(tx core.Tx) error { return fn(countingTx{tx, c}) })
}

func (c *counting) Read(ctx context.Context, fn func(core.View) error) error {
	c.reads.Add(1)
	return c.Store.Read(ctx, func(v core.View) error { return fn(countingView{v, c}) })
}

func (c *counting) reset() {
	for _, n := range []*atomic.Int64{&c.writes, &c.reads, &c.effects, &c.names, &c.actions} {
		n.Store(0)
	}
}

// queries are those whose work could grow with what is queued elsewhere.
type queries interface {
	LiveEffects(core.SessionID, string, []core.Selector) ([]core.LiveEffect, error)
	Names(core.SessionID, string, []string) (core.Names, int, error)
	Action(core.ActionID) (core.Action, error)
	ActionState(core.ActionID) (core.Action, error)
}

func (c *counting) liveEffects(q queries, s core.SessionID, resource string, targets []core.Selector) ([]core.LiveEffect, error) {
	list, err := q.LiveEffects(s, resource, targets)
	c.effects.Add(int64(len(list)))
	return list, err
}

func (c *counting) namesOf(q queries, s core.SessionID, resource string, words []string) (core.Names, int, error) {
	names, next, err := q.Names(s, resource, words)
	c.names.Add(int64(len(names)))
	return names, next, err
}

type countingView struct {
	core.View
	c *counting
}

func (v countingView) LiveEffects(s core.SessionID, r string, t []core.Selector) ([]core.LiveEffect, error) {
	return v.c.liveEffects(v.View, s, r, t)
}

func (v countingView) Names(s core.SessionID, r string, w []string) (core.Names, int, error) {
	return v.c.namesOf(v.View, s, r, w)
}

func (v countingView) Action(id core.ActionID) (core.Action, error) {
	v.c.actions.Add(1)
	return v.View.Action(id)
}

func (v countingView) ActionState(id core.ActionID) (core.Action, error) {
	v.c.actions.Add(1)
	return v.View.ActionState(id)
}

type countingTx struct {
	core.Tx
	c *counting
}

func (t countingTx) LiveEffects(s core.SessionID, r string, sel []core.Selector) ([]core.LiveEffect, error) {
	return t.c.liveEffects(t.Tx, s, r, sel)
}

func (t countingTx) Names(s core.SessionID, r string, w []string) (core.Names, int, error) {
	return t.c.namesOf(t.Tx, s, r, w)
}

func (t countingTx) Action(id core.ActionID) (core.Action, error) {
	t.c.actions.Add(1)
	return t.Tx.Action(id)
}

func (t countingTx) ActionState(id core.ActionID) (core.Action, error) {
	t.c.actions.Add(1)
	return t.Tx.ActionState(id)
}

// newCounted is a rig whose store counts.
func newCounted(t *testing.T) (*rig, *counting) {
	t.Helper()
	c := &counting{}
	r := newFreeRig(t, func(o *core.Options) {
		c.Store = o.Store
		o.Store = c
	})
	return r, c
}

func TestP4_OneTransactionASubmit(t *testing.T) {
	r, c := newCounted(t)
	r.submitTo("FREE", "put", "%s", payload(1))
	c.reset()
	r.submitTo("FREE", "put", "%s", payload(2))
	if writes, reads := c.writes.Load(), c.reads.Load(); writes != 1 || reads > 2 {
		t.Errorf("got %d transactions and %d snapshots for a submit, want 1 and at most 2", writes, reads)
	}
}

// TestP5_OneTransactionAnAction: outcome i and claim i+1 share a transaction, so that n approvals take n+1; the plan, its
// rejects and its end are three more, whatever n is.
func TestP5_OneTransactionAnAction(t *testing.T) {
	const actions = 40
	r, c := newCounted(t)
	var ids []core.ActionID
	for n := range actions {
		ids = append(ids, r.submitTo("FREE", "put", "%s", payload(n)))
	}
	plan := r.planApprove(ids...)
	c.reset()
	for _, result := range r.confirm(plan) {
		if result.Outcome != core.OutcomeApplied {
			t.Fatalf("action %d: got %s (%s)", result.Action, result.Outcome, result.Reason)
		}
	}
	if writes := c.writes.Load(); writes > actions+4 {
		t.Errorf("got %d transactions for %d approvals, want at most %d", writes, actions, actions+4)
	}
	if reads := c.reads.Load(); reads > actions+4 {
		t.Errorf("got %d snapshots for %d approvals, want at most %d", reads, actions, actions+4)
	}
	if rows := c.actions.Load(); rows > 3*actions {
		t.Errorf("read %d actions for %d approvals, want at most three each", rows, actions)
	}
}

// TestP6_AReadCostsWhatItShows: what is pending elsewhere, under the same session and resource, is not looked at.
func TestP6_AReadCostsWhatItShows(t *testing.T) {
	for _, method := range []string{"append", "create"} {
		t.Run(method+"s elsewhere", func(t *testing.T) {
			c := &counting{}
			r := crowded(t, method, 10000, func(o *core.Options) {
				c.Store = o.Store
				o.Store = c
			})
			c.reset()
			r.readCrowded()
			if n := c.effects.Load(); n > 2*5 {
				t.Errorf("read %d effects to show 5", n)
			}
			if n := c.names.Load(); n > 2 {
				t.Errorf("read %d provisional ids of items that nobody asked for", n)
			}
			if c.writes.Load() != 1 || c.reads.Load() > 2 || c.actions.Load() != 0 {
				t.Errorf("got %d transactions, %d snapshots, %d actions read; want 1, 2 and none",
					c.writes.Load(), c.reads.Load(), c.actions.Load())
			}
		})
	}
}
