package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Backup writes a copy of the store as it is now to a new file that only this user can read. It does not stop others
// from reading or writing. A file that is there already is ErrExists; after an error there is none.
func (db *DB) Backup(ctx context.Context, dest string) error {
	dest, err := filepath.Abs(dest)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	if _, err := os.Lstat(dest); err == nil {
		return fmt.Errorf("backup %s: %w; give another name", dest, ErrExists)
	}
	part, err := newPart(dest)
	if err != nil {
		return fmt.Errorf("backup %s: %w", dest, err)
	}
	err = db.copyTo(ctx, part)
	if err == nil {
		err = publish(part, dest)
	}
	if removed := os.Remove(part); removed != nil && !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	if err != nil {
		return fmt.Errorf("backup %s: %w", dest, explain(db.path, err))
	}
	return nil
}

// newPart makes an empty file beside dest, with nobody else able to read it before anything is in it.
func newPart(dest string) (string, error) {
	var random [6]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", err
	}
	part := dest + ".part-" + hex.EncodeToString(random[:])
	f, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	return part, f.Close()
}

// copyTo lets SQLite write a copy into an empty file. The context interrupts it.
func (db *DB) copyTo(ctx context.Context, part string) (err error) {
	if db.closed.Load() {
		return ErrClosed
	}
	l, err := db.connectReader(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	_, err = l.conn.ExecContext(ctx, `VACUUM INTO ?`, part)
	return err
}

// publish makes the copy durable and gives it its name, which nobody else may have taken meanwhile.
func publish(part, dest string) error {
	if err := syncFile(part); err != nil {
		return err
	}
	if err := os.Link(part, dest); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return ErrExists
		}
		// Some file systems have no links; there the window between the look and the rename stays open.
		if _, err := os.Lstat(dest); err == nil {
			return ErrExists
		}
		if err := os.Rename(part, dest); err != nil {
			return err
		}
	}
	return syncFile(filepath.Dir(dest))
}

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
