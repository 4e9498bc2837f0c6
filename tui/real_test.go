package tui_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/gatekeepers/memory"
	"gatehouse/store"
	"gatehouse/tui"
)

// These tests bring the real kernel, the real store and the driver in memory.

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

// house is the product without its front door.
type house struct {
	dir    string
	store  *store.DB
	kernel *core.Kernel
	alive  *store.Processes
}

// openHouse opens the store in a folder, as one process does.
func openHouse(ctx context.Context, dir string, fault core.Fault) (*house, error) {
	h := &house{dir: dir}
	var err error
	if h.store, err = store.Open(ctx, store.Options{Path: filepath.Join(dir, "gatehouse.db")}); err != nil {
		return nil, err
	}
	if h.alive, err = store.Join(h.store.Path()); err != nil {
		return nil, err
	}
	h.kernel, err = core.New(core.Options{
		Store: h.store, Gatekeepers: []core.Gatekeeper{memory.New()}, Clock: wallClock{}, Rand: rand.Reader, Alive: h.alive, Fault: fault,
	})
	return h, err
}

func (h *house) close() error {
	return errors.Join(h.kernel.Close(), h.alive.Close(), h.store.Close())
}

func newHouse(t *testing.T, dir string) *house {
	t.Helper()
	h, err := openHouse(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// furnish makes a session with n appends to n items waiting.
func (h *house) furnish(t *testing.T, n int) {
	t.Helper()
	ctx := t.Context()
	if _, err := h.kernel.NewSession(ctx, core.NewSession{Name: "work", Owner: "alice"}); err != nil {
		t.Fatal(err)
	}
	url := fmt.Sprintf("memory://acme/notes?file=%s&seed=%d", filepath.Join(h.dir, "acme.json"), n)
	if _, err := h.kernel.Bind(ctx, core.BindRequest{Session: "work", Name: "MEM", URL: url, Person: "alice"}); err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= n; i++ {
		h.call(t, "append", fmt.Sprintf(`{"id":"item-%d","text":"more %d"}`, i, i))
	}
}

func (h *house) call(t *testing.T, method, args string) core.Released {
	t.Helper()
	r, err := h.kernel.Call(t.Context(), core.CallRequest{
		Session: "work", Binding: "MEM", Method: method, Args: json.RawMessage(args),
		Caller: core.Caller{Kind: core.CallerPerson, Person: "alice"},
	})
	if err != nil || r.Status() != "ok" {
		t.Fatalf("%s %s: %v %s %s", method, args, err, r.Code(), r.Reason())
	}
	return r
}

func (h *house) state(t *testing.T, id core.ActionID) core.State {
	t.Helper()
	d, err := h.kernel.Peek(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return d.Action.State
}

func (h *house) watch(t *testing.T) *store.Watch {
	t.Helper()
	w, err := h.store.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() }) // the store may have been replaced under it
	return w
}

func TestRealDraftPlanOutcome(t *testing.T) {
	h := newHouse(t, t.TempDir())
	h.furnish(t, 4)
	d := tui.Drive(t, h.kernel, "alice", h.watch(t))
	d.Shows("4 waiting", "#1", "#4")
	d.Press("A", "j", "A", "j", "A", "j", "x")
	d.Type("not this one")
	d.Press("enter")
	d.Shows("4 drafts")
	again := tui.Drive(t, h.kernel, "alice", nil) // T28: drafts are in the store
	again.Shows("4 drafts")
	other := tui.Drive(t, h.kernel, "bob", nil) // and a person's own
	other.Hides("drafts")
	d.Press("c")
	d.Shows("Carry out 4 decisions", "“not this one”", "[ Cancel ]")
	d.Press("tab", "enter")
	d.Shows("1 rejected · 3 applied")
	for id, want := range map[core.ActionID]core.State{1: core.StateApplied, 3: core.StateApplied, 4: core.StateRejected} {
		if got := h.state(t, id); got != want {
			t.Errorf("#%d is %s, want %s", id, got, want)
		}
	}
	restarted := tui.Drive(t, h.kernel, "alice", nil)
	restarted.Shows("1 rejected · 3 applied")
	d.Press("esc")
	d.Shows("Nothing waits for you.")
	tui.Drive(t, h.kernel, "alice", nil).Shows("Nothing waits for you.")
	d.Press("/")
	d.Type("state:applied")
	d.Press("enter")
	d.Shows("✓", "applied", "3 of 0")
}

func TestRealT22T23_TwoProcesses(t *testing.T) {
	dir := t.TempDir()
	h, second := newHouse(t, dir), newHouse(t, dir)
	h.furnish(t, 3)
	d := tui.Drive(t, h.kernel, "alice", h.watch(t))
	d.Press("j")
	for i := range 5 {
		second.call(t, "create", fmt.Sprintf(`{"title":"late %d"}`, i))
	}
	d.Press("A") // T22: the arrivals are not on the screen yet
	d.Shows("drafted: approve #2")
	d.Tick()
	d.Shows("5 new .")
	drafts, err := h.kernel.Drafts(t.Context(), "alice")
	if err != nil || len(drafts) != 1 || drafts[0].Action != 2 {
		t.Fatalf("got %v %v, want a draft on #2", drafts, err)
	}

	still := tui.Drive(t, h.kernel, "alice", quiet{}) // T23: it notices nothing by itself
	still.Press("j", "j")
	alice := core.Authority{Person: "alice", Means: core.MeansPipe}
	if _, err := h.kernel.AddPerson(t.Context(), core.Person{ID: "bob"}, alice); err != nil {
		t.Fatal(err)
	}
	waiting, err := h.kernel.Peek(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	grant := core.RoleGrant{Person: "bob", Role: core.RoleBuild, Decides: true}
	if err := h.kernel.GrantRole(t.Context(), string(waiting.Action.Session), grant, alice); err != nil {
		t.Fatal(err)
	}
	plan, err := second.kernel.PlanApprove(t.Context(), "bob", []core.ActionID{3}, core.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.kernel.Confirm(t.Context(), plan, core.Authority{Person: "bob", Means: core.MeansPipe}, core.ConfirmOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	still.Press("A")
	still.Shows("#3 was decided by bob before: it is applied")
}

// quiet sees no changes.
type quiet struct{}

func (quiet) Changed(context.Context) (bool, error) { return false, nil }

func TestRealT27_StoreReplaced(t *testing.T) {
	h := newHouse(t, t.TempDir())
	h.furnish(t, 2)
	d := tui.Drive(t, h.kernel, "alice", h.watch(t))
	path := h.store.Path()
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("another file"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.Tick()
	d.Shows("! no decisions: ", "store was replaced")
	d.Press("A")
	d.Shows("nothing can be decided")
	if err := os.Rename(path+".old", path); err != nil {
		t.Fatal(err)
	}
	d.Tick()
	d.Hides("no decisions")
}

func TestRealPages(t *testing.T) {
	h := newHouse(t, t.TempDir())
	h.furnish(t, 150)
	d := tui.Drive(t, h.kernel, "alice", h.watch(t))
	d.Shows("150 in all")
	for _, order := range []string{"o", "o", "o", "s", "o"} {
		d.Press(order, "G")
		last := "#150"
		if strings.Contains(d.Frame(), "newest first") {
			last = "#1 "
		}
		d.Shows(last)
		d.Press("g")
	}
	d.Press("/")
	d.Type("item-77 kind:append risk:low session:work")
	d.Press("enter")
	d.Shows("1 of 150", "#77")
	d.Press("esc", "a")
	d.Shows("150 marked")
	d.Press("A")
	d.Shows("150 drafts")
}
