package tui

import (
	"strings"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// openDetail moves to the detail. A person asked for it, so the showing counts.
func (q *queue) openDetail() term.Cmd {
	r, ok := q.current()
	if !ok {
		return nil
	}
	q.pane = paneDetail
	q.openedBy = r.ID
	q.fit()
	return q.loadDocument(r.ID, true)
}

func (q *queue) closeDetail() term.Cmd {
	if q.full {
		q.full = false
		q.fit()
		return nil
	}
	q.pane, q.openedBy = paneList, 0
	q.fit()
	return nil
}

// openNext opens another row without going back to the list.
func (q *queue) openNext(by int) term.Cmd {
	if !q.win.move(by) {
		return nil
	}
	return term.All(q.moved(), q.openDetail())
}

func (q *queue) toggleFull() term.Cmd {
	q.full = !q.full
	if q.full {
		return q.openDetail()
	}
	q.fit()
	return nil
}

func (q *queue) toggleWhy() term.Cmd {
	q.detail.view.provenance = !q.detail.view.provenance
	return q.redrawDocument()
}

func (q *queue) context(by int) term.Cmd {
	v := &q.detail.view
	if v.context == 0 {
		v.context = defaultContext
	}
	switch {
	case by > 0:
		v.context = min(v.context*2, maxContext)
	default:
		v.context = max(v.context/2, 1)
	}
	return q.redrawDocument()
}

// nextSplit goes through the ways to divide the room that this size allows.
func (q *queue) nextSplit() term.Cmd {
	q.full = false
	switch {
	case q.split == splitAuto && q.a.size.w >= 100:
		q.split = splitBelow
	case q.split == splitNone:
		q.split = splitAuto
	default:
		q.split = splitNone
	}
	q.fit()
	return nil
}

// backFromList takes away the newest of what was put on the list.
func (q *queue) backFromList() term.Cmd {
	switch {
	case q.ranged != 0:
		q.endRange()
	case len(q.marks) > 0:
		return q.clearMarks()
	case !q.filter.empty():
		q.filter = filter{}
		return q.load(loadAround)
	default:
		q.a.dirty = false
	}
	return nil
}

func (q *queue) nextOrder() term.Cmd {
	switch q.order {
	case core.OrderSession:
		q.order = core.OrderKind
	case core.OrderKind:
		q.order = core.OrderBinding
	case core.OrderBinding:
		q.order = core.OrderID
	default:
		q.order = core.OrderSession
	}
	return q.reorder()
}

func (q *queue) turnOrder() term.Cmd {
	q.newest = !q.newest
	return q.reorder()
}

// reorder reads the list anew; the cursor stays on its row, whose place in the
// new order the store knows.
func (q *queue) reorder() term.Cmd {
	q.endRange()
	return q.load(loadAround)
}

// bringIn shows the rows that arrived since the list was made.
func (q *queue) bringIn() term.Cmd {
	q.settle()
	q.upTo = 0
	return q.load(loadAround)
}

func (q *queue) copyID() term.Cmd {
	r, _ := q.current()
	return q.a.copy(r.Session, r.ID.String(), r.ID.String()+" was sent to the clipboard")
}

func (q *queue) copyAll() term.Cmd {
	doc := q.detail.doc
	if doc == nil {
		return nil
	}
	var b strings.Builder
	b.WriteString("#" + doc.id.String() + " " + doc.title + "\n")
	for _, l := range doc.lines {
		b.WriteString(l.text + "\n")
	}
	return q.a.copy(doc.state.Session, b.String(), plural(len(doc.lines)+1, "line was", "lines were")+" sent to the clipboard")
}

// filterMsg applies what was typed a moment ago, if it still stands.
type filterMsg struct{ text string }

func (q *queue) startFilter() term.Cmd {
	q.before = q.filter
	q.input = &input{}
	q.input.set(q.filter.text)
	if !q.filter.empty() {
		q.input.insert(" ")
	}
	return nil
}

func (q *queue) typedText() string {
	if q.input == nil {
		return "\x00"
	}
	return q.input.text()
}

// changed is called after each key of the filter. The store filters, so a burst
// of keys is one read.
func (q *queue) changed() term.Cmd {
	f, err := parseFilter(q.input.text())
	if err != nil {
		q.a.say(roleWarn, err.Error())
		return nil
	}
	q.a.message = ""
	q.filter = f
	return term.After(2*batchFor, filterMsg{q.input.text()})
}

func (q *queue) acceptFilter() term.Cmd {
	f, err := parseFilter(q.input.text())
	if err != nil {
		q.a.say(roleWarn, err.Error())
		return nil
	}
	q.input = nil
	q.filter = f
	return q.load(loadFirst)
}

func (q *queue) leaveFilter() term.Cmd {
	q.input = nil
	q.filter = q.before
	return q.load(loadAround)
}

func (q *queue) filterCommands() []*command {
	at := []place{atFilter}
	return []*command{
		{
			name: "filter.accept", at: at, keys: []string{"enter"}, title: "keep", tag: "Filter", navigates: true,
			about: "keep the filter", run: q.acceptFilter,
		},
		{
			name: "filter.leave", at: at, keys: []string{"esc"}, title: "leave", tag: "Filter", navigates: true,
			about: "leave the filter as it was", run: q.leaveFilter,
		},
	}
}
