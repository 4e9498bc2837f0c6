package tui

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// start is when tests begin.
var start = time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)

type fakeClock struct{ now time.Time }

func (c *fakeClock) Now() time.Time { return c.now }

// fakeWatch is the store as a test says it is.
type fakeWatch struct {
	changed bool
	err     error
}

func (w *fakeWatch) Changed(context.Context) (bool, error) {
	changed := w.changed
	w.changed = false
	return changed, w.err
}

// driver runs a screen without a terminal: update, run the command inline,
// repeat. Timers fire when the test moves the clock.
type driver struct {
	t      testing.TB
	a      *app
	k      *fakeKernel
	clock  *fakeClock
	watch  *fakeWatch
	timers []timer
	held   []term.Cmd // commands that a test keeps back
	hold   bool
	quit   bool
	copied []string
	others []term.Msg
}

type timer struct {
	at  time.Time
	msg term.Msg
}

func newDriver(t testing.TB, k *fakeKernel, w, h int, change ...func(*Options)) *driver {
	t.Helper()
	d := newDriverOn(t, k, w, h, change...)
	d.k = k
	return d
}

// newDriverOn drives the screens over any kernel.
func newDriverOn(t testing.TB, k Kernel, w, h int, change ...func(*Options)) *driver {
	t.Helper()
	clock, watch := &fakeClock{start}, &fakeWatch{}
	o := Options{
		Kernel: k, Clock: clock, Watch: watch, Theme: ThemeNone,
		Authority: core.Authority{Person: "alice", Means: core.MeansTerminal},
	}
	for _, c := range change {
		c(&o)
	}
	a, err := newApp(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	d := &driver{t: t, a: a, clock: clock, watch: watch}
	d.send(term.SizeMsg{Width: w, Height: h})
	d.do(a.Init())
	d.advance(50 * time.Millisecond)
	return d
}

func (d *driver) send(msg term.Msg) {
	d.do(d.a.Update(msg))
	d.a.View()
}

func (d *driver) do(cmd term.Cmd) {
	if cmd == nil {
		return
	}
	if d.hold {
		d.held = append(d.held, cmd)
		return
	}
	d.result(cmd())
}

func (d *driver) result(msg term.Msg) {
	switch msg := msg.(type) {
	case nil:
	case term.Batch:
		for _, cmd := range msg {
			d.do(cmd)
		}
	case term.Later:
		d.timers = append(d.timers, timer{d.clock.now.Add(msg.After), msg.Msg})
	case term.Quit:
		d.quit = true
	case term.Copy:
		d.copied = append(d.copied, msg.Text)
	case term.Suspend, term.Redraw, term.Bell, term.Note:
		d.others = append(d.others, msg)
	default:
		d.send(msg)
	}
}

// release runs what was kept back.
func (d *driver) release() {
	d.hold = false
	held := d.held
	d.held = nil
	for _, cmd := range held {
		d.do(cmd)
	}
}

// advance moves the clock and fires what is due on the way.
func (d *driver) advance(by time.Duration) {
	end := d.clock.now.Add(by)
	for {
		slices.SortStableFunc(d.timers, func(a, b timer) int { return a.at.Compare(b.at) })
		if len(d.timers) == 0 || d.timers[0].at.After(end) {
			break
		}
		next := d.timers[0]
		d.timers = d.timers[1:]
		if next.at.After(d.clock.now) {
			d.clock.now = next.at
		}
		d.result(next.msg)
	}
	d.clock.now = end
}

// press presses keys by name; each waits out the moment in which dialogs drop
// keys and the cursor comes to rest.
func (d *driver) press(keys ...string) {
	for _, key := range keys {
		d.advance(dialogDropFor)
		d.tap(key)
	}
	d.advance(50 * time.Millisecond)
}

// tap presses a key at once.
func (d *driver) tap(key string) {
	k := term.KeyMsg{Name: key}
	if len([]rune(key)) == 1 {
		k.Text = key
	}
	if key == "space" {
		k.Text = " "
	}
	d.send(k)
}

// typeText types a text key by key.
func (d *driver) typeText(s string) {
	d.advance(dialogDropFor)
	for _, r := range s {
		name := string(r)
		if r == ' ' {
			name = "space"
		}
		d.send(term.KeyMsg{Name: name, Text: string(r)})
	}
	d.advance(50 * time.Millisecond)
}

// outside lets another process change the store, and the screen notice it.
func (d *driver) outside(change func()) {
	change()
	d.watch.changed = true
	d.advance(tickEvery)
}

func (d *driver) frame() string { return ansi.Strip(d.a.View()) }

func (d *driver) cursor() core.ActionID {
	r, _ := d.a.queue.current()
	return r.ID
}

// shows fails unless the frame holds every text.
func (d *driver) shows(texts ...string) {
	d.t.Helper()
	frame := d.frame()
	for _, text := range texts {
		if !strings.Contains(frame, text) {
			d.t.Fatalf("the frame does not show %q:\n%s", text, frame)
		}
	}
}

func (d *driver) hides(texts ...string) {
	d.t.Helper()
	frame := d.frame()
	for _, text := range texts {
		if strings.Contains(frame, text) {
			d.t.Fatalf("the frame shows %q:\n%s", text, frame)
		}
	}
}

// intact fails unless the frame fills the screen exactly.
func (d *driver) intact() {
	d.t.Helper()
	lines := strings.Split(d.a.View(), "\n")
	if len(lines) != d.a.size.h {
		d.t.Fatalf("the frame has %d lines, the screen %d:\n%s", len(lines), d.a.size.h, d.frame())
	}
	for i, line := range lines {
		if w := ansi.StringWidth(line); w != d.a.size.w {
			d.t.Fatalf("line %d is %d wide, the screen %d: %q", i+1, w, d.a.size.w, ansi.Strip(line))
		}
		if g, c := ansi.StringWidth(line), ansi.StringWidthWc(line); g != c {
			d.t.Fatalf("line %d is %d wide by graphemes and %d by code points: %q", i+1, g, c, ansi.Strip(line))
		}
	}
}

// site is a queue as people know it.
func site() *fakeKernel {
	k := newFake()
	k.add(38, "site-refresh", "mkdir", "mkdir docs/guides")
	k.add(39, "site-refresh", "write", "write docs/guides/start.md")
	k.add(41, "site-refresh", "edit", "edit docs/index.md")
	k.add(42, "site-refresh", "move", "move img/logo.png → assets/logo.png")
	k.add(43, "site-refresh", "delete", "delete old/changelog-2019.md")
	k.add(44, "site-refresh", "write", "write .github/workflows/pages.yml", high)
	k.add(45, "site-refresh", "edit", "edit README.md", func(r *core.QueueRow) { r.Drift, r.Risk = core.DriftFresh, core.RiskHigh })
	k.add(17, "billing-cleanup", "execute", "execute UPDATE invoices SET state = 'paid'", state(core.StateUnknown))
	k.add(18, "billing-cleanup", "execute", "execute DELETE FROM drafts WHERE age > 30", high)
	k.add(7, "billing-cleanup", "question", "Fetch from status.example?", asks("Fetch from status.example?", "Yes, once", "No"))
	k.needs[39] = []core.ActionID{38}
	k.fields[41] = []core.Field{{
		Name:   "text",
		Before: quote("# Docs\n\n## Contents\n1. Install        (see below)\n2. First page     (see below)\n\n## About\nThis site.\n"),
		After:  quote("# Docs\n\n## Contents\n- [Start here](guides/start.md)\n\n## About\nThis site.\n"),
	}}
	k.sessions = []core.SessionSummary{
		{Session: core.Session{ID: "s-site-refresh", Name: "site-refresh", Owner: "alice", UpdatedAt: start.Add(-4 * time.Minute)}, State: core.SessionWaitingDecision, WaitingFor: "7 decisions", Pending: 7, Units: 3},
		{Session: core.Session{ID: "s-billing-cleanup", Name: "billing-cleanup", Owner: "alice", UpdatedAt: start.Add(-time.Hour)}, State: core.SessionWaitingAnswer, WaitingFor: "an answer to Q7", Pending: 2, Units: 12},
	}
	k.script = []core.TranscriptEntry{
		{Kind: core.TranscriptMessage, Turn: 1, Step: 1, By: "alice", Text: "Split the long index into guides.", At: start.Add(-time.Hour)},
		{Kind: core.TranscriptText, Turn: 1, Step: 1, Model: "script", Text: "I read the site first, then queue the changes."},
		{Kind: core.TranscriptCall, Turn: 1, Step: 1, Model: "script", Call: core.ToolCall{ID: "c1", Name: "SITE.list", Args: `{"path":"docs"}`}},
		{Kind: core.TranscriptTurn, Turn: 1, State: core.TurnSuspended, Text: "turn 1: suspended: waits for action 44"},
	}
	observe(k)
	return k
}

// resizes takes the terminal through many sizes, one too small for anything: the frame stays whole and the focus where
// it is (T25).
func (d *driver) resizes() {
	d.t.Helper()
	at := d.a.top().place()
	for _, size := range [][2]int{{60, 15}, {80, 24}, {20, 5}, {120, 40}, {60, 15}, {200, 50}} {
		d.send(term.SizeMsg{Width: size[0], Height: size[1]})
		if size[0] >= minWidth {
			d.intact()
		}
		if now := d.a.top().place(); now != at {
			d.t.Fatalf("at %v the place is %s, want %s", size, now, at)
		}
	}
}
