package core

import (
	"context"
	"encoding/json"
	"fmt"
)

// Each gives what leaves, piece by piece and turn by turn: twice the same, as long as the session did not change.
func (d *Departure) Each(ctx context.Context, each func(Piece) error) error {
	return d.k.store.Read(ctx, func(v View) error {
		s := d.Session
		if err := each(Piece{Session: &SharedSession{Name: s.Name, CreatedAt: s.CreatedAt.UTC()}}); err != nil {
			return err
		}
		turns, err := v.Turns(s.ID)
		if err != nil {
			return err
		}
		for _, t := range turns {
			if t.Number > d.Until {
				break
			}
			if err := d.turn(v, t, each); err != nil {
				return err
			}
		}
		return d.proposals(v, each)
	})
}

func (d *Departure) turn(v View, t Turn, each func(Piece) error) error {
	shared := SharedTurn{
		Number: t.Number, State: t.State, End: t.End, Reason: t.Reason, Model: t.Model, StartedAt: t.StartedAt.UTC(), UpdatedAt: t.UpdatedAt.UTC(),
	}
	if d.Level == LevelReplay || t.State == TurnFailed {
		shared.Reason = "" // may be in the words of somebody who had read more, or tell of this machine
	}
	if err := each(Piece{Turn: &shared}); err != nil {
		return err
	}
	steps, err := v.TurnSteps(t.Session, t.Number)
	if err != nil {
		return err
	}
	messages, err := v.TurnMessages(t.Session, t.Number)
	if err != nil {
		return err
	}
	rows := transcriptRows{messages: messages, answers: make(map[answerKey]Answer)}
	if d.Level != LevelReplay {
		answers, err := v.TurnAnswers(t.Session, t.Number)
		if err != nil {
			return err
		}
		for _, a := range answers {
			rows.answers[answerKey{a.Turn, a.CallID, a.ArgsHash}] = a
		}
	}
	for _, step := range steps {
		if err := d.step(rows, step, each); err != nil {
			return err
		}
	}
	return nil
}

func (d *Departure) step(rows transcriptRows, step Step, each func(Piece) error) error {
	if d.Level == LevelReplay && !d.cut.IsZero() && step.At.After(d.cut) {
		return each(Piece{Hole: &Hole{Turn: step.Turn, Step: step.Number}})
	}
	for _, m := range rows.told(step) {
		shared := SharedMessage{Turn: step.Turn, Step: step.Number, By: m.By, Text: m.Text, At: m.At.UTC()}
		if err := each(Piece{Message: &shared}); err != nil {
			return err
		}
	}
	shared := SharedStep{Turn: step.Turn, Number: step.Number, At: step.At.UTC()}
	for i, call := range step.Response.Calls {
		shared.Calls = append(shared.Calls, ToolCall{ID: sharedCallID(i), Name: call.Name, Args: call.Args})
	}
	if d.Level != LevelReplay {
		shared.Text, shared.Decisions = step.Response.Text, step.Decisions
	}
	if err := each(Piece{Step: &shared}); err != nil || d.Level == LevelReplay {
		return err
	}
	for i, call := range step.Response.Calls {
		a, found := rows.answers[answerKey{step.Turn, call.ID, callHash(call)}]
		if !found {
			continue
		}
		body, err := inert(a.Body)
		if err != nil {
			return fmt.Errorf("turn %d, step %d: %w", step.Turn, step.Number, err)
		}
		if err := each(Piece{Answer: &SharedAnswer{Turn: step.Turn, Step: step.Number, Call: sharedCallID(i), Body: body}}); err != nil {
			return err
		}
	}
	return nil
}

func sharedCallID(i int) string { return fmt.Sprintf("call-%d", i+1) }

// inert is an answer without the numbers of actions, which are other actions where it is read.
func inert(raw json.RawMessage) (json.RawMessage, error) {
	var body releasedBody
	if err := json.Unmarshal(raw, &body); err != nil {
		return nil, err
	}
	body.Action = 0
	for i := range body.Incomplete {
		body.Incomplete[i].Action = 0
	}
	return json.Marshal(body)
}

// proposals are the pending actions, stripped of what would make them anything but words: digests, bases, references,
// what they were prepared on, and who decided what.
func (d *Departure) proposals(v View, each func(Piece) error) error {
	if d.Level == LevelReplay {
		return nil // they were made of results
	}
	open, err := v.OpenActions(d.Session.ID)
	if err != nil {
		return err
	}
	number := 0
	for _, bare := range open {
		if bare.State != StatePending || bare.Reverts != 0 || (!d.whole && (bare.Caller.Turn == 0 || bare.Caller.Turn > d.Until)) {
			continue
		}
		a, err := v.Action(bare.ID)
		if err != nil {
			return err
		}
		number++
		fields := a.Draft.Fields
		if !d.whole && a.Draft.Submitted != nil {
			fields = a.Draft.Submitted // a later preview may show what was read later
		}
		p := Proposal{
			Number: number, Turn: a.Caller.Turn, Gatekeeper: a.Gatekeeper, Binding: a.Binding, Method: a.Method, Args: a.Args,
			Kind: a.Draft.Kind, Lane: a.Draft.Lane, Title: a.Draft.Title, Fields: fields, CreatedAt: a.CreatedAt.UTC(),
		}
		if err := each(Piece{Proposal: &p}); err != nil {
			return err
		}
	}
	return nil
}
