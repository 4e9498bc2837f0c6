package tui

import (
	"fmt"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"
)

// line is one line of a document: clean, without tabs, drawn in one role. A
// line that flows is broken to the width of the pane; others are looked at
// sideways.
type line struct {
	role  role
	text  string
	flows bool
}

const (
	defaultContext = 3
	maxContext     = 1000
	diffLimit      = 8 << 20 // bytes of both sides; more is shown as removed and added
)

// diffLines compares two clean texts line by line. Signs say what colour says.
func diffLines(before, after []string, context int) []line {
	if size(before)+size(after) > diffLimit {
		return append(prefixed(before, "-", roleRemoved), prefixed(after, "+", roleAdded)...)
	}
	ops := compare(before, after)
	var out []line
	for i := 0; i < len(ops); {
		if ops[i].sign == ' ' {
			i++
			continue
		}
		from := max(i-context, 0)
		to, quiet := i, 0
		for to < len(ops) && quiet <= 2*context {
			if ops[to].sign == ' ' {
				quiet++
			} else {
				quiet = 0
			}
			to++
		}
		to = min(to, len(ops))
		to -= max(quiet-context, 0)
		out = append(out, hunk(ops[from:to]))
		for _, op := range ops[from:to] {
			out = append(out, op.line())
		}
		i = to
	}
	return out
}

func size(lines []string) int {
	n := 0
	for _, l := range lines {
		n += len(l) + 1
	}
	return n
}

func prefixed(lines []string, sign string, r role) []line {
	out := make([]line, len(lines))
	for i, l := range lines {
		out[i] = line{role: r, text: sign + l}
	}
	return out
}

// op is one line of a comparison, with its number on each side.
type op struct {
	sign          byte
	text          string
	before, after int
}

func (o op) line() line {
	switch o.sign {
	case '+':
		return line{role: roleAdded, text: "+" + o.text}
	case '-':
		return line{role: roleRemoved, text: "-" + o.text}
	}
	return line{role: rolePlain, text: " " + o.text}
}

func hunk(ops []op) line {
	var b, a int
	for _, o := range ops {
		if o.sign != '+' {
			b++
		}
		if o.sign != '-' {
			a++
		}
	}
	first := ops[0]
	return line{role: roleHunk, text: fmt.Sprintf("@@ -%d,%d +%d,%d @@", first.before, b, first.after, a)}
}

// compare lists every line of both sides in order.
func compare(before, after []string) []op {
	old := joinLines(before)
	edits := udiff.Lines(old, joinLines(after))
	var ops []op
	nb, na, at, offset := 1, 1, 0, 0
	same := func(until int) {
		for at < len(before) && offset < until {
			ops = append(ops, op{' ', before[at], nb, na})
			offset += len(before[at]) + 1
			at, nb, na = at+1, nb+1, na+1
		}
	}
	for _, e := range edits {
		same(e.Start)
		for at < len(before) && offset < e.End {
			ops = append(ops, op{'-', before[at], nb, na})
			offset += len(before[at]) + 1
			at, nb = at+1, nb+1
		}
		if e.New == "" {
			continue
		}
		for _, text := range strings.Split(strings.TrimSuffix(e.New, "\n"), "\n") {
			ops = append(ops, op{'+', text, nb, na})
			na++
		}
	}
	same(len(old) + 1)
	return ops
}

func joinLines(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}
