package tui

import (
	"fmt"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/core/text"
	"gatehouse/tui/term"
)

func (p *planView) commands() []*command {
	plan, all := []place{atPlan}, []place{atPlan, atRunning, atOutcome}
	done := []place{atOutcome}
	move := func(name string, keys []string, by func() int) *command {
		return &command{
			name: name, at: all, keys: keys, title: name, tag: "Plan", navigates: true, about: "look through the items",
			run: func() term.Cmd { return p.scroll(by()) },
		}
	}
	page := func() int { return max(p.a.body().h-8, 1) }
	return append(p.revertCommands(), []*command{
		{
			name: "plan.press", at: plan, keys: []string{"enter"}, title: "press", tag: "Plan", decides: true, prompts: true, footer: 1,
			about: "press the button in brackets", run: p.press,
		},
		{
			name: "plan.swap", at: plan, keys: []string{"tab", "shift+tab", "left", "right", "h", "l"}, title: "other button", tag: "Plan",
			navigates: true, footer: 2, about: "to the other button", run: p.swap,
		},
		{
			name: "plan.add", at: plan, keys: []string{"+"}, title: "add prerequisites", tag: "Plan", footer: 4,
			about: "make the plan again with the prerequisites that are missing", run: p.addMissing, disabled: p.noneMissing,
		},
		{
			name: "plan.close", at: plan, keys: []string{"esc"}, title: "back", tag: "Plan", navigates: true, footer: 3,
			about: "back; nothing has happened, drafts are kept", run: p.close,
		},
		{
			name: "outcome.dismiss", at: done, keys: []string{"esc"}, title: "dismiss", tag: "Outcome", navigates: true, footer: 3,
			about: "put the result away; the record keeps it", run: p.dismiss,
		},
		{
			name: "outcome.open", at: done, keys: []string{"enter"}, title: "open", tag: "Outcome", navigates: true, footer: 4,
			about: "the item in the queue, with its detail", run: p.openHere,
		},
		{
			name: "outcome.settle", at: done, keys: []string{"U"}, title: "settle…", tag: "Outcome", decides: true, prompts: true, footer: 1,
			about: "say what became of it", run: p.settleHere, disabled: p.notUnknown,
		},
		{
			name: "outcome.retry", at: done, keys: []string{"T"}, title: "try again…", tag: "Outcome", decides: true, prompts: true, footer: 2,
			about: "send it again", run: p.retryHere, disabled: p.notRetryable,
		},
		move("plan.down", []string{"j", "down"}, func() int { return 1 }),
		move("plan.up", []string{"k", "up"}, func() int { return -1 }),
		move("plan.next-page", []string{"pgdown", "ctrl+f", "ctrl+d", "J"}, page),
		move("plan.previous-page", []string{"pgup", "ctrl+b", "ctrl+u", "K"}, func() int { return -page() }),
		move("plan.first", []string{"g", "home"}, func() int { return -core.PlanLimit * 4 }),
		move("plan.last", []string{"G", "end"}, func() int { return core.PlanLimit * 4 }),
	}...)
}

func (p *planView) noneMissing() string {
	if p.plan == nil || len(p.plan.Prerequisites) == 0 {
		return "no prerequisite is missing"
	}
	return ""
}

// planRow is a line of the plan's list, with what comes when.
type planRow struct {
	item *core.PlannedItem
	lead string
}

// body lists the plan's lines. A plan has 10,000 items at most, and a frame
// draws those in sight.
func (p *planView) body() []planRow {
	if p.plan == nil {
		return nil
	}
	rows := make([]planRow, 0, len(p.plan.Items))
	last := ""
	for i := range p.plan.Items {
		item := &p.plan.Items[i]
		phase := "then"
		if item.Verdict == core.VerdictReject || item.Effect == core.EffectStrand {
			phase = "first"
		}
		lead := ""
		if phase != last {
			lead, last = phase, phase
		}
		rows = append(rows, planRow{item: item, lead: lead})
	}
	return rows
}

func (p *planView) draw(r rect) []string {
	if p.phase == planDone {
		return p.drawOutcome(r)
	}
	t := &p.a.theme
	lines := []string{t.rule(r.w, roleTitle, p.title(), p.note())}
	foot := p.foot(r)
	room := max(r.h-1-len(foot), 1)
	rows := p.body()
	p.top = min(p.top, max(len(rows)-room, 0))
	for i := p.top; i < len(rows) && len(lines) <= room; i++ {
		lines = append(lines, p.drawItem(rows[i], r.w, i == p.top))
	}
	lines = fill(lines, rect{r.w, room + 1})
	return fill(append(lines, foot...), r)
}

func (p *planView) title() string {
	switch p.phase {
	case planReading:
		return p.a.spinner() + " Making the plan"
	case planRunning:
		return fmt.Sprintf("%s Carrying out %s", p.a.spinner(), plural(p.decisions(), "decision", "decisions"))
	}
	if p.plan == nil {
		return "No plan"
	}
	return "Carry out " + plural(p.decisions(), "decision", "decisions")
}

func (p *planView) note() string {
	if p.plan == nil {
		return ""
	}
	total := len(p.plan.Items)
	if p.phase == planRunning {
		return fmt.Sprintf("%s of %s", thousands(p.done), thousands(total))
	}
	room := max(p.a.body().h-1-len(p.foot(p.a.body())), 1)
	if total > room {
		return fmt.Sprintf("%d-%d of %s", p.top+1, min(p.top+room, total), thousands(total))
	}
	return ""
}

// drawItem draws one line: when, sign, id, verdict, title, what stands in its
// way or what it comes after.
func (p *planView) drawItem(row planRow, width int, first bool) string {
	item := row.item
	sign, signRole := p.sign(item)
	lead := row.lead
	if first && lead == "" {
		lead = "…"
	}
	title, _ := cleanLine(item.Summary.Title, titleLimit)
	note, noteRole := p.itemNote(item)
	verdict := string(item.Verdict)
	if item.Effect == core.EffectStrand {
		verdict = "strand"
	}
	risk := " "
	if item.Summary.Risk == core.RiskHigh {
		risk = "▲"
	}
	pieces := []span{
		{roleMuted, "  " + pad(lead, 6) + " "},
		{signRole, sign},
		{roleDanger, risk + " "},
		{roleMuted, right("#"+item.Action.String(), 4) + " "},
		{rolePlain, pad(verdict, 8)},
	}
	room := max(width-widthOf(pieces)-1, 0)
	noteRoom := min(columns(note), max(room*6/10, room-columns(title)-2))
	titleRoom := max(room-noteRoom-2, 0)
	pieces = append(pieces, span{rolePlain, pad(title, titleRoom)}, span{rolePlain, "  "}, span{noteRole, text.Truncate(note, noteRoom)})
	return p.a.theme.spans(width, pieces...)
}

func (p *planView) sign(item *core.PlannedItem) (string, role) {
	if p.phase == planRunning {
		if one, began := p.live[item.Action]; began {
			if one.Outcome == "" {
				return "◐", roleAccent
			}
			return outcomeSign(one.Outcome)
		}
		return "●", roleMuted
	}
	switch item.Effect {
	case core.EffectApply:
		return "✓", roleGood
	case core.EffectReject:
		return "–", rolePlain
	case core.EffectStrand:
		return "⊘", roleWarn
	case core.EffectDrifted:
		return "≠", roleWarn
	}
	return "●", roleWarn
}

func (p *planView) itemNote(item *core.PlannedItem) (string, role) {
	if p.phase == planRunning {
		if one, began := p.live[item.Action]; began {
			return progressNote(one)
		}
		return "", roleMuted
	}
	var parts []string
	r := roleMuted
	switch item.Effect {
	case core.EffectApply, core.EffectReject:
		if item.Reason != "" {
			parts = append(parts, "“"+item.Reason+"”")
		}
		if item.Verdict == core.VerdictApprove && !item.Opened {
			parts = append(parts, "never opened")
		}
	case core.EffectStrand:
		parts, r = append(parts, fmt.Sprintf("stranded: #%d is rejected", item.StrandsBy)), roleWarn
	case core.EffectSkip:
		parts, r = append(parts, "skipped: "+item.Why), roleWarn
	default:
		parts, r = append(parts, "left out: "+item.Why), roleWarn
	}
	if len(item.Needs) > 0 {
		parts = append(parts, "needs "+idList(item.Needs))
	}
	if later := withoutIDs(item.After, item.Needs); len(later) > 0 {
		parts = append(parts, "after "+idList(later))
	}
	if len(item.Missing) > 0 {
		parts = append(parts, "[+] adds "+idList(item.Missing))
	}
	note, _ := cleanLine(strings.Join(parts, " · "), reasonLimit)
	return note, r
}

func progressNote(one core.Progress) (string, role) {
	switch {
	case one.Outcome != "":
		_, r := outcomeSign(one.Outcome)
		note, _ := cleanLine(string(one.Outcome)+suffix(": ", one.Reason), reasonLimit)
		return note, r
	case one.Waiting != "":
		note, _ := cleanLine("waits for "+one.Waiting, reasonLimit)
		return note, roleMuted
	}
	return "being sent", roleAccent
}

func suffix(lead, s string) string {
	if s == "" {
		return ""
	}
	return lead + s
}

func withoutIDs(ids, without []core.ActionID) []core.ActionID {
	return slices.DeleteFunc(slices.Clone(ids), func(id core.ActionID) bool { return slices.Contains(without, id) })
}

// foot counts what the plan does, says what stands in its way, and has the
// buttons.
func (p *planView) foot(r rect) []string {
	t := &p.a.theme
	var lines []string
	add := func(role role, s string) {
		for _, part := range wrap(s, r.w-4) {
			lines = append(lines, t.spans(r.w, span{role, "  " + part}))
		}
	}
	if p.err != "" {
		add(roleDanger, p.err)
	}
	if p.plan != nil {
		add(rolePlain, p.counts())
		if n := len(p.plan.Prerequisites); n > 0 {
			add(roleWarn, fmt.Sprintf("%s missing: %s; + adds", plural(n, "prerequisite is", "prerequisites are"), idList(p.plan.Prerequisites)))
		}
		if ids := p.neverOpenedHigh(); len(ids) > 0 {
			add(roleDanger, "▲ "+idList(ids)+": high risk and never opened; esc, then enter on the row opens it")
		}
	}
	switch p.phase {
	case planTyping:
		add(roleAccent, fmt.Sprintf("Type %d to confirm: %s", p.decisions(), strings.TrimRight(p.count.draw(8), " ")))
	case planReview:
		lines = append(lines, t.buttons(r.w, "Confirm", !p.confirm, p.confirm))
	case planRunning:
		add(roleMuted, "ctrl+c stops before the next item")
	}
	return lines
}

// counts is the plan in one line.
func (p *planView) counts() string {
	plan := p.plan
	high := 0
	for i := range plan.Items {
		if plan.Items[i].Summary.Risk == core.RiskHigh && plan.Items[i].Effect == core.EffectApply {
			high++
		}
	}
	parts := []string{
		plural(len(plan.Items), "item", "items"),
		fmt.Sprintf("%s approve, %s reject", thousands(plan.Count(core.EffectApply)), thousands(plan.Count(core.EffectReject))),
	}
	for _, other := range []struct {
		n    int
		word string
	}{
		{plan.Count(core.EffectStrand), "stranded"},
		{plan.Count(core.EffectSkip), "skipped"},
		{plan.Count(core.EffectDrifted), "drifted"},
		{plan.Count(core.EffectNotFound), "left out"},
	} {
		if other.n > 0 {
			parts = append(parts, thousands(other.n)+" "+other.word)
		}
	}
	never := thousands(len(plan.NeverOpened)) + " never opened"
	if n := len(plan.NeverOpened); n > 0 && n <= 4 {
		never += " (" + idList(plan.NeverOpened) + ")"
	}
	parts = append(parts, never, thousands(high)+" high risk", kindList(plan.Kinds))
	line, _ := cleanLine(strings.Join(parts, " · "), reasonLimit)
	return line
}

func kindList(kinds map[string]int) string {
	names := make([]string, 0, len(kinds))
	for name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = fmt.Sprintf("%s %s", thousands(kinds[name]), name)
	}
	return strings.Join(parts, ", ")
}
