package tui

import (
	"slices"
	"strings"

	"gatehouse/tui/term"
)

// help lists the commands of the place it was opened in, from the same table
// that dispatches them, and runs the chosen one.
type help struct {
	a       *app
	of      place
	entries []*command
	at, top int
}

func newHelp(a *app) *help { return &help{a: a} }

// open shows the help of the place below.
func (h *help) open() term.Cmd {
	h.of = h.a.top().place()
	h.entries = h.a.keys.listed(h.of)
	slices.SortStableFunc(h.entries, func(a, b *command) int { return tagRank(a.tag) - tagRank(b.tag) })
	h.at, h.top = 0, 0
	h.a.push(h)
	return nil
}

func tagRank(tag string) int {
	return slices.Index([]string{"Decide", "Outcome", "Choose", "Detail", "Sessions", "Screens", "Move"}, tag)
}

func (h *help) place() place { return atHelp }

func (h *help) update(term.Msg) term.Cmd { return nil }

func (h *help) move(by int) term.Cmd {
	h.at = min(max(h.at+by, 0), max(len(h.entries)-1, 0))
	return nil
}

func (h *help) close() term.Cmd {
	h.a.pop(h)
	return nil
}

// runChosen closes the help and runs the entry. Enter in a list decides
// nothing (T3): a decision that asks nothing first only has its key named.
func (h *help) runChosen() term.Cmd {
	if len(h.entries) == 0 {
		return h.close()
	}
	c := h.entries[h.at]
	h.close()
	if c.decides && (!c.prompts || h.of.dialog()) {
		h.a.say(roleWarn, keyLabel(c.keys[0])+" does that: enter decides nothing")
		return nil
	}
	cmd := h.a.run(c)
	h.a.dirty = true // even where the command itself changed nothing: the help has gone
	return cmd
}

func (h *help) commands() []*command {
	at := []place{atHelp}
	move := func(name string, keys []string, by func() int) *command {
		return &command{
			name: name, at: at, keys: keys, title: name, tag: "Move", navigates: true, about: "look through the keys",
			run: func() term.Cmd { return h.move(by()) },
		}
	}
	page := func() int { return max(h.a.body().h-3, 1) }
	return []*command{
		{
			name: "help.run", at: at, keys: []string{"enter"}, title: "run", tag: "Move", navigates: true, footer: 1,
			about: "run the chosen command", run: h.runChosen,
		},
		{
			name: "help.close", at: at, keys: []string{"esc", "q", "?"}, title: "close", tag: "Move", navigates: true, footer: 2,
			about: "close the help", run: h.close,
		},
		move("help.down", []string{"j", "down"}, func() int { return 1 }),
		move("help.up", []string{"k", "up"}, func() int { return -1 }),
		move("help.next-page", []string{"pgdown", "ctrl+f", "ctrl+d", "space"}, page),
		move("help.previous-page", []string{"pgup", "ctrl+b", "ctrl+u"}, func() int { return -page() }),
		move("help.first", []string{"g", "home"}, func() int { return -len(h.entries) }),
		move("help.last", []string{"G", "end"}, func() int { return len(h.entries) }),
	}
}

// draw lists keys, titles and what they do, under headings.
func (h *help) draw(r rect) []string {
	t := &h.a.theme
	lines := []string{t.rule(r.w, roleTitle, "Keys · "+string(h.of), "")}
	type entry struct {
		heading string
		c       *command
		index   int
	}
	var all []entry
	last, cursor := "", 0
	for i, c := range h.entries {
		if c.tag != last {
			last = c.tag
			all = append(all, entry{heading: c.tag})
		}
		if i == h.at {
			cursor = len(all)
		}
		all = append(all, entry{c: c, index: i})
	}
	room := r.h - 1
	if cursor < h.top+1 {
		h.top = max(cursor-1, 0)
	}
	if cursor+1 >= h.top+room { // one more line than the cursor's own: for why it is not to be used now
		h.top = max(cursor-room+2, 0)
	}
	for i := h.top; i < len(all) && len(lines) <= room; i++ {
		e := all[i]
		if e.c == nil {
			lines = append(lines, t.spans(r.w, span{roleTitle, "  " + e.heading}))
			continue
		}
		lines = append(lines, h.drawEntry(e.c, r.w, e.index == h.at))
		if why := e.c.why(); why != "" && e.index == h.at {
			lines = append(lines, t.spans(r.w, span{roleMuted, strings.Repeat(" ", 21) + "not now: " + why}))
		}
	}
	return fill(lines, r)
}

func (h *help) drawEntry(c *command, width int, cursor bool) string {
	about := c.about
	role := rolePlain
	if why := c.why(); why != "" {
		about, role = about+" (not now: "+why+")", roleMuted
	}
	pieces := []span{
		{roleAccent, " " + flag(cursor, "▸") + "  "},
		{roleAccent, pad(keyList(c.keys), 16) + " "},
		{role, strings.TrimSpace(about)},
	}
	if cursor {
		recolour(pieces, roleCursor)
	}
	return h.a.theme.spans(width, pieces...)
}
