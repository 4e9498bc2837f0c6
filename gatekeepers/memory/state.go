package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"gatehouse/core"
)

// Effect is one action that the service carried out, in order: what tests count to find an effect made twice or lost.
type Effect struct {
	Action core.ActionID `json:"action"`
	Kind   string        `json:"kind"`
	Target string        `json:"target"` // real, as it is after the effect
	At     time.Time     `json:"at"`
}

// state is the whole service. In a file it is this JSON; a file written by hand needs collections alone.
type state struct {
	Collections map[string]map[string]Item `json:"collections"`
	Effects     []Effect                   `json:"effects"`
	Counts      map[string]int             `json:"counts"` // calls by place, for "the Nth time"
	NextID      int64                      `json:"next_id"`
	Rev         int64                      `json:"rev"`
	Stranger    int64                      `json:"stranger"` // changes made behind our back
}

func newState(seed int) *state {
	s := &state{Collections: make(map[string]map[string]Item), Counts: make(map[string]int)}
	for n := 1; n <= seed; n++ {
		s.put(fmt.Sprintf("notes/item-%d", n), Item{
			Title: fmt.Sprintf("Note %d", n), Body: fmt.Sprintf("Body of note %d.\n", n), Seq: int64(n),
		})
	}
	s.NextID = int64(seed)
	return s
}

func split(target string) (collection, id string) {
	collection, id, _ = strings.Cut(target, "/")
	return collection, id
}

func (s *state) item(target string) (Item, bool) {
	collection, id := split(target)
	item, there := s.Collections[collection][id]
	item.Collection, item.ID = collection, id
	return item.clone(), there
}

func (s *state) put(target string, item Item) {
	collection, id := split(target)
	if s.Collections[collection] == nil {
		s.Collections[collection] = make(map[string]Item)
	}
	s.Rev++
	item.Collection, item.ID, item.Rev = collection, id, s.Rev
	s.Collections[collection][id] = item.clone()
}

func (s *state) move(from, to string, item Item) {
	s.remove(from)
	s.put(to, item)
}

func (s *state) remove(target string) {
	collection, id := split(target)
	delete(s.Collections[collection], id)
	s.Rev++
}

// each visits every item below a prefix, in no order.
func (s *state) each(prefix string, fn func(target string, item Item)) {
	for collection, items := range s.Collections {
		for id := range items {
			if target := collection + "/" + id; strings.HasPrefix(target, prefix) {
				item, _ := s.item(target)
				fn(target, item)
			}
		}
	}
}

// backing is where the state lives. Within fn the state is the caller's alone; an error of update keeps it as it was.
type backing interface {
	update(fn func(*state) error) error
}

// process keeps the state in this process.
type process struct {
	mu    sync.Mutex
	state *state
}

// update trusts that fn changes nothing when it fails.
func (p *process) update(fn func(*state) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fn(p.state)
}

// file keeps the state in a file that processes share under a lock beside it. It is replaced whole, so that a process
// that is killed leaves the old state or the new one.
type file struct {
	path string
	seed int
	mu   sync.Mutex // flock does not keep threads of one process apart
}

func (f *file) update(fn func(*state) error) (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	lock, err := os.OpenFile(f.path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }() // closing gives the lock back
	for {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	before, s, err := f.load()
	if err != nil {
		return err
	}
	if err := fn(s); err != nil {
		return err
	}
	return f.save(before, s)
}

func (f *file) load() (string, *state, error) {
	raw, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", newState(f.seed), nil
	}
	if err != nil {
		return "", nil, err
	}
	s := newState(0)
	if err := json.Unmarshal(raw, s); err != nil {
		return "", nil, fmt.Errorf("%s: not a service of this driver: %w", f.path, err)
	}
	return string(raw), s, nil
}

func (f *file) save(before string, s *state) error {
	raw, err := json.MarshalIndent(s, "", "\t")
	if err != nil {
		return err
	}
	if string(raw) == before {
		return nil
	}
	next, err := os.CreateTemp(filepath.Dir(f.path), filepath.Base(f.path)+".*")
	if err != nil {
		return err
	}
	_, err = next.Write(raw)
	if err = errors.Join(err, next.Close()); err == nil {
		err = os.Rename(next.Name(), f.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return nil
}
