package tui

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"gatehouse/core"
)

// emulator is a terminal that a program writes to; a test looks at its screen,
// never at what was written.
type emulator struct {
	mu      sync.Mutex
	em      *vt.Emulator
	changed chan struct{}
}

func newEmulator(t *testing.T, w, h int) *emulator {
	e := &emulator{em: vt.NewEmulator(w, h), changed: make(chan struct{}, 1)}
	drained := make(chan struct{})
	go func() { // answers to what the program asks the terminal
		defer close(drained)
		_, _ = io.Copy(io.Discard, e.em)
	}()
	t.Cleanup(func() {
		// Closing the emulator while it is read from is a race of its own: its
		// pipe ends first.
		if pipe, ok := e.em.InputPipe().(io.Closer); ok {
			_ = pipe.Close() // the next line says whether it worked
		}
		<-drained
		if err := e.em.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func (e *emulator) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, err := e.em.Write([]byte(strings.ReplaceAll(string(p), "\n", "\r\n"))); err != nil {
		return 0, err
	}
	select {
	case e.changed <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (e *emulator) screen() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return ansi.Strip(e.em.Render())
}

func (e *emulator) alternate() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.em.IsAltScreen()
}

// waitFor waits until the screen shows every text.
func (e *emulator) waitFor(t *testing.T, texts ...string) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		screen, all := e.screen(), true
		for _, text := range texts {
			all = all && strings.Contains(screen, text)
		}
		if all {
			return
		}
		select {
		case <-e.changed:
		case <-deadline:
			t.Fatalf("the terminal never showed %q:\n%s", texts, screen)
		}
	}
}

// hastyClock is an hour of a person's time in a moment: no dialog has just
// opened.
type hastyClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *hastyClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Second)
	return c.now
}

// TestScreensInATerminal opens each screen in a terminal emulator, by keys.
func TestScreensInATerminal(t *testing.T) {
	k := site()
	e := newEmulator(t, 120, 40)
	press, ended := e.run(t, Options{Kernel: k})
	e.waitFor(t, "Needs you · by session", "Q7 Fetch from status.example?")
	if !e.alternate() {
		t.Error("the screen is not the alternate one")
	}
	press("jj\r")
	e.waitFor(t, "#18 execute DELETE FROM drafts", "A approve…")
	press("\x1b[200~AAAAc\n\x1b[201~")
	e.waitFor(t, "pasted text was left out")
	press("\t")
	e.waitFor(t, "space mark")
	press("2")
	e.waitFor(t, "Sessions ──", "waiting-decision")
	press("\r")
	e.waitFor(t, "Transcript · site-refresh", "SITE.list")
	press("?")
	e.waitFor(t, "Keys · transcript")
	press("q")
	e.waitFor(t, "Transcript")
	press("1jjjA")
	e.waitFor(t, "1 draft")
	press("c")
	e.waitFor(t, "Carry out 1 decision")
	press("\x1b")
	e.waitFor(t, "nothing was carried out")
	press("q")
	e.waitFor(t, "Quit with 1 draft")
	press("\r")
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if e.alternate() {
		t.Error("the alternate screen was not left")
	}
	if len(k.drafts) != 1 || k.confirms != 0 {
		t.Errorf("got %d drafts and %d confirms", len(k.drafts), k.confirms)
	}
}

// TestRecordInATerminal opens the record in a terminal emulator, by keys, and
// lets a row with codes for a terminal in it arrive.
func TestRecordInATerminal(t *testing.T) {
	k := happened()
	e := newEmulator(t, 120, 40)
	press, ended := e.run(t, Options{Kernel: k})
	e.waitFor(t, "Needs you")
	press("5")
	e.waitFor(t, "Record ──", "not verified", "11 rows")
	press("V")
	e.waitFor(t, "✓ verified 11 rows")
	press("\x1b[200~dddeV\n\x1b[201~")
	e.waitFor(t, "pasted text was left out", "Record ──")
	press("/")
	press("kind:submit")
	e.waitFor(t, "/ kind:submit")
	press("\r")
	e.waitFor(t, "Record · / kind:submit")
	press("\x1b")
	e.waitFor(t, "Record ──")
	evil := reads(1)
	evil[0].Subject = "SITE.\x1b]0;owned\a\x1b[2J\u202eread"
	k.happen(evil...)
	press("r")
	e.waitFor(t, "1 new .", "✓ verified 11 rows") // the cursor is further down: nothing jumps
	press("g")
	e.waitFor(t, "12 rows", "SITE.read", "▸· 12")
	press("\r")
	e.waitFor(t, "Row 12", "characters that a terminal would obey")
	press("\x1b")
	e.waitFor(t, "Record ──")
	press("q")
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if e.alternate() {
		t.Error("the alternate screen was not left")
	}
}

// run shows the screens in the emulator until they are left: press types, and ended has how they ended.
func (e *emulator) run(t *testing.T, o Options) (press func(string), ended <-chan error) {
	t.Helper()
	in, keys := io.Pipe()
	o.Clock, o.Authority = &hastyClock{now: start}, core.Authority{Person: "alice", Means: core.MeansTerminal}
	o.Input, o.Output, o.Environ, o.Width, o.Height = in, e, []string{"TERM=xterm-256color"}, 120, 40
	done := make(chan error, 1)
	go func() { done <- Run(context.Background(), o) }()
	return func(s string) {
		t.Helper()
		if _, err := io.WriteString(keys, s); err != nil {
			t.Fatal(err)
		}
	}, done
}
