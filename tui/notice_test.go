package tui

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// told drives screens that tell everything, and forgets what was told so far.
func told(t *testing.T, k *fakeKernel, on Notices) *driver {
	d := newDriver(t, k, 120, 40, func(o *Options) { o.Notices = func() Notices { return on } })
	d.signals()
	return d
}

func everything() Notices { return Notices{Bell: true, Note: true, Status: true, Progress: true} }

// signals are the bells and notes since the last call.
func (d *driver) signals() (bells int, notes []string) {
	for _, msg := range d.others {
		switch msg := msg.(type) {
		case term.Bell:
			bells++
		case term.Note:
			notes = append(notes, msg.Text)
		}
	}
	d.others = nil
	return bells, notes
}

// wantSignal fails unless there was one bell and one note that holds the text.
func (d *driver) wantSignal(text string) {
	d.t.Helper()
	bells, notes := d.signals()
	if bells != 1 || len(notes) != 1 || !strings.Contains(notes[0], text) {
		d.t.Errorf("got %d bells and notes %q, want one of each with %q", bells, notes, text)
	}
}

func (d *driver) wantSilence(why string) {
	d.t.Helper()
	if bells, notes := d.signals(); bells != 0 || len(notes) != 0 {
		d.t.Errorf("%s: got %d bells and notes %q", why, bells, notes)
	}
}

// TestT10_WhatStartsToNeedAPerson: each thing that starts to is told once; what
// needs a person already, or is decided, is not.
func TestT10_WhatStartsToNeedAPerson(t *testing.T) {
	k := site()
	d := told(t, k, everything())
	d.wantSilence("what was there at first")
	steps := []struct {
		name, want string
		change     func()
	}{
		{"a new action", "#50 waiting in site-refresh: write a.md", func() { k.add(50, "site-refresh", "write", "write a.md") }},
		{"the same, again", "", func() {}},
		{"another version of it", "", func() { k.change(50, func(r *core.QueueRow) { r.Digest = digestFor(50, 2) }) }},
		{"drift", "#41 drifted", func() { k.change(41, func(r *core.QueueRow) { r.Drift = core.DriftFresh }) }},
		{"the drift is over", "", func() { k.change(41, func(r *core.QueueRow) { r.Drift = core.DriftNone }) }},
		{"it is being sent", "", func() { k.change(42, state(core.StateClaimed)) }},
		{"nobody heard how it ended", "#42 unknown", func() { k.change(42, state(core.StateUnknown)) }},
		{"a question", "Q or not?", func() { k.add(51, "site-refresh", "question", "x", asks("Q or not?", "yes")) }},
		{"it failed", "#43 failed", func() { k.change(43, state(core.StateFailed)) }},
		{"one decided as one arrives", "#52 waiting", func() {
			k.change(39, state(core.StateRejected))
			k.add(52, "site-refresh", "write", "write b.md")
		}},
		{"a turn failed", "turn failed in billing-cleanup: no answer", func() {
			k.sessions[1].State, k.sessions[1].WaitingFor = core.SessionFailed, "no answer"
		}},
		{"it failed already", "", func() {}},
	}
	for _, s := range steps {
		t.Run(s.name, func(t *testing.T) {
			d.t = t
			d.advance(noticeEvery)
			d.outside(s.change)
			if s.want == "" {
				d.wantSilence(s.name)
			} else {
				d.wantSignal(s.want)
			}
		})
	}
}

// TestT10_OneNoteForABatch: many at once are one note and one bell; what comes
// within the second is held and told together.
func TestT10_OneNoteForABatch(t *testing.T) {
	k := site()
	d := told(t, k, everything())
	d.outside(func() {
		for id := core.ActionID(100); id < 140; id++ {
			k.add(id, "site-refresh", "write", "write many")
		}
		k.add(140, "site-refresh", "question", "x", asks("Why?"))
	})
	d.wantSignal("40 waiting, 1 question")
	for id := core.ActionID(141); id < 144; id++ {
		d.outside(func() { k.add(id, "site-refresh", "write", "write more") })
	}
	d.wantSilence("within the second")
	d.advance(noticeEvery)
	d.wantSignal("3 waiting")
	d.advance(3 * noticeEvery)
	d.wantSilence("nothing new")
}

// TestT10_OlderThanTheWindow: rows that come into the window are not new, and
// an unknown outcome beyond it is heard of by its count.
func TestT10_OlderThanTheWindow(t *testing.T) {
	k := newFake()
	for id := core.ActionID(1); id <= 3*noticeWindow; id++ {
		k.add(id, "s", "write", "write")
	}
	d := told(t, k, everything())
	d.outside(func() {
		for id := core.ActionID(250); id <= 300; id++ {
			k.change(id, state(core.StateApplied))
		}
	})
	d.wantSilence("older rows")
	d.outside(func() { k.change(2, state(core.StateUnknown)) })
	d.wantSignal("outcome is unknown")
}

// TestT10_EachIsSwitchable: what is off is not told, and a switch counts at
// once.
func TestT10_EachIsSwitchable(t *testing.T) {
	on := everything()
	k := site()
	d := newDriver(t, k, 120, 40, func(o *Options) { o.Notices = func() Notices { return on } })
	id := core.ActionID(60)
	arrive := func() (int, []string) {
		d.advance(noticeEvery)
		d.outside(func() { id++; k.add(id, "site-refresh", "write", "write") })
		return d.signals()
	}
	on.Bell = false
	if bells, notes := arrive(); bells != 0 || len(notes) != 1 {
		t.Errorf("without the bell: %d bells, %q", bells, notes)
	}
	on.Bell, on.Note = true, false
	if bells, notes := arrive(); bells != 1 || len(notes) != 0 {
		t.Errorf("without notes: %d bells, %q", bells, notes)
	}
	on.Status = false
	arrive()
	if got := d.a.Report(); got != (term.Report{}) {
		t.Errorf("without the status: %+v", got)
	}
	d = newDriver(t, site(), 120, 40)
	d.outside(func() { d.k.add(61, "site-refresh", "write", "write") })
	d.wantSilence("by default of the screens")
}

// TestT10_Status: blocked on permission while an action waits, on a question
// while one does alone, cleared when nothing waits.
func TestT10_Status(t *testing.T) {
	k := newFake()
	d := told(t, k, everything())
	want := func(w term.Waits, about string) {
		t.Helper()
		if got := d.a.Report(); got.Waits != w || got.About != about {
			t.Errorf("got %q %q, want %q %q", got.Waits, got.About, w, about)
		}
	}
	want("", "")
	d.outside(func() { k.add(1, "s", "question", "x", asks("Why?")) })
	want(term.WaitsAnswer, "1 question")
	d.outside(func() { k.add(2, "s", "write", "write") })
	want(term.WaitsPermission, "1 waiting · 1 question")
	d.outside(func() {
		k.change(2, state(core.StateApplied))
		k.change(1, func(r *core.QueueRow) { r.Question = &core.Question{State: core.QuestionWithdrawn} })
	})
	want("", "")
}

// TestT10_Progress: the share of a plan that is carried out, an error once
// something failed, nothing afterwards.
func TestT10_Progress(t *testing.T) {
	k := site()
	k.outcomes[39] = core.OutcomeFailed
	d := told(t, k, everything())
	d.press(places()["plan"]...)
	d.hold = true
	d.press("tab", "enter")
	if got := d.a.Report().Progress; got != (term.Progress{Running: true}) {
		t.Errorf("at the start: %+v", got)
	}
	p := d.a.plan
	p.update(feedMsg{feed: p.feed, batch: []core.Progress{{Action: 38, Outcome: core.OutcomeApplied, Done: 1, Total: 2}}})
	if got := d.a.Report().Progress; got != (term.Progress{Running: true, Percent: 50}) {
		t.Errorf("half way: %+v", got)
	}
	p.update(feedMsg{feed: p.feed, batch: []core.Progress{{Action: 39, Outcome: core.OutcomeFailed, Done: 2, Total: 2}}})
	if got := d.a.Report().Progress; got != (term.Progress{Running: true, Percent: 100, Failed: true}) {
		t.Errorf("one failed: %+v", got)
	}
	d.release()
	d.advance(time.Second)
	if got := d.a.Report().Progress; got != (term.Progress{}) || p.phase != planDone {
		t.Errorf("at the end: %+v", got)
	}
}

// rawTerminal keeps every byte that was written to it.
type rawTerminal struct {
	mu      sync.Mutex
	all     strings.Builder
	changed chan struct{}
}

func (r *rawTerminal) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case r.changed <- struct{}{}:
	default:
	}
	return r.all.Write(p)
}

func (r *rawTerminal) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all.String()
}

func (r *rawTerminal) waitFor(t *testing.T, want string) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for !strings.Contains(r.text(), want) {
		select {
		case <-r.changed:
		case <-deadline:
			t.Fatalf("never written: %q, but\n%q", want, r.text())
		}
	}
}

// signaller shows nothing and tells what it is told to tell.
type signaller struct {
	report term.Report
	first  term.Cmd
}

func (s *signaller) Init() term.Cmd { return s.first }
func (s *signaller) View() string   { return "frame" }

func (s *signaller) Update(msg term.Msg) term.Cmd {
	if k, ok := msg.(term.KeyMsg); ok && k.Name == "q" {
		return term.Do(term.Quit{})
	} else if ok && k.Name == "p" {
		panic("on purpose")
	} else if ok {
		s.report = term.Report{}
	}
	return nil
}

func (s *signaller) Report() term.Report { return s.report }

// runRaw runs a screen on a terminal whose bytes are kept.
func runRaw(t *testing.T, s term.Screen, environ ...string) (raw *rawTerminal, keys io.Writer, wait func() error) {
	raw = &rawTerminal{changed: make(chan struct{}, 1)}
	in, keys := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- term.Run(context.Background(), s, term.Options{Input: in, Output: raw, Environ: environ, Width: 80, Height: 24})
	}()
	return raw, keys, func() error { return <-ended }
}

const (
	blockedBytes = "\x1b]7501;state=blocked:id=gatehouse:kind=permission:app=gatehouse:msg=OCB3YWl0aW5n\x07"
	clearedBytes = "\x1b]7501;state=clear:id=gatehouse\x07"
)

// TestT10_ExactBytes: what a terminal is sent, and that the end takes it back,
// by a quit and by a panic.
func TestT10_ExactBytes(t *testing.T) {
	for _, end := range []string{"q", "p"} {
		s := &signaller{
			report: term.Report{Waits: term.WaitsPermission, About: "8 waiting", Progress: term.Progress{Running: true, Percent: 40, Failed: true}},
			first:  term.All(term.Do(term.Bell{}), term.Do(term.Note{Text: "1 waiting"})),
		}
		raw, keys, wait := runRaw(t, s, "TERM=xterm-256color")
		for _, want := range []string{blockedBytes, "\x1b]9;4;2;40\x07", "\x1b]9;gatehouse: 1 waiting\x07"} {
			raw.waitFor(t, want)
		}
		if _, err := io.WriteString(keys, end); err != nil {
			t.Fatal(err)
		}
		if err := wait(); (err != nil) != (end == "p") {
			t.Fatal(err)
		}
		if !strings.HasSuffix(raw.text(), clearedBytes+"\x1b]9;4;0\x07") {
			t.Errorf("after %s the terminal is left with %q", end, raw.text())
		}
		if got := bellsOf(raw.text()); got != 1 {
			t.Errorf("%d bells, want 1", got)
		}
	}
}

// TestT10_ClearedWhileItRuns: a report that holds no more is taken back at once.
func TestT10_ClearedWhileItRuns(t *testing.T) {
	s := &signaller{report: term.Report{Waits: term.WaitsPermission, About: "8 waiting"}}
	raw, keys, wait := runRaw(t, s, "TERM=xterm-256color")
	raw.waitFor(t, blockedBytes)
	for _, key := range []string{"x", "q"} {
		if _, err := io.WriteString(keys, key); err != nil {
			t.Fatal(err)
		}
		raw.waitFor(t, clearedBytes)
	}
	if err := wait(); err != nil {
		t.Fatal(err)
	}
}

// TestT10_DumbTerminalIsToldNothing: TERM=dumb gets no sequence beside frames.
func TestT10_DumbTerminalIsToldNothing(t *testing.T) {
	s := &signaller{
		report: term.Report{Waits: term.WaitsPermission, Progress: term.Progress{Running: true}},
		first:  term.All(term.Do(term.Bell{}), term.Do(term.Note{Text: "1 waiting"})),
	}
	raw, keys, wait := runRaw(t, s, "TERM=dumb")
	raw.waitFor(t, "frame")
	if _, err := io.WriteString(keys, "q"); err != nil {
		t.Fatal(err)
	}
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	if got := raw.text(); strings.Contains(got, "]9;") || strings.Contains(got, "]7501;") || bellsOf(got) > 0 {
		t.Errorf("a dumb terminal was told %q", got)
	}
}

// TestT10_NoTitleLeavesTheNote: a title cannot end the note, begin a sequence,
// or make it another kind of OSC 9.
func TestT10_NoTitleLeavesTheNote(t *testing.T) {
	hostile := "4;1;50\a\x1b\\\x1b]0;owned\a\u009c\u009b31m\x9c\x9b2J\u202e\r\nrm -rf\x00\x1b[2J"
	s := &signaller{first: term.Do(term.Note{Text: hostile})}
	raw, keys, wait := runRaw(t, s, "TERM=xterm-256color")
	raw.waitFor(t, "\x1b]9;gatehouse: ")
	if _, err := io.WriteString(keys, "q"); err != nil {
		t.Fatal(err)
	}
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(raw.text(), "\x1b]9;gatehouse: ")
	body, _, ended := strings.Cut(rest, "\a")
	if !ended || !strings.Contains(body, "rm -rf") {
		t.Fatalf("the note is cut short: %q", body)
	}
	for _, r := range body {
		if r < 0x20 || r >= 0x7f && r <= 0x9f || r == 0x202e {
			t.Errorf("the note holds %U: %q", r, body)
		}
	}
	if strings.Contains(raw.text(), "\x1b]0;owned") {
		t.Error("the title set the title of the window")
	}
}

// bellsOf counts bells that do not end a sequence.
func bellsOf(s string) int {
	n, inside := 0, false
	for i := range len(s) {
		switch {
		case s[i] == ']' && i > 0 && s[i-1] == '\x1b':
			inside = true
		case s[i] == '\a' && inside:
			inside = false
		case s[i] == '\a':
			n++
		}
	}
	return n
}
