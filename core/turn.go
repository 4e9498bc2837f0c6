package core

import (
	"fmt"
	"strings"
	"time"
)

// TurnState is where a run of the agent loop stands. The zero value is no state.
type TurnState string

// The states of a turn. A running turn whose process is gone is taken up again like a suspended one.
const (
	TurnRunning   TurnState = "running"
	TurnSuspended TurnState = "suspended" // waits for decisions or answers, durably (kernel R27)
	TurnDone      TurnState = "done"
	TurnFailed    TurnState = "failed" // the model could not or must not be asked; continuing asks it again
)

// TurnEnd is why a turn stopped running. The zero value is a turn that has not ended.
type TurnEnd string

// The ends of a turn.
const (
	TurnEndDone    TurnEnd = "done"       // the model asked for nothing more
	TurnEndStopped TurnEnd = "stopped"    // by a person
	TurnEndSteps   TurnEnd = "step-limit" // kernel R29
	TurnEndTime    TurnEnd = "time-limit" // kernel R29
	TurnEndDenied  TurnEnd = "denied"     // rejected under DenialEnd (kernel R28)
	TurnEndModel   TurnEnd = "model"      // the state is TurnFailed
	TurnEndBudget  TurnEnd = "budget"     // nothing may be asked before there is more of it; the state is TurnFailed
	TurnEndContext TurnEnd = "context"    // the model takes no more; a new turn begins without what was said so far
)

// DenialPolicy says what a rejection does to the turn that asked (kernel R28).
type DenialPolicy string

// The policies. An empty one is DenialResume, which the rule makes the default.
const (
	DenialResume DenialPolicy = "resume"
	DenialEnd    DenialPolicy = "end"
)

// ParseDenialPolicy reads the word that a person gives.
func ParseDenialPolicy(s string) (DenialPolicy, error) {
	switch p := DenialPolicy(s); p {
	case DenialResume, DenialEnd:
		return p, nil
	default:
		return "", fmt.Errorf("on-denial %q: use resume or end", s)
	}
}

// The limits of a turn where none are given (kernel R29).
const (
	DefaultTurnSteps = 30
	DefaultTurnTime  = 30 * time.Minute
)

// TurnLimits end a turn cleanly. Time is time at work: waiting for people does not count. Zero is the default.
type TurnLimits struct {
	Steps int
	Time  time.Duration
}

func (l TurnLimits) orDefault() TurnLimits {
	if l.Steps <= 0 {
		l.Steps = DefaultTurnSteps
	}
	if l.Time <= 0 {
		l.Time = DefaultTurnTime
	}
	return l
}

// Turn is one run of the agent loop.
type Turn struct {
	Session      SessionID
	Number       int // within the session, from 1
	State        TurnState
	End          TurnEnd
	Reason       string // why it ended or waits, one clean line
	Model        string
	Source       string   // where the front door finds the model again, such as the path of a script
	By           PersonID // on whose authority it runs
	OnDenial     DenialPolicy
	Limits       TurnLimits
	Worked       time.Duration // at work before RunningSince
	RunningSince time.Time     // of a running turn
	StopAsked    bool          // a person wants it to stop; its runner ends it
	StartedAt    time.Time
	UpdatedAt    time.Time
	Version      int64
}

func (t Turn) overtime(now time.Time) bool { return t.left(now) <= 0 }

// left is the time at work that remains.
func (t Turn) left(now time.Time) time.Duration {
	return t.Limits.Time - t.Worked - max(0, now.Sub(t.RunningSince))
}

func (t Turn) subject() string { return fmt.Sprintf("turn %d", t.Number) }

// endReason says in one line how a turn ended.
func (t Turn) endReason(end TurnEnd, detail string) string {
	switch end {
	case TurnEndDone:
		return ""
	case TurnEndStopped:
		return "stopped by " + detail
	case TurnEndSteps:
		return fmt.Sprintf("the limit of %d steps was reached", t.Limits.Steps)
	case TurnEndTime:
		return fmt.Sprintf("the time limit of %s was reached", t.Limits.Time)
	default:
		return cleanReason(detail)
	}
}

// ToolCall is one call that a model asks for.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"` // NAME.method, or ToolAsk
	Args string `json:"args"` // JSON as the model wrote it; it may be malformed
}

// Response is what a model said and asks for. One without calls ends the turn.
type Response struct {
	Text  string     `json:"text"`
	Calls []ToolCall `json:"calls"`
	Usage Usage      `json:"usage"`
}

// Step is one model response with what the model had been told before it. It is durable before its first call runs.
type Step struct {
	Session   SessionID
	Turn      int
	Number    int // within the turn, from 1
	Decisions []Decided
	Response  Response
	At        time.Time
	ClosedAt  time.Time // when all calls were answered; zero before
}

// MessageKind says how a message that is typed while a turn runs reaches it.
type MessageKind string

// The kinds. Both are told at the next step, in the order in which they were typed; a steering one also breaks off a
// response that is still being made, so that the next step comes at once.
const (
	MessageQueued   MessageKind = "queued"
	MessageSteering MessageKind = "steering"
)

// Message is what a person typed.
type Message struct {
	ID      int64
	Session SessionID
	By      PersonID
	Kind    MessageKind
	Text    string
	At      time.Time
	Turn    int // the step that was told; 0 while it waits
	Step    int
}

// Lease is the durable right of one process to run the turn of a session.
type Lease struct {
	Session SessionID
	Turn    int
	Holder  ProcessID
	Token   string // told apart from every other lease
	TakenAt time.Time
}

// Waiting is something that keeps a turn from going on.
type Waiting struct {
	ID       ActionID
	Question bool // else an awaited action
	State    string
	Title    string
}

// String is one line for a person.
func (w Waiting) String() string {
	if w.Question {
		return fmt.Sprintf("question %d: %s", w.ID, cleanReason(w.Title))
	}
	return fmt.Sprintf("action %d (%s): %s", w.ID, w.State, cleanReason(w.Title))
}

// Decided is what became of an action or a question, as its agent is told.
type Decided struct {
	ID       ActionID `json:"id"`
	Question bool     `json:"question,omitempty"`
	State    string   `json:"state"`
	Title    string   `json:"title"`
	Reason   string   `json:"reason,omitempty"`
	Answer   string   `json:"answer,omitempty"` // of a question
	Result   string   `json:"result,omitempty"` // JSON that an awaited action gave
}

// DecisionNote is what a model reads of decisions: one note, a line for each (kernel R27). Empty for none.
func DecisionNote(decisions []Decided) string {
	if len(decisions) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Decided since the last step:")
	for _, d := range decisions {
		what := "action"
		if d.Question {
			what = "question"
		}
		fmt.Fprintf(&b, "\n- %s %d (%s): %s", what, d.ID, d.Title, d.State)
		if d.Answer != "" {
			fmt.Fprintf(&b, ": %s", d.Answer)
		}
		if d.Reason != "" {
			fmt.Fprintf(&b, "; reason: %s", d.Reason)
		}
		if d.Result != "" {
			fmt.Fprintf(&b, "; result: %s", d.Result)
		}
	}
	return b.String()
}

// TurnHeldError says that another runner has the session's turn.
type TurnHeldError struct {
	Session SessionID
	Turn    int
	Holder  ProcessID
}

func (e *TurnHeldError) Error() string {
	return fmt.Sprintf("session %s: turn %d is run by another process already", e.Session, e.Turn)
}

// TurnWaitingError says that a turn cannot go on before people said something.
type TurnWaitingError struct {
	Session SessionID
	Turn    int
	Waiting []Waiting
}

func (e *TurnWaitingError) Error() string {
	lines := make([]string, len(e.Waiting))
	for i, w := range e.Waiting {
		lines[i] = w.String()
	}
	return fmt.Sprintf("session %s: turn %d waits for %s", e.Session, e.Turn, strings.Join(lines, ", "))
}

// TurnOpenError says that a session's last turn has not ended, so that no other can begin.
type TurnOpenError struct {
	Session SessionID
	Turn    int
	State   TurnState
}

func (e *TurnOpenError) Error() string {
	how := "was interrupted"
	if e.State == TurnSuspended {
		how = "is suspended"
	}
	return fmt.Sprintf("session %s: turn %d %s; continue or stop it first", e.Session, e.Turn, how)
}

// NoTurnError says that there is nothing to continue or to stop.
type NoTurnError struct {
	Session SessionID
	Turn    int // the last one; 0 where there was none
}

func (e *NoTurnError) Error() string {
	if e.Turn == 0 {
		return fmt.Sprintf("session %s: no turn was started", e.Session)
	}
	return fmt.Sprintf("session %s: turn %d has ended, nothing is open", e.Session, e.Turn)
}

// The fault points of a turn, in the order in which one passes them.
const (
	FaultTurnStarted   FaultPoint = "turn.started"           // stored, the model is not asked
	FaultTurnResponse  FaultPoint = "turn.response.received" // nothing of it is stored
	FaultTurnStored    FaultPoint = "turn.response.stored"   // durable, no call ran
	FaultTurnAnswering FaultPoint = "turn.call.starting"     // a call is about to run
	FaultTurnAnswered  FaultPoint = "turn.call.answered"     // its answer is stored
	FaultTurnClosed    FaultPoint = "turn.step.closed"
	FaultTurnSuspended FaultPoint = "turn.suspended"
	FaultTurnResumed   FaultPoint = "turn.resumed"
	FaultTurnEnded     FaultPoint = "turn.ended"
)

// TurnFaultPoints lists them all.
func TurnFaultPoints() []FaultPoint {
	return []FaultPoint{
		FaultTurnStarted, FaultTurnResponse, FaultTurnStored, FaultTurnAnswering, FaultTurnAnswered,
		FaultTurnClosed, FaultTurnSuspended, FaultTurnResumed, FaultTurnEnded,
	}
}
