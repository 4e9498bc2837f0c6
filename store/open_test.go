package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/core"
)

// makeFile runs statements on a database of another program.
func makeFile(t *testing.T, path string, statements ...string) {
	t.Helper()
	pool, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	pool.SetMaxOpenConns(1)
	for _, s := range statements {
		if _, err := pool.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
}

// closedStore makes a store with something in it and closes it.
func closedStore(t *testing.T, path string) {
	t.Helper()
	db, err := Open(context.Background(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t, db, "one")
	for range 50 {
		submit(t, db, draftOf(s, "a"))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func overwrite(t *testing.T, path string, at int64, with []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(with, at); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// tree is what lies in a folder: names, and contents by hash. No store in it may be open.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		content, _ := os.ReadFile(filepath.Join(dir, e.Name())) // a folder has none
		sum := sha256.Sum256(content)
		files[e.Name()] = string(sum[:])
	}
	return files
}

func TestOpenRefusesWhatIsNoStore(t *testing.T) {
	for name, c := range map[string]struct {
		make func(t *testing.T, path string)
		want error
	}{
		"folder": {func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}, core.ErrForeignFile},
		"text": {func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(strings.Repeat("dear diary\n", 1000)), 0o644); err != nil {
				t.Fatal(err)
			}
		}, core.ErrForeignFile},
		"one byte": {func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
				t.Fatal(err)
			}
		}, core.ErrForeignFile},
		"database of another program": {func(t *testing.T, path string) {
			makeFile(t, path, `CREATE TABLE session (id TEXT)`, `INSERT INTO session VALUES ('x')`)
		}, core.ErrForeignFile},
		"the same with a write-ahead log": {func(t *testing.T, path string) {
			makeFile(t, path, `PRAGMA journal_mode = WAL`, `PRAGMA application_id = 7`, `CREATE TABLE session (id TEXT)`)
		}, core.ErrForeignFile},
		"newer schema": {func(t *testing.T, path string) {
			closedStore(t, path)
			makeFile(t, path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9000, 1)`)
		}, core.ErrNewerSchema},
		"beginning overwritten": {func(t *testing.T, path string) {
			closedStore(t, path)
			overwrite(t, path, 0, make([]byte, 512))
		}, core.ErrForeignFile},
		"schema overwritten": {func(t *testing.T, path string) {
			closedStore(t, path)
			overwrite(t, path, 100, []byte(strings.Repeat("x", 3000)))
		}, ErrDamaged},
		"cut": {func(t *testing.T, path string) {
			closedStore(t, path)
			if err := os.Truncate(path, 4096*3); err != nil {
				t.Fatal(err)
			}
		}, ErrDamaged},
		"dangling link": {func(t *testing.T, path string) {
			if err := os.Symlink("nowhere", path); err != nil {
				t.Fatal(err)
			}
		}, core.ErrForeignFile},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "g.db")
			c.make(t, path)
			before := tree(t, dir)
			db, err := Open(context.Background(), Options{Path: path})
			if err == nil {
				t.Fatal("opened", db.Close())
			}
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
				t.Errorf("not one line with the path: %q", err)
			}
			t.Log(err)
			after := tree(t, dir)
			if len(after) != len(before) {
				t.Errorf("files: %d before, %d after", len(before), len(after))
			}
			for name, sum := range before {
				if after[name] != sum {
					t.Errorf("%s was changed", name)
				}
			}
		})
	}
}

func TestOpenTakesAnEmptyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db := openAt(t, path)
	newSession(t, db, "one")
}

func TestOpenAgainKeepsWhatWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.db")
	closedStore(t, path)
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	db := openAt(t, link)
	if db.Path() != path {
		t.Errorf("path %s, want that of the file, %s: two names would have two locks", db.Path(), path)
	}
	read(t, db, func(v core.View) error {
		_, err := v.Action(50)
		return err
	})
}

// As root modes do not bind, so the store is opened by a process of another user.
func TestOpenRefusesWhatCannotBeWritten(t *testing.T) {
	for name, c := range map[string]struct{ file, folder os.FileMode }{
		"file":   {0o444, 0o777},
		"folder": {0o666, 0o555},
		"hidden": {0o000, 0o777},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "g.db")
			closedStore(t, path)
			what := "open"
			if os.Geteuid() == 0 {
				what = "open-other"
				if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			before := tree(t, dir)
			for file, mode := range map[string]os.FileMode{path + ".lock": 0o666, path: c.file, dir: c.folder} {
				if err := os.Chmod(file, mode); err != nil {
					t.Fatal(err)
				}
			}
			out, err := helper(t, what, path).CombinedOutput()
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
				t.Fatalf("opened (%v): %s", err, out)
			}
			if !strings.Contains(string(out), ErrReadOnly.Error()) || strings.Count(string(out), "\n") != 1 {
				t.Errorf("want one line about a read-only store, got %q", out)
			}
			t.Logf("%s", out)
			for file, mode := range map[string]os.FileMode{dir: 0o755, path: 0o600} {
				if err := os.Chmod(file, mode); err != nil {
					t.Fatal(err)
				}
			}
			for name, sum := range tree(t, dir) {
				if before[name] != sum {
					t.Errorf("%s was changed", name)
				}
			}
		})
	}
}

func TestOpenWaitsNoLongerThanItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.db")
	if line, _ := started(t, helper(t, "hold", path)); line != "held" {
		t.Fatal(line)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Open(ctx, Options{Path: path}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}

// A new store is made by six processes at once: none may see a busy or half-made file.
func TestFirstOpenByManyProcesses(t *testing.T) {
	for range 5 {
		path := filepath.Join(t.TempDir(), "g.db")
		cmds := make([]*exec.Cmd, 6)
		for i := range cmds {
			cmds[i] = helper(t, "open", path)
		}
		together(t, cmds...)
		found, err := openAt(t, path).Fsck(context.Background())
		if err != nil || !found.OK() {
			t.Errorf("fsck: %+v (%v)", found.FirstBad, err)
		}
	}
}

func TestTwoProcessesWriteWithoutBusy(t *testing.T) {
	const rounds = 200
	path := filepath.Join(t.TempDir(), "g.db")
	db := openAt(t, path)
	s := newSession(t, db, "one")
	submit(t, db, draftOf(s, "a"))
	together(t, helper(t, "write", path, countVariable+"=200"), helper(t, "write", path, countVariable+"=200"))
	read(t, db, func(v core.View) error {
		a, err := v.ActionState(1)
		if a.Version != 1+2*rounds {
			t.Errorf("version %d, want %d: a change was lost", a.Version, 1+2*rounds)
		}
		return err
	})
	found, err := db.Fsck(context.Background())
	if err != nil || !found.OK() || found.Rows != 2*rounds {
		t.Errorf("fsck: %+v (%v)", found, err)
	}
}

// TestOpen_KilledWhileTheLogWasWrittenBack: a process was killed between the first page that it wrote back from its log
// into the file and the last. The file alone looks cut off; with its log it is whole.
func TestOpen_KilledWhileTheLogWasWrittenBack(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "g.db")
	if err := openAt(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	db := openAt(t, path)
	s := newSession(t, db, "one")
	for i := range 30 {
		write(t, db, func(tx core.Tx) error {
			a := draftOf(s, fmt.Sprintf("file-%d", i))
			a.Draft.Payload = []byte(fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", 5000)))
			return tx.InsertAction(&a)
		})
	}
	log := snapshotOf(t, path+"-wal")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	half := append(append([]byte{}, whole[:4096]...), old[4096:]...)
	if len(half) >= len(whole) {
		t.Fatalf("the file did not grow: %d and %d bytes", len(half), len(whole))
	}
	for name, content := range map[string][]byte{path: half, path + "-wal": log} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := openAt(t, path).Fsck(background)
	if err != nil || !found.OK() {
		t.Errorf("got %+v, %v, want a whole store", found.FirstBad, err)
	}
}

// snapshotOf reads a file in another process: closing it in this one would let go of the locks on it.
func snapshotOf(t *testing.T, path string) []byte {
	t.Helper()
	content, err := exec.Command("cat", path).Output()
	if err != nil || len(content) == 0 {
		t.Fatalf("%s: %d bytes, %v", path, len(content), err)
	}
	return content
}
