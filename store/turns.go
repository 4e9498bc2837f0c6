package store

import (
	"database/sql"
	"fmt"
	"time"

	"gatehouse/core"
)

// Lease implements core.View.
func (v *view) Lease(session core.SessionID) (core.Lease, error) {
	var lease core.Lease
	err := v.l.each(v.ctx, `SELECT session, turn, holder, token, taken_at FROM lease WHERE session = ?`, []any{session},
		func(row scanner) error {
			var taken int64
			err := row.Scan(&lease.Session, &lease.Turn, &lease.Holder, &lease.Token, &taken)
			lease.TakenAt = moment(taken)
			return err
		})
	return lease, err
}

// SetLease implements core.Tx.
func (t *tx) SetLease(session core.SessionID, before, after core.Lease) (bool, error) {
	var n int64
	var err error
	switch {
	case before.Token == "" && after.Token == "":
		return true, nil
	case before.Token == "":
		n, err = t.l.exec(`INSERT INTO lease (session, turn, holder, token, taken_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			session, after.Turn, after.Holder, after.Token, nanos(after.TakenAt))
	case after.Token == "":
		n, err = t.l.exec(`DELETE FROM lease WHERE session = ? AND holder = ? AND token = ?`, session, before.Holder, before.Token)
	default:
		n, err = t.l.exec(`UPDATE lease SET turn = ?, holder = ?, token = ?, taken_at = ? WHERE session = ? AND holder = ? AND token = ?`,
			after.Turn, after.Holder, after.Token, nanos(after.TakenAt), session, before.Holder, before.Token)
	}
	return n == 1, err
}

const turnColumns = `session, number, version, state, ended, reason, model, source, person, on_denial, step_limit, time_limit,
	worked, running_since, stop_asked, started_at, updated_at`

func scanTurn(row scanner, t *core.Turn) error {
	var limit, worked, since, started, updated int64
	err := row.Scan(&t.Session, &t.Number, &t.Version, &t.State, &t.End, &t.Reason, &t.Model, &t.Source, &t.By, &t.OnDenial,
		&t.Limits.Steps, &limit, &worked, &since, &t.StopAsked, &started, &updated)
	t.Limits.Time, t.Worked = time.Duration(limit), time.Duration(worked)
	t.RunningSince, t.StartedAt, t.UpdatedAt = moment(since), moment(started), moment(updated)
	return err
}

func (v *view) turnRows(session core.SessionID, order string) ([]core.Turn, error) {
	var out []core.Turn
	err := v.l.each(v.ctx, `SELECT `+turnColumns+` FROM turn WHERE session = ? ORDER BY number `+order, []any{session},
		func(row scanner) error {
			var t core.Turn
			err := scanTurn(row, &t)
			out = append(out, t)
			return err
		})
	return out, err
}

// Turns implements core.View.
func (v *view) Turns(session core.SessionID) ([]core.Turn, error) { return v.turnRows(session, "") }

// NewestTurn implements core.View.
func (v *view) NewestTurn(session core.SessionID) (core.Turn, error) {
	found, err := v.turnRows(session, "DESC LIMIT 1")
	if err != nil {
		return core.Turn{}, err
	}
	if len(found) == 0 {
		return core.Turn{}, fmt.Errorf("turn of session %s: %w", session, core.ErrNotFound)
	}
	return found[0], nil
}

// InsertTurn implements core.Tx.
func (t *tx) InsertTurn(turn *core.Turn) error {
	turn.Version = 1
	err := t.l.one(`INSERT INTO turn (`+turnColumns+`)
		VALUES (?1, (SELECT coalesce(max(number), 0) + 1 FROM turn WHERE session = ?1), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		RETURNING number`,
		[]any{
			turn.Session, turn.Version, turn.State, turn.End, turn.Reason, turn.Model, turn.Source, turn.By, turn.OnDenial,
			turn.Limits.Steps, int64(turn.Limits.Time), int64(turn.Worked), nanos(turn.RunningSince), flag(turn.StopAsked),
			nanos(turn.StartedAt), nanos(turn.UpdatedAt),
		}, &turn.Number)
	if err != nil {
		return fmt.Errorf("turn of session %s: %w", turn.Session, err)
	}
	return t.touchSession(turn.Session, turn.StartedAt)
}

// ChangeTurn implements core.Tx.
func (t *tx) ChangeTurn(before core.Turn, after *core.Turn) (bool, error) {
	n, err := t.l.exec(`UPDATE turn SET version = version + 1, state = ?, ended = ?, reason = ?, worked = ?, running_since = ?,
		stop_asked = ?, updated_at = ? WHERE session = ? AND number = ? AND version = ?`,
		after.State, after.End, after.Reason, int64(after.Worked), nanos(after.RunningSince), flag(after.StopAsked),
		nanos(after.UpdatedAt), before.Session, before.Number, before.Version)
	if err != nil || n == 0 {
		return false, err
	}
	after.Version = before.Version + 1
	return true, t.touchSession(before.Session, after.UpdatedAt)
}

const stepColumns = `session, turn, number, decisions, text, calls, input, output, at, closed_at`

func (v *view) steps(where string, args ...any) ([]core.Step, error) {
	var out []core.Step
	err := v.l.each(v.ctx, `SELECT `+stepColumns+` FROM step WHERE `+where, args, func(row scanner) error {
		var s core.Step
		var decisions, calls sql.NullString
		var at, closed int64
		err := row.Scan(&s.Session, &s.Turn, &s.Number, &decisions, &s.Response.Text, &calls,
			&s.Response.Usage.Input, &s.Response.Usage.Output, &at, &closed)
		if err != nil {
			return err
		}
		s.At, s.ClosedAt = moment(at), moment(closed)
		if err := decode(decisions, &s.Decisions); err != nil {
			return err
		}
		if err := decode(calls, &s.Response.Calls); err != nil {
			return err
		}
		out = append(out, s)
		return nil
	})
	return out, err
}

// Steps implements core.View.
func (v *view) Steps(session core.SessionID) ([]core.Step, error) {
	return v.steps(`session = ? ORDER BY turn, number`, session)
}

// NewestStep implements core.View.
func (v *view) NewestStep(session core.SessionID, turn int) (core.Step, error) {
	found, err := v.steps(`session = ? AND turn = ? ORDER BY number DESC LIMIT 1`, session, turn)
	if err != nil {
		return core.Step{}, err
	}
	if len(found) == 0 {
		return core.Step{}, fmt.Errorf("step of turn %d in session %s: %w", turn, session, core.ErrNotFound)
	}
	return found[0], nil
}

// InsertStep implements core.Tx.
func (t *tx) InsertStep(s core.Step) error {
	decisions, err := list(s.Decisions)
	if err != nil {
		return err
	}
	calls, err := list(s.Response.Calls)
	if err != nil {
		return err
	}
	_, err = t.l.exec(`INSERT INTO step (`+stepColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		s.Session, s.Turn, s.Number, decisions, s.Response.Text, calls, s.Response.Usage.Input, s.Response.Usage.Output,
		nanos(s.At), nanos(s.ClosedAt))
	if err != nil {
		return fmt.Errorf("step %d of turn %d: %w", s.Number, s.Turn, err)
	}
	return t.touchSession(s.Session, s.At)
}

// CloseStep implements core.Tx.
func (t *tx) CloseStep(session core.SessionID, turn, step int, at time.Time) error {
	n, err := t.l.exec(`UPDATE step SET closed_at = ? WHERE session = ? AND turn = ? AND number = ? AND closed_at = 0`,
		nanos(at), session, turn, step)
	if err == nil && n == 0 {
		return fmt.Errorf("step %d of turn %d: %w", step, turn, core.ErrNotFound)
	}
	return err
}

const messageColumns = `id, session, person, kind, text, at, turn, step`

func (v *view) messages(where string, args ...any) ([]core.Message, error) {
	var out []core.Message
	err := v.l.each(v.ctx, `SELECT `+messageColumns+` FROM message WHERE `+where+` ORDER BY id`, args, func(row scanner) error {
		var m core.Message
		var at int64
		err := row.Scan(&m.ID, &m.Session, &m.By, &m.Kind, &m.Text, &at, &m.Turn, &m.Step)
		m.At = moment(at)
		out = append(out, m)
		return err
	})
	return out, err
}

// Messages implements core.View.
func (v *view) Messages(session core.SessionID) ([]core.Message, error) {
	return v.messages(`session = ?`, session)
}

// QueuedMessages implements core.View.
func (v *view) QueuedMessages(session core.SessionID) ([]core.Message, error) {
	return v.messages(`session = ? AND turn = 0`, session)
}

// InsertMessage implements core.Tx.
func (t *tx) InsertMessage(m *core.Message) error {
	err := t.l.one(`INSERT INTO message (session, person, kind, text, at) VALUES (?, ?, ?, ?, ?) RETURNING id`,
		[]any{m.Session, m.By, m.Kind, m.Text, nanos(m.At)}, &m.ID)
	if err != nil {
		return fmt.Errorf("message: %w", err)
	}
	return t.touchSession(m.Session, m.At)
}

// DeliverMessages implements core.Tx.
func (t *tx) DeliverMessages(session core.SessionID, turn, step int, ids []int64) error {
	for _, id := range ids {
		_, err := t.l.exec(`UPDATE message SET turn = ?, step = ? WHERE id = ? AND session = ? AND turn = 0`, turn, step, id, session)
		if err != nil {
			return err
		}
	}
	return nil
}

// TellNotices implements core.Tx.
func (t *tx) TellNotices(session core.SessionID, turn, step int, ids []int64) error {
	for _, id := range ids {
		_, err := t.l.exec(`UPDATE notice SET told_turn = ?, told_step = ? WHERE id = ? AND session = ? AND told_turn = 0`,
			turn, step, id, session)
		if err != nil {
			return err
		}
	}
	return nil
}

// UntoldNotices implements core.View.
func (v *view) UntoldNotices(session core.SessionID) ([]core.Notice, error) {
	var out []core.Notice
	err := v.l.each(v.ctx, `SELECT id, session, turn, action, state, title, reason, at FROM notice
		WHERE session = ? AND told_turn = 0 ORDER BY id`, []any{session},
		func(row scanner) error {
			var n core.Notice
			var at int64
			err := row.Scan(&n.ID, &n.Session, &n.Turn, &n.Action, &n.State, &n.Title, &n.Reason, &at)
			n.At = moment(at)
			out = append(out, n)
			return err
		})
	return out, err
}

// Waiting implements core.View.
func (v *view) Waiting(session core.SessionID, turn, step int) ([]core.Waiting, error) {
	var out []core.Waiting
	err := v.l.each(v.ctx, `SELECT id, kind = '`+core.QueueKindQuestion+`', state, title FROM item
		WHERE open = 1 AND lane <> 'simulate' AND state IN ('pending', 'claimed', 'open') AND session = ?1 AND turn = ?2
			AND caller ->> '$.kind' = '`+string(core.CallerAgent)+`' AND (?3 = 0 OR caller ->> '$.step' = ?3) ORDER BY id`,
		[]any{session, turn, step},
		func(row scanner) error {
			var w core.Waiting
			err := row.Scan(&w.ID, &w.Question, &w.State, &w.Title)
			out = append(out, w)
			return err
		})
	return out, err
}
