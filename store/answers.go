package store

import (
	"database/sql"
	"fmt"

	"gatehouse/core"
)

// Answer implements core.View.
func (v *view) Answer(session core.SessionID, turn int, callID, argsHash string) (core.Answer, error) {
	a := core.Answer{Session: session, Turn: turn, CallID: callID, ArgsHash: argsHash}
	var body sql.NullString
	err := v.l.one(`SELECT step, body FROM answer WHERE session = ? AND turn = ? AND call_id = ? AND args_hash = ?`,
		[]any{session, turn, callID, argsHash}, &a.Step, &body)
	if err != nil {
		return core.Answer{}, fmt.Errorf("answer to call %s: %w", callID, err)
	}
	a.Body = unraw(body)
	return a, nil
}

// Answers implements core.View: by turn, step and the model's ids.
func (v *view) Answers(session core.SessionID) ([]core.Answer, error) {
	return v.answers(`session = ?`, session)
}

func (v *view) answers(where string, args ...any) ([]core.Answer, error) {
	var out []core.Answer
	err := v.l.each(v.ctx, `SELECT session, turn, step, call_id, args_hash, body FROM answer WHERE `+where+`
		ORDER BY turn, step, call_id, args_hash`, args, func(row scanner) error {
		var a core.Answer
		var body sql.NullString
		err := row.Scan(&a.Session, &a.Turn, &a.Step, &a.CallID, &a.ArgsHash, &body)
		a.Body = unraw(body)
		out = append(out, a)
		return err
	})
	return out, err
}

// InsertAnswer implements core.Tx. A call that has its answer is core.ErrNameTaken: the stored answer stands (kernel R30).
func (t *tx) InsertAnswer(a core.Answer) error {
	_, err := t.l.exec(`INSERT INTO answer (session, turn, call_id, args_hash, step, body) VALUES (?, ?, ?, ?, ?, ?)`,
		a.Session, a.Turn, a.CallID, a.ArgsHash, a.Step, raw(a.Body))
	if constraint(err) {
		return fmt.Errorf("answer to call %s: %w", a.CallID, core.ErrNameTaken)
	}
	return err
}

// InsertNotice implements core.Tx.
func (t *tx) InsertNotice(n core.Notice) error {
	_, err := t.l.exec(`INSERT INTO notice (session, turn, action, state, title, reason, at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		n.Session, n.Turn, int64(n.Action), n.State, n.Title, n.Reason, nanos(n.At))
	return err
}
