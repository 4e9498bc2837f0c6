package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Gatekeeper is a driver for one kind of service. It narrows a connection to one resource and never decides policy.
// Its methods may be called from several goroutines at once. A panic in one of them, or in a Resource, is an error of the
// call; in Apply the outcome is unknown.
type Gatekeeper interface {
	// Manifest is the same at every call; it is validated when the program starts.
	Manifest() Manifest

	// Normalize parses a binding URL and prints it again in its one canonical form; it asks no service.
	// A narrowing that cannot be read is an error and grants nothing (GK2).
	Normalize(url string) (string, error)

	// Connect describes the connection that a URL needs when a person has none yet. It may look at the service,
	// but changes nothing. The caller fills in ID, and the person who connects as Owner.
	Connect(ctx context.Context, url string) (Connection, error)

	// Open narrows a connection to what url names. It refuses what the connection does not contain, and a
	// resource that holds one of the program's own protected places, naming it.
	Open(ctx context.Context, connection Connection, url string) (Resource, error)
}

// Resource is one connection narrowed to one resource. Every call enforces the narrowing on what comes back too;
// missing and out of scope are one answer (GK3).
type Resource interface {
	// Key is shared by all bindings whose actions can touch each other; it selects the journal (kernel R16).
	Key() string

	// Unit is the whole resource: what counts as read where the driver knows no better unit (kernel R3).
	Unit() Found

	// Covers reports whether a unit lies inside the narrowing. The kernel refuses the rest.
	Covers(Unit) bool

	// Operations is the manifest's list, or a list of its own for drivers whose operations depend on the connection.
	Operations() []Operation

	// Intend says, from the arguments alone and without asking the service, which units a call names and which
	// targets it depends on. A fault in the arguments is a *CallError.
	Intend(Call) (Intent, error)

	// Extend says, purely, what else has to be looked at because of the pending effects: the source of a move, say.
	// The kernel calls it until nothing is added. It returns the intent whole, and may return it as it came.
	Extend(Intent, Journal) Intent

	// Read fetches, with the pending effects of the journal projected into what it returns.
	Read(ctx context.Context, call Call, journal Journal) (Fetched, error)

	// Prepare turns a write into a draft of an action; it may read, and changes nothing.
	Prepare(ctx context.Context, call Call, journal Journal) (Draft, error)

	// Current asks the service for the versions of the targets in the action's base as they are now, and for undo
	// data where the action is revertible. It changes nothing. The deadline is the context's.
	Current(ctx context.Context, dispatch Dispatch) (Current, error)

	// Apply carries an action out, once; it is never called twice for one claim and never repeats a write by itself.
	// An error made by NotSent means that nothing left; any other error means that the outcome is unknown (kernel R20).
	Apply(ctx context.Context, dispatch Dispatch) (Outcome, error)

	Close() error
}

// Finder is a Resource that can look for what an action created whose outcome was never heard.
type Finder interface {
	// Find returns what was created, or ErrNotFound. It changes nothing.
	Find(ctx context.Context, dispatch Dispatch) ([]Created, error)
}

// Call is one call of an operation, its arguments checked against the declared parameters.
type Call struct {
	Method string
	Args   json.RawMessage // a JSON object
	Names  Names           // provisional ids of this session at this resource that the call, or an effect on its targets, mentions
	At     time.Time       // when the caller asked; what a simulated value shows as its time
	Next   int             // number of the first free provisional id

	// Whom the call is for. Drivers with a visibility of their own read on the authority of By and, where what comes back
	// was not asked for by name, of the whole Audience; all others have the authority of their connection.
	Session  SessionID
	By       PersonID   // who drives the turn, or calls by hand; empty where nobody does
	Audience []PersonID // everybody who can see the session, its owner first
}

// Names says what provisional ids stand for (kernel R17).
type Names map[string]Name

// Name is the state of one provisional id.
type Name struct {
	Provider ActionID
	Real     string // the service's own id once the provider was applied; empty before
}

// Selector picks targets of actions.
type Selector struct {
	Reach  Reach
	Target string // a whole target for ReachExact, its beginning for ReachPrefix, ignored for ReachAll
}

// Matches reports whether a target is picked.
func (s Selector) Matches(target string) bool {
	switch s.Reach {
	case ReachExact:
		return target == s.Target
	case ReachPrefix:
		return len(target) >= len(s.Target) && target[:len(s.Target)] == s.Target
	case ReachAll:
		return true
	default:
		return false
	}
}

// Intent is what a call is about to touch, known before the service is asked (kernel R2).
type Intent struct {
	Units   []Found // with the labels that are known before the fetch
	Targets []Selector
}

// Fetched is the answer of a read, not yet released.
type Fetched struct {
	Value      json.RawMessage
	Found      []Found    // every unit the value comes from; none means that nothing was found, and is a row without a unit (K12)
	Projected  []ActionID // pending actions whose effect the value shows, in id order
	Incomplete []Gap      // what could not be shown
	Cached     bool
}

// Gap names an action whose effect a result does not show, and why.
type Gap struct {
	Action ActionID `json:"action"`
	Reason string   `json:"reason"`
}

// Field is one part of what an action will send, before and after (GK4). Null means absent.
type Field struct {
	Name   string          `json:"name"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

// BaseVersion is the state of one target that an action was made on: a version of the service, its absence,
// or what another action leaves behind (GK6). Exactly one of the three is set.
type BaseVersion struct {
	Target   string   `json:"target"`
	Version  string   `json:"version,omitempty"`
	Absent   bool     `json:"absent,omitempty"`
	ResultOf ActionID `json:"result_of,omitempty"`
}

// Same reports whether two versions of one target are equal; a version that is not known equals nothing.
func (b BaseVersion) Same(other BaseVersion) bool {
	if b.Target != other.Target || b.ResultOf != 0 || other.ResultOf != 0 {
		return false
	}
	if b.Absent || other.Absent {
		return b.Absent && other.Absent
	}
	return b.Version != "" && b.Version == other.Version
}

// Reference ties an action to an earlier one (kernel R17).
type Reference struct {
	Name     string   `json:"name"` // a provisional id, a path, a target
	Provider ActionID `json:"action"`
}

// Draft is a write as its driver prepared it, not yet an action. One that does not keep to this is an error of the call:
// lane, kind and flags are declared ones; provisional ids in Provides are the next free ones (Call.Next); references go
// to earlier actions that Names or the journal showed; every base target is among Targets, and what is a result of an
// action stands in Needs or After too.
type Draft struct {
	Kind           string
	Lane           Lane
	LaneReason     string // why this lane, where the operation has several
	Title          string
	Payload        json.RawMessage // what Apply needs; provisional ids stand as written
	Fields         []Field         // everything that will be sent
	Submitted      []Field         // the kernel's: the fields as they were submitted, once a fresh preview stands in their place
	Targets        []string        // all it touches: a move has two, a write into a new folder its parents
	Base           []BaseVersion
	Needs          []Reference // what another pending action creates
	After          []Reference // earlier pending actions on the same targets
	Provides       []string    // what it creates: provisional ids, paths
	Value          json.RawMessage
	Found          []Found // units read while preparing; they pass the gate like any read (kernel R3)
	Projected      []ActionID
	Incomplete     []Gap
	Revertible     bool
	Irreversible   bool // no one can restore the former state, by hand in the service either (kernel R26)
	CostsMoney     bool
	WidensTrust    bool // touches skill sources or configuration (kernel R26)
	AutoApprovable bool // the driver's verdict; it approves nothing without a person's rule (kernel R23)
}

// Dispatch is an action on its way to the service, its provisional ids replaced where they are bound.
type Dispatch struct {
	Action   ActionID
	Kind     string
	Payload  json.RawMessage
	Base     []BaseVersion // resolved: no "result of" is left where its action is applied
	Provides []string
	Names    Names
	Undo     UndoSource `json:"-"` // for a revert: what the action that it takes back had kept; nil where it kept nothing
	WantUndo bool       // for Current: undo data is asked for
	At       time.Time
}

// UndoLimit is how many bytes of undo data one action may keep (kernel R19).
const UndoLimit = 64 << 20

// Current is what the service holds now. Undo, if not nil, is read once, within the claim's transaction, and closed;
// it must fail when the bytes are no longer those of Versions.
type Current struct {
	Versions []BaseVersion
	Undo     io.ReadCloser
}

// OutcomeEnd says how an apply ended (kernel R20). The zero value is unknown.
type OutcomeEnd int

// The four ends of an apply.
const (
	EndUnknown OutcomeEnd = iota
	EndApplied
	EndRetryable // not applied, may be tried again
	EndFailed    // not applied, for good
)

// Created ties what an action promised to what the service made of it.
type Created struct {
	Name string `json:"name"` // as in Draft.Provides
	Real string `json:"real"`
}

// Outcome is a driver's report of an apply. Text may hold data of the service and passes the gate before it is kept (K67).
type Outcome struct {
	End      OutcomeEnd
	Created  []Created
	Versions []BaseVersion // of every target in the action, as they are now
	Value    json.RawMessage
	Text     string
	Found    []Found // units that Text and Value come from; none means the whole resource
}

// ErrNotFound is the one answer for missing and out of scope (GK3).
var ErrNotFound = errors.New("not found")

// CallError is a driver's refusal in words that hold nothing of the service's data, so they need no gate.
type CallError struct {
	Code string // one of the Code constants
	Text string // one line: what, which, what to do

	// Now is what stands in the place of an action's fields, before, where no preview can be made any more. It is the
	// service's and passes the gate; nobody but a person who looks at a drifted action gets it.
	Now []Field
}

func (e *CallError) Error() string { return e.Text }

// Is makes a CallError with CodeNotFound match ErrNotFound.
func (e *CallError) Is(target error) bool { return target == ErrNotFound && e.Code == CodeNotFound }

// The codes of a CallError, as the command line prints them.
const (
	CodeInvalid     = "invalid"
	CodeNotFound    = "not_found"
	CodeTooLarge    = "too_large"
	CodeListChanged = "list_changed"
	CodeNotCreated  = "not_created"
	CodeConflict    = "conflict"
	CodeChanged     = "changed"
	CodeAsked       = "asked" // a person has to let it leave first
)

// Invalid is a fault in the arguments of a call.
func Invalid(format string, args ...any) *CallError {
	return &CallError{Code: CodeInvalid, Text: fmt.Sprintf(format, args...)}
}

// NotCreated is the answer for a provisional id that the service does not know yet.
func NotCreated(name string, provider ActionID) *CallError {
	return &CallError{Code: CodeNotCreated, Text: fmt.Sprintf("%s: not created yet, action %d makes it", name, provider)}
}

// NotSent marks an error of Apply that came before anything left: the action failed and can be retried.
func NotSent(err error) error { return &notSentError{err} }

// IsNotSent reports whether nothing left before the error.
func IsNotSent(err error) bool {
	var e *notSentError
	return errors.As(err, &e)
}

type notSentError struct{ err error }

func (e *notSentError) Error() string { return e.err.Error() }
func (e *notSentError) Unwrap() error { return e.err }
