package skills

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of a search.
const (
	QueryLimit         = queryLimit // code points
	QueryTokens        = 16
	DefaultSearchLimit = 20
	SearchLimit        = 50
	indexedBody        = 256 << 10 // bytes of a body that are searched
)

// Query is what somebody searches for.
type Query struct {
	Text  string
	Limit int // 1 to SearchLimit; zero is refused like any other wrong number
	// Prefix lets the last token be the beginning of a word, for a picker that
	// searches as a person types.
	Prefix bool
}

// Terms is a query taken apart: every whole token and the prefix must occur.
type Terms struct {
	Whole  []string // distinct, in order
	Prefix string   // empty for none
}

// ParseQuery checks a query and takes it apart.
func ParseQuery(q Query) (Terms, error) {
	if q.Limit < 1 || q.Limit > SearchLimit {
		return Terms{}, &RefusedError{
			Code: CodeBadLimit, Text: fmt.Sprintf("limit %d: a search gives 1 to %d results", q.Limit, SearchLimit), Hint: "ask for fewer",
		}
	}
	if n := utf8.RuneCountInString(q.Text); n > QueryLimit {
		return Terms{}, &RefusedError{
			Code: CodeLongQuery, Text: fmt.Sprintf("query of %d characters: at most %d", n, QueryLimit), Hint: "search for fewer words",
		}
	}
	tokens := Tokens(q.Text)
	switch n := len(tokens); {
	case n == 0:
		return Terms{}, &RefusedError{
			Code: CodeEmptyQuery, Text: "query " + ShownQuery(q.Text) + ": holds no letter or digit", Hint: "search for a word",
		}
	case n > QueryTokens:
		return Terms{}, &RefusedError{
			Code: CodeManyTokens, Text: fmt.Sprintf("query of %d words: at most %d", n, QueryTokens), Hint: "search for fewer words",
		}
	}
	var t Terms
	if q.Prefix {
		t.Prefix = tokens[len(tokens)-1]
		tokens = tokens[:len(tokens)-1]
	}
	for _, token := range tokens {
		if !slices.Contains(t.Whole, token) {
			t.Whole = append(t.Whole, token)
		}
	}
	return t, nil
}

// Tier is how well a document matches; a lower one stands first.
type Tier int

// The tiers. The zero value is no match.
const (
	TierName  Tier = iota + 1 // all tokens in name and title
	TierAbout                 // all tokens in name, title, description and path
	TierBody                  // some in the body alone
)

// Entry is a document as an engine keeps it: who may find it, and the distinct
// tokens of its fields.
type Entry struct {
	Ref        Ref
	Visibility Visibility
	Owner      AccountID
	Name       []string // of name and title
	About      []string // of description and path
	Body       []string
}

// Heading is what names and describes a document, as search reads it. A
// skill's own name and description stand for those stored; what is no skill is
// named by its file.
type Heading struct {
	Path, Title, Description string
	Skill                    *Frontmatter // nil for what is none
}

// Tokens returns the tokens of name and title and those of description and
// path, which may repeat.
func (h Heading) Tokens() (name, about []string) {
	called, description := fileName(h.Path), h.Description
	if h.Skill != nil {
		called, description = h.Skill.Name, h.Skill.Description
	}
	return append(Tokens(called), Tokens(h.Title)...), append(Tokens(description), Tokens(h.Path)...)
}

// TierOf says of which tier a document is that matches, by the tokens of its
// [Heading].
func (t Terms) TierOf(name, about []string) Tier {
	if t.within(name) {
		return TierName
	}
	if t.within(name, about) {
		return TierAbout
	}
	return TierBody
}

// within reports that each term is in one of the lists.
func (t Terms) within(lists ...[]string) bool {
	for _, token := range t.Whole {
		if !slices.ContainsFunc(lists, func(list []string) bool { return slices.Contains(list, token) }) {
			return false
		}
	}
	begins := func(token string) bool { return strings.HasPrefix(token, t.Prefix) }
	return t.Prefix == "" || slices.ContainsFunc(lists, func(list []string) bool { return slices.ContainsFunc(list, begins) })
}

// EntryFor returns what an engine keeps of a document.
func EntryFor(c Collection, d Document) Entry {
	h, body := Heading{Path: d.Ref.Path, Title: d.Title, Description: d.Description}, d.Bytes
	if skill, ok, _ := Inspect(d); ok {
		h.Skill, body = &skill.Frontmatter, d.Bytes[skill.Body:]
	}
	if !indexable(d) {
		body = nil
	}
	name, about := h.Tokens()
	return Entry{
		Ref: d.Ref, Visibility: c.Visibility, Owner: c.Owner,
		Name:  distinct(name),
		About: distinct(about),
		Body:  distinct(Tokens(string(searched(body)))),
	}
}

// indexable reports that the bytes are text, or are meant to be.
func indexable(d Document) bool {
	return !d.Binary() || strings.HasPrefix(d.ContentType, "text/")
}

// searched cuts a body where search stops, between characters.
func searched(body []byte) []byte {
	if len(body) <= indexedBody {
		return body
	}
	end := indexedBody
	for end > 0 && !utf8.RuneStart(body[end]) {
		end--
	}
	return body[:end]
}

func distinct(list []string) []string {
	seen := make(map[string]struct{}, len(list))
	all := make([]string, 0, len(list))
	for _, token := range list {
		if _, again := seen[token]; !again {
			seen[token] = struct{}{}
			all = append(all, token)
		}
	}
	return all
}

// Match is a document that an engine found.
type Match struct {
	Ref  Ref
	Tier Tier
}

// Engine keeps entries and finds those that match. Package searchsuite holds
// what every engine must do.
type Engine interface {
	// Put keeps the entry, in place of one with the same ref.
	Put(ctx context.Context, e Entry) error
	// Remove forgets the entry; one that is not kept is no error.
	Remove(ctx context.Context, ref Ref) error
	// Find returns the first limit matches that the scope reads, by tier, then
	// collection id and path in code point order. Each of the terms must be a
	// token of some field, and the prefix begin one. What the scope does not
	// read changes nothing in the answer.
	Find(ctx context.Context, t Terms, scope Scope, limit int) ([]Match, error)
}

// Hit is one result of a search. All its text is one clean line.
type Hit struct {
	Ref     Ref    `json:"-"` // as it is, for whoever reads on
	ID      string `json:"id"`
	Path    string `json:"path"`
	Title   string `json:"title"`
	Snippet string `json:"snippet"`
}
