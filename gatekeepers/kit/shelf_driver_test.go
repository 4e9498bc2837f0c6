package kit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"gatehouse/core"
	"gatehouse/gatekeepers/kit"
)

// shelf is a whole driver of a service that keeps texts under names, with full simulation: the measure of GK11.
type shelf struct{ library *library }

var lanes = struct{ read, simulate []core.Lane }{[]core.Lane{core.LaneRead}, []core.Lane{core.LaneSimulate}}

func (d shelf) Manifest() core.Manifest {
	name := core.Param{Name: "name", Type: core.TypeString, About: "A name."}
	text := core.Param{Name: "text", Type: core.TypeString, About: "The text."}
	opt := func(n string, t core.ParamType) core.Param {
		return core.Param{Name: n, Type: t, Optional: true, About: "Optional."}
	}
	m := core.Manifest{Kind: "shelf", About: "Texts under names.", Forms: []string{"shelf://NAME"}, Observers: core.StrategyPrivate, Unpredictable: []string{"next"}, Local: true}
	for _, o := range []core.Operation{
		{Name: "list", About: "Lists texts.", Lanes: lanes.read, Params: []core.Param{opt("holds", core.TypeString), opt("limit", core.TypeInteger), opt("cursor", core.TypeString)}, Returns: "{items: [{name, text}], next?}", Depends: core.ReachAll, Observes: "the shelf"},
		{Name: "read", About: "Reads a text.", Lanes: lanes.read, Params: []core.Param{name}, Returns: "{name, text}", Depends: core.ReachExact, Observes: "the shelf"},
		{Name: "write", About: "Writes a text.", Lanes: lanes.simulate, Params: []core.Param{name, text}, Returns: "{name, text}", Kinds: []string{"write"}},
		{Name: "rename", About: "Renames a text.", Lanes: lanes.simulate, Params: []core.Param{name, {Name: "to", Type: core.TypeString, About: "The new name."}}, Returns: "{name, text}", Kinds: []string{"rename"}},
		{Name: "remove", About: "Removes a text.", Lanes: lanes.simulate, Params: []core.Param{name}, Returns: "{done}", Kinds: []string{"remove"}},
	} {
		m.Operations = append(m.Operations, o)
		for _, k := range o.Kinds {
			fields := []core.FieldDef{{Name: "name", Type: core.TypeString}, {Name: "text", Type: core.TypeString}}
			m.Kinds = append(m.Kinds, core.ActionKind{Name: k, Fields: fields, Revertible: []bool{true}, Irreversible: []bool{false}, CostsMoney: []bool{false}})
		}
	}
	return m
}

func (d shelf) Normalize(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || raw != "shelf://"+u.Host {
		return "", fmt.Errorf("shelf URL %q: use shelf://NAME", raw)
	}
	return raw, nil
}

func (d shelf) Connect(_ context.Context, raw string) (core.Connection, error) {
	raw, err := d.Normalize(raw)
	return core.Connection{Kind: "shelf", Name: raw, Service: strings.TrimPrefix(raw, "shelf://")}, err
}

func (d shelf) Open(_ context.Context, c core.Connection, raw string) (core.Resource, error) {
	if raw != "shelf://"+c.Service {
		return nil, fmt.Errorf("shelf URL %q: is not within the connection", raw)
	}
	return kit.Resource(&texts{d.library.shelf(c.Service), c.Service, d.Manifest().Operations}), nil
}

// texts is one shelf.
type texts struct {
	service    *shelfService
	name       string
	operations []core.Operation
}

// change is what every action sends.
type change struct{ Shelf, Name, To, Text string }

type arguments struct {
	Name, To, Text, Holds, Cursor string
	Limit                         int
}

func (t *texts) Key() string                  { return "shelf:" + t.name }
func (t *texts) Unit() core.Found             { return t.UnitOf("") }
func (t *texts) Covers(u core.Unit) bool      { return u == t.Unit().Unit }
func (t *texts) Operations() []core.Operation { return t.operations }
func (t *texts) Close() error                 { return nil }
func (t *texts) References() []string         { return nil }
func (t *texts) Show(e entry) any             { return e }

func (t *texts) UnitOf(string) core.Found {
	return core.Found{Unit: core.Unit{Gatekeeper: "shelf", Service: t.name, Name: "shelf"}, Permission: "read"}
}

func (t *texts) Parse(call core.Call) (kit.Request[entry], error) {
	var a arguments
	op, _ := core.Manifest{Operations: t.operations}.Operation(call.Method)
	if err := kit.Decode(op, call.Args, &a); err != nil {
		return kit.Request[entry]{}, err
	}
	switch op.Name {
	case "list":
		holds := func(e entry) bool { return strings.Contains(e.Text, a.Holds) }
		return kit.Request[entry]{Scope: &kit.Scope[entry]{Keep: holds, Limit: a.Limit, Cursor: a.Cursor}}, nil
	case "read":
		return kit.Request[entry]{Target: a.Name}, nil
	}
	w := kit.Write[entry]{
		Kind: op.Name, Lane: core.LaneSimulate, Title: op.Name + " " + a.Name, Payload: change{t.name, a.Name, a.To, a.Text},
		Targets: []string{a.Name}, Answer: a.Name, Revertible: true,
	}
	switch op.Name {
	case "write":
		w.Provides = []string{a.Name}
	case "rename":
		w.Targets, w.Provides, w.Answer = append(w.Targets, a.To), []string{a.To}, a.To
	}
	w.Fields = func(v *kit.View[entry]) []core.Field {
		was, _ := v.Before(a.Name)
		is, _ := v.Value(w.Answer)
		return []core.Field{kit.Field("name", was.Name, is.Name), kit.Field("text", was.Text, is.Text)}
	}
	return kit.Request[entry]{Write: &w}, nil
}

func (t *texts) Fetch(_ context.Context, target string) (kit.Object[entry], error) {
	e, version, there := t.service.read(target)
	if !there {
		return kit.Object[entry]{}, core.ErrNotFound
	}
	return kit.Object[entry]{Target: target, Value: e, Version: version}, nil
}

func (t *texts) Scan(ctx context.Context, _ string) (objects []kit.Object[entry], err error) {
	for _, name := range t.service.names() {
		if o, err := t.Fetch(ctx, name); err == nil {
			objects = append(objects, o)
		}
	}
	return objects, ctx.Err()
}

func (t *texts) Sources(e core.Effect) []string { return e.Targets }

func (t *texts) Project(e core.Effect, v *kit.View[entry]) error {
	var c change
	if json.Unmarshal(e.Payload, &c) != nil || c.Shelf != t.name {
		return kit.Conflict("it belongs to another shelf")
	}
	was, there := v.Value(c.Name)
	if e.Kind == "write" {
		v.Set(c.Name, entry{c.Name, c.Text})
		return nil
	}
	if !there {
		return kit.NotFound(c.Name)
	}
	v.Remove(c.Name)
	if e.Kind == "rename" {
		if _, taken := v.Value(c.To); taken || c.To == c.Name {
			return kit.Conflict("%s: exists already; choose another name", c.To)
		}
		v.SetFrom(c.To, entry{c.To, was.Text}, c.Name)
	}
	return nil
}

func (t *texts) Send(_ context.Context, d core.Dispatch) (core.Outcome, error) {
	var c change
	if json.Unmarshal(d.Payload, &c) != nil || c.Shelf != t.name {
		return core.Outcome{}, core.NotSent(kit.Conflict("it belongs to another shelf"))
	}
	versions, ok := t.service.change(d.Kind, c, d.Base)
	if !ok {
		return core.Outcome{End: core.EndRetryable, Text: "it moved since the claim"}, nil
	}
	return core.Outcome{End: core.EndApplied, Versions: versions}, nil
}
