package tui

import (
	"strings"

	"gatehouse/core"
)

// recordFilter is what a person typed after / in the record, taken apart.
type recordFilter struct {
	text    string // as typed
	words   []string
	types   []core.EventType
	session string // name or id
	who     string
	subject string
}

// parseRecordFilter reads words, kind:, session:, who: and action:, and the
// short words decisions: and egress:. An error is one line for the person who
// is still typing.
func parseRecordFilter(s string) (recordFilter, error) {
	f := recordFilter{text: strings.TrimSpace(s)}
	for _, word := range strings.Fields(s) {
		name, value, found := strings.Cut(word, ":")
		switch {
		case word == "decisions:" || word == "egress:":
			types, err := core.ParseEventTypes([]string{name})
			if err != nil {
				return f, err
			}
			f.types = append(f.types, types...)
		case !found || value == "":
			f.words = append(f.words, word)
		case name == "kind":
			types, err := core.ParseEventTypes(strings.Split(value, ","))
			if err != nil {
				return f, err
			}
			f.types = append(f.types, types...)
		case name == "session":
			f.session = value
		case name == "who":
			f.who = value
		case name == "action":
			f.subject = "action " + strings.TrimPrefix(value, "#")
		default:
			f.words = append(f.words, word)
		}
	}
	return f, nil
}

func (f recordFilter) empty() bool { return f.text == "" }

// query is the part of a question to the store that picks rows.
func (f recordFilter) query(session core.SessionID) core.RecordQuery {
	return core.RecordQuery{Session: session, Types: f.types, Who: f.who, Subject: f.subject, Words: f.words}
}
