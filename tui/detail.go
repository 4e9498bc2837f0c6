package tui

import (
	"fmt"
	"strings"

	"gatehouse/core"
)

// detail is the pane that shows one document, scrolled down and sideways.
type detail struct {
	doc     *document
	raw     *core.Detail // what the document was made of, for another view of it
	want    core.ActionID
	gen     int
	err     string
	view    docView
	top     int
	left    int
	seen    map[core.Digest]bool // digests whose last line was on the screen
	laid    []line               // the document broken to a width
	laidFor *document
	laidAt  int
}

const (
	seenMost = 4096
	hang     = 8 // columns in front of what a flowing line goes on with
)

// show puts another document in the pane. The same action keeps its place.
func (d *detail) show(doc *document, raw *core.Detail) {
	if d.doc == nil || d.doc.id != doc.id {
		d.top, d.left = 0, 0
	}
	d.doc, d.raw, d.err = doc, raw, ""
}

// layout breaks the document to a width, once.
func (d *detail) layout(width int) []line {
	if d.doc == nil {
		return nil
	}
	if d.laidFor == d.doc && d.laidAt == width {
		return d.laid
	}
	d.laid = d.laid[:0:0]
	for _, l := range d.doc.lines {
		if !l.flows {
			d.laid = append(d.laid, l)
			continue
		}
		for _, part := range wrapHanging(l.text, width, hang) {
			d.laid = append(d.laid, line{l.role, part, true})
		}
	}
	d.laidFor, d.laidAt = d.doc, width
	return d.laid
}

// scroll moves down or up within the document.
func (d *detail) scroll(by int, r rect) {
	d.top = min(max(d.top+by, 0), d.lastTop(r))
}

func (d *detail) lastTop(r rect) int { return max(len(d.layout(r.w-1))-r.h, 0) }

// sideways moves what does not flow.
func (d *detail) sideways(by int) { d.left = max(d.left+by, 0) }

// look notes that the end of the document is on the screen (T21).
func (d *detail) look(r rect) {
	if d.doc == nil || d.doc.id != d.want || d.top < d.lastTop(r) {
		return
	}
	if d.seen == nil || len(d.seen) >= seenMost {
		d.seen = make(map[core.Digest]bool)
	}
	d.seen[d.doc.digest] = true
}

func (d *detail) unseen() bool { return d.doc != nil && !d.seen[d.doc.digest] }

// title names what the pane shows, and how much of it is out of sight.
func (d *detail) title(r rect) (title, note string) {
	if d.doc == nil {
		return "", ""
	}
	name := "#" + d.doc.id.String()
	if d.doc.state.Kind == core.QueueKindQuestion {
		name = "Q" + d.doc.id.String()
	}
	total := len(d.layout(r.w - 1))
	note = fmt.Sprintf("%d-%d of %s", min(d.top+1, total), min(d.top+r.h, total), thousands(total))
	if d.top > 0 {
		note += " ↑"
	}
	if d.top < d.lastTop(r) {
		note += " ↓"
	}
	if d.unseen() {
		note += " unseen"
	}
	return name + " " + d.doc.title, note
}

// draw fills a room with the lines in sight.
func (d *detail) draw(t *theme, r rect, dim bool) []string {
	if d.err != "" {
		lines := []string{}
		for _, part := range wrap(d.err, max(r.w-1, 1)) {
			lines = append(lines, t.spans(r.w, span{roleDanger, " " + part}))
		}
		return fill(append(lines, t.spans(r.w, span{roleMuted, " r tries again"})), r)
	}
	laid := d.layout(r.w - 1)
	out := make([]string, 0, r.h)
	for i := d.top; i < len(laid) && len(out) < r.h; i++ {
		l := laid[i]
		text := l.text
		if !l.flows && d.left > 0 {
			text = strings.TrimRight(cut(text, d.left, r.w), " ")
		}
		role := l.role
		if dim {
			role = roleDim
		}
		out = append(out, t.spans(r.w, span{rolePlain, " "}, span{role, text}))
	}
	return fill(out, r)
}

// find moves to the next line that holds one of the words, down or up.
func (d *detail) find(words []string, by int, r rect) bool {
	laid := d.layout(r.w - 1)
	for i := d.top + by; i >= 0 && i < len(laid); i += by {
		text := strings.ToLower(laid[i].text)
		for _, word := range words {
			if strings.Contains(text, strings.ToLower(word)) {
				d.top = min(i, d.lastTop(r))
				return true
			}
		}
	}
	return false
}
