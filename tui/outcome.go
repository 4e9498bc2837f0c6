package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// outcomeLine is one item of a plan that was carried out, or cut off.
type outcomeLine struct {
	id        core.ActionID
	title     string
	outcome   core.ItemOutcome
	reason    string
	state     core.State // as it stands now; empty before it was read
	drift     core.Drift
	retryable bool
}

func linesOfPlan(plan *core.Plan, results []core.Result) []outcomeLine {
	byID := make(map[core.ActionID]core.Result, len(results))
	for _, r := range results {
		byID[r.Action] = r
	}
	lines := make([]outcomeLine, 0, len(plan.Items))
	for _, item := range plan.Items {
		r, found := byID[item.Action]
		if !found {
			r = core.Result{Action: item.Action, Outcome: core.OutcomeNotStarted}
		}
		line := outcomeLine{id: item.Action, outcome: r.Outcome}
		line.title, _ = cleanLine(item.Summary.Title, titleLimit)
		line.reason, _ = cleanLine(r.Reason, reasonLimit)
		lines = append(lines, line)
	}
	order(lines)
	return lines
}

// order puts what needs a person on top.
func order(lines []outcomeLine) {
	slices.SortStableFunc(lines, func(a, b outcomeLine) int { return a.urgency() - b.urgency() })
}

func (l outcomeLine) urgency() int {
	switch l.shown() {
	case core.OutcomeUnknown:
		return 0
	case core.OutcomeFailed:
		return 1
	case core.OutcomeDrifted:
		return 2
	case core.OutcomeSkipped, core.OutcomeNotStarted:
		return 3
	case core.OutcomeNotPending, core.OutcomeStranded:
		return 4
	}
	return 5
}

// shown is the outcome, corrected by what the action has become since: an
// outcome nobody stored, or one that a person settled.
func (l outcomeLine) shown() core.ItemOutcome {
	switch l.state {
	case core.StateUnknown:
		return core.OutcomeUnknown
	case core.StateApplied, core.StateReverted:
		return core.OutcomeApplied
	case core.StateRejected:
		return core.OutcomeRejected
	case core.StateStranded:
		return core.OutcomeStranded
	case core.StateFailed:
		return core.OutcomeFailed
	case core.StatePending:
		switch {
		case l.outcome == core.OutcomeDrifted && l.drift == core.DriftNone:
			return core.OutcomeNotStarted
		case l.outcome == core.OutcomeDrifted, l.outcome == core.OutcomeSkipped, l.outcome == core.OutcomeNotPending:
			return l.outcome
		}
		return core.OutcomeNotStarted
	}
	return l.outcome
}

// word is the outcome for a person.
func (l outcomeLine) word() string {
	switch o := l.shown(); o {
	case core.OutcomeNotStarted:
		return "still pending"
	case core.OutcomeDrifted:
		return "drifted, still pending"
	case core.OutcomeSkipped:
		return "skipped, still pending"
	case core.OutcomeNotPending:
		return "decided elsewhere"
	case core.OutcomeUnknown:
		return "outcome unknown"
	default:
		if l.state == core.StateClaimed {
			return "being carried out"
		}
		return string(o)
	}
}

// next is the step that a person would take.
func (l outcomeLine) next() string {
	switch l.shown() {
	case core.OutcomeUnknown:
		return "U settle · T try again"
	case core.OutcomeFailed:
		if l.retryable {
			return "T try again"
		}
		return "enter open"
	case core.OutcomeDrifted, core.OutcomeSkipped, core.OutcomeNotStarted, core.OutcomeNotPending:
		return "enter open"
	}
	return ""
}

// summary counts outcomes, those that need a person first.
func (p *planView) summary() string {
	counts, rank := make(map[string]int), make(map[string]int)
	var words []string
	for _, l := range p.lines {
		w := l.word()
		if counts[w] == 0 {
			words = append(words, w)
		}
		counts[w]++
		rank[w] = l.urgency()
	}
	slices.SortStableFunc(words, func(a, b string) int { return rank[a] - rank[b] })
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = fmt.Sprintf("%s %s", thousands(counts[w]), w)
	}
	return strings.Join(parts, " · ")
}

// lastPlanMsg is a plan whose result nobody dismissed.
type lastPlanMsg struct {
	record core.PlanRecord
	found  bool
	lines  []outcomeLine
	err    error
}

// lastPlan looks for a plan of this person that was cut off, or whose result
// was not dismissed, because the process ended. What another process carries
// out right now is left to it.
func (a *app) lastPlan() term.Cmd {
	ctx, kernel, person, alive := a.ctx, a.kernel, a.who.Person, a.alive
	return func() term.Msg {
		records, err := kernel.LastPlans(ctx, 10)
		if err != nil {
			return lastPlanMsg{err: err}
		}
		for _, r := range records {
			if r.By != person || r.Dismissed || alive != nil && alive(r.Holder) {
				continue
			}
			lines, err := recordLines(ctx, kernel, r)
			return lastPlanMsg{record: r, found: true, lines: lines, err: err}
		}
		return lastPlanMsg{}
	}
}

func recordLines(ctx context.Context, kernel Kernel, r core.PlanRecord) ([]outcomeLine, error) {
	lines := make([]outcomeLine, len(r.Results))
	ids := make([]core.ActionID, len(r.Results))
	for i, result := range r.Results {
		lines[i] = outcomeLine{id: result.Action, outcome: result.Outcome}
		lines[i].reason, _ = cleanLine(result.Reason, reasonLimit)
		ids[i] = result.Action
	}
	rows, err := rowsOf(ctx, kernel, ids)
	for i := range lines {
		lines[i].now(rows)
	}
	order(lines)
	return lines, err
}

// now takes in how the action stands.
func (l *outcomeLine) now(rows map[core.ActionID]row) {
	r, found := rows[l.id]
	if !found {
		return
	}
	l.title, l.state, l.drift, l.retryable = r.Title, r.State, r.Drift, r.Retryable
	if l.reason == "" {
		l.reason = r.Reason
	}
}

// rowsOf reads rows by id, whatever their state.
func rowsOf(ctx context.Context, kernel Kernel, ids []core.ActionID) (map[core.ActionID]row, error) {
	out := make(map[core.ActionID]row, len(ids))
	for chunk := range slices.Chunk(ids, 500) {
		page, err := kernel.Queue(ctx, core.QueueQuery{IDs: chunk, AllState: true, Limit: len(chunk)})
		if err != nil {
			return out, err
		}
		for _, r := range page.Rows {
			out[r.ID] = cleanRow(r)
		}
	}
	return out, nil
}

// recall shows the result of a plan that an earlier process left behind.
func (p *planView) recall(msg lastPlanMsg) {
	if msg.err != nil {
		p.a.fail(msg.err)
	}
	if !msg.found || p.phase != planNone {
		return
	}
	p.phase, p.record, p.lines, p.at, p.plan, p.err = planDone, msg.record.ID, msg.lines, 0, nil, ""
	p.cutOff = msg.record.FinishedAt.IsZero()
	p.a.push(p)
}

// statesMsg is how the items of the result stand now.
type statesMsg struct {
	record core.PlanID
	rows   map[core.ActionID]row
	err    error
}

func (p *planView) readStates() term.Cmd {
	ids := make([]core.ActionID, len(p.lines))
	for i, l := range p.lines {
		ids[i] = l.id
	}
	ctx, kernel, record := p.a.ctx, p.a.kernel, p.record
	return func() term.Msg {
		rows, err := rowsOf(ctx, kernel, ids)
		return statesMsg{record, rows, err}
	}
}

// takeStates shows them; the lines keep their order, so nothing jumps.
func (p *planView) takeStates(msg statesMsg) {
	if msg.record != p.record || p.phase != planDone {
		return
	}
	p.a.fail(msg.err)
	for i := range p.lines {
		p.lines[i].now(msg.rows)
	}
}

// dismissedMsg is what became of dismissing.
type dismissedMsg struct{ err error }

// dismiss takes the result away for good.
func (p *planView) dismiss() term.Cmd {
	ctx, kernel, id, person := p.a.ctx, p.a.kernel, p.record, p.a.who.Person
	p.phase, p.plan, p.lines, p.record = planNone, nil, nil, ""
	p.a.pop(p)
	return term.All(p.a.work(func() term.Msg { return dismissedMsg{kernel.DismissPlan(ctx, id, person)} }), p.a.refresh())
}

// current is the item under the cursor of the result.
func (p *planView) current() (outcomeLine, bool) {
	if p.phase != planDone || p.at >= len(p.lines) {
		return outcomeLine{}, false
	}
	return p.lines[p.at], true
}

func (p *planView) settleHere() term.Cmd {
	if l, ok := p.current(); ok {
		p.a.settleAsk(l.id, l.title)
	}
	return nil
}

func (p *planView) retryHere() term.Cmd {
	if l, ok := p.current(); ok {
		p.a.retryAsk(l.id, l.title, l.shown() == core.OutcomeUnknown)
	}
	return nil
}

func (p *planView) notUnknown() string {
	if l, ok := p.current(); !ok || l.shown() != core.OutcomeUnknown {
		return "only for an action whose outcome is unknown"
	}
	return ""
}

func (p *planView) notRetryable() string {
	l, ok := p.current()
	if !ok || l.shown() != core.OutcomeUnknown && (l.shown() != core.OutcomeFailed || !l.retryable) {
		return "only for a failed action that may be tried again, or one whose outcome is unknown"
	}
	return ""
}

// openHere shows the item in the queue; the result is dismissed later.
func (p *planView) openHere() term.Cmd {
	l, ok := p.current()
	if !ok {
		return nil
	}
	p.a.pop(p)
	p.a.say(roleMuted, "c comes back to the result")
	return p.a.queue.goTo(l.id)
}
