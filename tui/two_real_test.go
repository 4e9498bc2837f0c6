package tui_test

import (
	"testing"

	"gatehouse/tui"
)

// TestT32_ASecondScreenShowsTheFirstOnesDecisions: two screens in two processes on one store. What one of them decides
// stands on the other after one look at the store, and there are two looks in every 500 ms; its clock moves by 300 ms.
func TestT32_ASecondScreenShowsTheFirstOnesDecisions(t *testing.T) {
	dir := t.TempDir()
	first, second := newHouse(t, dir), newHouse(t, dir)
	first.furnish(t, 3)
	one := tui.Drive(t, first.kernel, "alice", first.watch(t))
	other := tui.Drive(t, second.kernel, "alice", second.watch(t))
	one.Shows("3 waiting")
	other.Shows("3 waiting")
	one.Press("A", "j", "x")
	one.Type("not this one")
	one.Press("enter", "c")
	one.Shows("Carry out 2 decisions")
	one.Press("tab", "enter")
	one.Shows("1 rejected · 1 applied")
	other.Tick()
	other.Shows("1 waiting")

	second.call(t, "create", `{"title":"made by the second"}`)
	one.Press("esc")
	one.Tick()
	one.Shows("2 waiting")
}
