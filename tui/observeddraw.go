package tui

import (
	"strings"

	"gatehouse/core"
	"gatehouse/core/text"
)

func (o *observed) draw(r rect) []string {
	t := &o.a.theme
	lines := []string{t.rule(r.w, roleTitle, o.title(), o.note())}
	switch {
	case o.err != "" && !o.loaded:
		lines = append(lines, spaces(r.w))
		for _, part := range wrap(o.err, max(r.w-6, 1)) {
			lines = append(lines, t.spans(r.w, span{roleDanger, "   " + part}))
		}
		return fill(append(lines, t.spans(r.w, span{roleMuted, "   r tries again"})), r)
	case o.loaded && len(o.rows) == 0:
		return fill(append(lines, o.drawEmpty(r.w)...), r)
	case !o.loaded:
		return fill(lines, r)
	}
	c := unitColumnsFor(r.w)
	lines = append(lines, t.spans(r.w, span{roleMuted, c.heading()}))
	room := r.h - len(lines)
	if o.at < o.top {
		o.top = o.at
	}
	if o.at >= o.top+room {
		o.top = o.at - room + 1
	}
	if !o.held { // no empty lines below the last row while there are rows above
		o.top = max(min(o.top, len(o.rows)-room), 0)
	}
	for i := o.top; i < len(o.rows) && len(lines) < r.h; i++ {
		lines = append(lines, o.drawUnit(&o.all[o.rows[i]], c, r.w, i == o.at))
	}
	return fill(lines, r)
}

func (o *observed) title() string {
	title := "Observations"
	switch {
	case o.filter.empty():
		title += " · all sessions"
	default:
		title += " · / " + o.filter.text
	}
	return title
}

// note counts; what lies beyond the limit of a read is said to.
func (o *observed) note() string {
	switch {
	case o.slow:
		return o.a.spinner() + " reading"
	case !o.loaded:
		return ""
	case o.read < o.total:
		return "newest " + thousands(o.read) + " of " + thousands(o.total)
	case len(o.rows) < len(o.all):
		return thousands(len(o.rows)) + " of " + plural(len(o.all), "unit", "units")
	}
	return plural(len(o.all), "unit", "units")
}

func (o *observed) drawEmpty(w int) []string {
	t := &o.a.theme
	say := func(r role, s string) string { return t.spans(w, span{r, "   " + s}) }
	if len(o.all) > 0 {
		return []string{spaces(w), say(rolePlain, "No unit matches."), spaces(w), say(roleMuted, "esc takes the filter away.")}
	}
	first := "Nothing was read yet."
	if o.filter.session != "" {
		first = "This session has read nothing yet."
	}
	return []string{
		spaces(w), say(rolePlain, first), spaces(w),
		say(roleMuted, "Everything an agent reads stands here, with who else may see it."),
		say(roleMuted, "2 shows the sessions, 1 what waits, ? all keys."),
	}
}

// unitColumns are the widths of the columns; 0 is left out.
type unitColumns struct {
	name, at, needs, labels, sessions, stamp, turn int
}

const (
	readsWidth = 7
	firstWidth = 7
)

// unitColumnsFor divides a line; a narrow screen has fewer columns, a wide one wider.
func unitColumnsFor(width int) unitColumns {
	c := unitColumns{}
	if width >= 80 {
		c.at, c.turn = 16, 9
	}
	if width >= 100 {
		c.needs, c.labels = 18, 16
	}
	if width >= 120 {
		c.sessions = 18
	}
	if width >= 160 {
		c.at, c.labels, c.sessions, c.stamp = 24, 24, 30, 18
	}
	c.name = width - 3 - firstWidth - readsWidth - 1 - c.at - c.needs - c.labels - c.sessions - c.stamp - c.turn
	return c
}

func (c unitColumns) heading() string {
	return "   " + cell("unit", c.name) + cell("at", c.at) + cell("others may read", c.needs) + cell("labels", c.labels) + cell("sessions", c.sessions) +
		cell("first seen", c.stamp) + cell("turn", c.turn) + right("first", firstWidth) + right("reads", readsWidth)
}

// cell is a column with a space behind it; none has no width.
func cell(s string, width int) string {
	if width < 2 {
		return ""
	}
	return pad(s, width-1) + " "
}

func (o *observed) drawUnit(u *unitRow, c unitColumns, width int, cursor bool) string {
	o.drawn++
	first := u.seen[0]
	role, warn := rolePlain, roleWarn
	switch {
	case o.slow:
		role, warn = roleDim, roleDim
	case cursor && o.input == nil:
		role = roleCursor
	}
	name := u.name
	if c.at == 0 { // the name alone may be no more than a dot
		name += " · " + u.gatekeeper + " " + u.service
	}
	labels := strings.Join(u.allLabels(), ", ")
	pieces := []span{{roleAccent, flag(cursor, "▸")}, {warn, flag(u.hidden, "!")}, {role, " "}}
	if c.labels == 0 && labels != "" { // no room of its own: it stands behind the name
		tail := " " + text.Truncate(labels, max(c.name/2, 12)) + " "
		pieces = append(pieces, span{role, pad(name, c.name-columns(tail))}, span{labelRole(u, warn, role), tail})
	} else {
		pieces = append(pieces, span{role, cell(name, c.name)})
	}
	pieces = append(pieces, span{role, cell(u.gatekeeper+" "+u.service, c.at)}, span{role, cell(u.permission+" · "+strategyWord(u), c.needs)},
		span{labelRole(u, warn, role), cell(labels, c.labels)}, span{role, cell(sessionNames(u), c.sessions)},
		span{role, cell(first.at.Format("2006-01-02 15:04"), c.stamp)}, span{role, cell(turnWord(first.turn), c.turn)},
		span{role, right(age(o.a.now(), first.at), firstWidth)}, span{role, right(thousands(u.reads), readsWidth) + " "})
	return o.a.theme.spans(width, pieces...)
}

func labelRole(u *unitRow, warn, plain role) role {
	if u.ownerOnly {
		return warn
	}
	return plain
}

// strategyWord says in one word how it is found out who else may read a unit (kernel R11).
func strategyWord(u *unitRow) string {
	switch {
	case u.ownerOnly:
		return "owner"
	case u.strategy == "":
		return string(core.StrategyPrivate)
	case u.strategy == core.StrategyVisibility:
		return "visible"
	}
	return string(u.strategy)
}

func sessionNames(u *unitRow) string {
	if n := len(u.seen); n > 1 {
		return u.seen[0].name + " +" + thousands(n-1)
	}
	return u.seen[0].name
}

func turnWord(turn int) string {
	if turn == 0 {
		return "by hand"
	}
	return "turn " + thousands(turn)
}
