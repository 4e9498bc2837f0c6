package core_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/gatekeepers/memory"
	"pgregory.net/rapid"
)

// secret is the unit that only the owner may see.
func secret() core.Unit { return memory.Unit("mail", "inbox") }

// newLatchRig has an owner-only collection beside NOTES, bound as MAIL.
func newLatchRig(t testing.TB) *rig {
	t.Helper()
	driver := memory.NewObserved(core.StrategyPublic)
	driver.SetOwnerOnly(secret())
	r := newRigOn(t, driver)
	r.bind("MAIL", "memory://mail/inbox")
	r.put("memory://mail/inbox", "inbox/1")
	return r
}

func (r *rig) latched() (core.Latch, bool) {
	r.t.Helper()
	latch, set, err := r.kernel.Latch(context.Background(), string(r.session.ID))
	r.must(err)
	return latch, set
}

func TestK2_AnOwnerOnlyReadLatches(t *testing.T) {
	r := newLatchRig(t)
	if _, set := r.latched(); set {
		t.Fatal("latched before anything was read")
	}
	r.wantStatus(r.call("MAIL", "list", `{}`), core.StatusOK)
	latch, set := r.latched()
	if !set || latch.Read != "MAIL.list" || latch.Unit != secret() {
		t.Fatalf("got latch %+v %v, want that of MAIL.list", latch, set)
	}
	rows := r.rows(core.EventRead, core.EventLatch)
	last := rows[len(rows)-2:]
	if last[0].Entry.Type != core.EventRead || last[1].Entry.Type != core.EventLatch || last[1].Seq != last[0].Seq+1 {
		t.Errorf("got rows %v and %v, want the read and its latch in one transaction", last[0].Entry.Type, last[1].Entry.Type)
	}
	if len(last[1].Entry.Units) != 1 || last[1].Entry.Units[0] != secret() {
		t.Errorf("got units %v, want the one that latched", last[1].Entry.Units)
	}
	r.call("MAIL", "list", `{}`)
	if again, _ := r.latched(); again != latch {
		t.Errorf("got latch %+v after a second read, want the first", again)
	}
}

func TestK3_WhoIsNotAloneReadsNothingOwnerOnly(t *testing.T) {
	r := newLatchRig(t)
	r.know("bob")
	r.must(r.grant("bob", core.RoleView))
	before := r.service("memory://mail/inbox").Calls("fetch")
	out := r.call("MAIL", "list", `{}`)
	r.wantStatus(out, core.StatusRefused)
	if r.service("memory://mail/inbox").Calls("fetch") != before {
		t.Error("the service was called")
	}
	if _, set := r.latched(); set {
		t.Error("latched by a read that was refused")
	}
	if rows := r.rows(core.EventBlocked); len(rows) != 1 {
		t.Errorf("got %d blocked rows, want 1", len(rows))
	}
}

func TestK4_AloneAgain(t *testing.T) {
	r := newLatchRig(t)
	r.know("bob")
	r.must(r.grant("bob", core.RoleView))
	r.must(r.kernel.RevokeRole(context.Background(), "work", "bob", r.by))
	r.wantStatus(r.call("MAIL", "list", `{}`), core.StatusOK)
	if _, set := r.latched(); !set {
		t.Error("not latched")
	}
}

func TestK8_WhatALatchedSessionMayNot(t *testing.T) {
	r := newLatchRig(t)
	r.know("bob", "carol")
	id := r.submit("create", `{"title":"before"}`)
	r.wantStatus(r.call("MAIL", "list", `{}`), core.StatusOK)
	sent := r.service(notesURL).Calls("send:")
	names := func(what, text string) {
		t.Helper()
		if !strings.Contains(text, "MAIL.list") {
			t.Errorf("%s: %q does not name the read", what, text)
		}
	}
	out := r.call("NOTES", "create", `{"title":"after"}`)
	r.wantStatus(out, core.StatusRefused)
	names("submit", out.Reason())
	results := r.approve(id)
	r.wantOutcomes(results, core.OutcomeSkipped)
	names("approve", results[0].Reason)
	r.wantState(id, core.StatePending)
	err := r.grant("bob", core.RoleView)
	var latched *core.LatchedError
	if !errors.As(err, &latched) {
		t.Fatalf("grant: got %v, want it refused", err)
	}
	names("grant", err.Error())
	if got := r.service(notesURL).Calls("send:"); got != sent {
		t.Errorf("%d effects were sent", got-sent)
	}
}

// TestK8_TheLatchStopsWhatWasOnItsWay has the latch set between the checks of a submit and its transaction, and between
// those of an approval and its claim.
func TestK8_TheLatchStopsWhatWasOnItsWay(t *testing.T) {
	var r *rig
	latch := func(at core.FaultPoint) rigOption {
		return func(o *core.Options) {
			o.Fault = faultFunc(func(p core.FaultPoint) error {
				if p == at {
					r.wantStatus(r.call("MAIL", "list", `{}`), core.StatusOK)
				}
				return nil
			})
		}
	}
	r = newLatchRig(t)
	k := r.newKernel(latch(core.FaultSubmitPrepared))
	out, err := k.Call(context.Background(), core.CallRequest{
		Session: "work", Binding: "NOTES", Method: "create", Args: []byte(`{"title":"x"}`), Caller: core.Caller{Kind: core.CallerPerson, Person: "alice"},
	})
	r.must(err)
	r.wantStatus(out, core.StatusRefused)

	r = newLatchRig(t)
	id := r.submit("create", `{"title":"x"}`)
	k = r.newKernel(latch(core.FaultConfirmBase))
	results, err := k.Confirm(context.Background(), r.planApprove(id), r.by, core.ConfirmOptions{}, nil)
	r.must(err)
	r.wantOutcomes(results, core.OutcomeSkipped)
	r.wantState(id, core.StatePending)
}

type faultFunc func(core.FaultPoint) error

func (f faultFunc) At(p core.FaultPoint) error { return f(p) }

func TestK9_WhatALatchedSessionStillMay(t *testing.T) {
	ctx := context.Background()
	r := newLatchRig(t)
	id := r.submit("create", `{"title":"before"}`)
	r.know("bob")
	r.wantStatus(r.call("MAIL", "list", `{}`), core.StatusOK)
	r.wantStatus(r.call("NOTES", "list", `{}`), core.StatusOK)
	r.must(r.kernel.Admit(ctx, "work", "alice", core.RoleOwner))
	r.wantOutcomes(r.reject("no", id), core.OutcomeRejected)

	// Somebody who joined another session before its latch is taken out of it after.
	other := newLatchRig(t)
	other.know("bob")
	other.must(other.grant("bob", core.RoleView))
	other.must(other.kernel.RevokeRole(ctx, "work", "bob", other.by))
	other.wantStatus(other.call("MAIL", "list", `{}`), core.StatusOK)
	if _, err := other.kernel.Members(ctx, "work", "alice"); err != nil {
		t.Error(err)
	}
}

// TestK10_ALatchIsNeverCleared holds a latch against every kind of operation, in any order.
func TestK10_ALatchIsNeverCleared(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ctx := context.Background()
		r := newLatchRig(t)
		r.know("bob")
		first := core.Latch{}
		for range rapid.IntRange(3, 8).Draw(rt, "operations") {
			switch rapid.IntRange(0, 7).Draw(rt, "operation") {
			case 0:
				// The binding may be gone by now.
				_, _ = r.kernel.Call(ctx, core.CallRequest{
					Session: "work", Binding: "MAIL", Method: "list", Caller: core.Caller{Kind: core.CallerPerson, Person: "alice"},
				})
			case 1:
				r.call("NOTES", "create", `{"title":"x"}`)
			case 2:
				_ = r.grant("bob", core.RoleView)
			case 3:
				_ = r.kernel.RevokeRole(ctx, "work", "bob", r.by)
			case 4:
				_ = r.kernel.Unbind(ctx, "work", "MAIL", "alice")
			case 5:
				_, _ = r.kernel.Bind(ctx, core.BindRequest{Session: "work", Name: "MAIL", URL: "memory://mail/inbox", Person: "alice"})
			case 6:
				_, _ = r.kernel.ForkSession(ctx, core.Fork{Session: "work", Name: "fork"}, r.by)
			case 7:
				_ = r.kernel.Admit(ctx, "work", "bob", core.RoleView)
			}
			latch, set := r.latched()
			if first.Read != "" && (!set || latch != first) {
				rt.Fatalf("got latch %+v %v, want %+v for ever", latch, set, first)
			}
			if set {
				first = latch
			}
		}
	})
}

func TestLatch_AForkFromBeforeItIsFree(t *testing.T) {
	ctx := context.Background()
	r := newLatchRig(t)
	r.wantStatus(r.call("MAIL", "list", `{}`), core.StatusOK)
	forked, err := r.kernel.ForkSession(ctx, core.Fork{Session: "work", At: 0, Name: "free"}, r.by)
	r.must(err)
	if _, set, err := r.kernel.Latch(ctx, "free"); set || err != nil {
		t.Errorf("got latch %v, %v, want none", set, err)
	}
	bindings, err := r.kernel.Bindings(ctx, string(forked.ID))
	r.must(err)
	if len(bindings) != 2 {
		t.Errorf("got %d bindings, want both", len(bindings))
	}
}
