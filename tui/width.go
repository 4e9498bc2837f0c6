package tui

import "gatehouse/core/text"

// columns is text.Width with a short way for the characters that frames are
// made of: ASCII, and the signs and lines of our own, each one column wide.
func columns(s string) int {
	n := 0
	for _, r := range s {
		if r >= 0x80 && !narrow(r) {
			return text.Width(s)
		}
		n++
	}
	return n
}

// narrow reports one of our own signs. None of them joins with what follows: a
// mark that would is not among them, and leads to the long way.
func narrow(r rune) bool {
	switch {
	case r >= 0x2500 && r <= 0x25cf: // lines, blocks, shapes
		return true
	case r >= 0x2013 && r <= 0x201d: // dashes, quotes
		return true
	}
	switch r {
	case '·', '…', '→', '↓', '↑', '✓', '✗', '≠', '⊘', '↶':
		return true
	}
	return false
}
