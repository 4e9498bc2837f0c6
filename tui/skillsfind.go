package tui

import (
	"strings"

	"gatehouse/skills"
	"gatehouse/tui/term"
)

// finding is the search of the Skills screen: what is typed, and what was found
// for it.
type finding struct {
	input *input // not nil while it is typed
	text  string // what was asked
	hits  []hitRow
	at    int
	top   int
	gen   int
	asked bool // an answer came for text
	err   string
}

// hitRow is a hit; its texts are clean.
type hitRow struct {
	ref     skills.Ref
	id      string
	snippet string
}

type (
	// findMsg asks for what was typed a moment ago, if it still stands.
	findMsg struct{ gen int }
	// foundMsg is the answer to a search.
	foundMsg struct {
		gen  int
		hits []hitRow
		err  error
	}
)

// shown reports that hits stand in the place of the tree.
func (f *finding) shown() bool { return f.input != nil && f.text != "" || f.input == nil && f.asked }

func (f *finding) ref() (skills.Ref, bool) {
	if f.at >= len(f.hits) {
		return skills.Ref{}, false
	}
	return f.hits[f.at].ref, true
}

func (v *skillsView) startFind() term.Cmd {
	v.text = false
	v.find.input = &input{limit: skills.QueryLimit}
	v.find.input.set(v.find.text)
	return nil
}

// changed is called after each key: the search begins once the burst is over.
func (v *skillsView) changed() term.Cmd {
	v.find.text = strings.TrimSpace(v.find.input.text())
	v.find.gen++
	if v.find.text == "" {
		v.find.hits, v.find.asked, v.find.err = nil, false, ""
		return v.follow()
	}
	return term.After(2*batchFor, findMsg{v.find.gen})
}

func (v *skillsView) updateFind(msg term.Msg) term.Cmd {
	switch msg := msg.(type) {
	case findMsg:
		if msg.gen != v.find.gen {
			v.a.dirty = false
			return nil
		}
		return v.search()
	case foundMsg:
		return v.found(msg)
	}
	return nil
}

// search asks the library; the last word may be the beginning of one.
func (v *skillsView) search() term.Cmd {
	v.find.gen++
	gen, ctx, library := v.find.gen, v.a.ctx, v.a.library
	q := skills.Query{Text: v.find.text, Limit: skills.SearchLimit, Prefix: true}
	return func() term.Msg {
		found, err := library.Search(ctx, q)
		hits := make([]hitRow, len(found))
		for i, h := range found {
			hits[i].ref = h.Ref
			hits[i].id, _ = cleanLine(h.ID, titleLimit)
			hits[i].snippet, _ = cleanLine(h.Snippet, titleLimit)
		}
		return foundMsg{gen, hits, err}
	}
}

// found shows the hits of the newest search; the cursor stays on its hit.
func (v *skillsView) found(msg foundMsg) term.Cmd {
	if msg.gen != v.find.gen {
		v.a.dirty = false
		return nil
	}
	on, had := v.find.ref()
	v.find.asked, v.find.err = true, ""
	if msg.err != nil {
		v.find.err, _ = cleanLine(describe(withHint(msg.err)), reasonLimit)
		v.find.hits = nil
		return v.follow()
	}
	v.find.hits, v.find.at, v.find.top = msg.hits, 0, 0
	for i, h := range msg.hits {
		if had && h.ref == on {
			v.find.at = i
		}
	}
	return v.follow()
}

// acceptFind keeps the hits in the place of the tree; without any the tree
// comes back.
func (v *skillsView) acceptFind() term.Cmd {
	if v.find.text == "" {
		return v.leaveFind()
	}
	v.find.input = nil
	if !v.find.asked {
		v.find.asked = true
		return v.search()
	}
	return nil
}

// leaveFind shows the tree again. An answer that is on its way is dropped.
func (v *skillsView) leaveFind() term.Cmd {
	v.find = finding{gen: v.find.gen + 1}
	return v.follow()
}
