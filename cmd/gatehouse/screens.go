package main

import (
	"context"
	"os"

	"gatehouse/tui"
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
	if p.rehearsed {
		return usage("rehearse with commands, such as gatehouse session show SESSION --as "+string(p.person), "no screens: they are for the person who runs them")
	}
	begin := &firstRun{a: a, p: p, servers: localServers()}
	if err := a.showScreens(ctx, p, "", begin); err != nil || begin.made == nil {
		return err
	}
	if err := a.runScreens(ctx, begin.made, "the demo lies in "+begin.demo.dir); err != nil {
		return err
	}
	return a.printDemo(ctx, begin.made, begin.demo)
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

// runScreens shows the screens until the person leaves them. The note is their
// first line at the bottom.
func (a *app) runScreens(ctx context.Context, p *parts, note string) error {
	return a.showScreens(ctx, p, note, nil)
}

// showScreens is runScreens with what an empty home begins with.
func (a *app) showScreens(ctx context.Context, p *parts, note string, begin tui.FirstRun) error {
	watch, err := p.store.Watch(ctx)
	if err != nil {
		return err
	}
	theme := tui.ThemeDefault
	if a.colourless() || p.settings.UI.Theme == string(tui.ThemeNone) {
		theme = tui.ThemeNone
	}
	desk, err := p.desk()
	if err != nil {
		return err
	}
	err = tui.Run(ctx, tui.Options{
		Kernel: p.kernel, Authority: a.authority(p), Clock: systemClock{}, Watch: watch, Alive: p.alive.Alive, Theme: theme,
		Log: p.log, Note: note, Runner: screenRunner{a, p}, Skills: screenSkills{slashes{p}}, Library: screenLibrary{desk, a.authority(p)}, Settings: p.settings.path, Notices: p.live.notices,
		Folders: newMachineFolders(), FirstRun: begin, Policy: screenPolicy{p}, Sharer: screenSharer{a, p},
	})
	if closed := watch.Close(); err == nil {
		err = closed
	}
	return err
}
