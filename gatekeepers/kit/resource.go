package kit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"gatehouse/core"
)

// resource is core.Resource over a driver of either form.
type resource[T any] struct{ driver Driver[T] }

// Resource makes a core.Resource of a driver. One that implements Native replays itself; for the others the kit lays
// the effects over what they fetch.
func Resource[T any](driver Driver[T]) core.Resource {
	r := &resource[T]{driver}
	if _, finds := driver.(Finder); finds {
		return &findingResource[T]{r}
	}
	return r
}

func (r *resource[T]) Key() string                  { return r.driver.Key() }
func (r *resource[T]) Unit() core.Found             { return r.driver.Unit() }
func (r *resource[T]) Covers(unit core.Unit) bool   { return r.driver.Covers(unit) }
func (r *resource[T]) Operations() []core.Operation { return r.driver.Operations() }
func (r *resource[T]) Close() error                 { return r.driver.Close() }

// parse hands the driver arguments whose bound ids are resolved. What lies outside of the narrowing is missing (GK3).
func (r *resource[T]) parse(call core.Call) (Request[T], error) {
	args, err := ResolveRefs(call.Names, call.Args, r.driver.References())
	if err != nil {
		return Request[T]{}, core.Invalid("%s: arguments are not JSON; give one object", call.Method)
	}
	call.Args = args
	request, err := r.driver.Parse(call)
	if err != nil {
		return request, err
	}
	for _, t := range request.targets() {
		if !r.driver.Covers(r.driver.UnitOf(t).Unit) {
			return Request[T]{}, NotFound(t)
		}
	}
	return request, nil
}

// targets are what a request names; a prefix counts, everything does not.
func (r Request[T]) targets() []string {
	switch {
	case r.Write != nil:
		return r.Write.Targets
	case r.Scope != nil && r.Scope.Prefix == "":
		return nil
	case r.Scope != nil:
		return []string{r.Scope.Prefix}
	default:
		return []string{r.Target}
	}
}

// Intend names units and targets from the arguments alone.
func (r *resource[T]) Intend(call core.Call) (core.Intent, error) {
	request, err := r.parse(call)
	if err != nil {
		return core.Intent{}, err
	}
	return r.intent(call.Names, request), nil
}

func (r *resource[T]) intent(names core.Names, request Request[T]) core.Intent {
	var intent core.Intent
	exact := func(target string) {
		for _, s := range Spellings(names, target) {
			intent.Targets = addSelector(intent.Targets, core.Selector{Reach: core.ReachExact, Target: s})
		}
		intent.Units = addUnit(intent.Units, r.driver.UnitOf(target))
	}
	switch {
	case request.Write != nil:
		for _, t := range request.Write.Targets {
			exact(t)
		}
	case request.Scope != nil:
		reach := core.ReachPrefix
		unit := r.driver.Unit()
		if request.Scope.Prefix == "" {
			reach = core.ReachAll
		} else {
			unit = r.driver.UnitOf(request.Scope.Prefix)
		}
		intent.Targets = addSelector(intent.Targets, core.Selector{Reach: reach, Target: request.Scope.Prefix})
		intent.Units = addUnit(intent.Units, unit)
	default:
		exact(request.Target)
	}
	return intent
}

// Extend adds the sources of the pending effects, within the narrowing: what lies outside stays out, and the effect
// becomes a gap when it is replayed. The journal comes as written, so the spelling from before an id was bound is added too.
func (r *resource[T]) Extend(intent core.Intent, journal core.Journal) core.Intent {
	intent.Targets = slices.Clone(intent.Targets)
	intent.Units = slices.Clone(intent.Units)
	for _, e := range journal.Effects {
		wanted := r.driver.Sources(e)
		for _, t := range e.Targets {
			if hasProvisional(t) {
				wanted = append(wanted, t)
			}
		}
		for _, t := range wanted {
			unit := r.driver.UnitOf(t)
			if r.driver.Covers(unit.Unit) && !selected(intent.Targets, t) {
				intent.Targets = append(intent.Targets, core.Selector{Reach: core.ReachExact, Target: t})
				intent.Units = addUnit(intent.Units, unit)
			}
		}
	}
	return intent
}

// Read fetches, replays, and answers.
func (r *resource[T]) Read(ctx context.Context, call core.Call, journal core.Journal) (core.Fetched, error) {
	request, err := r.parse(call)
	if err != nil {
		return core.Fetched{}, err
	}
	if request.Write != nil {
		return core.Fetched{}, core.Invalid("%s: not a read", call.Method)
	}
	view, replayed, _, err := r.look(ctx, call.Names, request, journal)
	if err != nil {
		return core.Fetched{}, err
	}
	fetched := core.Fetched{Projected: replayed.Projected, Incomplete: replayed.Incomplete}
	if request.Scope != nil {
		fetched.Value, fetched.Found, err = r.page(call, *request.Scope, view, replayed)
		return fetched, err
	}
	value, there := view.Value(request.Target)
	if !there {
		return core.Fetched{}, missing(call.Names, request.Target, replayed)
	}
	fetched.Found = view.Found(request.Target)
	fetched.Value, err = json.Marshal(r.driver.Show(value))
	return fetched, err
}

// missing says "not created yet" for an id whose provider is on its way and cannot be shown, and "not found" for
// everything else, such as the same id at a place where nothing provides it.
func missing(names core.Names, target string, replayed Replayed) error {
	name, id := unbound(names, target)
	if id != "" && slices.ContainsFunc(replayed.Incomplete, func(g core.Gap) bool { return g.Action == name.Provider }) {
		return core.NotCreated(id, name.Provider)
	}
	return NotFound(target)
}

// look fetches what a request and the effects on it need, and replays. The journal that it returns is resolved.
func (r *resource[T]) look(
	ctx context.Context, names core.Names, request Request[T], journal core.Journal,
) (*View[T], Replayed, core.Journal, error) {
	resolved, err := ResolveJournal(journal, names, r.driver.References())
	if err != nil {
		return nil, Replayed{}, resolved, err
	}
	selectors := r.Extend(r.intent(names, request), resolved).Targets
	if native, is := r.driver.(Native[T]); is {
		view, replayed, err := native.FetchWith(ctx, selectors, resolved)
		return view, replayed, resolved, err
	}
	view, err := r.fetch(ctx, names, selectors)
	if err != nil {
		return nil, Replayed{}, resolved, err
	}
	return view, Replay(resolved, func(e core.Effect) error { return r.project(e, view) }), resolved, nil
}

// project lays one effect over the view, whole or not at all.
func (r *resource[T]) project(e core.Effect, view *View[T]) error {
	for _, t := range r.driver.Sources(e) {
		if !view.Known(t) {
			return Conflict("it depends on something outside of this binding")
		}
	}
	view.begin()
	if err := r.driver.Project(e, view); err != nil {
		view.rollback()
		return err
	}
	return nil
}

// fetch asks the service for what the selectors pick. Spellings with unbound ids are not asked for: the service
// cannot have them, and bound ones are picked under their real id as well.
func (r *resource[T]) fetch(ctx context.Context, names core.Names, selectors []core.Selector) (*View[T], error) {
	view := NewView[T]()
	for _, s := range selectors {
		if s.Reach == core.ReachExact {
			continue
		}
		objects, err := r.driver.Scan(ctx, s.Target)
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			if found := r.driver.UnitOf(o.Target); r.driver.Covers(found.Unit) {
				view.Put(o.Target, o.Value, o.Version, found)
			}
		}
		view.PutScanned(s.Target)
	}
	for _, s := range selectors {
		target := ResolveTarget(names, s.Target)
		if s.Reach != core.ReachExact || view.Known(target) {
			continue
		}
		if err := r.fetchOne(ctx, view, target); err != nil {
			return nil, err
		}
	}
	return view, nil
}

func (r *resource[T]) fetchOne(ctx context.Context, view *View[T], target string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	found := r.driver.UnitOf(target)
	if !r.driver.Covers(found.Unit) || hasProvisional(target) {
		view.PutAbsent(target)
		return nil
	}
	o, err := r.driver.Fetch(ctx, target)
	switch {
	case errors.Is(err, core.ErrNotFound):
		view.PutAbsent(target)
	case err != nil:
		return err
	case o.Target != target:
		// the service answered with something else than what was asked for: out of scope is missing (GK2, GK3)
		view.PutAbsent(target)
	default:
		view.Put(target, o.Value, o.Version, found)
	}
	return nil
}

// Current asks for the versions of the base, under the spellings that the base has.
func (r *resource[T]) Current(ctx context.Context, dispatch core.Dispatch) (core.Current, error) {
	view := NewView[T]()
	var current core.Current
	var undo []undone
	for _, b := range dispatch.Base {
		target := ResolveTarget(dispatch.Names, b.Target)
		if err := r.reachable(dispatch, target); err != nil {
			return core.Current{}, err
		}
		if err := r.fetchOne(ctx, view, target); err != nil {
			return core.Current{}, err
		}
		current.Versions = append(current.Versions, versionOf(view, b.Target, target))
		if value, there := view.Value(target); there {
			undo = append(undo, undone{Target: target, Value: encode(value)})
		} else {
			undo = append(undo, undone{Target: target})
		}
	}
	if dispatch.WantUndo {
		current.Undo = undoReader(undo)
	}
	return current, nil
}

// reachable refuses a target outside of the narrowing and one that waits for another action.
func (r *resource[T]) reachable(dispatch core.Dispatch, target string) error {
	if !r.driver.Covers(r.driver.UnitOf(target).Unit) {
		return NotFound(target)
	}
	if name, id := unbound(dispatch.Names, target); id != "" && name.Provider != dispatch.Action {
		return core.NotCreated(id, name.Provider)
	}
	return nil
}

// Apply replaces provisional ids, and hands the action to the driver.
func (r *resource[T]) Apply(ctx context.Context, dispatch core.Dispatch) (core.Outcome, error) {
	sent, err := r.bind(dispatch)
	if err != nil {
		return core.Outcome{}, core.NotSent(err)
	}
	outcome, err := r.driver.Send(ctx, sent)
	if err == nil && outcome.End == core.EndApplied {
		outcome.Versions = underAllNames(dispatch, outcome)
	}
	return outcome, err
}

// bind is the dispatch with real ids everywhere.
func (r *resource[T]) bind(dispatch core.Dispatch) (core.Dispatch, error) {
	payload, err := BindRefs(dispatch.Names, dispatch.Payload, r.driver.References())
	if err != nil {
		return dispatch, err
	}
	bound := dispatch
	bound.Payload = payload
	bound.Base = slices.Clone(dispatch.Base)
	for i, b := range bound.Base {
		bound.Base[i].Target = ResolveTarget(dispatch.Names, b.Target)
		if err := r.reachable(dispatch, bound.Base[i].Target); err != nil {
			return dispatch, err
		}
	}
	return bound, nil
}

// underAllNames gives the new versions under the spelling that the action's base uses too, because that is what
// "result of" will be looked up by.
func underAllNames(dispatch core.Dispatch, outcome core.Outcome) []core.BaseVersion {
	versions := slices.Clone(outcome.Versions)
	names := make(core.Names, len(dispatch.Names)+len(outcome.Created))
	for id, name := range dispatch.Names {
		names[id] = name
	}
	for _, c := range outcome.Created {
		if core.Provisional(c.Name) {
			names[c.Name] = core.Name{Provider: dispatch.Action, Real: c.Real}
		}
	}
	for _, b := range dispatch.Base {
		real := ResolveTarget(names, b.Target)
		for _, v := range outcome.Versions {
			if v.Target == real && real != b.Target {
				v.Target = b.Target
				versions = append(versions, v)
			}
		}
	}
	return versions
}

// findingResource adds core.Finder where the driver can look.
type findingResource[T any] struct{ *resource[T] }

// Find looks for what an action created.
func (r *findingResource[T]) Find(ctx context.Context, dispatch core.Dispatch) ([]core.Created, error) {
	finder, is := r.driver.(Finder)
	if !is {
		return nil, fmt.Errorf("find: %w", core.ErrNotFound)
	}
	return finder.Find(ctx, dispatch)
}
