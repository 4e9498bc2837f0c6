package files_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/gatekeepers/conformance"
	"gatehouse/gatekeepers/files"
	"gatehouse/store"
)

func TestConformance(t *testing.T) {
	for _, form := range []string{"folder", "sub-path"} {
		t.Run(form, func(t *testing.T) { conform(t, form) })
	}
}

func conform(t *testing.T, form string) {
	hold := &holder{}
	var calls atomic.Int64
	driver := files.New(files.Options{Host: "here", User: "alice", Fault: hold})
	files.WatchPages(driver, func(string, string) { calls.Add(1) }, func(spelled string) int {
		if spelled == "./" { // how the sample asks for short pages
			return 2
		}
		return 1000
	})
	failing := &failingDriver{Driver: driver, modes: map[string]conformance.Failure{}}
	conformance.Run(t, conformance.Setup{
		Name: "files, " + form, Gatekeeper: failing,
		Kernel: func(t testing.TB, checks ...core.Check) *core.Kernel { return newKernel(t, failing, checks...) },
		URLs: []string{
			"file:///", "file:///srv/site", "file:///srv/site/", "file:///srv//site/.", "file:///srv/site#path=docs", "file:///srv/a%20b#path=c%26d/e%23",
			"file:///srv/a b", "file:///srv/100%25",
		},
		BadURLs: []string{
			"", "/srv/site", "file:", "file://", "file://host/srv", "file:///srv?x=1", "file:///srv#", "file:///srv#path=", "file:///srv#path=.",
			"file:///srv#path=/abs", "file:///srv#path=../x", "file:///srv#path=a/../../x", "file:///srv/../etc", "file:///srv#path=a&path=b",
			"file:///srv#path=a&tool=b", "file:///srv#tool=a", "file:///srv#path=a#b", "file:///srv/%zz", "file:///srv/%00", "file:///srv/%ff",
			"file:///srv/.git", "file:///srv#path=.GIT/hooks", "http:///srv", "FILE:///srv",
		},
		Fresh:  func(t testing.TB) conformance.Service { return fresh(t, form, failing, hold, &calls) },
		Sample: sample(),
		Write:  randomWrite,
		Reads: []conformance.Request{
			conformance.Call("search", `{"query":"e"}`),
			conformance.Call("list", `{}`),
			conformance.Call("list", `{"path":"docs"}`),
			conformance.Call("list", `{"path":"docs/old"}`),
			conformance.Call("read", `{"path":"index.html"}`),
			conformance.Call("read", `{"path":"docs/a.md","offset":3}`),
			conformance.Call("read", `{"path":"new/a.md"}`),
			conformance.Call("stat", `{"path":"docs/a.md"}`),
			conformance.Call("stat", `{"path":"new"}`),
			conformance.Call("search", `{"query":"two","path":"docs"}`),
		},
		Histories: 250, // in each form
		Lacks: map[string]string{
			"await is not shown": "every write of this driver is simulated",
		},
	})
}

// inBinding is what an action provides, a path below the root, as the sub-path's binding names it.
func inBinding(provided string) string { return strings.TrimPrefix(provided, "site/") }

func sample() conformance.Sample {
	return conformance.Sample{
		Edits: []conformance.Request{
			conformance.Call("edit", `{"path":"index.html","old":"one","new":"uno"}`),
			conformance.Call("edit", `{"path":"index.html","old":"two","new":"due"}`),
			conformance.Call("edit", `{"path":"index.html","old":"three","new":"tre"}`),
			conformance.Call("write", `{"path":"index.html","text":"quattro\n"}`),
		},
		Read:   conformance.Call("read", `{"path":"index.html"}`),
		List:   conformance.Call("list", `{}`),
		Paged:  conformance.Call("list", `{"path":"./"}`),
		Create: conformance.Call("mkdir", `{"path":"made"}`),
		OnCreated: func(path string) conformance.Request {
			return conformance.Call("write", `{"path":%q,"text":"in it"}`, inBinding(path)+"/file.txt")
		},
		Created: func(path string) conformance.Request { return conformance.Call("stat", `{"path":%q}`, inBinding(path)) },
		Missing: conformance.Call("read", `{"path":"nowhere.txt"}`),
		Outside: []conformance.Request{
			conformance.Call("read", `{"path":"../other/secret.txt"}`), conformance.Call("read", `{"path":"docs/../../other/secret.txt"}`),
			conformance.Call("read", `{"path":"/etc/passwd"}`), conformance.Call("read", `{"path":".git/config"}`),
			conformance.Call("stat", `{"path":"../other"}`), conformance.Call("list", `{"path":".."}`),
		},
		Filtered:  conformance.Call("search", `{"query":"two"}`),
		FilterOut: conformance.Call("edit", `{"path":"docs/b.md","old":"two","new":"2"}`),
		FilterIn:  conformance.Call("write", `{"path":"docs/two.md","text":"two\n"}`),
		Bad: []conformance.Request{
			conformance.Call("read", `{}`), conformance.Call("read", `{"path":5}`), conformance.Call("read", `{"path":"a\u0000b"}`),
			conformance.Call("write", `{"path":"../a","text":""}`), conformance.Call("write", `{"path":"/etc/passwd","text":""}`),
			conformance.Call("write", `{"path":".git/config","text":""}`), conformance.Call("write", `{"path":"sub/.GIT /x","text":""}`),
			conformance.Call("delete", `{"path":""}`), conformance.Call("delete", `{"path":"."}`),
			conformance.Call("move", `{"from":"index.html","to":"../x"}`), conformance.Call("mkdir", `{"path":".git"}`),
		},
	}
}

// randomWrite picks from a universe in which writes meet.
func randomWrite(r *mathrand.Rand) conformance.Request {
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	path := func() string {
		return pick("index.html", "docs/a.md", "docs/b.md", "docs", "docs/old", "docs/old/c.md", "new", "new/a.md", "new/docs", "a.md")
	}
	switch r.IntN(8) {
	case 0, 1:
		return conformance.Call("write", `{"path":%q,"text":%q}`, path(), pick("", "e\n", "one two\nthree e", "e\r\ne"))
	case 2:
		return conformance.Call("edit", `{"path":%q,"old":%q,"new":%q}`, path(), pick("one", "e", "two"), pick("", "two", "e e"))
	case 3, 4:
		return conformance.Call("move", `{"from":%q,"to":%q}`, path(), path())
	case 5:
		return conformance.Call("delete", `{"path":%q}`, path())
	case 6:
		return conformance.Call("write", `{"path":%q,"base64":"AP8="}`, path())
	default:
		return conformance.Call("mkdir", `{"path":%q}`, path())
	}
}

func fresh(t testing.TB, form string, driver *failingDriver, hold *holder, calls *atomic.Int64) conformance.Service {
	t.Helper()
	dir, links := folder(t), folder(t)
	root := filepath.Join(dir, "site")
	for name, content := range map[string]string{
		"site/index.html": "one\ntwo\nthree\n", "site/x.txt": "x\n", "site/docs/a.md": "one e\n", "site/docs/b.md": "two\n", "site/docs/old/c.md": "three e two\n",
		"other/secret.txt": "secret", "other/index.html": "one of another\n",
	} {
		write(t, filepath.Join(dir, name), content)
	}
	whole, narrowing := root, ""
	if form == "sub-path" {
		whole, narrowing = dir, "#path=site"
	}
	return conformance.Service{
		URL: "file://" + whole + narrowing, Narrow: "file://" + whole + narrowing, Other: "file://" + filepath.Join(dir, "other"),
		Snapshot: func() (string, error) { return snapshot(root) },
		Stranger: func() error {
			return os.WriteFile(filepath.Join(root, "index.html"), []byte("one of a stranger\ntwo\nthree\n"), 0o644)
		},
		Calls: func() int { return int(calls.Load()) },
		Failing: func(f conformance.Failure) string {
			// Another name for the same folder.
			alias := filepath.Join(links, "failing-"+strings.NewReplacer(" ", "-", ",", "").Replace(string(f)))
			if err := os.Symlink(whole, alias); err != nil && !errors.Is(err, os.ErrExist) {
				t.Fatal(err)
			}
			driver.set("file://"+alias+narrowing, f)
			return "file://" + alias + narrowing
		},
		Hold: hold.arm,
	}
}

// snapshot is everything below a folder.
func snapshot(root string) (string, error) {
	all := map[string]string{}
	err := filepath.Walk(root, func(p string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			all[p] = "folder"
			return err
		}
		data, err := os.ReadFile(p)
		all[p] = string(data)
		return err
	})
	if err != nil {
		return "", err
	}
	raw, err := json.Marshal(all)
	return string(raw), err
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// holder makes the next effect wait right before it.
type holder struct {
	mu      sync.Mutex
	entered chan struct{}
	release chan struct{}
}

func (h *holder) arm() (<-chan struct{}, func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.entered, h.release = make(chan struct{}), make(chan struct{})
	release := h.release
	return h.entered, sync.OnceFunc(func() { close(release) })
}

func (h *holder) At(p core.FaultPoint) error {
	if p != files.FaultChecked {
		return nil
	}
	h.mu.Lock()
	entered, release := h.entered, h.release
	h.entered = nil
	h.mu.Unlock()
	if entered != nil {
		close(entered)
		<-release
	}
	return nil
}

// failingDriver is the driver with bindings that fail as told.
type failingDriver struct {
	*files.Driver
	mu    sync.Mutex
	modes map[string]conformance.Failure
}

func (d *failingDriver) set(url string, f conformance.Failure) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.modes[url] = f
}

func (d *failingDriver) Open(ctx context.Context, c core.Connection, url string) (core.Resource, error) {
	r, err := d.Driver.Open(ctx, c, url)
	d.mu.Lock()
	defer d.mu.Unlock()
	if mode, found := d.modes[url]; found && err == nil {
		reverter, _ := r.(core.Reverter)
		return &failingResource{Resource: r, Reverter: reverter, mode: mode}, nil
	}
	return r, err
}

type failingResource struct {
	core.Resource
	core.Reverter
	mode conformance.Failure
}

func (r *failingResource) Read(ctx context.Context, call core.Call, j core.Journal) (core.Fetched, error) {
	if r.mode == conformance.FailProject {
		for i := range j.Effects {
			j.Effects[i].Payload = json.RawMessage(`"nonsense"`)
		}
	}
	return r.Resource.Read(ctx, call, j)
}

func (r *failingResource) Apply(ctx context.Context, d core.Dispatch) (core.Outcome, error) {
	switch r.mode {
	case conformance.FailBefore:
		return core.Outcome{}, core.NotSent(errors.New("refused to begin"))
	case conformance.FailRetryable:
		return core.Outcome{End: core.EndRetryable, Text: "not now"}, nil
	case conformance.FailForGood:
		return core.Outcome{End: core.EndFailed, Text: "never"}, nil
	case conformance.FailAnswer:
		if _, err := r.Resource.Apply(ctx, d); err != nil {
			return core.Outcome{}, err
		}
		return core.Outcome{}, errors.New("the answer was lost")
	default:
		return r.Resource.Apply(ctx, d)
	}
}

func newKernel(t testing.TB, driver core.Gatekeeper, checks ...core.Check) *core.Kernel {
	t.Helper()
	return newKernelAt(t, filepath.Join(folder(t), "gatehouse.db"), driver, checks...)
}

func newKernelAt(t testing.TB, path string, driver core.Gatekeeper, checks ...core.Check) *core.Kernel {
	t.Helper()
	db, err := store.Open(context.Background(), store.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	k, err := core.New(core.Options{
		Store: db, Gatekeepers: []core.Gatekeeper{driver}, Clock: &clock{}, Rand: rand.Reader, Alive: alone{}, Checks: checks,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

// folder lies in memory where the system has such a place: the histories wait for the disk otherwise.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "gatehouse-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// clock moves on by a second at each look.
type clock struct{ looks atomic.Int64 }

func (c *clock) Now() time.Time { return time.Unix(1_800_000_000+c.looks.Add(1), 0).UTC() }

// alone is the only process there is.
type alone struct{}

func (alone) Self() core.ProcessID         { return "self" }
func (alone) Alive(id core.ProcessID) bool { return id == "self" }
