package store

import (
	"database/sql"
	"encoding/json"
	"fmt"

	"gatehouse/core"
)

const questionColumns = `item.id, item.session, item.caller, item.title, question.choices, item.state, question.answer, item.reason,
	item.created_at, item.decided_at, item.decided_by, item.version`

// Question implements core.View.
func (v *view) Question(id core.ActionID) (core.Question, error) {
	var q core.Question
	var caller string
	var choices sql.NullString
	var asked, decided int64
	err := v.l.one(`SELECT `+questionColumns+` FROM item JOIN question USING (id) WHERE item.id = ?`, []any{int64(id)},
		&q.ID, &q.Session, &caller, &q.Text, &choices, &q.State, &q.Answer, &q.Reason, &asked, &decided, &q.DecidedBy, &q.Version)
	if err != nil {
		return core.Question{}, fmt.Errorf("question %d: %w", id, err)
	}
	q.AskedAt, q.DecidedAt = moment(asked), moment(decided)
	if err := json.Unmarshal([]byte(caller), &q.Caller); err != nil {
		return q, fmt.Errorf("question %d: caller: %w (%w)", id, ErrDamaged, err)
	}
	return q, decode(choices, &q.Choices)
}

// InsertQuestion implements core.Tx.
func (t *tx) InsertQuestion(q *core.Question) error {
	h, err := t.forChange()
	if err != nil {
		return err
	}
	caller, err := encode(q.Caller)
	if err != nil {
		return err
	}
	choices, err := list(q.Choices)
	if err != nil {
		return err
	}
	id := h.item + 1
	_, err = t.l.exec(`INSERT INTO item (id, open, state, version, session, turn, binding, gatekeeper, connection, resource,
			kind, lane, title, digest, drift, retryable, risk, flags, method, caller, context, created_at, reason, rule,
			claim_holder, claimed_at, decided_by, decided_how, decided_at, undo_size)
		VALUES (?, ?, ?, 1, ?, ?, '', '', '', '', ?, '', ?, zeroblob(32), '', 0, 'low', 0, '', ?, 0, ?, ?, '', '', 0, ?, '', ?, 0)`,
		int64(id), flag(q.State == core.QuestionOpen), q.State, q.Session, q.Caller.Turn, core.QueueKindQuestion, q.Text, caller,
		nanos(q.AskedAt), q.Reason, q.DecidedBy, nanos(q.DecidedAt))
	if err != nil {
		return fmt.Errorf("question: %w", err)
	}
	if _, err := t.l.exec(`INSERT INTO question (id, choices, answer) VALUES (?, ?, ?)`, int64(id), choices, q.Answer); err != nil {
		return fmt.Errorf("question: %w", err)
	}
	h.item = id
	h.tally.add(tallyOfQuestion(*q), 1)
	q.ID, q.Version = id, 1
	return t.indexTitles(h)
}

// ChangeQuestion implements core.Tx. What was asked stays as it was.
func (t *tx) ChangeQuestion(before core.Question, after *core.Question) (bool, error) {
	version := before.Version + 1
	n, err := t.l.exec(`UPDATE item SET open = ?, state = ?, version = ?, reason = ?, decided_by = ?, decided_at = ?
		WHERE id = ? AND version = ? AND state = ? AND kind = ?`,
		flag(after.State == core.QuestionOpen), after.State, version, after.Reason, after.DecidedBy, nanos(after.DecidedAt),
		int64(before.ID), before.Version, before.State, core.QueueKindQuestion)
	if err != nil || n == 0 {
		return false, err
	}
	if _, err := t.l.exec(`UPDATE question SET answer = ? WHERE id = ?`, after.Answer, int64(before.ID)); err != nil {
		return false, err
	}
	h, err := t.forChange()
	if err != nil {
		return false, err
	}
	h.tally.add(tallyOfQuestion(before), -1)
	h.tally.add(tallyOfQuestion(*after), 1)
	after.Version = version
	return true, nil
}
