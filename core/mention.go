package core

import (
	"bytes"
	"encoding/json"
	"strings"
)

// mentionLimit is how many bytes an id of a service may have, within arguments, to be looked up; longer texts are content.
const mentionLimit = 512

// mentions gathers the words that may be ids: a session can have thousands of provisional ids, and a call is about few.
type mentions struct {
	words []string
	seen  map[string]bool
}

func newMentions() *mentions { return &mentions{seen: make(map[string]bool)} }

func (m *mentions) add(word string) {
	if word != "" && !m.seen[word] {
		m.seen[word] = true
		m.words = append(m.words, word)
	}
}

// call adds what a call may name: provisional ids anywhere, and real ids as whole strings or parts of paths. The
// binding's own resource counts too.
func (m *mentions) call(args json.RawMessage, url string) {
	m.provisional(args)
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if err != nil {
			break
		}
		if s, is := token.(string); is && len(s) <= mentionLimit {
			m.path(s)
		}
	}
	for _, part := range strings.FieldsFunc(url, func(r rune) bool { return strings.ContainsRune("/?&=#:", r) }) {
		m.add(part)
	}
}

func (m *mentions) path(s string) {
	m.add(s)
	if strings.Contains(s, "/") {
		for _, part := range strings.Split(s, "/") {
			m.add(part)
		}
	}
}

// provisional adds the provisional ids that stand anywhere in a text.
func (m *mentions) provisional(text []byte) {
	for {
		at := bytes.IndexByte(text, '~')
		if at < 0 {
			return
		}
		text = text[at:]
		end := 1
		for end < len(text) && text[end] >= '0' && text[end] <= '9' {
			end++
		}
		if id := string(text[:end]); Provisional(id) {
			m.add(id)
		}
		text = text[end:]
	}
}

// effect adds what an effect is written with.
func (m *mentions) effect(e Effect) {
	m.draft(Draft{Payload: e.Payload, Targets: e.Targets, Provides: e.Provides, Needs: e.Needs, After: e.After})
}

func (m *mentions) draft(d Draft) {
	m.provisional(d.Payload)
	for _, list := range [][]string{d.Targets, d.Provides} {
		for _, s := range list {
			m.provisional([]byte(s))
		}
	}
	for _, refs := range [][]Reference{d.Needs, d.After} {
		for _, r := range refs {
			m.provisional([]byte(r.Name))
		}
	}
	for _, b := range d.Base {
		m.provisional([]byte(b.Target))
	}
}
