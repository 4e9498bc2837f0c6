package core

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// ConfirmOptions says what a person accepts with a confirmation.
type ConfirmOptions struct {
	Unopened bool // carry out high-risk items that were never opened; it is logged (kernel R26)
}

// Confirm carries a plan out, once (kernel R22). Rejects and what they strand are settled first, in one transaction;
// then approvals run, in order, connections side by side. It returns one result for each item of the plan, in its
// order. A context that ends stops it before the next claim; what was not claimed stays pending. The calls of progress
// are serialised; it may be nil.
func (k *Kernel) Confirm(ctx context.Context, plan *Plan, by Authority, o ConfirmOptions, progress func(Progress)) ([]Result, error) {
	by, err := k.authorize(ctx, by)
	if err != nil {
		return nil, err
	}
	if by.Person != plan.By {
		return nil, &DecisionRefusedError{
			Text: fmt.Sprintf("decision refused: the plan was made for %s, not for %s", plan.By, by.Person),
			Hint: "make the plan again",
		}
	}
	if err := k.fault.At(FaultConfirmStart); err != nil {
		return nil, err
	}
	c := k.newCarrier(plan.ID, by, progress)
	if err := c.begin(ctx, plan, o); err != nil {
		return nil, err
	}
	if err := k.fault.At(FaultConfirmStored); err != nil {
		return nil, err
	}
	if err := c.rejectAll(ctx, plan.Items); err != nil {
		return nil, err
	}
	if err := k.fault.At(FaultConfirmRejected); err != nil {
		return nil, err
	}
	carryErr := c.applyAll(ctx, plan.Items)
	if err := c.finish(ctx); err != nil && carryErr == nil {
		carryErr = err
	}
	k.drainAfter(ctx, sessionsOf(plan.Items)...)
	return c.inOrder(plan.Items), carryErr
}

func sessionsOf(items []PlannedItem) []SessionID {
	var ids []SessionID
	for _, item := range items {
		if !slices.Contains(ids, item.Summary.Session) {
			ids = append(ids, item.Summary.Session)
		}
	}
	return ids
}

// carrier carries one confirmed plan out.
type carrier struct {
	k        *Kernel
	plan     PlanID
	by       Authority
	progress func(Progress)
	allowed  func(Action) string // why an action may not be claimed; empty allows
	rule     RuleID              // what approves; empty is a person

	awaited map[ActionID]chan struct{} // closed when the item has ended: what items of other lanes need or come after

	mu      sync.Mutex
	results map[ActionID]Result
	total   int
}

func (k *Kernel) newCarrier(id PlanID, by Authority, progress func(Progress)) *carrier {
	return &carrier{
		k: k, plan: id, by: by, progress: progress, allowed: onlyPending, results: make(map[ActionID]Result),
	}
}

func onlyPending(a Action) string {
	switch {
	case a.State == StatePending:
		return ""
	case a.State == StateUnknown:
		return "outcome unknown: settle it, or retry it with force"
	default:
		return lostRace(a).Error()
	}
}

// mayDecideAll refuses a plan with an item of a session in which the person may not decide; none of it happens.
func (c *carrier) mayDecideAll(tx Tx, items []PlannedItem) error {
	seen := make(map[SessionID]bool)
	for _, item := range items {
		id := item.Summary.Session
		if seen[id] {
			continue
		}
		seen[id] = true
		s, err := tx.Session(string(id))
		if err != nil {
			return err
		}
		if err := mayDecide(tx, s, c.by.Person); err != nil {
			return err
		}
	}
	return nil
}

// begin stores the plan as confirmed, every item not started.
func (c *carrier) begin(ctx context.Context, plan *Plan, o ConfirmOptions) error {
	now := c.k.clock.Now()
	record := PlanRecord{ID: plan.ID, By: c.by.Person, How: c.by.Means, Holder: c.k.alive.Self(), ConfirmedAt: now}
	ids := make([]ActionID, 0, len(plan.Items))
	for _, item := range plan.Items {
		ids = append(ids, item.Action)
		record.Items = append(record.Items, item.PlanItem)
		record.Results = append(record.Results, Result{Action: item.Action, Outcome: OutcomeNotStarted})
	}
	c.total = len(plan.Items)
	return c.k.store.Write(ctx, func(tx Tx) error {
		if err := c.mayDecideAll(tx, plan.Items); err != nil {
			return err
		}
		if !o.Unopened {
			if err := c.refuseUnopened(tx, plan.Items); err != nil {
				return err
			}
		}
		if err := tx.InsertPlan(record); err != nil {
			return err
		}
		// A draft is spent once its plan is confirmed, whatever becomes of the item.
		if err := tx.DropDrafts(c.by.Person, ids); err != nil {
			return err
		}
		return tx.Append(Entry{
			At: now, Type: EventPlan, Actor: string(c.by.Person), Authority: c.by.String(), Subject: planSubject(plan.ID),
			Detail: detail(map[string]any{
				"items": len(plan.Items), "reject": plan.Count(EffectReject), "approve": plan.Count(EffectApply),
				"unopened": o.Unopened, "never_opened": len(plan.NeverOpened),
			}),
		})
	})
}

// refuseUnopened refuses a whole confirm for one high-risk item that this person never opened (kernel R22, R26, K70).
func (c *carrier) refuseUnopened(tx Tx, items []PlannedItem) error {
	var high []ActionID
	for _, item := range items {
		// What the plan skips is sent all the same where its prerequisite was applied meanwhile.
		if item.Verdict != VerdictApprove || (item.Effect != EffectApply && item.Effect != EffectSkip) {
			continue
		}
		a, err := tx.ActionState(item.Action)
		if err != nil {
			return err
		}
		if a.Risk() == RiskHigh && a.Digest == item.Digest && (a.State == StatePending || a.State == StateFailed) {
			high = append(high, item.Action)
		}
	}
	opened, err := tx.Opened(c.by.Person, high)
	if err != nil {
		return err
	}
	for _, id := range high {
		if !opened[id] {
			return &DecisionRefusedError{
				Text: fmt.Sprintf("decision refused: action %d is high risk and was never opened", id),
				Hint: fmt.Sprintf("look at it with gatehouse queue show %d, or give --unopened", id),
			}
		}
	}
	return nil
}

// rejectAll settles the rejects and what they strand in one transaction.
func (c *carrier) rejectAll(ctx context.Context, items []PlannedItem) error {
	var settled []Result
	err := c.k.store.Write(ctx, func(tx Tx) error {
		settled = settled[:0]
		for _, item := range items {
			r, done, err := c.rejectOne(tx, item)
			if err != nil {
				return err
			}
			if !done {
				continue
			}
			settled = append(settled, r)
			if err := tx.SetPlanItem(c.plan, r.Action, r.Outcome, r.Reason); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, r := range settled {
		c.done(r)
	}
	return nil
}

// rejectOne settles one item that is rejected or stranded; approvals are left alone.
func (c *carrier) rejectOne(tx Tx, item PlannedItem) (Result, bool, error) {
	switch {
	case item.Verdict == VerdictReject:
	case item.Effect == EffectStrand:
		// The reject that strands it stands before it in the order.
		a, err := tx.ActionState(item.Action)
		if err != nil || a.State != StateStranded {
			return Result{}, false, err
		}
		return Result{Action: item.Action, Outcome: OutcomeStranded, Reason: a.Reason}, true, nil
	default:
		return Result{}, false, nil
	}
	a, err := tx.ActionState(item.Action)
	if err != nil {
		return Result{}, false, err
	}
	if !a.Rejectable() {
		return Result{Action: a.ID, Outcome: OutcomeNotPending, Reason: lostRace(a).Error()}, true, nil
	}
	if err := c.k.rejectAction(tx, a, item.Reason, c.by, map[string]any{"plan": c.plan}); err != nil {
		return Result{}, false, err
	}
	return Result{Action: a.ID, Outcome: OutcomeRejected, Reason: cleanReason(item.Reason)}, true, nil
}

// applyAll runs the approvals: one lane for each connection, each in order.
func (c *carrier) applyAll(ctx context.Context, items []PlannedItem) error {
	lanes := make(map[ConnectionID]*connectionLane)
	var order []*connectionLane
	for _, item := range items {
		if item.Verdict != VerdictApprove || c.settled(item.Action) {
			continue
		}
		l, found := lanes[item.Summary.Connection]
		if !found {
			l = newConnectionLane(c, item.Summary.Connection)
			lanes[item.Summary.Connection] = l
			order = append(order, l)
		}
		l.items = append(l.items, item)
	}
	c.noteAwaited(order)
	faults := make([]error, len(order))
	var wg sync.WaitGroup
	for i, l := range order {
		wg.Go(func() {
			defer c.letGo(l.items)
			faults[i] = l.run(ctx)
		})
	}
	wg.Wait()
	return together(faults...)
}

// noteAwaited finds what items of one lane have to wait for in another: a resource can be reached over several
// connections. A provider is always older and every lane goes up the ids, so no two lanes wait for each other.
func (c *carrier) noteAwaited(lanes []*connectionLane) {
	at := make(map[ActionID]ConnectionID)
	c.awaited = make(map[ActionID]chan struct{})
	for _, l := range lanes {
		for _, item := range l.items {
			at[item.Action] = l.connection
		}
	}
	for _, l := range lanes {
		for _, item := range l.items {
			for _, provider := range item.providers() {
				connection, chosen := at[provider]
				if chosen && connection != l.connection && provider < item.Action && c.awaited[provider] == nil {
					c.awaited[provider] = make(chan struct{})
				}
			}
		}
	}
}

// awaitOthers waits until what an item needs or comes after in other lanes has ended.
func (c *carrier) awaitOthers(ctx context.Context, l *connectionLane, item PlannedItem) error {
	for _, provider := range item.providers() {
		ended := c.awaited[provider]
		if ended == nil || provider >= item.Action {
			continue
		}
		if err := l.flush(ctx); err != nil { // what they wait for may be in it
			return err
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// letGo ends the waiting for items that a lane did not come to.
func (c *carrier) letGo(items []PlannedItem) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, item := range items {
		c.end(item.Action)
	}
}

// end needs the lock.
func (c *carrier) end(id ActionID) {
	if ended := c.awaited[id]; ended != nil {
		select {
		case <-ended:
		default:
			close(ended)
		}
	}
}

// finish makes the previews that the plan left stale, unless the context ended: the next show or plan does it then. It
// closes the plan.
func (c *carrier) finish(ctx context.Context) error {
	if err := c.k.fault.At(FaultConfirmFinish); err != nil {
		return err
	}
	if err := c.k.refreshStale(ctx, ""); err != nil && ctx.Err() == nil {
		return err
	}
	return c.k.store.Write(context.WithoutCancel(ctx), func(tx Tx) error { return tx.FinishPlan(c.plan, c.k.clock.Now()) })
}

func (c *carrier) settled(id ActionID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, found := c.results[id]
	return found
}

// done keeps a result that the store has, and tells the front end.
func (c *carrier) done(r Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.results[r.Action] = r
	c.end(r.Action)
	c.tell(Progress{Action: r.Action, Outcome: r.Outcome, Reason: r.Reason})
}

func (c *carrier) began(id ActionID, waiting string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tell(Progress{Action: id, Waiting: waiting})
}

func (c *carrier) tell(p Progress) {
	if c.progress == nil {
		return
	}
	p.Done, p.Total = len(c.results), c.total
	c.progress(p)
}

func (c *carrier) inOrder(items []PlannedItem) []Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Result, len(items))
	for i, item := range items {
		r, found := c.results[item.Action]
		if !found {
			r = Result{Action: item.Action, Outcome: OutcomeNotStarted}
		}
		out[i] = r
	}
	return out
}
