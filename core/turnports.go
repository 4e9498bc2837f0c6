package core

import "time"

// turnView and turnTx are what calls need of turns; the rest is what running turns needs.
type turnView interface {
	turnsView
	// Answer finds the stored answer of a call in a turn by its id and arguments; ErrNotFound otherwise (kernel R30).
	Answer(session SessionID, turn int, callID, argsHash string) (Answer, error)
}

type turnTx interface {
	turnsTx
	InsertAnswer(Answer) error
	// InsertNotice keeps a change of an agent's action until the agent was told (agent 3).
	InsertNotice(Notice) error
}

// Notice is a change of one of an agent's actions, or an answer, that its next step is told once.
type Notice struct {
	ID      int64 // the store's, in the order in which they came
	Session SessionID
	Turn    int // the turn that made the action; notices go to the newest step of the session
	Action  ActionID
	State   string // a State, or a QuestionState
	Title   string
	Reason  string
	At      time.Time
}

type turnsView interface {
	// Lease is who may run the session's turn; the zero value where nobody does.
	Lease(session SessionID) (Lease, error)
	// NewestTurn finds the last turn of a session; ErrNotFound where there is none.
	NewestTurn(session SessionID) (Turn, error)
	// Turns lists the turns of a session in order.
	Turns(session SessionID) ([]Turn, error)
	// NewestStep finds the last step of a turn; ErrNotFound where there is none.
	NewestStep(session SessionID, turn int) (Step, error)
	// Steps lists the steps of all turns of a session in order.
	Steps(session SessionID) ([]Step, error)
	// Answers lists the stored answers of a session.
	Answers(session SessionID) ([]Answer, error)
	// Messages lists what was typed in a session, in the order in which it came; those without a turn wait.
	Messages(session SessionID) ([]Message, error)
	// QueuedMessages lists those that wait.
	QueuedMessages(session SessionID) ([]Message, error)
	// UntoldNotices lists what the agent of a session was not told yet, in the order in which it came.
	UntoldNotices(session SessionID) ([]Notice, error)
	// Waiting lists what keeps a turn from going on after a step: awaited actions that are pending or claimed and
	// questions that are open (kernel R27), in id order. Step 0 is all of the turn.
	Waiting(session SessionID, turn, step int) ([]Waiting, error)
	// Spent sums what models took since a moment; an empty session is all. One estimate makes the sum an estimate.
	Spent(session SessionID, since time.Time) (Usage, error)
}

type turnsTx interface {
	// SetLease is a compare-and-set on holder and token; the zero value is no lease.
	SetLease(session SessionID, before, after Lease) (bool, error)
	// InsertTurn gives the turn its number, the next of its session, and version 1.
	InsertTurn(*Turn) error
	// ChangeTurn is a compare-and-set on Version.
	ChangeTurn(before Turn, after *Turn) (bool, error)
	InsertStep(Step) error
	// CloseStep marks a step as answered whole.
	CloseStep(session SessionID, turn, step int, at time.Time) error
	// InsertMessage gives the message its id.
	InsertMessage(*Message) error
	// DeliverMessages and TellNotices mark what a step's model was told; what was told before stays as it is.
	DeliverMessages(session SessionID, turn, step int, ids []int64) error
	TellNotices(session SessionID, turn, step int, ids []int64) error
	// InsertSpending gives the row its id; SetSpending puts what was counted in the place of an estimate.
	InsertSpending(*Spending) error
	SetSpending(id int64, u Usage) error
}

type questionView interface {
	// Question finds a question; ErrNotFound otherwise.
	Question(id ActionID) (Question, error)
}

type questionTx interface {
	// InsertQuestion gives the question its id, from the sequence that actions use.
	InsertQuestion(*Question) error
	// ChangeQuestion is a compare-and-set on Version.
	ChangeQuestion(before Question, after *Question) (bool, error)
}
