package tui_test

import (
	"context"
	"testing"

	"gatehouse/core"
	"gatehouse/skills"
	"gatehouse/store"
	"gatehouse/tui"
)

// shelfOf is the library of a real store, as the front door lends it.
type shelfOf struct {
	shelf   *store.Shelf
	library *skills.Library
	scope   skills.Scope
}

func (s shelfOf) Shelves(ctx context.Context) ([]tui.Shelf, error) {
	all, err := s.shelf.Entries(ctx, s.scope)
	var out []tui.Shelf
	for _, c := range all {
		n, err := s.shelf.Counts(ctx, s.scope, c.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, tui.Shelf{Collection: c.Collection, Documents: n.Documents, Skills: n.Skills, Broken: n.Broken})
	}
	return out, err
}

func (s shelfOf) Documents(ctx context.Context, id skills.CollectionID, offset, limit int) ([]tui.ShelfDocument, error) {
	all, err := s.shelf.Documents(ctx, s.scope, id, offset, limit)
	var out []tui.ShelfDocument
	for _, d := range all {
		out = append(out, tui.ShelfDocument{Path: d.Ref.Path})
	}
	return out, err
}

func (s shelfOf) Problems(ctx context.Context, id skills.CollectionID) ([]skills.Problem, error) {
	return s.shelf.Problems(ctx, s.scope, id)
}

func (s shelfOf) Document(ctx context.Context, ref skills.Ref) (tui.LibraryDocument, error) {
	_, d, err := s.shelf.Document(ctx, s.scope, ref)
	return tui.LibraryDocument{Document: d}, err
}

func (s shelfOf) Search(ctx context.Context, q skills.Query) ([]skills.Hit, error) {
	return s.library.Search(ctx, s.scope, q)
}

func (s shelfOf) Change(context.Context, skills.Document) (skills.Change, error) {
	return skills.Change{First: true}, nil
}

func (s shelfOf) Catalog(context.Context, core.SessionID) (tui.SessionCatalog, error) {
	return tui.SessionCatalog{}, nil
}

func (s shelfOf) Pin(context.Context, skills.CollectionID, core.SessionID) error   { return nil }
func (s shelfOf) Unpin(context.Context, skills.CollectionID, core.SessionID) error { return nil }

// publish stores a document, as another process does.
func (h *house) publish(t *testing.T, path, content string) {
	t.Helper()
	err := h.store.Write(t.Context(), func(ct core.Tx) error {
		s, err := store.SkillsIn(ct)
		if err != nil {
			return err
		}
		c, err := s.Entry(skills.For("alice"), "notes")
		if skills.CodeOf(err) == skills.CodeNotFound {
			c.Collection = skills.Collection{
				ID: "notes", Visibility: skills.VisibilityPrivate, Owner: "alice", Source: skills.Source{Kind: skills.SourceWritten},
			}
			if err := s.Create(c, wallClock{}.Now()); err != nil {
				return err
			}
			c, err = s.Entry(skills.For("alice"), "notes")
		}
		if err != nil {
			return err
		}
		d, err := skills.NewDocument(skills.Ref{Collection: "notes", Path: path}, []byte(content))
		if err != nil {
			return err
		}
		d.Author = "alice"
		return s.Publish(c, d)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRealSkills: what another process publishes appears, and the search of the
// store finds it.
func TestRealSkills(t *testing.T) {
	dir := t.TempDir()
	h, second := newHouse(t, dir), newHouse(t, dir)
	h.publish(t, "drain/SKILL.md", "---\nname: drain\ndescription: Take a host out.\n---\n# Drain\n")
	shelf := h.store.Shelf()
	library := shelfOf{shelf, skills.New(shelf, h.store.SkillEngine()), skills.For("alice")}
	d := tui.DriveWith(t, h.kernel, "alice", h.watch(t), library)
	d.Press("4", "j")
	d.Shows("1 skill", "private", "/ drain", "# Drain")
	second.publish(t, "a/SKILL.md", "---\nname: a\ndescription: Use when: broken\n---\n")
	d.Tick()
	d.Shows("1 broken", "Text · notes/drain/SKILL.md")
	d.Press("/")
	d.Type("host ou")
	d.Shows("1 hit", "notes/drain/SKILL.md")
}
