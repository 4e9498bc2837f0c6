package skills

import "strings"

// What is not read must still end where it seems to end: a quote or a bracket
// that is left open in an unread value would take in the lines below it for
// every other reader, and the two would disagree about the name of the skill.

// closed reports that nothing opened in the entry is open at its end, and
// complains if something is.
func (h *head) closed(e entry) bool {
	var o openings
	o.line(e.value, 0)
	for _, line := range e.children {
		o.below(line)
	}
	if !o.open() {
		return true
	}
	h.faulty = append(h.faulty, e.key)
	h.faults = append(h.faults, *e.own(h, e.at, FaultMultilineQuote, "a quote or bracket in "+e.key+" that is not closed", "close it before the next key"))
	h.skipQuoted(o.closers())
	return false
}

// flowEnd returns what follows the list or map that s begins with, without its
// comment, and whether that ends in s.
func flowEnd(s string) (after string, closes bool) {
	var o openings
	for i := 0; i < len(s); {
		if i = min(o.step(s, i), len(s)); o.open() {
			continue
		}
		if endOfValue(s[i:]) {
			return "", true
		}
		return s[i:], true
	}
	return "", false
}

// openings follows quotes and brackets through the lines of a value.
type openings struct {
	depth int
	quote byte
	plain bool // inside text that no quote or bracket opens
	block int  // lines indented more than this are a block's text; see inBlock
	skip  bool
}

func (o *openings) open() bool { return o.depth > 0 || o.quote != 0 }

func (o *openings) closers() string {
	if o.quote != 0 {
		return string(o.quote)
	}
	return "]"
}

// below takes a line below the key.
func (o *openings) below(line string) {
	if o.skip {
		if blank(line) || indent(line) > o.block {
			return
		}
		o.skip = false
	}
	o.line(line[indent(line):], indent(line))
}

// line takes a line whose text begins at the given column.
func (o *openings) line(s string, column int) {
	if !o.open() {
		o.plain = false
	}
	parent := column
	for i := 0; i < len(s); {
		if !o.open() && !o.plain {
			switch {
			case s[i] == ' ' || s[i] == '\t':
				i++
				continue
			case s[i] == '#' && (i == 0 || s[i-1] == ' ' || s[i-1] == '\t'):
				return
			case listItem(s[i:]) || strings.HasPrefix(s[i:], "? "):
				parent = column + i
				i++
				if rest := strings.TrimLeft(s[i:], " "); rest != "" && !isBlockHeader(rest) {
					parent = column + len(s) - len(rest)
				}
				continue
			case s[i] == '&' || s[i] == '!':
				i = wordEnd(s, i)
				continue
			case isBlockHeader(s[i:]):
				o.skip, o.block = true, parent
				return
			}
		}
		i = o.step(s, i)
	}
}

// wordEnd returns the index of the blank behind the word at i.
func wordEnd(s string, i int) int {
	end := strings.IndexAny(s[i:], " \t")
	if end < 0 {
		return len(s)
	}
	return i + end
}

// isBlockHeader reports that s is the head of a block and nothing else.
func isBlockHeader(s string) bool {
	if s == "" || s[0] != '|' && s[0] != '>' {
		return false
	}
	return endOfValue(strings.TrimLeft(s[1:], "+-0123456789"))
}

// step takes the character at i, and returns the index of the next.
func (o *openings) step(s string, i int) int {
	c := s[i]
	blankBefore := i == 0 || s[i-1] == ' ' || s[i-1] == '\t'
	switch {
	case o.quote == '"':
		if c == '\\' {
			return i + 2
		}
		if c == '"' {
			o.quote, o.plain = 0, true
		}
	case o.quote == '\'':
		if c == '\'' && i+1 < len(s) && s[i+1] == '\'' {
			return i + 2
		}
		if c == '\'' {
			o.quote, o.plain = 0, true
		}
	case c == '#' && blankBefore:
		return len(s)
	case !o.plain && (c == '"' || c == '\''):
		o.quote = c
	case (c == '[' || c == '{') && (o.depth > 0 || !o.plain):
		o.depth++
		o.plain = false
	case (c == ']' || c == '}') && o.depth > 0:
		o.depth--
		o.plain = true
	case c == ',' && o.depth > 0:
		o.plain = false
	case c == ':' && (o.depth > 0 || i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\t'):
		o.plain = false
	case c == ' ' || c == '\t':
	case o.depth > 0 && !o.plain && (c == '&' || c == '!'):
		if end := strings.IndexAny(s[i:], " \t,[]{}"); end > 0 {
			return i + end // a quote may follow
		}
		return len(s)
	case o.depth > 0 && !o.plain && (c == '-' || c == '?'):
	default:
		o.plain = true
	}
	return i + 1
}
