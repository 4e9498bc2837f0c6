package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// loadKind says which rows are read.
type loadKind int

const (
	loadFirst  loadKind = iota // from the start of the list
	loadLast                   // the end of it
	loadAround                 // about the row under the cursor, which stays where it is
	loadTo                     // about a row that is looked for by its id
	loadBelow                  // the page behind the rows at hand
	loadAbove                  // the page in front of them
)

// rowsMsg is the answer to a read of rows.
type rowsMsg struct {
	gen   int
	kind  loadKind
	asked filter
	found found
	err   error
}

// found is what a read of rows found.
type found struct {
	rows         []row // below and around: in order; above: nearest first
	above, below bool
	at           int // place of the row that the cursor was on
	total        int
	fresh        int
	upTo         core.ActionID
	counts       core.QueuePage
}

// slowMsg says that a read has taken long.
type slowMsg struct{ gen int }

// load reads rows that replace those at hand. While one read runs, another is
// only noted.
func (q *queue) load(kind loadKind) term.Cmd {
	if q.loading && kind == loadAround {
		q.again = true
		return nil
	}
	cursor, ok := q.current()
	if !ok && kind == loadAround {
		kind = loadFirst
	}
	q.gen++
	q.loading, q.paging = true, false
	r := q.reader(kind)
	r.cursor = cursor
	gen := q.gen
	read := func() term.Msg {
		found, err := r.read()
		return rowsMsg{gen: gen, kind: kind, asked: r.filter, found: found, err: err}
	}
	return term.All(read, term.After(slowAfter, slowMsg{gen}))
}

// goTo shows one row and opens its detail, wherever it is in the list.
func (q *queue) goTo(id core.ActionID) term.Cmd {
	q.a.stack = []view{q}
	q.endRange()
	q.pane, q.full, q.openedBy = paneDetail, false, id
	q.gen++
	q.loading, q.paging = true, false
	r := q.reader(loadTo)
	r.cursor.ID = id
	gen := q.gen
	read := func() term.Msg {
		found, err := r.read()
		return rowsMsg{gen: gen, kind: loadTo, asked: r.filter, found: found, err: err}
	}
	return term.All(read, q.loadDocument(id, true))
}

// loadEdges reads the next page at an end that the cursor comes near.
func (q *queue) loadEdges() term.Cmd {
	if q.paging || q.loading || len(q.win.rows) == 0 {
		return nil
	}
	kind, from := loadBelow, q.win.rows[len(q.win.rows)-1]
	switch {
	case q.win.wantsBelow():
	case q.win.wantsAbove():
		kind, from = loadAbove, q.win.rows[0]
	default:
		return nil
	}
	q.paging = true
	r := q.reader(kind)
	r.cursor = from
	gen := q.gen
	return func() term.Msg {
		found, err := r.read()
		return rowsMsg{gen: gen, kind: kind, found: found, err: err}
	}
}

// reader holds what a read needs, apart from the screen.
type reader struct {
	ctx    context.Context
	kernel Kernel
	kind   loadKind
	filter filter
	order  core.QueueOrder
	newest bool
	upTo   core.ActionID
	cursor row
}

func (q *queue) reader(kind loadKind) reader {
	return reader{
		ctx: q.a.ctx, kernel: q.a.kernel, kind: kind, filter: q.filter, order: q.order, newest: q.newest, upTo: q.upTo,
	}
}

// read asks the store for one window. A page is asked for by key, so the work
// is that of the page, wherever it lies.
func (r reader) read() (found, error) {
	query, err := r.query()
	if err != nil {
		return found{}, err
	}
	switch r.kind {
	case loadBelow:
		page, err := r.page(query, &r.cursor.Place, nil, false)
		return found{rows: cleanRows(page.Rows), below: page.More}, err
	case loadAbove:
		page, err := r.page(query, nil, &r.cursor.Place, false)
		return found{rows: cleanRows(page.Rows), above: page.More}, err
	}
	out, err := r.window(query)
	if err != nil {
		return out, err
	}
	return out, r.count(query, &out)
}

func (r reader) query() (core.QueueQuery, error) {
	session := core.SessionID("")
	if r.filter.session != "" {
		s, err := r.kernel.Session(r.ctx, r.filter.session)
		if errors.Is(err, core.ErrNotFound) {
			return core.QueueQuery{}, fmt.Errorf("no session is called %s", r.filter.session)
		}
		if err != nil {
			return core.QueueQuery{}, err
		}
		session = s.ID
	}
	query := r.filter.query(session)
	query.Order, query.UpTo, query.Limit = r.order, r.upTo, pageSize
	return query, nil
}

// page turns the directions of the screen into those of the store: newest first
// is the store's order from its end.
func (r reader) page(query core.QueueQuery, below, above *core.QueuePlace, last bool) (core.QueuePage, error) {
	if r.newest {
		below, above = above, below
		last = !last && below == nil && above == nil
	}
	query.After, query.Before, query.Last = below, above, last
	return r.kernel.Queue(r.ctx, query)
}

// window reads the first, the last, or the rows about the cursor.
func (r reader) window(query core.QueueQuery) (found, error) {
	var out found
	switch r.kind {
	case loadFirst:
		page, err := r.page(query, nil, nil, false)
		out.rows, out.below = cleanRows(page.Rows), page.More
		return out, err
	case loadLast:
		page, err := r.page(query, nil, nil, true)
		out.rows, out.above = cleanRows(page.Rows), page.More
		slices.Reverse(out.rows)
		out.at = len(out.rows) - 1
		return out, err
	}
	place := r.cursor.Place
	kept, err := r.kernel.Queue(r.ctx, core.QueueQuery{IDs: []core.ActionID{r.cursor.ID}, AllState: true, Order: r.order, Limit: 1})
	if err != nil {
		return out, err
	}
	if len(kept.Rows) == 1 {
		place = kept.Rows[0].Place // it has another one after a change of order
	}
	above, err := r.page(query, nil, &place, false)
	if err != nil {
		return out, err
	}
	below, err := r.page(query, &place, nil, false)
	if err != nil {
		return out, err
	}
	out.rows, out.above, out.below = cleanRows(above.Rows), above.More, below.More
	slices.Reverse(out.rows)
	out.at = len(out.rows)
	if len(kept.Rows) == 1 {
		out.rows = append(out.rows, cleanRow(kept.Rows[0]))
	}
	out.rows = append(out.rows, cleanRows(below.Rows)...)
	return out, nil
}

// count asks how many rows match, and how many more there would be with those
// that arrived since the list was made.
func (r reader) count(query core.QueueQuery, out *found) error {
	query.Limit, query.Count, query.After, query.Before = 1, true, nil, nil
	page, err := r.kernel.Queue(r.ctx, query)
	if err != nil {
		return err
	}
	out.total, out.counts, out.upTo = page.Total, page, query.UpTo
	if query.UpTo == 0 {
		out.upTo = page.Newest
		return nil
	}
	if page.Newest <= query.UpTo {
		return nil
	}
	query.UpTo = 0
	all, err := r.kernel.Queue(r.ctx, query)
	out.fresh = all.Total - page.Total
	return err
}

// takeRows shows what a read found, unless it was overtaken.
func (q *queue) takeRows(msg rowsMsg) term.Cmd {
	if msg.gen != q.gen {
		q.a.dirty = false
		return nil
	}
	if msg.kind == loadBelow || msg.kind == loadAbove {
		q.paging = false
		if msg.err != nil {
			q.a.fail(msg.err)
			return nil
		}
		if msg.kind == loadBelow {
			q.win.append(msg.found.rows, msg.found.below)
		} else {
			q.win.prepend(msg.found.rows, msg.found.above)
		}
		q.fit()
		return nil
	}
	q.loading, q.slow = false, false
	if msg.err != nil {
		q.err, _ = cleanLine(msg.err.Error(), reasonLimit)
		switch {
		case q.input != nil:
			q.a.say(roleWarn, q.err)
		case len(q.win.rows) > 0: // what is at hand stays
			q.a.say(roleDanger, q.err+"; r tries again")
		}
		return q.readAgain()
	}
	q.err = ""
	q.takeWindow(msg)
	return term.All(q.readAgain(), q.loadEdges(), q.follow())
}

func (q *queue) readAgain() term.Cmd {
	if !q.again {
		return nil
	}
	q.again = false
	return q.load(loadAround)
}

func (q *queue) takeWindow(msg rowsMsg) {
	f := msg.found
	h := &q.a.head
	h.waiting, h.drifted, h.unknown, h.questions = f.counts.Waiting, f.counts.Drifted, f.counts.Unknown, f.counts.Questions
	before, had := q.current()
	at := f.at
	if msg.kind == loadAround && had { // the cursor may have moved on while the read ran: it goes by its id
		if i := slices.IndexFunc(f.rows, func(r row) bool { return r.ID == before.ID }); i >= 0 {
			at = i
		}
	}
	q.win.replace(f.rows, f.above, f.below, at)
	q.win.total, q.fresh, q.upTo = f.total, f.fresh, f.upTo
	if !q.loaded || msg.kind != loadAround {
		q.win.top = max(q.win.at-q.layout(q.a.body()).list.h, 0)
	}
	q.loaded = true
	switch {
	case q.letGo:
		q.settle()
		q.letGo = q.again
	case msg.kind == loadAround && had:
		q.watchCursor(before)
	}
	if len(f.rows) == 0 && q.fresh > 0 { // nothing is under the cursor that could be moved
		q.upTo, q.again = 0, true
	}
	if r, ok := q.current(); ok && q.detail.doc != nil && q.detail.doc.id == r.ID && q.detail.doc.version != r.Version {
		q.detail.want = 0 // it is stale; follow reads it again
	}
	q.fit()
}

// watchCursor says what became of the row under the cursor, if something did.
func (q *queue) watchCursor(before row) {
	now, ok := q.current()
	if !ok {
		return
	}
	switch {
	case now.ID != before.ID:
		q.watchOut(fmt.Sprintf("%s is gone, %s is under the cursor now", before.name(), now.name()))
	case now.ID == q.told:
		q.told = 0
		q.guard = guard{until: q.a.now().Add(guardFor), what: now.name() + " changed"}
	case now.State != before.State:
		q.watchOut(fmt.Sprintf("%s changed: it is %s now%s", now.name(), now.State, byWhom(now)))
	case now.Digest != before.Digest || now.Drift != before.Drift:
		q.watchOut(fmt.Sprintf("%s changed: %s", now.name(), or(stateWord(now.Summary), "it has a new preview")))
	}
}

func byWhom(r row) string {
	if r.Reason == "" {
		return ""
	}
	return ": " + r.Reason
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func (q *queue) watchOut(what string) {
	q.guard = guard{until: q.a.now().Add(guardFor), what: what}
	q.a.say(roleWarn, what)
}

// docMsg is the answer to a read of a detail.
type docMsg struct {
	gen    int
	id     core.ActionID
	opened bool
	doc    *document
	raw    *core.Detail
	err    error
}

// loadDocument reads a detail and makes its document. Opened by a person, the
// showing counts (kernel R26); following the cursor, it does not.
func (q *queue) loadDocument(id core.ActionID, opened bool) term.Cmd {
	if id == 0 {
		return nil
	}
	opened = opened || q.openedBy == id && q.pane == paneDetail
	q.detail.want = id
	q.detail.gen++
	gen, v, now := q.detail.gen, q.detail.view, q.a.now()
	if v.context == 0 {
		v.context = defaultContext
	}
	ctx, kernel, who, bytes := q.a.ctx, q.a.kernel, q.a.who, q.a.bytes
	return func() term.Msg {
		var d core.Detail
		var err error
		if opened {
			d, err = kernel.Show(ctx, id, who)
		} else {
			d, err = kernel.Peek(ctx, id)
		}
		if err != nil {
			return docMsg{gen: gen, id: id, err: err}
		}
		return docMsg{gen: gen, id: id, opened: opened, doc: buildDocument(d, v, bytes, now), raw: &d}
	}
}

// redraw makes the document again from what it was made of.
func (q *queue) redrawDocument() term.Cmd {
	if q.detail.raw == nil || q.detail.doc == nil {
		return nil
	}
	q.detail.gen++
	gen, v, now, raw, bytes := q.detail.gen, q.detail.view, q.a.now(), q.detail.raw, q.a.bytes
	id := q.detail.doc.id
	return func() term.Msg {
		return docMsg{gen: gen, id: id, doc: buildDocument(*raw, v, bytes, now), raw: raw}
	}
}

func (q *queue) takeDocument(msg docMsg) {
	if msg.gen != q.detail.gen || msg.id != q.detail.want {
		q.a.dirty = false
		return
	}
	if msg.err != nil {
		q.detail.doc = nil
		q.detail.err, _ = cleanLine(describe(msg.err), reasonLimit)
		return
	}
	q.detail.show(msg.doc, msg.raw)
	q.fit()
}
