package core_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gatehouse/core"
	"gatehouse/gatekeepers/memory"
	"gatehouse/store"
)

// childEnv makes the test binary a process of the program: it does what the variable says and ends.
const childEnv = "GATEHOUSE_CORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if raw := os.Getenv(childEnv); raw != "" {
		if err := runChild(raw); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// house is the program in one process: a store, its place among the processes, and a kernel over a service in a file.
// What is in the folder is all that one house leaves to the next.
type house struct {
	db        *store.DB
	store     core.Store // as the kernel has it
	processes *store.Processes
	driver    *memory.Driver
	kernel    *core.Kernel
	url       string
}

// wallClock is the machine's, moved on by an offset.
type wallClock struct{ ahead time.Duration }

func (c wallClock) Now() time.Time { return time.Now().Add(c.ahead) }

const houseSession = "work"

func openHouse(dir string, options ...rigOption) (*house, error) {
	path := filepath.Join(dir, "gatehouse.db")
	db, err := store.Open(context.Background(), store.Options{Path: path})
	if err != nil {
		return nil, err
	}
	h := &house{
		db: db, driver: memory.New(),
		url: fmt.Sprintf("memory://box/notes?file=%s&seed=8", filepath.Join(dir, "service.json")),
	}
	if h.processes, err = store.Join(path); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	o := core.Options{
		Store: db, Gatekeepers: []core.Gatekeeper{h.driver}, Clock: wallClock{}, Rand: rand.Reader, Alive: h.processes,
		Cap: 10000, BaseDeadline: time.Minute, // a slow machine must not change which outcomes share a transaction
	}
	for _, option := range options {
		option(&o)
	}
	h.store = o.Store
	if h.kernel, err = core.New(o); err != nil {
		return nil, errors.Join(err, h.processes.Close(), db.Close())
	}
	return h, nil
}

func (h *house) close() error {
	return errors.Join(h.kernel.Close(), h.processes.Close(), h.db.Close())
}

// furnish makes the session and its binding; bob may decide in it too.
func (h *house) furnish() error {
	ctx := context.Background()
	if _, err := h.kernel.NewSession(ctx, core.NewSession{Name: houseSession, Owner: "alice"}); err != nil {
		return err
	}
	if _, err := h.kernel.Bind(ctx, core.BindRequest{Session: houseSession, Name: "NOTES", URL: h.url, Person: "alice"}); err != nil {
		return err
	}
	return h.letDecide("bob")
}

// letDecide makes a person one who may decide in the house's session.
func (h *house) letDecide(person core.PersonID) error {
	by := core.Authority{Person: "alice", Means: core.MeansPipe}
	if _, err := h.kernel.AddPerson(context.Background(), core.Person{ID: person}, by); err != nil {
		return err
	}
	grant := core.RoleGrant{Person: person, Role: core.RoleBuild, Decides: true}
	return h.kernel.GrantRole(context.Background(), houseSession, grant, by)
}

func (h *house) call(caller core.Caller, method string, args any) (core.Released, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return core.Released{}, err
	}
	return h.kernel.Call(context.Background(), core.CallRequest{
		Session: houseSession, Binding: "NOTES", Method: method, Args: raw, Caller: caller,
	})
}

// submit queues an action or says why not.
func (h *house) submit(method string, args any) (core.ActionID, error) {
	out, err := h.call(core.Caller{Kind: core.CallerPerson, Person: "alice"}, method, args)
	if err != nil {
		return 0, err
	}
	if out.Action() == 0 {
		return 0, fmt.Errorf("%s queued nothing: %s %s", method, out.Status(), out.Reason())
	}
	return out.Action(), nil
}

func (h *house) confirm(plan *core.Plan, progress func(core.Progress)) ([]core.Result, error) {
	by := core.Authority{Person: plan.By, Means: core.MeansPipe}
	return h.kernel.Confirm(context.Background(), plan, by, core.ConfirmOptions{Unopened: true}, progress)
}

// signaller sends a signal to its own process at the nth pass of a point, the way a power cut or a closed lid would.
type signaller struct {
	point  core.FaultPoint
	nth    int64
	signal syscall.Signal
	wake   io.Reader // what a suspended process waits for before it goes on
	passed atomic.Int64
}

func (s *signaller) At(p core.FaultPoint) error {
	if p != s.point || s.passed.Add(1) != s.nth {
		return nil
	}
	if err := unix.Kill(os.Getpid(), s.signal); err != nil {
		return err
	}
	if s.signal == unix.SIGKILL {
		for { // the signal may take a moment to arrive
			runtime.Gosched()
		}
	}
	_, err := s.wake.Read(make([]byte, 1))
	return err
}

// The things that a child can be asked to do.
const (
	roleSubmit = "submit" // one call by an agent
	roleCarry  = "carry"  // plans and confirms Items
	roleDuel   = "duel"   // plans, waits for a line, confirms; until standard input ends
	roleWork   = "work"   // submits and decides for Rounds
)

// childSpec is what a child is told.
type childSpec struct {
	Role   string
	Dir    string
	Person core.PersonID
	Items  []core.PlanItem
	Rounds int
	For    time.Duration // works so long where it is longer than the rounds
	Seed   uint64
	Point  core.FaultPoint
	Nth    int64
	Signal syscall.Signal
}

func runChild(raw string) error {
	var s childSpec
	if err := json.Unmarshal([]byte(raw), &s); err != nil {
		return err
	}
	h, err := openHouse(s.Dir, func(o *core.Options) {
		if s.Point != "" {
			o.Fault = &signaller{point: s.Point, nth: s.Nth, signal: s.Signal, wake: os.Stdin}
		}
		if s.Role == roleWork {
			o.Store = &timed{Store: o.Store}
		}
	})
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	switch s.Role {
	case roleSubmit:
		err = childSubmit(h, out)
	case roleCarry:
		err = childCarry(h, s, out)
	case roleDuel:
		err = childDuel(h, s, os.Stdin, out)
	case roleWork:
		err = childWork(h, s, out)
	default:
		err = fmt.Errorf("child: role %q is none", s.Role)
	}
	return errors.Join(err, h.close())
}

// agentCall is one and the same call of one turn, so that a repeat is recognised.
func (h *house) agentCall() (core.Released, error) {
	return h.call(core.Caller{
		Kind: core.CallerAgent, Person: "alice", Turn: 1, Step: 1, CallID: "call-1", Name: "model",
	}, "append", map[string]string{"id": "item-1", "text": "from the agent\n"})
}

func childSubmit(h *house, out *json.Encoder) error {
	released, err := h.agentCall()
	if err != nil {
		return err
	}
	return out.Encode(released)
}

func childCarry(h *house, s childSpec, out *json.Encoder) error {
	plan, err := h.kernel.Plan(context.Background(), s.Person, s.Items)
	if err != nil {
		return err
	}
	results, err := h.confirm(plan, nil)
	if err != nil {
		return err
	}
	return out.Encode(results)
}

// duelRound is what one side of a duel is asked: to plan Items, or, without any, to confirm what it has planned.
type duelRound struct{ Items []core.PlanItem }

func childDuel(h *house, s childSpec, in io.Reader, out *json.Encoder) error {
	dec := json.NewDecoder(in)
	var plan *core.Plan
	for {
		var round duelRound
		if err := dec.Decode(&round); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var results []core.Result
		var err error
		if len(round.Items) > 0 {
			plan, err = h.kernel.Plan(context.Background(), s.Person, round.Items)
		} else {
			results, err = h.confirm(plan, nil)
		}
		if err != nil {
			return err
		}
		if err := out.Encode(results); err != nil {
			return err
		}
	}
}

// child is a process that a test started.
type child struct {
	t     testing.TB
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
	errs  *bytes.Buffer
}

func startChild(t testing.TB, s childSpec) *child {
	t.Helper()
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	c := &child{t: t, cmd: exec.Command(os.Args[0]), errs: &bytes.Buffer{}}
	c.cmd.Env = append(os.Environ(), childEnv+"="+string(raw))
	c.cmd.Stderr = c.errs
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.lines = bufio.NewScanner(out)
	c.lines.Buffer(nil, 16<<20)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c.cmd.ProcessState == nil {
			_ = c.cmd.Process.Kill() // a test that failed half way
			_ = c.cmd.Wait()
		}
	})
	return c
}

// tell writes one line to the child.
func (c *child) tell(v any) {
	c.t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.in.Write(append(raw, '\n')); err != nil {
		c.t.Fatalf("child: %v: %s", err, c.errs)
	}
}

// hear reads the child's next line.
func hear[T any](c *child) T {
	c.t.Helper()
	var v T
	if !c.lines.Scan() {
		_ = c.cmd.Wait() // what it said before it ended is all that counts
		c.t.Fatalf("child ended early: %s", c.errs)
	}
	if err := json.Unmarshal(c.lines.Bytes(), &v); err != nil {
		c.t.Fatalf("child said %s: %v", c.lines.Bytes(), err)
	}
	return v
}

// end lets the child come to its end, which must be a good one.
func (c *child) end() {
	c.t.Helper()
	if err := errors.Join(c.in.Close(), c.cmd.Wait()); err != nil {
		c.t.Fatalf("child: %v: %s", err, c.errs)
	}
}

// wantKilled waits until the child was killed, which it must have been before it said anything.
func (c *child) wantKilled() {
	c.t.Helper()
	said := c.lines.Scan()
	err := c.cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, is := exit.Sys().(syscall.WaitStatus); is && status.Signaled() && status.Signal() == unix.SIGKILL && !said {
			return
		}
	}
	c.t.Fatalf("child was not killed at its point: %v, said %q: %s", err, c.lines.Bytes(), c.errs)
}
