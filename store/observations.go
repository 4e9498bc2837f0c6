package store

import (
	"database/sql"
	"time"

	"gatehouse/core"
)

// Observations implements core.View.
func (v *view) Observations(session core.SessionID) ([]core.Observation, error) {
	var out []core.Observation
	err := v.l.each(v.ctx, `SELECT session, gatekeeper, service, name, permission, labels, owner_only, first_seen_at, turn
		FROM observation WHERE ?1 = '' OR session = ?1 ORDER BY seq`, []any{session},
		func(row scanner) error {
			var o core.Observation
			var labels sql.NullString
			var seen int64
			f := &o.Found
			err := row.Scan(&o.Session, &f.Unit.Gatekeeper, &f.Unit.Service, &f.Unit.Name,
				&f.Permission, &labels, &f.OwnerOnly, &seen, &o.Turn)
			if err != nil {
				return err
			}
			o.FirstSeenAt = moment(seen)
			if err := decode(labels, &f.Labels); err != nil {
				return err
			}
			out = append(out, o)
			return nil
		})
	return out, err
}

// CountObservations implements core.View.
func (v *view) CountObservations(session core.SessionID) (int, error) {
	var n int
	err := v.l.one(`SELECT count(*) FROM observation WHERE session = ?`, []any{session}, &n)
	return n, err
}

// Observe implements core.Tx. A unit that is there already keeps what was said of it when it was first seen.
func (t *tx) Observe(session core.SessionID, turn int, at time.Time, found []core.Found) error {
	for _, f := range found {
		labels, err := list(f.Labels)
		if err != nil {
			return err
		}
		_, err = t.l.exec(`INSERT INTO observation
			(session, gatekeeper, service, name, permission, labels, owner_only, first_seen_at, turn)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			session, f.Unit.Gatekeeper, f.Unit.Service, f.Unit.Name, f.Permission, labels, flag(f.OwnerOnly), nanos(at), turn)
		if err != nil {
			return err
		}
	}
	return nil
}
