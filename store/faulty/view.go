package faulty

import (
	"time"

	"gatehouse/core"
)

// view counts what is asked.
type view struct {
	core.View
	calls *calls
}

func (v view) Session(ref string) (core.Session, error) {
	return one(v.calls, "Session", func() (core.Session, error) { return v.View.Session(ref) })
}

func (v view) Summaries(id core.SessionID) ([]core.SessionSummary, error) {
	return one(v.calls, "Summaries", func() ([]core.SessionSummary, error) { return v.View.Summaries(id) })
}

func (v view) Binding(session core.SessionID, name core.BindingName) (core.Binding, error) {
	return one(v.calls, "Binding", func() (core.Binding, error) { return v.View.Binding(session, name) })
}

func (v view) Bindings(session core.SessionID) ([]core.Binding, error) {
	return one(v.calls, "Bindings", func() ([]core.Binding, error) { return v.View.Bindings(session) })
}

func (v view) Connection(id core.ConnectionID) (core.Connection, error) {
	return one(v.calls, "Connection", func() (core.Connection, error) { return v.View.Connection(id) })
}

func (v view) Connections() ([]core.Connection, error) {
	return one(v.calls, "Connections", func() ([]core.Connection, error) { return v.View.Connections() })
}

func (v view) BindingsOf(connection core.ConnectionID) ([]core.Binding, error) {
	return one(v.calls, "BindingsOf", func() ([]core.Binding, error) { return v.View.BindingsOf(connection) })
}

func (v view) Observations(session core.SessionID) ([]core.Observation, error) {
	return one(v.calls, "Observations", func() ([]core.Observation, error) { return v.View.Observations(session) })
}

func (v view) CountObservations(session core.SessionID) (int, error) {
	return one(v.calls, "CountObservations", func() (int, error) { return v.View.CountObservations(session) })
}

func (v view) Latch(session core.SessionID) (core.Latch, error) {
	return one(v.calls, "Latch", func() (core.Latch, error) { return v.View.Latch(session) })
}

func (v view) Person(id core.PersonID) (core.Person, error) {
	return one(v.calls, "Person", func() (core.Person, error) { return v.View.Person(id) })
}

func (v view) People() ([]core.Person, error) {
	return one(v.calls, "People", func() ([]core.Person, error) { return v.View.People() })
}

func (v view) RoleGrants(session core.SessionID) ([]core.RoleGrant, error) {
	return one(v.calls, "RoleGrants", func() ([]core.RoleGrant, error) { return v.View.RoleGrants(session) })
}

func (v view) GrantsTo(person core.PersonID) ([]core.RoleGrant, error) {
	return one(v.calls, "GrantsTo", func() ([]core.RoleGrant, error) { return v.View.GrantsTo(person) })
}

func (v view) Rule(id core.RuleID) (core.Rule, error) {
	return one(v.calls, "Rule", func() (core.Rule, error) { return v.View.Rule(id) })
}

func (v view) Rules(session core.SessionID) ([]core.Rule, error) {
	return one(v.calls, "Rules", func() ([]core.Rule, error) { return v.View.Rules(session) })
}

func (v view) Action(id core.ActionID) (core.Action, error) {
	return one(v.calls, "Action", func() (core.Action, error) { return v.View.Action(id) })
}

func (v view) ActionState(id core.ActionID) (core.Action, error) {
	return one(v.calls, "ActionState", func() (core.Action, error) { return v.View.ActionState(id) })
}

func (v view) LiveEffects(session core.SessionID, resource string, targets []core.Selector) ([]core.LiveEffect, error) {
	return one(v.calls, "LiveEffects", func() ([]core.LiveEffect, error) { return v.View.LiveEffects(session, resource, targets) })
}

func (v view) TargetsVersion(session core.SessionID, resource string, targets []core.Selector) (int64, error) {
	return one(v.calls, "TargetsVersion", func() (int64, error) { return v.View.TargetsVersion(session, resource, targets) })
}

func (v view) OpenActions(session core.SessionID) ([]core.Action, error) {
	return one(v.calls, "OpenActions", func() ([]core.Action, error) { return v.View.OpenActions(session) })
}

func (v view) CountOpen(session core.SessionID, binding core.BindingName) (int, error) {
	return one(v.calls, "CountOpen", func() (int, error) { return v.View.CountOpen(session, binding) })
}

func (v view) Names(session core.SessionID, resource string, words []string) (core.Names, int, error) {
	return two(v.calls, "Names", func() (core.Names, int, error) { return v.View.Names(session, resource, words) })
}

func (v view) RevertsOf(id core.ActionID) ([]core.ActionID, error) {
	return one(v.calls, "RevertsOf", func() ([]core.ActionID, error) { return v.View.RevertsOf(id) })
}

func (v view) UndoPart(id core.ActionID, part int) ([]byte, error) {
	return one(v.calls, "UndoPart", func() ([]byte, error) { return v.View.UndoPart(id, part) })
}

func (v view) Dependents(provider core.ActionID) ([]core.Dependent, error) {
	return one(v.calls, "Dependents", func() ([]core.Dependent, error) { return v.View.Dependents(provider) })
}

func (v view) OpenClaim(connection core.ConnectionID) (core.Action, bool, error) {
	return two(v.calls, "OpenClaim", func() (core.Action, bool, error) { return v.View.OpenClaim(connection) })
}

func (v view) Claimed() ([]core.Action, error) {
	return one(v.calls, "Claimed", func() ([]core.Action, error) { return v.View.Claimed() })
}

func (v view) Stale(session core.SessionID) ([]core.ActionID, error) {
	return one(v.calls, "Stale", func() ([]core.ActionID, error) { return v.View.Stale(session) })
}

func (v view) Queue(q core.QueueQuery) (core.QueuePage, error) {
	return one(v.calls, "Queue", func() (core.QueuePage, error) { return v.View.Queue(q) })
}

func (v view) RejectedInTurn(session core.SessionID, turn int, digest core.Digest) (core.ActionID, bool, error) {
	return two(v.calls, "RejectedInTurn", func() (core.ActionID, bool, error) { return v.View.RejectedInTurn(session, turn, digest) })
}

func (v view) Plan(id core.PlanID) (core.PlanRecord, error) {
	return one(v.calls, "Plan", func() (core.PlanRecord, error) { return v.View.Plan(id) })
}

func (v view) Plans(limit int) ([]core.PlanRecord, error) {
	return one(v.calls, "Plans", func() ([]core.PlanRecord, error) { return v.View.Plans(limit) })
}

func (v view) Drafts(person core.PersonID) ([]core.DraftedDecision, error) {
	return one(v.calls, "Drafts", func() ([]core.DraftedDecision, error) { return v.View.Drafts(person) })
}

func (v view) Opened(person core.PersonID, ids []core.ActionID) (map[core.ActionID]bool, error) {
	return one(v.calls, "Opened", func() (map[core.ActionID]bool, error) { return v.View.Opened(person, ids) })
}

func (v view) OperatorKey(hash string) (core.PersonID, error) {
	return one(v.calls, "OperatorKey", func() (core.PersonID, error) { return v.View.OperatorKey(hash) })
}

func (v view) Observed(session core.SessionID, limit int) (core.ObservedPage, error) {
	return one(v.calls, "Observed", func() (core.ObservedPage, error) { return v.View.Observed(session, limit) })
}

func (v view) UnitReads(session core.SessionID, unit core.Unit, before int64, limit int) ([]core.Row, error) {
	return one(v.calls, "UnitReads", func() ([]core.Row, error) { return v.View.UnitReads(session, unit, before, limit) })
}

func (v view) StepCalls(session core.SessionID, turn int, step int) ([]core.ToolCall, error) {
	return one(v.calls, "StepCalls", func() ([]core.ToolCall, error) { return v.View.StepCalls(session, turn, step) })
}

func (v view) Rows(r core.RecordQuery) ([]core.Row, error) {
	return one(v.calls, "Rows", func() ([]core.Row, error) { return v.View.Rows(r) })
}

func (v view) EachRow(fn func(seq int64, blob []byte, prev, hash core.Digest) error) (core.Head, error) {
	return one(v.calls, "EachRow", func() (core.Head, error) { return v.View.EachRow(fn) })
}

func (v view) Lease(session core.SessionID) (core.Lease, error) {
	return one(v.calls, "Lease", func() (core.Lease, error) { return v.View.Lease(session) })
}

func (v view) NewestTurn(session core.SessionID) (core.Turn, error) {
	return one(v.calls, "NewestTurn", func() (core.Turn, error) { return v.View.NewestTurn(session) })
}

func (v view) Turns(session core.SessionID) ([]core.Turn, error) {
	return one(v.calls, "Turns", func() ([]core.Turn, error) { return v.View.Turns(session) })
}

func (v view) NewestStep(session core.SessionID, turn int) (core.Step, error) {
	return one(v.calls, "NewestStep", func() (core.Step, error) { return v.View.NewestStep(session, turn) })
}

func (v view) Steps(session core.SessionID) ([]core.Step, error) {
	return one(v.calls, "Steps", func() ([]core.Step, error) { return v.View.Steps(session) })
}

func (v view) Answers(session core.SessionID) ([]core.Answer, error) {
	return one(v.calls, "Answers", func() ([]core.Answer, error) { return v.View.Answers(session) })
}

func (v view) Messages(session core.SessionID) ([]core.Message, error) {
	return one(v.calls, "Messages", func() ([]core.Message, error) { return v.View.Messages(session) })
}

func (v view) QueuedMessages(session core.SessionID) ([]core.Message, error) {
	return one(v.calls, "QueuedMessages", func() ([]core.Message, error) { return v.View.QueuedMessages(session) })
}

func (v view) UntoldNotices(session core.SessionID) ([]core.Notice, error) {
	return one(v.calls, "UntoldNotices", func() ([]core.Notice, error) { return v.View.UntoldNotices(session) })
}

func (v view) Waiting(session core.SessionID, turn int, step int) ([]core.Waiting, error) {
	return one(v.calls, "Waiting", func() ([]core.Waiting, error) { return v.View.Waiting(session, turn, step) })
}

func (v view) Spent(session core.SessionID, since time.Time) (core.Usage, error) {
	return one(v.calls, "Spent", func() (core.Usage, error) { return v.View.Spent(session, since) })
}

func (v view) Question(id core.ActionID) (core.Question, error) {
	return one(v.calls, "Question", func() (core.Question, error) { return v.View.Question(id) })
}

func (v view) Answer(session core.SessionID, turn int, callID string, argsHash string) (core.Answer, error) {
	return one(v.calls, "Answer", func() (core.Answer, error) { return v.View.Answer(session, turn, callID, argsHash) })
}
