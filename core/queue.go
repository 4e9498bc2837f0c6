package core

import "time"

// QueueKindQuestion is the kind under which questions stand in the queue (kernel R32).
const QueueKindQuestion = "question"

// QueueOrder is the order of a queue page. The zero value is by id.
type QueueOrder string

// The orders of the queue. Groups keep items of one value together, in the order of their values, then by id.
const (
	OrderID      QueueOrder = ""
	OrderSession QueueOrder = "session"
	OrderKind    QueueOrder = "kind"
	OrderBinding QueueOrder = "binding"
)

// QueueQuery picks one window of the queue. All filtering happens in the store (T6); zero fields pick everything.
type QueueQuery struct {
	Session  SessionID
	Turn     int // with Session
	IDs      []ActionID
	States   []string // states of actions and of questions; none is all that is undecided or open
	AllState bool     // every state
	Kinds    []string
	Risk     Risk
	Words    []string // each must occur in the title, whatever the case of letters
	Grep     string   // must occur in a field, whatever the case of letters
	UpTo     ActionID // ids at most this one: what arrived later stays out until it is asked for (T4)

	Order  QueueOrder
	After  *QueuePlace // rows behind this place, first ones first
	Before *QueuePlace // rows in front of it, last ones first
	Last   bool        // the end of the list, last ones first
	Limit  int         // 0 is 200
	Count  bool        // also count all rows that match
}

// QueuePlace is where a row stands in an order; it stays good when rows come and go.
type QueuePlace struct {
	Group string
	ID    ActionID
}

// QueueRow is an action or a question in a list.
type QueueRow struct {
	Summary
	SessionName string
	Place       QueuePlace
	Reason      string
	Version     int64
	Caller      Caller
	Question    *Question // set for questions, whose Kind is QueueKindQuestion
}

// QueuePage is one window.
type QueuePage struct {
	Rows  []QueueRow
	More  bool // there are rows beyond it in the direction asked for
	Total int  // with QueueQuery.Count
	// Counts over everything undecided in the store, for the header; with QueueQuery.Count.
	Waiting, Drifted, Unknown, Questions int
	Newest                               ActionID // the largest id in the queue
}

// QuestionState is where a question stands (kernel R32).
type QuestionState string

// The states of a question.
const (
	QuestionOpen      QuestionState = "open"
	QuestionAnswered  QuestionState = "answered"
	QuestionWithdrawn QuestionState = "withdrawn"
	QuestionExpired   QuestionState = "expired"
)

// Question waits for a person; it is never answered by itself (kernel R32).
type Question struct {
	ID        ActionID
	Session   SessionID
	Caller    Caller
	Text      string
	Choices   []string // empty: any answer
	State     QuestionState
	Answer    string
	Reason    string
	AskedAt   time.Time
	DecidedAt time.Time
	DecidedBy PersonID
	Version   int64
}
