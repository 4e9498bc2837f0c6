package agent_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/gatekeepers/memory"
	"gatehouse/gatekeepers/model/script"
	"gatehouse/store"
)

// childEnv makes the test binary a process that runs a turn.
const childEnv = "GATEHOUSE_AGENT_TEST_CHILD"

// order is what a child is to do.
type order struct {
	Dir     string
	Session string
	Script  string
	Resume  bool
	Kill    core.FaultPoint // where it kills itself, at the Nth time; empty: nowhere, and it prints what it passed
	Nth     int
}

// killer is a Fault that ends the process at a point as SIGKILL does, and counts the points on the way.
type killer struct {
	order
	passed []core.FaultPoint
}

func (k *killer) At(point core.FaultPoint) error {
	k.passed = append(k.passed, point)
	if point != k.Kill {
		return nil
	}
	if k.Nth--; k.Nth == 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	return nil
}

// runChild is main of a child; it prints the points that it passed, or why it did not run.
func runChild(raw string) int {
	k := &killer{}
	if err := json.Unmarshal([]byte(raw), &k.order); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	report, err := k.run()
	var held *core.TurnHeldError
	var none *core.NoTurnError
	switch {
	case errors.As(err, &held):
		fmt.Println("held")
	case errors.As(err, &none):
		fmt.Println("nothing")
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	default:
		fmt.Println("ran", report.Turn.State)
	}
	for _, point := range k.passed {
		fmt.Println(point)
	}
	return 0
}

func (k *killer) run() (report agent.Report, err error) {
	ctx := context.Background()
	db, err := store.Open(ctx, store.Options{Path: storeIn(k.Dir)})
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	processes, err := store.Join(storeIn(k.Dir))
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, processes.Close()) }()
	kernel, err := core.New(core.Options{
		Store: db, Gatekeepers: []core.Gatekeeper{memory.New()}, Clock: systemClock{}, Rand: rand.Reader, Alive: processes, Fault: k,
	})
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, kernel.Close()) }()
	model, err := script.Parse("child.yaml", []byte(k.Script))
	if err != nil {
		return report, err
	}
	o := agent.Options{Kernel: kernel, Model: model, Session: k.Session, Task: "the task", By: alice}
	if k.Resume {
		return agent.Continue(ctx, o)
	}
	return agent.Run(ctx, o)
}

// child starts a process with an order.
func child(t testing.TB, o order) *exec.Cmd {
	t.Helper()
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childEnv+"="+string(raw))
	return cmd
}

// finish runs a child to its end and gives the lines it printed.
func finish(t testing.TB, o order) []string {
	t.Helper()
	cmd := child(t, o)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("child: %v: %s", err, complaint.String())
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// kill runs a child that has to die at its point.
func kill(t testing.TB, o order) {
	t.Helper()
	out, err := child(t, o).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("child: got %v (%s), want it killed at %s", err, out, o.Kill)
	}
}

const threeCallsScript = `
version: 1
steps:
  - call: NOTES.create
    args: {title: first}
    as: first
  - call: NOTES.list
    as: before
  - call: NOTES.create
    args: {title: second}
  - expect: {of: before, pending: 1}
  - call: NOTES.append
    args: {id: "${first.id}", text: more}
  - say: All of it.
`

// A process that is killed at any fault point of a turn leaves a turn that goes on: answered calls are not repeated,
// unanswered ones run once.
func TestA4_KilledAnywhereInAStepOfThreeCalls(t *testing.T) {
	passed := finish(t, order{Dir: newRig(t).dir, Session: "work", Script: threeCallsScript})[1:]
	seen := make(map[core.FaultPoint]int)
	for _, p := range passed {
		point := core.FaultPoint(p)
		seen[point]++
		nth := seen[point]
		t.Run(fmt.Sprintf("%s-%d", point, nth), func(t *testing.T) {
			r := newRig(t)
			kill(t, order{Dir: r.dir, Session: "work", Script: threeCallsScript, Kill: point, Nth: nth})
			r.goOn(t)
		})
	}
	for _, point := range []core.FaultPoint{
		core.FaultTurnStarted, core.FaultTurnResponse, core.FaultTurnStored, core.FaultTurnAnswering, core.FaultTurnAnswered,
		core.FaultTurnClosed, core.FaultTurnEnded, core.FaultSubmitInside,
	} {
		if seen[point] == 0 {
			t.Errorf("point %s was never passed", point)
		}
	}
	if seen[core.FaultTurnAnswered] != 4 {
		t.Errorf("got %d answered calls, want 4", seen[core.FaultTurnAnswered])
	}
}

// goOn takes the turn up again and wants to find it as if nothing had happened.
func (r *rig) goOn(t *testing.T) {
	r.t = t
	model, err := script.Parse("child.yaml", []byte(threeCallsScript))
	r.must(err)
	turn, _, err := r.kernel.OpenTurn(context.Background(), r.session)
	r.must(err)
	if turn.State == core.TurnRunning {
		r.wantSession(core.SessionReady)
		r.resume(r.options(model), core.TurnDone)
	} else if turn.State != core.TurnDone {
		t.Errorf("got turn %s, want running or done", turn.State)
	}
	rows := r.queue()
	titles := make([]string, len(rows))
	for i, row := range rows {
		titles[i] = row.Kind
	}
	if want := []string{"create", "create", "append"}; !slices.Equal(titles, want) {
		t.Errorf("got actions %v, want %v", titles, want)
	}
	reads, err := r.kernel.Record(context.Background(), core.RecordQuery{Types: []core.EventType{core.EventRead}})
	r.must(err)
	lists := 0
	for _, row := range reads {
		if row.Entry.Subject == "NOTES.list" {
			lists++
		}
	}
	if lists != 1 {
		t.Errorf("got %d rows of the one read, want one", lists)
	}
	var kinds []string
	for _, e := range r.transcript() {
		kinds = append(kinds, string(e.Kind))
		if e.Kind == core.TranscriptCall && e.Result.Status() != core.StatusOK {
			t.Errorf("call %s: got %s %s", e.Call.ID, e.Result.Status(), e.Result.Reason())
		}
	}
	if want := "message call call call call text turn"; strings.Join(kinds, " ") != want {
		t.Errorf("got transcript %v, want %s", kinds, want)
	}
	r.wantWhole()
}

const awaitScript = `
version: 1
steps:
  - call: NOTES.publish
    args: {id: item-1}
    as: done
  - expect: {of: done, status: ok}
  - expect: {of: done.state, equals: applied}
  - call: NOTES.get
    args: {id: item-1}
    as: item
  - expect: {of: item.status, equals: published}
  - say: It is out.
`

func TestK54_ApprovedFromAShellAfterARestartAndContinuedOnce(t *testing.T) {
	for round := range 5 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			r := newRig(t)
			first := finish(t, order{Dir: r.dir, Session: "work", Script: awaitScript})
			if first[0] != "ran suspended" {
				t.Fatalf("got %v, want it suspended", first)
			}
			_, waiting, err := r.kernel.OpenTurn(context.Background(), r.session)
			r.must(err)
			r.approve(waiting[0].ID)
			r.wantSession(core.SessionReady)

			said := make([]string, 2)
			var both sync.WaitGroup
			for i := range said {
				both.Go(func() {
					said[i] = finish(t, order{Dir: r.dir, Session: "work", Script: awaitScript, Resume: true})[0]
				})
			}
			both.Wait()
			slices.Sort(said)
			if said[1] != "ran done" || said[0] != "held" && said[0] != "nothing" {
				t.Errorf("got %v, want one that ran and one that did not", said)
			}
			r.wantOneResume(3)
		})
	}
}

// wantOneResume wants a turn that was resumed once and has so many steps.
func (r *rig) wantOneResume(steps int) {
	r.t.Helper()
	rows, err := r.kernel.Record(context.Background(), core.RecordQuery{Types: []core.EventType{core.EventTurn, core.EventEgress}})
	r.must(err)
	resumed, asked := 0, 0
	for _, row := range rows {
		if strings.Contains(string(row.Entry.Detail), `"resumed"`) {
			resumed++
		}
		if row.Entry.Type == core.EventEgress && !strings.Contains(string(row.Entry.Detail), `"completed"`) {
			asked++
		}
	}
	if resumed != 1 || asked != steps {
		r.t.Errorf("got %d resumes and %d requests, want one and %d", resumed, asked, steps)
	}
}

func TestK54_ManyRunnersOneLease(t *testing.T) {
	r := newRig(t)
	kernels := make([]*core.Kernel, 4)
	for i := range kernels {
		kernels[i], _ = r.process()
	}
	for round := range 25 {
		model := fakeModel(calls(publish("1", round%8+1)))
		waiting := r.run(r.options(model), core.TurnSuspended).Waiting
		r.reject("no", waiting[0].ID)
		ran := make([]bool, len(kernels))
		var all sync.WaitGroup
		for i, k := range kernels {
			all.Go(func() {
				o := r.options(model)
				o.Kernel = k
				report, err := agent.Continue(context.Background(), o)
				var held *core.TurnHeldError
				var none *core.NoTurnError
				ran[i] = err == nil && report.Turn.State == core.TurnDone
				if err != nil && !errors.As(err, &held) && !errors.As(err, &none) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		count := 0
		for _, did := range ran {
			if did {
				count++
			}
		}
		if count != 1 || len(model.asked()) != 2 {
			t.Fatalf("round %d: %d runners and %d requests, want one and two", round, count, len(model.asked()))
		}
	}
	r.wantWhole()
}

func TestR27_KilledWhileSuspendingAndResuming(t *testing.T) {
	for _, point := range []core.FaultPoint{core.FaultTurnSuspended, core.FaultTurnResumed} {
		t.Run(string(point), func(t *testing.T) {
			r := newRig(t)
			o := order{Dir: r.dir, Session: "work", Script: awaitScript}
			if point == core.FaultTurnSuspended {
				o.Kill, o.Nth = point, 1
				kill(t, o)
			} else {
				finish(t, o)
			}
			_, waiting, err := r.kernel.OpenTurn(context.Background(), r.session)
			r.must(err)
			if len(waiting) != 1 {
				t.Fatalf("got waiting %v, want one", waiting)
			}
			r.approve(waiting[0].ID)
			if point == core.FaultTurnResumed {
				kill(t, order{Dir: r.dir, Session: "work", Script: awaitScript, Resume: true, Kill: point, Nth: 1})
			}
			got := finish(t, order{Dir: r.dir, Session: "work", Script: awaitScript, Resume: true})
			if got[0] != "ran done" {
				t.Errorf("got %v, want it done", got)
			}
			if notes := strings.Count(fmt.Sprint(r.transcript()), "Decided since"); notes != 1 {
				t.Errorf("got %d notes, want one", notes)
			}
		})
	}
}

func TestR27_LeaseOfADeadHolderIsTaken(t *testing.T) {
	r := newRig(t)
	other, die := r.process()
	lease, err := other.StartTurn(context.Background(), core.StartTurn{Session: r.session, Task: "the task", By: alice, Model: "fake model"})
	r.must(err)
	r.wantSession(core.SessionRunning)
	model := fakeModel(says("Done."))
	_, err = agent.Continue(context.Background(), r.options(model))
	var held *core.TurnHeldError
	if !errors.As(err, &held) || held.Holder != lease.Holder {
		t.Fatalf("got %v, want that the other process runs it", err)
	}
	die()
	r.wantSession(core.SessionReady)
	r.resume(r.options(model), core.TurnDone)
	if _, err := other.NextStep(context.Background(), lease); err == nil {
		t.Error("the old lease is still good")
	}
}
