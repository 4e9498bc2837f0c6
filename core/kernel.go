package core

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sort"
	"sync"
	"time"
)

// DefaultCap is how many pending and claimed actions a binding may have (kernel R24).
const DefaultCap = 200

// Options are the parts that a kernel is made of. Store, Clock, Rand and Alive are required.
type Options struct {
	Store       Store
	Gatekeepers []Gatekeeper
	Clock       Clock
	Rand        Rand
	Alive       Alive
	Egress      Egress  // nil is AllowAll
	Fault       Fault   // nil is NoFault
	Checks      []Check // run after the narrowing
	Cap         int     // 0 is DefaultCap
	Budgets     []Budget
	Predicates  Predicates // nil refuses rules with a condition
	RequireKey  bool       // decisions need a terminal or an operator key (kernel R34)
	Log         *slog.Logger
	Anchors     Anchors // nil keeps none (kernel R33)

	// Scrub, if not nil, clears the file of the store of what its rows no longer hold.
	Scrub func(context.Context) error

	// Settings, if not nil, is asked each time instead of Cap and RequireKey: a person may change them meanwhile.
	Settings func() Settings

	// BaseDeadline is how long the base query of the next item may hold back the outcome of the last; 0 is 1 s (kernel R19).
	BaseDeadline time.Duration
}

// Settings are what a person may change while the program runs.
type Settings struct {
	Cap        int  // 0 is DefaultCap
	RequireKey bool // kernel R34
}

// Kernel decides. Its methods may be called from several goroutines; every command is one transaction, or, where an
// effect lies between, two.
type Kernel struct {
	store        Store
	gatekeepers  map[string]Gatekeeper
	kinds        map[string]map[string]ActionKind // by gatekeeper and name: what drafts are held against
	clock        Clock
	rand         Rand
	alive        Alive
	egress       Egress
	fault        Fault
	checks       []Check
	settings     func() Settings
	budgets      []Budget
	predicates   Predicates
	log          *slog.Logger
	anchors      Anchors
	scrub        func(context.Context) error
	baseDeadline time.Duration

	kept kept

	mu        sync.Mutex
	resources map[resourceKey]Resource
}

type resourceKey struct {
	connection ConnectionID
	url        string
}

// New validates every manifest (kernel R15) and makes a kernel. It starts nothing.
func New(o Options) (*Kernel, error) {
	if o.Store == nil || o.Clock == nil || o.Rand == nil || o.Alive == nil {
		return nil, errors.New("kernel: store, clock, rand and alive are required")
	}
	k := &Kernel{
		store: o.Store, gatekeepers: make(map[string]Gatekeeper, len(o.Gatekeepers)),
		kinds: make(map[string]map[string]ActionKind, len(o.Gatekeepers)),
		clock: o.Clock, rand: o.Rand, alive: o.Alive, egress: o.Egress, fault: o.Fault,
		settings: o.Settings, budgets: o.Budgets, predicates: o.Predicates, anchors: o.Anchors, scrub: o.Scrub,
		log: o.Log, baseDeadline: o.BaseDeadline, resources: make(map[resourceKey]Resource),
	}
	k.checks = append([]Check{narrowing{}, latchCheck{o.Store}, peopleCheck{k}}, o.Checks...)
	if k.egress == nil {
		k.egress = AllowAll{}
	}
	if k.fault == nil {
		k.fault = NoFault{}
	}
	if k.settings == nil {
		k.settings = func() Settings { return Settings{Cap: o.Cap, RequireKey: o.RequireKey} }
	}
	if k.log == nil {
		k.log = slog.New(slog.DiscardHandler)
	}
	if k.baseDeadline == 0 {
		k.baseDeadline = time.Second
	}
	var faults []error
	for _, g := range o.Gatekeepers {
		m := g.Manifest()
		if err := m.Validate(); err != nil {
			faults = append(faults, err)
		}
		if _, taken := k.gatekeepers[m.Kind]; taken {
			faults = append(faults, fmt.Errorf("gatekeeper %s: registered twice", m.Kind))
		}
		k.gatekeepers[m.Kind] = g
		k.kinds[m.Kind] = make(map[string]ActionKind, len(m.Kinds))
		for _, kind := range m.Kinds {
			k.kinds[m.Kind][kind.Name] = kind
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return k, nil
}

// Close releases what drivers hold open. The store is the caller's.
func (k *Kernel) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	var faults []error
	for key, r := range k.resources {
		faults = append(faults, r.Close())
		delete(k.resources, key)
	}
	return errors.Join(faults...)
}

// openCap is how many pending and claimed actions a binding may have now (kernel R24).
func (k *Kernel) openCap() int {
	if limit := k.settings().Cap; limit > 0 {
		return limit
	}
	return DefaultCap
}

// Manifests lists what the drivers say of themselves, by kind.
func (k *Kernel) Manifests() []Manifest {
	out := make([]Manifest, 0, len(k.gatekeepers))
	for _, g := range k.gatekeepers {
		out = append(out, g.Manifest())
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Kind < out[j].Kind })
	return out
}

// resource opens a binding's resource, once for each connection and URL.
func (k *Kernel) resource(ctx context.Context, connection Connection, url string) (Resource, error) {
	key := resourceKey{connection.ID, url}
	k.mu.Lock()
	r, found := k.resources[key]
	k.mu.Unlock()
	if found {
		return r, nil
	}
	g, known := k.gatekeepers[connection.Kind]
	if !known {
		return nil, notFound("gatekeeper", connection.Kind, "this program has no driver of that kind")
	}
	r, err := openGuarded(ctx, g, connection, url)
	if err != nil {
		return nil, err
	}
	if faults := validateOperations(connection.Kind, r.Operations(), g.Manifest().Kinds); len(faults) > 0 {
		return nil, errors.Join(append(faults, r.Close())...)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if first, raced := k.resources[key]; raced {
		return first, r.Close()
	}
	k.resources[key] = r
	return r, nil
}

// randomID is a short id that is not repeated.
func (k *Kernel) randomID(prefix string) (string, error) {
	var raw [8]byte
	if _, err := k.rand.Read(raw[:]); err != nil {
		return "", fmt.Errorf("random id: %w", err)
	}
	return prefix + hex.EncodeToString(raw[:]), nil
}

// NotFoundError says what does not exist. It matches ErrNotFound.
type NotFoundError struct {
	What string
	Name string
	Hint string
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("%s %q: not found", e.What, e.Name) }

// Is makes it match ErrNotFound.
func (e *NotFoundError) Is(target error) bool { return target == ErrNotFound }

func notFound(what, name, hint string) error {
	return &NotFoundError{What: what, Name: name, Hint: hint}
}
