package store

import (
	"fmt"
	"time"

	"gatehouse/core"
)

// Spent implements core.View.
func (v *view) Spent(session core.SessionID, since time.Time) (core.Usage, error) {
	query := `SELECT coalesce(sum(input), 0), coalesce(sum(output), 0), coalesce(max(estimated), 0), coalesce(sum(cost), 0)
		FROM spending WHERE at >= ?`
	args := []any{nanos(since)}
	if session != "" {
		query, args = query+` AND session = ?`, append(args, session)
	}
	var u core.Usage
	err := v.l.one(query, args, &u.Input, &u.Output, &u.Estimated, &u.Cost)
	return u, err
}

// InsertSpending implements core.Tx.
func (t *tx) InsertSpending(s *core.Spending) error {
	err := t.l.one(`INSERT INTO spending (session, turn, step, model, at, input, output, estimated, cost)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		[]any{
			s.Session, s.Turn, s.Step, s.Model, nanos(s.At), s.Usage.Input, s.Usage.Output, flag(s.Usage.Estimated), int64(s.Usage.Cost),
		}, &s.ID)
	if err != nil {
		return fmt.Errorf("spending of session %s: %w", s.Session, err)
	}
	return nil
}

// SetSpending implements core.Tx.
func (t *tx) SetSpending(id int64, u core.Usage) error {
	n, err := t.l.exec(`UPDATE spending SET input = ?, output = ?, estimated = ?, cost = ? WHERE id = ?`,
		u.Input, u.Output, flag(u.Estimated), int64(u.Cost), id)
	if err == nil && n == 0 {
		return fmt.Errorf("spending %d: %w", id, core.ErrNotFound)
	}
	return err
}
