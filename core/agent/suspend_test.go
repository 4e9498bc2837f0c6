package agent_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"gatehouse/core"
	"gatehouse/core/agent"
)

func TestK48_AwaitSuspendsAfterTheStep(t *testing.T) {
	r := newRig(t)
	model := fakeModel(calls(publish("1", 1), create("2", "first"), tool("3", "NOTES.list", `{}`)))
	report := r.run(r.options(model), core.TurnSuspended)
	if len(model.asked()) != 1 {
		t.Errorf("got %d requests, want none behind the step", len(model.asked()))
	}
	got := r.results()
	if len(got) != 3 || got[0].Status() != core.StatusPending || got[1].Status() != core.StatusOK || got[2].Status() != core.StatusOK {
		t.Errorf("got answers %v, want pending and the step's other calls run", got)
	}
	if len(report.Waiting) != 1 || report.Waiting[0].ID != got[0].Action() {
		t.Errorf("got waiting %v, want the awaited action alone", report.Waiting)
	}
	r.wantSession(core.SessionWaitingDecision)
	_, err := agent.Continue(context.Background(), r.options(model))
	var waiting *core.TurnWaitingError
	if !errors.As(err, &waiting) {
		t.Errorf("got %v, want that it waits", err)
	}
	_, err = agent.Run(context.Background(), r.options(model))
	var open *core.TurnOpenError
	if !errors.As(err, &open) {
		t.Errorf("got %v, want that a turn is open", err)
	}
}

func TestK49_ResumesOnceWithOneNoteOfBoth(t *testing.T) {
	r := newRig(t)
	model := fakeModel(calls(publish("1", 1), publish("2", 2)))
	waiting := r.run(r.options(model), core.TurnSuspended).Waiting
	r.approve(waiting[0].ID)
	if _, now, err := r.kernel.OpenTurn(context.Background(), r.session); err != nil || len(now) != 1 {
		t.Errorf("got waiting %v (%v), want one", now, err)
	}
	r.wantSession(core.SessionWaitingDecision)
	r.approve(waiting[1].ID)
	r.wantSession(core.SessionReady)
	r.resume(r.options(model), core.TurnDone)
	asked := model.asked()
	if len(asked) != 2 || len(asked[1].Decisions) != 2 || len(asked[1].Messages) != 0 {
		t.Fatalf("got requests %+v, want one more with one note of both", asked)
	}
	if asked[1].Turn != 1 || asked[1].Step != 2 {
		t.Errorf("got step %d of turn %d, want the same turn", asked[1].Step, asked[1].Turn)
	}
	if d := asked[1].Decisions[0]; d.State != "applied" || !strings.Contains(d.Result, "item-1") {
		t.Errorf("got decision %+v, want the real result with it", d)
	}
	_, err := agent.Continue(context.Background(), r.options(model))
	var none *core.NoTurnError
	if !errors.As(err, &none) {
		t.Errorf("got %v, want nothing to continue", err)
	}
}

func TestK50_ResumesWithBothOutcomes(t *testing.T) {
	r := newRig(t)
	model := fakeModel(calls(publish("1", 1), publish("2", 2)))
	waiting := r.run(r.options(model), core.TurnSuspended).Waiting
	r.approve(waiting[0].ID)
	r.reject("too early", waiting[1].ID)
	r.resume(r.options(model), core.TurnDone)
	note := core.DecisionNote(model.asked()[1].Decisions)
	for _, want := range []string{"applied", "rejected", "too early"} {
		if !strings.Contains(note, want) {
			t.Errorf("got note %q, want %q in it", note, want)
		}
	}
}

// A later settlement sends one more note (kernel R27).
func TestR27_LaterSettlementIsToldToo(t *testing.T) {
	r := newRig(t, "fail=unknown:publish")
	model := fakeModel(calls(publish("1", 1)))
	waiting := r.run(r.options(model), core.TurnSuspended).Waiting
	r.confirm(r.kernel.PlanApprove(context.Background(), alice, []core.ActionID{waiting[0].ID}, core.PlanOptions{}))
	r.resume(r.options(model), core.TurnDone)
	_, err := r.kernel.Settle(context.Background(), waiting[0].ID, person(), core.Settlement{Applied: true})
	r.must(err)
	r.run(r.options(model), core.TurnDone)
	asked := model.asked()
	if d := asked[1].Decisions; len(d) != 1 || d[0].State != "unknown" {
		t.Errorf("got %+v at the resume, want unknown", d)
	}
	if d := asked[2].Decisions; len(d) != 1 || d[0].State != "applied" {
		t.Errorf("got %+v after it was settled, want one more note", d)
	}
}

// What changed twice before the turn goes on stands in the note once, as it is now.
func TestR27_OneLineForAnActionThatChangedTwice(t *testing.T) {
	r := newRig(t, "fail=unknown:publish:1")
	model := fakeModel(calls(publish("1", 1)))
	waiting := r.run(r.options(model), core.TurnSuspended).Waiting
	r.confirm(r.kernel.PlanApprove(context.Background(), alice, []core.ActionID{waiting[0].ID}, core.PlanOptions{}))
	_, err := r.kernel.Settle(context.Background(), waiting[0].ID, person(), core.Settlement{Reason: "it never left"})
	r.must(err)
	r.resume(r.options(model), core.TurnDone)
	if d := model.asked()[1].Decisions; len(d) != 1 || d[0].State != "rejected" || d[0].Reason != "it never left" {
		t.Errorf("got %+v, want one line with the last state", d)
	}
}

func TestR27_SettledBeforeTheStepEnded(t *testing.T) {
	r := newRig(t)
	model := fakeModel(calls(publish("1", 1), tool("2", "NOTES.list", `{}`)))
	o := r.options(model)
	o.Observer = func(e agent.Event) {
		if e.Kind == agent.EventEntry && e.Entry.Call.ID == "1" {
			r.approve(e.Entry.Result.Action())
		}
	}
	r.run(o, core.TurnDone)
	if d := model.asked()[1].Decisions; len(d) != 1 || d[0].State != "applied" {
		t.Errorf("got %+v, want no suspension and one note", d)
	}
}

func TestK51_DenialEndsTheTurn(t *testing.T) {
	r := newRig(t)
	model := fakeModel(calls(publish("1", 1), publish("2", 2)))
	o := r.options(model)
	o.OnDenial = core.DenialEnd
	waiting := r.run(o, core.TurnSuspended).Waiting
	r.reject("never", waiting[0].ID)
	r.wantSession(core.SessionWaitingDecision)
	r.approve(waiting[1].ID)
	r.wantSession(core.SessionIdle)
	turn, _, err := r.kernel.OpenTurn(context.Background(), r.session)
	if err != nil || turn.State != core.TurnDone || turn.End != core.TurnEndDenied {
		t.Errorf("got turn %+v (%v), want it ended as denied", turn, err)
	}
	if len(model.asked()) != 1 {
		t.Errorf("got %d requests, want none behind the denial", len(model.asked()))
	}
	r.run(o, core.TurnDone)
	asked := model.asked()
	if d := asked[1].Decisions; len(d) != 2 || d[0].State != "rejected" || d[0].Reason != "never" || asked[1].Messages[0].Text != "the task" {
		t.Errorf("got %+v with the next message, want the denial", d)
	}
}

// A rejection of what a running turn has queued ends it at the next step.
func TestR28_DenialEndsARunningTurn(t *testing.T) {
	r := newRig(t)
	model := fakeModel(calls(create("1", "first")), calls(create("2", "second")))
	o := r.options(model)
	o.OnDenial = core.DenialEnd
	o.Observer = func(e agent.Event) {
		if e.Kind == agent.EventEntry && e.Entry.Call.ID == "1" {
			r.reject("no", e.Entry.Result.Action())
		}
	}
	r.wantEnd(r.run(o, core.TurnDone), core.TurnEndDenied)
	if len(model.asked()) != 1 {
		t.Errorf("got %d requests, want one", len(model.asked()))
	}
}

func TestK52_RejectedDigestIsRefusedInThatTurn(t *testing.T) {
	r := newRig(t)
	model := fakeModel(calls(publish("1", 1)), calls(publish("2", 1)), says("Then not."), calls(publish("3", 1)))
	waiting := r.run(r.options(model), core.TurnSuspended).Waiting
	r.reject("no", waiting[0].ID)
	r.resume(r.options(model), core.TurnDone)
	if got := r.results()[1]; got.Status() != core.StatusRefused || !strings.Contains(got.Reason(), "already rejected") {
		t.Errorf("got %s %q, want it refused", got.Status(), got.Reason())
	}
	r.run(r.options(model), core.TurnSuspended) // another turn may ask again
}

func TestK53_APersonIsNotSuspended(t *testing.T) {
	r := newRig(t)
	out, err := r.kernel.Call(context.Background(), core.CallRequest{
		Session: r.session, Binding: "NOTES", Method: "publish", Args: []byte(`{"id":"item-1"}`),
		Caller: core.Caller{Kind: core.CallerPerson, Person: alice},
	})
	r.must(err)
	if out.Status() != core.StatusPending || out.Action() == 0 {
		t.Errorf("got %s with action %d, want pending with its id", out.Status(), out.Action())
	}
	// A turn beside it does not wait for what the person asked for.
	r.run(r.options(fakeModel(calls(create("1", "first")))), core.TurnDone)
}

func TestR27_ALiveRunnerGoesOnByItself(t *testing.T) {
	r := newRig(t)
	model := fakeModel(calls(publish("1", 1)))
	o := r.options(model)
	o.Wait = true
	suspended := make(chan core.ActionID, 1)
	o.Observer = func(e agent.Event) {
		if e.Kind == agent.EventSuspended {
			suspended <- e.Waiting[0].ID
		}
	}
	var report agent.Report
	var err error
	var done sync.WaitGroup
	done.Go(func() { report, err = agent.Run(context.Background(), o) })
	r.approve(<-suspended)
	done.Wait()
	r.must(err)
	r.wantTurn(report, core.TurnDone)
	if len(model.asked()) != 2 {
		t.Errorf("got %d requests, want two", len(model.asked()))
	}
}

func TestR32_AskIsAnsweredByAPerson(t *testing.T) {
	r := newRig(t)
	ctx := context.Background()
	model := fakeModel(calls(tool("1", core.ToolAsk, `{"question":"Which\none?","choices":["left","right"]}`)))
	waiting := r.run(r.options(model), core.TurnSuspended).Waiting
	r.wantSession(core.SessionWaitingAnswer)
	id := waiting[0].ID
	rows := r.queue()
	if len(rows) != 1 || rows[0].Question == nil || rows[0].ID != id || rows[0].Question.State != core.QuestionOpen {
		t.Fatalf("got queue %+v, want the question", rows)
	}
	_, err := r.kernel.Answer(ctx, id, "up", "", person())
	var choice *core.ChoiceError
	if !errors.As(err, &choice) {
		t.Errorf("got %v, want that it is no choice", err)
	}
	_, err = r.kernel.Answer(ctx, id, "left", "", core.Authority{Person: alice, Means: core.MeansPipe, AgentMark: "GATEHOUSE_AGENT"})
	var refused *core.DecisionRefusedError
	if !errors.As(err, &refused) {
		t.Errorf("got %v, want an agent's answer refused", err)
	}
	_, err = r.kernel.Answer(ctx, 99, "left", "", person())
	if !errors.Is(err, core.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
	result, err := r.kernel.Answer(ctx, id, "LEFT", "shorter", person())
	if err != nil || result.Outcome != core.OutcomeAnswered {
		t.Fatalf("got %v (%v), want answered", result, err)
	}
	result, err = r.kernel.Answer(ctx, id, "right", "", person())
	if err != nil || result.Outcome != core.OutcomeNotPending || !strings.Contains(result.Reason, "alice") {
		t.Errorf("got %v (%v), want the winner named", result, err)
	}
	r.wantSession(core.SessionReady)
	r.resume(r.options(model), core.TurnDone)
	if d := model.asked()[1].Decisions; len(d) != 1 || !d[0].Question || d[0].Answer != "left" || d[0].Reason != "shorter" {
		t.Errorf("got %+v, want the answer and the reason", d)
	}
	r.wantWhole()
}

func TestR32_StopWithdrawsQuestions(t *testing.T) {
	r := newRig(t)
	model := fakeModel(calls(tool("1", core.ToolAsk, `{"question":"Which one?"}`), publish("2", 1)))
	waiting := r.run(r.options(model), core.TurnSuspended).Waiting
	turn, err := r.kernel.StopTurn(context.Background(), r.session, alice)
	if err != nil || turn.State != core.TurnDone || turn.End != core.TurnEndStopped {
		t.Fatalf("got %+v (%v), want it stopped", turn, err)
	}
	q, err := r.kernel.Question(context.Background(), waiting[0].ID)
	if err != nil || q.State != core.QuestionWithdrawn {
		t.Errorf("got question %+v (%v), want it withdrawn", q, err)
	}
	if rows := r.queue(); rows[1].State != core.StatePending {
		t.Errorf("got action %s, want it to stay in the queue", rows[1].State)
	}
	result, err := r.kernel.Answer(context.Background(), waiting[0].ID, "left", "", person())
	if err != nil || result.Outcome != core.OutcomeNotPending {
		t.Errorf("got %v (%v), want no longer pending", result, err)
	}
}
