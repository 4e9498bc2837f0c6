package core

import "time"

// Verdict is what a person says of an action. The zero value is none and decides nothing.
type Verdict string

// The verdicts.
const (
	VerdictApprove Verdict = "approve"
	VerdictReject  Verdict = "reject"
)

// PlanItem is one decision: by digest, so that it means what was seen (kernel R18, R22).
type PlanItem struct {
	Action  ActionID
	Digest  Digest
	Verdict Verdict
	Reason  string
}

// PlanLimit is how many items one plan may have (kernel R22).
const PlanLimit = 10000

// Effect says what carrying a plan out would do to an item.
type PlanEffect string

// The effects of a planned item. Those that send nothing say why in PlannedItem.Why.
const (
	EffectApply    PlanEffect = "apply"
	EffectReject   PlanEffect = "reject"
	EffectStrand   PlanEffect = "strand"  // not chosen itself; a reject strands it
	EffectSkip     PlanEffect = "skip"    // a prerequisite is missing
	EffectDrifted  PlanEffect = "drifted" // has to be seen and approved again
	EffectNotFound PlanEffect = "no-longer-pending"
)

// PlannedItem is a line of a plan.
type PlannedItem struct {
	PlanItem
	Summary   Summary
	Effect    PlanEffect
	Why       string
	Missing   []ActionID // prerequisites that are neither applied nor in the plan
	Needs     []ActionID
	After     []ActionID
	StrandsBy ActionID // for EffectStrand: the reject that does it
	Opened    bool
}

// providers lists what an item needs or comes after.
func (p PlannedItem) providers() []ActionID {
	return append(append([]ActionID{}, p.Needs...), p.After...)
}

// Summary is what a list or a plan shows of an action without its content.
type Summary struct {
	ID         ActionID
	Session    SessionID
	Binding    BindingName
	Gatekeeper string
	Connection ConnectionID
	Resource   string
	Kind       string
	Lane       Lane
	Title      string
	State      State
	Drift      Drift
	Retryable  bool
	Risk       Risk
	Digest     Digest
	CreatedAt  time.Time
}

// Plan is what decisions will do, before they do it. It holds ids and digests, never a live selection (T5), and is
// confirmed once, by the process that carries it out.
type Plan struct {
	ID            PlanID
	By            PersonID
	Items         []PlannedItem // in the order in which they are carried out: rejects, what they strand, approvals
	Prerequisites []ActionID    // missing from the plan, each once; adding them makes a new plan
	NeverOpened   []ActionID
	HighRisk      []ActionID
	Kinds         map[string]int
}

// Count is how many items have an effect.
func (p *Plan) Count(effect PlanEffect) int {
	n := 0
	for _, item := range p.Items {
		if item.Effect == effect {
			n++
		}
	}
	return n
}

// ItemOutcome is what became of one item of a decision (kernel R22).
type ItemOutcome string

// The outcomes, as the command line prints them.
const (
	OutcomeApplied    ItemOutcome = "applied"
	OutcomeRejected   ItemOutcome = "rejected"
	OutcomeFailed     ItemOutcome = "failed"
	OutcomeUnknown    ItemOutcome = "unknown"
	OutcomeDrifted    ItemOutcome = "drifted"
	OutcomeStranded   ItemOutcome = "stranded"
	OutcomeSkipped    ItemOutcome = "skipped"
	OutcomeNotStarted ItemOutcome = "not-started"
	OutcomeNotPending ItemOutcome = "no-longer-pending"
	OutcomeAnswered   ItemOutcome = "answered"
	OutcomeQueued     ItemOutcome = "queued"
	outcomeInFlight   ItemOutcome = "in-flight" // never shown: the claim is open
)

// Result is the outcome of one item.
type Result struct {
	Action  ActionID    `json:"id"`
	Outcome ItemOutcome `json:"outcome"`
	Reason  string      `json:"reason"`
}

// PlanRecord is a confirmed plan as the store keeps it.
type PlanRecord struct {
	ID          PlanID
	By          PersonID
	How         Means
	Holder      ProcessID
	ConfirmedAt time.Time
	FinishedAt  time.Time // zero while it is carried out, and for ever if its process ended
	Items       []PlanItem
	Results     []Result // same order as Items
	Dismissed   bool
}

// Progress tells a front end that an item began or ended while a plan is carried out.
type Progress struct {
	Action  ActionID
	Outcome ItemOutcome // empty when it begins
	Reason  string
	Waiting string // for whom it waits, where a connection is claimed elsewhere
	Done    int
	Total   int
}
