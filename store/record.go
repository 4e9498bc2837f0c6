package store

import (
	"encoding/json"
	"fmt"
	"strings"

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
	h.log = core.Head{Seq: row.Seq, Hash: row.Hash}
	if e.Type == core.EventRead {
		return t.countRead(e, row.Seq)
	}
	return nil
}

// Rows implements core.View.
func (v *view) Rows(q core.RecordQuery) ([]core.Row, error) {
	where, args := []string{"seq > ?"}, []any{q.After}
	if q.Session != "" {
		where, args = append(where, "session = ?"), append(args, q.Session)
	}
	if len(q.Types) > 0 {
		where = append(where, "type IN (?"+strings.Repeat(", ?", len(q.Types)-1)+")")
		for _, typ := range q.Types {
			args = append(args, typ)
		}
	}
	order := "seq"
	if q.Before != 0 {
		where, args, order = append(where, "seq < ?"), append(args, q.Before), "seq DESC"
	}
	limit := q.Limit
	if limit <= 0 {
		limit = 1000
	}
	var out []core.Row
	err := v.l.each(v.ctx, `SELECT seq, blob, prev, hash FROM log WHERE `+strings.Join(where, " AND ")+` ORDER BY `+order+` LIMIT ?`,
		append(args, limit), func(row scanner) error {
			r, err := scanRow(row)
			out = append(out, r)
			return err
		})
	return out, err
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
	err = v.l.each(v.ctx, `SELECT seq, blob, prev, hash FROM log ORDER BY seq`, nil, func(row scanner) error {
		var seq int64
		var blob, prev, hash []byte
		if err := row.Scan(&seq, &blob, &prev, &hash); err != nil {
			return err
		}
		return fn(seq, blob, digestOf(prev), digestOf(hash))
	})
	return h.log, err
}
