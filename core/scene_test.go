package core_test

import (
	"context"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"gatehouse/core"
)

// scene is a house between two processes, as a test looks at it.
type scene struct {
	*house
	t   testing.TB
	dir string
}

func newScene(t testing.TB) *scene {
	t.Helper()
	s := &scene{t: t, dir: t.TempDir()}
	s.enter()
	if err := s.furnish(); err != nil {
		t.Fatal(err)
	}
	return s
}

// enter is the start of one more process on the same folder.
func (s *scene) enter(options ...rigOption) {
	s.t.Helper()
	h, err := openHouse(s.dir, options...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.house = h
	s.t.Cleanup(func() {
		if s.house == h {
			s.leave()
		}
	})
}

func (s *scene) leave() {
	s.t.Helper()
	if err := s.close(); err != nil {
		s.t.Error(err)
	}
	s.house = nil
}

func (s *scene) queue(method string, args any) core.ActionID {
	s.t.Helper()
	id, err := s.submit(method, args)
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

func (s *scene) append(item, text string) core.ActionID {
	s.t.Helper()
	return s.queue("append", map[string]string{"id": item, "text": text})
}

func (s *scene) action(id core.ActionID) core.Action {
	s.t.Helper()
	var a core.Action
	err := s.db.Read(context.Background(), func(v core.View) (err error) {
		a, err = v.Action(id)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

func (s *scene) wantState(id core.ActionID, want core.State) {
	s.t.Helper()
	if a := s.action(id); a.State != want {
		s.t.Errorf("action %d: got state %s (%s), want %s", id, a.State, a.Reason, want)
	}
}

// approve plans and confirms as alice.
func (s *scene) approve(ids ...core.ActionID) map[core.ActionID]core.Result {
	s.t.Helper()
	plan, err := s.kernel.PlanApprove(context.Background(), "alice", ids, core.PlanOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	results, err := s.confirm(plan, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	byID := make(map[core.ActionID]core.Result, len(results))
	for _, r := range results {
		byID[r.Action] = r
	}
	return byID
}

// sent counts the effects of each action at the service; none may have happened twice.
func (s *scene) sent() map[core.ActionID]int {
	s.t.Helper()
	service, err := s.driver.Service(s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	effects, err := service.Effects()
	if err != nil {
		s.t.Fatal(err)
	}
	count := make(map[core.ActionID]int)
	for _, e := range effects {
		if count[e.Action]++; count[e.Action] > 1 {
			s.t.Errorf("action %d: its effect happened %d times", e.Action, count[e.Action])
		}
	}
	return count
}

func (s *scene) wantSent(want ...core.ActionID) {
	s.t.Helper()
	sent := s.sent()
	if len(sent) != len(want) {
		s.t.Errorf("got effects of %v, want of %v", sent, want)
	}
	for _, id := range want {
		if sent[id] != 1 {
			s.t.Errorf("action %d: got %d effects, want one", id, sent[id])
		}
	}
}

// wantWhole checks the chain of the record and the store around it, and that every effect was claimed before.
func (s *scene) wantWhole() {
	s.t.Helper()
	for name, look := range map[string]func(context.Context) (core.Verification, error){
		"record": s.kernel.VerifyRecord, "store": s.db.Fsck,
	} {
		got, err := look(context.Background())
		if err != nil {
			s.t.Fatal(err)
		}
		if !got.OK() {
			s.t.Errorf("%s: first bad row is %+v", name, *got.FirstBad)
		}
	}
	rows, err := s.kernel.Record(context.Background(), core.RecordQuery{Types: []core.EventType{core.EventClaim}, Limit: 1_000_000})
	if err != nil {
		s.t.Fatal(err)
	}
	claimed := make(map[string]bool)
	for _, row := range rows {
		claimed[row.Entry.Subject] = true
	}
	for id := range s.sent() {
		if !claimed[fmt.Sprintf("action %d", id)] {
			s.t.Errorf("action %d: its effect happened without a claim on record", id)
		}
	}
}

func (s *scene) recovered() []core.ActionID {
	s.t.Helper()
	lost, err := s.kernel.Recover(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	return lost
}

// killAt lets another process do what the spec says and be killed at the nth pass of a point; then the house is entered
// anew, as the next process would.
func (s *scene) killAt(point core.FaultPoint, nth int, spec childSpec) {
	s.t.Helper()
	s.leave()
	spec.Dir, spec.Point, spec.Nth, spec.Signal = s.dir, point, int64(nth), unix.SIGKILL
	startChild(s.t, spec).wantKilled()
	s.enter()
}

func approveItems(ids ...core.ActionID) []core.PlanItem {
	items := make([]core.PlanItem, len(ids))
	for i, id := range ids {
		items[i] = core.PlanItem{Action: id, Verdict: core.VerdictApprove}
	}
	return items
}
