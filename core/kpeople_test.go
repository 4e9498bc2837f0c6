package core_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/gatekeepers/memory"
)

func notesUnit() core.Unit { return memory.Unit("notes", "items") }

// newACLRig asks who may read what; alice may read everything.
func newACLRig(t testing.TB, people ...core.PersonID) *rig {
	t.Helper()
	r := newRigOn(t, memory.NewObserved(core.StrategyACL))
	r.put(notesURL, "items/1")
	r.know(people...)
	return r
}

func (r *rig) rights(person core.PersonID) core.Rights {
	r.t.Helper()
	members, err := r.kernel.Members(context.Background(), "work", "alice")
	r.must(err)
	for _, m := range members {
		if m.Person == person {
			return m.Rights
		}
	}
	return core.Rights{}
}

func (r *rig) wantRole(person core.PersonID, want core.Role) {
	r.t.Helper()
	if got := r.rights(person).Role; got != want {
		r.t.Errorf("%s: got role %q, want %q", person, got, want)
	}
}

func TestK5_WhatSomebodyPresentCannotReadIsRefusedBeforeTheFetch(t *testing.T) {
	r := newACLRig(t, "bob")
	r.must(r.grant("bob", core.RoleView))
	before := r.service(notesURL).Calls("fetch")
	out := r.callAs(agent(1), "NOTES", "list", `{}`)
	r.wantStatus(out, core.StatusRefused)
	if r.service(notesURL).Calls("fetch") != before {
		t.Error("the service was called")
	}
	if strings.Contains(out.Reason(), "bob") || !strings.Contains(out.Reason(), "private fork") {
		t.Errorf("the agent was told %q, want the offer of a fork and no name", out.Reason())
	}
	rows := r.rows(core.EventBlocked)
	if len(rows) != 1 {
		t.Fatalf("got %d blocked rows, want 1", len(rows))
	}
	last := rows[0].Entry
	if len(last.Units) != 1 || last.Units[0] != notesUnit() || !strings.Contains(string(last.Detail), `"person":"bob"`) {
		t.Errorf("got units %v and detail %s, want bob and the unit", last.Units, last.Detail)
	}
	r.driver.SetAccess("bob", notesUnit(), core.AccessPassed)
	r.wantStatus(r.callAs(agent(1), "NOTES", "list", `{}`), core.StatusOK)
	for _, verdict := range []core.Access{core.AccessExpired, core.AccessUnreachable, core.AccessGone, core.AccessNotVerifiable, ""} {
		r.driver.SetAccess("bob", notesUnit(), verdict)
		r.wantStatus(r.callAs(agent(1), "NOTES", "list", `{}`), core.StatusRefused)
	}
}

func TestK5_TheAccountOfThePeopleMapIsAskedFor(t *testing.T) {
	r := newACLRig(t, "bob")
	r.must(r.grant("bob", core.RoleView))
	r.must(r.kernel.MapAccount(context.Background(), "bob", core.Account{Kind: "memory", Name: "bobby"}, r.by))
	r.driver.SetAccess("bobby", notesUnit(), core.AccessPassed)
	r.wantStatus(r.call("NOTES", "list", `{}`), core.StatusOK)
}

func TestK6_WhatTurnsUpInTheResultAloneIsWithheld(t *testing.T) {
	r := newACLRig(t, "bob")
	r.bind("ALL", "memory://notes")
	service := r.service(notesURL)
	const canary = "canary words of the hidden collection"
	r.must(service.Remove("items/1"))
	r.must(service.Put("hidden/1", memory.Item{Title: canary}))
	r.must(service.Put("items/1", memory.Item{Title: "words for all"}))
	r.driver.SetAccess("bob", notesUnit(), core.AccessPassed)
	r.driver.SetAccess("bob", memory.Unit("notes", "*"), core.AccessPassed)
	r.must(r.grant("bob", core.RoleView))
	before := service.Calls("fetch")
	out := r.callAs(agent(1), "ALL", "search", `{"query":"words"}`)
	r.wantStatus(out, core.StatusRefused)
	if service.Calls("fetch") == before {
		t.Error("the service was not asked: this was refused at the other half")
	}
	if string(out.Value()) != "null" || strings.Contains(out.Reason(), "canary") {
		t.Errorf("got value %s and reason %q", out.Value(), out.Reason())
	}
	if len(r.rows(core.EventBlocked)) != 1 {
		t.Error("no blocked row")
	}
	if found := r.inFile(canary); found {
		t.Error("the store holds what was withheld")
	}
}

func TestK7_WhoWasRemovedCountsNoMore(t *testing.T) {
	r := newACLRig(t, "bob")
	r.must(r.grant("bob", core.RoleView))
	r.wantStatus(r.call("NOTES", "list", `{}`), core.StatusRefused)
	r.must(r.kernel.RevokeRole(context.Background(), "work", "bob", r.by))
	r.wantStatus(r.call("NOTES", "list", `{}`), core.StatusOK)
}

// TestR8_SomebodyJoinsDuringTheFetch adds Bob between the check of a read and its release.
func TestR8_SomebodyJoinsDuringTheFetch(t *testing.T) {
	r := newACLRig(t, "bob")
	service := r.service(notesURL)
	entered, release := service.Block(memory.PointFetched)
	got := make(chan core.Released, 1)
	go func() { got <- r.call("NOTES", "list", `{}`) }()
	<-entered
	r.must(r.grant("bob", core.RoleView))
	release()
	r.wantStatus(<-got, core.StatusRefused)
	if set, err := r.kernel.Observations(context.Background(), "work"); err != nil || len(set) != 0 {
		t.Errorf("got set %v, %v, want nothing", set, err)
	}
}

// TestR8_SomebodyJoinsDuringAnApply has the words of an outcome withheld from a session that Bob joined meanwhile.
func TestR8_SomebodyJoinsDuringAnApply(t *testing.T) {
	r := newACLRig(t, "bob")
	id := r.submit("create", `{"title":"x"}`)
	entered, release := r.service(notesURL).Block(memory.PointSent)
	got := make(chan []core.Result, 1)
	go func() { got <- r.approve(id) }()
	<-entered
	r.must(r.grant("bob", core.RoleView))
	release()
	r.wantOutcomes(<-got, core.OutcomeApplied)
	r.wantState(id, core.StateApplied)
}

func TestK21_ABindingAddedAfterSharingIsCheckedBeforeItsFirstRelease(t *testing.T) {
	r := newACLRig(t, "bob")
	r.driver.SetAccess("bob", notesUnit(), core.AccessPassed)
	r.must(r.grant("bob", core.RoleView))
	r.wantStatus(r.call("NOTES", "list", `{}`), core.StatusOK)
	r.bind("LATE", "memory://late/items")
	r.put("memory://late/items", "items/1")
	before := r.service("memory://late/items").Calls("fetch")
	r.wantStatus(r.call("LATE", "list", `{}`), core.StatusRefused)
	if r.service("memory://late/items").Calls("fetch") != before {
		t.Error("released nothing, and asked the service")
	}
	r.driver.SetAccess("bob", memory.Unit("late", "items"), core.AccessPassed)
	r.wantStatus(r.call("LATE", "list", `{}`), core.StatusOK)
}

func TestK23_NobodyGivesMoreThanTheyHave(t *testing.T) {
	r := newACLRig(t, "ann", "bob")
	r.must(r.grant("ann", core.RoleBuild))
	r.must(r.grant("bob", core.RoleBuild, "ann"))
	r.wantRole("bob", core.RoleBuild)
	r.must(r.grant("ann", core.RoleView))
	r.wantRole("bob", core.RoleView)
}

func TestK24_TheBestPathIsLeftWhenAnotherGoes(t *testing.T) {
	r := newACLRig(t, "ann", "bob")
	r.must(r.grant("ann", core.RoleBuild))
	r.must(r.grant("bob", core.RoleView))
	r.must(r.grant("bob", core.RoleBuild, "ann"))
	r.wantRole("bob", core.RoleBuild)
	r.must(r.kernel.RevokeRole(context.Background(), "work", "ann", r.by))
	r.wantRole("bob", core.RoleView)
	r.must(r.grant("ann", core.RoleBuild))
	r.wantRole("bob", core.RoleBuild)
}

func TestK25_ACycleGivesNothing(t *testing.T) {
	r := newACLRig(t, "ann", "bob")
	// No one could make this by commands: what is stored is all that is left after others went.
	r.must(r.db.Write(context.Background(), func(tx core.Tx) error {
		return errors.Join(
			tx.PutRoleGrant(core.RoleGrant{Session: r.session.ID, Giver: "ann", Person: "bob", Role: core.RoleBuild}),
			tx.PutRoleGrant(core.RoleGrant{Session: r.session.ID, Giver: "bob", Person: "ann", Role: core.RoleBuild}),
		)
	}))
	r.wantRole("ann", core.RoleNone)
	r.wantRole("bob", core.RoleNone)
	r.must(r.grant("ann", core.RoleView))
	r.wantRole("ann", core.RoleView)
	r.wantRole("bob", core.RoleView)
}

func TestK26_GrantsThatCannotBe(t *testing.T) {
	r := newACLRig(t, "ann", "bob")
	r.must(r.grant("ann", core.RoleView))
	ctx := context.Background()
	ann := core.Authority{Person: "ann", Means: core.MeansPipe}
	for what, err := range map[string]error{
		"above one's own":   r.grant("bob", core.RoleBuild, "ann"),
		"to the owner":      r.grant("alice", core.RoleView),
		"by the owner":      r.grant("alice", core.RoleView, "ann"),
		"the owner's role":  r.grant("bob", core.RoleOwner),
		"to nobody known":   r.grant("zoe", core.RoleView),
		"to oneself":        r.grant("ann", core.RoleView, "ann"),
		"decisions one has": r.kernel.GrantRole(ctx, "work", core.RoleGrant{Person: "bob", Role: core.RoleView, Decides: true}, ann),
	} {
		if err == nil {
			t.Errorf("%s: was given", what)
		}
	}
	r.wantRole("bob", core.RoleNone)
}

func TestK18_NoRoleIsNoSession(t *testing.T) {
	r := newACLRig(t, "bob")
	ctx := context.Background()
	answers := func(session string) []string {
		bob := core.Authority{Person: "bob", Means: core.MeansPipe}
		_, openErr := r.kernel.Open(ctx, session, "bob")
		_, memberErr := r.kernel.Members(ctx, session, "bob")
		grantErr := r.kernel.GrantRole(ctx, session, core.RoleGrant{Person: "bob", Role: core.RoleView}, bob)
		revokeErr := r.kernel.RevokeRole(ctx, session, "alice", bob)
		_, sayErr := r.kernel.Say(ctx, session, "hello", core.MessageQueued, "bob")
		_, turnErr := r.kernel.StartTurn(ctx, core.StartTurn{Session: session, By: "bob", Task: "x", Model: "m"})
		_, forkErr := r.kernel.ForkSession(ctx, core.Fork{Session: session, Name: "mine"}, bob)
		_, callErr := r.kernel.Call(ctx, core.CallRequest{
			Session: session, Binding: "NOTES", Method: "list", Caller: core.Caller{Kind: core.CallerPerson, Person: "bob"},
		})
		var texts []string
		for _, err := range []error{openErr, memberErr, grantErr, revokeErr, sayErr, turnErr, forkErr, callErr} {
			if !errors.Is(err, core.ErrNotFound) {
				t.Errorf("session %s: got %v, want not found", session, err)
				continue
			}
			texts = append(texts, strings.ReplaceAll(err.Error(), session, "SESSION"))
		}
		return texts
	}
	there, missing := answers("work"), answers("nowhere")
	if strings.Join(there, "\n") != strings.Join(missing, "\n") {
		t.Errorf("got %q where there is a session and %q where there is none", there, missing)
	}
}

func TestPeople_OneKeyUnderTwoNames(t *testing.T) {
	r := newACLRig(t)
	ctx := context.Background()
	_, err := r.kernel.AddPerson(ctx, core.Person{ID: "bob", Signing: "ed25519:AAAA", Sealing: "age1x"}, r.by)
	r.must(err)
	for _, p := range []core.Person{{ID: "bert", Signing: "ed25519:AAAA", Sealing: "age1y"}, {ID: "bert", Signing: "ed25519:BBBB", Sealing: "age1x"}} {
		_, err := r.kernel.AddPerson(ctx, p, r.by)
		if err == nil || !strings.Contains(err.Error(), "bob") {
			t.Errorf("%+v: got %v, want it refused with bob's name", p, err)
		}
	}
	if _, err := r.kernel.AddPerson(ctx, core.Person{ID: "bob"}, r.by); !errors.Is(err, core.ErrNameTaken) {
		t.Errorf("got %v, want the name to be taken", err)
	}
}

func TestR12_DecidingTakesTheRight(t *testing.T) {
	r := newACLRig(t, "ann", "bob")
	r.driver.SetAccess("ann", notesUnit(), core.AccessPassed)
	r.driver.SetAccess("bob", notesUnit(), core.AccessPassed)
	r.must(r.grant("ann", core.RoleBuild))
	id := r.submit("create", `{"title":"x"}`)
	confirm := func(person core.PersonID) error {
		plan, err := r.kernel.PlanApprove(context.Background(), person, []core.ActionID{id}, core.PlanOptions{})
		r.must(err)
		_, err = r.kernel.Confirm(context.Background(), plan, core.Authority{Person: person, Means: core.MeansPipe}, core.ConfirmOptions{}, nil)
		return err
	}
	var role *core.RoleError
	if err := confirm("ann"); !errors.As(err, &role) {
		t.Errorf("got %v, want ann to have no right to decide", err)
	}
	if err := confirm("bob"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("got %v, want nothing there for bob", err)
	}
	r.wantState(id, core.StatePending)
	r.must(r.kernel.GrantRole(context.Background(), "work", core.RoleGrant{Person: "ann", Role: core.RoleView, Decides: true}, r.by))
	r.must(confirm("ann"))
	r.wantState(id, core.StateApplied)
}
