package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/skills"
)

// fakeLibrary is a library in memory that counts what it is asked.
type fakeLibrary struct {
	shelf    skills.MemoryShelf
	shelves  []Shelf
	pins     map[core.SessionID][]skills.CollectionID
	used     map[skills.Ref]skills.Use
	files    map[skills.CollectionID]string
	broken   error
	refuse   error // of Pin and Unpin
	searches int
	given    int // documents handed out
}

func (l *fakeLibrary) scope() skills.Scope { return skills.For("alice") }

func (l *fakeLibrary) library() *skills.Library { return skills.New(&l.shelf, &l.shelf.Engine) }

// put adds a document, and its collection where there is none yet.
func (l *fakeLibrary) put(t testing.TB, c skills.Collection, path, content string) {
	t.Helper()
	at := slices.IndexFunc(l.shelves, func(s Shelf) bool { return s.ID == c.ID })
	if at < 0 {
		l.shelf.PutCollection(c)
		l.shelves = append(l.shelves, Shelf{Collection: c, Place: l.files[c.ID]})
		slices.SortFunc(l.shelves, func(a, b Shelf) int { return strings.Compare(string(a.ID), string(b.ID)) })
		at = slices.IndexFunc(l.shelves, func(s Shelf) bool { return s.ID == c.ID })
	}
	d, err := skills.NewDocument(skills.Ref{Collection: c.ID, Path: path}, []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	d.Author = "bob"
	if err := l.shelf.Put(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	l.shelves[at].Documents++
	if _, ok, faults := skills.Inspect(d); ok {
		l.shelves[at].Skills++
	} else if len(faults) > 0 {
		l.shelves[at].Broken++
	}
}

func (l *fakeLibrary) Shelves(context.Context) ([]Shelf, error) {
	return slices.Clone(l.shelves), l.broken
}

func (l *fakeLibrary) Documents(ctx context.Context, id skills.CollectionID, offset, limit int) ([]ShelfDocument, error) {
	listing, err := l.library().List(ctx, l.scope(), skills.Page{Collection: id, Offset: offset, Limit: limit})
	if err != nil || l.broken != nil {
		return nil, or2(l.broken, err)
	}
	var out []ShelfDocument
	for _, d := range listing.Documents {
		row := ShelfDocument{Path: d.Ref.Path}
		_, whole, _ := l.shelf.Document(ctx, l.scope(), d.Ref)
		_, _, faults := skills.Inspect(whole)
		for _, f := range faults {
			if f.Severity() == skills.SeverityError {
				row.Errors++
			} else {
				row.Warnings++
			}
		}
		out = append(out, row)
	}
	l.given += len(out)
	return out, nil
}

func or2(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func (l *fakeLibrary) Problems(ctx context.Context, id skills.CollectionID) ([]skills.Problem, error) {
	documents, err := l.shelf.Documents(ctx, l.scope(), id, 0, 1000)
	for i := range documents {
		_, documents[i], _ = l.shelf.Document(ctx, l.scope(), documents[i].Ref)
	}
	return skills.Problems(documents), or2(l.broken, err)
}

func (l *fakeLibrary) Document(ctx context.Context, ref skills.Ref) (LibraryDocument, error) {
	_, d, err := l.shelf.Document(ctx, l.scope(), ref)
	out := LibraryDocument{Document: d}
	if place := l.files[ref.Collection]; place != "" {
		out.File = place + "/" + ref.Path
	}
	return out, or2(l.broken, err)
}

func (l *fakeLibrary) Search(ctx context.Context, q skills.Query) ([]skills.Hit, error) {
	l.searches++
	hits, err := l.library().Search(ctx, l.scope(), q)
	return hits, or2(l.broken, err)
}

func (l *fakeLibrary) Change(_ context.Context, d skills.Document) (skills.Change, error) {
	if use, ok := l.used[d.Ref]; ok {
		return skills.ChangeSince(&use, "alice", d), l.broken
	}
	return skills.Change{First: true}, l.broken
}

func (l *fakeLibrary) Catalog(ctx context.Context, session core.SessionID) (SessionCatalog, error) {
	pinned := l.pins[session]
	catalog, err := l.library().Catalog(ctx, l.scope(), pinned)
	if err != nil || l.broken != nil {
		return SessionCatalog{}, or2(l.broken, err)
	}
	var candidates []skills.Candidate
	for _, s := range l.shelves {
		found, _ := l.shelf.Skills(ctx, l.scope(), s.ID)
		candidates = append(candidates, skills.Candidate{Collection: s.Collection, Skills: found, Pinned: slices.Contains(pinned, s.ID)})
	}
	return SessionCatalog{
		Session: session, Name: strings.TrimPrefix(string(session), "s-"), Bound: true, Catalog: catalog, Pinned: pinned,
		LeftOut: skills.LeavesOut(l.scope(), candidates, catalog),
	}, nil
}

func (l *fakeLibrary) Pin(_ context.Context, id skills.CollectionID, session core.SessionID) error {
	if l.refuse == nil {
		l.pins[session] = append(l.pins[session], id)
	}
	return l.refuse
}

func (l *fakeLibrary) Unpin(_ context.Context, id skills.CollectionID, session core.SessionID) error {
	if l.refuse == nil {
		l.pins[session] = slices.DeleteFunc(l.pins[session], func(other skills.CollectionID) bool { return other == id })
	}
	return l.refuse
}

func newFakeLibrary() *fakeLibrary {
	return &fakeLibrary{pins: map[core.SessionID][]skills.CollectionID{}, used: map[skills.Ref]skills.Use{}, files: map[skills.CollectionID]string{}}
}

const deploySkill = `---
name: deploy
description: Roll a release out to staging first, then to production, and back again.
argument-hint: VERSION
---
# Deploy

Check the **queue** first; see [the runbook](https://runbooks.example/deploy "how") and &lt;https&gt;.

- build the image
  1. tag it
  2. push it
- [x] announce it

> Never on a Friday.
> > Or before a holiday.

` + "```sh\nmake release VERSION=$ARGUMENT\n```" + `

| stage      | waits |
|------------|------:|
| staging    | 5m    |
| production | 30m   |
`

const brokenSkill = "---\nname: rollback\ndescription: Use when: a release went wrong\n---\nTake it back.\n"

// runbooks is a library as people know it.
func runbooks(t testing.TB) *fakeLibrary {
	l := newFakeLibrary()
	l.files["runbooks"] = "/srv/runbooks"
	git := skills.Source{Kind: skills.SourceGit, Remote: "git.example/ops/runbooks", Branch: "main", Commit: "4f2a9c01d7e86b35"}
	pub := skills.Collection{ID: "runbooks", Title: "Runbooks", Description: "What the people on duty do.", Visibility: skills.VisibilityPublic, Owner: "bob", Source: git}
	l.put(t, pub, "deploy/SKILL.md", deploySkill)
	l.put(t, pub, "deploy/stages.md", "# Stages\n\nstaging, production\n")
	l.put(t, pub, "drain/SKILL.md", "---\nname: drain\ndescription: Take a host out of service before it is mended.\n---\nDrain it.\n")
	l.put(t, pub, "rollback/SKILL.md", brokenSkill)
	l.shelves[0].ImportedAt = start.Add(-50 * time.Hour)
	mine := skills.Collection{ID: "alice-notes", Title: "Notes", Visibility: skills.VisibilityPrivate, Owner: "alice", Source: skills.Source{Kind: skills.SourceWritten}}
	l.put(t, mine, "triage/SKILL.md", "---\nname: triage\ndescription: Sort the queue by what hurts.\n---\nLook at the oldest first.\n")
	theirs := skills.Collection{ID: "house", Title: "House rules", Visibility: skills.VisibilityPublic, Owner: "bob", Source: skills.Source{Kind: skills.SourceFolder}}
	for i := range 30 {
		l.put(t, theirs, fmt.Sprintf("rule-%02d/SKILL.md", i), fmt.Sprintf("---\nname: rule-%02d\ndescription: House rule number %d.\n---\nKeep it.\n", i, i))
	}
	ref := skills.Ref{Collection: "runbooks", Path: "deploy/SKILL.md"}
	l.used[ref] = skills.Use{
		Account: "alice", Ref: ref, SHA256: "old", At: start.Add(-72 * time.Hour),
		Text: strings.Replace(deploySkill, "Never on a Friday.", "Never at night.", 1),
	}
	return l
}

// withLibrary opens the screens with a library.
func withLibrary(l Library) func(*Options) { return func(o *Options) { o.Library = l } }

// lent is a queue as people know it, where sessions have read the library.
func lent() *fakeKernel {
	k := site()
	unit := core.Unit{Gatekeeper: libraryKind, Service: "lib-1", Name: "runbooks"}
	k.sees("site-refresh", 1, unit, 3)
	k.sees("billing-cleanup", 2, unit, 0)
	return k
}
