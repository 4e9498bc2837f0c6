package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"gatehouse/core"
)

// anchor keeps the head of the record in a small file outside the store (kernel R33): at most once a second, and at the
// close. It is written by rename and not synced: no transaction waits for it, and one that is lost lags behind, which is
// nothing against the record.
type anchor struct {
	folder string // empty keeps none
	fault  func(error)
	every  time.Duration

	moving sync.Mutex  // held while the file is written; taken before mu
	mu     sync.Mutex  // held by nobody who waits: commits take it
	timer  *time.Timer // runs while there are rows that are not anchored
}

const (
	anchorEvery = time.Second
	anchorLimit = 4096 // bytes of a file that can be one
	// Another process holds the folder for one small write; one that holds it longer is stopped, and ours waits for the next.
	anchorTries, anchorPause = 40, 5 * time.Millisecond
)

var _ core.Anchors = (*DB)(nil)

// ID names this store wherever its file goes.
func (db *DB) ID(ctx context.Context) (id string, err error) {
	err = db.snapshot(ctx, func(v *view) (err error) {
		id, err = v.identity()
		return err
	})
	return id, err
}

func (v *view) identity() (id string, err error) {
	err = v.l.one(`SELECT id FROM store_identity`, nil, &id)
	return id, err
}

// anchorSoon is called after each commit that added to the record.
func (db *DB) anchorSoon() {
	if db.anchor.folder == "" {
		return
	}
	db.anchor.mu.Lock()
	defer db.anchor.mu.Unlock()
	if db.anchor.timer == nil {
		db.anchor.timer = time.AfterFunc(db.anchor.every, db.anchorLast)
	}
}

// anchorLast anchors what is not anchored yet.
func (db *DB) anchorLast() {
	db.anchor.moving.Lock()
	defer db.anchor.moving.Unlock()
	if !db.anchor.takeDue() {
		return
	}
	if err := db.moveAnchor(context.Background(), onwards); err != nil && db.anchor.fault != nil {
		db.anchor.fault(err)
	}
}

// takeDue reports whether there are rows to anchor, and from here on there are none.
func (a *anchor) takeDue() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer == nil {
		return false
	}
	a.timer.Stop()
	a.timer = nil
	return true
}

// Reanchor implements core.Anchors.
func (db *DB) Reanchor(ctx context.Context) error {
	if db.anchor.folder == "" {
		return errors.New("anchor: no folder is set for it")
	}
	db.anchor.moving.Lock()
	defer db.anchor.moving.Unlock()
	return db.moveAnchor(ctx, anywhere)
}

// AnchorPath is the file of the anchor; empty where none is kept.
func (db *DB) AnchorPath(ctx context.Context) (string, error) {
	if db.anchor.folder == "" {
		return "", nil
	}
	id, err := db.ID(ctx)
	return db.anchorFile(id), err
}

func (db *DB) anchorFile(id string) string { return filepath.Join(db.anchor.folder, id+".json") }

// Anchor implements core.Anchors.
func (db *DB) Anchor() (core.Anchor, error) {
	if db.anchor.folder == "" {
		return core.Anchor{}, core.ErrNotFound
	}
	id, err := db.ID(context.Background())
	if err != nil {
		return core.Anchor{}, err
	}
	return readAnchor(db.anchorFile(id), id)
}

// readAnchor reads an anchor of a store. An empty file is none: a machine that lost power can leave one.
func readAnchor(path, id string) (core.Anchor, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return core.Anchor{}, core.ErrNotFound
	}
	if err != nil {
		return core.Anchor{}, fmt.Errorf("anchor: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	raw, err := io.ReadAll(io.LimitReader(f, anchorLimit))
	if err != nil {
		return core.Anchor{}, fmt.Errorf("anchor: %w", err)
	}
	if len(raw) == 0 {
		return core.Anchor{}, core.ErrNotFound
	}
	var a core.Anchor
	switch err := json.Unmarshal(raw, &a); {
	case err != nil:
		return core.Anchor{}, fmt.Errorf("anchor %s: not one: %w", path, err)
	case a.Store != id:
		return core.Anchor{}, fmt.Errorf("anchor %s: is of another store", path)
	case a.Seq < 1:
		return core.Anchor{}, fmt.Errorf("anchor %s: names no row", path)
	}
	return a, nil
}

// anchorMove says where an anchor may be moved from.
type anchorMove int

const (
	onwards  anchorMove = iota // from an earlier row of this record
	anywhere                   // from whatever it is: a person said so
)

// moveAnchor puts the newest row into the file. The folder is locked and the record read after that, so that no process
// takes the anchor back behind what another has put there. One that a record went away from stays, for a person to see.
func (db *DB) moveAnchor(ctx context.Context, how anchorMove) error {
	if err := os.MkdirAll(db.anchor.folder, 0o700); err != nil {
		return fmt.Errorf("anchor: %w", err)
	}
	folder, err := os.Open(db.anchor.folder)
	if err != nil {
		return fmt.Errorf("anchor: %w", err)
	}
	defer folder.Close() //nolint:errcheck // lets go of the lock; nothing is written to it
	if err := lockFolder(folder); err != nil {
		return err
	}
	return db.snapshot(ctx, func(v *view) error {
		id, err := v.identity()
		if err != nil {
			return err
		}
		head, err := v.newestRow()
		if errors.Is(err, core.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		path := db.anchorFile(id)
		if how == onwards {
			moves, err := v.follows(path, id, head)
			if err != nil || !moves {
				return err
			}
		}
		return writeAnchor(path, core.Anchor{Store: id, Seq: head.Seq, Hash: head.Hash, At: time.Now().UTC()})
	})
}

// follows reports that an anchor is an earlier row of this record, or that there is none.
func (v *view) follows(path, id string, head core.Head) (bool, error) {
	kept, err := readAnchor(path, id)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return true, nil
	case err != nil:
		return false, err
	case kept.Seq >= head.Seq:
		return false, nil
	}
	var hash []byte
	if err := v.l.one(`SELECT hash FROM log WHERE seq = ?`, []any{kept.Seq}, &hash); err != nil {
		return false, err
	}
	return core.CompareAnchor(kept, head, digestOf(hash)) == core.AnchorHolds, nil
}

func (v *view) newestRow() (core.Head, error) {
	var head core.Head
	var hash []byte
	err := v.l.one(`SELECT seq, hash FROM log ORDER BY seq DESC LIMIT 1`, nil, &head.Seq, &hash)
	head.Hash = digestOf(hash)
	return head, err
}

func lockFolder(folder *os.File) error {
	for range anchorTries {
		err := flock(folder, unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return lockError(folder.Name(), err)
		}
		time.Sleep(anchorPause)
	}
	return fmt.Errorf("anchor: %s is locked by another process", folder.Name())
}

// writeAnchor needs the lock of the folder: the name of the part is fixed, so that none is left over for long.
func writeAnchor(path string, a core.Anchor) error {
	raw, err := json.Marshal(a)
	if err != nil {
		return err
	}
	part := path + ".part"
	if err := os.WriteFile(part, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("anchor: %w", err)
	}
	if err := os.Rename(part, path); err != nil {
		return fmt.Errorf("anchor: %w", err)
	}
	return nil
}
