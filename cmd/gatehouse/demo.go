package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/gatekeepers/model/script"
)

// demoFiles are the site that the demo makes, and the script of its agent.
//
//go:embed demo
var demoFiles embed.FS

// What the demo's session is called, and what its agent is asked to do.
const (
	demoSession = "site-refresh"
	demoBinding = "SITE"
	demoTask    = "Get the bakery's site ready for summer: hours, a folder of summer pages, and tidy up what is old."
	demoMarker  = ".gatehouse-demo"
)

func (a *app) demoCommand() *cobra.Command {
	var d demo
	c := &cobra.Command{
		Use:   "demo",
		Short: "Try it: a small site, an agent at work on it, a queue to decide",
		Long: `Make DIR/site, a small web site under git, and DIR/gatehouse.db; let a scripted
agent work on the site; then open the queue. It needs no network and no key.

With --headless, or without a terminal, it prints what the agent did, what waits,
and the commands with which to go on. Without --dir it uses a new folder among
the temporary ones. A folder that exists is refused, unless a demo made it and
--fresh is given: then the demo begins anew.`,
		Example: `  gatehouse demo
  gatehouse demo --headless --dir ./try`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), d) },
	}
	c.Flags().StringVar(&d.dir, "dir", "", "make it in this `FOLDER`")
	c.Flags().BoolVar(&d.headless, "headless", false, "open no screens")
	c.Flags().BoolVar(&d.fresh, "fresh", false, "replace what an earlier demo made there")
	return c
}

// demo says where and how.
type demo struct {
	dir      string
	headless bool
	fresh    bool
}

func (d demo) site() string  { return filepath.Join(d.dir, "site") }
func (d demo) store() string { return filepath.Join(d.dir, "gatehouse.db") }

func (a *app) demo(ctx context.Context, d demo) error {
	settings, err := a.settings()
	if err != nil {
		return err
	}
	quiet := !d.headless && a.noScreen() == ""
	p, err := a.makeDemo(ctx, &d, settings, quiet)
	if err != nil {
		return err
	}
	if quiet {
		if err := a.runScreens(ctx, p, "the demo lies in "+d.dir); err != nil {
			return err
		}
	}
	return a.printDemo(ctx, p, d)
}

// prepare makes the folder with its marker, or empties one that a demo made.
func (d *demo) prepare() error {
	if d.dir == "" {
		made, err := os.MkdirTemp("", "gatehouse-demo-")
		if err != nil {
			return err
		}
		d.dir = made
		return d.mark()
	}
	absolute, err := filepath.Abs(d.dir)
	if err != nil {
		return err
	}
	d.dir = absolute
	_, err = os.Lstat(d.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(d.dir, 0o700); err != nil {
			return err
		}
		return d.mark()
	case err != nil:
		return err
	}
	marker, err := os.ReadFile(filepath.Join(d.dir, demoMarker))
	if err != nil || string(marker) != markerText {
		return usage("give a folder that does not exist yet", "demo: %s exists, and no demo made it", d.dir)
	}
	if !d.fresh {
		return usage("add --fresh to begin anew, or give another folder", "demo: %s holds a demo already", d.dir)
	}
	return d.clear()
}

// markerText is what the marker holds: its name alone proves nothing.
const markerText = "Made by gatehouse demo; gatehouse demo --fresh may replace what stands beside this file.\n"

func (d *demo) mark() error {
	return os.WriteFile(filepath.Join(d.dir, demoMarker), []byte(markerText), 0o600)
}

// clear removes what a demo makes, and nothing else that lies in its folder.
func (d *demo) clear() error {
	for _, made := range []string{d.site(), d.store(), d.store() + "-wal", d.store() + "-shm", d.store() + ".lock", d.store() + ".proc"} {
		if err := os.RemoveAll(made); err != nil {
			return err
		}
	}
	return nil
}

// makeSite writes the site and commits it.
func (d *demo) makeSite(ctx context.Context, git string) error {
	err := fs.WalkDir(demoFiles, "demo/site", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(d.dir, filepath.FromSlash(strings.TrimPrefix(name, "demo/")))
		if entry.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		content, err := demoFiles.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, content, 0o644)
	})
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--template=", "--initial-branch=main"},
		{"add", "--all"},
		{"commit", "--quiet", "--message=The site as it is"},
	} {
		if err := d.git(ctx, git, args); err != nil {
			return err
		}
	}
	return nil
}

// git runs git as if nothing were configured: no hooks, no signatures, a fixed
// author and date, so that every demo is the same commit.
func (d *demo) git(ctx context.Context, git string, args []string) error {
	command := exec.CommandContext(ctx, git, append([]string{
		"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "core.autocrlf=false", "-c", "commit.gpgSign=false",
	}, args...)...)
	command.Dir = d.site()
	command.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + d.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "LC_ALL=C",
		"GIT_AUTHOR_NAME=Ines", "GIT_AUTHOR_EMAIL=ines@quay-street.example", "GIT_AUTHOR_DATE=2026-01-05T09:00:00Z",
		"GIT_COMMITTER_NAME=Ines", "GIT_COMMITTER_EMAIL=ines@quay-street.example", "GIT_COMMITTER_DATE=2026-01-05T09:00:00Z",
	}
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("demo: git %s: %w: %s", args[0], err, line(string(out)))
	}
	return nil
}

// runDemo lets the scripted agent work. Where no screens follow it prints the
// transcript as it grows.
func (a *app) runDemo(ctx context.Context, p *parts, d demo, quiet bool) error {
	name := path.Join("demo", "session.yaml")
	content, err := demoFiles.ReadFile(name)
	if err != nil {
		return err
	}
	model, err := script.Parse(name, content)
	if err != nil {
		return err
	}
	session, err := p.kernel.NewSession(ctx, core.NewSession{Name: demoSession, Owner: p.person})
	if err != nil {
		return err
	}
	where, err := resourceURL(d.site())
	if err != nil {
		return err
	}
	_, err = p.kernel.Bind(ctx, core.BindRequest{Session: string(session.ID), Name: demoBinding, URL: where, Person: p.person})
	if err != nil {
		return err
	}
	o := agent.Options{Kernel: p.kernel, Model: model, Session: string(session.ID), Task: demoTask, By: p.person}
	if !quiet && !a.json {
		o.Observer = func(e agent.Event) {
			if e.Kind != agent.EventEntry {
				return
			}
			for _, l := range agent.Lines(e.Entry) {
				fmt.Fprintln(a.out, l)
			}
		}
	}
	report, err := agent.Run(ctx, o)
	if err != nil {
		return err
	}
	if report.Turn.End != core.TurnEndDone {
		return fmt.Errorf("demo: the agent's turn ended as %s: %s", report.Turn.End, report.Turn.Reason)
	}
	return nil
}

// demoObject is what --json prints of a demo.
type demoObject struct {
	Dir     string          `json:"dir"`
	Site    string          `json:"site"`
	Store   string          `json:"store"`
	Session string          `json:"session"`
	Binding string          `json:"binding"`
	Pending []core.ActionID `json:"pending"`
}

// printDemo prints what waits, and the commands with which to go on.
func (a *app) printDemo(ctx context.Context, p *parts, d demo) error {
	o := demoObject{d.dir, d.site(), d.store(), demoSession, demoBinding, []core.ActionID{}}
	t := newTable("ID", "RISK", "KIND", "TITLE")
	err := p.eachRow(ctx, core.QueueQuery{States: []string{string(core.StatePending)}}, func(row core.QueueRow) error {
		o.Pending = append(o.Pending, row.ID)
		t.add(row.ID.String(), string(row.Risk), row.Kind, row.Title)
		return nil
	})
	if err != nil {
		return err
	}
	if a.json {
		return a.object(o)
	}
	fmt.Fprintf(a.out, "\n%s in session %s; the files in %s are as they were.\n\n", waiting(len(o.Pending)), demoSession, line(d.site()))
	if err := t.print(a.out, "nothing waits"); err != nil {
		return err
	}
	name := programName()
	fmt.Fprintf(a.out, "\nGo on with\n\n  export GATEHOUSE_STORE=%s\n", quoted(d.store()))
	for _, command := range []string{
		"", " queue list", " queue show 1", " call " + demoSession + " " + demoBinding + `.read '{"path":"index.html"}'`,
		" queue plan approve @" + demoSession, " queue approve @" + demoSession, " log verify",
	} {
		fmt.Fprintf(a.out, "  %s%s\n", name, command)
	}
	_, err = fmt.Fprintf(a.out, "  git -C %s status\n\nThe first one opens the screens.\n", quoted(d.site()))
	return err
}

// programName is how a person can start this program again from here.
func programName() string {
	self, err := os.Executable()
	if err != nil {
		return "gatehouse"
	}
	if strings.Contains(filepath.ToSlash(self), "/go-build") {
		return "go run ./cmd/gatehouse" // as they just did
	}
	if found, err := exec.LookPath("gatehouse"); err == nil {
		if a, err := os.Stat(found); err == nil {
			if b, err := os.Stat(self); err == nil && os.SameFile(a, b) {
				return "gatehouse"
			}
		}
	}
	return quoted(self)
}

func waiting(n int) string {
	if n == 1 {
		return "1 change waits"
	}
	return count(n, "change") + " wait"
}

// quoted is a word for a shell.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@%", r)
	}
	if strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(line(word), "'", `'\''`) + "'"
}
