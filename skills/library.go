package skills

import (
	"context"
	"fmt"
	"slices"
)

// ListLimit is how many documents one List gives at most.
const ListLimit = 500

// Shelf is what the library asks of a store. It is told the scope, and gives
// nothing that the scope does not read; for what it does not give it returns an
// error with [CodeNotFound].
type Shelf interface {
	// Collections returns the collections the scope reads.
	Collections(ctx context.Context, scope Scope) ([]Collection, error)
	// Documents returns, without bytes, a part of a collection by path.
	Documents(ctx context.Context, scope Scope, id CollectionID, offset, limit int) ([]Document, error)
	// Skills returns the skills of a collection, in any order.
	Skills(ctx context.Context, scope Scope, id CollectionID) ([]Skill, error)
	// Document returns a document and its collection.
	Document(ctx context.Context, scope Scope, ref Ref) (Collection, Document, error)
}

// Library is the five operations, over a shelf and an engine. It has no method
// that writes.
type Library struct {
	shelf  Shelf
	engine Engine
}

// New returns the library on a shelf and an engine that hold the same
// documents.
func New(shelf Shelf, engine Engine) *Library { return &Library{shelf: shelf, engine: engine} }

// Search finds documents. Without a hit it shows nothing, and there is nothing
// to observe.
func (l *Library) Search(ctx context.Context, scope Scope, q Query) ([]Hit, error) {
	terms, err := ParseQuery(q)
	if err != nil {
		return nil, err
	}
	matches, err := l.engine.Find(ctx, terms, scope, q.Limit)
	if err != nil {
		return nil, err
	}
	hits := make([]Hit, 0, len(matches))
	for _, m := range matches {
		d, err := l.document(ctx, scope, m.Ref)
		if CodeOf(err) == CodeNotFound {
			continue // gone since the engine answered
		}
		if err != nil {
			return nil, err
		}
		hits = append(hits, hitFor(terms, d))
	}
	return hits, nil
}

func hitFor(t Terms, d Document) Hit {
	title, description, body := d.Title, d.Description, d.Bytes
	skill, ok, _ := Inspect(d)
	if ok {
		title, description, body = skill.Title, skill.Frontmatter.Description, d.Bytes[skill.Body:]
	}
	if title == "" {
		title = fileName(d.Ref.Path)
	}
	if !indexable(d) {
		body = nil
	}
	return Hit{
		Ref: d.Ref, ID: oneLine(d.Ref.String()), Path: oneLine(d.Ref.Path), Title: capped(title, snippetLimit), Snippet: snippet(t, description, body),
	}
}

// collections lists the collections that the scope reads, by id.
func (l *Library) collections(ctx context.Context, scope Scope) ([]Collection, error) {
	all, err := l.shelf.Collections(ctx, scope)
	if err != nil {
		return nil, err
	}
	kept := make([]Collection, 0, len(all))
	for _, c := range all {
		if scope.Reads(c) {
			kept = append(kept, c)
		}
	}
	slices.SortFunc(kept, func(a, b Collection) int { return compareRefs(Ref{Collection: a.ID}, Ref{Collection: b.ID}) })
	return kept, nil
}

// Listing is a part of a collection, or, for no collection, of all.
type Listing struct {
	Collections []Collection
	Documents   []Document // without bytes, by path
}

// Page says which part of a collection to list. An empty collection lists the
// collections, all of them.
type Page struct {
	Collection CollectionID
	Offset     int
	Limit      int // 1 to ListLimit
}

// List lists collections, or the documents of one.
func (l *Library) List(ctx context.Context, scope Scope, p Page) (Listing, error) {
	all, err := l.collections(ctx, scope)
	if err != nil {
		return Listing{}, err
	}
	if p.Collection == "" {
		return Listing{Collections: all}, nil
	}
	if p.Offset < 0 || p.Limit < 1 || p.Limit > ListLimit {
		return Listing{}, &RefusedError{
			Code: CodeBadLimit, Text: fmt.Sprintf("offset %d and limit %d: a list gives 1 to %d documents", p.Offset, p.Limit, ListLimit), Hint: "ask for fewer",
		}
	}
	at := slices.IndexFunc(all, func(c Collection) bool { return c.ID == p.Collection })
	if at < 0 {
		return Listing{}, collectionNotFound(p.Collection)
	}
	documents, err := l.shelf.Documents(ctx, scope, p.Collection, p.Offset, p.Limit)
	if CodeOf(err) == CodeNotFound {
		return Listing{}, collectionNotFound(p.Collection)
	}
	if err != nil {
		return Listing{}, err
	}
	return Listing{Collections: all[at : at+1 : at+1], Documents: documents}, nil
}

// Read returns a window of a document. It is checked as if the document had
// never been listed.
func (l *Library) Read(ctx context.Context, scope Scope, id string, offset, limit int) (Window, error) {
	ref, err := ParseRef(id)
	if err != nil {
		return Window{}, err
	}
	d, err := l.document(ctx, scope, ref)
	if err != nil {
		return Window{}, err
	}
	return ReadWindow(d, offset, limit)
}

// document looks a document up. Whatever the shelf says of what it does not
// give, the answer is one.
func (l *Library) document(ctx context.Context, scope Scope, ref Ref) (Document, error) {
	c, d, err := l.shelf.Document(ctx, scope, ref)
	if CodeOf(err) == CodeNotFound || err == nil && !scope.Reads(c) {
		return Document{}, notFound(ref)
	}
	return d, err
}

// Catalog builds the catalog for a turn of the scope, with the collections that
// people pinned to the session. A collection that fails to load makes it
// incomplete and no more: the next turn asks again.
func (l *Library) Catalog(ctx context.Context, scope Scope, pinned []CollectionID) (Catalog, error) {
	all, err := l.collections(ctx, scope)
	if err != nil {
		return Catalog{}, err
	}
	var candidates []Candidate
	for _, c := range all {
		candidate := Candidate{Collection: c, Pinned: slices.Contains(pinned, c.ID)}
		if !candidate.Pinned && c.Visibility != VisibilityPublic {
			continue
		}
		candidate.Skills, err = l.shelf.Skills(ctx, scope, c.ID)
		if ctx.Err() != nil {
			return Catalog{}, ctx.Err()
		}
		candidate.Failed = err != nil
		candidates = append(candidates, candidate)
	}
	return BuildCatalog(scope, candidates), nil
}
