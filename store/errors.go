package store

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Errors to branch on. Those that core branches on are core's.
var (
	ErrDamaged  = errors.New("store is damaged")
	ErrReadOnly = errors.New("store is read-only")
	ErrExists   = errors.New("file exists already")
	ErrClosed   = errors.New("store is closed")
)

// code is SQLite's primary result code, or 0 where the error is not SQLite's.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// full reports that there was no room: on the disk, or for the side files that SQLite makes when it opens.
func full(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return errors.Is(err, syscall.ENOSPC)
	}
	return e.Code()&0xff == sqlite3.SQLITE_FULL || e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE
}

// explain puts what a person can do about it in front of an error of SQLite; other errors pass as they are.
func explain(path string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if full(err) {
		return fmt.Errorf("%s: the disk is full; free some space, nothing was changed (%w)", path, err)
	}
	switch code(err) {
	case sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("%s: %w; keep a copy of it and restore a backup (%w)", path, ErrDamaged, err)
	case sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%s: %w; restore a backup (%w)", path, ErrDamaged, err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return fmt.Errorf("%s: %w; make the file and its folder writable (%w)", path, ErrReadOnly, err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%s: another program holds the database; close it and try again (%w)", path, err)
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR:
		return fmt.Errorf("%s: cannot be read or written; look at the disk and at the permissions of the folder (%w)", path, err)
	default:
		return err
	}
}

// constraint reports that a statement broke a rule of the schema: a unique key, a check, a trigger.
func constraint(err error) bool { return code(err) == sqlite3.SQLITE_CONSTRAINT }
