package faulty

import (
	"io"
	"time"

	"gatehouse/core"
)

// changes counts what is changed.
type changes struct {
	plain
	calls *calls
}

func (t changes) InsertSession(s *core.Session) error {
	return t.calls.do(Statements, "InsertSession", func() error { return t.Tx.InsertSession(s) })
}

func (t changes) RenameSession(id core.SessionID, name string, at time.Time) error {
	return t.calls.do(Statements, "RenameSession", func() error { return t.Tx.RenameSession(id, name, at) })
}

func (t changes) CopySession(from core.SessionID, to core.SessionID, turn int) error {
	return t.calls.do(Statements, "CopySession", func() error { return t.Tx.CopySession(from, to, turn) })
}

func (t changes) InsertConnection(c *core.Connection) error {
	return t.calls.do(Statements, "InsertConnection", func() error { return t.Tx.InsertConnection(c) })
}

func (t changes) RemoveConnection(id core.ConnectionID, at time.Time) error {
	return t.calls.do(Statements, "RemoveConnection", func() error { return t.Tx.RemoveConnection(id, at) })
}

func (t changes) InsertBinding(b core.Binding) error {
	return t.calls.do(Statements, "InsertBinding", func() error { return t.Tx.InsertBinding(b) })
}

func (t changes) RemoveBinding(session core.SessionID, name core.BindingName, at time.Time) error {
	return t.calls.do(Statements, "RemoveBinding", func() error { return t.Tx.RemoveBinding(session, name, at) })
}

func (t changes) Observe(session core.SessionID, turn int, at time.Time, found []core.Found) error {
	return t.calls.do(Statements, "Observe", func() error { return t.Tx.Observe(session, turn, at, found) })
}

func (t changes) InsertPerson(p core.Person) error {
	return t.calls.do(Statements, "InsertPerson", func() error { return t.Tx.InsertPerson(p) })
}

func (t changes) PutAccount(person core.PersonID, account core.Account) error {
	return t.calls.do(Statements, "PutAccount", func() error { return t.Tx.PutAccount(person, account) })
}

func (t changes) PutRoleGrant(r core.RoleGrant) error {
	return t.calls.do(Statements, "PutRoleGrant", func() error { return t.Tx.PutRoleGrant(r) })
}

func (t changes) RemoveRoleGrants(session core.SessionID, person core.PersonID, giver core.PersonID) (int, error) {
	return one(t.calls, "RemoveRoleGrants", func() (int, error) { return t.Tx.RemoveRoleGrants(session, person, giver) })
}

func (t changes) SetLatch(l core.Latch) (bool, error) {
	return one(t.calls, "SetLatch", func() (bool, error) { return t.Tx.SetLatch(l) })
}

func (t changes) InsertRule(r *core.Rule) error {
	return t.calls.do(Statements, "InsertRule", func() error { return t.Tx.InsertRule(r) })
}

func (t changes) RemoveRule(id core.RuleID, at time.Time) error {
	return t.calls.do(Statements, "RemoveRule", func() error { return t.Tx.RemoveRule(id, at) })
}

func (t changes) UseRule(id core.RuleID) error {
	return t.calls.do(Statements, "UseRule", func() error { return t.Tx.UseRule(id) })
}

func (t changes) InsertAction(a *core.Action) error {
	return t.calls.do(Statements, "InsertAction", func() error { return t.Tx.InsertAction(a) })
}

func (t changes) ChangeAction(before core.Action, after *core.Action) (bool, error) {
	return one(t.calls, "ChangeAction", func() (bool, error) { return t.Tx.ChangeAction(before, after) })
}

func (t changes) ReplaceDraft(before core.Action, after *core.Action) (bool, error) {
	return one(t.calls, "ReplaceDraft", func() (bool, error) { return t.Tx.ReplaceDraft(before, after) })
}

func (t changes) StoreUndo(id core.ActionID, data io.Reader) (int64, error) {
	return one(t.calls, "StoreUndo", func() (int64, error) { return t.Tx.StoreUndo(id, data) })
}

func (t changes) BindNames(id core.ActionID, created []core.Created) error {
	return t.calls.do(Statements, "BindNames", func() error { return t.Tx.BindNames(id, created) })
}

func (t changes) InsertPlan(p core.PlanRecord) error {
	return t.calls.do(Statements, "InsertPlan", func() error { return t.Tx.InsertPlan(p) })
}

func (t changes) SetPlanItem(plan core.PlanID, id core.ActionID, outcome core.ItemOutcome, reason string) error {
	return t.calls.do(Statements, "SetPlanItem", func() error { return t.Tx.SetPlanItem(plan, id, outcome, reason) })
}

func (t changes) FinishPlan(plan core.PlanID, at time.Time) error {
	return t.calls.do(Statements, "FinishPlan", func() error { return t.Tx.FinishPlan(plan, at) })
}

func (t changes) DismissPlan(plan core.PlanID, by core.PersonID) error {
	return t.calls.do(Statements, "DismissPlan", func() error { return t.Tx.DismissPlan(plan, by) })
}

func (t changes) PutDraft(d core.DraftedDecision) error {
	return t.calls.do(Statements, "PutDraft", func() error { return t.Tx.PutDraft(d) })
}

func (t changes) DropDrafts(person core.PersonID, ids []core.ActionID) error {
	return t.calls.do(Statements, "DropDrafts", func() error { return t.Tx.DropDrafts(person, ids) })
}

func (t changes) MarkOpened(person core.PersonID, id core.ActionID, digest core.Digest, at time.Time) (bool, error) {
	return one(t.calls, "MarkOpened", func() (bool, error) { return t.Tx.MarkOpened(person, id, digest, at) })
}

func (t changes) InsertOperatorKey(hash string, person core.PersonID, at time.Time) error {
	return t.calls.do(Statements, "InsertOperatorKey", func() error { return t.Tx.InsertOperatorKey(hash, person, at) })
}

func (t changes) Append(e core.Entry) error {
	return t.calls.do(Statements, "Append", func() error { return t.Tx.Append(e) })
}

func (t changes) SetLease(session core.SessionID, before core.Lease, after core.Lease) (bool, error) {
	return one(t.calls, "SetLease", func() (bool, error) { return t.Tx.SetLease(session, before, after) })
}

func (t changes) InsertTurn(tx *core.Turn) error {
	return t.calls.do(Statements, "InsertTurn", func() error { return t.Tx.InsertTurn(tx) })
}

func (t changes) ChangeTurn(before core.Turn, after *core.Turn) (bool, error) {
	return one(t.calls, "ChangeTurn", func() (bool, error) { return t.Tx.ChangeTurn(before, after) })
}

func (t changes) InsertStep(s core.Step) error {
	return t.calls.do(Statements, "InsertStep", func() error { return t.Tx.InsertStep(s) })
}

func (t changes) CloseStep(session core.SessionID, turn int, step int, at time.Time) error {
	return t.calls.do(Statements, "CloseStep", func() error { return t.Tx.CloseStep(session, turn, step, at) })
}

func (t changes) InsertMessage(m *core.Message) error {
	return t.calls.do(Statements, "InsertMessage", func() error { return t.Tx.InsertMessage(m) })
}

func (t changes) DeliverMessages(session core.SessionID, turn int, step int, ids []int64) error {
	return t.calls.do(Statements, "DeliverMessages", func() error { return t.Tx.DeliverMessages(session, turn, step, ids) })
}

func (t changes) TellNotices(session core.SessionID, turn int, step int, ids []int64) error {
	return t.calls.do(Statements, "TellNotices", func() error { return t.Tx.TellNotices(session, turn, step, ids) })
}

func (t changes) InsertSpending(s *core.Spending) error {
	return t.calls.do(Statements, "InsertSpending", func() error { return t.Tx.InsertSpending(s) })
}

func (t changes) SetSpending(id int64, u core.Usage) error {
	return t.calls.do(Statements, "SetSpending", func() error { return t.Tx.SetSpending(id, u) })
}

func (t changes) InsertQuestion(q *core.Question) error {
	return t.calls.do(Statements, "InsertQuestion", func() error { return t.Tx.InsertQuestion(q) })
}

func (t changes) ChangeQuestion(before core.Question, after *core.Question) (bool, error) {
	return one(t.calls, "ChangeQuestion", func() (bool, error) { return t.Tx.ChangeQuestion(before, after) })
}

func (t changes) InsertAnswer(a core.Answer) error {
	return t.calls.do(Statements, "InsertAnswer", func() error { return t.Tx.InsertAnswer(a) })
}

func (t changes) InsertNotice(n core.Notice) error {
	return t.calls.do(Statements, "InsertNotice", func() error { return t.Tx.InsertNotice(n) })
}
