package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"

	"gatehouse/core"
)

// told are the rows of a chain as a person would say them.
func told(c core.Chain) []string {
	var out []string
	for _, row := range c.Rows {
		out = append(out, fmt.Sprintf("%s %s", row.Entry.Type, row.Entry.Subject))
	}
	return out
}

// sent writes a row as a call of a model in a turn would.
func (r *rig) sent(turn int) {
	r.t.Helper()
	err := r.db.Write(context.Background(), func(tx core.Tx) error {
		return tx.Append(core.Entry{
			At: r.clock.Now(), Type: core.EventEgress, Session: r.session.ID, Turn: turn, Actor: "agent scout", Subject: "model m",
			Rule: "allow-all", Detail: json.RawMessage(`{"bytes":9,"destination":"there","sink":"model"}`),
		})
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

func TestWhy_DecidedActionTellsReadsEgressPlanAndOutcome(t *testing.T) {
	r := newRig(t)
	agent := func(turn int) core.Caller {
		return core.Caller{Kind: core.CallerAgent, Name: "scout", Person: "alice", Turn: turn, Step: 1, CallID: fmt.Sprint("c", turn)}
	}
	r.sent(1)
	r.callAs(agent(1), "NOTES", "list", `{}`) // another turn's
	r.sent(2)
	r.callAs(agent(2), "NOTES", "list", `{}`)
	caller := agent(2)
	caller.CallID = "c3"
	out := r.callAs(caller, "NOTES", "create", `{"title":"x"}`)
	id := out.Action()
	r.sent(2) // after it: it did not lead to it
	other := r.submit("create", `{"title":"y"}`)
	plan, err := r.kernel.PlanApprove(context.Background(), "alice", []core.ActionID{id, other}, core.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.kernel.Confirm(context.Background(), plan, r.by, core.ConfirmOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	c, err := r.kernel.Why(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	subject := "action " + id.String()
	want := []string{
		"egress model m", "read NOTES.list", "submit " + subject, "plan plan " + string(plan.ID),
		"decision " + subject, "claim " + subject, "outcome " + subject,
	}
	if got := told(c); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if c.Subject != subject || c.Session != r.session.ID || c.Earlier {
		t.Errorf("got %q in %q, earlier %t", c.Subject, c.Session, c.Earlier)
	}
	for i := 1; i < len(c.Rows); i++ {
		if c.Rows[i].Seq <= c.Rows[i-1].Seq {
			t.Errorf("row %d stands behind row %d", c.Rows[i].Seq, c.Rows[i-1].Seq)
		}
	}
	byRow, err := r.kernel.WhyRow(context.Background(), c.Rows[len(c.Rows)-1].Seq)
	if err != nil || !slices.Equal(told(byRow), want) {
		t.Errorf("by its last row: got %q, %v", told(byRow), err)
	}
}

func TestWhy_RejectedActionTellsItsPlan(t *testing.T) {
	r := newRig(t)
	id := r.submit("create", `{"title":"x"}`)
	r.reject("no", id)
	c, err := r.kernel.Why(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	got := told(c)
	if len(got) < 3 || c.Rows[len(c.Rows)-1].Entry.Type != core.EventDecision || c.Rows[len(c.Rows)-2].Entry.Type != core.EventPlan {
		t.Errorf("got %q, want the plan and the decision last", got)
	}
}

func TestWhy_OfNothing(t *testing.T) {
	r := newRig(t)
	if _, err := r.kernel.Why(context.Background(), 99); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	for _, seq := range []int64{-1, 0, 99} {
		if _, err := r.kernel.WhyRow(context.Background(), seq); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("row %d: got %v", seq, err)
		}
	}
	c, err := r.kernel.WhyRow(context.Background(), 1)
	if err != nil || len(c.Rows) != 1 {
		t.Errorf("row 1: got %q, %v", told(c), err)
	}
}

func TestVerifyRecordTellsProgress(t *testing.T) {
	r := newRig(t)
	err := r.db.Write(context.Background(), func(tx core.Tx) error {
		for range 5000 {
			if err := tx.Append(core.Entry{At: r.clock.Now(), Type: core.EventRead, Actor: "kernel"}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var steps []int64
	v, err := r.kernel.VerifyRecordWatched(context.Background(), func(checked, all int64) {
		steps = append(steps, checked)
		if all < 5000 {
			t.Errorf("%d rows in all", all)
		}
	})
	if err != nil || !v.OK() || len(steps) != 2 || !slices.IsSorted(steps) {
		t.Errorf("got %v, %v, steps %v", v, err, steps)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if _, err := r.kernel.VerifyRecordWatched(ctx, func(int64, int64) { stop() }); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: got %v", err)
	}
}

func TestParseEventTypes(t *testing.T) {
	got, err := core.ParseEventTypes([]string{"egress", "decisions"})
	if err != nil || !slices.Equal(got, []core.EventType{core.EventEgress, core.EventPlan, core.EventDecision, core.EventAnswer}) {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := core.ParseEventTypes([]string{"decided"}); err == nil {
		t.Error("an unknown event was taken")
	}
}

// The list of events is the one of the source.
func TestEventTypesAreAll(t *testing.T) {
	source, err := os.ReadFile("record.go")
	if err != nil {
		t.Fatal(err)
	}
	var want []core.EventType
	for _, m := range regexp.MustCompile(`Event\w+ +EventType = "(\w+)"`).FindAllSubmatch(source, -1) {
		want = append(want, core.EventType(m[1]))
	}
	if got := core.EventTypes(); len(want) < 20 || !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
