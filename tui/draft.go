package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// draftedMsg is what became of drafting.
type draftedMsg struct {
	verdict core.Verdict
	drafted []core.DraftedDecision
	refused []refusal
}

type refusal struct {
	id  core.ActionID
	err error
}

// approve drafts approve on what is chosen. A question is answered instead.
func (q *queue) approve() term.Cmd {
	targets := q.targets()
	if q.held() || len(targets) == 0 {
		return nil
	}
	if len(targets) == 1 {
		if t := targets[0]; t.ask != nil {
			return q.answerAsk(t)
		}
		if why := unapprovable(targets[0]); why != "" {
			q.a.say(roleWarn, why)
			return nil
		}
	}
	return q.draft(targets, core.VerdictApprove, "")
}

// unapprovable says why an approve would be refused, and what to do instead.
func unapprovable(t target) string {
	name := "#" + t.id.String()
	switch {
	case t.state == core.StateUnknown:
		return name + ": the outcome is unknown; U settles it, T tries it again"
	case t.state == core.StateFailed:
		return name + ": it failed; T tries it again, x rejects it"
	case t.state == core.StateStranded:
		return name + ": it is stranded and cannot happen; x rejects it"
	case t.state != core.StatePending:
		return name + ": it is " + string(t.state)
	case t.drift == core.DriftBlocked:
		return name + ": no preview can be made any more; x rejects it"
	}
	return ""
}

// approveOne opens the plan of the one action in the detail: what is shown is
// what the plan holds (T5).
func (q *queue) approveOne() term.Cmd {
	r, _ := q.current()
	t := targetOf(r)
	if q.held() {
		return nil
	}
	if t.ask != nil {
		return q.answerAsk(t)
	}
	doc := q.detail.doc
	switch {
	case doc == nil || doc.id != t.id:
		q.a.say(roleWarn, "the detail is still being read")
		return nil
	case doc.digest != t.digest:
		q.a.say(roleWarn, "#"+t.id.String()+" changed since it was listed; look, then decide")
		return q.load(loadAround)
	}
	if why := unapprovable(t); why != "" {
		q.a.say(roleWarn, why)
		return nil
	}
	return q.a.plan.open([]core.PlanItem{t.item(core.VerdictApprove, "")})
}

// draft stores a draft on each target. Its compare-and-set is on what the
// person saw.
func (q *queue) draft(targets []target, v core.Verdict, reason string) term.Cmd {
	ctx, kernel, person := q.a.ctx, q.a.kernel, q.a.who.Person
	q.endRange()
	return q.a.work(func() term.Msg {
		msg := draftedMsg{verdict: v}
		for _, t := range targets {
			if t.ask != nil {
				msg.refused = append(msg.refused, refusal{t.id, errors.New("a question is answered, not approved")})
				continue
			}
			d, err := kernel.DraftDecision(ctx, person, t.item(v, reason), t.version)
			if err != nil {
				msg.refused = append(msg.refused, refusal{t.id, err})
				continue
			}
			msg.drafted = append(msg.drafted, d)
		}
		return msg
	})
}

// drafted draws the badges. What was refused says why.
func (q *queue) drafted(msg draftedMsg) term.Cmd {
	for _, d := range msg.drafted {
		q.a.order = slices.DeleteFunc(q.a.order, func(id core.ActionID) bool { return id == d.Action })
		q.a.order = append(q.a.order, d.Action)
		q.a.drafts[d.Action] = d
		delete(q.marks, d.Action)
	}
	switch {
	case len(msg.refused) > 0:
		first := msg.refused[0]
		line, _ := cleanLine(draftRefusal(first.id, first.err), reasonLimit)
		if more := len(msg.refused) - 1; more > 0 {
			line += fmt.Sprintf("; and %d more", more)
		}
		if len(msg.drafted) > 0 {
			line = fmt.Sprintf("%s drafted, %s not: %s", thousands(len(msg.drafted)), thousands(len(msg.refused)), line)
		}
		q.a.say(roleWarn, line)
		q.told = first.id
		return q.load(loadAround)
	case len(msg.drafted) == 1:
		q.a.say(roleMuted, fmt.Sprintf("drafted: %s #%d; c carries out, z takes back", msg.verdict, msg.drafted[0].Action))
	default:
		q.a.say(roleMuted, fmt.Sprintf("drafted: %s %s; c carries out, z takes back", msg.verdict, plural(len(msg.drafted), "action", "actions")))
	}
	return nil
}

// draftRefusal says who was first, or what changed.
func draftRefusal(id core.ActionID, err error) string {
	var lost *core.LostRaceError
	switch {
	case errors.As(err, &lost) && lost.State == core.StatePending:
		return fmt.Sprintf("#%d changed since it was shown; look, then decide", id)
	case errors.As(err, &lost) && lost.Winner != "":
		return fmt.Sprintf("#%d was decided by %s before: it is %s", id, lost.Winner, lost.State)
	case errors.As(err, &lost):
		return fmt.Sprintf("#%d is %s already", id, lost.State)
	}
	return fmt.Sprintf("#%d: %v", id, err)
}

// rejectAsk asks for a reason. The prompt holds what it is about (T5).
func (q *queue) rejectAsk() term.Cmd {
	targets := q.targets()
	if q.held() || len(targets) == 0 {
		return nil
	}
	if len(targets) == 1 && targets[0].ask != nil {
		q.a.say(roleWarn, "a question is answered: A")
		return nil
	}
	title := "Reject #" + targets[0].id.String() + " " + targets[0].title
	if len(targets) > 1 {
		title = "Reject " + plural(len(targets), "action", "actions")
	}
	q.a.sheet.ask(question{
		title: title, label: "reason", accept: "Draft reject",
		body: []string{"The agent is told the reason. It may be empty."},
		do: func(answer sheetAnswer) term.Cmd {
			q.reason = answer.text
			return q.draft(targets, core.VerdictReject, answer.text)
		},
	})
	return nil
}

func (q *queue) rejectAgain() term.Cmd {
	if q.reason == "" {
		return q.rejectAsk()
	}
	targets := q.targets()
	if q.held() || len(targets) == 0 {
		return nil
	}
	return q.draft(targets, core.VerdictReject, q.reason)
}

// undoneMsg is what became of taking a draft back.
type undoneMsg struct {
	draft core.DraftedDecision
	found bool
	err   error
}

func (q *queue) undo() term.Cmd {
	ctx, kernel, person := q.a.ctx, q.a.kernel, q.a.who.Person
	return q.a.work(func() term.Msg {
		d, found, err := kernel.UndoDraft(ctx, person)
		return undoneMsg{d, found, err}
	})
}

func (q *queue) undone(msg undoneMsg) term.Cmd {
	switch {
	case msg.err != nil:
		q.a.fail(msg.err)
	case msg.found:
		q.a.say(roleMuted, fmt.Sprintf("taken back: %s #%d", msg.draft.Verdict, msg.draft.Action))
	default:
		q.a.say(roleMuted, "nothing is drafted")
	}
	return q.a.loadDrafts()
}

// openPlan opens the plan of all drafts, as they were drafted.
func (q *queue) openPlan() term.Cmd {
	if len(q.a.order) == 0 {
		return q.a.plan.reopen()
	}
	items := make([]core.PlanItem, 0, len(q.a.order))
	for _, id := range q.a.order {
		d := q.a.drafts[id]
		items = append(items, core.PlanItem{Action: id, Digest: d.Digest, Verdict: d.Verdict, Reason: d.Reason})
	}
	return q.a.plan.open(items)
}

// markRow marks the row under the cursor, or takes its mark away, and goes on.
func (q *queue) markRow() term.Cmd {
	r, _ := q.current()
	if _, marked := q.marks[r.ID]; marked {
		delete(q.marks, r.ID)
	} else {
		q.marks[r.ID] = targetOf(r)
	}
	return q.step(1)
}

func (q *queue) toggleRange() term.Cmd {
	if q.ranged != 0 {
		for _, t := range q.targets() {
			q.marks[t.id] = t
		}
		q.endRange()
		return nil
	}
	r, _ := q.current()
	q.ranged, q.win.keep = r.ID, true
	return nil
}

func (q *queue) extend(by int) term.Cmd {
	if q.ranged == 0 && q.nothing() == "" {
		r, _ := q.current()
		q.ranged, q.win.keep = r.ID, true
	}
	return q.step(by)
}

func (q *queue) endRange() { q.ranged, q.win.keep = 0, false }

func (q *queue) clearMarks() term.Cmd {
	q.endRange()
	q.marks = make(map[core.ActionID]target)
	return nil
}

// markedTargets are the marked rows in the order of their ids.
func (q *queue) markedTargets() []target {
	out := make([]target, 0, len(q.marks))
	for _, t := range q.marks {
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b target) int { return int(a.id - b.id) })
	return out
}

// markedMsg is what was found to mark.
type markedMsg struct {
	gen     int
	targets []target
	left    int // of high risk, left out
	more    bool
	err     error
}

// markAll marks what matches the filter, among the rows that the list is about.
func (q *queue) markAll() term.Cmd {
	r := q.reader(loadFirst)
	gen := q.gen
	return func() term.Msg {
		query, err := r.query()
		if err != nil {
			return markedMsg{gen: gen, err: err}
		}
		return markAll(r.ctx, r.kernel, query, gen)
	}
}

// markAll pages through the store; a plan has a limit, and so have the marks.
func markAll(ctx context.Context, kernel Kernel, query core.QueueQuery, gen int) markedMsg {
	msg := markedMsg{gen: gen}
	query.Limit, query.Order = 1000, core.OrderID
	for {
		page, err := kernel.Queue(ctx, query)
		if err != nil {
			msg.err = err
			return msg
		}
		for _, r := range page.Rows {
			switch {
			case r.Kind == core.QueueKindQuestion || r.State != core.StatePending:
			case r.Risk == core.RiskHigh:
				msg.left++
			case len(msg.targets) == core.PlanLimit:
				msg.more = true
				return msg
			default:
				msg.targets = append(msg.targets, targetOf(cleanRow(r)))
			}
		}
		if !page.More || len(page.Rows) == 0 {
			return msg
		}
		place := page.Rows[len(page.Rows)-1].Place
		query.After = &place
	}
}

func (q *queue) marked(msg markedMsg) {
	if msg.err != nil {
		q.a.fail(msg.err)
		return
	}
	if msg.gen != q.gen { // the list was read anew meanwhile, maybe with another filter
		q.a.say(roleWarn, "the list changed meanwhile; a marks again")
		return
	}
	for _, t := range msg.targets {
		q.marks[t.id] = t
	}
	line := thousands(len(msg.targets)) + " marked"
	if msg.left > 0 {
		line += "; " + thousands(msg.left) + " of high risk left out: open and mark them one by one"
	}
	if msg.more {
		line += fmt.Sprintf("; a plan has %s items at most, the rest stays", thousands(core.PlanLimit))
	}
	q.a.say(roleMuted, line)
}
