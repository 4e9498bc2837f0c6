package core_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/gatekeepers/memory"
)

// newOpenRig is a session that has read some collections, with Bob to open it. He is connected to the service.
func newOpenRig(t testing.TB, collections int) *rig {
	t.Helper()
	r := newACLRig(t, "bob")
	for i := range collections {
		name := fmt.Sprintf("C%d", i)
		r.bind(name, fmt.Sprintf("memory://notes/c%d", i))
		r.put(notesURL, fmt.Sprintf("c%d/1", i))
		r.wantStatus(r.call(name, "list", `{}`), core.StatusOK)
		r.driver.SetAccess("bob", collection(i), core.AccessPassed)
	}
	r.must(r.grant("bob", core.RoleView))
	r.connectAs("bob", "memory://notes")
	return r
}

func collection(i int) core.Unit { return memory.Unit("notes", fmt.Sprintf("c%d", i)) }

func (r *rig) connectAs(person core.PersonID, url string) {
	r.t.Helper()
	request := core.ConnectRequest{URL: url, Name: string(person) + " " + url}
	_, err := r.kernel.Connect(context.Background(), request, core.Authority{Person: person, Means: core.MeansPipe})
	r.must(err)
}

// open is one attempt of Bob's, run to its end.
func (r *rig) open() (*core.Opening, error) {
	r.t.Helper()
	o, err := r.kernel.Open(context.Background(), "work", "bob")
	r.must(err)
	return o, o.Release(context.Background())
}

func (r *rig) wantDenied(err error) *core.OpenDeniedError {
	r.t.Helper()
	var denied *core.OpenDeniedError
	if !errors.As(err, &denied) {
		r.t.Fatalf("got %v, want the open to be denied", err)
	}
	return denied
}

func TestK13_OnlyPassedPasses(t *testing.T) {
	r := newOpenRig(t, 1)
	if _, err := r.open(); err != nil {
		t.Fatalf("all passed, and got %v", err)
	}
	for _, verdict := range []core.Access{core.AccessExpired, core.AccessDenied, core.AccessGone, core.AccessUnreachable, core.AccessNotVerifiable, "", "odd"} {
		r.driver.SetAccess("bob", collection(0), verdict)
		_, err := r.open()
		denied := r.wantDenied(err)
		want := verdict
		if verdict == "" {
			want = core.AccessNotVerifiable
		}
		if got := denied.Lines[0].Check.Access; got != want {
			t.Errorf("got verdict %q, want %q", got, want)
		}
		if denied.Unreachable() != (verdict == core.AccessUnreachable) {
			t.Errorf("%q: unreachable is %v", verdict, denied.Unreachable())
		}
	}
}

func TestK13_NoConnectionIsNotVerifiable(t *testing.T) {
	r := newOpenRig(t, 1)
	_, err := r.kernel.Disconnect(context.Background(), "bob memory://notes", core.UnbindFirst, core.Authority{Person: "bob", Means: core.MeansPipe})
	r.must(err)
	before := r.driver.Asked("reaches")
	_, err = r.open()
	denied := r.wantDenied(err)
	if got := denied.Lines[0]; got.Check.Access != core.AccessNotVerifiable || got.Connection != "" {
		t.Errorf("got %+v, want not-verifiable without a connection", got)
	}
	if r.driver.Asked("reaches") != before {
		t.Error("asked with somebody else's connection")
	}
}

func TestK14_AccessOfLastWeekIsNone(t *testing.T) {
	r := newOpenRig(t, 3)
	if _, err := r.open(); err != nil {
		t.Fatal(err)
	}
	r.driver.SetAccess("bob", collection(1), core.AccessDenied)
	_, err := r.open()
	r.wantDenied(err)
	if err := r.kernel.Admit(context.Background(), "work", "bob", core.RoleView); err == nil {
		t.Error("admitted")
	}
}

func TestK15_OneOfFiftyIsEnough(t *testing.T) {
	r := newOpenRig(t, 50)
	r.driver.SetAccess("bob", collection(17), core.AccessDenied)
	_, err := r.open()
	if got := len(r.wantDenied(err).Lines); got != 50 {
		t.Errorf("got a report of %d lines, want 50", got)
	}
}

func TestK16_EveryFailureInOneReport(t *testing.T) {
	r := newOpenRig(t, 5)
	r.driver.SetAccess("bob", collection(1), core.AccessDenied)
	r.driver.SetAccess("bob", collection(3), core.AccessExpired)
	_, err := r.open()
	var failed []core.OpenLine
	for _, l := range r.wantDenied(err).Lines {
		if !l.Check.Passed() {
			failed = append(failed, l)
		}
	}
	if len(failed) != 2 {
		t.Fatalf("got %d failures, want both", len(failed))
	}
	for _, l := range failed {
		if l.Connection == "" || l.Check.Reason == "" || l.Unit.IsZero() {
			t.Errorf("got %+v, want connection, reason and unit", l)
		}
	}
}

func TestK17_ALineAgain(t *testing.T) {
	ctx := context.Background()
	r := newOpenRig(t, 4)
	r.driver.SetAccess("bob", collection(2), core.AccessDenied)
	o, err := r.kernel.Open(ctx, "work", "bob")
	r.must(err)
	if o.Passed() {
		t.Fatal("passed")
	}
	r.driver.SetAccess("bob", collection(2), core.AccessPassed)
	before := r.driver.Asked("reaches")
	r.must(o.Again(ctx, 2))
	if got := r.driver.Asked("reaches") - before; got != 1 {
		t.Errorf("asked %d times for one line, want 1", got)
	}
	if !o.Passed() {
		t.Errorf("got %+v, want all passed", o.Lines())
	}
	before = r.driver.Asked("reaches")
	r.must(o.Release(ctx))
	if got := r.driver.Asked("reaches") - before; got != 4 {
		t.Errorf("asked %d times before the release, want all 4", got)
	}
}

func TestR10_VerdictsLiveTwoMinutes(t *testing.T) {
	r := newOpenRig(t, 1)
	o, err := r.kernel.Open(context.Background(), "work", "bob")
	r.must(err)
	r.clock.mu.Lock()
	r.clock.now = r.clock.now.Add(2*time.Minute + time.Second)
	r.clock.mu.Unlock()
	if err := o.Release(context.Background()); err == nil {
		t.Error("released on old verdicts")
	}
}

// TestR10_AReadDuringAnOpenIsCheckedToo has the agent read something more between the checks of an open and its end.
func TestR10_AReadDuringAnOpenIsCheckedToo(t *testing.T) {
	ctx := context.Background()
	r := newOpenRig(t, 1)
	o, err := r.kernel.Open(ctx, "work", "bob")
	r.must(err)
	// From the owner's side Bob may read it; with his own connection he may not any more.
	r.bind("MORE", "memory://more/items")
	r.put("memory://more/items", "items/1")
	r.driver.SetAccess("bob", memory.Unit("more", "items"), core.AccessPassed)
	r.wantStatus(r.call("MORE", "list", `{}`), core.StatusOK)
	if got := len(r.wantDenied(o.Release(ctx)).Lines); got != 2 {
		t.Errorf("got %d lines, want 2", got)
	}
}

func TestK20_UnitsOutliveTheirGatekeeper(t *testing.T) {
	r := newOpenRig(t, 2)
	without := r.newKernel(func(o *core.Options) { o.Gatekeepers = nil })
	o, err := without.Open(context.Background(), "work", "bob")
	r.must(err)
	denied := r.wantDenied(o.Release(context.Background()))
	if len(denied.Lines) != 2 {
		t.Errorf("got %d lines, want 2", len(denied.Lines))
	}
	r.must(r.kernel.Unbind(context.Background(), "work", "C0", "alice"))
	if got := len(mustLines(r)); got != 2 {
		t.Errorf("got %d lines after the binding went, want 2", got)
	}
}

func mustLines(r *rig) []core.OpenLine {
	o, err := r.open()
	r.must(err)
	return o.Lines()
}

func TestR10_PrivateSourcesHaveNoName(t *testing.T) {
	r := newRigOn(t, memory.NewObserved(core.StrategyVisibility))
	r.put(notesURL, "items/1")
	r.know("bob")
	r.wantStatus(r.call("NOTES", "list", `{}`), core.StatusOK)
	r.must(r.grant("bob", core.RoleView))
	_, err := r.open()
	denied := r.wantDenied(err)
	if l := denied.Lines[0]; l.Name != "a private source" || !l.Unit.IsZero() || strings.Contains(err.Error(), "notes") {
		t.Errorf("got %+v and %v, want no name", l, err)
	}
	r.driver.SetAccess("bob", notesUnit(), core.AccessPassed)
	if _, err := r.open(); err != nil {
		t.Errorf("got %v, want visibility to pass without a connection", err)
	}
	rows := r.rows(core.EventOpen)
	if len(rows) != 2 || len(rows[0].Entry.Units) != 1 {
		t.Errorf("got rows %v, want one for each attempt, the first with the unit", rows)
	}
}

func TestK8_BobDoesNotOpenALatchedSession(t *testing.T) {
	r := newLatchRig(t)
	r.know("bob")
	r.wantStatus(r.call("MAIL", "list", `{}`), core.StatusOK)
	// A grant from before, as a store of another version may hold it.
	r.must(r.db.Write(context.Background(), func(tx core.Tx) error {
		return tx.PutRoleGrant(core.RoleGrant{Session: r.session.ID, Giver: "alice", Person: "bob", Role: core.RoleView})
	}))
	_, err := r.kernel.Open(context.Background(), "work", "bob")
	var latched *core.LatchedError
	if !errors.As(err, &latched) || !strings.Contains(err.Error(), "MAIL.list") {
		t.Errorf("got %v, want it refused with the read", err)
	}
}
