package tui

import (
	"fmt"
	"slices"
)

func sizeText(r rect) string { return fmt.Sprintf("%d×%d", r.w, r.h) }

// header says what needs a person, over all sessions, and where one is.
func (a *app) header() []string {
	w := a.size.w
	left := append([]span{{roleTitle, " gatehouse  "}}, a.needs()...)
	var lines []string
	if a.tall() {
		lines = append(lines,
			a.theme.ends(w, left, []span{{roleMuted, plural(a.head.sessions, "session", "sessions") + " "}}),
			a.theme.ends(w, append([]span{{rolePlain, " "}}, a.tabLine()...), []span{{roleAccent, ":"}, {roleMuted, " palette  "}, {roleAccent, "?"}, {roleMuted, " help "}}))
	} else {
		help := []span{{roleAccent, "?"}, {roleMuted, " help "}}
		right := append(a.tabLine(), help...)
		if widthOf(left)+widthOf(right)+1 > w {
			right = help
		}
		lines = append(lines, a.theme.ends(w, left, right))
	}
	if a.broken != "" {
		lines = append(lines, a.theme.spans(w, span{roleDanger, " ! no decisions: " + a.broken}))
	}
	return lines
}

// tall reports room for a second line of the header.
func (a *app) tall() bool { return a.size.w >= 100 && a.size.h >= 30 }

// headerHeight is how many lines header draws.
func (a *app) headerHeight() int {
	n := 1
	if a.tall() {
		n++
	}
	if a.broken != "" {
		n++
	}
	return n
}

// needs are the counts, nothing said of what is none.
func (a *app) needs() []span {
	out := needSpans(a.head)
	if len(out) == 0 && a.queue.loaded {
		out = append(out, span{roleMuted, "nothing waits"})
	}
	return out
}

func needSpans(c counts) []span {
	var out []span
	add := func(n int, r role, one, many string) {
		if n == 0 {
			return
		}
		if len(out) > 0 {
			out = append(out, span{roleMuted, " · "})
		}
		out = append(out, span{r, plural(n, one, many)})
	}
	add(c.waiting, rolePlain, "waiting", "waiting")
	add(c.drifted, roleWarn, "drifted", "drifted")
	add(c.unknown, roleWarn, "unknown", "unknown")
	add(c.questions, roleAccent, "question", "questions")
	return out
}

func (a *app) tabLine() []span {
	var out []span
	for _, t := range a.tabs {
		r := roleMuted
		if a.stack[0] == t.view {
			r = roleTitle
		}
		out = append(out, span{roleAccent, t.key}, span{r, " " + t.title + "   "})
	}
	return out
}

// bottom is the line under the body. It carries the one message.
func (a *app) bottom(body rect) string {
	at := -1
	if j, ok := a.over().(jointed); ok && a.top() != view(a.sheet) {
		at = j.joint(body)
	}
	return a.theme.joint(a.size.w, a.loud, a.message, "", at, "┴")
}

// footer shows the keys of the focused pane, and at its right edge how much of
// the list is shown.
func (a *app) footer() string {
	var right []span
	if t, ok := a.top().(interface{ tally() []span }); ok {
		right = t.tally()
	}
	room := a.size.w - 2 - widthOf(right)
	pieces := []span{{rolePlain, " "}}
	used := 1
	if t, ok := a.top().(typist); ok && !slices.Contains([]view{a.sheet, a.plan, a.script, a.finder, a.picker}, a.top()) { // those show their own line
		if in := t.typed(); in != nil {
			return a.theme.ends(a.size.w, []span{{roleAccent, " / "}, {rolePlain, in.draw(max(room-4, 10))}}, right)
		}
	}
	for _, c := range a.keys.footerKeys(a.top().place()) {
		gap, key, title := "", keyLabel(c.keys[0]), " "+c.title
		if len(pieces) > 1 {
			gap = "  "
		}
		w := columns(gap) + columns(key) + columns(title)
		if used+w > room {
			break
		}
		pieces = append(pieces, span{rolePlain, gap}, span{roleAccent, key}, span{roleMuted, title})
		used += w
	}
	return a.theme.ends(a.size.w, pieces, right)
}
