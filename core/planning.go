package core

import (
	"context"
	"errors"
	"fmt"
	"sort"
)

// PlanOptions says how a set of ids becomes a plan.
type PlanOptions struct {
	WithPrerequisites bool // adds what is missing, and what that needs in turn
}

// PlanApprove plans the approval of a set of actions as they stand now.
func (k *Kernel) PlanApprove(ctx context.Context, by PersonID, ids []ActionID, o PlanOptions) (*Plan, error) {
	return k.planSame(ctx, by, ids, VerdictApprove, "", o)
}

// PlanReject plans the rejection of a set of actions, each with the same reason.
func (k *Kernel) PlanReject(ctx context.Context, by PersonID, ids []ActionID, reason string) (*Plan, error) {
	return k.planSame(ctx, by, ids, VerdictReject, reason, PlanOptions{})
}

func (k *Kernel) planSame(ctx context.Context, by PersonID, ids []ActionID, v Verdict, reason string, o PlanOptions) (*Plan, error) {
	items := make([]PlanItem, len(ids))
	for i, id := range ids {
		items[i] = PlanItem{Action: id, Verdict: v, Reason: reason}
	}
	plan, err := k.Plan(ctx, by, items)
	for err == nil && o.WithPrerequisites && len(plan.Prerequisites) > 0 {
		for _, id := range plan.Prerequisites {
			items = append(items, PlanItem{Action: id, Verdict: VerdictApprove})
		}
		plan, err = k.Plan(ctx, by, items)
	}
	return plan, err
}

// Plan works out what decisions would do, in the order in which they would be done, and does nothing. An item without
// a digest means the action as it stands now. Stale previews are made fresh first. Items of an action that does not
// exist, two items of one action, and more than PlanLimit items are errors.
func (k *Kernel) Plan(ctx context.Context, by PersonID, items []PlanItem) (*Plan, error) {
	if len(items) == 0 {
		return nil, errors.New("plan: nothing to decide; name at least one action")
	}
	if len(items) > PlanLimit {
		return nil, fmt.Errorf("plan: %d items, %d at most; decide the first %d and then the rest", len(items), PlanLimit, PlanLimit)
	}
	if _, err := k.Recover(ctx); err != nil {
		return nil, err
	}
	if err := k.refreshStale(ctx, ""); err != nil {
		return nil, err
	}
	id, err := k.randomID("p")
	if err != nil {
		return nil, err
	}
	p := &planner{plan: &Plan{ID: PlanID(id), By: by, Kinds: make(map[string]int)}, at: make(map[ActionID]*PlannedItem), sighted: make(map[SessionID]bool)}
	err = k.store.Read(ctx, func(v View) error {
		p.view = v
		return p.build(items)
	})
	if err != nil {
		return nil, err
	}
	return p.plan, nil
}

// planner builds one plan within one snapshot.
type planner struct {
	view View
	plan *Plan
	at   map[ActionID]*PlannedItem // every item of the plan, and what rejects strand

	sighted map[SessionID]bool // not hidden
}

func (p *planner) build(items []PlanItem) error {
	var rejects, approvals []*PlannedItem
	for _, item := range items {
		planned, err := p.load(item)
		if err != nil {
			return err
		}
		switch item.Verdict {
		case VerdictReject:
			rejects = append(rejects, planned)
		case VerdictApprove:
			approvals = append(approvals, planned)
		default:
			return fmt.Errorf("plan: action %d: verdict %q; use %s or %s", item.Action, item.Verdict, VerdictApprove, VerdictReject)
		}
	}
	// A provider is always older than what refers to it, so the order of ids is a topological one.
	byID := func(list []*PlannedItem) {
		sort.Slice(list, func(i, j int) bool { return list[i].Action < list[j].Action })
	}
	byID(rejects)
	byID(approvals)
	stranded, err := p.planRejects(rejects)
	if err != nil {
		return err
	}
	byID(stranded)
	if err := p.planApprovals(approvals); err != nil {
		return err
	}
	if err := p.opened(approvals); err != nil {
		return err
	}
	for _, list := range [][]*PlannedItem{rejects, stranded, approvals} {
		for _, item := range list {
			p.plan.Items = append(p.plan.Items, *item)
		}
	}
	return nil
}

func (p *planner) load(item PlanItem) (*PlannedItem, error) {
	if _, twice := p.at[item.Action]; twice {
		return nil, fmt.Errorf("plan: action %d: named twice", item.Action)
	}
	a, err := p.view.ActionState(item.Action)
	if errors.Is(err, ErrNotFound) {
		return nil, notFound("action", item.Action.String(), "see gatehouse queue list --state all")
	}
	if err != nil {
		return nil, err
	}
	if err := p.inSight(a.Session); err != nil {
		return nil, fmt.Errorf("action %d: %w", a.ID, err)
	}
	seen := item.Digest
	if seen == (Digest{}) {
		item.Digest = a.Digest
	}
	item.Reason = cleanReason(item.Reason)
	planned := &PlannedItem{
		PlanItem: item, Summary: a.Summary(),
		Needs: providers(a.Draft.Needs), After: providers(a.Draft.After),
	}
	p.at[item.Action] = planned
	p.plan.Kinds[a.Draft.Kind]++
	return planned, nil
}

// inSight refuses to plan for a session that is hidden.
func (p *planner) inSight(id SessionID) error {
	if p.sighted[id] {
		return nil
	}
	s, err := p.view.Session(string(id))
	if err != nil {
		return err
	}
	err = unremoved(s)
	p.sighted[id] = err == nil
	return err
}

// Summary is what a list shows of an action.
func (a Action) Summary() Summary {
	return Summary{
		ID: a.ID, Session: a.Session, Binding: a.Binding, Gatekeeper: a.Gatekeeper, Connection: a.Connection,
		Resource: a.Resource, Kind: a.Draft.Kind, Lane: a.Draft.Lane, Title: a.Draft.Title, State: a.State,
		Drift: a.Drift, Retryable: a.Retryable, Risk: a.Risk(), Digest: a.Digest, CreatedAt: a.CreatedAt,
	}
}

func providers(refs []Reference) []ActionID {
	ids := make([]ActionID, 0, len(refs))
	seen := make(map[ActionID]bool, len(refs))
	for _, r := range refs {
		if !seen[r.Provider] {
			seen[r.Provider] = true
			ids = append(ids, r.Provider)
		}
	}
	return ids
}

// planRejects follows what each reject strands, and what that strands in turn.
func (p *planner) planRejects(rejects []*PlannedItem) ([]*PlannedItem, error) {
	var stranded []*PlannedItem
	for _, item := range rejects {
		if !(Action{State: item.Summary.State}).Rejectable() {
			item.Effect, item.Why = EffectNotFound, fmt.Sprintf("already %s", item.Summary.State)
			continue
		}
		item.Effect = EffectReject
	}
	for _, item := range rejects {
		if item.Effect != EffectReject {
			continue
		}
		more, err := p.strandedBy(item.Action, item.Action)
		if err != nil {
			return nil, err
		}
		stranded = append(stranded, more...)
	}
	return stranded, nil
}

func (p *planner) strandedBy(provider, cause ActionID) ([]*PlannedItem, error) {
	dependents, err := p.view.Dependents(provider)
	if err != nil {
		return nil, err
	}
	var out []*PlannedItem
	for _, d := range dependents {
		if !d.Needs || d.State != StatePending {
			continue
		}
		item, chosen := p.at[d.Action]
		switch {
		case chosen && item.Verdict == VerdictReject, chosen && item.Effect == EffectStrand:
			continue
		case chosen:
			item.Effect, item.StrandsBy = EffectStrand, cause
		default:
			a, err := p.view.ActionState(d.Action)
			if err != nil {
				return nil, err
			}
			item = &PlannedItem{
				PlanItem: PlanItem{Action: d.Action, Digest: a.Digest}, Summary: a.Summary(),
				Effect: EffectStrand, StrandsBy: cause, Needs: providers(a.Draft.Needs), After: providers(a.Draft.After),
			}
			p.at[d.Action] = item
			out = append(out, item)
		}
		item.Why = fmt.Sprintf("needs action %d", provider)
		more, err := p.strandedBy(d.Action, cause)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

func (p *planner) planApprovals(approvals []*PlannedItem) error {
	missing := make(map[ActionID]bool)
	for _, item := range approvals {
		if item.Effect == EffectStrand {
			continue
		}
		if err := p.planApproval(item, missing); err != nil {
			return err
		}
	}
	for id := range missing {
		p.plan.Prerequisites = append(p.plan.Prerequisites, id)
	}
	sort.Slice(p.plan.Prerequisites, func(i, j int) bool { return p.plan.Prerequisites[i] < p.plan.Prerequisites[j] })
	return nil
}

func (p *planner) planApproval(item *PlannedItem, missing map[ActionID]bool) error {
	s := item.Summary
	switch {
	case s.State == StateUnknown:
		item.Effect, item.Why = EffectNotFound, "outcome unknown: settle it, or retry it with force"
	case s.State == StateFailed && s.Retryable:
		item.Effect, item.Why = EffectNotFound, "failed: retry it"
	case s.State != StatePending:
		item.Effect, item.Why = EffectNotFound, fmt.Sprintf("already %s", s.State)
	case s.Drift == DriftBlocked:
		item.Effect, item.Why = EffectDrifted, "no preview can be made; reject it"
	case s.Drift == DriftStale:
		item.Effect, item.Why = EffectDrifted, "waits for a fresh preview"
	case item.Digest != s.Digest:
		item.Effect, item.Why = EffectDrifted, "changed since it was seen"
	default:
		return p.planPrerequisites(item, missing)
	}
	return nil
}

// planPrerequisites decides whether what an action needs or comes after will have happened.
func (p *planner) planPrerequisites(item *PlannedItem, missing map[ActionID]bool) error {
	item.Effect = EffectApply
	for _, provider := range item.providers() {
		a, err := p.view.ActionState(provider)
		if err != nil {
			return err
		}
		planned, chosen := p.at[provider]
		switch {
		case a.State == StateApplied || a.State == StateReverted:
		case chosen && planned.Effect == EffectApply:
		case chosen && (planned.Effect == EffectReject || planned.Effect == EffectStrand):
			item.Effect, item.Why = EffectDrifted, fmt.Sprintf("made on action %d, which this plan ends", provider)
		case a.State == StatePending && !chosen:
			item.Missing = append(item.Missing, provider)
			missing[provider] = true
			if err := p.missingBehind(a, missing); err != nil {
				return err
			}
			p.skip(item, fmt.Sprintf("action %d is not in this plan", provider))
		case chosen:
			p.skip(item, fmt.Sprintf("behind action %d", provider))
		default:
			p.skip(item, fmt.Sprintf("action %d is %s", provider, a.State))
		}
	}
	return nil
}

func (p *planner) skip(item *PlannedItem, why string) {
	if item.Effect == EffectApply {
		item.Effect, item.Why = EffectSkip, why
	}
}

// missingBehind names what a missing prerequisite needs in turn.
func (p *planner) missingBehind(a Action, missing map[ActionID]bool) error {
	for _, provider := range append(providers(a.Draft.Needs), providers(a.Draft.After)...) {
		_, chosen := p.at[provider]
		if chosen || missing[provider] {
			continue
		}
		next, err := p.view.ActionState(provider)
		if err != nil {
			return err
		}
		if next.State != StatePending {
			continue
		}
		missing[provider] = true
		if err := p.missingBehind(next, missing); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) opened(approvals []*PlannedItem) error {
	var ids []ActionID
	for _, item := range approvals {
		ids = append(ids, item.Action)
	}
	opened, err := p.view.Opened(p.plan.By, ids)
	if err != nil {
		return err
	}
	for _, item := range approvals {
		item.Opened = opened[item.Action]
		if item.Effect == EffectNotFound || item.Effect == EffectStrand {
			continue
		}
		if !item.Opened {
			p.plan.NeverOpened = append(p.plan.NeverOpened, item.Action)
		}
		if item.Summary.Risk == RiskHigh {
			p.plan.HighRisk = append(p.plan.HighRisk, item.Action)
		}
	}
	return nil
}
