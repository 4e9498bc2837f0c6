package core

import "time"

// turnView and turnTx are what calls need of turns; the rest is declared where turns are run.
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
	Session SessionID
	Turn    int // the turn that made the action; notices go to the newest step of the session
	Action  ActionID
	State   string // a State, or a QuestionState
	Title   string
	Reason  string
	At      time.Time
}

type turnsView interface{}

type turnsTx interface{}

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
