package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	zwnj = '\u200c'
	zwj  = '\u200d'

	// dot stands where an invisible character was.
	dot = '·'

	// maxMarks is how many combining marks one base may carry: enough for any
	// living script, too few to write over the lines above.
	maxMarks = 4
)

// settle looks at characters that are harmless or not by their company:
// combining marks and those without a shape of their own. Its input is stripped.
func settle(s string) (shown string, hidden bool) {
	if plain(s) {
		return s, false
	}
	var b strings.Builder
	b.Grow(len(s))
	var base, last rune // the last character that is no mark, and the last of all
	marks := 0
	for i, r := range s {
		next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		switch {
		case invisible(r) && !belongs(r, base, last, next):
			r, base, marks = dot, dot, 0
			hidden = true
		case unicode.Is(unicode.M, r):
			if marks == maxMarks {
				hidden = true
				continue
			}
			marks++
		case !invisible(r):
			base, marks = r, 0
		}
		last = r
		b.WriteRune(r)
	}
	return b.String(), hidden
}

// invisible reports that r has no shape and, in most terminals, no width.
func invisible(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r >= 0x600 && r <= 0x605, r == 0x6dd, r == 0x70f, r == 0x890, r == 0x891, r == 0x8e2, r == 0x110bd, r == 0x110cd:
		return false // number and verse signs: format characters that are drawn
	case r >= 0x13430 && r <= 0x13455:
		return false // the layout of hieroglyphs
	}
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// belongs reports that the invisible r has a task where it stands: it follows
// base, with last directly before it and next directly behind.
func belongs(r, base, last, next rune) bool {
	if invisible(last) && !unicode.Is(unicode.Variation_Selector, last) {
		return false
	}
	switch {
	case r == zwj && emoji(base):
		return emoji(next)
	case unicode.Is(unicode.Variation_Selector, r):
		return last == base && (emoji(base) || keycap(base) || joining(base))
	case r >= '\u200c' && r <= '\u200f', r == '\u061c', r == '\u17b4', r == '\u17b5':
		return joining(base)
	}
	return false
}

// joining reports that r is of a script whose letters take their shape from
// joiners (the cursive ones and the Indic family), or of Hebrew, which shares
// direction marks with the first.
func joining(r rune) bool {
	return r >= 0x590 && unicode.In(
		r,
		unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mandaic, unicode.Mongolian, unicode.Phags_Pa,
		unicode.Adlam, unicode.Hanifi_Rohingya, unicode.Manichaean, unicode.Sogdian, unicode.Chorasmian,
		unicode.Hebrew,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
		unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
	)
}

// emoji reports that r may be a part of a picture joined from several.
func emoji(r rune) bool {
	switch {
	case r < 0x203c:
		return r == '©' || r == '®'
	case r < 0x3000:
		return r == 0x203c || r == 0x2049 || r == 0x2122 || r == 0x2139 || r == 0x24c2 ||
			r >= 0x2194 && r <= 0x21aa || r >= 0x231a && r <= 0x23ff || r >= 0x25aa && r <= 0x25fe ||
			r >= 0x2600 && r <= 0x27bf || r >= 0x2934 && r <= 0x2935 || r >= 0x2b05 && r <= 0x2b55
	case r < 0x1f000:
		return r == 0x3030 || r == 0x303d || r == 0x3297 || r == 0x3299
	}
	return r <= 0x1faff
}

// keycap reports that r can be the key in a picture of a key.
func keycap(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }
