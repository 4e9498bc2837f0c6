package agent_test

import (
	"context"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/egress"
	"gatehouse/gatekeepers/memory"
)

// abroad is a model that is not on this machine.
type abroad struct{ *fake }

func (abroad) Destination() string { return "api.example" }

// ruled gives the rig a kernel with the policy that ships, and rules.
func (r *rig) ruled(rules ...egress.Rule) {
	r.t.Helper()
	policy, err := egress.New(rules)
	r.must(err)
	r.must(policy.Check())
	r.kernel, _ = r.process(func(o *core.Options) { o.Egress = policy })
}

// TestX17_NoOwnerOnlyUnitGoesToAModelElsewhere: the model is not dialled, and the error offers one on this machine. The
// session is latched by the same read (K8).
func TestX17_NoOwnerOnlyUnitGoesToAModelElsewhere(t *testing.T) {
	r := newRig(t)
	r.ruled()
	r.driver.SetOwnerOnly(memory.Unit("box", "notes"))
	model := abroad{fakeModel(calls(core.ToolCall{ID: "1", Name: "NOTES.list", Args: "{}"}), says("never"))}
	report := r.run(r.options(model), core.TurnFailed)
	r.wantEnd(report, core.TurnEndModel)
	if n := len(model.asked()); n != 1 {
		t.Errorf("dialled %d times, want once, before the read", n)
	}
	for _, words := range []string{"model to api.example: refused", "latched: local models", "a model on this machine may be asked"} {
		if !strings.Contains(report.Turn.Reason, words) {
			t.Errorf("got %q, want %q", report.Turn.Reason, words)
		}
	}
	rows, err := r.kernel.Record(context.Background(), core.RecordQuery{Types: []core.EventType{core.EventEgress}})
	r.must(err)
	last := rows[len(rows)-1].Entry
	if !strings.Contains(string(last.Detail), `"decision":"deny"`) || len(last.Units) != 1 {
		t.Errorf("got row %s over %v, want the deny with what was in context", last.Detail, last.Units)
	}
	// The same turn goes on with a local one.
	local := fakeModel(says("done"))
	r.wantEnd(r.resume(r.options(local), core.TurnDone), core.TurnEndDone)
	if n := len(local.asked()); n != 1 {
		t.Errorf("the local model was asked %d times", n)
	}
}

// An owner-only unit in context is enough where the latch alone would be cleared by a rule.
func TestX17_AClearedProviderIsAsked(t *testing.T) {
	r := newRig(t)
	r.ruled(egress.Rule{Name: "our provider", When: `sink.kind == "model" && sink.host == "api.example"`, Decide: core.EgressAllow})
	r.driver.SetOwnerOnly(memory.Unit("box", "notes"))
	model := abroad{fakeModel(calls(core.ToolCall{ID: "1", Name: "NOTES.list", Args: "{}"}), says("done"))}
	r.wantEnd(r.run(r.options(model), core.TurnDone), core.TurnEndDone)
}

// TestE3a_AModelThatAsksSuspendsTheTurn: before the first step and after one; the answer is remembered.
func TestE3a_AModelThatAsksSuspendsTheTurn(t *testing.T) {
	for _, answer := range []string{"allow", "deny"} {
		t.Run(answer, func(t *testing.T) {
			r := newRig(t)
			r.ruled(egress.Rule{Name: "ask me", When: `sink.kind == "model"`, Decide: core.EgressAsk})
			model := abroad{fakeModel(calls(core.ToolCall{ID: "1", Name: "NOTES.list", Args: "{}"}), says("done"))}
			report := r.run(r.options(model), core.TurnSuspended)
			if len(report.Waiting) != 1 || !report.Waiting[0].Question || len(model.asked()) != 0 {
				t.Fatalf("got waiting %v after %d requests, want one question and none", report.Waiting, len(model.asked()))
			}
			r.wantSession(core.SessionWaitingAnswer)
			if _, err := agent.Continue(context.Background(), r.options(model)); err == nil {
				t.Fatal("went on without an answer")
			}
			_, err := r.kernel.Answer(context.Background(), report.Waiting[0].ID, answer, "", core.Authority{Person: alice, Means: core.MeansPipe})
			r.must(err)
			r.wantSession(core.SessionReady)
			if answer == "deny" {
				report := r.resume(r.options(model), core.TurnFailed)
				if len(model.asked()) != 0 || !strings.Contains(report.Turn.Reason, "answered deny to question") {
					t.Errorf("got %q after %d requests", report.Turn.Reason, len(model.asked()))
				}
				return
			}
			r.wantEnd(r.resume(r.options(model), core.TurnDone), core.TurnEndDone)
			if n := len(model.asked()); n != 2 {
				t.Errorf("got %d requests, want both steps on one answer", n)
			}
		})
	}
}

// A change of model in the middle asks after the step before it.
func TestE3a_AModelThatAsksLater(t *testing.T) {
	r := newRig(t)
	r.ruled(egress.Rule{Name: "ask me", When: `sink.kind == "model" && size(units) > 0`, Decide: core.EgressAsk})
	model := abroad{fakeModel(calls(core.ToolCall{ID: "1", Name: "NOTES.list", Args: "{}"}), says("done"))}
	report := r.run(r.options(model), core.TurnSuspended)
	if len(model.asked()) != 1 || len(report.Waiting) != 1 {
		t.Fatalf("got %d requests and waiting %v", len(model.asked()), report.Waiting)
	}
	_, err := r.kernel.Answer(context.Background(), report.Waiting[0].ID, "allow", "", core.Authority{Person: alice, Means: core.MeansPipe})
	r.must(err)
	r.wantEnd(r.resume(r.options(model), core.TurnDone), core.TurnEndDone)
}
