package tui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/tui"
)

// written is what the record says of decisions, without ids and times that
// differ from run to run.
func (h *house) written(t *testing.T) []string {
	t.Helper()
	rows, err := h.kernel.Record(t.Context(), core.RecordQuery{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range rows {
		if r.Entry.Type == core.EventPlan {
			r.Entry.Subject = "plan" // its id is random
		}
		out = append(out, fmt.Sprintf("%s by %s (%s) %s", r.Entry.Type, r.Entry.Actor, r.Entry.Authority, r.Entry.Subject))
	}
	return out
}

// TestRealT31_SameRowsInTheRecord: approving by key, by palette and as the
// command line does have the same effect and leave the same rows.
func TestRealT31_SameRowsInTheRecord(t *testing.T) {
	ways := map[string]func(t *testing.T, h *house){
		"key": func(t *testing.T, h *house) {
			tui.Drive(t, h.kernel, "alice", h.watch(t)).Press("A", "c", "enter")
		},
		"palette": func(t *testing.T, h *house) {
			d := tui.Drive(t, h.kernel, "alice", h.watch(t))
			for _, name := range []string{"approve", "carry out"} {
				d.Press(":")
				d.Type(name)
				d.Press("enter")
			}
			d.Press("enter")
		},
		"command line": func(t *testing.T, h *house) {
			plan, err := h.kernel.PlanApprove(t.Context(), "alice", []core.ActionID{1}, core.PlanOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.kernel.Confirm(t.Context(), plan, core.Authority{Person: "alice", Means: core.MeansTerminal}, core.ConfirmOptions{}, nil); err != nil {
				t.Fatal(err)
			}
		},
	}
	var want []string
	for _, name := range []string{"command line", "key", "palette"} {
		h := newHouse(t, t.TempDir())
		h.furnish(t, 1)
		ways[name](t, h)
		if got := h.state(t, 1); got != core.StateApplied {
			t.Errorf("by %s #1 is %s, want applied", name, got)
		}
		got := h.written(t)
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("by %s the record holds\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
