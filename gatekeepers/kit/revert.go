package kit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"gatehouse/core"
)

// Reverter is a Driver that can take back what it sent (kernel R25). Without it no action is offered as revertible.
type Reverter[T any] interface {
	// Reverse says what takes an action back: a write like any other. The payload has real ids, was holds the objects
	// that the action's base named, as they were before it. It asks no service; why there is no way back is a
	// *core.CallError.
	Reverse(r core.Reversal, was []Was[T]) (*Write[T], error)
}

// Was is an object as it was before an action; where there was none, There is false.
type Was[T any] struct {
	Target string
	Value  T
	There  bool
}

// IntendRevert names what the action touched: its reverse touches nothing else.
func (r *resource[T]) IntendRevert(back core.Reversal) (core.Intent, error) {
	var intent core.Intent
	for _, t := range back.Targets {
		target := ResolveTarget(back.Names, t)
		unit := r.driver.UnitOf(target)
		if !r.driver.Covers(unit.Unit) {
			return core.Intent{}, NotFound(target)
		}
		for _, s := range Spellings(back.Names, target) {
			intent.Targets = addSelector(intent.Targets, core.Selector{Reach: core.ReachExact, Target: s})
		}
		intent.Units = addUnit(intent.Units, unit)
	}
	return intent, nil
}

// PrepareRevert asks the driver for the reverse, and makes a draft of it as of any write.
func (r *resource[T]) PrepareRevert(ctx context.Context, back core.Reversal, journal core.Journal) (core.Reverse, error) {
	reverter, can := r.driver.(Reverter[T])
	if !can {
		return core.Reverse{}, core.Invalid("it takes nothing back")
	}
	var err error
	if back.Payload, err = BindRefs(back.Names, back.Payload, r.driver.References()); err != nil {
		return core.Reverse{}, err
	}
	was, err := readUndone[T](back.Undo)
	if err != nil {
		return core.Reverse{}, err
	}
	w, err := reverter.Reverse(back, was)
	if err != nil {
		return core.Reverse{}, err
	}
	for _, t := range w.Targets {
		if !r.driver.Covers(r.driver.UnitOf(t).Unit) {
			return core.Reverse{}, NotFound(t)
		}
	}
	draft, err := r.prepareWrite(ctx, core.Call{Method: "revert", Names: back.Names, At: back.At}, *w, journal)
	return core.Reverse{Draft: draft, Moved: movedSince(draft.Base, back.Versions)}, err
}

// movedSince names the first target that is not as the action left it. One whose base is the result of a pending action
// is the kernel's to judge.
func movedSince(base, left []core.BaseVersion) string {
	for _, b := range base {
		same := b.ResultOf != 0
		for _, v := range left {
			same = same || v.Same(b)
		}
		if !same {
			return b.Target
		}
	}
	return ""
}

// readUndone reads back what Current kept.
func readUndone[T any](undo core.UndoSource) ([]Was[T], error) {
	if undo == nil {
		return nil, nil
	}
	var list []undone
	dec := json.NewDecoder(undo())
	if err := dec.Decode(&list); err != nil {
		return nil, fmt.Errorf("undo data: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("undo data: something stands behind it")
	}
	was := make([]Was[T], len(list))
	for i, u := range list {
		was[i].Target = u.Target
		if was[i].There = len(u.Value) > 0 && string(u.Value) != "null"; !was[i].There {
			continue
		}
		if err := json.Unmarshal(u.Value, &was[i].Value); err != nil {
			return nil, fmt.Errorf("undo data of %s: %w", u.Target, err)
		}
	}
	return was, nil
}
