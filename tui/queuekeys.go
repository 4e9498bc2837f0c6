package tui

import (
	"gatehouse/core"
	"gatehouse/tui/term"
)

// commands are those of the queue's panes.
func (q *queue) commands() []*command {
	var out []*command
	out = append(out, q.decideCommands()...)
	out = append(out, q.revertCommands()...)
	out = append(out, q.ruleCommands()...)
	out = append(out, q.chooseCommands()...)
	out = append(out, q.moveCommands()...)
	out = append(out, q.detailCommands()...)
	return append(out, q.filterCommands()...)
}

// decideCommands draft, carry out, answer, settle. Each stands on a capital or
// opens a prompt (T3).
func (q *queue) decideCommands() []*command {
	both := []place{atList, atDetail}
	return []*command{
		{
			name: "draft.approve", at: []place{atList}, keys: []string{"A"}, title: "approve", tag: "Decide", decides: true, footer: 1,
			about: "draft approve on the row, the range or the marked; a question is answered", run: q.approve, disabled: q.nothing,
		},
		{
			name: "plan.one", at: []place{atDetail}, keys: []string{"A"}, title: "approve…", tag: "Decide", decides: true, prompts: true, footer: 1,
			about: "open the plan of this one action; a question is answered", run: q.approveOne, disabled: q.nothing,
		},
		{
			name: "draft.reject", at: both, keys: []string{"x"}, title: "reject…", tag: "Decide", decides: true, prompts: true, footer: 2,
			about: "ask for a reason and draft reject", run: q.rejectAsk, disabled: q.nothing,
		},
		{
			name: "draft.reject-again", at: both, keys: []string{"X"}, title: "reject again", tag: "Decide", decides: true,
			about: "draft reject with the last reason", run: q.rejectAgain, disabled: q.nothing,
		},
		{
			name: "draft.undo", at: both, keys: []string{"z"}, title: "take back", tag: "Decide", footer: 8,
			about: "take the newest draft back", run: q.undo, disabled: q.noDrafts,
		},
		{
			name: "plan.open", at: both, keys: []string{"c"}, title: "carry out", tag: "Decide", decides: true, prompts: true, footer: 3,
			about: "open the plan of all drafts; nothing happens before it is confirmed", run: q.openPlan, disabled: q.noPlan,
		},
		{
			name: "settle", at: both, keys: []string{"U"}, title: "settle…", tag: "Decide", decides: true, prompts: true, footer: 4,
			about: "say what became of an action whose outcome is unknown", run: q.settleAsk, disabled: q.notUnknown,
		},
		{
			name: "retry", at: both, keys: []string{"T"}, title: "try again…", tag: "Decide", decides: true, prompts: true, footer: 5,
			about: "send a failed action again, or one whose outcome is unknown", run: q.retryAsk, disabled: q.notRetryable,
		},
	}
}

// chooseCommands pick rows.
func (q *queue) chooseCommands() []*command {
	at := []place{atList}
	return []*command{
		{
			name: "mark", at: at, keys: []string{"space"}, title: "mark", tag: "Choose", navigates: true, footer: 6,
			about: "mark the row, or take its mark away", run: q.markRow, disabled: q.nothing,
		},
		{
			name: "range", at: at, keys: []string{"v"}, title: "range", tag: "Choose", navigates: true, footer: 7,
			about: "begin a range at the row, or end it", run: q.toggleRange, disabled: q.nothing,
		},
		{
			name: "range.down", at: at, keys: []string{"shift+down"}, title: "range down", tag: "Choose", navigates: true,
			about: "the range with the next row", run: func() term.Cmd { return q.extend(1) },
		},
		{
			name: "range.up", at: at, keys: []string{"shift+up"}, title: "range up", tag: "Choose", navigates: true,
			about: "the range with the row above", run: func() term.Cmd { return q.extend(-1) },
		},
		{
			name: "mark.all", at: at, keys: []string{"a"}, title: "mark all", tag: "Choose", navigates: true, footer: 11,
			about: "mark all that match, those of high risk left out", run: q.markAll, disabled: q.nothing,
		},
		{
			name: "mark.clear", at: at, keys: []string{"u"}, title: "clear", tag: "Choose", navigates: true,
			about: "take all marks and the range away", run: q.clearMarks,
		},
		{
			name: "new", at: at, keys: []string{"."}, title: "new rows", tag: "Choose", navigates: true,
			about: "bring in the rows that arrived since", run: q.bringIn, disabled: q.noneNew,
		},
		{
			name: "group", at: at, keys: []string{"o"}, title: "group", tag: "Choose", navigates: true, footer: 12,
			about: "group by session, kind, binding, or not", run: q.nextOrder,
		},
		{
			name: "sort", at: at, keys: []string{"s"}, title: "sort", tag: "Choose", navigates: true,
			about: "oldest first, or newest first", run: q.turnOrder,
		},
		{
			name: "filter", at: at, keys: []string{"/"}, title: "filter", tag: "Choose", navigates: true, footer: 9,
			about: "words, kind: session: state: risk: grep:", run: q.startFilter,
		},
	}
}

// moveCommands move the cursor of the list.
func (q *queue) moveCommands() []*command {
	at := []place{atList}
	move := func(name string, keys []string, about string, run func() term.Cmd) *command {
		return &command{name: name, at: at, keys: keys, title: name, tag: "Move", navigates: true, about: about, run: run}
	}
	rows := func() int { return max(q.layout(q.a.body()).list.h-3, 1) }
	return []*command{
		move("list.down", []string{"j", "down"}, "next row", func() term.Cmd { return q.step(1) }),
		move("list.up", []string{"k", "up"}, "row above", func() term.Cmd { return q.step(-1) }),
		move("list.next-page", []string{"pgdown", "ctrl+f"}, "a page down", func() term.Cmd { return q.step(rows()) }),
		move("list.previous-page", []string{"pgup", "ctrl+b"}, "a page up", func() term.Cmd { return q.step(-rows()) }),
		move("list.first", []string{"g", "home"}, "first row", func() term.Cmd { return q.ends(false) }),
		move("list.last", []string{"G", "end"}, "last row", func() term.Cmd { return q.ends(true) }),
		move("list.next-match", []string{"n"}, "next match of the filter", func() term.Cmd { return q.step(1) }),
		move("list.previous-match", []string{"N"}, "match above", func() term.Cmd { return q.step(-1) }),
		move("list.open", []string{"enter"}, "open the detail of the row", q.openDetail),
		move("list.pane", []string{"tab", "shift+tab"}, "to the detail", q.openDetail),
		move("list.back", []string{"esc"}, "take away the range, the marks, the filter", q.backFromList),
	}
}

// detailCommands look at one action; most of them work from the list too.
func (q *queue) detailCommands() []*command {
	both, detail := []place{atList, atDetail}, []place{atDetail}
	room := func() rect {
		l := q.layout(q.a.body())
		return rect{l.detail.w, max(l.detail.h-1, 1)}
	}
	move := func(name string, at []place, keys []string, about string, run func()) *command {
		return &command{
			name: name, at: at, keys: keys, title: name, tag: "Detail", navigates: true, about: about,
			run: func() term.Cmd { run(); q.fit(); return nil },
		}
	}
	by := func(n int) func() { return func() { q.detail.scroll(n, room()) } }
	return []*command{
		{
			name: "diff", at: both, keys: []string{"d"}, title: "diff", tag: "Detail", navigates: true, footer: 7,
			about: "the detail on the whole screen, or back beside the list", run: q.toggleFull, disabled: q.nothing,
		},
		{
			name: "why", at: both, keys: []string{"p"}, title: "why", tag: "Detail", navigates: true, footer: 10,
			about: "where it comes from, or back to the short form", run: q.toggleWhy, disabled: q.nothing,
		},
		{
			name: "split", at: both, keys: []string{"t"}, title: "split", tag: "Detail", navigates: true,
			about: "detail beside, below, or not", run: q.nextSplit,
		},
		{
			name: "context.less", at: both, keys: []string{"{"}, title: "less context", tag: "Detail", navigates: true,
			about: "fewer unchanged lines around a change", run: func() term.Cmd { return q.context(-1) },
		},
		{
			name: "context.more", at: both, keys: []string{"}"}, title: "more context", tag: "Detail", navigates: true,
			about: "more unchanged lines around a change", run: func() term.Cmd { return q.context(1) },
		},
		{
			name: "copy.id", at: both, keys: []string{"y"}, title: "copy id", tag: "Detail", navigates: true,
			about: "the id to the clipboard of the terminal", run: q.copyID, disabled: q.nothing,
		},
		{
			name: "copy.all", at: both, keys: []string{"Y"}, title: "copy all", tag: "Detail", navigates: true,
			about: "the whole detail to the clipboard of the terminal", run: q.copyAll, disabled: q.nothing,
		},
		move("detail.scroll-down", both, []string{"J"}, "detail a line down", by(1)),
		move("detail.scroll-up", both, []string{"K"}, "detail a line up", by(-1)),
		move("detail.half-down", both, []string{"ctrl+d"}, "detail half a page down", func() { q.detail.scroll(max(room().h/2, 1), room()) }),
		move("detail.half-up", both, []string{"ctrl+u"}, "detail half a page up", func() { q.detail.scroll(-max(room().h/2, 1), room()) }),
		move("detail.right", both, []string{"L", "right"}, "detail to the right", func() { q.detail.sideways(8) }),
		move("detail.left", both, []string{"H", "left"}, "detail to the left", func() { q.detail.sideways(-8) }),
		move("detail.down", detail, []string{"j", "down"}, "a line down", by(1)),
		move("detail.up", detail, []string{"k", "up"}, "a line up", by(-1)),
		move("detail.next-page", detail, []string{"pgdown", "ctrl+f", "space"}, "a page down", func() { q.detail.scroll(room().h-1, room()) }),
		move("detail.previous-page", detail, []string{"pgup", "ctrl+b"}, "a page up", func() { q.detail.scroll(-(room().h - 1), room()) }),
		move("detail.first", detail, []string{"g", "home"}, "its beginning", func() { q.detail.top = 0 }),
		move("detail.last", detail, []string{"G", "end"}, "its end", func() { q.detail.top = q.detail.lastTop(room()) }),
		move("detail.next-match", detail, []string{"n"}, "next line with a word of the filter", func() { q.match(1, room()) }),
		move("detail.previous-match", detail, []string{"N"}, "line above with a word of the filter", func() { q.match(-1, room()) }),
		{
			name: "detail.back", at: detail, keys: []string{"esc"}, title: "back", tag: "Move", navigates: true, footer: 6,
			about: "back to the list", run: q.closeDetail,
		},
		{
			name: "detail.pane", at: detail, keys: []string{"tab", "shift+tab"}, title: "list", tag: "Move", navigates: true,
			about: "to the list", run: q.closeDetail,
		},
		{
			name: "detail.next-row", at: detail, keys: []string{"]"}, title: "next", tag: "Move", navigates: true,
			about: "open the next row", run: func() term.Cmd { return q.openNext(1) },
		},
		{
			name: "detail.previous-row", at: detail, keys: []string{"["}, title: "previous", tag: "Move", navigates: true,
			about: "open the row above", run: func() term.Cmd { return q.openNext(-1) },
		},
	}
}

func (q *queue) match(by int, r rect) {
	words := q.filter.words
	if q.filter.grep != "" {
		words = append([]string{q.filter.grep}, words...)
	}
	switch {
	case len(words) == 0:
		q.a.say(roleWarn, "no words to look for: / gives some")
	case !q.detail.find(words, by, r):
		q.a.say(roleMuted, "no more of them")
	}
}

// The reasons why a command cannot be used now.

func (q *queue) nothing() string {
	if _, ok := q.current(); !ok {
		return "the list is empty"
	}
	return ""
}

func (q *queue) noPlan() string {
	if q.a.plan.phase == planDone {
		return ""
	}
	return q.noDrafts()
}

func (q *queue) noDrafts() string {
	if len(q.a.order) == 0 {
		return "nothing is drafted; A approves, x rejects"
	}
	return ""
}

func (q *queue) noneNew() string {
	if q.fresh == 0 {
		return "nothing new arrived"
	}
	return ""
}

func (q *queue) notUnknown() string {
	if r, ok := q.current(); !ok || r.State != core.StateUnknown {
		return "only for an action whose outcome is unknown"
	}
	return ""
}

func (q *queue) notRetryable() string {
	r, ok := q.current()
	if !ok || r.State != core.StateUnknown && (r.State != core.StateFailed || !r.Retryable) {
		return "only for a failed action that may be tried again, or one whose outcome is unknown"
	}
	return ""
}
