package term

import (
	"reflect"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// TestT10_SuspendTakesBackFirst: the shell is not left with a program that
// waits; where nothing was told, nothing is sent.
func TestT10_SuspendTakesBackFirst(t *testing.T) {
	a := &adapter{}
	if _, ok := a.result(Suspend{}).(tea.SuspendMsg); !ok {
		t.Error("a screen that told nothing does more than suspend")
	}
	a.reported = true
	steps := reflect.ValueOf(a.result(Suspend{})) // the library's sequence, whose type is its own
	if steps.Kind() != reflect.Slice || steps.Len() != 2 {
		t.Fatalf("got %v, want two steps", steps)
	}
	want := tea.RawMsg{Msg: "\x1b]7501;state=clear:id=gatehouse\x07\x1b]9;4;0\x07"}
	if got := steps.Index(0).Interface().(tea.Cmd)(); got != tea.Msg(want) {
		t.Errorf("first is %#v, want %#v", got, want)
	}
	if _, ok := steps.Index(1).Interface().(tea.Cmd)().(tea.SuspendMsg); !ok {
		t.Error("it does not suspend")
	}
}
