package memory

import (
	"context"
	"slices"

	"gatehouse/core"
	"gatehouse/gatekeepers/kit"
)

// native is the driver in the native form: it is handed the journal before its fetch, and carries the pending changes
// out on a private copy of the service.
type native struct{ *items }

var _ kit.Native[Item] = (*native)(nil)

// FetchWith reads versions from the service as it is, and values from the copy.
func (n *native) FetchWith(ctx context.Context, targets []core.Selector, journal core.Journal) (*kit.View[Item], kit.Replayed, error) {
	view := kit.NewView[Item]()
	private := newState(0)
	err := n.ask(ctx, "", func(st *state) error {
		st.each("", func(target string, item Item) {
			if !n.Covers(n.UnitOf(target).Unit) {
				return
			}
			private.put(target, item)
			if picked(targets, target) {
				view.Put(target, item, item.version(), n.UnitOf(target))
			}
		})
		return nil
	})
	if err != nil {
		return nil, kit.Replayed{}, err
	}
	for _, s := range targets {
		switch {
		case s.Reach != core.ReachExact:
			view.PutScanned(s.Target)
		case !view.Known(s.Target):
			view.PutAbsent(s.Target)
		}
	}
	from := make(map[string][]string) // where what stands at a target came from
	replayed := kit.Replay(journal, func(e core.Effect) error { return n.replay(e, private, from) })
	n.overlay(view, private, targets, from)
	return view, replayed, nil
}

// replay is one pending change on the private copy.
func (n *native) replay(e core.Effect, private *state, from map[string][]string) error {
	c, err := n.read(e.Payload)
	if err != nil {
		return err
	}
	if n.fails(e.Kind, FailProject) {
		return kit.Conflict("%s cannot be simulated", e.Kind)
	}
	for _, t := range n.Sources(e) {
		if !n.Covers(n.UnitOf(t).Unit) {
			return kit.Conflict("it depends on something outside of this binding")
		}
	}
	id := ""
	if e.Kind == kindCreate {
		if len(e.Provides) != 1 {
			return core.Invalid("memory: a create provides one id")
		}
		id = e.Provides[0]
	}
	if err := carryOut(private, e.Kind, c, id, simulatedSeq+int64(e.Action), e.CreatedAt); err != nil {
		return err
	}
	if e.Kind == kindMove {
		from[c.goal()] = append(slices.Clone(from[c.target()]), c.target())
	}
	return nil
}

// overlay puts what the copy holds over what the service holds.
func (n *native) overlay(view *kit.View[Item], private *state, targets []core.Selector, from map[string][]string) {
	for _, t := range view.Targets("") {
		if _, there := private.item(t); !there {
			view.Remove(t)
		}
	}
	private.each("", func(target string, item Item) {
		if picked(targets, target) {
			view.SetFrom(target, item, from[target]...)
		}
	})
}

func picked(targets []core.Selector, target string) bool {
	return slices.ContainsFunc(targets, func(s core.Selector) bool { return s.Matches(target) })
}
