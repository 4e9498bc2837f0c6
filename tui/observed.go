package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// observed is the screen of what was read: a row a unit, of one session or of
// all, the newest first sight on top. The cursor goes by the unit.
type observed struct {
	a     *app
	all   []unitRow // as read
	rows  []int     // of all, those that the filter lets through
	at    int       // row under the cursor
	top   int       // first row drawn
	total int       // observations in the store, also those beyond the limit of a read
	read  int       // observations at hand

	filter unitFilter
	input  *input // not nil while the filter is typed
	before unitFilter

	gen     int
	loaded  bool
	loading bool
	held    bool      // the row under the cursor keeps its line, even where that leaves lines empty (T4)
	again   bool      // another read was asked for meanwhile
	want    core.Unit // goes under the cursor when it was read
	slow    bool
	err     string
	drawn   int // rows drawn, for tests that count work
}

// unitRow is a unit with the sessions that read it; but for unit, its text is clean.
type unitRow struct {
	unit       core.Unit // as the store has it: what the cursor and reads go by
	id         string    // unit in one line
	name       string
	gatekeeper string
	service    string
	permission string
	strategy   core.Strategy
	labels     []string
	ownerOnly  bool
	seen       []seenIn // by session, the first to see it first
	reads      int
	hidden     bool   // something was hidden in the text that it came with
	hay        string // what words of a filter are looked for in
}

// seenIn is one session that read a unit.
type seenIn struct {
	session core.SessionID
	name    string
	at      time.Time
	turn    int
	reads   int
	last    time.Time
}

func newObserved(a *app) *observed { return &observed{a: a} }

func (o *observed) place() place {
	if o.input != nil {
		return atObservedFilter
	}
	return atObserved
}

func (o *observed) typed() *input { return o.input }

// observedMsg is the answer to a read of observations.
type observedMsg struct {
	gen   int
	rows  []unitRow
	read  int
	total int
	err   error
}

// observedSlowMsg says that a read has taken long.
type observedSlowMsg struct{ gen int }

// load reads the newest observations. While one read runs, another is only noted.
func (o *observed) load() term.Cmd {
	if o.loading {
		o.again = true
		return nil
	}
	return o.loadNow()
}

// loadNow reads at once: what a read that is on its way finds is dropped.
func (o *observed) loadNow() term.Cmd {
	o.gen++
	o.loading, o.again = true, false
	gen, ctx, kernel, session := o.gen, o.a.ctx, o.a.kernel, o.filter.session
	read := func() term.Msg { return readObserved(ctx, kernel, session, gen) }
	return term.All(read, term.After(slowAfter, observedSlowMsg{gen}))
}

func readObserved(ctx context.Context, kernel Kernel, session string, gen int) observedMsg {
	page, err := kernel.Observed(ctx, core.ObservedQuery{Session: session})
	if err != nil {
		return observedMsg{gen: gen, err: err}
	}
	return observedMsg{gen: gen, rows: unitRows(page.Rows), read: len(page.Rows), total: page.Total}
}

// unitRows makes a row a unit of observations that come newest first. A unit
// stands where the last session to find it put it.
func unitRows(found []core.ObservedUnit) []unitRow {
	at := make(map[core.Unit]int, len(found))
	var rows []unitRow
	for _, f := range found {
		i, known := at[f.Found.Unit]
		if !known {
			i = len(rows)
			at[f.Found.Unit] = i
			rows = append(rows, cleanUnit(f))
		}
		rows[i].join(f)
	}
	for i := range rows {
		rows[i].finish()
	}
	return rows
}

func cleanUnit(f core.ObservedUnit) unitRow {
	u := f.Found.Unit
	r := unitRow{unit: u, strategy: f.Strategy}
	for _, s := range []struct {
		to   *string
		from string
	}{{&r.id, u.String()}, {&r.name, u.Name}, {&r.gatekeeper, u.Gatekeeper}, {&r.service, u.Service}, {&r.permission, f.Found.Permission}} {
		var hidden bool
		*s.to, hidden = cleanLine(s.from, titleLimit)
		r.hidden = r.hidden || hidden
	}
	if r.name == "" {
		r.name = "(all of it)"
	}
	return r
}

// join adds what one session says of the unit. What any of them was told binds.
func (r *unitRow) join(f core.ObservedUnit) {
	name, _ := cleanLine(f.SessionName, 100)
	r.seen = append(r.seen, seenIn{f.Session, name, f.FirstSeenAt, f.Turn, f.Reads, f.LastReadAt})
	r.reads += f.Reads
	r.ownerOnly = r.ownerOnly || f.Found.OwnerOnly
	for _, label := range f.Found.Labels {
		clean, hidden := cleanLine(label, 100)
		r.hidden = r.hidden || hidden
		if clean != core.LabelOwnerOnly && !slices.Contains(r.labels, clean) {
			r.labels = append(r.labels, clean)
		}
	}
}

func (r *unitRow) finish() {
	slices.Reverse(r.seen)
	slices.Sort(r.labels)
	hay := []string{r.name, r.gatekeeper, r.service, r.permission, string(r.strategy)}
	hay = append(hay, r.allLabels()...)
	for _, s := range r.seen {
		hay = append(hay, s.name)
	}
	r.hay = strings.Join(hay, "\n")
}

// allLabels are the labels with owner-only in front, as the word of a state that no colour alone tells.
func (r *unitRow) allLabels() []string {
	if r.ownerOnly {
		return append([]string{core.LabelOwnerOnly}, r.labels...)
	}
	return r.labels
}

func (o *observed) update(msg term.Msg) term.Cmd {
	switch msg := msg.(type) {
	case shownMsg:
		return o.load()
	case reloadMsg:
		if o.a.open(o) {
			return o.load()
		}
	case observedMsg:
		return o.take(msg)
	case observedSlowMsg:
		if msg.gen == o.gen && o.loading {
			o.slow = true
		} else {
			o.a.dirty = false
		}
	case observedFilterMsg:
		if o.input != nil && o.input.text() == msg.text {
			return o.loadNow()
		}
	}
	return nil
}

// take shows what was read; the cursor stays on its unit, and the unit on its line.
func (o *observed) take(msg observedMsg) term.Cmd {
	if msg.gen != o.gen {
		o.a.dirty = false
		return nil
	}
	o.loading, o.slow = false, false
	if msg.err != nil {
		o.err, _ = cleanLine(describe(msg.err), reasonLimit)
		switch {
		case o.input != nil && errors.Is(msg.err, core.ErrNotFound):
			o.a.say(roleWarn, o.err)
		case o.loaded && o.a.open(o):
			o.a.say(roleDanger, o.err+"; r tries again")
		}
	} else {
		on, had := o.current()
		screen := o.at - o.top
		o.all, o.read, o.total, o.loaded, o.err = msg.rows, msg.read, msg.total, true, ""
		o.sift()
		switch {
		case !o.want.IsZero():
			o.goTo(o.want)
			o.want = core.Unit{}
		case had:
			o.goTo(on.unit)
		}
		o.top = max(o.at-screen, 0)
		o.held = had && o.at > 0
	}
	if o.again {
		return o.loadNow()
	}
	return nil
}

// sift applies the words of the filter to what is at hand.
func (o *observed) sift() {
	o.rows = o.rows[:0]
	for i := range o.all {
		if o.filter.admits(&o.all[i]) {
			o.rows = append(o.rows, i)
		}
	}
	o.at = min(o.at, max(len(o.rows)-1, 0))
}

func (o *observed) goTo(unit core.Unit) {
	for i, row := range o.rows {
		if o.all[row].unit == unit {
			o.at = i
			return
		}
	}
}

// resift is sift after the filter changed: the cursor stays on its unit while that is shown.
func (o *observed) resift() {
	on, had := o.current()
	o.sift()
	if had {
		o.goTo(on.unit)
	}
}

func (o *observed) current() (*unitRow, bool) {
	if o.at >= len(o.rows) {
		return nil, false
	}
	return &o.all[o.rows[o.at]], true
}

// unit finds a unit in what is at hand, shown or not.
func (o *observed) unit(u core.Unit) (*unitRow, bool) {
	for i := range o.all {
		if o.all[i].unit == u {
			return &o.all[i], true
		}
	}
	return nil, false
}

// unitFilter is what a person typed after /, taken apart.
type unitFilter struct {
	text    string // as typed
	rest    string // of it, without the session
	words   []string
	units   []string
	labels  []string
	session string // name or id
	named   string // of the session, for the screen
}

// parseUnitFilter reads words and session:, unit:, label:. What has no value yet filters nothing.
func parseUnitFilter(s string) unitFilter {
	f := unitFilter{text: strings.TrimSpace(s)}
	var rest []string
	for _, word := range strings.Fields(s) {
		name, value, found := strings.Cut(word, ":")
		switch {
		case found && name == "session":
			f.session, f.named = value, value
			continue
		case found && name == "unit":
			f.units = appendValue(f.units, value)
		case found && name == "label":
			f.labels = appendValue(f.labels, value)
		default:
			f.words = append(f.words, word)
		}
		rest = append(rest, word)
	}
	f.rest = strings.Join(rest, " ")
	return f
}

func appendValue(values []string, value string) []string {
	if value == "" {
		return values
	}
	return append(values, value)
}

// in is the filter narrowed to a session, whose name may be one that cannot be typed.
func (f unitFilter) in(session core.SessionID, name string) unitFilter {
	out := parseUnitFilter(f.rest)
	if session != "" {
		out.session, out.named = string(session), name
		out.text = strings.TrimSpace("session:" + name + " " + f.rest)
	}
	return out
}

func (f unitFilter) empty() bool { return f.text == "" }

func (f unitFilter) admits(r *unitRow) bool {
	for _, word := range f.words {
		if !holds(r.hay, word) {
			return false
		}
	}
	for _, word := range f.units {
		if !holds(r.id, word) {
			return false
		}
	}
	for _, word := range f.labels {
		if !slices.ContainsFunc(r.allLabels(), func(label string) bool { return holds(label, word) }) {
			return false
		}
	}
	return true
}

// holds looks for a word: one in lower case finds any case.
func holds(in, word string) bool {
	if word == strings.ToLower(word) {
		in = strings.ToLower(in)
	}
	return strings.Contains(in, word)
}
