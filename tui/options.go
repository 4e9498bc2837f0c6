package tui

import (
	"context"
	"io"
	"log/slog"
	"os"
	"time"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// Kernel is what the screens ask of core.Kernel. All of its methods are called
// off the loop.
type Kernel interface {
	Manifests() []core.Manifest
	Queue(ctx context.Context, query core.QueueQuery) (core.QueuePage, error)
	Show(ctx context.Context, id core.ActionID, by core.Authority) (core.Detail, error)
	Peek(ctx context.Context, id core.ActionID) (core.Detail, error)

	Plan(ctx context.Context, by core.PersonID, items []core.PlanItem) (*core.Plan, error)
	Confirm(ctx context.Context, plan *core.Plan, by core.Authority, o core.ConfirmOptions, progress func(core.Progress)) ([]core.Result, error)
	Settle(ctx context.Context, id core.ActionID, by core.Authority, s core.Settlement) (core.Result, error)
	Retry(ctx context.Context, id core.ActionID, by core.Authority, force bool, progress func(core.Progress)) (core.Result, error)
	Revert(ctx context.Context, id core.ActionID, by core.Authority) (core.Result, error)
	Revertible(ctx context.Context, ids []core.ActionID) ([]core.ActionID, error)
	Answer(ctx context.Context, id core.ActionID, choice, reason string, by core.Authority) (core.Result, error)
	PreviewRule(ctx context.Context, r core.RuleRequest, by core.PersonID) (core.RulePreview, error)
	AddRule(ctx context.Context, r core.RuleRequest, shown []core.ActionID, by core.Authority, progress func(core.Progress)) (core.Rule, []core.Result, error)
	Rules(ctx context.Context, session string) ([]core.RuleStanding, error)
	RemoveRule(ctx context.Context, id core.RuleID, by core.Authority) (core.Rule, error)
	Permit(ctx context.Context, r core.EgressRequest, sends ...string) (done func(error) error, err error)
	LastPlans(ctx context.Context, limit int) ([]core.PlanRecord, error)
	DismissPlan(ctx context.Context, id core.PlanID, by core.PersonID) error
	Recover(ctx context.Context) ([]core.ActionID, error)

	DraftDecision(ctx context.Context, person core.PersonID, item core.PlanItem, seen int64) (core.DraftedDecision, error)
	Drafts(ctx context.Context, person core.PersonID) ([]core.DraftedDecision, error)
	UndoDraft(ctx context.Context, person core.PersonID) (core.DraftedDecision, bool, error)
	DropDrafts(ctx context.Context, person core.PersonID, ids ...core.ActionID) error

	Session(ctx context.Context, ref string) (core.SessionSummary, error)
	Sessions(ctx context.Context) ([]core.SessionSummary, error)
	Record(ctx context.Context, query core.RecordQuery) ([]core.Row, error)
	VerifyRecordWatched(ctx context.Context, progress func(checked, all int64)) (core.Verification, error)
	Why(ctx context.Context, id core.ActionID) (core.Chain, error)
	WhyRow(ctx context.Context, seq int64) (core.Chain, error)
	Transcript(ctx context.Context, session string) ([]core.TranscriptEntry, error)
	Spending(ctx context.Context, session string) (core.SpendingReport, error)
	Observed(ctx context.Context, query core.ObservedQuery) (core.ObservedPage, error)
	UnitReads(ctx context.Context, query core.UnitReadsQuery) (core.UnitReadsPage, error)

	Binder
	Members
}

// Watcher notices what other processes do to the store.
type Watcher interface {
	// Changed reports whether anything was written since the last call. An
	// error means that the store can no longer be trusted: it was replaced, or
	// made read-only (T27). It is called from one goroutine at a time.
	Changed(ctx context.Context) (bool, error)
}

// Options are the parts of the screens. Kernel, Clock and Authority are required.
type Options struct {
	Kernel    Kernel
	Authority core.Authority // who decides here, and by what means
	Clock     core.Clock
	Watch     Watcher                   // nil: the screens change at a refresh alone
	Alive     func(core.ProcessID) bool // tells whether a plan is still carried out; nil is never
	Runner    Runner                    // nil: agents are looked at alone
	Folders   Folders                   // nil: no folder can be connected from here
	FirstRun  FirstRun                  // nil: an empty home opens with its empty queue
	Skills    Skills                    // nil: a slash begins no command
	Library   Library                   // nil: the screen of skills says that there is none
	Sharer    Sharer                    // nil: nothing can be shared or opened from here
	Policy    Policy                    // nil: the policy over what leaves cannot be looked at
	Theme     ThemeName
	Keys      []KeyChange
	Log       *slog.Logger
	// Notices says how a person is told that something needs them. It is asked
	// off the loop whenever the store changed; nil tells nothing.
	Notices func() Notices

	// Session narrows the queue at first, as a filter that can be cleared.
	Session string
	// Settings is the file in which settings stand, named where one has to be
	// changed; empty is not known.
	Settings string
	// Note is the first line at the bottom of the screen, such as where a demo lies.
	Note string

	// Where the screens run; zero is the terminal of the process. Tests that
	// bring their own give all of them.
	Input   io.Reader
	Output  io.Writer
	Environ []string
	Width   int
	Height  int
}

// stopGrace is how long a screen that ends waits for what it had begun: an
// outcome that is on its way is better stored than unknown.
const stopGrace = 10 * time.Second

// Run shows the screens until the person quits or the context ends. Where there
// is no terminal to show them on, the error is a *term.NoScreenError and says
// which command to use.
func Run(ctx context.Context, o Options) error {
	environ := o.Environ
	if environ == nil {
		environ = os.Environ()
	}
	if o.Input == nil && o.Output == nil {
		if err := term.Check(os.Stdin, os.Stdout, environ); err != nil {
			return err
		}
	}
	if term.Colourless(environ) {
		o.Theme = ThemeNone
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a, err := newApp(ctx, o)
	if err != nil {
		return err
	}
	err = term.Run(ctx, a, term.Options{
		Input: o.Input, Output: o.Output, Environ: environ, Width: o.Width, Height: o.Height,
		Plain: o.Theme == ThemeNone, Log: o.Log,
	})
	cancel() // nothing new is claimed; what is in flight gets its outcome stored
	a.works.wait(stopGrace)
	return err
}
