package agent_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/gatekeepers/memory"
)

// patience is how long a stop may take (A7), with room for a busy machine under the race detector.
const patience = 200 * time.Millisecond

// inBackground runs a turn until it ends or ctx does.
func (r *rig) inBackground(ctx context.Context, model core.Model) (report <-chan agent.Report) {
	reports := make(chan agent.Report, 1)
	o := r.options(model)
	go func() {
		got, err := agent.Run(ctx, o)
		r.check(err)
		reports <- got
	}()
	return reports
}

func threeCalls() *fake {
	return fakeModel(calls(
		tool("1", "NOTES.create", `{"title":"first"}`), tool("2", "NOTES.get", `{"id":"item-1"}`), create("3", "third"),
	))
}

// wantStopped looks at what a stopped turn leaves.
func (r *rig) wantStopped(report agent.Report, model *fake) {
	r.t.Helper()
	r.wantTurn(report, core.TurnDone)
	r.wantEnd(report, core.TurnEndStopped)
	got := r.results()
	if len(got) != 3 || !got[0].Valid() || got[1].Valid() || got[2].Valid() {
		r.t.Errorf("got answers %v, want the first alone", got)
	}
	if rows := r.queue(); len(rows) != 1 || rows[0].State != core.StatePending {
		r.t.Errorf("got queue %v, want the first action pending", rows)
	}
	r.wantSession(core.SessionWaitingDecision)
	_, err := agent.Continue(context.Background(), r.options(model))
	var none *core.NoTurnError
	if !errors.As(err, &none) {
		r.t.Errorf("got %v, want nothing to continue", err)
	}
	r.service().SetHook(nil)
	r.run(r.options(model), core.TurnDone)
	asked := model.asked()
	history := asked[len(asked)-1].History[0]
	if result := history.Results[1]; result.Status() != core.StatusError || result.Code() != "stopped" {
		r.t.Errorf("got %s %s for the call that did not run, want it said", result.Status(), result.Code())
	}
	r.wantWhole()
}

func TestA7_StopDuringASlowCall(t *testing.T) {
	r := newRig(t)
	entered := r.slowRead()
	model := threeCalls()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	reports := r.inBackground(ctx, model)
	<-entered
	begin := time.Now()
	stop()
	report := <-reports
	if took := time.Since(begin); took > patience {
		t.Errorf("stopped after %s, want at most %s", took, patience)
	}
	r.wantStopped(report, model)
}

// slowRead makes reads wait until their context ends.
func (r *rig) slowRead() (entered <-chan struct{}) {
	in := make(chan struct{}, 10)
	r.service().SetHook(func(ctx context.Context, at memory.Point, what string) error {
		if at != memory.PointFetch || what != "notes/item-1" {
			return nil
		}
		in <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	return in
}

func TestA7_StopDuringACallThatDoesNotHeedIt(t *testing.T) {
	r := newRig(t)
	in, out := make(chan struct{}, 10), make(chan struct{})
	left := make(chan struct{})
	r.service().SetHook(func(_ context.Context, at memory.Point, what string) error {
		if at != memory.PointFetch || what != "notes/item-1" {
			return nil
		}
		defer close(left)
		in <- struct{}{}
		<-out
		return nil
	})
	model := threeCalls()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	reports := r.inBackground(ctx, model)
	<-in
	begin := time.Now()
	stop()
	report := <-reports
	if took := time.Since(begin); took > patience {
		t.Errorf("stopped after %s, want at most %s", took, patience)
	}
	close(out) // the read returns now, and nothing of it may be stored
	<-left
	r.wantStopped(report, model)
}

func TestA7_StopFromAnotherProcess(t *testing.T) {
	r := newRig(t)
	other, _ := r.process()
	entered := r.slowRead()
	model := threeCalls()
	reports := r.inBackground(context.Background(), model)
	<-entered
	begin := time.Now()
	turn, err := other.StopTurn(context.Background(), r.session, "bob")
	if err != nil || !turn.StopAsked || turn.State != core.TurnRunning {
		t.Fatalf("got %+v (%v), want the runner told", turn, err)
	}
	report := <-reports
	if took := time.Since(begin); took > patience {
		t.Errorf("stopped after %s, want at most %s", took, patience)
	}
	r.wantStopped(report, model)
}

func TestA7_StopWhileTheModelIsAtWork(t *testing.T) {
	r := newRig(t)
	asked := make(chan struct{})
	model := fakeModel(func(ctx context.Context, _ core.Request, _ func(string)) (core.Response, error) {
		close(asked)
		<-ctx.Done()
		return core.Response{}, ctx.Err()
	})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	reports := r.inBackground(ctx, model)
	<-asked
	stop()
	report := <-reports
	r.wantTurn(report, core.TurnDone)
	r.wantEnd(report, core.TurnEndStopped)
	r.run(r.options(model), core.TurnDone)
	if last := model.asked()[1]; len(last.History) != 0 || len(last.Messages) != 2 {
		t.Errorf("got history %v and messages %v, want nothing of the response, and the task told", last.History, last.Messages)
	}
}
