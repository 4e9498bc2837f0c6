package core_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/gatekeepers/memory"

	_ "modernc.org/sqlite"
)

func TestK27_SubmitIsPendingAndSendsNothing(t *testing.T) {
	r := newRig(t)
	id, name := r.create("x")
	a := r.action(id)
	if a.State != core.StatePending || a.Digest == (core.Digest{}) || name != "~1" {
		t.Errorf("got %s %s %s, want pending with a digest as ~1", a.State, a.Digest, name)
	}
	if n := r.service(notesURL).Calls("send:"); n != 0 {
		t.Errorf("%d effects were sent by a submit", n)
	}
	if rows := r.rows(core.EventSubmit); len(rows) != 1 || rows[0].Entry.Digest != a.Digest.String() {
		t.Errorf("got submit rows %v", rows)
	}
}

func TestK28_ApprovedIsApplied(t *testing.T) {
	r := newRig(t)
	id, _ := r.create("x")
	r.wantOutcomes(r.approve(id), core.OutcomeApplied)
	a := r.action(id)
	if a.State != core.StateApplied || a.DecidedBy != "alice" || a.DecidedHow != core.MeansPipe || a.DecidedAt.IsZero() {
		t.Errorf("got %s by %s (%s) at %s", a.State, a.DecidedBy, a.DecidedHow, a.DecidedAt)
	}
	rows := r.rows(core.EventDecision)
	if len(rows) != 1 {
		t.Fatalf("got %d decision rows, want 1", len(rows))
	}
	e := rows[0].Entry
	if e.Actor != "alice" || e.Digest != a.Digest.String() || e.At.IsZero() || e.Authority != "alice by pipe" {
		t.Errorf("got row %+v, want decider, time, digest and means", e)
	}
}

func TestK29_NotAppliedRetryableOrForGood(t *testing.T) {
	r := newRig(t)
	r.bind("LATER", "memory://later/items?fail=retryable:create:1")
	r.bind("NEVER", "memory://never/items?fail=good:create:1")
	later := r.submitTo("LATER", "create", `{"title":"x"}`)
	never := r.submitTo("NEVER", "create", `{"title":"x"}`)
	r.wantOutcomes(r.approve(later, never), core.OutcomeFailed, core.OutcomeFailed)
	if a := r.action(later); !a.Retryable {
		t.Error("later: got retryable false")
	}
	if a := r.action(never); a.Retryable {
		t.Error("never: got retryable true")
	}
	ctx := context.Background()
	if out, err := r.kernel.Retry(ctx, later, r.by, false, nil); err != nil || out.Outcome != core.OutcomeApplied {
		t.Errorf("retry of later: got %v, %v", out, err)
	}
	if _, err := r.kernel.Retry(ctx, never, r.by, false, nil); err == nil {
		t.Error("retry of never: not refused")
	}
	r.wantOutcomes(r.reject("closed", never), core.OutcomeRejected)
}

func TestK30_UnknownIsSettledEitherWay(t *testing.T) {
	for _, applied := range []bool{true, false} {
		r := newRig(t)
		r.bind("ODD", "memory://odd/items?fail=after:create")
		id := r.submitTo("ODD", "create", `{"title":"x"}`)
		r.wantOutcomes(r.approve(id), core.OutcomeUnknown)
		r.wantOutcomes(r.approve(id), core.OutcomeNotPending)
		if n := len(mustEffects(t, r.service("memory://odd/items"))); n != 1 {
			t.Errorf("%d effects, want 1", n)
		}
		out, err := r.kernel.Settle(context.Background(), id, r.by, core.Settlement{Applied: applied})
		want, state := core.OutcomeApplied, core.StateApplied
		if !applied {
			want, state = core.OutcomeRejected, core.StateRejected
		}
		if err != nil || out.Outcome != want {
			t.Errorf("settle applied=%v: got %v, %v", applied, out, err)
		}
		r.wantState(id, state)
	}
}

func mustEffects(t *testing.T, s *memory.Service) []memory.Effect {
	t.Helper()
	effects, err := s.Effects()
	if err != nil {
		t.Fatal(err)
	}
	return effects
}

func TestK31_UnknownBlocksNothingBehindIt(t *testing.T) {
	r := newRig(t)
	r.bind("ODD", "memory://odd/items?fail=after:create:1")
	lost := r.submitTo("ODD", "create", `{"title":"lost"}`)
	good := r.submitTo("ODD", "create", `{"title":"good"}`)
	no := r.submitTo("ODD", "create", `{"title":"no"}`)
	r.wantOutcomes(r.approve(lost), core.OutcomeUnknown)
	r.wantOutcomes(r.approve(good), core.OutcomeApplied)
	r.wantOutcomes(r.reject("no", no), core.OutcomeRejected)
}

func TestK32_TheLoserIsToldWhoWon(t *testing.T) {
	r := newRig(t)
	id, _ := r.create("x")
	mine, theirs := r.planApprove(id), r.planApprove(id)
	no, err := r.kernel.PlanReject(context.Background(), "alice", []core.ActionID{id}, "no")
	if err != nil {
		t.Fatal(err)
	}
	r.wantOutcomes(r.confirm(mine), core.OutcomeApplied)
	for _, late := range []*core.Plan{theirs, no} {
		got := r.confirm(late)
		r.wantOutcomes(got, core.OutcomeNotPending)
		if !strings.Contains(got[0].Reason, "applied by alice") {
			t.Errorf("got reason %q, want the winner named", got[0].Reason)
		}
	}
	if n := r.service(notesURL).Calls("send:"); n != 1 {
		t.Errorf("%d effects were sent, want 1", n)
	}
}

// TestR19_ClaimIsDurableBeforeTheEffect looks into the store at the moment at which the service is reached.
func TestR19_ClaimIsDurableBeforeTheEffect(t *testing.T) {
	r := newRig(t)
	id, _ := r.create("x")
	plan := r.planApprove(id)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second) // only a broken kernel waits
	defer cancel()
	var at []core.State
	r.service(notesURL).SetHook(func(_ context.Context, point memory.Point, _ string) error {
		if point == memory.PointSend {
			at = append(at, r.action(id).State)
		}
		return nil
	})
	if _, err := r.kernel.Confirm(ctx, plan, r.by, core.ConfirmOptions{}, nil); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if len(at) != 1 || at[0] != core.StateClaimed {
		t.Errorf("the service was reached in states %v, want once, claimed", at)
	}
	r.wantState(id, core.StateApplied)
}

func TestK35_AlteredAfterSubmitIsRefused(t *testing.T) {
	for column, value := range map[string]string{
		"payload": `{"title":"something else"}`,
		"fields":  `[{"name":"title","before":null,"after":"something else"}]`,
		"base":    `[{"target":"items/9","absent":true}]`,
	} {
		t.Run(column, func(t *testing.T) {
			r := newRig(t)
			id, _ := r.create("x")
			plan := r.planApprove(id)
			raw, err := sql.Open("sqlite", r.db.Path())
			if err != nil {
				t.Fatal(err)
			}
			defer raw.Close()
			done, err := raw.Exec("UPDATE content SET "+column+" = ? WHERE id = ?", value, int64(id))
			if err != nil {
				t.Fatal(err)
			}
			if n, err := done.RowsAffected(); n != 1 || err != nil {
				t.Fatalf("altered %d rows, %v", n, err)
			}
			got := r.confirm(plan)
			r.wantOutcomes(got, core.OutcomeSkipped)
			if !strings.Contains(got[0].Reason, "digest differs") {
				t.Errorf("got reason %q", got[0].Reason)
			}
			if n := r.service(notesURL).Calls("send:"); n != 0 {
				t.Errorf("%d effects were sent", n)
			}
		})
	}
}

func TestK36_BaseMovedIsDrift(t *testing.T) {
	r := newRig(t)
	id := r.made("x")
	edit := r.submit("update", `{"id":%q,"title":"mine"}`, id)
	old := r.planApprove(edit)
	s := r.service(notesURL)
	item, err := s.Item("items/" + id)
	if err != nil {
		t.Fatal(err)
	}
	item.Title = "somebody else's"
	if err := s.Put("items/"+id, item); err != nil {
		t.Fatal(err)
	}
	sent := s.Calls("send:")
	before := r.action(edit)
	r.wantOutcomes(r.confirm(old), core.OutcomeDrifted)
	after := r.action(edit)
	if after.State != core.StatePending || after.Drift != core.DriftFresh || after.Digest == before.Digest {
		t.Fatalf("got %s %q, digest same: %v; want pending, fresh, a new digest", after.State, after.Drift, after.Digest == before.Digest)
	}
	if !strings.Contains(string(after.Draft.Fields[0].Before), "somebody else's") {
		t.Errorf("the fresh preview shows before %s", after.Draft.Fields[0].Before)
	}
	stale, err := r.kernel.Plan(context.Background(), "alice", []core.PlanItem{
		{Action: edit, Digest: before.Digest, Verdict: core.VerdictApprove},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.wantOutcomes(r.confirm(stale), core.OutcomeDrifted)
	if n := s.Calls("send:") - sent; n != 0 {
		t.Errorf("%d effects were sent with the old digest", n)
	}
	r.wantOutcomes(r.approve(edit), core.OutcomeApplied)
	if item, _ := s.Item("items/" + id); item.Title != "mine" {
		t.Errorf("got title %q after the new approval", item.Title)
	}
}

func TestK37_PrerequisiteIsNamed(t *testing.T) {
	r := newRig(t)
	create, name := r.create("x")
	comment := r.submit("append", `{"id":%q,"text":"c"}`, name)
	plan := r.planApprove(comment)
	if len(plan.Prerequisites) != 1 || plan.Prerequisites[0] != create {
		t.Errorf("got prerequisites %v, want %d", plan.Prerequisites, create)
	}
	r.wantOutcomes(r.confirm(plan), core.OutcomeSkipped)
	if n := r.service(notesURL).Calls("send:"); n != 0 {
		t.Errorf("%d effects were sent", n)
	}
	with, err := r.kernel.PlanApprove(context.Background(), "alice", []core.ActionID{comment}, core.PlanOptions{WithPrerequisites: true})
	if err != nil {
		t.Fatal(err)
	}
	r.wantOutcomes(r.confirm(with), core.OutcomeApplied, core.OutcomeApplied)
}

func TestK38_CreateFirstThenTheRealID(t *testing.T) {
	r := newRig(t)
	create, name := r.create("x")
	comment := r.submit("append", `{"id":%q,"text":"c"}`, name)
	r.wantOutcomes(r.approve(comment, create), core.OutcomeApplied, core.OutcomeApplied)
	real := r.action(create).Created[0].Real
	item, err := r.service(notesURL).Item("items/" + real)
	if err != nil || !strings.Contains(item.Body, "c") {
		t.Errorf("got item %+v, %v", item, err)
	}
	out := r.call("NOTES", "get", `{"id":%q}`, name)
	r.wantStatus(out, core.StatusOK)
	if got := field[string](t, out, "id"); got != real {
		t.Errorf("%s resolves to %q, want %q for ever after", name, got, real)
	}
}

func TestK39_RejectedCreateStrandsWhatNeedsIt(t *testing.T) {
	r := newRig(t)
	create, name := r.create("x")
	agent := core.Caller{Kind: core.CallerPerson, Person: "alice"}
	comment := r.callAs(agent, "NOTES", "append", `{"id":%q,"text":"c"}`, name).Action()
	again := r.submit("append", `{"id":%q,"text":"d"}`, name)
	plan, err := r.kernel.PlanReject(context.Background(), "alice", []core.ActionID{create}, "no")
	if err != nil {
		t.Fatal(err)
	}
	if plan.Count(core.EffectStrand) != 2 {
		t.Errorf("the plan strands %d, want 2", plan.Count(core.EffectStrand))
	}
	r.wantOutcomes(r.confirm(plan), core.OutcomeRejected, core.OutcomeStranded, core.OutcomeStranded)
	a := r.action(comment)
	if a.State != core.StateStranded || !strings.Contains(a.Reason, "action 1") {
		t.Errorf("got %s %q, want stranded with the create named", a.State, a.Reason)
	}
	r.wantOutcomes(r.reject("close", comment, again), core.OutcomeRejected, core.OutcomeRejected)
}

func TestK40_UnknownCreateStrandsNothing(t *testing.T) {
	r := newRig(t)
	r.bind("ODD", "memory://odd/items?fail=unknown:create")
	create := r.submitTo("ODD", "create", `{"title":"x"}`)
	comment := r.submitTo("ODD", "append", `{"id":"~1","text":"c"}`)
	r.wantOutcomes(r.approve(create), core.OutcomeUnknown)
	r.wantState(comment, core.StatePending)
	r.wantOutcomes(r.approve(comment), core.OutcomeSkipped)
}

func TestK41_FailureStopsItsResourceAlone(t *testing.T) {
	for _, c := range []struct {
		name, mode string
		want       []core.ItemOutcome
	}{
		{"for good", "good", []core.ItemOutcome{
			core.OutcomeApplied, core.OutcomeApplied, core.OutcomeFailed, core.OutcomeSkipped, core.OutcomeApplied,
		}},
		{"unknown", "after", []core.ItemOutcome{
			core.OutcomeApplied, core.OutcomeApplied, core.OutcomeUnknown, core.OutcomeApplied, core.OutcomeApplied,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.bind("ODD", "memory://odd/items?fail="+c.mode+":create:2")
			var ids []core.ActionID
			for _, binding := range []string{"NOTES", "ODD", "ODD", "ODD", "NOTES"} {
				ids = append(ids, r.submitTo(binding, "create", `{"title":"x"}`))
			}
			r.wantOutcomes(r.approve(ids...), c.want...)
		})
	}
}

func TestK41_UnknownStopsWhatNeedsIt(t *testing.T) {
	r := newRig(t)
	r.bind("ODD", "memory://odd/items?fail=after:create:1")
	first := r.submitTo("ODD", "create", `{"title":"x"}`)
	needs := r.submitTo("ODD", "append", `{"id":"~1","text":"y"}`)
	other := r.submitTo("ODD", "create", `{"title":"z"}`)
	r.wantOutcomes(r.approve(first, needs, other), core.OutcomeUnknown, core.OutcomeSkipped, core.OutcomeApplied)
	r.wantState(needs, core.StatePending)
}

func TestK42_DecidedElsewhereAndConfirmedTwice(t *testing.T) {
	r := newRig(t)
	a, _ := r.create("a")
	b, _ := r.create("b")
	plan := r.planApprove(a, b)
	r.reject("no", a)
	r.wantOutcomes(r.confirm(plan), core.OutcomeNotPending, core.OutcomeApplied)
	_, err := r.kernel.Confirm(context.Background(), plan, r.by, core.ConfirmOptions{}, nil)
	if !errors.Is(err, core.ErrPlanConfirmed) {
		t.Errorf("second confirm: got %v, want %v", err, core.ErrPlanConfirmed)
	}
}

func TestK64_TwoEditsOfOneObject(t *testing.T) {
	r := newRig(t)
	id := r.made("x")
	first := r.submit("update", `{"id":%q,"title":"one"}`, id)
	second := r.submit("update", `{"id":%q,"title":"two"}`, id)
	alone := r.planApprove(second)
	if len(alone.Prerequisites) != 1 || alone.Prerequisites[0] != first {
		t.Errorf("got prerequisites %v, want %d", alone.Prerequisites, first)
	}
	if got := r.confirm(alone); got[0].Outcome != core.OutcomeSkipped && got[0].Outcome != core.OutcomeDrifted {
		t.Errorf("the second alone: got %v, never applied on an unseen base", got)
	}
	r.wantOutcomes(r.approve(first, second), core.OutcomeApplied, core.OutcomeApplied)
}

func TestK65_RejectedFirstEditPreviewsTheSecondAnew(t *testing.T) {
	r := newRig(t)
	id := r.made("x")
	first := r.submit("append", `{"id":%q,"text":"one"}`, id)
	second := r.submit("append", `{"id":%q,"text":"two"}`, id)
	third := r.submit("append", `{"id":%q,"text":"three"}`, id)
	old := r.action(second)
	both := r.planApprove(second, third)
	r.wantOutcomes(r.reject("no", first), core.OutcomeRejected)
	for _, edit := range []core.ActionID{second, third} {
		if a := r.action(edit); a.State != core.StatePending || a.Drift != core.DriftFresh {
			t.Fatalf("action %d: got %s %q, want pending and previewed anew", edit, a.State, a.Drift)
		}
	}
	if a := r.action(second); a.Digest == old.Digest {
		t.Error("the digest is the old one: an old approval would still count")
	}
	// The third comes after the second, and its content is the same as before: it is stopped by the second.
	r.wantOutcomes(r.confirm(both), core.OutcomeDrifted, core.OutcomeSkipped)
	r.wantOutcomes(r.approve(second, third), core.OutcomeApplied, core.OutcomeApplied)
}

func TestK70_HighRiskMustHaveBeenOpened(t *testing.T) {
	r := newRig(t)
	id := r.made("x")
	publish := r.submit("publish", `{"id":%q}`, id)
	low, _ := r.create("low")
	ctx := context.Background()
	_, err := r.kernel.Confirm(ctx, r.planApprove(publish, low), r.by, core.ConfirmOptions{}, nil)
	var refused *core.DecisionRefusedError
	if !errors.As(err, &refused) || !strings.Contains(refused.Text, publish.String()) {
		t.Fatalf("got %v, want a refusal that names the action", err)
	}
	r.wantState(low, core.StatePending)
	agent := r.by
	agent.AgentMark = "CLAUDECODE"
	if _, err := r.kernel.Show(ctx, publish, agent); err != nil {
		t.Fatal(err)
	}
	if _, err := r.kernel.Confirm(ctx, r.planApprove(publish), r.by, core.ConfirmOptions{}, nil); err == nil {
		t.Error("a show by an agent's process counted as opened")
	}
	if _, err := r.kernel.Show(ctx, publish, r.by); err != nil {
		t.Fatal(err)
	}
	got, err := r.kernel.Confirm(ctx, r.planApprove(publish), r.by, core.ConfirmOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.wantOutcomes(got, core.OutcomeApplied)
	charge := r.submit("charge", `{"id":%q,"amount":5}`, id)
	got, err = r.kernel.Confirm(ctx, r.planApprove(charge), r.by, core.ConfirmOptions{Unopened: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.wantOutcomes(got, core.OutcomeApplied)
	rows := r.rows(core.EventPlan)
	if last := string(rows[len(rows)-1].Entry.Detail); !strings.Contains(last, `"unopened":true`) {
		t.Errorf("the record does not say that it was unopened: %s", last)
	}
}

func TestK71_ADecisionComesFromAPerson(t *testing.T) {
	r := newRig(t)
	ctx := context.Background()
	id, _ := r.create("x")
	key, err := r.kernel.NewOperatorKey(ctx, r.by)
	if err != nil {
		t.Fatal(err)
	}
	strict := r.newKernel(func(o *core.Options) { o.RequireKey = true })
	for _, c := range []struct {
		name    string
		kernel  *core.Kernel
		by      core.Authority
		refused bool
		means   core.Means
	}{
		{"agent", r.kernel, core.Authority{Person: "alice", Means: core.MeansPipe, AgentMark: "CLAUDECODE"}, true, ""},
		{"agent on a terminal", r.kernel, core.Authority{Person: "alice", Means: core.MeansTerminal, AgentMark: "GATEHOUSE_AGENT"}, true, ""},
		{"wrong key", r.kernel, core.Authority{Person: "alice", Means: core.MeansPipe, Key: key + "x"}, true, ""},
		{"pipe under require_key", strict, core.Authority{Person: "alice", Means: core.MeansPipe}, true, ""},
		{"nobody", r.kernel, core.Authority{Means: core.MeansPipe}, true, ""},
		{"no means", r.kernel, core.Authority{Person: "alice"}, true, ""},
		{"agent with key", r.kernel, core.Authority{Person: "alice", Means: core.MeansPipe, AgentMark: "CLAUDECODE", Key: key}, false, core.MeansKey},
		{"pipe", r.kernel, core.Authority{Person: "alice", Means: core.MeansPipe}, false, core.MeansPipe},
		{"terminal under require_key", strict, core.Authority{Person: "alice", Means: core.MeansTerminal}, false, core.MeansTerminal},
		{"key under require_key", strict, core.Authority{Person: "alice", Means: core.MeansPipe, Key: key}, false, core.MeansKey},
	} {
		got, err := c.kernel.Confirm(ctx, r.planApprove(id), c.by, core.ConfirmOptions{}, nil)
		if c.refused {
			if err == nil {
				t.Errorf("%s: not refused: %v", c.name, got)
			}
			r.wantState(id, core.StatePending)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		r.wantOutcomes(got, core.OutcomeApplied)
		if how := r.action(id).DecidedHow; how != c.means {
			t.Errorf("%s: the row says %q, want %q", c.name, how, c.means)
		}
		id, _ = r.create("x")
	}
	for _, row := range r.rows() {
		if strings.Contains(string(row.Blob), key) {
			t.Errorf("row %d holds the key", row.Seq)
		}
	}
}
