package tui_test

import (
	"testing"

	"gatehouse/core"
	"gatehouse/tui"
)

// TestRealObservations: what was read stands on the screen with each read behind it, as another process reads on.
func TestRealObservations(t *testing.T) {
	dir := t.TempDir()
	h, second := newHouse(t, dir), newHouse(t, dir)
	h.furnish(t, 2)
	h.call(t, "list", `{}`)
	d := tui.Drive(t, h.kernel, "alice", h.watch(t))
	d.Press("3")
	d.Shows("Observations · all sessions", "1 unit", "memory", "work")
	d.Press("enter")
	d.Shows("Reads behind it", "MEM.list", "by hand", "first ")
	d.Hides("MEM.get")
	second.call(t, "get", `{"id":"item-1"}`)
	d.Tick()
	d.Shows("MEM.get", "MEM.list")
	page, err := h.kernel.Observed(t.Context(), core.ObservedQuery{})
	if err != nil || len(page.Rows) != 1 || page.Rows[0].Reads < 2 {
		t.Errorf("got %+v %v", page, err)
	}
	d.Press("esc", "2", "o")
	d.Shows("session:work", "1 unit")
}
