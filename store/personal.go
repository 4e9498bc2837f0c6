package store

import (
	"context"
	"fmt"
	"time"

	"gatehouse/core"
)

// Drafts implements core.View.
func (v *view) Drafts(person core.PersonID) ([]core.DraftedDecision, error) {
	var out []core.DraftedDecision
	err := v.l.each(context.Background(), `SELECT person, action, digest, verdict, reason, at FROM draft WHERE person = ?
		AND NOT EXISTS (SELECT 1 FROM item JOIN session ON session.id = item.session WHERE item.id = draft.action AND removed_at <> 0)
		ORDER BY at, action`,
		[]any{person}, func(row scanner) error {
			var d core.DraftedDecision
			var digest []byte
			var at int64
			err := row.Scan(&d.Person, &d.Action, &digest, &d.Verdict, &d.Reason, &at)
			d.Digest, d.At = digestOf(digest), moment(at)
			out = append(out, d)
			return err
		})
	return out, err
}

// PutDraft implements core.Tx.
func (t *tx) PutDraft(d core.DraftedDecision) error {
	_, err := t.l.exec(`INSERT INTO draft (person, action, digest, verdict, reason, at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET digest = excluded.digest, verdict = excluded.verdict, reason = excluded.reason, at = excluded.at`,
		d.Person, int64(d.Action), d.Digest[:], d.Verdict, d.Reason, nanos(d.At))
	if constraint(err) {
		return fmt.Errorf("draft on action %d: %w (%w)", d.Action, core.ErrNotFound, err)
	}
	return err
}

// DropDrafts implements core.Tx.
func (t *tx) DropDrafts(person core.PersonID, ids []core.ActionID) error {
	if len(ids) == 0 {
		_, err := t.l.exec(`DELETE FROM draft WHERE person = ?`, person)
		return err
	}
	for _, id := range ids {
		if _, err := t.l.exec(`DELETE FROM draft WHERE person = ? AND action = ?`, person, int64(id)); err != nil {
			return err
		}
	}
	return nil
}

// Opened implements core.View.
func (v *view) Opened(person core.PersonID, ids []core.ActionID) (map[core.ActionID]bool, error) {
	opened := make(map[core.ActionID]bool, len(ids))
	for _, id := range ids {
		var n int
		err := v.l.one(`SELECT count(*) FROM opened JOIN item ON item.id = opened.action AND item.digest = opened.digest
			WHERE opened.person = ? AND opened.action = ?`, []any{person, int64(id)}, &n)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			opened[id] = true
		}
	}
	return opened, nil
}

// MarkOpened implements core.Tx.
func (t *tx) MarkOpened(person core.PersonID, id core.ActionID, digest core.Digest, at time.Time) (bool, error) {
	n, err := t.l.exec(`INSERT INTO opened (person, action, digest, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		person, int64(id), digest[:], nanos(at))
	return n > 0, err
}

// OperatorKey implements core.View.
func (v *view) OperatorKey(hash string) (core.PersonID, error) {
	var person core.PersonID
	err := v.l.one(`SELECT person FROM operator_key WHERE hash = ?`, []any{hash}, &person)
	if err != nil {
		return "", fmt.Errorf("operator key: %w", err)
	}
	return person, nil
}

// InsertOperatorKey implements core.Tx.
func (t *tx) InsertOperatorKey(hash string, person core.PersonID, at time.Time) error {
	_, err := t.l.exec(`INSERT INTO operator_key (hash, person, at) VALUES (?, ?, ?)`, hash, person, nanos(at))
	if constraint(err) {
		return fmt.Errorf("operator key: %w", core.ErrNameTaken)
	}
	return err
}
