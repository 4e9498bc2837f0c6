package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"gatehouse/core"
)

// within is the condition that a selector is, on a column that is last in an index.
func within(column string, s core.Selector) (where string, args []any, err error) {
	switch s.Reach {
	case core.ReachExact:
		return " AND " + column + " = ?", []any{s.Target}, nil
	case core.ReachPrefix:
		if s.Target == "" {
			return "", nil, nil
		}
		if end := afterPrefix(s.Target); end != "" {
			return " AND " + column + " >= ? AND " + column + " < ?", []any{s.Target, end}, nil
		}
		return " AND " + column + " >= ?", []any{s.Target}, nil
	case core.ReachAll:
		return "", nil, nil
	default:
		return "", nil, fmt.Errorf("selector: reach %q is none", s.Reach)
	}
}

// afterPrefix is the smallest text, by bytes, that is larger than all that begin with the prefix; empty where there is none.
func afterPrefix(prefix string) string {
	b := []byte(prefix)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return string(b[:i+1])
		}
	}
	return ""
}

// TargetsVersion implements core.View.
func (v *view) TargetsVersion(session core.SessionID, resource string, targets []core.Selector) (int64, error) {
	var newest int64
	for _, s := range targets {
		where, args, err := within("name", s)
		if err != nil {
			return 0, err
		}
		var version int64
		err = v.l.one(`SELECT coalesce(max(version), 0) FROM target WHERE session = ? AND resource = ?`+where+` AND action = 0`,
			append([]any{session, resource}, args...), &version)
		if err != nil {
			return 0, err
		}
		newest = max(newest, version)
	}
	return newest, nil
}

// LiveEffects implements core.View.
func (v *view) LiveEffects(session core.SessionID, resource string, targets []core.Selector) ([]core.LiveEffect, error) {
	seen := make(map[core.ActionID]bool)
	var ids []core.ActionID
	for _, s := range targets {
		where, args, err := within("name", s)
		if err != nil {
			return nil, err
		}
		found, err := v.ids(`SELECT action FROM target WHERE session = ? AND resource = ?`+where+` AND action > 0`,
			append([]any{session, resource}, args...)...)
		if err != nil {
			return nil, err
		}
		for _, id := range found {
			if !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	effects := make([]core.LiveEffect, 0, len(ids))
	for _, id := range ids {
		e, err := v.liveEffect(id)
		if err != nil {
			return nil, err
		}
		effects = append(effects, e)
	}
	return effects, nil
}

func (v *view) liveEffect(id core.ActionID) (core.LiveEffect, error) {
	e := core.LiveEffect{}
	var created int64
	var payload, fields, targets, provides, needs, after sql.NullString
	err := v.l.one(`SELECT item.kind, item.created_at, item.state, item.lane, item.retryable,
			content.payload, content.fields, content.targets, content.provides, content.needs, content.after
		FROM item JOIN content USING (id) WHERE item.id = ?`, []any{int64(id)},
		&e.Kind, &created, &e.State, &e.Lane, &e.Retryable, &payload, &fields, &targets, &provides, &needs, &after)
	if err != nil {
		return e, fmt.Errorf("action %d: %w", id, err)
	}
	e.Action, e.CreatedAt, e.Payload = id, moment(created), unraw(payload)
	if e.Fields, err = decodeFields(fields); err == nil {
		err = firstError(decode(targets, &e.Targets), decode(provides, &e.Provides), decode(needs, &e.Needs), decode(after, &e.After))
	}
	if err != nil {
		return e, fmt.Errorf("action %d: %w", id, err)
	}
	return e, nil
}

// Dependents implements core.View.
func (v *view) Dependents(provider core.ActionID) ([]core.Dependent, error) {
	var out []core.Dependent
	err := v.l.each(context.Background(), `SELECT reference.action, reference.name, reference.needs, item.state
		FROM reference JOIN item ON item.id = reference.action
		WHERE reference.provider = ? AND (item.state IN ('pending', 'claimed', 'unknown', 'stranded') OR (item.state = 'failed' AND item.retryable))
		ORDER BY reference.action, reference.needs DESC, reference.name`, []any{int64(provider)},
		func(row scanner) error {
			var d core.Dependent
			err := row.Scan(&d.Action, &d.Name, &d.Needs, &d.State)
			out = append(out, d)
			return err
		})
	return out, err
}
