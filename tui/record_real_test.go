package tui_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // another program's way into the file

	"gatehouse/tui"
)

// tamper changes rows of the record as another program could that has the file.
func (h *house) tamper(t *testing.T, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+h.store.Path()+"?_busy_timeout=5000")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // what it did is committed
	for _, guard := range []string{"log_no_update", "log_no_delete"} {
		statements = append([]string{"DROP TRIGGER IF EXISTS " + guard}, statements...)
	}
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %s", s, err)
		}
	}
}

// TestRealRecord: the screen shows what the store holds, as another process
// writes on, by filter, by row and by chain.
func TestRealRecord(t *testing.T) {
	dir := t.TempDir()
	h, second := newHouse(t, dir), newHouse(t, dir)
	h.furnish(t, 3)
	d := tui.Drive(t, h.kernel, "alice", h.watch(t))
	d.Press("5")
	d.Shows("Record ──", "not verified", "submit", "action 3")
	d.Press("V")
	d.Shows("✓ verified ")
	second.call(t, "list", `{}`)
	d.Tick()
	d.Shows("MEM.list") // the cursor is on top, so the list follows
	d.Press("j")
	second.call(t, "get", `{"id":"item-1"}`)
	d.Tick()
	d.Shows("1 new .")
	d.Hides("MEM.get")
	d.Press(".")
	d.Shows("MEM.get")

	d.Press("/")
	d.Type("kind:submit action:2")
	d.Press("enter")
	d.Shows("submit", "action 2")
	d.Hides("action 1 ", "action 3", "MEM.get")
	d.Press("enter")
	d.Shows("authority  alice", "previous", "hash")
	d.Press("esc", "p")
	d.Shows("Why action 2")
	d.Press("o")
	d.Shows("Needs you", "#2 append")
}

// TestRealRecordPages: a record longer than a window is walked to its end and
// back, and no row is left out or told twice.
func TestRealRecordPages(t *testing.T) {
	h := newHouse(t, t.TempDir())
	h.furnish(t, 1)
	const reads = 1500 // more than are kept at hand
	for range reads {
		h.call(t, "list", `{}`)
	}
	d := tui.Drive(t, h.kernel, "alice", h.watch(t))
	d.Press("5")
	all := d.RecordRow()
	if all < reads {
		t.Fatalf("the newest row is %d", all)
	}
	d.Press("G")
	seen := map[int64]bool{}
	for at := int64(1); at < all; at++ {
		if d.RecordRow() != at {
			t.Fatalf("the cursor is on row %d, want %d:\n%s", d.RecordRow(), at, d.Frame())
		}
		seen[at] = true
		d.Press("k")
	}
	if int64(len(seen)) != all-1 || d.RecordRow() != all {
		t.Errorf("saw %d rows of %d, and stopped on %d", len(seen), all, d.RecordRow())
	}
	for at := all; at > 1; at-- { // what was let go comes back
		if d.RecordRow() != at {
			t.Fatalf("on the way down the cursor is on row %d, want %d", d.RecordRow(), at)
		}
		d.Press("j")
	}
}

// TestRealRecordDamaged: a row that was changed, and rows that were taken out,
// are found by the check and named; the screen goes on, and so does why.
func TestRealRecordDamaged(t *testing.T) {
	h := newHouse(t, filepath.Join(t.TempDir()))
	h.furnish(t, 2)
	d := tui.Drive(t, h.kernel, "alice", h.watch(t))
	d.Press("5", "V")
	d.Shows("✓ verified ")
	h.tamper(t, `UPDATE log SET blob = replace(blob, 'alice', 'mallory') WHERE seq = 3`)
	d.Press("V")
	d.Shows("the record was changed: row 3 ", "✗ row 3 ")
	d.Press("/")
	d.Type("action:2")
	d.Press("enter")
	d.Shows("action 2")
	h.tamper(t, `DELETE FROM log WHERE json_extract(blob, '$.subject') = 'action 2'`)
	d.Press("p")
	d.Shows("the record holds no row about action 2 any more")
	d.Press("esc", "r")
	d.Shows("Record ──")
}
