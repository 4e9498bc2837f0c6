package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// NextDo is what the runner of a turn has to do. The zero value is nothing: the turn has ended.
type NextDo int

// What there is to do.
const (
	NextEnded     NextDo = iota
	NextSuspended        // wait for people, or leave: the lease is given back
	NextCalls            // run the calls
	NextModel            // ask the model
)

// Next is what the stored rows of a turn say comes next, and nothing else does: it is the same after a crash (A4).
type Next struct {
	Do      NextDo
	Turn    Turn
	Left    time.Duration // time at work that remains
	Step    Step          // for NextCalls: the step whose calls they are
	Calls   []ToolCall    // for NextCalls: the unanswered ones, in order
	Request Request       // for NextModel; tools and system text are the runner's to add
	Waiting []Waiting     // for NextSuspended
	Budgets []Standing    // for NextModel and NextEnded: those of which four fifths are spent

	closed bool
}

// NextStep closes the last step when all its calls are answered, and decides what comes next: more calls, suspension,
// the end, or the model (kernel R27-R29).
func (k *Kernel) NextStep(ctx context.Context, lease Lease) (Next, error) {
	var next Next
	err := k.store.Write(ctx, func(tx Tx) error {
		turn, err := leasedTurn(tx, lease)
		if err != nil {
			return err
		}
		next = Next{Turn: turn, Left: turn.left(k.clock.Now())}
		return k.decideNext(tx, &next)
	})
	if err != nil {
		return Next{}, err
	}
	if next.closed {
		err = k.fault.At(FaultTurnClosed)
	}
	switch {
	case err != nil:
	case next.Do == NextSuspended:
		err = k.fault.At(FaultTurnSuspended)
	case next.Do == NextEnded:
		err = k.fault.At(FaultTurnEnded)
	}
	return next, err
}

func (k *Kernel) decideNext(tx Tx, next *Next) error {
	turn := next.Turn
	if turn.StopAsked {
		return k.endNext(tx, next, TurnEndStopped, "a person")
	}
	step, err := tx.NewestStep(turn.Session, turn.Number)
	first := errors.Is(err, ErrNotFound)
	if err != nil && !first {
		return err
	}
	waits := false
	if first {
		waits, err = k.suspendIfWaiting(tx, next, 0) // a person has to let the first request go
	} else {
		waits, err = k.finishStep(tx, next, step)
	}
	if waits || err != nil {
		return err
	}
	denial, denied, err := deniedBy(tx, turn)
	if err != nil {
		return err
	}
	messages, err := tx.QueuedMessages(turn.Session)
	if err != nil {
		return err
	}
	budgets, err := k.standings(tx, turn.Session)
	if err != nil {
		return err
	}
	next.Budgets = slices.DeleteFunc(slices.Clone(budgets), func(s Standing) bool { return !s.Near() })
	spent, over := reached(budgets)
	switch {
	case denied:
		return k.endNext(tx, next, TurnEndDenied, denial)
	case !first && len(step.Response.Calls) == 0 && len(messages) == 0:
		return k.endNext(tx, next, TurnEndDone, "")
	case step.Number >= turn.Limits.Steps:
		return k.endNext(tx, next, TurnEndSteps, "")
	case turn.overtime(k.clock.Now()):
		return k.endNext(tx, next, TurnEndTime, "")
	case over:
		return k.endNext(tx, next, TurnEndBudget, spent.String()+", nothing more may be asked")
	}
	next.Do = NextModel
	next.Request, err = k.buildRequest(tx, turn, step.Number+1, messages)
	return err
}

// finishStep reports that the turn cannot go past a step yet: calls are to run, the time is up, or people have to decide.
func (k *Kernel) finishStep(tx Tx, next *Next, step Step) (waits bool, err error) {
	turn := next.Turn
	if step.ClosedAt.IsZero() {
		unanswered, err := unansweredCalls(tx, step)
		if err != nil {
			return true, err
		}
		if len(unanswered) > 0 {
			if turn.overtime(k.clock.Now()) {
				return true, k.endNext(tx, next, TurnEndTime, "")
			}
			next.Do, next.Step, next.Calls = NextCalls, step, unanswered
			return true, nil
		}
		if err := tx.CloseStep(turn.Session, turn.Number, step.Number, k.clock.Now()); err != nil {
			return true, err
		}
		next.closed = true
	}
	return k.suspendIfWaiting(tx, next, step.Number)
}

func (k *Kernel) suspendIfWaiting(tx Tx, next *Next, step int) (waits bool, err error) {
	waiting, err := tx.Waiting(next.Turn.Session, next.Turn.Number, step)
	if err != nil || len(waiting) == 0 {
		return false, err
	}
	return true, k.suspend(tx, next, waiting)
}

// suspend makes the waiting durable and gives the lease back: whoever is there when all is settled goes on.
func (k *Kernel) suspend(tx Tx, next *Next, waiting []Waiting) error {
	before := next.Turn
	after := before
	k.pause(&after)
	after.State = TurnSuspended
	after.Reason = cleanReason(fmt.Sprintf("waits for %s", waiting[0]))
	if len(waiting) > 1 {
		after.Reason = fmt.Sprintf("waits for %d decisions", len(waiting))
	}
	if err := k.changeTurn(tx, before, &after); err != nil {
		return err
	}
	if err := dropLease(tx, before.Session); err != nil {
		return err
	}
	ids := make([]ActionID, len(waiting))
	for i, w := range waiting {
		ids[i] = w.ID
	}
	next.Do, next.Turn, next.Waiting = NextSuspended, after, waiting
	return k.logTurn(tx, after, "suspended", map[string]any{"waits_for": ids})
}

func (k *Kernel) endNext(tx Tx, next *Next, end TurnEnd, why string) (err error) {
	next.Do = NextEnded
	next.Turn, err = k.endTurn(tx, next.Turn, end, why)
	return err
}

// EndTurn ends the turn of a lease from outside its steps: stopped, or failed because the model could not be asked.
func (k *Kernel) EndTurn(ctx context.Context, lease Lease, end TurnEnd, why string) (Turn, error) {
	var out Turn
	err := k.store.Write(ctx, func(tx Tx) error {
		turn, err := leasedTurn(tx, lease)
		if err != nil {
			return err
		}
		out, err = k.endTurn(tx, turn, end, why)
		return err
	})
	if err == nil {
		err = k.fault.At(FaultTurnEnded)
	}
	return out, err
}

// StoreResponse makes a response durable as the next step, and in the same transaction marks what its model had been
// told as told (A8). Calls without an id get one.
func (k *Kernel) StoreResponse(ctx context.Context, lease Lease, r Request, response Response) (Step, error) {
	step := Step{Session: r.Session, Turn: r.Turn, Number: r.Step, Decisions: r.Decisions, Response: response}
	step.Response.Calls = slices.Clone(response.Calls)
	for i := range step.Response.Calls {
		if c := &step.Response.Calls[i]; c.ID == "" {
			c.ID = fmt.Sprintf("%d.%d", r.Step, i+1)
		}
	}
	err := k.store.Write(ctx, func(tx Tx) error {
		if _, err := leasedTurn(tx, lease); err != nil {
			return err
		}
		step.At = k.clock.Now()
		if err := tx.InsertStep(step); err != nil {
			return err
		}
		ids := make([]int64, len(r.Messages))
		for i, m := range r.Messages {
			ids[i] = m.ID
		}
		if err := tx.DeliverMessages(r.Session, r.Turn, r.Step, ids); err != nil {
			return err
		}
		return tx.TellNotices(r.Session, r.Turn, r.Step, r.notices)
	})
	if err == nil {
		err = k.fault.At(FaultTurnStored)
	}
	return step, err
}

// Signals is what others want of a running turn.
type Signals struct {
	Stop  bool // end it now
	Steer bool // a steering message waits: break off the response that is being made
}

// Watch looks for signals; a runner polls it while a model or a call is at work. It only reads.
func (k *Kernel) Watch(ctx context.Context, lease Lease) (Signals, error) {
	var s Signals
	err := k.store.Read(ctx, func(v View) error {
		turn, err := v.NewestTurn(lease.Session)
		if err != nil {
			return err
		}
		s.Stop = turn.StopAsked && turn.Number == lease.Turn
		messages, err := v.QueuedMessages(lease.Session)
		s.Steer = slices.ContainsFunc(messages, func(m Message) bool { return m.Kind == MessageSteering })
		return err
	})
	return s, err
}

// OpenTurn is the last turn of a session with what it waits for. It is *NoTurnError where there was none.
func (k *Kernel) OpenTurn(ctx context.Context, ref string) (Turn, []Waiting, error) {
	var turn Turn
	var waiting []Waiting
	err := k.store.Read(ctx, func(v View) error {
		session, err := findSession(v, ref)
		if err != nil {
			return err
		}
		turn, err = v.NewestTurn(session.ID)
		if errors.Is(err, ErrNotFound) {
			return &NoTurnError{Session: session.ID}
		}
		if err != nil || turn.State != TurnSuspended {
			return err
		}
		waiting, err = waitingFor(v, turn)
		return err
	})
	return turn, waiting, err
}

// buildRequest gathers what the model is told at a step: the transcript, then messages and decisions it was not told.
func (k *Kernel) buildRequest(v View, turn Turn, step int, messages []Message) (Request, error) {
	r := Request{Session: turn.Session, Turn: turn.Number, Step: step, Messages: messages}
	rows, err := loadTranscript(v, turn.Session)
	if err != nil {
		return r, err
	}
	if r.History, err = rows.exchanges(); err != nil {
		return r, err
	}
	if full := rows.fullBefore(turn.Number); full > 0 {
		r.History = slices.DeleteFunc(r.History, func(e Exchange) bool { return e.Turn <= full })
	}
	notices, err := v.UntoldNotices(turn.Session)
	if err != nil {
		return r, err
	}
	for _, n := range notices {
		r.notices = append(r.notices, n.ID)
	}
	r.Decisions, err = decided(v, notices)
	return r, err
}

// decided turns notices into what an agent reads: one line an action, as it stands last.
func decided(v View, notices []Notice) ([]Decided, error) {
	var out []Decided
	place := make(map[ActionID]int)
	for _, n := range notices {
		if n.State == string(StatePending) || n.State == string(StateClaimed) {
			continue
		}
		d := Decided{ID: n.Action, State: n.State, Title: cleanReason(n.Title), Reason: cleanReason(n.Reason)}
		if err := addContent(v, &d); err != nil {
			return nil, err
		}
		if i, again := place[n.Action]; again {
			out[i] = d
			continue
		}
		place[n.Action] = len(out)
		out = append(out, d)
	}
	return out, nil
}

// resultLimit is how many bytes of the result of an awaited action stand in a note.
const resultLimit = 64 << 10

// addContent adds the answer of a question, or what an awaited action gave; a simulated one was shown already.
func addContent(v View, d *Decided) error {
	q, err := v.Question(d.ID)
	if err == nil {
		d.Question, d.Answer = true, cleanReason(q.Answer)
		return nil
	}
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	a, err := v.ActionState(d.ID)
	if err != nil || d.State != string(StateApplied) || a.Draft.Lane != LaneAwait {
		return err
	}
	if a, err = v.Action(d.ID); err != nil {
		return err
	}
	if string(a.Result) != "null" && len(a.Result) <= resultLimit {
		d.Result = string(a.Result)
	}
	return nil
}
