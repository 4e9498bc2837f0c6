package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"gatehouse/core"
	"gatehouse/core/egress"
)

// egressRule is a rule over what leaves, as it is written.
type egressRule struct {
	Name   string `mapstructure:"name" yaml:"name" json:"name"`
	When   string `mapstructure:"when" yaml:"when" json:"when"`
	Decide string `mapstructure:"decide" yaml:"decide" json:"decide"`
}

// egressRules is the list of them.
type egressRules []egressRule

// String is the list as a person reads it in a table.
func (r egressRules) String() string {
	words := make([]string, len(r))
	for i, one := range r {
		words[i] = one.Decide + " " + one.Name
	}
	return strings.Join(words, ", ")
}

// policy makes the policy. It reads the conditions of what is configured, and
// no others: that costs milliseconds.
func (r egressRules) policy() (*egress.Policy, error) {
	rules := make([]egress.Rule, len(r))
	for i, one := range r {
		rules[i] = egress.Rule{Name: one.Name, When: one.When, Decide: core.EgressDecision(one.Decide)}
	}
	p, err := egress.New(rules)
	if err == nil && len(rules) > 0 {
		err = p.Check()
	}
	return p, err
}

// egressRulesFrom reads the variable, which holds the list as YAML, so as JSON.
func egressRulesFrom(value string) (egressRules, error) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(value), &document); err != nil || len(document.Content) == 0 {
		return nil, errors.New("not a list of rules")
	}
	rules, wrong := egressEntries(document.Content[0])
	if wrong != nil {
		return nil, wrong
	}
	return rules, nil
}

// checkEgressRules says what is wrong with the variable.
func checkEgressRules(value string) string {
	rules, err := egressRulesFrom(value)
	if err == nil {
		_, err = rules.policy()
	}
	if err != nil {
		return strings.TrimPrefix(err.Error(), "key egress.rules: ")
	}
	return ""
}

// entryError is a fault of an entry, with its line in the text it stands in.
type entryError struct {
	line int
	text string
}

func (e *entryError) Error() string { return e.text }

const egressHint = "write each as - name: NAME, with decide: allow, ask or deny, and when: CONDITION"

// egressEntries reads a list of rules strictly.
func egressEntries(n *yaml.Node) (egressRules, *entryError) {
	wrong := func(at *yaml.Node, format string, args ...any) (egressRules, *entryError) {
		return nil, &entryError{at.Line, "key egress.rules: " + fmt.Sprintf(format, args...)}
	}
	if n.Kind != yaml.SequenceNode {
		return wrong(n, "not a list")
	}
	rules := egressRules{}
	for _, entry := range n.Content {
		if entry.Kind != yaml.MappingNode {
			return wrong(entry, "an entry that is no rule")
		}
		given := map[string]string{}
		for i := 0; i+1 < len(entry.Content); i += 2 {
			name, value := entry.Content[i], entry.Content[i+1]
			_, twice := given[name.Value]
			switch {
			case name.Value != "name" && name.Value != "when" && name.Value != "decide":
				return wrong(name, "unknown key %s", name.Value)
			case twice:
				return wrong(name, "%s stands here a second time", name.Value)
			case value.Kind != yaml.ScalarNode || strings.TrimSpace(value.Value) == "":
				return wrong(value, "%s is not a single value", name.Value)
			}
			given[name.Value] = value.Value
		}
		if given["name"] == "" || given["decide"] == "" {
			return wrong(entry, "a rule without name or decide")
		}
		rules = append(rules, egressRule{given["name"], given["when"], given["decide"]})
	}
	return rules, nil
}

// egressRules checks the rules in the file, conditions too: a fault is told with
// the line of the file on which it stands.
func (c fileCheck) egressRules(n *yaml.Node) error {
	rules, wrong := egressEntries(n)
	if wrong != nil {
		return c.at(wrong.line, egressHint, "%s", wrong.text)
	}
	_, err := rules.policy()
	var fault *egress.RuleError
	switch {
	case errors.As(err, &fault):
		return c.at(ruleLine(n, fault), "gatehouse help egress lists what a condition can speak of", "%s", fault)
	case err != nil:
		return err
	}
	return nil
}

// ruleLine is the line of the file that a fault of a rule stands on.
func ruleLine(n *yaml.Node, fault *egress.RuleError) int {
	at := n.Line
	for _, entry := range n.Content {
		name, when := child(entry, "name"), child(entry, "when")
		if name == nil || name.Value != fault.Rule {
			continue
		}
		at = name.Line // of two rules with one name the second is the fault
		if when != nil && fault.Line > 0 {
			at = when.Line + fault.Line - 1
			if when.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
				at++ // it begins on the line below its mark
			}
		}
	}
	return at
}

// livePolicy is the egress policy of the configuration as it is now. A broken
// file leaves the last valid one.
type livePolicy struct{ live *liveSettings }

var _ core.SelectiveEgress = livePolicy{}

func (l livePolicy) Decide(ctx context.Context, r core.EgressRequest) core.EgressVerdict {
	return l.live.policy().Decide(ctx, r)
}

func (l livePolicy) Wants(r core.EgressRequest) bool { return l.live.policy().Wants(r) }

// policy is the egress policy that holds now.
func (l *liveSettings) policy() *egress.Policy {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reload()
	return l.config.policy
}
