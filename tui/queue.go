package tui

import (
	"fmt"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// The panes of the queue.
const (
	paneList = iota
	paneDetail
)

// The ways to divide the room between them.
const (
	splitAuto = iota
	splitBelow
	splitNone
)

// queue is the screen of everything that waits: a window over the store, the
// detail of the row under the cursor, drafts.
type queue struct {
	a      *app
	win    window
	cache  rowCache
	detail detail
	full   bool // the detail has the whole body
	pane   int
	split  int

	order  core.QueueOrder
	newest bool // newest first
	upTo   core.ActionID
	fresh  int // rows that arrived since, not yet shown
	filter filter
	input  *input // not nil while it is typed
	before filter // what it was before

	marks  map[core.ActionID]target
	ranged core.ActionID // where the range began; 0: none
	reason string        // the last reason of a reject, for X

	gen      int  // of the rows
	loaded   bool // at least once
	loading  bool // a read that replaces the rows is on its way
	again    bool // another one was asked for meanwhile
	paging   bool // a page at an end is on its way
	slow     bool
	err      string
	guard    guard
	ruleGen  int           // of what is asked for a rule
	letGo    bool          // the person decided: what is decided need not stay under the cursor
	told     core.ActionID // what changed about it has been said already
	openedBy core.ActionID // the action that a person opened, whose showing counts
}

// guard holds decisions back for a moment after the row under the cursor
// changed by itself (T4).
type guard struct {
	until time.Time
	what  string
}

// target is what a person meant: the row as it was on the screen.
type target struct {
	id      core.ActionID
	digest  core.Digest
	version int64
	title   string
	state   core.State
	drift   core.Drift
	risk    core.Risk
	ask     *core.Question
	raw     []string // the choices of ask, not cleaned
}

func newQueue(a *app, session string) *queue {
	q := &queue{a: a, order: core.OrderSession, marks: make(map[core.ActionID]target)}
	if session != "" {
		clean, _ := cleanLine(session, 100)
		q.filter = filter{text: "session:" + clean, session: session}
	}
	return q
}

func targetOf(r row) target {
	return target{
		id: r.ID, digest: r.Digest, version: r.Version, title: r.Title, state: r.State, drift: r.Drift, risk: r.Risk, ask: r.Question,
		raw: r.raw,
	}
}

func (t target) item(v core.Verdict, reason string) core.PlanItem {
	return core.PlanItem{Action: t.id, Digest: t.digest, Verdict: v, Reason: reason}
}

func (q *queue) place() place {
	switch {
	case q.input != nil:
		return atFilter
	case q.pane == paneDetail:
		return atDetail
	}
	return atList
}

func (q *queue) typed() *input { return q.input }

// update takes in what reads found and what the root tells.
func (q *queue) update(msg term.Msg) term.Cmd {
	switch msg := msg.(type) {
	case rowsMsg:
		return q.takeRows(msg)
	case slowMsg:
		if msg.gen == q.gen && q.loading {
			q.slow = true
		} else {
			q.a.dirty = false
		}
	case restMsg:
		return q.rested(msg)
	case docMsg:
		q.takeDocument(msg)
	case reloadMsg:
		return term.All(q.load(loadAround), q.loadDocument(q.detail.want, false))
	case resizedMsg:
		q.fit()
	case shownMsg:
		return q.load(loadAround)
	case draftedMsg:
		return q.drafted(msg)
	case undoneMsg:
		return q.undone(msg)
	case markedMsg:
		q.marked(msg)
	case settledMsg:
		return q.settled(msg)
	case revertedMsg:
		return q.reverted(msg)
	case ruleSubjectMsg, rulePreviewMsg, ruleMadeMsg, ruleEndedMsg:
		return q.updateRules(msg)
	case filterMsg:
		if msg.text == q.typedText() {
			return q.load(loadFirst)
		}
	}
	return nil
}

// current is the row under the cursor, as it is drawn.
func (q *queue) current() (row, bool) { return q.win.cursor() }

// settle lets go of a row that only stands there because the cursor was on it.
func (q *queue) settle() {
	if r, ok := q.current(); ok && !q.shows(r) {
		q.drop(r.ID)
	}
}

// shows reports whether a row is one that the list is about.
func (q *queue) shows(r row) bool {
	if q.filter.every || len(q.filter.states) > 0 {
		return true
	}
	if r.question() {
		return r.Question == nil || r.Question.State == core.QuestionOpen
	}
	return core.Action{State: r.State}.Undecided()
}

// drop takes a row out of the window; the cursor goes to the one that follows.
func (q *queue) drop(id core.ActionID) {
	i := q.win.index(id)
	if i < 0 {
		return
	}
	q.win.rows = append(append([]row{}, q.win.rows[:i]...), q.win.rows[i+1:]...)
	if q.win.at > i || q.win.at >= len(q.win.rows) {
		q.win.at = max(q.win.at-1, 0)
	}
}

// moved is called after the cursor went somewhere: it asks for rows that come
// near and, when the cursor rests, for the detail.
func (q *queue) moved() term.Cmd {
	q.fit()
	q.guard = guard{}
	return term.All(q.loadEdges(), q.follow())
}

// step moves the cursor by rows.
func (q *queue) step(by int) term.Cmd {
	if !q.win.move(by) {
		q.a.dirty = q.a.message == ""
		return nil
	}
	return q.moved()
}

// ends moves to the first or the last row of the whole list.
func (q *queue) ends(last bool) term.Cmd {
	outside := q.win.above
	if last {
		outside = q.win.below
	}
	if q.ranged != 0 && outside {
		q.a.say(roleWarn, "the range ends with the rows at hand; a marks all that match")
		outside = false
	}
	if outside {
		if last {
			return q.load(loadLast)
		}
		return q.load(loadFirst)
	}
	if last {
		return q.step(len(q.win.rows))
	}
	return q.step(-len(q.win.rows))
}

// follow asks for the detail of the row under the cursor once it rests there.
func (q *queue) follow() term.Cmd {
	r, ok := q.current()
	if !ok {
		q.detail.doc, q.detail.want = nil, 0
		return nil
	}
	if q.detail.want == r.ID {
		return nil
	}
	q.detail.want = r.ID
	q.detail.gen++
	return term.After(batchFor, restMsg{gen: q.detail.gen, id: r.ID})
}

// restMsg says that the cursor has been on a row for a moment.
type restMsg struct {
	gen int
	id  core.ActionID
}

func (q *queue) rested(msg restMsg) term.Cmd {
	if msg.gen != q.detail.gen || msg.id != q.detail.want {
		q.a.dirty = false
		return nil
	}
	return q.loadDocument(msg.id, false)
}

// fit keeps the cursor and the detail within the room they have.
func (q *queue) fit() {
	l := q.layout(q.a.body())
	if l.list.h > 1 {
		q.win.scroll(l.list.h-1, q.grouped())
	}
	if l.detail.h > 1 {
		room := rect{l.detail.w, l.detail.h - 1}
		q.detail.scroll(0, room)
		if q.pane == paneDetail {
			q.detail.look(room)
		}
	}
}

func (q *queue) grouped() bool { return q.order != core.OrderID }

// targets are what a command is about: the range, else the marks, else the row
// under the cursor.
func (q *queue) targets() []target {
	if q.ranged != 0 {
		if r, ok := q.current(); ok {
			rows := q.win.between(q.ranged, r.ID)
			out := make([]target, len(rows))
			for i, r := range rows {
				out[i] = targetOf(r)
			}
			return out
		}
	}
	if len(q.marks) > 0 {
		return q.markedTargets()
	}
	if r, ok := q.current(); ok {
		return []target{targetOf(r)}
	}
	return nil
}

// subject is what a decision would be about now, as it is on the screen.
func (q *queue) subject() string {
	var b strings.Builder
	for _, t := range q.targets() {
		fmt.Fprintf(&b, "%d %d %x\n", t.id, t.version, t.digest)
	}
	return b.String()
}

// held says why a decision has to wait: the row changed under the person's eyes.
func (q *queue) held() bool {
	if q.guard.what != "" && q.a.now().Before(q.guard.until) {
		q.a.say(roleWarn, q.guard.what+"; look, then decide")
		return true
	}
	q.guard = guard{}
	return false
}

// tally is the right end of the footer.
func (q *queue) tally() []span {
	var out []span
	if n := len(q.a.order); n > 0 {
		out = append(out, span{roleAccent, plural(n, "draft", "drafts")})
	}
	if n := len(q.marks); n > 0 {
		out = append(out, span{roleAccent, thousands(n) + " marked"})
	}
	all := q.a.head.waiting + q.a.head.questions
	switch {
	case !q.loaded:
	case q.filter.empty():
		out = append(out, span{roleMuted, thousands(q.win.total) + " in all"})
	default:
		out = append(out, span{roleMuted, fmt.Sprintf("%s of %s", thousands(q.win.total), thousands(all))})
	}
	if q.fresh > 0 {
		out = append(out, span{roleAccent, thousands(q.fresh) + " new ."})
	}
	var joined []span
	for i, piece := range out {
		if i > 0 {
			joined = append(joined, span{roleMuted, " · "})
		}
		joined = append(joined, piece)
	}
	return append(joined, span{rolePlain, " "})
}
