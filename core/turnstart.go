package core

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gatehouse/core/text"
)

// messageLimit is how many bytes one message may have.
const messageLimit = 256 << 10

// errLeaseLost stops a runner whose lease is no longer the one in the store.
var errLeaseLost = errors.New("turn: this process no longer holds the lease of the session")

// StartTurn says how a turn begins.
type StartTurn struct {
	Session  string // id or name
	Task     string // what the person wants, in any number of lines
	By       PersonID
	Model    string // as Model.Name gives it
	Source   string // where the front door finds the model again
	OnDenial DenialPolicy
	Limits   TurnLimits
}

// StartTurn begins a turn and takes the lease of its session. Messages that waited are told first, the task last.
// It fails with *TurnHeldError while another process runs one, and with *TurnOpenError while one is suspended or was
// interrupted.
func (k *Kernel) StartTurn(ctx context.Context, s StartTurn) (Lease, error) {
	task, err := cleanMessage("task", s.Task)
	if err != nil {
		return Lease{}, err
	}
	if s.OnDenial == "" {
		s.OnDenial = DenialResume
	}
	var lease Lease
	err = k.store.Write(ctx, func(tx Tx) error {
		session, err := sessionFor(tx, s.Session, s.By, RoleBuild)
		if err != nil {
			return err
		}
		if err := k.closeDenied(tx, session.ID); err != nil {
			return err
		}
		now := k.clock.Now()
		if _, err := k.insertMessage(tx, Message{Session: session.ID, By: s.By, Kind: MessageQueued, Text: task, At: now}); err != nil {
			return err
		}
		turn := Turn{
			Session: session.ID, State: TurnRunning, Model: s.Model, Source: s.Source, By: s.By, OnDenial: s.OnDenial,
			Limits: s.Limits.orDefault(), RunningSince: now, StartedAt: now, UpdatedAt: now,
		}
		if err := tx.InsertTurn(&turn); err != nil {
			return err
		}
		if lease, err = k.takeLease(tx, turn); err != nil {
			return err
		}
		return k.logTurn(tx, turn, "started", map[string]any{"on_denial": turn.OnDenial, "steps": turn.Limits.Steps})
	})
	if err == nil {
		err = k.fault.At(FaultTurnStarted)
	}
	return lease, err
}

// closeDenied ends a suspended turn that a denial has ended (kernel R28), and refuses to go on beside any other open one.
func (k *Kernel) closeDenied(tx Tx, session SessionID) error {
	turn, err := tx.NewestTurn(session)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	lease, err := tx.Lease(session)
	if err != nil {
		return err
	}
	switch turn.State {
	case TurnRunning:
		if k.alive.Alive(lease.Holder) {
			return &TurnHeldError{Session: session, Turn: turn.Number, Holder: lease.Holder}
		}
		return &TurnOpenError{Session: session, Turn: turn.Number, State: turn.State}
	case TurnSuspended:
		if ended, err := k.endDenied(tx, turn); ended || err != nil {
			return err
		}
		return &TurnOpenError{Session: session, Turn: turn.Number, State: turn.State}
	default:
		return nil
	}
}

// endDenied ends a suspended turn under DenialEnd once nothing of it waits and something of it was rejected.
func (k *Kernel) endDenied(tx Tx, turn Turn) (bool, error) {
	waiting, err := waitingFor(tx, turn)
	if err != nil || len(waiting) > 0 {
		return false, err
	}
	denial, denied, err := deniedBy(tx, turn)
	if err != nil || !denied {
		return false, err
	}
	_, err = k.endTurn(tx, turn, TurnEndDenied, denial)
	return err == nil, err
}

// tell keeps a notice for the next step of its session. One that settles the last thing that a suspended turn waited for
// ends the turn, where a denial is to end it (kernel R28).
func (k *Kernel) tell(tx Tx, n Notice) error {
	if err := tx.InsertNotice(n); err != nil {
		return err
	}
	turn, err := tx.NewestTurn(n.Session)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil || turn.State != TurnSuspended || turn.Number != n.Turn {
		return err
	}
	_, err = k.endDenied(tx, turn)
	return err
}

// waitingFor lists what keeps a turn from going on: what its last step asked for (kernel R27).
func waitingFor(v turnView, turn Turn) ([]Waiting, error) {
	step, err := v.NewestStep(turn.Session, turn.Number)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	return v.Waiting(turn.Session, turn.Number, step.Number) // before the first step all of the turn
}

// deniedBy finds a rejection that ends a turn; it is told at the next step of the session, whichever turn that is in.
func deniedBy(v turnView, turn Turn) (string, bool, error) {
	if turn.OnDenial != DenialEnd {
		return "", false, nil
	}
	notices, err := v.UntoldNotices(turn.Session)
	if err != nil {
		return "", false, err
	}
	for _, n := range notices {
		if n.Turn == turn.Number && n.State == string(StateRejected) {
			return fmt.Sprintf("action %d was rejected", n.Action), true, nil
		}
	}
	return "", false, nil
}

// judgeRunning tells apart, in a list, turns that run from turns whose process is gone: those can be continued.
func (k *Kernel) judgeRunning(v turnView, rows []SessionSummary) error {
	for i := range rows {
		if rows[i].State != SessionRunning {
			continue
		}
		lease, err := v.Lease(rows[i].ID)
		if err != nil {
			return err
		}
		if lease.Holder == "" || !k.alive.Alive(lease.Holder) {
			rows[i].State, rows[i].WaitingFor = SessionReady, "the interrupted turn to be continued"
		}
	}
	return nil
}

// ContinueTurn takes up a turn that can go on: one that is ready to resume, one whose process is gone, or one that
// failed. Only one caller gets the lease, in whatever process (K54). It fails with *TurnWaitingError while something
// waits for people, with *TurnHeldError, and with *NoTurnError where nothing is open.
func (k *Kernel) ContinueTurn(ctx context.Context, ref string) (Lease, error) {
	var lease Lease
	err := k.store.Write(ctx, func(tx Tx) error {
		session, err := findSession(tx, ref)
		if err != nil {
			return err
		}
		if err := writable(session); err != nil {
			return err
		}
		turn, err := tx.NewestTurn(session.ID)
		if errors.Is(err, ErrNotFound) {
			return &NoTurnError{Session: session.ID}
		}
		if err != nil {
			return err
		}
		if turn.State == TurnDone {
			return &NoTurnError{Session: session.ID, Turn: turn.Number}
		}
		if turn.State == TurnSuspended {
			waiting, err := waitingFor(tx, turn)
			if err != nil {
				return err
			}
			if len(waiting) > 0 {
				return &TurnWaitingError{Session: session.ID, Turn: turn.Number, Waiting: waiting}
			}
		}
		if lease, err = k.takeLease(tx, turn); err != nil {
			return err
		}
		return k.resumeTurn(tx, turn)
	})
	if err == nil {
		err = k.fault.At(FaultTurnResumed)
	}
	return lease, err
}

func (k *Kernel) resumeTurn(tx Tx, before Turn) error {
	after := before
	after.State, after.End, after.Reason, after.StopAsked = TurnRunning, "", "", false
	after.RunningSince = k.clock.Now()
	if err := k.changeTurn(tx, before, &after); err != nil {
		return err
	}
	return k.logTurn(tx, after, "resumed", map[string]any{"from": before.State})
}

// StopTurn ends the open turn of a session: at once where nobody runs it, else by telling its runner, which ends it
// within moments. It returns the turn as it is then; StopAsked is set where the runner was told. Questions of an ended
// turn are withdrawn; its actions stay in the queue.
func (k *Kernel) StopTurn(ctx context.Context, ref string, by PersonID) (Turn, error) {
	var out Turn
	err := k.store.Write(ctx, func(tx Tx) error {
		session, err := findSession(tx, ref)
		if err != nil {
			return err
		}
		turn, err := tx.NewestTurn(session.ID)
		if errors.Is(err, ErrNotFound) {
			return &NoTurnError{Session: session.ID}
		}
		if err != nil {
			return err
		}
		if turn.State != TurnRunning && turn.State != TurnSuspended {
			return &NoTurnError{Session: session.ID, Turn: turn.Number}
		}
		lease, err := tx.Lease(session.ID)
		if err != nil {
			return err
		}
		if turn.State == TurnRunning && lease.Holder != "" && k.alive.Alive(lease.Holder) {
			out = turn
			out.StopAsked = true
			if err := k.changeTurn(tx, turn, &out); err != nil {
				return err
			}
			return k.logTurn(tx, out, "stop asked", map[string]any{"by": by})
		}
		out, err = k.endTurn(tx, turn, TurnEndStopped, string(by))
		return err
	})
	return out, err
}

// Say queues a message for the agent of a session. A running turn is told at its next step, in the order of typing (A10);
// where none runs, the next one begins with it.
func (k *Kernel) Say(ctx context.Context, ref, message string, kind MessageKind, by PersonID) (Message, error) {
	clean, err := cleanMessage("message", message)
	if err != nil {
		return Message{}, err
	}
	if kind != MessageSteering {
		kind = MessageQueued
	}
	var out Message
	err = k.store.Write(ctx, func(tx Tx) error {
		session, err := sessionFor(tx, ref, by, RoleBuild)
		if err != nil {
			return err
		}
		out, err = k.insertMessage(tx, Message{Session: session.ID, By: by, Kind: kind, Text: clean, At: k.clock.Now()})
		return err
	})
	return out, err
}

func (k *Kernel) insertMessage(tx Tx, m Message) (Message, error) {
	if err := tx.InsertMessage(&m); err != nil {
		return Message{}, err
	}
	return m, tx.Append(Entry{
		At: m.At, Type: EventTurn, Session: m.Session, Actor: string(m.By), Subject: fmt.Sprintf("message %d", m.ID),
		Detail: detail(map[string]any{"event": "message", "kind": m.Kind, "text": textHash(m.Text)}),
	})
}

func cleanMessage(what, s string) (string, error) {
	clean, _ := text.CleanBlock(s)
	switch {
	case clean == "":
		return "", fmt.Errorf("%s: empty; say what is to be done", what)
	case len(clean) > messageLimit:
		return "", fmt.Errorf("%s: %d bytes, %d at most", what, len(clean), messageLimit)
	}
	return clean, nil
}

// takeLease is the one place where a runner comes to be: a compare-and-set that only a dead holder's or no lease passes.
func (k *Kernel) takeLease(tx Tx, turn Turn) (Lease, error) {
	before, err := tx.Lease(turn.Session)
	if err != nil {
		return Lease{}, err
	}
	if before.Holder != "" && k.alive.Alive(before.Holder) {
		return Lease{}, &TurnHeldError{Session: turn.Session, Turn: turn.Number, Holder: before.Holder}
	}
	token, err := k.randomID("l")
	if err != nil {
		return Lease{}, err
	}
	after := Lease{Session: turn.Session, Turn: turn.Number, Holder: k.alive.Self(), Token: token, TakenAt: k.clock.Now()}
	taken, err := tx.SetLease(turn.Session, before, after)
	if err == nil && !taken {
		err = &TurnHeldError{Session: turn.Session, Turn: turn.Number, Holder: before.Holder}
	}
	return after, err
}

// ReleaseLease gives a lease back without ending its turn, which then counts as interrupted. A lease that was lost or
// given back already is no error.
func (k *Kernel) ReleaseLease(ctx context.Context, lease Lease) error {
	return k.store.Write(ctx, func(tx Tx) error {
		_, err := tx.SetLease(lease.Session, lease, Lease{})
		return err
	})
}

// leasedTurn is the turn that a lease is for, if the lease is still good.
func leasedTurn(v turnView, lease Lease) (Turn, error) {
	now, err := v.Lease(lease.Session)
	if err != nil {
		return Turn{}, err
	}
	if now.Token != lease.Token || lease.Token == "" {
		return Turn{}, errLeaseLost
	}
	turn, err := v.NewestTurn(lease.Session)
	if err == nil && (turn.Number != lease.Turn || turn.State != TurnRunning) {
		err = errLeaseLost
	}
	return turn, err
}

// changeTurn is a compare-and-set that cannot lose under the store's lock, unless a row was changed by other means.
func (k *Kernel) changeTurn(tx Tx, before Turn, after *Turn) error {
	after.UpdatedAt = k.clock.Now()
	changed, err := tx.ChangeTurn(before, after)
	if err == nil && !changed {
		err = fmt.Errorf("session %s: turn %d changed meanwhile", before.Session, before.Number)
	}
	return err
}

// pause stops the clock of a running turn.
func (k *Kernel) pause(t *Turn) {
	if t.State == TurnRunning {
		t.Worked += max(0, k.clock.Now().Sub(t.RunningSince))
	}
	t.RunningSince = time.Time{}
}

// endTurn ends a turn, withdraws its questions and gives its lease back.
func (k *Kernel) endTurn(tx Tx, before Turn, end TurnEnd, why string) (Turn, error) {
	after := before
	k.pause(&after)
	after.State, after.End, after.Reason, after.StopAsked = TurnDone, end, before.endReason(end, why), false
	if end == TurnEndModel || end == TurnEndBudget {
		after.State = TurnFailed
	}
	if err := k.changeTurn(tx, before, &after); err != nil {
		return before, err
	}
	// It has ended by now: what becomes of its questions does not end it once more.
	if after.State == TurnDone {
		if err := k.withdrawQuestions(tx, before); err != nil {
			return before, err
		}
	}
	if err := dropLease(tx, before.Session); err != nil {
		return before, err
	}
	return after, k.logTurn(tx, after, "ended", map[string]any{"end": end, "reason": textHash(after.Reason)})
}

func dropLease(tx Tx, session SessionID) error {
	lease, err := tx.Lease(session)
	if err != nil || lease.Token == "" {
		return err
	}
	_, err = tx.SetLease(session, lease, Lease{})
	return err
}

func (k *Kernel) logTurn(tx Tx, turn Turn, event string, pairs map[string]any) error {
	pairs["event"], pairs["state"] = event, turn.State
	return tx.Append(Entry{
		At: k.clock.Now(), Type: EventTurn, Session: turn.Session, Turn: turn.Number,
		Actor: turn.caller(0, "").actor(), Authority: string(turn.By), Subject: turn.subject(), Detail: detail(pairs),
	})
}

// caller is who makes the calls of a turn.
func (t Turn) caller(step int, call string) Caller {
	return Caller{Kind: CallerAgent, Person: t.By, Turn: t.Number, Step: step, CallID: call, Name: t.Model}
}
