package main

import (
	"context"
	"errors"
	"fmt"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/skills"
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
	o, err := r.options(ctx, f, task)
	var wrong *fault
	if errors.As(err, &wrong) && wrong.hint != "" {
		return fmt.Errorf("%s; %s; settings: %s", wrong.message, wrong.hint, r.p.settings.path)
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
	if _, err := r.p.lendLibrary(ctx, f.session); err != nil {
		return err
	}
	_, err = agent.Run(ctx, o)
	var held *core.TurnHeldError
	if errors.As(err, &held) {
		return r.Say(ctx, session, task, core.MessageQueued)
	}
	return err
}

// options finds the model: that of the open turn where it goes on, else the one
// that is configured. A person who writes to an agent wants a model, never the
// script that plays where none is named.
func (r screenRunner) options(ctx context.Context, f runFlags, task string) (o agent.Options, err error) {
	if task == "" {
		turn, _, err := r.p.kernel.OpenTurn(ctx, f.session)
		if err != nil {
			return o, err
		}
		o.Model, err = r.a.modelOf(f, turn)
		return o, err
	}
	c := r.p.live.current() // a model may have been chosen on the screen just now
	if c.Provider == providerScript && c.source["provider"] == "default" {
		return o, usage("set provider to openai, and openai.base_url and openai.model to what answers", "no model is configured")
	}
	o.Task = task
	if c.Provider == providerOpenAI {
		o.Source = sourceProvider + providerOpenAI
		o.Model, err = openaiModel(&c)
		return o, err
	}
	o.Model, o.Source, err = r.a.model(f)
	return o, err
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

// screenSkills are the slash commands of the screens, which say what to do on
// the same line.
type screenSkills struct{ slashes }

// Take reads what was shown into the session, through the gate.
func (s screenSkills) Take(ctx context.Context, session core.SessionID, i skills.Invocation) (string, error) {
	text, err := s.slashes.Take(ctx, session, i)
	var wrong *fault
	if errors.As(err, &wrong) && wrong.hint != "" {
		err = fmt.Errorf("%s; %s", wrong.message, wrong.hint)
	}
	return text, err
}
