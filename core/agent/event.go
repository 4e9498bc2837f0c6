package agent

import (
	"fmt"
	"strings"

	"gatehouse/core"
	"gatehouse/core/text"
)

// EventKind says what an Event tells.
type EventKind string

// The kinds of events.
const (
	EventStarted   EventKind = "started"   // a turn began, or goes on
	EventDelta     EventKind = "delta"     // Text is a piece of a response that is being made
	EventDiscarded EventKind = "discarded" // the pieces since the last entry are void
	EventCalling   EventKind = "calling"   // Call is about to run
	EventEntry     EventKind = "entry"     // Entry is stored
	EventSuspended EventKind = "suspended" // Waiting is what has to be settled first
	EventUsage     EventKind = "usage"     // Usage is what the response that was just made took
	EventWarning   EventKind = "warning"   // Text is one line about a budget, told once a run and budget
)

// Event is one thing that happened in a running turn.
type Event struct {
	Kind    EventKind
	Turn    int
	Step    int
	Text    string
	Call    core.ToolCall
	Entry   core.TranscriptEntry
	Waiting []core.Waiting
	Usage   core.Usage
}

// valueWidth is how many code points of arguments and results a plain line shows.
const valueWidth = 160

// Lines renders an entry of a transcript as plain clean lines, as `run` and `session show` print them.
func Lines(e core.TranscriptEntry) []string {
	switch e.Kind {
	case core.TranscriptMessage:
		mark := "> "
		if e.Queued {
			mark = "> (waits) "
		}
		return block(mark, "  ", e.Text)
	case core.TranscriptNote:
		return block("* ", "  ", e.Text)
	case core.TranscriptCall:
		return callLines(e)
	case core.TranscriptTurn:
		return block("-- ", "   ", e.Text)
	default:
		return block("", "", e.Text)
	}
}

func block(first, rest, s string) []string {
	clean, _ := text.CleanBlock(s)
	lines := strings.Split(strings.TrimRight(clean, "\n"), "\n")
	for i, line := range lines {
		if i == 0 {
			lines[i] = first + line
		} else {
			lines[i] = rest + line
		}
	}
	return lines
}

// plainJSON takes away the escapes that are meant for web pages.
func plainJSON(s string) string {
	return strings.NewReplacer(`\\`, `\\`, `\u003c`, `<`, `\u003e`, `>`, `\u0026`, `&`).Replace(s)
}

func callLines(e core.TranscriptEntry) []string {
	name, _ := text.CleanLine(e.Call.Name, valueWidth)
	args, _ := text.CleanLine(e.Call.Args, valueWidth)
	lines := []string{fmt.Sprintf("  %s %s", name, args)}
	r := e.Result
	if !r.Valid() {
		return append(lines, "    not answered")
	}
	said := []string{string(r.Status())}
	if r.Action() != 0 {
		said = append(said, fmt.Sprintf("queued as %d", r.Action()))
	}
	if r.Pending() > 0 {
		said = append(said, fmt.Sprintf("pending %d", r.Pending()))
	}
	for _, gap := range r.Incomplete() {
		said = append(said, fmt.Sprintf("without action %d (%s)", gap.Action, gap.Reason))
	}
	line := "    " + strings.Join(said, ", ")
	if r.Reason() != "" {
		line += ": " + r.Reason()
	} else if value := string(r.Value()); value != "null" {
		line += ": " + plainJSON(value)
	}
	clean, _ := text.CleanLine(line, valueWidth)
	return append(lines, "    "+clean)
}
