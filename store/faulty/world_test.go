package faulty_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/predicate"
	"gatehouse/gatekeepers/memory"
	"gatehouse/store"
)

const alice, bob = core.PersonID("alice"), core.PersonID("bob")

func as(person core.PersonID) core.Authority {
	return core.Authority{Person: person, Means: core.MeansPipe}
}

// process is the program in one process: a store, its place among the processes, a kernel, and a driver whose service
// lies in a file. What is in the folder is all that one process leaves to the next.
type process struct {
	db        *store.DB
	processes *store.Processes
	service   *memory.Service
	kernel    *core.Kernel
	url       string // of the service
}

// parts are what a process is made with; nil leaves a part as it is.
type parts struct {
	store  func(core.Store) core.Store
	driver func(core.Gatekeeper) core.Gatekeeper
	fault  core.Fault
}

// serviceURL is a service of eight items; the first label that is taken away there happens, and its answer is lost.
func serviceURL(dir string) string {
	return "memory://box/notes?fail=after:remove_label:1&file=" + filepath.Join(dir, "service.json") + "&seed=8"
}

func enter(dir string, with parts) (*process, error) {
	path := filepath.Join(dir, "gatehouse.db")
	db, err := store.Open(context.Background(), store.Options{Path: path})
	if err != nil {
		return nil, err
	}
	p := &process{db: db, url: serviceURL(dir)}
	if p.processes, err = store.Join(path); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	driver := memory.NewObserved(core.StrategyACL)
	driver.SetAccess(bob, memory.Unit("box", "notes"), core.AccessPassed)
	if p.service, err = driver.Service(p.url); err != nil {
		return nil, errors.Join(err, p.leave())
	}
	o := core.Options{
		Store: db, Gatekeepers: []core.Gatekeeper{driver}, Clock: systemClock{}, Rand: rand.Reader, Alive: p.processes,
		Predicates: predicate.Compiler{}, Fault: with.fault, Cap: 100_000, BaseDeadline: time.Minute,
	}
	if with.store != nil {
		o.Store = with.store(db)
	}
	if with.driver != nil {
		o.Gatekeepers[0] = with.driver(driver)
	}
	if p.kernel, err = core.New(o); err != nil {
		return nil, errors.Join(err, p.leave())
	}
	return p, nil
}

func (p *process) leave() error {
	var errs []error
	if p.kernel != nil {
		errs = append(errs, p.kernel.Close())
	}
	return errors.Join(append(errs, p.processes.Close(), p.db.Close())...)
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

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

// furnish makes the session "work" with its binding.
func (p *process) furnish() error {
	if _, err := p.kernel.NewSession(context.Background(), core.NewSession{Name: "work", Owner: alice}); err != nil {
		return err
	}
	_, err := p.kernel.Bind(context.Background(), core.BindRequest{Session: "work", Name: "NOTES", URL: p.url, Person: alice})
	return err
}

// actions lists every action and question there is.
func (p *process) actions() ([]core.QueueRow, error) {
	page, err := p.kernel.Queue(context.Background(), core.QueueQuery{AllState: true, Limit: 10_000})
	return page.Rows, err
}

// sets are the observation sets of all sessions, as words.
func (p *process) sets() (map[string]bool, error) {
	set := make(map[string]bool)
	seen, err := p.kernel.Observations(context.Background(), "")
	for _, o := range seen {
		set[fmt.Sprintf("%s %v", o.Session, o.Found.Unit)] = true
	}
	return set, err
}

// sent counts the effects of each action at the service.
func (p *process) sent() (map[core.ActionID]int, error) {
	effects, err := p.service.Effects()
	count := make(map[core.ActionID]int)
	for _, e := range effects {
		count[e.Action]++
	}
	return count, err
}

// bad lists what does not hold in a store in which nothing is being carried out: an effect that happened twice or is
// lost, one without its claim on record, a chain or tables that do not fit. Wrongly are the actions of which a person
// said what is not true.
func (p *process) bad(wrongly map[core.ActionID]bool) ([]string, error) {
	var faults []string
	rows, err := p.actions()
	sent, err2 := p.sent()
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	state := make(map[core.ActionID]core.State)
	for _, row := range rows {
		state[row.ID] = row.State
		done := row.State == core.StateApplied || row.State == core.StateReverted
		if n := sent[row.ID]; done && n != 1 && !wrongly[row.ID] {
			faults = append(faults, fmt.Sprintf("action %d is %s and has %d effects", row.ID, row.State, n))
		}
		faults = append(faults, twoLines(row.Reason)...)
	}
	for id, n := range sent {
		switch s := state[id]; {
		case n > 1:
			faults = append(faults, fmt.Sprintf("action %d: its effect happened %d times", id, n))
		case s != core.StateApplied && s != core.StateReverted && s != core.StateUnknown && !wrongly[id]:
			faults = append(faults, fmt.Sprintf("action %d: its effect happened, and it is %s", id, s))
		}
	}
	more, err := p.badRecord(sent)
	return append(faults, more...), err
}

func (p *process) badRecord(sent map[core.ActionID]int) ([]string, error) {
	var faults []string
	for name, look := range map[string]func(context.Context) (core.Verification, error){
		"record": p.kernel.VerifyRecord, "store": p.db.Fsck,
	} {
		got, err := look(context.Background())
		if err != nil {
			return nil, err
		}
		if !got.OK() {
			faults = append(faults, fmt.Sprintf("%s: first bad row is %+v", name, *got.FirstBad))
		}
	}
	rows, err := p.kernel.Record(context.Background(), core.RecordQuery{Types: []core.EventType{core.EventClaim}, Limit: 100_000})
	claimed := make(map[string]bool)
	for _, row := range rows {
		claimed[row.Entry.Subject] = true
	}
	for id := range sent {
		if !claimed[fmt.Sprintf("action %d", id)] {
			faults = append(faults, fmt.Sprintf("action %d: its effect happened without a claim on record", id))
		}
	}
	return faults, err
}

// twoLines finds what a person could not be shown as one clear line.
func twoLines(words string) []string {
	if strings.ContainsAny(words, "\n\r\x1b") || strings.Contains(words, "goroutine ") {
		return []string{fmt.Sprintf("not one clean line: %q", words)}
	}
	return nil
}

// call is one call of a person, or of a client, in the session.
func (p *process) call(ctx context.Context, binding, method string, args any) (core.Released, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return core.Released{}, err
	}
	return p.kernel.Call(ctx, core.CallRequest{
		Session: "work", Binding: core.BindingName(binding), Method: method, Args: raw,
		Caller: core.Caller{Kind: core.CallerPerson, Person: alice},
	})
}

// names gives out words that differ.
type names struct{ n atomic.Int64 }

func (n *names) next(what string) string { return fmt.Sprintf("%s %d", what, n.n.Add(1)) }
