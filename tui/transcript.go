package tui

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// transcript shows what was said and done in a session. Calls are folded to one
// line; unfolded, arguments and result are shown.
type transcript struct {
	a       *app
	session core.Session
	entries []entryView
	gen     int
	loaded  bool
	err     string
	at      int // entry under the cursor
	top     int // first line drawn
	laid    []laidLine
	laidAt  int

	runs   map[core.SessionID]*liveTurn // turns of this process
	places map[entryKey]int             // of the entries
	slash  slash
	comp   composer
	drawn  int  // rows drawn, for tests that count work
	follow bool // the end stays in sight

	last    lastTurn                    // of the session on screen
	seen    map[core.SessionID]lastTurn // turns that ran here, for what they took
	refused string                      // why a turn could not begin, until one does
	spent   core.SpendingReport
	asked   *core.Question // by a turn that runs elsewhere, or nowhere
}

// laidLine is a line on screen with the entry that it belongs to.
type laidLine struct {
	line
	entry int
}

func newTranscript(a *app) *transcript {
	return &transcript{a: a, runs: map[core.SessionID]*liveTurn{}, seen: map[core.SessionID]lastTurn{}, comp: newComposer()}
}

func (v *transcript) place() place {
	if v.comp.focused {
		return atComposer
	}
	return atTranscript
}

// transcriptMsg is the answer to a read of a transcript.
type transcriptMsg struct {
	gen     int
	entries []entryView
	last    lastTurn
	spent   core.SpendingReport
	asked   *core.Question
	err     error
}

func (v *transcript) open(s core.Session) term.Cmd {
	if v.session.ID != s.ID {
		v.entries, v.places, v.loaded, v.at, v.top = nil, nil, false, 0, 0
		v.last, v.refused, v.spent, v.asked = lastTurn{}, "", core.SpendingReport{}, nil
		v.comp = newComposer()
	}
	v.session, v.err, v.laid, v.follow = s, "", nil, true
	v.a.message = ""
	v.a.push(v)
	return v.load()
}

func (v *transcript) load() term.Cmd {
	v.gen++
	gen, ctx, kernel, session := v.gen, v.a.ctx, v.a.kernel, string(v.session.ID)
	return func() term.Msg { return readTranscript(ctx, kernel, session, gen) }
}

func readTranscript(ctx context.Context, kernel Kernel, session string, gen int) transcriptMsg {
	msg := transcriptMsg{gen: gen}
	entries, err := kernel.Transcript(ctx, session)
	if err != nil {
		msg.err = err
		return msg
	}
	msg.entries, msg.last = viewEntries(entries), lastOf(entries)
	if msg.spent, msg.err = kernel.Spending(ctx, session); msg.err != nil {
		return msg
	}
	page, err := kernel.Queue(ctx, core.QueueQuery{Session: core.SessionID(session), Kinds: []string{core.QueueKindQuestion}, Limit: 1})
	msg.asked, msg.err = askedIn(page), err
	return msg
}

func (v *transcript) update(msg term.Msg) term.Cmd {
	switch msg := msg.(type) {
	case reloadMsg:
		if v.a.open(v) && v.live() == nil {
			return v.load()
		}
	case resizedMsg:
		v.laid = nil
		for _, l := range v.runs {
			l.resize(v.a.body().w)
		}
		v.keepEnd()
	case transcriptMsg:
		v.take(msg)
		v.keepEnd()
	case turnFeedMsg:
		if l := v.runs[msg.session]; l != nil && l.feed == msg.feed {
			return term.All(v.drain(msg.session), l.feed.hears(v.a.ctx, msg.session))
		}
		v.a.dirty = false
	case turnEndedMsg:
		return v.turnEnded(msg)
	case turnQuestionMsg:
		return v.questioned(msg)
	case spentMsg:
		if msg.session == v.session.ID && msg.err == nil {
			v.spent = msg.spent
		}
		v.a.fail(msg.err)
	case offersMsg:
		v.offered(msg)
	case invokedMsg:
		return v.invoked(msg)
	case takenMsg:
		return v.taken(msg)
	case saidMsg:
		if l := v.runs[msg.session]; l != nil && msg.err != nil {
			l.waiting = slices.DeleteFunc(l.waiting, func(s string) bool { return s == msg.text })
		}
		v.a.fail(msg.err)
	}
	return nil
}

// take shows the entries; what was unfolded stays so, and a transcript that was
// read to its end follows it.
func (v *transcript) take(msg transcriptMsg) {
	if msg.gen != v.gen {
		return
	}
	if msg.err != nil {
		v.err, _ = cleanLine(msg.err.Error(), reasonLimit)
		return
	}
	follow := !v.loaded || v.at >= len(v.entries)-1
	for i := range msg.entries {
		if was, shown := v.places[msg.entries[i].key]; shown {
			msg.entries[i].open = v.entries[was].open
		}
	}
	v.entries, v.loaded, v.err, v.laid = msg.entries, true, "", nil
	v.spent, v.asked = msg.spent, msg.asked
	v.last = msg.last
	if seen := v.seen[v.session.ID]; seen.turn == v.last.turn {
		v.last.usage = seen.usage
	}
	v.places = make(map[entryKey]int, len(v.entries))
	for i, e := range v.entries {
		v.places[e.key] = i
	}
	if follow {
		v.at = max(len(v.entries)-1, 0)
	}
	v.keepInSight()
}

// layout breaks the entries to a width, once.
func (v *transcript) layout(width int) []laidLine {
	if v.laid != nil && v.laidAt == width {
		return v.laid
	}
	v.laid, v.laidAt = v.laid[:0:0], width
	for i := range v.entries {
		v.layEntry(i, width)
	}
	return v.laid
}

// layEntry breaks one entry to a width, behind those before it.
func (v *transcript) layEntry(i, width int) {
	add := func(l line) {
		if !l.flows {
			v.laid = append(v.laid, laidLine{l, i})
			return
		}
		for _, part := range wrap(l.text, width-4) {
			v.laid = append(v.laid, laidLine{line{l.role, part, true}, i})
		}
	}
	e := v.entries[i]
	add(e.head)
	body := e.body
	switch {
	case e.folds && !e.open:
		return
	case !e.folds && !e.open && len(body) > shownLines:
		body = append(body[:shownLines:shownLines], line{roleMuted, "  " + folded(len(body)-shownLines, "more line", "more lines"), false})
	}
	for _, l := range body {
		add(l)
	}
}

// entryRows is where the rows of an entry lie: the first, and the one behind the last.
func entryRows(laid []laidLine, entry int) (first, end int) {
	first = sort.Search(len(laid), func(i int) bool { return laid[i].entry >= entry })
	return first, sort.Search(len(laid), func(i int) bool { return laid[i].entry > entry })
}

// relay breaks one entry again; the others keep their rows.
func (v *transcript) relay(i int) {
	if v.laid == nil {
		return
	}
	first, end := entryRows(v.laid, i)
	behind := slices.Clone(v.laid[end:])
	v.laid = v.laid[:first]
	v.layEntry(i, v.laidAt)
	v.laid = append(v.laid, behind...)
}

// writing is the room of status and composer.
func (v *transcript) writing() int {
	if v.a.runner == nil {
		return 0
	}
	return 1 + len(v.nextRows(v.a.size.w)) + min(len(v.matching()), slashRows) + min(len(v.comp.rows), composerRows)
}

func (v *transcript) room() rect {
	r := v.a.body()
	return rect{r.w, max(r.h-1-v.writing(), 1)}
}

// keepInSight scrolls to the entry under the cursor.
func (v *transcript) keepInSight() {
	r := v.room()
	laid := v.layout(r.w)
	first, end := entryRows(laid, v.at)
	if first == end {
		v.top = 0
		return
	}
	last := end - 1
	if last >= v.top+r.h {
		v.top = last - r.h + 1
	}
	v.top = min(v.top, first)
}

func (v *transcript) move(by int) term.Cmd {
	v.at = min(max(v.at+by, 0), max(len(v.entries)-1, 0))
	v.keepInSight()
	v.follow = v.at == max(len(v.entries)-1, 0)
	v.keepEnd()
	return nil
}

func (v *transcript) scroll(by int) term.Cmd {
	r := v.room()
	v.top = min(max(v.top+by, 0), max(v.total(r.w)-r.h, 0))
	v.follow = v.top == max(v.total(r.w)-r.h, 0)
	return nil
}

func (v *transcript) fold() term.Cmd {
	if v.at < len(v.entries) {
		v.entries[v.at].open = !v.entries[v.at].open
		v.relay(v.at)
		v.keepInSight()
	}
	return nil
}

// step opens the step of the entry under the cursor; how a turn ended leads to
// its last one.
func (v *transcript) step() term.Cmd {
	e := v.entries[v.stepAt()]
	return v.a.step.open(v.session, e.turn, e.step)
}

// stepAt is the entry whose step is meant; -1 where there is none.
func (v *transcript) stepAt() int {
	for i := min(v.at, len(v.entries)-1); i >= 0; i-- {
		if v.entries[i].step > 0 {
			return i
		}
	}
	return -1
}

func (v *transcript) noStep() string {
	if v.stepAt() < 0 {
		return "no step was made yet"
	}
	return ""
}

func (v *transcript) close() term.Cmd {
	v.a.pop(v)
	return nil
}

func (v *transcript) waits() term.Cmd {
	for i := range v.a.list.list {
		if v.a.list.list[i].ID == v.session.ID {
			v.a.list.at = i
			return v.a.list.waits()
		}
	}
	return nil
}

func (v *transcript) commands() []*command {
	at := []place{atTranscript}
	move := func(name string, keys []string, about string, run func() term.Cmd) *command {
		return &command{name: name, at: at, keys: keys, title: name, tag: "Move", navigates: true, about: about, run: run}
	}
	return append(v.writeCommands(), []*command{
		{
			name: "transcript.step", at: at, keys: []string{"enter"}, title: "step", tag: "Sessions", navigates: true, footer: 1,
			about: "the step under the cursor, with each call and its answer", run: v.step, disabled: v.noStep,
		},
		{
			name: "transcript.fold", at: at, keys: []string{"space"}, title: "fold", tag: "Sessions", navigates: true, footer: 2,
			about: "unfold the entry, or fold it", run: v.fold,
		},
		{
			name: "transcript.queue", at: at, keys: []string{"w"}, title: "what waits", tag: "Sessions", navigates: true, footer: 3,
			about: "the queue of this session", run: v.waits,
		},
		{
			name: "transcript.back", at: at, keys: []string{"esc"}, title: "back", tag: "Sessions", navigates: true, footer: 4,
			about: "back to the sessions", run: v.close,
		},
		move("transcript.down", []string{"j", "down"}, "next entry", func() term.Cmd { return v.move(1) }),
		move("transcript.up", []string{"k", "up"}, "entry above", func() term.Cmd { return v.move(-1) }),
		move("transcript.first", []string{"g", "home"}, "its beginning", func() term.Cmd { return v.move(-len(v.entries)) }),
		move("transcript.last", []string{"G", "end"}, "its end", func() term.Cmd { return v.move(len(v.entries)) }),
		move("transcript.scroll-down", []string{"J", "ctrl+d", "pgdown", "ctrl+f"}, "half a page down", func() term.Cmd { return v.scroll(max(v.room().h/2, 1)) }),
		move("transcript.scroll-up", []string{"K", "ctrl+u", "pgup", "ctrl+b"}, "half a page up", func() term.Cmd { return v.scroll(-max(v.room().h/2, 1)) }),
	}...)
}

func (v *transcript) draw(r rect) []string {
	if v.a.runner == nil {
		return v.drawEntries(r)
	}
	lines := v.drawEntries(rect{r.w, max(r.h-v.writing(), 1)})
	return fill(append(lines, v.drawWriting(r.w)...), r)
}

// rowAt returns a row of the stored entries, or of what comes below them.
func rowAt(i int, laid []laidLine, done []string, tail []laidLine) laidLine {
	if i < len(laid) {
		return laid[i]
	}
	i -= len(laid)
	if i < len(done) {
		return laidLine{line{rolePlain, done[i], false}, -1}
	}
	return tail[i-len(done)]
}

func (v *transcript) drawEntries(r rect) []string {
	t := &v.a.theme
	name, _ := cleanLine(v.session.Name, 100)
	note := ""
	laid := v.layout(r.w)
	done, tail := v.below()
	total := len(laid) + len(done) + len(tail)
	if total > r.h-1 {
		note = fmt.Sprintf("%d-%d of %s", v.top+1, min(v.top+r.h-1, total), thousands(total))
	}
	lines := []string{t.rule(r.w, roleTitle, "Transcript · "+name, note)}
	switch {
	case v.err != "":
		lines = append(lines, spaces(r.w), t.spans(r.w, span{roleDanger, "   " + v.err}), t.spans(r.w, span{roleMuted, "   r tries again"}))
	case v.loaded && len(v.entries) == 0 && v.live() == nil:
		lines = append(lines, spaces(r.w), t.spans(r.w, span{rolePlain, "   No turn was run in this session."}),
			t.spans(r.w, span{roleMuted, "   w shows what waits of it."}))
	}
	for i := v.top; i < total && len(lines) < r.h; i++ {
		l := rowAt(i, laid, done, tail)
		sign, role := " ", l.role
		switch first := i == 0 || l.entry >= 0 && laid[i-1].entry != l.entry; {
		case l.entry == v.at && first:
			sign = "▸"
			if role != roleWarn {
				role = roleCursor
			}
		case l.entry == v.at:
			sign = "│"
		}
		lines = append(lines, t.spans(r.w, span{roleAccent, " " + sign + " "}, span{role, l.text}))
		v.drawn++
	}
	return fill(lines, r)
}
