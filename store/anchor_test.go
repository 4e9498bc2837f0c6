package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
)

// openAnchored opens a store whose anchor is written at the close alone.
func openAnchored(t testing.TB, path, anchors string) *DB {
	t.Helper()
	db, err := Open(background, Options{Path: path, Anchors: anchors, AnchorFault: func(err error) { t.Log(err) }})
	if err != nil {
		t.Fatal(err)
	}
	db.anchor.every = time.Hour
	t.Cleanup(func() { shut(t, db) })
	return db
}

func shut(t testing.TB, db *DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// compared is how the record of a store stands to its anchor.
func compared(t testing.TB, db *DB) (core.AnchorState, core.Anchor) {
	t.Helper()
	kept, err := db.Anchor()
	if errors.Is(err, core.ErrNotFound) {
		return core.AnchorMissing, kept
	}
	if err != nil {
		return core.AnchorBroken, kept
	}
	var state core.AnchorState
	err = db.snapshot(background, func(v *view) error {
		head, err := v.newestRow()
		if err != nil {
			return err
		}
		rows, err := v.Rows(core.RecordQuery{After: kept.Seq - 1, Limit: 1})
		var at core.Digest
		for _, row := range rows {
			at = row.Hash
		}
		state = core.CompareAnchor(kept, head, at)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return state, kept
}

func TestR33_AnchorIsWrittenOnceForManyCommits(t *testing.T) {
	dir := t.TempDir()
	db := openAnchored(t, filepath.Join(dir, "g.db"), filepath.Join(dir, "anchors"))
	for range 50 {
		recordRows(t, db, 1)
	}
	if state, _ := compared(t, db); state != core.AnchorMissing {
		t.Fatalf("got %s after commits, want no write before its time", state)
	}
	shut(t, db)
	db = openAnchored(t, db.path, filepath.Join(dir, "anchors"))
	state, kept := compared(t, db)
	if state != core.AnchorHolds || kept.Seq != 50 {
		t.Fatalf("got %s at row %d, want it held at row 50", state, kept.Seq)
	}
	if parts, _ := filepath.Glob(filepath.Join(dir, "anchors", "*.part")); len(parts) > 0 {
		t.Errorf("left over: %v", parts)
	}
}

func TestR33_AnchorFollowsWithoutAClose(t *testing.T) {
	dir := t.TempDir()
	db := openAnchored(t, filepath.Join(dir, "g.db"), filepath.Join(dir, "anchors"))
	recordRows(t, db, 3)
	db.anchorLast() // what the timer does
	if state, kept := compared(t, db); state != core.AnchorHolds || kept.Seq != 3 {
		t.Errorf("got %s at row %d, want it held at row 3", state, kept.Seq)
	}
}

// A process that is behind does not take the anchor back, nor does one whose record went another way.
func TestR33_AnchorNeverGoesBack(t *testing.T) {
	for name, c := range map[string]struct {
		before, after int // rows of the copy when it was made, and those it got later
		want          core.AnchorState
	}{
		"an older copy":                  {4, 0, core.AnchorAhead},
		"an older copy that was used":    {4, 2, core.AnchorAhead},
		"a copy that went another way":   {4, 20, core.AnchorDiffers},
		"a copy of the newest row":       {10, 0, core.AnchorHolds},
		"a copy that went on, as it was": {10, 5, core.AnchorHolds},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			anchors := filepath.Join(dir, "anchors")
			db := openAnchored(t, filepath.Join(dir, "g.db"), anchors)
			recordRows(t, db, c.before)
			backup := filepath.Join(dir, "copy.db")
			if err := db.Backup(background, backup); err != nil {
				t.Fatal(err)
			}
			recordRows(t, db, 10-c.before)
			shut(t, db)

			restored := openAnchored(t, backup, anchors)
			if c.after > 0 {
				write(t, restored, func(tx core.Tx) error {
					for range c.after {
						if err := tx.Append(core.Entry{At: noon, Type: core.EventRead, Actor: "bob", Subject: "another"}); err != nil {
							return err
						}
					}
					return nil
				})
			}
			restored.anchorLast()
			state, kept := compared(t, restored)
			if state != c.want {
				t.Fatalf("got %s, want %s", state, c.want)
			}
			if state != core.AnchorHolds && kept.Seq != 10 {
				t.Errorf("got an anchor at row %d, want the one at row 10 kept", kept.Seq)
			}
			if err := restored.Reanchor(background); err != nil {
				t.Fatal(err)
			}
			if state, _ := compared(t, restored); state != core.AnchorHolds {
				t.Errorf("got %s after a person said so, want it held", state)
			}
		})
	}
}

// Who cuts the end off the record and mends the head that the file keeps leaves a chain that is whole.
func TestK62_TailCutIsFoundAgainstTheAnchor(t *testing.T) {
	dir := t.TempDir()
	anchors := filepath.Join(dir, "anchors")
	db := openAnchored(t, filepath.Join(dir, "g.db"), anchors)
	recordRows(t, db, 10)
	db.anchorLast()
	tamper(t, db, `DROP TRIGGER log_no_delete`, `DELETE FROM log WHERE seq > 7`)
	tamper(t, db, `UPDATE head SET log_seq = 7, log_hash = (SELECT hash FROM log WHERE seq = 7)`)
	if found := verify(t, db); !found.OK() || found.Rows != 7 {
		t.Fatalf("got %+v, want a chain of 7 rows that looks whole", found)
	}
	state, kept := compared(t, db)
	if state != core.AnchorAhead || kept.Seq != 10 {
		t.Errorf("got %s at row %d, want the anchor ahead at row 10", state, kept.Seq)
	}
}

func TestR33_BrokenAnchorStopsNothing(t *testing.T) {
	dir := t.TempDir()
	anchors := filepath.Join(dir, "anchors")
	path := filepath.Join(dir, "g.db")
	db := openAnchored(t, path, anchors)
	recordRows(t, db, 2)
	file, err := db.AnchorPath(background)
	if err != nil {
		t.Fatal(err)
	}
	shut(t, db)
	for name, c := range map[string]struct {
		content string
		want    core.AnchorState
	}{
		"not JSON":         {"row 2", core.AnchorBroken},
		"half":             {`{"store":"`, core.AnchorBroken},
		"another store's":  {`{"store":"other","seq":1,"hash":"` + strings.Repeat("0", 64) + `"}`, core.AnchorBroken},
		"no hash":          {`{"store":"other","seq":1,"hash":"12"}`, core.AnchorBroken},
		"power was lost":   {"", core.AnchorMissing},
		"endless garbage":  {strings.Repeat("x", 1<<20), core.AnchorBroken},
		"a row before all": {`{"store":"` + strings.TrimSuffix(filepath.Base(file), ".json") + `","seq":0}`, core.AnchorBroken},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			db := openAnchored(t, path, anchors)
			if state, _ := compared(t, db); state != c.want {
				t.Errorf("got %s, want %s", state, c.want)
			}
			recordRows(t, db, 1)
			shut(t, db)
			after, err := os.ReadFile(file)
			if err != nil || (c.want == core.AnchorBroken) != (string(after) == c.content) {
				t.Errorf("got %q, %v: a broken one stays for a person to see, an empty one is none", after, err)
			}
		})
	}
}

func TestR33_AnchorThatCannotBeWrittenStopsNothing(t *testing.T) {
	dir := t.TempDir()
	anchors := filepath.Join(dir, "anchors")
	if err := os.WriteFile(anchors, nil, 0o600); err != nil { // a file where the folder would be
		t.Fatal(err)
	}
	var faults []error
	db, err := Open(context.Background(), Options{Path: filepath.Join(dir, "g.db"), Anchors: anchors, AnchorFault: func(err error) { faults = append(faults, err) }})
	if err != nil {
		t.Fatal(err)
	}
	recordRows(t, db, 1)
	shut(t, db)
	if len(faults) != 1 || !strings.Contains(faults[0].Error(), anchors) {
		t.Errorf("got %v, want one line that names the folder", faults)
	}
}

func TestR33_AnchorsOfSeveralStoresAndOfOneThatWasMoved(t *testing.T) {
	dir := t.TempDir()
	anchors := filepath.Join(dir, "anchors")
	for i, name := range []string{"one.db", "two.db"} {
		db := openAnchored(t, filepath.Join(dir, name), anchors)
		recordRows(t, db, 3+i)
		shut(t, db)
	}
	moved := filepath.Join(dir, "moved.db")
	if err := os.Rename(filepath.Join(dir, "two.db"), moved); err != nil {
		t.Fatal(err)
	}
	for path, rows := range map[string]int64{filepath.Join(dir, "one.db"): 3, moved: 4} {
		if state, kept := compared(t, openAnchored(t, path, anchors)); state != core.AnchorHolds || kept.Seq != rows {
			t.Errorf("%s: got %s at row %d, want it held at row %d", path, state, kept.Seq, rows)
		}
	}
}
