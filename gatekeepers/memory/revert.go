package memory

import (
	"context"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/gatekeepers/kit"
)

var (
	_ core.Reverter      = (*resource)(nil)
	_ kit.Reverter[Item] = (*items)(nil)
)

// IntendRevert is the kit's.
func (r *resource) IntendRevert(back core.Reversal) (core.Intent, error) {
	reverter, can := r.Resource.(core.Reverter)
	if !can {
		return core.Intent{}, core.Invalid("memory: nothing is taken back")
	}
	return reverter.IntendRevert(back)
}

// PrepareRevert is the kit's.
func (r *resource) PrepareRevert(ctx context.Context, back core.Reversal, journal core.Journal) (core.Reverse, error) {
	reverter, can := r.Resource.(core.Reverter)
	if !can {
		return core.Reverse{}, core.Invalid("memory: nothing is taken back")
	}
	return reverter.PrepareRevert(ctx, back, journal)
}

// Reverse takes back the parts that an action changed, and a whole item only where it was deleted.
func (i *items) Reverse(r core.Reversal, was []kit.Was[Item]) (*kit.Write[Item], error) {
	c, err := i.read(r.Payload)
	if err != nil {
		return nil, err
	}
	before, there := formerly(was, c.target())
	if !there && r.Kind != kindRestore {
		return nil, kit.Conflict("%s: what it was before was not kept", c.target())
	}
	back := change{Service: c.Service, Collection: c.Collection, ID: c.ID}
	switch r.Kind {
	case kindUpdate:
		status := before.status()
		back.Title, back.Body, back.Status = given(c.Title, before.Title), given(c.Body, before.Body), given(c.Status, status)
		return i.described(kindUpdate, back), nil
	case kindAppend:
		back.Body = &before.Body
		return i.described(kindUpdate, back), nil
	case kindAddLabel:
		if hasLabel(before, c.Label) {
			return nil, kit.Conflict("label %q: was there before; there is nothing to take back", c.Label)
		}
		back.Label = c.Label
		return i.described(kindRemoveLabel, back), nil
	case kindRemoveLabel:
		return i.labelBack(back, c, before)
	case kindMove:
		back.Collection, back.ID, back.ToCollection, back.To = c.ToCollection, c.To, c.Collection, c.ID
		return i.described(kindMove, back), nil
	case kindDelete, kindRestore:
		if !there {
			return i.described(kindDelete, back), nil
		}
		back.Whole = &before
		return i.described(kindRestore, back), nil
	default:
		return nil, kit.Conflict("%s: nobody can take that back", r.Kind)
	}
}

// labelBack adds the label that was removed in the spelling that it had.
func (i *items) labelBack(back, c change, before Item) (*kit.Write[Item], error) {
	var removed []string
	for _, l := range before.Labels {
		if strings.EqualFold(l, c.Label) {
			removed = append(removed, l)
		}
	}
	switch len(removed) {
	case 0:
		return nil, kit.Conflict("label %q: was not there before; there is nothing to take back", c.Label)
	case 1:
		back.Label = removed[0]
		return i.described(kindAddLabel, back), nil
	default:
		back.Whole = &before
		return i.described(kindRestore, back), nil
	}
}

// given is a former value where the change had one.
func given(changed *string, before string) *string {
	if changed == nil {
		return nil
	}
	return &before
}

func formerly(was []kit.Was[Item], target string) (Item, bool) {
	at := slices.IndexFunc(was, func(w kit.Was[Item]) bool { return w.Target == target && w.There })
	if at < 0 {
		return Item{}, false
	}
	return was[at].Value, true
}
