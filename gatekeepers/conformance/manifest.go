package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"

	"gatehouse/core"
)

// GK1: everything is declared, and the same at every call.
func manifestIsHonest(b *bench) {
	m := b.setup.Gatekeeper.Manifest()
	if err := m.Validate(); err != nil {
		b.t.Fatal(err)
	}
	if !reflect.DeepEqual(m, b.setup.Gatekeeper.Manifest()) {
		b.t.Error("the manifest differs between two calls")
	}
	if m.About == "" || len(m.Forms) == 0 {
		b.t.Error("the manifest does not say what it is or how it is bound")
	}
	used := make(map[string]bool)
	for _, op := range m.Operations {
		if op.About == "" || op.Returns == "" {
			b.t.Errorf("%s: does not say what it does, or returns", op.Name)
		}
		if op.IsRead() && op.Observes == "" {
			b.t.Errorf("%s: does not say what it observes", op.Name)
		}
		for _, p := range op.Params {
			if p.Name == "" || p.Type == "" || p.About == "" {
				b.t.Errorf("%s: parameter %q has no name, type or description", op.Name, p.Name)
			}
		}
		for _, k := range op.Kinds {
			used[k] = true
		}
	}
	for _, k := range m.Kinds {
		if !used[k.Name] && !k.Reverts {
			b.t.Errorf("action kind %s: no operation makes it", k.Name)
		}
		if len(k.Revertible) == 0 || len(k.Irreversible) == 0 || len(k.CostsMoney) == 0 {
			b.t.Errorf("action kind %s: does not say whether it is revertible, irreversible, or costs money", k.Name)
		}
	}
}

// GK2: parser and printer are exact inverses, and nonsense grants nothing.
func urlsPrintAsTheyParse(b *bench) {
	b.need(len(b.setup.URLs) > 0 && len(b.setup.BadURLs) > 0, "URLs and BadURLs")
	for _, url := range b.setup.URLs {
		printed, err := b.setup.Gatekeeper.Normalize(url)
		if err != nil {
			b.t.Errorf("%s: %v", url, err)
			continue
		}
		again, err := b.setup.Gatekeeper.Normalize(printed)
		if err != nil || again != printed {
			b.t.Errorf("%s: printed as %s, and that as %s, %v", url, printed, again, err)
		}
	}
	for _, url := range b.setup.BadURLs {
		if printed, err := b.setup.Gatekeeper.Normalize(url); err == nil {
			b.t.Errorf("%s: accepted as %s", url, printed)
		}
	}
}

// open makes a resource without the kernel.
func (b *bench) open(url string) core.Resource {
	b.t.Helper()
	url, err := b.setup.Gatekeeper.Normalize(url)
	if err != nil {
		b.t.Fatal(err)
	}
	connection, err := b.setup.Gatekeeper.Connect(b.context(), url)
	if err != nil {
		b.t.Fatal(err)
	}
	connection.ID, connection.Owner = "c1", person
	resource, err := b.setup.Gatekeeper.Open(b.context(), connection, url)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if err := resource.Close(); err != nil {
			b.t.Error(err)
		}
	})
	return resource
}

func resourceCoversItsUnit(b *bench) {
	r := b.open(b.service.URL)
	whole := r.Unit()
	if whole.Unit.IsZero() || whole.Permission == "" {
		b.t.Errorf("unit of the whole resource: got %+v, want a unit with the permission that a reader needs", whole)
	}
	if whole.Unit.Gatekeeper != b.setup.Gatekeeper.Manifest().Kind {
		b.t.Errorf("unit %s: is not of this gatekeeper", whole.Unit)
	}
	if !r.Covers(whole.Unit) {
		b.t.Errorf("unit %s: is the resource and not covered by it", whole.Unit)
	}
	if r.Covers(core.Unit{Gatekeeper: "nothing", Service: "of", Name: "ours"}) || r.Covers(core.Unit{}) {
		b.t.Error("it covers units of other gatekeepers")
	}
	b.need(b.service.Other != "", "Service.Other")
	other := b.open(b.service.Other)
	if r.Covers(other.Unit().Unit) || other.Covers(whole.Unit) {
		b.t.Errorf("%s and %s cover each other's unit", b.service.URL, b.service.Other)
	}
	if r.Key() == other.Key() {
		b.t.Errorf("%s and %s share a journal", b.service.URL, b.service.Other)
	}
	for _, op := range r.Operations() {
		if _, known := b.setup.Gatekeeper.Manifest().Operation(op.Name); !known && len(b.setup.Gatekeeper.Manifest().Operations) > 0 {
			b.t.Logf("operation %s is the connection's own", op.Name)
		}
	}
}

// A fault in the arguments is found before the service is asked, and says so in one line.
func argumentsAreChecked(b *bench) {
	b.need(len(b.setup.Sample.Bad) > 0 && b.service.Calls != nil, "Sample.Bad and Service.Calls")
	before := b.service.Calls()
	for _, r := range append(slices.Clone(b.setup.Sample.Bad), unknownArgument(b.setup.Sample.Read)) {
		out := b.call(r)
		if out.Status() != core.StatusError || out.Code() != core.CodeInvalid || out.Reason() == "" {
			b.t.Errorf("%s: got %s %s (%s), want an invalid call", r, out.Status(), out.Code(), out.Reason())
		}
		if out.Action() != 0 {
			b.t.Errorf("%s: queued action %d", r, out.Action())
		}
	}
	if n := b.service.Calls() - before; n != 0 {
		b.t.Errorf("the service was called %d times", n)
	}
	// the driver checks for itself, not only through the kernel
	r := b.open(b.service.URL)
	var refused *core.CallError
	bad := unknownArgument(b.setup.Sample.Read)
	_, err := r.Intend(core.Call{Method: bad.Method, Args: json.RawMessage(bad.Args)})
	if !errors.As(err, &refused) || refused.Code != core.CodeInvalid {
		b.t.Errorf("%s to the driver itself: got %v, want an invalid call", bad, err)
	}
}

func unknownArgument(r Request) Request {
	var args map[string]any
	if err := json.Unmarshal([]byte(r.Args), &args); err != nil {
		panic("conformance: Sample.Read is not JSON: " + err.Error())
	}
	args["no_such_argument"] = 1
	raw, err := json.Marshal(args)
	if err != nil {
		panic("conformance: arguments that are not JSON: " + err.Error())
	}
	return Request{Method: r.Method, Args: string(raw)}
}

// An ended context ends a call; nothing is released and nothing queued.
func endedContext(b *bench) {
	ctx, cancel := context.WithCancel(b.context())
	cancel()
	_, err := b.kernel.Call(ctx, core.CallRequest{
		Session: b.session, Binding: binding, Method: b.setup.Sample.Read.Method, Args: json.RawMessage(b.setup.Sample.Read.Args),
		Caller: core.Caller{Kind: core.CallerPerson, Person: person},
	})
	if !errors.Is(err, context.Canceled) {
		b.t.Errorf("got %v, want the context's error", err)
	}
	r := b.open(b.service.URL)
	call := core.Call{Method: b.setup.Sample.Read.Method, Args: json.RawMessage(b.setup.Sample.Read.Args)}
	if _, err := r.Read(ctx, call, core.Journal{}); err == nil {
		b.t.Error("the driver reads under a context that has ended")
	}
}

// The strategy is one that exists; live verdicts join the suite with the people who are checked.
func observers(b *bench) {
	switch s := b.setup.Gatekeeper.Manifest().Observers; s {
	case core.StrategyPrivate, core.StrategyACL, core.StrategyVisibility, core.StrategyPublic:
	default:
		b.t.Errorf("observers: strategy %q is none", s)
	}
}
