package tui

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/tui/term"
)

// Runner runs agents in this process. Its methods are called off the loop.
type Runner interface {
	// Run starts a turn with a task, or continues the open one where the task
	// is empty. It returns when the turn has ended, and stays while it is
	// suspended. The end of the context stops a turn that works, and leaves a
	// suspended one. Observe is called in order.
	Run(ctx context.Context, session core.SessionID, task string, observe func(agent.Event)) error
	// Say tells a turn that is open something at its next step.
	Say(ctx context.Context, session core.SessionID, text string, kind core.MessageKind) error
	// Steps is the limit of steps of a turn.
	Steps() int
}

// Limits of the composer.
const (
	composerRows = 5        // drawn at most
	composerLine = 64 << 10 // graphemes of a line
)

// turnFeed takes events from the goroutine of a turn to the loop, which it
// wakes: a token that arrives is not waited for by looking.
type turnFeed struct {
	mu     sync.Mutex
	events []agent.Event
	wake   chan struct{} // holds one
	ended  chan struct{} // closed when the turn left its runner
}

func newTurnFeed() *turnFeed {
	return &turnFeed{wake: make(chan struct{}, 1), ended: make(chan struct{})}
}

func (f *turnFeed) put(e agent.Event) {
	f.mu.Lock()
	f.events = append(f.events, e)
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *turnFeed) take() []agent.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	events := f.events
	f.events = nil
	return events
}

// hears makes a Cmd that waits for the next events of a turn. Those that come
// while a frame is made are taken with the next one, so that a flood of them
// makes no flood of frames.
func (f *turnFeed) hears(ctx context.Context, session core.SessionID) term.Cmd {
	return func() term.Msg {
		select {
		case <-f.wake:
			return turnFeedMsg{session, f}
		case <-f.ended: // what is left is taken with the end
		case <-ctx.Done():
		}
		return nil
	}
}

// composer is the line, or the lines, in which a person writes to the agent.
type composer struct {
	rows    []input
	at      int
	history []string
	back    int // how far back in the history; 0 is what is being written
	kept    string
	focused bool
}

func newComposer() composer {
	c := composer{}
	c.set("")
	return c
}

func (c *composer) text() string {
	lines := make([]string, len(c.rows))
	for i := range c.rows {
		lines[i] = c.rows[i].text()
	}
	return strings.Join(lines, "\n")
}

func (c *composer) set(s string) {
	c.rows, c.at = []input{{limit: composerLine}}, 0
	c.insert(s)
}

// insert puts text at the cursor, line breaks included.
func (c *composer) insert(s string) {
	for i, part := range strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n") {
		for j, piece := range strings.Split(part, "\r") {
			if i+j > 0 {
				c.split()
			}
			if piece != "" {
				c.rows[c.at].insert(piece)
			}
		}
	}
}

// split breaks the line at the cursor.
func (c *composer) split() {
	row := &c.rows[c.at]
	rest := append([]string{}, row.value[row.at:]...)
	row.value = row.value[:row.at:row.at]
	c.at++
	tail := append([]input{{value: rest, limit: composerLine}}, c.rows[c.at:]...)
	c.rows = append(c.rows[:c.at:c.at], tail...)
}

// rubOut takes the character before the cursor away, or the line break.
func (c *composer) rubOut() {
	row := &c.rows[c.at]
	if row.at > 0 || c.at == 0 {
		row.key(term.KeyMsg{Name: "backspace"})
		return
	}
	before := &c.rows[c.at-1]
	before.at = len(before.value)
	before.value = append(before.value[:before.at:before.at], row.value...)
	c.rows = append(c.rows[:c.at:c.at], c.rows[c.at+1:]...)
	c.at--
}

// vertical goes to another line, and beyond the ends through the history.
func (c *composer) vertical(by int) {
	if to := c.at + by; to >= 0 && to < len(c.rows) {
		at := c.rows[c.at].at
		c.at = to
		c.rows[to].at = min(at, len(c.rows[to].value))
		return
	}
	back := c.back - by
	if back < 0 || back > len(c.history) {
		return
	}
	if c.back == 0 {
		c.kept = c.text()
	}
	c.back = back
	if back == 0 {
		c.set(c.kept)
		return
	}
	c.set(c.history[len(c.history)-back])
}

// sent empties the composer and remembers what stood in it.
func (c *composer) sent(s string) {
	c.history = append(c.history, s)
	c.back = 0
	c.set("")
}

// draw shows the lines around the cursor.
func (c *composer) draw(t *theme, width int, hint string) []string {
	if !c.focused && c.text() == "" {
		return []string{t.spans(width, span{roleMuted, " › " + hint})}
	}
	var lines []string
	first := max(0, c.at-composerRows+1)
	for i := first; i < len(c.rows) && len(lines) < composerRows; i++ {
		sign := "   "
		if i == 0 {
			sign = " › "
		}
		text := pad(c.rows[i].text(), width-4)
		if i == c.at && c.focused {
			text = c.rows[i].draw(width - 4)
		}
		lines = append(lines, t.spans(width, span{roleAccent, sign}, span{rolePlain, text}))
	}
	return lines
}

// choiceOf reads the answer to a question: the number of a choice, or any text
// where there are none.
func choiceOf(q core.Question, typed string) (string, bool) {
	if len(q.Choices) == 0 {
		return typed, strings.TrimSpace(typed) != ""
	}
	n, err := strconv.Atoi(strings.TrimSpace(typed))
	if err != nil || n < 1 || n > len(q.Choices) {
		return "", false
	}
	return q.Choices[n-1], true
}
