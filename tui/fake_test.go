package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"gatehouse/core"
)

// fakeKernel keeps a queue in memory and counts what it is asked. Its reads cost
// what they return, as those of the store do.
type fakeKernel struct {
	mu       sync.Mutex
	rows     []core.QueueRow // by id
	index    map[core.QueueOrder][]core.QueueRow
	fields   map[core.ActionID][]core.Field
	drafts   []core.DraftedDecision
	opened   map[core.ActionID]bool
	sessions []core.SessionSummary
	script   []core.TranscriptEntry
	budgets  []core.Standing
	plans    []core.PlanRecord
	outcomes map[core.ActionID]core.ItemOutcome
	answers  map[core.ActionID]string
	settled  map[core.ActionID]core.Settlement
	retried  map[core.ActionID]bool
	log      []core.Row
	needs    map[core.ActionID][]core.ActionID
	refuse   error // of Confirm
	broken   error // of every read
	rules    fakeRules
	permits  []core.EgressRequest
	refused  map[core.EgressSink]bool
	confirms int
	queries  int
	read     int // rows handed out
	shows    int
	onStep   func(core.Progress) // runs within Confirm after each item
	observed []core.ObservedUnit // the oldest first
	unitRead map[core.Unit][]core.UnitRead
	places   fakePlaces
	company  fakeCompany
	back     fakeReverts
}

func newFake() *fakeKernel {
	return &fakeKernel{
		fields: map[core.ActionID][]core.Field{}, opened: map[core.ActionID]bool{}, outcomes: map[core.ActionID]core.ItemOutcome{},
		answers: map[core.ActionID]string{}, settled: map[core.ActionID]core.Settlement{}, retried: map[core.ActionID]bool{},
		needs: map[core.ActionID][]core.ActionID{},
	}
}

func digestFor(id core.ActionID, version int64) core.Digest {
	var d core.Digest
	copy(d[:], fmt.Sprintf("digest of %d at %d", id, version))
	return d
}

// add puts a pending action in the queue.
func (k *fakeKernel) add(id core.ActionID, session, kind, title string, change ...func(*core.QueueRow)) {
	r := core.QueueRow{
		Summary: core.Summary{
			ID: id, Session: core.SessionID("s-" + session), Binding: "SITE", Gatekeeper: "files", Kind: kind, Lane: core.LaneSimulate,
			Title: title, State: core.StatePending, Risk: core.RiskLow, CreatedAt: start.Add(-time.Duration(id%50) * time.Minute),
		},
		SessionName: session, Version: 1, Caller: core.Caller{Kind: core.CallerAgent, Name: "script", Turn: 1, Step: 2},
	}
	r.Digest = digestFor(id, 1)
	for _, c := range change {
		c(&r)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rows = append(k.rows, r)
	k.index = nil
}

func high(r *core.QueueRow) { r.Risk = core.RiskHigh }

func state(s core.State) func(*core.QueueRow) {
	return func(r *core.QueueRow) { r.State = s }
}

func asks(text string, choices ...string) func(*core.QueueRow) {
	return func(r *core.QueueRow) {
		r.Kind, r.State = core.QueueKindQuestion, ""
		r.Question = &core.Question{ID: r.ID, Text: text, Choices: choices, State: core.QuestionOpen, AskedAt: r.CreatedAt}
	}
}

// change does what another process would do to a row.
func (k *fakeKernel) change(id core.ActionID, c func(*core.QueueRow)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range k.rows {
		if k.rows[i].ID == id {
			k.rows[i].Version++
			c(&k.rows[i])
		}
	}
	k.index = nil
}

func (k *fakeKernel) row(id core.ActionID) core.QueueRow {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range k.rows {
		if r.ID == id {
			return r
		}
	}
	return core.QueueRow{}
}

func groupOf(o core.QueueOrder, r core.QueueRow) string {
	switch o {
	case core.OrderSession:
		return string(r.Session)
	case core.OrderKind:
		return r.Kind
	case core.OrderBinding:
		return string(r.Binding)
	}
	return ""
}

func (k *fakeKernel) ordered(o core.QueueOrder) []core.QueueRow {
	if rows, ok := k.index[o]; ok {
		return rows
	}
	if k.index == nil {
		k.index = map[core.QueueOrder][]core.QueueRow{}
	}
	rows := slices.Clone(k.rows)
	for i := range rows {
		rows[i].Place = core.QueuePlace{Group: groupOf(o, rows[i]), ID: rows[i].ID}
	}
	slices.SortFunc(rows, func(a, b core.QueueRow) int { return comparePlace(a.Place, b.Place) })
	k.index[o] = rows
	return rows
}

func comparePlace(a, b core.QueuePlace) int {
	if c := strings.Compare(a.Group, b.Group); c != 0 {
		return c
	}
	return int(a.ID - b.ID)
}

func undecided(r core.QueueRow) bool {
	if r.Question != nil {
		return r.Question.State == core.QuestionOpen
	}
	return core.Action{State: r.State}.Undecided()
}

func matches(q core.QueueQuery, r core.QueueRow) bool {
	state := string(r.State)
	if r.Question != nil {
		state = string(r.Question.State)
	}
	switch {
	case len(q.IDs) > 0 && !slices.Contains(q.IDs, r.ID),
		q.Session != "" && r.Session != q.Session,
		q.UpTo != 0 && r.ID > q.UpTo,
		q.Risk != "" && r.Risk != q.Risk,
		len(q.Kinds) > 0 && !slices.Contains(q.Kinds, r.Kind),
		len(q.States) > 0 && !slices.Contains(q.States, state),
		len(q.States) == 0 && !q.AllState && !undecided(r):
		return false
	}
	for _, word := range q.Words {
		if !strings.Contains(strings.ToLower(r.Title), strings.ToLower(word)) {
			return false
		}
	}
	return true
}

func (k *fakeKernel) Queue(_ context.Context, q core.QueueQuery) (core.QueuePage, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.queries++
	if k.broken != nil {
		return core.QueuePage{}, k.broken
	}
	rows := k.ordered(q.Order)
	var page core.QueuePage
	if q.Count {
		k.count(&page, q)
	}
	limit := q.Limit
	if limit == 0 {
		limit = 200
	}
	step, at := 1, 0
	find := func(p core.QueuePlace) (int, bool) {
		return slices.BinarySearchFunc(rows, p, func(r core.QueueRow, p core.QueuePlace) int { return comparePlace(r.Place, p) })
	}
	switch {
	case q.After != nil:
		i, found := find(*q.After)
		at = i
		if found {
			at++
		}
	case q.Before != nil:
		i, _ := find(*q.Before)
		at, step = i-1, -1
	case q.Last:
		at, step = len(rows)-1, -1
	}
	for ; at >= 0 && at < len(rows); at += step {
		if !matches(q, rows[at]) {
			continue
		}
		if len(page.Rows) == limit {
			page.More = true
			break
		}
		page.Rows = append(page.Rows, rows[at])
	}
	k.read += len(page.Rows)
	return page, nil
}

// count is what an index of the store knows.
func (k *fakeKernel) count(page *core.QueuePage, q core.QueueQuery) {
	for i := range k.rows {
		r := k.rows[i]
		page.Newest = max(page.Newest, r.ID)
		if matches(q, r) {
			page.Total++
		}
		switch {
		case r.Question != nil && r.Question.State == core.QuestionOpen:
			page.Questions++
		case r.Question != nil:
		case r.State == core.StateUnknown:
			page.Unknown++
		case r.State == core.StatePending:
			page.Waiting++
			if r.Drift != core.DriftNone {
				page.Drifted++
			}
		}
	}
}

func (k *fakeKernel) detail(id core.ActionID) (core.Detail, error) {
	if k.broken != nil {
		return core.Detail{}, k.broken
	}
	r := k.row(id)
	if r.ID == 0 {
		return core.Detail{}, &core.NotFoundError{What: "action", Name: id.String()}
	}
	if r.Question != nil {
		q := *r.Question
		return core.Detail{Question: &q, SessionName: r.SessionName}, nil
	}
	d := core.Detail{SessionName: r.SessionName, Opened: k.opened[id]}
	d.Action = core.Action{
		ID: id, Session: r.Session, Binding: r.Binding, Gatekeeper: r.Gatekeeper, Resource: "root", Method: r.Kind, CreatedAt: r.CreatedAt,
		Caller: r.Caller, Digest: r.Digest, State: r.State, Version: r.Version, Retryable: r.Retryable, Drift: r.Drift, Reason: r.Reason,
		Draft: core.Draft{Kind: r.Kind, Lane: r.Lane, Title: r.Title, Fields: k.fields[id], Irreversible: r.Risk == core.RiskHigh, Targets: []string{r.Title}},
	}
	if d.Action.Draft.Fields == nil {
		d.Action.Draft.Fields = []core.Field{{Name: "path", Before: json.RawMessage("null"), After: quote(r.Title)}}
	}
	k.back.into(&d)
	for _, p := range k.needs[id] {
		d.Refs = append(d.Refs, core.RefState{Reference: core.Reference{Name: "docs", Provider: p}, Needs: true, State: k.row(p).State, Title: k.row(p).Title})
	}
	return d, nil
}

func quote(s string) json.RawMessage {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return raw
}

func (k *fakeKernel) Peek(_ context.Context, id core.ActionID) (core.Detail, error) {
	return k.detail(id)
}

func (k *fakeKernel) Show(_ context.Context, id core.ActionID, _ core.Authority) (core.Detail, error) {
	k.shows++
	k.opened[id] = true
	return k.detail(id)
}

func (k *fakeKernel) Manifests() []core.Manifest { return nil }

func (k *fakeKernel) Plan(_ context.Context, by core.PersonID, items []core.PlanItem) (*core.Plan, error) {
	if len(items) > core.PlanLimit {
		return nil, fmt.Errorf("plan: %d items, %d at most", len(items), core.PlanLimit)
	}
	plan := &core.Plan{ID: core.PlanID(fmt.Sprintf("p%d", k.confirms+1)), By: by, Kinds: map[string]int{}}
	chosen := map[core.ActionID]core.Verdict{}
	for _, item := range items {
		chosen[item.Action] = item.Verdict
	}
	var rejects, approvals []core.PlannedItem
	for _, item := range items {
		r := k.row(item.Action)
		if item.Digest == (core.Digest{}) {
			item.Digest = r.Digest
		}
		planned := core.PlannedItem{PlanItem: item, Summary: r.Summary, Opened: k.opened[item.Action], Needs: k.needs[item.Action]}
		plan.Kinds[r.Kind]++
		if item.Verdict == core.VerdictReject {
			planned.Effect = core.EffectReject
			rejects = append(rejects, planned)
			continue
		}
		planned.Effect = core.EffectApply
		switch {
		case r.State != core.StatePending:
			planned.Effect, planned.Why = core.EffectNotFound, "already "+string(r.State)
		case r.Digest != item.Digest:
			planned.Effect, planned.Why = core.EffectDrifted, "changed since it was seen"
		}
		for _, p := range planned.Needs {
			if chosen[p] == "" && k.row(p).State == core.StatePending {
				planned.Effect, planned.Why = core.EffectSkip, fmt.Sprintf("action %d is not in this plan", p)
				planned.Missing = append(planned.Missing, p)
				plan.Prerequisites = append(plan.Prerequisites, p)
			}
		}
		if !planned.Opened {
			plan.NeverOpened = append(plan.NeverOpened, item.Action)
		}
		if r.Risk == core.RiskHigh {
			plan.HighRisk = append(plan.HighRisk, item.Action)
		}
		approvals = append(approvals, planned)
	}
	byID := func(a, b core.PlannedItem) int { return int(a.Action - b.Action) }
	slices.SortFunc(rejects, byID)
	slices.SortFunc(approvals, byID)
	plan.Items = append(rejects, approvals...)
	return plan, nil
}

func (k *fakeKernel) Confirm(ctx context.Context, plan *core.Plan, by core.Authority, _ core.ConfirmOptions, progress func(core.Progress)) ([]core.Result, error) {
	if k.refuse != nil {
		return nil, k.refuse
	}
	k.confirms++
	record := core.PlanRecord{ID: plan.ID, By: by.Person, Holder: "self", ConfirmedAt: start, FinishedAt: start}
	var results []core.Result
	for i, item := range plan.Items {
		outcome := core.OutcomeApplied
		switch {
		case ctx.Err() != nil:
			outcome = core.OutcomeNotStarted
		case item.Effect == core.EffectReject:
			outcome = core.OutcomeRejected
		case item.Effect == core.EffectSkip:
			outcome = core.OutcomeSkipped
		case item.Effect == core.EffectDrifted:
			outcome = core.OutcomeDrifted
		case item.Effect == core.EffectNotFound:
			outcome = core.OutcomeNotPending
		case k.outcomes[item.Action] != "":
			outcome = k.outcomes[item.Action]
		}
		progress(core.Progress{Action: item.Action, Done: i, Total: len(plan.Items)})
		k.become(item.Action, outcome)
		done := core.Progress{Action: item.Action, Outcome: outcome, Done: i + 1, Total: len(plan.Items)}
		progress(done)
		if k.onStep != nil {
			k.onStep(done)
		}
		results = append(results, core.Result{Action: item.Action, Outcome: outcome})
		k.drop(item.Action)
	}
	record.Results = results
	k.plans = append([]core.PlanRecord{record}, k.plans...)
	return results, nil
}

// become changes a row as its outcome says.
func (k *fakeKernel) become(id core.ActionID, outcome core.ItemOutcome) {
	switch outcome {
	case core.OutcomeApplied, core.OutcomeRejected, core.OutcomeFailed, core.OutcomeUnknown:
		k.change(id, func(r *core.QueueRow) {
			r.State = core.State(outcome)
			r.Retryable = outcome == core.OutcomeFailed
		})
	}
}

func (k *fakeKernel) drop(id core.ActionID) {
	k.drafts = slices.DeleteFunc(k.drafts, func(d core.DraftedDecision) bool { return d.Action == id })
}

func (k *fakeKernel) Settle(_ context.Context, id core.ActionID, _ core.Authority, s core.Settlement) (core.Result, error) {
	k.settled[id] = s
	outcome := core.OutcomeRejected
	if s.Applied {
		outcome = core.OutcomeApplied
	}
	k.become(id, outcome)
	return core.Result{Action: id, Outcome: outcome}, nil
}

func (k *fakeKernel) Retry(_ context.Context, id core.ActionID, _ core.Authority, force bool, _ func(core.Progress)) (core.Result, error) {
	k.retried[id] = force
	k.become(id, core.OutcomeApplied)
	return core.Result{Action: id, Outcome: core.OutcomeApplied}, nil
}

func (k *fakeKernel) Answer(_ context.Context, id core.ActionID, choice, _ string, _ core.Authority) (core.Result, error) {
	k.answers[id] = choice
	k.change(id, func(r *core.QueueRow) {
		q := *r.Question
		q.State, q.Answer = core.QuestionAnswered, choice
		r.Question = &q
	})
	return core.Result{Action: id, Outcome: core.OutcomeAnswered}, nil
}

func (k *fakeKernel) LastPlans(_ context.Context, limit int) ([]core.PlanRecord, error) {
	return k.plans[:min(limit, len(k.plans))], nil
}

func (k *fakeKernel) DismissPlan(_ context.Context, id core.PlanID, _ core.PersonID) error {
	for i := range k.plans {
		if k.plans[i].ID == id {
			k.plans[i].Dismissed = true
		}
	}
	return nil
}

func (k *fakeKernel) Recover(context.Context) ([]core.ActionID, error) { return nil, nil }

func (k *fakeKernel) DraftDecision(_ context.Context, person core.PersonID, item core.PlanItem, seen int64) (core.DraftedDecision, error) {
	r := k.row(item.Action)
	if r.Version != seen || r.Digest != item.Digest || r.State != core.StatePending && item.Verdict == core.VerdictApprove {
		return core.DraftedDecision{}, &core.LostRaceError{Action: item.Action, State: r.State, Winner: "bob"}
	}
	k.drop(item.Action)
	d := core.DraftedDecision{Person: person, Action: item.Action, Digest: item.Digest, Verdict: item.Verdict, Reason: item.Reason, At: start}
	k.drafts = append(k.drafts, d)
	return d, nil
}

func (k *fakeKernel) Drafts(context.Context, core.PersonID) ([]core.DraftedDecision, error) {
	return slices.Clone(k.drafts), nil
}

func (k *fakeKernel) UndoDraft(context.Context, core.PersonID) (core.DraftedDecision, bool, error) {
	if len(k.drafts) == 0 {
		return core.DraftedDecision{}, false, nil
	}
	last := k.drafts[len(k.drafts)-1]
	k.drafts = k.drafts[:len(k.drafts)-1]
	return last, true, nil
}

func (k *fakeKernel) DropDrafts(_ context.Context, _ core.PersonID, ids ...core.ActionID) error {
	for _, id := range ids {
		k.drop(id)
	}
	return nil
}

func (k *fakeKernel) Session(_ context.Context, ref string) (core.SessionSummary, error) {
	for _, r := range k.rows {
		if r.SessionName == ref || string(r.Session) == ref {
			return core.SessionSummary{Session: core.Session{ID: r.Session, Name: r.SessionName}}, nil
		}
	}
	return core.SessionSummary{}, &core.NotFoundError{What: "session", Name: ref}
}

func (k *fakeKernel) Sessions(context.Context) ([]core.SessionSummary, error) {
	return slices.Clone(k.sessions), k.broken
}

func (k *fakeKernel) Transcript(context.Context, string) ([]core.TranscriptEntry, error) {
	return k.script, k.broken
}

func (k *fakeKernel) Spending(context.Context, string) (core.SpendingReport, error) {
	return core.SpendingReport{Budgets: k.budgets}, k.broken
}
