package tui

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// planPhase is where the one plan stands.
type planPhase int

const (
	planNone    planPhase = iota
	planReading           // asked for
	planReview            // shown, nothing has happened
	planTyping            // the count is being typed
	planRunning           // confirmed
	planDone              // carried out, or cut off; stays until dismissed
)

// typeCountAbove is how many decisions may be confirmed by one key (T2).
const typeCountAbove = 25

// planView is the plan dialog and, after it, the result. It holds the plan that
// it was opened with, never what is drafted meanwhile (T5).
type planView struct {
	a       *app
	phase   planPhase
	gen     int
	asked   []core.PlanItem
	plan    *core.Plan
	err     string
	top     int
	confirm bool // focus on Confirm
	count   input

	feed   *feed
	cancel context.CancelFunc
	live   map[core.ActionID]core.Progress
	done   int

	record core.PlanID
	cutOff bool // its process ended before it was through
	lines  []outcomeLine
	at     int
}

func newPlanView(a *app) *planView { return &planView{a: a, cancel: func() {}} }

func (p *planView) place() place {
	switch p.phase {
	case planRunning:
		return atRunning
	case planDone:
		return atOutcome
	}
	return atPlan
}

func (p *planView) typed() *input {
	if p.phase == planTyping {
		return &p.count
	}
	return nil
}

func (p *planView) changed() term.Cmd { return nil }

// turns reports that a spinner is shown.
func (p *planView) turns() bool { return p.phase == planRunning || p.phase == planReading }

// planMsg is the plan that the kernel made.
type planMsg struct {
	gen  int
	plan *core.Plan
	err  error
}

// open asks for the plan of some decisions.
func (p *planView) open(items []core.PlanItem) term.Cmd {
	if p.phase == planRunning {
		p.a.say(roleWarn, "a plan is being carried out")
		return nil
	}
	var dismissed term.Cmd
	if p.phase == planDone {
		dismissed = p.dismiss()
	}
	p.phase, p.asked, p.plan, p.err, p.top, p.confirm = planReading, items, nil, "", 0, false
	p.a.pop(p)
	p.a.push(p)
	return term.All(dismissed, p.ask(items))
}

// reopen shows a result again that was left to look at one of its items.
func (p *planView) reopen() term.Cmd {
	p.a.push(p)
	return p.readStates()
}

func (p *planView) ask(items []core.PlanItem) term.Cmd {
	p.gen++
	gen, ctx, kernel, person := p.gen, p.a.ctx, p.a.kernel, p.a.who.Person
	return p.a.work(func() term.Msg {
		plan, err := kernel.Plan(ctx, person, items)
		return planMsg{gen, plan, err}
	})
}

func (p *planView) update(msg term.Msg) term.Cmd {
	switch msg := msg.(type) {
	case planMsg:
		p.take(msg)
	case feedMsg:
		return p.progress(msg)
	case takeFeedMsg:
		if msg.feed == p.feed {
			return msg.feed.take
		}
	case confirmedMsg:
		return p.confirmed(msg)
	case lastPlanMsg:
		p.recall(msg)
	case statesMsg:
		p.takeStates(msg)
	case dismissedMsg:
		p.a.fail(msg.err)
	case revertiblesMsg:
		p.takeRevertibles(msg)
	case settledMsg:
		if p.phase == planDone {
			return p.readStates()
		}
	case reloadMsg:
		if p.phase == planDone && p.a.open(p) {
			return p.readStates()
		}
	}
	return nil
}

// take shows the plan. What a key meant before it was there is not for it.
func (p *planView) take(msg planMsg) {
	if msg.gen != p.gen || p.phase != planReading {
		p.a.dirty = false
		return
	}
	p.phase = planReview
	p.a.opened()
	if msg.err != nil {
		p.err, _ = cleanLine(describe(msg.err), reasonLimit)
		return
	}
	p.plan = msg.plan
	p.confirm = p.decisions() == 1 && len(p.plan.Items) == 1 && len(p.plan.HighRisk) == 0
}

// decisions counts what confirming does.
func (p *planView) decisions() int {
	if p.plan == nil {
		return 0
	}
	return p.plan.Count(core.EffectApply) + p.plan.Count(core.EffectReject)
}

// blocked says why the plan cannot be confirmed; empty where it can.
func (p *planView) blocked() string {
	switch {
	case p.plan == nil:
		return "there is no plan"
	case p.a.broken != "":
		return p.a.broken
	case p.decisions() == 0:
		return "nothing in it would be done"
	}
	if ids := p.neverOpenedHigh(); len(ids) > 0 {
		return idList(ids) + ": high risk and never opened; open it first (enter in the queue)"
	}
	return ""
}

func (p *planView) neverOpenedHigh() []core.ActionID {
	var ids []core.ActionID
	for _, item := range p.plan.Items {
		if item.Verdict == core.VerdictApprove && item.Effect == core.EffectApply && item.Summary.Risk == core.RiskHigh && !item.Opened {
			ids = append(ids, item.Action)
		}
	}
	return ids
}

// mustType reports a plan that is confirmed by typing its count (T2).
func (p *planView) mustType() bool {
	return p.decisions() > typeCountAbove || len(p.plan.HighRisk) > 0
}

// press is enter: it presses the button that has the focus.
func (p *planView) press() term.Cmd {
	switch {
	case p.phase == planReading:
		return nil
	case p.phase == planTyping:
		return p.typedCount()
	case !p.confirm:
		return p.close()
	}
	if why := p.blocked(); why != "" {
		p.a.say(roleWarn, "not confirmed: "+why)
		return nil
	}
	if p.mustType() {
		p.phase = planTyping
		p.count = input{}
		return nil
	}
	return p.carryOut()
}

func (p *planView) typedCount() term.Cmd {
	n, err := strconv.Atoi(strings.ReplaceAll(strings.TrimSpace(p.count.text()), ",", ""))
	if err != nil || n != p.decisions() {
		p.a.say(roleWarn, fmt.Sprintf("not confirmed: type %d, the number of decisions, or esc", p.decisions()))
		return nil
	}
	if why := p.blocked(); why != "" {
		p.phase = planReview
		p.a.say(roleWarn, "not confirmed: "+why)
		return nil
	}
	return p.carryOut()
}

// close leaves the dialog; nothing has happened.
func (p *planView) close() term.Cmd {
	if p.phase == planTyping {
		p.phase = planReview
		return nil
	}
	p.phase, p.plan = planNone, nil
	p.gen++
	p.a.pop(p)
	p.a.say(roleMuted, "nothing was carried out; drafts are kept")
	return nil
}

// addMissing makes a new plan with the prerequisites that the old one names.
// They are approved as they stand now, and shown before anything happens.
func (p *planView) addMissing() term.Cmd {
	if p.phase != planReview || p.plan == nil || len(p.plan.Prerequisites) == 0 {
		p.a.say(roleMuted, "no prerequisite is missing")
		return nil
	}
	items := append([]core.PlanItem{}, p.asked...)
	for _, id := range p.plan.Prerequisites {
		items = append(items, core.PlanItem{Action: id, Verdict: core.VerdictApprove})
	}
	p.asked, p.phase = items, planReading
	return p.ask(items)
}

func (p *planView) scroll(by int) term.Cmd {
	if p.phase == planDone {
		p.at = min(max(p.at+by, 0), max(len(p.lines)-1, 0))
		return nil
	}
	p.top = min(max(p.top+by, 0), max(len(p.body())-1, 0))
	return nil
}

func (p *planView) swap() term.Cmd {
	if p.phase == planReview {
		p.confirm = !p.confirm
	}
	return nil
}

// feed carries progress from the goroutine that confirms to the loop, a batch at
// a time.
type feed struct {
	mu     sync.Mutex
	queued []core.Progress
	more   chan struct{}
	closed bool
}

func newFeed() *feed { return &feed{more: make(chan struct{}, 1)} }

func (f *feed) put(p core.Progress) {
	f.mu.Lock()
	f.queued = append(f.queued, p)
	f.mu.Unlock()
	f.signal()
}

func (f *feed) close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.signal()
}

func (f *feed) signal() {
	select {
	case f.more <- struct{}{}:
	default:
	}
}

// feedMsg is a batch of progress.
type feedMsg struct {
	feed   *feed
	batch  []core.Progress
	closed bool
}

// take waits for progress and returns what has gathered.
func (f *feed) take() term.Msg {
	<-f.more
	f.mu.Lock()
	defer f.mu.Unlock()
	msg := feedMsg{feed: f, batch: f.queued, closed: f.closed}
	f.queued = nil
	return msg
}

// progress draws a batch; the next is looked for when this one has been seen.
func (p *planView) progress(msg feedMsg) term.Cmd {
	if msg.feed != p.feed {
		return nil
	}
	for _, one := range msg.batch {
		p.live[one.Action] = one
		p.done = max(p.done, one.Done)
	}
	if msg.closed {
		return nil
	}
	return term.After(batchFor, takeFeedMsg{msg.feed})
}

// takeFeedMsg asks for the next batch.
type takeFeedMsg struct{ feed *feed }

// confirmedMsg is what became of a confirmed plan.
type confirmedMsg struct {
	id      core.PlanID
	results []core.Result
	err     error
}

// carryOut confirms the plan that is shown, once. The work runs off the loop
// and reports each item.
func (p *planView) carryOut() term.Cmd {
	ctx, cancel := context.WithCancel(p.a.ctx)
	p.cancel = cancel
	p.phase, p.feed, p.live, p.done, p.err, p.top = planRunning, newFeed(), make(map[core.ActionID]core.Progress), 0, "", 0
	p.a.opened()
	plan, kernel, who, feed := p.plan, p.a.kernel, p.a.who, p.feed
	confirm := p.a.work(func() term.Msg {
		defer cancel()
		results, err := kernel.Confirm(ctx, plan, who, core.ConfirmOptions{}, feed.put)
		feed.close()
		return confirmedMsg{id: plan.ID, results: results, err: err}
	})
	return term.All(confirm, feed.take)
}

// confirmed keeps the result. A refusal before anything happened leads back.
func (p *planView) confirmed(msg confirmedMsg) term.Cmd {
	if p.plan == nil || msg.id != p.plan.ID {
		return nil
	}
	if msg.results == nil && msg.err != nil {
		p.phase = planReview
		p.confirm = false
		p.err, _ = cleanLine(describe(msg.err), reasonLimit)
		return p.a.refresh()
	}
	p.phase, p.record, p.cutOff, p.at = planDone, msg.id, false, 0
	if msg.err != nil {
		p.err, _ = cleanLine(describe(msg.err), reasonLimit)
	}
	p.lines = linesOfPlan(p.plan, msg.results)
	p.a.queue.letGo = true
	return term.All(p.a.refresh(), p.readStates())
}
