package tui

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/core/text"
)

// TestWrapLosesNothing: broken lines hold what the line held, and fit.
func TestWrapLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z宽é]{1,40}`), 1, 12).Draw(t, "words")
		width := rapid.IntRange(12, 60).Draw(t, "width")
		hang := rapid.IntRange(0, 8).Draw(t, "hang")
		line := strings.Join(words, " ")
		parts := wrapHanging(line, width, hang)
		for _, part := range parts {
			if text.Width(part) > width {
				t.Fatalf("%q is wider than %d", part, width)
			}
		}
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if got := squeeze(strings.Join(parts, "")); got != squeeze(line) {
			t.Fatalf("got %q, want %q", got, squeeze(line))
		}
	})
}

// TestCutKeepsColumns: cut gives at most the columns asked for, and all of them
// together give the line.
func TestCutKeepsColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line, _ := cleanLine(rapid.String().Draw(t, "line"), 200)
		from, width := rapid.IntRange(0, 50).Draw(t, "from"), rapid.IntRange(0, 50).Draw(t, "width")
		if got := text.Width(cut(line, from, width)); got > width {
			t.Fatalf("cut(%q, %d, %d) is %d wide", line, from, width, got)
		}
		if got := cut(line, 0, text.Width(line)); got != line {
			t.Fatalf("got %q, want %q", got, line)
		}
	})
}

// TestDiffRebuildsBothSides: the lines of a diff with all its context are the
// lines of both sides.
func TestDiffRebuildsBothSides(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", ""}), 0, 12)
		before, after := lines.Draw(t, "before"), lines.Draw(t, "after")
		var gotBefore, gotAfter []string
		changed := false
		for _, l := range diffLines(before, after, 100) {
			switch l.role {
			case roleHunk:
				continue
			case roleAdded:
				gotAfter = append(gotAfter, l.text[1:])
				changed = true
			case roleRemoved:
				gotBefore = append(gotBefore, l.text[1:])
				changed = true
			default:
				gotBefore, gotAfter = append(gotBefore, l.text[1:]), append(gotAfter, l.text[1:])
			}
		}
		same := strings.Join(before, "\n") == strings.Join(after, "\n") && len(before) == len(after)
		if same && changed || !same && !changed {
			t.Fatalf("same %v, changed %v", same, changed)
		}
		if changed && (strings.Join(gotBefore, "\n") != strings.Join(before, "\n") || strings.Join(gotAfter, "\n") != strings.Join(after, "\n")) {
			t.Fatalf("got %q and %q, want %q and %q", gotBefore, gotAfter, before, after)
		}
	})
}
