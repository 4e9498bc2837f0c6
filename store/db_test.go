package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/core"
)

func TestWriteIsAllOrNothing(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	stop := errors.New("stop")
	change := func(tx core.Tx) error {
		a := draftOf(s, "a")
		return firstError(tx.InsertAction(&a), tx.Observe(s, 0, noon, a.Draft.Found), tx.Append(core.Entry{At: noon, Type: core.EventRead}))
	}
	err := db.Write(background, func(tx core.Tx) error { return errors.Join(change(tx), stop) })
	if !errors.Is(err, stop) {
		t.Errorf("got %v, want what fn returned", err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = db.Write(background, func(tx core.Tx) error {
			if err := change(tx); err != nil {
				t.Error(err)
			}
			panic("inside")
		})
	}()
	ctx, cancel := context.WithCancel(background)
	err = db.Write(ctx, func(tx core.Tx) error {
		cancel()
		return change(tx)
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	read(t, db, func(v core.View) error {
		page, err := v.Queue(core.QueueQuery{Count: true})
		if len(page.Rows) != 0 || page.Newest != 0 || page.Waiting != 0 {
			t.Errorf("left behind: %+v", page)
		}
		if n, err := v.CountObservations(s); n != 0 || err != nil {
			t.Errorf("%d units left behind (%v)", n, err)
		}
		return err
	})
	if a := submit(t, db, draftOf(s, "a")); a.ID != 1 {
		t.Errorf("id %d after what was undone, want 1", a.ID)
	}
}

func TestReadIsOneSnapshot(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	submit(t, db, draftOf(s, "a"))
	read(t, db, func(v core.View) error {
		before, err := v.CountOpen(s, "SITE")
		if err != nil {
			return err
		}
		submit(t, db, draftOf(s, "b")) // would wait for ever if reads held anything up
		after, err := v.CountOpen(s, "SITE")
		if before != 1 || after != 1 {
			t.Errorf("%d, then %d, want 1 both times", before, after)
		}
		return err
	})
}

func TestReadersCannotWrite(t *testing.T) {
	db := openNew(t)
	read(t, db, func(v core.View) error {
		_, err := v.(*view).l.exec(`DELETE FROM session`)
		if !errors.Is(explain("x", err), ErrReadOnly) {
			t.Errorf("got %v, want a refusal", err)
		}
		return nil
	})
}

func TestWriteWaitsForOtherProcessesAndItsContext(t *testing.T) {
	db := openNew(t)
	newSession(t, db, "one")
	_, end := started(t, helper(t, "hold", db.Path()))
	ctx, cancel := context.WithCancel(background)
	waits := make(chan error, 1)
	go func() { waits <- db.Write(ctx, func(core.Tx) error { return nil }) }()
	cancel()
	if err := <-waits; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	// The wait that was given up must not take the lock from the next one.
	go func() {
		waits <- db.Write(background, func(tx core.Tx) error { return tx.RenameSession("s1", "two", noon) })
	}()
	end()
	if err := <-waits; err != nil {
		t.Error(err)
	}
}

func TestLockFileThatIsRemovedStillExcludes(t *testing.T) {
	db := openNew(t)
	if err := os.Remove(db.Path() + ".lock"); err != nil {
		t.Fatal(err)
	}
	newSession(t, db, "one")
	if _, err := os.Stat(db.Path() + ".lock"); err != nil {
		t.Errorf("the lock is held on a file that others do not see: %v", err)
	}
}

func TestT27_StoreReplacedOrMadeReadOnly(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path string){
		"replaced": func(t *testing.T, path string) {
			other := filepath.Join(t.TempDir(), "other.db")
			closedStore(t, other)
			if err := os.Rename(other, path); err != nil {
				t.Fatal(err)
			}
		},
		"removed": func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		},
		"read-only": func(t *testing.T, path string) {
			if err := os.Chmod(path, 0o400); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := openNew(t)
			newSession(t, db, "one")
			look := func(v core.View) error {
				_, err := v.Session("one")
				return err
			}
			read(t, db, look)
			w, err := db.Watch(background)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			}()
			change(t, db.Path())
			called := false
			err = db.Write(background, func(core.Tx) error { called = true; return nil })
			if !errors.Is(err, core.ErrStoreReplaced) || called {
				t.Errorf("write: %v (ran: %t), want a refusal before anything ran", err, called)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("not one line: %q", err)
			}
			if _, err := w.Changed(background); !errors.Is(err, core.ErrStoreReplaced) {
				t.Errorf("watch: %v", err)
			}
			read(t, db, func(v core.View) error { // what is open can still be looked at; what would be opened anew is refused
				if err := db.Read(background, look); !errors.Is(err, core.ErrStoreReplaced) {
					t.Errorf("a new connection: %v", err)
				}
				return look(v)
			})
		})
	}
}

func TestClosedStoreSaysSo(t *testing.T) {
	db, err := Open(background, Options{Path: filepath.Join(t.TempDir(), "g.db")})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Write(background, func(core.Tx) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("write: %v", err)
	}
	if err := db.Read(background, func(core.View) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("read: %v", err)
	}
	if _, err := db.Watch(background); !errors.Is(err, ErrClosed) {
		t.Errorf("watch: %v", err)
	}
	if err := db.Backup(background, filepath.Join(t.TempDir(), "b")); !errors.Is(err, ErrClosed) {
		t.Errorf("backup: %v", err)
	}
}

func TestWatchSeesEveryonesWrites(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	submit(t, db, draftOf(s, "a"))
	w, err := db.Watch(background)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	expect := func(when string, want bool) {
		t.Helper()
		got, err := w.Changed(background)
		if err != nil || got != want {
			t.Errorf("%s: %t (%v), want %t", when, got, err, want)
		}
	}
	expect("at the beginning", false)
	newSession(t, db, "two")
	expect("after a write of this process", true)
	expect("again", false)
	read(t, db, func(v core.View) error { _, err := v.Connections(); return err })
	expect("after a read", false)
	together(t, helper(t, "write", db.Path(), countVariable+"=1"))
	expect("after a write of another process", true)
}
