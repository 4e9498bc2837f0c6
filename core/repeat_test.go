package core_test

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/core"
)

// TestR30_RepeatedAtOnce: of equal calls under one id, made at the same moment, one is carried out, and all are told
// the same.
func TestR30_RepeatedAtOnce(t *testing.T) {
	r, o := newOddRig(t)
	real := r.made("a")
	const calls = 3
	var meet sync.WaitGroup
	meet.Add(calls)
	var entered atomic.Int32
	o.prepare = func(d core.Draft) core.Draft {
		if entered.Add(1) <= calls {
			meet.Done()
			meet.Wait()
		}
		return d
	}
	out := make([]core.Released, calls)
	var done sync.WaitGroup
	for i := range calls {
		done.Go(func() {
			var err error
			out[i], err = r.kernel.Call(context.Background(), core.CallRequest{
				Session: string(r.session.ID), Binding: "NOTES", Method: "append",
				Args:   json.RawMessage(`{"id":"` + real + `","text":"x"}`),
				Caller: core.Caller{Kind: core.CallerAgent, Person: "alice", Turn: 1, Step: 1, CallID: "c1"},
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	for _, released := range out {
		if released.Action() == 0 || released.Action() != out[0].Action() {
			t.Errorf("got action %d, want %d: the one that was queued", released.Action(), out[0].Action())
		}
	}
	if n := len(r.rows(core.EventSubmit)); n != 2 {
		t.Errorf("got %d submits, want the item's and one", n)
	}
}

// TestR18_ClockThatWasPutBack: an hour that comes twice keeps nobody from queueing, deciding and reading.
func TestR18_ClockThatWasPutBack(t *testing.T) {
	r := newRig(t)
	real := r.made("a")
	r.bind("LATE", notesURL)
	r.clock.mu.Lock()
	r.clock.now = r.clock.now.Add(-time.Hour)
	r.clock.mu.Unlock()
	id := r.submitTo("LATE", "append", `{"id":%q,"text":"x"}`, real)
	r.wantOutcomes(r.approve(id), core.OutcomeApplied)
	if body := field[string](t, r.call("LATE", "get", `{"id":%q}`, real), "body"); body != "x" {
		t.Errorf("got %q, want it applied", body)
	}
}
