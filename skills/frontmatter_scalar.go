package skills

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	repairQuote = "put the value in double quotes"
	repairBlock = "write >- after the key and the text on indented lines below"
)

// scalar reads the one value of an entry.
func (h *head) scalar(e entry) (Scalar, *Fault) {
	s := Scalar{Key: e.path, Line: h.line(e.index), Column: e.shift + column(e.line, e.at)}
	var bad *Fault
	first, below := e.content()
	switch {
	case e.isEmpty() && below && e.path == "description":
		return h.paragraph(e)
	case e.isEmpty() && below:
		return s, e.notOnLine(h, first)
	case e.isEmpty():
		return s, nil
	case e.value[0] == '"', e.value[0] == '\'':
		s.Text, bad = h.quoted(e)
		if raw := e.value[1:]; bad == nil && strings.HasPrefix(raw, s.Text) {
			s.Column++ // no escapes before the end: text and line run in step
		}
	case e.value[0] == '|', e.value[0] == '>':
		return h.block(e)
	default:
		s.Text, bad = h.plain(e)
	}
	if bad == nil && below {
		bad = e.child(h, first, indent(e.children[first]), FaultIndent, e.key+" goes on below its line", repairBlock)
	}
	return s, bad
}

// notOnLine says why what stands below a key is not its value.
func (e entry) notOnLine(h *head, first int) *Fault {
	line := e.children[first]
	text := line[indent(line):]
	if end := keyEnd(text); listItem(line) || strings.ContainsRune("[{", rune(text[0])) || end > 0 && colonAt(text) == end {
		return e.child(h, first, indent(line), FaultNotScalar, e.key+" is a list or a map, and must be one value", "write one value on the line of "+e.key)
	}
	return e.child(h, first, indent(line), FaultIndent, "the value of "+e.key+" is not on its line", "move it up, after "+e.key+":")
}

// plain reads a value without quotes.
func (h *head) plain(e entry) (string, *Fault) {
	text := beforeComment(e.value)
	if bad := badStart(text); bad != nil {
		if bad.Code == FaultNotScalar {
			bad.Reason = e.key + bad.Reason
		}
		return "", e.own(h, e.at, bad.Code, bad.Reason, bad.Repair)
	}
	if colon := colonAt(text); colon >= 0 {
		return "", e.own(h, e.at+colon, FaultColon, "a colon and a blank in a value without quotes", repairQuote)
	}
	return text, nil
}

// beforeComment cuts a plain value where a comment begins.
func beforeComment(s string) string {
	for i := 1; i < len(s); i++ {
		if s[i] == '#' && (s[i-1] == ' ' || s[i-1] == '\t') {
			return strings.TrimRight(s[:i], " \t")
		}
	}
	return s
}

// badStart says why a plain value may not start as it does.
func badStart(s string) *Fault {
	quoted := strconv.Quote(s[:1])
	switch s[0] {
	case '[', '{':
		if after, closes := flowEnd(s); closes && after != "" {
			break
		}
		return &Fault{Code: FaultNotScalar, Reason: " is a list or a map, and must be one value", Repair: "write one value, in double quotes if it begins with " + quoted}
	case '&', '*':
		return &Fault{Code: FaultAlias, Reason: "a value that begins with " + quoted + " is a reference to another place", Repair: repairQuote}
	case '!', '%', '@', '`', ']', '}', ',', '?', '|', '>', '#', '"', '\'':
	case '-':
		if s != "-" && s[1] != ' ' && s[1] != '\t' {
			return nil
		}
	default:
		return nil
	}
	return &Fault{Code: FaultIndicator, Reason: "a value without quotes begins with " + quoted, Repair: repairQuote}
}

// quoted reads a value in quotes, which must end on its line.
func (h *head) quoted(e entry) (string, *Fault) {
	read := doubleQuoted
	if e.value[0] == '\'' {
		read = singleQuoted
	}
	q := read(e.value)
	switch {
	case !q.closed:
		return "", e.own(h, e.at, FaultMultilineQuote, "a quote that does not end on its line", "end it on its line; or "+repairBlock)
	case !endOfValue(q.rest):
		return "", e.own(h, e.at, FaultIndicator, "text behind the closing quote", "put the whole value in double quotes, with \\\" for those inside")
	case q.bad != "":
		return "", e.own(h, e.at+q.badAt, FaultBadEscape, q.bad, `use \\ \" \/ \n \t \r \xHH \uHHHH or \UHHHHHHHH, or single quotes`)
	}
	return q.text, nil
}

// endOfValue reports that nothing but a comment follows.
func endOfValue(rest string) bool {
	trimmed := strings.TrimLeft(rest, " \t")
	return trimmed == "" || trimmed[0] == '#' && len(trimmed) < len(rest)
}

// quotation is what was found behind an opening quote.
type quotation struct {
	text   string
	rest   string // what follows the closing quote
	closed bool
	bad    string // what is wrong with an escape, and where
	badAt  int
}

func singleQuoted(s string) quotation {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] == '\'' {
			if i+1 == len(s) || s[i+1] != '\'' {
				return quotation{text: b.String(), rest: s[i+1:], closed: true}
			}
			i++
		}
		b.WriteByte(s[i])
	}
	return quotation{}
}

func doubleQuoted(s string) quotation {
	var b strings.Builder
	var q quotation
	for i := 1; i < len(s); {
		switch s[i] {
		case '"':
			q.text, q.rest, q.closed = b.String(), s[i+1:], true
			return q
		case '\\':
			r, size, bad := escape(s[i:])
			if bad != "" && q.bad == "" {
				q.bad, q.badAt = bad, i
			}
			b.WriteRune(r)
			i += size
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return quotation{}
}

// escape decodes the escape that s begins with. After a bad one, size is what
// to pass over so that a quote behind it still counts.
func escape(s string) (r rune, size int, bad string) {
	if len(s) < 2 {
		return 0, len(s), "a backslash at the end"
	}
	digits := 0
	switch s[1] {
	case '\\', '"', '/':
		return rune(s[1]), 2, ""
	case 'n':
		return '\n', 2, ""
	case 't':
		return '\t', 2, ""
	case 'r':
		return '\r', 2, ""
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		_, n := utf8.DecodeRuneInString(s[1:])
		return 0, 1 + n, "an escape that is not known"
	}
	if len(s) < 2+digits {
		return 0, 2, "an escape with too few digits"
	}
	n, err := strconv.ParseUint(s[2:2+digits], 16, 32)
	switch {
	case err != nil:
		return 0, 2, "an escape with too few digits"
	case n >= 0xD800 && n < 0xE000:
		return 0, 2 + digits, "an escape for half a surrogate pair"
	case n > utf8.MaxRune:
		return 0, 2 + digits, "an escape for no character"
	case n < ' ' || n >= 0x7f && n < 0xa0:
		return 0, 2 + digits, "an escape for a control character"
	}
	return rune(n), 2 + digits, ""
}
