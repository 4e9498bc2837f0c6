package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gatehouse/gatekeepers/model/openai/fake"
)

// workplace is a folder, a model server and a terminal, apart from the person
// who runs the tests.
type workplace struct {
	t      *testing.T
	dir    string
	site   string
	env    []string
	socket string
}

// newWorkplace makes one with a page to work on.
func newWorkplace(t *testing.T, server *fake.Server, page string) *workplace {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("tmux is not installed, and CI must run this test")
		}
		t.Skip("tmux is not installed: a session that goes on in the screens is not tested in a real terminal")
	}
	dir := t.TempDir()
	w := &workplace{t: t, dir: dir, site: filepath.Join(dir, "site"), socket: filepath.Join(dir, "tmux")}
	w.env = []string{
		"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "HOME=" + dir, "XDG_DATA_HOME=" + dir, "XDG_CONFIG_HOME=" + dir, "XDG_STATE_HOME=" + dir,
		"GATEHOUSE_OPENAI_BASE_URL=" + server.Base(), "GATEHOUSE_OPENAI_MODEL=tiny", "GATEHOUSE_OPENAI_KEY_ENV=MY_KEY", "MY_KEY=sk-of-the-test",
		"GATEHOUSE_BUDGET_SESSION_TOKENS=50000",
	}
	if err := os.Mkdir(w.site, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.site, "index.html"), []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *workplace) page() string {
	w.t.Helper()
	raw, err := os.ReadFile(filepath.Join(w.site, "index.html"))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(raw)
}

// gatehouse runs a command to its end.
func (w *workplace) gatehouse(args ...string) string {
	w.t.Helper()
	c := exec.Command("gatehouse", args...)
	c.Env, c.Dir = w.env, w.dir
	out, err := c.CombinedOutput()
	if err != nil {
		w.t.Fatalf("gatehouse %q: %v: %s", args, err, out)
	}
	return string(out)
}

// screens opens the screens in a terminal of their own.
func (w *workplace) screens(more ...string) {
	w.t.Helper()
	args := append([]string{"-f", os.DevNull, "new-session", "-d", "-x", "120", "-y", "40", "-c", w.dir, "env", "-i"}, append(w.env, more...)...)
	w.tmux(append(args, "gatehouse")...)
	pid, _ := strconv.Atoi(strings.TrimSpace(w.tmux("list-panes", "-F", "#{pane_pid}")))
	w.t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", w.socket, "kill-server").Run() // it may have ended
		for n := 0; pid > 0 && syscall.Kill(pid, 0) == nil && n < 500; n++ {
			<-time.After(10 * time.Millisecond) // the program anchors its record at its end, in a folder that goes with the test
		}
	})
	w.shows("gatehouse", "1 Queue")
}

func (w *workplace) tmux(args ...string) string {
	w.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-u", "-S", w.socket}, args...)...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// keys presses keys by their names for tmux.
func (w *workplace) keys(keys ...string) {
	w.t.Helper()
	w.tmux(append([]string{"send-keys"}, keys...)...)
}

func (w *workplace) types(text string) { w.t.Helper(); w.tmux("send-keys", "-l", text) }

// shows looks until the screen shows every text. tmux has no event for it.
func (w *workplace) shows(texts ...string) {
	w.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(30 * time.Second)
	for {
		screen := w.tmux("capture-pane", "-p")
		flat, all := strings.Join(strings.Fields(screen), " "), true
		for _, text := range texts {
			all = all && strings.Contains(flat, text)
		}
		if all {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			w.t.Fatalf("the terminal never showed %q:\n%s", texts, screen)
		}
	}
}

// presses presses a key until it has its effect: a dialog that just opened
// drops keys.
func (w *workplace) presses(key, text string) {
	w.t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for range 50 {
		w.keys(key)
		<-tick.C
		if strings.Contains(w.tmux("capture-pane", "-p"), text) {
			return
		}
	}
	w.t.Fatalf("%s never led to %q:\n%s", key, text, w.tmux("capture-pane", "-p"))
}

func edit(id, old, now string) fake.Call {
	return fake.Call{ID: id, Name: "SITE-edit", Args: fmt.Sprintf(`{"path":"index.html","old":%q,"new":%q}`, old, now)}
}

// TestTmuxSessionGoesOnInTheScreens: an agent that run began edits a folder and
// leaves a queue; the screens show what it did, take messages, stream the
// answers, and nothing of the folder changes before a person approves.
func TestTmuxSessionGoesOnInTheScreens(t *testing.T) {
	server := fake.Start(
		fake.Reply{Text: "I look first.", Calls: []fake.Call{{ID: "c1", Name: "SITE-read", Args: `{"path":"index.html"}`}}, Usage: &fake.Usage{Input: 100, Output: 10}},
		fake.Reply{Calls: []fake.Call{edit("c2", "old head", "new head")}},
		fake.Reply{Text: "The head waits for you."},
		fake.Reply{Text: "The footer comes next", Hang: true},
		fake.Reply{Text: "Now the footer.", Calls: []fake.Call{edit("c3", "old foot", "new foot")}, Usage: &fake.Usage{Input: 300, Output: 20}},
		fake.Reply{Text: "That waits as well.", Usage: &fake.Usage{Input: 400, Output: 5}},
	)
	defer server.Close()
	const before = "old head\nold foot\n"
	w := newWorkplace(t, server, before)
	out := w.gatehouse("run", "--provider", "openai", "--bind", "SITE=file://"+w.site, "renew the head")
	if !strings.Contains(out, "The head waits for you.") || !strings.Contains(out, "waiting-decision") {
		t.Fatalf("run printed %s", out)
	}

	w.screens("GATEHOUSE_PROVIDER=openai")
	w.shows("1 waiting")
	w.keys("2")
	w.shows("run-", "waiting-decision")
	w.keys("Enter")
	w.shows("renew the head", "→ SITE.read · ok", "→ SITE.edit · ok #1", "The head waits for you.", "turn 1: done · step 3 of 30 · openai tiny", "of 50,000 tokens")

	w.keys("i")
	w.types("and the footer")
	w.keys("Enter")
	w.shows("The footer comes next", "answering · step 1 of 30") // it never ends: what is shown is the stream
	w.keys("C-c")
	w.shows("turn 2: stopped")
	w.types("go on with it")
	w.keys("Enter")
	w.shows("Now the footer.", "→ SITE.edit · ok #2", "That waits as well.", "turn 3: done · step 2 of 30 · openai tiny · 725 tokens", "2 waiting")

	w.keys("Escape")
	w.shows("enter step")
	w.presses("G", "▸ ── turn 3: done")
	w.keys("k", "k", "Enter")
	w.shows("Step 1 of turn 3 · openai tiny", "→ SITE.edit · ok #2", `"new": "new foot"`)
	w.keys("G", "o")
	w.shows("── #2 edit index.html", "Needs you")
	if now := w.page(); now != before {
		t.Fatalf("the page changed before it was approved: %q", now)
	}

	w.keys("Tab")
	w.keys(".") // it arrived after the queue was read
	w.shows("2 in all")
	w.keys("a")
	w.shows("2 marked")
	w.keys("A")
	w.shows("2 drafts")
	w.keys("c")
	w.shows("Carry out 2 decisions")
	w.presses("Right", "[ Confirm ]")
	w.keys("Enter")
	w.shows("2 applied")
	if now := w.page(); now != "new head\nnew foot\n" {
		t.Errorf("the page is %q", now)
	}
}

// TestTmuxNoModel: a person who writes where no model is named is told the
// settings and their file, and keeps what was written.
func TestTmuxNoModel(t *testing.T) {
	server := fake.Start()
	defer server.Close()
	w := newWorkplace(t, server, "")
	w.gatehouse("session", "new", "work")
	w.screens()
	w.keys("2")
	w.shows("work")
	w.keys("Enter")
	w.shows("No turn was run")
	w.keys("Tab")
	w.types("hello")
	w.keys("Enter")
	w.shows("→ no model is configured; set provider to openai, and openai.base_url and openai.model to what answers;", "settings: "+w.dir, "› hello")
	if asked := server.Asked(); len(asked) > 0 {
		t.Errorf("%d questions were asked", len(asked))
	}
}

// TestTmuxWhatStopsAnAgent: what the model or its server refuses is one line in
// the screens that names the setting.
func TestTmuxWhatStopsAnAgent(t *testing.T) {
	server := fake.Start()
	defer server.Close()
	server.Key = "sk-of-the-test"
	w := newWorkplace(t, server, "")
	for _, c := range []struct{ name, env, want string }{
		{"wrong key", "MY_KEY=sk-of-another", "refused the key in MY_KEY (openai.key_env)"},
		{"missing key", "MY_KEY=", "wants a key; set MY_KEY, or name another variable with openai.key_env"},
		{"unknown model", "GATEHOUSE_OPENAI_MODEL=huge", "set openai.model to one that " + server.Base() + " offers: tiny"},
		{"no model server", "GATEHOUSE_OPENAI_BASE_URL=" + server.URL + "/elsewhere", "check openai.base_url (most end in /v1)"},
		{"budget of zero", "GATEHOUSE_BUDGET_DAY_TOKENS=0", "→ budget.day_tokens is 0: no model may be asked; raise it in " + w.dir},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &workplace{t: t, dir: w.dir, site: w.site, env: w.env, socket: filepath.Join(t.TempDir(), "tmux")}
			w.gatehouse("session", "new", strings.ReplaceAll(c.name, " ", "-"))
			w.screens("GATEHOUSE_PROVIDER=openai", c.env)
			w.keys("2")
			w.shows("Sessions ──")
			w.presses("g", "▸  "+strings.ReplaceAll(c.name, " ", "-"))
			w.keys("Enter")
			w.shows("No turn was run", "Transcript · "+strings.ReplaceAll(c.name, " ", "-"))
			w.keys("i")
			w.types("hello")
			w.keys("Enter")
			w.shows("turn 1: ", c.want)
		})
	}
}
