package core_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/gatekeepers/memory"
)

// slowAccess answers every check after a while.
type slowAccess struct {
	*memory.Driver
	after time.Duration
}

func (d slowAccess) Reaches(ctx context.Context, own core.Connection, unit core.Unit, permission string) core.AccessCheck {
	timer := time.NewTimer(d.after)
	defer timer.Stop()
	select {
	case <-timer.C:
		return d.Driver.Reaches(ctx, own, unit, permission)
	case <-ctx.Done():
		return core.AccessCheck{Access: core.AccessUnreachable}
	}
}

// BenchmarkP8_Open verifies 1,000 units at open, 20 ms a check, 32 at a time. The floor is what the checks alone take.
func BenchmarkP8_Open(b *testing.B) {
	const units, each, atOnce = 1000, 20 * time.Millisecond, 32
	driver := memory.NewObserved(core.StrategyACL)
	r := newRigOn(b, driver, func(o *core.Options) { o.Gatekeepers[0] = slowAccess{driver, each} })
	r.know("bob")
	r.connectAs("bob", "memory://notes")
	r.must(r.db.Write(b.Context(), func(tx core.Tx) error {
		for i := range units {
			unit := memory.Unit("notes", fmt.Sprintf("c%d", i))
			driver.SetAccess("bob", unit, core.AccessPassed)
			if err := tx.Observe(r.session.ID, 0, r.clock.Now(), []core.Found{{Unit: unit, Permission: "read"}}); err != nil {
				return err
			}
		}
		return nil
	}))
	r.must(r.grant("bob", core.RoleView))
	for b.Loop() {
		start := time.Now()
		o, err := r.kernel.Open(b.Context(), "work", "bob")
		r.must(err)
		took := time.Since(start)
		if !o.Passed() {
			b.Fatal("not every line passed")
		}
		rounds := (units + atOnce - 1) / atOnce
		floor := time.Duration(rounds) * each
		b.Logf("P8 open of %d units %v, the checks alone %v: %.2f of the floor, to stay under 1.1", units, took, floor, float64(took)/float64(floor))
		b.ReportMetric(float64(took)/float64(floor), "of-floor")
	}
}
