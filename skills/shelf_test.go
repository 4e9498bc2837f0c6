package skills_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"

	"gatehouse/skills"
)

// shelf is a store in memory. Collection pa is alice's, pb is bob's; any other
// is public.
type shelf struct {
	t           testing.TB
	engine      skills.MemoryEngine
	collections map[skills.CollectionID]skills.Collection
	documents   map[skills.Ref]skills.Document
	broken      skills.CollectionID // that fails to load
}

func newShelf(t testing.TB) *shelf {
	return &shelf{t: t, collections: map[skills.CollectionID]skills.Collection{}, documents: map[skills.Ref]skills.Document{}}
}

func (s *shelf) library() *skills.Library { return skills.New(s, &s.engine) }

func (s *shelf) put(id, content string) skills.Document {
	s.t.Helper()
	ref, err := skills.ParseRef(id)
	if err != nil {
		s.t.Fatal(err)
	}
	d, err := skills.NewDocument(ref, []byte(content))
	if err != nil {
		s.t.Fatal(err)
	}
	c := skills.Collection{ID: ref.Collection, Title: string(ref.Collection), Visibility: skills.VisibilityPublic}
	switch c.ID {
	case "pa":
		c.Visibility, c.Owner = skills.VisibilityPrivate, "alice"
	case "pb":
		c.Visibility, c.Owner = skills.VisibilityPrivate, "bob"
	}
	s.collections[c.ID] = c
	s.documents[ref] = d
	if err := s.engine.Put(s.t.Context(), skills.EntryFor(c, d)); err != nil {
		s.t.Fatal(err)
	}
	return d
}

func (s *shelf) remove(id string) {
	ref, _ := skills.ParseRef(id)
	delete(s.documents, ref)
	_ = s.engine.Remove(s.t.Context(), ref) // in memory it cannot fail
}

func (s *shelf) search(query string, limit int, account skills.AccountID) []skills.Hit {
	s.t.Helper()
	hits, err := s.library().Search(s.t.Context(), skills.For(account), skills.Query{Text: query, Limit: limit})
	if err != nil {
		s.t.Fatal(err)
	}
	return hits
}

func (s *shelf) Collections(_ context.Context, scope skills.Scope) ([]skills.Collection, error) {
	var all []skills.Collection
	for _, c := range s.collections {
		if scope.Reads(c) {
			all = append(all, c)
		}
	}
	return all, nil
}

func (s *shelf) all(id skills.CollectionID) []skills.Document {
	var found []skills.Document
	for ref, d := range s.documents {
		if ref.Collection == id {
			found = append(found, d)
		}
	}
	slices.SortFunc(found, func(a, b skills.Document) int { return cmp.Compare(a.Ref.Path, b.Ref.Path) })
	return found
}

func (s *shelf) Documents(_ context.Context, _ skills.Scope, id skills.CollectionID, offset, limit int) ([]skills.Document, error) {
	found := s.all(id)
	found = found[min(offset, len(found)):]
	return found[:min(limit, len(found))], nil
}

func (s *shelf) Skills(_ context.Context, _ skills.Scope, id skills.CollectionID) ([]skills.Skill, error) {
	if id == s.broken {
		return nil, errors.New("disk trouble")
	}
	var found []skills.Skill
	for _, d := range s.all(id) {
		if skill, ok, _ := skills.Inspect(d); ok {
			found = append(found, skill)
		}
	}
	return found, nil
}

// Document answers whatever the scope, to show that the library checks itself.
func (s *shelf) Document(_ context.Context, _ skills.Scope, ref skills.Ref) (skills.Collection, skills.Document, error) {
	d, found := s.documents[ref]
	if !found {
		return skills.Collection{}, skills.Document{}, &skills.RefusedError{Code: skills.CodeNotFound, Text: "no row"}
	}
	return s.collections[ref.Collection], d, nil
}
