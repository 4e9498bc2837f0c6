package tui

import (
	"testing"
	"time"

	"gatehouse/tui/term"
)

func TestAScreenThatEndsWaitsForItsWrites(t *testing.T) {
	a := &app{}
	finish, started := make(chan struct{}), make(chan struct{})
	done := false
	go a.work(func() term.Msg { close(started); <-finish; done = true; return nil })()
	<-started
	a.works.wait(time.Millisecond)
	select {
	case <-a.works.ended:
		t.Fatal("it says that nothing is left while a write runs")
	default:
	}
	close(finish)
	<-a.works.ended
	if !done {
		t.Fatal("it waited for nothing")
	}
	if a.work(func() term.Msg { return "begun" })() != nil {
		t.Fatal("a write began after the screen ended")
	}
}
