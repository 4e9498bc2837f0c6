package tui

import (
	"fmt"
	"slices"
	"strings"

	"gatehouse/core"
)

// filter is what a person typed after /, taken apart.
type filter struct {
	text    string // as typed
	words   []string
	kinds   []string
	states  []string
	every   bool
	session string // name or id
	risk    core.Risk
	grep    string
}

// parseFilter reads words and kind:, session:, state:, risk:, grep:. An error
// is one line for the person who is still typing.
func parseFilter(s string) (filter, error) {
	f := filter{text: strings.TrimSpace(s)}
	for _, word := range strings.Fields(s) {
		name, value, found := strings.Cut(word, ":")
		if !found || value == "" {
			f.words = append(f.words, word)
			continue
		}
		if err := f.take(name, value, word); err != nil {
			return f, err
		}
	}
	return f, nil
}

func (f *filter) take(name, value, word string) error {
	switch name {
	case "kind":
		f.kinds = append(f.kinds, strings.Split(value, ",")...)
	case "session":
		f.session = value
	case "grep":
		f.grep = value
	case "risk":
		switch core.Risk(value) {
		case core.RiskHigh, core.RiskLow:
			f.risk = core.Risk(value)
		default:
			return fmt.Errorf("risk:%s: use risk:high or risk:low", value)
		}
	case "state":
		return f.takeStates(value)
	case "age", "unit":
		return fmt.Errorf("%s: is no filter of this screen; there are kind: session: state: risk: grep: and words", name)
	default:
		f.words = append(f.words, word)
	}
	return nil
}

func (f *filter) takeStates(value string) error {
	for _, state := range strings.Split(value, ",") {
		known := slices.Contains(core.States(), core.State(state)) ||
			slices.Contains([]core.QuestionState{core.QuestionOpen, core.QuestionAnswered, core.QuestionWithdrawn, core.QuestionExpired}, core.QuestionState(state))
		switch {
		case state == "all":
			f.every = true
		case known:
			f.states = append(f.states, state)
		default:
			return fmt.Errorf("state:%s: use pending, claimed, unknown, failed, stranded, applied, rejected, open or all", state)
		}
	}
	return nil
}

func (f filter) empty() bool { return f.text == "" }

// query is the part of a question to the store that picks rows.
func (f filter) query(session core.SessionID) core.QueueQuery {
	return core.QueueQuery{
		Session: session, States: f.states, AllState: f.every, Kinds: f.kinds, Risk: f.risk, Words: f.words, Grep: f.grep,
	}
}
