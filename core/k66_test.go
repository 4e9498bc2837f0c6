package core_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gatehouse/core"
	"gatehouse/gatekeepers/memory"
)

// forms runs a test in both forms of replay.
func forms(t *testing.T, test func(t *testing.T, r *rig, s *memory.Service)) {
	for _, url := range []string{"memory://notes/items", "memory://notes/items?replay=native"} {
		t.Run(url, func(t *testing.T) {
			r := newRig(t)
			r.bind("ITEMS", url)
			s := r.service(url)
			if err := s.Put("items/a", memory.Item{Title: "a", Body: "start;"}); err != nil {
				t.Fatal(err)
			}
			test(t, r, s)
		})
	}
}

func gapsOf(out core.Released) []core.ActionID {
	var ids []core.ActionID
	for _, g := range out.Incomplete() {
		ids = append(ids, g.Action)
	}
	return ids
}

func TestK66_ReadWhileAnAppendIsClaimed(t *testing.T) {
	for _, moment := range []struct {
		point memory.Point
		body  string // what the service holds then
	}{{memory.PointSend, "start;"}, {memory.PointSent, "start;once;"}} {
		t.Run(string(moment.point), func(t *testing.T) {
			forms(t, func(t *testing.T, r *rig, s *memory.Service) {
				id := r.submitTo("ITEMS", "append", `{"id":"a","text":"once;"}`)
				entered, goOn := s.Block(moment.point)
				plan := r.planApprove(id)
				done := make(chan error, 1)
				go func() {
					_, err := r.kernel.Confirm(context.Background(), plan, r.by, core.ConfirmOptions{}, nil)
					done <- err
				}()
				<-entered
				out := r.call("ITEMS", "get", `{"id":"a"}`)
				goOn()
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				if body := field[string](t, out, "body"); body != moment.body {
					t.Errorf("got %q, want what the service holds, %q", body, moment.body)
				}
				if !slices.Equal(gapsOf(out), []core.ActionID{id}) || out.Pending() != 0 {
					t.Errorf("got incomplete %v, pending %d; want action %d named and not counted", out.Incomplete(), out.Pending(), id)
				}
				out = r.call("ITEMS", "get", `{"id":"a"}`)
				if body := field[string](t, out, "body"); body != "start;once;" || len(out.Incomplete()) != 0 {
					t.Errorf("afterwards got %q, incomplete %v", body, out.Incomplete())
				}
			})
		})
	}
}

func TestK66_AppliedBetweenFetchAndReplay(t *testing.T) {
	forms(t, func(t *testing.T, r *rig, s *memory.Service) {
		id := r.submitTo("ITEMS", "append", `{"id":"a","text":"once;"}`)
		plan := r.planApprove(id)
		var first atomic.Bool
		s.SetHook(func(_ context.Context, point memory.Point, _ string) error {
			if point == memory.PointFetched && first.CompareAndSwap(false, true) {
				r.wantOutcomes(r.confirm(plan), core.OutcomeApplied)
			}
			return nil
		})
		out := r.call("ITEMS", "get", `{"id":"a"}`)
		if !first.Load() {
			t.Fatal("the read fetched nothing")
		}
		if body := field[string](t, out, "body"); body != "start;once;" {
			t.Errorf("got %q, want it once", body)
		}
		if out.Pending() != 0 || len(out.Incomplete()) != 0 {
			t.Errorf("got pending %d, incomplete %v, want a read that was repeated", out.Pending(), out.Incomplete())
		}
		if rows := r.rows(core.EventRead); countMethod(t, rows, "get") != 1 {
			t.Errorf("got %d rows for one read", countMethod(t, rows, "get"))
		}
	})
}

func countMethod(t *testing.T, rows []core.Row, method string) int {
	t.Helper()
	n := 0
	for _, row := range rows {
		var detail struct{ Method string }
		if err := json.Unmarshal(row.Entry.Detail, &detail); err != nil {
			t.Fatal(err)
		}
		if detail.Method == method {
			n++
		}
	}
	return n
}

// TestK66_TargetsThatNeverHoldStill applies one more action at every fetch: the read gives up repeating, shows what the
// service holds, and names what it does not show.
func TestK66_TargetsThatNeverHoldStill(t *testing.T) {
	forms(t, func(t *testing.T, r *rig, s *memory.Service) {
		var plans []*core.Plan
		var ids []core.ActionID
		for n := range 6 {
			ids = append(ids, r.submitTo("ITEMS", "append", `{"id":"a","text":%q}`, fmt.Sprintf("%d;", n)))
		}
		for n := range ids {
			plans = append(plans, r.planApprove(ids[:n+1]...))
		}
		var inside atomic.Bool
		var fetches int
		s.SetHook(func(_ context.Context, point memory.Point, _ string) error {
			if point == memory.PointFetched && inside.CompareAndSwap(false, true) {
				r.confirm(plans[min(fetches, len(plans)-1)])
				fetches++
				inside.Store(false)
			}
			return nil
		})
		out := r.call("ITEMS", "get", `{"id":"a"}`)
		s.SetHook(nil)
		body := field[string](t, out, "body")
		for n, id := range ids {
			shown := strings.Count(body, fmt.Sprintf("%d;", n))
			named := slices.Contains(gapsOf(out), id)
			if shown > 1 || (shown == 0 && !named) {
				t.Errorf("action %d: shown %d times, named %v: %q, incomplete %v", id, shown, named, body, out.Incomplete())
			}
		}
		if out.Pending() != 0 || len(out.Incomplete()) == 0 {
			t.Errorf("got pending %d, incomplete %v; want nothing projected", out.Pending(), out.Incomplete())
		}
	})
}

// fates are what a test knows of the appends of one item while others read it.
type fates struct {
	mu       sync.Mutex
	tokens   map[core.ActionID]string
	rejected map[core.ActionID]bool // settled as such before they are entered here
	doomed   map[core.ActionID]bool // may be rejected from now on
}

func (f *fates) submitted(id core.ActionID, token string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tokens[id] = token
}

func (f *fates) mark(set map[core.ActionID]bool, id core.ActionID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set[id] = true
}

// before is a copy of what is known at the beginning of a read: tokens, and which of them are rejected.
func (f *fates) before() (tokens map[core.ActionID]string, rejected map[core.ActionID]bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	tokens, rejected = make(map[core.ActionID]string), make(map[core.ActionID]bool)
	for id, token := range f.tokens {
		tokens[id], rejected[id] = token, f.rejected[id]
	}
	return tokens, rejected
}

// TestK66_NeverTwiceNeverMissed reads an item all the time while appends to it are queued, approved and rejected.
func TestK66_NeverTwiceNeverMissed(t *testing.T) {
	forms(t, func(t *testing.T, r *rig, _ *memory.Service) {
		const writes, readers = 40, 2
		known := &fates{
			tokens: make(map[core.ActionID]string), rejected: make(map[core.ActionID]bool), doomed: make(map[core.ActionID]bool),
		}
		stop := make(chan struct{})
		var group sync.WaitGroup
		for range readers {
			group.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						known.read(t, r)
					}
				}
			})
		}
		var waiting []core.ActionID
		for n := range writes {
			token := fmt.Sprintf("<%d>", n)
			id := r.submitTo("ITEMS", "append", `{"id":"a","text":%q}`, token)
			known.submitted(id, token)
			waiting = append(waiting, id)
			switch {
			case n%7 == 6:
				last := waiting[len(waiting)-1]
				known.mark(known.doomed, last)
				r.wantOutcomes(r.reject("no", last), core.OutcomeRejected)
				known.mark(known.rejected, last)
				waiting = waiting[:len(waiting)-1]
			case n%3 == 2:
				r.approve(waiting...)
				waiting = nil
			}
		}
		close(stop)
		group.Wait()
	})
}

// read holds one read against what was known when it began and when it ended.
func (f *fates) read(t *testing.T, r *rig) {
	tokens, rejected := f.before()
	out, err := r.kernel.Call(context.Background(), core.CallRequest{
		Session: "work", Binding: "ITEMS", Method: "get", Args: json.RawMessage(`{"id":"a"}`),
		Caller: core.Caller{Kind: core.CallerPerson, Person: "alice"},
	})
	if err != nil || out.Status() != core.StatusOK {
		t.Errorf("read: %v, %s %s", err, out.Status(), out.Reason())
		return
	}
	var item struct{ Body string }
	if err := json.Unmarshal(out.Value(), &item); err != nil {
		t.Error(err)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, token := range tokens {
		shown, named := strings.Count(item.Body, token), slices.Contains(gapsOf(out), id)
		switch {
		case shown > 1:
			t.Errorf("action %d: shown %d times in %q", id, shown, item.Body)
		case rejected[id] && shown > 0:
			t.Errorf("action %d: shown, and was rejected before", id)
		case shown == 0 && !named && !f.doomed[id]:
			t.Errorf("action %d: missed: %q, incomplete %v", id, item.Body, out.Incomplete())
		}
	}
}

// TestRace_TwoPlansOverOneItem confirms two plans with the same items at once, within one process.
func TestRace_TwoPlansOverOneItem(t *testing.T) {
	r := newRig(t)
	r.letDecide("bob")
	const rounds = 30
	for range rounds {
		one, _ := r.create("one")
		two, _ := r.create("two")
		bobs, err := r.kernel.PlanApprove(context.Background(), "bob", []core.ActionID{two, one}, core.PlanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		plans := []*core.Plan{r.planApprove(one, two), bobs}
		results := make([][]core.Result, len(plans))
		var group sync.WaitGroup
		for i, plan := range plans {
			group.Go(func() {
				by := core.Authority{Person: plan.By, Means: core.MeansPipe}
				var err error
				results[i], err = r.kernel.Confirm(context.Background(), plan, by, core.ConfirmOptions{}, nil)
				if err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		for i, id := range []core.ActionID{one, two} {
			wantOneWinner(t, id, results[0][i], results[1][i], core.VerdictApprove)
			r.wantState(id, core.StateApplied)
		}
	}
	effects, err := r.service(notesURL).Effects()
	if err != nil {
		t.Fatal(err)
	}
	if len(effects) != 2*rounds {
		t.Errorf("got %d effects of %d actions", len(effects), 2*rounds)
	}
}

// TestK42_AppliedElsewhereStopsNothingBehindIt has one person confirm the first of two edits and then another both, on a
// plan made before.
func TestK42_AppliedElsewhereStopsNothingBehindIt(t *testing.T) {
	r := newRig(t)
	id := r.made("first")
	one, two := r.submit("append", `{"id":%q,"text":"1;"}`, id), r.submit("append", `{"id":%q,"text":"2;"}`, id)
	both := r.planApprove(one, two)
	r.wantOutcomes(r.approve(one), core.OutcomeApplied)
	r.wantOutcomes(r.confirm(both), core.OutcomeNotPending, core.OutcomeApplied)
}

// TestK66_MovedBetweenFetches applies a move after the read has not found its goal and before it fetches its source: the
// item is at neither place then, and is missed unless the read is repeated.
func TestK66_MovedBetweenFetches(t *testing.T) {
	forms(t, func(t *testing.T, r *rig, s *memory.Service) {
		plan := r.planApprove(r.submitTo("ITEMS", "move", `{"id":"a","to":"b"}`))
		var first atomic.Bool
		s.SetHook(func(_ context.Context, point memory.Point, _ string) error {
			if point == memory.PointFetched && first.CompareAndSwap(false, true) {
				r.wantOutcomes(r.confirm(plan), core.OutcomeApplied)
			}
			return nil
		})
		out := r.call("ITEMS", "get", `{"id":"b"}`)
		r.wantStatus(out, core.StatusOK)
		if body := field[string](t, out, "body"); body != "start;" {
			t.Errorf("got %q, want the item at its new place", body)
		}
	})
}

// TestK66_NotFoundNamesWhatItDoesNotShow: an answer that is an error is incomplete like any other.
func TestK66_NotFoundNamesWhatItDoesNotShow(t *testing.T) {
	forms(t, func(t *testing.T, r *rig, _ *memory.Service) {
		awaited := r.submitTo("ITEMS", "publish", `{"id":"a"}`)
		moved := r.submitTo("ITEMS", "move", `{"id":"a","to":"b"}`)
		out := r.call("ITEMS", "get", `{"id":"b"}`)
		if out.Code() != core.CodeNotFound || !slices.Contains(gapsOf(out), moved) {
			t.Errorf("got %s %s, incomplete %v; want not found, without %d behind %d", out.Status(), out.Code(), out.Incomplete(), moved, awaited)
		}
	})
}
