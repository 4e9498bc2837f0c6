package tui

import (
	"sync"
	"time"

	"gatehouse/tui/term"
)

// works are the writes that were begun and have not ended. A screen that ends
// begins no more, and waits a while for these: an outcome that is on its way is
// better stored than unknown.
type works struct {
	mu    sync.Mutex
	begun int
	ended chan struct{} // not nil once the screen ends; closed when nothing is left
}

func (w *works) begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended != nil {
		return false
	}
	w.begun++
	return true
}

func (w *works) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun--
	if w.begun == 0 && w.ended != nil {
		close(w.ended)
	}
}

// wait lets nothing begin any more and returns when nothing is left, or the
// time has passed. It is called once.
func (w *works) wait(most time.Duration) {
	w.mu.Lock()
	w.ended = make(chan struct{})
	if w.begun == 0 {
		close(w.ended)
	}
	w.mu.Unlock()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-w.ended:
	case <-timer.C:
	}
}

// work makes a Cmd of a write.
func (a *app) work(do func() term.Msg) term.Cmd {
	return func() term.Msg {
		if !a.works.begin() {
			return nil
		}
		defer a.works.end()
		return do()
	}
}
