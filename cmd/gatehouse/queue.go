package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gatehouse/core"
)

func (a *app) queueCommand() *cobra.Command {
	return a.family(
		"queue", "See what waits, and decide",
		a.queueListCommand(), a.queueShowCommand(), a.queuePlanCommand(),
		a.approveCommand(), a.rejectCommand(), a.revertCommand(), a.settleCommand(), a.retryCommand(), a.answerCommand(),
	)
}

// queueFilter is what the flags of list pick.
type queueFilter struct {
	session string
	states  []string
	kinds   []string
	risk    string
	grep    string
}

func (a *app) queueListCommand() *cobra.Command {
	var f queueFilter
	c := &cobra.Command{
		Use:   "list",
		Short: "List the queue: what agents want to change, and what they ask",
		Long: `List what waits in the queue, over all sessions: what agents want to change and
what they ask. --state picks others, all is everything that ever stood in it.`,
		Example: `  gatehouse queue list --session site-refresh
  gatehouse queue list --state failed,unknown
  gatehouse queue list --kind delete,move --json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.queueList(cmd.Context(), f) },
	}
	c.Flags().StringVarP(&f.session, "session", "s", "", "only of this `SESSION`")
	c.Flags().StringSliceVar(&f.states, "state", nil, "only in these `STATES`, or all")
	c.Flags().StringSliceVar(&f.kinds, "kind", nil, "only of these `KINDS`")
	c.Flags().StringVar(&f.risk, "risk", "", "only of this `RISK`, high or low")
	c.Flags().StringVar(&f.grep, "grep", "", "only where this `TEXT` is in what will be sent")
	return c
}

// query checks the filter and asks for the session.
func (f queueFilter) query(ctx context.Context, p *parts) (core.QueueQuery, error) {
	q := core.QueueQuery{Kinds: f.kinds, Grep: f.grep}
	known := knownStates()
	for _, state := range f.states {
		if state == "all" {
			q.AllState = true
			continue
		}
		if !slices.Contains(known, state) {
			hint := "use all, or some of " + strings.Join(known, ", ")
			if near, found := nearest(state, known); found {
				hint = "did you mean " + near + "?"
			}
			return q, usage(hint, "state %q: no such state", state)
		}
		q.States = append(q.States, state)
	}
	switch risk := core.Risk(f.risk); risk {
	case "", core.RiskHigh, core.RiskLow:
		q.Risk = risk
	default:
		return q, usage("use high or low", "risk %q: no such risk", f.risk)
	}
	if f.session == "" {
		return q, nil
	}
	session, err := p.kernel.Session(ctx, f.session)
	q.Session = session.ID
	return q, err
}

func knownStates() []string {
	var out []string
	for _, s := range core.States() {
		out = append(out, string(s))
	}
	for _, s := range []core.QuestionState{core.QuestionOpen, core.QuestionAnswered, core.QuestionWithdrawn, core.QuestionExpired} {
		out = append(out, string(s))
	}
	return out
}

func (a *app) queueList(ctx context.Context, f queueFilter) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	if f.session != "" {
		if err := a.enter(ctx, p, f.session, core.RoleView); err != nil {
			return err
		}
	}
	q, err := f.query(ctx, p)
	if err != nil {
		return err
	}
	mine, err := p.mine(ctx)
	if err != nil {
		return err
	}
	shown := func(row core.QueueRow) bool { return f.session != "" || mine(row.Session) }
	if a.json {
		return p.eachRow(ctx, q, func(row core.QueueRow) error {
			if !shown(row) {
				return nil
			}
			d, err := p.kernel.Peek(ctx, row.ID)
			if err != nil {
				return err
			}
			return a.object(objectOfDetail(d))
		})
	}
	t := newTable("ID", "STATE", "RISK", "AGE", "SESSION", "BINDING", "KIND", "TITLE")
	now := time.Now()
	err = p.eachRow(ctx, q, func(row core.QueueRow) error {
		if !shown(row) {
			return nil
		}
		t.add(row.ID.String(), stateWords(row), riskWord(row), age(now.Sub(row.CreatedAt)), row.SessionName, string(row.Binding), row.Kind, row.Title)
		return nil
	})
	if err != nil {
		return err
	}
	return t.print(a.out, "nothing waits; see gatehouse queue list --state all for what was decided")
}

func stateWords(row core.QueueRow) string {
	state := string(row.State)
	switch {
	case row.Question != nil:
		return string(row.Question.State)
	case row.Drift != core.DriftNone:
		return state + ", drifted"
	case row.State == core.StateFailed && row.Retryable:
		return state + ", retryable"
	}
	return state
}

func riskWord(row core.QueueRow) string {
	if row.Question != nil {
		return "-"
	}
	return string(row.Risk)
}

// age is a time for the eye.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	}
	return strconv.Itoa(int(d/(24*time.Hour))) + "d"
}

func (a *app) queueShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show ID…",
		Short: "Show what an action will do: everything that will be sent",
		Long: `Show actions whole: everything that will be sent, before and after, what they
need, on what they were made, and who made them. An action of high risk has to be
shown once before it can be approved.

` + idsHelp,
		Args: someIDs,
		RunE: func(cmd *cobra.Command, args []string) error { return a.queueShow(cmd.Context(), args) },
	}
}

const idsHelp = `ID… takes 12, 12-20, 12,15, @SESSION, @SESSION/TURN (all of a session, of a turn),
and - for ids from standard input, one a line.`

func someIDs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage(hintIDs, "%s: no ids", words(cmd))
	}
	return nil
}

func (a *app) queueShow(ctx context.Context, words []string) error {
	s, err := interruptibly(ctx, func() (selection, error) { return parseIDs(words, a.in.stdin) })
	if err != nil {
		return err
	}
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	ids, err := p.find(ctx, s, nil)
	if err != nil {
		return err
	}
	if err := a.enterAll(ctx, p, ids, core.RoleView); err != nil {
		return err
	}
	for i, id := range ids {
		d, err := p.kernel.Show(ctx, id, a.authority(p))
		if err != nil {
			return err
		}
		if a.json {
			err = a.object(objectOfDetail(d))
		} else {
			if i > 0 {
				fmt.Fprintln(a.out)
			}
			err = a.printDetail(d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
