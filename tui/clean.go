package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"gatehouse/core/text"
)

// Limits of what a view model takes in.
const (
	titleLimit  = 400
	reasonLimit = 1000
	tabStop     = 4
)

// cleanLine makes text of others one line that is safe to draw.
func cleanLine(s string, limit int) (line string, hidden bool) {
	line, hidden = text.CleanLine(s, limit)
	return even(line), hidden
}

// cleanLines makes a body of others lines that are safe to draw.
func cleanLines(s string) (lines []string, hidden bool) {
	block, hidden := text.CleanBlock(s)
	lines = strings.Split(strings.TrimSuffix(block, "\n"), "\n")
	for i, line := range lines {
		lines[i] = even(text.ExpandTabs(line, tabStop))
	}
	return lines, hidden
}

// even replaces what terminals do not agree about. The width of a joined
// picture or a flag depends on whether the terminal counts graphemes or code
// points, and a row that is wider than we think breaks the frame (T26): what
// counts differently is drawn as its first character alone.
func even(line string) string {
	if ascii(line) || ansi.StringWidth(line) == ansi.StringWidthWc(line) && !joined(line) {
		return line
	}
	var b strings.Builder
	for rest := line; rest != ""; {
		cluster, width := ansi.FirstGraphemeCluster(rest, ansi.GraphemeWidth)
		rest = rest[len(cluster):]
		if ansi.StringWidthWc(cluster) == width {
			b.WriteString(cluster)
			continue
		}
		first := string([]rune(cluster)[0])
		if ansi.StringWidth(first) != ansi.StringWidthWc(first) {
			first = "·"
		}
		b.WriteString(first)
	}
	return b.String()
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// joined reports characters whose sums may agree by chance.
func joined(s string) bool { return strings.ContainsAny(s, "\u200d\ufe0f\ufe0e") }
