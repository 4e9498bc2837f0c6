package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"gatehouse/core"
	"gatehouse/gatekeepers/library"
	"gatehouse/skills"
	"gatehouse/tui"
)

// screenLibrary is the skill library of the screens, for the person who runs
// this process.
type screenLibrary struct {
	d  *desk
	by core.Authority
}

// Shelves lists the collections by id, the built-in one included.
func (s screenLibrary) Shelves(ctx context.Context) ([]tui.Shelf, error) {
	entries, err := s.d.shelf.Entries(ctx, s.d.scope)
	if err != nil {
		return nil, err
	}
	var out []tui.Shelf
	for _, c := range entries {
		n, err := s.d.shelf.Counts(ctx, s.d.scope, c.ID)
		if skills.CodeOf(err) == skills.CodeNotFound || c.ID == skills.BundledCollection {
			continue // removed meanwhile, or hidden by what is built in
		}
		if err != nil {
			return nil, err
		}
		out = append(out, tui.Shelf{
			Collection: c.Collection, Place: c.Place, ImportedAt: c.ImportedAt, Documents: n.Documents, Skills: n.Skills, Broken: n.Broken,
		})
	}
	built, err := s.builtIn(ctx)
	if err != nil {
		return nil, err
	}
	out = append(out, built...)
	slices.SortFunc(out, func(a, b tui.Shelf) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return out, nil
}

// builtIn is the collection that is part of the program.
func (s screenLibrary) builtIn(ctx context.Context) ([]tui.Shelf, error) {
	shelf, err := skills.Bundled()
	if err != nil {
		return nil, err
	}
	all, err := shelf.Collections(ctx, s.d.scope)
	if err != nil {
		return nil, err
	}
	var out []tui.Shelf
	for _, c := range all {
		documents, err := shelf.Documents(ctx, s.d.scope, c.ID, 0, skills.ListLimit)
		if err != nil {
			return nil, err
		}
		valid, err := shelf.Skills(ctx, s.d.scope, c.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, tui.Shelf{Collection: c, Documents: len(documents), Skills: len(valid)})
	}
	return out, nil
}

// Documents lists a part of a collection, with how many faults each has.
func (s screenLibrary) Documents(ctx context.Context, id skills.CollectionID, offset, limit int) ([]tui.ShelfDocument, error) {
	listing, err := s.d.library.List(ctx, s.d.scope, skills.Page{Collection: id, Offset: offset, Limit: limit})
	if err != nil {
		return nil, err
	}
	problems, err := s.Problems(ctx, id)
	if err != nil {
		return nil, err
	}
	faults := make(map[string][]skills.Fault, len(problems))
	for _, p := range problems {
		faults[p.Ref.Path] = p.Faults
	}
	out := make([]tui.ShelfDocument, len(listing.Documents))
	for i, d := range listing.Documents {
		out[i].Path = d.Ref.Path
		for _, f := range faults[d.Ref.Path] {
			if f.Severity() == skills.SeverityError {
				out[i].Errors++
			} else {
				out[i].Warnings++
			}
		}
	}
	return out, nil
}

// Problems lists the documents of a collection that have faults. The built-in
// skills have none: a test of theirs says so.
func (s screenLibrary) Problems(ctx context.Context, id skills.CollectionID) ([]skills.Problem, error) {
	if id == skills.BundledCollection {
		return nil, nil
	}
	return s.d.shelf.Problems(ctx, s.d.scope, id)
}

// Document reads one, and says from which file it was imported.
func (s screenLibrary) Document(ctx context.Context, ref skills.Ref) (tui.LibraryDocument, error) {
	_, d, err := s.d.all.Document(ctx, s.d.scope, ref)
	if err != nil {
		return tui.LibraryDocument{}, err
	}
	out := tui.LibraryDocument{Document: d}
	if ref.Collection == skills.BundledCollection {
		return out, nil
	}
	entry, err := s.d.shelf.Entry(ctx, s.d.scope, ref.Collection)
	if err == nil && entry.Place != "" {
		out.File = filepath.Join(entry.Place, filepath.FromSlash(ref.Path))
	}
	return out, err
}

// Search finds documents that the person may read.
func (s screenLibrary) Search(ctx context.Context, q skills.Query) ([]skills.Hit, error) {
	return s.d.library.Search(ctx, s.d.scope, q)
}

// Change compares a document with the person's last use of it.
func (s screenLibrary) Change(ctx context.Context, d skills.Document) (skills.Change, error) {
	last, err := s.d.shelf.LastUse(ctx, s.d.who(), d.Ref)
	if err != nil {
		return skills.Change{}, err
	}
	return skills.ChangeSince(last, s.d.who(), d), nil
}

// Catalog is what the agent of a session is told, and why the rest is not: of
// what the person may read.
func (s screenLibrary) Catalog(ctx context.Context, session core.SessionID) (tui.SessionCatalog, error) {
	summary, err := s.d.kernel.Session(ctx, string(session))
	if err != nil {
		return tui.SessionCatalog{}, err
	}
	scope, err := s.d.present(ctx, session)
	if err != nil {
		return tui.SessionCatalog{}, withFaultHint(err)
	}
	out := tui.SessionCatalog{Session: session, Name: summary.Name}
	bound, err := s.d.kernel.Bindings(ctx, string(session))
	if err != nil {
		return tui.SessionCatalog{}, err
	}
	out.Bound = slices.ContainsFunc(bound, func(b core.Binding) bool { return b.Kind == library.Kind })
	if out.Pinned, err = s.d.shelf.Pinned(ctx, session); err != nil {
		return tui.SessionCatalog{}, err
	}
	if out.Catalog, err = s.d.library.Catalog(ctx, scope, out.Pinned); err != nil {
		return tui.SessionCatalog{}, err
	}
	candidates, err := s.candidates(ctx, out.Pinned)
	if err != nil {
		return tui.SessionCatalog{}, err
	}
	out.LeftOut = skills.LeavesOut(scope, candidates, out.Catalog)
	return out, nil
}

// candidates are the collections that the person may read, with their skills.
func (s screenLibrary) candidates(ctx context.Context, pinned []skills.CollectionID) ([]skills.Candidate, error) {
	all, err := s.d.all.Collections(ctx, s.d.scope)
	if err != nil {
		return nil, err
	}
	var out []skills.Candidate
	for _, c := range all {
		candidate := skills.Candidate{Collection: c, Pinned: slices.Contains(pinned, c.ID)}
		candidate.Skills, err = s.d.all.Skills(ctx, s.d.scope, c.ID)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		candidate.Failed = err != nil
		out = append(out, candidate)
	}
	return out, nil
}

// Pin pins a collection, as gatehouse skills pin does.
func (s screenLibrary) Pin(ctx context.Context, id skills.CollectionID, session core.SessionID) error {
	return withFaultHint(s.d.pin(ctx, s.by, string(id), session))
}

// Unpin takes a pin away, as gatehouse skills unpin does.
func (s screenLibrary) Unpin(ctx context.Context, id skills.CollectionID, session core.SessionID) error {
	return withFaultHint(s.d.unpin(ctx, s.by, string(id), session))
}

// withFaultHint says what to do on the same line.
func withFaultHint(err error) error {
	var wrong *fault
	if errors.As(err, &wrong) && wrong.hint != "" {
		return fmt.Errorf("%s; %s", wrong.message, wrong.hint)
	}
	return err
}
