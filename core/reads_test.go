package core_test

import (
	"context"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/gatekeepers/memory"
)

// TestK1_ReadsBehindAUnit: three reads are three rows behind the unit, each with who asked and for what; what is refused
// is not among them.
func TestK1_ReadsBehindAUnit(t *testing.T) {
	r := newRig(t)
	ctx := context.Background()
	r.made("x")
	r.wantStatus(r.call("NOTES", "list", `{}`), core.StatusOK)
	r.wantStatus(r.callAs(core.Caller{
		Kind: core.CallerAgent, Person: "alice", Name: "script", Turn: 2, Step: 3, CallID: "words of a model",
	}, "NOTES", "search", `{"query":"x"}`), core.StatusOK)
	r.wantStatus(r.call("NOTES", "list", `{}`), core.StatusOK)
	r.call("NOTES", "get", `{"id":7}`)
	listed, err := r.kernel.Observed(ctx, core.ObservedQuery{Session: "work"})
	if err != nil {
		t.Fatal(err)
	}
	unit := memory.Unit("notes", "items")
	if len(listed.Rows) != 1 || listed.Rows[0].Reads < 2 || listed.Rows[0].Found.Unit != unit || listed.Rows[0].SessionName != "work" {
		t.Fatalf("got %+v, want the one unit", listed)
	}
	var got []core.UnitRead
	q := core.UnitReadsQuery{Session: "work", Unit: unit, Limit: 1}
	for {
		page, err := r.kernel.UnitReads(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, page.Reads...)
		if !page.More {
			break
		}
		q.Before = page.Reads[0].Seq
	}
	if len(got) != listed.Rows[0].Reads {
		t.Errorf("got %d reads by pages, the list counts %d", len(got), listed.Rows[0].Reads)
	}
	if last := got[len(got)-1]; last.Subject != "NOTES.list" || last.Turn != 0 || last.Actor == "" || last.At.IsZero() {
		t.Errorf("got %+v, want the list by hand at first", last)
	}
	if _, err := r.kernel.UnitReads(ctx, core.UnitReadsQuery{Session: "nowhere", Unit: unit}); err == nil {
		t.Error("a session that is not there was not refused")
	}
	for _, row := range r.rows(core.EventRead) {
		if row.Entry.Turn == 2 && (row.Entry.Detail == nil || strings.Contains(string(row.Entry.Detail), "words of a model")) {
			t.Errorf("got %s, want the id of the call as a hash alone", row.Entry.Detail)
		}
	}
}
