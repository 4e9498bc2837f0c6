package core

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What of a session must not stand in a blueprint of it (kernel K63, sharing X11).
//
// A literal is a string of six characters or more of an answer, of the arguments of a call or of an action; each of its
// lines; each of its cells (between commas, semicolons, tabs or bars) that is not one word in small letters; and each of
// its words that is not written as a language writes one, so that names of things, numbers and keys count and "before"
// does not; in the row of a table and in a string of three words or less, also its words with a capital. Four words in a
// row that stand in both are one too. So are the names of what was reached: services, units, places, labels, people; the
// name of a binding may hold no such word of these. What the driver's manifest says itself is none.
const (
	literalLength = 6
	literalRun    = 4  // words in a row
	literalRunMin = 20 // bytes of those
	sightingsMost = 20 // that are told
)

// Sighting is something observed that stands in a blueprint. It does not say what.
type Sighting struct {
	Place  string // in the blueprint, such as "instructions, line 3"
	Origin string // where it was observed, such as "the answer of call 2 in turn 1"
}

// BlueprintError refuses a blueprint that would tell what was observed.
type BlueprintError struct {
	Sightings []Sighting
	More      bool
}

func (e *BlueprintError) Error() string {
	words := make([]string, len(e.Sightings))
	for i, s := range e.Sightings {
		words[i] = fmt.Sprintf("%s holds %s", s.Place, s.Origin)
	}
	out := "blueprint: refused, " + strings.Join(words, "; ")
	if e.More {
		out += "; and more"
	}
	return out
}

// blueprintSeek looks for literals in the texts of a blueprint. Most are told apart by their first bytes alone, so that the
// work grows with what was observed and not with the texts.
type blueprintSeek struct {
	known  map[string]bool // words of the program itself
	open   map[Unit]bool   // units whose names are no secret
	fields []soughtText
	grams  map[[literalLength]byte]bool
	runs   map[string]int // words in a row, with the field that they stand in
	found  map[Sighting]bool
	order  []Sighting
	at     []string // places of sightings without their lines
	more   bool
}

type soughtText struct {
	place string
	text  string          // in small letters
	words map[string]bool // of the name of a binding; nil for other texts

	inside bool // what signs in the text stand for, such as base64
}

func newBlueprintSeek(known map[string]bool, open map[Unit]bool) *blueprintSeek {
	return &blueprintSeek{
		known: known, open: open, grams: make(map[[literalLength]byte]bool), runs: make(map[string]int), found: make(map[Sighting]bool),
	}
}

// vocabulary is what the drivers say of themselves, word by word.
func (k *Kernel) vocabulary() map[string]bool {
	known := make(map[string]bool)
	add := func(texts ...string) {
		for _, t := range texts {
			for _, word := range literalWords(strings.ToLower(t)) {
				known[word] = true
			}
		}
	}
	for _, m := range k.Manifests() {
		add(m.Kind, m.About)
		for _, op := range m.Operations {
			add(op.Name, op.About, op.AwaitReason, op.Returns, op.Observes)
			for _, p := range op.Params {
				add(p.Name, p.About)
			}
		}
		for _, kind := range m.Kinds {
			add(kind.Name)
			for _, f := range kind.Fields {
				add(f.Name)
			}
		}
	}
	return known
}

// blueprint takes the texts of a blueprint that a person or a driver gave; begin is called by it.
func (s *blueprintSeek) blueprint(b Blueprint) {
	s.in("title", b.Title)
	s.in("instructions", b.Instructions)
	for _, one := range b.Bindings {
		s.inName("binding "+string(one.Name)+", name", one.Name)
	}
	s.begin()
}

// in adds a text that is looked into, also in what percent signs, base64 and hexadecimal digits in it stand for.
func (s *blueprintSeek) in(place, text string) {
	s.fields = append(s.fields, soughtText{place: place, text: strings.ToLower(text)})
	for _, form := range unwrapped([]string{text}).forms {
		if form != lowered(text) {
			s.fields = append(s.fields, soughtText{place: place, text: strings.ToLower(form), inside: true})
		}
	}
}

// inName adds the name of a binding, in which other signs stand as _.
func (s *blueprintSeek) inName(place string, name BindingName) {
	lower := strings.ToLower(string(name))
	words := make(map[string]bool)
	for _, word := range literalWords(lower) {
		words[word] = true
	}
	for _, between := range []string{"_", "-", " ", ".", ""} {
		s.fields = append(s.fields, soughtText{place: place, text: strings.ReplaceAll(lower, "_", between), words: words})
	}
}

// begin ends the adding of texts.
func (s *blueprintSeek) begin() {
	for n, f := range s.fields {
		for i := 0; i+literalLength <= len(f.text); i++ {
			s.grams[[literalLength]byte([]byte(f.text[i:i+literalLength]))] = true
		}
		eachRunOfWords(f.text, func(run string) { s.runs[run] = n })
	}
}

// places are the fields in which something was found.
func (s *blueprintSeek) places() map[string]bool {
	out := make(map[string]bool)
	for _, place := range s.at {
		out[place] = true
	}
	return out
}

func (s *blueprintSeek) fault() error {
	if len(s.order) == 0 {
		return nil
	}
	return &BlueprintError{Sightings: s.order, More: s.more}
}

func (s *blueprintSeek) sight(f soughtText, at int, origin string) {
	place := f.place
	switch {
	case f.inside:
		place += ", encoded"
	case f.place == "instructions":
		place = fmt.Sprintf("%s, line %d", f.place, 1+strings.Count(f.text[:at], "\n"))
	}
	one := Sighting{place, origin}
	switch {
	case s.found[one]:
	case len(s.order) == sightingsMost:
		s.more = true
	default:
		s.found[one] = true
		s.order, s.at = append(s.order, one), append(s.at, f.place)
	}
}

// literal looks for one literal. A plain word counts where it stands as a word.
func (s *blueprintSeek) literal(origin, value string) {
	value = strings.ToLower(strings.Trim(value, " \t\r\n.,;:!?"))
	if len(value) < literalLength || utf8.RuneCountInString(value) < literalLength || s.known[value] {
		return
	}
	if !s.grams[[literalLength]byte([]byte(value[:literalLength]))] {
		return
	}
	word := plainWord(value)
	for _, f := range s.fields {
		for from := 0; ; {
			i := strings.Index(f.text[from:], value)
			if i < 0 {
				break
			}
			at := from + i
			if !word || standsAlone(f.text, at, at+len(value)) {
				s.sight(f, at, origin)
				break
			}
			from = at + 1
		}
	}
}

// standsAlone reports that no letter and no digit is on either side.
func standsAlone(text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, _ := utf8.DecodeRuneInString(text[to:])
	part := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	return !part(before) && !part(after)
}

// value looks for a whole string and everything in it that counts.
func (s *blueprintSeek) value(origin, value string) {
	if len(value) < literalLength {
		return
	}
	s.literal(origin, value)
	for line := range strings.SplitSeq(value, "\n") {
		s.literal(origin, line)
		cells := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(",;\t|", r) })
		table := len(cells) > 2 || len(strings.Fields(value)) <= 3
		for _, cell := range cells {
			if cell = strings.TrimSpace(cell); !plainWord(cell) || cell != strings.ToLower(cell) {
				s.literal(origin, cell)
			}
			table = table && len(strings.Fields(cell)) <= 4
		}
		s.words(origin, line)
		for _, word := range literalWords(line) {
			if table && word != strings.ToLower(word) {
				s.literal(origin, word)
			}
		}
	}
	eachRunOfWords(strings.ToLower(value), func(run string) {
		n, both := s.runs[run]
		if !both {
			return
		}
		s.sight(s.fields[n], runAt(s.fields[n].text, run), origin)
	})
}

// runAt finds where a run of words begins that is in a text.
func runAt(text, run string) int {
	first, _, _ := strings.Cut(run, " ")
	for from := 0; from < len(text); {
		i := strings.Index(text[from:], first)
		if i < 0 {
			break
		}
		words := literalWords(text[from+i:])
		if len(words) >= literalRun && strings.Join(words[:literalRun], " ") == run {
			return from + i
		}
		from += i + 1
	}
	return 0
}

// words looks for the words of a text that no language writes so.
func (s *blueprintSeek) words(origin, text string) {
	try := func(word string) {
		if !plainWord(strings.Trim(word, ".!?:")) {
			s.literal(origin, word)
		}
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(`"'<>()[]{},;|`+"`", r)
	}) {
		try(word)
		for side := range strings.FieldsFuncSeq(word, func(r rune) bool { return strings.ContainsRune("=:/#&?@\\", r) }) {
			if side != word {
				try(side)
			}
		}
	}
}

// name looks for the name of something that was reached: whole, and the last part of it as a name of its own.
func (s *blueprintSeek) name(origin, name string) {
	s.literal(origin, name)
	if open, err := url.PathUnescape(name); err == nil && open != name {
		s.literal(origin, open)
		name = open
	}
	parts := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("/#=?&\\", r) })
	if len(parts) > 0 {
		s.literal(origin, parts[len(parts)-1])
	}
	s.words(origin, name)
	for _, word := range literalWords(strings.ToLower(name)) {
		for _, f := range s.fields {
			if len(word) >= literalLength && f.words[word] && !s.known[word] {
				s.sight(f, 0, origin)
			}
		}
	}
}

// json looks for every string and number of a JSON text; one that is none counts as a string.
func (s *blueprintSeek) json(origin string, raw []byte) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if len(raw) == 0 {
		return
	}
	if dec.Decode(&v) != nil {
		s.value(origin, string(raw))
		return
	}
	s.tree(origin, v)
}

func (s *blueprintSeek) tree(origin string, v any) {
	switch v := v.(type) {
	case string:
		s.value(origin, v)
		if v != "" && strings.ContainsAny(v[:1], `{["`) && json.Valid([]byte(v)) {
			s.json(origin, []byte(v))
		}
	case json.Number:
		s.literal(origin, v.String())
	case []any:
		for _, one := range v {
			s.tree(origin, one)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			s.words(origin, name)
			s.tree(origin, v[name])
		}
	}
}

// plainWord reports letters alone, in one case or with a capital first, as a language writes them.
func plainWord(s string) bool {
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
	return letters > 0 && letters <= 24 && (inner == 0 || upper == letters)
}

func literalWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// eachRunOfWords walks over every few words in a row that are long enough together.
func eachRunOfWords(text string, yield func(string)) {
	words := literalWords(text)
	for i := 0; i+literalRun <= len(words); i++ {
		if run := strings.Join(words[i:i+literalRun], " "); len(run) >= literalRunMin {
			yield(run)
		}
	}
}
