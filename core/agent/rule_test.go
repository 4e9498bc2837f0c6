package agent_test

import (
	"context"
	"testing"

	"gatehouse/core"
)

// awaiting is the memory driver with an append that is awaited and takes nobody's eyes: what a rule can cover.
type awaiting struct{ core.Gatekeeper }

func (g awaiting) Manifest() core.Manifest {
	m := g.Gatekeeper.Manifest()
	m.Operations = awaitAppend(m.Operations)
	return m
}

func (g awaiting) Open(ctx context.Context, c core.Connection, url string) (core.Resource, error) {
	r, err := g.Gatekeeper.Open(ctx, c, url)
	return awaitingResource{r}, err
}

type awaitingResource struct{ core.Resource }

func (r awaitingResource) Operations() []core.Operation { return awaitAppend(r.Resource.Operations()) }

func (r awaitingResource) Prepare(ctx context.Context, call core.Call, journal core.Journal) (core.Draft, error) {
	d, err := r.Resource.Prepare(ctx, call, journal)
	if call.Method == "append" {
		d.Lane = core.LaneAwait
	}
	return d, err
}

func awaitAppend(operations []core.Operation) []core.Operation {
	out := append([]core.Operation(nil), operations...)
	for i := range out {
		if out[i].Name == "append" {
			out[i].Lanes, out[i].AwaitReason = []core.Lane{core.LaneAwait}, "its answer is needed"
		}
	}
	return out
}

// rules lets the rig's kernel await appends, and makes a rule over them.
func (r *rig) rules() {
	r.t.Helper()
	r.kernel, _ = r.process(func(o *core.Options) { o.Gatekeepers[0] = awaiting{o.Gatekeepers[0]} })
	request := core.RuleRequest{Session: r.session, Binding: "NOTES", Kind: "append"}
	_, _, err := r.kernel.AddRule(context.Background(), request, nil, core.Authority{Person: alice, Means: core.MeansPipe}, nil)
	r.check(err)
}

func appendTo(id string, item string) core.ToolCall {
	return tool(id, "NOTES.append", `{"id":"`+item+`","text":"more"}`)
}

func TestK55_AnAwaitedActionUnderARuleDoesNotSuspend(t *testing.T) {
	r := newRig(t)
	r.rules()
	model := fakeModel(calls(appendTo("1", "item-1")), says("done"))
	r.run(r.options(model), core.TurnDone)
	if got := len(model.asked()); got != 2 {
		t.Errorf("the model was asked %d times, want 2", got)
	}
	if asked := model.asked(); len(asked) == 2 && len(asked[1].Decisions) != 1 {
		t.Errorf("got decisions %v, want that it was applied", asked[1].Decisions)
	}
}

func TestK55_SuspendedBehindAManualOne(t *testing.T) {
	r := newRig(t)
	r.rules()
	model := fakeModel(calls(create("1", "first"), appendTo("2", "item-1")))
	report := r.run(r.options(model), core.TurnSuspended)
	if len(report.Waiting) != 1 {
		t.Fatalf("got waiting %v, want the append", report.Waiting)
	}
	// Deciding what stands in front drains on, and the turn is ready.
	r.approve(1)
	r.wantSession(core.SessionReady)
}
