package store

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"gatehouse/core"
)

// recordOf fills a store with rows of the record, of the size that claims and reads have.
func recordOf(t testing.TB, path string, rows int) *DB {
	t.Helper()
	db := openAt(t, path)
	for from := 0; from < rows; from += 20_000 {
		write(t, db, func(tx core.Tx) error {
			for i := from; i < min(from+20_000, rows); i++ {
				err := tx.Append(core.Entry{
					At: noon.Add(time.Duration(i) * time.Second), Type: core.EventClaim, Session: "s1", Turn: i % 40, Actor: "alice",
					Authority: "alice, by terminal", Digest: fmt.Sprintf("%064x", i), Subject: fmt.Sprintf("action %d", i),
					Detail: []byte(fmt.Sprintf(`{"egress":"notes","holder":"p%d"}`, i%7)),
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	return db
}

// bareScan reads every column of every row of the record and does nothing with them.
func bareScan(b *testing.B, pool *sql.DB) {
	b.Helper()
	rows, err := pool.Query(`SELECT seq, blob, prev, hash FROM log ORDER BY seq`)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	var seq int64
	var blob, prev, hash sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&seq, &blob, &prev, &hash); err != nil {
			b.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkP9_Verify: the chain of 1,000,000 rows, walked and hashed, against a bare scan of the same rows; to reach 0.5
// of its speed.
func BenchmarkP9_Verify(b *testing.B) {
	const count = 1_000_000
	dir := benchDir(b)
	db := recordOf(b, filepath.Join(dir, "g.db"), count)
	pool, err := sql.Open("sqlite", dsn(db.Path(), "ro", false))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = pool.Close() }) // it has written nothing
	compare(b, func() { bareScan(b, pool) }, func() {
		err := db.snapshot(background, func(v *view) error {
			found, err := v.verifyChain()
			if err == nil && (!found.OK() || found.Rows != count) {
				err = fmt.Errorf("got %d rows, first bad %+v", found.Rows, found.FirstBad)
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	})
}
