package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gatehouse/core"
)

// decision is what the flags and words of approve and reject ask for.
type decision struct {
	verdict       core.Verdict
	ids           []string
	yes           bool
	reason        string
	prerequisites bool
	unopened      bool
}

func (a *app) queuePlanCommand() *cobra.Command {
	var d decision
	c := &cobra.Command{
		Use:   "plan approve|reject ID…",
		Short: "Show what a decision would do, and do nothing",
		Long: `Show what approving or rejecting would do, in the order in which it would be
done: what is missing, what a rejection strands, what has changed since it was
made, what was never opened. Nothing happens.

` + idsHelp,
		Example: `  gatehouse queue plan approve 3-7
  gatehouse queue plan reject 3`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || (args[0] != string(core.VerdictApprove) && args[0] != string(core.VerdictReject)) {
				return usage("write it as "+writtenAs(cmd), "%s: approve or reject?", words(cmd))
			}
			return someIDs(cmd, args[1:])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			d.verdict, d.ids = core.Verdict(args[0]), args[1:]
			return a.plan(cmd.Context(), d)
		},
	}
	c.Flags().BoolVar(&d.prerequisites, "with-prerequisites", false, "add what is missing")
	return c
}

func (a *app) approveCommand() *cobra.Command {
	d := decision{verdict: core.VerdictApprove}
	c := &cobra.Command{
		Use:   "approve ID…",
		Short: "Approve: let it happen",
		Long: `Approve actions: shows the plan, asks, and carries it out in order. Each is
compared with what it was made on first; what has changed is not sent.

--yes does not ask. On a pipe without --yes the plan is printed and nothing is
decided. An action of high risk has to be shown once (gatehouse queue show)
before it can be approved, or --unopened given, which is logged.

` + idsHelp,
		Example: `  gatehouse queue approve 3-7
  gatehouse queue approve @site-refresh --yes
  gatehouse queue list --json --kind edit | jq .id | gatehouse queue approve - --yes`,
		Args: someIDs,
		RunE: func(cmd *cobra.Command, args []string) error {
			d.ids = args
			return a.decide(cmd.Context(), d)
		},
	}
	c.Flags().BoolVarP(&d.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&d.prerequisites, "with-prerequisites", false, "approve what is missing too")
	c.Flags().BoolVar(&d.unopened, "unopened", false, "approve actions of high risk that nobody has opened")
	return c
}

func (a *app) rejectCommand() *cobra.Command {
	d := decision{verdict: core.VerdictReject}
	c := &cobra.Command{
		Use:   "reject ID…",
		Short: "Reject: it will not happen, and the agent is told why",
		Long: `Reject actions: shows the plan, with what it strands, asks, and carries it out.
--yes does not ask. On a pipe without --yes the plan is printed and nothing is
decided. The reason goes to the agent.

` + idsHelp,
		Example: `  gatehouse queue reject 3 --reason "keep the old page" --yes`,
		Args:    someIDs,
		RunE: func(cmd *cobra.Command, args []string) error {
			d.ids = args
			return a.decide(cmd.Context(), d)
		},
	}
	c.Flags().BoolVarP(&d.yes, "yes", "y", false, "do not ask")
	c.Flags().StringVarP(&d.reason, "reason", "r", "", "the `TEXT` that the agent gets")
	return c
}

// states are what a group such as @SESSION means for a verdict.
func (d decision) states() []string {
	states := []string{string(core.StatePending)}
	if d.verdict == core.VerdictReject {
		states = append(states, string(core.StateFailed), string(core.StateStranded))
	}
	return states
}

// makePlan finds the ids and asks the kernel what deciding them would do.
func (a *app) makePlan(ctx context.Context, d decision) (*parts, *core.Plan, error) {
	s, err := interruptibly(ctx, func() (selection, error) { return parseIDs(d.ids, a.in.stdin) })
	if err != nil {
		return nil, nil, err
	}
	p, err := a.parts(ctx)
	if err != nil {
		return nil, nil, err
	}
	ids, err := p.find(ctx, s, d.states())
	if err != nil {
		return nil, nil, err
	}
	if err := a.enterAll(ctx, p, ids, core.RoleView); err != nil {
		return nil, nil, err
	}
	var plan *core.Plan
	if d.verdict == core.VerdictReject {
		plan, err = p.kernel.PlanReject(ctx, p.person, ids, d.reason)
	} else {
		plan, err = p.kernel.PlanApprove(ctx, p.person, ids, core.PlanOptions{WithPrerequisites: d.prerequisites})
	}
	return p, plan, err
}

func (a *app) plan(ctx context.Context, d decision) error {
	_, plan, err := a.makePlan(ctx, d)
	if err != nil {
		return err
	}
	if a.json {
		return a.object(objectOfPlan(plan))
	}
	return a.printPlan(plan)
}

func (a *app) decide(ctx context.Context, d decision) error {
	p, plan, err := a.makePlan(ctx, d)
	if err != nil {
		return err
	}
	if !d.yes {
		if err := a.ask(ctx, plan); err != nil {
			return err
		}
	}
	results, err := p.kernel.Confirm(ctx, plan, a.authority(p), core.ConfirmOptions{Unopened: d.unopened}, a.progress())
	if len(results) == 0 && err != nil {
		return err
	}
	if printed := a.printResults(results); printed != nil {
		return printed
	}
	// What was printed has been seen: the screens need not show it at their start.
	if dismissed := p.kernel.DismissPlan(context.WithoutCancel(ctx), plan.ID, p.person); dismissed != nil && err == nil {
		err = dismissed
	}
	if err != nil {
		return err
	}
	return a.endOf(results)
}

// errUndecided ends a command at whose prompt a person did not confirm.
var errUndecided = errors.New("nothing was decided")

// ask shows the plan and returns nil when a person at a terminal confirms it.
func (a *app) ask(ctx context.Context, plan *core.Plan) error {
	if !a.in.tty.stdin {
		f := usage("look at the plan, then add --yes", "nothing was decided: there is no terminal to ask at")
		if a.json {
			o := objectOfPlan(plan)
			o.Error = &faultObject{string(f.code), f.message, f.hint}
			f.told = true
			return errors.Join(f, a.object(o))
		}
		return errors.Join(f, a.printPlan(plan))
	}
	if err := a.printPlan(plan); err != nil {
		return err
	}
	if err := a.out.Flush(); err != nil {
		return err
	}
	want := "yes"
	if len(plan.Items) > plainConfirm || len(plan.HighRisk) > 0 {
		want = strconv.Itoa(len(plan.Items))
	}
	fmt.Fprintf(a.in.stderr, "Type %s to carry this out: ", want)
	answer, err := interruptibly(ctx, func() (string, error) { return bufio.NewReader(a.in.stdin).ReadString('\n') })
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("standard input: %w", err)
	}
	if strings.TrimSpace(answer) != want {
		return failedWith(errUndecided)
	}
	return nil
}

// plainConfirm is how many low-risk items a plain yes confirms (terminal UI T2).
const plainConfirm = 25

// planObject is what --json prints of a plan.
type planObject struct {
	Order         []planLine      `json:"order"`
	Prerequisites []core.ActionID `json:"prerequisites"`
	Stranded      []core.ActionID `json:"stranded"`
	Drifted       []core.ActionID `json:"drifted"`
	NeverOpened   []core.ActionID `json:"never_opened"`
	HighRisk      []core.ActionID `json:"high_risk"`
	Kinds         map[string]int  `json:"kinds"`
	Error         *faultObject    `json:"error,omitempty"` // why it was not carried out
}

type planLine struct {
	ID       core.ActionID   `json:"id"`
	Decision core.Verdict    `json:"decision"`
	Effect   core.PlanEffect `json:"effect"`
	Title    string          `json:"title"`
	Kind     string          `json:"kind"`
	Risk     core.Risk       `json:"risk"`
	Digest   string          `json:"digest"`
	Reason   string          `json:"reason"` // why an item has no effect
	Missing  []core.ActionID `json:"missing"`
}

func objectOfPlan(plan *core.Plan) planObject {
	o := planObject{
		Order: []planLine{}, Prerequisites: list(plan.Prerequisites), Stranded: []core.ActionID{}, Drifted: []core.ActionID{},
		NeverOpened: list(plan.NeverOpened), HighRisk: list(plan.HighRisk), Kinds: plan.Kinds,
	}
	for _, item := range plan.Items {
		o.Order = append(o.Order, planLine{
			ID: item.Action, Decision: item.Verdict, Effect: item.Effect, Title: item.Summary.Title, Kind: item.Summary.Kind,
			Risk: item.Summary.Risk, Digest: item.Digest.String(), Reason: item.Why, Missing: list(item.Missing),
		})
		switch item.Effect {
		case core.EffectStrand:
			o.Stranded = append(o.Stranded, item.Action)
		case core.EffectDrifted:
			o.Drifted = append(o.Drifted, item.Action)
		}
	}
	return o
}

func (a *app) printPlan(plan *core.Plan) error {
	t := newTable("ID", "WILL BE", "RISK", "KIND", "TITLE", "WHY")
	for _, item := range plan.Items {
		t.add(item.Action.String(), effectWords(item), string(item.Summary.Risk), item.Summary.Kind, item.Summary.Title, item.Why)
	}
	if err := t.print(a.out, "nothing to decide"); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "\n%s: %s\n", count(len(plan.Items), "item"), kindWords(plan.Kinds))
	notes := []struct {
		ids   []core.ActionID
		words string
	}{
		{plan.Prerequisites, "missing, add with --with-prerequisites"},
		{objectOfPlan(plan).Stranded, "stranded by what is rejected"},
		{objectOfPlan(plan).Drifted, "changed since made, show and approve again"},
		{plan.NeverOpened, "never opened"},
		{plan.HighRisk, "high risk"},
	}
	for _, n := range notes {
		if len(n.ids) > 0 {
			fmt.Fprintf(a.out, "%s: %s\n", n.words, idWords(n.ids))
		}
	}
	return nil
}

func effectWords(item core.PlannedItem) string {
	switch item.Effect {
	case core.EffectApply:
		return "applied"
	case core.EffectReject:
		return "rejected"
	case core.EffectStrand:
		return "stranded"
	case core.EffectSkip:
		return "skipped"
	default:
		return string(item.Effect)
	}
}

func kindWords(kinds map[string]int) string {
	var words []string
	for kind, n := range kinds {
		words = append(words, fmt.Sprintf("%d %s", n, line(kind)))
	}
	sort.Strings(words)
	return strings.Join(words, ", ")
}

func idWords(ids []core.ActionID) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = id.String()
	}
	return strings.Join(words, ", ")
}

func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

// resultsObject is what --json prints of a decision.
type resultsObject struct {
	Results []core.Result `json:"results"`
}

func (a *app) printResults(results []core.Result) error {
	if a.json {
		return a.object(resultsObject{list(results)})
	}
	t := newTable()
	for _, r := range results {
		t.add(r.Action.String(), string(r.Outcome), r.Reason)
	}
	return t.print(a.out, "nothing was decided")
}

// endOf is the exit of a decision: 0 where every item ended as it was decided.
func (a *app) endOf(results []core.Result) error {
	missed := 0
	for _, r := range results {
		switch r.Outcome {
		case core.OutcomeApplied, core.OutcomeRejected, core.OutcomeAnswered, core.OutcomeQueued:
		default:
			missed++
		}
	}
	switch {
	case missed == 0:
		return nil
	case a.json:
		return told(codeFailed)
	default:
		return &fault{
			code: codeFailed, message: fmt.Sprintf("%d of %s: neither applied nor rejected", missed, count(len(results), "item")),
			hint: "see gatehouse queue show ID",
		}
	}
}

// progress draws a bar on a terminal, and nothing elsewhere.
func (a *app) progress() func(core.Progress) {
	if !a.in.tty.stderr || a.json {
		return nil
	}
	return func(p core.Progress) {
		const width = 20
		full := width
		if p.Total > 0 {
			full = width * p.Done / p.Total
		}
		words := fmt.Sprintf("action %d", p.Action)
		if p.Waiting != "" {
			words += ", waits for " + line(p.Waiting)
		}
		fmt.Fprintf(a.in.stderr, "\r\x1b[K[%s%s] %d/%d %s", strings.Repeat("#", full), strings.Repeat(".", width-full), p.Done, p.Total, words)
		if p.Done == p.Total {
			fmt.Fprint(a.in.stderr, "\r\x1b[K")
		}
	}
}
