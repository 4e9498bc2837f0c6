package tui

import (
	"fmt"
	"strings"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// nextRowsMost is how many rows what to do next may take.
const nextRowsMost = 3

// lastTurn is what the status line says of the last turn of a session.
type lastTurn struct {
	turn, step int
	model      string
	usage      core.Usage // what this process saw of it
	end        core.TurnEnd
	ended      string // one line, clean
	reason     string // why, without which turn; clean
}

// lastOf finds the last turn of a transcript.
func lastOf(entries []core.TranscriptEntry) lastTurn {
	var last lastTurn
	for _, e := range entries {
		last.heard(e)
	}
	return last
}

// heard takes in one more entry.
func (t *lastTurn) heard(e core.TranscriptEntry) {
	switch {
	case e.Turn == 0:
		return
	case e.Turn != t.turn:
		*t = lastTurn{turn: e.Turn, model: t.model}
	}
	if e.Kind != core.TranscriptTurn {
		t.step = max(t.step, e.Step)
		t.end, t.ended, t.reason = "", "", ""
	} else {
		t.end = e.End
		t.ended, _ = cleanLine(e.Text, reasonLimit)
		t.reason = strings.TrimPrefix(t.ended, fmt.Sprintf("turn %d: %s: ", e.Turn, e.End))
	}
	if e.Model != "" {
		t.model, _ = cleanLine(e.Model, 60)
	}
}

// short says how the turn ended; why stands in what to do next, where there is
// something to do.
func (t lastTurn) short() string {
	switch t.end {
	case core.TurnEndModel, core.TurnEndBudget, core.TurnEndContext:
		return fmt.Sprintf("turn %d: %s", t.turn, t.end)
	}
	return t.ended
}

// spentMsg is what the models took.
type spentMsg struct {
	session core.SessionID
	spent   core.SpendingReport
	err     error
}

func (v *transcript) loadSpent(session core.SessionID) term.Cmd {
	ctx, kernel := v.a.ctx, v.a.kernel
	return func() term.Msg {
		spent, err := kernel.Spending(ctx, string(session))
		return spentMsg{session, spent, err}
	}
}

// askedIn is the first open question of a session; nil where there is none.
func askedIn(page core.QueuePage) *core.Question {
	for _, r := range page.Rows {
		if r.Question != nil && r.Question.State == core.QuestionOpen {
			return r.Question
		}
	}
	return nil
}

// question is what waits for an answer here, whichever process asked it.
func (v *transcript) question() *core.Question {
	if l := v.live(); l != nil {
		return l.question
	}
	return v.asked
}

// below are the rows under the stored entries: of the response that is being
// made, and what waits.
func (v *transcript) below() (done []string, tail []laidLine) {
	if l := v.live(); l != nil {
		return l.done, l.tail(-1)
	}
	if v.asked == nil || v.a.runner == nil {
		return nil, nil
	}
	for _, l := range questionLines(v.asked) {
		tail = append(tail, laidLine{l, -1})
	}
	return nil, tail
}

func questionLines(q *core.Question) []line {
	text, _ := cleanLine(q.Text, titleLimit)
	lines := []line{{roleAccent, "◆ Q" + q.ID.String() + " " + text, false}}
	for i, choice := range q.Choices {
		clean, _ := cleanLine(choice, 200)
		lines = append(lines, line{rolePlain, fmt.Sprintf("  %d  %s", i+1, clean), false})
	}
	return lines
}

// status is the line under the transcript: what goes on, and what the turn
// took. What does not fit is left out whole, the budgets last.
func (v *transcript) status(width int) []span {
	last, doing := v.last, or(v.last.short(), "no turn runs")
	if l := v.live(); l != nil {
		doing, last.model, last.step, last.usage = l.doing, or(l.model, last.model), l.step, l.usage
	}
	pieces := []span{{roleMuted, cut("   "+doing, 0, width)}}
	used := columns(pieces[0].text)
	add := func(r role, text string) {
		if w := columns(text) + 3; text != "" && used+w <= width {
			pieces = append(pieces, span{roleMuted, " · "}, span{r, text})
			used += w
		}
	}
	budgets := v.spent.Budgets
	for _, s := range budgets {
		if s.Near() {
			add(roleWarn, standingWords(s))
		}
	}
	if last.step > 0 {
		add(roleMuted, fmt.Sprintf("step %d of %d", last.step, v.a.runner.Steps()))
	}
	add(roleMuted, last.model)
	if n := last.usage.Tokens(); n > 0 {
		add(roleMuted, thousands(n)+" tokens")
	}
	if last.usage.Cost > 0 {
		add(roleMuted, "cost "+last.usage.Cost.String())
	}
	for _, s := range budgets {
		if !s.Near() {
			add(roleMuted, standingWords(s))
		}
	}
	return pieces
}

// standingWords say how much of a budget is spent.
func standingWords(s core.Standing) string {
	if s.Of == core.BudgetCost {
		return fmt.Sprintf("%s %s of %s", s.Per, core.Cost(s.Spent), core.Cost(s.Limit))
	}
	return fmt.Sprintf("%s %s of %s tokens", s.Per, thousands(int(s.Spent)), thousands(int(s.Limit)))
}

// nextStep says what a person can do where no turn goes on; empty where
// nothing is in the way.
func (v *transcript) nextStep() string {
	if v.a.runner == nil || v.live() != nil || !v.loaded {
		return ""
	}
	if v.asked != nil {
		return fmt.Sprintf("i answers Q%s here; then the turn goes on where it runs, or with C", v.asked.ID)
	}
	for _, s := range v.spent.Budgets {
		if s.Reached() {
			return v.budgetNext(s)
		}
	}
	switch {
	case v.refused != "":
		return v.refused
	case v.last.end == core.TurnEndBudget: // there is more of it since
		return "there is budget again: C goes on"
	case v.last.end == core.TurnEndContext:
		return "i begins a new turn, without what was said so far; gatehouse session new NAME makes a new session"
	case v.last.end == core.TurnEndModel:
		return v.last.reason + v.inFile("; settings: ") + "; C goes on"
	}
	return ""
}

// budgetNext names the setting of a budget that lets nothing more be asked.
func (v *transcript) budgetNext(s core.Standing) string {
	setting := fmt.Sprintf("budget.%s_%s", s.Per, s.Of)
	if s.Limit == 0 {
		return setting + " is 0: no model may be asked; raise it" + v.inFile(" in ") + ", then start gatehouse again"
	}
	wait := ""
	if s.Per == core.BudgetDay {
		wait = " or wait for tomorrow,"
	}
	return setting + " is reached: raise it" + v.inFile(" in ") + "," + wait + " start gatehouse again, then C goes on"
}

// inFile names the file of the settings, where it is known.
func (v *transcript) inFile(lead string) string {
	if v.a.settings == "" {
		return ""
	}
	return lead + v.a.settings
}

// nextRows are the rows of what to do next.
func (v *transcript) nextRows(width int) []string {
	next := v.nextStep()
	if next == "" {
		return nil
	}
	rows := wrapHanging("→ "+next, max(width-4, 10), 2)
	if len(rows) > nextRowsMost {
		rows = append(rows[:nextRowsMost-1], pad(rows[nextRowsMost-1], width-8)+" …")
	}
	return rows
}

// drawWriting draws status, what to do next, and composer.
func (v *transcript) drawWriting(width int) []string {
	t := &v.a.theme
	lines := []string{t.spans(width, v.status(width)...)}
	for _, row := range v.nextRows(width) {
		lines = append(lines, t.spans(width, span{roleWarn, "   " + row}))
	}
	hint := "i writes to the agent"
	if v.question() != nil {
		hint = "i answers the question"
	}
	lines = append(lines, v.slashLines(width)...)
	return append(lines, v.comp.draw(t, width, hint)...)
}
