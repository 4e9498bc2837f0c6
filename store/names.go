package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"gatehouse/core"
)

// number is N of the provisional id ~N; 0 where the name is none.
func number(name string) int64 {
	if !core.Provisional(name) {
		return 0
	}
	n, err := strconv.ParseInt(name[1:], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Names implements core.View.
func (v *view) Names(session core.SessionID, resource string, words []string) (core.Names, int, error) {
	names, last := core.Names{}, 0
	err := v.l.one(`SELECT number FROM name WHERE session = ? AND resource = ? ORDER BY number DESC LIMIT 1`, []any{session, resource}, &last)
	if errors.Is(err, core.ErrNotFound) {
		return names, 1, nil
	}
	if err != nil {
		return nil, 0, err
	}
	var numbers []int64
	var real []string
	for _, w := range words {
		if n := number(w); n != 0 {
			numbers = append(numbers, n)
		} else if w != "" {
			real = append(real, w)
		}
	}
	if err := findNames(v, names, `WHERE number IN (SELECT value FROM json_each(?))`, session, resource, numbers); err != nil {
		return nil, 0, err
	}
	for _, n := range names { // another id of the same thing is one more spelling of it
		if n.Real != "" {
			real = append(real, n.Real)
		}
	}
	// The planner would rather read all ids of the resource.
	err = findNames(v, names, `INDEXED BY name_real WHERE real <> '' AND real IN (SELECT value FROM json_each(?))`, session, resource, real)
	return names, last + 1, err
}

func findNames[T any](v *view, names core.Names, from string, session core.SessionID, resource string, among []T) error {
	if len(among) == 0 {
		return nil
	}
	wanted, err := encode(among)
	if err != nil {
		return err
	}
	return v.l.each(context.Background(), `SELECT number, provider, real FROM name `+from+` AND session = ? AND resource = ?`,
		[]any{wanted, session, resource}, func(row scanner) error {
			var number int
			var n core.Name
			if err := row.Scan(&number, &n.Provider, &n.Real); err != nil {
				return err
			}
			names["~"+strconv.Itoa(number)] = n
			return nil
		})
}

// provide registers the provisional ids of an action. One that another action has is an error: it would redirect it.
func (t *tx) provide(a *core.Action) error {
	for _, name := range a.Draft.Provides {
		n := number(name)
		if n == 0 {
			continue
		}
		changed, err := t.l.exec(`INSERT INTO name (session, resource, number, provider) VALUES (?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET provider = excluded.provider WHERE provider = excluded.provider`,
			a.Session, a.Resource, n, int64(a.ID))
		if err != nil {
			return err
		}
		if changed == 0 {
			return fmt.Errorf("action %d: %s: %w by another action", a.ID, name, core.ErrNameTaken)
		}
	}
	return nil
}

// BindNames implements core.Tx. What is not a provisional id, such as a path, needs no binding.
func (t *tx) BindNames(id core.ActionID, created []core.Created) error {
	for _, c := range created {
		n := number(c.Name)
		if n == 0 || c.Real == "" {
			continue
		}
		_, err := t.l.exec(`UPDATE name SET real = ? WHERE number = ? AND provider = ? AND real = ''
			AND (session, resource) = (SELECT session, resource FROM item WHERE id = ?)`, c.Real, n, int64(id), int64(id))
		if err != nil {
			return err
		}
	}
	return nil
}
