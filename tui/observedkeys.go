package tui

import (
	"gatehouse/core"
	"gatehouse/tui/term"
)

// observedFilterMsg reads what was typed a moment ago, if it still stands.
type observedFilterMsg struct{ text string }

// openFor shows what one session read.
func (o *observed) openFor(session core.SessionID, name string) term.Cmd {
	o.input = nil
	o.narrow(unitFilter{}.in(session, name))
	o.a.stack = []view{o}
	o.a.message = ""
	return o.loadNow()
}

// narrow changes the filter; what is at hand of another session is not shown as if it were of this one.
func (o *observed) narrow(f unitFilter) {
	if f.session != o.filter.session {
		o.all, o.rows, o.at, o.top, o.loaded, o.err = nil, nil, 0, 0, false, ""
	}
	o.filter = f
	o.resift()
}

func (o *observed) move(by int) term.Cmd {
	o.at, o.held = min(max(o.at+by, 0), max(len(o.rows)-1, 0)), false
	return nil
}

func (o *observed) nothing() string {
	if _, ok := o.current(); !ok {
		return "there is no unit"
	}
	return ""
}

func (o *observed) open() term.Cmd {
	row, _ := o.current()
	return o.a.unit.open(*row, o.filter.session, o.filter.named)
}

// toggle narrows the list to the session that first read the unit under the cursor, or shows all sessions again.
func (o *observed) toggle() term.Cmd {
	on, had := o.current()
	var unit core.Unit
	if had {
		unit = on.unit
	}
	switch {
	case o.filter.session != "":
		o.narrow(o.filter.in("", ""))
	case had:
		o.narrow(o.filter.in(on.seen[0].session, on.seen[0].name))
	default:
		return nil
	}
	o.want = unit
	return o.loadNow()
}

func (o *observed) copyID() term.Cmd {
	row, _ := o.current()
	return copyUnit(o.a, row.unit)
}

// copyUnit sends the id of a unit to the clipboard, without what would do harm where it is pasted.
func copyUnit(a *app, unit core.Unit) term.Cmd {
	id, hidden := cleanLine(unit.String(), titleLimit)
	if hidden {
		return a.copyAs(roleWarn, "", id, id+" was sent to the clipboard, without the characters that are not shown")
	}
	return a.copy("", id, id+" was sent to the clipboard")
}

func (o *observed) startFilter() term.Cmd {
	o.before = o.filter
	o.input = &input{}
	o.input.set(o.filter.text)
	if !o.filter.empty() {
		o.input.insert(" ")
	}
	return nil
}

// changed is called after each key of the filter. Words look at what is at hand; another session is read once the burst of
// keys is over.
func (o *observed) changed() term.Cmd {
	f := o.typedFilter()
	if f.session == o.filter.session {
		o.a.message = ""
		o.filter = f
		o.resift()
		return nil
	}
	o.filter = f
	return term.After(2*batchFor, observedFilterMsg{o.input.text()})
}

// typedFilter keeps the session whose name was not touched: it may hold a space.
func (o *observed) typedFilter() unitFilter {
	typed := o.input.text()
	head := "session:" + o.before.named
	if o.before.session != "" && len(typed) >= len(head) && typed[:len(head)] == head && (len(typed) == len(head) || typed[len(head)] == ' ') {
		return parseUnitFilter(typed[len(head):]).in(core.SessionID(o.before.session), o.before.named)
	}
	return parseUnitFilter(typed)
}

func (o *observed) acceptFilter() term.Cmd {
	o.filter = o.typedFilter()
	o.input = nil
	return o.loadNow()
}

func (o *observed) leaveFilter() term.Cmd {
	o.input = nil
	o.a.message = ""
	o.filter = o.before
	o.resift()
	return o.loadNow()
}

// back takes the filter away, then goes to the queue.
func (o *observed) back() term.Cmd {
	if o.filter.empty() {
		return o.a.show(o.a.queue)
	}
	if on, had := o.current(); had {
		o.want = on.unit
	}
	o.narrow(unitFilter{})
	return o.loadNow()
}

func (o *observed) commands() []*command {
	at := []place{atObserved}
	move := func(name string, keys []string, by func() int) *command {
		return &command{
			name: "observations." + name, at: at, keys: keys, title: name, tag: "Move", navigates: true, about: "look through the units",
			run: func() term.Cmd { return o.move(by()) },
		}
	}
	page := func() int { return max(o.a.body().h-3, 1) }
	return []*command{
		{
			name: "observations.open", at: at, keys: []string{"enter"}, title: "reads", tag: "Sessions", navigates: true, footer: 1,
			about: "what is known of the unit, and the reads behind it", run: o.open, disabled: o.nothing,
		},
		{
			name: "observations.filter", at: at, keys: []string{"/"}, title: "filter", tag: "Choose", navigates: true, footer: 2,
			about: "words, session: unit: label:", run: o.startFilter,
		},
		{
			name: "observations.session", at: at, keys: []string{"o"}, title: "narrow", tag: "Choose", navigates: true, footer: 3,
			about: "only the session that first read this unit, or all sessions again", run: o.toggle,
		},
		{
			name: "observations.copy", at: at, keys: []string{"y"}, title: "copy", tag: "Choose", navigates: true, footer: 4,
			about: "the id of the unit to the clipboard of the terminal", run: o.copyID, disabled: o.nothing,
		},
		{
			name: "observations.back", at: at, keys: []string{"esc"}, title: "back", tag: "Sessions", navigates: true, footer: 5,
			about: "take the filter away, then back to the queue", run: o.back,
		},
		move("down", []string{"j", "down"}, func() int { return 1 }),
		move("up", []string{"k", "up"}, func() int { return -1 }),
		move("next-page", []string{"pgdown", "ctrl+f", "ctrl+d"}, page),
		move("previous-page", []string{"pgup", "ctrl+b", "ctrl+u"}, func() int { return -page() }),
		move("first", []string{"g", "home"}, func() int { return -len(o.rows) }),
		move("last", []string{"G", "end"}, func() int { return len(o.rows) }),
		{
			name: "observations.filter.accept", at: []place{atObservedFilter}, keys: []string{"enter"}, title: "keep", tag: "Filter", navigates: true,
			about: "keep the filter", run: o.acceptFilter,
		},
		{
			name: "observations.filter.leave", at: []place{atObservedFilter}, keys: []string{"esc"}, title: "leave", tag: "Filter", navigates: true,
			about: "leave the filter as it was", run: o.leaveFilter,
		},
	}
}
