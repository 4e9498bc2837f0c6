package library

import (
	"context"
	"errors"

	"gatehouse/core"
	"gatehouse/gatekeepers/kit"
	"gatehouse/skills"
)

// everything is the unit name of the whole library, which no collection can have.
const everything = "all collections"

const permission = "read"

// resource is the library narrowed to a place. All state is the shelf's.
type resource struct {
	*Driver
	place place
}

var (
	_ core.Resource = (*resource)(nil)
	_ core.Prefacer = (*resource)(nil)
)

// Key is of no journal: nothing is ever queued here.
func (r *resource) Key() string { return r.service + " " + r.place.String() }

func (r *resource) Unit() core.Found {
	if r.place.collection == "" {
		return core.Found{Unit: core.Unit{Gatekeeper: Kind, Service: r.service, Name: everything}, Permission: permission}
	}
	return r.found(r.place.collection)
}

func (r *resource) found(id skills.CollectionID) core.Found {
	return core.Found{Unit: core.Unit{Gatekeeper: Kind, Service: r.service, Name: string(id)}, Permission: permission}
}

func (r *resource) Covers(u core.Unit) bool {
	if u.Gatekeeper != Kind || u.Service != r.service || u.Name == "" {
		return false
	}
	return r.place.collection == "" || u.Name == string(r.place.collection)
}

func (r *resource) Operations() []core.Operation { return operations() }

// Extend adds nothing: there are no effects.
func (r *resource) Extend(i core.Intent, _ core.Journal) core.Intent { return i }

func (r *resource) Close() error { return nil }

// arguments are those of all operations.
type arguments struct {
	Query, Collection, Cursor, ID, Args string
	Limit, Offset                       *int
}

func parse(call core.Call) (a arguments, err error) {
	op, known := core.Manifest{Operations: operations()}.Operation(call.Method)
	if !known {
		return a, core.Invalid("%s: no such method", call.Method)
	}
	return a, kit.Decode(op, call.Args, &a)
}

func (a arguments) limit(otherwise int) int {
	if a.Limit == nil {
		return otherwise
	}
	return *a.Limit
}

func (a arguments) offset() int {
	if a.Offset == nil {
		return 0
	}
	return *a.Offset
}

// query is the query of a search.
func (a arguments) query() skills.Query {
	return skills.Query{Text: a.Query, Limit: a.limit(skills.DefaultSearchLimit)}
}

// Intend names the collection where the call does; a search and a list of all show which they met.
func (r *resource) Intend(call core.Call) (core.Intent, error) {
	a, err := parse(call)
	if err != nil {
		return core.Intent{}, err
	}
	var named skills.CollectionID
	switch call.Method {
	case opSearch:
		if _, err := skills.ParseQuery(a.query()); err != nil {
			return core.Intent{}, plain(err)
		}
	case opList:
		if n := a.limit(listLimit); n < 1 || n > skills.ListLimit {
			return core.Intent{}, core.Invalid("list: limit %d: a page holds 1 to %d", n, skills.ListLimit)
		}
		named = skills.CollectionID(a.Collection)
	case opRead, OpExpand:
		ref, err := skills.ParseRef(a.ID)
		if err != nil {
			return core.Intent{}, plain(err)
		}
		named = ref.Collection
	}
	if skills.CheckCollectionID(named) != nil || !r.within(named) {
		return core.Intent{}, nil // no collection is meant, or the read says that there is none
	}
	return core.Intent{Units: []core.Found{r.found(named)}}, nil
}

// within reports that a collection lies in the narrowing.
func (r *resource) within(id skills.CollectionID) bool {
	return r.place.collection == "" || id == r.place.collection
}

// Prepare refuses: there is no write.
func (r *resource) Prepare(_ context.Context, call core.Call, _ core.Journal) (core.Draft, error) {
	return core.Draft{}, core.Invalid("%s: not a write; publishing is for people, see gatehouse skills", call.Method)
}

// Current and Apply are never asked: no action is made here.
func (r *resource) Current(context.Context, core.Dispatch) (core.Current, error) {
	return core.Current{}, errNoActions
}

func (r *resource) Apply(context.Context, core.Dispatch) (core.Outcome, error) {
	return core.Outcome{}, core.NotSent(errNoActions)
}

var errNoActions = errors.New("the library carries no action out")

// plain turns a refusal of the library into the error of a call. What the shelf says otherwise stays unsaid: it may name
// what nobody here may know.
func plain(err error) error {
	var refused *skills.RefusedError
	switch {
	case errors.As(err, &refused):
		text := refused.Text
		if refused.Hint != "" {
			text += "; " + refused.Hint
		}
		return &core.CallError{Code: string(refused.Code), Text: text}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return &core.CallError{Code: codeUnavailable, Text: "library: cannot be read just now; try again"}
}

// codeUnavailable is for a library that cannot be read.
const codeUnavailable = "unavailable"
