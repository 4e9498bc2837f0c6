package store

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"gatehouse/core"
)

// benchDir is a folder on a disk: durable writes to memory cost nothing.
func benchDir(b *testing.B) string {
	b.Helper()
	base := os.Getenv("GATEHOUSE_BENCH_DIR")
	if base == "" {
		base, _ = os.UserCacheDir() // empty is the folder for temporary files
	}
	dir, err := os.MkdirTemp(base, "gatehouse-bench-")
	if err != nil {
		b.Skipf("no folder on a disk; name one in GATEHOUSE_BENCH_DIR: %v", err)
	}
	b.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			b.Error(err)
		}
	})
	return dir
}

// rawFloor makes durable inserts with the settings of the store and nothing else.
func rawFloor(b *testing.B, dir string, size int) func() {
	b.Helper()
	pool, err := sql.Open("sqlite", dsn(filepath.Join(dir, "raw.db"), "rwc", true))
	if err != nil {
		b.Fatal(err)
	}
	pool.SetMaxOpenConns(1)
	if _, err := pool.Exec(`CREATE TABLE raw (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT`); err != nil {
		b.Fatal(err)
	}
	insert, err := pool.Prepare(`INSERT INTO raw (body) VALUES (?)`)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = insert.Close() // the pool ends it too
		if err := pool.Close(); err != nil {
			b.Error(err)
		}
	})
	body := make([]byte, size)
	return func() {
		if _, err := insert.Exec(body); err != nil {
			b.Fatal(err)
		}
	}
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// compare takes turns between a floor and the work, so that what else the machine does touches both.
func compare(b *testing.B, floor, work func()) {
	b.Helper()
	var floors, works []time.Duration
	for b.Loop() {
		begin := time.Now()
		floor()
		middle := time.Now()
		work()
		floors, works = append(floors, middle.Sub(begin)), append(works, time.Since(middle))
	}
	b.ReportMetric(float64(median(floors).Microseconds()), "floor-µs")
	b.ReportMetric(float64(median(works).Microseconds()), "work-µs")
	b.ReportMetric(float64(median(floors))/float64(median(works)), "ratio")
}

func appendRow(tx core.Tx, typ core.EventType, a *core.Action) error {
	return tx.Append(core.Entry{
		At: noon, Type: typ, Session: a.Session, Turn: 1, Actor: "script", Authority: "alice", Digest: a.Digest.String(),
		Subject: "action " + a.ID.String(), Units: []core.Unit{a.Draft.Found[0].Unit},
	})
}

// submitLike is what the kernel's submit does in its transaction.
func submitLike(db *DB, a *core.Action) error {
	return db.Write(background, func(tx core.Tx) error {
		if _, err := tx.TargetsVersion(a.Session, a.Resource, exact(a.Draft.Targets)); err != nil {
			return err
		}
		if _, err := tx.CountOpen(a.Session, a.Binding); err != nil {
			return err
		}
		if err := tx.Observe(a.Session, 1, noon, a.Draft.Found); err != nil {
			return err
		}
		if err := tx.InsertAction(a); err != nil {
			return err
		}
		if err := tx.InsertAnswer(core.Answer{Session: a.Session, Turn: 1, CallID: fmt.Sprint(a.ID), Body: a.Draft.Value}); err != nil {
			return err
		}
		return firstError(appendRow(tx, core.EventRead, a), appendRow(tx, core.EventSubmit, a))
	})
}

// outcomeAndClaim is what the kernel's confirm does between two effects (P5).
func outcomeAndClaim(db *DB, plan core.PlanID, done, next core.ActionID) error {
	return db.Write(background, func(tx core.Tx) error {
		change := func(id core.ActionID, to core.State, outcome core.ItemOutcome, event core.EventType) error {
			before, err := tx.ActionState(id)
			if err != nil {
				return err
			}
			after := before
			after.State, after.ClaimHolder, after.ClaimedAt = to, "self", noon
			if to == core.StateApplied {
				after.Versions = before.Draft.Base
			}
			if won, err := tx.ChangeAction(before, &after); err != nil || !won {
				return fmt.Errorf("action %d: %t (%w)", id, won, err)
			}
			if err := tx.SetPlanItem(plan, id, outcome, ""); err != nil {
				return err
			}
			before.Draft.Found = []core.Found{{}}
			return appendRow(tx, event, &before)
		}
		if done != 0 {
			if err := change(done, core.StateApplied, core.OutcomeApplied, core.EventOutcome); err != nil {
				return err
			}
		}
		return change(next, core.StateClaimed, core.OutcomeUnknown, core.EventClaim)
	})
}

func benchAction(s core.SessionID, i int) core.Action {
	a := draftOf(s, fmt.Sprintf("dir/file-%d.txt", i))
	a.Binding = core.BindingName(fmt.Sprint("B", i/100)) // the cap is 200
	return a
}

// P4's part that is the store's: to reach 0.6 with the kernel on top.
func BenchmarkSubmitTransaction(b *testing.B) {
	dir := benchDir(b)
	db := openAt(b, filepath.Join(dir, "g.db"))
	s, i := newSession(b, db, "one"), 0
	compare(b, rawFloor(b, dir, 2000), func() {
		i++
		a := benchAction(s, i)
		if err := submitLike(db, &a); err != nil {
			b.Fatal(err)
		}
	})
}

// P5's part that is the store's: two durable inserts against outcome i and claim i+1, to reach 0.9 with the kernel on top.
func BenchmarkOutcomeAndClaimTransaction(b *testing.B) {
	dir := benchDir(b)
	db := openAt(b, filepath.Join(dir, "g.db"))
	s := newSession(b, db, "one")
	const count = core.PlanLimit
	plan := core.PlanRecord{ID: "p", By: "alice", How: core.MeansPipe, Holder: "self", ConfirmedAt: noon}
	write(b, db, func(tx core.Tx) error {
		for i := range count {
			a := benchAction(s, i)
			if err := tx.InsertAction(&a); err != nil {
				return err
			}
			plan.Items = append(plan.Items, core.PlanItem{Action: a.ID, Digest: a.Digest, Verdict: core.VerdictApprove})
		}
		return tx.InsertPlan(plan)
	})
	insert, i := rawFloor(b, dir, 2000), 0
	compare(b, func() { insert(); insert() }, func() {
		if i++; i > count {
			b.Skip("more rounds than a plan has items")
		}
		if err := outcomeAndClaim(db, "p", core.ActionID(i-1), core.ActionID(i)); err != nil {
			b.Fatal(err)
		}
	})
}
