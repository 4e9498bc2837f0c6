package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// cut returns the columns [from, from+width) of a clean line. A character that
// lies across an edge is left out, a space in its place on the left.
func cut(line string, from, width int) string {
	if from == 0 && columns(line) <= width {
		return line
	}
	if width < 1 {
		return ""
	}
	if ascii(line) {
		if from >= len(line) {
			return ""
		}
		return line[from:min(len(line), from+width)]
	}
	var b strings.Builder
	at := 0
	for rest := line; rest != "" && at < from+width; {
		cluster, w := ansi.FirstGraphemeCluster(rest, ansi.GraphemeWidth)
		rest = rest[len(cluster):]
		switch {
		case at >= from && at+w <= from+width:
			b.WriteString(cluster)
		case at < from && at+w > from:
			b.WriteString(spaces(at + w - from))
		}
		at += w
	}
	return b.String()
}
