package tui

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/tui/term"
)

// tokenWithin is what a token may take from its arrival to the terminal.
const tokenWithin = 10 * time.Millisecond

// longSite is a session with 100,000 lines of transcript.
func longSite() *fakeKernel {
	k := site()
	k.script = nil
	for i := range 50_000 {
		k.script = append(k.script, core.TranscriptEntry{
			Kind: core.TranscriptText, Turn: 1, Step: i + 1, At: start.Add(time.Duration(i)), Text: "a line of the answer",
		})
	}
	return k
}

func long(t testing.TB) (*driver, *liveTurn) {
	d := newDriver(t, longSite(), 120, 40, func(o *Options) { o.Runner = &fakeRunner{} })
	d.press("2", "enter")
	l := &liveTurn{session: d.a.script.session.ID, cancel: func() {}, feed: newTurnFeed(), width: 120}
	d.a.script.runs[l.session] = l
	return d, l
}

// TestDeltaWorkIsBounded counts the rows that a delta breaks and draws with
// 100,000 lines above it: those of the window.
func TestDeltaWorkIsBounded(t *testing.T) {
	d, l := long(t)
	v := d.a.script
	before := &v.laid[0]
	for i := range 2000 {
		l.wraps, v.drawn = 0, 0
		frames := d.a.drawn
		l.feed.put(agent.Event{Kind: agent.EventDelta, Text: "token "})
		d.do(d.a.Update(turnFeedMsg{session: l.session, feed: nil})) // of another turn: nothing
		d.a.Update(turnFeedMsg{l.session, l.feed})
		d.a.View()
		if l.wraps > 5 || v.drawn > d.a.size.h || d.a.drawn != frames+1 {
			t.Fatalf("delta %d broke %d rows and drew %d in %d frames", i, l.wraps, v.drawn, d.a.drawn-frames)
		}
	}
	if before != &v.laid[0] || len(v.laid) < 100_000 {
		t.Fatal("old lines were broken again")
	}
	d.shows("token token")
	d.intact()
}

// TestStoredEntryBreaksItsOwnRows: a call that is answered in a step far up, or
// at the end, leaves the rows of the others.
func TestStoredEntryBreaksItsOwnRows(t *testing.T) {
	d, l := long(t)
	v := d.a.script
	before := &v.laid[0]
	for i := range 20 {
		d.feeds(l, agent.Event{Kind: agent.EventEntry, Entry: core.TranscriptEntry{
			Kind: core.TranscriptCall, Turn: 2, Step: 1, Call: core.ToolCall{ID: fmt.Sprint(i), Name: "SITE.read", Args: "{}"},
		}})
	}
	if n := len(v.entries); n != 50_001 || before != &v.laid[0] && cap(v.laid) < 100_001 {
		t.Fatalf("%d entries, want one for the step", n)
	}
	d.shows("→ 20 calls · 20 × SITE.read")
	d.intact()
}

// TestTokenWakesTheLoop: nobody looks for tokens; what arrives is in the next frame.
func TestTokenWakesTheLoop(t *testing.T) {
	if term.FrameEvery > tokenWithin*9/10 {
		t.Errorf("a token waits %s for its frame, it may take %s in all", term.FrameEvery, tokenWithin)
	}
	feed := newTurnFeed()
	feed.put(agent.Event{})
	feed.put(agent.Event{})
	woken := term.Msg(turnFeedMsg{"s", feed})
	if msg := feed.hears(t.Context(), "s")(); msg != woken || len(feed.take()) != 2 {
		t.Errorf("got %v, want both events at once", msg)
	}
	got := make(chan term.Msg)
	go func() { got <- feed.hears(t.Context(), "s")() }()
	feed.put(agent.Event{})
	if msg := <-got; msg != woken {
		t.Error("an event does not wake the loop")
	}
	go func() { got <- feed.hears(t.Context(), "s")() }()
	close(feed.ended)
	if msg := <-got; msg != nil {
		t.Errorf("the end gives %v", msg)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if msg := newTurnFeed().hears(ctx, "s")(); msg != nil {
		t.Errorf("the end of the screen gives %v", msg)
	}
}

func BenchmarkDelta(b *testing.B) {
	d, l := long(b)
	for b.Loop() {
		l.feed.put(agent.Event{Kind: agent.EventDelta, Text: "xxxxx "})
		d.a.Update(turnFeedMsg{l.session, l.feed})
		d.a.View()
	}
}

// seenOutput is a terminal that tells when a text is written to it.
type seenOutput struct {
	want chan string
	seen chan time.Time
	text string
}

func (o *seenOutput) Write(p []byte) (int, error) {
	select {
	case o.text = <-o.want:
	default:
	}
	if o.text != "" && bytes.Contains(p, []byte(o.text)) {
		o.text = ""
		o.seen <- time.Now()
	}
	return len(p), nil
}

// BenchmarkTokenToTerminal is the whole way of a token, from the runner's event
// to the bytes that the terminal gets, under 100,000 lines of transcript.
func BenchmarkTokenToTerminal(b *testing.B) {
	out := &seenOutput{want: make(chan string, 1), seen: make(chan time.Time)}
	feeds := make(chan func(agent.Event))
	r := &fakeRunner{run: func(ctx context.Context, observe func(agent.Event)) error {
		observe(agent.Event{Kind: agent.EventStarted, Turn: 2})
		feeds <- observe
		<-ctx.Done()
		return ctx.Err()
	}}
	in, keys := io.Pipe()
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(b.Context())
	go func() {
		ended <- Run(ctx, Options{
			Kernel: longSite(), Clock: &hastyClock{now: start}, Authority: core.Authority{Person: "alice", Means: core.MeansTerminal},
			Input: in, Output: out, Environ: []string{"TERM=xterm-256color"}, Width: 120, Height: 40, Runner: r,
		})
	}()
	press := func(until, keysOf string) {
		out.want <- until
		if _, err := io.WriteString(keys, keysOf); err != nil {
			b.Fatal(err)
		}
		<-out.seen
	}
	press("Sessions ──", "2")
	press("100,", "\r")
	press("zebra", "izebra")
	if _, err := io.WriteString(keys, "\r"); err != nil {
		b.Fatal(err)
	}
	observe := <-feeds
	var took []time.Duration
	for b.Loop() {
		token := fmt.Sprintf("w%06dw", len(took))
		<-time.After(time.Duration(rand.Int64N(int64(2 * term.FrameEvery)))) // tokens know nothing of frames
		out.want <- token
		began := time.Now()
		observe(agent.Event{Kind: agent.EventDelta, Turn: 2, Step: 1, Text: "\n" + token})
		took = append(took, (<-out.seen).Sub(began))
	}
	cancel()
	if err := <-ended; err != nil {
		b.Error(err)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms_p50")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms_p99(<=10)")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "ms_most")
}
