package skills

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// LeftOutLimit is how many entries [LeavesOut] names at most.
const LeftOutLimit = 500

// LeftOut is something that a catalog does not show, and why in one clean line.
type LeftOut struct {
	ID  string // clean
	Why string
}

// LeavesOut says for each of the candidates why the catalog of a scope does not
// show it, at most [LeftOutLimit] of them, by id. It is for whoever may read
// all candidates, and never for the scope itself: it names what the scope may
// not read.
func LeavesOut(scope Scope, candidates []Candidate, shown Catalog) []LeftOut {
	in := make(map[string]bool, len(shown.Entries))
	for _, e := range shown.Entries {
		in[e.ID] = true
	}
	var out []LeftOut
	add := func(id, why string) {
		if !in[id] && why != "" {
			out = append(out, LeftOut{oneLine(id), why})
		}
	}
	for _, c := range candidates {
		id := string(c.Collection.ID)
		if why := whyNoCandidate(scope, c); why != "" {
			add(id, why)
			continue
		}
		add(id, whyNoEntry(id))
		for _, s := range c.Skills {
			if !s.Frontmatter.ModelInvocable {
				add(s.Ref.String(), "it says that no model may call it (disable-model-invocation)")
			} else {
				add(s.Ref.String(), whyNoEntry(s.Ref.String()))
			}
		}
	}
	slices.SortStableFunc(out, func(a, b LeftOut) int { return cmp.Compare(a.ID, b.ID) })
	return out[:min(len(out), LeftOutLimit)]
}

// whyNoCandidate says why a collection is not offered with all its skills.
func whyNoCandidate(scope Scope, c Candidate) string {
	switch {
	case !scope.Reads(c.Collection):
		return "somebody who can see the session may not read it"
	case c.Failed:
		return "it could not be loaded; the next turn tries again"
	case !c.Pinned && c.Collection.Visibility != VisibilityPublic:
		return "it is private, and not pinned to the session"
	}
	return ""
}

func whyNoEntry(id string) string {
	switch {
	case utf8.RuneCountInString(id) > CatalogID:
		return "its id is longer than 256 characters"
	case oneLine(id) != id:
		return "its id holds characters that cannot be seen"
	}
	return "there is no room: 25 entries at most"
}
