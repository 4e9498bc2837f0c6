package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gatehouse/core"
)

func (a *app) egressCommand() *cobra.Command {
	c := a.family(
		"egress", "What may leave, and what left",
		a.egressTestCommand(), a.egressLogCommand(),
		&cobra.Command{
			Use: "rules", Short: "List the rules over what leaves, the strongest tier first", Args: exactly(),
			RunE: func(*cobra.Command, []string) error { return a.egressRules() },
		},
		&cobra.Command{
			Use: "forget SESSION [HOST]", Short: "Take back what was answered about a host, or all hosts",
			Args: cobra.RangeArgs(1, 2),
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.egressForget(cmd.Context(), args[0], strings.Join(args[1:], ""))
			},
		},
	)
	page, err := pages.ReadFile("help/egress.txt")
	if err != nil {
		panic("gatehouse: the page on egress is missing: " + err.Error())
	}
	c.Long = strings.TrimSpace(string(page))
	return c
}

// egressQuestion is what egress test was asked.
type egressQuestion struct {
	request       core.EgressRequest
	sink, session string
	sends         []string
}

func (a *app) egressTestCommand() *cobra.Command {
	var q egressQuestion
	c := &cobra.Command{
		Use:   "test",
		Short: "Ask the policy what it would make of something",
		Long: `Ask the policy what it would decide, and by which rule. Nothing leaves, is asked
or is written down. With --session what that session has read counts too.`,
		Example: `  gatehouse egress test --sink fetch --host docs.example.com
  gatehouse egress test --sink model --host api.example.com --label owner-only`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.egressTest(cmd.Context(), q) },
	}
	f := c.Flags()
	f.StringVar(&q.sink, "sink", "", "what it goes through, such as fetch, model, apply, export")
	f.StringVar(&q.request.Host, "host", "", "the `HOST` it goes to")
	f.BoolVar(&q.request.Local, "local", false, "it stays on this machine")
	f.BoolVar(&q.request.Known, "known", false, "a person allowed this host before")
	f.BoolVar(&q.request.Latched, "latched", false, "the session is latched")
	f.StringSliceVar(&q.request.Labels, "label", nil, "`LABELS` of what was read")
	f.IntVar(&q.request.Bytes, "bytes", 0, "how much leaves")
	f.StringArrayVar(&q.sends, "sends", nil, "a `TEXT` that leaves; with --session it is searched for labelled values")
	f.StringVarP(&q.session, "session", "s", "", "the `SESSION` that it leaves from")
	return c
}

// egressVerdict is what --json prints of an answer of the policy.
type egressVerdict struct {
	Decision core.EgressDecision `json:"decision"`
	Rule     string              `json:"rule"`
	Why      string              `json:"why"`
	Labels   []string            `json:"labels"`
	Matches  []string            `json:"matches"`
}

func (a *app) egressTest(ctx context.Context, q egressQuestion) error {
	q.request.Sink = core.EgressSink(q.sink)
	if !slices.Contains(core.EgressSinks(), q.request.Sink) {
		words := make([]string, 0, len(core.EgressSinks()))
		for _, s := range core.EgressSinks() {
			words = append(words, string(s))
		}
		return usage("use one of "+strings.Join(words, ", "), "--sink %q: is nothing that things leave through", line(q.sink))
	}
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	if q.session != "" {
		if err := a.enter(ctx, p, q.session, core.RoleView); err != nil {
			return err
		}
	}
	q.request.Session, q.request.Destination = core.SessionID(q.session), q.request.Host
	q.request.Caller = core.Caller{Kind: core.CallerAgent}
	verdict, asked, err := p.kernel.TestEgress(ctx, q.request, q.sends...)
	if err != nil {
		return err
	}
	if a.json {
		return a.object(egressVerdict{verdict.Decision, verdict.Rule, verdict.Why, list(asked.Labels), list(asked.Matches)})
	}
	rows := [][2]string{{"decision", string(verdict.Decision)}, {"rule", verdict.Rule}}
	if verdict.Why != "" {
		rows = append(rows, [2]string{"why", verdict.Why})
	}
	if len(asked.Labels) > 0 {
		rows = append(rows, [2]string{"labels", strings.Join(asked.Labels, ", ")})
	}
	for _, m := range asked.Matches {
		rows = append(rows, [2]string{"holds", m})
	}
	return pairs(a.out, "", rows...)
}

// egressRuleObject is what --json prints of a rule.
type egressRuleObject struct {
	Tier   string              `json:"tier"`
	Name   string              `json:"name"`
	When   string              `json:"when"`
	Decide core.EgressDecision `json:"decide"`
}

func (a *app) egressRules() error {
	c, err := a.settings()
	if err != nil {
		return err
	}
	t := newTable("TIER", "DECIDE", "NAME", "WHEN")
	t.whole = true
	for _, tier := range c.policy.Rules() {
		for _, r := range tier.Rules {
			if a.json {
				if err := a.object(egressRuleObject{tier.Name, r.Name, r.When, r.Decide}); err != nil {
					return err
				}
				continue
			}
			t.add(tier.Name, string(r.Decide), r.Name, r.When)
		}
	}
	if a.json {
		return nil
	}
	return t.print(a.out, "")
}

func (a *app) egressLogCommand() *cobra.Command {
	var session, decision string
	var limit int
	c := &cobra.Command{
		Use:   "log",
		Short: "List what left, or was kept, by which rule",
		Long: `List the decisions on what leaves, oldest first, each followed by how it went.
Effects have theirs in the row of their claim. gatehouse why tells what was read
before one: gatehouse why log:ROW.`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.egressLog(cmd.Context(), session, decision, limit)
		},
	}
	c.Flags().StringVarP(&session, "session", "s", "", "only of this `SESSION`")
	c.Flags().StringVar(&decision, "decision", "", "only allow, ask or deny")
	c.Flags().IntVarP(&limit, "limit", "n", 0, "at most this `MANY` rows; 0 is all")
	return c
}

func (a *app) egressLog(ctx context.Context, session, decision string, limit int) error {
	if decision != "" && decision != "allow" && decision != "ask" && decision != "deny" {
		return usage("use allow, ask or deny", "--decision %q: is none", line(decision))
	}
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	q := core.RecordQuery{Types: []core.EventType{core.EventEgress, core.EventClaim}, Limit: 500}
	if err := p.named(session); err != nil {
		return err
	}
	if session != "" {
		if err := a.enter(ctx, p, session, core.RoleView); err != nil {
			return err
		}
		s, err := p.kernel.Session(ctx, session)
		if err != nil {
			return err
		}
		q.Session = s.ID
	}
	for printed := 0; ; {
		rows, err := p.kernel.Record(ctx, q)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, r := range rows {
			q.After = r.Seq
			claimed := r.Entry.Type == core.EventClaim && decision == "allow"
			if decision != "" && !claimed && !strings.Contains(string(r.Entry.Detail), strconv.Quote("decision")+":"+strconv.Quote(decision)) {
				continue
			}
			if err := a.printRow(r); err != nil {
				return err
			}
			if printed++; printed == limit {
				return nil
			}
		}
	}
}

func (a *app) egressForget(ctx context.Context, session, host string) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	n, err := p.kernel.ForgetEgress(ctx, session, host, a.authority(p))
	if err != nil {
		return err
	}
	if a.json {
		return a.object(map[string]int{"forgotten": n})
	}
	_, err = fmt.Fprintf(a.out, "forgot %s; it is asked again\n", count(n, "answer"))
	return err
}
