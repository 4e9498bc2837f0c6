package tui

import (
	"fmt"

	"gatehouse/core"
	"gatehouse/core/text"
	"gatehouse/tui/term"
)

// A revert is queued here and nothing more: what it will do is looked at and
// approved like anything else. So these keys decide nothing, and ask all the same.

// revertCommands stand on the row and its detail.
func (q *queue) revertCommands() []*command {
	return []*command{{
		name: "revert", at: []place{atList, atDetail}, keys: []string{"Z"}, title: "revert…", tag: "Decide", prompts: true, footer: 13,
		about: "queue an action that takes an applied one back", run: q.revertAsk, disabled: q.notApplied,
	}}
}

// revertCommands stand on the result of a plan (T1).
func (p *planView) revertCommands() []*command {
	done := []place{atOutcome}
	return []*command{
		{
			name: "outcome.revert-all", at: done, keys: []string{"z"}, title: "revert…", tag: "Outcome", prompts: true, footer: 5,
			about: "queue reverts of all that was applied and can be taken back", run: p.revertAll, disabled: p.nothingApplied,
		},
		{
			name: "outcome.revert", at: done, keys: []string{"Z"}, title: "revert this…", tag: "Outcome", prompts: true,
			about: "queue a revert of this item", run: p.revertHere, disabled: p.notApplied,
		},
	}
}

// revertiblesMsg is what of a result could be taken back, newest first.
type revertiblesMsg struct {
	record core.PlanID
	ids    []core.ActionID
	err    error
}

// revertedMsg is what became of queuing reverts.
type revertedMsg struct {
	queued  []core.ActionID
	refused []error
}

func (p *planView) revertAll() term.Cmd {
	var ids []core.ActionID
	for _, l := range p.lines {
		if l.revertible() {
			ids = append(ids, l.id)
		}
	}
	ctx, kernel, record := p.a.ctx, p.a.kernel, p.record
	return func() term.Msg {
		found, err := kernel.Revertible(ctx, ids)
		return revertiblesMsg{record, found, err}
	}
}

// takeRevertibles asks about them, if the person still looks at that result.
func (p *planView) takeRevertibles(msg revertiblesMsg) {
	switch {
	case p.phase != planDone || msg.record != p.record || p.a.top() != view(p):
		p.a.dirty = false
	case msg.err != nil:
		p.a.fail(msg.err)
	case len(msg.ids) == 0:
		p.a.say(roleWarn, "nothing that was applied can be taken back")
	default:
		titles := make(map[core.ActionID]string, len(p.lines))
		for _, l := range p.lines {
			titles[l.id] = l.title
		}
		p.a.revertAsk(msg.ids, titles)
	}
}

// revertible reports whether it makes sense to ask for a revert of an item.
func (l outcomeLine) revertible() bool {
	return l.shown() == core.OutcomeApplied && l.state != core.StateReverted
}

func (p *planView) revertHere() term.Cmd {
	if l, ok := p.current(); ok {
		p.a.revertAsk([]core.ActionID{l.id}, map[core.ActionID]string{l.id: l.title})
	}
	return nil
}

func (p *planView) nothingApplied() string {
	for _, l := range p.lines {
		if l.revertible() {
			return ""
		}
	}
	return "nothing of it was applied"
}

func (p *planView) notApplied() string {
	if l, ok := p.current(); !ok || !l.revertible() {
		return "only for what was applied"
	}
	return ""
}

func (q *queue) notApplied() string {
	if r, ok := q.current(); !ok || r.question() || r.State != core.StateApplied {
		return "only for what was applied: / state:applied shows those"
	}
	return ""
}

func (q *queue) revertAsk() term.Cmd {
	r, _ := q.current()
	if q.held() {
		return nil
	}
	q.a.revertAsk([]core.ActionID{r.ID}, map[core.ActionID]string{r.ID: r.Title})
	return nil
}

// titlesAsked is how many titles the prompt shows.
const titlesAsked = 5

// revertAsk asks before reverts are queued, in the order given. It holds the
// ids; the kernel refuses what cannot be reverted any more.
func (a *app) revertAsk(ids []core.ActionID, titles map[core.ActionID]string) {
	ctx, kernel, who := a.ctx, a.kernel, a.who
	body := []string{"Nothing happens yet: each is an action of its own, to be looked at and approved."}
	for i, id := range ids {
		if i == titlesAsked {
			body = append(body, fmt.Sprintf("and %s more", thousands(len(ids)-i)))
			break
		}
		body = append(body, fmt.Sprintf("#%d %s", id, titles[id]))
	}
	title := fmt.Sprintf("Queue a revert of #%d?", ids[0])
	if len(ids) > 1 {
		title = fmt.Sprintf("Queue reverts of %s actions?", thousands(len(ids)))
	}
	a.sheet.ask(question{
		title: title, body: body, accept: "Queue",
		do: func(sheetAnswer) term.Cmd {
			return a.work(func() term.Msg {
				var msg revertedMsg
				for _, id := range ids {
					result, err := kernel.Revert(ctx, id, who)
					if err != nil {
						msg.refused = append(msg.refused, err)
						continue
					}
					msg.queued = append(msg.queued, result.Action)
				}
				return msg
			})
		},
	})
}

// reverted tells what was queued, and of what was not the first reason.
func (q *queue) reverted(msg revertedMsg) term.Cmd {
	said, r := "", roleGood
	if len(msg.queued) > 0 {
		said = plural(len(msg.queued), "revert", "reverts") + " queued: " + idList(msg.queued)
	}
	if len(msg.refused) > 0 {
		r = roleDanger
		if said != "" {
			said += " · "
		}
		if len(msg.refused) > 1 {
			said += plural(len(msg.refused), "action is", "actions are") + " not taken back: "
		}
		said += describe(msg.refused[0])
	}
	clean, _ := cleanLine(said, reasonLimit)
	q.a.say(r, clean)
	return q.a.refresh()
}

// reverts tells both ways of a revert.
func (b *docBuilder) reverts(d core.Detail) {
	if r := d.Reverts; r != nil {
		b.pair(roleMuted, "reverts", fmt.Sprintf("#%d %s (%s)", r.Action, b.clean(r.Title, titleLimit), r.State))
	}
	for _, r := range d.RevertedBy {
		name := "back by"
		b.pair(roleMuted, name, fmt.Sprintf("#%d %s (%s)", r.Action, b.clean(r.Title, titleLimit), r.State))
	}
	if d.CanRevert {
		b.pair(roleMuted, "revert", "Z queues an action that takes it back")
	}
}

// sides shows what changed under a drifted action beside what it was to change:
// what it was made on, what is there now and what it was to become in one text
// (F5).
func (b *docBuilder) sides(a core.Action) {
	for _, s := range a.Sides() {
		isBytes := b.bytes[byteField{a.Gatekeeper, a.Draft.Kind, s.Name}]
		base, theirs, ours := b.value(s.Base, isBytes), b.value(s.Theirs, isBytes), b.value(s.Ours, isBytes)
		if len(base) <= 1 && len(theirs) <= 1 && len(ours) <= 1 {
			continue // before and after say it
		}
		b.add(roleWarn, fmt.Sprintf("── %s, against what it was made on", b.clean(s.Name, 80)))
		b.flow(roleMuted, "first sign: changed there since · second sign: changed by this action")
		if size(base)+size(theirs)+size(ours) > diffLimit {
			b.flow(roleMuted, "too large to be compared here")
			b.blank()
			continue
		}
		for i, l := range text.ThreeWay(base, theirs, ours, b.view.context) {
			if l.Skipped || i == 0 {
				b.add(roleHunk, fmt.Sprintf("@@ line %d @@", l.Base))
			}
			if l.Clash {
				b.add(roleWarn, "! both changed this")
			}
			b.add(sideRole(l), l.Gutter()+" "+l.Text)
		}
		b.blank()
	}
}

func sideRole(l text.ThreeLine) role {
	switch {
	case l.Theirs == '+' || l.Ours == '+':
		return roleAdded
	case l.Theirs == '-' || l.Ours == '-':
		return roleRemoved
	}
	return rolePlain
}
