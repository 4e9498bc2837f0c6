package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/core"
)

// outsideOf makes a folder with a file beside a bench's, which nothing may reach.
func outsideOf(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret.txt"), []byte("hush"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func wantUntouched(t *testing.T, outside string) {
	t.Helper()
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 1 {
		t.Errorf("outside: got %v %v, want secret.txt alone", entries, err)
	}
	if data, err := os.ReadFile(filepath.Join(outside, "secret.txt")); err != nil || string(data) != "hush" {
		t.Errorf("outside: got %q %v, want it as it was", data, err)
	}
}

func (b *bench) link(target, name string) {
	b.t.Helper()
	if err := os.Symlink(target, filepath.Join(b.dir, name)); err != nil {
		b.t.Fatal(err)
	}
}

func TestF4_NoPathLeadsOut(t *testing.T) {
	outside := outsideOf(t)
	b := newBench(t, map[string]string{"in.txt": "in", "d/x.txt": "x"})
	b.link(outside, "out")
	b.link(filepath.Join(outside, "secret.txt"), "file")
	b.link("/proc/self/fd", "fds")
	b.link("in.txt", "alias")
	b.link("d", "same")
	paths := []string{
		"../x", "..", "d/../../x", "/etc/passwd", "/", filepath.Join(outside, "secret.txt"), "out/secret.txt", "file", "fds/0", "alias",
		"same/x.txt", "out", "/proc/self/fd/0", "d/..", ".git", "out/../in.txt",
	}
	for _, p := range paths {
		for _, method := range []string{opRead, opList, opSearch} {
			args := []any{"path", p}
			if method == opSearch {
				args = append(args, "query", "h")
			}
			f, err := b.tryRead(method, args...)
			if err == nil || strings.Contains(string(f.Value), "hush") || strings.Contains(err.Error(), outside) && !strings.Contains(p, outside) {
				t.Errorf("%s %s: got %s %v, want a refusal", method, p, f.Value, err)
			}
		}
		if _, _, err := b.try(opWrite, "path", p, "text", "mine"); err == nil {
			t.Errorf("write %s: was queued", p)
		}
		if _, _, err := b.try(opWrite, "path", p+"/new.txt", "text", "mine"); err == nil && p != "d/.." {
			t.Errorf("write %s/new.txt: was queued", p)
		}
		if _, _, err := b.try(opEdit, "path", p, "old", "hush", "new", "mine"); err == nil {
			t.Errorf("edit %s: was queued", p)
		}
		if _, _, err := b.try(opMove, "from", "in.txt", "to", p); err == nil {
			t.Errorf("move to %s: was queued", p)
		}
		if _, _, err := b.try(opMkdir, "path", p); err == nil {
			t.Errorf("mkdir %s: was queued", p)
		}
	}
	if hits := decodeAs[searchValue](t, b.read(opSearch, "query", "hush").Value).Hits; len(hits) != 0 {
		t.Errorf("search followed a link: %+v", hits)
	}
	wantUntouched(t, outside)
}

// A link itself is something that can be moved and deleted, like anything else; what it points to is not.
func TestF4_LinksAreMovedAndDeletedAsLinks(t *testing.T) {
	outside := outsideOf(t)
	b := newBench(t, map[string]string{"d/x.txt": "x"})
	b.link(outside, "out")
	b.link(outside, "d/out")
	b.queue(opMove, "from", "out", "to", "elsewhere")
	b.queue(opDelete, "path", "d")
	b.queue(opDelete, "path", "elsewhere")
	b.applyAll()
	if got := b.tree(); len(got) != 0 {
		t.Errorf("disk: got %v, want nothing", got)
	}
	wantUntouched(t, outside)
}

// swapper changes the folder at a step of an apply.
type swapper struct {
	at   core.FaultPoint
	swap func()
}

func (s *swapper) At(p core.FaultPoint) error {
	if s.swap != nil && p == s.at {
		swap := s.swap
		s.swap = nil
		swap()
	}
	return nil
}

func TestF4_ALinkSwappedInBetweenCheckAndApply(t *testing.T) {
	for _, point := range append([]core.FaultPoint{"before"}, FaultCreated, FaultHalf, FaultWritten, FaultSynced, FaultChecked) {
		for _, what := range []string{"folder", "file"} {
			t.Run(string(point)+" "+what, func(t *testing.T) {
				outside := outsideOf(t)
				s := &swapper{at: point}
				b := newBenchIn(t, t.TempDir(), "", map[string]string{"d/secret.txt": "mine"}, Options{Fault: s})
				id, _ := b.queue(opWrite, "path", "d/secret.txt", "text", "changed")
				s.swap = func() {
					from, to := filepath.Join(b.dir, "d"), outside
					if what == "file" {
						from, to = filepath.Join(b.dir, "d/secret.txt"), filepath.Join(outside, "secret.txt")
					}
					if err := os.Rename(from, from+"-aside"); err != nil {
						t.Fatal(err)
					}
					if err := os.Symlink(to, from); err != nil {
						t.Fatal(err)
					}
				}
				if point == "before" {
					s.swap()
					s.swap = nil
					if !b.drifted(id) {
						t.Error("a link in the way is no drift")
					}
				}
				o, err := b.res.Apply(context.Background(), b.dispatch(id))
				if point != FaultChecked && (err != nil || o.End != core.EndRetryable) {
					t.Errorf("apply: got %+v %v, want a refusal", o, err)
				}
				wantUntouched(t, outside)
			})
		}
	}
}

func TestF4_AnActionOfAWiderBindingIsNotAppliedThroughANarrowOne(t *testing.T) {
	dir := t.TempDir()
	wide := newBenchIn(t, dir, "", map[string]string{"site/a.txt": "a", "secret/b.txt": "b"}, Options{})
	narrow := newBenchIn(t, dir, "site", nil, Options{})
	if wide.res.Key() != narrow.res.Key() {
		t.Fatalf("keys: got %s and %s, want one journal", wide.res.Key(), narrow.res.Key())
	}
	id, _ := wide.queue(opWrite, "path", "secret/b.txt", "text", "changed")
	dispatch := wide.dispatch(id)
	if _, err := narrow.res.Apply(context.Background(), dispatch); !core.IsNotSent(err) || !errors.Is(err, core.ErrNotFound) {
		t.Errorf("apply: got %v, want not found, not sent", err)
	}
	if _, err := narrow.res.Current(context.Background(), dispatch); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("current: got %v, want not found", err)
	}
	wide.wantDisk("secret/b.txt", "b")
	// What moves in from outside shows within the narrowing, and says nothing of where it came from.
	wide.queue(opMove, "from", "secret", "to", "site/moved")
	narrow.actions, narrow.order = wide.actions, wide.order
	if got := narrow.text("moved/b.txt"); got != "changed" {
		t.Errorf("read: got %q", got)
	}
	if got := narrow.names(""); len(got) != 2 {
		t.Errorf("list: got %v", got)
	}
}

func TestF11_NoBindingHoldsOrLiesInAProtectedPlace(t *testing.T) {
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	inside := filepath.Join(state, "notes")
	beside := filepath.Join(dir, "site")
	for _, d := range []string{inside, beside} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	db := filepath.Join(state, "gatehouse.db")
	if err := os.WriteFile(db, []byte("store"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(db, filepath.Join(beside, "hard.db")); err != nil {
		t.Fatal(err)
	}
	alias := filepath.Join(t.TempDir(), "alias")
	if err := os.Symlink(state, alias); err != nil {
		t.Fatal(err)
	}
	var places []Place
	for name, path := range map[string]string{"the store": db, "the state folder": state} {
		p, err := PlaceAt(name, path)
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, p)
	}
	d := New(Options{Protected: places})
	for path, word := range map[string]string{
		dir: "holds the ", filepath.Dir(dir): "holds the ", "/": "holds the ", state: "lies in the state folder", inside: "lies in the state folder",
		alias: "lies in the state folder",
	} {
		url := place{root: path}.String()
		if _, err := d.Connect(context.Background(), url); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("connect %s: got %v, want %q", path, err, word)
		}
		if r, err := d.Open(context.Background(), core.Connection{Kind: Kind, Root: path}, url); err == nil {
			_ = r.Close()
			t.Errorf("open %s: was accepted", path)
		}
	}
	// A wide connection made elsewhere does not help a narrow binding to get in.
	for _, sub := range []string{"state", "state/notes", "site"} {
		if r, err := d.Open(context.Background(), core.Connection{Kind: Kind, Root: dir}, place{root: dir, sub: sub}.String()); err == nil {
			_ = r.Close()
			t.Errorf("open %s: was accepted", sub)
		}
	}
	// By another name in a folder that may be bound, the store is not there.
	b := newBenchIn(t, beside, "", map[string]string{"a.txt": "a"}, Options{Protected: places})
	if _, err := b.tryRead(opRead, "path", "hard.db"); !isNotFound(err) {
		t.Errorf("read of a second name of the store: got %v, want not found", err)
	}
	if got := b.names(""); len(got) != 1 {
		t.Errorf("list: got %v, want a.txt", got)
	}
}

func TestF12_DotGitIsNotThereBySpellingOrCase(t *testing.T) {
	spellings := []string{
		".git", ".GIT", ".Git", ".git/", "./.git", ".git/config", "d/.git/hooks/x", ".git.", ".git ", ".git . .", ".git::$INDEX_ALLOCATION",
		".g\u200cit", "\u200d.git", ".gi\ufefft", "git~1", "GIT~1/config", ".git\\config", ".git:x", "d/.gIt",
	}
	b := newBench(t, map[string]string{"a.txt": "a", ".git/config": "[core]\n", "d/.git/x": "x", ".gitignore": "*.log\n", "sub/.GIT/x": "x"})
	for _, p := range spellings {
		b.wantRefused(".git", opWrite, "path", p, "text", "x")
		b.wantRefused(".git", opWrite, "path", p+"/x", "text", "x")
		b.wantRefused(".git", opMove, "from", p, "to", "x")
		b.wantRefused(".git", opMove, "from", "a.txt", "to", p)
		b.wantRefused(".git", opDelete, "path", p)
		b.wantRefused(".git", opMkdir, "path", p)
		if _, err := b.tryRead(opRead, "path", p); !isNotFound(err) {
			t.Errorf("read %s: got %v, want not found", p, err)
		}
		if _, err := b.tryRead(opList, "path", p); !isNotFound(err) {
			t.Errorf("list %s: got %v, want not found", p, err)
		}
	}
	// A folder with a repository in it does not go whole.
	b.wantRefused("holds a .git", opDelete, "path", "d")
	b.wantRefused("holds a .git", opMove, "from", "sub", "to", "e")
	if got := strings.Join(b.names(""), " "); got != ".gitignore a.txt d sub" {
		t.Errorf("list: got %s", got)
	}
	if hits := decodeAs[searchValue](t, b.read(opSearch, "query", "core").Value).Hits; len(hits) != 0 {
		t.Errorf("search: got %+v", hits)
	}
	// Names that only look like it are names.
	for _, p := range []string{".gitignore", ".gitattributes", "git", "x.git", ".github/x", "git~2"} {
		if isGitName(p) {
			t.Errorf("%s is taken for .git", p)
		}
	}
	for _, url := range []string{"file://" + b.dir + "/.git", "file://" + b.dir + "#path=.git"} {
		if _, err := b.driver.Normalize(url); err == nil {
			t.Errorf("bind %s: was accepted", url)
		}
	}
}

// An action means nothing at another folder, however alike, nor at one that was put in the place of its own.
func TestAnActionBelongsToItsFolder(t *testing.T) {
	content := map[string]string{"a.txt": "a"}
	b, other := newBench(t, content), newBench(t, content)
	id, _ := b.queue(opEdit, "path", "a.txt", "old", "a", "new", "b")
	if o, err := other.res.Apply(context.Background(), b.dispatch(id)); !core.IsNotSent(err) {
		t.Errorf("apply: got %+v %v, want nothing sent", o, err)
	}
	if _, err := other.res.Current(context.Background(), b.dispatch(id)); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("current: got %v, want not found", err)
	}
	other.actions, other.order = b.actions, b.order
	if f := other.read(opRead, "path", "a.txt"); len(f.Projected) != 0 || len(f.Incomplete) != 1 {
		t.Errorf("read: projected %v, incomplete %v", f.Projected, f.Incomplete)
	}
	other.wantDisk("a.txt", "a")
}

// The file that was looked at is swapped for a link, or another file, right before it is opened.
func TestF4_AFileSwappedBetweenLookAndOpen(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "a", ".git/config": "hush", "d/b.txt": "b"})
	r, ok := b.res.(*resource)
	if !ok {
		t.Fatal("not a resource of this package")
	}
	for _, target := range []string{".git/config", "d/b.txt"} {
		swapped := false
		r.disk.watch = func(what, name string) {
			if what != "open" || name != "a.txt" || swapped {
				return
			}
			swapped = true
			if err := os.Remove(filepath.Join(b.dir, "a.txt")); err != nil {
				t.Error(err)
			}
			b.link(target, "a.txt")
		}
		if f, err := b.tryRead(opRead, "path", "a.txt"); err == nil || !swapped {
			t.Errorf("read: got %s, swapped %v; want a refusal", f.Value, swapped)
		}
		r.disk.watch = nil
		if err := os.Remove(filepath.Join(b.dir, "a.txt")); err != nil {
			t.Fatal(err)
		}
		b.disk("a.txt", "a")
	}
}
