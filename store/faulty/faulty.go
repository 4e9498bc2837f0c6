package faulty

import (
	"context"
	"sync"

	"gatehouse/core"
)

// Of is what a fault counts.
type Of int

// What is counted.
const (
	Transactions Of = iota
	Statements
)

func (o Of) String() string {
	if o == Statements {
		return "statement"
	}
	return "transaction"
}

// When is the side of its effect on which a call fails.
type When int

// The sides. The zero value lets nothing through.
const (
	Before When = iota
	After
)

func (w When) String() string {
	if w == After {
		return "after"
	}
	return "before"
}

// Fault says which call fails, and how. The zero value never does.
type Fault struct {
	Of    Of
	Call  int   // which, counted from 1; 0 is none
	Times int   // how many from there on; 0 is all
	When  When  // the side of its effect
	Err   error // what the call returns; nil is that of a context that was cancelled
}

// hits reports whether the nth call of a sort is one that fails.
func (f Fault) hits(of Of, n int) bool {
	return of == f.Of && f.Call > 0 && n >= f.Call && (f.Times == 0 || n < f.Call+f.Times)
}

// Store is a store whose calls fail as its fault says.
type Store struct {
	inside core.Store
	calls  *calls
}

var (
	_ core.Store = (*Store)(nil)
	_ core.View  = view{}
	_ core.Tx    = tx{}
)

// New wraps a store.
func New(inside core.Store, fault Fault) *Store {
	return &Store{inside, &calls{fault: fault, names: make(map[Of][]string)}}
}

// Calls lists what was called of a sort so far, in order: what a test enumerates.
func (s *Store) Calls(of Of) []string {
	s.calls.mu.Lock()
	defer s.calls.mu.Unlock()
	return append([]string(nil), s.calls.names[of]...)
}

// Write implements core.Store.
func (s *Store) Write(ctx context.Context, fn func(core.Tx) error) error {
	return s.calls.do(Transactions, "Write", func() error {
		return s.inside.Write(ctx, func(t core.Tx) error {
			return fn(tx{view{t, s.calls}, changes{plain{t}, s.calls}})
		})
	})
}

// Read implements core.Store.
func (s *Store) Read(ctx context.Context, fn func(core.View) error) error {
	return s.calls.do(Transactions, "Read", func() error {
		return s.inside.Read(ctx, func(v core.View) error { return fn(view{v, s.calls}) })
	})
}

// tx is a transaction whose statements are counted. A method of View that view.go does not have is found there, and not
// in the transaction inside, which lies one level deeper.
type tx struct {
	view
	changes
}

type plain struct{ core.Tx }

// calls counts, over all goroutines.
type calls struct {
	fault Fault
	mu    sync.Mutex
	names map[Of][]string
}

// do counts a call, and runs it unless it fails before its effect.
func (c *calls) do(of Of, name string, call func() error) error {
	c.mu.Lock()
	c.names[of] = append(c.names[of], name)
	hit := c.fault.hits(of, len(c.names[of]))
	c.mu.Unlock()
	if !hit {
		return call()
	}
	if c.fault.When == After {
		if err := call(); err != nil {
			return err // no effect: there is nothing to lose the answer of
		}
	}
	if c.fault.Err == nil {
		return context.Canceled
	}
	return c.fault.Err
}

// one is do of a statement with a result, which is lost with its answer.
func one[A any](c *calls, name string, ask func() (A, error)) (A, error) {
	var a, none A
	err := c.do(Statements, name, func() (err error) {
		a, err = ask()
		return err
	})
	if err != nil {
		return none, err
	}
	return a, nil
}

// two is one for two results.
func two[A, B any](c *calls, name string, ask func() (A, B, error)) (A, B, error) {
	var a, noA A
	var b, noB B
	err := c.do(Statements, name, func() (err error) {
		a, b, err = ask()
		return err
	})
	if err != nil {
		return noA, noB, err
	}
	return a, b, nil
}
