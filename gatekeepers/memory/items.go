package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"gatehouse/core"
	"gatehouse/gatekeepers/kit"
)

// items is the driver in the overlay form: one service, narrowed or not.
type items struct {
	address    address
	service    *Service
	access     *access
	operations []core.Operation
}

var _ kit.Driver[Item] = (*items)(nil)

// wholeService names the unit of an unnarrowed binding; no collection can have this name.
const wholeService = "*"

// Key selects the journal.
func (i *items) Key() string { return i.address.key() }

// Unit is the collection, or all of them.
func (i *items) Unit() core.Found { return i.found(i.address.collection) }

// Covers keeps to the narrowing.
func (i *items) Covers(u core.Unit) bool {
	if u.Gatekeeper != Kind || u.Service != i.address.service {
		return false
	}
	return i.address.collection == "" || u.Name == i.address.collection
}

// Operations are the manifest's.
func (i *items) Operations() []core.Operation { return i.operations }

// Close gives nothing back.
func (i *items) Close() error { return nil }

// References are where ids stand in arguments and payloads.
func (i *items) References() []string { return []string{"id"} }

// UnitOf is the collection of a target or a prefix.
func (i *items) UnitOf(target string) core.Found {
	collection, _ := split(target)
	return i.found(collection)
}

func (i *items) found(collection string) core.Found {
	if collection == "" {
		collection = wholeService
	}
	unit := Unit(i.address.service, collection)
	return core.Found{Unit: unit, Permission: "read", OwnerOnly: i.access.onlyOwner(unit)}
}

// Fetch reads one item.
func (i *items) Fetch(ctx context.Context, target string) (kit.Object[Item], error) {
	var object kit.Object[Item]
	err := i.ask(ctx, target, func(st *state) error {
		item, there := st.item(target)
		if !there {
			return core.ErrNotFound
		}
		object = kit.Object[Item]{Target: target, Value: item, Version: item.version()}
		return nil
	})
	return object, err
}

// Scan reads everything below a prefix, within the narrowing.
func (i *items) Scan(ctx context.Context, prefix string) ([]kit.Object[Item], error) {
	var objects []kit.Object[Item]
	err := i.ask(ctx, prefix, func(st *state) error {
		st.each(prefix, func(target string, item Item) {
			if i.Covers(i.UnitOf(target).Unit) {
				objects = append(objects, kit.Object[Item]{Target: target, Value: item, Version: item.version()})
			}
		})
		return nil
	})
	return objects, err
}

// ask is one call to the service that reads.
func (i *items) ask(ctx context.Context, what string, fn func(*state) error) error {
	i.service.count("fetch")
	if err := i.service.at(ctx, PointFetch, what); err != nil {
		return err
	}
	if err := pause(ctx, i.address.latency); err != nil {
		return err
	}
	if err := i.service.backing.update(fn); err != nil && !errors.Is(err, core.ErrNotFound) {
		return err
	} else if hooked := i.service.at(ctx, PointFetched, what); hooked != nil {
		return hooked
	} else {
		return err
	}
}

// Show is what callers see of an item.
func (i *items) Show(item Item) any { return item.show() }

// Sources are what a change has to look at.
func (i *items) Sources(e core.Effect) []string {
	c, err := i.read(e.Payload)
	if err != nil || e.Kind == kindCreate {
		return nil
	}
	if e.Kind == kindMove {
		return []string{c.target(), c.goal()}
	}
	return []string{c.target()}
}

// read refuses the payload of another service (K59).
func (i *items) read(payload json.RawMessage) (change, error) {
	var c change
	if err := json.Unmarshal(payload, &c); err != nil {
		return c, core.Invalid("memory: payload cannot be read")
	}
	if c.Service != i.address.service {
		return c, kit.Conflict("memory: payload belongs to another service")
	}
	return c, nil
}

// simulatedSeq puts items that do not exist yet behind all that do, in the order of their actions.
const simulatedSeq = 1 << 40

// Project carries a pending change out on a view.
func (i *items) Project(e core.Effect, view *kit.View[Item]) error {
	c, err := i.read(e.Payload)
	if err != nil {
		return err
	}
	if i.fails(e.Kind, FailProject) && e.Action != 0 {
		return kit.Conflict("%s cannot be simulated", e.Kind)
	}
	id := ""
	if e.Kind == kindCreate {
		if len(e.Provides) != 1 {
			return core.Invalid("memory: a create provides one id")
		}
		id = e.Provides[0]
	}
	return carryOut(viewTable{view}, e.Kind, c, id, simulatedSeq+int64(e.Action), e.CreatedAt)
}

// fails looks for a mode without counting.
func (i *items) fails(where string, mode Mode) bool {
	for _, f := range i.address.failures {
		if f.mode == mode && f.matches(where, 0) {
			return true
		}
	}
	return false
}

// viewTable lets carryOut work on a view.
type viewTable struct{ view *kit.View[Item] }

func (t viewTable) item(target string) (Item, bool) { return t.view.Value(target) }
func (t viewTable) put(target string, item Item)    { t.view.Set(target, item) }
func (t viewTable) remove(target string)            { t.view.Remove(target) }
func (t viewTable) move(from, to string, item Item) {
	t.view.SetFrom(to, item, from)
	t.view.Remove(from)
}

// Parse says what a call means.
func (i *items) Parse(call core.Call) (kit.Request[Item], error) {
	op, known := core.Manifest{Operations: i.operations}.Operation(call.Method)
	if !known {
		return kit.Request[Item]{}, core.Invalid("memory: no method %q", call.Method)
	}
	var a arguments
	if err := kit.Decode(op, call.Args, &a); err != nil {
		return kit.Request[Item]{}, err
	}
	if a.Collection == "" {
		a.Collection = i.address.collection
	}
	if a.Collection == "" && op.Name != "search" {
		return kit.Request[Item]{}, core.Invalid("%s: name the collection; the binding is to the whole service", op.Name)
	}
	for name, word := range map[string]string{"collection": a.Collection, "id": a.ID, "to": a.To, "to_collection": a.ToCollection} {
		if word != "" && !isName(word) && !(name == "id" && core.Provisional(word)) {
			return kit.Request[Item]{}, core.Invalid("%s: %s %q must be letters, digits, '.', '_', '-', 64 at most", op.Name, name, word)
		}
	}
	switch {
	case op.Name == "get":
		return kit.Request[Item]{Target: a.Collection + "/" + a.ID}, nil
	case op.IsRead():
		scope, err := a.scope(op)
		return kit.Request[Item]{Scope: scope}, err
	default:
		write, err := i.write(op, a, call.Next)
		return kit.Request[Item]{Write: write}, err
	}
}

// arguments of all methods; kit.Decode lets through what the method declares.
type arguments struct {
	Collection   string   `json:"collection"`
	ID           string   `json:"id"`
	Status       *string  `json:"status"`
	Label        string   `json:"label"`
	Sort         string   `json:"sort"`
	Limit        int      `json:"limit"`
	Cursor       string   `json:"cursor"`
	Query        string   `json:"query"`
	Title        *string  `json:"title"`
	Body         *string  `json:"body"`
	Labels       []string `json:"labels"`
	Text         string   `json:"text"`
	To           string   `json:"to"`
	ToCollection string   `json:"to_collection"`
	Amount       int64    `json:"amount"`
}

func (a arguments) scope(op core.Operation) (*kit.Scope[Item], error) {
	scope := &kit.Scope[Item]{Limit: a.Limit, Cursor: a.Cursor, Compare: bySeq}
	if a.Collection != "" {
		scope.Prefix = a.Collection + "/"
	}
	if a.Limit < 0 || a.Limit > kit.DefaultLimit {
		return nil, core.Invalid("%s: limit %d is not from 1 to %d", op.Name, a.Limit, kit.DefaultLimit)
	}
	switch a.Sort {
	case "", "created":
	case "title":
		scope.Compare = byTitle
	default:
		return nil, core.Invalid("%s: sort %q is neither created nor title", op.Name, a.Sort)
	}
	if op.Name == "search" && strings.TrimSpace(a.Query) == "" {
		return nil, core.Invalid("search: query is empty; give words to look for")
	}
	scope.Keep = func(item Item) bool {
		return (a.Status == nil || item.status() == *a.Status) && (a.Label == "" || hasLabel(item, a.Label)) &&
			(a.Query == "" || item.contains(a.Query))
	}
	return scope, nil
}

// write turns arguments into the change, and says what it touches and sends.
func (i *items) write(op core.Operation, a arguments, next int) (*kit.Write[Item], error) {
	c := change{
		Service: i.address.service, Collection: a.Collection, ID: a.ID, Title: a.Title, Body: a.Body, Status: a.Status,
		Labels: a.Labels, Text: a.Text, Label: a.Label, To: a.To, ToCollection: a.ToCollection, Amount: a.Amount,
	}
	switch op.Name {
	case kindUpdate:
		if a.Title == nil && a.Body == nil && a.Status == nil {
			return nil, core.Invalid("update: nothing to change; give title, body or status")
		}
		if a.Status != nil && *a.Status != "open" && *a.Status != "closed" {
			return nil, core.Invalid("update: status %q is neither open nor closed", *a.Status)
		}
	case kindMove:
		if c.ToCollection == "" {
			c.ToCollection = c.Collection
		}
	case kindCharge:
		if c.Amount < 1 || c.Amount > 1000000 {
			return nil, core.Invalid("charge: amount %d is not from 1 to 1000000", c.Amount)
		}
	}
	w := i.described(op.Name, c)
	w.Lane, w.LaneReason, w.AutoApprovable = op.Lanes[0], op.AwaitReason, op.Lanes[0] == core.LaneSimulate
	if op.Name == kindCreate {
		id := fmt.Sprintf("~%d", next)
		w.Targets, w.Provides, w.Answer = []string{c.Collection + "/" + id}, []string{id}, c.Collection+"/"+id
		w.Title = fmt.Sprintf("create %q in %s", *a.Title, c.Collection)
	}
	return w, nil
}

// described is a change as the write that makes it, in the simulate lane.
func (i *items) described(kind string, c change) *kit.Write[Item] {
	w := &kit.Write[Item]{
		Kind: kind, Lane: core.LaneSimulate, Payload: c, Targets: []string{c.target()}, Answer: c.target(),
		Title: strings.ReplaceAll(kind, "_", " ") + " " + c.target(), Revertible: revertible(kind),
		Irreversible: kind == kindPublish, CostsMoney: kind == kindCharge, AutoApprovable: true,
	}
	switch kind {
	case kindMove:
		w.Targets, w.Provides, w.Answer = append(w.Targets, c.goal()), []string{c.goal()}, c.goal()
		w.Title += " to " + c.goal()
	case kindRestore:
		w.Provides = []string{c.target()}
	}
	w.Fields = func(view *kit.View[Item]) []core.Field { return fields(kind, c, view) }
	return w
}

// fields show everything that will be sent, beside what is there now (GK4, GK5).
func fields(kind string, c change, view *kit.View[Item]) []core.Field {
	before, _ := view.Before(c.target())
	var list []core.Field
	given := func(name string, was string, is *string) {
		if is != nil {
			list = append(list, kit.Field(name, was, *is))
		}
	}
	switch kind {
	case kindCreate:
		return []core.Field{
			kit.Field("collection", nil, c.Collection), kit.Field("title", nil, text(c.Title)),
			kit.Field("body", nil, text(c.Body)), kit.Field("labels", nil, sorted(c.Labels)),
		}
	case kindUpdate:
		given("title", before.Title, c.Title)
		given("body", before.Body, c.Body)
		given("status", before.status(), c.Status)
	case kindAppend:
		return []core.Field{kit.Field("text", nil, c.Text)}
	case kindAddLabel:
		return []core.Field{kit.Field("label", nil, c.Label)}
	case kindRemoveLabel:
		return []core.Field{kit.Field("label", c.Label, nil)}
	case kindMove:
		return []core.Field{kit.Field("collection", c.Collection, c.ToCollection), kit.Field("id", c.ID, c.To)}
	case kindDelete:
		return []core.Field{kit.Field("title", before.Title, nil), kit.Field("body", before.Body, nil)}
	case kindPublish:
		return []core.Field{kit.Field("status", before.status(), "published")}
	case kindCharge:
		return []core.Field{kit.Field("amount", nil, c.Amount)}
	case kindRestore:
		_, there := view.Before(c.target())
		return restoreFields(before, there, *c.Whole)
	}
	return list
}

func restoreFields(before Item, there bool, after Item) []core.Field {
	was := func(v any) any {
		if !there {
			return nil
		}
		return v
	}
	return []core.Field{
		kit.Field("title", was(before.Title), after.Title), kit.Field("body", was(before.Body), after.Body),
		kit.Field("labels", was(before.show().Labels), after.show().Labels), kit.Field("status", was(before.status()), after.status()),
		kit.Field("charged", was(before.Charged), after.Charged), kit.Field("created_at", was(before.CreatedAt), after.CreatedAt),
		kit.Field("updated_at", was(before.UpdatedAt), after.UpdatedAt), kit.Field("place", was(before.Seq), after.Seq),
	}
}
