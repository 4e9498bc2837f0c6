package tui

import (
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"gatehouse/tui/term"
)

// inputLimit is how long a typed line can get.
const inputLimit = 500

// input is a line that a person types. Its text is clean at any time.
type input struct {
	value []string // graphemes
	at    int      // of the cursor, 0 to len(value)
	limit int      // graphemes; 0 is inputLimit
}

func (in *input) text() string {
	s := ""
	for _, g := range in.value {
		s += g
	}
	return s
}

func (in *input) most() int {
	if in.limit > 0 {
		return in.limit
	}
	return inputLimit
}

func (in *input) set(s string) {
	in.value, in.at = nil, 0
	in.insert(s)
}

// key edits the line and reports whether the key was one for it.
func (in *input) key(k term.KeyMsg) bool {
	switch k.Name {
	case "left", "ctrl+b":
		in.at = max(in.at-1, 0)
	case "right", "ctrl+f":
		in.at = min(in.at+1, len(in.value))
	case "home", "ctrl+a":
		in.at = 0
	case "end", "ctrl+e":
		in.at = len(in.value)
	case "backspace", "ctrl+h":
		if in.at > 0 {
			in.drop(in.at-1, in.at)
		}
	case "delete", "ctrl+d":
		if in.at < len(in.value) {
			in.drop(in.at, in.at+1)
		}
	case "ctrl+u":
		in.drop(0, in.at)
	case "ctrl+k":
		in.drop(in.at, len(in.value))
	case "ctrl+w":
		from := in.at
		for from > 0 && in.value[from-1] == " " {
			from--
		}
		for from > 0 && in.value[from-1] != " " {
			from--
		}
		in.drop(from, in.at)
	default:
		if k.Text == "" {
			return false
		}
		in.insert(k.Text)
	}
	return true
}

func (in *input) drop(from, to int) {
	in.value = append(append([]string{}, in.value[:from]...), in.value[to:]...)
	in.at = from
}

// insert puts text at the cursor: typed or pasted, it becomes one clean line.
func (in *input) insert(s string) {
	clean := s
	if s != " " {
		lead, tail := edge(s)
		clean, _ = cleanLine(s, in.most())
		clean = lead + clean + tail
	}
	var fresh []string
	for rest := clean; rest != ""; {
		g, _ := ansi.FirstGraphemeCluster(rest, ansi.GraphemeWidth)
		rest = rest[len(g):]
		fresh = append(fresh, g)
	}
	if room := in.most() - len(in.value); len(fresh) > room {
		fresh = fresh[:max(room, 0)]
	}
	in.value = append(append(append([]string{}, in.value[:in.at]...), fresh...), in.value[in.at:]...)
	in.at += len(fresh)
}

// edge keeps one space at each end that the sanitiser would trim.
func edge(s string) (lead, tail string) {
	runes := []rune(s)
	if len(runes) < 2 {
		return "", ""
	}
	if unicode.IsSpace(runes[0]) {
		lead = " "
	}
	if unicode.IsSpace(runes[len(runes)-1]) && runes[len(runes)-1] == ' ' {
		tail = " "
	}
	return lead, tail
}

// draw shows the end of the line that the cursor is in, the cursor as a bar.
func (in *input) draw(width int) string {
	before, after := "", ""
	for i, g := range in.value {
		if i < in.at {
			before += g
		} else {
			after += g
		}
	}
	if over := columns(before) + 1 - width; over > 0 {
		before = cut(before, over, width)
	}
	return pad(before+"▏"+after, width)
}
