package memory

import (
	"context"
	"sync"

	"gatehouse/core"
)

// access is who may read what, as tests say.
type access struct {
	mu        sync.Mutex
	strategy  core.Strategy
	verdicts  map[reader]core.Access
	ownerOnly map[core.Unit]bool
	asked     map[string]int
}

type reader struct {
	person core.PersonID
	unit   core.Unit
}

// NewObserved makes a driver with a strategy of its own; New makes one that everybody may read.
func NewObserved(strategy core.Strategy) *Driver {
	d := New()
	d.access.strategy = strategy
	return d
}

// SetAccess says what comes of asking whether a person may read a unit; unsaid is AccessDenied.
func (d *Driver) SetAccess(person core.PersonID, unit core.Unit, verdict core.Access) {
	d.access.mu.Lock()
	defer d.access.mu.Unlock()
	d.access.verdicts[reader{person, unit}] = verdict
}

// SetOwnerOnly makes a unit one that only the owner of a session may ever see.
func (d *Driver) SetOwnerOnly(unit core.Unit) {
	d.access.mu.Lock()
	defer d.access.mu.Unlock()
	d.access.ownerOnly[unit] = true
}

// Asked says how often a question was put: "admits" from the owner's side, "reaches" with somebody's own connection.
func (d *Driver) Asked(what string) int {
	d.access.mu.Lock()
	defer d.access.mu.Unlock()
	return d.access.asked[what]
}

// Admits implements core.AccessChecker. An account of the people map stands in the place of the person.
func (d *Driver) Admits(_ context.Context, _ core.Connection, unit core.Unit, who core.Observer) core.AccessCheck {
	person := who.Person
	if who.Account != "" {
		person = core.PersonID(who.Account)
	}
	return d.access.verdict("admits", person, unit)
}

// Reaches implements core.AccessChecker: a connection reads what its owner may.
func (d *Driver) Reaches(_ context.Context, own core.Connection, unit core.Unit, _ string) core.AccessCheck {
	return d.access.verdict("reaches", own.Owner, unit)
}

func (a *access) verdict(what string, person core.PersonID, unit core.Unit) core.AccessCheck {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked[what]++
	verdict, said := a.verdicts[reader{person, unit}]
	if !said {
		verdict = core.AccessDenied
	}
	return core.AccessCheck{Access: verdict, Reason: "the service says so"}
}

func (a *access) onlyOwner(unit core.Unit) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ownerOnly[unit]
}

var _ core.AccessChecker = (*Driver)(nil)
