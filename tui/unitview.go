package tui

import (
	"slices"
	"time"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// unitView is one unit: what it takes to read it, who has seen it, and below
// that the reads behind it, the newest first, read from the store by pages.
type unitView struct {
	a       *app
	row     unitRow
	session string // narrows the reads; empty is all sessions
	named   string

	reads  []readRow
	more   bool // there are older ones
	at     int  // read under the cursor
	top    int  // first read drawn
	facts  int  // first line drawn of what stands above the reads
	gen    int
	loaded bool
	paging bool
	slow   bool
	err    string
}

// readRow is a read as the list shows it; its text is clean.
type readRow struct {
	seq     int64
	at      time.Time
	session core.Session // id and name
	turn    int
	step    int
	actor   string
	subject string
	gist    string // arguments, or what the read was for
	hidden  bool
}

func newUnitView(a *app) *unitView { return &unitView{a: a} }

func (v *unitView) place() place { return atUnit }

// open shows a unit over the list.
func (v *unitView) open(row unitRow, session, named string) term.Cmd {
	*v = unitView{a: v.a, gen: v.gen, row: row, session: session, named: named}
	v.a.message = ""
	v.a.push(v)
	return v.load(0)
}

// unitReadsMsg is the answer to a read of reads.
type unitReadsMsg struct {
	gen    int
	before int64 // 0: the newest
	reads  []readRow
	more   bool
	err    error
}

// unitSlowMsg says that a read has taken long.
type unitSlowMsg struct{ gen int }

// load reads the page before a row of the record; 0 reads the newest, and drops what is on its way.
func (v *unitView) load(before int64) term.Cmd {
	if before == 0 {
		v.gen++
		v.paging = false
	} else {
		v.paging = true
	}
	gen, ctx, kernel := v.gen, v.a.ctx, v.a.kernel
	q := core.UnitReadsQuery{Session: v.session, Unit: v.row.unit, Before: before, Limit: pageSize}
	read := func() term.Msg {
		page, err := kernel.UnitReads(ctx, q)
		return unitReadsMsg{gen, before, cleanReads(page.Reads), page.More, err}
	}
	if v.loaded {
		return read
	}
	return term.All(read, term.After(slowAfter, unitSlowMsg{gen}))
}

func cleanReads(reads []core.UnitRead) []readRow {
	out := make([]readRow, len(reads))
	for i, r := range reads {
		row := readRow{seq: r.Seq, at: r.At, turn: r.Turn, step: r.Step, session: core.Session{ID: r.Session}}
		gist := r.Args
		if r.Why != "" {
			gist = r.Why
			if r.Args != "" {
				gist += " · " + r.Args
			}
		}
		for _, s := range []struct {
			to    *string
			from  string
			limit int
		}{{&row.session.Name, r.SessionName, 100}, {&row.actor, r.Actor, 60}, {&row.subject, r.Subject, 100}, {&row.gist, gist, titleLimit}} {
			var hidden bool
			*s.to, hidden = cleanLine(s.from, s.limit)
			row.hidden = row.hidden || hidden
		}
		out[i] = row
	}
	return out
}

func (v *unitView) update(msg term.Msg) term.Cmd {
	switch msg := msg.(type) {
	case reloadMsg:
		if v.a.open(v) {
			return v.load(0)
		}
	case observedMsg: // the list took it before: it stands in front of this view
		if row, found := v.a.observed.unit(v.row.unit); found && v.a.open(v) && msg.err == nil {
			v.row = *row
		}
	case unitReadsMsg:
		return v.take(msg)
	case unitSlowMsg:
		if msg.gen == v.gen && !v.loaded && v.err == "" && v.a.open(v) {
			v.slow = true
		} else {
			v.a.dirty = false
		}
	}
	return nil
}

// take shows a page. A newest page that touches what is at hand goes in front of it; the cursor stays on its read.
func (v *unitView) take(msg unitReadsMsg) term.Cmd {
	if msg.gen != v.gen {
		v.a.dirty = false
		return nil
	}
	v.slow = false
	if msg.before != 0 {
		v.paging = false
	}
	if msg.err != nil {
		v.err, _ = cleanLine(describe(msg.err), reasonLimit)
		if v.loaded {
			v.a.say(roleDanger, v.err+"; r tries again")
		}
		return nil
	}
	v.loaded, v.err = true, ""
	if msg.before != 0 {
		v.reads, v.more = append(v.reads, msg.reads...), msg.more
		return v.loadEdge()
	}
	if len(v.reads) == 0 {
		v.reads, v.more = msg.reads, msg.more
		return nil
	}
	known := v.reads[0].seq
	fresh := slices.IndexFunc(msg.reads, func(r readRow) bool { return r.seq == known })
	if fresh < 0 { // more than a page came in: the rest is read again from here
		v.reads, v.more, v.at, v.top = msg.reads, msg.more, 0, 0
		return nil
	}
	v.reads = append(msg.reads[:fresh:fresh], v.reads...)
	v.at += fresh
	v.top += fresh
	return nil
}

// loadEdge reads the next page when the cursor comes near the last read at hand.
func (v *unitView) loadEdge() term.Cmd {
	if v.paging || !v.more || v.at < len(v.reads)-nearEdge {
		return nil
	}
	return v.load(v.reads[len(v.reads)-1].seq)
}

func (v *unitView) move(by int) term.Cmd {
	v.at = min(max(v.at+by, 0), max(len(v.reads)-1, 0))
	return v.loadEdge()
}

// scroll moves what stands above the reads.
func (v *unitView) scroll(by int) term.Cmd {
	v.facts = max(v.facts+by, 0) // draw knows where it ends
	return nil
}

func (v *unitView) close() term.Cmd {
	v.a.pop(v)
	return nil
}

func (v *unitView) nothing() string {
	if v.at >= len(v.reads) {
		return "there is no read"
	}
	return ""
}

// follow shows the step that read it, or the session where the record does not say which step it was.
func (v *unitView) follow() term.Cmd {
	r := v.reads[v.at]
	if r.turn > 0 && r.step > 0 {
		return v.a.step.open(r.session, r.turn, r.step)
	}
	return v.a.script.open(r.session)
}

func (v *unitView) commands() []*command {
	at := []place{atUnit}
	move := func(name string, keys []string, about string, run func() term.Cmd) *command {
		return &command{name: "unit." + name, at: at, keys: keys, title: name, tag: "Move", navigates: true, about: about, run: run}
	}
	page := func() int { return max(v.layout(v.a.body()).reads-2, 1) }
	return []*command{
		{
			name: "unit.follow", at: at, keys: []string{"enter"}, title: "step", tag: "Sessions", navigates: true, footer: 1,
			about: "the step that read it; the session where that is not known", run: v.follow, disabled: v.nothing,
		},
		{
			name: "unit.copy", at: at, keys: []string{"y"}, title: "copy", tag: "Choose", navigates: true, footer: 2,
			about: "the id of the unit to the clipboard of the terminal", run: func() term.Cmd { return copyUnit(v.a, v.row.unit) },
		},
		{
			name: "unit.back", at: at, keys: []string{"esc"}, title: "back", tag: "Sessions", navigates: true, footer: 3,
			about: "back to the observations", run: v.close,
		},
		move("down", []string{"j", "down"}, "read before", func() term.Cmd { return v.move(1) }),
		move("up", []string{"k", "up"}, "read after", func() term.Cmd { return v.move(-1) }),
		move("next-page", []string{"pgdown", "ctrl+f"}, "a page of older reads", func() term.Cmd { return v.move(page()) }),
		move("previous-page", []string{"pgup", "ctrl+b"}, "a page of newer reads", func() term.Cmd { return v.move(-page()) }),
		move("first", []string{"g", "home"}, "the newest read", func() term.Cmd { return v.move(-len(v.reads)) }),
		move("last", []string{"G", "end"}, "the oldest read at hand", func() term.Cmd { return v.move(len(v.reads)) }),
		move("scroll-down", []string{"J", "ctrl+d"}, "more of what stands above the reads", func() term.Cmd { return v.scroll(3) }),
		move("scroll-up", []string{"K", "ctrl+u"}, "what stands above the reads, up", func() term.Cmd { return v.scroll(-3) }),
	}
}
