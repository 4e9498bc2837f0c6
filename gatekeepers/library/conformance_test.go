package library_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/gatekeepers/conformance"
	"gatehouse/gatekeepers/library"
	"gatehouse/skills"
	"gatehouse/store"
)

// counting is a shelf that counts what is asked of it, and fails where it is told to.
type counting struct {
	*skills.MemoryShelf
	calls  atomic.Int64
	broken atomic.Pointer[string]
}

func (c *counting) asked() error {
	c.calls.Add(1)
	if words := c.broken.Load(); words != nil {
		return fmt.Errorf("%s", *words)
	}
	return nil
}

func (c *counting) Collections(ctx context.Context, scope skills.Scope) ([]skills.Collection, error) {
	if err := c.asked(); err != nil {
		return nil, err
	}
	return c.MemoryShelf.Collections(ctx, scope)
}

func (c *counting) Documents(ctx context.Context, scope skills.Scope, id skills.CollectionID, offset, limit int) ([]skills.Document, error) {
	if err := c.asked(); err != nil {
		return nil, err
	}
	return c.MemoryShelf.Documents(ctx, scope, id, offset, limit)
}

func (c *counting) Document(ctx context.Context, scope skills.Scope, ref skills.Ref) (skills.Collection, skills.Document, error) {
	if err := c.asked(); err != nil {
		return skills.Collection{}, skills.Document{}, err
	}
	return c.MemoryShelf.Document(ctx, scope, ref)
}

func newShelf() *counting { return &counting{MemoryShelf: &skills.MemoryShelf{}} }

// put keeps a document, given as "collection/path". Collection pa is alice's, pb is bob's; any other is public.
func (c *counting) put(t testing.TB, id, content string) {
	t.Helper()
	ref, err := skills.ParseRef(id)
	if err != nil {
		t.Fatal(err)
	}
	collection := skills.Collection{ID: ref.Collection, Title: "About " + string(ref.Collection), Description: "what " + string(ref.Collection) + " is", Visibility: skills.VisibilityPublic}
	switch ref.Collection {
	case "pa":
		collection.Visibility, collection.Owner = skills.VisibilityPrivate, "alice"
	case "pb":
		collection.Visibility, collection.Owner = skills.VisibilityPrivate, "bob"
	}
	c.PutCollection(collection)
	d, err := skills.NewDocument(ref, []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Put(t.Context(), d); err != nil {
		t.Fatal(err)
	}
}

func skillFile(name, description, body string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\n" + body
}

func TestConformance(t *testing.T) {
	const noWrites = "the library has no write"
	shelf := newShelf()
	driver := library.New(library.Options{Shelf: shelf, Engine: &shelf.Engine, Service: "here"})
	conformance.Run(t, conformance.Setup{
		Name: "library", Gatekeeper: driver,
		Kernel: func(t testing.TB, checks ...core.Check) *core.Kernel { return newKernel(t, driver, checks...) },
		URLs:   []string{"library:///", "library:///#collection=runbooks", "library:///#collection=a%23b", "library:///#collection=%C3%A9t%C3%A9"},
		BadURLs: []string{
			"", "library:", "library://", "library://host/", "library:///x", "library:///#", "library:///#collection=", "library:///#collection=a/b",
			"library:///#collection=a%2Fb", "library:///#collection=a b", "library:///#collection=a+b", "library:///#collection=a&collection=b",
			"library:///#collection=%zz", "library:///#collection=%00", "library:///#collection=%ff", "library:///#tool=a", "library:///?x#collection=a",
			"LIBRARY:///", "file:///",
		},
		Fresh: func(t testing.TB) conformance.Service {
			for _, path := range []string{"a.md", "b.md", "c.md", "d/e.md"} {
				shelf.put(t, "runbooks/"+path, "how to "+path)
				shelf.put(t, "other/"+path, "else "+path)
			}
			return conformance.Service{
				URL: "library:///#collection=runbooks", Narrow: "library:///#collection=runbooks", Other: "library:///#collection=other",
				Calls: func() int { return int(shelf.calls.Load()) },
			}
		},
		Sample: conformance.Sample{
			Read:    conformance.Call("read", `{"id":"runbooks/a.md"}`),
			List:    conformance.Call("list", `{"collection":"runbooks"}`),
			Paged:   conformance.Call("list", `{"collection":"runbooks","limit":2}`),
			Missing: conformance.Call("read", `{"id":"runbooks/nowhere.md"}`),
			Outside: []conformance.Request{
				conformance.Call("read", `{"id":"other/a.md"}`), conformance.Call("read", `{"id":"nowhere/a.md"}`),
				conformance.Call("list", `{"collection":"other"}`), conformance.Call("list", `{"collection":"nowhere"}`),
				conformance.Call("expand", `{"id":"other/a.md"}`),
			},
			Bad: []conformance.Request{
				conformance.Call("read", `{}`), conformance.Call("read", `{"id":5}`), conformance.Call("search", `{"query":"x","limit":"2"}`),
				conformance.Call("list", `{"collection":"runbooks","limit":501}`), conformance.Call("list", `{"limit":0}`),
				conformance.Call("list", `{"limit":-1}`), conformance.Call("catalog", `{"id":"runbooks"}`),
			},
		},
		Lacks: map[string]string{
			"overlapping bindings": noWrites, "cursor of a changed list": noWrites + "; TestList_ChangedUnderACursor has it",
			"pending writes touch nothing": noWrites, "fields and kinds are declared": noWrites, "replay in order of ids": noWrites,
			"filters after projection": noWrites, "own writes never drift": noWrites, "second edit alone": noWrites,
			"rejecting the first of two edits": noWrites, "provisional until bound": noWrites, "reject cascade": noWrites, "drift": noWrites,
			"await is not shown": noWrites, "what cannot be projected": noWrites, "a read while an effect is claimed": noWrites,
			"failed before dispatch": noWrites, "refused, retryable": noWrites, "refused for good": noWrites, "unknown outcome": noWrites,
			"journal of another resource": noWrites, "fidelity": noWrites, "revert applied": noWrites, "revert drifts": noWrites,
			"revert unknown": noWrites, "reverts bring back what was": noWrites,
		},
	})
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

// clock moves on by a second at each look.
type clock struct{ looks atomic.Int64 }

func (c *clock) Now() time.Time { return time.Unix(1_800_000_000+c.looks.Add(1), 0).UTC() }

// alone is the only process there is.
type alone struct{}

func (alone) Self() core.ProcessID         { return "self" }
func (alone) Alive(id core.ProcessID) bool { return id == "self" }
