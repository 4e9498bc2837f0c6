package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// ruleOff says why a rule approves nothing now (kernel R23).
func (k *Kernel) ruleOff(v interface {
	sessionView
	peopleView
}, r Rule,
) (string, error) {
	switch {
	case !r.RemovedAt.IsZero():
		return "removed", nil
	case !k.clock.Now().Before(r.ExpiresAt):
		return "expired", nil
	case r.Max > 0 && r.Used >= r.Max:
		return "its count is used up", nil
	}
	s, err := v.Session(string(r.Session))
	if err != nil {
		return "", err
	}
	if !s.Removed.At.IsZero() {
		return "the session was removed", nil
	}
	if s.Latched {
		return "the session is latched", nil
	}
	binding, err := v.Binding(r.Session, r.Binding)
	switch {
	case errors.Is(err, ErrNotFound):
		return fmt.Sprintf("%s is not bound any more", r.Binding), nil
	case err != nil:
		return "", err
	case binding.CreatedAt.After(r.CreatedAt):
		return fmt.Sprintf("%s was bound to something else since", r.Binding), nil
	}
	err = mayDecide(v, s, r.Author)
	var role *RoleError
	if errors.As(err, &role) || errors.Is(err, ErrNotFound) {
		return fmt.Sprintf("%s may no longer decide", r.Author), nil
	}
	return "", err
}

// coverage holds rules against actions in one walk over a queue, and compiles each condition once.
type coverage struct {
	k        *Kernel
	compiled map[RuleID]compiledCondition
}

type compiledCondition struct {
	predicate Predicate
	err       error
}

func (k *Kernel) coverage() coverage {
	return coverage{k: k, compiled: make(map[RuleID]compiledCondition)}
}

func (c coverage) condition(r Rule, gatekeeper string) (Predicate, error) {
	got, found := c.compiled[r.ID]
	if !found {
		got.predicate, got.err = c.k.condition(c.k.kinds[gatekeeper][r.Kind], r.Condition)
		c.compiled[r.ID] = got
	}
	return got.predicate, got.err
}

// uncovered says why a rule does not approve an action; empty where it does. What is cheap to tell comes first: it may
// run while others wait to write.
func (c coverage) uncovered(ctx context.Context, v View, r Rule, a Action) (string, error) {
	switch {
	case a.Binding != r.Binding || a.Session != r.Session:
		return "another binding", nil
	case a.Draft.Kind != r.Kind:
		return "another kind", nil
	case a.State != StatePending:
		return "is " + string(a.State), nil
	case !a.Draft.AutoApprovable:
		return "the driver leaves it to a person", nil
	case a.Risk() == RiskHigh:
		return "its risk is high", nil
	}
	off, err := c.k.ruleOff(v, r)
	if err != nil || off != "" || r.Condition == "" {
		return off, err
	}
	condition, err := c.condition(r, a.Gatekeeper)
	if err != nil {
		return "its condition is no more: " + cleanReason(err.Error()), nil
	}
	values := make(map[string]json.RawMessage, len(a.Draft.Fields))
	for _, f := range a.Draft.Fields {
		values[f.Name] = f.After
	}
	met, err := condition.Met(ctx, values)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "its condition cannot be told: " + cleanReason(err.Error()), nil
	case !met:
		return "its condition is not met", nil
	}
	return "", nil
}

// covering finds the oldest rule that approves an action; false where none does. Used may count approvals that are only
// foreseen.
func (c coverage) covering(ctx context.Context, v View, rules []Rule, a Action) (int, bool, error) {
	for i, r := range rules {
		why, err := c.uncovered(ctx, v, r, a)
		if err != nil || why == "" {
			return i, err == nil, err
		}
	}
	return 0, false, nil
}

// queueKey is what drains in order: the actions of a session at one connection and resource.
type queueKey struct {
	connection ConnectionID
	resource   string
}

// wouldRun lists the waiting actions that would be carried out if a rule were added: those ahead of the first of their
// connection and resource that needs a person.
func (k *Kernel) wouldRun(ctx context.Context, v View, added Rule) ([]Summary, error) {
	rules, err := v.Rules(added.Session)
	if err != nil {
		return nil, err
	}
	rules = append(rules, added)
	open, err := v.OpenActions(added.Session)
	if err != nil {
		return nil, err
	}
	var runs []Summary
	walk := k.coverage()
	stopped := make(map[queueKey]bool)
	for _, waiting := range open {
		key := queueKey{waiting.Connection, waiting.Resource}
		if stopped[key] || waiting.State == StateUnknown {
			continue
		}
		a, err := v.Action(waiting.ID)
		if err != nil {
			return nil, err
		}
		i, covered, err := walk.covering(ctx, v, rules, a)
		if err != nil {
			return nil, err
		}
		if !covered {
			stopped[key] = true
			continue
		}
		rules[i].Used++
		runs = append(runs, a.Summary())
	}
	return runs, nil
}

// drainSession carries out what rules cover, at every connection and resource of a session.
func (k *Kernel) drainSession(ctx context.Context, session SessionID, progress func(Progress)) ([]Result, error) {
	var keys []queueKey
	err := k.store.Read(ctx, func(v View) error {
		rules, err := v.Rules(session)
		if err != nil || len(rules) == 0 {
			return err
		}
		open, err := v.OpenActions(session)
		if err != nil {
			return err
		}
		seen := make(map[queueKey]bool)
		for _, a := range open {
			key := queueKey{a.Connection, a.Resource}
			if !seen[key] {
				seen[key], keys = true, append(keys, key)
			}
		}
		return nil
	})
	var all []Result
	for _, key := range keys {
		if err != nil {
			break
		}
		var results []Result
		results, err = k.drain(ctx, session, key, progress)
		all = append(all, results...)
	}
	return all, err
}

// drain carries out, one after the other, the actions at the front of a connection and resource that rules cover. It
// stops at the first that needs a person: a failed one among them, so that nothing is skipped (K44, K47). An unknown one
// blocks nothing (kernel R19).
func (k *Kernel) drain(ctx context.Context, session SessionID, key queueKey, progress func(Progress)) ([]Result, error) {
	var results []Result
	for {
		a, rule, found, err := k.frontOf(ctx, session, key)
		if err != nil || !found {
			return results, err
		}
		result, err := k.approveByRule(ctx, a, rule, progress)
		if result.Action != 0 {
			results = append(results, result)
		}
		if err != nil || result.Outcome != OutcomeApplied && result.Outcome != OutcomeNotPending && result.Outcome != OutcomeUnknown {
			return results, err
		}
	}
}

// frontOf is the first action of a connection and resource and the rule that covers it; false where it needs a person.
func (k *Kernel) frontOf(ctx context.Context, session SessionID, key queueKey) (front Action, by Rule, found bool, err error) {
	err = k.store.Read(ctx, func(v View) error {
		rules, err := v.Rules(session)
		if err != nil || len(rules) == 0 {
			return err
		}
		open, err := v.OpenActions(session)
		if err != nil {
			return err
		}
		for _, waiting := range open {
			if waiting.Connection != key.connection || waiting.Resource != key.resource || waiting.State == StateUnknown {
				continue
			}
			if front, err = v.Action(waiting.ID); err != nil {
				return err
			}
			var i int
			if i, found, err = k.coverage().covering(ctx, v, rules, front); found {
				by = rules[i]
			}
			return err
		}
		return nil
	})
	return front, by, found, err
}

// approveByRule carries one action out on the authority of a rule's author, through digest, base, claim and record like
// any approval.
func (k *Kernel) approveByRule(ctx context.Context, a Action, rule Rule, progress func(Progress)) (Result, error) {
	planID, err := k.randomID("p")
	if err != nil {
		return Result{}, err
	}
	by := Authority{Person: rule.Author, Means: rule.How}
	plan := &Plan{ID: PlanID(planID), By: by.Person, Items: []PlannedItem{{
		PlanItem: PlanItem{Action: a.ID, Digest: a.Digest, Verdict: VerdictApprove}, Summary: a.Summary(), Effect: EffectApply,
	}}}
	c := k.newCarrier(plan.ID, by, progress)
	c.rule = rule.ID
	if err := c.begin(ctx, plan, ConfirmOptions{}); err != nil {
		return Result{}, err
	}
	carryErr := c.applyAll(ctx, plan.Items)
	if err := c.finish(ctx); err != nil && carryErr == nil {
		carryErr = err
	}
	// What a rule did is in the record and the queue; no front end has to show it as a plan that somebody confirmed.
	if err := k.DismissPlan(context.WithoutCancel(ctx), plan.ID, by.Person); err != nil && carryErr == nil {
		carryErr = err
	}
	return c.inOrder(plan.Items)[0], carryErr
}

// useRule holds the claim of an action against its rule as it is now, and counts it (kernel R23).
func (k *Kernel) useRule(ctx context.Context, tx Tx, id RuleID, a Action) error {
	rule, err := tx.Rule(id)
	if err != nil {
		return err
	}
	full, err := tx.Action(a.ID)
	if err != nil {
		return err
	}
	why, err := k.coverage().uncovered(ctx, tx, rule, full)
	if err != nil {
		return err
	}
	if why != "" {
		return held(OutcomeSkipped, "rule %s does not cover it any more: %s", id, why)
	}
	return tx.UseRule(id)
}

// drainAfter drains on behind what was decided. What was decided is done; what a drain then meets is in the queue and
// the record, so its errors end it and nothing else.
func (k *Kernel) drainAfter(ctx context.Context, sessions ...SessionID) {
	done := make(map[SessionID]bool)
	for _, session := range sessions {
		if session == "" || done[session] {
			continue
		}
		done[session] = true
		if _, err := k.drainSession(ctx, session, nil); err != nil && ctx.Err() == nil {
			k.log.Warn("rules stopped", "session", session, "error", textHash(err.Error()))
		}
	}
}
