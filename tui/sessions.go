package tui

import (
	"fmt"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// sessions is the screen of all sessions: what each one is doing, or waits for.
type sessions struct {
	a      *app
	list   []core.SessionSummary
	at     int
	top    int
	gen    int
	loaded bool
	err    string
}

func newSessions(a *app) *sessions { return &sessions{a: a} }

func (s *sessions) place() place { return atSessions }

// sessionsMsg is the answer to a read of sessions.
type sessionsMsg struct {
	gen  int
	list []core.SessionSummary
	err  error
}

func (s *sessions) load() term.Cmd {
	s.gen++
	gen, ctx, kernel := s.gen, s.a.ctx, s.a.kernel
	return func() term.Msg {
		list, err := kernel.Sessions(ctx)
		for i := range list {
			list[i].Name, _ = cleanLine(list[i].Name, 100)
			list[i].WaitingFor, _ = cleanLine(list[i].WaitingFor, titleLimit)
		}
		return sessionsMsg{gen, list, err}
	}
}

func (s *sessions) update(msg term.Msg) term.Cmd {
	switch msg := msg.(type) {
	case shownMsg:
		return s.load()
	case reloadMsg:
		if s.a.stack[0] == view(s) {
			return s.load()
		}
	case sessionsMsg:
		s.take(msg)
	}
	return nil
}

// take shows the list; the cursor stays on its session.
func (s *sessions) take(msg sessionsMsg) {
	if msg.gen != s.gen {
		return
	}
	if msg.err != nil {
		s.err, _ = cleanLine(msg.err.Error(), reasonLimit)
		if s.loaded {
			s.a.fail(msg.err)
		}
		return
	}
	var on core.SessionID
	if s.at < len(s.list) {
		on = s.list[s.at].ID
	}
	s.list, s.loaded, s.err = msg.list, true, ""
	s.at = min(s.at, max(len(s.list)-1, 0))
	for i := range s.list {
		if s.list[i].ID == on {
			s.at = i
		}
	}
}

func (s *sessions) move(by int) term.Cmd {
	s.at = min(max(s.at+by, 0), max(len(s.list)-1, 0))
	return nil
}

func (s *sessions) nothing() string {
	if s.at >= len(s.list) {
		return "there is no session"
	}
	return ""
}

func (s *sessions) open() term.Cmd { return s.a.script.open(s.list[s.at].Session) }

// observed shows what one session has read.
func (s *sessions) observed() term.Cmd {
	one := s.list[s.at]
	return s.a.observed.openFor(one.ID, one.Name)
}

// waits shows the queue of one session.
func (s *sessions) waits() term.Cmd {
	one := s.list[s.at]
	q := s.a.queue
	q.filter = filter{text: "session:" + one.Name, session: string(one.ID)}
	q.pane, q.full = paneList, false
	s.a.stack = []view{q}
	return q.load(loadFirst)
}

func (s *sessions) commands() []*command {
	at := []place{atSessions}
	move := func(name string, keys []string, by func() int) *command {
		return &command{
			name: name, at: at, keys: keys, title: name, tag: "Move", navigates: true, about: "look through the sessions",
			run: func() term.Cmd { return s.move(by()) },
		}
	}
	page := func() int { return max(s.a.body().h-3, 1) }
	return []*command{
		{
			name: "sessions.open", at: at, keys: []string{"enter"}, title: "transcript", tag: "Sessions", navigates: true, footer: 1,
			about: "what was said and done in it", run: s.open, disabled: s.nothing,
		},
		{
			name: "sessions.queue", at: at, keys: []string{"w"}, title: "what waits", tag: "Sessions", navigates: true, footer: 2,
			about: "the queue of this session", run: s.waits, disabled: s.nothing,
		},
		{
			name: "sessions.observations", at: at, keys: []string{"o"}, title: "what it read", tag: "Sessions", navigates: true, footer: 3,
			about: "the observations of this session", run: s.observed, disabled: s.nothing,
		},
		{
			name: "sessions.back", at: at, keys: []string{"esc"}, title: "queue", tag: "Sessions", navigates: true, footer: 4,
			about: "back to the queue", run: func() term.Cmd { return s.a.show(s.a.queue) },
		},
		move("sessions.down", []string{"j", "down"}, func() int { return 1 }),
		move("sessions.up", []string{"k", "up"}, func() int { return -1 }),
		move("sessions.next-page", []string{"pgdown", "ctrl+f", "ctrl+d"}, page),
		move("sessions.previous-page", []string{"pgup", "ctrl+b", "ctrl+u"}, func() int { return -page() }),
		move("sessions.first", []string{"g", "home"}, func() int { return -len(s.list) }),
		move("sessions.last", []string{"G", "end"}, func() int { return len(s.list) }),
	}
}

func (s *sessions) draw(r rect) []string {
	t := &s.a.theme
	lines := []string{t.rule(r.w, roleTitle, "Sessions", "")}
	switch {
	case s.err != "" && !s.loaded:
		return fill(append(lines, spaces(r.w), t.spans(r.w, span{roleDanger, "   " + s.err}), t.spans(r.w, span{roleMuted, "   r tries again"})), r)
	case s.loaded && len(s.list) == 0:
		return fill(append(lines, spaces(r.w),
			t.spans(r.w, span{rolePlain, "   There is no session yet."}), spaces(r.w),
			t.spans(r.w, span{roleMuted, "   gatehouse session new NAME makes one; gatehouse demo shows one at work."})), r)
	}
	lines = append(lines, t.spans(r.w, span{roleMuted, sessionColumns(r.w, "name", "state", "pending", "units", "people", "cost", "changed", "waits for")}))
	room := r.h - len(lines)
	if s.at < s.top {
		s.top = s.at
	}
	if s.at >= s.top+room {
		s.top = s.at - room + 1
	}
	for i := s.top; i < len(s.list) && len(lines) < r.h; i++ {
		lines = append(lines, s.drawSession(s.list[i], r.w, i == s.at))
	}
	return fill(lines, r)
}

func (s *sessions) drawSession(one core.SessionSummary, width int, cursor bool) string {
	state := string(one.State)
	if one.Latched {
		state += " · latched"
	}
	line := sessionColumns(width, one.Name, state, thousands(one.Pending), thousands(one.Units),
		peopleWord(one.People), costWord(one.Cost), age(s.a.now(), one.UpdatedAt), one.WaitingFor)
	r := rolePlain
	if cursor {
		r = roleCursor
	}
	return s.a.theme.spans(width, span{roleAccent, flag(cursor, "▸")}, span{r, cut(line, 1, width)})
}

// peopleWord counts the people of a session, its owner among them.
func peopleWord(others int) string {
	if others == 0 {
		return "you"
	}
	return "you+" + thousands(others)
}

func costWord(c core.Cost) string {
	if c == 0 {
		return "–"
	}
	return c.String()
}

// sessionColumns lines the columns up; a narrow screen has fewer.
func sessionColumns(width int, name, state, pending, units, people, cost, changed, waits string) string {
	nameWidth := 22
	if width >= 100 {
		nameWidth = 30
	}
	line := "   " + pad(name, nameWidth) + "  " + pad(state, 17) + right(pending, 8) + right(units, 7)
	if width >= 100 {
		line += right(people, 9) + right(cost, 9)
	}
	if columns(line)+9 <= width {
		line += right(changed, 9)
	}
	if room := width - columns(line) - 3; room >= 12 {
		line += "   " + pad(waits, room)
	}
	return pad(line, width)
}

// folded says how much of something is not shown.
func folded(n int, one, many string) string { return fmt.Sprintf("… %s", plural(n, one, many)) }
