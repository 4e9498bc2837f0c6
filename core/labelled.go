package core

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What counts as a value of a labelled unit that is about to leave (sharing E3).
//
// A value is a line, a cell (between commas, semicolons, tabs or bars), a word between blanks, quotes and brackets, or
// either side of = and :, of any string in an answer that a call of the session got, and a number; of valueLength
// characters or more. It is a dictionary word, and no value, when it is letters alone, as a language writes a word: in
// one case or with a capital first, 24 letters at most, hyphens and apostrophes inside allowed. There is no list of
// words in the program: names and plain words pass so, and whatever holds a digit, a sign, a space or mixed case does not.
//
// It is looked for whatever the case of its letters, as it is and inside what percent signs, JSON, base64 (at any place,
// both alphabets, also broken into lines) and hexadecimal digits stand for, three deep. An agent that hides a value in
// another way is not found out by this.
const (
	valueLength = 12      // characters
	wordLength  = 24      // letters of a dictionary word
	unwrapDeep  = 3       // encodings inside one another
	unwrapMost  = 2 << 20 // bytes of all forms of what leaves
	matchesMost = 100     // values that are told
)

// labelledIn finds the values of labelled units of a session in what is about to leave.
func labelledIn(v turnsView, session SessionID, labelled map[Unit]bool, sends []string) ([]string, error) {
	leaving := unwrapped(sends)
	if len(leaving.grams) == 0 {
		return nil, nil
	}
	answers, err := v.Answers(session)
	if err != nil {
		return nil, err
	}
	found := make(map[string]bool)
	for _, a := range answers {
		var body releasedBody
		if err := json.Unmarshal(a.Body, &body); err != nil {
			return nil, fmt.Errorf("stored answer of call %s: %w", a.CallID, err)
		}
		if !slices.ContainsFunc(body.Units, func(u Unit) bool { return labelled[u] }) {
			continue
		}
		eachValue(body.Value, func(value string) {
			if leaving.holds(value) {
				found[value] = true
			}
		})
	}
	return outermost(found), nil
}

// outermost leaves out values that stand inside another, and sorts the rest.
func outermost(found map[string]bool) []string {
	var all, out []string
	for value := range found {
		all = append(all, value)
	}
	slices.SortFunc(all, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	for _, value := range all {
		if len(out) < matchesMost && !slices.ContainsFunc(out, func(o string) bool { return strings.Contains(o, value) }) {
			out = append(out, value)
		}
	}
	slices.Sort(out)
	return out
}

// eachValue walks the values in a JSON text.
func eachValue(raw json.RawMessage, yield func(string)) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			eachPiece(v, yield)
		case json.Number:
			if len(v) >= valueLength {
				yield(string(v))
			}
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for name, one := range v {
				eachPiece(name, yield)
				walk(one)
			}
		}
	}
	var v any
	if dec.Decode(&v) == nil {
		walk(v)
	}
}

func eachPiece(s string, yield func(string)) {
	piece := func(p string) {
		p = strings.Trim(p, " \t\r.,;:!?")
		if len(p) >= valueLength && utf8.RuneCountInString(p) >= valueLength && !dictionaryWord(p) {
			yield(p)
		}
	}
	for line := range strings.SplitSeq(s, "\n") {
		if len(line) < valueLength {
			continue
		}
		piece(line)
		for cell := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(",;\t|", r) }) {
			piece(cell)
		}
		for word := range strings.FieldsFuncSeq(line, betweenWords) {
			piece(word)
			for side := range strings.FieldsFuncSeq(word, func(r rune) bool { return r == '=' || r == ':' }) {
				piece(side)
			}
		}
	}
}

func betweenWords(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune(`"'<>()[]{},;|`+"`", r)
}

// dictionaryWord reports letters alone, written as a language writes a word.
func dictionaryWord(s string) bool {
	letters, upper, inner := 0, 0, 0
	for i, r := range s {
		switch {
		case unicode.IsLetter(r):
			letters++
			if unicode.IsUpper(r) {
				upper++
				if i > 0 {
					inner++
				}
			}
		case (r == '-' || r == '\'' || r == '’') && i > 0 && i < len(s)-1:
		default:
			return false
		}
	}
	return letters <= wordLength && (inner == 0 || upper == letters)
}

// wrapping is what leaves, in all forms that it may stand for.
type wrapping struct {
	forms []string // with ASCII letters in lower case
	grams map[[valueLength]byte]struct{}
	seen  map[string]bool
	bytes int
}

func unwrapped(sends []string) *wrapping {
	w := &wrapping{grams: make(map[[valueLength]byte]struct{}), seen: make(map[string]bool)}
	for _, s := range sends {
		w.add(s, unwrapDeep)
	}
	return w
}

// holds reports that a value is in one of the forms. Most are told apart by their first bytes alone.
func (w *wrapping) holds(value string) bool {
	if _, begins := w.grams[gram(value)]; !begins {
		return false
	}
	value = lowered(value)
	return slices.ContainsFunc(w.forms, func(f string) bool { return strings.Contains(f, value) })
}

// gram is the beginning of a text that has as many bytes.
func gram(s string) (g [valueLength]byte) {
	for i := range g {
		g[i] = lowerByte(s[i])
	}
	return g
}

func lowerByte(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

func lowered(s string) string {
	out := []byte(s)
	for i, b := range out {
		out[i] = lowerByte(b)
	}
	return string(out)
}

func (w *wrapping) add(s string, deep int) {
	if len(s) < valueLength || w.seen[s] || w.bytes > unwrapMost {
		return
	}
	w.seen[s] = true
	w.bytes += len(s)
	w.forms = append(w.forms, lowered(s))
	for i := 0; i+valueLength <= len(s); i++ {
		w.grams[gram(s[i:])] = struct{}{}
	}
	if deep == 0 {
		return
	}
	w.add(percentDecoded(s), deep-1)
	w.add(percentDecoded(strings.ReplaceAll(s, "+", " ")), deep-1)
	w.addJSON(s, deep-1)
	tight := strings.Join(strings.Fields(s), "")
	eachRun(tight, 2*valueLength, isHex, func(run string) {
		for at := range 2 {
			raw, err := hex.DecodeString(run[at : at+(len(run)-at)/2*2])
			if err == nil {
				w.add(string(raw), deep-1)
			}
		}
	})
	for _, alphabet := range []struct {
		encoding *base64.Encoding
		signs    string
	}{{base64.RawStdEncoding, "+/"}, {base64.RawURLEncoding, "-_"}} {
		is := func(b byte) bool { return isAlphanumeric(b) || strings.IndexByte(alphabet.signs, b) >= 0 }
		eachRun(tight, valueLength*4/3, is, func(run string) {
			for at := range 4 { // it may begin in the middle of a run
				whole := run[min(at, len(run)):]
				if len(whole)%4 == 1 {
					whole = whole[:len(whole)-1]
				}
				if raw, err := alphabet.encoding.DecodeString(whole); err == nil {
					w.add(string(raw), deep-1)
				}
			}
		})
	}
}

// addJSON adds the strings of a JSON text, without their escapes.
func (w *wrapping) addJSON(s string, deep int) {
	if trimmed := strings.TrimSpace(s); trimmed == "" || !strings.ContainsRune(`{["`, rune(trimmed[0])) {
		return
	}
	var v any
	if json.Unmarshal([]byte(s), &v) != nil {
		return
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			w.add(v, deep)
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for name, one := range v {
				w.add(name, deep)
				walk(one)
			}
		}
	}
	walk(v)
}

// eachRun finds the runs of a kind of bytes that are long enough.
func eachRun(s string, least int, is func(byte) bool, yield func(string)) {
	for i := 0; i < len(s); i++ {
		start := i
		for i < len(s) && is(s[i]) {
			i++
		}
		if i-start >= least {
			yield(s[start:i])
		}
	}
}

func isHex(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= lowerByte(b) && lowerByte(b) <= 'f'
}

func isAlphanumeric(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= lowerByte(b) && lowerByte(b) <= 'z'
}

// percentDecoded decodes the escapes that are right and leaves the rest.
func percentDecoded(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			raw, err := hex.DecodeString(s[i+1 : i+3])
			if err == nil {
				out.Write(raw)
				i += 2
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}
