package core_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/predicate"
)

// redrafted is a driver whose drafts a test changes.
type redrafted struct {
	core.Gatekeeper
	change func(*core.Draft)
}

func (g redrafted) Open(ctx context.Context, c core.Connection, url string) (core.Resource, error) {
	r, err := g.Gatekeeper.Open(ctx, c, url)
	return redraftedResource{r, g.change}, err
}

type redraftedResource struct {
	core.Resource
	change func(*core.Draft)
}

func (r redraftedResource) Prepare(ctx context.Context, call core.Call, journal core.Journal) (core.Draft, error) {
	d, err := r.Resource.Prepare(ctx, call, journal)
	r.change(&d)
	return d, err
}

// newRuleRig has conditions; the driver has no verdict on what has "ask" in its title.
func newRuleRig(t testing.TB) *rig {
	t.Helper()
	return newRig(t, withRules)
}

func withRules(o *core.Options) {
	o.Predicates = predicate.Compiler{}
	for i, g := range o.Gatekeepers {
		o.Gatekeepers[i] = redrafted{g, func(d *core.Draft) {
			if strings.Contains(d.Title, "ask") {
				d.AutoApprovable = false
			}
		}}
	}
}

func createRule() core.RuleRequest {
	return core.RuleRequest{Session: "work", Binding: "NOTES", Kind: "create"}
}

// rule makes one after looking at what it runs.
func (r *rig) rule(request core.RuleRequest) (core.Rule, []core.Result) {
	r.t.Helper()
	shown, err := r.kernel.PreviewRule(context.Background(), request, "alice")
	r.must(err)
	var ids []core.ActionID
	for _, s := range shown.Runs {
		ids = append(ids, s.ID)
	}
	rule, results, err := r.kernel.AddRule(context.Background(), request, ids, r.by, nil)
	r.must(err)
	return rule, results
}

func (r *rig) wantStates(ids []core.ActionID, want ...core.State) {
	r.t.Helper()
	for i, id := range ids {
		r.wantState(id, want[i])
	}
}

func (r *rig) creates(titles ...string) []core.ActionID {
	r.t.Helper()
	var ids []core.ActionID
	for _, title := range titles {
		id, _ := r.create(title)
		ids = append(ids, id)
	}
	return ids
}

func TestK43_RuleAndVerdict(t *testing.T) {
	r := newRuleRig(t)
	waiting := r.creates("one", "two")
	rule, results := r.rule(createRule())
	r.wantOutcomes(results, core.OutcomeApplied, core.OutcomeApplied)
	ids := append(waiting, r.creates("three")...)
	r.wantStates(ids, core.StateApplied, core.StateApplied, core.StateApplied)
	for _, id := range ids {
		a := r.action(id)
		if a.Rule != string(rule.ID) || a.DecidedBy != "alice" || a.DecidedHow != core.MeansPipe {
			t.Errorf("action %d: got rule %q by %s with %s", id, a.Rule, a.DecidedBy, a.DecidedHow)
		}
	}
	effects, err := r.service(notesURL).Effects()
	r.must(err)
	var order []core.ActionID
	for _, e := range effects {
		order = append(order, e.Action)
	}
	if !slices.IsSorted(order) || len(order) != 3 {
		t.Errorf("got effects of %v, want three in order", order)
	}
	for _, row := range r.rows(core.EventDecision) {
		if row.Entry.Rule != string(rule.ID) {
			t.Errorf("got a decision by rule %q, want %s", row.Entry.Rule, rule.ID)
		}
	}
}

func TestK44_StopsAtWhatNeedsAPerson(t *testing.T) {
	for _, verdict := range []core.Verdict{core.VerdictApprove, core.VerdictReject} {
		r := newRuleRig(t)
		r.rule(createRule())
		ids := r.creates("one", "ask two", "three")
		r.wantStates(ids, core.StateApplied, core.StatePending, core.StatePending)
		if verdict == core.VerdictApprove {
			r.approve(ids[1])
		} else {
			r.reject("no", ids[1])
		}
		r.wantState(ids[2], core.StateApplied)
	}
}

func TestK45_ManualWhere(t *testing.T) {
	for name, test := range map[string]struct {
		rule  *core.RuleRequest
		title string
		then  func(*rig)
	}{
		"no rule":           {nil, "x", nil},
		"no verdict":        {&core.RuleRequest{Kind: "create"}, "ask", nil},
		"another kind":      {&core.RuleRequest{Kind: "delete"}, "x", nil},
		"expired":           {&core.RuleRequest{Kind: "create", ExpiresAt: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)}, "x", func(r *rig) { r.later(2 * time.Hour) }},
		"predicate not met": {&core.RuleRequest{Kind: "create", Condition: `title == "y"`}, "x", nil},
		"removed": {&core.RuleRequest{Kind: "create"}, "x", func(r *rig) {
			_, err := r.kernel.RemoveRule(context.Background(), "r1", r.by)
			r.must(err)
		}},
		"latched": {&core.RuleRequest{Kind: "create"}, "", nil},
	} {
		if name == "latched" {
			continue // nothing is queued then: TestK8_
		}
		t.Run(name, func(t *testing.T) {
			r := newRuleRig(t)
			if test.rule != nil {
				request := *test.rule
				request.Session, request.Binding = "work", "NOTES"
				r.rule(request)
			}
			if test.then != nil {
				test.then(r)
			}
			id, _ := r.create(test.title)
			r.wantState(id, core.StatePending)
			if calls := r.service(notesURL).Calls("send:"); calls != 0 {
				t.Errorf("%d effects were sent", calls)
			}
		})
	}
}

func (r *rig) later(d time.Duration) {
	r.clock.mu.Lock()
	defer r.clock.mu.Unlock()
	r.clock.now = r.clock.now.Add(d)
}

func TestK45_TheCountIsUsedUp(t *testing.T) {
	r := newRuleRig(t)
	request := createRule()
	request.Max = 2
	r.rule(request)
	r.wantStates(r.creates("one", "two", "three"), core.StateApplied, core.StateApplied, core.StatePending)
}

func TestK45_TheConditionIsOverWhatWillBeSent(t *testing.T) {
	r := newRuleRig(t)
	request := createRule()
	request.Condition = `title.startsWith("safe ") && size(labels) < 2`
	r.rule(request)
	one := r.submit("create", `{"title":"safe one","labels":["a"]}`)
	two := r.submit("create", `{"title":"safe two","labels":["a","b"]}`)
	r.wantStates([]core.ActionID{one, two}, core.StateApplied, core.StatePending)
}

func TestK45_HighRiskIsNeverByRule(t *testing.T) {
	r := newRuleRig(t)
	id := r.made("x")
	r.rule(core.RuleRequest{Session: "work", Binding: "NOTES", Kind: "publish"})
	r.wantState(r.submit("publish", `{"id":%q}`, id), core.StatePending)
}

func TestK46_TheAuthorMayNoLongerDecide(t *testing.T) {
	ctx := context.Background()
	r := newRuleRig(t)
	r.letDecide("bob")
	bob := core.Authority{Person: "bob", Means: core.MeansPipe}
	_, _, err := r.kernel.AddRule(ctx, createRule(), nil, bob, nil)
	r.must(err)
	id, _ := r.create("one")
	r.wantState(id, core.StateApplied)
	r.must(r.grant("bob", core.RoleBuild)) // the same giver's grant, without decisions now
	id, _ = r.create("two")
	r.wantState(id, core.StatePending)
	rules, err := r.kernel.Rules(ctx, "work")
	r.must(err)
	if len(rules) != 1 || !strings.Contains(rules[0].Off, "bob may no longer decide") {
		t.Errorf("got %+v, want bob's rule to be off", rules)
	}
	if _, _, err := r.kernel.AddRule(ctx, createRule(), nil, bob, nil); err == nil {
		t.Error("bob made another rule")
	}
}

func TestK47_AFailureIsNotSkipped(t *testing.T) {
	r := newRuleRig(t)
	r.bind("FAILS", "memory://fails/items?fail=retryable:create:2")
	r.rule(core.RuleRequest{Session: "work", Binding: "FAILS", Kind: "create"})
	var ids []core.ActionID
	for i := range 3 {
		ids = append(ids, r.submitTo("FAILS", "create", `{"title":"n%d"}`, i))
	}
	r.wantStates(ids, core.StateApplied, core.StateFailed, core.StatePending)
	if got := r.service("memory://fails/items?fail=retryable:create:2").Calls("send:"); got != 2 {
		t.Errorf("%d were sent, want 2", got)
	}
	// The person sends the failed one again; what stood behind it goes on.
	result, err := r.kernel.Retry(context.Background(), ids[1], r.by, false, nil)
	r.must(err)
	if result.Outcome != core.OutcomeApplied {
		t.Fatalf("got %+v", result)
	}
	r.wantState(ids[2], core.StateApplied)
}

func TestRule_RunsExactlyWhatWasShown(t *testing.T) {
	ctx := context.Background()
	r := newRuleRig(t)
	r.creates("one", "ask two", "three")
	shown, err := r.kernel.PreviewRule(ctx, createRule(), "alice")
	r.must(err)
	if len(shown.Runs) != 1 || shown.Runs[0].ID != 1 {
		t.Fatalf("got %v, want the first alone: the second needs a person", shown.Runs)
	}
	r.reject("", 2)
	_, _, err = r.kernel.AddRule(ctx, createRule(), []core.ActionID{1}, r.by, nil)
	var moved *core.RuleMovedError
	if !errors.As(err, &moved) {
		t.Fatalf("got %v, want what it runs to have changed", err)
	}
	r.wantStates([]core.ActionID{1, 3}, core.StatePending, core.StatePending)
	if rules, err := r.kernel.Rules(ctx, ""); err != nil || len(rules) != 0 {
		t.Errorf("got rules %v, %v, want none", rules, err)
	}
}

func TestRule_BadInput(t *testing.T) {
	r := newRuleRig(t)
	for want, request := range map[string]core.RuleRequest{
		"line 1, column 1":                {Session: "work", Binding: "NOTES", Kind: "create", Condition: `titel == "x"`},
		"line 2, column 1":                {Session: "work", Binding: "NOTES", Kind: "create", Condition: "title ==\n5"},
		"which is over":                   {Session: "work", Binding: "NOTES", Kind: "create", ExpiresAt: r.clock.now.Add(-time.Hour)},
		`action kind "explode": not`:      {Session: "work", Binding: "NOTES", Kind: "explode"},
		`binding "NONE": not found`:       {Session: "work", Binding: "NONE", Kind: "create"},
		`session "nowhere": not found`:    {Session: "nowhere", Binding: "NOTES", Kind: "create"},
		"a count of -1":                   {Session: "work", Binding: "NOTES", Kind: "create", Max: -1},
		"write a condition that is true ": {Session: "work", Binding: "NOTES", Kind: "create", Condition: `title`},
	} {
		_, err := r.kernel.PreviewRule(context.Background(), request, "alice")
		if err == nil || (!strings.Contains(err.Error(), want) && want != "line 2, column 1") {
			t.Errorf("%+v: got %v, want %q", request, err, want)
		}
	}
}

func TestRule_AnAgentMakesNone(t *testing.T) {
	r := newRuleRig(t)
	by := core.Authority{Person: "alice", Means: core.MeansPipe, AgentMark: "CLAUDECODE"}
	_, _, err := r.kernel.AddRule(context.Background(), createRule(), nil, by, nil)
	var refused *core.DecisionRefusedError
	if !errors.As(err, &refused) {
		t.Errorf("got %v, want it refused", err)
	}
}

// TestRule_DrainedByTwoProcessesOnce has two kernels find the same front at once.
func TestRule_DrainedByTwoProcessesOnce(t *testing.T) {
	r := newRuleRig(t)
	other := r.newKernel(withRules)
	var ids []core.ActionID
	for i := range 20 {
		ids = append(ids, r.submit("create", `{"title":"n%d"}`, i))
	}
	shown, err := r.kernel.PreviewRule(context.Background(), createRule(), "alice")
	r.must(err)
	if len(shown.Runs) != 20 {
		t.Fatalf("got %d, want 20", len(shown.Runs))
	}
	done := make(chan error, 1)
	go func() {
		// Any decision drains on.
		id := r.submit("create", `{"title":"ask"}`)
		plan, err := other.PlanReject(context.Background(), "alice", []core.ActionID{id}, "")
		if err == nil {
			_, err = other.Confirm(context.Background(), plan, r.by, core.ConfirmOptions{}, nil)
		}
		done <- err
	}()
	if _, _, err := r.kernel.AddRule(context.Background(), createRule(), ids, r.by, nil); err != nil {
		t.Fatal(err)
	}
	r.must(<-done)
	effects, err := r.service(notesURL).Effects()
	r.must(err)
	seen := make(map[core.ActionID]int)
	for _, e := range effects {
		seen[e.Action]++
	}
	for _, id := range ids {
		r.wantState(id, core.StateApplied)
		if seen[id] != 1 {
			t.Errorf("action %d: carried out %d times", id, seen[id])
		}
	}
}
