package memory_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/gatekeepers/conformance"
	"gatehouse/gatekeepers/memory"
	"gatehouse/store"
)

func TestConformance(t *testing.T) {
	for _, form := range []string{"overlay", "native"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			conformance.Run(t, setup(form))
		})
	}
}

func setup(form string) conformance.Setup {
	driver := memory.New()
	var services atomic.Int64
	return conformance.Setup{
		Name: "memory, " + form, Gatekeeper: driver,
		Kernel: func(t testing.TB, checks ...core.Check) *core.Kernel { return newKernel(t, driver, checks...) },
		URLs: []string{
			"memory://a", "memory://a/notes", "memory://a/?seed=0", "memory://A.b-c_9/x?replay=native&fail=unknown,slow:get:2",
			"memory://a?file=/x/y%20z.json&latency=20ms&seed=3", "memory://a?replay=overlay",
		},
		BadURLs: []string{
			"", "memory:a", "memory://", "memory:///notes", "memory://a/b/c", "memory://a/..", "memory://u@a", "memory://a#x", "memory://a#",
			"memory://a?collection=notes", "memory://a?seed=1&seed=2", "memory://a?replay=both", "memory://a?file=x", "memory://a?file=/a/../b",
			"memory://a?latency=-1s", "memory://a?fail=sometimes", "memory://a?fail=slow:x:0", "file:///a", "memory://a/%2e", "memory://~1",
		},
		Fresh: func(t testing.TB) conformance.Service {
			return fresh(t, driver, form, fmt.Sprintf("s%d", services.Add(1)))
		},
		Sample: sample(),
		Write:  randomWrite,
		Reads: []conformance.Request{
			conformance.Call("list", `{"collection":"notes"}`),
			conformance.Call("list", `{"collection":"notes","label":"red","status":"open"}`),
			conformance.Call("list", `{"collection":"archive"}`),
			conformance.Call("search", `{"query":"BODY","sort":"title","limit":4}`),
			conformance.Call("get", `{"collection":"notes","id":"item-1"}`),
			conformance.Call("get", `{"collection":"notes","id":"~1"}`),
		},
		Histories: 500, // in each form
		Writes:    7,
	}
}

func newKernel(t testing.TB, driver core.Gatekeeper, checks ...core.Check) *core.Kernel {
	t.Helper()
	db, err := store.Open(context.Background(), store.Options{Path: filepath.Join(folder(t), "gatehouse.db")})
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

func fresh(t testing.TB, driver *memory.Driver, form, name string) conformance.Service {
	t.Helper()
	url := fmt.Sprintf("memory://%s?replay=%s&seed=3", name, form)
	service, err := driver.Service(url)
	if err != nil {
		t.Fatal(err)
	}
	if err := service.Put("archive/secret", memory.Item{Title: "Not for all"}); err != nil {
		t.Fatal(err)
	}
	return conformance.Service{
		URL: url, Narrow: fmt.Sprintf("memory://%s/notes?replay=%s", name, form), Other: fmt.Sprintf("memory://%s-other?replay=%s&seed=3", name, form),
		Snapshot: func() (string, error) {
			notes, err := service.Items("notes")
			if err != nil {
				return "", err
			}
			archive, err := service.Items("archive")
			if err != nil {
				return "", err
			}
			effects, err := service.Effects()
			if err != nil {
				return "", err
			}
			raw, err := json.Marshal([]any{notes, archive, effects})
			return string(raw), err
		},
		Stranger: func() error {
			item, err := service.Item("notes/item-1")
			if err != nil {
				return err
			}
			item.Body = "A stranger wrote this.\n"
			return service.Put("notes/item-1", item)
		},
		Calls: func() int { return service.Calls("") },
		Failing: func(f conformance.Failure) string {
			mode := map[conformance.Failure]memory.Mode{
				conformance.FailBefore: memory.FailBefore, conformance.FailAnswer: memory.FailAfter,
				conformance.FailRetryable: memory.FailRetryable, conformance.FailForGood: memory.FailForGood,
				conformance.FailProject: memory.FailProject,
			}[f]
			return url + "&fail=" + string(mode)
		},
		Hold: func() (<-chan struct{}, func()) { return service.Block(memory.PointSend) },
	}
}

func sample() conformance.Sample {
	await := conformance.Call("charge", `{"collection":"notes","id":"item-1","amount":250}`)
	return conformance.Sample{
		Edits: []conformance.Request{
			conformance.Call("append", `{"collection":"notes","id":"item-1","text":"one\n"}`),
			conformance.Call("append", `{"collection":"notes","id":"item-1","text":"two\n"}`),
			conformance.Call("update", `{"collection":"notes","id":"item-1","title":"A third edit","status":"closed"}`),
			conformance.Call("add_label", `{"collection":"notes","id":"item-1","label":"red"}`),
		},
		Read:   conformance.Call("get", `{"collection":"notes","id":"item-1"}`),
		List:   conformance.Call("list", `{"collection":"notes"}`),
		Paged:  conformance.Call("list", `{"collection":"notes","limit":2}`),
		Create: conformance.Call("create", `{"collection":"notes","title":"New","labels":["b","a"]}`),
		OnCreated: func(id string) conformance.Request {
			return conformance.Call("append", `{"collection":"notes","id":%q,"text":"on it"}`, id)
		},
		Created: func(id string) conformance.Request {
			return conformance.Call("get", `{"collection":"notes","id":%q}`, id)
		},
		Missing: conformance.Call("get", `{"collection":"notes","id":"nowhere"}`),
		Outside: []conformance.Request{
			conformance.Call("get", `{"collection":"archive","id":"secret"}`),
			conformance.Call("get", `{"collection":"archive","id":"nowhere"}`),
			conformance.Call("list", `{"collection":"archive"}`), conformance.Call("search", `{"collection":"archive","query":"not"}`),
			conformance.Call("delete", `{"collection":"archive","id":"secret"}`),
			conformance.Call("create", `{"collection":"archive","title":"x"}`),
			conformance.Call("move", `{"collection":"notes","id":"item-1","to":"x","to_collection":"archive"}`),
		},
		Await:     &await,
		Filtered:  conformance.Call("search", `{"query":"of note","collection":"notes"}`),
		FilterOut: conformance.Call("update", `{"collection":"notes","id":"item-2","body":"nothing"}`),
		FilterIn:  conformance.Call("create", `{"collection":"notes","title":"Out of notes"}`),
		Bad: []conformance.Request{
			conformance.Call("get", `{}`), conformance.Call("get", `{"collection":"notes","id":5}`),
			conformance.Call("get", `{"collection":"notes","id":"a/b"}`), conformance.Call("get", `{"collection":"..","id":"a"}`),
			conformance.Call("get", `{"id":"item-1"}`), conformance.Call("list", `{"collection":"notes","sort":"size"}`),
			conformance.Call("list", `{"collection":"notes","limit":101}`), conformance.Call("search", `{"query":" "}`),
			conformance.Call("update", `{"collection":"notes","id":"item-1"}`),
			conformance.Call("update", `{"collection":"notes","id":"item-1","status":"published"}`),
			conformance.Call("charge", `{"collection":"notes","id":"item-1","amount":0}`),
		},
	}
}

// randomWrite picks from a universe in which writes meet: few items, few labels, items that do not exist yet.
func randomWrite(r *mathrand.Rand) conformance.Request {
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	places := [][2]string{
		{"notes", "item-1"},
		{"notes", "item-1"},
		{"notes", "item-2"},
		{"notes", "item-3"},
		{"notes", "~1"},
		{"notes", "~1"},
		{"notes", "~2"},
		{"notes", "kept"},
		{"archive", "kept"},
		{"archive", "~1"},
	}
	at := places[r.IntN(len(places))]
	call := func(method, args string, values ...any) conformance.Request {
		return conformance.Call(method, `{"collection":%q,"id":%q`+args+`}`, append([]any{at[0], at[1]}, values...)...)
	}
	switch r.IntN(24) {
	case 0, 1, 2, 3, 4, 5:
		return conformance.Call("create", `{"collection":%q,"title":%q,"body":"body of it","labels":[%q]}`,
			pick("notes", "notes", "notes", "archive"), pick("Alpha", "Note 2", "Zulu"), pick("red", "blue"))
	case 6, 7:
		return call("update", `,"title":%q`, pick("Middle", "Alpha"))
	case 8:
		return call("update", `,"status":%q`, pick("open", "closed"))
	case 9:
		return call("update", `,"body":%q`, pick("another body", "no such word"))
	case 10, 11, 12:
		return call("append", `,"text":%q`, pick("body again", "more"))
	case 13, 14:
		return call("add_label", `,"label":%q`, pick("red", "RED", "blue"))
	case 15:
		return call("remove_label", `,"label":%q`, pick("red", "blue"))
	case 16, 17, 18:
		return call("move", `,"to":%q`, pick("kept", "item-1", "item-4"))
	case 19, 20:
		return call("move", `,"to":%q,"to_collection":%q`, pick("kept", "item-1"), pick("archive", "notes"))
	case 21, 22:
		return call("delete", "")
	default:
		return awaited(r, call)
	}
}

// awaited is rare: what shares an object with it says incomplete, and compares nothing.
func awaited(r *mathrand.Rand, call func(string, string, ...any) conformance.Request) conformance.Request {
	switch r.IntN(6) {
	case 0:
		return call("charge", `,"amount":5`)
	case 1:
		return call("publish", "")
	default:
		return call("append", `,"text":"mostly simulated"`)
	}
}
