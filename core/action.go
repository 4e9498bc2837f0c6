package core

import (
	"encoding/json"
	"fmt"
	"time"
)

// State is where an action stands (kernel R13). The zero value is no state.
type State string

// The states of an action, and nothing else.
const (
	StatePending  State = "pending"
	StateClaimed  State = "claimed"
	StateApplied  State = "applied"
	StateFailed   State = "failed"
	StateUnknown  State = "unknown"
	StateRejected State = "rejected"
	StateStranded State = "stranded"
	StateReverted State = "reverted"
)

// States lists them in the order a person would.
func States() []State {
	return []State{
		StatePending, StateClaimed, StateUnknown, StateFailed, StateStranded,
		StateApplied, StateRejected, StateReverted,
	}
}

// transitions is R13; settle and retry are the only ways out of unknown and failed.
func transitions(from State) []State {
	switch from {
	case StatePending:
		return []State{StateClaimed, StateRejected, StateStranded}
	case StateClaimed:
		return []State{StateApplied, StateFailed, StateUnknown}
	case StateFailed:
		return []State{StateClaimed, StateRejected}
	case StateStranded:
		return []State{StateRejected}
	case StateUnknown:
		return []State{StateApplied, StateRejected, StateClaimed, StateFailed}
	case StateApplied:
		return []State{StateReverted}
	default:
		return nil
	}
}

// CanBecome reports whether R13 allows a change of state.
func (s State) CanBecome(to State) bool {
	for _, allowed := range transitions(s) {
		if allowed == to {
			return true
		}
	}
	return false
}

// Drift says whether an action's base moved since it was made.
type Drift string

// The kinds of drift. A stale one waits for its fresh preview; a blocked one has none and can only be rejected (kernel R17).
const (
	DriftNone    Drift = ""
	DriftStale   Drift = "stale"
	DriftFresh   Drift = "fresh"
	DriftBlocked Drift = "blocked"
)

// Risk is high or low (kernel R26). The zero value is high.
type Risk string

// The two risks.
const (
	RiskHigh Risk = "high"
	RiskLow  Risk = "low"
)

// CallerKind says what made a call. The zero value is not a caller.
type CallerKind string

// The kinds of callers; only agents suspend (kernel R31).
const (
	CallerAgent  CallerKind = "agent"
	CallerPerson CallerKind = "person"
	CallerClient CallerKind = "client" // an agent outside that speaks MCP
	CallerGadget CallerKind = "gadget"
	CallerHook   CallerKind = "hook"
)

// Caller is who makes a call, kept with the action and its log rows.
type Caller struct {
	Kind   CallerKind `json:"kind"`
	Person PersonID   `json:"person,omitempty"` // on whose authority
	Turn   int        `json:"turn,omitempty"`   // numbered within the session from 1; 0 outside turns
	Step   int        `json:"step,omitempty"`
	CallID string     `json:"call_id,omitempty"` // the model's id of the call; answers are kept under it (kernel R30)
	Name   string     `json:"name,omitempty"`    // model, or client with its version
}

// Action is something queued to be done outside (kernel R14).
type Action struct {
	ID         ActionID
	Session    SessionID
	Binding    BindingName
	Gatekeeper string
	Connection ConnectionID
	Resource   string // key of the journal
	Method     string
	Args       json.RawMessage // the call as it was made, for a fresh preview
	CreatedAt  time.Time
	Caller     Caller
	Context    int // units in the session's observation set when it was made

	Draft  Draft // what will be done; replaced, with its digest, by a fresh preview
	Digest Digest

	Reverts ActionID // what it takes back; 0 for what is no revert (kernel R25)

	State     State
	Version   int64 // grows at every change of the row; what a compare-and-set compares
	Retryable bool  // failed, and may be tried again
	Drift     Drift
	Reason    string // why it ended, drifted, was rejected or stranded; clean text
	Rule      string // the rule that approved it, if one did

	ClaimHolder ProcessID
	ClaimedAt   time.Time
	DecidedBy   PersonID
	DecidedHow  Means
	DecidedAt   time.Time

	Created  []Created
	Versions []BaseVersion // of its targets after it was applied: what "result of" stands for
	Result   json.RawMessage
	UndoSize int64
}

// Risk is high when the effect cannot be taken back, cannot be seen or has changed (kernel R26).
func (a Action) Risk() Risk {
	d := a.Draft
	if d.Irreversible || d.CostsMoney || d.WidensTrust || a.Drift != DriftNone {
		return RiskHigh
	}
	if d.Lane == LaneAwait && len(d.Fields) == 0 {
		return RiskHigh
	}
	return RiskLow
}

// Undecided reports whether a person still has to say something about it.
func (a Action) Undecided() bool {
	switch a.State {
	case StatePending, StateClaimed, StateUnknown, StateStranded, StateFailed:
		return true
	default:
		return false
	}
}

// Rejectable reports whether it can still be rejected: anything not applied and not in flight (kernel R21).
func (a Action) Rejectable() bool {
	switch a.State {
	case StatePending, StateFailed, StateStranded, StateUnknown:
		return true
	default:
		return false
	}
}

// Live reports whether its effect is, or may still be, ahead: such actions make the journal.
func (a Action) Live() bool {
	return a.State == StatePending || a.State == StateClaimed || a.State == StateUnknown ||
		(a.State == StateFailed && a.Retryable)
}

// LostRaceError says that someone else changed an action first.
type LostRaceError struct {
	Action ActionID
	State  State
	Winner PersonID // empty where no person decided
}

func (e *LostRaceError) Error() string {
	if e.State == StatePending {
		return fmt.Sprintf("action %d: changed since it was seen", e.Action)
	}
	if e.Winner == "" {
		return fmt.Sprintf("action %d: already %s", e.Action, e.State)
	}
	return fmt.Sprintf("action %d: already %s by %s", e.Action, e.State, e.Winner)
}

// lostRace describes how an action already stands.
func lostRace(a Action) *LostRaceError {
	return &LostRaceError{Action: a.ID, State: a.State, Winner: a.DecidedBy}
}
