package tui

// drawOutcome shows what became of a plan: the counts on its title, what needs a
// person on top with the next step beside it.
func (p *planView) drawOutcome(r rect) []string {
	t := &p.a.theme
	title := p.summary()
	if p.cutOff {
		title = "Last plan, cut off · " + title
	}
	lines := []string{t.rule(r.w, roleTitle, title, "")}
	for _, s := range p.outcomeNotes() {
		for _, part := range wrap(s.text, r.w-4) {
			lines = append(lines, t.spans(r.w, span{s.role, "  " + part}))
		}
	}
	lines = append(lines, spaces(r.w))
	room := r.h - len(lines)
	top := 0
	if p.at >= room {
		top = p.at - room + 1
	}
	for i := top; i < len(p.lines) && len(lines) < r.h; i++ {
		lines = append(lines, p.drawOutcomeLine(p.lines[i], r.w, i == p.at))
	}
	return fill(lines, r)
}

func (p *planView) outcomeNotes() []span {
	var notes []span
	if p.err != "" {
		notes = append(notes, span{roleDanger, p.err})
	}
	if p.cutOff {
		notes = append(notes, span{
			roleWarn,
			"The program ended while it carried this plan out. What was not sent is pending as before; what was being sent is unknown until you say what became of it.",
		})
	}
	return notes
}

func (p *planView) drawOutcomeLine(l outcomeLine, width int, cursor bool) string {
	sign, signRole := outcomeSign(l.shown())
	next := l.next()
	note := l.word() + suffix(": ", l.reason)
	pieces := []span{
		{roleAccent, " " + flag(cursor, "▸") + " "},
		{signRole, sign},
		{roleMuted, right("#"+l.id.String(), 6) + " "},
	}
	tail := []span{{roleMuted, suffix("  ", next) + " "}}
	room := max(width-widthOf(pieces)-widthOf(tail), 0)
	noteRoom := min(columns(note), max(room*55/100, room-columns(l.title)-2))
	titleRoom := max(room-noteRoom-2, 0)
	pieces = append(pieces, span{rolePlain, pad(l.title, titleRoom) + "  "}, span{signRole, pad(note, noteRoom)})
	pieces = append(pieces, tail...)
	if cursor {
		recolour(pieces, roleCursor)
	}
	return p.a.theme.spans(width, pieces...)
}
