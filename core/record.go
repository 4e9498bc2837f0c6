package core

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// EventType is what a row of the record says happened (kernel R33).
type EventType string

// The events of the record. Rows hold ids, counts and hashes, never content (kernel R5, R35).
const (
	EventSession    EventType = "session"    // made, renamed, removed, restored or purged
	EventBind       EventType = "bind"       // a connection was introduced into a session
	EventUnbind     EventType = "unbind"     //
	EventConnect    EventType = "connect"    // a connection was made
	EventDisconnect EventType = "disconnect" // a connection was taken away
	EventRead       EventType = "read"       // data was released
	EventBlocked    EventType = "blocked"    // a read or its result was refused
	EventSubmit     EventType = "submit"     // an action was queued
	EventPlan       EventType = "plan"       // a plan was confirmed
	EventDecision   EventType = "decision"   // a person approved, rejected or settled
	EventClaim      EventType = "claim"      // the effect is about to be sent
	EventOutcome    EventType = "outcome"    // how it ended
	EventStrand     EventType = "strand"     // cannot happen because a provider will not
	EventDrift      EventType = "drift"      // the base moved; a fresh digest where there is one
	EventOpened     EventType = "opened"     // a person looked at an action
	EventQuestion   EventType = "question"
	EventAnswer     EventType = "answer"
	EventTurn       EventType = "turn"    // started, suspended, resumed, ended
	EventEgress     EventType = "egress"  // something left, or was about to
	EventKey        EventType = "key"     // an operator key was made
	EventLatch      EventType = "latch"   // an owner-only unit was read; the session is its owner's alone from here
	EventPerson     EventType = "person"  // somebody was added, or tied to an account
	EventGrant      EventType = "grant"   // a role was given or taken
	EventOpen       EventType = "open"    // somebody other than the owner was let in, or was not
	EventShare      EventType = "share"   // a session file was made, or taken back
	EventImport     EventType = "import"  // a session came out of a file, was continued, or was not let in
	EventAnchor     EventType = "anchor"  // a person accepted the record as it is against its anchor
	EventLibrary    EventType = "library" // a person published, imported, edited, deleted or pinned skills
	EventRule       EventType = "rule"    // made or removed
)

// EventTypes lists them all.
func EventTypes() []EventType {
	return []EventType{
		EventSession, EventBind, EventUnbind, EventConnect, EventDisconnect, EventRead, EventBlocked, EventSubmit, EventPlan,
		EventDecision, EventClaim, EventOutcome, EventStrand, EventDrift, EventOpened, EventQuestion, EventAnswer, EventTurn,
		EventEgress, EventKey, EventLatch, EventPerson, EventGrant, EventOpen, EventShare, EventImport, EventAnchor, EventLibrary, EventRule,
	}
}

// DecisionEvents are those in which a person decided something.
func DecisionEvents() []EventType { return []EventType{EventPlan, EventDecision, EventAnswer} }

// ParseEventTypes reads names of events, and decisions for all of DecisionEvents. The error names the first that is none,
// with those there are.
func ParseEventTypes(names []string) ([]EventType, error) {
	var out []EventType
	for _, name := range names {
		switch {
		case name == "decisions":
			out = append(out, DecisionEvents()...)
		case slices.Contains(EventTypes(), EventType(name)):
			out = append(out, EventType(name))
		default:
			known := []string{"decisions"}
			for _, t := range EventTypes() {
				known = append(known, string(t))
			}
			return nil, fmt.Errorf("%q: not in the record; there are %s", name, strings.Join(known, ", "))
		}
	}
	return out, nil
}

// Entry is a row of the record before it has a place in the chain. Subject names what it is about, such as "action 12".
type Entry struct {
	At        time.Time       `json:"at"`
	Type      EventType       `json:"type"`
	Session   SessionID       `json:"session,omitempty"`
	Turn      int             `json:"turn,omitempty"`
	Actor     string          `json:"actor"`               // who: a person, an agent's model, a client
	Authority string          `json:"authority,omitempty"` // on whose authority, and how it was given
	Rule      string          `json:"rule,omitempty"`
	Units     []Unit          `json:"units,omitempty"`
	Digest    string          `json:"digest,omitempty"`
	Subject   string          `json:"subject,omitempty"`
	Detail    json.RawMessage `json:"detail,omitempty"` // an object of ids, counts, states and hashes
}

// Row is an entry in the chain.
type Row struct {
	Seq   int64
	Entry Entry
	Blob  []byte // canonical JSON of the entry; the hash is over these bytes
	Prev  Digest
	Hash  Digest
}

// Seal fixes an entry behind the row before it. The first row follows the zero digest.
func (e Entry) Seal(seq int64, prev Digest) (Row, error) {
	e.At = e.At.UTC()
	blob, err := canonical(e)
	if err != nil {
		return Row{}, fmt.Errorf("log row %d: %w", seq, err)
	}
	hash, _ := chainHash(nil, seq, prev, blob)
	return Row{Seq: seq, Entry: e, Blob: blob, Prev: prev, Hash: hash}, nil
}

// chainHash also gives back the buffer that it wrote into, for the next row: a verification hashes a million of them.
func chainHash(buf []byte, seq int64, prev Digest, blob []byte) (Digest, []byte) {
	buf = append(buf[:0], "gatehouse record 1\n"...)
	buf = strconv.AppendInt(buf, seq, 10)
	buf = append(buf, '\n')
	buf = hex.AppendEncode(buf, prev[:])
	buf = append(buf, '\n')
	buf = append(buf, blob...)
	return sha256.Sum256(buf), buf
}

// Head is the newest row of the chain as the store keeps it beside the rows, so that a cut tail is found.
type Head struct {
	Seq  int64
	Hash Digest
}

// BadRow names the first row of a record that is not what was written.
type BadRow struct {
	Seq    int64  `json:"seq"`
	Reason string `json:"reason"`
}

// Verification is the result of walking a chain.
type Verification struct {
	Rows     int64
	FirstBad *BadRow
	Anchored Anchored // what the anchor outside the file says, where it was asked
}

// OK reports that every row is as it was written.
func (v Verification) OK() bool { return v.FirstBad == nil }

// Verifier walks a chain row by row in order of Seq (K62).
type Verifier struct {
	next Verification
	prev Digest
	buf  []byte // what is hashed; kept from row to row
}

// Add checks the next row; after the first bad one it only counts.
func (v *Verifier) Add(seq int64, blob []byte, prev, hash Digest) {
	v.next.Rows++
	want := v.next.Rows
	switch {
	case v.next.FirstBad != nil:
	case seq != want:
		v.bad(want, fmt.Sprintf("row %d is missing, row %d stands in its place", want, seq))
	case prev != v.prev:
		v.bad(seq, "does not follow the row before it")
	case v.hash(seq, prev, blob) != hash:
		v.bad(seq, "content was changed")
	}
	v.prev = hash
}

func (v *Verifier) hash(seq int64, prev Digest, blob []byte) (d Digest) {
	d, v.buf = chainHash(v.buf, seq, prev, blob)
	return d
}

// Finish compares the end of the chain with the head that the store keeps.
func (v *Verifier) Finish(head Head) Verification {
	switch {
	case v.next.FirstBad != nil:
	case head.Seq > v.next.Rows:
		v.bad(v.next.Rows+1, fmt.Sprintf("rows %d to %d are missing at the end", v.next.Rows+1, head.Seq))
	case head.Seq < v.next.Rows:
		v.bad(head.Seq+1, "was added behind the head")
	case head.Hash != v.prev:
		v.bad(head.Seq, "is not the head that was kept")
	}
	return v.next
}

func (v *Verifier) bad(seq int64, reason string) {
	v.next.FirstBad = &BadRow{Seq: seq, Reason: reason}
}

// textHash stands in the record for a text that stays elsewhere.
func textHash(s string) string {
	if s == "" {
		return ""
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(s)))
}

// detail makes the detail of an entry; a map is only ever built here and never fails to encode.
func detail(pairs map[string]any) json.RawMessage {
	raw, err := json.Marshal(pairs)
	if err != nil {
		panic("core: a log detail that is not JSON: " + err.Error())
	}
	return raw
}
