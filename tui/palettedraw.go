package tui

import (
	"fmt"
	"slices"

	"github.com/charmbracelet/x/ansi"
)

// The columns of the palette.
const (
	paletteKeys  = 12
	paletteTitle = 22
)

// draw shows the line being typed and what it finds.
func (p *palette) draw(r rect) []string {
	t := &p.a.theme
	note := fmt.Sprintf("%d of %d", len(p.entries), len(p.a.keys.commands))
	lines := []string{
		t.rule(r.w, roleTitle, "Palette", note),
		t.spans(r.w, span{roleAccent, " : "}, span{rolePlain, p.line.draw(r.w - 4)}),
	}
	if len(p.entries) == 0 {
		return fill(append(lines, spaces(r.w),
			t.spans(r.w, span{rolePlain, "   No command is called that."}),
			t.spans(r.w, span{roleMuted, "   ctrl+u clears the line and shows all of them."})), r)
	}
	room := max(r.h-len(lines), 1)
	if p.at < p.top {
		p.top = p.at
	}
	if p.at >= p.top+room {
		p.top = p.at - room + 1
	}
	for i := p.top; i < len(p.entries) && len(lines) < r.h; i++ {
		lines = append(lines, p.drawEntry(p.entries[i], r.w, i == p.at))
	}
	return fill(lines, r)
}

// drawEntry is one command: keys, title, what it does or why it cannot be
// used, and its tag where there is room.
func (p *palette) drawEntry(e paletteEntry, width int, cursor bool) string {
	t := &p.a.theme
	keys, title, about := roleAccent, rolePlain, roleMuted
	says := e.c.about
	if why := p.why(e.c); why != "" {
		keys, title, about = roleDim, roleDim, roleDim
		says = "– " + why
	}
	hit := roleTitle
	if cursor {
		title, about, hit = roleCursor, roleCursor, roleFocus
	}
	keyRoom, titleRoom := paletteKeys, paletteTitle
	if width < 80 {
		keyRoom, titleRoom = keyRoom-4, titleRoom-10
	}
	left := []span{{roleAccent, " " + flag(cursor, "▸") + " "}, {keys, pad(keyList(e.c.keys), keyRoom) + " "}}
	name := highlight(e.c.title, e.hit, title, hit)
	left = append(left, name...)
	left = append(left, span{title, spaces(max(titleRoom-columns(e.c.title), 0) + 1)})
	if width < 100 {
		return t.spans(width, append(left, span{about, says})...)
	}
	tag := " " + e.c.tag + " "
	room := width - widthOf(left) - columns(tag)
	return t.spans(width, append(left, span{about, pad(says, room)}, span{roleMuted, tag})...)
}

// highlight divides a title into pieces, those with a byte that was looked for
// in a role of their own. A character is never divided: the bytes of a wide one,
// and of the marks on one, are drawn with it.
func highlight(s string, at []int, plain, hit role) []span {
	if len(at) == 0 {
		return []span{{plain, s}}
	}
	var out []span
	for from := 0; from < len(s); {
		cluster, _ := ansi.FirstGraphemeCluster(s[from:], ansi.GraphemeWidth)
		to := from + len(cluster)
		r := plain
		if slices.ContainsFunc(at, func(i int) bool { return i >= from && i < to }) {
			r = hit
		}
		if n := len(out); n > 0 && out[n-1].role == r {
			out[n-1].text += cluster
		} else {
			out = append(out, span{r, cluster})
		}
		from = to
	}
	return out
}
