package store

import (
	"database/sql"
	"encoding/json"
	"fmt"

	"gatehouse/core"
)

// Append implements core.Tx.
func (t *tx) Append(e core.Entry) error {
	h, err := t.forChange()
	if err != nil {
		return err
	}
	row, err := e.Seal(h.log.Seq+1, h.log.Hash)
	if err != nil {
		return err
	}
	_, err = t.l.exec(`INSERT INTO log (seq, blob, prev, hash) VALUES (?, ?, ?, ?)`, row.Seq, string(row.Blob), row.Prev[:], row.Hash[:])
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	h.log, t.appended = core.Head{Seq: row.Seq, Hash: row.Hash}, true
	if e.Type == core.EventRead {
		return t.countRead(e, row.Seq)
	}
	return nil
}

// Rows implements core.View.
func (v *view) Rows(q core.RecordQuery) ([]core.Row, error) {
	c, order := recordConditions(q), "seq"
	if q.Before != 0 {
		c.add("seq < ?", q.Before)
		order = "seq DESC"
	}
	limit := q.Limit
	if limit <= 0 {
		limit = 1000
	}
	var out []core.Row
	err := v.l.each(v.ctx, `SELECT seq, blob, prev, hash FROM log`+c.clause()+` ORDER BY `+order+` LIMIT ?`,
		append(c.args, limit), func(row scanner) error {
			r, err := scanRow(row)
			out = append(out, r)
			return err
		})
	return out, err
}

// searched is what words are looked for in: what a person reads of a row.
const searched = `(type || ' ' || coalesce(session, '') || ' ' || coalesce(subject, '') || ' ' || coalesce(blob ->> '$.actor', '') || ' ' ||
	coalesce(blob ->> '$.authority', '') || ' ' || coalesce(blob ->> '$.rule', '') || ' ' || coalesce(blob ->> '$.digest', '') || ' ' ||
	coalesce(blob ->> '$.units', '') || ' ' || coalesce(blob ->> '$.detail', ''))`

// recordConditions are those of a query, its order apart. Types and subjects have indexes; the rest is compared row by
// row, so who asks for it bounds the places with After, UpTo or Before.
func recordConditions(q core.RecordQuery) conditions {
	var c conditions
	c.add("seq > ?", q.After)
	if q.UpTo != 0 {
		c.add("seq <= ?", q.UpTo)
	}
	if q.Session != "" {
		c.add("session = ?", q.Session)
	}
	in(&c, "type", q.Types)
	if q.Subject != "" {
		c.add("subject = ?", q.Subject)
	}
	if q.Turn != 0 {
		c.add("blob ->> '$.turn' = ?", q.Turn)
	}
	if q.Who != "" {
		c.add(`blob ->> '$.actor' LIKE ? ESCAPE '\'`, like(q.Who))
	}
	for _, w := range q.Words {
		c.add(searched+` LIKE ? ESCAPE '\'`, like(w))
	}
	return c
}

func scanRow(row scanner) (core.Row, error) {
	var r core.Row
	var blob string
	var prev, hash []byte
	if err := row.Scan(&r.Seq, &blob, &prev, &hash); err != nil {
		return r, err
	}
	r.Blob, r.Prev, r.Hash = []byte(blob), digestOf(prev), digestOf(hash)
	if err := json.Unmarshal(r.Blob, &r.Entry); err != nil {
		return r, fmt.Errorf("log row %d: %w (%w)", r.Seq, ErrDamaged, err)
	}
	return r, nil
}

// EachRow implements core.View. Blobs are valid until fn returns.
func (v *view) EachRow(fn func(seq int64, blob []byte, prev, hash core.Digest) error) (core.Head, error) {
	h, err := v.currentHead()
	if err != nil {
		return core.Head{}, err
	}
	var seq int64
	var blob, prev, hash sql.RawBytes // not copied: verifying a record is to cost little more than reading it (P9)
	err = v.l.each(v.ctx, `SELECT seq, blob, prev, hash FROM log ORDER BY seq`, nil, func(row scanner) error {
		if err := row.Scan(&seq, &blob, &prev, &hash); err != nil {
			return err
		}
		return fn(seq, blob, digestOf(prev), digestOf(hash))
	})
	return h.log, err
}
