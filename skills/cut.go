package skills

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"gatehouse/core/text"
)

// capped returns s as one clean line of at most n code points. A longer one
// ends, behind a whole grapheme, in an ellipsis that counts as one of the n.
func capped(s string, n int) string {
	line := oneLine(s)
	if utf8.RuneCountInString(line) <= n {
		return line
	}
	var b strings.Builder
	room := n - 1
	for rest, state := line, -1; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if room -= utf8.RuneCountInString(cluster); room < 0 {
			break
		}
		b.WriteString(cluster)
	}
	return b.String() + text.Ellipsis
}
