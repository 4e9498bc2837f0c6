package core_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/core"
	loop "gatehouse/core/agent"
	"gatehouse/gatekeepers/memory"
)

// inMemory is a folder for files that need not last; the histories wait for the disk otherwise.
func inMemory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "gatehouse-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// step is one operation. What may often be done is listed more often; the mailbox ends most of what can be done.
func (w *world) step() {
	w.decided = false
	steps := map[string]func(){
		"append": w.stepAppend, "create": w.stepCreate, "decide": w.stepDecide, "rule": w.stepRule, "rule rm": w.stepRuleRemoved,
		"fork": w.stepFork, "grant": w.stepGrant, "revoke": w.stepRevoke, "open": w.stepOpen, "access": w.stepAccess,
		"revert": w.stepRevert, "stranger": w.stepStranger, "restart": w.stepRestart, "mail": w.stepMail, "turn": w.stepTurn, "go on": w.goOn,
	}
	often := []string{
		"append", "append", "append", "create", "create", "decide", "decide", "decide", "rule", "rule rm", "fork", "grant", "revoke",
		"open", "access", "revert", "revert", "stranger", "stranger", "stranger", "restart", "mail", "turn", "go on",
	}
	steps[rapid.SampledFrom(often).Draw(w.rt, "operation")]()
}

// submitted holds what came of a write against what has to come of it.
func (w *world) submitted(out core.Released) {
	switch {
	case w.latched:
		w.wantRefused(out, "R7")
	case !w.readable():
		w.wantRefused(out, "R8")
	case out.Action() == 0:
		w.rt.Fatalf("nothing was queued: %s (%s)", out.Status(), out.Reason())
	}
}

// stepAppend adds words to an item, or to one that is not there yet.
func (w *world) stepAppend() {
	w.words++
	targets := []string{"item-0", "item-1", "item-2"}
	for _, a := range w.actions() {
		if a.Method == "create" && a.State == core.StatePending {
			targets = append(targets, a.Draft.Provides[0])
		}
	}
	target := rapid.SampledFrom(targets).Draw(w.rt, "target")
	w.submitted(w.callAs(agent(9), "NOTES", "append", `{"id":%q,"text":"[%d]"}`, target, w.words))
}

func (w *world) stepCreate() {
	w.words++
	w.submitted(w.callAs(agent(9), "NOTES", "create", `{"title":"new %d"}`, w.words))
}

// stepDecide says yes or no to some of what can be decided.
func (w *world) stepDecide() {
	w.decide(func(core.Action) core.Verdict {
		return rapid.SampledFrom([]core.Verdict{core.VerdictApprove, core.VerdictApprove, core.VerdictReject, ""}).Draw(w.rt, "verdict")
	})
}

// decide is R21 and R22: every item of the plan has one result, which agrees with what became of it.
func (w *world) decide(verdict func(core.Action) core.Verdict) {
	w.decided = true
	var items []core.PlanItem
	before := make(map[core.ActionID]core.State)
	for _, a := range w.actions() {
		if a.State != core.StatePending && a.State != core.StateStranded {
			continue
		}
		if v := verdict(a); v != "" {
			items = append(items, core.PlanItem{Action: a.ID, Digest: a.Digest, Verdict: v})
			before[a.ID] = a.State
		}
	}
	if len(items) == 0 {
		return
	}
	shuffled := rapid.Permutation(items).Draw(w.rt, "order")
	plan, err := w.kernel.Plan(context.Background(), "alice", shuffled)
	w.must(err)
	results := make(map[core.ActionID]core.Result)
	for _, r := range w.confirm(plan) {
		if _, twice := results[r.Action]; twice {
			w.rt.Fatalf("R22: action %d has two results", r.Action)
		}
		results[r.Action] = r
	}
	for _, item := range items {
		w.wantDecided(item, before[item.Action], results)
	}
	if _, err := w.kernel.Confirm(context.Background(), plan, w.by, core.ConfirmOptions{Unopened: true}, nil); !errors.Is(err, core.ErrPlanConfirmed) {
		w.rt.Fatalf("R22: confirmed twice: got %v", err)
	}
}

func (w *world) wantDecided(item core.PlanItem, before core.State, results map[core.ActionID]core.Result) {
	r, there := results[item.Action]
	state := w.action(item.Action).State
	switch {
	case !there:
		w.rt.Fatalf("R22: action %d has no result", item.Action)
	case item.Verdict == core.VerdictReject && (state != core.StateRejected || r.Outcome != core.OutcomeRejected):
		w.rt.Fatalf("R21: action %d was %s, rejected, and is %s: %s (%s)", item.Action, before, state, r.Outcome, r.Reason)
	case (r.Outcome == core.OutcomeApplied) != (state == core.StateApplied) && item.Verdict == core.VerdictApprove && state != core.StateReverted:
		w.rt.Fatalf("R22: action %d is %s, and its result says %s (%s)", item.Action, state, r.Outcome, r.Reason)
	case r.Outcome == core.OutcomeFailed, r.Outcome == core.OutcomeUnknown, r.Outcome == core.OutcomeNotStarted:
		w.rt.Fatalf("R22: action %d: got %s (%s), and nothing fails here", item.Action, r.Outcome, r.Reason)
	}
}

// stepRule lets the next creates through, and those at the front at once.
func (w *world) stepRule() {
	request := core.RuleRequest{Session: string(w.session.ID), Binding: "NOTES", Kind: rapid.SampledFrom([]string{"create", "append"}).Draw(w.rt, "kind"), Max: 3}
	shown, err := w.kernel.PreviewRule(context.Background(), request, "alice")
	if w.latched && err != nil {
		return
	}
	w.must(err)
	var ids []core.ActionID
	for _, s := range shown.Runs {
		ids = append(ids, s.ID)
	}
	_, _, err = w.kernel.AddRule(context.Background(), request, ids, w.by, nil)
	w.must(err)
}

func (w *world) stepRuleRemoved() {
	rules, err := w.kernel.Rules(context.Background(), string(w.session.ID))
	w.must(err)
	if len(rules) > 0 {
		_, err = w.kernel.RemoveRule(context.Background(), rules[0].Rule.ID, w.by)
		w.must(err)
	}
}

// stepFork: a fork has no undecided actions, nothing in its set that its original has not, and is not latched by what it
// did not take over.
func (w *world) stepFork() {
	w.words++
	fork, err := w.kernel.ForkSession(context.Background(), core.Fork{Session: string(w.session.ID), Name: fmt.Sprintf("%s fork %d", w.name(), w.words)}, w.by)
	w.must(err)
	page, err := w.kernel.Queue(context.Background(), core.QueueQuery{Session: fork.ID})
	w.must(err)
	set, err := w.kernel.Observations(context.Background(), string(fork.ID))
	w.must(err)
	if len(page.Rows) != 0 || len(set) != 0 || fork.Latched {
		w.rt.Fatalf("R7: a fork before the first turn has %d actions, a set of %d and latch %v", len(page.Rows), len(set), fork.Latched)
	}
}

// stepGrant is R7: nobody is added to a latched session.
func (w *world) stepGrant() {
	err := w.grant(w.bob, core.RoleView)
	if w.latched != (err != nil) {
		w.rt.Fatalf("R7: latched %v, and bob was added with %v", w.latched, err)
	}
	w.present = w.present || err == nil
}

func (w *world) stepRevoke() {
	if err := w.kernel.RevokeRole(context.Background(), string(w.session.ID), w.bob, w.by); err == nil {
		w.present = false
	} else if w.present {
		w.rt.Fatalf("bob cannot be removed: %v", err)
	}
}

// stepOpen is R10: Bob gets in where he has a role, the session is not latched, and every unit of it is his to read.
func (w *world) stepOpen() {
	opening, err := w.kernel.Open(context.Background(), string(w.session.ID), w.bob)
	if err == nil {
		err = opening.Release(context.Background())
	}
	may := w.present && !w.latched && (w.access || len(w.set) == 0)
	if may != (err == nil) {
		w.rt.Fatalf("R10: bob is present %v, latched %v, access %v, set %v, and got %v", w.present, w.latched, w.access, w.set, err)
	}
}

// stepAccess gives Bob what he needs at the service, or takes it away.
func (w *world) stepAccess() {
	w.access = !w.access
	verdict := core.AccessDenied
	if w.access {
		verdict = core.AccessPassed
	}
	w.driver.SetAccess(w.bob, w.unit, verdict)
}

// stepRevert takes the newest append back that can be.
func (w *world) stepRevert() {
	actions := w.actions()
	slices.Reverse(actions)
	for _, a := range actions {
		if a.State != core.StateApplied || a.Method != "append" {
			continue
		}
		_, err := w.kernel.Revert(context.Background(), a.ID, w.by)
		var not *core.NotRevertibleError
		if err == nil && (w.latched || !w.readable()) {
			w.rt.Fatalf("R7, R8: a revert of action %d was queued", a.ID)
		}
		if err == nil || !errors.As(err, &not) {
			return
		}
	}
}

// stepStranger changes an item behind everybody's back.
func (w *world) stepStranger() {
	w.words++
	target := fmt.Sprintf("items/item-%d", rapid.IntRange(0, 2).Draw(w.rt, "item"))
	item, err := w.notes.Item(target)
	w.must(err)
	item.Body = fmt.Sprintf("(%d)", w.words)
	w.must(w.notes.Put(target, memory.Item(item)))
	w.stranger[target]++
}

// stepRestart is another process on the same file.
func (w *world) stepRestart() {
	w.kernel = w.newKernel()
	lost, err := w.kernel.Recover(context.Background())
	w.must(err)
	if len(lost) != 0 {
		w.rt.Fatalf("R19: %v were claimed at a restart", lost)
	}
}

// stepMail is R6: what is the owner's alone is not read while somebody else is there, and latches the session.
func (w *world) stepMail() {
	out := w.callAs(agent(9), "MAIL", "list", `{}`)
	if w.present {
		w.wantRefused(out, "R6")
		return
	}
	w.wantStatus(out, core.StatusOK)
	w.latched, w.set[w.mail] = true, true
}

func (w *world) stepTurn() {
	if w.latched {
		return
	}
	report, err := loop.Run(context.Background(), w.runner())
	var open *core.TurnOpenError
	switch {
	case errors.As(err, &open):
	case err != nil:
		w.rt.Fatalf("a turn: %v", err)
	case w.readable() != (report.Turn.State == core.TurnSuspended):
		w.rt.Fatalf("R27: readable %v, and the turn is %s", w.readable(), report.Turn.State)
	}
}

// goOn is R27: a turn goes on when all it waits for is settled, and not before.
func (w *world) goOn() {
	report, err := loop.Continue(context.Background(), w.runner())
	var waiting *core.TurnWaitingError
	var none *core.NoTurnError
	switch {
	case errors.As(err, &none):
	case errors.As(err, &waiting):
		if !slices.ContainsFunc(w.actions(), func(a core.Action) bool { return a.Draft.Lane == core.LaneAwait && a.State == core.StatePending }) {
			w.rt.Fatalf("R27: %v, and nothing waits", err)
		}
	case err != nil:
		w.rt.Fatalf("a turn that goes on: %v", err)
	case report.Turn.State != core.TurnDone:
		w.rt.Fatalf("R27: the turn is %s (%s) after it went on", report.Turn.State, report.Turn.Reason)
	}
}
