package main

import (
	"context"
	"os"
)

// openScreens starts the terminal UI, or says in one line which command to use
// where there is no terminal for it (terminal UI T29).
func (a *app) openScreens(ctx context.Context) error {
	if reason := a.noScreen(); reason != "" {
		return usage("use gatehouse queue list, or see gatehouse --help", "no screens: %s", reason)
	}
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	return a.runScreens(ctx, p, "")
}

// noScreen says why the terminal UI cannot be opened; "" where it can.
func (a *app) noScreen() string {
	switch {
	case !a.in.tty.stdin:
		return "standard input is no terminal"
	case !a.in.tty.stdout:
		return "standard output is no terminal"
	case os.Getenv("TERM") == "dumb" || os.Getenv("TERM") == "":
		return "the terminal cannot move its cursor (TERM)"
	}
	return ""
}

// colourless reports that no colour is wanted.
func (a *app) colourless() bool { return a.flags.noColor || os.Getenv("NO_COLOR") != "" }

func (a *app) runScreens(_ context.Context, _ *parts, _ string) error {
	return usage("use gatehouse queue list", "no screens yet")
}
