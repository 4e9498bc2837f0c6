package core

import (
	"context"
	"encoding/json"
	"io"
	"time"
)

// Store is the kernel's memory. Write runs one transaction under the lock that all processes share; an error rolls it
// back whole. Read runs over one snapshot. Neither is entered from within the other, and what they hand out is invalid
// once they return. A *Tx or *View is for one goroutine.
type Store interface {
	Write(ctx context.Context, fn func(Tx) error) error
	Read(ctx context.Context, fn func(View) error) error
}

// View is what can be asked within a snapshot or a transaction. Rules take the narrow parts, not the whole.
type View interface {
	sessionView
	peopleView
	ruleView
	actionView
	turnView
	questionView
	egressView
	personalView
	observedView
	sharedView
	recordView
}

// Tx is a View that can also change things. Every change of a row is a compare-and-set.
type Tx interface {
	View
	sessionTx
	peopleTx
	ruleTx
	actionTx
	turnTx
	questionTx
	egressTx
	personalTx
	sharedTx
	recorder
}

type sessionView interface {
	// Session finds a session by id or by name; ErrNotFound otherwise. A hidden one is found by its id.
	Session(ref string) (Session, error)
	// Summaries lists sessions, newest first; an empty id lists all that are not hidden.
	Summaries(id SessionID) ([]SessionSummary, error)
	// RemovedSessions lists those that are hidden and not purged, the one that was hidden first in front.
	RemovedSessions() ([]Session, error)
	// Binding finds a binding of a session; ErrNotFound otherwise.
	Binding(session SessionID, name BindingName) (Binding, error)
	Bindings(session SessionID) ([]Binding, error)
	Connection(id ConnectionID) (Connection, error)
	Connections() ([]Connection, error)
	// BindingsOf lists the bindings that use a connection, by session and name.
	BindingsOf(connection ConnectionID) ([]Binding, error)
	// Observations lists the set of a session in order of first sight; an empty id lists all sessions'.
	Observations(session SessionID) ([]Observation, error)
	CountObservations(session SessionID) (int, error)
	// Latch is the latch of a session; ErrNotFound where it is not set.
	Latch(session SessionID) (Latch, error)
}

type peopleView interface {
	// Person finds somebody this store has a record of; ErrNotFound otherwise.
	Person(id PersonID) (Person, error)
	// People lists them by name.
	People() ([]Person, error)
	// RoleGrants lists the grants of a session, oldest first.
	RoleGrants(session SessionID) ([]RoleGrant, error)
	// GrantsTo lists the grants to a person, in all sessions.
	GrantsTo(person PersonID) ([]RoleGrant, error)
}

type ruleView interface {
	// Rule finds one, also a removed one; ErrNotFound otherwise.
	Rule(id RuleID) (Rule, error)
	// Rules lists the rules of a session that were not removed, oldest first; an empty id lists all sessions'.
	Rules(session SessionID) ([]Rule, error)
}

type ruleTx interface {
	// InsertRule gives the rule its id.
	InsertRule(*Rule) error
	// RemoveRule ends a rule; ErrNotFound where there is none that is not removed.
	RemoveRule(id RuleID, at time.Time) error
	// UseRule counts one approval by a rule.
	UseRule(id RuleID) error
}

type peopleTx interface {
	// InsertPerson adds somebody. A name or a key that another has is ErrNameTaken.
	InsertPerson(Person) error
	// PutAccount says who a person is at the services of a kind, in place of what was said before.
	PutAccount(person PersonID, account Account) error
	// PutRoleGrant puts a grant in the place of the one of the same giver to the same person.
	PutRoleGrant(RoleGrant) error
	// RemoveRoleGrants takes away the grants to a person in a session, those of one giver or, where it is empty, of all,
	// and says how many there were.
	RemoveRoleGrants(session SessionID, person, giver PersonID) (int, error)
	// SetLatch sets the latch of a session; false where it was set before, which stays as it is.
	SetLatch(Latch) (bool, error)
}

type sessionTx interface {
	// InsertSession gives the session its id. A name that is taken is ErrNameTaken.
	InsertSession(*Session) error
	RenameSession(id SessionID, name string, at time.Time) error
	// RemoveSession hides a session and sets its name free.
	RemoveSession(id SessionID, authority string, at time.Time) error
	// RestoreSession brings a hidden session back under a name; one that is taken is ErrNameTaken.
	RestoreSession(id SessionID, name string, at time.Time) error
	// PurgeSession removes the content of a hidden session and leaves its rows.
	PurgeSession(id SessionID, at time.Time) error
	// CopySession copies what a session was after a turn into a new one: its live bindings over connections of its
	// owner, its set, its turns with all that was said in them, and the real ids that its provisional ones were bound to. Nothing that waits is copied.
	CopySession(from, to SessionID, turn int) error
	// InsertConnection gives the connection its id.
	InsertConnection(*Connection) error
	// RemoveConnection hides a connection from all but what names it; its id is never given again. ErrNotFound when there
	// is none.
	RemoveConnection(id ConnectionID, at time.Time) error
	// InsertBinding puts a binding in the place of one with its name that was removed; a live one is ErrNameTaken. One that
	// comes back as it was keeps when it was made: what was queued through it goes where it went.
	InsertBinding(Binding) error
	// RemoveBinding hides a binding from calls; actions and units made through it stay. ErrNotFound when there is none.
	RemoveBinding(session SessionID, name BindingName, at time.Time) error
	// Observe adds what is new to the set of a session and leaves the rest as it is (kernel R4).
	Observe(session SessionID, turn int, at time.Time, found []Found) error
}

type actionView interface {
	// Action finds an action with its content; ErrNotFound otherwise.
	Action(id ActionID) (Action, error)
	// ActionState is Action without args, payload, fields and values, for what only looks at states. Its Draft still has kind,
	// lane, title, flags, targets, base, provides and references.
	ActionState(id ActionID) (Action, error)
	// LiveEffects lists the live actions of a session on a resource that touch one of the targets, in id order,
	// each once; work grows with what matches, not with what is live elsewhere (P6).
	LiveEffects(session SessionID, resource string, targets []Selector) ([]LiveEffect, error)
	// TargetsVersion grows whenever an action of the session that touches one of the targets changes, is added or ends.
	TargetsVersion(session SessionID, resource string, targets []Selector) (int64, error)
	// OpenActions lists what is undecided in a session, in id order, without content.
	OpenActions(session SessionID) ([]Action, error)
	// CountOpen counts pending and claimed actions of a binding (kernel R24).
	CountOpen(session SessionID, binding BindingName) (int, error)
	// Names finds those provisional ids of a session at a resource that are among the words, or whose real ids are; next
	// is the first free number. Work grows with the words, not with how many ids there are.
	Names(session SessionID, resource string, words []string) (names Names, next int, err error)
	// RevertsOf lists the actions that were queued to revert one, in id order, whatever became of them.
	RevertsOf(id ActionID) ([]ActionID, error)
	// UndoPart is one part of the undo data of an action, counted from 0, 1 MiB at most; ErrNotFound behind the last.
	UndoPart(id ActionID, part int) ([]byte, error)
	// Dependents lists live or stranded actions with a reference to a provider, in id order.
	Dependents(provider ActionID) ([]Dependent, error)
	// OpenClaim finds the action claimed at a connection; false where there is none.
	OpenClaim(connection ConnectionID) (Action, bool, error)
	// Claimed lists every claimed action, without content.
	Claimed() ([]Action, error)
	// Stale lists pending and retryable actions whose drift is DriftStale; an empty session is all that are not hidden.
	Stale(session SessionID) ([]ActionID, error)
	// Queue is one page of the list of actions and questions.
	Queue(QueueQuery) (QueuePage, error)
	// RejectedInTurn reports whether an action with this digest, submitted in this turn, was rejected (K52).
	RejectedInTurn(session SessionID, turn int, digest Digest) (ActionID, bool, error)
	// Plan finds the stored result of a confirmed plan; ErrNotFound otherwise.
	Plan(id PlanID) (PlanRecord, error)
	// Plans lists the newest confirmed plans first.
	Plans(limit int) ([]PlanRecord, error)
}

// LiveEffect is a live action as the journal needs it.
type LiveEffect struct {
	Effect
	Lane      Lane
	Retryable bool
}

// Dependent is an action that refers to another.
type Dependent struct {
	Action ActionID
	Name   string
	Needs  bool // else it only comes after
	State  State
}

type actionTx interface {
	// InsertAction gives the action its id and version 1 and registers targets, references and provisional ids.
	InsertAction(*Action) error
	// ChangeAction writes everything of an action but its content where the row still has before.Version; false means
	// that someone was first. The new version is set in after.
	ChangeAction(before Action, after *Action) (bool, error)
	// ReplaceDraft is ChangeAction that also puts a fresh draft, its targets, references and digest in place of the old.
	ReplaceDraft(before Action, after *Action) (bool, error)
	// StoreUndo keeps the bytes that undo an action, UndoLimit at most, and says how many there were.
	StoreUndo(id ActionID, data io.Reader) (int64, error)
	// BindNames records what the service made of what an action provides; a real id is never replaced.
	BindNames(id ActionID, created []Created) error
	// InsertPlan stores a plan as confirmed, every item not started; a second insert of one id is ErrPlanConfirmed.
	InsertPlan(PlanRecord) error
	SetPlanItem(plan PlanID, id ActionID, outcome ItemOutcome, reason string) error
	FinishPlan(plan PlanID, at time.Time) error
	// DismissPlan notes that a person has seen the result of a plan of theirs; one that does not exist is ErrNotFound.
	DismissPlan(plan PlanID, by PersonID) error
}

type personalView interface {
	// Drafts lists the drafted decisions of a person, oldest first.
	Drafts(person PersonID) ([]DraftedDecision, error)
	// Opened reports which of the ids were opened by a person at their present digest.
	Opened(person PersonID, ids []ActionID) (map[ActionID]bool, error)
	// OperatorKey finds who made a key, by its hash; ErrNotFound otherwise.
	OperatorKey(hash string) (PersonID, error)
}

type personalTx interface {
	// PutDraft stores or replaces a person's draft on an action.
	PutDraft(DraftedDecision) error
	// DropDrafts removes drafts of a person; no ids removes all.
	DropDrafts(person PersonID, ids []ActionID) error
	// MarkOpened is true when that person had not opened that digest before.
	MarkOpened(person PersonID, id ActionID, digest Digest, at time.Time) (bool, error)
	InsertOperatorKey(hash string, person PersonID, at time.Time) error
}

type recorder interface {
	// Append adds a row to the record within this transaction.
	Append(Entry) error
}

type recordView interface {
	// Rows lists rows of the record after a place in it, oldest first.
	Rows(RecordQuery) ([]Row, error)
	// EachRow walks the whole record in bounded memory, in order of Seq, and gives the head that was kept.
	EachRow(fn func(seq int64, blob []byte, prev, hash Digest) error) (Head, error)
}

// RecordQuery picks rows of the record. Zero fields pick everything.
type RecordQuery struct {
	Session SessionID
	Turn    int // of the session; 0 is any
	Types   []EventType
	Subject string   // exactly, such as "action 12"
	Who     string   // part of the actor, in any case of ASCII letters
	Words   []string // each is somewhere in the row, in any case of ASCII letters; not in its time, its number or a hash of the chain
	After   int64    // rows with a larger Seq
	UpTo    int64    // rows with this Seq or a smaller one, if not zero; the order stays
	Before  int64    // rows with a smaller Seq, newest first, if not zero
	Limit   int      // 0 is 1,000
}

// DraftedDecision is a decision on a row that nobody has carried out yet (T1). It is a person's own.
type DraftedDecision struct {
	Person  PersonID
	Action  ActionID
	Digest  Digest
	Verdict Verdict
	Reason  string
	At      time.Time
}

// Clock is where time comes from.
type Clock interface{ Now() time.Time }

// Rand is where ids that must not be guessed or repeated come from; it fills the slice.
type Rand interface{ Read([]byte) (int, error) }

// Alive tells whether a process still runs, by the lock it holds and the boot it belongs to (kernel R19).
type Alive interface {
	// Self is this process; its lock is held until it ends.
	Self() ProcessID
	Alive(ProcessID) bool
}

// Fault is asked at every named point of a change; an error there is what a failure at that point would be.
// The program passes NoFault; tests pass one that fails or kills the process (design: faults are passed in).
type Fault interface{ At(FaultPoint) error }

// FaultPoint names a moment at which a process may die.
type FaultPoint string

// The fault points, in the order in which a submit and a confirm pass them.
const (
	FaultSubmitPrepared    FaultPoint = "submit.prepared"    // prepared, nothing stored
	FaultSubmitInside      FaultPoint = "submit.inside"      // within the transaction
	FaultSubmitStored      FaultPoint = "submit.stored"      // stored, not answered
	FaultConfirmStart      FaultPoint = "confirm.start"      // plan shown, nothing stored
	FaultConfirmStored     FaultPoint = "confirm.stored"     // plan stored, nothing decided
	FaultConfirmRejected   FaultPoint = "confirm.rejected"   // rejects stored
	FaultConfirmBase       FaultPoint = "confirm.base"       // base asked for, not claimed
	FaultConfirmClaiming   FaultPoint = "confirm.claiming"   // within the claim's transaction
	FaultConfirmClaimed    FaultPoint = "confirm.claimed"    // claimed, nothing sent
	FaultConfirmDispatched FaultPoint = "confirm.dispatched" // the effect returned, its outcome is not stored
	FaultConfirmOutcome    FaultPoint = "confirm.outcome"    // outcome stored
	FaultConfirmFinish     FaultPoint = "confirm.finish"     // all carried out, plan not closed
)

// FaultPoints lists them all.
func FaultPoints() []FaultPoint {
	return []FaultPoint{
		FaultSubmitPrepared, FaultSubmitInside, FaultSubmitStored, FaultConfirmStart, FaultConfirmStored,
		FaultConfirmRejected, FaultConfirmBase, FaultConfirmClaiming, FaultConfirmClaimed, FaultConfirmDispatched,
		FaultConfirmOutcome, FaultConfirmFinish,
	}
}

// NoFault never fails.
type NoFault struct{}

// At is nil.
func (NoFault) At(FaultPoint) error { return nil }

// Answer is the stored answer of a call (kernel R30); core alone turns it into a Released again.
type Answer struct {
	Session  SessionID
	Turn     int
	Step     int
	CallID   string
	ArgsHash string
	Body     json.RawMessage
}
