package tui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

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
	comp   composer
	follow bool   // the end stays in sight
	ended  string // how the last turn ended
}

// entryView is one entry, clean.
type entryView struct {
	head   line
	body   []line
	folds  bool // the body is hidden at first
	open   bool
	number int
	key    entryKey
}

// entryKey tells entries apart: one that was stored while its turn runs is read and heard of, and is shown once.
type entryKey struct {
	kind       core.TranscriptKind
	turn, step int
	at         int64
	text       string
}

func keyOf(e core.TranscriptEntry) entryKey {
	switch e.Kind {
	case core.TranscriptCall:
		return entryKey{e.Kind, e.Turn, e.Step, 0, e.Call.ID + " " + e.Call.Name + " " + e.Call.Args}
	case core.TranscriptMessage: // the step that is told is not known while it waits
		return entryKey{e.Kind, 0, 0, e.At.UnixNano(), e.Text}
	default:
		return entryKey{e.Kind, e.Turn, e.Step, e.At.UnixNano(), e.Text}
	}
}

// laidLine is a line on screen with the entry that it belongs to.
type laidLine struct {
	line
	entry int
}

func newTranscript(a *app) *transcript {
	return &transcript{a: a, runs: map[core.SessionID]*liveTurn{}, comp: newComposer()}
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
	err     error
}

func (v *transcript) open(s core.Session) term.Cmd {
	if v.session.ID != s.ID {
		v.entries, v.loaded, v.at, v.top, v.ended = nil, false, 0, 0, ""
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
	return func() term.Msg {
		entries, err := kernel.Transcript(ctx, session)
		if err != nil {
			return transcriptMsg{gen: gen, err: err}
		}
		out := make([]entryView, len(entries))
		for i, e := range entries {
			out[i] = viewEntry(e)
			out[i].number, out[i].key = i, keyOf(e)
		}
		return transcriptMsg{gen: gen, entries: out}
	}
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
		if cmd := v.drain(msg.session); v.runs[msg.session] != nil {
			return term.All(cmd, term.After(feedEvery, msg))
		}
		v.a.dirty = false
	case turnEndedMsg:
		return v.turnEnded(msg)
	case turnQuestionMsg:
		if l := v.runs[msg.session]; l != nil {
			l.question = msg.q
			v.keepEnd()
		}
		v.a.fail(msg.err)
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
		if i < len(v.entries) {
			msg.entries[i].open = v.entries[i].open
		}
	}
	v.entries, v.loaded, v.err, v.laid = msg.entries, true, "", nil
	v.places = make(map[entryKey]int, len(v.entries))
	for i, e := range v.entries {
		v.places[e.key] = i
	}
	if follow {
		v.at = max(len(v.entries)-1, 0)
	}
	v.keepInSight()
}

const (
	bodyLines  = 2000 // of one entry; what is longer is cut, and says so
	shownLines = 12   // of a text that does not fold
)

// viewEntry takes an entry into the view model.
func viewEntry(e core.TranscriptEntry) entryView {
	switch e.Kind {
	case core.TranscriptMessage:
		who, _ := cleanLine(string(e.By), 60)
		if e.Queued {
			who += " (waits for the next step)"
		}
		return textEntry(roleAccent, who, e.Text)
	case core.TranscriptNote:
		return textEntry(roleWarn, "decided", e.Text)
	case core.TranscriptText:
		model, _ := cleanLine(e.Model, 60)
		return textEntry(roleTitle, or(model, "agent")+fmt.Sprintf(" · turn %d step %d", e.Turn, e.Step), e.Text)
	case core.TranscriptCall:
		return callEntry(e)
	}
	text, _ := cleanLine(e.Text, reasonLimit)
	return entryView{head: line{roleMuted, "── " + text, true}}
}

func textEntry(r role, head, body string) entryView {
	lines, _ := cleanLines(body)
	view := entryView{head: line{r, head, true}}
	for _, text := range cutLines(lines) {
		view.body = append(view.body, line{rolePlain, "  " + text, true})
	}
	return view
}

func cutLines(lines []string) []string {
	if len(lines) > bodyLines {
		return append(lines[:bodyLines:bodyLines], folded(len(lines)-bodyLines, "more line", "more lines"))
	}
	return lines
}

// callEntry is a call with its answer on one line, and both in full below it.
func callEntry(e core.TranscriptEntry) entryView {
	name, _ := cleanLine(e.Call.Name, 80)
	args, _ := cleanLine(e.Call.Args, 120)
	r := rolePlain
	status := "not answered yet"
	if e.Result.Valid() {
		status, r = resultLine(e.Result)
	}
	view := entryView{head: line{r, "  → " + name + " · " + status + " · " + args, false}, folds: true}
	view.body = append(view.body, jsonLines("    arguments", json.RawMessage(e.Call.Args))...)
	if e.Result.Valid() && len(e.Result.Value()) > 0 {
		view.body = append(view.body, jsonLines("    result", e.Result.Value())...)
	}
	return view
}

// resultLine says in a few words how a call ended.
func resultLine(res core.Released) (string, role) {
	reason, _ := cleanLine(res.Reason(), 200)
	status := string(res.Status())
	r := rolePlain
	if res.Code() != "" {
		r = roleWarn
		code, _ := cleanLine(res.Code(), 40)
		status += " " + code
	}
	if id := res.Action(); id != 0 {
		status += " #" + id.String()
	}
	if n := res.Pending(); n > 0 {
		status += fmt.Sprintf(", shows %s", plural(n, "pending effect", "pending effects"))
	}
	if n := len(res.Incomplete()); n > 0 {
		r = roleWarn
		status += fmt.Sprintf(", incomplete: %d not shown", n)
	}
	return status + suffix(": ", reason), r
}

func jsonLines(name string, raw json.RawMessage) []line {
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		out.Reset()
		out.Write(raw)
	}
	// Line breaks within strings are shown as such: results hold whole files.
	lines, _ := cleanLines(strings.ReplaceAll(out.String(), `\n`, "\n"))
	all := []line{{roleMuted, name, false}}
	for _, text := range cutLines(lines) {
		all = append(all, line{roleMuted, "      " + text, false})
	}
	return all
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

// writing is the room of status and composer.
func (v *transcript) writing() int {
	if v.a.runner == nil {
		return 0
	}
	return 1 + min(len(v.comp.rows), composerRows)
}

func (v *transcript) room() rect {
	r := v.a.body()
	return rect{r.w, max(r.h-1-v.writing(), 1)}
}

// keepInSight scrolls to the entry under the cursor.
func (v *transcript) keepInSight() {
	r := v.room()
	laid := v.layout(r.w)
	first, last := -1, -1
	for i, l := range laid {
		if l.entry == v.at {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 {
		v.top = 0
		return
	}
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
		v.laid = nil
		v.keepInSight()
	}
	return nil
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
			name: "transcript.fold", at: at, keys: []string{"enter", "space"}, title: "fold", tag: "Sessions", navigates: true, footer: 1,
			about: "unfold the entry, or fold it", run: v.fold,
		},
		{
			name: "transcript.queue", at: at, keys: []string{"w"}, title: "what waits", tag: "Sessions", navigates: true, footer: 2,
			about: "the queue of this session", run: v.waits,
		},
		{
			name: "transcript.back", at: at, keys: []string{"esc"}, title: "back", tag: "Sessions", navigates: true, footer: 3,
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
	t := &v.a.theme
	lines := v.drawEntries(rect{r.w, max(r.h-v.writing(), 1)})
	lines = append(lines, t.spans(r.w, span{roleMuted, "   " + v.status()}))
	hint := "i writes to the agent"
	if l := v.live(); l != nil && l.question != nil {
		hint = "i answers the question"
	}
	return fill(append(lines, v.comp.draw(t, r.w, hint)...), r)
}

// row returns a row of the stored entries, or of what comes below them.
func (v *transcript) row(i int, laid []laidLine, l *liveTurn, tail []laidLine) laidLine {
	if i < len(laid) {
		return laid[i]
	}
	i -= len(laid)
	if i < len(l.done) {
		return laidLine{line{rolePlain, l.done[i], false}, -1}
	}
	return tail[i-len(l.done)]
}

func (v *transcript) drawEntries(r rect) []string {
	t := &v.a.theme
	name, _ := cleanLine(v.session.Name, 100)
	note := ""
	laid, l := v.layout(r.w), v.live()
	var tail []laidLine
	if l != nil {
		tail = l.tail(-1)
	}
	total := v.total(r.w)
	if total > r.h-1 {
		note = fmt.Sprintf("%d-%d of %s", v.top+1, min(v.top+r.h-1, total), thousands(total))
	}
	lines := []string{t.rule(r.w, roleTitle, "Transcript · "+name, note)}
	switch {
	case v.err != "":
		lines = append(lines, spaces(r.w), t.spans(r.w, span{roleDanger, "   " + v.err}), t.spans(r.w, span{roleMuted, "   r tries again"}))
	case v.loaded && len(v.entries) == 0 && l == nil:
		lines = append(lines, spaces(r.w), t.spans(r.w, span{rolePlain, "   No turn was run in this session."}),
			t.spans(r.w, span{roleMuted, "   w shows what waits of it."}))
	}
	for i := v.top; i < total && len(lines) < r.h; i++ {
		l := v.row(i, laid, l, tail)
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
	}
	return fill(lines, r)
}
