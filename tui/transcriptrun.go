package tui

import (
	"context"
	"errors"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/tui/term"
)

// liveTurn is a turn that this process runs. It goes on whatever is on screen.
type liveTurn struct {
	session  core.SessionID
	cancel   context.CancelFunc
	feed     *turnFeed
	task     string
	began    bool
	stopping bool
	waiting  []string // typed, and told at the next step
	waits    []core.Waiting
	question *core.Question
	turn     int
	step     int
	usage    core.Usage
	doing    string
	model    string

	raw   strings.Builder // of the response that is being made
	done  []string        // its rows that will not change
	last  string          // what is not a whole row yet
	width int
	wraps int // rows made, for tests that count work
}

type (
	// turnFeedMsg says that something happened in a turn.
	turnFeedMsg struct {
		session core.SessionID
		feed    *turnFeed
	}
	// turnEndedMsg says that a turn left its runner.
	turnEndedMsg struct {
		session core.SessionID
		err     error
	}
	turnQuestionMsg struct {
		session core.SessionID
		q       *core.Question
		err     error
	}
	saidMsg struct {
		session core.SessionID
		text    string
		err     error
	}
)

func (v *transcript) live() *liveTurn { return v.runs[v.session.ID] }

// hear adds a piece of the response. Rows that are full are never made again.
func (l *liveTurn) hear(piece string) {
	l.raw.WriteString(piece)
	l.lay(piece)
}

func (l *liveTurn) lay(piece string) {
	l.last += piece
	for {
		whole, rest, found := strings.Cut(l.last, "\n")
		clean, _ := cleanLines(whole)
		rows := wrap("  "+strings.Join(clean, " "), max(l.width-4, 10))
		l.wraps += len(rows)
		if found {
			l.done, l.last = append(l.done, rows...), rest
			continue
		}
		if n := len(rows); n > 2 { // a long line: keep the row that grows
			l.done = append(l.done, rows[:n-1]...)
			l.last = strings.TrimLeft(rows[n-1], " ")
		}
		return
	}
}

func (l *liveTurn) resize(width int) {
	if l.width == width {
		return
	}
	l.width, l.done, l.last = width, nil, ""
	l.lay(l.raw.String())
}

func (l *liveTurn) forget() {
	l.raw.Reset()
	l.done, l.last = nil, ""
}

// tail are the rows below the stored entries.
func (l *liveTurn) tail(entry int) []laidLine {
	rows := make([]laidLine, 0, len(l.waiting)+3)
	add := func(r role, s string) { rows = append(rows, laidLine{line{r, s, false}, entry}) }
	if l.last != "" {
		clean, _ := cleanLines(l.last)
		for _, row := range wrap("  "+strings.Join(clean, " "), max(l.width-4, 10)) {
			add(rolePlain, row)
		}
	}
	if l.question != nil {
		for _, q := range questionLines(l.question) {
			add(q.role, q.text)
		}
	}
	for _, message := range l.waiting {
		text, _ := cleanLine(message, titleLimit)
		add(roleMuted, "… waits for the next step: "+text)
	}
	return rows
}

// start runs a turn, or continues the open one where the task is empty.
func (v *transcript) start(task string) term.Cmd {
	if v.live() != nil {
		v.a.say(roleWarn, "the agent works already")
		return nil
	}
	ctx, cancel := context.WithCancel(v.a.ctx)
	l := &liveTurn{session: v.session.ID, cancel: cancel, feed: newTurnFeed(), task: task, doing: "starting", width: v.a.body().w}
	if task != "" {
		l.waiting = []string{task}
	}
	v.runs[l.session] = l
	v.refused, v.asked = "", nil
	v.at = max(len(v.entries)-1, 0)
	v.follow = true
	runner := v.a.runner
	return term.All(v.a.work(func() term.Msg {
		defer cancel()
		defer close(l.feed.ended)
		return turnEndedMsg{l.session, runner.Run(ctx, l.session, task, l.feed.put)}
	}), l.feed.hears(v.a.ctx, l.session))
}

// drain takes in what happened since the last look.
func (v *transcript) drain(session core.SessionID) term.Cmd {
	l := v.runs[session]
	if l == nil {
		return nil
	}
	events := l.feed.take()
	if len(events) == 0 {
		v.a.dirty = false
	}
	var cmds []term.Cmd
	for _, e := range events {
		cmds = append(cmds, v.happened(l, e))
	}
	v.keepEnd()
	return term.All(cmds...)
}

func (v *transcript) happened(l *liveTurn, e agent.Event) term.Cmd {
	if e.Step > 0 {
		l.step = e.Step
	}
	if e.Turn > 0 {
		l.turn = e.Turn
	}
	switch e.Kind {
	case agent.EventStarted:
		l.began, l.question, l.waits, l.doing = true, nil, nil, "working"
		if seen := v.seen[l.session]; seen.turn == l.turn && l.usage == (core.Usage{}) { // it goes on
			l.usage, l.step = seen.usage, max(l.step, seen.step)
		}
	case agent.EventDelta:
		l.doing = "answering"
		l.hear(e.Text)
	case agent.EventDiscarded:
		l.forget()
	case agent.EventCalling:
		l.doing, _ = cleanLine("calling "+e.Call.Name, 80)
	case agent.EventEntry:
		v.addEntry(l, e.Entry)
		return v.a.step.stored(l.session, e.Entry)
	case agent.EventUsage:
		l.usage.Input += e.Usage.Input
		l.usage.Output += e.Usage.Output
		l.usage.Cost += e.Usage.Cost
		if l.session == v.session.ID {
			return v.loadSpent(l.session)
		}
	case agent.EventWarning:
		text, _ := cleanLine(e.Text, reasonLimit)
		v.a.say(roleWarn, text)
	case agent.EventSuspended:
		return v.suspended(l, e.Waiting)
	}
	return nil
}

func (v *transcript) suspended(l *liveTurn, waits []core.Waiting) term.Cmd {
	l.waits = waits
	names := make([]string, len(waits))
	for i, w := range waits {
		names[i] = w.String()
	}
	l.doing, _ = cleanLine("waits for "+strings.Join(names, ", "), titleLimit)
	for _, w := range waits {
		if w.Question {
			ctx, kernel, id := v.a.ctx, v.a.kernel, w.ID
			return func() term.Msg {
				d, err := kernel.Peek(ctx, id)
				return turnQuestionMsg{l.session, d.Question, err}
			}
		}
	}
	return nil
}

// addEntry shows an entry that was stored just now; only its own rows are made.
func (v *transcript) addEntry(l *liveTurn, e core.TranscriptEntry) {
	if e.Model != "" {
		l.model, _ = cleanLine(e.Model, 60)
	}
	switch e.Kind {
	case core.TranscriptMessage:
		if i := slices.Index(l.waiting, e.Text); i >= 0 {
			l.waiting = slices.Delete(l.waiting, i, i+1)
		}
	case core.TranscriptText:
		l.forget()
	}
	if v.session.ID != l.session || !v.loaded {
		return
	}
	v.last.heard(e)
	v.layout(v.a.body().w)
	key := entryOf(e)
	if i, shown := v.places[key]; shown {
		if v.entries[i].takes(e) {
			v.entries[i].call(e)
		} else {
			was := v.entries[i]
			v.entries[i] = viewEntry(e)
			v.entries[i].number, v.entries[i].key, v.entries[i].open = i, key, was.open
			v.entries[i].turn, v.entries[i].step = e.Turn, e.Step
		}
		v.relay(i)
		return
	}
	end := v.at >= len(v.entries)-1
	view := viewEntry(e)
	view.number, view.key, view.turn, view.step = len(v.entries), key, e.Turn, e.Step
	v.places[key] = view.number
	v.entries = append(v.entries, view)
	v.layEntry(len(v.entries)-1, v.laidAt)
	if end {
		v.at = len(v.entries) - 1
	}
}

// keepEnd scrolls to the end while a person reads there.
func (v *transcript) keepEnd() {
	if !v.follow || v.live() == nil && v.asked == nil {
		return
	}
	r := v.room()
	v.top = max(v.total(r.w)-r.h, 0)
}

func (v *transcript) total(width int) int {
	done, tail := v.below()
	return len(v.layout(width)) + len(done) + len(tail)
}

func (v *transcript) turnEnded(msg turnEndedMsg) term.Cmd {
	cmd := v.drain(msg.session)
	l := v.runs[msg.session]
	delete(v.runs, msg.session)
	v.a.dirty = true
	if l != nil && l.turn > 0 {
		v.seen[msg.session] = lastTurn{turn: l.turn, step: l.step, usage: l.usage}
		if v.session.ID == msg.session && v.last.turn == l.turn {
			v.last.usage = l.usage
		}
	}
	if msg.err != nil && l != nil && !errors.Is(msg.err, context.Canceled) {
		if v.session.ID != msg.session {
			v.a.fail(msg.err)
		} else {
			v.refused, _ = cleanLine(describe(msg.err), reasonLimit)
			if !l.began && v.comp.text() == "" {
				v.comp.set(l.task) // nothing was started: what was written is kept
			}
		}
	}
	return term.All(cmd, v.a.refresh())
}

// send gives what was written to the agent, or to its question.
func (v *transcript) send(kind core.MessageKind) term.Cmd {
	typed := v.comp.text()
	if q := v.question(); q != nil {
		return v.answer(*q, typed)
	}
	if strings.TrimSpace(typed) == "" {
		return nil
	}
	text, cmd, done := v.slashed(typed, kind)
	if done {
		return cmd
	}
	return v.deliver(kind, text, typed)
}

// deliver sends a text that was typed so, or as a command.
func (v *transcript) deliver(kind core.MessageKind, text, typed string) term.Cmd {
	v.comp.sent(typed)
	l := v.live()
	if l == nil {
		cmd := v.start(text)
		v.live().task = typed // what comes back into the composer if nothing begins
		return cmd
	}
	l.waiting = append(l.waiting, text)
	v.keepEnd()
	ctx, runner, session := v.a.ctx, v.a.runner, l.session
	return v.a.work(func() term.Msg { return saidMsg{session, text, runner.Say(ctx, session, text, kind)} })
}

func (v *transcript) answer(q core.Question, typed string) term.Cmd {
	choice, ok := choiceOf(q, typed)
	if !ok {
		v.a.say(roleWarn, "type the number of a choice, then enter")
		if len(q.Choices) == 0 {
			v.a.say(roleWarn, "type the answer, then enter")
		}
		return nil
	}
	v.comp.sent(typed)
	ctx, kernel, by, session := v.a.ctx, v.a.kernel, v.a.who, v.session.ID
	return v.a.work(func() term.Msg {
		_, err := kernel.Answer(ctx, q.ID, choice, "", by)
		return turnQuestionMsg{session: session, err: err}
	})
}

// questioned shows a question, or takes away one that was answered.
func (v *transcript) questioned(msg turnQuestionMsg) term.Cmd {
	v.a.fail(msg.err)
	if l := v.runs[msg.session]; l != nil {
		if msg.err == nil {
			l.question = msg.q
		}
		v.keepEnd()
		return nil
	}
	if msg.session != v.session.ID {
		return nil
	}
	return v.a.refresh()
}

// stopTurn stops the turn on screen, if one works.
func (v *transcript) stopTurn() bool {
	l := v.live()
	if l == nil || l.stopping || v.a.top() != view(v) {
		return false
	}
	l.stopping, l.doing = true, "stopping"
	l.cancel()
	v.a.say(roleWarn, "stopping the turn; ctrl+c again quits")
	return true
}
