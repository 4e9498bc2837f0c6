package faulty_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"gatehouse/core"
)

// childEnv makes the test binary a process of the program that works until it is killed.
const childEnv = "GATEHOUSE_FAULTY_TEST_CHILD"

// childSpec is what a child is told.
type childSpec struct {
	Dir  string
	Seed uint64
	Die  int64 // it kills itself when it passes so many fault points; 0 is never
	Room int64 // no file may become larger; 0 is no limit, and with one it goes through the history and ends
}

// told is one line of a child: what the program has told a person by then, and so has to keep.
type told struct {
	Submitted []core.ActionID `json:",omitempty"`
	Applied   []core.ActionID `json:",omitempty"`
	Faults    []string        `json:",omitempty"`
}

// bomb kills its process at the nth fault point.
type bomb struct {
	die    int64
	passed atomic.Int64
}

func (b *bomb) At(core.FaultPoint) error {
	if b.passed.Add(1) == b.die {
		_ = unix.Kill(os.Getpid(), unix.SIGKILL) // it does not come back
		select {}
	}
	return nil
}

// runChild does one random thing after another, and says after each what came of it, until it is killed.
func runChild(raw string) error {
	var s childSpec
	if err := json.Unmarshal([]byte(raw), &s); err != nil {
		return err
	}
	p, err := enter(s.Dir, parts{fault: &bomb{die: s.Die}})
	if err != nil {
		return err
	}
	if s.Room > 0 {
		return cramped(p, s.Room)
	}
	out, random := json.NewEncoder(os.Stdout), rand.New(rand.NewPCG(s.Seed, 2))
	for n := 0; ; n++ {
		h, end := newHistory(p)
		h.names.n.Store(int64(s.Seed%1_000_000)*1000 + int64(n)*20)
		if _, err := h.kernel.Recover(h.ctx); err != nil {
			h.failed(err)
		}
		steps := []func(){
			h.reads, h.bulk, h.bulk, h.strand, h.revert, h.rule, h.unknown, h.turn, h.people, h.fork,
			func() { h.mixed(random) },
		}
		step := random.IntN(len(steps))
		steps[step]()
		if h.ctx.Err() != nil {
			h.faults = append(h.faults, fmt.Sprintf("step %d is stuck, after %q", step, h.said))
		}
		end()
		if err := out.Encode(told{h.submitted, h.applied, h.faults}); err != nil {
			return err
		}
	}
}

// mixed decides some of what waits, whoever made it.
func (h *history) mixed(random *rand.Rand) {
	waiting := h.in(core.StatePending)
	random.Shuffle(len(waiting), func(i, j int) { waiting[i], waiting[j] = waiting[j], waiting[i] })
	half := min(len(waiting), 8) / 2
	h.decide(core.VerdictApprove, waiting[:half]...)
	h.decide(core.VerdictReject, waiting[half:min(len(waiting), 2*half)]...)
}

// child is a process that is to be killed.
type child struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func startChild(t *testing.T, s childSpec) *child {
	t.Helper()
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: exec.Command(os.Args[0])}
	c.cmd.Env, c.cmd.Stderr = append(os.Environ(), childEnv+"="+string(raw)), os.Stderr
	var out io.ReadCloser
	if out, err = c.cmd.StdoutPipe(); err != nil {
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

// killed reads some lines, kills the child at whatever it does then, and gives everything that it has said.
func (c *child) killed(t *testing.T, lines int) (all told) {
	t.Helper()
	for n := 0; c.lines.Scan(); n++ {
		var line told
		if err := json.Unmarshal(c.lines.Bytes(), &line); err != nil {
			break // the line that it was killed in
		}
		all.Submitted, all.Applied = append(all.Submitted, line.Submitted...), append(all.Applied, line.Applied...)
		all.Faults = append(all.Faults, line.Faults...)
		if n+1 == lines {
			_ = c.cmd.Process.Kill() // it may have killed itself
		}
	}
	var exit *exec.ExitError
	if err := c.cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != unix.SIGKILL {
		t.Errorf("a child ended by itself: %v", err)
	}
	return all
}

// TestChaos_KilledProcesses lets three processes at a time work on one store and kills each at a random moment. After each
// round everything has to hold: sets do not shrink, nothing happened twice or is lost, what a person was told stays
// true, the chain and the tables fit. In the end everything can be decided and no turn waits for ever.
//
// go test ./store/faulty -run Chaos -args -chaos 200 makes 200 rounds; -seed N replays the choices of a run, though not
// the moments at which its processes met.
func TestChaos_KilledProcesses(t *testing.T) {
	const children = 3
	l := given()
	rounds := l.rounds
	if rounds == 0 {
		rounds = 6
	}
	t.Logf("seed %d: replay with -args -seed %d", l.seed, l.seed)
	random := rand.New(rand.NewPCG(l.seed, 1))
	dir := folder(t)
	p := mustEnter(t, dir)
	if err := errors.Join(p.furnish(), p.leave()); err != nil {
		t.Fatal(err)
	}
	set, promised := make(map[string]bool), told{}
	for round := range rounds {
		var running []*child
		for range children {
			running = append(running, startChild(t, childSpec{Dir: dir, Seed: random.Uint64(), Die: random.Int64N(300)}))
		}
		for _, c := range running {
			said := c.killed(t, 1+random.IntN(8))
			promised.Submitted, promised.Applied = append(promised.Submitted, said.Submitted...), append(promised.Applied, said.Applied...)
			promised.Faults = append(promised.Faults, said.Faults...)
		}
		// What waits is decided now and then: the work of a round grows with it.
		afterRound(t, dir, set, promised, round%10 == 9 || round+1 == rounds)
		if t.Failed() {
			t.Fatalf("in round %d of seed %d", round, l.seed)
		}
	}
	t.Logf("%d rounds, %d actions promised, %d of them applied, %d units", rounds, len(promised.Submitted), len(promised.Applied), len(set))
}

// afterRound is the next process after all were killed.
func afterRound(t *testing.T, dir string, set map[string]bool, promised told, decide bool) {
	t.Helper()
	p := mustEnter(t, dir)
	h, end := newHistory(p)
	defer end()
	h.set = set
	h.recover()
	h.keeps(promised)
	if decide {
		h.finish()
		h.keeps(promised)
	}
	report(t, outcome{faults: append(h.faults, promised.Faults...)})
	if err := p.leave(); err != nil {
		t.Error(err)
	}
}

// keeps holds the store against what people were told.
func (h *history) keeps(promised told) {
	rows, err := h.actions()
	h.failed(err)
	state := make(map[core.ActionID]core.State)
	for _, row := range rows {
		state[row.ID] = row.State
	}
	for _, id := range promised.Submitted {
		if state[id] == "" {
			h.faults = append(h.faults, fmt.Sprintf("action %d: submitted, and lost", id))
		}
	}
	for _, id := range promised.Applied {
		if state[id] != core.StateApplied && state[id] != core.StateReverted {
			h.faults = append(h.faults, fmt.Sprintf("action %d: applied, as a person was told, and %s now", id, state[id]))
		}
	}
}

func mustEnter(t *testing.T, dir string) *process {
	t.Helper()
	p, err := enter(dir, parts{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
