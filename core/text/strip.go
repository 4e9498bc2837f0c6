package text

import (
	"strings"
	"unicode/utf8"
)

// The control characters that open, end or break off a terminal sequence.
const (
	bel = 0x07
	can = 0x18
	sub = 0x1a
	esc = 0x1b
	del = 0x7f

	dcs = 0x90
	sos = 0x98
	csi = 0x9b
	st  = 0x9c
	osc = 0x9d
	pm  = 0x9e
	apc = 0x9f
)

// stripper walks over one text and keeps what a terminal would print.
type stripper struct {
	in     string
	pos    int
	out    strings.Builder
	hidden bool

	// openOSC and openString remember how far a search for the end of a
	// sequence has gone in vain, so that no input makes the walk quadratic.
	openOSC, openString int
}

// strip removes terminal sequences, control characters, direction overrides
// and tags, and replaces what is not UTF-8.
func strip(s string) (shown string, hidden bool) {
	if plain(s) {
		return s, false
	}
	p := &stripper{in: s}
	p.out.Grow(len(s))
	for p.pos < len(p.in) {
		p.step()
	}
	return p.out.String(), p.hidden
}

// step consumes one character, or one sequence whole.
func (p *stripper) step() {
	r, size, bad := decode(p.in[p.pos:])
	p.pos += size
	switch {
	case bad && !opens(r):
		p.out.WriteRune(utf8.RuneError)
	case r == '\r' && strings.HasPrefix(p.in[p.pos:], "\n"):
	case r == '\u2028', r == '\u2029':
		// Some programs break the line here, a terminal does not: neither way.
		p.out.WriteByte(' ')
	case r == esc:
		p.hidden = true
		p.escape()
	case opens(r):
		p.hidden = true
		p.sequence(r)
	case r == '\n' || r == '\t' || !removed(r):
		p.out.WriteRune(r)
	default:
		p.hidden = true
	}
}

// decode returns the first character of s and its length in bytes. A malformed
// character (an encoded surrogate, an overlong or a broken form) is bad and one
// piece; a stray continuation byte is bad, and r its value, for it may be the
// 8-bit form of a control character.
func decode(s string) (r rune, size int, bad bool) {
	r, size = utf8.DecodeRuneInString(s)
	if r != utf8.RuneError || size != 1 {
		return r, size, false
	}
	lead := s[0]
	if lead < 0xc0 {
		return rune(lead), 1, true
	}
	want := 1
	switch {
	case lead >= 0xf8:
	case lead >= 0xf0:
		want = 4
	case lead >= 0xe0:
		want = 3
	default:
		want = 2
	}
	for size < want && size < len(s) && s[size]&0xc0 == 0x80 {
		size++
	}
	return utf8.RuneError, size, true
}

// opens reports that r is the C1 form of a sequence's introducer.
func opens(r rune) bool {
	switch r {
	case csi, osc, dcs, sos, pm, apc:
		return true
	}
	return false
}

// removed reports that r never reaches a screen. Newline and tab are for the
// caller to except.
func removed(r rune) bool {
	switch {
	case r < ' ', r >= del && r <= apc:
		return true
	case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
		return true // embeddings, overrides, isolates
	case r >= 0xe0000 && r <= 0xe007f:
		return true // tags
	}
	return false
}

// escape consumes what follows an ESC.
func (p *stripper) escape() {
	p.pos = p.skip(p.pos, 1, 0)
	if p.pos == len(p.in) {
		return
	}
	// ESC and a character of column 4 or 5 is the 7-bit form of a C1.
	if c := p.in[p.pos]; c >= '@' && c <= '_' {
		p.pos++
		p.sequence(rune(c) + 0x40)
		return
	}
	p.pos = p.skip(p.pos, ' ', '/')
	if p.pos < len(p.in) && p.in[p.pos] >= '0' && p.in[p.pos] < del {
		p.pos++
	}
}

// sequence consumes what belongs to a C1 that has been consumed itself.
func (p *stripper) sequence(r rune) {
	switch r {
	case csi:
		p.control()
	case osc:
		p.str(&p.openOSC, true)
	case dcs, sos, pm, apc:
		p.str(&p.openString, false)
	}
}

// control consumes the parameters and the final character of a CSI. A line
// break or anything else that has no place there ends it.
func (p *stripper) control() {
	p.pos = p.skip(p.pos, '0', '?')
	p.pos = p.skip(p.pos, ' ', '/')
	if p.pos < len(p.in) && (p.in[p.pos] == can || p.in[p.pos] == sub || p.in[p.pos] >= '@' && p.in[p.pos] < del) {
		p.pos++
	}
}

// skip returns the first position from i on whose byte is not in [low, high],
// a range that may be empty.
// Control characters are passed over: terminals obey them and go on with the
// sequence, so they must not be a way to break one open.
func (p *stripper) skip(i int, low, high byte) int {
	for i < len(p.in) {
		c := p.in[i]
		inert := c < ' ' && c != '\n' && c != '\t' && c != esc && c != can && c != sub || c == del
		if !inert && (c < low || c > high) {
			break
		}
		i++
	}
	return i
}

// str consumes a string sequence: whole if it has an end, else as far as the
// line goes. open is where the last search for this kind of end stopped in vain.
func (p *stripper) str(open *int, belEnds bool) {
	end, next := *open, *open
	found := false
	if p.pos >= *open {
		end, next, found = p.terminator(belEnds)
	}
	body := p.in[p.pos:end]
	if !found {
		*open = end
		if i := strings.IndexByte(body, '\n'); i >= 0 {
			p.pos += i
			return
		}
		p.pos = next
		return
	}
	for range strings.Count(body, "\n") {
		p.out.WriteByte('\n')
	}
	p.pos = next
}

// terminator finds where the string sequence at pos stops: the position of its
// terminator, the one after it, and whether it is a terminator rather than
// something that breaks the sequence off, or the end of the text.
func (p *stripper) terminator(belEnds bool) (end, next int, found bool) {
	for i := p.pos; i < len(p.in); {
		r, size, _ := decode(p.in[i:])
		switch {
		case r == st, r == bel && belEnds:
			return i, i + size, true
		case r == esc && strings.HasPrefix(p.in[i+1:], `\`):
			return i, i + 2, true
		case r == esc, r == can, r == sub:
			return i, i, false
		}
		i += size
	}
	return len(p.in), len(p.in), false
}
