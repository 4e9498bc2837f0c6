package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Status is how a call ended for its caller.
type Status string

// The statuses. A simulated write is ok and names its action; an awaited one is pending.
const (
	StatusOK      Status = "ok"
	StatusPending Status = "pending"
	StatusRefused Status = "refused"
	StatusError   Status = "error"
)

// Released is data that passed the gate (kernel R1). Only this package can make a valid one: the zero value is invalid,
// and there is no way to read one from bytes.
type Released struct {
	body  releasedBody
	valid bool
}

// releasedBody is what a stored answer keeps.
type releasedBody struct {
	Status     Status          `json:"status"`
	Value      json.RawMessage `json:"value"`
	Pending    int             `json:"pending"`
	Incomplete []Gap           `json:"incomplete"`
	Action     ActionID        `json:"action,omitempty"`
	Units      []Unit          `json:"units"`
	Code       string          `json:"code,omitempty"`
	Reason     string          `json:"reason,omitempty"`
}

func release(body releasedBody) Released {
	if body.Incomplete == nil {
		body.Incomplete = []Gap{}
	}
	if body.Units == nil {
		body.Units = []Unit{}
	}
	if len(body.Value) == 0 {
		body.Value = json.RawMessage("null")
	}
	return Released{body: body, valid: true}
}

// rebuild turns a stored answer into what was released then.
func rebuild(a Answer) (Released, error) {
	var body releasedBody
	if err := json.Unmarshal(a.Body, &body); err != nil {
		return Released{}, fmt.Errorf("stored answer of call %s: %w", a.CallID, err)
	}
	return release(body), nil
}

// Valid reports whether this came out of the gate.
func (r Released) Valid() bool { return r.valid }

// Status is how the call ended; it is StatusError for the zero value.
func (r Released) Status() Status {
	if !r.valid {
		return StatusError
	}
	return r.body.Status
}

// Value is the result as JSON, null where there is none.
func (r Released) Value() json.RawMessage { return append(json.RawMessage(nil), r.body.Value...) }

// Pending is how many queued effects the value shows.
func (r Released) Pending() int { return r.body.Pending }

// Incomplete names the actions whose effects the value does not show.
func (r Released) Incomplete() []Gap { return append([]Gap(nil), r.body.Incomplete...) }

// Action is what the call queued, 0 if nothing.
func (r Released) Action() ActionID { return r.body.Action }

// Units are what the value comes from.
func (r Released) Units() []Unit { return append([]Unit(nil), r.body.Units...) }

// Code is a machine's word for the reason, such as CodeNotFound; empty where the call went well.
func (r Released) Code() string { return r.body.Code }

// Reason says in one line why a call was refused or failed.
func (r Released) Reason() string { return r.body.Reason }

// MarshalJSON prints the object that the command line and models see. A value that did not pass the gate is an error.
func (r Released) MarshalJSON() ([]byte, error) {
	if !r.valid {
		return nil, errors.New("core: a value that did not pass the gate")
	}
	return json.Marshal(r.body)
}

// Purpose says why data passes the gate.
type Purpose string

// The purposes.
const (
	PurposeRead    Purpose = "read"
	PurposePrepare Purpose = "prepare"
	PurposePreview Purpose = "preview" // a fresh preview of a drifted action
	PurposeError   Purpose = "error"   // the text of an error after dispatch
	PurposeApply   Purpose = "apply"
)

// Passage is what a check is told of something that wants to pass the gate.
type Passage struct {
	Session    Session
	Binding    Binding
	Connection Connection
	Caller     Caller
	Purpose    Purpose
	Method     string
	Sink       EgressSink // what the call goes through, where that is known: SinkFetch or SinkRead
	Found      []Found    // for CheckIntent: what the arguments name; for CheckExact: what was found
	Units      []Unit     // of Found, each once
	Resource   Resource
}

// Check is one rule of the gate. Checks run in their order, the narrowing first; the first refusal counts.
type Check interface {
	Name() string
	// CheckIntent runs before the service is called (kernel R2).
	CheckIntent(ctx context.Context, p Passage) error
	// CheckExact runs after the fetch and before anything is released.
	CheckExact(ctx context.Context, p Passage) error
}

// narrowing is the first check: nothing outside the binding's resource passes, whatever the driver says.
type narrowing struct{}

func (narrowing) Name() string { return "narrowing" }

func (narrowing) CheckIntent(_ context.Context, p Passage) error { return narrowed(p, p.Units) }

func (narrowing) CheckExact(_ context.Context, p Passage) error { return narrowed(p, unitsOf(p.Found)) }

func narrowed(p Passage, units []Unit) error {
	for _, u := range units {
		if u.Gatekeeper != p.Binding.Kind || !p.Resource.Covers(u) {
			return &RefusedError{Unit: u, Why: fmt.Sprintf("outside binding %s", p.Binding.Name)}
		}
	}
	return nil
}

func (k *Kernel) checkIntent(ctx context.Context, p Passage) error {
	p.Units = unitsOf(p.Found)
	return k.check(p, HalfIntent, func(c Check) error { return c.CheckIntent(ctx, p) })
}

func (k *Kernel) checkExact(ctx context.Context, p Passage) error {
	p.Units = unitsOf(p.Found)
	return k.check(p, HalfExact, func(c Check) error { return c.CheckExact(ctx, p) })
}

// check runs the gate's checks; any error of a check is a refusal.
func (k *Kernel) check(p Passage, half Half, ask func(Check) error) error {
	for _, c := range k.checks {
		err := ask(c)
		if err == nil {
			continue
		}
		var refused *RefusedError
		if !errors.As(err, &refused) {
			refused = &RefusedError{Why: err.Error()}
		}
		out := *refused
		out.Check, out.Half = c.Name(), half
		if out.Unit.IsZero() && len(p.Units) == 1 {
			out.Unit = p.Units[0]
		}
		return &out
	}
	return nil
}

// refusedBody is what the caller is told: that it was refused and by which check, without naming the unit (kernel R5).
func refusedBody(refused *RefusedError) releasedBody {
	reason := refused.Public
	if reason == "" {
		reason = fmt.Sprintf("refused by the %s check; the record has the reason for the owner", refused.Check)
	}
	return releasedBody{Status: StatusRefused, Code: "refused", Reason: reason}
}
