package share

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"gatehouse/core"
)

// Finding is something that looks like a secret, or tells where somebody lives.
type Finding struct {
	Place string `json:"place"` // such as "turn 1, step 2, calls[0].args"
	Kind  string `json:"kind"`  // such as "token of GitHub"
	Count int    `json:"count"`
}

// Scanner finds secrets in every string of a piece, titles and field names included. It is for one goroutine.
type Scanner struct {
	shapes  []shape
	context *regexp.Regexp
	keyLike *regexp.Regexp
}

// shape is what one kind of secret looks like. Hints are words of which the text has to have one: looking for them is
// cheap, and almost every text has none.
type shape struct {
	kind  string
	hints []string
	form  *regexp.Regexp
}

// NewScanner compiles what it looks for.
func NewScanner() *Scanner {
	home := `(?:/home/|/Users/|/ro` + `ot/|[A-Za-z]:\\Users\\)[\w.\-@]+`
	var shapes []shape
	for _, s := range []struct{ kind, hints, form string }{
		{"private key", "-----BEGIN", `-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|$)`},
		{"private key", "AGE-SECRET-KEY-", `AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{20,}`},
		{"signed token", "eyJ", `\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*`},
		{"token of AWS", "AKIA ASIA", `\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`},
		{"token of GitHub", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", `\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})`},
		{"token of GitLab", "glpat-", `\bglpat-[\w-]{16,}`},
		{"token of Slack", "xoxb- xoxa- xoxp- xoxr- xoxs- xapp-", `\b(?:xox[abprs]|xapp)-[\w-]{10,}`},
		{"token of a model provider", "sk-", `\bsk-[\w-]{16,}`},
		{"token of Stripe", "sk_live_ rk_live_ sk_test_ whsec_", `\b(?:[sr]k_(?:live|test)|whsec)_\w{16,}`},
		{"token of Google", "AIza ya29.", `\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}`},
		{"token of a registry", "npm_ pypi- dckr_pat_", `\b(?:npm_\w{30,}|pypi-[\w-]{30,}|dckr_pat_[\w-]{20,})`},
		{"token of Hugging Face", "hf_", `\bhf_[A-Za-z0-9]{30,}`},
		{"token of SendGrid", "SG.", `\bSG\.[\w-]{16,}\.[\w-]{16,}`},
		{"bearer token", "earer", `\b[Bb]earer\s+[\w.~+/=-]{16,}`},
		{"password in an address", "://", `://[^/\s:@"']+:[^/\s@"']{3,}@`},
		{"path of a home folder", "/home/ /Users/ :\\Users\\ /ro" + "ot/", home},
	} {
		shapes = append(shapes, shape{s.kind, strings.Fields(s.hints), regexp.MustCompile(s.form)})
	}
	const names = `pass(?:word|wd|phrase)?|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?|auth(?:orization)?|client[_-]?secret|signing[_-]?key`
	return &Scanner{
		shapes:  shapes,
		context: regexp.MustCompile(`(?i)(?:` + names + `)["']?\s{0,4}[:=]{1,2}\s{0,4}["']?([^\s"',;]{8,})`),
		keyLike: regexp.MustCompile(`(?i)(?:^|[_\-.\s])(?:` + names + `)$`),
	}
}

// text finds what stands in one string and gives it without that. Key says that the string is the value of a field whose
// name sounds like a secret's.
func (s *Scanner) text(in string, key bool) (out string, kinds []string) {
	out = in
	for _, sh := range s.shapes {
		if !slices.ContainsFunc(sh.hints, func(h string) bool { return strings.Contains(out, h) }) {
			continue
		}
		out = sh.form.ReplaceAllStringFunc(out, func(string) string {
			kinds = append(kinds, sh.kind)
			return "[redacted: " + sh.kind + "]"
		})
	}
	if key && random(out) {
		return redactedKey, append(kinds, keyKind)
	}
	if !strings.ContainsAny(out, ":=") {
		return out, kinds
	}
	var b strings.Builder
	last := 0
	for _, m := range s.context.FindAllStringSubmatchIndex(out, -1) {
		if !random(out[m[2]:m[3]]) {
			continue
		}
		b.WriteString(out[last:m[2]] + redactedKey)
		last = m[3]
		kinds = append(kinds, keyKind)
	}
	return b.String() + out[last:], kinds
}

const (
	keyKind     = "value that looks like a key"
	redactedKey = "[redacted: " + keyKind + "]"
)

// random reports that a word is too mixed to be one that a person chose: bits a character, and more than letters.
func random(s string) bool {
	if len(s) < 8 || len(s) > 4096 || strings.ContainsAny(s, " \t\n") || strings.HasPrefix(s, "[redacted") {
		return false
	}
	counts := make(map[rune]int)
	total := 0
	digits := false
	for _, r := range s {
		counts[r]++
		total++
		digits = digits || (r >= '0' && r <= '9')
	}
	bits := 0.0
	for _, n := range counts {
		p := float64(n) / float64(total)
		bits -= p * math.Log2(p)
	}
	return bits >= 3.5 || (digits && bits >= 2.75)
}

// Clean gives a piece without what looks like a secret, and what that was. A piece without any comes back as it was.
func (s *Scanner) Clean(piece core.Piece) (core.Piece, []Finding, error) {
	raw, err := encodeExact(piece)
	if err != nil {
		return piece, nil, err
	}
	tree, err := parse(raw)
	if err != nil {
		return piece, nil, err
	}
	w := &walk{scanner: s, found: make(map[[2]string]int)}
	cleaned := w.value(tree, placeOf(piece), false)
	if len(w.found) == 0 {
		return piece, nil, nil
	}
	if raw, err = encodeExact(cleaned); err != nil {
		return piece, nil, err
	}
	var out core.Piece
	if err := json.Unmarshal(raw, &out); err != nil {
		return piece, nil, fmt.Errorf("%s: %w", placeOf(piece), err)
	}
	return out, w.findings(), nil
}

func parse(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

type walk struct {
	scanner *Scanner
	found   map[[2]string]int
	total   int
}

func (w *walk) findings() []Finding {
	out := make([]Finding, 0, len(w.found))
	for at, n := range w.found {
		out = append(out, Finding{Place: at[0], Kind: at[1], Count: n})
	}
	slices.SortFunc(out, func(a, b Finding) int { return strings.Compare(a.Place+"\n"+a.Kind, b.Place+"\n"+b.Kind) })
	return out
}

func (w *walk) note(place string, kinds []string) {
	for _, k := range kinds {
		w.found[[2]string{place, k}]++
		w.total++
	}
}

func (w *walk) value(v any, place string, key bool) any {
	switch v := v.(type) {
	case string:
		return w.text(v, place, key)
	case []any:
		for i := range v {
			v[i] = w.value(v[i], fmt.Sprintf("%s[%d]", place, i), key)
		}
		return v
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			clean, kinds := w.scanner.text(name, false)
			at := place + ", " + clean
			w.note(at, kinds)
			for n := 2; ; n++ { // two redacted names would be one
				if _, taken := out[clean]; !taken {
					break
				}
				clean = fmt.Sprintf("%s %d", clean, n)
			}
			out[clean] = w.value(member, at, w.scanner.keyLike.MatchString(name))
		}
		return out
	default:
		return v
	}
}

// text cleans a string. One that is JSON itself, such as the arguments of a call, is looked at as what it spells, so that
// no escape hides anything; what it spells twice under one name is looked at as it is written.
func (w *walk) text(s, place string, key bool) string {
	if s != "" && strings.ContainsAny(s[:1], `{["`) && json.Valid([]byte(s)) {
		if tree, err := parse([]byte(s)); err == nil {
			before := w.total
			inner := w.value(tree, place, key)
			if again, err := encodeExact(inner); err == nil && w.total > before {
				s = string(again)
			}
		}
	}
	clean, kinds := w.scanner.text(s, key)
	w.note(place, kinds)
	return clean
}
