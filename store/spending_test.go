package store

import (
	"errors"
	"testing"
	"time"

	"gatehouse/core"
)

func TestSpent_SumsSessionsAndTimes(t *testing.T) {
	db := openNew(t)
	a, b := newSession(t, db, "a"), newSession(t, db, "b")
	rows := []core.Spending{
		{Session: a, Turn: 1, Step: 1, Model: "m", At: noon, Usage: core.Usage{Input: 10, Output: 1, Cost: 5}},
		{Session: a, Turn: 1, Step: 2, Model: "m", At: noon.Add(time.Hour), Usage: core.Usage{Input: 20, Estimated: true}},
		{Session: b, Turn: 1, Step: 1, Model: "m", At: noon.Add(time.Hour), Usage: core.Usage{Input: 40, Output: 4, Cost: 7}},
	}
	write(t, db, func(tx core.Tx) error {
		for i := range rows {
			if err := tx.InsertSpending(&rows[i]); err != nil {
				return err
			}
		}
		return nil
	})
	want := func(session core.SessionID, since time.Time, want core.Usage) {
		t.Helper()
		read(t, db, func(v core.View) error {
			got, err := v.Spent(session, since)
			if got != want {
				t.Errorf("%q since %v: got %+v, want %+v", session, since, got, want)
			}
			return err
		})
	}
	want(a, time.Time{}, core.Usage{Input: 30, Output: 1, Estimated: true, Cost: 5})
	want("", noon.Add(time.Minute), core.Usage{Input: 60, Output: 4, Estimated: true, Cost: 7})
	want("s99", time.Time{}, core.Usage{})
	write(t, db, func(tx core.Tx) error { return tx.SetSpending(rows[1].ID, core.Usage{Input: 21, Output: 2, Cost: 9}) })
	want(a, time.Time{}, core.Usage{Input: 31, Output: 3, Cost: 14})
	err := db.Write(background, func(tx core.Tx) error { return tx.SetSpending(99, core.Usage{}) })
	if !errors.Is(err, core.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
}
