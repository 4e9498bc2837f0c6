package tui

import (
	"fmt"
	"strings"
)

func (p *people) draw(r rect) []string {
	t := &p.a.theme
	if one, ok := p.person(); ok && p.opened != "" {
		return p.drawPerson(one, r)
	}
	note := ""
	if len(p.list) > 0 {
		note = plural(len(p.list), "person", "people")
	}
	lines := []string{t.rule(r.w, roleTitle, "People", note)}
	say := func(role role, text string) {
		for _, part := range wrap(text, r.w-4) {
			lines = append(lines, t.spans(r.w, span{role, "   " + part}))
		}
	}
	switch {
	case p.err != "" && !p.loaded:
		lines = append(lines, spaces(r.w))
		say(roleDanger, p.err)
		say(roleMuted, "r tries again")
		return fill(lines, r)
	case !p.loaded:
		lines = append(lines, spaces(r.w))
		if p.slow {
			say(roleMuted, p.a.spinner()+" reading")
		} else {
			say(roleMuted, "looking…")
		}
		return fill(lines, r)
	case len(p.list) == 0:
		lines = append(lines, spaces(r.w))
		say(rolePlain, "Nobody but you.")
		lines = append(lines, spaces(r.w))
		say(roleMuted, "gatehouse people add LINE records a colleague, by the line that gatehouse identity export prints for them.")
		return fill(lines, r)
	}
	lines = append(lines, t.spans(r.w, span{roleMuted, peopleColumns(r.w, "name", "tenant", "sessions", "accounts", "fingerprint")}))
	room := max(r.h-len(lines), 1)
	p.top = inSight(p.top, p.at, room)
	for i := p.top; i < len(p.list) && len(lines) < r.h; i++ {
		lines = append(lines, p.drawRow(p.list[i], r.w, i == p.at))
	}
	return fill(lines, r)
}

// inSight moves the first row that is drawn so that the cursor is.
func inSight(top, at, room int) int {
	if at < top {
		return at
	}
	if at >= top+room {
		return at - room + 1
	}
	return max(top, 0)
}

func (p *people) drawRow(one personRow, width int, cursor bool) string {
	words := or(one.words, "no keys")
	text := peopleColumns(width, one.name, or(one.tenant, "–"), fmt.Sprint(len(one.in)), or(strings.Join(one.accounts, ", "), "–"), words)
	r := rolePlain
	if cursor {
		r = roleCursor
	}
	return p.a.theme.spans(width, span{roleAccent, flag(cursor, "▸")}, span{r, cut(text, 1, width)})
}

// peopleColumns lines the columns up; a narrow screen has fewer.
func peopleColumns(width int, name, tenant, sessions, accounts, words string) string {
	line := "   " + pad(name, 18) + "  " + pad(tenant, 14) + right(sessions, 10) + "  "
	room := width - columns(line) - 1
	if width >= 160 { // ten words of eight letters are 89 wide
		return line + pad(accounts, room-91) + "  " + pad(words, 89)
	}
	return pad(line+pad(accounts, room), width)
}

// personFacts are the lines that stand above the sessions of somebody.
func (p *people) personFacts(one personRow, width int) []line {
	var out []line
	add := func(r role, name, value string) {
		for _, part := range wrapHanging(pad(name, 12)+" "+value, width, 13) {
			out = append(out, line{r, part, false})
		}
	}
	if one.hidden {
		add(roleWarn, "!", "characters that a terminal would obey, or not show, were taken out of this page")
	}
	if one.words == "" {
		add(roleMuted, "keys", "none: roles in this store, and no files")
	} else {
		add(roleTitle, "fingerprint", one.words)
		add(roleMuted, "", "compare these words with them by another way than the one their line came by")
	}
	add(rolePlain, "tenant", or(one.tenant, "none that you confirmed"))
	add(rolePlain, "accounts", or(strings.Join(one.accounts, ", "), "none: no service can be asked about them; gatehouse people map "+one.name+" KIND=ACCOUNT"))
	if one.added != "" {
		add(roleMuted, "added", one.added+" by "+one.addedBy)
	}
	return out
}

func (p *people) drawPerson(one personRow, r rect) []string {
	t := &p.a.theme
	facts := p.personFacts(one, r.w-3)
	above := max(min(len(facts), r.h-2-leastReads), 1)
	p.facts = min(p.facts, len(facts)-above)
	note := ""
	if len(facts) > above {
		note = fmt.Sprintf("%d-%d of %d", p.facts+1, p.facts+above, len(facts))
	}
	lines := []string{t.rule(r.w, roleTitle, "People · "+one.name, note)}
	for _, f := range facts[p.facts : p.facts+above] {
		lines = append(lines, t.spans(r.w, span{rolePlain, " "}, span{f.role, f.text}))
	}
	lines = append(lines, t.rule(r.w, rolePlain, "May in sessions", plural(len(one.in), "session", "sessions")))
	if len(one.in) == 0 {
		return fill(append(lines, t.spans(r.w, span{roleMuted, "   has a role in no session; + gives one"})), r)
	}
	room := max(r.h-len(lines), 1)
	p.rowTop = inSight(p.rowTop, p.row, max(room-1, 1))
	for i := p.rowTop; i < len(one.in) && len(lines) < r.h; i++ {
		lines = append(lines, p.drawMember(one.in[i], r.w, i == p.row))
		if i != p.row {
			continue
		}
		for _, g := range one.in[i].from { // whole, for the one under the cursor
			lines = append(lines, t.spans(r.w, span{roleMuted, "     " + g.giver + " gave " + g.what + ", " + g.when}))
		}
	}
	return fill(lines, r)
}

// drawMember is one session of a person: what they may do there now, and who
// gave it. A grant that counts for nothing is still shown.
func (p *people) drawMember(m memberRow, width int, cursor bool) string {
	var from []string
	for _, g := range m.from {
		from = append(from, "from "+g.giver)
	}
	rights := rightsWord(m.rights)
	if m.latched {
		rights += " · latched"
	}
	text := "   " + pad(m.called, min(width/3, 30)) + "  " + pad(rights, 24)
	text += "  " + pad(or(strings.Join(from, ", "), "made it"), max(width-columns(text)-3, 1))
	r := rolePlain
	if cursor {
		r = roleCursor
	}
	return p.a.theme.spans(width, span{roleAccent, flag(cursor, "▸")}, span{r, cut(text, 1, width)})
}
