package skills

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// MemoryShelf is a [Shelf] that keeps everything in memory, with the engine
// that finds what is on it. It is safe for use by several goroutines. The zero
// value is empty and ready.
type MemoryShelf struct {
	Engine MemoryEngine

	mu          sync.RWMutex
	collections map[CollectionID]Collection
	documents   map[Ref]Document
}

var _ Shelf = (*MemoryShelf)(nil)

// PutCollection keeps the collection, in place of one with the same id.
func (m *MemoryShelf) PutCollection(c Collection) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.collections == nil {
		m.collections, m.documents = map[CollectionID]Collection{}, map[Ref]Document{}
	}
	m.collections[c.ID] = c
}

// Put keeps the document, in place of one with the same ref. Its collection has
// to be there.
func (m *MemoryShelf) Put(ctx context.Context, d Document) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, found := m.collections[d.Ref.Collection]
	if !found {
		return collectionNotFound(d.Ref.Collection)
	}
	m.documents[d.Ref] = d
	return m.Engine.Put(ctx, EntryFor(c, d))
}

// Remove forgets the document; one that is not kept is no error.
func (m *MemoryShelf) Remove(ctx context.Context, ref Ref) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.documents, ref)
	return m.Engine.Remove(ctx, ref)
}

// Collections returns the collections the scope reads.
func (m *MemoryShelf) Collections(_ context.Context, scope Scope) ([]Collection, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var all []Collection
	for _, c := range m.collections {
		if scope.Reads(c) {
			all = append(all, c)
		}
	}
	return all, nil
}

// Documents returns a part of a collection.
func (m *MemoryShelf) Documents(_ context.Context, scope Scope, id CollectionID, offset, limit int) ([]Document, error) {
	all, err := m.all(scope, id)
	if err != nil {
		return nil, err
	}
	all = all[min(offset, len(all)):]
	all = all[:min(limit, len(all))]
	for i := range all {
		all[i].Bytes = nil
	}
	return all, nil
}

// Skills returns the skills of a collection.
func (m *MemoryShelf) Skills(_ context.Context, scope Scope, id CollectionID) ([]Skill, error) {
	all, err := m.all(scope, id)
	if err != nil {
		return nil, err
	}
	var found []Skill
	for _, d := range all {
		if skill, ok, _ := Inspect(d); ok {
			found = append(found, skill)
		}
	}
	return found, nil
}

// Document returns a document and its collection.
func (m *MemoryShelf) Document(_ context.Context, scope Scope, ref Ref) (Collection, Document, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	c, d := m.collections[ref.Collection], m.documents[ref]
	if !scope.Reads(c) || d.Ref != ref {
		return Collection{}, Document{}, notFound(ref)
	}
	return c, d, nil
}

// all returns the documents of a collection by path.
func (m *MemoryShelf) all(scope Scope, id CollectionID) ([]Document, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if c, found := m.collections[id]; !found || !scope.Reads(c) {
		return nil, collectionNotFound(id)
	}
	var all []Document
	for ref, d := range m.documents {
		if ref.Collection == id {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b Document) int { return cmp.Compare(a.Ref.Path, b.Ref.Path) })
	return all, nil
}
