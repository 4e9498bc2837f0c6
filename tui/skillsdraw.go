package tui

import (
	"fmt"
	"strings"

	"gatehouse/skills"
)

// skillLayout is how the body is divided: a room of no height is not drawn.
type skillLayout struct {
	list, page rect // each with one line for its title
	beside     bool
}

func (v *skillsView) layout(r rect) skillLayout {
	whole := rect{r.w, r.h}
	small := v.a.size.w < 80 || v.a.size.h < 24
	switch {
	case small && v.text:
		return skillLayout{list: rect{r.w, 0}, page: whole}
	case small:
		return skillLayout{list: whole, page: rect{r.w, 0}}
	case v.a.size.w >= 100:
		w := min(r.w*42/100, 76)
		return skillLayout{list: rect{w, r.h}, page: rect{r.w - w - 1, r.h}, beside: true}
	}
	list := max(r.h*40/100, 5)
	return skillLayout{list: rect{r.w, list}, page: rect{r.w, r.h - list}}
}

// joint is where the line between the panes meets the bottom line.
func (v *skillsView) joint(r rect) int {
	if l := v.layout(r); l.beside {
		return l.list.w
	}
	return -1
}

func (v *skillsView) draw(r rect) []string {
	l := v.layout(r)
	switch {
	case l.beside:
		t := &v.a.theme
		left, right := v.drawList(rect{l.list.w, r.h - 1}), v.drawPage(rect{l.page.w, r.h - 1})
		bar := t.paint(roleMuted, "│")
		lines := []string{v.listRule(l.list.w) + t.paint(roleMuted, "┬") + v.pageRule(l.page)}
		for i := range left {
			lines = append(lines, left[i]+bar+right[i])
		}
		return lines
	case l.list.h == 0:
		return append([]string{v.pageRule(l.page)}, v.drawPage(rect{l.page.w, l.page.h - 1})...)
	}
	lines := append([]string{v.listRule(l.list.w)}, v.drawList(rect{l.list.w, l.list.h - 1})...)
	if l.page.h > 0 {
		lines = append(append(lines, v.pageRule(l.page)), v.drawPage(rect{l.page.w, l.page.h - 1})...)
	}
	return lines
}

func (v *skillsView) listRule(width int) string {
	title, note := "Skills", ""
	if v.find.shown() {
		title += " · / " + cleanWord(v.find.text)
	}
	switch {
	case v.slow:
		note = v.a.spinner() + " reading"
	case v.find.shown() && v.find.asked && v.find.err == "":
		note = plural(len(v.find.hits), "hit", "hits")
		if len(v.find.hits) == skills.SearchLimit {
			note = "first " + note
		}
	case v.loaded && !v.find.shown():
		note = plural(len(v.shelves), "collection", "collections")
	}
	role := roleTitle
	if v.text {
		role = rolePlain
	}
	return v.a.theme.rule(width, role, title, note)
}

func (v *skillsView) drawList(r rect) []string {
	say := func(role role, s string) string { return v.a.theme.spans(r.w, span{role, "   " + s}) }
	switch {
	case v.err != "" && !v.loaded:
		lines := []string{spaces(r.w)}
		for _, part := range wrap(v.err, max(r.w-6, 1)) {
			lines = append(lines, say(roleDanger, part))
		}
		return fill(append(lines, say(roleMuted, "r tries again")), r)
	case v.find.shown():
		return v.drawHits(r)
	case !v.loaded:
		return fill(nil, r)
	case len(v.shelves) == 0:
		lines := []string{spaces(r.w), say(rolePlain, "There is no collection yet.")}
		for _, s := range []string{"gatehouse skills add FOLDER imports one: a folder of skills, or a git checkout.", "1 shows what waits, 2 the sessions, ? all keys."} {
			for _, part := range wrap(s, max(r.w-6, 1)) {
				lines = append(lines, say(roleMuted, part))
			}
		}
		return fill(lines, r)
	}
	v.top = scrolled(v.top, v.at, v.rows(), r.h)
	lines := make([]string, 0, r.h)
	for i := v.top; i < v.rows() && len(lines) < r.h; i++ {
		v.drawn++
		s, at := v.row(i)
		if at < 0 {
			lines = append(lines, v.drawShelf(s, r.w, i == v.at))
		} else {
			lines = append(lines, v.drawDoc(s.doc(at), r.w, i == v.at))
		}
	}
	return fill(lines, r)
}

// scrolled is the first row drawn, so that the cursor is in sight and no line is
// empty while there are rows above.
func scrolled(top, at, rows, height int) int {
	top = min(top, at)
	if at >= top+height {
		top = at - height + 1
	}
	return max(min(top, rows-height), 0)
}

func (v *skillsView) rowRole(cursor bool) role {
	switch {
	case v.slow:
		return roleDim
	case cursor && v.find.input == nil:
		return roleCursor
	}
	return rolePlain
}

// drawShelf is a collection: its id, what it holds, who reads it, where it is from.
func (v *skillsView) drawShelf(s *shelfRow, width int, cursor bool) string {
	role := v.rowRole(cursor)
	fold := "+"
	if s.open {
		fold = "-"
	}
	sign := fold
	if s.hidden {
		sign += "!"
	}
	counts := fmt.Sprintf("%s skills", thousands(s.shelf.Skills))
	if s.shelf.Skills == 1 {
		counts = "1 skill"
	}
	if n := s.shelf.Documents - s.shelf.Skills - s.shelf.Broken; n > 0 {
		counts += " +" + thousands(n)
	}
	who := "private"
	if s.shelf.Visibility == skills.VisibilityPublic {
		who = "public"
	}
	tail := []span{{roleMuted, "  " + counts}}
	if s.shelf.Broken > 0 {
		tail = append(tail, span{roleDanger, "  ✗ " + thousands(s.shelf.Broken) + " broken"})
	}
	tail = append(tail, span{roleMuted, "  " + who + " "})
	room := max(width-widthOf(tail)-5, 8) // one column parts both ends
	name := span{role, pad(s.id, min(columns(s.id), room))}
	left := []span{{roleAccent, flag(cursor, "▸")}, {role, pad(sign, 2) + " "}, name}
	if more := room - columns(name.text); more > 12 {
		left = append(left, span{roleMuted, pad("  "+s.source, more)})
	}
	return v.a.theme.ends(width, left, tail)
}

func (v *skillsView) drawDoc(d *docRow, width int, cursor bool) string {
	role := v.rowRole(cursor)
	if d == nil {
		return v.a.theme.spans(width, span{roleAccent, flag(cursor, "▸")}, span{roleMuted, "     …"})
	}
	sign, name := span{role, "  "}, d.name
	tail := ""
	switch {
	case d.errors > 0:
		sign, tail = span{roleDanger, "✗ "}, plural(d.errors, "problem", "problems")+" "
	case d.warnings > 0:
		sign, tail = span{roleWarn, "! "}, plural(d.warnings, "warning", "warnings")+" "
	case d.skill:
		sign = span{roleGood, "/ "}
	case d.hidden:
		sign = span{roleWarn, "! "}
	}
	if d.skill && d.errors == 0 {
		name = strings.TrimSuffix(name, "/SKILL.md")
	}
	room := width - 6 - columns(tail)
	return v.a.theme.spans(width, span{roleAccent, flag(cursor, "▸")}, span{role, "   "}, sign, span{role, pad(name, room)}, span{sign.role, tail})
}

// drawHits shows each hit with a line of its text.
func (v *skillsView) drawHits(r rect) []string {
	say := func(role role, s string) []string {
		var lines []string
		for _, part := range wrap(s, max(r.w-6, 1)) {
			lines = append(lines, v.a.theme.spans(r.w, span{role, "   " + part}))
		}
		return lines
	}
	switch {
	case v.find.err != "":
		return fill(append([]string{spaces(r.w)}, say(roleWarn, v.find.err)...), r)
	case !v.find.asked:
		return fill(nil, r)
	case len(v.find.hits) == 0:
		return fill(append(append([]string{spaces(r.w)}, say(rolePlain, "Nothing holds all of these words.")...), say(roleMuted, "esc shows the collections.")...), r)
	}
	v.find.top = scrolled(v.find.top, v.find.at, len(v.find.hits), max(r.h/2, 1))
	lines := make([]string, 0, r.h)
	for i := v.find.top; i < len(v.find.hits) && len(lines) < r.h; i++ {
		v.drawn++
		h, role := v.find.hits[i], rolePlain
		if i == v.find.at {
			role = roleCursor
		}
		lines = append(lines,
			v.a.theme.spans(r.w, span{roleAccent, flag(i == v.find.at, "▸")}, span{role, " " + h.id}),
			v.a.theme.spans(r.w, span{roleMuted, "    " + h.snippet}))
	}
	return fill(lines, r)
}

func (v *skillsView) pageRule(r rect) string {
	role := rolePlain
	if v.text {
		role = roleTitle
	}
	title := v.tab.String()
	if ref, ok := v.on(); ok && v.tab != tabCatalog {
		of := string(ref.Collection)
		if ref.Path != "" && v.tab != tabReaders {
			of = ref.String()
		}
		title += " · " + cleanWord(of)
	}
	note := v.page.body.note
	if total, room := len(v.page.body.lines), r.h-2; v.page.shown && total > room {
		if note = ""; v.tab == tabCatalog {
			note = v.page.body.note + " · "
		}
		note += fmt.Sprintf("%s-%s of %s", thousands(v.page.top+1), thousands(min(v.page.top+room, total)), thousands(total))
		if v.page.top+room < total {
			note += " ↓"
		}
	}
	if v.page.slow {
		note = v.a.spinner() + " reading"
	}
	return v.a.theme.rule(r.w, role, title, note)
}

// drawPage draws the tabs and, below them, the lines in sight.
func (v *skillsView) drawPage(r rect) []string {
	t := &v.a.theme
	tabs := []span{{rolePlain, " "}}
	for tab := range skillTabs {
		piece := span{roleMuted, " " + tab.String() + " "}
		if tab == v.tab {
			piece = span{roleCursor, "[" + tab.String() + "]"}
		}
		tabs = append(tabs, piece, span{rolePlain, " "})
	}
	lines := []string{t.spans(r.w, tabs...)}
	if v.page.err != "" {
		for _, part := range wrap(v.page.err, max(r.w-2, 1)) {
			lines = append(lines, t.spans(r.w, span{roleDanger, " " + part}))
		}
		return fill(append(lines, t.spans(r.w, span{roleMuted, " r tries again"})), r)
	}
	if !v.page.shown {
		return fill(lines, r)
	}
	v.page.top = min(v.page.top, max(len(v.page.body.lines)-(r.h-1), 0))
	want, _ := v.key()
	old := !v.page.key.same(want) && v.page.slow
	for _, l := range v.page.body.lines[v.page.top:] {
		if len(lines) >= r.h {
			break
		}
		v.drawn++
		text, role := l.text, l.role
		if !l.flows && v.page.left > 0 {
			text = strings.TrimRight(cut(text, v.page.left, r.w), " ")
		}
		if old {
			role = roleDim
		}
		lines = append(lines, t.spans(r.w, span{rolePlain, " "}, span{role, text}))
	}
	return fill(lines, r)
}
