package core_test

import (
	"context"
	"errors"
	"testing"

	"gatehouse/core"
)

func TestR34_AnAgentsProcessChangesNoSkills(t *testing.T) {
	r := newRig(t)
	ctx := context.Background()
	applied := 0
	change := core.LibraryChange{Event: "published", Subject: "document pub/x", Apply: func(core.Tx) (map[string]any, error) {
		applied++
		return map[string]any{"bytes": 3}, nil
	}}
	agent := core.Authority{Person: "alice", Means: core.MeansTerminal, AgentMark: "AGENT"}
	var refused *core.DecisionRefusedError
	if err := r.kernel.MayChangeLibrary(ctx, agent); !errors.As(err, &refused) {
		t.Errorf("asking: got %v, want a refusal", err)
	}
	for _, by := range []core.Authority{agent, {Person: "alice"}, {Means: core.MeansTerminal}} {
		if err := r.kernel.ChangeLibrary(ctx, change, by); err == nil {
			t.Errorf("changing by %+v: want a refusal", by)
		}
	}
	if rows := r.rows(core.EventLibrary); applied != 0 || len(rows) != 0 {
		t.Errorf("%d changes and %d rows of refused decisions, want none", applied, len(rows))
	}
	r.must(r.kernel.ChangeLibrary(ctx, change, byAlice()))
	rows := r.rows(core.EventLibrary)
	if len(rows) != 1 || rows[0].Entry.Authority != "alice by terminal" || rows[0].Entry.Subject != "document pub/x" {
		t.Errorf("got %+v, want one row by alice", rows)
	}
}

// A change that fails leaves no row, and one that changes nothing neither.
func TestChangeLibraryIsOneTransactionWithItsRow(t *testing.T) {
	r := newRig(t)
	ctx := context.Background()
	broken := errors.New("disk trouble")
	err := r.kernel.ChangeLibrary(ctx, core.LibraryChange{Apply: func(core.Tx) (map[string]any, error) { return map[string]any{}, broken }}, byAlice())
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want the fault", err)
	}
	r.must(r.kernel.ChangeLibrary(ctx, core.LibraryChange{Apply: func(core.Tx) (map[string]any, error) { return nil, nil }}, byAlice()))
	if rows := r.rows(core.EventLibrary); len(rows) != 0 {
		t.Errorf("got %d rows, want none", len(rows))
	}
}
