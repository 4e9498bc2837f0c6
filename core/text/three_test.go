package text_test

import (
	"strings"
	"testing"

	"gatehouse/core/text"
)

func TestThreeWay(t *testing.T) {
	for name, c := range map[string]struct{ base, theirs, ours, want string }{
		"nothing":                 {"a b c", "a b c", "a b c", ""},
		"theirs alone":            {"a b c", "a x c", "a b c", "   a|-  b|+  x|   c"},
		"ours alone":              {"a b c", "a b c", "a x c", "   a| - b| + x|   c"},
		"both the same":           {"a b c", "a x c", "a x c", "   a|-- b|++ x|   c"},
		"both, differently":       {"a b c", "a x c", "a y c", "   a|!-- b|+  x| + y|   c"},
		"both, in two places":     {"a b c d", "x b c d", "a b c y", "-  a|+  x|   b|   c| - d| + y"},
		"they took it out":        {"a b c", "a c", "a y c", "   a|!-- b| + y|   c"},
		"put in at the end":       {"a", "a x", "a y", "   a|!+  x| + y"},
		"a new file on two sides": {"", "x", "y", "!+  x| + y"},
		"far away":                {"a b c d e f g h", "x b c d e f g h", "a b c d e f g y", "-  a|+  x|   b|…   g| - h| + y"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, l := range text.ThreeWay(strings.Fields(c.base), strings.Fields(c.theirs), strings.Fields(c.ours), contextOf(name)) {
				mark := ""
				if l.Skipped {
					mark = "…"
				}
				if l.Clash {
					mark += "!"
				}
				got = append(got, mark+l.Gutter()+" "+l.Text)
			}
			if joined := strings.Join(got, "|"); joined != c.want {
				t.Errorf("got  %s\nwant %s", joined, c.want)
			}
		})
	}
}

func contextOf(name string) int {
	if name == "far away" {
		return 1
	}
	return 3
}
