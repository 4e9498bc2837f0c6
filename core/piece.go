package core

import (
	"encoding/json"
	"time"
)

// Checkpoint is a place in the record of a store, for whoever may one day compare the two.
type Checkpoint struct {
	Seq  int64  `json:"seq"`
	Hash Digest `json:"hash"`
}

// Piece is one thing that happened in a session, as it travels in a file; exactly one member is set. Pieces come in the
// order in which they happened: the session, then each turn with its messages, steps and answers, then proposals.
//
// What is no member of a piece never travels: connections, bindings with what they lead to, rules, grants, pins, approvals,
// claims, undo data, spending, and the ids that a provider of models gave (sharing 2).
type Piece struct {
	Session  *SharedSession `json:"session,omitempty"`
	Turn     *SharedTurn    `json:"turn,omitempty"`
	Message  *SharedMessage `json:"message,omitempty"`
	Step     *SharedStep    `json:"step,omitempty"`
	Answer   *SharedAnswer  `json:"answer,omitempty"`
	Hole     *Hole          `json:"hole,omitempty"`
	Proposal *Proposal      `json:"proposal,omitempty"`
}

// SharedSession is the first piece.
type SharedSession struct {
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at"`
}

// SharedTurn begins a turn.
type SharedTurn struct {
	Number    int       `json:"number"`
	State     TurnState `json:"state"` // done or failed: nothing goes on in a file
	End       TurnEnd   `json:"end"`
	Reason    string    `json:"reason"`
	Model     string    `json:"model"`
	StartedAt time.Time `json:"started_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// SharedMessage is what a person typed, before the step that was told it.
type SharedMessage struct {
	Turn int       `json:"turn"`
	Step int       `json:"step"`
	By   PersonID  `json:"by"`
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

// SharedStep is a response of a model. The ids of its calls are "call-1", "call-2", and so on.
type SharedStep struct {
	Turn      int        `json:"turn"`
	Number    int        `json:"number"`
	At        time.Time  `json:"at"`
	Decisions []Decided  `json:"decisions"`
	Text      string     `json:"text"`
	Calls     []ToolCall `json:"calls"`
}

// SharedAnswer is what a call of the step before it was answered.
type SharedAnswer struct {
	Turn int             `json:"turn"`
	Step int             `json:"step"`
	Call string          `json:"call"` // id within the step
	Body json.RawMessage `json:"body"`
}

// Hole stands for a step that is left out, or for what stands behind it.
type Hole struct {
	Turn int `json:"turn"`
	Step int `json:"step"`
}

// Proposal is an action that was pending when it was shared: inert, without an approval or a claim, with an id of its own.
// It becomes an action again only when its reader submits it through a binding of theirs.
type Proposal struct {
	Number     int             `json:"number"` // from 1, within the file
	Turn       int             `json:"turn"`
	Gatekeeper string          `json:"gatekeeper"`
	Binding    BindingName     `json:"binding"` // what the sender called it
	Method     string          `json:"method"`
	Args       json.RawMessage `json:"args"`
	Kind       string          `json:"kind"`
	Lane       Lane            `json:"lane"`
	Title      string          `json:"title"`
	Fields     []Field         `json:"fields"`
	CreatedAt  time.Time       `json:"created_at"`
}
