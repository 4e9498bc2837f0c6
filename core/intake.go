package core

import (
	"encoding/json"
	"fmt"
	"time"

	"gatehouse/core/text"
)

// intake keeps the pieces of a file in a new session. Pieces are of the forms that travel and in their order; what they
// say is somebody else's and is cleaned where it becomes a name or a state here.
type intake struct {
	tx    Tx
	k     *Kernel
	owner PersonID
	from  PersonID
	at    time.Time

	session  Session
	turn     Turn
	step     Step
	messages []SharedMessage // that the next step is told
}

func (in *intake) take(p Piece) error {
	switch {
	case p.Session != nil:
		return in.begin(*p.Session)
	case p.Turn != nil:
		return in.takeTurn(*p.Turn)
	case p.Message != nil:
		in.messages = append(in.messages, *p.Message)
		return nil
	case p.Step != nil:
		return in.takeStep(*p.Step)
	case p.Answer != nil:
		return in.takeAnswer(*p.Answer)
	case p.Hole != nil:
		return in.takeStep(SharedStep{
			Turn: p.Hole.Turn, Number: p.Hole.Step, At: in.turn.StartedAt,
			Text: fmt.Sprintf("[step %d of turn %d was left out by %s]", p.Hole.Step, p.Hole.Turn, in.from),
		})
	default:
		return in.takeProposal(*p.Proposal)
	}
}

func (in *intake) begin(s SharedSession) error {
	name, err := sharedName(in.tx, s.Name, in.from)
	if err != nil {
		return err
	}
	in.session = Session{Name: name, Owner: in.owner, CreatedAt: in.at, UpdatedAt: in.at}
	return in.tx.InsertSession(&in.session)
}

func (in *intake) takeTurn(t SharedTurn) error {
	in.turn = Turn{
		Session: in.session.ID, State: TurnDone, End: endOf(t.End), Reason: cleanReason(t.Reason), Model: cleanWord(t.Model), By: in.owner,
		OnDenial: DenialResume, Limits: TurnLimits{}.orDefault(), StartedAt: t.StartedAt, UpdatedAt: t.UpdatedAt,
	}
	return in.tx.InsertTurn(&in.turn)
}

// endOf is an end that a turn can have; one that failed where it came from cannot be taken up here.
func endOf(e TurnEnd) TurnEnd {
	switch e {
	case TurnEndDone, TurnEndStopped, TurnEndSteps, TurnEndTime, TurnEndDenied, TurnEndContext, TurnEndModel, TurnEndBudget:
		return e
	default:
		return TurnEndStopped
	}
}

func cleanWord(s string) string {
	clean, _ := text.CleanLine(s, nameLimit)
	return clean
}

func (in *intake) takeStep(s SharedStep) error {
	in.step = Step{
		Session: in.session.ID, Turn: in.turn.Number, Number: s.Number, Decisions: s.Decisions,
		Response: Response{Text: s.Text}, At: s.At, ClosedAt: s.At,
	}
	for i, c := range s.Calls {
		in.step.Response.Calls = append(in.step.Response.Calls, ToolCall{ID: in.callID(sharedCallID(i)), Name: cleanWord(c.Name), Args: c.Args})
	}
	if err := in.tx.InsertStep(in.step); err != nil {
		return err
	}
	for _, m := range in.messages {
		told := Message{Session: in.session.ID, By: PersonID(cleanWord(string(m.By))), Kind: MessageQueued, Text: m.Text, At: m.At}
		if told.Text == "" {
			told.Text = " " // a message has a text
		}
		if err := in.tx.InsertMessage(&told); err != nil {
			return err
		}
		if err := in.tx.DeliverMessages(in.session.ID, in.turn.Number, s.Number, []int64{told.ID}); err != nil {
			return err
		}
	}
	in.messages = nil
	return nil
}

// callID is the id of a call here: one of its own in the whole turn.
func (in *intake) callID(shared string) string {
	return fmt.Sprintf("step-%d-%s", in.step.Number, shared)
}

// takeAnswer keeps an answer under the call that it is of. Its units are kept with it, and its actions are nobody's.
func (in *intake) takeAnswer(a SharedAnswer) error {
	var body releasedBody
	if err := json.Unmarshal(a.Body, &body); err != nil {
		return Invalid("file: an answer that is none")
	}
	raw, err := inert(a.Body)
	if err != nil {
		return err
	}
	for _, c := range in.step.Response.Calls {
		if c.ID == in.callID(a.Call) {
			return in.tx.InsertAnswer(Answer{
				Session: in.session.ID, Turn: in.step.Turn, Step: in.step.Number, CallID: c.ID, ArgsHash: callHash(c), Body: raw,
			})
		}
	}
	return Invalid("file: an answer to no call")
}

func (in *intake) takeProposal(p Proposal) error {
	p.Title, p.Kind, p.Method, p.Gatekeeper = cleanReason(p.Title), cleanWord(p.Kind), cleanWord(p.Method), cleanWord(p.Gatekeeper)
	p.Binding = BindingName(cleanWord(string(p.Binding)))
	return in.tx.InsertProposal(in.session.ID, p)
}
