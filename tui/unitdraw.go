package tui

import (
	"fmt"
	"strings"

	"gatehouse/core"
)

// leastReads is how many lines of reads stay on the smallest screen.
const leastReads = 4

// unitLayout is how many lines the parts of a unit have, their titles left out.
type unitLayout struct {
	facts []line
	above int
	reads int
}

func (v *unitView) layout(r rect) unitLayout {
	l := unitLayout{facts: v.describe(r.w - 2)}
	l.above = max(min(len(l.facts), r.h-2-leastReads), 1)
	l.reads = max(r.h-2-l.above, 1)
	return l
}

func (v *unitView) draw(r rect) []string {
	t := &v.a.theme
	l := v.layout(r)
	v.facts = min(v.facts, len(l.facts)-l.above)
	note := ""
	if len(l.facts) > l.above {
		note = fmt.Sprintf("%d-%d of %d", v.facts+1, v.facts+l.above, len(l.facts))
		if v.facts+l.above < len(l.facts) {
			note += " ↓"
		}
	}
	lines := []string{t.rule(r.w, roleTitle, v.row.gatekeeper+" · "+v.row.service+" · "+v.row.name, note)}
	for _, f := range l.facts[v.facts : v.facts+l.above] {
		lines = append(lines, t.spans(r.w, span{rolePlain, " "}, span{f.role, f.text}))
	}
	title := "Reads behind it"
	if v.session != "" {
		title += " · " + v.named
	}
	lines = append(lines, t.rule(r.w, rolePlain, title, v.note(l.reads)))
	return fill(append(lines, v.drawReads(r.w, l.reads)...), r)
}

func (v *unitView) note(room int) string {
	switch {
	case v.slow:
		return v.a.spinner() + " reading"
	case !v.loaded || len(v.reads) == 0:
		return ""
	}
	v.keepInSight(room)
	total := 0
	for _, s := range v.row.seen {
		if v.session == "" || string(s.session) == v.session || s.name == v.session {
			total += s.reads
		}
	}
	return fmt.Sprintf("%s-%s of %s", thousands(v.top+1), thousands(min(v.top+room, len(v.reads))), thousands(max(total, len(v.reads))))
}

func (v *unitView) keepInSight(room int) {
	if v.at < v.top {
		v.top = v.at
	}
	if v.at >= v.top+room {
		v.top = v.at - room + 1
	}
	v.top = max(min(v.top, len(v.reads)-room), 0)
}

func (v *unitView) drawReads(w, room int) []string {
	t := &v.a.theme
	say := func(r role, s string) string { return t.spans(w, span{r, "   " + s}) }
	switch {
	case v.err != "" && !v.loaded:
		var lines []string
		for _, part := range wrap(v.err, max(w-6, 1)) {
			lines = append(lines, say(roleDanger, part))
		}
		return append(lines, say(roleMuted, "r tries again"))
	case !v.loaded:
		return nil
	case len(v.reads) == 0:
		return []string{
			say(rolePlain, "No read of its own is in the record."),
			say(roleMuted, "A fork takes over what was read before it: see the session that it was made of."),
		}
	}
	v.keepInSight(room)
	lines := make([]string, 0, room)
	for i := v.top; i < len(v.reads) && len(lines) < room; i++ {
		lines = append(lines, v.drawRead(v.reads[i], w, i == v.at))
	}
	return lines
}

func (v *unitView) drawRead(r readRow, w int, cursor bool) string {
	role := rolePlain
	if cursor {
		role = roleCursor
	}
	when, subject, session := "01-02 15:04", 18, 0
	waits := right(age(v.a.now(), r.at), 4) + "  "
	if w < 80 {
		subject, waits = 12, ""
	}
	if w >= 100 {
		when, subject = "2006-01-02 15:04:05", 24
		if v.session == "" {
			session = 20
		}
	}
	turn := turnWord(r.turn)
	if r.step > 0 {
		turn += " step " + thousands(r.step)
	}
	gist := r.gist
	if r.turn == 0 && gist == "" {
		gist = "by " + r.actor
	}
	pieces := []span{
		{roleAccent, flag(cursor, "▸")},
		{roleWarn, flag(r.hidden, "!")},
		{role, " "},
		{role, cell(r.at.Format(when), len(when)+2)},
		{roleMuted, waits},
		{role, cell(turn, 16)},
		{role, cell(r.session.Name, session)},
		{role, cell(r.subject, subject)},
	}
	return v.a.theme.spans(w, append(pieces, span{roleMuted, gist})...)
}

// describe is what is known of the unit, in words.
func (v *unitView) describe(w int) []line {
	var out []line
	pair := func(r role, name, value string) {
		for _, part := range wrapHanging(fmt.Sprintf("%-8s %s", name, value), w, 9) {
			out = append(out, line{r, part, false})
		}
	}
	u := &v.row
	if u.hidden {
		pair(roleWarn, "!", "characters that a terminal would obey, or not show, were taken out of this text")
	}
	pair(rolePlain, "unit", u.name)
	pair(rolePlain, "at", u.gatekeeper+", "+or(u.service, "the only service of it"))
	pair(rolePlain, "needs", "permission to "+or(u.permission, "read")+" at the service")
	pair(rolePlain, "others", strategySentence(u))
	labels, labelled := strings.Join(u.allLabels(), ", "), rolePlain
	if u.ownerOnly {
		labelled = roleWarn
		labels += ": only the owner of a session may ever see it, and reading it latched the session"
	}
	pair(labelled, "labels", or(labels, "none"))
	pair(roleMuted, "people", "the owner of each session, and who has a role in it: gatehouse session people SESSION")
	for i, s := range u.seen {
		name := ""
		if i == 0 {
			name = "read in"
		}
		value := fmt.Sprintf("%s · first %s (%s), %s · %s", s.name, s.at.Format("2006-01-02 15:04:05"), ago(v.a.now(), s.at), turnWord(s.turn),
			plural(s.reads, "read", "reads"))
		if !s.last.IsZero() && s.reads > 1 {
			value += ", last " + ago(v.a.now(), s.last)
		}
		pair(rolePlain, name, value)
	}
	return out
}

// strategySentence says how it is found out who else may read a unit (kernel R6, R11).
func strategySentence(u *unitRow) string {
	if u.ownerOnly {
		return "nobody but the owner, whatever the service says (owner-only)"
	}
	switch u.strategy {
	case core.StrategyPublic:
		return "anyone may read it (public)"
	case core.StrategyVisibility:
		return "may read it where the service shows it to everyone; asked each time (visibility)"
	case core.StrategyACL:
		return "may read it where the service lets them; asked each time, for this unit (acl)"
	}
	return "nobody else may ever read it: it cannot be found out who may (private)"
}
