package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"gatehouse/core/text"
)

// cut returns the columns [from, from+width) of a clean line. A character that
// lies across an edge is left out, a space in its place on the left.
func cut(line string, from, width int) string {
	if width < 1 {
		return ""
	}
	if ascii(line) {
		if from >= len(line) {
			return ""
		}
		return line[from:min(len(line), from+width)]
	}
	if from == 0 && text.Width(line) <= width {
		return line
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
