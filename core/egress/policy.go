// Package egress is the policy over everything that leaves (sharing E1-E3): one function that every sink asks, over
// declared, typed variables. What a person configures stands over what is shipped; within each, deny wins over ask and
// ask over allow, in any order of rules.
package egress

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"cel.dev/cel-go/cel"

	"gatehouse/core"
	"gatehouse/core/text"
)

// Rule decides what its condition holds for.
type Rule struct {
	Name   string // unique, one plain word or line; rows of the record carry it
	When   string // an expression over the variables; empty holds always
	Decide core.EgressDecision
}

// RuleError is a fault in a rule, found when the policy is loaded.
type RuleError struct {
	Rule   string
	Line   int // of the condition, from 1; 0 where the fault is not in the condition
	Column int // from 1
	Text   string
}

func (e *RuleError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("egress rule %q: %s", e.Rule, e.Text)
	}
	return fmt.Sprintf("egress rule %q, line %d, column %d: %s", e.Rule, e.Line, e.Column, e.Text)
}

// Policy decides. It is safe for use from several goroutines.
type Policy struct {
	configured []Rule
	load       func() (*compiled, error) // once, when something first asks: reading expressions costs milliseconds
	reads      atomic.Int32
}

var _ core.SelectiveEgress = (*Policy)(nil)

// nameLimit is how many code points the name of a rule may have.
const nameLimit = 100

// New checks that every rule has a name of its own and a decision. Conditions are read by Check, or at the first Decide.
func New(rules []Rule) (*Policy, error) {
	seen := make(map[string]bool)
	for _, r := range slices.Concat(fixed(), shipped(), rules) {
		clean, hidden := text.CleanLine(r.Name, nameLimit)
		switch {
		case strings.TrimSpace(r.Name) == "":
			return nil, &RuleError{Rule: clean, Text: "has no name"}
		case hidden || clean != r.Name:
			return nil, &RuleError{Rule: clean, Text: fmt.Sprintf("its name is not one line of at most %d letters", nameLimit)}
		case seen[r.Name]:
			return nil, &RuleError{Rule: r.Name, Text: "stands twice, or has the name of a shipped rule"}
		case r.Decide != core.EgressAllow && r.Decide != core.EgressAsk && r.Decide != core.EgressDeny:
			return nil, &RuleError{Rule: r.Name, Text: fmt.Sprintf("decides %q; use allow, ask or deny", r.Decide)}
		}
		seen[r.Name] = true
	}
	p := &Policy{configured: rules}
	p.load = sync.OnceValues(func() (*compiled, error) {
		p.reads.Add(1)
		return compile(rules)
	})
	return p, nil
}

// Check reads every condition; a fault is a *RuleError.
func (p *Policy) Check() error {
	_, err := p.load()
	return err
}

// Rules lists the rules in the order of their tiers: fixed, configured, shipped.
func (p *Policy) Rules() []Tier {
	return []Tier{{"fixed", fixed()}, {"configured", p.configured}, {"shipped", shipped()}}
}

// Tier is a group of rules that stands over the ones behind it.
type Tier struct {
	Name  string
	Rules []Rule
}

// fixed holds what no configuration can change (kernel R7).
func fixed() []Rule {
	return []Rule{{"latched: no fetch", `sink.kind == "fetch" && session.latched`, core.EgressDeny}}
}

// shipped holds where nothing else is configured (sharing E3).
func shipped() []Rule {
	return []Rule{
		{"owner-only: local models", `sink.kind == "model" && !sink.local && "owner-only" in labels`, core.EgressDeny},
		{"latched: local models", `sink.kind == "model" && !sink.local && session.latched`, core.EgressDeny},
		{"labelled value", `payload.matches > 0 && !sink.local`, core.EgressAsk},
		{"first fetch of a host", `sink.kind == "fetch" && !sink.known`, core.EgressAsk},
	}
}

// otherwise is what holds where no rule does.
const otherwise = "otherwise: allow"

// compiled is a policy whose conditions were read.
type compiled struct{ tiers [][]conditioned }

type conditioned struct {
	rule    Rule
	program cel.Program // nil holds always
}

// variables are all that a condition can speak of.
func variables() []cel.EnvOption {
	list := cel.ListType(cel.StringType)
	return []cel.EnvOption{
		cel.Variable("sink.kind", cel.StringType),    // what is asked for: fetch, model, read, apply, export, …
		cel.Variable("sink.host", cel.StringType),    // where it goes; empty for what has no host
		cel.Variable("sink.local", cel.BoolType),     // it stays on this machine
		cel.Variable("sink.known", cel.BoolType),     // a person allowed this sink and host in this session before
		cel.Variable("audience", list),               // who will see it, where that is known
		cel.Variable("units", list),                  // what the session has read
		cel.Variable("labels", list),                 // of those
		cel.Variable("payload.bytes", cel.IntType),   // how much leaves
		cel.Variable("payload.matches", cel.IntType), // values from labelled units in it
		cel.Variable("session.latched", cel.BoolType),
		cel.Variable("caller", cel.StringType), // agent, person, client, …
	}
}

func compile(rules []Rule) (*compiled, error) {
	env, err := cel.NewEnv(variables()...)
	if err != nil {
		return nil, fmt.Errorf("egress: %w", err)
	}
	out := &compiled{}
	for _, tier := range [][]Rule{fixed(), rules, shipped()} {
		var list []conditioned
		for _, r := range tier {
			c, err := read(env, r)
			if err != nil {
				return nil, err
			}
			list = append(list, c)
		}
		out.tiers = append(out.tiers, list)
	}
	return out, nil
}

// costLimit is how many steps a condition may take, as the library counts them.
const costLimit = 100_000

func read(env *cel.Env, r Rule) (conditioned, error) {
	if r.When == "" {
		return conditioned{rule: r}, nil
	}
	ast, issues := env.Compile(r.When)
	if issues != nil && issues.Err() != nil {
		first := issues.Errors()[0]
		return conditioned{}, &RuleError{
			Rule: r.Name, Line: first.Location.Line(), Column: max(first.Location.Column()+1, 1), Text: oneLine(first.Message),
		}
	}
	if ast.OutputType() != cel.BoolType {
		return conditioned{}, &RuleError{Rule: r.Name, Line: 1, Column: 1, Text: "is no condition; write one that is true or false"}
	}
	program, err := env.Program(ast, cel.CostLimit(costLimit), cel.InterruptCheckFrequency(100))
	if err != nil {
		return conditioned{}, fmt.Errorf("egress rule %q: %w", r.Name, err)
	}
	return conditioned{r, program}, nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Wants reports whether what a session has read can change the answer. Nothing fixed or shipped holds for what stays on
// this machine, fetches aside; that is so for most reads, which then cost no look at their session.
func (p *Policy) Wants(r core.EgressRequest) bool {
	return len(p.configured) > 0 || !r.Local || r.Sink == core.SinkFetch
}

// Decide answers a sink. A policy that cannot be read, and a condition that cannot be told, are a deny (sharing E2).
func (p *Policy) Decide(ctx context.Context, r core.EgressRequest) core.EgressVerdict {
	if !p.Wants(r) {
		return core.EgressVerdict{Decision: core.EgressAllow, Rule: otherwise}
	}
	return p.decide(ctx, r)
}

func (p *Policy) decide(ctx context.Context, r core.EgressRequest) core.EgressVerdict {
	c, err := p.load()
	if err != nil {
		return core.EgressVerdict{Decision: core.EgressDeny, Rule: "broken policy", Why: err.Error()}
	}
	facts := factsOf(r)
	for _, tier := range c.tiers {
		if verdict, decided := strongest(ctx, tier, facts); decided {
			return verdict
		}
	}
	return core.EgressVerdict{Decision: core.EgressAllow, Rule: otherwise}
}

// strongest is the decision of a tier: deny before ask before allow, whatever the order of its rules (X18). Of several
// rules with one decision the first by name is named, so that the row of the record does not depend on the order either.
func strongest(ctx context.Context, tier []conditioned, facts map[string]any) (core.EgressVerdict, bool) {
	var best core.EgressVerdict
	for _, c := range tier {
		verdict := core.EgressVerdict{Decision: c.rule.Decide, Rule: c.rule.Name}
		if c.program != nil {
			out, _, err := c.program.ContextEval(ctx, facts)
			if err != nil {
				verdict.Decision, verdict.Why = core.EgressDeny, "its condition cannot be told: "+oneLine(err.Error())
			} else if holds, isBool := out.Value().(bool); !isBool || !holds {
				continue
			}
		}
		if rank(verdict.Decision) > rank(best.Decision) ||
			(verdict.Decision == best.Decision && verdict.Rule < best.Rule) {
			best = verdict
		}
	}
	return best, best.Rule != ""
}

func rank(d core.EgressDecision) int {
	switch d {
	case core.EgressAllow:
		return 1
	case core.EgressAsk:
		return 2
	case core.EgressDeny:
		return 3
	default:
		return 0
	}
}

func factsOf(r core.EgressRequest) map[string]any {
	units := make([]string, len(r.Units))
	for i, u := range r.Units {
		units[i] = u.String()
	}
	audience := make([]string, len(r.Audience))
	for i, p := range r.Audience {
		audience[i] = string(p)
	}
	return map[string]any{
		"sink.kind": string(r.Sink), "sink.host": r.Host, "sink.local": r.Local, "sink.known": r.Known, "audience": audience,
		"units": units, "labels": append([]string{}, r.Labels...), "payload.bytes": r.Bytes, "payload.matches": len(r.Matches),
		"session.latched": r.Latched, "caller": string(r.Caller.Kind),
	}
}
