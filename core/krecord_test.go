package core_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
)

func TestK62_FirstBadRowIsNamed(t *testing.T) {
	for _, c := range []struct {
		name  string
		alter []string
		bad   int64
	}{
		{"edited", []string{`UPDATE log SET blob = replace(blob, 'alice', 'mallory') WHERE seq = 2`}, 2},
		{"removed", []string{`DELETE FROM log WHERE seq = 3`}, 3},
		{"swapped", []string{
			`UPDATE log SET seq = -2 WHERE seq = 2`, `UPDATE log SET seq = 2 WHERE seq = 3`, `UPDATE log SET seq = 3 WHERE seq = -2`,
		}, 2},
		{"tail cut", []string{`DELETE FROM log WHERE seq >= 4`}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.create("x")
			if v, err := r.kernel.VerifyRecord(context.Background()); err != nil || !v.OK() || v.Rows < 4 {
				t.Fatalf("before: got %+v, %v", v, err)
			}
			alterRecord(t, r, c.alter)
			v, err := r.kernel.VerifyRecord(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if v.OK() || v.FirstBad.Seq != c.bad {
				t.Errorf("got %+v, want row %d named", v.FirstBad, c.bad)
			}
		})
	}
}

// alterRecord does what someone with another program and the file could do.
func alterRecord(t *testing.T, r *rig, statements []string) {
	t.Helper()
	raw, err := sql.Open("sqlite", r.db.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	triggers, err := raw.Query(`SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'log'`)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for triggers.Next() {
		var name string
		if err := triggers.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := triggers.Close(); err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Error("the record has no triggers that keep it append-only")
	}
	for _, name := range names {
		statements = append([]string{"DROP TRIGGER " + name}, statements...)
	}
	for _, s := range statements {
		if _, err := raw.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func TestRecord_HoldsNoContent(t *testing.T) {
	r := newRig(t)
	const canary = "canary-4711"
	id := r.submit("create", `{"title":%q,"body":%q}`, canary, canary)
	r.call("NOTES", "search", `{"query":%q}`, canary)
	r.reject(canary, id)
	for _, row := range r.rows() {
		if strings.Contains(string(row.Blob), canary) {
			t.Errorf("row %d (%s) holds content: %s", row.Seq, row.Entry.Type, row.Blob)
		}
	}
}

func TestRecord_RefusesToBeChanged(t *testing.T) {
	r := newRig(t)
	raw, err := sql.Open("sqlite", r.db.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	for _, s := range []string{`UPDATE log SET blob = '{}'`, `DELETE FROM log`, `DELETE FROM observation`} {
		r.call("NOTES", "list", `{}`)
		r.made("x")
		if _, err := raw.Exec(s); err == nil {
			t.Errorf("%s: not refused", s)
		}
	}
}

// TestSeal_IsWhatEveryRecordWasWrittenWith keeps records of older programs whole: the hash is over these words.
func TestSeal_IsWhatEveryRecordWasWrittenWith(t *testing.T) {
	prev := core.Digest{1, 0xab}
	row, err := core.Entry{At: time.Unix(1_800_000_000, 5).UTC(), Type: core.EventClaim, Actor: "alice"}.Seal(70, prev)
	if err != nil {
		t.Fatal(err)
	}
	want := sha256.Sum256(fmt.Appendf(nil, "gatehouse record 1\n70\n01ab%060d\n%s", 0, row.Blob))
	if row.Hash != want {
		t.Errorf("got %s, want %x", row.Hash, want)
	}
}
