package memory

import (
	"context"
	"fmt"
	"sync"

	"gatehouse/core"
	"gatehouse/gatekeepers/kit"
)

// Driver is the gatekeeper. Services that live in the process live as long as it does.
type Driver struct {
	mu       sync.Mutex
	services map[string]*Service // by resource key
	access   *access
}

// New makes a driver without services; a service is made when it is first named.
func New() *Driver {
	return &Driver{services: make(map[string]*Service), access: &access{
		strategy: core.StrategyPublic, verdicts: make(map[reader]core.Access), ownerOnly: make(map[core.Unit]bool), asked: make(map[string]int),
	}}
}

// Manifest is the same at every call.
func (d *Driver) Manifest() core.Manifest {
	m := manifest()
	m.Observers = d.access.strategy
	return m
}

// Normalize prints a binding URL in its canonical form.
func (d *Driver) Normalize(url string) (string, error) {
	a, err := parseAddress(url)
	if err != nil {
		return "", err
	}
	return a.String(), nil
}

// Connect describes the connection that a URL needs: one service.
func (d *Driver) Connect(_ context.Context, url string) (core.Connection, error) {
	a, err := parseAddress(url)
	if err != nil {
		return core.Connection{}, err
	}
	return core.Connection{Kind: Kind, Name: a.service, Service: a.service, Root: a.file}, nil
}

// Open narrows a connection to a URL.
func (d *Driver) Open(_ context.Context, connection core.Connection, url string) (core.Resource, error) {
	a, err := parseAddress(url)
	if err != nil {
		return nil, err
	}
	if connection.Kind != Kind || connection.Service != a.service || connection.Root != a.file {
		return nil, fmt.Errorf("memory URL %q: is not within the connection to %s", url, connection.Service)
	}
	items := &items{address: a, service: d.service(a), access: d.access, operations: operations()}
	if a.native {
		return &resource{kit.Resource(&native{items}), items}, nil
	}
	return &resource{kit.Resource(items), items}, nil
}

// Service is the service behind a binding URL, for tests; it is made where it does not exist yet.
func (d *Driver) Service(url string) (*Service, error) {
	a, err := parseAddress(url)
	if err != nil {
		return nil, err
	}
	return d.service(a), nil
}

func (d *Driver) service(a address) *Service {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := a.key()
	if s, known := d.services[key]; known {
		return s
	}
	s := &Service{name: a.service, calls: make(map[string]int)}
	if a.file != "" {
		s.backing = &file{path: a.file, seed: a.seed}
	} else {
		s.backing = &process{state: newState(a.seed)}
	}
	d.services[key] = s
	return s
}

// key is shared by all bindings to one service, narrowed or not.
func (a address) key() string {
	if a.file == "" {
		return Kind + ":" + a.service
	}
	return Kind + ":" + a.service + ":" + kit.Version(a.file)
}

// Unit is the unit of a collection, so that a test can refuse or expect it.
func Unit(service, collection string) core.Unit {
	return core.Unit{Gatekeeper: Kind, Service: service, Name: collection}
}
