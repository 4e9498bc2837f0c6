package skills

import (
	"strconv"
	"strings"
)

// entry is a key with all that belongs to it.
type entry struct {
	key   string
	path  string // the key, or "metadata.key"
	index int    // of its line
	shift int    // columns taken off the left of its lines
	// line is the whole line, value its rest after the colon and at where that
	// begins, in bytes.
	line  string
	value string
	at    int
	// children are the lines below that may belong to the key: blank, comments
	// and deeper ones.
	children []string
}

func (e entry) isEmpty() bool { return e.value == "" || e.value[0] == '#' }

// content returns the index in children of the first line that is neither blank
// nor a comment.
func (e entry) content() (int, bool) {
	for i, line := range e.children {
		if !blank(line) && !comment(line) {
			return i, true
		}
	}
	return 0, false
}

// own is a fault on the line of the key, at the byte index.
func (e entry) own(h *head, index int, code FaultCode, reason, repair string) *Fault {
	return &Fault{Line: h.line(e.index), Column: e.shift + column(e.line, index), Code: code, Reason: reason, Repair: repair}
}

// child is a fault on a line below the key, at the byte index.
func (e entry) child(h *head, i, index int, code FaultCode, reason, repair string) *Fault {
	return &Fault{
		Line: h.line(e.index + 1 + i), Column: e.shift + column(e.children[i], index), Code: code, Reason: reason, Repair: repair,
	}
}

// entries reads all lines.
func (h *head) entries() {
	h.fm.UserInvocable, h.fm.ModelInvocable = true, true
	h.scrub()
	for h.next < len(h.lines) {
		line := h.lines[h.next]
		switch {
		case blank(line), comment(line):
			h.next++
		case indent(line) > 0:
			h.fault(h.line(h.next), indent(line)+1, FaultIndent, "an indented line that belongs to no key", "move it to the start of the line, or below the key it belongs to")
			h.skipIndented()
		default:
			e, bad := h.entryAt(h.next)
			if bad != nil {
				h.faults = append(h.faults, *bad)
				h.skipIndented()
				continue
			}
			h.next += 1 + len(e.children)
			h.read(e)
		}
	}
}

// scrub reports what no line may hold, and puts something harmless in its
// place so that the rest can be read.
func (h *head) scrub() {
	for i, line := range h.lines {
		spaces := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		if tab := strings.IndexByte(spaces, '\t'); tab >= 0 {
			h.fault(h.line(i), tab+1, FaultTab, "a tab where the line is indented", "indent with spaces")
			line = strings.ReplaceAll(spaces, "\t", " ") + line[len(spaces):]
		}
		for bad := forbidden(line); bad >= 0; bad = forbidden(line) {
			if !strings.Contains(line[:bad], "\uFFFD") {
				h.fault(h.line(i), column(line, bad), FaultLine, "a control character or a line break of another alphabet", "delete the character")
			}
			r := []rune(line[bad:])
			line = line[:bad] + "\uFFFD" + string(r[1:])
		}
		h.lines[i] = line
	}
}

func (h *head) skipIndented() {
	for h.next++; h.next < len(h.lines); h.next++ {
		if line := h.lines[h.next]; !blank(line) && indent(line) == 0 {
			return
		}
	}
}

// keyEnd returns the length of the key a line begins with.
func keyEnd(line string) int {
	for i := range len(line) {
		c := line[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || !(c >= '0' && c <= '9' || c == '.' || c == '-')) {
			return i
		}
	}
	return len(line)
}

const keyLimit = 64

// entryAt takes the line and what belongs to it.
func (h *head) entryAt(index int) (entry, *Fault) {
	e, bad := keyOf(h, h.lines[index], index, 0)
	if bad != nil {
		return e, bad
	}
	e.children = belonging(h.lines[index+1:], e.isEmpty())
	return e, nil
}

// keyOf takes a line at the start of which a key is to stand.
func keyOf(h *head, line string, index, shift int) (entry, *Fault) {
	e := entry{index: index, shift: shift, line: line}
	end := keyEnd(line)
	colon := colonAt(line)
	switch {
	case end > 0 && end < len(line) && line[end] == ':' && colon != end:
		e.key = line[:end]
		h.remember(e.key, index)
		h.faulty = append(h.faulty, e.key)
		return e, e.own(h, end, FaultLine, "no space after the colon", "write "+e.key+": and a space before the value")
	case colon < 0:
		return e, e.own(h, 0, FaultLine, "the line is not of the form key: value", "write a key, a colon and a value, or delete the line")
	case colon != end || end == 0:
		return e, e.own(h, min(end, len(line)-1), FaultKey, "the key holds a character that keys may not have", "use letters, digits, _ . and - in the key, beginning with a letter")
	case end > keyLimit:
		return e, e.own(h, keyLimit, FaultKey, "the key has more than 64 characters", "use a shorter key")
	}
	e.key, e.path = line[:end], line[:end]
	rest := line[end+1:]
	if spaces := rest[:len(rest)-len(strings.TrimLeft(rest, " \t"))]; strings.Contains(spaces, "\t") {
		h.faults = append(h.faults, *e.own(h, end+1+strings.IndexByte(spaces, '\t'), FaultTab, "a tab after the colon", "write one space after the colon"))
	}
	e.value = strings.Trim(rest, " \t")
	e.at = end + 1
	if e.value != "" {
		e.at = len(line) - len(strings.TrimLeft(rest, " \t"))
	}
	return e, nil
}

// colonAt returns the index of the first colon that ends a key: one before a
// blank or at the end of s.
func colonAt(s string) int {
	for i := range len(s) {
		if s[i] == ':' && (i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\t') {
			return i
		}
	}
	return -1
}

// listItem reports a line that begins with the dash of a list.
func listItem(line string) bool {
	line = strings.TrimLeft(line, " ")
	return line == "-" || strings.HasPrefix(line, "- ")
}

// belonging returns the lines that belong to a key above them. A list may stand
// as far left as its key if the key has no value of its own.
func belonging(lines []string, empty bool) []string {
	end := 0
	for i, line := range lines {
		switch {
		case blank(line):
			if end == i {
				end++
			}
		case indent(line) > 0, empty && listItem(line):
			end = i + 1
		case !comment(line):
			return lines[:end]
		}
	}
	return lines[:end]
}

func (h *head) remember(key string, index int) (first int, again bool) {
	if first, again = h.seen[key]; !again {
		h.seen[key] = h.line(index)
	}
	return first, again
}

// duplicate reports a key that stood before.
func (h *head) duplicate(e entry) bool {
	first, again := h.remember(e.path, e.index)
	if again {
		line := h.line(e.index)
		h.faults = append(h.faults, Fault{
			Line: line, Column: e.shift + 1, Code: FaultDupKey, FirstLine: first,
			Reason: "key " + e.key + " stands on line " + strconv.Itoa(first) + " and on line " + strconv.Itoa(line),
			Repair: "keep one of the two",
		})
	}
	return again
}

// read gives the entry to whoever reads its key.
func (h *head) read(e entry) {
	required := e.key == "name" || e.key == "description"
	again := h.duplicate(e)
	if again || !required {
		if !h.closed(e) {
			return
		}
	}
	if again {
		return
	}
	switch e.key {
	case "name", "description":
		h.required(e)
	case "license", "compatibility", "user-invocable", "disable-model-invocation":
		if s, ok := h.optional(e); ok {
			h.keep(s)
		}
	case "allowed-tools":
		h.tools(e)
	case "argument-hint":
		h.hint(e)
	case "metadata":
		h.metadata(e)
	default:
		h.opaque(e)
	}
}

func (h *head) keep(s Scalar) {
	h.scalars = append(h.scalars, s)
	h.places = append(h.places, s)
}

// required reads a value without which there is no skill.
func (h *head) required(e entry) {
	s, bad := h.scalar(e)
	if bad == nil {
		h.keep(s)
		return
	}
	h.faulty = append(h.faulty, e.key)
	h.faults = append(h.faults, *bad)
	if bad.Code == FaultMultilineQuote {
		h.skipQuoted(e.value[:1])
	}
}

// skipQuoted passes over the lines of a quote that was to go on below, as far
// as they are no entries of their own.
func (h *head) skipQuoted(quote string) {
	for ; h.next < len(h.lines); h.next++ {
		line := h.lines[h.next]
		if end := keyEnd(line); end > 0 && colonAt(line) == end {
			return
		}
		if strings.Contains(line, quote) {
			h.next++
			return
		}
	}
}

// optional reads a value that may be missing: what cannot be read is said and
// not used.
func (h *head) optional(e entry) (Scalar, bool) {
	s, bad := h.scalar(e)
	if bad != nil {
		h.unread(e, bad)
		return s, false
	}
	return s, true
}

func (h *head) unread(e entry, why *Fault) {
	h.fault(why.Line, why.Column, FaultUnread, e.path+" is not used: "+why.Reason, why.Repair)
}

func (h *head) opaque(e entry) {
	raw := e.line
	if below := strings.TrimRight(strings.Join(e.children, "\n"), "\n "); below != "" {
		raw += "\n" + below
	}
	h.fm.Opaque = append(h.fm.Opaque, Opaque{Key: e.path, Line: h.line(e.index), Raw: raw})
}
