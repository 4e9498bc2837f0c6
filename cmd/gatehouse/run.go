package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/text"
	"gatehouse/gatekeepers/model/script"
)

// taskLimit is how many bytes of a task are read from standard input.
const taskLimit = 256 << 10

// stopPatience is how long run --stop waits for the process that runs the turn.
const stopPatience = 5 * time.Second

// runFlags are the flags of run.
type runFlags struct {
	session  string
	binds    []string
	provider string
	script   string
	onDenial string
	yes      bool
	again    bool
	stop     bool
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run TASK|-",
		Short: "Let an agent work in a session, and print what it does",
		Long: `Let an agent work on a task in a session, without screens, and print the transcript.
What it changes is queued; at the end stands what waits for you. - reads the task
from standard input. Without --session it makes a session.

The turn ends by itself, at a limit, or with Ctrl-C. It is suspended when the agent
waits for a decision or an answer: decide, then go on with --continue. A turn whose
process was killed is continued the same way. A task for a session in which an agent
works already is told to it at its next step.

A task that begins with /NAME calls a skill: what it becomes is shown first, and at
a terminal you are asked. Begin with // to send a text that starts with a slash.`,
		Example: `  gatehouse run --bind SITE=./site "add a page about opening hours"
  gatehouse run -s site-refresh --script refresh.yaml
  gatehouse run -s site-refresh "/release-notes 1.4"
  gatehouse run -s site-refresh --continue
  gatehouse run -s site-refresh --stop`,
		Args: func(_ *cobra.Command, args []string) error { return f.check(args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			defer quitOnSecondSignal(cmd.Context())()
			switch {
			case f.stop:
				return a.runStop(cmd.Context(), f)
			case f.again:
				return a.runContinue(cmd.Context(), f)
			}
			return a.runTask(cmd.Context(), f, args)
		},
	}
	flags := c.Flags()
	flags.StringVarP(&f.session, "session", "s", "", "the `SESSION`, by id or name")
	flags.StringArrayVar(&f.binds, "bind", nil, "give the session access first, as `NAME=URL`; may be repeated")
	flags.StringVar(&f.provider, "provider", "", "the `PROVIDER` of the model: openai or script")
	flags.StringVar(&f.script, "script", "", "play this script `FILE` instead of asking a model")
	flags.StringVar(&f.onDenial, "on-denial", string(core.DenialResume), "what a rejection does to a waiting turn: resume or end")
	flags.BoolVar(&f.yes, "yes", false, "send what a skill becomes without asking")
	flags.BoolVar(&f.again, "continue", false, "go on with the open turn of the session")
	flags.BoolVar(&f.stop, "stop", false, "stop the open turn of the session")
	return c
}

// check holds the arguments against the flags.
func (f runFlags) check(args []string) error {
	const hint = `write it as gatehouse run -s SESSION "TASK", or with --continue or --stop`
	switch {
	case f.again && f.stop:
		return usage(hint, "run: --continue and --stop exclude each other")
	case (f.again || f.stop) && len(args) > 0:
		return usage(hint, "run: %q is one too many with --continue or --stop", args[0])
	case (f.again || f.stop) && f.session == "":
		return usage("see gatehouse session list", "run: which session? give it with -s")
	case f.provider != "" && f.script != "":
		return usage("use one of them", "run: --provider and --script exclude each other")
	case f.provider != "" && f.provider != providerScript && f.provider != providerOpenAI:
		return usage("use openai or script", "run: no provider %q", f.provider)
	case len(args) > 1:
		return usage("put the task in quotes", "run: %q is one too many", args[1])
	case len(args) == 0 && !f.again && !f.stop && f.script == "":
		return usage(hint, "run: TASK is missing")
	}
	if _, err := core.ParseDenialPolicy(f.onDenial); err != nil {
		return usage("use resume or end", "run: %s", err)
	}
	return nil
}

func (a *app) runTask(ctx context.Context, f runFlags, args []string) error {
	task := "Play the script."
	if len(args) == 1 {
		task = args[0]
	}
	if task == "-" {
		read, err := io.ReadAll(io.LimitReader(a.in.stdin, taskLimit+1))
		if err != nil {
			return fmt.Errorf("standard input: %w", err)
		}
		task = string(read)
	}
	if strings.TrimSpace(task) == "" {
		return usage("say what is to be done", "run: the task is empty")
	}
	model, source, err := a.model(f)
	if err != nil {
		return err
	}
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	task, called, err := a.slashTask(ctx, p, task)
	if err == nil && called != nil {
		err = a.showInvocation(ctx, called, f.yes)
	}
	if err != nil {
		return err
	}
	if f.session, err = a.runSession(ctx, p, f); err != nil {
		return err
	}
	if called != nil {
		if task, err = (slashes{p}).Take(ctx, core.SessionID(f.session), *called); err != nil {
			return err
		}
	}
	lent, err := p.lendLibrary(ctx, f.session)
	if err != nil {
		return err
	}
	if lent {
		a.say("%s is bound: the agent can find the skills that you can read", libraryBinding)
	}
	report, err := agent.Run(ctx, a.runOptions(p, f, agent.Options{Model: model, Source: source, Task: task}))
	var held *core.TurnHeldError
	if errors.As(err, &held) {
		return a.queueTask(ctx, p, f.session, task, held)
	}
	return a.endRun(ctx, p, f.session, report, err)
}

// runOptions adds what all runs have in common. Events are printed as they come.
func (a *app) runOptions(p *parts, f runFlags, o agent.Options) agent.Options {
	o.Kernel, o.Session, o.By, o.OnDenial = p.kernel, f.session, p.person, core.DenialPolicy(f.onDenial)
	o.Limits = core.TurnLimits{Steps: p.settings.Turns.Steps, Time: p.settings.Turns.Time}
	o.Observer = func(e agent.Event) {
		if e.Kind == agent.EventWarning {
			a.say("%s", e.Text)
		}
		if e.Kind != agent.EventEntry {
			return
		}
		// What cannot be printed shows at the end, when the rest is flushed.
		if a.json {
			_ = a.object(objectOfEntry(e.Entry))
		} else {
			for _, l := range agent.Lines(e.Entry) {
				fmt.Fprintln(a.out, l)
			}
		}
		_ = a.out.Flush()
	}
	return o
}

// runSession finds or makes the session, and binds what it is to reach. A
// session is made only once all of its bindings were seen to work.
func (a *app) runSession(ctx context.Context, p *parts, f runFlags) (string, error) {
	wanted, err := wantedBindings(ctx, p, f)
	if err != nil {
		return "", err
	}
	ref := f.session
	if ref == "" {
		made, err := newRunSession(ctx, p)
		if err != nil {
			return "", err
		}
		a.say("session %s (%s)", string(made.ID), made.Name)
		ref = string(made.ID)
	}
	if err := a.enter(ctx, p, ref, core.RoleBuild); err != nil {
		return "", err
	}
	s, err := p.kernel.Session(ctx, ref)
	if err != nil {
		return "", err
	}
	bound, err := p.kernel.Bindings(ctx, string(s.ID))
	if err != nil {
		return "", err
	}
	for _, w := range wanted {
		w.Session = string(s.ID)
		_, err := p.kernel.Bind(ctx, w)
		if errors.Is(err, core.ErrNameTaken) && boundTo(bound, w.Name, w.URL) {
			continue
		}
		if err != nil {
			return "", err
		}
	}
	return string(s.ID), nil
}

// wantedBindings reads --bind and tries each of them.
func wantedBindings(ctx context.Context, p *parts, f runFlags) ([]core.BindRequest, error) {
	var wanted []core.BindRequest
	for _, b := range f.binds {
		name, url, found := strings.Cut(b, "=")
		if !found {
			return nil, usage("write it as --bind SITE=./site", "run: --bind %q: not NAME=URL", b)
		}
		url, err := resourceURL(url)
		if err != nil {
			return nil, err
		}
		w := core.BindRequest{Name: name, URL: url, Person: p.person}
		if err := p.kernel.TryBinding(ctx, w); err != nil {
			return nil, err
		}
		wanted = append(wanted, w)
	}
	return wanted, nil
}

func boundTo(bound []core.Binding, name, url string) bool {
	for _, b := range bound {
		if string(b.Name) == name && b.URL == url {
			return true
		}
	}
	return false
}

// newRunSession makes a session named after the moment.
func newRunSession(ctx context.Context, p *parts) (core.Session, error) {
	name := time.Now().Format("run-20060102-150405")
	for n := 2; ; n++ {
		made, err := p.kernel.NewSession(ctx, core.NewSession{Name: name, Owner: p.person})
		if !errors.Is(err, core.ErrNameTaken) || n > 100 {
			return made, err
		}
		name = time.Now().Format("run-20060102-150405-") + fmt.Sprint(n)
	}
}

// playScript reads a script, or gives the embedded one; source is where it is
// found again.
func playScript(path string) (model core.Model, source string, err error) {
	if path == "" {
		s, err := script.Default()
		return s, "", err
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", &fault{
			code: codeNotFound, message: fmt.Sprintf("script %s: no such file", path), hint: "gatehouse help agents says what one holds",
		}
	}
	if err != nil {
		return nil, "", err
	}
	s, err := script.Parse(path, data)
	var wrong *script.Fault
	if errors.As(err, &wrong) {
		return nil, "", invalidFile("", "%s", wrong)
	}
	if err != nil {
		return nil, "", err
	}
	source, err = filepath.Abs(path)
	return s, source, err
}

// queueTask gives a task to the agent that works already.
func (a *app) queueTask(ctx context.Context, p *parts, session, task string, held *core.TurnHeldError) error {
	m, err := p.kernel.Say(ctx, session, task, core.MessageQueued, p.person)
	if err != nil {
		return err
	}
	if a.json {
		return a.object(map[string]any{"session": held.Session, "turn": held.Turn, "message": m.ID, "state": "queued"})
	}
	a.say("turn %d is run by another process; it is told at its next step", held.Turn)
	return nil
}

func (a *app) runContinue(ctx context.Context, f runFlags) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	turn, _, err := p.kernel.OpenTurn(ctx, f.session)
	if err != nil {
		return turnFault(err)
	}
	model, err := a.modelOf(f, turn)
	if err != nil {
		return err
	}
	f.session = string(turn.Session)
	report, err := agent.Continue(ctx, a.runOptions(p, f, agent.Options{Model: model}))
	return a.endRun(ctx, p, f.session, report, err)
}

func (a *app) runStop(ctx context.Context, f runFlags) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	turn, err := p.kernel.StopTurn(ctx, f.session, p.person)
	if err != nil {
		return turnFault(err)
	}
	patience, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	tick := time.NewTicker(agent.DefaultPoll)
	defer tick.Stop()
	for turn.State == core.TurnRunning && turn.StopAsked {
		select {
		case <-patience.Done():
			return &fault{
				code: codeFailed, message: fmt.Sprintf("turn %d: its process was told to stop and still runs", turn.Number),
				hint: "look again with gatehouse session show " + f.session,
			}
		case <-tick.C:
		}
		if turn, _, err = p.kernel.OpenTurn(ctx, f.session); err != nil {
			return err
		}
	}
	return a.endRun(ctx, p, f.session, agent.Report{Turn: turn}, nil)
}

// runObject is the last object that --json prints of a run.
type runObject struct {
	Session   core.SessionID    `json:"session"`
	Turn      int               `json:"turn"`
	State     core.SessionState `json:"state"`
	TurnState core.TurnState    `json:"turn_state"`
	End       core.TurnEnd      `json:"end"`
	Reason    string            `json:"reason"`
	Pending   int               `json:"pending"`
	Waits     []core.ActionID   `json:"waits"`
	Usage     usageObject       `json:"usage"`
}

// usageObject is what the models of a session took, ever.
type usageObject struct {
	Input     int    `json:"input"`
	Output    int    `json:"output"`
	Estimated bool   `json:"estimated"`
	Cost      string `json:"cost"`
}

// endRun prints what waits, and turns the end of a turn into an exit code.
func (a *app) endRun(ctx context.Context, p *parts, session string, report agent.Report, err error) error {
	if err != nil {
		return turnFault(err)
	}
	stopped := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	s, err := p.kernel.Session(ctx, session)
	if err != nil {
		return err
	}
	t := newTable("ID", "STATE", "KIND", "TITLE")
	waits := []core.ActionID{}
	err = p.eachRow(ctx, core.QueueQuery{Session: s.ID}, func(row core.QueueRow) error {
		waits = append(waits, row.ID)
		t.add(row.ID.String(), stateWords(row), row.Kind, row.Title)
		return nil
	})
	if err != nil {
		return err
	}
	spent, err := p.kernel.Spending(ctx, string(s.ID))
	if err != nil {
		return err
	}
	turn, took := report.Turn, spent.Session
	if a.json {
		err = a.object(runObject{
			s.ID, turn.Number, s.State, turn.State, turn.End, turn.Reason, s.Pending, waits,
			usageObject{took.Input, took.Output, took.Estimated, took.Cost.String()},
		})
	} else {
		if took != (core.Usage{}) {
			a.say("the session took %s", usageWords(took))
		}
		fmt.Fprintf(a.out, "\nsession %s (%s): %s\n", s.ID, line(s.Name), s.State)
		if len(waits) > 0 {
			fmt.Fprintf(a.out, "waits for you, see gatehouse queue list -s %s:\n", s.ID)
		}
		err = t.print(a.out, "nothing waits for you")
	}
	switch {
	case err != nil:
		return err
	case stopped:
		return told(codeInterrupted)
	case turn.End == core.TurnEndBudget:
		return &fault{code: codeFailed, message: turn.Reason, hint: fmt.Sprintf("raise it, see gatehouse config, then go on with gatehouse run -s %s --continue", s.ID)}
	case turn.End == core.TurnEndContext:
		return &fault{code: codeFailed, message: turn.Reason, hint: fmt.Sprintf(`write gatehouse run -s %s "TASK"`, s.ID)}
	case turn.State == core.TurnFailed:
		return &fault{code: codeFailed, message: turn.Reason, hint: fmt.Sprintf("go on with gatehouse run -s %s --continue", s.ID)}
	}
	return nil
}

// usageWords says what models took.
func usageWords(u core.Usage) string {
	words := fmt.Sprintf("%d tokens in, %d out", u.Input, u.Output)
	if u.Estimated {
		words += " (in part estimated)"
	}
	if u.Cost > 0 {
		words += ", " + u.Cost.String()
	}
	return words
}

// turnFault says what to do about a turn that could not begin or go on.
func turnFault(err error) error {
	var (
		held    *core.TurnHeldError
		waiting *core.TurnWaitingError
		open    *core.TurnOpenError
		none    *core.NoTurnError
	)
	switch {
	case errors.As(err, &held):
		return &fault{code: codeFailed, message: err.Error(), hint: fmt.Sprintf("stop it with gatehouse run -s %s --stop", held.Session)}
	case errors.As(err, &waiting):
		return &fault{code: codeFailed, message: err.Error(), hint: fmt.Sprintf("see gatehouse queue list -s %s", waiting.Session)}
	case errors.As(err, &open):
		return &fault{
			code: codeFailed, message: strings.TrimSuffix(err.Error(), "; continue or stop it first"),
			hint: fmt.Sprintf("go on with gatehouse run -s %s --continue, or stop it with --stop", open.Session),
		}
	case errors.As(err, &none):
		return &fault{code: codeFailed, message: err.Error(), hint: fmt.Sprintf(`start one with gatehouse run -s %s "TASK"`, none.Session)}
	default:
		return err
	}
}

// entryObject is what --json prints of an entry of the transcript.
type entryObject struct {
	Kind   core.TranscriptKind `json:"kind"`
	Turn   int                 `json:"turn"`
	Step   int                 `json:"step"`
	Text   string              `json:"text,omitempty"`
	Call   string              `json:"call,omitempty"`
	Args   string              `json:"args,omitempty"`
	Result *core.Released      `json:"result,omitempty"`
	State  core.TurnState      `json:"state,omitempty"`
	End    core.TurnEnd        `json:"end,omitempty"`
}

func objectOfEntry(e core.TranscriptEntry) entryObject {
	clean, _ := text.CleanBlock(e.Text)
	o := entryObject{Kind: e.Kind, Turn: e.Turn, Step: e.Step, Text: clean, Call: e.Call.Name, Args: e.Call.Args, State: e.State, End: e.End}
	if e.Result.Valid() {
		o.Result = &e.Result
	}
	return o
}

// quitOnSecondSignal lets a second Ctrl-C end the process, whatever still runs.
func quitOnSecondSignal(ctx context.Context) (undo func() bool) {
	return context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt, syscall.SIGTERM) })
}
