package kit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gatehouse/core"
)

// pageValue is what a read of many answers.
type pageValue struct {
	Items []any  `json:"items"`
	Next  string `json:"next,omitempty"`
}

// page filters and sorts after the projection, so that an object edited into or out of a filter moves, and one that
// was created stands where it sorts (GK7). A list in which any version or effect moved since the cursor is refused.
func (r *resource[T]) page(call core.Call, scope Scope[T], view *View[T], replayed Replayed) (json.RawMessage, []core.Found, error) {
	targets := r.arrange(scope, view)
	start := 0
	query, list := queryOf(call), listVersion(view, scope.Prefix, replayed)
	if scope.Cursor != "" {
		cursor, err := ParseCursor(scope.Cursor, query, list)
		if err != nil {
			return nil, nil, err
		}
		place := slices.Index(targets, cursor.After)
		if place < 0 {
			return nil, nil, ListChanged()
		}
		start = place + 1
	}
	limit := scope.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	end := min(start+limit, len(targets))
	answer := pageValue{Items: make([]any, 0, end-start)}
	var found []core.Found
	for _, t := range targets[start:end] {
		value, _ := view.Value(t)
		answer.Items = append(answer.Items, r.driver.Show(value))
		for _, f := range view.Found(t) {
			found = addFound(found, f)
		}
	}
	if end < len(targets) {
		answer.Next = Cursor{Query: query, After: targets[end-1], List: list}.String()
	}
	raw, err := json.Marshal(answer)
	return raw, found, err
}

// arrange keeps to the narrowing once more: a pending effect may have made something outside of it (GK2).
func (r *resource[T]) arrange(scope Scope[T], view *View[T]) []string {
	targets := slices.DeleteFunc(view.Targets(scope.Prefix), func(t string) bool {
		return !r.driver.Covers(r.driver.UnitOf(t).Unit)
	})
	if scope.Keep != nil {
		targets = slices.DeleteFunc(targets, func(t string) bool {
			value, _ := view.Value(t)
			return !scope.Keep(value)
		})
	}
	if scope.Compare != nil {
		slices.SortStableFunc(targets, func(a, b string) int {
			left, _ := view.Value(a)
			right, _ := view.Value(b)
			return scope.Compare(left, right)
		})
	}
	return targets
}

// queryOf is the call without its cursor: a cursor goes with one query.
func queryOf(call core.Call) string {
	var args map[string]any
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return Version(call.Method, string(call.Args))
	}
	delete(args, "cursor")
	return Version(call.Method, string(encode(args)))
}

// listVersion moves whenever the service's list does, or the effects shown in it.
func listVersion[T any](view *View[T], prefix string, replayed Replayed) string {
	var parts []string
	for t, version := range view.fetched {
		if strings.HasPrefix(t, prefix) && version != "" {
			parts = append(parts, t+"\x00"+version)
		}
	}
	slices.Sort(parts)
	for _, id := range replayed.Projected {
		parts = append(parts, "shown "+id.String())
	}
	for _, gap := range replayed.Incomplete {
		parts = append(parts, "gap "+gap.Action.String())
	}
	return Version(parts...)
}

func addFound(list []core.Found, f core.Found) []core.Found {
	if slices.ContainsFunc(list, func(have core.Found) bool { return have.Unit == f.Unit }) {
		return list
	}
	return append(list, f)
}

// Prepare projects the write like any effect, and makes a draft of what that shows.
func (r *resource[T]) Prepare(ctx context.Context, call core.Call, journal core.Journal) (core.Draft, error) {
	request, err := r.parse(call)
	if err != nil {
		return core.Draft{}, err
	}
	if request.Write == nil {
		return core.Draft{}, core.Invalid("%s: not a write", call.Method)
	}
	return r.prepareWrite(ctx, call, *request.Write, journal)
}

func (r *resource[T]) prepareWrite(ctx context.Context, call core.Call, w Write[T], journal core.Journal) (core.Draft, error) {
	view, replayed, resolved, err := r.look(ctx, call.Names, Request[T]{Write: &w}, journal)
	if err != nil {
		return core.Draft{}, err
	}
	payload, err := json.Marshal(w.Payload)
	if err != nil {
		return core.Draft{}, fmt.Errorf("%s: payload: %w", call.Method, err)
	}
	states := make([]State, 0, len(w.Targets))
	for _, t := range w.Targets {
		_, there := view.Value(t)
		if _, id := unbound(call.Names, t); id != "" && !there && !slices.Contains(w.Provides, id) {
			return core.Draft{}, missing(call.Names, t, replayed)
		}
		states = append(states, State{Target: t, Version: view.Version(t), Exists: there})
	}
	w.Provides = newlyProvided(w.Provides, states)
	found := foundAt(view, w.Targets)
	effect := core.Effect{
		Kind: w.Kind, Payload: payload, Targets: w.Targets, Provides: w.Provides, CreatedAt: call.At, State: core.StatePending,
	}
	if err := r.project(effect, view); err != nil {
		return core.Draft{}, err
	}
	draft := r.draft(call, w, payload, view)
	lineage := LineageOf(resolved, call.Names, states, unboundRefs(payload, call.Names, r.driver.References()))
	draft.Base, draft.Needs, draft.After = lineage.Base, lineage.Needs, lineage.After
	draft.Projected, draft.Incomplete, draft.Found = replayed.Projected, replayed.Incomplete, found
	return draft, nil
}

func (r *resource[T]) draft(call core.Call, w Write[T], payload json.RawMessage, view *View[T]) core.Draft {
	_, takesBack := r.driver.(Reverter[T])
	draft := core.Draft{
		Kind: w.Kind, Lane: w.Lane, LaneReason: w.LaneReason, Title: w.Title, Payload: payload, Provides: w.Provides,
		Revertible: w.Revertible && takesBack, Irreversible: w.Irreversible, CostsMoney: w.CostsMoney, WidensTrust: w.WidensTrust,
		AutoApprovable: w.AutoApprovable, Value: encode(map[string]bool{"done": true}),
	}
	for _, t := range w.Targets {
		// every spelling, so that what was queued before an id was bound is met by what is queued after
		for _, s := range Spellings(call.Names, t) {
			draft.Targets = appendNew(draft.Targets, s)
		}
	}
	if w.Fields != nil {
		draft.Fields = w.Fields(view)
	}
	if value, there := view.Value(w.Answer); there && w.Answer != "" {
		draft.Value = encode(r.driver.Show(value))
	}
	return draft
}

// newlyProvided leaves out targets that exist already: nobody needs an action for what is there without it.
func newlyProvided(provides []string, states []State) []string {
	return slices.DeleteFunc(slices.Clone(provides), func(name string) bool {
		return slices.ContainsFunc(states, func(s State) bool { return s.Target == name && s.Exists })
	})
}

func foundAt[T any](view *View[T], targets []string) []core.Found {
	var found []core.Found
	for _, t := range targets {
		for _, f := range view.Found(t) {
			found = addFound(found, f)
		}
	}
	return found
}

// unboundRefs lists the provisional ids that a payload refers to.
func unboundRefs(payload json.RawMessage, names core.Names, refs []string) []string {
	var ids []string
	_, err := rewriteRefs(payload, refs, func(id string) (string, error) {
		if name, known := names[id]; known && name.Real == "" {
			ids = appendNew(ids, id)
		}
		return id, nil
	})
	if err != nil {
		return nil // the payload was made by json.Marshal a moment ago
	}
	slices.Sort(ids)
	return ids
}
