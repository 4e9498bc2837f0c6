package tui

import (
	"strings"

	"gatehouse/tui/term"
)

// pick is what a picker offers. It holds what it is about in its functions,
// never a selection that may change under it (T5).
type pick struct {
	title string
	label string // of the line that is typed
	value string // typed already
	about string // what the keys do, in one line
	none  string // said where there is nothing to choose from
	items []pickItem
	more  func(typed string) term.Cmd // reads the items for what is typed; nil: the items are those, and are filtered
	free  bool                        // what is typed is an answer by itself
	do    func(pickItem, string) term.Cmd
}

// pickItem is one of the things to choose from. Its texts are clean.
type pickItem struct {
	key, text, note string
	off             string // why it cannot be chosen
	always          bool   // whatever is typed
}

// picker is a list to choose one thing from, with a line that narrows it. It
// decides nothing: enter gives the one under the cursor to whoever asked.
type picker struct {
	a       *app
	p       pick
	line    input
	items   []pickItem // those that are shown
	at      int        // -1: the line that is typed
	top     int
	gen     int // grows with each question and each read, so that no answer meets the wrong one
	loading bool
	err     string
}

func newPicker(a *app) *picker { return &picker{a: a} }

// pickedMsg brings the items of a picker.
type pickedMsg struct {
	gen   int
	items []pickItem
	err   error
}

// ask opens the picker. One without items and without a way to read them waits
// for them, and the caller reads them with the number that is returned.
func (v *picker) ask(p pick, wait bool) int {
	v.p, v.err, v.items, v.top, v.loading = p, "", p.items, 0, wait
	v.line = input{}
	v.line.set(p.value)
	v.gen++
	v.narrow()
	v.a.pop(v)
	v.a.push(v)
	return v.gen
}

func (v *picker) place() place { return atPick }

func (v *picker) typed() *input { return &v.line }

// changed narrows the list to what is typed, or reads it anew.
func (v *picker) changed() term.Cmd {
	if v.p.more == nil {
		v.narrow()
		return nil
	}
	return v.read()
}

// read asks for the items that fit what is typed.
func (v *picker) read() term.Cmd {
	v.gen++
	v.loading = true
	return v.p.more(v.line.text())
}

func (v *picker) narrow() {
	if v.p.more != nil {
		return
	}
	v.items = nil
	words := strings.Fields(strings.ToLower(v.line.text()))
	for _, item := range v.p.items {
		if item.always || holdsAll(strings.ToLower(item.text+" "+item.note), words) {
			v.items = append(v.items, item)
		}
	}
	v.rest()
}

func holdsAll(s string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(s, word) {
			return false
		}
	}
	return true
}

// rest puts the cursor where enter does the expected.
func (v *picker) rest() {
	v.at, v.top = 0, 0
	if v.p.free || len(v.items) == 0 {
		v.at = -1
	}
}

func (v *picker) update(msg term.Msg) term.Cmd {
	m, ok := msg.(pickedMsg)
	if !ok || m.gen != v.gen || !v.a.open(v) {
		return nil
	}
	v.loading, v.err = false, ""
	if m.err != nil {
		v.err, _ = cleanLine(describe(m.err), reasonLimit)
		return nil
	}
	if v.p.more == nil {
		v.p.items = m.items
		v.narrow()
		return nil
	}
	v.items = m.items
	v.rest()
	return nil
}

func (v *picker) move(by int) term.Cmd {
	least := 0
	if v.p.free {
		least = -1
	}
	v.at = min(max(v.at+by, least), len(v.items)-1)
	return nil
}

// complete puts the item under the cursor, or the first one, on the line.
func (v *picker) complete() term.Cmd {
	at := max(v.at, 0)
	if !v.p.free || at >= len(v.items) {
		return nil
	}
	if why := v.items[at].off; why != "" {
		v.a.say(roleWarn, why)
		return nil
	}
	v.line.set(v.items[at].key)
	return v.read()
}

// press takes what the cursor is on.
func (v *picker) press() term.Cmd {
	switch {
	case v.at >= len(v.items), v.at < 0 && !v.p.free:
		return nil
	case v.at < 0 && strings.TrimSpace(v.line.text()) == "":
		v.a.say(roleWarn, "type it first, or choose below")
		return nil
	case v.at < 0:
		return v.take(pickItem{})
	case v.p.free:
		return v.complete()
	case v.items[v.at].off != "":
		v.a.say(roleWarn, v.items[v.at].off)
		return nil
	}
	return v.take(v.items[v.at])
}

func (v *picker) take(item pickItem) term.Cmd {
	do, typed := v.p.do, v.line.text()
	v.close()
	return do(item, typed)
}

func (v *picker) close() term.Cmd {
	v.gen++
	v.loading = false
	v.a.pop(v)
	return nil
}

func (v *picker) commands() []*command {
	at := []place{atPick}
	page := func() int { return max(v.a.body().h-4, 1) }
	move := func(name string, keys []string, by func() int) *command {
		return &command{
			name: name, at: at, keys: keys, title: name, tag: "Move", navigates: true, about: "through what there is to choose from",
			run: func() term.Cmd { return v.move(by()) },
		}
	}
	return []*command{
		{
			name: "pick.choose", at: at, keys: []string{"enter"}, title: "choose", tag: "Prompt", navigates: true, footer: 1,
			about: "go on with the one under the cursor, or with what is typed", run: v.press,
		},
		{
			name: "pick.complete", at: at, keys: []string{"tab"}, title: "complete", tag: "Prompt", navigates: true, footer: 2,
			about: "put the one under the cursor on the line", run: v.complete,
			disabled: func() string {
				if v.p.free {
					return ""
				}
				return "what is typed narrows the list"
			},
		},
		{
			name: "pick.close", at: at, keys: []string{"esc"}, title: "cancel", tag: "Prompt", navigates: true, footer: 3,
			about: "close it; nothing has happened", run: v.close,
		},
		move("pick.down", []string{"down"}, func() int { return 1 }),
		move("pick.up", []string{"up"}, func() int { return -1 }),
		move("pick.next-page", []string{"pgdown"}, page),
		move("pick.previous-page", []string{"pgup"}, func() int { return -page() }),
	}
}

// draw shows the line and, below it, a window of what there is.
func (v *picker) draw(r rect) []string {
	t := &v.a.theme
	label := "   " + v.p.label + " "
	lines := []string{
		t.rule(r.w, roleTitle, v.p.title, ""),
		t.spans(r.w, span{roleAccent, label}, span{rolePlain, v.line.draw(r.w - columns(label) - 2)}),
		t.spans(r.w, span{roleMuted, "   " + v.p.about}),
		spaces(r.w),
	}
	switch {
	case v.err != "":
		for _, part := range wrap(v.err, r.w-6) {
			lines = append(lines, t.spans(r.w, span{roleDanger, "   " + part}))
		}
		return fill(lines, r)
	case v.loading && len(v.items) == 0:
		return fill(append(lines, t.spans(r.w, span{roleMuted, "   looking…"})), r)
	case len(v.items) == 0:
		return fill(append(lines, t.spans(r.w, span{roleMuted, "   " + v.p.none})), r)
	}
	room := max(r.h-len(lines), 1)
	if v.at >= v.top+room {
		v.top = v.at - room + 1
	}
	v.top = min(v.top, max(v.at, 0))
	for i := v.top; i < len(v.items) && len(lines) < r.h; i++ {
		lines = append(lines, v.drawItem(v.items[i], r.w, i == v.at))
	}
	return fill(lines, r)
}

func (v *picker) drawItem(item pickItem, width int, cursor bool) string {
	role := rolePlain
	switch {
	case cursor:
		role = roleCursor
	case item.off != "" || v.loading:
		role = roleMuted
	}
	text := item.text
	if item.note != "" && width >= 80 {
		text = pad(text, 24)
	}
	return v.a.theme.spans(width, span{roleAccent, " " + flag(cursor, "▸") + " "}, span{role, text}, span{roleMuted, suffix("  ", item.note)})
}
