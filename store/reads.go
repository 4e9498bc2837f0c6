package store

import (
	"database/sql"
	"slices"

	"gatehouse/core"
)

// countRead puts a row of the record behind the observations of the units that it released.
func (t *tx) countRead(e core.Entry, seq int64) error {
	for _, u := range e.Units {
		_, err := t.l.exec(`INSERT INTO unit_read (observation, log, number)
			SELECT o.seq, ?5, 1 + coalesce((SELECT number FROM unit_read WHERE observation = o.seq ORDER BY log DESC LIMIT 1), 0)
			FROM observation o WHERE o.session = ?1 AND o.gatekeeper = ?2 AND o.service = ?3 AND o.name = ?4 ON CONFLICT DO NOTHING`,
			e.Session, u.Gatekeeper, u.Service, u.Name, seq)
		if err != nil {
			return err
		}
	}
	return nil
}

// Observed implements core.View. The newest read of an observation knows how many there are.
func (v *view) Observed(session core.SessionID, limit int) (core.ObservedPage, error) {
	var page core.ObservedPage
	err := v.l.one(`SELECT count(*) FROM observation WHERE ?1 = '' OR session = ?1`, []any{session}, &page.Total)
	if err != nil {
		return page, err
	}
	err = v.l.each(v.ctx, `SELECT o.session, s.name, o.gatekeeper, o.service, o.name, o.permission, o.labels, o.owner_only, o.first_seen_at,
			o.turn, coalesce(r.number, 0), coalesce(log.blob ->> '$.at', '')
		FROM observation o JOIN session s ON s.id = o.session
		LEFT JOIN unit_read r ON r.observation = o.seq AND r.log = (SELECT max(log) FROM unit_read WHERE observation = o.seq)
		LEFT JOIN log ON log.seq = r.log
		WHERE ?1 = '' OR o.session = ?1 ORDER BY o.seq DESC LIMIT ?2`, []any{session, limit},
		func(row scanner) error {
			o, err := scanObserved(row)
			page.Rows = append(page.Rows, o)
			return err
		})
	return page, err
}

func scanObserved(row scanner) (core.ObservedUnit, error) {
	var o core.ObservedUnit
	var labels sql.NullString
	var seen int64
	var last string
	f := &o.Found
	err := row.Scan(&o.Session, &o.SessionName, &f.Unit.Gatekeeper, &f.Unit.Service, &f.Unit.Name, &f.Permission, &labels,
		&f.OwnerOnly, &seen, &o.Turn, &o.Reads, &last)
	if err != nil {
		return o, err
	}
	o.FirstSeenAt = moment(seen)
	if last != "" {
		if err := o.LastReadAt.UnmarshalText([]byte(last)); err != nil {
			return o, err
		}
	}
	return o, decode(labels, &f.Labels)
}

// UnitReads implements core.View. Each set that holds the unit gives a page; the newest of all are kept.
func (v *view) UnitReads(session core.SessionID, unit core.Unit, before int64, limit int) ([]core.Row, error) {
	var sets []int64
	err := v.l.each(v.ctx, `SELECT seq FROM observation WHERE gatekeeper = ? AND service = ? AND name = ? AND (?4 = '' OR session = ?4)`,
		[]any{unit.Gatekeeper, unit.Service, unit.Name, session}, func(row scanner) error {
			var seq int64
			err := row.Scan(&seq)
			sets = append(sets, seq)
			return err
		})
	if err != nil {
		return nil, err
	}
	var out []core.Row
	for _, set := range sets {
		err := v.l.each(v.ctx, `SELECT log.seq, log.blob, log.prev, log.hash FROM unit_read r JOIN log ON log.seq = r.log
			WHERE r.observation = ?1 AND (?2 = 0 OR r.log < ?2) ORDER BY r.log DESC LIMIT ?3`, []any{set, before, limit},
			func(row scanner) error {
				r, err := scanRow(row)
				out = append(out, r)
				return err
			})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b core.Row) int { return int(b.Seq - a.Seq) })
	return out[:min(len(out), limit)], nil
}

// StepCalls implements core.View.
func (v *view) StepCalls(session core.SessionID, turn, step int) ([]core.ToolCall, error) {
	var calls []core.ToolCall
	err := v.l.each(v.ctx, `SELECT calls FROM step WHERE session = ? AND turn = ? AND number = ?`, []any{session, turn, step},
		func(row scanner) error {
			var raw sql.NullString
			if err := row.Scan(&raw); err != nil {
				return err
			}
			return decode(raw, &calls)
		})
	return calls, err
}
