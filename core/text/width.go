package text

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Width returns how many columns a cleaned line takes on a terminal, measured
// by grapheme as the renderer measures it. A tab has no width: see [ExpandTabs].
func Width(line string) int { return ansi.StringWidth(line) }

// Truncate cuts a cleaned line to at most the given columns, never inside a
// grapheme; a line that was cut ends in [Ellipsis], which is one of the columns.
func Truncate(line string, columns int) string {
	if columns < 1 {
		return ""
	}
	if Width(line) <= columns {
		return line
	}
	// Not ansi.Truncate: it takes ASCII by the byte, so that "#" with a
	// variation selector comes out a column too wide.
	end, used := 0, 0
	for end < len(line) {
		cluster, width := ansi.FirstGraphemeCluster(line[end:], ansi.GraphemeWidth)
		if used+width > columns-1 {
			break
		}
		end += len(cluster)
		used += width
	}
	return line[:end] + Ellipsis
}

// ExpandTabs puts spaces for the tabs of a cleaned line, with a tab stop each
// stop columns; a stop below 1 counts as 1.
func ExpandTabs(line string, stop int) string {
	if !strings.Contains(line, "\t") {
		return line
	}
	stop = max(stop, 1)
	var b strings.Builder
	column := 0
	for i, part := range strings.Split(line, "\t") {
		if i > 0 {
			gap := stop - column%stop
			b.WriteString(strings.Repeat(" ", gap))
			column += gap
		}
		b.WriteString(part)
		column += Width(part)
	}
	return b.String()
}
