package text

import (
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// ThreeLine is a line of a comparison of two texts with the one that both were made from. Theirs and Ours say what
// became of it there: ' ' nothing, '-' it was taken out, '+' it was put in.
type ThreeLine struct {
	Theirs, Ours byte
	Text         string
	Base         int  // its number in the base, from 1; that of the next one where it was put in
	Clash        bool // the first line of a place that both changed, and not in the same way
	Skipped      bool // lines without changes were left out in front of it
}

// Gutter is what stands in front of the line: the sign of theirs, the sign of ours.
func (l ThreeLine) Gutter() string { return string([]byte{l.Theirs, l.Ours}) }

// ThreeWay compares lines, and keeps some without changes around every change. The result is empty where nothing changed.
func ThreeWay(base, theirs, ours []string, context int) []ThreeLine {
	t, o := sideOf(base, theirs), sideOf(base, ours)
	var all []ThreeLine
	for i := range len(base) + 1 {
		all = append(all, inserted(t.put[i], o.put[i], i+1)...)
		if i < len(base) {
			all = append(all, ThreeLine{Theirs: t.sign(i), Ours: o.sign(i), Text: base[i], Base: i + 1})
		}
	}
	markClashes(all)
	return around(all, context)
}

// side is how one text differs from the base.
type side struct {
	out []bool     // by line of the base
	put [][]string // in front of a line of the base, or at its end
}

func (s side) sign(i int) byte {
	if s.out[i] {
		return '-'
	}
	return ' '
}

func sideOf(base, other []string) side {
	s := side{out: make([]bool, len(base)), put: make([][]string, len(base)+1)}
	starts := make([]int, len(base)+1)
	for i, l := range base {
		starts[i+1] = starts[i] + len(l) + 1
	}
	for _, e := range udiff.Lines(terminated(base), terminated(other)) {
		from, _ := slices.BinarySearch(starts, e.Start)
		to, _ := slices.BinarySearch(starts, e.End)
		for i := from; i < to && i < len(base); i++ {
			s.out[i] = true
		}
		if e.New != "" {
			s.put[to] = append(s.put[to], strings.Split(strings.TrimSuffix(e.New, "\n"), "\n")...)
		}
	}
	return s
}

func terminated(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// inserted are the lines that were put in at one place, once where both put in the same.
func inserted(theirs, ours []string, base int) []ThreeLine {
	var out []ThreeLine
	if len(theirs) > 0 && slices.Equal(theirs, ours) {
		for _, l := range theirs {
			out = append(out, ThreeLine{Theirs: '+', Ours: '+', Text: l, Base: base})
		}
		return out
	}
	for _, l := range theirs {
		out = append(out, ThreeLine{Theirs: '+', Ours: ' ', Text: l, Base: base})
	}
	for _, l := range ours {
		out = append(out, ThreeLine{Theirs: ' ', Ours: '+', Text: l, Base: base})
	}
	return out
}

func (l ThreeLine) changed() bool { return l.Theirs != ' ' || l.Ours != ' ' }

// markClashes finds runs of changed lines in which both sides did something, and not the same.
func markClashes(all []ThreeLine) {
	for i := 0; i < len(all); i++ {
		if !all[i].changed() {
			continue
		}
		first, theirs, ours, same := i, false, false, true
		for ; i < len(all) && all[i].changed(); i++ {
			theirs = theirs || all[i].Theirs != ' '
			ours = ours || all[i].Ours != ' '
			same = same && all[i].Theirs == all[i].Ours
		}
		all[first].Clash = theirs && ours && !same
	}
}

// around leaves out what is further from a change than the context.
func around(all []ThreeLine, context int) []ThreeLine {
	keep := make([]bool, len(all))
	for i, l := range all {
		if !l.changed() {
			continue
		}
		for j := max(i-context, 0); j <= min(i+context, len(all)-1); j++ {
			keep[j] = true
		}
	}
	var out []ThreeLine
	for i, l := range all {
		if !keep[i] {
			continue
		}
		l.Skipped = i > 0 && !keep[i-1]
		out = append(out, l)
	}
	return out
}
