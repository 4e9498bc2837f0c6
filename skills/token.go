package skills

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// TokenLimit is how long a token is at most, in code points. A longer run is
// several tokens, one after the other.
const TokenLimit = 64

// Tokens returns the tokens of s in order, repeats included. Two texts that
// mean the same to a reader have the same tokens: they are compared in NFKC,
// case folded, without what cannot be seen. A token is a run of letters, marks
// and digits; in scripts written without blanks it is two characters of the
// run, each pair, or the one character of a run of one.
func Tokens(s string) []string {
	s = normalise(s)
	tokens := make([]string, 0, len(s)/6+1)
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf && !wordByte(c) {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case paired(r):
			end := runEnd(s, i, paired)
			tokens = appendPairs(tokens, s[i:end])
			i = end
		case wordRune(r):
			end := runEnd(s, i, func(r rune) bool { return wordRune(r) && !paired(r) })
			tokens = appendPieces(tokens, s[i:end])
			i = end
		default:
			i += size
		}
	}
	return tokens
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z'
}

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return wordByte(byte(r))
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd)
}

// paired reports a character of a script written without blanks.
func paired(r rune) bool {
	if r < 0x0e00 {
		return false
	}
	// The mark that makes a Kana vowel long is of no script of its own.
	return r == '\u30fc' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) && unicode.In(r, unicode.L, unicode.M, unicode.N)
}

func runEnd(s string, i int, in func(rune) bool) int {
	for i < len(s) {
		c := s[i]
		if c < utf8.RuneSelf {
			if !in(rune(c)) {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !in(r) {
			return i
		}
		i += size
	}
	return i
}

func appendPairs(tokens []string, run string) []string {
	_, first := utf8.DecodeRuneInString(run)
	if first == len(run) {
		return append(tokens, run)
	}
	for start, middle := 0, first; middle < len(run); {
		_, size := utf8.DecodeRuneInString(run[middle:])
		tokens = append(tokens, run[start:middle+size])
		start, middle = middle, middle+size
	}
	return tokens
}

func appendPieces(tokens []string, run string) []string {
	for len(run) > TokenLimit && utf8.RuneCountInString(run) > TokenLimit {
		end := 0
		for range TokenLimit {
			_, size := utf8.DecodeRuneInString(run[end:])
			end += size
		}
		tokens = append(tokens, run[:end])
		run = run[end:]
	}
	return append(tokens, run)
}

// normalise brings a text into the form in which texts are compared.
func normalise(s string) string {
	if ascii(s) {
		return strings.ToLower(s)
	}
	if strings.ContainsFunc(s, ignorable) {
		s = strings.Map(func(r rune) rune {
			if ignorable(r) {
				return -1
			}
			return r
		}, s)
	}
	// Folding leaves NFKC now and then, and the form of what it leaves may fold again.
	s = norm.NFKC.String(cases.Fold().String(norm.NFKC.String(s)))
	return norm.NFKC.String(cases.Fold().String(s))
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// ignorable reports a code point that Unicode wants displayed as nothing.
func ignorable(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x3164, r == 0xfeff, r == 0xffa0,
		r >= 0x115f && r <= 0x1160, r >= 0x17b4 && r <= 0x17b5, r >= 0x180b && r <= 0x180f,
		r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f,
		r >= 0xfe00 && r <= 0xfe0f, r >= 0xfff0 && r <= 0xfff8,
		r >= 0x1bca0 && r <= 0x1bca3, r >= 0x1d173 && r <= 0x1d17a, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}
