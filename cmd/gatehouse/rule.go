package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gatehouse/core"
)

func (a *app) ruleCommand() *cobra.Command {
	return a.family(
		"rule", "Let some actions happen without asking each time",
		a.ruleAddCommand(),
		&cobra.Command{
			Use:   "list",
			Short: "List the rules, and which of them count now",
			Args:  exactly(),
			RunE:  func(cmd *cobra.Command, _ []string) error { return a.ruleList(cmd.Context()) },
		},
		&cobra.Command{
			Use:   "rm RULE",
			Short: "End a rule",
			Args:  exactly("RULE"),
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.ruleRemove(cmd.Context(), core.RuleID(args[0]))
			},
		},
		&cobra.Command{
			Use:   "test RULE",
			Short: "Show what a rule makes of every waiting action",
			Args:  exactly("RULE"),
			RunE:  func(cmd *cobra.Command, args []string) error { return a.ruleTest(cmd.Context(), core.RuleID(args[0])) },
		},
	)
}

// ruleFlags are what rule add was given.
type ruleFlags struct {
	request core.RuleRequest
	life    time.Duration
	until   string
	yes     bool
}

func (a *app) ruleAddCommand() *cobra.Command {
	var f ruleFlags
	c := &cobra.Command{
		Use:   "add SESSION BINDING KIND",
		Short: "Make a rule",
		Long: `Make a rule: actions of one kind through one binding are carried out without
asking, in their order, where the driver says of the action that it may be, its
risk is low and the condition holds over what will be sent. The first that needs
you stops those behind it. What would run at once is shown first, and asked
about unless --yes is given. A rule ends after 24 hours unless you say otherwise,
and is off while its session is latched, when its author may no longer decide,
and when the binding leads somewhere else.

A condition is an expression over the fields of the kind, which gatehouse
gatekeeper show lists, such as path.startsWith("docs/") or rows <= 100.`,
		Example: `  gatehouse rule add site-refresh SITE write --when 'path.startsWith("docs/")' --max 20
  gatehouse rule add site-refresh SITE mkdir --for 1h --yes`,
		Args: exactly("SESSION", "BINDING", "KIND"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.request.Session, f.request.Binding, f.request.Kind = args[0], core.BindingName(args[1]), args[2]
			if cmd.Flags().Changed("max") && f.request.Max < 1 {
				return usage("give 1 or more", "--max %d: approves nothing", f.request.Max)
			}
			return a.ruleAdd(cmd.Context(), f)
		},
	}
	c.Flags().StringVar(&f.request.Condition, "when", "", "the `CONDITION` that has to hold; always when left out")
	c.Flags().DurationVar(&f.life, "for", core.RuleLife, "how long it holds, such as 90m")
	c.Flags().StringVar(&f.until, "until", "", "the `TIME` at which it ends, such as 2026-12-24T18:00:00Z")
	c.Flags().IntVar(&f.request.Max, "max", 0, "how many actions it may approve; no limit when left out")
	c.Flags().BoolVar(&f.yes, "yes", false, "make it without asking")
	c.MarkFlagsMutuallyExclusive("for", "until")
	return c
}

// ruleObject is what --json prints of a rule.
type ruleObject struct {
	ID        core.RuleID      `json:"id"`
	Session   core.SessionID   `json:"session"`
	Binding   core.BindingName `json:"binding"`
	Kind      string           `json:"kind"`
	Condition string           `json:"condition"`
	Author    core.PersonID    `json:"author"`
	CreatedAt *string          `json:"created_at"`
	ExpiresAt *string          `json:"expires_at"`
	Max       int              `json:"max"`
	Used      int              `json:"used"`
	Off       string           `json:"off"`
}

func objectOfRule(r core.Rule, off string) ruleObject {
	return ruleObject{r.ID, r.Session, r.Binding, r.Kind, r.Condition, r.Author, jsonTime(r.CreatedAt), jsonTime(r.ExpiresAt), r.Max, r.Used, off}
}

// ruleMade is what --json prints of a rule that was made or would be.
type ruleMade struct {
	Rule    ruleObject      `json:"rule"`
	Runs    []core.ActionID `json:"runs"`
	Results []core.Result   `json:"results"`
	Error   *faultObject    `json:"error,omitempty"`
}

func (a *app) ruleAdd(ctx context.Context, f ruleFlags) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	if err := a.enter(ctx, p, f.request.Session, core.RoleView); err != nil {
		return err
	}
	f.request.ExpiresAt = systemClock{}.Now().Add(f.life)
	if f.until != "" {
		if f.request.ExpiresAt, err = time.Parse(time.RFC3339, f.until); err != nil {
			return usage("write it as 2026-12-24T18:00:00Z", "--until %q: is no time", f.until)
		}
	}
	preview, err := p.kernel.PreviewRule(ctx, f.request, p.person)
	if err != nil {
		return err
	}
	runs := idsOfSummaries(preview.Runs)
	if !f.yes {
		if err := a.askRule(ctx, preview); err != nil {
			return err
		}
	}
	rule, results, err := p.kernel.AddRule(ctx, f.request, runs, a.authority(p), a.progress())
	if err != nil {
		return err
	}
	if a.json {
		return a.object(ruleMade{Rule: objectOfRule(rule, ""), Runs: list(runs), Results: list(results)})
	}
	if err := a.printRule(rule); err != nil {
		return err
	}
	return a.printResults(results)
}

func idsOfSummaries(rows []core.Summary) []core.ActionID {
	var ids []core.ActionID
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	return ids
}

// askRule shows the rule and what it would run at once, and returns nil when a
// person at a terminal confirms it.
func (a *app) askRule(ctx context.Context, preview core.RulePreview) error {
	runs := idsOfSummaries(preview.Runs)
	if !a.in.tty.stdin {
		f := usage("look at what it would run, then add --yes", "no rule was made: there is no terminal to ask at")
		if a.json {
			f.told = true
			return errors.Join(f, a.object(ruleMade{
				objectOfRule(preview.Rule, ""), list(runs), []core.Result{}, &faultObject{string(f.code), f.message, f.hint},
			}))
		}
		return errors.Join(f, a.printRulePreview(preview))
	}
	if err := a.printRulePreview(preview); err != nil {
		return err
	}
	if err := a.out.Flush(); err != nil {
		return err
	}
	fmt.Fprint(a.in.stderr, "Type yes to make it: ")
	answer, err := interruptibly(ctx, func() (string, error) { return bufio.NewReader(a.in.stdin).ReadString('\n') })
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("standard input: %w", err)
	}
	if strings.TrimSpace(answer) != "yes" {
		return &fault{code: codeFailed, message: "no rule was made"}
	}
	return nil
}

func (a *app) printRulePreview(preview core.RulePreview) error {
	if err := a.printRule(preview.Rule); err != nil {
		return err
	}
	t := newTable("RUNS AT ONCE", "KIND", "TITLE")
	for _, s := range preview.Runs {
		t.add(s.ID.String(), s.Kind, s.Title)
	}
	return t.print(a.out, "runs at once  nothing")
}

func (a *app) printRule(r core.Rule) error {
	count := "no limit"
	if r.Max > 0 {
		count = strconv.Itoa(r.Max)
	}
	condition := r.Condition
	if condition == "" {
		condition = "always"
	}
	var id [][2]string
	if r.ID != "" {
		id = append(id, [2]string{"rule", string(r.ID)})
	}
	return pairs(a.out, "", slices.Concat(id, [][2]string{
		{"session", string(r.Session)},
		{"binding", string(r.Binding)},
		{"kind", r.Kind},
		{"condition", condition},
		{"author", string(r.Author)},
		{"ends", stamp(r.ExpiresAt)},
		{"at most", count},
	})...)
}

func (a *app) ruleList(ctx context.Context) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	rules, err := p.kernel.Rules(ctx, "")
	if err != nil {
		return err
	}
	mine, err := p.mine(ctx)
	if err != nil {
		return err
	}
	t := newTable("RULE", "SESSION", "BINDING", "KIND", "CONDITION", "AUTHOR", "ENDS", "USED", "COUNTS")
	for _, r := range rules {
		if !mine(r.Session) {
			continue
		}
		if a.json {
			if err := a.object(objectOfRule(r.Rule, r.Off)); err != nil {
				return err
			}
			continue
		}
		used, counts := strconv.Itoa(r.Used), "yes"
		if r.Max > 0 {
			used += " of " + strconv.Itoa(r.Max)
		}
		if r.Off != "" {
			counts = "no: " + r.Off
		}
		t.add(string(r.ID), string(r.Session), string(r.Binding), r.Kind, r.Condition, string(r.Author), stamp(r.ExpiresAt), used, counts)
	}
	if a.json {
		return nil
	}
	return t.print(a.out, "no rules; every action waits for a person")
}

func (a *app) ruleRemove(ctx context.Context, id core.RuleID) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	rule, err := p.kernel.RemoveRule(ctx, id, a.authority(p))
	if err != nil {
		return err
	}
	if a.json {
		return a.object(objectOfRule(rule, "removed"))
	}
	a.say("rule %s ended; it approved %d", rule.ID, rule.Used)
	return nil
}

// trialObject is what --json prints of what a rule makes of one action.
type trialObject struct {
	ID      core.ActionID `json:"id"`
	Kind    string        `json:"kind"`
	Title   string        `json:"title"`
	Covered bool          `json:"covered"`
	Reason  string        `json:"reason"`
}

// enterRule enters the session of a rule; somebody without a role in it is told that there is no such rule.
func (a *app) enterRule(ctx context.Context, p *parts, id core.RuleID) error {
	if !p.rehearsed {
		return nil
	}
	rules, err := p.kernel.Rules(ctx, "")
	for _, r := range rules {
		if r.ID != id {
			continue
		}
		err = a.enter(ctx, p, string(r.Session), core.RoleView)
		if errors.Is(err, core.ErrNotFound) {
			return &core.NotFoundError{What: "rule", Name: string(id), Hint: "see gatehouse rule list"}
		}
	}
	return err
}

func (a *app) ruleTest(ctx context.Context, id core.RuleID) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	if err := a.enterRule(ctx, p, id); err != nil {
		return err
	}
	trials, err := p.kernel.TestRule(ctx, id)
	if err != nil {
		return err
	}
	t := newTable("ACTION", "KIND", "TITLE", "COVERED")
	for _, trial := range trials {
		if a.json {
			if err := a.object(trialObject{trial.ID, trial.Kind, trial.Title, trial.Why == "", trial.Why}); err != nil {
				return err
			}
			continue
		}
		covered := "yes"
		if trial.Why != "" {
			covered = "no: " + trial.Why
		}
		t.add(trial.ID.String(), trial.Kind, trial.Title, covered)
	}
	if a.json {
		return nil
	}
	return t.print(a.out, "nothing waits there")
}
