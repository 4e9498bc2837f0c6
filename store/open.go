package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
	sqlite3 "modernc.org/sqlite/lib"

	"gatehouse/core"
)

// Options say which store to open.
type Options struct {
	Path string // of the file; made, with its folder, where there is none

	// Anchors is the folder in which the heads of records are kept outside their stores (kernel R33); empty keeps none.
	// What is wrong with it stops nothing and is told to AnchorFault, if that is not nil.
	Anchors     string
	AnchorFault func(error)
}

// applicationID marks a file as a store of this program ("GATE"); it is in the file before anything else is.
const applicationID = 0x47415445

// Open opens the store, making it where there is none and bringing it up to the schema of this program. A file that is
// not a store is core.ErrForeignFile, one of a newer program core.ErrNewerSchema, a damaged one ErrDamaged, one that
// cannot be written ErrReadOnly; none of them is changed.
func Open(ctx context.Context, options Options) (*DB, error) {
	path, err := place(options.Path)
	if err != nil {
		return nil, err
	}
	db := &DB{
		path:    path,
		turn:    make(chan struct{}, 1),
		lock:    sideLock{path: path + ".lock"},
		reading: make(chan struct{}, readerCount),
		anchor:  anchor{folder: options.Anchors, fault: options.AnchorFault, every: anchorEvery},
	}
	if err := db.refuse(ctx); err != nil {
		return nil, err
	}
	if err := db.lock.acquire(ctx); err != nil {
		return nil, err
	}
	defer db.lock.release()
	if err := db.open(ctx); err != nil {
		return nil, errors.Join(explain(path, err), db.abandon())
	}
	db.turn <- struct{}{}
	for range readerCount {
		db.reading <- struct{}{}
	}
	return db, nil
}

// place makes the path absolute, resolves links, so that all processes lock one side file, and refuses what SQLite
// would only stumble over.
func place(path string) (string, error) {
	if path == "" {
		return "", errors.New("store: no path; give one with --store")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("store %s: its folder cannot be made: %w", path, err)
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	path = filepath.Join(folder, filepath.Base(path))
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path, folder = resolved, filepath.Dir(resolved)
	}
	if unix.Access(folder, unix.W_OK|unix.X_OK) != nil {
		return "", fmt.Errorf("%s: %w: its folder cannot be written; make it writable or give another path with --store", path, ErrReadOnly)
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, nil
	case err != nil:
		return "", fmt.Errorf("%s: %w", path, err)
	case info.IsDir():
		return "", fmt.Errorf("%s: %w: it is a folder; give the path of a file with --store", path, core.ErrForeignFile)
	case info.Mode()&fs.ModeSymlink != 0:
		return "", fmt.Errorf("%s: %w: it is a link to nothing; remove it or give another path with --store", path, core.ErrForeignFile)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s: %w: it is no regular file; give another path with --store", path, core.ErrForeignFile)
	case unix.Access(path, unix.R_OK|unix.W_OK) != nil:
		return "", fmt.Errorf("%s: %w: the file cannot be read and written; make it writable or give another path with --store", path, ErrReadOnly)
	default:
		return path, nil
	}
}

// refuse finds a file that is not a store before a side file is made beside it. Where there is a side file the answer
// has to wait for the lock: another process may just be making the store.
func (db *DB) refuse(ctx context.Context) error {
	if _, err := os.Lstat(db.lock.path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if info, err := os.Lstat(db.path); err != nil || info.Size() == 0 {
		return nil
	}
	return explain(db.path, db.probe(ctx))
}

// open runs under the side lock.
func (db *DB) open(ctx context.Context) error {
	fresh, err := db.claim()
	if err != nil {
		return err
	}
	if !fresh {
		if err := db.probe(ctx); err != nil {
			return err
		}
	}
	if db.writes, err = sql.Open("sqlite", dsn(db.path, "rwc", true)); err != nil {
		return err
	}
	db.writes.SetMaxOpenConns(1)
	if err := connect(ctx, db.writes); err != nil {
		return err
	}
	if err := db.ours(ctx, db.writes); err != nil {
		return err
	}
	if err := migrate(ctx, db.writes, db.path); err != nil {
		return err
	}
	if db.writer, err = newLink(ctx, db.writes); err != nil {
		return err
	}
	if err := db.writer.verifyPragmas(); err != nil {
		return fmt.Errorf("%s: %w", db.path, err)
	}
	if db.reads, err = sql.Open("sqlite", dsn(db.path, "ro", false)); err != nil {
		return err
	}
	db.opened, err = os.Lstat(db.path)
	return err
}

// claim makes the file where there is none, with nobody else able to read it, and writes the mark into it before the
// file is anything else. An empty file is taken as none.
func (db *DB) claim() (fresh bool, err error) {
	info, err := os.Lstat(db.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f, err := os.OpenFile(db.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return false, fmt.Errorf("%s: %w", db.path, err)
		}
		if err := f.Close(); err != nil { // nobody has it open yet: there are no locks to lose
			return false, fmt.Errorf("%s: %w", db.path, err)
		}
	case err != nil:
		return false, fmt.Errorf("%s: %w", db.path, err)
	case info.Size() > 0:
		return false, nil
	default: // an empty file that somebody made becomes the store, for its owner alone
		if err := os.Chmod(db.path, 0o600); err != nil {
			return false, fmt.Errorf("%s: %w", db.path, err)
		}
	}
	pool, err := sql.Open("sqlite", "file:"+(&url.URL{Path: db.path}).EscapedPath()+"?mode=rw&_busy_timeout=5000")
	if err != nil {
		return false, err
	}
	_, err = pool.Exec(fmt.Sprintf("PRAGMA application_id = %d", applicationID))
	return true, errors.Join(err, pool.Close())
}

// probe looks whether a file is a store, without a lock and without touching it or anything beside it.
func (db *DB) probe(ctx context.Context) error {
	pool, err := sql.Open("sqlite", "file:"+(&url.URL{Path: db.path}).EscapedPath()+"?mode=ro&immutable=1")
	if err != nil {
		return err
	}
	err = db.ours(ctx, pool)
	if closed := pool.Close(); err == nil {
		err = closed
	}
	if code(err) == sqlite3.SQLITE_CORRUPT && db.logged() {
		// A process was killed while it wrote its log back into the file, whose beginning is newer than its end until that
		// is done. This look leaves the log out; the first real connection goes on with it, and looks again.
		return nil
	}
	return err
}

// logged reports that there is a write-ahead log beside the file.
func (db *DB) logged() bool {
	info, err := os.Lstat(db.path + "-wal")
	return err == nil && info.Size() > 0
}

// ours looks for the mark of this program.
func (db *DB) ours(ctx context.Context, pool *sql.DB) error {
	var id int64
	err := pool.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id)
	switch {
	case code(err) == sqlite3.SQLITE_NOTADB || (err == nil && id != applicationID):
		return fmt.Errorf("%s: %w, or its beginning is damaged; give another path with --store, or restore a backup", db.path, core.ErrForeignFile)
	default:
		return err
	}
}

// abandon closes what a failed open has opened.
func (db *DB) abandon() error {
	var errs []error
	if db.writer != nil {
		errs = append(errs, db.writer.close())
	}
	if db.writes != nil {
		errs = append(errs, db.writes.Close())
	}
	if db.reads != nil {
		errs = append(errs, db.reads.Close())
	}
	db.lock.close()
	return errors.Join(errs...)
}

// busyTimeout is how long SQLite itself waits for programs that do not know the side lock.
const busyTimeout = 5 * time.Second

// dsn is the address of the file for a pool that writes, or for one that cannot.
func dsn(path, mode string, write bool) string {
	q := url.Values{"mode": {mode}, "_busy_timeout": {fmt.Sprint(busyTimeout.Milliseconds())}, "_foreign_keys": {"1"}}
	if write {
		q.Set("_journal_mode", "WAL")
		q.Set("_synchronous", "FULL")
		q.Set("_txlock", "immediate")
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}

// connect makes the first connection. Switching a new file to its write-ahead log does not heed the busy timeout, so
// that a busy answer is asked again; the wait between is SQLite's own.
func connect(ctx context.Context, pool *sql.DB) error {
	const attempts = 50
	var err error
	for n := range attempts {
		err = pool.PingContext(ctx)
		if c := code(err); c != sqlite3.SQLITE_BUSY && c != sqlite3.SQLITE_LOCKED && c != sqlite3.SQLITE_CANTOPEN {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(n+1) * time.Millisecond):
		}
	}
	return err
}

// verifyPragmas reads back what the address asked for: a misspelt pragma is accepted in silence.
func (l *link) verifyPragmas() error {
	for _, p := range []struct{ name, want string }{
		{"journal_mode", "wal"},
		{"synchronous", "2"},
		{"foreign_keys", "1"},
		{"busy_timeout", fmt.Sprint(busyTimeout.Milliseconds())},
		{"application_id", fmt.Sprint(applicationID)},
	} {
		var got string
		if err := l.one("PRAGMA "+p.name, nil, &got); err != nil {
			return err
		}
		if got != p.want {
			return fmt.Errorf("pragma %s is %s, not %s; this file system or build cannot hold a store", p.name, got, p.want)
		}
	}
	return nil
}
