package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"gatehouse/core"
)

// DB is an open store. Its methods may be called from several goroutines at once.
type DB struct {
	path   string      // links resolved
	opened os.FileInfo // what the path named when it was opened

	turn   chan struct{} // holds one token: who has it may write
	lock   sideLock
	writer *link
	writes *sql.DB

	reads   *sql.DB
	reading chan struct{} // holds a token for each snapshot that may be looked at
	mu      sync.Mutex
	idle    []*link // connections that read nothing now; the last one used is the first one taken

	closed atomic.Bool
	anchor anchor
}

var _ core.Store = (*DB)(nil)

// readerCount is how many snapshots one process can look at together; more wait.
const readerCount = 4

// Path is where the store lies, links resolved.
func (db *DB) Path() string { return db.path }

// Check compares the file that the path names now with the one that was opened. A store that was replaced, removed or
// made read-only is core.ErrStoreReplaced: writes to it would be lost without any error (T27).
func (db *DB) Check() error {
	info, err := os.Lstat(db.path)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w (%w); close the program and open the store again", db.path, core.ErrStoreReplaced, err)
	case !os.SameFile(info, db.opened):
		return fmt.Errorf("%s: %w: it is another file now; close the program and open the store again", db.path, core.ErrStoreReplaced)
	case info.Mode() != db.opened.Mode():
		return fmt.Errorf("%s: %w: its mode was %s and is %s; set it back, or open the store again",
			db.path, core.ErrStoreReplaced, db.opened.Mode(), info.Mode())
	default:
		return nil
	}
}

// Write implements core.Store. The wait for other writers ends with the context; once fn has returned the commit is no
// longer interrupted.
func (db *DB) Write(ctx context.Context, fn func(core.Tx) error) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	if err := db.Check(); err != nil {
		return err
	}
	return explain(db.path, db.transact(ctx, func(t *tx) error { return fn(t) }))
}

// enter takes the turn of this process and then the lock that all processes share.
func (db *DB) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-db.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	if db.closed.Load() {
		db.turn <- struct{}{}
		return fmt.Errorf("%s: %w", db.path, ErrClosed)
	}
	if err := db.lock.acquire(ctx); err != nil {
		db.turn <- struct{}{}
		return err
	}
	return nil
}

func (db *DB) leave() {
	db.lock.release()
	db.turn <- struct{}{}
}

func (db *DB) transact(ctx context.Context, fn func(*tx) error) error {
	if _, err := db.writer.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	committed := false
	defer func() {
		if !committed { // also when fn panics
			_, _ = db.writer.exec("ROLLBACK") // fails only where SQLite has rolled back by itself
		}
	}()
	t := &tx{view: view{ctx: ctx, l: db.writer}}
	if err := fn(t); err != nil {
		return err
	}
	if err := t.saveHead(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, err := db.writer.exec("COMMIT"); err != nil {
		return err
	}
	committed = true
	if t.appended {
		db.anchorSoon()
	}
	return nil
}

// Read implements core.Store: one snapshot, which later writes do not change. It never waits for a writer.
func (db *DB) Read(ctx context.Context, fn func(core.View) error) error {
	return db.snapshot(ctx, func(v *view) error { return fn(v) })
}

func (db *DB) snapshot(ctx context.Context, fn func(*view) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-db.reading:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { db.reading <- struct{}{} }()
	l, err := db.reader(ctx)
	if err != nil {
		return err
	}
	defer db.putBack(l)
	if _, err := l.exec("BEGIN"); err != nil {
		return explain(db.path, err)
	}
	defer func() {
		_, ended := l.exec("ROLLBACK")
		err = explain(db.path, errors.Join(err, ended))
	}()
	return fn(&view{ctx: ctx, l: l})
}

// reader takes an idle connection, or makes one.
func (db *DB) reader(ctx context.Context) (*link, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed.Load() {
		return nil, fmt.Errorf("%s: %w", db.path, ErrClosed)
	}
	if n := len(db.idle); n > 0 {
		l := db.idle[n-1]
		db.idle = db.idle[:n-1]
		return l, nil
	}
	return db.connectReader(context.WithoutCancel(ctx))
}

func (db *DB) putBack(l *link) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.idle = append(db.idle, l)
}

// connectReader makes one more connection that cannot write. It is made by name, so that the file may be another by now.
func (db *DB) connectReader(ctx context.Context) (*link, error) {
	l, err := newLink(ctx, db.reads)
	if replaced := db.Check(); replaced != nil {
		if err == nil {
			_ = l.close() // the first error says more
		}
		return nil, replaced
	}
	return l, explain(db.path, err)
}

// Close waits for transactions that run and lets go of the file. A second Close does nothing.
func (db *DB) Close() error {
	db.anchorLast()
	if db.closed.Swap(true) {
		return nil
	}
	<-db.turn
	defer func() { db.turn <- struct{}{} }()
	var errs []error
	for range readerCount { // and give no token back before all connections are idle
		<-db.reading
	}
	for _, l := range db.idle {
		errs = append(errs, l.close())
	}
	for range readerCount {
		db.reading <- struct{}{} // whoever waited finds the store closed
	}
	errs = append(errs, db.reads.Close())
	// The last connection to close writes the log back into the file, which is a write like any other.
	errs = append(errs, db.lock.acquire(context.Background()), db.writer.close(), db.writes.Close())
	db.lock.release()
	db.lock.close()
	return errors.Join(errs...)
}

// view is what can be asked, over one snapshot or within one transaction.
type view struct {
	ctx  context.Context
	l    *link
	held *head // as this transaction has changed it; nil where it has not
}

var _ core.View = (*view)(nil)

// tx is a view that can change things.
type tx struct {
	view
	appended bool // to the record
}

var _ core.Tx = (*tx)(nil)
