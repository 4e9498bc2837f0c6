package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// Sharer opens sessions as others would, opens session files, and makes them.
// All of its methods are called off the loop.
type Sharer interface {
	// Open begins to open a session of this store for a person, with every
	// source asked once.
	Open(ctx context.Context, session string, person core.PersonID) (Opening, error)
	// OpenFile begins to open a session file, likewise.
	OpenFile(ctx context.Context, path string) (Opening, error)
	// Pack looks through what would leave, asks about every person and source,
	// and measures it. Nothing is written. What may not leave is a
	// *core.ExportDeniedError or a *share.SecretsError.
	Pack(ctx context.Context, r ShareRequest) (Parcel, error)
}

// Opening is one attempt to open. Its methods are called one after the other.
type Opening interface {
	Lines() []core.OpenLine
	// Again asks about one source again.
	Again(ctx context.Context, line int) error
	// Release asks about all of them again and opens where all pass; else the
	// error is a *core.OpenDeniedError. The session is that of a file.
	Release(ctx context.Context) (core.Session, error)
	// Close lets go of what was read from.
	Close() error
}

// openRow is a line of the report; its texts are clean.
type openRow struct {
	name, verdict, connection string
	access                    core.Access
}

// openReport is the report of one attempt to open: a line a source, each of
// which can be run again after something was connected.
type openReport struct {
	a       *app
	title   string // clean
	file    bool   // it becomes a session here; else it is a rehearsal
	begin   func(context.Context) (Opening, error)
	opening Opening
	rows    []openRow
	at, top int
	gen     int
	busy    string // what is being asked; empty is nothing
	err     string
}

func newOpenReport(a *app) *openReport { return &openReport{a: a} }

func (v *openReport) place() place { return atOpening }

// openingMsg is what came of asking.
type openingMsg struct {
	gen     int
	opening Opening
	rows    []openRow
	session core.Session
	opened  bool
	err     error
}

// open shows the report of an attempt that begins now.
func (v *openReport) open(title string, file bool, begin func(context.Context) (Opening, error)) term.Cmd {
	closing := v.drop()
	*v = openReport{a: v.a, gen: v.gen, title: title, file: file, begin: begin}
	v.a.pop(v)
	v.a.push(v)
	return term.All(closing, v.start())
}

// start begins anew: verdicts live for two minutes.
func (v *openReport) start() term.Cmd {
	closing := v.drop()
	v.gen++
	v.busy, v.err = "every source", ""
	gen, ctx, begin := v.gen, v.a.ctx, v.begin
	return term.All(closing, v.a.work(func() term.Msg {
		opening, err := begin(ctx)
		out := openingMsg{gen: gen, err: err}
		if err == nil {
			out.opening, out.rows = opening, openRows(opening.Lines())
		}
		return out
	}))
}

// drop lets go of the attempt at hand, unless it is at work: its answer is then
// too late and closes it.
func (v *openReport) drop() term.Cmd {
	opening := v.opening
	v.opening = nil
	v.gen++
	if opening == nil || v.busy != "" {
		return nil
	}
	return closeOpening(opening)
}

func closeOpening(o Opening) term.Cmd {
	return func() term.Msg {
		_ = o.Close() // only read from
		return nil
	}
}

func openRows(lines []core.OpenLine) []openRow {
	out := make([]openRow, len(lines))
	for i, l := range lines {
		out[i].access = l.Check.Access
		out[i].name, _ = cleanLine(l.Name, titleLimit)
		out[i].verdict, _ = cleanLine(l.Check.String(), reasonLimit)
		out[i].connection, _ = cleanLine(string(l.Connection), 20)
	}
	return out
}

func (v *openReport) update(msg term.Msg) term.Cmd {
	answer, ok := msg.(openingMsg)
	if !ok {
		return v.a.shares.update(msg) // the dialogs of a file are no view of their own
	}
	if answer.gen != v.gen {
		if answer.opening != nil {
			return closeOpening(answer.opening)
		}
		return nil
	}
	return v.take(answer)
}

func (v *openReport) take(msg openingMsg) term.Cmd {
	v.busy = ""
	if msg.opening != nil {
		v.opening, v.rows = msg.opening, msg.rows
		v.at = min(v.at, max(len(v.rows)-1, 0))
	}
	var denied *core.OpenDeniedError
	switch {
	case errors.As(msg.err, &denied):
		v.a.say(roleWarn, "not opened: "+v.standing())
	case msg.err != nil && v.opening == nil:
		v.err, _ = cleanLine(describe(msg.err), reasonLimit)
	case msg.err != nil:
		v.a.fail(msg.err)
	case msg.opened && v.file:
		closing := v.drop()
		v.a.pop(v)
		v.a.say(roleGood, "opened, to be looked at; gatehouse session continue makes it one to work in")
		note, loud := v.a.message, v.a.loud
		cmd := v.a.script.open(msg.session)
		v.a.say(loud, note)
		return term.All(closing, v.a.refresh(), cmd)
	case msg.opened:
		v.a.say(roleGood, "every source passes: they would be let in; the attempt is on the record")
	}
	return nil
}

// again asks about the source under the cursor again.
func (v *openReport) again() term.Cmd {
	i := v.at
	v.busy = v.rows[i].name
	gen, ctx, opening := v.gen, v.a.ctx, v.opening
	return v.a.work(func() term.Msg {
		err := opening.Again(ctx, i)
		return openingMsg{gen: gen, opening: opening, rows: openRows(opening.Lines()), err: err}
	})
}

// release asks, and then opens where every source passes.
func (v *openReport) release() term.Cmd {
	gen, opening := v.gen, v.opening
	body := []string{"Every source is asked again, and the attempt is a row of the record. Nothing else changes: it is a rehearsal."}
	title, accept := v.title+": try it?", "Try"
	if v.file {
		title, accept = v.title+": open it?", "Open"
		body = []string{
			"Every source is asked again. Where all pass, it becomes a session that is only to be looked at.",
			"What is in it are somebody else's words; its labels govern what may leave from then on.",
		}
	}
	v.a.sheet.ask(question{title: title, body: body, accept: accept, do: func(sheetAnswer) term.Cmd {
		if gen != v.gen || v.busy != "" {
			v.a.say(roleWarn, "it was begun anew meanwhile; look, then open")
			return nil
		}
		v.busy = "every source"
		ctx := v.a.ctx
		return v.a.work(func() term.Msg {
			session, err := opening.Release(ctx)
			return openingMsg{gen: gen, opening: opening, rows: openRows(opening.Lines()), session: session, opened: err == nil, err: err}
		})
	}})
	return nil
}

func (v *openReport) close() term.Cmd {
	closing := v.drop()
	v.a.pop(v)
	return closing
}

func (v *openReport) idle() string {
	switch {
	case v.busy != "":
		return "still asking about " + v.busy
	case v.opening == nil:
		return "it was not begun; a begins again"
	}
	return ""
}

func (v *openReport) noLine() string {
	if why := v.idle(); why != "" {
		return why
	}
	if v.at >= len(v.rows) {
		return "there is no source to ask about"
	}
	return ""
}

// standing counts the verdicts.
func (v *openReport) standing() string {
	passed, unsure := 0, 0
	for _, r := range v.rows {
		switch verdictWord(r.access) {
		case "passes":
			passed++
		case "cannot tell":
			unsure++
		}
	}
	out := fmt.Sprintf("%d of %d pass", passed, len(v.rows))
	if failed := len(v.rows) - passed - unsure; failed > 0 {
		out += fmt.Sprintf(", %d fail", failed)
	}
	if unsure > 0 {
		out += fmt.Sprintf(", %d cannot be told", unsure)
	}
	return out
}

// verdictWord is one of three: a source passes, will fail, or cannot be told.
func verdictWord(a core.Access) string {
	switch a {
	case core.AccessPassed:
		return "passes"
	case core.AccessDenied, core.AccessGone:
		return "will fail"
	default:
		return "cannot tell"
	}
}

func verdictSign(a core.Access) (string, role) {
	switch verdictWord(a) {
	case "passes":
		return "✓", roleGood
	case "will fail":
		return "✗", roleDanger
	default:
		return "?", roleWarn
	}
}

func (v *openReport) move(by int) term.Cmd {
	v.at = min(max(v.at+by, 0), max(len(v.rows)-1, 0))
	return nil
}

func (v *openReport) commands() []*command {
	at := []place{atOpening}
	page := func() int { return max(v.a.body().h-3, 1) }
	move := func(name string, keys []string, by func() int) *command {
		return &command{
			name: name, at: at, keys: keys, title: strings.ReplaceAll(name[len("opening."):], "-", " "), tag: "Move", navigates: true,
			about: "look through the sources", run: func() term.Cmd { return v.move(by()) },
		}
	}
	return append(append(v.ways(), v.a.shares.ways()...), []*command{
		{
			name: "opening.again", at: at, keys: []string{"enter"}, title: "ask again", tag: "Detail", footer: 1,
			about: "ask about this source again, after something was connected", run: v.again, disabled: v.noLine,
		},
		{
			name: "opening.all", at: at, keys: []string{"a"}, title: "begin again", tag: "Detail", footer: 2,
			about: "ask about every source again", run: v.start, disabled: func() string {
				if v.busy != "" {
					return v.idle()
				}
				return ""
			},
		},
		{
			name: "opening.release", at: at, keys: []string{"O"}, title: "open", tag: "Sessions", footer: 3, decides: true, prompts: true,
			about: "open it where every source passes; asks first", run: v.release, disabled: v.idle,
		},
		{
			name: "opening.connect", at: at, keys: []string{"c"}, title: "connect a folder", tag: "Sessions", footer: 4, decides: true, prompts: true,
			about: "connect a folder; what that gives is shown first", run: func() term.Cmd { return v.a.places.add() },
		},
		{
			name: "opening.back", at: at, keys: []string{"esc"}, title: "back", tag: "Screens", navigates: true, footer: 5,
			about: "leave it as it is; nothing was opened", run: v.close,
		},
		move("opening.down", []string{"j", "down"}, func() int { return 1 }),
		move("opening.up", []string{"k", "up"}, func() int { return -1 }),
		move("opening.next-page", []string{"pgdown", "ctrl+f", "ctrl+d"}, page),
		move("opening.previous-page", []string{"pgup", "ctrl+b", "ctrl+u"}, func() int { return -page() }),
		move("opening.first", []string{"g", "home"}, func() int { return -len(v.rows) }),
		move("opening.last", []string{"G", "end"}, func() int { return len(v.rows) }),
	}...)
}

// ways are the keys that lead here.
func (v *openReport) ways() []*command {
	return []*command{
		{
			name: "people.rehearse", at: []place{atPerson}, keys: []string{"enter"}, title: "what they could open", tag: "Sessions", footer: 1,
			about: "ask about every source of the session as if this person opened it", run: v.rehearse, disabled: func() string {
				return or(v.a.people.noRole(), v.none())
			},
		},
		{
			name: "session.open-file", at: []place{atSessions, atPeople}, keys: []string{"O"}, title: "open a file", tag: "Sessions", decides: true, prompts: true,
			about: "open a session file of a colleague; every source is asked first", run: v.askFile, disabled: v.none,
		},
	}
}

func (v *openReport) none() string {
	if v.a.sharer == nil {
		return "nothing can be shared from here"
	}
	return ""
}

// rehearse opens the session under the cursor as its person would.
func (v *openReport) rehearse() term.Cmd {
	one, _ := v.a.people.person()
	m, _ := v.a.people.member()
	sharer := v.a.sharer
	return v.open(one.name+" opens "+m.called, false, func(ctx context.Context) (Opening, error) {
		return sharer.Open(ctx, string(m.session), one.id)
	})
}

func (v *openReport) askFile() term.Cmd {
	sharer := v.a.sharer
	v.a.sheet.ask(question{
		title: "Open a session file", label: "file", accept: "Look at it",
		body: []string{"Its signature and who sent it are checked, then every source it was made from is asked with connections of yours. Nothing is opened yet."},
		do: func(answer sheetAnswer) term.Cmd {
			path := strings.TrimSpace(answer.text)
			if path == "" {
				v.a.say(roleWarn, "give the path of a session file")
				return nil
			}
			name, _ := cleanLine(path, 100)
			return v.open(name, true, func(ctx context.Context) (Opening, error) { return sharer.OpenFile(ctx, path) })
		},
	})
	return nil
}

func (v *openReport) draw(r rect) []string {
	t := &v.a.theme
	note := ""
	if v.busy == "" && v.opening != nil {
		note = v.standing()
	}
	lines := []string{t.rule(r.w, roleTitle, v.title, note)}
	say := func(role role, text string) {
		for _, part := range wrap(text, r.w-4) {
			lines = append(lines, t.spans(r.w, span{role, "   " + part}))
		}
	}
	if v.busy != "" {
		say(roleMuted, v.a.spinner()+" asking about "+v.busy)
	}
	switch {
	case v.err != "":
		lines = append(lines, spaces(r.w))
		say(roleDanger, v.err)
		say(roleMuted, "a begins again")
	case v.opening != nil && len(v.rows) == 0:
		say(rolePlain, "No source has to be asked about.")
	}
	room := max(r.h-len(lines)-1, 1)
	v.top = inSight(v.top, v.at, room)
	for i := v.top; i < len(v.rows) && len(lines) < r.h; i++ {
		row, cursor := v.rows[i], i == v.at
		sign, signRole := verdictSign(row.access)
		role := rolePlain
		if cursor {
			role = roleCursor
		}
		lines = append(lines, t.spans(r.w, span{roleAccent, flag(cursor, "▸") + " "}, span{signRole, sign + " " + pad(verdictWord(row.access), 11)},
			span{role, " " + pad(row.name, max(r.w/3, 24)) + "  "}, span{roleMuted, suffix("", row.verdict) + suffix(" · ", row.connection)}))
		if !cursor || columns(row.verdict) <= r.w-max(r.w/3, 24)-20 {
			continue
		}
		for _, part := range wrap(row.verdict, r.w-6) {
			lines = append(lines, t.spans(r.w, span{roleMuted, "     " + part}))
		}
	}
	return fill(lines, r)
}
