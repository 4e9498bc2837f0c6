package core

import (
	"fmt"
	"slices"
	"strconv"
)

// check holds a draft against what its driver declared and against what it was shown: the kernel orders, strands and
// compares by what stands in it, so nothing of it is taken on the driver's word.
func (d *Draft) check(op Operation, kinds map[string]ActionKind, look *lookahead) error {
	kind, declared := kinds[d.Kind]
	switch {
	case !op.allows(d.Lane):
		return fmt.Errorf("%s in lane %q, which is not declared", op.Name, d.Lane)
	case !declared || !contains(op.Kinds, d.Kind):
		return fmt.Errorf("%s made kind %q, which is not declared", op.Name, d.Kind)
	}
	for _, flag := range []struct {
		name   string
		value  bool
		values []bool
	}{
		{"revertible", d.Revertible, kind.Revertible},
		{"irreversible", d.Irreversible, kind.Irreversible},
		{"costs money", d.CostsMoney, kind.CostsMoney},
	} {
		if !slices.Contains(flag.values, flag.value) && (flag.value || len(flag.values) > 0) {
			return fmt.Errorf("%s made kind %q with %s %v, which is not declared", op.Name, d.Kind, flag.name, flag.value)
		}
	}
	if err := d.checkNames(look.call.Next); err != nil {
		return fmt.Errorf("%s: %w", op.Name, err)
	}
	if err := d.checkReferences(look); err != nil {
		return fmt.Errorf("%s: %w", op.Name, err)
	}
	return nil
}

// checkNames refuses provisional ids that are not the next ones: they are another action's, or use up the numbers.
func (d *Draft) checkNames(next int) error {
	for _, name := range d.Provides {
		if !Provisional(name) {
			continue
		}
		n, err := strconv.Atoi(name[1:])
		if err != nil || n < next || n >= next+len(d.Provides) {
			return fmt.Errorf("promises %s, where ~%d is next", name, next)
		}
	}
	return nil
}

// checkReferences refuses a reference to what is not an earlier action of the session at the resource: the order of ids
// would be no order, and another session's decision would reach this one (kernel R17, K59).
func (d *Draft) checkReferences(look *lookahead) error {
	shown := make(map[ActionID]bool)
	for _, e := range look.journal.Effects {
		shown[e.Action] = true
	}
	for _, g := range look.journal.Gaps {
		shown[g.Action] = true
	}
	for _, n := range look.call.Names {
		shown[n.Provider] = true
	}
	after := make(map[ActionID]bool)
	for _, refs := range [][]Reference{d.Needs, d.After} {
		for _, r := range refs {
			if !shown[r.Provider] || (look.before != 0 && r.Provider >= look.before) {
				return fmt.Errorf("refers to action %d, which is no earlier one on what it touches", r.Provider)
			}
			after[r.Provider] = true
		}
	}
	for _, b := range d.Base {
		ways := 0
		for _, set := range []bool{b.Version != "", b.Absent, b.ResultOf != 0} {
			if set {
				ways++
			}
		}
		switch {
		case !contains(d.Targets, b.Target):
			return fmt.Errorf("base of %q: is not among its targets", b.Target)
		case ways != 1:
			return fmt.Errorf("base of %q: a version, absent or the result of an action, one of them", b.Target)
		case b.ResultOf != 0 && !after[b.ResultOf]:
			return fmt.Errorf("base of %q: the result of action %d, which it neither needs nor comes after", b.Target, b.ResultOf)
		}
	}
	return nil
}
