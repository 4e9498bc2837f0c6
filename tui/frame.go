package tui

import (
	"strings"

	"gatehouse/core/text"
)

// The smallest screen, below which one line asks for more room.
const (
	minWidth  = 60
	minHeight = 15
)

// rect is the room that a view is given to draw in.
type rect struct{ w, h int }

// pad fills a line with spaces to a width, and cuts one that is too long. The
// line holds no sequences.
func pad(line string, width int) string {
	w := columns(line)
	if w > width {
		line = text.Truncate(line, width)
		w = columns(line)
	}
	return line + spaces(width-w)
}

// right is pad with the spaces in front.
func right(line string, width int) string {
	w := columns(line)
	if w > width {
		line = text.Truncate(line, width)
		w = columns(line)
	}
	return spaces(width-w) + line
}

const blank = "                                                                                                                                "

func spaces(n int) string {
	switch {
	case n <= 0:
		return ""
	case n <= len(blank):
		return blank[:n]
	}
	return strings.Repeat(" ", n)
}

// span is a piece of a line in one role.
type span struct {
	role role
	text string
}

// spans draws pieces one after the other within a width, cut where they end,
// and filled up.
func (t *theme) spans(width int, pieces ...span) string {
	var b strings.Builder
	left := width
	for _, p := range pieces {
		if left <= 0 {
			break
		}
		cut := p.text
		if w := columns(cut); w > left {
			cut = text.Truncate(cut, left)
			left -= columns(cut)
		} else {
			left -= w
		}
		b.WriteString(t.paint(p.role, cut))
	}
	b.WriteString(spaces(left))
	return b.String()
}

// ends draws one group of pieces from the left and one up to the right edge;
// where both do not fit, the right one goes.
func (t *theme) ends(width int, left, rightPieces []span) string {
	l, r := widthOf(left), widthOf(rightPieces)
	if l+r+1 > width {
		return t.spans(width, left...)
	}
	gap := span{text: spaces(width - l - r)}
	return t.spans(width, append(append(append([]span{}, left...), gap), rightPieces...)...)
}

func widthOf(pieces []span) int {
	w := 0
	for _, p := range pieces {
		w += columns(p.text)
	}
	return w
}

// rule draws a line between panes with a title on it.
func (t *theme) rule(width int, titleRole role, title, note string) string {
	return t.joint(width, titleRole, title, note, -1, "")
}

// joint is rule with a sign where the line between two panes meets it.
func (t *theme) joint(width int, titleRole role, title, note string, at int, sign string) string {
	const lead = 2
	pieces := []span{{roleMuted, strings.Repeat("─", lead)}}
	used := lead
	if title != "" {
		title = " " + text.Truncate(title, max(width-lead-3-columns(note)-3*min(columns(note), 1), 8)) + " "
		pieces = append(pieces, span{titleRole, title})
		used += columns(title)
	}
	tail := 0
	if note != "" && used+columns(note)+4 <= width {
		note = " " + note + " "
		tail = columns(note) + 1
	} else {
		note = ""
	}
	line := max(width-used-tail, 0)
	if at >= used && at < used+line {
		pieces = append(pieces,
			span{roleMuted, strings.Repeat("─", at-used) + sign + strings.Repeat("─", used+line-at-1)})
	} else {
		pieces = append(pieces, span{roleMuted, strings.Repeat("─", line)})
	}
	if note != "" {
		pieces = append(pieces, span{roleMuted, note}, span{roleMuted, "─"})
	}
	return t.spans(width, pieces...)
}

// fill gives a pane exactly the lines of its room.
func fill(lines []string, r rect) []string {
	if len(lines) > r.h {
		lines = lines[:r.h]
	}
	for len(lines) < r.h {
		lines = append(lines, spaces(r.w))
	}
	return lines
}

// wrap breaks a clean line at spaces, or anywhere where there are none.
func wrap(line string, width int) []string { return wrapHanging(line, width, 0) }

// wrapHanging is wrap with spaces in front of each line but the first.
func wrapHanging(line string, width, hang int) []string {
	if width <= hang || columns(line) <= width {
		return []string{line}
	}
	var out []string
	current, w, room := "", 0, width
	flush := func() {
		if len(out) > 0 {
			current = spaces(hang) + current
		}
		out = append(out, current)
		current, w, room = "", 0, width-hang
	}
	for i, word := range strings.Split(line, " ") {
		ww := columns(word)
		if i > 0 && w+1+ww <= room {
			current, w = current+" "+word, w+1+ww
			continue
		}
		if w > 0 {
			if i > 0 && ww > width-hang && w+1 < room { // too long for any line: it begins here
				current, w = current+" ", w+1
			} else {
				flush()
			}
		}
		for w+ww > room {
			head := cut(word, 0, room-w)
			if head == "" && w == 0 {
				break
			}
			current += head
			word = word[len(head):]
			ww = columns(word)
			flush()
		}
		current, w = current+word, w+ww
	}
	flush()
	return out
}
