package tui

import (
	"fmt"
	"strings"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// The messages of the root.
type (
	tickMsg struct{}
	// watchedMsg is what a look at the store found.
	watchedMsg struct {
		changed bool
		lost    []core.ActionID // claims of dead processes that became unknown
		err     error
	}
	spinMsg   struct{}
	draftsMsg struct {
		drafts []core.DraftedDecision
		err    error
	}
	overviewMsg struct {
		sessions int
		err      error
	}
	// reloadMsg asks views to read again.
	reloadMsg struct{}
)

// tick looks whether other processes wrote, off the loop.
func (a *app) tick() term.Cmd {
	a.ticks++
	a.dirty = a.ticks%ageEvery == 0
	if a.watch == nil {
		return term.After(tickEvery, tickMsg{})
	}
	ctx, kernel, watch, recovers := a.ctx, a.kernel, a.watch, a.ticks%recoverEvery == 0
	return func() term.Msg {
		changed, err := watch.Changed(ctx)
		if err != nil || !recovers {
			return watchedMsg{changed: changed, err: err}
		}
		lost, err := kernel.Recover(ctx)
		return watchedMsg{changed: changed || len(lost) > 0, lost: lost, err: ignoreEnd(ctx.Err(), err)}
	}
}

// ignoreEnd drops an error that only says that the program ends.
func ignoreEnd(end, err error) error {
	if end != nil {
		return nil
	}
	return err
}

func (a *app) watched(msg watchedMsg) term.Cmd {
	again := term.After(tickEvery, tickMsg{})
	broken := ""
	if msg.err != nil {
		broken, _ = cleanLine(msg.err.Error(), 200)
	}
	a.dirty = broken != a.broken
	a.broken = broken
	if len(msg.lost) > 0 {
		a.say(roleWarn, idList(msg.lost)+": the process that carried it out is gone, the outcome is unknown")
		a.dirty = true
	}
	if msg.changed && broken == "" {
		return term.All(again, a.refresh())
	}
	return again
}

// refresh reads again what is on the screen.
func (a *app) refresh() term.Cmd {
	cmds := []term.Cmd{a.loadDrafts(), a.loadOverview(), a.notices.look()}
	for _, v := range a.views {
		cmds = append(cmds, v.update(reloadMsg{}))
	}
	return term.All(cmds...)
}

func (a *app) loadDrafts() term.Cmd {
	ctx, kernel, person := a.ctx, a.kernel, a.who.Person
	return func() term.Msg {
		drafts, err := kernel.Drafts(ctx, person)
		return draftsMsg{drafts, err}
	}
}

func (a *app) takeDrafts(msg draftsMsg) {
	if msg.err != nil {
		a.fail(msg.err)
		return
	}
	a.drafts = make(map[core.ActionID]core.DraftedDecision, len(msg.drafts))
	a.order = a.order[:0]
	for _, d := range msg.drafts {
		a.drafts[d.Action] = d
		a.order = append(a.order, d.Action)
	}
}

func (a *app) loadOverview() term.Cmd {
	ctx, kernel := a.ctx, a.kernel
	return func() term.Msg {
		list, err := kernel.Sessions(ctx)
		return overviewMsg{len(list), err}
	}
}

// anySlow reports a read that takes long enough to say so.
func (a *app) anySlow() bool {
	return a.queue.slow || a.observed.slow || a.unit.slow || a.plan.turns() || a.record.turns() || a.shelves.slow || a.shelves.page.slow || a.people.turns() || a.report.busy != ""
}

func (a *app) spun() term.Cmd {
	a.spin++
	if !a.anySlow() {
		a.spinning = false
		a.dirty = false
		return nil
	}
	return term.After(spinEvery, spinMsg{})
}

// spinner is the sign that something goes on.
func (a *app) spinner() string { return string([]rune("◐◓◑◒")[a.spin%4]) }

// commands are those of the root.
func (a *app) commands() []*command {
	var all []*command
	for _, t := range a.tabs {
		all = append(all, &command{
			name: "screen." + strings.ToLower(t.title), at: screens(), keys: []string{t.key}, title: t.title, navigates: true, tag: "Screens",
			about: t.about, run: func() term.Cmd { return a.show(t.view) },
		})
	}
	return append(all, []*command{
		{
			name: "help", at: append(screens(), atPlan, atOutcome), keys: []string{"?"}, title: "help", tag: "Screens", footer: 90,
			about: "every key of this place; enter runs the one chosen", run: a.help.open,
		},
		{
			name: "refresh", at: screens(), keys: []string{"r"}, title: "refresh", tag: "Screens",
			about: "read again what is on the screen", run: func() term.Cmd { a.queue.settle(); return a.refresh() },
		},
		{
			name: "redraw", at: everywhere(), keys: []string{"ctrl+l"}, title: "redraw", tag: "Screens",
			about: "draw every cell again", run: func() term.Cmd { return term.Do(term.Redraw{}) },
		},
		{
			name: "suspend", at: everywhere(), keys: []string{"ctrl+z"}, title: "suspend", tag: "Screens",
			about: "give the terminal back to the shell; fg comes back", run: func() term.Cmd { return term.Do(term.Suspend{}) },
		},
		{
			name: "stop", at: everywhere(), keys: []string{"ctrl+c"}, title: "stop", tag: "Screens",
			about: "stop carrying out; twice: quit", run: a.stop,
		},
		{
			name: "quit", at: screens(), keys: []string{"q"}, title: "quit", tag: "Screens", footer: 91,
			about: "leave; asks when there are drafts, which are kept", run: a.quit,
		},
	}...)
}

// show changes the screen. What lay over the old one is taken away.
func (a *app) show(v view) term.Cmd {
	a.stack = []view{v}
	a.message = ""
	return v.update(shownMsg{})
}

// shownMsg tells a view that it is the screen now.
type shownMsg struct{}

func (a *app) stop() term.Cmd {
	if a.plan.phase == planRunning {
		a.plan.cancel()
		a.say(roleWarn, "stopping: what is being sent ends, the rest stays pending")
		return nil
	}
	if a.quitting {
		return term.Do(term.Quit{})
	}
	a.quitting = true
	if a.script.stopTurn() {
		return nil
	}
	a.say(roleWarn, "ctrl+c again quits; drafts are kept")
	return nil
}

func (a *app) quit() term.Cmd {
	if len(a.script.runs) > 0 {
		return a.quitAtWork()
	}
	if len(a.order) == 0 {
		return term.Do(term.Quit{})
	}
	a.sheet.ask(question{
		title:   fmt.Sprintf("Quit with %s not carried out?", plural(len(a.order), "draft", "drafts")),
		body:    []string{"Drafts are kept: they are here when you come back. Nothing of them has happened."},
		accept:  "Quit",
		enabled: true,
		do:      func(sheetAnswer) term.Cmd { return term.Do(term.Quit{}) },
	})
	return nil
}

// quitAtWork asks while a turn runs here, and speaks of drafts too.
func (a *app) quitAtWork() term.Cmd {
	q := question{
		title: "Quit while an agent works?", body: []string{"Quitting stops its turn. A suspended turn stays as it is."},
		accept: "Quit", do: func(sheetAnswer) term.Cmd { return term.Do(term.Quit{}) },
	}
	if n := len(a.order); n > 0 {
		q.title = fmt.Sprintf("Quit while an agent works, with %s not carried out?", plural(n, "draft", "drafts"))
		q.body = append(q.body, "Drafts are kept: nothing of them has happened.")
	}
	a.sheet.ask(q)
	return nil
}
