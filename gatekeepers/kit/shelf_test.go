package kit_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/gatekeepers/conformance"
	"gatehouse/gatekeepers/kit"
	"gatehouse/store"
)

// library is the fake service: shelves of texts, each text with a number that grows at every change.
type library struct {
	mu      sync.Mutex
	shelves map[string]*shelfService
}

type entry struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

type shelfService struct {
	mu      sync.Mutex
	texts   map[string]string
	changes map[string]int
	calls   int
}

func (l *library) shelf(name string) *shelfService {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shelves[name] == nil {
		l.shelves[name] = &shelfService{
			texts:   map[string]string{"a": "text a", "b": "text b", "c": "text c"},
			changes: make(map[string]int),
		}
	}
	return l.shelves[name]
}

func (s *shelfService) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	return slices.Sorted(maps.Keys(s.texts))
}

func (s *shelfService) read(name string) (entry, string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	text, there := s.texts[name]
	return entry{name, text}, s.version(name), there
}

func (s *shelfService) version(name string) string {
	return kit.Version(name, s.texts[name], strconv.Itoa(s.changes[name]))
}

func (s *shelfService) state(name string) core.BaseVersion {
	if _, there := s.texts[name]; there {
		return core.BaseVersion{Target: name, Version: s.version(name)}
	}
	return core.BaseVersion{Target: name, Absent: true}
}

// change compares the base, as a service with conditional requests does.
func (s *shelfService) change(kind string, c change, base []core.BaseVersion) (versions []core.BaseVersion, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	for _, b := range base {
		if !b.Same(s.state(b.Target)) {
			return nil, false
		}
	}
	switch kind {
	case "write":
		s.texts[c.Name] = c.Text
	case "rename":
		s.texts[c.To] = s.texts[c.Name]
		delete(s.texts, c.Name)
	case "remove":
		delete(s.texts, c.Name)
	}
	for _, b := range base {
		s.changes[b.Target]++
		versions = append(versions, s.state(b.Target))
	}
	return versions, true
}

// GK11: a new create/read/update/delete driver with full simulation is at most 150 lines on top of the kit.
func TestGK11_ADriverIsShort(t *testing.T) {
	raw, err := os.ReadFile("shelf_driver_test.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, line := range bytes.Split(raw, []byte("\n")) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && !bytes.HasPrefix(line, []byte("//")) {
			lines++
		}
	}
	if lines > 150 {
		t.Errorf("the driver of shelves has %d lines", lines)
	}
}

func TestGK11_TheShortDriverPassesTheSuite(t *testing.T) {
	books := &library{shelves: make(map[string]*shelfService)}
	var made atomic.Int64
	conformance.Run(t, conformance.Setup{
		Name: "shelf", Gatekeeper: shelf{books},
		Kernel: func(t testing.TB, checks ...core.Check) *core.Kernel { return newKernel(t, shelf{books}, checks...) },
		URLs:   []string{"shelf://a"}, BadURLs: []string{"shelf:a", "shelf://", "shelf://a/b", "shelf://a?x=1", "shelf://a#"},
		Fresh: func(t testing.TB) conformance.Service {
			name := fmt.Sprintf("s%d", made.Add(1))
			s := books.shelf(name)
			return conformance.Service{
				URL: "shelf://" + name, Narrow: "shelf://" + name, Other: "shelf://" + name + "-other",
				Snapshot: func() (string, error) {
					raw, err := json.Marshal([]any{s.texts, s.changes})
					return string(raw), err
				},
				Stranger: func() error {
					_, _ = s.change("write", change{Name: "a", Text: "a stranger's"}, nil)
					return nil
				},
				Calls: func() int { return s.calls },
			}
		},
		Sample: conformance.Sample{
			Edits: []conformance.Request{
				conformance.Call("write", `{"name":"a","text":"one"}`), conformance.Call("write", `{"name":"a","text":"two"}`),
				conformance.Call("write", `{"name":"a","text":"three"}`),
			},
			Read: conformance.Call("read", `{"name":"a"}`), List: conformance.Call("list", `{}`), Paged: conformance.Call("list", `{"limit":2}`),
			Create: conformance.Call("write", `{"name":"new","text":"made"}`),
			OnCreated: func(name string) conformance.Request {
				return conformance.Call("rename", `{"name":%q,"to":"newer"}`, name)
			},
			Created:   func(string) conformance.Request { return conformance.Call("read", `{"name":"newer"}`) },
			Filtered:  conformance.Call("list", `{"holds":"text"}`),
			FilterOut: conformance.Call("write", `{"name":"a","text":"none"}`), FilterIn: conformance.Call("write", `{"name":"d","text":"text"}`),
			Missing: conformance.Call("read", `{"name":"x"}`), Outside: []conformance.Request{conformance.Call("remove", `{"name":"x"}`)},
			Bad: []conformance.Request{conformance.Call("read", `{}`), conformance.Call("write", `{"name":"a"}`)},
		},
		Write: func(r *mathrand.Rand) conformance.Request {
			name, other := string("abcde"[r.IntN(5)]), string("abcde"[r.IntN(5)])
			return []conformance.Request{
				conformance.Call("write", `{"name":%q,"text":%q}`, name, "text of "+other), conformance.Call("remove", `{"name":%q}`, name),
				conformance.Call("rename", `{"name":%q,"to":%q}`, name, other),
			}[r.IntN(3)]
		},
		Reads: []conformance.Request{
			conformance.Call("list", `{}`), conformance.Call("read", `{"name":"a"}`), conformance.Call("list", `{"holds":"of b","limit":2}`),
		},
		Histories: 50,
		Lacks: map[string]string{
			"await is not shown":                "everything it does can be simulated",
			"what cannot be projected":          "nothing it does fails to project",
			"a read while an effect is claimed": "it does not wait",
			"failed before dispatch":            "the fake service does not fail on demand",
			"refused, retryable":                "the fake service does not fail on demand",
			"refused for good":                  "the fake service does not fail on demand",
			"revert unknown":                    "the fake service does not fail on demand",
			"unknown outcome":                   "the fake service does not fail on demand",
		},
	})
}

// An effect that fails half-way shows nothing of itself.
func TestReplay_IsWholeOrNotAtAll(t *testing.T) {
	books := &library{shelves: make(map[string]*shelfService)}
	d := shelf{books}
	c, err := d.Connect(context.Background(), "shelf://s")
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Open(context.Background(), c, "shelf://s")
	if err != nil {
		t.Fatal(err)
	}
	// a rename removes the old name before it finds the new one taken
	rename := core.Effect{
		Action: 1, Kind: "rename", Payload: []byte(`{"Shelf":"s","Name":"a","To":"b"}`), Targets: []string{"a", "b"}, State: core.StatePending,
	}
	got, err := r.Read(context.Background(), core.Call{Method: "list", Args: []byte(`{}`)}, core.Journal{Effects: []core.Effect{rename}})
	if err != nil {
		t.Fatal(err)
	}
	if want := `"name":"a","text":"text a"`; !strings.Contains(string(got.Value), want) || len(got.Projected) != 0 || len(got.Incomplete) != 1 {
		t.Errorf("got %s, projected %v, incomplete %v", got.Value, got.Projected, got.Incomplete)
	}
	if len(got.Found) != 1 {
		t.Errorf("found %v, want the shelf", got.Found)
	}
}

// oneText is a shelf narrowed to the text "a"; each text is a unit here.
type oneText struct{ *texts }

func (t oneText) Unit() core.Found { return t.UnitOf("a") }

func (t oneText) Covers(u core.Unit) bool { return u == t.Unit().Unit }

func (t oneText) UnitOf(target string) core.Found {
	return core.Found{Unit: core.Unit{Gatekeeper: "shelf", Service: t.name, Name: target}, Permission: "read"}
}

func TestRead_KeepsToTheNarrowingInWhatComesBack(t *testing.T) {
	books := &library{shelves: make(map[string]*shelfService)}
	r := kit.Resource(oneText{&texts{books.shelf("s"), "s", shelf{books}.Manifest().Operations}})
	write := core.Effect{
		Action: 1, Kind: "write", Payload: []byte(`{"Shelf":"s","Name":"z","Text":"pending"}`), Targets: []string{"z"}, State: core.StatePending,
	}
	for _, journal := range []core.Journal{{}, {Effects: []core.Effect{write}}} {
		got, err := r.Read(context.Background(), core.Call{Method: "list", Args: []byte(`{}`)}, journal)
		if err != nil {
			t.Fatal(err)
		}
		if want := `{"items":[{"name":"a","text":"text a"}]}`; string(got.Value) != want || len(got.Found) != 1 {
			t.Errorf("got %s of %v, want %s", got.Value, got.Found, want)
		}
	}
}

func newKernel(t testing.TB, driver core.Gatekeeper, checks ...core.Check) *core.Kernel {
	t.Helper()
	db, err := store.Open(context.Background(), store.Options{Path: filepath.Join(t.TempDir(), "gatehouse.db")})
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

type clock struct{ looks atomic.Int64 }

func (c *clock) Now() time.Time { return time.Unix(1_800_000_000+c.looks.Add(1), 0).UTC() }

type alone struct{}

func (alone) Self() core.ProcessID         { return "self" }
func (alone) Alive(id core.ProcessID) bool { return id == "self" }
