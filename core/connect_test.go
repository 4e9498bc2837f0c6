package core_test

import (
	"context"
	"errors"
	"testing"

	"gatehouse/core"
)

func byAlice() core.Authority { return core.Authority{Person: "alice", Means: core.MeansTerminal} }

func TestR34_AnAgentsProcessConnectsNothing(t *testing.T) {
	r := newRig(t)
	ctx := context.Background()
	agent := core.Authority{Person: "alice", Means: core.MeansTerminal, AgentMark: "AGENT"}
	var refused *core.DecisionRefusedError
	if _, err := r.kernel.Connect(ctx, core.ConnectRequest{URL: "memory://fresh"}, agent); !errors.As(err, &refused) {
		t.Errorf("connect: got %v, want a refusal", err)
	}
	if _, err := r.kernel.Disconnect(ctx, "c1", core.UnbindFirst, agent); !errors.As(err, &refused) {
		t.Errorf("disconnect: got %v, want a refusal", err)
	}
	if rows := r.rows(core.EventDisconnect); len(rows) != 0 {
		t.Errorf("got %d rows of a refused decision, want none", len(rows))
	}
}

func TestConnectHoldsThePlaceThatWasShown(t *testing.T) {
	r := newRig(t)
	_, err := r.kernel.Connect(context.Background(), core.ConnectRequest{URL: "memory://fresh", Root: "elsewhere"}, byAlice())
	var call *core.CallError
	if !errors.As(err, &call) {
		t.Errorf("got %v, want a refusal of another place", err)
	}
}

func TestDisconnectNamesThoseWhoUseIt(t *testing.T) {
	r := newRig(t)
	ctx := context.Background()
	uses, err := r.kernel.ConnectionUses(ctx)
	if err != nil || len(uses) == 0 || len(uses[0].Bindings) == 0 {
		t.Fatalf("got %v, %v, want a connection in use", uses, err)
	}
	id := uses[0].ID
	var used *core.InUseError
	if _, err := r.kernel.Disconnect(ctx, string(id), 0, byAlice()); !errors.As(err, &used) || len(used.Bindings) != len(uses[0].Bindings) {
		t.Fatalf("got %v, want the bindings that use it", err)
	}
	done, err := r.kernel.Disconnect(ctx, string(id), core.UnbindFirst, byAlice())
	if err != nil || len(done.Unbound) != len(uses[0].Bindings) {
		t.Fatalf("got %v, %v, want it taken away with its bindings", done, err)
	}
	made, err := r.kernel.Connect(ctx, core.ConnectRequest{URL: uses[0].Bindings[0].URL}, byAlice())
	if err != nil {
		t.Fatal(err)
	}
	if made.ID == id {
		t.Errorf("the id %s was given again", id)
	}
	if got := len(r.rows(core.EventDisconnect)); got != 1 {
		t.Errorf("got %d rows, want 1", got)
	}
}
