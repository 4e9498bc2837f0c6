package tui

import (
	"gatehouse/core"
	"gatehouse/tui/term"
)

// The places of the record.
const (
	atRecord       place = "record"
	atRecordChain  place = "why"
	atRecordRow    place = "row of the record"
	atRecordFilter place = "filter of the record"
)

// What the screen of the record shows.
const (
	recordList  = iota
	recordChain // why: the rows that led to something and followed from it
	recordOpen  // one row
)

// record is the screen of the log, newest first: a window over the store, the
// chain behind a row, and one row with everything in it.
type record struct {
	a     *app
	win   recordWindow
	words recordWords
	shows int

	fresh  int  // rows that match and arrived since
	more   bool // there are more of them than were counted
	filter recordFilter
	input  *input // not nil while it is typed
	before recordFilter

	gen     int
	loaded  bool
	loading bool // a read that replaces the rows is on its way
	paging  bool // a page at an end is on its way
	tailing bool // a look for new rows is on its way
	again   bool // another one was asked for meanwhile
	slow    bool
	err     string

	chain   recordWindow
	why     string // what the chain is about
	whyGen  int
	earlier bool

	opened recordRow
	pane   detail
	from   int // what the opened row lies over

	check recordCheck
}

func newRecord(a *app) *record {
	return &record{a: a, words: recordWords{zone: a.now().Location()}}
}

func (v *record) place() place {
	switch {
	case v.input != nil:
		return atRecordFilter
	case v.shows == recordOpen:
		return atRecordRow
	case v.shows == recordChain:
		return atRecordChain
	}
	return atRecord
}

func (v *record) typed() *input { return v.input }

// turns reports that a sign of something going on is drawn.
func (v *record) turns() bool { return v.slow || v.check.running }

func (v *record) update(msg term.Msg) term.Cmd {
	switch msg := msg.(type) {
	case recordRowsMsg:
		return v.take(msg)
	case recordSlowMsg:
		if msg.gen == v.gen && v.loading {
			v.slow = true
		}
	case recordTailMsg:
		return v.takeTail(msg)
	case recordChainMsg:
		v.takeChain(msg)
	case recordSessionMsg:
		return v.takeSession(msg)
	case recordBroughtMsg:
		return v.brought(msg)
	case recordFilterMsg:
		if v.input != nil && msg.text == v.input.text() {
			return v.load(recordFirst)
		}
	case shownMsg, reloadMsg:
		return v.look()
	case resizedMsg:
		v.fit()
	case checkMsg:
		return v.checked(msg)
	case checkOnMsg:
		if msg.steps == v.check.steps {
			return msg.steps.take
		}
	case checkEndedMsg:
		v.checkEnded(msg)
	}
	return nil
}

// look reads what is new, while the screen is the one that is seen. Rows that
// are at hand never change: the record is append-only.
func (v *record) look() term.Cmd {
	switch {
	case v.a.stack[0] != view(v):
		return nil
	case !v.loaded || v.err != "" || len(v.win.rows) == 0:
		return v.load(recordFirst)
	}
	return v.tail()
}

// current is the row that a command is about.
func (v *record) current() (recordRow, bool) {
	switch v.shows {
	case recordOpen:
		return v.opened, true
	case recordChain:
		return v.chain.cursor()
	}
	return v.win.cursor()
}

// list is the window that the cursor moves in.
func (v *record) list() *recordWindow {
	if v.shows == recordChain || v.shows == recordOpen && v.from == recordChain {
		return &v.chain
	}
	return &v.win
}

// fit keeps the cursor and the opened row within the room they have.
func (v *record) fit() {
	r := v.a.body()
	if room := r.h - 2; room > 0 {
		v.win.scroll(room)
		v.chain.scroll(room)
	}
	if v.shows == recordOpen {
		v.pane.scroll(0, v.paneRoom())
	}
}

func (v *record) paneRoom() rect {
	r := v.a.body()
	return rect{r.w, max(r.h-1, 1)}
}

// step moves the cursor by rows.
func (v *record) step(by int) term.Cmd {
	if !v.list().move(by) {
		return v.catchUp()
	}
	v.fit()
	return term.All(v.loadEdges(), v.catchUp())
}

// catchUp reads what arrived while the cursor was elsewhere, once it is on the
// newest row again.
func (v *record) catchUp() term.Cmd {
	if v.shows != recordList || v.fresh == 0 || !v.win.first() {
		return nil
	}
	return v.tail()
}

// ends moves to the newest or the oldest row of the whole list.
func (v *record) ends(last bool) term.Cmd {
	w := v.list()
	switch {
	case last && w.moreBelow():
		return v.load(recordLast)
	case !last && w.moreAbove():
		return v.load(recordFirst)
	case last:
		return v.step(len(w.rows))
	}
	return v.step(-len(w.rows))
}

// page is how far a page key goes.
func (v *record) page() int { return max(v.a.body().h-3, 1) }

// open shows the row under the cursor whole.
func (v *record) open() term.Cmd {
	r, ok := v.current()
	if !ok {
		return nil
	}
	v.from = v.shows
	v.show(r)
	return nil
}

func (v *record) show(r recordRow) {
	v.shows, v.opened = recordOpen, r
	v.pane = detail{doc: v.words.document(r)}
	v.fit()
}

// next opens the row before or behind the opened one.
func (v *record) next(by int) term.Cmd {
	w := v.list()
	if !w.move(by) {
		v.a.say(roleMuted, "there is no further row at hand")
		return nil
	}
	if r, ok := w.cursor(); ok {
		v.show(r)
	}
	return v.loadEdges()
}

func (v *record) scrollRow(by int) term.Cmd {
	v.pane.scroll(by, v.paneRoom())
	return nil
}

// back leaves the row, the chain, the filter, and then the screen.
func (v *record) back() term.Cmd {
	switch {
	case v.shows == recordOpen:
		v.shows = v.from
	case v.shows == recordChain:
		v.shows = recordList
	case !v.filter.empty():
		v.filter = recordFilter{}
		return v.load(recordAround)
	default:
		return v.a.show(v.a.queue)
	}
	v.fit()
	return v.catchUp()
}

// toAction opens the action or the question that a row is about in the queue.
func (v *record) toAction() term.Cmd {
	r, _ := v.current()
	return v.a.queue.goTo(r.about)
}

func (v *record) noAction() string {
	if r, ok := v.current(); !ok || r.about == 0 {
		return "the row is about no action"
	}
	return ""
}

// recordSessionMsg is the session of a row.
type recordSessionMsg struct {
	session core.Session
	err     error
}

// toSession opens the transcript of the session of a row.
func (v *record) toSession() term.Cmd {
	r, _ := v.current()
	ctx, kernel, id := v.a.ctx, v.a.kernel, string(r.raw.Entry.Session)
	return func() term.Msg {
		s, err := kernel.Session(ctx, id)
		return recordSessionMsg{s.Session, err}
	}
}

func (v *record) takeSession(msg recordSessionMsg) term.Cmd {
	if msg.err != nil {
		v.a.fail(msg.err)
		return nil
	}
	if v.a.top() != view(v) {
		return nil
	}
	return v.a.script.open(msg.session)
}

func (v *record) noSession() string {
	if r, ok := v.current(); !ok || r.raw.Entry.Session == "" {
		return "the row belongs to no session"
	}
	return ""
}

func (v *record) nothing() string {
	if _, ok := v.current(); !ok {
		return "there is no row"
	}
	return ""
}
