package memory

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"gatehouse/core"
)

// slowness is how long FailSlow takes.
const slowness = 50 * time.Millisecond

// Point is a moment in a call at which a test can step in.
type Point string

// The points. What is a target, a prefix or an action kind.
const (
	PointFetch   Point = "fetch"   // before items are read; what is a target or a prefix
	PointFetched Point = "fetched" // items were read, nothing was replayed over them yet
	PointCurrent Point = "current" // before the base is asked for; what is the action kind
	PointSend    Point = "send"    // before an effect; what is the action kind
	PointSent    Point = "sent"    // after it, before the answer
)

// Hook steps in at a point; an error there is what the call returns. It runs outside of every lock, so that it may
// change the service, block, or call the kernel.
type Hook func(ctx context.Context, point Point, what string) error

// Service is the service behind bindings of one name, as a test sees it.
type Service struct {
	name    string
	backing backing

	mu    sync.Mutex
	calls map[string]int
	hook  Hook
}

// SetHook replaces the hook; nil removes it.
func (s *Service) SetHook(hook Hook) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hook = hook
}

// Block makes the next call that reaches a point wait there, once: entered is closed when it has, and release lets it go on.
func (s *Service) Block(point Point) (entered <-chan struct{}, release func()) {
	in, out := make(chan struct{}), make(chan struct{})
	var once, free sync.Once
	s.SetHook(func(ctx context.Context, at Point, _ string) error {
		var err error
		if at == point {
			once.Do(func() {
				close(in)
				select {
				case <-out:
				case <-ctx.Done():
					err = ctx.Err()
				}
			})
		}
		return err
	})
	return in, func() { free.Do(func() { close(out) }) }
}

// at runs the hook.
func (s *Service) at(ctx context.Context, point Point, what string) error {
	s.mu.Lock()
	hook := s.hook
	s.mu.Unlock()
	if hook == nil {
		return nil
	}
	return hook(ctx, point, what)
}

// count notes a call in this process.
func (s *Service) count(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[what]++
}

// Calls says how often this process asked the service, by "fetch", "current:KIND", "send:KIND"; a what that ends in
// ":" adds up all that begin so, and "" adds up everything.
func (s *Service) Calls(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for name, count := range s.calls {
		if name == what || what == "" || (strings.HasSuffix(what, ":") && strings.HasPrefix(name, what)) {
			n += count
		}
	}
	return n
}

// Put makes or replaces an item at "COLLECTION/ID" behind everybody's back.
func (s *Service) Put(target string, item Item) error {
	return s.backing.update(func(st *state) error {
		if _, there := st.item(target); !there && item.Seq == 0 {
			st.NextID++
			item.Seq = st.NextID
		}
		st.Stranger++
		st.put(target, item)
		return nil
	})
}

// Remove deletes an item behind everybody's back.
func (s *Service) Remove(target string) error {
	return s.backing.update(func(st *state) error {
		st.Stranger++
		st.remove(target)
		return nil
	})
}

// Item reads an item as the service has it; core.ErrNotFound where there is none.
func (s *Service) Item(target string) (Item, error) {
	var found Item
	err := s.backing.update(func(st *state) error {
		item, there := st.item(target)
		if !there {
			return core.ErrNotFound
		}
		found = item
		return nil
	})
	return found, err
}

// Items lists a collection in order of creation.
func (s *Service) Items(collection string) ([]Item, error) {
	var items []Item
	err := s.backing.update(func(st *state) error {
		st.each(collection+"/", func(_ string, item Item) { items = append(items, item) })
		return nil
	})
	slices.SortFunc(items, bySeq)
	return items, err
}

// Effects lists what was carried out, in order.
func (s *Service) Effects() ([]Effect, error) {
	var effects []Effect
	err := s.backing.update(func(st *state) error {
		effects = slices.Clone(st.Effects)
		return nil
	})
	return effects, err
}

func bySeq(a, b Item) int {
	if a.Seq != b.Seq {
		return int(max(-1, min(1, a.Seq-b.Seq)))
	}
	return strings.Compare(a.target(), b.target())
}

func byTitle(a, b Item) int {
	if c := strings.Compare(a.Title, b.Title); c != 0 {
		return c
	}
	return bySeq(a, b)
}

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
