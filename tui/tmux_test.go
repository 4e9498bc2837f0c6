package tui_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/tui"
)

// The scripts in this file run the screens as a process of its own in tmux:
// this test's binary, told by the variable to be the program.
const beProgram = "GATEHOUSE_TUI_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(beProgram); dir != "" {
		os.Exit(program(dir, os.Getenv("GATEHOUSE_TUI_TEST_KILL")))
	}
	os.Exit(m.Run())
}

// program shows the screens over the store in a folder.
func program(dir, kill string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	h, err := openHouse(ctx, dir, killAt(kill))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	watch, err := h.store.Watch(ctx)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "pid"), []byte(strconv.Itoa(os.Getpid())), 0o600)
	}
	if err == nil {
		err = tui.Run(ctx, tui.Options{
			Kernel: h.kernel, Clock: wallClock{}, Watch: watch, Alive: h.alive.Alive,
			Authority: core.Authority{Person: "alice", Means: core.MeansTerminal},
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("the program ended well")
	return 0
}

// killer kills its process when an effect has returned for the nth time and its
// outcome is not stored.
type killer struct{ left atomic.Int32 }

func killAt(nth string) core.Fault {
	n, err := strconv.Atoi(nth)
	if err != nil {
		return nil
	}
	k := &killer{}
	k.left.Store(int32(n))
	return k
}

func (k *killer) At(p core.FaultPoint) error {
	if p == core.FaultConfirmDispatched && k.left.Add(-1) == 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // no return
		select {}
	}
	return nil
}

// pane is a tmux server of this test with one pane.
type pane struct {
	t      *testing.T
	socket string
}

func newPane(t *testing.T, w, h int) *pane {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("tmux is not installed, and CI must run this test")
		}
		t.Skip("tmux is not installed: start, resize, suspend and kill in a real terminal are not tested")
	}
	p := &pane{t, filepath.Join(t.TempDir(), "tmux")}
	p.run("-f", os.DevNull, "new-session", "-d", "-x", fmt.Sprint(w), "-y", fmt.Sprint(h), "env PS1='shell> ' bash --norc --noprofile")
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", p.socket, "kill-server").Run() })
	p.run("set-option", "-g", "window-size", "manual")
	p.waitFor("shell>")
	return p
}

func (p *pane) run(args ...string) string {
	p.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", p.socket}, args...)...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// start types the command that runs the program over a folder, and waits for
// what it shows first.
func (p *pane) start(dir, env string, texts ...string) {
	p.t.Helper()
	self, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	p.text(fmt.Sprintf("%s=%s %s %s", beProgram, dir, env, self))
	p.keys("Enter")
	if len(texts) == 0 {
		texts = []string{"Needs you", "▸", "low risk"}
	}
	p.waitFor(texts...)
}

func (p *pane) keys(keys ...string) {
	p.t.Helper()
	p.run(append([]string{"send-keys"}, keys...)...)
}

func (p *pane) text(s string) { p.t.Helper(); p.run("send-keys", "-l", s) }

func (p *pane) screen() string { return p.run("capture-pane", "-p") }

// waitFor looks until the screen shows every text.
func (p *pane) waitFor(texts ...string) {
	p.t.Helper()
	p.waitUntil(fmt.Sprintf("%q", texts), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

// waitUntil looks until the screen is as wanted. tmux has no event for it.
func (p *pane) waitUntil(what string, ok func(string) bool) {
	p.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(60 * time.Second)
	for {
		screen := p.screen()
		if ok(screen) {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			p.t.Fatalf("the terminal never showed %s:\n%s", what, screen)
		}
	}
}

// press presses a key until it has its effect: a dialog that just opened drops
// keys.
func (p *pane) press(key string, texts ...string) {
	p.t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for range 50 {
		p.keys(key)
		<-tick.C
		screen, all := p.screen(), true
		for _, text := range texts {
			all = all && strings.Contains(screen, text)
		}
		if all {
			return
		}
	}
	p.t.Fatalf("%s never led to %q:\n%s", key, texts, p.screen())
}

// restored fails unless the terminal is as a shell needs it.
func (p *pane) restored() {
	p.t.Helper()
	p.waitUntil("a prompt at its end", func(screen string) bool { return strings.HasSuffix(strings.TrimSpace(screen), "shell>") })
	if got := strings.TrimSpace(p.run("display-message", "-p", "#{alternate_on} #{cursor_flag} #{mouse_any_flag}")); got != "0 1 0" {
		p.t.Errorf("alternate screen, cursor, mouse are %q, want 0 1 0", got)
	}
	p.text("clear; stty -a | tr ' ;' '\\n\\n' | grep -xE 'icanon|echo|isig' | sort | tr '\\n' ' '; echo done")
	p.keys("Enter")
	p.waitFor("echo icanon isig done")
}

func TestTmuxStartDecideQuit(t *testing.T) {
	p := newPane(t, 80, 24)
	dir := t.TempDir()
	h := newHouse(t, dir)
	h.furnish(t, 4)
	p.start(dir, "")
	p.keys("A", "j", "A", "j", "A", "j")
	p.waitFor("3 drafts")
	p.keys("x")
	p.waitFor("Reject #4")
	p.press("n", "reason n")
	p.text("ot this")
	p.keys("Enter")
	p.waitFor("4 drafts")
	p.keys("c")
	p.waitFor("Carry out 4 decisions", "[ Cancel ]")
	p.press("Right", "[ Confirm ]")
	p.keys("Enter")
	p.waitFor("1 rejected · 3 applied")
	p.keys("Escape")
	p.waitFor("Nothing waits for you.")
	p.keys("q")
	p.waitFor("the program ended well")
	p.restored()
}

func TestTmuxResize(t *testing.T) {
	p := newPane(t, 200, 50)
	dir := t.TempDir()
	newHouse(t, dir).furnish(t, 30)
	p.start(dir, "")
	p.waitFor("│ ● pending", "30 in all")
	p.run("resize-window", "-x", "60", "-y", "15")
	p.waitFor("A approve", "30 in all", "───────────")
	p.run("resize-window", "-x", "40", "-y", "10")
	p.waitFor("needs 60×15", "40×10")
	p.run("resize-window", "-x", "80", "-y", "24")
	p.waitFor("── #1 append notes/item-1", "30 in all")
	if lines := strings.Count(strings.TrimRight(p.screen(), "\n"), "\n") + 1; lines != 24 {
		t.Errorf("the screen has %d lines, want 24", lines)
	}
}

func TestTmuxSuspend(t *testing.T) {
	p := newPane(t, 80, 24)
	dir := t.TempDir()
	newHouse(t, dir).furnish(t, 2)
	p.start(dir, "")
	p.keys("C-z")
	p.waitFor("Stopped")
	p.restored()
	p.text("fg")
	p.keys("Enter")
	p.waitFor("Needs you", "2 in all")
	p.keys("j", "A")
	p.waitFor("drafted: approve #2")
}

// TestTmuxT28_TerminatedWithDrafts: the terminal is restored, and the drafts are
// there when it is started again.
func TestTmuxT28_TerminatedWithDrafts(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			p := newPane(t, 80, 24)
			dir := t.TempDir()
			newHouse(t, dir).furnish(t, 3)
			p.start(dir, "")
			p.keys("A", "j", "A")
			p.waitFor("2 drafts")
			raw, err := os.ReadFile(filepath.Join(dir, "pid"))
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(string(raw))
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(pid, signal); err != nil {
				t.Fatal(err)
			}
			p.waitFor("the program ended well")
			p.restored()
			p.start(dir, "")
			p.waitFor("2 drafts", "A  #1", "A  #2")
		})
	}
}

// TestTmuxKilledWhileConfirming: SIGKILL after the second effect. Started again,
// the screen says what is applied, what is unknown, what is pending.
func TestTmuxKilledWhileConfirming(t *testing.T) {
	p := newPane(t, 80, 24)
	dir := t.TempDir()
	h := newHouse(t, dir)
	h.furnish(t, 5)
	p.start(dir, "GATEHOUSE_TUI_TEST_KILL=2")
	p.keys("a")
	p.waitFor("5 marked")
	p.keys("A")
	p.waitFor("5 drafts")
	p.keys("c")
	p.waitFor("Carry out 5 decisions")
	p.press("Right", "[ Confirm ]")
	p.keys("Enter")
	p.waitFor("shell>") // over what the screen left behind
	p.text("reset; echo clean")
	p.keys("Enter")
	p.waitFor("clean\n")
	p.start(dir, "", "Last plan, cut off · 1 outcome unknown · 3 still pending · 1 applied", "#2", "U settle")
	p.keys("U")
	p.waitFor("What became of #2")
	p.press("1", "▸ 1  It was applied")
	p.keys("Enter")
	p.text("seen there")
	p.keys("Enter")
	p.waitFor("3 still pending · 2 applied")
	for id, want := range map[core.ActionID]core.State{1: core.StateApplied, 2: core.StateApplied, 3: core.StatePending, 5: core.StatePending} {
		if got := h.state(t, id); got != want {
			t.Errorf("#%d is %s, want %s", id, got, want)
		}
	}
	p.keys("Escape")
	p.waitFor("Needs you", "3 in all")
}
