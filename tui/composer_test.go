package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/tui/term"
)

// fakeRunner runs turns as a test says.
type fakeRunner struct {
	tasks []string
	said  []string
	kinds []core.MessageKind
	run   func(ctx context.Context, observe func(agent.Event)) error
}

func (r *fakeRunner) Run(ctx context.Context, _ core.SessionID, task string, observe func(agent.Event)) error {
	r.tasks = append(r.tasks, task)
	if r.run == nil {
		return nil
	}
	return r.run(ctx, observe)
}

func (r *fakeRunner) Say(_ context.Context, _ core.SessionID, text string, kind core.MessageKind) error {
	r.said, r.kinds = append(r.said, text), append(r.kinds, kind)
	return nil
}

func (r *fakeRunner) Steps() int { return 30 }

// writing opens the transcript of a session with the composer in focus.
func writing(t testing.TB, r *fakeRunner, w, h int) *driver {
	d := newDriver(t, site(), w, h, func(o *Options) { o.Runner = r })
	d.press("2", "enter", "i")
	return d
}

// working begins a turn that the test feeds.
func working(t testing.TB, r *fakeRunner, w, h int) (*driver, *liveTurn) {
	d := writing(t, r, w, h)
	l := &liveTurn{session: d.a.script.session.ID, cancel: func() {}, feed: newTurnFeed(), width: w, doing: "working"}
	d.a.script.runs[l.session] = l
	return d, l
}

func (d *driver) feeds(l *liveTurn, events ...agent.Event) {
	for _, e := range events {
		l.feed.put(e)
	}
	d.do(d.a.script.drain(l.session))
	d.a.dirty = true
}

func TestComposerLinesHistoryAndPaste(t *testing.T) {
	r := &fakeRunner{}
	d := writing(t, r, 80, 24)
	d.typeText("one")
	d.press("alt+enter")
	d.typeText("two")
	d.send(term.PasteMsg{Text: " three\nfour\n"})
	if len(r.tasks) != 0 {
		t.Fatal("a paste was sent")
	}
	d.press("backspace", "enter")
	if want := []string{"one\ntwo three\nfour"}; len(r.tasks) != 1 || r.tasks[0] != want[0] {
		t.Fatalf("sent %q, want %q", r.tasks, want)
	}
	d.press("up")
	if got := d.a.script.comp.text(); got != "one\ntwo three\nfour" {
		t.Fatalf("history gives %q", got)
	}
	d.press("esc")
	if d.a.top().place() != atTranscript {
		t.Fatal("esc does not leave the composer")
	}
}

// TestA10_TypedWhileRunning holds that messages wait in sight, in order.
func TestA10_TypedWhileRunning(t *testing.T) {
	r := &fakeRunner{}
	d, l := working(t, r, 80, 24)
	d.typeText("first")
	d.press("enter")
	d.typeText("second")
	d.press("ctrl+s")
	d.shows("waits for the next step: first", "waits for the next step: second")
	if fmt.Sprint(r.said, r.kinds) != "[first second] [queued steering]" {
		t.Fatalf("said %v %v", r.said, r.kinds)
	}
	d.feeds(l, agent.Event{Kind: agent.EventEntry, Turn: 1, Step: 2, Entry: core.TranscriptEntry{Kind: core.TranscriptMessage, By: "alice", Text: "first"}})
	d.hides("waits for the next step: first")
	d.shows("waits for the next step: second")
}

func TestAgentStreamsAndStops(t *testing.T) {
	d, l := working(t, &fakeRunner{}, 80, 24)
	stopped := false
	l.cancel = func() { stopped = true }
	d.feeds(l, agent.Event{Kind: agent.EventDelta, Step: 3, Text: "Reading \x1b[2J"}, agent.Event{Kind: agent.EventDelta, Text: "the site"})
	d.shows("the site", "step 3 of 30")
	d.intact()
	d.press("esc", "esc", "2", "enter")
	d.shows("the site")
	if stopped {
		t.Fatal("leaving the screen stopped the turn")
	}
	d.press("q")
	d.shows("Quit while an agent works?")
	d.press("esc", "ctrl+c")
	if !stopped || d.quit {
		t.Fatalf("stopped %v, quit %v after one ctrl+c", stopped, d.quit)
	}
	d.press("ctrl+c")
	if !d.quit {
		t.Fatal("the second ctrl+c does not quit")
	}
}

func TestQuestionAnsweredInPlace(t *testing.T) {
	d, l := working(t, &fakeRunner{}, 80, 24)
	d.feeds(l, agent.Event{Kind: agent.EventSuspended, Waiting: []core.Waiting{{ID: 7, Question: true, Title: "Fetch?"}}})
	d.shows("Yes, once", "waits for question 7")
	d.press("y", "enter")
	if len(d.k.answers) != 0 {
		t.Fatal("a reflex answered the question")
	}
	d.press("backspace", "1", "enter")
	if d.k.answers[7] != "Yes, once" {
		t.Fatalf("answered %q", d.k.answers)
	}
}

func TestTurnThatCannotBegin(t *testing.T) {
	r := &fakeRunner{run: func(context.Context, func(agent.Event)) error { return errors.New("openai.model: not set") }}
	d := writing(t, r, 80, 24)
	d.typeText("do it")
	d.press("enter")
	d.shows("openai.model: not set")
	if d.a.script.comp.text() != "do it" {
		t.Fatal("what was written is lost")
	}
}

// TestGoldenWriting holds the transcript with its composer at the four sizes.
func TestGoldenWriting(t *testing.T) {
	states := map[string]func(t *testing.T, w, h int) *driver{
		"empty": func(t *testing.T, w, h int) *driver {
			d := newDriver(t, site(), w, h, func(o *Options) { o.Runner = &fakeRunner{} })
			d.k.script = nil
			d.press("2", "enter")
			return d
		},
		"working": func(t *testing.T, w, h int) *driver {
			d, l := working(t, &fakeRunner{}, w, h)
			d.typeText("and the footer")
			d.press("enter")
			d.feeds(l, agent.Event{Kind: agent.EventUsage, Usage: core.Usage{Input: 1200, Output: 80, Cost: 2500}},
				agent.Event{Kind: agent.EventDelta, Step: 2, Text: "I read the footer first."})
			return d
		},
		"full": func(t *testing.T, w, h int) *driver {
			d, l := working(t, &fakeRunner{}, w, h)
			d.feeds(l, agent.Event{Kind: agent.EventDelta, Step: 2, Text: strings.Repeat("One more line of the answer.\n", 80)})
			return d
		},
		"error": func(t *testing.T, w, h int) *driver {
			d := writing(t, &fakeRunner{run: func(context.Context, func(agent.Event)) error {
				return errors.New("the model refused the key in MY_KEY; set another")
			}}, w, h)
			d.typeText("do it")
			d.press("enter")
			return d
		},
	}
	for name, make := range states {
		for _, size := range sizes() {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				d := make(t, size[0], size[1])
				d.intact()
				lines := strings.Split(d.frame(), "\n")
				for i := range lines {
					lines[i] = strings.TrimRight(lines[i], " ")
				}
				golden.RequireEqual(t, strings.Join(lines, "\n")+"\n")
			})
		}
	}
}

// TestEntryReadAndHeardOfIsShownOnce: a transcript that is opened while its turn runs is read with what the turn then
// tells of as well.
func TestEntryReadAndHeardOfIsShownOnce(t *testing.T) {
	d, l := working(t, &fakeRunner{}, 120, 40)
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	said := core.TranscriptEntry{Kind: core.TranscriptText, Turn: 9, Step: 1, At: at, Model: "m", Text: "only once, please"}
	call := core.TranscriptEntry{Kind: core.TranscriptCall, Turn: 9, Step: 1, Call: core.ToolCall{ID: "1", Name: "SITE.read", Args: `{"path":"once.html"}`}}
	for range 2 {
		d.feeds(l, agent.Event{Kind: agent.EventEntry, Entry: said}, agent.Event{Kind: agent.EventEntry, Entry: call})
	}
	for _, text := range []string{"only once, please", "once.html"} {
		if n := strings.Count(d.frame(), text); n != 1 {
			t.Errorf("%q is shown %d times, want once:\n%s", text, n, d.frame())
		}
	}
}
