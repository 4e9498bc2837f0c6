package skills

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// BundledCollection is the id of the collection that is part of the program.
// No other collection can have it.
const BundledCollection CollectionID = "gatehouse"

//go:embed bundled
var bundledFiles embed.FS

// Bundled returns the skills that are part of the program, as a shelf of their
// own that everybody reads. Nobody can change them but by a new version.
func Bundled() (*MemoryShelf, error) {
	shelf := &MemoryShelf{}
	shelf.PutCollection(Collection{
		ID: BundledCollection, Title: "Built in", Description: "Skills for operators that come with Gatehouse.",
		Visibility: VisibilityPublic, Source: Source{Kind: SourceBuiltIn},
	})
	err := fs.WalkDir(bundledFiles, "bundled", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := bundledFiles.ReadFile(path)
		if err != nil {
			return err
		}
		d, err := NewDocument(Ref{Collection: BundledCollection, Path: strings.TrimPrefix(path, "bundled/")}, content)
		if err != nil {
			return err
		}
		d.Author = AccountID(BundledCollection)
		return shelf.Put(context.Background(), d)
	})
	if err != nil {
		return nil, fmt.Errorf("built-in skills: %w", err)
	}
	return shelf, nil
}

// WithBundled adds the built-in skills to a shelf and its engine. They stand in
// the place of a stored collection of the same id.
func WithBundled(shelf Shelf, engine Engine) (Shelf, Engine, error) {
	built, err := Bundled()
	if err != nil {
		return nil, nil, err
	}
	return withBundled{stored: shelf, built: built}, bundledEngine{stored: engine, built: &built.Engine}, nil
}

// withBundled is two shelves side by side.
type withBundled struct{ stored, built Shelf }

func (w withBundled) of(id CollectionID) Shelf {
	if id == BundledCollection {
		return w.built
	}
	return w.stored
}

func (w withBundled) Collections(ctx context.Context, scope Scope) ([]Collection, error) {
	stored, err := w.stored.Collections(ctx, scope)
	if err != nil {
		return nil, err
	}
	built, err := w.built.Collections(ctx, scope)
	stored = slices.DeleteFunc(slices.Clone(stored), func(c Collection) bool { return c.ID == BundledCollection })
	return append(stored, built...), err
}

func (w withBundled) Documents(ctx context.Context, scope Scope, id CollectionID, offset, limit int) ([]Document, error) {
	return w.of(id).Documents(ctx, scope, id, offset, limit)
}

func (w withBundled) Skills(ctx context.Context, scope Scope, id CollectionID) ([]Skill, error) {
	return w.of(id).Skills(ctx, scope, id)
}

func (w withBundled) Document(ctx context.Context, scope Scope, ref Ref) (Collection, Document, error) {
	return w.of(ref.Collection).Document(ctx, scope, ref)
}

// bundledEngine finds in both. Put and Remove are for what is stored.
type bundledEngine struct{ stored, built Engine }

func (e bundledEngine) Put(ctx context.Context, entry Entry) error {
	if entry.Ref.Collection == BundledCollection {
		return builtInError()
	}
	return e.stored.Put(ctx, entry)
}

func (e bundledEngine) Remove(ctx context.Context, ref Ref) error {
	if ref.Collection == BundledCollection {
		return builtInError()
	}
	return e.stored.Remove(ctx, ref)
}

// Find merges two answers that are each in order: the first of both are the
// first of all.
func (e bundledEngine) Find(ctx context.Context, t Terms, scope Scope, limit int) ([]Match, error) {
	stored, err := e.stored.Find(ctx, t, scope, limit)
	if err != nil {
		return nil, err
	}
	built, err := e.built.Find(ctx, t, scope, limit)
	if err != nil {
		return nil, err
	}
	all := append(slices.DeleteFunc(slices.Clone(stored), func(m Match) bool { return m.Ref.Collection == BundledCollection }), built...)
	slices.SortFunc(all, compareMatches)
	return all[:min(limit, len(all))], nil
}

func builtInError() error {
	return &RefusedError{
		Code: CodeBadCollection, Text: "collection " + shown(string(BundledCollection)) + ": is built in and cannot be changed",
		Hint: "copy the skill into a collection of your own",
	}
}
