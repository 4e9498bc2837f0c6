package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"gatehouse/core"
)

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check that everything is in place here",
		Long: `Check what the program needs here: the configuration, the store, git, the
terminal, and whether decisions from this process count. Every line says what to
do. The exit code is 1 when something does not work.`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context()) },
	}
}

// checkState is how one check ended.
type checkState string

// Something to know is not something wrong.
const (
	checkOK   checkState = "ok"
	checkNote checkState = "note"
	checkBad  checkState = "bad"
)

// check is one line of the doctor, and what --json prints of it.
type check struct {
	Name   string     `json:"name"`
	State  checkState `json:"state"`
	Detail string     `json:"detail"`
	Hint   string     `json:"hint"`
}

func (a *app) doctor(ctx context.Context) error {
	checks := []check{{"version", checkOK, fmt.Sprintf("%s, %s, %s", version().Version, version().Go, version().Platform), ""}}
	c, err := a.settings()
	if err != nil {
		checks = append(checks, a.badCheck(ctx, "configuration", err))
	} else {
		checks = append(checks, configurationCheck(c))
		checks = append(checks, a.storeChecks(ctx)...)
		checks = append(checks, decisionCheck(a, c), logCheck(c))
	}
	checks = append(checks, gitCheck(ctx), a.screenCheck())
	bad := 0
	t := newTable()
	for _, one := range checks {
		if one.State == checkBad {
			bad++
		}
		if a.json {
			if err := a.object(one); err != nil {
				return err
			}
			continue
		}
		words := one.Detail
		if one.Hint != "" {
			words += "; " + one.Hint
		}
		t.add(string(one.State), one.Name, words)
	}
	if !a.json {
		if err := t.print(a.out, ""); err != nil {
			return err
		}
	}
	switch {
	case bad == 0:
		return nil
	case a.json:
		return told(codeFailed)
	}
	return &fault{code: codeFailed, message: count(bad, "thing") + " to repair", hint: "see the lines that begin with bad"}
}

// badCheck is a check that ended with an error.
func (a *app) badCheck(ctx context.Context, name string, err error) check {
	f := a.faultOf(ctx, err)
	return check{name, checkBad, f.message, f.hint}
}

func configurationCheck(c *configuration) check {
	if _, err := os.Stat(c.path); err != nil {
		return check{"configuration", checkOK, "none, defaults hold (" + c.path + ")", ""}
	}
	return check{"configuration", checkOK, c.path, ""}
}

func (a *app) storeChecks(ctx context.Context) []check {
	p, err := a.parts(ctx)
	if err != nil {
		return []check{a.badCheck(ctx, "store", err)}
	}
	checks := []check{{"store", checkOK, p.store.Path(), ""}}
	if info, err := os.Stat(filepath.Dir(p.store.Path())); err == nil && info.Mode().Perm()&0o077 != 0 {
		checks[0].State, checks[0].Hint = checkNote, "others can list its folder: chmod 700 "+filepath.Dir(p.store.Path())
	}
	v, err := p.store.Fsck(ctx)
	switch {
	case err != nil:
		return append(checks, a.badCheck(ctx, "record", err))
	case !v.OK():
		return append(checks, check{"record", checkBad, fmt.Sprintf("row %d: %s", v.FirstBad.Seq, v.FirstBad.Reason), "restore a backup"})
	}
	checks = append(checks, check{"record", checkOK, fmt.Sprintf("%s, chain and tables whole", count(int(v.Rows), "row")), ""}, a.anchorCheck(ctx, p))
	page, err := p.kernel.Queue(ctx, core.QueueQuery{Limit: 1, Count: true})
	if err != nil {
		return append(checks, a.badCheck(ctx, "queue", err))
	}
	waits := check{"queue", checkOK, fmt.Sprintf("%d waiting, %d unknown, %s", page.Waiting, page.Unknown, count(page.Questions, "question")), ""}
	if page.Unknown > 0 {
		waits.State, waits.Hint = checkNote, "settle those with unknown outcome: gatehouse queue list --state unknown"
	}
	return append(checks, waits)
}

// decisionCheck says whether a decision from this process would count.
func decisionCheck(a *app, c *configuration) check {
	mark, key := agentMark(c.Decisions.AgentMarks), os.Getenv(operatorKey) != ""
	switch {
	case key:
		return check{"decisions", checkOK, "made by operator key from here", ""}
	case mark != "":
		return check{"decisions", checkNote, "refused from here: an agent started this process (" + mark + " is set)", "decide in a terminal of your own"}
	case a.in.tty.stdin:
		return check{"decisions", checkOK, "made by terminal from here", ""}
	case c.Decisions.RequireKey:
		return check{"decisions", checkNote, "refused from here: decisions.require_key is set and this is no terminal", "set " + operatorKey}
	}
	return check{"decisions", checkOK, "made by pipe from here", ""}
}

func logCheck(c *configuration) check {
	dir := filepath.Dir(c.Log.File)
	for {
		info, err := os.Stat(dir)
		switch {
		case err == nil && info.IsDir():
			return check{"log", checkOK, c.Log.File, ""}
		case err == nil:
			return check{"log", checkBad, dir + ": not a folder", "set log.file to a file that can be made"}
		case filepath.Dir(dir) == dir:
			return check{"log", checkBad, reason(err), "set log.file to a file that can be made"}
		}
		dir = filepath.Dir(dir)
	}
}

func gitCheck(ctx context.Context) check {
	path, err := exec.LookPath("git")
	if err != nil {
		return check{"git", checkNote, "not found: status, diff and log of work trees are refused, and there is no demo", "install git"}
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return check{"git", checkBad, path + ": " + exit.String(), "install it again"}
		}
		return check{"git", checkBad, path + ": " + err.Error(), "install it again"}
	}
	return check{"git", checkOK, strings.TrimPrefix(strings.TrimSpace(string(out)), "git version ") + ", " + path, ""}
}

func (a *app) screenCheck() check {
	if why := a.noScreen(); why != "" {
		return check{"screens", checkNote, "cannot be opened here: " + why, "the commands do everything that the keys do"}
	}
	words := "colours of the terminal"
	if a.colourless() {
		words = "no colour (NO_COLOR)"
	}
	return check{"screens", checkOK, "TERM=" + os.Getenv("TERM") + ", " + words, ""}
}
