package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"gatehouse/core"
	"gatehouse/tui"
)

// firstRun is what the screens offer a person who has nothing here yet.
type firstRun struct {
	a       *app
	p       *parts
	servers []localServer

	demo demo // made while the screens were open; nothing when its folder is empty
	made *parts
}

// Demo makes the demo in a home of its own. The screens that asked end then,
// and those of the demo follow.
func (f *firstRun) Demo(ctx context.Context) (string, error) {
	d := demo{}
	p, err := f.a.makeDemo(ctx, &d, f.p.settings, true)
	if err != nil {
		return "", inOneLine(err)
	}
	f.demo, f.made = d, p
	return d.dir, nil
}

// Models looks for models on this machine.
func (f *firstRun) Models(ctx context.Context) []tui.ModelServer {
	return findLocalModels(ctx, f.servers)
}

// PlanModel says how the configuration would name a model.
func (f *firstRun) PlanModel(_ context.Context, base, model string) (tui.ConfigEdit, error) {
	edit, err := planEdit(f.p.settings.path, []setting{
		{"provider", providerOpenAI}, {"openai.model", model}, {"openai.base_url", base},
	})
	return edit, inOneLine(err)
}

// Write puts an edit of the configuration into effect.
func (f *firstRun) Write(_ context.Context, e tui.ConfigEdit) error { return inOneLine(writeEdit(e)) }

// makeDemo makes the site and the store of a demo and lets its agent work.
func (a *app) makeDemo(ctx context.Context, d *demo, settings *configuration, quiet bool) (*parts, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, &fault{code: codeFailed, message: "demo: git is not installed", hint: "install git, the demo's site is under it"}
	}
	if err := d.prepare(); err != nil {
		return nil, err
	}
	if err := d.makeSite(ctx, git); err != nil {
		return nil, err
	}
	own := *settings
	own.Store, own.Queue.Cap = d.store(), core.DefaultCap
	p, closers, err := assemble(ctx, &own, a.more)
	a.closers = append(a.closers, closers...)
	if err != nil {
		return nil, err
	}
	return p, a.runDemo(ctx, p, *d, quiet)
}

// inOneLine puts the hint of a fault behind it: a screen has one line for both.
func inOneLine(err error) error {
	var wrong *fault
	if errors.As(err, &wrong) && wrong.hint != "" {
		return fmt.Errorf("%s; %s", wrong.message, wrong.hint)
	}
	return err
}
