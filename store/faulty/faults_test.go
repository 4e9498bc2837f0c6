package faulty_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"syscall"
	"testing"

	"gatehouse/core"
	faultydriver "gatehouse/gatekeepers/faulty"
	"gatehouse/store/faulty"
)

// The flags of this package's tests; go test ./store/faulty -args …
//
//	-chaos N   rounds of killed processes (chaos_test.go) in place of a few, and every fault of every call in place of
//	           a part of them
//	-seed N    the seed to begin with: tests print theirs
func flags() {
	flag.Int("chaos", 0, "rounds of the long form; 0 is the short one")
	flag.Uint64("seed", 0, "seed; 0 is one of its own")
}

// long is what the flags say.
type long struct {
	rounds int
	seed   uint64
}

func TestMain(m *testing.M) {
	if raw := os.Getenv(childEnv); raw != "" {
		if err := runChild(raw); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flags()
	os.Exit(m.Run())
}

func given() long {
	value := func(name string) any { return flag.Lookup(name).Value.(flag.Getter).Get() }
	l := long{rounds: value("chaos").(int), seed: value("seed").(uint64)}
	if l.seed == 0 {
		l.seed = rand.Uint64()
	}
	return l
}

// outcome is what is left of a history.
type outcome struct {
	faults []string
	said   []string
}

// suffer runs the history with parts that fail, and then goes on with good ones, in another process on the same files.
func suffer(t *testing.T, with parts) outcome {
	t.Helper()
	dir := folder(t)
	p, err := enter(dir, parts{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.furnish(), p.leave()); err != nil {
		t.Fatal(err)
	}
	if p, err = enter(dir, with); err != nil {
		t.Fatal(err)
	}
	h, end := newHistory(p)
	h.run()
	end()
	if err := p.leave(); err != nil {
		t.Fatal(err)
	}
	got := outcome{h.faults, h.said}
	if p, err = enter(dir, parts{}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.leave(); err != nil {
			t.Error(err)
		}
	}()
	after, end := newHistory(p)
	defer end()
	after.set = h.set
	after.recover()
	after.finish()
	got.faults = append(got.faults, after.faults...)
	for _, said := range after.said {
		got.faults = append(got.faults, "with a good store and a good service: "+said)
	}
	return got
}

// recover is the start of the next process: what was claimed is unknown, and everything holds.
func (h *history) recover() {
	if _, err := h.kernel.Recover(h.ctx); err != nil {
		h.faults = append(h.faults, "recover: "+err.Error())
	}
	h.look("recover")
	h.whole("recovered")
}

func (h *history) whole(when string) {
	faults, err := h.bad(h.wrongly)
	if err != nil {
		faults = append(faults, err.Error())
	}
	for _, f := range faults {
		h.faults = append(h.faults, when+": "+f)
	}
}

// finish decides, settles and answers all there is, and wants nothing to be left, and room at the service for more.
func (h *history) finish() {
	for range 5 { // a turn that goes on makes more to decide
		h.settleAll()
		h.decide(core.VerdictApprove, h.in(core.StatePending)...)
		h.decide(core.VerdictReject, h.in(core.StatePending, core.StateStranded, core.StateFailed)...)
		if _, waiting, err := h.kernel.OpenTurn(h.ctx, "work"); err == nil {
			for _, w := range waiting {
				h.end(w)
			}
		}
		h.goOn()
	}
	session, err := h.kernel.Session(h.ctx, "work")
	if err != nil || session.State != core.SessionIdle {
		h.faults = append(h.faults, fmt.Sprintf("at the end: session is %s (%s) %v", session.State, session.WaitingFor, err))
	}
	if left := h.in(core.StatePending, core.StateClaimed, core.StateUnknown); len(left) > 0 {
		h.faults = append(h.faults, fmt.Sprintf("at the end: %v are left", left))
	}
	h.decide(core.VerdictApprove, h.append("item-1", "at the end"))
	if left := h.in(core.StatePending, core.StateClaimed, core.StateUnknown); len(left) > 0 {
		h.faults = append(h.faults, fmt.Sprintf("at the end: %v is not applied", left))
	}
	h.look("end")
	h.whole("at the end")
}

// in lists the actions in some states.
func (h *history) in(states ...core.State) []core.ActionID {
	rows, err := h.actions()
	if h.failed(err) {
		return nil
	}
	var ids []core.ActionID
	for _, row := range rows {
		if slices.Contains(states, row.State) {
			ids = append(ids, row.ID)
		}
	}
	return ids
}

// TestHistory_WithoutFaults holds the history itself to what it is for: no step fails, and everything comes about.
func TestHistory_WithoutFaults(t *testing.T) {
	store, driver := counted(t)
	t.Logf("%d transactions, %d statements, %d calls of the driver", len(store.Calls(faulty.Transactions)),
		len(store.Calls(faulty.Statements)), len(driver.Calls()))
}

// counted runs the history with parts that count and never fail.
func counted(t *testing.T) (*faulty.Store, *faultydriver.Driver) {
	t.Helper()
	var store *faulty.Store
	var driver *faultydriver.Driver
	got := suffer(t, parts{
		store: func(s core.Store) core.Store { store = faulty.New(s, faulty.Fault{}); return store },
		driver: func(g core.Gatekeeper) core.Gatekeeper {
			driver = faultydriver.New(g, faultydriver.Fault{})
			return driver
		},
	})
	for _, f := range got.faults {
		t.Error(f)
	}
	if len(got.said) > 0 {
		t.Errorf("steps failed without a fault: %q", got.said)
	}
	return store, driver
}

// causes are what disks and networks say.
func causes() []error {
	return []error{syscall.ENOSPC, syscall.EIO, context.DeadlineExceeded}
}

// TestFault_OfTheStore fails every transaction of the history, on both sides of its effect, once and from there on; the
// short form takes a part of them, which differs from run to run.
func TestFault_OfTheStore(t *testing.T) {
	counts, _ := counted(t)
	for _, of := range []faulty.Of{faulty.Transactions, faulty.Statements} {
		for _, when := range []faulty.When{faulty.Before, faulty.After} {
			n := len(counts.Calls(of))
			for i, call := range picked(t, n, 5) {
				f := faulty.Fault{Of: of, When: when, Call: call, Times: i % 2, Err: causes()[i%3]}
				t.Run(fmt.Sprintf("%s/%s/%d/%d", of, when, call, f.Times), func(t *testing.T) {
					t.Parallel()
					report(t, suffer(t, parts{store: func(s core.Store) core.Store { return faulty.New(s, f) }}))
				})
			}
		}
	}
}

// TestFault_OfTheDriver does so with every call of the driver.
func TestFault_OfTheDriver(t *testing.T) {
	_, counts := counted(t)
	for _, when := range []faultydriver.When{faultydriver.Before, faultydriver.After} {
		for i, call := range picked(t, len(counts.Calls()), 5) {
			f := faultydriver.Fault{When: when, Call: call, Times: i % 2, Err: causes()[i%3]}
			t.Run(fmt.Sprintf("%s/%d/%d", when, call, f.Times), func(t *testing.T) {
				t.Parallel()
				report(t, suffer(t, parts{driver: func(g core.Gatekeeper) core.Gatekeeper { return faultydriver.New(g, f) }}))
			})
		}
	}
}

func report(t *testing.T, got outcome) {
	t.Helper()
	for _, f := range got.faults {
		t.Error(f)
	}
}

// picked are the calls that are made to fail: all of them in the long form, a few in the short one.
func picked(t *testing.T, n, few int) []int {
	t.Helper()
	l := given()
	t.Logf("seed %d: replay with -args -seed %d", l.seed, l.seed)
	calls := rand.New(rand.NewPCG(l.seed, 0)).Perm(n)
	if l.rounds == 0 {
		calls = calls[:min(n, few)]
	}
	for i := range calls {
		calls[i]++
	}
	return calls
}

// TestR19_NoClaimIsForgotten fails each transaction of a confirm behind its commit. What was claimed then and never sent
// does not hold its connection: another action goes through, in the same process.
func TestR19_NoClaimIsForgotten(t *testing.T) {
	for call := 1; call <= 12; call++ {
		t.Run(fmt.Sprint(call), func(t *testing.T) {
			t.Parallel()
			dir := folder(t)
			p, err := enter(dir, parts{})
			if err != nil {
				t.Fatal(err)
			}
			h, end := newHistory(p)
			defer end()
			h.failed(p.furnish())
			first, second := h.append("item-1", "first"), h.append("item-2", "second")
			if err := p.leave(); err != nil || len(h.said) > 0 {
				t.Fatal(err, h.said)
			}
			f := faulty.Fault{When: faulty.After, Call: call, Times: 1, Err: syscall.EIO}
			if h.process, err = enter(dir, parts{store: func(s core.Store) core.Store { return faulty.New(s, f) }}); err != nil {
				t.Fatal(err)
			}
			h.decide(core.VerdictApprove, first)
			h.decide(core.VerdictApprove, second)
			h.decide(core.VerdictApprove, second) // where the fault was in the second confirm
			if left := h.in(core.StateClaimed, core.StatePending); slices.Contains(left, second) || h.ctx.Err() != nil {
				t.Errorf("%v are left of %d and %d, with %v", left, first, second, h.said)
			}
			h.whole("after")
			report(t, outcome{faults: h.faults})
			if err := h.leave(); err != nil {
				t.Error(err)
			}
		})
	}
}
