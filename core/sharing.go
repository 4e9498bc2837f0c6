package core

import (
	"fmt"
	"strings"
	"time"
)

// ShareLevel is what a file gives, and who verifies when (sharing 1). The zero value is no level.
type ShareLevel string

// The levels. A blueprint is a file of another kind, without data.
const (
	LevelBlueprint ShareLevel = "blueprint"
	LevelReplay    ShareLevel = "replay"
	LevelSealed    ShareLevel = "sealed"
	LevelArchive   ShareLevel = "archive"
)

// Says is what a level promises, in one sentence.
func (l ShareLevel) Says() string {
	switch l {
	case LevelBlueprint:
		return "no data: shapes, skills, code and instructions"
	case LevelReplay:
		return "what was asked and called before the first source that is not cleared, no results; the recipient's own reads show the data again"
	case LevelSealed:
		return "what was said and read; every source was cleared for the recipients when it was sent and is checked again when it is opened, and access lost later is not enforced"
	case LevelArchive:
		return "everything, sealed to yourself"
	default:
		return "no level"
	}
}

// Share is a session file that was made here, or rather the row of those that take each other's place.
type Share struct {
	Session  SessionID
	Level    ShareLevel
	Audience string // hash over the keys of the recipients
	File     string
	Serial   uint64
	Manifest string // hash of the newest that was written whole; empty before
	At       time.Time
}

// SeenFile is what a store remembers of a file of some sender.
type SeenFile struct {
	Sender  string // signing key
	File    string
	Serial  uint64 // the newest that was opened
	Revoked uint64 // the newest that the sender took back
	At      time.Time
}

// Imported says where a session came from that was opened out of a file.
type Imported struct {
	Session     SessionID
	File        string
	Serial      uint64
	Level       ShareLevel
	Sender      PersonID
	Until       int
	At          time.Time
	ContinuedAt time.Time // zero while it is only to be looked at
}

// StoredProposal is a proposal with what became of it.
type StoredProposal struct {
	Proposal
	Action ActionID `json:"action"` // what it was submitted as; 0 while it was not
}

// sharedView and sharedTx are what sharing needs of a store.
type sharedView interface {
	// Share finds what was made of a session for an audience; ErrNotFound otherwise. ShareOf finds it by its file.
	Share(session SessionID, level ShareLevel, audience string) (Share, error)
	ShareOf(file string) (Share, error)
	// SeenFiles lists what was seen under the id of a file, from all senders.
	SeenFiles(file string) ([]SeenFile, error)
	// Imported says where a session came from; ErrNotFound for one that was made here.
	Imported(session SessionID) (Imported, error)
	// Proposals lists the proposals of a session by number.
	Proposals(session SessionID) ([]StoredProposal, error)
	// TurnSteps, TurnMessages and TurnAnswers are Steps, Messages and Answers of one turn: a session may be large.
	TurnSteps(session SessionID, turn int) ([]Step, error)
	TurnMessages(session SessionID, turn int) ([]Message, error)
	TurnAnswers(session SessionID, turn int) ([]Answer, error)
}

type sharedTx interface {
	// PutShare puts a row in the place of the one of its session, level and audience.
	PutShare(Share) error
	// PutSeenFile keeps the larger serials of what is there and what is given.
	PutSeenFile(SeenFile) error
	// InsertImported makes a session one that can only be looked at.
	InsertImported(Imported) error
	// ContinueImported ends that; false where it was ended before.
	ContinueImported(session SessionID, at time.Time) (bool, error)
	InsertProposal(session SessionID, p Proposal) error
	// SubmitProposal notes what a proposal was submitted as.
	SubmitProposal(session SessionID, number int, action ActionID) error
}

// ExportLine is whether one person may read one unit, asked from the side of whoever sends.
type ExportLine struct {
	Person PersonID
	Unit   Unit
	Check  AccessCheck
}

// ExportDeniedError is a session that may not leave as was asked. It is for its owner: it names units and people.
type ExportDeniedError struct {
	Session SessionID
	Level   ShareLevel
	Lines   []ExportLine // those that did not pass
	Offers  []ShareLevel // what could be made instead
}

func (e *ExportDeniedError) Error() string {
	first := e.Lines[0]
	more := ""
	if n := len(e.Lines) - 1; n > 0 {
		more = fmt.Sprintf(", and %d more", n)
	}
	return fmt.Sprintf("session %s: not %s for %s: %s: %s%s", e.Session, e.Level, first.Person, first.Unit, first.Check, more)
}

// Hint says what could be made instead.
func (e *ExportDeniedError) Hint() string {
	words := make([]string, len(e.Offers))
	for i, l := range e.Offers {
		words[i] = "--level " + string(l)
	}
	return "offered instead: " + strings.Join(words, ", ") + "; or a prefix with --until TURN"
}

// ReadOnlyError refuses work in a session that came in a file and was not continued.
type ReadOnlyError struct{ Session SessionID }

func (e *ReadOnlyError) Error() string {
	return fmt.Sprintf("session %s: came in a file and is only to be looked at", e.Session)
}

// Hint says how to go on.
func (e *ReadOnlyError) Hint() string {
	return "gatehouse session continue " + string(e.Session) + " makes it one to work in, with connections of your own"
}

// FileRefusedError is a file that is whole, and does not open: it is past its time, taken back, or older than one that
// was opened before.
type FileRefusedError struct {
	File   string
	Reason string
	Hint   string
	Stale  bool // older than one seen: a fault of the file, and nobody's decision
}

func (e *FileRefusedError) Error() string { return "file " + shortFile(e.File) + ": " + e.Reason }

func shortFile(id string) string { return id[:min(8, len(id))] }

// writable refuses work in a session that is only to be looked at.
func writable(s Session) error {
	if s.ReadOnly {
		return &ReadOnlyError{Session: s.ID}
	}
	return nil
}
