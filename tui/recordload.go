package tui

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// Bounds of one read of the record.
const (
	recordSpan  = 20_000 // places that one question to the store may look at
	recordSpans = 10     // questions of one read; the next page goes on from there
	freshMost   = 999    // new rows that are counted
)

// recordKind says which rows are read.
type recordKind int

const (
	recordFirst  recordKind = iota // the newest
	recordLast                     // the oldest
	recordAround                   // about the row under the cursor
	recordBelow                    // the page of older rows
	recordAbove                    // the page of newer ones
)

// recordRowsMsg is the answer to a read of rows.
type recordRowsMsg struct {
	gen   int
	kind  recordKind
	found recordFound
	err   error
}

type recordFound struct {
	win   recordWindow // of a page: its rows and how far it went
	words recordWords
}

type recordSlowMsg struct{ gen int }

// recordReader holds what a read needs, apart from the screen.
type recordReader struct {
	ctx    context.Context
	kernel Kernel
	filter recordFilter
	words  recordWords
	upTo   int64
	cursor int64
	from   int64 // where a page begins
}

func (v *record) reader() recordReader {
	r := recordReader{ctx: v.a.ctx, kernel: v.a.kernel, filter: v.filter, words: v.words, upTo: v.win.upTo}
	if c, ok := v.win.cursor(); ok {
		r.cursor = c.seq
	}
	return r
}

// load reads rows that replace those at hand.
func (v *record) load(kind recordKind) term.Cmd {
	r := v.reader()
	if r.cursor == 0 && kind == recordAround || r.upTo == 0 {
		kind = recordFirst
	}
	v.gen++
	v.loading, v.paging, v.tailing = true, false, false
	gen := v.gen
	read := func() term.Msg {
		found, err := r.window(kind)
		return recordRowsMsg{gen, kind, found, err}
	}
	return term.All(read, term.After(slowAfter, recordSlowMsg{gen}))
}

// loadEdges reads the next page at an end that the cursor comes near.
func (v *record) loadEdges() term.Cmd {
	if v.paging || v.loading || v.list() != &v.win {
		return nil
	}
	r, kind := v.reader(), recordBelow
	switch {
	case v.win.wantsBelow():
		r.from = v.win.below
	case v.win.wantsAbove():
		kind, r.from = recordAbove, v.win.above
	default:
		return nil
	}
	v.paging = true
	gen := v.gen
	return func() term.Msg {
		found, err := r.page(kind)
		return recordRowsMsg{gen, kind, found, err}
	}
}

// query asks the store for what the filter says.
func (r recordReader) query() (core.RecordQuery, error) {
	session := core.SessionID("")
	if r.filter.session != "" {
		s, err := r.kernel.Session(r.ctx, r.filter.session)
		if errors.Is(err, core.ErrNotFound) {
			return core.RecordQuery{}, fmt.Errorf("no session is called %s", r.filter.session)
		}
		if err != nil {
			return core.RecordQuery{}, err
		}
		session = s.ID
	}
	return r.filter.query(session), nil
}

// newest is the number of the newest row of the record; 0 where it is empty.
func (r recordReader) newest() (int64, error) {
	rows, err := r.kernel.Record(r.ctx, core.RecordQuery{Before: math.MaxInt64, Limit: 1})
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	return rows[0].Seq, nil
}

// older reads a page of rows before a place, newest first, and says down to
// which place it looked. What is rare costs bounded questions, one after the
// other.
func (r recordReader) older(q core.RecordQuery, from int64) ([]core.Row, int64, error) {
	var rows []core.Row
	for range recordSpans {
		if from <= 1 || len(rows) >= pageSize {
			break
		}
		q.Before, q.After, q.Limit = from, max(from-1-recordSpan, 0), pageSize-len(rows)
		got, err := r.kernel.Record(r.ctx, q)
		if err != nil {
			return nil, from, err
		}
		rows = append(rows, got...)
		if from = q.After + 1; len(got) == q.Limit {
			from = got[len(got)-1].Seq
		}
	}
	return rows, from, nil
}

// newer reads rows behind a place and up to another, newest first, those
// nearest to the place; it says up to which place it looked.
func (r recordReader) newer(q core.RecordQuery, from, upTo int64, most int) ([]core.Row, int64, error) {
	var rows []core.Row
	for range recordSpans {
		if from >= upTo || len(rows) >= most {
			break
		}
		q.After, q.UpTo, q.Limit = from, min(from+recordSpan, upTo), most-len(rows)
		got, err := r.kernel.Record(r.ctx, q)
		if err != nil {
			return nil, from, err
		}
		rows = append(rows, got...)
		if from = q.UpTo; len(got) == q.Limit {
			from = got[len(got)-1].Seq
		}
	}
	slices.Reverse(rows)
	return rows, from, nil
}

// window reads the newest rows, the oldest, or those about the cursor.
func (r recordReader) window(kind recordKind) (recordFound, error) {
	q, err := r.query()
	if err != nil {
		return recordFound{}, err
	}
	w := recordWindow{upTo: r.upTo, above: r.upTo, below: 1}
	var above, below []core.Row
	switch kind {
	case recordLast:
		above, w.above, err = r.newer(q, 0, r.upTo, pageSize)
	case recordAround:
		if above, w.above, err = r.newer(q, r.cursor, r.upTo, pageSize); err == nil {
			below, w.below, err = r.older(q, r.cursor+1)
		}
	default:
		if w.upTo, err = r.newest(); err == nil {
			w.above = w.upTo
			below, w.below, err = r.older(q, w.upTo+1)
		}
	}
	if err != nil {
		return recordFound{}, err
	}
	w.at = len(above)
	if len(below) == 0 {
		w.at = max(len(above)-1, 0)
	}
	return r.tell(append(above, below...), w, true)
}

// page reads the rows at one end.
func (r recordReader) page(kind recordKind) (recordFound, error) {
	q, err := r.query()
	if err != nil {
		return recordFound{}, err
	}
	var rows []core.Row
	var w recordWindow
	if kind == recordAbove {
		rows, w.above, err = r.newer(q, r.from, r.upTo, pageSize)
	} else {
		rows, w.below, err = r.older(q, r.from)
	}
	if err != nil {
		return recordFound{}, err
	}
	return r.tell(rows, w, false)
}

// tell makes rows for people. The names of sessions are read where one is not
// known yet, or where all is read anew.
func (r recordReader) tell(rows []core.Row, w recordWindow, anew bool) (recordFound, error) {
	words := r.words
	strange := slices.ContainsFunc(rows, func(row core.Row) bool {
		_, known := words.names[row.Entry.Session]
		return !known && row.Entry.Session != ""
	})
	if anew || strange {
		list, err := r.kernel.Sessions(r.ctx)
		if err != nil {
			return recordFound{}, err
		}
		words.names = make(map[core.SessionID]string, len(list))
		for _, s := range list {
			words.names[s.ID] = s.Name
		}
		for _, row := range rows { // a session that is listed nowhere is not asked for again
			if id := row.Entry.Session; words.names[id] == "" {
				words.names[id] = string(id)
			}
		}
	}
	w.rows = words.rows(rows)
	return recordFound{w, words}, nil
}

// take shows what a read found, unless it was overtaken.
func (v *record) take(msg recordRowsMsg) term.Cmd {
	if msg.gen != v.gen {
		return nil
	}
	if msg.kind == recordBelow || msg.kind == recordAbove {
		v.paging = false
		if msg.err != nil {
			v.a.fail(msg.err)
			return nil
		}
		v.words = msg.found.words
		if msg.kind == recordBelow {
			v.win.append(msg.found.win.rows, msg.found.win.below)
		} else {
			v.win.prepend(msg.found.win.rows, msg.found.win.above)
		}
		v.fit()
		return v.loadEdges()
	}
	v.loading, v.slow = false, false
	if msg.err != nil {
		v.err, _ = cleanLine(msg.err.Error(), reasonLimit)
		switch {
		case v.input != nil:
			v.a.say(roleWarn, v.err)
		case len(v.win.rows) > 0: // what is at hand stays
			v.a.say(roleDanger, v.err+"; r tries again")
		}
		return nil
	}
	before, had := v.win.cursor()
	v.err, v.loaded, v.words = "", true, msg.found.words
	v.win = msg.found.win
	if msg.kind == recordAround && had { // it may have moved on while the read ran: it goes by its number
		v.win.at = v.win.index(before.seq)
	}
	if msg.kind != recordLast {
		v.fresh, v.more = 0, false
	}
	v.fit()
	return term.All(v.loadEdges(), v.tailAgain())
}

// recordTailMsg is what arrived behind the newest row of the list.
type recordTailMsg struct {
	gen    int
	newest int64
	found  recordFound
	err    error
}

// tail looks for rows that arrived since the list was made.
func (v *record) tail() term.Cmd {
	if v.tailing || v.loading {
		v.again = true
		return nil
	}
	v.tailing = true
	r, gen := v.reader(), v.gen
	return func() term.Msg {
		msg := recordTailMsg{gen: gen}
		if msg.newest, msg.err = r.newest(); msg.err != nil || msg.newest <= r.upTo {
			return msg
		}
		q, err := r.query()
		if err != nil {
			msg.err = err
			return msg
		}
		var w recordWindow
		var rows []core.Row
		if rows, w.above, msg.err = r.newer(q, r.upTo, msg.newest, freshMost); msg.err == nil {
			msg.found, msg.err = r.tell(rows, w, false)
		}
		return msg
	}
}

func (v *record) tailAgain() term.Cmd {
	if !v.again {
		return nil
	}
	v.again = false
	return v.tail()
}

// takeTail shows new rows while the cursor is on the newest, and counts them
// otherwise.
func (v *record) takeTail(msg recordTailMsg) term.Cmd {
	if msg.gen != v.gen {
		return nil
	}
	v.tailing = false
	switch {
	case msg.err != nil:
		v.a.fail(msg.err)
		return nil
	case msg.newest <= v.win.upTo:
		return v.tailAgain()
	}
	v.words = msg.found.words
	whole := msg.found.win.above >= msg.newest
	switch {
	case v.shows != recordList || !v.win.first():
		v.fresh, v.more = len(msg.found.win.rows), !whole
	case !whole:
		return v.load(recordFirst)
	default:
		v.win.upTo = msg.newest
		v.win.prepend(msg.found.win.rows, msg.newest)
		v.win.at, v.win.top = 0, 0
		v.fresh, v.more = 0, false
		v.fit()
	}
	return v.tailAgain()
}

// recordBroughtMsg says up to which row the list is to be about.
type recordBroughtMsg struct {
	gen    int
	newest int64
	err    error
}

// bringIn shows the rows that arrived; the cursor stays on its row.
func (v *record) bringIn() term.Cmd {
	r, gen := v.reader(), v.gen
	return func() term.Msg {
		newest, err := r.newest()
		return recordBroughtMsg{gen, newest, err}
	}
}

func (v *record) brought(msg recordBroughtMsg) term.Cmd {
	if msg.gen != v.gen {
		return nil
	}
	if msg.err != nil {
		v.a.fail(msg.err)
		return nil
	}
	v.win.upTo = msg.newest
	return v.load(recordAround)
}

func (v *record) noneNew() string {
	if v.fresh == 0 {
		return "nothing arrived since the list was made"
	}
	return ""
}
