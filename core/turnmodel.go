package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// ErrContextFull says that a model takes no request as long as this one.
var ErrContextFull = errors.New("the conversation no longer fits the model's context")

// DestinationLocal is the destination of a model on this machine.
const DestinationLocal = "local"

// Model is a provider of responses. It is asked through Kernel.AskModel, which asks the egress policy first.
type Model interface {
	// Name is the provider and model, one clean line; actions and the record carry it.
	Name() string
	// Destination is what the egress policy is asked about: a host, or DestinationLocal for one on this machine.
	Destination() string
	// Complete gives the next response. OnDelta is called on the same goroutine with text as it arrives, and may be nil.
	// It ends soon after the context does. Any error leaves the turn failed, to be continued; one that is ErrContextFull
	// ends it. The usage of a response counts beside an error too.
	Complete(ctx context.Context, request Request, onDelta func(string)) (Response, error)
}

// Request is everything that a model is told.
type Request struct {
	Session SessionID
	Turn    int
	Step    int // the step that the response will be
	System  string
	Tools   []Tool
	History []Exchange // the steps so far of all turns of the session, oldest first

	Messages  []Message // told now, in the order in which they were typed
	Decisions []Decided // told now; DecisionNote makes their text

	notices []int64 // what Decisions was made of; told when the response is stored (A8)
}

// Exchange is one earlier step: what the model was told, what it said, and what its calls gave.
type Exchange struct {
	Turn      int
	Step      int
	Messages  []Message
	Decisions []Decided
	Response  Response
	Results   []Released // one for each call, in order; a call that never ran has one that says so
}

// Tool is one callable thing with its typed documentation.
type Tool struct {
	Name   string          // NAME.method, or ToolAsk
	About  string          // signature, then what it does and what becomes of a call
	Schema json.RawMessage // JSON Schema of the arguments
}

// bytes is about how much leaves with a request.
func (r Request) bytes() int {
	n := len(r.System)
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.About) + len(t.Schema)
	}
	for _, m := range r.Messages {
		n += len(m.Text)
	}
	n += len(DecisionNote(r.Decisions))
	for _, e := range r.History {
		for _, m := range e.Messages {
			n += len(m.Text)
		}
		n += len(DecisionNote(e.Decisions)) + len(e.Response.Text)
		for i, c := range e.Response.Calls {
			n += len(c.Name) + len(c.Args) + len(e.Results[i].body.Value)
		}
	}
	return n
}

// ModelError says that a model gave no response; the turn fails and can be continued.
type ModelError struct {
	Model string
	Err   error
}

func (e *ModelError) Error() string { return fmt.Sprintf("model %s: %v", e.Model, e.Err) }

func (e *ModelError) Unwrap() error { return e.Err }

// AskModel asks the egress policy, writes its row, and then the model. Nothing of the response is stored but what it took;
// beside a *ModelError the response says that too.
func (k *Kernel) AskModel(ctx context.Context, lease Lease, m Model, r Request, onDelta func(string)) (Response, error) {
	metered, price, err := k.meter(m)
	if err != nil {
		return Response{}, err
	}
	leaving, spending, err := k.leaveForModel(ctx, lease, m, r, metered, price)
	if err != nil {
		return Response{}, err
	}
	response, err := m.Complete(ctx, r, onDelta)
	response.Usage.Cost = price.Of(response.Usage)
	completed := leaving.modelRow(k, m, r, map[string]any{"event": "completed", "outcome": wentModel(ctx, err)})
	if counted := k.count(ctx, spending, response.Usage, completed); counted != nil {
		return Response{}, together(counted, err)
	}
	if err != nil {
		return Response{Usage: response.Usage}, &ModelError{Model: m.Name(), Err: err}
	}
	return response, k.fault.At(FaultTurnResponse)
}

// leaveForModel asks the policy, and writes the row of the request with what it is reckoned to take. Where the latch was
// set in between, the policy is asked again (kernel R7).
func (k *Kernel) leaveForModel(ctx context.Context, lease Lease, m Model, r Request, metered bool, price Price) (*departure, Spending, error) {
	leaving, err := k.permitModel(ctx, lease, m, r)
	if err != nil {
		return nil, Spending{}, err
	}
	spending := Spending{Session: r.Session, Turn: r.Turn, Step: r.Step, Model: m.Name(), At: k.clock.Now()}
	err = k.store.Write(ctx, func(tx Tx) error {
		if _, err := leasedTurn(tx, lease); err != nil {
			return err
		}
		s, err := tx.Session(string(r.Session))
		if err == nil && s.Latched && !leaving.request.Latched {
			err = errJoined
		}
		if err != nil {
			return err
		}
		if metered {
			spending.Usage = Usage{Input: EstimateTokens(r.bytes()), Estimated: true}
			spending.Usage.Cost = price.Of(spending.Usage)
			if err := tx.InsertSpending(&spending); err != nil {
				return err
			}
		}
		return tx.Append(leaving.modelRow(k, m, r, nil))
	})
	if errors.Is(err, errJoined) {
		return k.leaveForModel(ctx, lease, m, r, metered, price) // once: a latch stays
	}
	return leaving, spending, err
}

// meter is how a model counts. One without a price cannot be held to a budget of cost.
func (k *Kernel) meter(m Model) (metered bool, price Price, err error) {
	meter, metered := m.(Metered)
	if !metered {
		return false, Price{}, nil
	}
	price, known := meter.Price()
	if !known && k.hasCostBudget() {
		return true, price, &ModelError{Model: m.Name(), Err: errors.New("there is a budget of cost, and no price of this model")}
	}
	return true, price, nil
}

// count puts what a response took in the place of what was estimated, and says how the request went, also when the
// context is over.
func (k *Kernel) count(ctx context.Context, s Spending, u Usage, completed Entry) error {
	insert, set := s.ID == 0 && u != (Usage{}), s.ID != 0
	s.Usage = u
	return k.store.Write(context.WithoutCancel(ctx), func(tx Tx) error {
		var err error
		switch {
		case insert:
			err = tx.InsertSpending(&s)
		case set:
			err = tx.SetSpending(s.ID, u)
		}
		if err != nil {
			return err
		}
		return tx.Append(completed)
	})
}

// permitModel asks the policy about a request to a model. Where a person is asked, the turn waits after its last step.
func (k *Kernel) permitModel(ctx context.Context, lease Lease, m Model, r Request) (*departure, error) {
	var turn Turn
	var session Session
	err := k.store.Read(ctx, func(v View) (err error) {
		if turn, err = leasedTurn(v, lease); err != nil {
			return err
		}
		session, err = v.Session(string(r.Session))
		return err
	})
	if err != nil {
		return nil, err
	}
	d, err := k.permit(ctx, EgressRequest{
		Sink: SinkModel, Session: r.Session, Caller: turn.caller(r.Step-1, ""), Destination: m.Destination(), Host: m.Destination(),
		Local: m.Destination() == DestinationLocal, Bytes: r.bytes(), Latched: session.Latched,
	})
	var stays *EgressError
	if errors.As(err, &stays) {
		return nil, &ModelError{Model: m.Name(), Err: stays}
	}
	return d, err
}

// modelRow is the row of a request to a model.
func (d *departure) modelRow(k *Kernel, m Model, r Request, more map[string]any) Entry {
	row := d.row(k, map[string]any{"step": r.Step})
	if more != nil {
		more["step"] = r.Step
		row = d.row(k, more)
		row.Units = nil
	}
	row.Subject = "model " + m.Name()
	return row
}

func wentModel(ctx context.Context, err error) string {
	switch {
	case err == nil:
		return wentOK
	case ctx.Err() != nil:
		return wentInterrupted
	default:
		return wentError
	}
}
