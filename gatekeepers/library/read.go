package library

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/core/text"
	"gatehouse/gatekeepers/kit"
	"gatehouse/skills"
)

// listLimit is how much a page of a list holds where the caller does not say.
const listLimit = 100

// asked is what was asked for by name: whoever drives has to be able to read it, and the gate asks about the others.
func (r *resource) asked(call core.Call) skills.Scope {
	return skills.Scope{Accounts: []skills.AccountID{skills.AccountID(call.By)}, Only: r.place.collection}
}

// met is what turns up by itself: everybody who can see the session has to be able to read it.
func (r *resource) met(call core.Call) skills.Scope {
	accounts := []skills.AccountID{skills.AccountID(call.By)}
	for _, person := range call.Audience {
		if account := skills.AccountID(person); !slices.Contains(accounts, account) {
			accounts = append(accounts, account)
		}
	}
	return skills.Scope{Accounts: accounts, Only: r.place.collection}
}

// Read carries an operation out. There is nothing pending to project.
func (r *resource) Read(ctx context.Context, call core.Call, _ core.Journal) (core.Fetched, error) {
	if err := ctx.Err(); err != nil {
		return core.Fetched{}, err
	}
	a, err := parse(call)
	if err != nil {
		return core.Fetched{}, err
	}
	var value any
	var from []skills.CollectionID
	switch call.Method {
	case opSearch:
		value, from, err = r.search(ctx, call, a)
	case opList:
		value, from, err = r.list(ctx, call, a)
	case opRead:
		value, from, err = r.read(ctx, call, a)
	case opCatalog:
		value, from, err = r.catalog(ctx, call)
	case OpExpand:
		value, from, err = r.expand(ctx, call, a)
	}
	if err != nil {
		return core.Fetched{}, err
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return core.Fetched{}, fmt.Errorf("%s: value: %w", call.Method, err)
	}
	fetched := core.Fetched{Value: raw}
	for _, id := range from {
		fetched.Found = append(fetched.Found, r.found(id))
	}
	return fetched, nil
}

type searchValue struct {
	Hits []skills.Hit `json:"hits"`
}

func (r *resource) search(ctx context.Context, call core.Call, a arguments) (any, []skills.CollectionID, error) {
	hits, err := r.library.Search(ctx, r.met(call), a.query())
	if err != nil {
		return nil, nil, plain(err)
	}
	var from []skills.CollectionID
	for _, hit := range hits {
		if id := hit.Ref.Collection; !slices.Contains(from, id) {
			from = append(from, id)
		}
	}
	return searchValue{hits}, from, nil
}

type collectionValue struct {
	ID          string `json:"id"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Visibility  string `json:"visibility"`
}

type collectionsValue struct {
	Collections []collectionValue `json:"collections"`
	Next        string            `json:"next,omitempty"`
}

type documentValue struct {
	ID          string `json:"id"`
	Path        string `json:"path"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Type        string `json:"type"`
}

type documentsValue struct {
	Documents []documentValue `json:"documents"`
	Next      string          `json:"next,omitempty"`
}

func (r *resource) list(ctx context.Context, call core.Call, a arguments) (any, []skills.CollectionID, error) {
	limit, query := a.limit(listLimit), kit.Version(opList, a.Collection)
	at, err := parsePosition(a.Cursor, query)
	if err != nil {
		return nil, nil, err
	}
	if a.Collection == "" {
		return r.listCollections(ctx, call, at, limit, query)
	}
	id := skills.CollectionID(a.Collection)
	// One more before, to see that the list did not move, and one more behind, to see that it goes on.
	page := skills.Page{Collection: id, Offset: max(at.offset-1, 0), Limit: min(limit+2, skills.ListLimit)}
	limit = min(limit, skills.ListLimit-2)
	listing, err := r.library.List(ctx, r.asked(call), page)
	if err != nil {
		return nil, nil, plain(err)
	}
	documents := listing.Documents
	if at.offset > 0 {
		if len(documents) == 0 || documents[0].Ref.Path != at.after {
			return nil, nil, kit.ListChanged()
		}
		documents = documents[1:]
	}
	value := documentsValue{Documents: []documentValue{}}
	for _, d := range documents[:min(limit, len(documents))] {
		value.Documents = append(value.Documents, documentValue{
			ID: oneLine(d.Ref.String()), Path: oneLine(d.Ref.Path), Title: shortLine(d.Title),
			Description: shortLine(d.Description), Type: oneLine(d.ContentType),
		})
	}
	if len(documents) > limit {
		value.Next = position{at.offset + limit, documents[limit-1].Ref.Path}.cursor(query)
	}
	return value, []skills.CollectionID{id}, nil
}

func (r *resource) listCollections(ctx context.Context, call core.Call, at position, limit int, query string) (any, []skills.CollectionID, error) {
	listing, err := r.library.List(ctx, r.met(call), skills.Page{})
	if err != nil {
		return nil, nil, plain(err)
	}
	all := listing.Collections
	if at.offset > len(all) || at.offset > 0 && string(all[at.offset-1].ID) != at.after {
		return nil, nil, kit.ListChanged()
	}
	end := min(at.offset+limit, len(all))
	value := collectionsValue{Collections: []collectionValue{}}
	var from []skills.CollectionID
	for _, c := range all[at.offset:end] {
		value.Collections = append(value.Collections, collectionValue{
			ID: oneLine(string(c.ID)), Title: shortLine(c.Title), Description: shortLine(c.Description), Visibility: string(c.Visibility),
		})
		from = append(from, c.ID)
	}
	if end < len(all) {
		value.Next = position{end, string(all[end-1].ID)}.cursor(query)
	}
	return value, from, nil
}

// position is where a page of a list begins: how many are before it, and the last of these.
type position struct {
	offset int
	after  string
}

func (p position) cursor(query string) string {
	return kit.Cursor{Query: query, After: fmt.Sprintf("%d %s", p.offset, p.after)}.String()
}

func parsePosition(cursor, query string) (position, error) {
	if cursor == "" {
		return position{}, nil
	}
	c, err := kit.ParseCursor(cursor, query, "")
	if err != nil {
		return position{}, err
	}
	var p position
	number, after, _ := strings.Cut(c.After, " ")
	if _, err := fmt.Sscanf(number, "%d", &p.offset); err != nil || p.offset < 1 {
		return position{}, core.Invalid("cursor: not one of this list; leave it out to begin again")
	}
	p.after = after
	return p, nil
}

type windowValue struct {
	ID     string  `json:"id"`
	Type   string  `json:"type"`
	SHA256 string  `json:"sha256"`
	Size   int     `json:"size"`
	Offset int     `json:"offset"`
	Text   *string `json:"text,omitempty"`
	Base64 []byte  `json:"base64,omitempty"`
	Next   int     `json:"next,omitempty"`
}

func (r *resource) read(ctx context.Context, call core.Call, a arguments) (any, []skills.CollectionID, error) {
	w, err := r.library.Read(ctx, r.asked(call), a.ID, a.offset(), a.limit(skills.WindowLimit))
	if err != nil {
		return nil, nil, plain(err)
	}
	value := windowValue{ID: w.Ref.String(), Type: w.ContentType, SHA256: w.SHA256, Size: w.Size, Offset: w.Offset, Base64: w.Bytes}
	if !w.Binary {
		value.Text = &w.Text
	}
	if w.Next < w.Size {
		value.Next = w.Next
	}
	return value, []skills.CollectionID{w.Ref.Collection}, nil
}

type expandValue struct {
	ID     string `json:"id"`
	SHA256 string `json:"sha256"`
	Text   string `json:"text"`
}

func (r *resource) expand(ctx context.Context, call core.Call, a arguments) (any, []skills.CollectionID, error) {
	ref, err := skills.ParseRef(a.ID)
	if err != nil {
		return nil, nil, plain(err)
	}
	expansion, err := r.library.Expansion(ctx, r.asked(call), ref, a.Args)
	if err != nil {
		return nil, nil, plain(err)
	}
	return expandValue{ID: ref.String(), SHA256: expansion.SHA256, Text: expansion.Text}, []skills.CollectionID{ref.Collection}, nil
}

// catalog is the catalog with the collections in it that a person pinned: these alone are observed, since everybody may
// read the others.
func (r *resource) catalog(ctx context.Context, call core.Call) (skills.Catalog, []skills.CollectionID, error) {
	var pinned []skills.CollectionID
	failed := false
	if r.pins != nil {
		var err error
		pinned, err = r.pins.Pinned(ctx, call.Session)
		failed = err != nil
	}
	catalog, err := r.library.Catalog(ctx, r.met(call), pinned)
	if ctx.Err() != nil {
		return skills.Catalog{}, nil, ctx.Err()
	}
	if err != nil {
		catalog = skills.Catalog{Entries: []skills.CatalogEntry{}}
	}
	catalog.Incomplete = catalog.Incomplete || failed || err != nil
	var from []skills.CollectionID
	for _, id := range pinned {
		if catalog.Shows(id) {
			from = append(from, id)
		}
	}
	return catalog, from, nil
}

// Preface is the catalog as every request of a turn begins with it. It is made anew each turn, and a library that
// cannot be read is an incomplete catalog.
func (r *resource) Preface(ctx context.Context, call core.Call) (core.Preface, error) {
	catalog, from, err := r.catalog(ctx, call)
	if err != nil {
		return core.Preface{}, err
	}
	block, err := catalog.Block()
	if err != nil {
		return core.Preface{}, fmt.Errorf("catalog: %w", err)
	}
	preface := core.Preface{Text: block}
	for _, id := range from {
		preface.Found = append(preface.Found, r.found(id))
	}
	return preface, nil
}

func oneLine(s string) string {
	line, _ := text.CleanLine(s, text.NoLimit)
	return line
}

// shortLine is a title or a description of a list.
func shortLine(s string) string {
	line, _ := text.CleanLine(s, skills.CatalogDescription)
	return line
}
