package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"gatehouse/core"
)

// RemovedSessions implements core.View.
func (v *view) RemovedSessions() ([]core.Session, error) {
	var out []core.Session
	err := v.l.each(v.ctx, `SELECT `+sessionColumns+` FROM session WHERE removed_at <> 0 AND purged_at = 0 ORDER BY removed_at, id`, nil,
		func(row scanner) error {
			var s core.Session
			err := scanSession(row, &s)
			out = append(out, s)
			return err
		})
	return out, err
}

// withoutHidden takes what waits in hidden sessions out of the counts, which are over all: hiding changes no action.
func (v *view) withoutHidden(t *tally) error {
	var hidden tally
	err := v.l.one(`SELECT coalesce(sum(state = 'pending'), 0), coalesce(sum(state = 'pending' AND drift <> ''), 0),
			coalesce(sum(state = 'unknown'), 0), coalesce(sum(state = 'open'), 0), count(*)
		FROM item WHERE open = 1 AND session IN (SELECT id FROM session WHERE removed_at <> 0)`, nil,
		&hidden.waiting, &hidden.drifted, &hidden.unknown, &hidden.questions, &hidden.undecided)
	t.add(hidden, -1)
	return err
}

// RemoveSession implements core.Tx. No session can be named like an id, so that the name it gets meanwhile is free.
func (t *tx) RemoveSession(id core.SessionID, authority string, at time.Time) error {
	n, err := t.l.exec(`UPDATE session SET removed_at = max(?, 1), removed_name = name, removed_by = ?, name = id
		WHERE id = ? AND removed_at = 0`, nanos(at), authority, id)
	if err == nil && n == 0 {
		return fmt.Errorf("session %s: %w", id, core.ErrNotFound)
	}
	return err
}

// RestoreSession implements core.Tx.
func (t *tx) RestoreSession(id core.SessionID, name string, at time.Time) error {
	n, err := t.l.exec(`UPDATE session SET removed_at = 0, removed_name = '', removed_by = '', name = ?, updated_at = ?
		WHERE id = ? AND removed_at <> 0 AND purged_at = 0`, name, nanos(at), id)
	switch {
	case constraint(err):
		return fmt.Errorf("session %q: %w", name, core.ErrNameTaken)
	case err == nil && n == 0:
		return fmt.Errorf("session %s: %w", id, core.ErrNotFound)
	}
	return err
}

// PurgeSession implements core.Tx. What stays is what the record, the set and digests are about; names of methods and
// bindings stay with the actions. The index of titles is made anew, for it keeps the words of titles that were deleted.
func (t *tx) PurgeSession(id core.SessionID, at time.Time) error {
	const items = `(SELECT id FROM item WHERE session = ?1)`
	for _, statement := range []string{
		`UPDATE session SET purged_at = max(?2, 1), removed_name = '' WHERE id = ?1 AND removed_at <> 0`,
		`UPDATE binding SET url = '', removed_at = max(removed_at, ?2, 1) WHERE session = ?1`,
		`UPDATE content SET lane_reason = '', targets = NULL, base = NULL, needs = NULL, after = NULL, provides = NULL,
			field_names = NULL, projected = NULL, incomplete = NULL, found = NULL, args = NULL, value = NULL, payload = NULL,
			fields = NULL, submitted = NULL WHERE id IN ` + items,
		`UPDATE item SET title = '', reason = '', resource = '', undo_size = 0 WHERE session = ?1`,
		`DELETE FROM outcome WHERE id IN ` + items,
		`DELETE FROM undo WHERE action IN ` + items,
		`DELETE FROM draft WHERE action IN ` + items,
		`DELETE FROM reference WHERE action IN ` + items,
		`UPDATE question SET choices = NULL, answer = '' WHERE id IN ` + items,
		`UPDATE plan_item SET reason = '', outcome_reason = '' WHERE action IN ` + items,
		`DELETE FROM target WHERE session = ?1`,
		`DELETE FROM name WHERE session = ?1`,
		`DELETE FROM answer WHERE session = ?1`,
		`DELETE FROM notice WHERE session = ?1`,
		`DELETE FROM message WHERE session = ?1`,
		`DELETE FROM skill_pin WHERE session = ?1`,
		`UPDATE egress SET host = '' WHERE session = ?1`,
		`DELETE FROM proposal WHERE session = ?1`,
		`UPDATE turn SET reason = '', source = '' WHERE session = ?1`,
		`UPDATE step SET decisions = NULL, text = '', calls = NULL WHERE session = ?1`,
		`UPDATE rule SET condition = 'false', removed_at = max(removed_at, ?2, 1) WHERE session = ?1`,
	} {
		args := []any{id}
		if strings.Contains(statement, "?2") {
			args = append(args, nanos(at))
		}
		if _, err := t.l.exec(statement, args...); err != nil {
			return fmt.Errorf("purge of session %s: %w", id, err)
		}
	}
	h, err := t.forChange()
	if err != nil {
		return err
	}
	if _, err := t.l.exec(`INSERT INTO item_text (item_text) VALUES ('rebuild')`); err != nil {
		return err
	}
	h.indexed = h.item
	return nil
}

// scrubTries is how often the log of changes is asked to end: readers of old snapshots hold it up for a moment.
const (
	scrubTries = 50
	scrubPause = 20 * time.Millisecond
)

// Scrub writes the file anew, so that nothing of what was deleted from it is left, and ends the log of changes, where old
// pages lie too. Others may read meanwhile.
func (db *DB) Scrub(ctx context.Context) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	if err := db.Check(); err != nil {
		return err
	}
	if _, err := db.writer.exec(`VACUUM`); err != nil {
		return explain(db.path, err)
	}
	for range scrubTries {
		var busy, pages, moved int
		err := db.writer.one(`PRAGMA wal_checkpoint(TRUNCATE)`, nil, &busy, &pages, &moved)
		if err != nil && code(err) != sqlite3.SQLITE_LOCKED {
			return explain(db.path, err)
		}
		if err == nil && busy == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(scrubPause):
		}
	}
	return fmt.Errorf("%s: another process reads an old state of it; close it and purge again", db.path)
}
