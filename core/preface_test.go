package core_test

import (
	"context"
	"errors"
	"testing"

	"gatehouse/core"
	"gatehouse/gatekeepers/memory"
)

// speaker is the memory driver with something to say first.
type speaker struct {
	*memory.Driver
	say func(core.Call) (core.Preface, error)
}

func (s speaker) Open(ctx context.Context, c core.Connection, url string) (core.Resource, error) {
	r, err := s.Driver.Open(ctx, c, url)
	return speaking{r, s.say}, err
}

type speaking struct {
	core.Resource
	say func(core.Call) (core.Preface, error)
}

func (s speaking) Preface(_ context.Context, c core.Call) (core.Preface, error) { return s.say(c) }

// refuser is a check that refuses what was found.
type refuser struct{ on bool }

func (*refuser) Name() string                                    { return "test" }
func (*refuser) CheckIntent(context.Context, core.Passage) error { return nil }
func (r *refuser) CheckExact(_ context.Context, p core.Passage) error {
	if r.on {
		return errors.New("not now")
	}
	return nil
}

// TestPreface_PassesTheGate holds that what a driver tells a model first is a read where it shows units, and no read
// where it shows none; that a refusal leaves it out; and that a driver's fault costs the turn nothing.
func TestPreface_PassesTheGate(t *testing.T) {
	r := newRig(t)
	unit := core.Found{Unit: core.Unit{Gatekeeper: "memory", Service: "notes", Name: "items"}, Permission: "read"}
	var asked core.Call
	said, fault := core.Preface{Text: "told"}, error(nil)
	driver := speaker{r.driver, func(c core.Call) (core.Preface, error) {
		asked = c
		if fault != nil && fault.Error() == "panic" {
			panic(fault)
		}
		return said, fault
	}}
	check := &refuser{}
	k := r.newKernel(func(o *core.Options) { o.Gatekeepers, o.Checks = []core.Gatekeeper{driver}, []core.Check{check} })
	lease, err := k.StartTurn(t.Context(), core.StartTurn{Session: string(r.session.ID), Task: "work", By: "alice", Model: "fake"})
	if err != nil {
		t.Fatal(err)
	}
	rows := func(kind core.EventType) int {
		all, err := k.Record(t.Context(), core.RecordQuery{Session: r.session.ID, Types: []core.EventType{kind}})
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	reads := rows(core.EventRead)
	observed := func() int {
		set, err := k.Observations(t.Context(), string(r.session.ID))
		if err != nil {
			t.Fatal(err)
		}
		return len(set)
	}
	for _, c := range []struct {
		what   string
		said   core.Preface
		fault  error
		refuse bool
		want   string
		rows   int
	}{
		{"nothing shown", core.Preface{Text: "told"}, nil, true, "told", 0},
		{"a driver that fails", core.Preface{Text: "told"}, errors.New("disk trouble"), false, "", 0},
		{"a driver that panics", core.Preface{Text: "told"}, errors.New("panic"), false, "", 0},
		{"refused", core.Preface{Text: "told", Found: []core.Found{unit}}, nil, true, "", 0},
		{"outside the narrowing", core.Preface{Text: "told", Found: []core.Found{{Unit: core.Unit{Gatekeeper: "memory", Service: "x", Name: "y"}}}}, nil, false, "", 0},
		{"shown", core.Preface{Text: "told", Found: []core.Found{unit}}, nil, false, "told", 1},
	} {
		said, fault, check.on = c.said, c.fault, c.refuse
		got, err := k.Preface(t.Context(), lease)
		reads += c.rows
		if err != nil || got != c.want || rows(core.EventRead) != reads {
			t.Errorf("%s: got %q, %v, %d reads on record, want %q and %d", c.what, got, err, rows(core.EventRead), c.want, reads)
		}
	}
	if rows(core.EventBlocked) != 2 {
		t.Errorf("got %d blocked rows, want 2", rows(core.EventBlocked))
	}
	if observed() != 1 {
		t.Errorf("observed %d units, want one", observed())
	}
	if asked.By != "alice" || asked.Session != r.session.ID || len(asked.Audience) != 1 || asked.Audience[0] != "alice" {
		t.Errorf("asked for %+v", asked)
	}
	if _, err := k.Preface(t.Context(), core.Lease{Session: r.session.ID, Token: "another"}); err == nil {
		t.Error("a lease that is not held gets a preface")
	}
}
