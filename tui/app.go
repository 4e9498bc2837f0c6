package tui

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/core/text"
	"gatehouse/tui/term"
)

// Times of the screen.
const (
	tickEvery     = 250 * time.Millisecond // how often other processes' writes are looked for
	recoverEvery  = 8                      // ticks between looks for claims of dead processes
	ageEvery      = 120                    // ticks after which ages are drawn again
	batchFor      = 16 * time.Millisecond  // events within it make one frame
	slowAfter     = 100 * time.Millisecond // a read that takes longer is shown to take long
	spinEvery     = 100 * time.Millisecond
	guardFor      = 400 * time.Millisecond // decisions wait after the row under the cursor changed (T4)
	dialogDropFor = 150 * time.Millisecond // keys are dropped after a dialog opened (T4)
)

// view is a screen, or a dialog over one.
type view interface {
	// commands are its keys.
	commands() []*command
	// place says which keys mean something.
	place() place
	// update takes in what is not a key. Every view gets every message.
	update(term.Msg) term.Cmd
	// draw fills exactly the room it is given.
	draw(rect) []string
}

// typist is a view in which a line is being typed.
type typist interface {
	typed() *input // nil while nothing is
	changed() term.Cmd
}

// jointed is a view with a line between panes that reaches the bottom.
type jointed interface{ joint(rect) int }

// app is the root: it owns the size, the keys, the stack of views and what they
// share.
type app struct {
	ctx      context.Context
	kernel   Kernel
	who      core.Authority
	clock    core.Clock
	watch    Watcher
	runner   Runner
	skills   Skills
	library  Library
	settings string // the file of the settings, clean
	alive    func(core.ProcessID) bool
	log      *slog.Logger
	theme    theme
	bytes    byteFields
	keys     *keyTable

	size    rect
	stack   []view // the screen, then what lies over it
	queue   *queue
	list    *sessions
	script  *transcript
	record  *record
	step    *stepView
	plan    *planView
	sheet   *sheet
	help    *help
	finder  *palette
	preview *slashPreview
	people  *people
	policy  *policyView
	report  *openReport
	shares  *sharing
	sharer  Sharer
	views   []view
	tabs    []tab // the screens that a digit shows

	shelves  *skillsView
	observed *observed
	unit     *unitView
	picker   *picker
	proposal *proposalView
	places   *connections
	folders  Folders
	first    *beginning

	drafts   map[core.ActionID]core.DraftedDecision
	order    []core.ActionID // of drafts, oldest first
	head     counts
	message  string
	loud     role
	broken   string // why the store cannot be trusted any more
	openedAt time.Time
	quitting bool // ctrl+c was pressed once
	ticks    int
	spin     int
	spinning bool

	dirty bool
	frame string
	drawn int // frames drawn, for tests that count work

	notices *notices
	works   works // writes that were begun
}

// tab is a screen that stands in the header and that its key shows.
type tab struct {
	key, title string
	view       view
	about      string
}

// counts are what the header says, over all sessions.
type counts struct {
	waiting, drifted, unknown, questions, sessions int
}

func newApp(ctx context.Context, o Options) (*app, error) {
	if o.Kernel == nil || o.Clock == nil || o.Authority.Person == "" {
		return nil, errors.New("screens: kernel, clock and the person who decides are required")
	}
	a := &app{
		ctx: ctx, kernel: o.Kernel, who: o.Authority, clock: o.Clock, watch: o.Watch, runner: o.Runner, alive: o.Alive, log: o.Log, folders: o.Folders,
		theme: newTheme(o.Theme), bytes: newByteFields(o.Kernel.Manifests()), drafts: map[core.ActionID]core.DraftedDecision{},
		dirty: true,
	}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	a.settings, _ = cleanLine(o.Settings, 200)
	a.queue, a.list, a.script, a.step = newQueue(a, o.Session), newSessions(a), newTranscript(a), newStepView(a)
	a.observed, a.unit, a.record = newObserved(a), newUnitView(a), newRecord(a)
	a.plan, a.sheet, a.help, a.finder = newPlanView(a), newSheet(a), newHelp(a), newPalette(a)
	a.skills, a.preview = o.Skills, newSlashPreview(a)
	a.library, a.shelves = o.Library, newSkillsView(a)
	a.views = []view{a.queue, a.list, a.script, a.step, a.observed, a.unit, a.plan, a.sheet, a.help, a.finder, a.preview}
	a.notices = newNotices(a, o.Notices)
	a.picker, a.proposal, a.places = newPicker(a), newProposalView(a), newConnections(a)
	a.first = newBeginning(a, o.FirstRun)
	a.views = append(a.views, a.picker, a.proposal, a.places, a.first, a.record, a.shelves)
	a.people, a.policy = newPeople(a), newPolicyView(a, o.Policy)
	a.report, a.shares, a.sharer = newOpenReport(a), newSharing(a), o.Sharer
	a.views = append(a.views, a.people, a.policy, a.report)
	a.stack = []view{a.queue}
	a.tabs = []tab{
		{"1", "Queue", a.queue, "everything that waits, of all sessions"},
		{"2", "Sessions", a.list, "the sessions, and what each one did"},
		{"3", "Observations", a.observed, "what was read, by which turn, and who else may see it"},
		{"4", "Skills", a.shelves, "collections and skills, what is wrong with them, and what agents are told of them"},
		{"5", "Record", a.record, "everything that happened, newest first"},
	}
	var all []*command
	for _, v := range a.views {
		all = append(all, v.commands()...)
	}
	all = append(all, a.commands()...)
	var err error
	if a.keys, err = newKeyTable(all, o.Keys); err != nil {
		return nil, err
	}
	if o.Note != "" {
		note, _ := cleanLine(o.Note, titleLimit)
		a.say(roleMuted, note)
	}
	return a, nil
}

func (a *app) now() time.Time { return a.clock.Now() }

// Init reads what the first frame needs.
func (a *app) Init() term.Cmd {
	return term.All(a.queue.load(loadFirst), a.loadDrafts(), a.loadOverview(), a.lastPlan(), a.notices.look(), a.first.look(), term.After(tickEvery, tickMsg{}))
}

func (a *app) top() view { return a.stack[len(a.stack)-1] }

// push lays a view over the others.
func (a *app) push(v view) {
	a.stack = append(a.stack, v)
	a.opened()
}

// opened starts the moment in which a dialog drops keys.
func (a *app) opened() { a.openedAt = a.now() }

// pop takes a view away, and those above it.
func (a *app) pop(v view) {
	for i, other := range a.stack {
		if other == v && i > 0 {
			a.stack = a.stack[:i]
			return
		}
	}
}

func (a *app) open(v view) bool {
	for _, other := range a.stack {
		if other == v {
			return true
		}
	}
	return false
}

// say puts one line at the bottom in the place of the last.
func (a *app) say(r role, line string) { a.loud, a.message = r, line }

func (a *app) fail(err error) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	line, _ := cleanLine(describe(err), reasonLimit)
	a.say(roleDanger, line)
}

// describe says what went wrong and, where the error knows, what to do.
func describe(err error) string {
	var refused *core.DecisionRefusedError
	if errors.As(err, &refused) && refused.Hint != "" {
		return refused.Text + "; " + refused.Hint
	}
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) && hinted.Hint() != "" {
		return err.Error() + "; " + hinted.Hint()
	}
	return err.Error()
}

// Update takes in one message.
func (a *app) Update(msg term.Msg) term.Cmd {
	before := a.spinning
	cmd := a.take(msg)
	if a.anySlow() && !before {
		a.spinning = true
		cmd = term.All(cmd, term.After(spinEvery, spinMsg{}))
	}
	return cmd
}

func (a *app) take(msg term.Msg) term.Cmd {
	a.dirty = true
	switch msg := msg.(type) {
	case term.SizeMsg:
		a.size = rect{msg.Width, msg.Height}
		return a.resized()
	case term.KeyMsg:
		return a.key(msg)
	case term.PasteMsg:
		return a.paste(msg)
	case term.ResumedMsg:
		return a.refresh()
	case tickMsg:
		return a.tick()
	case watchedMsg:
		return a.watched(msg)
	case spinMsg:
		return a.spun()
	case lookedMsg:
		return a.notices.take(msg)
	case noticeMsg:
		a.dirty = false
		return a.notices.flush()
	case leftMsg:
		return a.left(msg)
	case draftsMsg:
		a.takeDrafts(msg)
		return nil
	case overviewMsg:
		if msg.err == nil {
			a.head.sessions = msg.sessions
		}
		return nil
	}
	var cmds []term.Cmd
	for _, v := range a.views {
		cmds = append(cmds, v.update(msg))
	}
	return term.All(cmds...)
}

func (a *app) resized() term.Cmd {
	var cmds []term.Cmd
	for _, v := range a.views {
		cmds = append(cmds, v.update(resizedMsg{}))
	}
	return term.All(cmds...)
}

// resizedMsg tells views that their room changed.
type resizedMsg struct{}

// key finds the command of a key and runs it, or types it.
func (a *app) key(k term.KeyMsg) term.Cmd {
	top := a.top()
	at := top.place()
	if at.dialog() && a.now().Sub(a.openedAt) < dialogDropFor {
		a.dirty = false
		return nil
	}
	if k.Name != "ctrl+c" {
		a.quitting = false
	}
	if t, ok := top.(typist); ok {
		if in := t.typed(); in != nil && typing(k, a.keys.find(at, k.Name)) {
			if in.key(k) {
				return t.changed()
			}
		}
	}
	c := a.keys.find(at, k.Name)
	if c == nil {
		a.dirty = false
		return nil
	}
	return a.run(c)
}

// typing reports that a key belongs to the line being typed: all that print,
// and those that edit and are no command.
func typing(k term.KeyMsg, c *command) bool { return k.Text != "" || c == nil }

// run carries a command out, or says why it cannot be.
func (a *app) run(c *command) term.Cmd {
	if c.decides && a.broken != "" {
		a.say(roleDanger, "nothing can be decided: "+a.broken)
		return nil
	}
	if why := c.why(); why != "" {
		a.say(roleWarn, c.title+": "+why)
		return nil
	}
	if !c.navigates {
		a.message = ""
	}
	return c.run()
}

// paste gives text to the line being typed. Elsewhere it is nothing: text is
// never keys (T4).
func (a *app) paste(p term.PasteMsg) term.Cmd {
	if t, ok := a.top().(typist); ok {
		if in := t.typed(); in != nil {
			if many, ok := t.(interface{ pasted(string) }); ok {
				many.pasted(p.Text)
				return t.changed()
			}
			in.insert(p.Text)
			return t.changed()
		}
	}
	a.say(roleWarn, "pasted text was left out: it is text, not keys")
	return nil
}

// View draws the frame, if anything changed since the last.
func (a *app) View() string {
	if !a.dirty && a.frame != "" {
		return a.frame
	}
	a.dirty = false
	a.drawn++
	a.frame = a.render()
	return a.frame
}

func (a *app) render() string {
	if a.size.w == 0 {
		return ""
	}
	if a.size.w < minWidth || a.size.h < minHeight {
		return text.Truncate("gatehouse needs 60×15; this is "+sizeText(a.size), a.size.w)
	}
	body := a.body()
	lines := a.header()
	lines = append(lines, a.over().draw(body)...)
	if a.top() == view(a.sheet) {
		own := a.sheet.draw(body)
		lines = append(lines[:len(lines)-len(own)], own...)
	}
	lines = append(lines, a.bottom(body), a.footer())
	return strings.Join(lines, "\n")
}

// over is the view that fills the body: the one on top that is no sheet.
func (a *app) over() view {
	for i := len(a.stack) - 1; i > 0; i-- {
		if a.stack[i] != view(a.sheet) {
			return a.stack[i]
		}
	}
	return a.stack[0]
}

// body is the room of the views.
func (a *app) body() rect {
	return rect{a.size.w, a.size.h - a.headerHeight() - 2}
}
