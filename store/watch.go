package store

import (
	"context"
	"fmt"
	"sync"
)

// Watch tells whether the store changed, whoever changed it, for front ends that ask at every tick. Its methods may be
// called from several goroutines at once.
type Watch struct {
	db   *DB
	mu   sync.Mutex
	link *link // never in a transaction: the version it sees is the newest
	seen int64
}

// Watch begins to watch from the present state on. Close it before the store.
func (db *DB) Watch(ctx context.Context) (*Watch, error) {
	if db.closed.Load() {
		return nil, fmt.Errorf("%s: %w", db.path, ErrClosed)
	}
	l, err := db.connectReader(ctx)
	if err != nil {
		return nil, err
	}
	w := &Watch{db: db, link: l}
	if _, err := w.Changed(ctx); err != nil {
		_ = l.close() // the first error says more
		return nil, err
	}
	return w, nil
}

// Changed reports whether anything was written since it was asked last. It costs one look at the shared memory and one
// at the folder. A store that was replaced or made read-only is core.ErrStoreReplaced (T27).
func (w *Watch) Changed(ctx context.Context) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if err := w.db.Check(); err != nil {
		return false, err
	}
	var version int64
	if err := w.link.one(`PRAGMA data_version`, nil, &version); err != nil {
		return false, explain(w.db.path, err)
	}
	changed := version != w.seen
	w.seen = version
	return changed, nil
}

// Close lets go of the connection.
func (w *Watch) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.link.close()
}
