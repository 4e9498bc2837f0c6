package core

import (
	"context"
	"fmt"
	"time"
)

// TranscriptKind says what an entry of a transcript is.
type TranscriptKind string

// The kinds of entries, in the order in which a step has them.
const (
	TranscriptMessage TranscriptKind = "message" // typed by a person
	TranscriptNote    TranscriptKind = "note"    // decisions that the agent was told
	TranscriptText    TranscriptKind = "text"    // said by the model
	TranscriptCall    TranscriptKind = "call"    // with its answer, once there is one
	TranscriptTurn    TranscriptKind = "turn"    // how a turn ended, or what it waits for
)

// TranscriptEntry is one thing that happened in a session's turns.
type TranscriptEntry struct {
	Kind   TranscriptKind
	Turn   int // 0 for a message that waits
	Step   int
	At     time.Time // of the step, message or end; zero where the step is not known yet
	By     PersonID  // for TranscriptMessage
	Model  string    // for TranscriptText and TranscriptCall
	Text   string    // as it was said: front ends clean it
	Queued bool      // a message that no step was told yet
	Call   ToolCall
	Result Released // for TranscriptCall; not valid while the call is unanswered
	State  TurnState
	End    TurnEnd
}

// Transcript lists what happened in the turns of a session, oldest first. Core rebuilds it from what is stored; results
// of calls are the ones that passed the gate then (kernel R1).
func (k *Kernel) Transcript(ctx context.Context, ref string) ([]TranscriptEntry, error) {
	var out []TranscriptEntry
	err := k.store.Read(ctx, func(v View) error {
		session, err := findSession(v, ref)
		if err != nil {
			return err
		}
		rows, err := loadTranscript(v, session.ID)
		if err != nil {
			return err
		}
		out, err = rows.entries()
		return err
	})
	return out, err
}

// transcriptRows is everything stored of the turns of a session.
type transcriptRows struct {
	turns    []Turn
	steps    []Step
	messages []Message
	answers  map[answerKey]Answer
}

type answerKey struct {
	turn   int
	callID string
	hash   string
}

func loadTranscript(v turnView, session SessionID) (transcriptRows, error) {
	var rows transcriptRows
	var err error
	if rows.turns, err = v.Turns(session); err != nil {
		return rows, err
	}
	if rows.steps, err = v.Steps(session); err != nil {
		return rows, err
	}
	if rows.messages, err = v.Messages(session); err != nil {
		return rows, err
	}
	answers, err := v.Answers(session)
	if err != nil {
		return rows, err
	}
	rows.answers = make(map[answerKey]Answer, len(answers))
	for _, a := range answers {
		rows.answers[answerKey{a.Turn, a.CallID, a.ArgsHash}] = a
	}
	return rows, nil
}

// told lists the messages that a step was told.
func (r transcriptRows) told(step Step) []Message {
	var out []Message
	for _, m := range r.messages {
		if m.Turn == step.Turn && m.Step == step.Number {
			out = append(out, m)
		}
	}
	return out
}

// result is what a call of a step was answered; not valid where it was not.
func (r transcriptRows) result(step Step, call ToolCall) (Released, error) {
	answer, found := r.answers[answerKey{step.Turn, call.ID, callHash(call)}]
	if !found {
		return Released{}, nil
	}
	return rebuild(answer)
}

// exchanges is what a model is shown of earlier steps. A call that a stopped turn left unanswered had no effect and no
// result; it gets one that says so, since models expect one for each call.
func (r transcriptRows) exchanges() ([]Exchange, error) {
	out := make([]Exchange, 0, len(r.steps))
	for _, step := range r.steps {
		e := Exchange{
			Turn: step.Turn, Step: step.Number, Messages: r.told(step), Decisions: step.Decisions, Response: step.Response,
			Results: make([]Released, len(step.Response.Calls)),
		}
		for i, call := range step.Response.Calls {
			released, err := r.result(step, call)
			if err != nil {
				return nil, err
			}
			if !released.Valid() {
				released = release(releasedBody{Status: StatusError, Code: "stopped", Reason: "did not run: the turn ended before it"})
			}
			e.Results[i] = released
		}
		out = append(out, e)
	}
	return out, nil
}

// fullBefore is the last turn before one that ended because the model took no more; what was said up to it is left out.
func (r transcriptRows) fullBefore(turn int) int {
	full := 0
	for _, t := range r.turns {
		if t.Number < turn && t.End == TurnEndContext {
			full = t.Number
		}
	}
	return full
}

func (r transcriptRows) entries() ([]TranscriptEntry, error) {
	var out []TranscriptEntry
	next := 0
	for _, turn := range r.turns {
		for ; next < len(r.steps) && r.steps[next].Turn == turn.Number; next++ {
			entries, err := r.stepEntries(turn, r.steps[next])
			if err != nil {
				return nil, err
			}
			out = append(out, entries...)
		}
		if turn.State != TurnRunning {
			out = append(out, turn.entry())
		}
	}
	for _, m := range r.messages {
		if m.Turn == 0 {
			out = append(out, m.entry())
		}
	}
	return out, nil
}

func (r transcriptRows) stepEntries(turn Turn, step Step) ([]TranscriptEntry, error) {
	var out []TranscriptEntry
	for _, m := range r.told(step) {
		out = append(out, m.entry())
	}
	out = append(out, step.entries(turn)...)
	for _, call := range step.Response.Calls {
		released, err := r.result(step, call)
		if err != nil {
			return nil, err
		}
		out = append(out, step.CallEntry(turn, call, released))
	}
	return out, nil
}

func (m Message) entry() TranscriptEntry {
	return TranscriptEntry{
		Kind: TranscriptMessage, Turn: m.Turn, Step: m.Step, At: m.At, By: m.By, Text: m.Text, Queued: m.Turn == 0,
	}
}

// entries are the note and the text of a step.
func (s Step) entries(turn Turn) []TranscriptEntry {
	var out []TranscriptEntry
	e := TranscriptEntry{Turn: s.Turn, Step: s.Number, At: s.At, Model: turn.Model}
	if note := DecisionNote(s.Decisions); note != "" {
		e.Kind, e.Text = TranscriptNote, note
		out = append(out, e)
	}
	if s.Response.Text != "" {
		e.Kind, e.Text = TranscriptText, s.Response.Text
		out = append(out, e)
	}
	return out
}

// Entries are what a step adds to the transcript before its calls run: messages as it was told them, note, text.
func (s Step) Entries(turn Turn, told []Message) []TranscriptEntry {
	out := make([]TranscriptEntry, 0, len(told)+2)
	for _, m := range told {
		m.Turn, m.Step = s.Turn, s.Number
		out = append(out, m.entry())
	}
	return append(out, s.entries(turn)...)
}

// CallEntry is one call of a step with its answer.
func (s Step) CallEntry(turn Turn, call ToolCall, result Released) TranscriptEntry {
	return TranscriptEntry{
		Kind: TranscriptCall, Turn: s.Turn, Step: s.Number, At: s.At, Model: turn.Model, Call: call, Result: result,
	}
}

// Entry is how a turn that does not run ends the transcript.
func (t Turn) Entry() TranscriptEntry { return t.entry() }

func (t Turn) entry() TranscriptEntry {
	e := TranscriptEntry{
		Kind: TranscriptTurn, Turn: t.Number, At: t.UpdatedAt, Model: t.Model, State: t.State, End: t.End,
		Text: fmt.Sprintf("turn %d: %s", t.Number, t.State),
	}
	if t.End != "" && t.End != TurnEndDone {
		e.Text = fmt.Sprintf("turn %d: %s", t.Number, t.End)
	}
	if t.Reason != "" {
		e.Text += ": " + t.Reason
	}
	return e
}
