package tui

import (
	"strings"

	"gatehouse/core"
	"gatehouse/core/text"
)

// layoutOf is how the body is divided: a room of no height is not drawn.
type layoutOf struct {
	list, detail rect // each with one line for its title
	beside       bool
}

// layout divides the body: beside each other in wide rooms, else one above the
// other, else one at a time.
func (q *queue) layout(r rect) layoutOf {
	whole := rect{r.w, r.h}
	small := q.a.size.w < 80 || q.a.size.h < 24
	switch {
	case q.full, small && q.pane == paneDetail:
		return layoutOf{detail: whole}
	case small, q.split == splitNone && q.pane == paneList:
		return layoutOf{list: whole}
	case q.a.size.w >= 100 && q.split == splitAuto:
		w := r.w * 53 / 100
		return layoutOf{list: rect{w, r.h}, detail: rect{r.w - w - 1, r.h}, beside: true}
	}
	if len(q.win.rows) == 0 && q.detail.doc == nil && q.pane == paneList {
		return layoutOf{list: whole}
	}
	list := max(r.h*45/100, 5)
	return layoutOf{list: rect{r.w, list}, detail: rect{r.w, r.h - list}}
}

// joint is where the line between the panes meets the bottom line.
func (q *queue) joint(r rect) int {
	if l := q.layout(r); l.beside {
		return l.list.w
	}
	return -1
}

func (q *queue) draw(r rect) []string {
	l := q.layout(r)
	switch {
	case l.beside:
		return q.drawBeside(r, l)
	case l.list.h == 0:
		return append([]string{q.detailRule(l.detail)}, q.drawDetail(rect{l.detail.w, l.detail.h - 1})...)
	}
	lines := []string{q.listRule(l.list.w, -1)}
	lines = append(lines, q.drawList(rect{l.list.w, l.list.h - 1})...)
	if l.detail.h > 0 {
		lines = append(lines, q.detailRule(l.detail))
		lines = append(lines, q.drawDetail(rect{l.detail.w, l.detail.h - 1})...)
	}
	return lines
}

func (q *queue) drawBeside(r rect, l layoutOf) []string {
	t := &q.a.theme
	left := q.drawList(rect{l.list.w, r.h - 1})
	right := q.drawDetail(rect{l.detail.w, r.h - 1})
	bar := t.paint(roleMuted, "│")
	lines := make([]string, 0, r.h)
	lines = append(lines, q.listRule(l.list.w, -1)+t.paint(roleMuted, "┬")+q.detailRule(l.detail))
	for i := range left {
		lines = append(lines, left[i]+bar+right[i])
	}
	return lines
}

func (q *queue) listRule(width, joint int) string {
	title := "Needs you"
	if q.filter.every || len(q.filter.states) > 0 {
		title = "Queue"
	}
	if q.grouped() {
		title += " · by " + string(q.order)
	}
	if q.newest {
		title += " · newest first"
	}
	if !q.filter.empty() {
		title += " · / " + q.filter.text
	}
	r := roleTitle
	if q.pane != paneList {
		r = rolePlain
	}
	note := ""
	switch {
	case q.slow:
		note = q.a.spinner() + " reading"
	case q.ranged != 0:
		note = "range"
	}
	return q.a.theme.joint(width, r, title, note, joint, "┬")
}

func (q *queue) detailRule(r rect) string {
	title, note := q.detail.title(rect{r.w, r.h - 1})
	role := rolePlain
	if q.pane == paneDetail {
		role = roleTitle
	}
	return q.a.theme.rule(r.w, role, title, note)
}

func (q *queue) drawDetail(r rect) []string {
	if q.detail.doc == nil && q.detail.err == "" {
		return fill(nil, r)
	}
	dim := q.detail.doc != nil && q.detail.doc.id != q.detail.want
	return q.detail.draw(&q.a.theme, r, dim)
}

// drawList draws the rows in sight, with a heading for each group. A heading
// stands over the first row whatever was scrolled away above it.
func (q *queue) drawList(r rect) []string {
	switch {
	case q.err != "" && q.input == nil && len(q.win.rows) == 0:
		return q.drawFault(r)
	case len(q.win.rows) == 0:
		return q.drawEmpty(r)
	}
	lines := make([]string, 0, r.h)
	width := idWidth(q.visible(r.h))
	now := q.a.now()
	ranged := q.rangeIDs()
	for i := q.win.top; i < len(q.win.rows) && len(lines) < r.h; i++ {
		w := q.win.rows[i]
		if q.grouped() && (i == q.win.top || w.Place.Group != q.win.rows[i-1].Place.Group) {
			lines = append(lines, q.heading(w, i, r.w))
			if len(lines) == r.h {
				break
			}
		}
		draft := q.a.drafts[w.ID]
		_, marked := q.marks[w.ID]
		lines = append(lines, q.cache.line(&q.a.theme, w, r.w, looks{
			cursor: i == q.win.at, focused: q.pane == paneList && q.input == nil, marked: marked, ranged: ranged[w.ID],
			dim: q.slow, session: q.order != core.OrderSession && q.filter.session == "", draft: draft.Verdict,
			stale: draft.Verdict != "" && draft.Digest != w.Digest, age: age(now, w.CreatedAt), idWidth: width,
		}))
	}
	return fill(lines, r)
}

// visible are the rows that a height can show.
func (q *queue) visible(height int) []row {
	return q.win.rows[q.win.top:min(q.win.top+height, len(q.win.rows))]
}

func (q *queue) rangeIDs() map[core.ActionID]bool {
	r, ok := q.current()
	if q.ranged == 0 || !ok {
		return nil
	}
	ids := make(map[core.ActionID]bool)
	for _, in := range q.win.between(q.ranged, r.ID) {
		ids[in.ID] = true
	}
	return ids
}

// heading names a group. Its counts are shown where the whole group is at hand.
func (q *queue) heading(w row, at, width int) string {
	name := w.Place.Group
	if q.order == core.OrderSession {
		name = w.SessionName
	}
	name, _ = cleanLine(name, 100)
	from, to := at, at
	for from > 0 && q.win.rows[from-1].Place.Group == w.Place.Group && at-from < pageSize {
		from--
	}
	for to+1 < len(q.win.rows) && q.win.rows[to+1].Place.Group == w.Place.Group && to-at < pageSize {
		to++
	}
	counts := ""
	whole := (from > 0 || !q.win.above) && (to+1 < len(q.win.rows) || !q.win.below) && at-from < pageSize && to-at < pageSize
	if whole {
		counts = q.groupCounts(from, to)
	}
	return q.a.theme.ends(width, []span{{rolePlain, "   "}, {roleTitle, text.Truncate(name, width-20)}},
		[]span{{roleMuted, counts + " "}})
}

func (q *queue) groupCounts(from, to int) string {
	approve, reject := 0, 0
	for _, w := range q.win.rows[from : to+1] {
		switch q.a.drafts[w.ID].Verdict {
		case core.VerdictApprove:
			approve++
		case core.VerdictReject:
			reject++
		}
	}
	out := thousands(to - from + 1)
	if approve > 0 {
		out += " · " + thousands(approve) + " A"
	}
	if reject > 0 {
		out += " · " + thousands(reject) + " x"
	}
	return out
}

// drawEmpty says that nothing is there, and what is useful now.
func (q *queue) drawEmpty(r rect) []string {
	t := &q.a.theme
	if !q.loaded {
		note := ""
		if q.slow {
			note = q.a.spinner() + " reading the queue"
		}
		return fill([]string{spaces(r.w), t.spans(r.w, span{roleMuted, "   " + note})}, r)
	}
	what := "Nothing waits for you."
	hints := [][2]string{{"2", "sessions, and what they did"}, {"/", "find what was decided: state:all"}, {"?", "every key"}}
	if !q.filter.empty() {
		what = "Nothing matches " + q.filter.text + "."
		hints = [][2]string{{"esc", "shows everything that waits"}, {"/", "another filter"}, {"?", "every key"}}
	}
	lines := []string{spaces(r.w), t.spans(r.w, span{rolePlain, "   " + what}), spaces(r.w)}
	for _, hint := range hints {
		lines = append(lines, t.spans(r.w, span{roleAccent, "   " + pad(hint[0], 5)}, span{roleMuted, hint[1]}))
	}
	return fill(lines, r)
}

func (q *queue) drawFault(r rect) []string {
	t := &q.a.theme
	lines := []string{spaces(r.w)}
	for _, part := range wrap(strings.TrimSpace("The queue could not be read: "+q.err), r.w-6) {
		lines = append(lines, t.spans(r.w, span{roleDanger, "   " + part}))
	}
	lines = append(lines, spaces(r.w), t.spans(r.w, span{roleAccent, "   r    "}, span{roleMuted, "tries again"}))
	return fill(lines, r)
}
