package tui

import (
	"fmt"

	"gatehouse/core"
	"gatehouse/core/text"
)

// row is an action or a question as a list shows it; its text is clean.
type row struct {
	core.QueueRow
	hidden bool     // something was hidden in the text that it came with
	raw    []string // choices of a question, as it has them: what an answer names
}

// cleanRow takes a row of the store into the view model.
func cleanRow(r core.QueueRow) row {
	out := row{QueueRow: r}
	for _, s := range []struct {
		field *string
		limit int
	}{{&out.Title, titleLimit}, {&out.Reason, reasonLimit}, {&out.Kind, 40}, {&out.SessionName, 100}, {&out.Caller.Name, 100}} {
		var hidden bool
		*s.field, hidden = cleanLine(*s.field, s.limit)
		out.hidden = out.hidden || hidden
	}
	if r.Question != nil {
		q := *r.Question
		var hidden bool
		q.Text, hidden = cleanLine(q.Text, titleLimit)
		out.raw = q.Choices
		q.Choices = append([]string{}, q.Choices...)
		for i, choice := range q.Choices {
			q.Choices[i], _ = cleanLine(choice, 200)
		}
		out.Question, out.hidden = &q, out.hidden || hidden
		if out.Title == "" {
			out.Title = q.Text
		}
	}
	return out
}

func cleanRows(rows []core.QueueRow) []row {
	out := make([]row, len(rows))
	for i, r := range rows {
		out[i] = cleanRow(r)
	}
	return out
}

func (r row) question() bool { return r.Kind == core.QueueKindQuestion }

// name is how messages and titles speak of a row.
func (r row) name() string {
	if r.question() {
		return "Q" + r.ID.String()
	}
	return "#" + r.ID.String()
}

// looks are what else a drawn row depends on.
type looks struct {
	cursor, focused, marked, ranged, dim, session bool
	draft                                         core.Verdict
	stale                                         bool // drafted on a digest that is no longer its own
	age                                           string
	idWidth                                       int
}

// rowKey finds a drawn row again.
type rowKey struct {
	id      core.ActionID
	version int64
	width   int
	looks   looks
}

// rowCache keeps drawn rows: a frame draws what changed, the rest is looked up.
type rowCache struct {
	rows  map[rowKey]string
	drawn int // rows drawn so far, for tests that count work
}

const rowCacheSize = 4096

func (c *rowCache) line(t *theme, r row, width int, l looks) string {
	key := rowKey{r.ID, r.Version, width, l}
	if line, found := c.rows[key]; found {
		return line
	}
	if c.rows == nil || len(c.rows) >= rowCacheSize {
		c.rows = make(map[rowKey]string, rowCacheSize)
	}
	c.drawn++
	line := drawRow(t, r, width, l)
	c.rows[key] = line
	return line
}

// drawRow lays a row out: cursor, range or mark, draft, id, signs, kind, title,
// and at the right edge what its state means, its session and its age.
func drawRow(t *theme, r row, width int, l looks) string {
	sign, signRole := stateSign(r.Summary)
	risk := " "
	if r.Risk == core.RiskHigh && !r.question() {
		risk = "▲"
	}
	kind := r.Kind
	if r.question() {
		kind = "ask"
	}
	tail := []span{}
	if word := stateWord(r.Summary); word != "" {
		tail = append(tail, span{roleWarn, "  " + word})
	}
	if l.session && r.SessionName != "" {
		tail = append(tail, span{roleMuted, "  " + text.Truncate(r.SessionName, 16)})
	}
	tail = append(tail, span{roleMuted, right(l.age, 5) + " "})

	pieces := []span{
		{roleAccent, flag(l.cursor, "▸")},
		{roleAccent, mark(l)},
		draftSpan(l),
		{roleMuted, right(r.name(), l.idWidth+2) + " "},
		{signRole, sign},
		{roleDanger, risk + " "},
		{rolePlain, pad(kind, kindWidth(width)) + " "},
	}
	title := withoutVerb(r.Kind, r.Title)
	if r.hidden {
		pieces = append(pieces, span{roleWarn, "! "})
	}
	if room := width - widthOf(pieces) - widthOf(tail); room < 16 && len(tail) > 1 {
		tail = tail[len(tail)-1:]
	}
	room := max(width-widthOf(pieces)-widthOf(tail), 0)
	pieces = append(append(pieces, span{rolePlain, pad(title, room)}), tail...)
	switch {
	case l.dim:
		recolour(pieces, roleDim)
	case l.cursor && l.focused:
		recolour(pieces, roleCursor)
	}
	return t.spans(width, pieces...)
}

func kindWidth(width int) int {
	if width < 70 {
		return 7
	}
	return 9
}

// recolour gives a whole line one role, but leaves what is dangerous or has to
// be looked at.
func recolour(pieces []span, to role) {
	for i := range pieces {
		if r := pieces[i].role; r != roleDanger && r != roleWarn || to == roleDim {
			pieces[i].role = to
		}
	}
}

func flag(on bool, sign string) string {
	if on {
		return sign
	}
	return " "
}

func mark(l looks) string {
	switch {
	case l.ranged:
		return "│"
	case l.marked:
		return "*"
	}
	return " "
}

func draftSpan(l looks) span {
	switch {
	case l.draft == "":
		return span{rolePlain, " "}
	case l.stale:
		return span{roleWarn, "!"}
	case l.draft == core.VerdictApprove:
		return span{roleAccent, "A"}
	}
	return span{roleAccent, "x"}
}

func idWidth(rows []row) int {
	most := core.ActionID(99)
	for _, r := range rows {
		most = max(most, r.ID)
	}
	return len(fmt.Sprint(int64(most)))
}
