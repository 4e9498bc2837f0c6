package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// RuleLife is how long a rule holds when its author says nothing else (kernel R23).
const RuleLife = 24 * time.Hour

// RuleID names a rule, such as "r3".
type RuleID string

// Rule lets actions be carried out without a person, where the driver says of the action that it may be (kernel R23).
type Rule struct {
	ID        RuleID
	Session   SessionID
	Binding   BindingName
	Kind      string // action kind
	Condition string // an expression over the kind's declared fields as they will be sent; empty holds always
	Author    PersonID
	How       Means // how its author made it; decisions by it are made that way
	CreatedAt time.Time
	ExpiresAt time.Time
	Max       int // how many actions it may approve; 0 is no limit
	Used      int
	RemovedAt time.Time
}

// Predicates compiles conditions. The expression language is a library's (design: core/predicate).
type Predicates interface {
	// Compile refuses a name that is not a field and a condition that is not true or false, as a *PredicateError.
	Compile(fields []FieldDef, source string) (Predicate, error)
}

// Predicate is a condition. Any error counts as no.
type Predicate interface {
	Met(ctx context.Context, values map[string]json.RawMessage) (bool, error)
}

// PredicateError is a fault in a condition.
type PredicateError struct {
	Line   int // from 1
	Column int // from 1
	Text   string
}

func (e *PredicateError) Error() string {
	return fmt.Sprintf("condition, line %d, column %d: %s", e.Line, e.Column, cleanReason(e.Text))
}

// RuleRequest is a rule that a person asks for.
type RuleRequest struct {
	Session   string
	Binding   BindingName
	Kind      string
	Condition string
	ExpiresAt time.Time // zero is RuleLife from now
	Max       int
}

// RulePreview is what a rule would do at once.
type RulePreview struct {
	Rule Rule
	Runs []Summary // the waiting actions that would be carried out, in order
}

// RuleMovedError says that what a rule would run at once is not what its author was shown.
type RuleMovedError struct{ Shown, Now int }

func (e *RuleMovedError) Error() string {
	return fmt.Sprintf("rule: what it would carry out at once changed since it was shown, %d then and %d now; look again", e.Shown, e.Now)
}

// PreviewRule says what a rule would carry out as soon as it is made, and refuses what AddRule would refuse.
func (k *Kernel) PreviewRule(ctx context.Context, r RuleRequest, by PersonID) (RulePreview, error) {
	rule, err := k.checkRule(ctx, r, by)
	if err != nil {
		return RulePreview{}, err
	}
	if err := k.refreshStale(ctx, rule.Session); err != nil {
		return RulePreview{}, err
	}
	out := RulePreview{Rule: rule}
	err = k.store.Read(ctx, func(v View) (err error) {
		out.Runs, err = k.wouldRun(ctx, v, rule)
		return err
	})
	return out, err
}

// AddRule makes a rule and carries out what waits and is covered by it: exactly the actions that were shown, else it is
// a *RuleMovedError and nothing is made. It is a decision of a person (kernel R34).
func (k *Kernel) AddRule(ctx context.Context, r RuleRequest, shown []ActionID, by Authority, progress func(Progress)) (Rule, []Result, error) {
	by, err := k.authorize(ctx, by)
	if err != nil {
		return Rule{}, nil, err
	}
	rule, err := k.checkRule(ctx, r, by.Person)
	if err != nil {
		return Rule{}, nil, err
	}
	rule.How = by.Means
	err = k.store.Write(ctx, func(tx Tx) error {
		if err := maySettle(tx, rule.Session, by.Person); err != nil {
			return err
		}
		now, err := k.wouldRunSoon(ctx, tx, rule)
		if err != nil {
			return err
		}
		if !slices.Equal(idsOf(now), shown) {
			return &RuleMovedError{Shown: len(shown), Now: len(now)}
		}
		if err := tx.InsertRule(&rule); err != nil {
			return err
		}
		return tx.Append(k.ruleRow(rule, by, map[string]any{
			"event": "made", "binding": rule.Binding, "kind": rule.Kind, "condition": textHash(rule.Condition),
			"expires_at": rule.ExpiresAt.UTC().Format(time.RFC3339), "max": rule.Max, "runs": len(now),
		}))
	})
	if err != nil {
		return Rule{}, nil, err
	}
	results, err := k.drainSession(ctx, rule.Session, progress)
	return rule, results, err
}

// conditionsFor is how long the conditions of a session's rules may take over what waits while others wait to write.
const conditionsFor = 2 * time.Second

func (k *Kernel) wouldRunSoon(ctx context.Context, tx Tx, added Rule) ([]Summary, error) {
	soon, cancel := context.WithTimeout(ctx, conditionsFor)
	defer cancel()
	runs, err := k.wouldRun(soon, tx, added)
	if soon.Err() != nil && ctx.Err() == nil {
		return nil, Invalid("rule: the conditions take longer than %s over what waits in session %s; make them simpler", conditionsFor, added.Session)
	}
	return runs, err
}

func idsOf(list []Summary) []ActionID {
	var ids []ActionID
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	return ids
}

// checkRule holds a request against its session, binding, kind and fields.
func (k *Kernel) checkRule(ctx context.Context, r RuleRequest, by PersonID) (Rule, error) {
	now := k.clock.Now()
	if r.ExpiresAt.IsZero() {
		r.ExpiresAt = now.Add(RuleLife)
	}
	rule := Rule{
		Binding: r.Binding, Kind: r.Kind, Condition: r.Condition, Author: by, CreatedAt: now, ExpiresAt: r.ExpiresAt, Max: r.Max,
	}
	switch {
	case !r.ExpiresAt.After(now):
		return rule, Invalid("rule: expires at %s, which is over", r.ExpiresAt.UTC().Format(time.RFC3339))
	case r.Max < 0:
		return rule, Invalid("rule: a count of %d; give 1 or more, or leave it out", r.Max)
	}
	err := k.store.Read(ctx, func(v View) error {
		s, err := sessionFor(v, r.Session, by, RoleView)
		if err != nil {
			return err
		}
		if err := mayDecide(v, s, by); err != nil {
			return err
		}
		if err := unlatched(v, s, "rule"); err != nil {
			return err
		}
		rule.Session = s.ID
		binding, err := v.Binding(s.ID, r.Binding)
		if err != nil {
			return missingBinding(s, string(r.Binding), err)
		}
		if rule.CreatedAt.Before(binding.CreatedAt) {
			rule.CreatedAt = binding.CreatedAt // a clock that was put back makes nothing older than what it is over
		}
		kind, known := k.kinds[binding.Kind][r.Kind]
		if !known {
			return notFound("action kind", r.Kind, fmt.Sprintf("see gatehouse gatekeeper show %s", binding.Kind))
		}
		_, err = k.condition(kind, r.Condition)
		return err
	})
	return rule, err
}

// condition compiles one; nil holds always.
func (k *Kernel) condition(kind ActionKind, source string) (Predicate, error) {
	if source == "" {
		return nil, nil
	}
	if k.predicates == nil {
		return nil, Invalid("rule: this program has no conditions; leave it out")
	}
	return k.predicates.Compile(kind.Fields, source)
}

func (k *Kernel) ruleRow(r Rule, by Authority, pairs map[string]any) Entry {
	return Entry{
		At: k.clock.Now(), Type: EventRule, Session: r.Session, Actor: string(by.Person), Authority: by.String(), Rule: string(r.ID),
		Subject: "rule " + string(r.ID), Detail: detail(pairs),
	}
}

// RemoveRule ends a rule. It is a decision of a person (kernel R34).
func (k *Kernel) RemoveRule(ctx context.Context, id RuleID, by Authority) (Rule, error) {
	by, err := k.authorize(ctx, by)
	if err != nil {
		return Rule{}, err
	}
	var rule Rule
	now := k.clock.Now()
	err = k.store.Write(ctx, func(tx Tx) error {
		if rule, err = findRule(tx, id); err != nil {
			return err
		}
		err := maySettle(tx, rule.Session, by.Person)
		var removed *RemovedError
		if errors.Is(err, ErrNotFound) && !errors.As(err, &removed) {
			return noRule(id) // whoever has no role there is told of nothing (K18)
		}
		if err != nil {
			return err
		}
		if err := tx.RemoveRule(id, now); err != nil {
			return err
		}
		rule.RemovedAt = now
		return tx.Append(k.ruleRow(rule, by, map[string]any{"event": "removed", "used": rule.Used}))
	})
	return rule, err
}

func findRule(v ruleView, id RuleID) (Rule, error) {
	rule, err := v.Rule(id)
	if err == nil && !rule.RemovedAt.IsZero() {
		err = ErrNotFound
	}
	if errors.Is(err, ErrNotFound) {
		return Rule{}, noRule(id)
	}
	return rule, err
}

func noRule(id RuleID) error { return notFound("rule", string(id), "see gatehouse rule list") }

// RuleStanding is a rule with whether it counts now.
type RuleStanding struct {
	Rule
	Off string // why it approves nothing now; empty where it does
}

// Rules lists the rules of a session, or of all for an empty reference, oldest first, without removed ones.
func (k *Kernel) Rules(ctx context.Context, session string) ([]RuleStanding, error) {
	var out []RuleStanding
	err := k.store.Read(ctx, func(v View) error {
		var id SessionID
		if session != "" {
			s, err := findSession(v, session)
			if err != nil {
				return err
			}
			id = s.ID
		}
		rules, err := v.Rules(id)
		if err != nil {
			return err
		}
		for _, r := range rules {
			off, err := k.ruleOff(v, r)
			if err != nil {
				return err
			}
			out = append(out, RuleStanding{r, off})
		}
		return nil
	})
	return out, err
}

// TestRule says of every waiting action of a rule's session and binding, in order, why the rule would not approve it;
// an empty reason approves.
func (k *Kernel) TestRule(ctx context.Context, id RuleID) ([]RuleTrial, error) {
	var out []RuleTrial
	err := k.store.Read(ctx, func(v View) error {
		rule, err := findRule(v, id)
		if err != nil {
			return err
		}
		open, err := v.OpenActions(rule.Session)
		if err != nil {
			return err
		}
		walk := k.coverage()
		for _, waiting := range open {
			if waiting.Binding != rule.Binding {
				continue
			}
			a, err := v.Action(waiting.ID)
			if err != nil {
				return err
			}
			why, err := walk.uncovered(ctx, v, rule, a)
			if err != nil {
				return err
			}
			out = append(out, RuleTrial{a.Summary(), why})
		}
		return nil
	})
	return out, err
}

// RuleTrial is what a rule makes of one action.
type RuleTrial struct {
	Summary
	Why string // why it is not covered; empty where it is
}
