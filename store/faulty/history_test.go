package faulty_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/gatekeepers/model/script"
)

// patience is when a step counts as stuck. No step waits for anything that takes time.
const patience = time.Minute

// history is one and the same sequence of steps, of which any may fail: each does what it can with what those before it
// left, as a person would.
type history struct {
	*process
	ctx     context.Context
	faults  []string        // what must not be, whatever fails
	said    []string        // the errors of steps that failed
	set     map[string]bool // every unit that was ever seen in a set
	wrongly map[core.ActionID]bool
	names   names

	submitted, applied []core.ActionID // as the kernel said
}

// toldTurn is what the agent does: two reads of sorts, and two things that it has to wait for.
const toldTurn = `version: 1
steps:
  - call: NOTES.get
    args: {id: item-4}
  - call: NOTES.append
    args: {id: item-4, text: "by the agent"}
  - call: NOTES.charge
    args: {id: item-5, amount: 100}
  - ask: {question: "Go on?", choices: [yes, no], as: choice}
  - say: done
`

func newHistory(p *process) (h *history, end func()) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	return &history{process: p, ctx: ctx, set: make(map[string]bool), wrongly: make(map[core.ActionID]bool)}, cancel
}

// failed notes an error, which has to be one that a person can be shown.
func (h *history) failed(err error) bool {
	if err == nil {
		return false
	}
	h.said = append(h.said, err.Error())
	h.faults = append(h.faults, twoLines(err.Error())...)
	return true
}

// run takes every step.
func (h *history) run() {
	for _, step := range []struct {
		name string
		take func()
	}{
		{"reads", h.reads},
		{"bulk", h.bulk},
		{"strand", h.strand},
		{"revert", h.revert},
		{"rule", h.rule},
		{"unknown", h.unknown},
		{"turn", h.turn},
		{"people", h.people},
		{"fork", h.fork},
	} {
		step.take()
		h.look(step.name)
	}
}

// look holds the sets against what was in them before.
func (h *history) look(after string) {
	if h.ctx.Err() != nil {
		h.faults = append(h.faults, after+": stuck")
	}
	set, err := h.sets()
	if h.failed(err) {
		return
	}
	for unit := range h.set {
		if !set[unit] {
			h.faults = append(h.faults, fmt.Sprintf("%s: %s is not in its set any more", after, unit))
		}
	}
	for unit := range set {
		h.set[unit] = true
	}
}

func (h *history) reads() {
	h.read("list", map[string]any{"limit": 3})
	h.read("get", map[string]string{"id": "item-1"})
	h.read("get", map[string]string{"id": "nowhere"})
}

// read calls a read: what was released is in the set by then.
func (h *history) read(method string, args any) {
	out, err := h.call(h.ctx, "NOTES", method, args)
	if h.failed(err) || out.Status() != core.StatusOK {
		return
	}
	var set []core.Observation
	err = h.db.Read(context.Background(), func(v core.View) (err error) {
		set, err = v.Observations("")
		return err
	})
	if err != nil || len(set) == 0 {
		h.faults = append(h.faults, fmt.Sprintf("%s: released, and in no set (%v)", method, err))
	}
}

// submit queues an action; 0 is none.
func (h *history) submit(method string, args any) core.ActionID {
	out, err := h.call(h.ctx, "NOTES", method, args)
	if h.failed(err) {
		return 0
	}
	if out.Action() == 0 {
		h.failed(errors.New(out.Reason()))
	} else {
		h.submitted = append(h.submitted, out.Action())
	}
	return out.Action()
}

func (h *history) append(item, words string) core.ActionID {
	return h.submit("append", map[string]string{"id": item, "text": h.names.next(words)})
}

// created queues an item, and a text on it.
func (h *history) created() (item, text core.ActionID) {
	item = h.submit("create", map[string]string{"title": h.names.next("item")})
	if item == 0 {
		return 0, 0
	}
	d, err := h.kernel.Show(h.ctx, item, as(alice))
	if h.failed(err) || len(d.Action.Draft.Provides) == 0 {
		return item, 0
	}
	return item, h.append(d.Action.Draft.Provides[0], "on it")
}

// decide plans and confirms what there is of the items.
func (h *history) decide(verdict core.Verdict, ids ...core.ActionID) {
	var items []core.PlanItem
	for _, id := range ids {
		if id != 0 {
			items = append(items, core.PlanItem{Action: id, Verdict: verdict, Reason: "as decided"})
		}
	}
	if len(items) == 0 {
		return
	}
	plan, err := h.kernel.Plan(h.ctx, alice, items)
	if h.failed(err) {
		return
	}
	results, err := h.kernel.Confirm(h.ctx, plan, as(alice), core.ConfirmOptions{Unopened: true}, nil)
	h.failed(err)
	for _, r := range results {
		h.faults = append(h.faults, twoLines(r.Reason)...)
		if r.Outcome == core.OutcomeApplied {
			h.applied = append(h.applied, r.Action)
		}
	}
}

func (h *history) bulk() {
	item, text := h.created()
	h.decide(
		core.VerdictApprove, item, text, h.append("item-1", "one"), h.append("item-1", "two"),
		h.submit("add_label", map[string]string{"id": "item-2", "label": "seen"}),
		h.submit("update", map[string]string{"id": "item-3", "title": h.names.next("title")}),
	)
}

// strand rejects what another needs, and the first of two edits.
func (h *history) strand() {
	item, _ := h.created()
	first := h.append("item-6", "one")
	h.append("item-6", "two")
	h.decide(core.VerdictReject, item, first)
}

func (h *history) revert() {
	id := h.append("item-7", "to be taken back")
	h.decide(core.VerdictApprove, id)
	if id == 0 {
		return
	}
	if r, err := h.kernel.Revert(h.ctx, id, as(alice)); !h.failed(err) {
		h.decide(core.VerdictApprove, r.Action)
	}
}

// rule lets what waits run, then what comes, and ends.
func (h *history) rule() {
	waiting := h.submit("create", map[string]string{"title": h.names.next("by rule")})
	request := core.RuleRequest{Session: "work", Binding: "NOTES", Kind: "create", Condition: `title.startsWith("by rule")`, Max: 3}
	shown, err := h.kernel.PreviewRule(h.ctx, request, alice)
	if h.failed(err) {
		return
	}
	var ids []core.ActionID
	for _, s := range shown.Runs {
		ids = append(ids, s.ID)
	}
	rule, _, err := h.kernel.AddRule(h.ctx, request, ids, as(alice), nil)
	h.failed(err)
	h.submit("create", map[string]string{"title": h.names.next("by rule")})
	h.decide(core.VerdictReject, waiting)
	if rule.ID != "" {
		_, err = h.kernel.RemoveRule(h.ctx, rule.ID, as(alice))
		h.failed(err)
	}
}

// unknown ends without an answer, and is settled by what the service shows.
func (h *history) unknown() {
	label := map[string]string{"id": "item-8", "label": "gone"}
	h.decide(core.VerdictApprove, h.submit("add_label", label))
	h.decide(core.VerdictApprove, h.submit("remove_label", label), h.append("item-2", "behind it"))
	h.settleAll()
}

// settleAll says the truth of everything that is unknown.
func (h *history) settleAll() {
	rows, err := h.actions()
	if h.failed(err) {
		return
	}
	sent, err := h.sent()
	if h.failed(err) {
		return
	}
	for _, row := range rows {
		if row.State == core.StateUnknown {
			_, err := h.kernel.Settle(h.ctx, row.ID, as(alice), core.Settlement{Applied: sent[row.ID] > 0, Reason: "looked"})
			h.failed(err)
		}
	}
}

func (h *history) runner() agent.Options {
	model, err := script.Parse("history", []byte(toldTurn))
	h.failed(err)
	return agent.Options{Kernel: h.kernel, Model: model, Session: "work", Task: "the task", By: alice, Poll: time.Minute}
}

func (h *history) turn() {
	report, err := agent.Run(h.ctx, h.runner())
	h.failed(err)
	for _, w := range report.Waiting {
		h.end(w)
	}
	h.goOn()
}

// end settles one thing that a turn waits for.
func (h *history) end(w core.Waiting) {
	if w.Question {
		_, err := h.kernel.Answer(h.ctx, w.ID, "yes", "", as(alice))
		h.failed(err)
		return
	}
	h.decide(core.VerdictApprove, w.ID)
}

// goOn runs the open turn on, where there is one.
func (h *history) goOn() {
	_, err := agent.Continue(h.ctx, h.runner())
	var none *core.NoTurnError
	if !errors.As(err, &none) {
		h.failed(err)
	}
}

// people lets Bob in, to look, and out again.
func (h *history) people() {
	_, err := h.kernel.AddPerson(h.ctx, core.Person{ID: bob}, as(alice))
	h.failed(err)
	err = h.kernel.GrantRole(h.ctx, "work", core.RoleGrant{Person: bob, Role: core.RoleView}, as(alice))
	if h.failed(err) {
		return
	}
	_, err = h.kernel.Connect(h.ctx, core.ConnectRequest{URL: h.url, Name: "bob"}, as(bob))
	h.failed(err)
	if opening, err := h.kernel.Open(h.ctx, "work", bob); !h.failed(err) {
		h.failed(opening.Release(h.ctx))
	}
	h.read("list", map[string]any{})
	h.failed(h.kernel.RevokeRole(h.ctx, "work", bob, as(alice)))
}

func (h *history) fork() {
	_, err := h.kernel.ForkSession(h.ctx, core.Fork{Session: "work", At: 1, Name: h.names.next("fork")}, as(alice))
	h.failed(err)
}
