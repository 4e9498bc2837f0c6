package skills

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gatehouse/core/text"
)

const (
	snippetLimit  = 160 // code points
	snippetBefore = 40  // bytes of text kept before the token, about
	snippetWindow = 1600
)

// snippet shows where a document speaks of the query: its description if a
// token stands there, else its body, else the description's beginning. It looks
// at this document and the query, and at nothing else.
func snippet(t Terms, description string, body []byte) string {
	if _, found := t.locate(description); found {
		return oneLineOf(description)
	}
	b := string(searched(body))
	at, found := t.locate(b)
	switch {
	case found:
		return around(b, at)
	case description != "":
		return oneLineOf(description)
	}
	return around(b, 0)
}

func oneLineOf(s string) string { return capped(s, snippetLimit) }

// around cuts the text so that the place is near its beginning.
func around(s string, at int) string {
	start := max(at-snippetBefore, 0)
	for start < at && !utf8.RuneStart(s[start]) {
		start++
	}
	if start > 0 {
		if blank := strings.IndexFunc(s[start:at], unicode.IsSpace); blank >= 0 {
			start += blank
		}
	}
	end := min(start+snippetWindow, len(s))
	for end < len(s) && end > start && !utf8.RuneStart(s[end]) {
		end--
	}
	cut := capped(s[start:end], snippetLimit)
	if start > 0 {
		cut = capped(text.Ellipsis+strings.TrimSpace(s[start:end]), snippetLimit)
	}
	return cut
}

// locate returns where the first word with one of the tokens begins.
func (t Terms) locate(s string) (int, bool) {
	for i := 0; i < len(s); {
		end := strings.IndexFunc(s[i:], unicode.IsSpace)
		if end < 0 {
			end = len(s) - i
		}
		if word := s[i : i+end]; word != "" && t.in(word) {
			return i + t.inside(word), true
		}
		i += end
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return 0, false
}

func (t Terms) in(word string) bool {
	return slices.ContainsFunc(Tokens(word), t.has)
}

func (t Terms) has(token string) bool {
	return slices.Contains(t.Whole, token) || t.Prefix != "" && strings.HasPrefix(token, t.Prefix)
}

// inside returns where in a long run without blanks the token stands, as far as
// two characters taken alone still show it.
func (t Terms) inside(word string) int {
	last := 0
	for i, r := range word {
		if i > 0 && paired(r) {
			if t.in(word[last : i+utf8.RuneLen(r)]) {
				return last
			}
		}
		last = i
	}
	return 0
}
