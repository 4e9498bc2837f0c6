package tui

import (
	"fmt"

	"gatehouse/tui/term"
)

// question is what a prompt asks. It holds the ids and digests that it is about
// in its functions, never a selection that may change under it (T5).
type question struct {
	title   string
	body    []string
	choices []string // to be chosen from, none at first
	label   string   // of the line to type; empty: there is none
	value   string   // typed already
	accept  string   // name of the button that goes on
	danger  bool
	enabled bool // the button that goes on has the focus at first
	do      func(sheetAnswer) term.Cmd
}

// sheetAnswer is what a person answered.
type sheetAnswer struct {
	choice int // -1: none
	text   string
}

// The parts of a sheet that can have the focus.
const (
	partChoices = iota
	partLine
	partCancel
	partAccept
)

// sheet is a prompt that rises from the bottom of the screen. It is not closed
// by anything but its keys, and does nothing but what it says.
type sheet struct {
	a      *app
	q      question
	line   input
	choice int
	focus  int
	asked  int // grows with each question, so that no answer meets the wrong one
}

func newSheet(a *app) *sheet { return &sheet{a: a} }

// ask opens the prompt.
func (s *sheet) ask(q question) {
	s.q, s.choice, s.asked = q, -1, s.asked+1
	s.line.set(q.value)
	switch {
	case len(q.choices) > 0:
		s.focus = partChoices
	case q.label != "":
		s.focus = partLine
	case q.enabled:
		s.focus = partAccept
	default:
		s.focus = partCancel
	}
	s.a.pop(s)
	s.a.push(s)
}

func (s *sheet) place() place { return atSheet }

func (s *sheet) update(term.Msg) term.Cmd { return nil }

func (s *sheet) typed() *input {
	if s.focus == partLine {
		return &s.line
	}
	return nil
}

func (s *sheet) changed() term.Cmd { return nil }

// parts are those that this question has, in order.
func (s *sheet) parts() []int {
	var parts []int
	if len(s.q.choices) > 0 {
		parts = append(parts, partChoices)
	}
	if s.q.label != "" {
		parts = append(parts, partLine)
	}
	return append(parts, partCancel, partAccept)
}

func (s *sheet) step(by int) term.Cmd {
	parts := s.parts()
	for i, part := range parts {
		if part == s.focus {
			s.focus = parts[(i+by+len(parts))%len(parts)]
			return nil
		}
	}
	return nil
}

// sideways moves within the line being typed, else between the parts.
func (s *sheet) sideways(key string, by int) term.Cmd {
	if in := s.typed(); in != nil {
		in.key(term.KeyMsg{Name: key})
		return nil
	}
	return s.step(by)
}

// vertical moves among the choices, and between the parts at their ends.
func (s *sheet) vertical(by int) term.Cmd {
	if s.focus != partChoices {
		return s.step(by)
	}
	if to := s.choice + by; to >= 0 && to < len(s.q.choices) {
		s.choice = to
	}
	return nil
}

// press is enter: it takes what has the focus.
func (s *sheet) press() term.Cmd {
	switch s.focus {
	case partCancel:
		return s.close()
	case partChoices:
		if s.choice < 0 {
			s.a.say(roleWarn, "choose first: j k or a number")
			return nil
		}
		if s.q.label != "" {
			s.focus = partLine
			return nil
		}
	}
	if len(s.q.choices) > 0 && s.choice < 0 {
		s.a.say(roleWarn, "choose first: j k or a number")
		s.focus = partChoices
		return nil
	}
	answer := sheetAnswer{choice: s.choice, text: s.line.text()}
	do := s.q.do
	s.a.pop(s)
	return do(answer)
}

func (s *sheet) close() term.Cmd {
	s.a.pop(s)
	return nil
}

// pick chooses by number.
func (s *sheet) pick(n int) term.Cmd {
	if s.focus == partChoices && n <= len(s.q.choices) {
		s.choice = n - 1
	}
	return nil
}

func (s *sheet) commands() []*command {
	at := []place{atSheet}
	out := []*command{
		{
			name: "prompt.accept", at: at, keys: []string{"enter"}, title: "accept", tag: "Prompt", footer: 1, decides: true, prompts: true,
			about: "take the choice, the line or the button that has the focus", run: s.press,
		},
		{
			name: "prompt.close", at: at, keys: []string{"esc"}, title: "cancel", tag: "Prompt", footer: 2, navigates: true,
			about: "close the prompt; nothing has happened", run: s.close,
		},
		{
			name: "prompt.next", at: at, keys: []string{"tab"}, title: "next", tag: "Prompt", footer: 3, navigates: true,
			about: "to the next part of the prompt", run: func() term.Cmd { return s.step(1) },
		},
		{
			name: "prompt.previous", at: at, keys: []string{"shift+tab"}, title: "previous", tag: "Prompt", navigates: true,
			about: "to the part before", run: func() term.Cmd { return s.step(-1) },
		},
		{
			name: "prompt.down", at: at, keys: []string{"down", "j"}, title: "down", tag: "Prompt", navigates: true,
			about: "next choice", run: func() term.Cmd { return s.vertical(1) },
		},
		{
			name: "prompt.up", at: at, keys: []string{"up", "k"}, title: "up", tag: "Prompt", navigates: true,
			about: "choice before", run: func() term.Cmd { return s.vertical(-1) },
		},
	}
	for by, key := range map[int]string{-1: "left", 1: "right"} {
		out = append(out, &command{
			name: "prompt." + key, at: at, keys: []string{key}, title: key, tag: "Prompt", navigates: true,
			about: "between the buttons, or within the line", run: func() term.Cmd { return s.sideways(key, by) },
		})
	}
	for n := 1; n <= 9; n++ {
		out = append(out, &command{
			name: fmt.Sprintf("prompt.choice%d", n), at: at, keys: []string{fmt.Sprint(n)}, title: fmt.Sprint(n), tag: "Prompt", navigates: true,
			about: fmt.Sprintf("choose number %d", n), run: func() term.Cmd { return s.pick(n) },
		})
	}
	return out
}

// draw returns the lines of the prompt, fewer than the room.
func (s *sheet) draw(r rect) []string {
	t := &s.a.theme
	titleRole := roleTitle
	if s.q.danger {
		titleRole = roleDanger
	}
	at := -1
	if j, ok := s.a.over().(jointed); ok {
		at = j.joint(r)
	}
	lines := []string{t.joint(r.w, titleRole, s.q.title, "", at, "┴")}
	for _, body := range s.q.body {
		for _, part := range wrap(body, r.w-4) {
			lines = append(lines, t.spans(r.w, span{rolePlain, "  " + part}))
		}
	}
	for i, choice := range s.q.choices {
		sign, role := "  ", rolePlain
		if i == s.choice {
			sign = "▸ "
			if s.focus == partChoices {
				role = roleCursor
			}
		}
		lines = append(lines, t.spans(r.w, span{rolePlain, "  "}, span{role, fmt.Sprintf("%s%d  %s", sign, i+1, choice)}))
	}
	if s.q.label != "" {
		lines = append(lines, s.drawLine(t, r))
	}
	lines = append(lines, s.buttons(t, r))
	if most := r.h; len(lines) > most {
		lines = append(lines[:most-2:most-2], lines[len(lines)-2:]...)
	}
	return lines
}

func (s *sheet) drawLine(t *theme, r rect) string {
	label := "  " + s.q.label + " "
	room := r.w - columns(label) - 2
	if s.focus == partLine {
		return t.spans(r.w, span{roleAccent, label}, span{rolePlain, s.line.draw(room)})
	}
	return t.spans(r.w, span{roleMuted, label}, span{rolePlain, pad(s.line.text(), room)})
}

func (s *sheet) buttons(t *theme, r rect) string {
	return t.buttons(r.w, s.q.accept, s.focus == partCancel, s.focus == partAccept)
}

// buttons draws a way back and a way on; brackets say which one enter presses.
func (t *theme) buttons(width int, accept string, cancelFocus, acceptFocus bool) string {
	button := func(name string, focus bool) span {
		if focus {
			return span{roleFocus, "[ " + name + " ]"}
		}
		return span{rolePlain, "  " + name + "  "}
	}
	pieces := []span{button("Cancel", cancelFocus), {rolePlain, "   "}, button(accept, acceptFocus)}
	lead := max(width-widthOf(pieces)-4, 2)
	return t.spans(width, append([]span{{rolePlain, spaces(lead)}}, pieces...)...)
}
