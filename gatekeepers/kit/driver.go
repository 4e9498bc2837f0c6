package kit

import (
	"context"
	"encoding/json"

	"gatehouse/core"
)

// Driver is what a create/read/update/delete service has to provide in the overlay form. Its methods may be called
// from several goroutines at once. Targets, arguments and payloads reach it with bound provisional ids resolved.
type Driver[T any] interface {
	Key() string
	Unit() core.Found
	Covers(core.Unit) bool
	Operations() []core.Operation
	Close() error

	// References are the places in arguments and payloads that hold ids, as BindRefs reads them.
	References() []string

	// Parse decodes a call and says what it means. It asks no service; a fault is a *core.CallError.
	Parse(call core.Call) (Request[T], error)

	// UnitOf is the unit that a target belongs to. It must be cheap and know targets out of scope as well.
	UnitOf(target string) core.Found

	// Fetch reads one object; core.ErrNotFound where there is none. Scan reads all below a prefix.
	Fetch(ctx context.Context, target string) (Object[T], error)
	Scan(ctx context.Context, prefix string) ([]Object[T], error)

	// Project carries one effect out on the view and nowhere else. An error leaves the effect, and all behind it, a gap.
	// A target that was not looked at is not Known, and must not be taken for absent.
	Project(effect core.Effect, view *View[T]) error

	// Sources are the further targets that an effect has to look at to be projected: a move's source and its goal.
	Sources(effect core.Effect) []string

	// Show is the value of an object for the caller.
	Show(value T) any

	// Send carries out one action, once. Payload and base are resolved; what kit adds is the rest of core.Outcome's
	// versions: Send returns those of the targets as it knows them.
	Send(ctx context.Context, dispatch core.Dispatch) (core.Outcome, error)
}

// Native is a Driver that replays inside its own fetch.
type Native[T any] interface {
	Driver[T]

	// FetchWith reads what the selectors pick and carries the journal's effects out inside the fetch, through Replay.
	// The view holds the service's versions and the projected values.
	FetchWith(ctx context.Context, targets []core.Selector, journal core.Journal) (*View[T], Replayed, error)
}

// Finder is a Driver that can look for what an action created.
type Finder interface {
	Find(ctx context.Context, dispatch core.Dispatch) ([]core.Created, error)
}

// Object is one object as the service has it.
type Object[T any] struct {
	Target  string
	Value   T
	Version string // never empty
}

// Request is what a call means: exactly one of Target, Scope and Write is set.
type Request[T any] struct {
	Target string
	Scope  *Scope[T]
	Write  *Write[T]
}

// Scope is a read of many objects.
type Scope[T any] struct {
	Prefix  string           // "" is the whole resource
	Keep    func(T) bool     // nil keeps all
	Compare func(a, b T) int // nil sorts by target; ties go by target
	Limit   int              // objects a page, 0 is DefaultLimit
	Cursor  string
}

// DefaultLimit is how many objects a page holds where the caller does not say.
const DefaultLimit = 100

// Write is a write before it is a draft.
type Write[T any] struct {
	Kind       string
	Lane       core.Lane
	LaneReason string
	Title      string
	Payload    any      // becomes JSON; holds everything that Project and Send need
	Targets    []string // all it touches
	Provides   []string // what it creates: provisional ids, and targets that may be there already, which do not count then
	Answer     string   // the target whose value answers the call; where it is gone the answer is {"done": true}

	// Fields says what will be sent, given the view with the effect projected; View.Before tells what was.
	Fields func(view *View[T]) []core.Field

	Revertible     bool // undo data are the objects as they were
	Irreversible   bool
	CostsMoney     bool
	WidensTrust    bool
	AutoApprovable bool
}

// Field makes a field from two values that encode as JSON; nil is null.
func Field(name string, before, after any) core.Field {
	return core.Field{Name: name, Before: encode(before), After: encode(after)}
}

// encode is for values that are made here and always are JSON.
func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("kit: a value that is not JSON: " + err.Error())
	}
	return raw
}
