package store

import (
	"fmt"
	"time"

	"gatehouse/core"
)

const ruleColumns = `id, session, binding, kind, condition, author, how, created_at, expires_at, max_count, used, removed_at`

func scanRule(row scanner, r *core.Rule) error {
	var created, expires, removed int64
	err := row.Scan(&r.ID, &r.Session, &r.Binding, &r.Kind, &r.Condition, &r.Author, &r.How, &created, &expires, &r.Max, &r.Used, &removed)
	r.CreatedAt, r.ExpiresAt, r.RemovedAt = moment(created), moment(expires), moment(removed)
	return err
}

// Rule implements core.View.
func (v *view) Rule(id core.RuleID) (core.Rule, error) {
	var r core.Rule
	err := v.find(`SELECT `+ruleColumns+` FROM rule WHERE id = ?`, []any{id}, func(row scanner) error { return scanRule(row, &r) })
	if err != nil {
		return core.Rule{}, fmt.Errorf("rule %s: %w", id, err)
	}
	return r, nil
}

// Rules implements core.View.
func (v *view) Rules(session core.SessionID) ([]core.Rule, error) {
	where, args := `session = ? AND `, []any{session}
	if session == "" {
		where, args = ``, nil
	}
	var out []core.Rule
	err := v.l.each(v.ctx, `SELECT `+ruleColumns+` FROM rule WHERE `+where+`removed_at = 0 ORDER BY seq`, args,
		func(row scanner) error {
			var r core.Rule
			err := scanRule(row, &r)
			out = append(out, r)
			return err
		})
	return out, err
}

// InsertRule implements core.Tx.
func (t *tx) InsertRule(r *core.Rule) error {
	var id string
	err := t.l.one(`INSERT INTO rule (`+ruleColumns+`)
		VALUES ('r' || (SELECT coalesce(max(seq), 0) + 1 FROM rule), ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0) RETURNING id`,
		[]any{r.Session, r.Binding, r.Kind, r.Condition, r.Author, r.How, nanos(r.CreatedAt), nanos(r.ExpiresAt), r.Max}, &id)
	r.ID = core.RuleID(id)
	return err
}

// RemoveRule implements core.Tx.
func (t *tx) RemoveRule(id core.RuleID, at time.Time) error {
	n, err := t.l.exec(`UPDATE rule SET removed_at = max(?, 1) WHERE id = ? AND removed_at = 0`, nanos(at), id)
	if err == nil && n == 0 {
		return fmt.Errorf("rule %s: %w", id, core.ErrNotFound)
	}
	return err
}

// UseRule implements core.Tx.
func (t *tx) UseRule(id core.RuleID) error {
	_, err := t.l.exec(`UPDATE rule SET used = used + 1 WHERE id = ?`, id)
	return err
}

// OpenActions implements core.View.
func (v *view) OpenActions(session core.SessionID) ([]core.Action, error) {
	return v.lightActions(`WHERE item.open = 1 AND item.session = ? AND item.kind <> 'question' ORDER BY item.id`, session)
}
