package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"gatehouse/core"
)

const (
	person  = core.PersonID("alice")
	binding = core.BindingName("IT")
)

// bench is a kernel, a service and a session bound to it.
type bench struct {
	t       testing.TB
	setup   Setup
	check   *refusing
	kernel  *core.Kernel
	service Service
	session string
}

func newBench(t testing.TB, s Setup) *bench {
	t.Helper()
	b := &bench{t: t, setup: s, check: &refusing{}}
	b.kernel = s.Kernel(t, b.check)
	b.begin("conformance")
	return b
}

// begin makes a service and a session of its own on the kernel.
func (b *bench) begin(name string) {
	b.t.Helper()
	b.service = b.setup.Fresh(b.t)
	session, err := b.kernel.NewSession(b.context(), core.NewSession{Name: name, Owner: person})
	if err != nil {
		b.t.Fatal(err)
	}
	b.session = string(session.ID)
	b.bind(binding, b.service.URL)
}

func (b *bench) context() context.Context { return b.t.Context() }

func (b *bench) bind(name core.BindingName, url string) {
	b.t.Helper()
	_, err := b.kernel.Bind(b.context(), core.BindRequest{Session: b.session, Name: string(name), URL: url, Person: person})
	if err != nil {
		b.t.Fatalf("bind %s: %v", url, err)
	}
}

func (b *bench) call(r Request) core.Released {
	b.t.Helper()
	return b.callOn(binding, r)
}

func (b *bench) callOn(name core.BindingName, r Request) core.Released {
	b.t.Helper()
	out, err := b.kernel.Call(b.context(), core.CallRequest{
		Session: b.session, Binding: name, Method: r.Method, Args: json.RawMessage(r.Args),
		Caller: core.Caller{Kind: core.CallerPerson, Person: person},
	})
	if err != nil {
		b.t.Fatalf("%s: %v", r, err)
	}
	return out
}

// read must answer.
func (b *bench) read(r Request) core.Released {
	b.t.Helper()
	out := b.call(r)
	if out.Status() != core.StatusOK {
		b.t.Fatalf("%s: got %s (%s), want ok", r, out.Status(), out.Reason())
	}
	return out
}

// queue must queue an action.
func (b *bench) queue(r Request) core.Action {
	b.t.Helper()
	return b.queueOn(binding, r)
}

func (b *bench) queueOn(name core.BindingName, r Request) core.Action {
	b.t.Helper()
	out := b.callOn(name, r)
	if out.Action() == 0 {
		b.t.Fatalf("%s: nothing was queued: %s (%s)", r, out.Status(), out.Reason())
	}
	return b.action(out.Action())
}

func (b *bench) action(id core.ActionID) core.Action {
	b.t.Helper()
	detail, err := b.kernel.Peek(b.context(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return detail.Action
}

func (b *bench) approve(ids ...core.ActionID) []core.Result {
	b.t.Helper()
	plan, err := b.kernel.PlanApprove(b.context(), person, ids, core.PlanOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	return b.confirm(plan)
}

func (b *bench) reject(ids ...core.ActionID) []core.Result {
	b.t.Helper()
	plan, err := b.kernel.PlanReject(b.context(), person, ids, "not wanted")
	if err != nil {
		b.t.Fatal(err)
	}
	return b.confirm(plan)
}

func (b *bench) confirm(plan *core.Plan) []core.Result {
	b.t.Helper()
	results, err := b.kernel.Confirm(b.context(), plan, authority(), core.ConfirmOptions{Unopened: true}, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return results
}

func authority() core.Authority { return core.Authority{Person: person, Means: core.MeansPipe} }

// wantOutcomes compares results in the order of ids.
func (b *bench) wantOutcomes(results []core.Result, want map[core.ActionID]core.ItemOutcome) {
	b.t.Helper()
	got := make(map[core.ActionID]core.Result, len(results))
	for _, r := range results {
		got[r.Action] = r
	}
	for id, outcome := range want {
		if got[id].Outcome != outcome {
			b.t.Errorf("action %d: got %s (%s), want %s", id, got[id].Outcome, got[id].Reason, outcome)
		}
	}
}

func (b *bench) snapshot() string {
	b.t.Helper()
	b.need(b.service.Snapshot != nil, "Service.Snapshot")
	s, err := b.service.Snapshot()
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// need fails where the setup leaves out what a case needs.
func (b *bench) need(given bool, what string) {
	b.t.Helper()
	if !given {
		b.t.Fatalf("setup: %s is missing; give it, or name this case in Lacks with the reason", what)
	}
}

func (b *bench) rows(types ...core.EventType) []core.Row {
	b.t.Helper()
	rows, err := b.kernel.Record(b.context(), core.RecordQuery{Session: core.SessionID(b.session), Types: types})
	if err != nil {
		b.t.Fatal(err)
	}
	return rows
}

// comparable strips what only the service knows, as the manifest declares.
func (b *bench) comparable(out core.Released) answer {
	b.t.Helper()
	a := answer{Status: out.Status(), Code: out.Code()}
	var v any
	dec := json.NewDecoder(bytes.NewReader(out.Value()))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		b.t.Fatalf("value %s: %v", out.Value(), err)
	}
	unpredictable := make(map[string]bool)
	for _, name := range b.setup.Gatekeeper.Manifest().Unpredictable {
		unpredictable[name] = true
	}
	raw, err := json.Marshal(strip(v, unpredictable))
	if err != nil {
		b.t.Fatal(err)
	}
	a.Value = raw
	return a
}

func strip(v any, names map[string]bool) any {
	switch held := v.(type) {
	case map[string]any:
		for name, inner := range held {
			if names[name] {
				delete(held, name)
				continue
			}
			held[name] = strip(inner, names)
		}
	case []any:
		for i, inner := range held {
			held[i] = strip(inner, names)
		}
	}
	return v
}

func same(a, b answer) bool {
	return a.Status == b.Status && a.Code == b.Code && bytes.Equal(a.Value, b.Value)
}

func (a answer) String() string { return fmt.Sprintf("%s %s %s", a.Status, a.Code, a.Value) }

// refusing is a check of the gate that refuses everything at one half, while it is on.
type refusing struct {
	mu   sync.Mutex
	half core.Half // empty refuses nothing
	seen []core.Unit
}

func (c *refusing) Name() string { return "conformance" }

func (c *refusing) refuse(half core.Half) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.half, c.seen = half, nil
}

func (c *refusing) CheckIntent(_ context.Context, p core.Passage) error {
	return c.check(core.HalfIntent, p.Units)
}

func (c *refusing) CheckExact(_ context.Context, p core.Passage) error {
	return c.check(core.HalfExact, p.Units)
}

func (c *refusing) check(half core.Half, units []core.Unit) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.half != half {
		return nil
	}
	c.seen = append(c.seen, units...)
	return errors.New("refused by the suite")
}
