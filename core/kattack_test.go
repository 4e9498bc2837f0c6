package core_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/gatekeepers/memory"
)

// These tests change people, latch, bindings and clocks at the moments at which that hurts most.

// turn runs one turn of an agent that makes some calls, each "NAME.method" with its arguments.
func (r *rig) turn(calls ...core.ToolCall) []core.Released {
	r.t.Helper()
	ctx, session := context.Background(), string(r.session.ID)
	lease, err := r.kernel.StartTurn(ctx, core.StartTurn{Session: session, Task: "look", By: "alice", Model: "m"})
	r.must(err)
	next, err := r.kernel.NextStep(ctx, lease)
	r.must(err)
	step, err := r.kernel.StoreResponse(ctx, lease, next.Request, core.Response{Calls: calls})
	r.must(err)
	var out []core.Released
	for _, call := range step.Response.Calls {
		released, err := r.kernel.RunCall(ctx, lease, step.Number, call)
		r.must(err)
		out = append(out, released)
	}
	_, err = r.kernel.NextStep(ctx, lease)
	r.must(err)
	_, err = r.kernel.EndTurn(ctx, lease, core.TurnEndDone, "")
	r.must(err)
	return out
}

func (r *rig) fork(at int, name string) core.Session {
	r.t.Helper()
	forked, err := r.kernel.ForkSession(context.Background(), core.Fork{Session: string(r.session.ID), At: at, Name: name}, r.by)
	r.must(err)
	return forked
}

// TestR7_AForkTakesOverTheLatchOfWhatBecameOwnerOnly reads a unit before and after it is made owner-only: the set says of
// it what was said first.
func TestR7_AForkTakesOverTheLatchOfWhatBecameOwnerOnly(t *testing.T) {
	r := newLatchRig(t)
	r.bind("LATER", "memory://mail/later")
	r.put("memory://mail/later", "later/1")
	r.turn(core.ToolCall{ID: "c1", Name: "LATER.list", Args: `{}`})
	r.driver.SetOwnerOnly(memory.Unit("mail", "later"))
	r.turn(core.ToolCall{ID: "c1", Name: "LATER.list", Args: `{}`})
	if _, set := r.latched(); !set {
		t.Fatal("not latched")
	}
	for at, want := range []bool{false, false, true} {
		forked := r.fork(at, "fork"+string(rune('0'+at)))
		_, set, err := r.kernel.Latch(context.Background(), string(forked.ID))
		if err != nil || set != want {
			t.Errorf("fork at %d: got latched %v, %v, want %v", at, set, err, want)
		}
	}
}

// TestR4_AForkHoldsWhatItsTurnsReadUnderAClockThatWentBack reads a unit by hand, sets the clock back, and has a turn read
// it too.
func TestR4_AForkHoldsWhatItsTurnsReadUnderAClockThatWentBack(t *testing.T) {
	r := newLatchRig(t)
	r.put(notesURL, "items/1")
	r.wantStatus(r.call("NOTES", "list", `{}`), core.StatusOK)
	r.later(-48 * time.Hour)
	r.turn(core.ToolCall{ID: "c1", Name: "NOTES.list", Args: `{}`})
	forked := r.fork(1, "fork")
	set, err := r.kernel.Observations(context.Background(), string(forked.ID))
	r.must(err)
	if len(set) != 1 || set[0].Found.Unit != notesUnit() {
		t.Errorf("got set %v, want what the transcript was made of", set)
	}
}

// TestR12_AForkTakesOverNoConnectionOfOthers forks a session to which Bob brought a connection of his own.
func TestR12_AForkTakesOverNoConnectionOfOthers(t *testing.T) {
	ctx := context.Background()
	r := newACLRig(t, "bob")
	r.must(r.grant("bob", core.RoleBuild))
	_, err := r.kernel.Bind(ctx, core.BindRequest{Session: "work", Name: "HIS", URL: "memory://his/items", Person: "bob"})
	r.must(err)
	forked := r.fork(0, "fork")
	bindings, err := r.kernel.Bindings(ctx, string(forked.ID))
	r.must(err)
	if len(bindings) != 1 || bindings[0].Name != "NOTES" {
		t.Errorf("got bindings %v, want alice's alone", bindings)
	}
}

// TestR12_WhoIsTakenOutDuringACallGetsNothing revokes Bob's role between the check of his call and its release.
func TestR12_WhoIsTakenOutDuringACallGetsNothing(t *testing.T) {
	ctx := context.Background()
	r := newACLRig(t, "bob")
	r.driver.SetAccess("bob", notesUnit(), core.AccessPassed)
	r.must(r.grant("bob", core.RoleBuild))
	type answer struct {
		out core.Released
		err error
	}
	for method, args := range map[string]string{"list": `{}`, "append": `{"id":"1","text":"x"}`} {
		entered, release := r.service(notesURL).Block(memory.PointFetched)
		got := make(chan answer, 1)
		go func() {
			out, err := r.kernel.Call(ctx, core.CallRequest{
				Session: "work", Binding: "NOTES", Method: method, Args: json.RawMessage(args), Caller: core.Caller{Kind: core.CallerPerson, Person: "bob"},
			})
			got <- answer{out, err}
		}()
		<-entered
		r.must(r.kernel.RevokeRole(ctx, "work", "bob", r.by))
		release()
		if a := <-got; a.err == nil && (a.out.Status() == core.StatusOK || a.out.Action() != 0) {
			t.Errorf("%s: bob was told %s and queued %d after he was taken out", method, a.out.Value(), a.out.Action())
		}
		r.must(r.grant("bob", core.RoleBuild))
	}
}

// TestR33_NothingIsQueuedInASessionThatWasPurgedMeanwhile purges a session between the preparation of a write, or the
// fetch of a read, and its transaction.
func TestR33_NothingIsQueuedInASessionThatWasPurgedMeanwhile(t *testing.T) {
	ctx := context.Background()
	r := newRig(t)
	r.put(notesURL, "items/1")
	k := r.newKernel(func(o *core.Options) {
		o.Fault = faultFunc(func(p core.FaultPoint) error {
			if p == core.FaultSubmitPrepared {
				_, err := r.kernel.PurgeSession(ctx, "work", r.by)
				r.must(err)
			}
			return nil
		})
	})
	out, err := k.Call(ctx, core.CallRequest{
		Session: "work", Binding: "NOTES", Method: "create", Args: []byte(`{"title":"kanarienvogel"}`),
		Caller: core.Caller{Kind: core.CallerPerson, Person: "alice"},
	})
	if err == nil && out.Action() != 0 {
		t.Errorf("action %d was queued", out.Action())
	}
	if r.inFile(canary) {
		t.Error("the store holds content of a session that was purged")
	}
}

func TestR23_ARuleHoldsForWhatItWasMadeOver(t *testing.T) {
	ctx := context.Background()
	for _, back := range []time.Duration{0, -time.Hour} {
		r := newRuleRig(t)
		r.rule(createRule())
		id, _ := r.create("one")
		r.wantState(id, core.StateApplied)
		r.must(r.kernel.Unbind(ctx, "work", "NOTES", "alice"))
		r.later(back)
		r.bind("NOTES", "memory://production/items")
		id, _ = r.create("two")
		r.wantState(id, core.StatePending)
		rules, err := r.kernel.Rules(ctx, "work")
		r.must(err)
		if len(rules) > 0 && !strings.Contains(rules[0].Off, "bound") {
			t.Errorf("got rules %+v, want none that counts", rules)
		}
	}
}

// outbound makes the calls of NOTES fetches, and does something when one of them says where it goes.
type outbound struct {
	core.Gatekeeper
	going func()
}

func (g outbound) Open(ctx context.Context, c core.Connection, url string) (core.Resource, error) {
	r, err := g.Gatekeeper.Open(ctx, c, url)
	if url != notesURL {
		return r, err
	}
	return outboundResource{r, g.going}, err
}

type outboundResource struct {
	core.Resource
	going func()
}

func (r outboundResource) Goes(core.Call) (core.Going, error) {
	r.going()
	return core.Going{Sink: core.SinkFetch, Destination: "example.org", Host: "example.org"}, nil
}

// TestK8_AFetchOnItsWayMeetsTheLatch sets the latch between the look at the session and the checks of a fetch.
func TestK8_AFetchOnItsWayMeetsTheLatch(t *testing.T) {
	r := newLatchRig(t)
	latch := func() { r.wantStatus(r.call("MAIL", "list", `{}`), core.StatusOK) }
	k := r.newKernel(func(o *core.Options) { o.Gatekeepers[0] = outbound{r.driver, latch} })
	before := r.service(notesURL).Calls("fetch")
	out, err := k.Call(context.Background(), core.CallRequest{
		Session: "work", Binding: "NOTES", Method: "list", Caller: core.Caller{Kind: core.CallerPerson, Person: "alice"},
	})
	r.must(err)
	r.wantStatus(out, core.StatusRefused)
	if !strings.Contains(out.Reason(), "MAIL.list") || r.service(notesURL).Calls("fetch") != before {
		t.Errorf("got %q and %d fetches, want the latch named and nothing sent", out.Reason(), r.service(notesURL).Calls("fetch")-before)
	}
}

// unlatchedOnly lets nothing of a latched session leave; the first time it is asked, the latch is set behind its answer.
type unlatchedOnly struct{ behind func() }

func (p *unlatchedOnly) Decide(_ context.Context, r core.EgressRequest) core.EgressVerdict {
	if r.Sink == core.SinkModel && p.behind != nil {
		behind := p.behind
		p.behind = nil
		defer behind()
	}
	if r.Sink == core.SinkModel && r.Latched {
		return core.EgressVerdict{Decision: core.EgressDeny, Rule: "latched"}
	}
	return core.EgressVerdict{Decision: core.EgressAllow, Rule: "else"}
}

type askedModel struct{ asked int }

func (*askedModel) Name() string        { return "test/model" }
func (*askedModel) Destination() string { return "model.example" }
func (m *askedModel) Complete(context.Context, core.Request, func(string)) (core.Response, error) {
	m.asked++
	return core.Response{}, nil
}

// TestK8_AModelCallOnItsWayMeetsTheLatch sets the latch between the answer of the policy and the request.
func TestK8_AModelCallOnItsWayMeetsTheLatch(t *testing.T) {
	ctx := context.Background()
	r := newLatchRig(t)
	policy := &unlatchedOnly{}
	k := r.newKernel(func(o *core.Options) { o.Egress = policy })
	policy.behind = func() { r.wantStatus(r.call("MAIL", "list", `{}`), core.StatusOK) }
	lease, err := k.StartTurn(ctx, core.StartTurn{Session: string(r.session.ID), Task: "look", By: "alice", Model: "m"})
	r.must(err)
	next, err := k.NextStep(ctx, lease)
	r.must(err)
	m := &askedModel{}
	if _, err := k.AskModel(ctx, lease, m, next.Request, nil); err == nil || m.asked != 0 {
		t.Errorf("got %v and %d requests, want it refused", err, m.asked)
	}
}

// TestR33_NoPreviewIsStoredInASessionThatWasPurgedMeanwhile purges a session while a driver makes a fresh preview in it.
func TestR33_NoPreviewIsStoredInASessionThatWasPurgedMeanwhile(t *testing.T) {
	ctx := context.Background()
	r := newRig(t)
	r.kernel = r.newKernel(func(o *core.Options) { o.Scrub = r.db.Scrub })
	real := r.made("x")
	id := r.submit("append", `{"id":%q,"text":"y"}`, real)
	r.must(r.service(notesURL).Put("items/"+real, memory.Item{Title: "moved", Body: "kanarienvogel"}))
	plan := r.planApprove(id)
	entered, release := r.service(notesURL).Block(memory.PointFetched)
	got := make(chan error, 1)
	go func() {
		_, err := r.kernel.Confirm(ctx, plan, r.by, core.ConfirmOptions{Unopened: true}, nil)
		got <- err
	}()
	<-entered // the base moved, and the preview is made anew
	_, err := r.kernel.PurgeSession(ctx, "work", r.by)
	r.must(err)
	release()
	<-got
	if r.inFile(canary) {
		t.Error("the store holds content of a session that was purged")
	}
}
