package main

import (
	"context"
	"errors"
	"fmt"

	"gatehouse/core"
	"gatehouse/core/agent"
)

// screenRunner runs the agents of the screens, with the model that the
// configuration names.
type screenRunner struct {
	a *app
	p *parts
}

// Run starts a turn, or continues the open one where the task is empty. A task
// for a turn that another process runs is told to that turn.
func (r screenRunner) Run(ctx context.Context, session core.SessionID, task string, observe func(agent.Event)) error {
	f := runFlags{session: string(session), onDenial: string(core.DenialResume)}
	o := agent.Options{Task: task}
	var err error
	if task == "" {
		turn, _, open := r.p.kernel.OpenTurn(ctx, f.session)
		if open != nil {
			return open
		}
		o.Model, err = r.a.modelOf(f, turn)
	} else {
		o.Model, o.Source, err = r.a.model(f)
	}
	var wrong *fault
	if errors.As(err, &wrong) && wrong.hint != "" {
		return fmt.Errorf("%s; %s", wrong.message, wrong.hint)
	}
	if err != nil {
		return err
	}
	o = r.a.runOptions(r.p, f, o)
	o.Observer, o.Wait = observe, true
	if task == "" {
		_, err = agent.Continue(ctx, o)
		return err
	}
	_, err = agent.Run(ctx, o)
	var held *core.TurnHeldError
	if errors.As(err, &held) {
		return r.Say(ctx, session, task, core.MessageQueued)
	}
	return err
}

// Say tells an open turn something at its next step.
func (r screenRunner) Say(ctx context.Context, session core.SessionID, text string, kind core.MessageKind) error {
	_, err := r.p.kernel.Say(ctx, string(session), text, kind, r.p.person)
	return err
}

// Steps is the limit of steps of a turn.
func (r screenRunner) Steps() int {
	if n := r.p.settings.Turns.Steps; n > 0 {
		return n
	}
	return core.DefaultTurnSteps
}
