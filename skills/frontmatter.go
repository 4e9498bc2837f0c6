package skills

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of what stands between the fences.
const (
	headBytes = 16 << 10
	headLines = 200
)

// Frontmatter is what the head of a skill says. The zero value may be called by
// nobody.
type Frontmatter struct {
	Name          string
	Description   string // trimmed
	License       string
	Compatibility string
	// ArgumentHint is the rest of its line as it stands; a value that is one
	// whole quoted scalar is shown without its quotes.
	ArgumentHint string
	AllowedTools []string
	Metadata     map[string]string
	// UserInvocable reports that people may call the skill as a command.
	UserInvocable bool
	// ModelInvocable reports that the catalog may offer the skill to a model.
	ModelInvocable bool
	// Opaque holds, in order, what is kept and never read: unknown keys, and
	// what lies deeper under metadata.
	Opaque []Opaque
}

// Opaque is the raw text of an entry that is not read.
type Opaque struct {
	Key  string // "metadata.checks" for what lies under metadata
	Line int
	Raw  string
}

// Scalar is a value that was read, with its place.
type Scalar struct {
	Key          string // "metadata.owner" under metadata, "allowed-tools" for each tool of a list
	Text         string // exactly as YAML means it
	Line, Column int
}

// Parsed is a file taken apart.
type Parsed struct {
	Frontmatter Frontmatter
	Scalars     []Scalar // what was read, in the order of the file
	Faults      []Fault  // in the order of the file
	// Body is the offset in the file of the first byte after the closing fence.
	Body int
}

// Valid reports that no fault is an error.
func (p Parsed) Valid() bool { return !refused(p.Faults) }

// Parse reads the head of a skill. It reports every fault at once and guesses
// nothing; what it returns beside errors is what could still be read.
func Parse(file []byte) Parsed {
	h := head{seen: map[string]int{}}
	body, found := h.cut(file)
	if found {
		h.entries()
		h.judge()
	}
	sortFaults(h.faults)
	return Parsed{Frontmatter: h.fm, Scalars: h.scalars, Faults: h.faults, Body: body}
}

// head is a parser's state: the lines between the fences, and what was found.
type head struct {
	lines []string // without line breaks; lines[0] is line 2 of the file
	next  int      // index of the line to read

	fm      Frontmatter
	seen    map[string]int // line on which a key stood first
	faulty  []string       // keys whose value has been complained about
	places  []Scalar       // of the values that judge looks at
	scalars []Scalar
	faults  []Fault
}

// firstLine is the file's line of lines[0].
const firstLine = 2

func (h *head) line(index int) int { return index + firstLine }

func (h *head) fault(line, column int, code FaultCode, reason, repair string) {
	h.faults = append(h.faults, Fault{Line: line, Column: column, Code: code, Reason: reason, Repair: repair})
}

// cut finds the fences and sets the lines. It returns where the body begins,
// and whether there is a head to read.
func (h *head) cut(file []byte) (body int, found bool) {
	h.checkUTF8(file)
	rest := bytes.TrimPrefix(file, []byte("\uFEFF"))
	start := len(file) - len(rest)

	first, size := cutLine(rest)
	if !fence(first) {
		h.fault(1, 1, FaultMissing, "the file does not begin with a line ---", "write ---, name, description and --- at the top")
		return 0, false
	}
	rest = rest[size:]
	inside := 0
	for len(rest) > 0 {
		line, size := cutLine(rest)
		if fence(line) {
			if inside > headBytes || len(h.lines) > headLines {
				h.fault(1, 1, FaultTooLarge,
					"the frontmatter has "+strconv.Itoa(inside)+" bytes in "+strconv.Itoa(len(h.lines))+" lines, at most 16384 in 200",
					"move what is not name, description or settings below the closing ---")
				h.lines = nil
				return len(file) - len(rest) + size, false
			}
			return len(file) - len(rest) + size, true
		}
		inside += len(line) + 1
		if inside <= headBytes && len(h.lines) <= headLines {
			h.lines = append(h.lines, strings.ToValidUTF8(string(line), "\uFFFD"))
		} else {
			h.lines = append(h.lines, "") // counted, and not kept
		}
		rest = rest[size:]
	}
	h.lines = nil
	h.fault(1, 1, FaultUnclosed, "the frontmatter has no closing line ---", "write --- at the start of a line, above the text of the skill")
	return start, false
}

// cutLine returns the first line without its break, and its size with it.
func cutLine(b []byte) (line []byte, size int) {
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		return b, len(b)
	}
	return bytes.TrimSuffix(b[:end], []byte("\r")), end + 1
}

func fence(line []byte) bool {
	after, found := bytes.CutPrefix(line, []byte("---"))
	return found && len(bytes.TrimRight(after, " ")) == 0
}

// checkUTF8 reports the first byte that is not UTF-8, wherever it stands.
func (h *head) checkUTF8(file []byte) {
	if utf8.Valid(file) {
		return
	}
	offset := 0
	for {
		r, size := utf8.DecodeRune(file[offset:])
		if r == utf8.RuneError && size <= 1 {
			break
		}
		offset += size
	}
	before := file[:offset]
	line := bytes.Count(before, []byte("\n")) + 1
	start := bytes.LastIndexByte(before, '\n') + 1
	column := utf8.RuneCount(bytes.TrimPrefix(before[start:], []byte("\uFEFF"))) + 1
	h.faults = append(h.faults, Fault{
		Line: line, Column: column, Code: FaultNotUTF8, Offset: offset,
		Reason: "byte " + strconv.Itoa(offset) + " of the file is not UTF-8",
		Repair: "save the file as UTF-8",
	})
}

// forbidden returns the index of the first character of a line that no
// frontmatter may hold: control characters, which hide things, and the line
// breaks that some parsers know and some do not.
func forbidden(line string) int {
	for i, r := range line {
		switch {
		case r == '\t':
		case r < ' ', r >= 0x7f && r < 0xa0, r == '\u2028', r == '\u2029', r == '\uFEFF', r == '\uFFFE', r == '\uFFFF':
			return i
		}
	}
	return -1
}

// column turns a byte index of a line into a column.
func column(line string, index int) int { return utf8.RuneCountInString(line[:index]) + 1 }

// indent counts the spaces a line begins with.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// blank reports a line of spaces alone.
func blank(line string) bool { return strings.TrimLeft(line, " ") == "" }

// comment reports a line that is nothing but a comment.
func comment(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " "), "#") }
