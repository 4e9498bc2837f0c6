package store

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
)

// asked is a context that tells when someone begins to wait for its end.
type asked struct {
	context.Context
	once    sync.Once
	waiting chan struct{}
}

func (a *asked) Done() <-chan struct{} {
	a.once.Do(func() { close(a.waiting) })
	return a.Context.Done()
}

// A wait that is given up goes on in the system; it must neither keep the lock nor take it from the next wait.
func TestWaitThatIsGivenUpTakesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	holder, waiter := &sideLock{path: path}, &sideLock{path: path}
	defer holder.close()
	defer waiter.close()
	if err := holder.acquire(background); err != nil {
		t.Fatal(err)
	}
	inner, cancel := context.WithCancel(background)
	ctx := &asked{Context: inner, waiting: make(chan struct{})}
	result := make(chan error, 1)
	go func() { result <- waiter.acquire(ctx) }()
	<-ctx.waiting
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want the context's error", err)
	}
	go func() { result <- waiter.acquire(background) }()
	holder.release()
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	for range 100 { // each takes turns with the other while the old wait comes to its end
		waiter.release()
		if err := holder.acquire(background); err != nil {
			t.Fatal(err)
		}
		holder.release()
		if err := waiter.acquire(background); err != nil {
			t.Fatal(err)
		}
	}
}
