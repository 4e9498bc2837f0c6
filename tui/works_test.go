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
	waited := make(chan struct{})
	go func() { a.works.wait(time.Minute); close(waited) }()
	select {
	case <-waited:
		t.Fatal("it did not wait")
	default:
	}
	close(finish)
	<-waited
	if !done {
		t.Fatal("it waited for nothing")
	}
	if a.work(func() term.Msg { return "begun" })() != nil {
		t.Fatal("a write began after the screen ended")
	}
}
