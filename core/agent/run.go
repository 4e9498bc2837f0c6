package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gatehouse/core"
)

// DefaultPoll is how often a runner looks for a stop and for steering messages from other processes.
const DefaultPoll = 50 * time.Millisecond

// grace is how long a call may take to return once it was cancelled; then it is left behind (A7).
const grace = 100 * time.Millisecond

// Options say what to run. Kernel, Model, Session and By are required, Task by Run alone.
type Options struct {
	Kernel   *core.Kernel
	Model    core.Model
	Session  string // id or name
	Task     string
	Source   string // kept with the turn: where the front door finds the model again
	By       core.PersonID
	OnDenial core.DenialPolicy // empty is resume
	Limits   core.TurnLimits
	Observer func(Event)   // called in order, never twice at once; nil for nobody
	Poll     time.Duration // 0 is DefaultPoll
	Wait     bool          // stay while the turn is suspended, and go on when all it waits for is settled
}

// Report is where a turn stands when its runner leaves it.
type Report struct {
	Turn    core.Turn
	Waiting []core.Waiting // what a suspended turn waits for
}

// Run starts a turn and runs it until it ends or is suspended. A context that ends stops the turn; that, a limit, and a
// model that fails are in the report, not in the error. The error is for a turn that could not begin, as
// core.Kernel.StartTurn describes it, and for a store that failed: the turn then counts as interrupted.
func Run(ctx context.Context, o Options) (Report, error) {
	lease, err := o.Kernel.StartTurn(ctx, core.StartTurn{
		Session: o.Session, Task: o.Task, By: o.By, Model: o.Model.Name(), Source: o.Source, OnDenial: o.OnDenial, Limits: o.Limits,
	})
	return o.drive(ctx, lease, err)
}

// Continue takes up the open turn of a session, as core.Kernel.ContinueTurn allows, and runs it like Run.
func Continue(ctx context.Context, o Options) (Report, error) {
	lease, err := o.Kernel.ContinueTurn(ctx, o.Session)
	return o.drive(ctx, lease, err)
}

func (o Options) drive(ctx context.Context, lease core.Lease, err error) (Report, error) {
	r := &runner{Options: o, lease: lease}
	if r.Poll <= 0 {
		r.Poll = DefaultPoll
	}
	var report Report
	if err == nil {
		r.observe(Event{Kind: EventStarted, Turn: lease.Turn})
		report, err = r.loop(ctx)
	}
	if err != nil && r.lease.Token != "" {
		released := o.Kernel.ReleaseLease(context.WithoutCancel(ctx), r.lease)
		if released != nil && released.Error() != err.Error() {
			err = fmt.Errorf("%w; %w", err, released) // errors.Join would take two lines
		}
	}
	return report, err
}

// runner drives one turn. It is for one goroutine.
type runner struct {
	Options
	lease   core.Lease
	warned  []core.Budget
	preface *string // made at the first request, for the whole turn
}

func (r *runner) observe(e Event) {
	if r.Observer != nil {
		r.Observer(e)
	}
}

func (r *runner) entry(e core.TranscriptEntry) {
	r.observe(Event{Kind: EventEntry, Turn: e.Turn, Step: e.Step, Entry: e})
}

func (r *runner) loop(ctx context.Context) (Report, error) {
	for {
		next, err := r.Kernel.NextStep(ctx, r.lease)
		if err == nil {
			var report Report
			var left bool
			if report, left, err = r.do(ctx, next); left && err == nil {
				return report, nil
			}
		}
		switch {
		case ctx.Err() != nil && r.lease.Token != "":
			return r.end(ctx, core.TurnEndStopped, string(r.By))
		case err != nil:
			return Report{}, err
		}
	}
}

// do carries out what comes next; left reports that the turn is no longer this runner's.
func (r *runner) do(ctx context.Context, next core.Next) (report Report, left bool, err error) {
	r.warn(next)
	switch next.Do {
	case core.NextModel:
		err = r.ask(ctx, next)
		var failed *core.ModelError
		var stays *core.EgressError
		if errors.As(err, &stays) && stays.Verdict.Decision == core.EgressAsk {
			return report, false, nil // a person was asked: the turn is suspended next
		}
		if errors.As(err, &failed) {
			end := core.TurnEndModel
			if errors.Is(err, core.ErrContextFull) {
				end = core.TurnEndContext
			}
			report, err = r.end(ctx, end, failed.Error())
			return report, true, err
		}
		return report, false, err
	case core.NextCalls:
		return report, false, r.call(ctx, next)
	case core.NextSuspended:
		r.lease = core.Lease{}
		r.entry(next.Turn.Entry())
		r.observe(Event{Kind: EventSuspended, Turn: next.Turn.Number, Waiting: next.Waiting})
		report = Report{Turn: next.Turn, Waiting: next.Waiting}
		if !r.Wait {
			return report, true, nil
		}
		return r.await(ctx, report)
	default:
		r.lease = core.Lease{}
		r.entry(next.Turn.Entry())
		return Report{Turn: next.Turn}, true, nil
	}
}

// warn tells once of each budget that is nearly spent.
func (r *runner) warn(next core.Next) {
	for _, s := range next.Budgets {
		if !slices.Contains(r.warned, s.Budget) {
			r.warned = append(r.warned, s.Budget)
			r.observe(Event{Kind: EventWarning, Turn: next.Turn.Number, Text: s.String()})
		}
	}
}

// end ends the turn from outside its steps, also when the context is over.
func (r *runner) end(ctx context.Context, end core.TurnEnd, why string) (Report, error) {
	if ctx.Err() != nil {
		end, why = core.TurnEndStopped, string(r.By)
	}
	turn, err := r.Kernel.EndTurn(context.WithoutCancel(ctx), r.lease, end, why)
	if err != nil {
		return Report{}, err
	}
	r.lease = core.Lease{}
	r.entry(turn.Entry())
	return Report{Turn: turn}, nil
}

// ask gets one response and makes it durable. A response that is broken off by a steering message, a stop or the time
// limit leaves nothing, and is no error: what comes next is decided anew.
func (r *runner) ask(ctx context.Context, next core.Next) error {
	request, err := r.complete(ctx, next.Request)
	if err != nil {
		return err
	}
	work, cancel := context.WithTimeout(ctx, next.Left)
	defer cancel()
	stop := r.watch(work, cancel, func(s core.Signals) bool { return s.Stop || s.Steer && !r.told(request) })
	defer stop()
	deltas := 0
	response, err := r.Kernel.AskModel(work, r.lease, r.Model, request, func(text string) {
		deltas++
		r.observe(Event{Kind: EventDelta, Turn: request.Turn, Step: request.Step, Text: text})
	})
	if response.Usage != (core.Usage{}) {
		r.observe(Event{Kind: EventUsage, Turn: request.Turn, Step: request.Step, Usage: response.Usage})
	}
	if err != nil {
		if deltas > 0 {
			r.observe(Event{Kind: EventDiscarded, Turn: request.Turn, Step: request.Step})
		}
		if ctx.Err() == nil && work.Err() != nil {
			return nil
		}
		return err
	}
	step, err := r.Kernel.StoreResponse(ctx, r.lease, request, response)
	if err != nil {
		return err
	}
	for _, e := range step.Entries(next.Turn, request.Messages) {
		r.entry(e)
	}
	return nil
}

// told reports that the request holds a steering message itself: it must not break itself off.
func (r *runner) told(request core.Request) bool {
	for _, m := range request.Messages {
		if m.Kind == core.MessageSteering {
			return true
		}
	}
	return false
}

// complete adds to a request what the session can do now.
func (r *runner) complete(ctx context.Context, request core.Request) (core.Request, error) {
	tools, err := r.Kernel.Tools(ctx, r.Session)
	if err != nil {
		return request, err
	}
	bindings, err := r.Kernel.Bindings(ctx, r.Session)
	if err != nil {
		return request, err
	}
	if r.preface == nil {
		preface, err := r.Kernel.Preface(ctx, r.lease)
		if err != nil {
			return request, err
		}
		r.preface = &preface
	}
	request.Tools, request.System = tools, systemText(bindings)+*r.preface
	return request, nil
}

// call runs the unanswered calls of a step, one at a time (kernel R29).
func (r *runner) call(ctx context.Context, next core.Next) error {
	work, cancel := context.WithTimeout(ctx, next.Left)
	defer cancel()
	stop := r.watch(work, cancel, func(s core.Signals) bool { return s.Stop })
	defer stop()
	for _, call := range next.Calls {
		r.observe(Event{Kind: EventCalling, Turn: next.Turn.Number, Step: next.Step.Number, Call: call})
		released, err := r.runCall(work, next.Step.Number, call)
		if err != nil {
			if ctx.Err() == nil && work.Err() != nil {
				return nil
			}
			return err
		}
		r.entry(next.Step.CallEntry(next.Turn, call, released))
	}
	return nil
}

// runCall does not wait long for a call that was cancelled; what such a call does afterwards is not stored, for its
// context has ended.
func (r *runner) runCall(work context.Context, step int, call core.ToolCall) (core.Released, error) {
	type outcome struct {
		released core.Released
		err      error
	}
	lease := r.lease
	done := make(chan outcome, 1)
	go func() {
		released, err := r.Kernel.RunCall(work, lease, step, call)
		done <- outcome{released, err}
	}()
	select {
	case o := <-done:
		return o.released, o.err
	case <-work.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case o := <-done:
		return o.released, o.err
	case <-late.C:
		return core.Released{}, work.Err()
	}
}

// watch polls for what others want of the turn and cancels the work when it is wanted. The function it returns waits
// until nothing polls any more.
func (r *runner) watch(work context.Context, cancel context.CancelFunc, wanted func(core.Signals) bool) func() {
	done := make(chan struct{})
	lease := r.lease
	go func() {
		defer close(done)
		tick := time.NewTicker(r.Poll)
		defer tick.Stop()
		for {
			select {
			case <-work.Done():
				return
			case <-tick.C:
			}
			// A poll that fails says nothing; the next change of the turn finds the same fault.
			if s, err := r.Kernel.Watch(work, lease); err == nil && wanted(s) {
				cancel()
				return
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// await stays with a suspended turn until it can go on, was ended, or is run by somebody else. A context that ends
// leaves it suspended.
func (r *runner) await(ctx context.Context, report Report) (Report, bool, error) {
	tick := time.NewTicker(r.Poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return report, true, nil
		case <-tick.C:
		}
		turn, waiting, err := r.Kernel.OpenTurn(ctx, r.Session)
		switch {
		case ctx.Err() != nil:
			return report, true, nil
		case err != nil:
			return report, true, err
		case turn.Number != report.Turn.Number || turn.State != core.TurnSuspended:
			if turn.Number == report.Turn.Number && turn.End != "" {
				r.entry(turn.Entry())
			}
			return Report{Turn: turn}, true, nil
		case len(waiting) > 0:
			continue
		}
		lease, err := r.Kernel.ContinueTurn(ctx, r.Session)
		var held *core.TurnHeldError
		var none *core.NoTurnError
		var waits *core.TurnWaitingError
		switch {
		case errors.As(err, &held), errors.As(err, &none), errors.As(err, &waits):
			continue // somebody was first: look again
		case err != nil:
			r.lease = lease
			return report, true, err
		}
		r.lease = lease
		r.observe(Event{Kind: EventStarted, Turn: lease.Turn})
		return report, false, nil
	}
}
