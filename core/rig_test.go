package core_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/gatekeepers/memory"
	"gatehouse/store"
)

const notesURL = "memory://notes/items"

// rig is a kernel over a real store, with one session bound to the memory driver as NOTES.
type rig struct {
	t       testing.TB
	path    string // of the store
	db      *store.DB
	driver  *memory.Driver
	kernel  *core.Kernel
	clock   *clock
	alive   *alive
	session core.Session
	by      core.Authority
}

type rigOption func(*core.Options)

func newRig(t testing.TB, options ...rigOption) *rig {
	t.Helper()
	return newRigOn(t, memory.New(), options...)
}

// newRigOn is newRig over a driver of its own.
func newRigOn(t testing.TB, driver *memory.Driver, options ...rigOption) *rig {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	db, err := store.Open(context.Background(), store.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	r := &rig{
		t: t, path: path, db: db, driver: driver, clock: &clock{now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)},
		alive: &alive{self: "self", dead: map[core.ProcessID]bool{}},
		by:    core.Authority{Person: "alice", Means: core.MeansPipe},
	}
	r.kernel = r.newKernel(options...)
	if r.session, err = r.kernel.NewSession(context.Background(), core.NewSession{Name: "work", Owner: "alice"}); err != nil {
		t.Fatal(err)
	}
	r.bind("NOTES", notesURL)
	return r
}

// newKernel makes one more kernel on the rig's store and driver, as another process would have.
func (r *rig) newKernel(options ...rigOption) *core.Kernel {
	r.t.Helper()
	o := core.Options{
		Store: r.db, Gatekeepers: []core.Gatekeeper{r.driver}, Clock: r.clock, Rand: rand.Reader, Alive: r.alive,
	}
	for _, option := range options {
		option(&o)
	}
	k, err := core.New(o)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := k.Close(); err != nil {
			r.t.Error(err)
		}
	})
	return k
}

func (r *rig) bind(name, url string) {
	r.t.Helper()
	_, err := r.kernel.Bind(context.Background(), core.BindRequest{
		Session: string(r.session.ID), Name: name, URL: url, Person: "alice",
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) service(url string) *memory.Service {
	r.t.Helper()
	s, err := r.driver.Service(url)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// call is a call by a person; args is JSON, built with Sprintf from what follows.
func (r *rig) call(binding, method, args string, values ...any) core.Released {
	r.t.Helper()
	return r.callAs(core.Caller{Kind: core.CallerPerson, Person: "alice"}, binding, method, args, values...)
}

func (r *rig) callAs(caller core.Caller, binding, method, args string, values ...any) core.Released {
	r.t.Helper()
	out, err := r.kernel.Call(context.Background(), core.CallRequest{
		Session: string(r.session.ID), Binding: core.BindingName(binding), Method: method,
		Args: json.RawMessage(fmt.Sprintf(args, values...)), Caller: caller,
	})
	if err != nil {
		r.t.Fatalf("%s.%s: %v", binding, method, err)
	}
	return out
}

// submit is a call that must queue an action.
func (r *rig) submit(method, args string, values ...any) core.ActionID {
	r.t.Helper()
	return r.submitTo("NOTES", method, args, values...)
}

func (r *rig) submitTo(binding, method, args string, values ...any) core.ActionID {
	r.t.Helper()
	out := r.call(binding, method, args, values...)
	if out.Action() == 0 {
		r.t.Fatalf("%s.%s queued nothing: %s %s", binding, method, out.Status(), out.Reason())
	}
	return out.Action()
}

// create queues an item and gives its provisional id.
func (r *rig) create(title string) (core.ActionID, string) {
	r.t.Helper()
	id := r.submit("create", `{"title":%q}`, title)
	return id, r.action(id).Draft.Provides[0]
}

// made creates an item and approves it, and gives its real id.
func (r *rig) made(title string) string {
	r.t.Helper()
	id, _ := r.create(title)
	r.wantOutcomes(r.approve(id), core.OutcomeApplied)
	return r.action(id).Created[0].Real
}

func (r *rig) action(id core.ActionID) core.Action {
	r.t.Helper()
	d, err := r.kernel.Peek(context.Background(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	return d.Action
}

func (r *rig) planApprove(ids ...core.ActionID) *core.Plan {
	r.t.Helper()
	plan, err := r.kernel.PlanApprove(context.Background(), "alice", ids, core.PlanOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	return plan
}

func (r *rig) approve(ids ...core.ActionID) []core.Result {
	r.t.Helper()
	return r.confirm(r.planApprove(ids...))
}

func (r *rig) reject(reason string, ids ...core.ActionID) []core.Result {
	r.t.Helper()
	plan, err := r.kernel.PlanReject(context.Background(), "alice", ids, reason)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.confirm(plan)
}

func (r *rig) confirm(plan *core.Plan) []core.Result {
	r.t.Helper()
	results, err := r.kernel.Confirm(context.Background(), plan, r.by, core.ConfirmOptions{Unopened: true}, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return results
}

func (r *rig) wantOutcomes(got []core.Result, want ...core.ItemOutcome) {
	r.t.Helper()
	if len(got) != len(want) {
		r.t.Fatalf("got %d results %v, want %v", len(got), got, want)
	}
	for i, g := range got {
		if g.Outcome != want[i] {
			r.t.Errorf("action %d: got %s (%s), want %s", g.Action, g.Outcome, g.Reason, want[i])
		}
	}
}

func (r *rig) wantState(id core.ActionID, want core.State) {
	r.t.Helper()
	if got := r.action(id).State; got != want {
		r.t.Errorf("action %d: got state %s, want %s", id, got, want)
	}
}

// rows are the rows of the record of some types, oldest first.
func (r *rig) rows(types ...core.EventType) []core.Row {
	r.t.Helper()
	rows, err := r.kernel.Record(context.Background(), core.RecordQuery{Types: types})
	if err != nil {
		r.t.Fatal(err)
	}
	return rows
}

func (r *rig) wantStatus(out core.Released, want core.Status) {
	r.t.Helper()
	if out.Status() != want {
		r.t.Fatalf("got %s (%s %s), want %s", out.Status(), out.Code(), out.Reason(), want)
	}
}

// field reads a member of a released object.
func field[T any](t testing.TB, out core.Released, name string) T {
	t.Helper()
	var object map[string]json.RawMessage
	if err := json.Unmarshal(out.Value(), &object); err != nil {
		t.Fatalf("value %s: %v", out.Value(), err)
	}
	var v T
	if err := json.Unmarshal(object[name], &v); err != nil {
		t.Fatalf("value %s: member %s: %v", out.Value(), name, err)
	}
	return v
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now moves on by a millisecond at each call, so that no two moments are one.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Millisecond)
	return c.now
}

type alive struct {
	self core.ProcessID
	mu   sync.Mutex
	dead map[core.ProcessID]bool
}

func (a *alive) Self() core.ProcessID { return a.self }

func (a *alive) Alive(id core.ProcessID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.dead[id]
}

// refuse is a check that refuses units by name, at one half of the gate.
type refuse struct {
	half core.Half
	unit string
	mu   sync.Mutex
	on   bool
}

func (c *refuse) Name() string { return "test" }

func (c *refuse) set(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.on = on
}

func (c *refuse) CheckIntent(_ context.Context, p core.Passage) error {
	return c.check(core.HalfIntent, p.Units)
}

func (c *refuse) CheckExact(_ context.Context, p core.Passage) error {
	return c.check(core.HalfExact, p.Units)
}

func (c *refuse) check(half core.Half, units []core.Unit) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, u := range units {
		if c.on && half == c.half && u.Name == c.unit {
			return &core.RefusedError{Unit: u, Why: "bob may not read it"}
		}
	}
	return nil
}

// put makes an item behind everybody's back: what is empty has no unit (K12).
func (r *rig) put(url, target string) {
	r.t.Helper()
	r.must(r.service(url).Put(target, memory.Item{Title: "item"}))
}

// know records people, as alice.
func (r *rig) know(people ...core.PersonID) {
	r.t.Helper()
	for _, p := range people {
		if _, err := r.kernel.AddPerson(context.Background(), core.Person{ID: p}, r.by); err != nil {
			r.t.Fatal(err)
		}
	}
}

// grant gives a role, by alice unless someone else is named.
func (r *rig) grant(person core.PersonID, role core.Role, by ...core.PersonID) error {
	r.t.Helper()
	giver := r.by
	if len(by) > 0 {
		giver.Person = by[0]
	}
	return r.kernel.GrantRole(context.Background(), string(r.session.ID), core.RoleGrant{Person: person, Role: role}, giver)
}

// letDecide makes a person one who may decide in the rig's session.
func (r *rig) letDecide(person core.PersonID) {
	r.t.Helper()
	r.know(person)
	err := r.kernel.GrantRole(context.Background(), string(r.session.ID), core.RoleGrant{Person: person, Role: core.RoleBuild, Decides: true}, r.by)
	if err != nil {
		r.t.Fatal(err)
	}
}

// agent is a call of a turn, without an id to be answered under.
func agent(turn int) core.Caller {
	return core.Caller{Kind: core.CallerAgent, Person: "alice", Turn: turn, Step: 1, Name: "model"}
}

// inFile reports whether the files of the store hold some words.
func (r *rig) inFile(words string) bool {
	r.t.Helper()
	names, err := filepath.Glob(r.path + "*")
	r.must(err)
	for _, name := range names {
		content, err := os.ReadFile(name)
		r.must(err)
		if bytes.Contains(content, []byte(words)) {
			return true
		}
	}
	return false
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}
