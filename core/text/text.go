// Package text is the one sanitiser: every string that somebody else wrote
// passes it before it reaches a screen, a prompt or an export.
//
// Two forms exist. [CleanLine] is for a name, a title, a row: one line of at
// most n code points. [CleanBlock] is for a body: its lines and tabs are kept.
// Both return the cleaned text and whether something was hidden in it, so that
// the screen can say so; what was hidden is never shown.
//
// What is taken away (skills 7):
//
//   - control characters other than newline and tab, and a carriage return
//     that is not part of a CRLF;
//   - whole terminal sequences (CSI, OSC, DCS, APC, PM, SOS, and the short
//     escapes), in the ESC form, as C1 characters and as bare 8-bit bytes. A
//     string sequence without its end is taken away as far as the end of its
//     line, so that one stray introducer cannot hide the rest of a file. Line
//     breaks inside a sequence stay: line numbers in and out are the same;
//   - bidirectional embeddings, overrides and isolates; tag characters;
//   - combining marks after the fourth on one base.
//
// What is replaced: an invisible character outside emoji and joining scripts
// by U+00B7, a malformed UTF-8 character by U+FFFD.
//
// Cleaning is idempotent, and takes time in proportion to its input whatever
// the input is. It is no guarantee that two different texts look different:
// letters of other alphabets that resemble ours are left alone.
//
// The package is a leaf: it imports nothing of ours, and anyone may import it.
package text

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// NoLimit is the n for a [CleanLine] that is to be one line of any length.
const NoLimit = math.MaxInt

// Ellipsis ends a text that was cut, by [CleanLine] or by [Truncate].
const Ellipsis = "…"

// CleanLine returns s as one line of at most n code points: each run of line
// breaks and tabs, with the spaces around it, becomes one space, both ends are
// trimmed, and a longer text is cut so that it ends in [Ellipsis], which counts
// as one of the n. With n below 1 nothing is left.
//
// The flag says that something was hidden in s; folding and cutting, which the
// reader can see, do not set it.
func CleanLine(s string, n int) (line string, hidden bool) {
	shown, stripped := strip(s)
	shown, settled := settle(fold(shown))
	return limit(shown, n), stripped || settled
}

// CleanBlock returns s with its lines and tabs kept; CRLF becomes LF. The
// number of lines is that of s.
//
// The flag says that something was hidden in s; a CRLF does not set it.
func CleanBlock(s string) (block string, hidden bool) {
	if plain(s) {
		return s, false
	}
	shown, stripped := strip(s)
	shown, settled := settle(shown)
	return shown, stripped || settled
}

// plain reports that s holds printable ASCII, newlines and tabs alone. Most
// text is so, and needs no copy.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' && c != '\n' && c != '\t') || c >= 0x7f {
			return false
		}
	}
	return true
}

// fold makes one line of s.
func fold(s string) string {
	s = strings.TrimSpace(s)
	if !strings.ContainsAny(s, "\n\t") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for len(s) > 0 {
		end := strings.IndexFunc(s, unicode.IsSpace)
		if end < 0 {
			end = len(s)
		}
		b.WriteString(s[:end])
		s = s[end:]

		rest := strings.TrimLeftFunc(s, unicode.IsSpace)
		gap := s[:len(s)-len(rest)]
		if strings.ContainsAny(gap, "\n\t") {
			gap = " "
		}
		b.WriteString(gap)
		s = rest
	}
	return b.String()
}

// limit cuts s to n code points, the last of them an ellipsis.
func limit(s string, n int) string {
	if n < 1 {
		return ""
	}
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	end := 0
	for range n - 1 {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	// A joiner with nothing left to join would be a hidden character of our own making.
	return strings.TrimRight(s[:end], string(zwj)+string(zwnj)) + Ellipsis
}
