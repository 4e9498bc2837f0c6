package core

import "time"

// Session is the unit of work and of sharing: it owns a transcript, bindings, an observation set, actions and questions.
type Session struct {
	ID        SessionID
	Name      string // unique in the store, one clean line
	Owner     PersonID
	CreatedAt time.Time
	UpdatedAt time.Time

	PeopleVersion int64 // grows with every change of who has a role; 0 was never shared
	Latched       bool  // see Latch; never false again once true (kernel R7)
	ReadOnly      bool  // came in a file and was not continued (sharing 3)

	Removed Removal // of a hidden session, whose Name is its id meanwhile
}

// SessionState says what a session is doing or waiting for.
type SessionState string

// The states of a session, as every front end and the JSON of the command line spell them.
const (
	SessionIdle            SessionState = "idle"
	SessionRunning         SessionState = "running"
	SessionWaitingDecision SessionState = "waiting-decision"
	SessionWaitingAnswer   SessionState = "waiting-answer"
	SessionReady           SessionState = "ready-to-resume"
	SessionFailed          SessionState = "failed"
)

// SessionSummary is one row of a list of sessions.
type SessionSummary struct {
	Session
	State      SessionState
	WaitingFor string // what a person would do next, one line; empty when nothing waits
	Pending    int    // actions pending or claimed
	Units      int    // size of the observation set
	People     int    // who was given a role beside the owner, whether or not it counts now
	Cost       Cost   // what its models took
}

// Connection is a person's account with credentials for one service. Credentials are never in it.
type Connection struct {
	ID      ConnectionID
	Kind    string // gatekeeper kind
	Name    string
	Owner   PersonID
	Service string // what units of it carry as Service
	Root    string // what the driver needs to find the service again: a folder, an address
	Labels  []string
	Readers []PersonID // who may read, as the owner says, for drivers that cannot ask
}

// Binding is one connection narrowed to one resource and introduced into one session, as env.NAME.
type Binding struct {
	Session    SessionID
	Name       BindingName
	URL        string // the whole narrowing; parser and printer of the driver are exact inverses (GK2)
	Kind       string
	Connection ConnectionID
	CreatedAt  time.Time
}
