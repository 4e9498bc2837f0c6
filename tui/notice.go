package tui

import (
	"fmt"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/tui/term"
)

const (
	noticeWindow = 100         // rows that are compared; counts tell of older ones
	noticeEvery  = time.Second // between two bells or notes
)

// Notices say how a person is told that something starts to need them (T10).
// The zero value tells nothing.
type Notices struct {
	Bell     bool // the bell of the terminal
	Note     bool // a note on the desktop
	Status   bool // the program is said to wait, while it does
	Progress bool // how far a plan is that is carried out
}

// need is what a row needs a person for; empty is nothing.
type need string

const (
	needDecision need = "waiting"
	needAnswer   need = "question"
	needLook     need = "unknown"
	needDrifted  need = "drifted"
	needFailed   need = "failed"
	needTurn     need = "turn failed"
)

// needOf says what a row needs a person for.
func needOf(r core.QueueRow) need {
	switch {
	case r.Question != nil && r.Question.State == core.QuestionOpen:
		return needAnswer
	case r.Question != nil:
		return ""
	case r.State == core.StateUnknown:
		return needLook
	case r.State == core.StateFailed:
		return needFailed
	case r.State == core.StatePending && r.Drift != core.DriftNone:
		return needDrifted
	case r.State == core.StatePending:
		return needDecision
	}
	return ""
}

// notices compare what needs a person with what needed one before. The first
// look is the ground; what is there then is seen on the screen.
type notices struct {
	a   *app
	ask func() Notices // nil: nothing is told
	on  Notices
	gen int

	grounded bool
	known    map[core.ActionID]need
	newest   core.ActionID
	whole    bool // known held all that was undecided
	counts   core.QueuePage
	failed   map[core.SessionID]bool

	batch  []noticed
	last   time.Time // of a bell or note
	queued bool      // the batch is told when its time comes
}

// noticed is one thing that started to need a person. Its text is clean.
type noticed struct {
	need need
	line string
}

func newNotices(a *app, ask func() Notices) *notices { return &notices{a: a, ask: ask} }

type (
	// lookedMsg is what a look at the store found.
	lookedMsg struct {
		gen      int
		on       Notices
		page     core.QueuePage
		sessions []core.SessionSummary
		err      error
	}
	// noticeMsg says that the time of a held batch has come.
	noticeMsg struct{}
)

// look reads what needs a person, off the loop.
func (n *notices) look() term.Cmd {
	if n.ask == nil {
		return nil
	}
	n.gen++
	gen, ctx, kernel, ask := n.gen, n.a.ctx, n.a.kernel, n.ask
	return func() term.Msg {
		msg := lookedMsg{gen: gen, on: ask()}
		msg.page, msg.err = kernel.Queue(ctx, core.QueueQuery{Order: core.OrderID, Last: true, Limit: noticeWindow, Count: true})
		if msg.err == nil {
			msg.sessions, msg.err = kernel.Sessions(ctx)
		}
		return msg
	}
}

// take compares. An answer that is not the latest is dropped, and so is one
// that failed: the screen says what is wrong with the store.
func (n *notices) take(msg lookedMsg) term.Cmd {
	n.a.dirty = false // nothing of it is in the frame
	if msg.gen != n.gen {
		return nil
	}
	n.on = msg.on
	if msg.err != nil {
		return nil
	}
	before := n.grounded
	fresh := append(n.rows(msg.page), n.turns(msg.sessions)...)
	n.grounded = true
	if !before || len(fresh) == 0 {
		return nil
	}
	n.batch = append(n.batch, fresh...)
	return n.tell()
}

// rows finds what started among the newest rows, and by the counts among those
// before them.
func (n *notices) rows(page core.QueuePage) []noticed {
	var fresh []noticed
	known := make(map[core.ActionID]need, len(page.Rows))
	newest := n.newest
	started := make(map[need]bool)
	for _, r := range page.Rows {
		now := needOf(r)
		known[r.ID], newest = now, max(newest, r.ID)
		was, seen := n.known[r.ID]
		switch {
		case now == "" || now == was:
		case !seen && r.ID <= n.newest && !n.whole: // an older row that came into the window
		case seen && now == needDecision && was != "": // drifted and then not: it waited before
		default:
			started[now] = true
			fresh = append(fresh, noticed{now, rowLine(now, r)})
		}
	}
	if n.counts.Unknown < page.Unknown && !started[needLook] {
		fresh = append(fresh, noticed{needLook, "an outcome is unknown"})
	}
	if n.counts.Drifted < page.Drifted && !started[needDrifted] {
		fresh = append(fresh, noticed{needDrifted, "a base moved"})
	}
	n.known, n.newest, n.whole, n.counts = known, newest, !page.More, page
	n.counts.Rows = nil
	return fresh
}

func rowLine(now need, r core.QueueRow) string {
	session, _ := cleanLine(r.SessionName, 60)
	title, _ := cleanLine(r.Title, 100)
	if r.Question != nil {
		title, _ = cleanLine(r.Question.Text, 100)
	}
	return fmt.Sprintf("#%d %s in %s: %s", r.ID, now, session, title)
}

// turns finds the sessions whose newest turn failed since.
func (n *notices) turns(list []core.SessionSummary) []noticed {
	var fresh []noticed
	failed := make(map[core.SessionID]bool)
	for _, s := range list {
		if s.State != core.SessionFailed {
			continue
		}
		failed[s.ID] = true
		if !n.failed[s.ID] {
			name, _ := cleanLine(s.Name, 60)
			why, _ := cleanLine(s.WaitingFor, 100)
			fresh = append(fresh, noticed{needTurn, "turn failed in " + name + suffix(": ", why)})
		}
	}
	n.failed = failed
	return fresh
}

// tell rings and notes once for the whole batch, at most once a second; what
// comes sooner is held and told together.
func (n *notices) tell() term.Cmd {
	if rest := noticeEvery - n.a.now().Sub(n.last); rest > 0 && !n.last.IsZero() {
		if n.queued {
			return nil
		}
		n.queued = true
		return term.After(rest, noticeMsg{})
	}
	return n.flush()
}

func (n *notices) flush() term.Cmd {
	n.queued = false
	line := n.line()
	n.batch = nil
	if line == "" {
		return nil
	}
	n.last = n.a.now()
	var bell, note term.Cmd
	if n.on.Bell {
		bell = term.Do(term.Bell{})
	}
	if n.on.Note {
		note = n.a.leave(outgoing{sink: core.SinkNote, text: line, then: term.Note{Text: line}})
	}
	return term.All(bell, note)
}

// line says what the batch is about: the one thing, or how many of each kind.
func (n *notices) line() string {
	if len(n.batch) == 1 {
		return n.batch[0].line
	}
	count := make(map[need]int)
	for _, one := range n.batch {
		count[one.need]++
	}
	var parts []string
	for _, kind := range []need{needDecision, needDrifted, needLook, needAnswer, needFailed, needTurn} {
		switch c := count[kind]; {
		case c == 0:
		case kind == needAnswer:
			parts = append(parts, plural(c, "question", "questions"))
		case kind == needTurn:
			parts = append(parts, plural(c, "turn", "turns")+" failed")
		default:
			parts = append(parts, thousands(c)+" "+string(kind))
		}
	}
	return strings.Join(parts, ", ")
}

// Report tells the terminal whether a person is waited for, and how far a plan
// is that is carried out.
func (a *app) Report() term.Report {
	var r term.Report
	n := a.notices
	if n.on.Status {
		c := &n.counts
		switch {
		case c.Waiting+c.Unknown > 0:
			r.Waits = term.WaitsPermission
		case c.Questions > 0:
			r.Waits = term.WaitsAnswer
		}
		for _, part := range needSpans(counts{waiting: c.Waiting, drifted: c.Drifted, unknown: c.Unknown, questions: c.Questions}) {
			r.About += part.text
		}
	}
	if n.on.Progress {
		r.Progress = a.plan.reported()
	}
	return r
}

// reported is how far the plan is that is carried out.
func (p *planView) reported() term.Progress {
	if p.phase != planRunning || p.plan == nil {
		return term.Progress{}
	}
	out := term.Progress{Running: true, Percent: 100 * p.done / max(len(p.plan.Items), 1)}
	for _, one := range p.live {
		if one.Outcome == core.OutcomeFailed || one.Outcome == core.OutcomeUnknown {
			out.Failed = true
		}
	}
	return out
}
