package tui

import (
	"fmt"
	"strconv"
	"strings"

	"gatehouse/core/text"
)

func (v *record) draw(r rect) []string {
	lines := []string{v.head(r.w)}
	switch {
	case v.shows == recordOpen:
		return append(lines, v.pane.draw(&v.a.theme, rect{r.w, r.h - 1}, false)...)
	case v.shows == recordChain:
		return append(lines, v.drawRows(&v.chain, rect{r.w, r.h - 1}, false)...)
	case len(v.win.rows) == 0:
		return append(lines, v.drawNone(rect{r.w, r.h - 1})...)
	}
	return append(lines, v.drawRows(&v.win, rect{r.w, r.h - 1}, v.slow)...)
}

// head is the title of what is shown, and at its right edge whether the record
// was verified.
func (v *record) head(width int) string {
	t := &v.a.theme
	state, stateRole := v.check.state(v.words.zone)
	if v.check.running {
		state = v.a.spinner() + " " + state
	}
	title := "Record"
	switch {
	case v.shows == recordOpen:
		title = v.rowTitle()
	case v.shows == recordChain:
		title = "Why " + v.why
	case !v.filter.empty():
		title += " · / " + v.filter.text
	}
	if v.slow {
		title += " · " + v.a.spinner() + " reading"
	}
	state = text.Truncate(state, max(width-16, 20))
	title = text.Truncate(title, max(width-columns(state)-9, 8))
	line := width - columns(title) - columns(state) - 7
	return t.spans(width, span{roleMuted, "── "}, span{roleTitle, title}, span{roleMuted, " " + strings.Repeat("─", max(line, 0)) + " "},
		span{stateRole, state}, span{roleMuted, " ─"})
}

// rowTitle names the opened row and says how much of it is out of sight.
func (v *record) rowTitle() string {
	room := v.paneRoom()
	title := fmt.Sprintf("Row %d", v.opened.seq)
	if all := len(v.pane.layout(room.w - 1)); all > room.h {
		title += fmt.Sprintf(" · %d-%d of %d", v.pane.top+1, min(v.pane.top+room.h, all), all)
	}
	return title
}

// recordCols are the widths of the columns for a width of the screen.
type recordCols struct{ seq, at, kind, who, session, subject int }

func columnsOfRecord(width, seq int) recordCols {
	c := recordCols{seq: seq, at: 8, kind: 8, who: 0, session: 0, subject: 14}
	switch {
	case width >= 150:
		c = recordCols{seq, 14, 10, 24, 22, 26}
	case width >= 100:
		c = recordCols{seq, 14, 10, 18, 14, 16}
	case width >= 80:
		c.who, c.session, c.subject = 12, 10, 14
	default:
		c.who = 10
	}
	return c
}

// drawRows draws the rows in sight under a line that names the columns.
func (v *record) drawRows(w *recordWindow, r rect, dim bool) []string {
	t := &v.a.theme
	last := w.rows[min(w.top+r.h, len(w.rows))-1].seq
	c := columnsOfRecord(r.w, len(strconv.FormatInt(max(w.rows[w.top].seq, last), 10)))
	named := recordRow{at: "time", kind: "kind", who: "who", session: "session", subject: "subject", gist: "what"}
	lines := []string{t.spans(r.w, span{roleMuted, "   " + c.lay(named, "")})}
	for i := w.top; i < len(w.rows) && len(lines) < r.h; i++ {
		lines = append(lines, v.drawRow(w.rows[i], c, r.w, i == w.at, dim))
	}
	return fill(lines, r)
}

// lay lines the columns of a row up.
func (c recordCols) lay(r recordRow, seq string) string {
	at := r.at
	if c.at == 8 && len(at) > 8 {
		at = at[len(at)-8:] // the time of the day alone
	}
	line := right(seq, c.seq) + " " + pad(at, c.at) + " "
	if c.who > 0 {
		line += pad(r.who, c.who) + " "
	}
	if c.session > 0 {
		line += pad(r.session, c.session) + " "
	}
	return line + pad(string(r.kind), c.kind) + " " + pad(r.subject, c.subject) + " " + r.gist
}

func (v *record) drawRow(r recordRow, c recordCols, width int, cursor, dim bool) string {
	sign, signRole := r.sign()
	pieces := []span{
		{roleAccent, flag(cursor, "▸")},
		{signRole, sign + " "},
		{rolePlain, c.lay(r, strconv.FormatInt(r.seq, 10))},
	}
	switch {
	case dim:
		recolour(pieces, roleDim)
	case cursor:
		recolour(pieces, roleCursor)
	case signRole == roleMuted:
		recolour(pieces[2:], roleMuted)
	}
	return v.a.theme.spans(width, pieces...)
}

// drawNone says that nothing is there, or why, and what is useful now.
func (v *record) drawNone(r rect) []string {
	t := &v.a.theme
	lines := []string{spaces(r.w)}
	switch {
	case v.err != "" && v.input == nil:
		for _, part := range wrap("The record could not be read: "+v.err, r.w-6) {
			lines = append(lines, t.spans(r.w, span{roleDanger, "   " + part}))
		}
		return fill(append(lines, spaces(r.w), t.spans(r.w, span{roleAccent, "   r    "}, span{roleMuted, "tries again"})), r)
	case !v.loaded || v.paging:
		note := ""
		if v.slow || v.paging {
			note = v.a.spinner() + " reading the record"
		}
		return fill(append(lines, t.spans(r.w, span{roleMuted, "   " + note})), r)
	}
	what := "Nothing has happened yet."
	hints := [][2]string{{"1", "the queue"}, {"2", "sessions"}, {"?", "every key"}}
	if !v.filter.empty() {
		what = "Nothing matches " + v.filter.text + "."
		hints = [][2]string{{"esc", "shows everything"}, {"/", "another filter"}, {"?", "every key"}}
	}
	lines = append(lines, t.spans(r.w, span{rolePlain, "   " + what}), spaces(r.w))
	for _, hint := range hints {
		lines = append(lines, t.spans(r.w, span{roleAccent, "   " + pad(hint[0], 5)}, span{roleMuted, hint[1]}))
	}
	return fill(lines, r)
}

// tally is the right end of the footer.
func (v *record) tally() []span {
	var out []span
	if v.shows == recordChain {
		out = append(out, span{roleMuted, plural(len(v.chain.rows), "row", "rows")})
		if v.earlier {
			out = append(out, span{roleWarn, " · earlier ones left out"})
		}
		return append(out, span{rolePlain, " "})
	}
	if v.loaded && v.filter.empty() && v.win.upTo > 0 {
		out = append(out, span{roleMuted, plural(int(v.win.upTo), "row", "rows")})
	}
	if v.fresh > 0 {
		if len(out) > 0 {
			out = append(out, span{roleMuted, " · "})
		}
		more := ""
		if v.more {
			more = "+"
		}
		out = append(out, span{roleAccent, thousands(v.fresh) + more + " new ."})
	}
	return append(out, span{rolePlain, " "})
}
