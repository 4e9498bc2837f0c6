package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
)

func fileUnit(name string) core.Unit {
	return core.Unit{Gatekeeper: "files", Service: "home", Name: name}
}

// readUnits is one read as the kernel keeps it: the set first, then the row.
func readUnits(tx core.Tx, s core.SessionID, turn int, at time.Time, names ...string) error {
	var found []core.Found
	var units []core.Unit
	for _, name := range names {
		found = append(found, core.Found{Unit: fileUnit(name), Permission: "read"})
		units = append(units, fileUnit(name))
	}
	return errors.Join(tx.Observe(s, turn, at, found),
		tx.Append(core.Entry{At: at, Type: core.EventRead, Session: s, Turn: turn, Actor: "script", Units: units}))
}

// TestK11_ReadsBehindAUnit: each read is behind the units that it released, in the sets of its session alone; pages go by key.
func TestK11_ReadsBehindAUnit(t *testing.T) {
	db := openNew(t)
	one, two := newSession(t, db, "one"), newSession(t, db, "two")
	write(t, db, func(tx core.Tx) error {
		var errs []error
		for i := range 5 {
			at := noon.Add(time.Duration(i) * time.Minute)
			errs = append(errs, readUnits(tx, one, i+1, at, "a", fmt.Sprint("b", i)), readUnits(tx, two, i+1, at, "a"))
		}
		blocked := core.Entry{At: noon, Type: core.EventBlocked, Session: one, Actor: "script", Units: []core.Unit{fileUnit("a")}}
		return errors.Join(append(errs, tx.Append(blocked))...)
	})
	read(t, db, func(v core.View) error {
		page, err := v.Observed("", 3)
		if err != nil || page.Total != 7 || len(page.Rows) != 3 || page.Rows[0].Found.Unit.Name != "b4" {
			t.Errorf("got %+v %v, want the newest 3 of 7", page, err)
		}
		page, err = v.Observed(one, 100)
		oldest := page.Rows[len(page.Rows)-1]
		if err != nil || page.Total != 6 || oldest.Reads != 5 || oldest.SessionName != "one" || !oldest.LastReadAt.Equal(noon.Add(4*time.Minute)) {
			t.Errorf("got %+v %v, want a unit that was read 5 times", oldest, err)
		}
		first, err1 := v.UnitReads(one, fileUnit("a"), 0, 3)
		rest, err2 := v.UnitReads(one, fileUnit("a"), first[2].Seq, 3)
		both, err3 := v.UnitReads("", fileUnit("a"), 0, 4)
		none, err4 := v.UnitReads(two, fileUnit("b1"), 0, 4)
		if len(first) != 3 || len(rest) != 2 || first[0].Entry.Turn != 5 || rest[1].Entry.Turn != 1 || len(none) != 0 {
			t.Errorf("got %d, %d and %d reads", len(first), len(rest), len(none))
		}
		if len(both) != 4 || both[0].Entry.Session != two || both[1].Entry.Session != one || both[3].Entry.Turn != 4 {
			t.Errorf("got %+v, want the newest of both", both)
		}
		return errors.Join(err1, err2, err3, err4)
	})
}

// TestReadsOfAnOlderStoreAreFound: what was recorded before reads were counted is counted by the migration.
func TestReadsOfAnOlderStoreAreFound(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	write(t, db, func(tx core.Tx) error {
		return errors.Join(readUnits(tx, s, 1, noon, "a"), readUnits(tx, s, 2, noon, "a", "b"))
	})
	up, err := migrations.ReadFile("migrations/00006_unit_reads.sql")
	if err != nil {
		t.Fatal(err)
	}
	// The migration alone, for those after it are there already and cannot come twice.
	tamper(t, db, append([]string{`DROP TABLE unit_read`, `DROP INDEX observation_unit`}, strings.SplitAfter(strings.TrimSpace(string(up)), ";\n")...)...)
	read(t, db, func(v core.View) error {
		page, err := v.Observed(s, 10)
		if err != nil || len(page.Rows) != 2 || page.Rows[0].Reads != 1 || page.Rows[1].Reads != 2 {
			t.Errorf("got %+v %v, want b read once and a twice", page.Rows, err)
		}
		return nil
	})
}
