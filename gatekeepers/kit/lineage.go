package kit

import "gatehouse/core"

// Lineage is what a new action stands on: its base and its references (kernel R17, R18, GK6).
type Lineage struct {
	Base  []core.BaseVersion
	Needs []core.Reference
	After []core.Reference
}

// State is what is known of one target before the new action.
type State struct {
	Target  string
	Version string // of the service's object as it was fetched; empty where it has none
	Exists  bool   // with the pending effects projected: the new action builds on something that is there
}

// LineageOf computes base, needs and after for the targets of a new action, over a resolved journal. Unbound provisional
// ids among refs are needed from the actions that provide them. Where the newest effect on a target is pending, the base is its
// result; what that effect, or an earlier one, provides is needed where the target exists, and only followed otherwise.
func LineageOf(journal core.Journal, names core.Names, states []State, refs []string) Lineage {
	var l Lineage
	needed := make(map[core.ActionID]bool)
	need := func(name string, provider core.ActionID) {
		if !needed[provider] {
			needed[provider] = true
			l.Needs = append(l.Needs, core.Reference{Name: name, Provider: provider})
		}
	}
	for _, id := range refs {
		if name, known := names[id]; known && name.Real == "" {
			need(id, name.Provider)
		}
	}
	for _, s := range states {
		l.Base = append(l.Base, baseOf(journal, s))
		if provider, found := providerOf(journal, s.Target); found && s.Exists {
			need(s.Target, provider)
		}
	}
	followed := make(map[core.ActionID]bool)
	for _, s := range states {
		last, found := journal.Last(s.Target)
		if found && !needed[last.Action] && !followed[last.Action] {
			followed[last.Action] = true
			l.After = append(l.After, core.Reference{Name: s.Target, Provider: last.Action})
		}
	}
	return l
}

func baseOf(journal core.Journal, s State) core.BaseVersion {
	if last, found := journal.Last(s.Target); found {
		return core.BaseVersion{Target: s.Target, ResultOf: last.Action}
	}
	if s.Version == "" {
		return core.BaseVersion{Target: s.Target, Absent: true}
	}
	return core.BaseVersion{Target: s.Target, Version: s.Version}
}

// providerOf finds the newest pending effect that makes a target exist under its own name.
func providerOf(journal core.Journal, target string) (core.ActionID, bool) {
	for i := len(journal.Effects) - 1; i >= 0; i-- {
		for _, p := range journal.Effects[i].Provides {
			if p == target {
				return journal.Effects[i].Action, true
			}
		}
	}
	return 0, false
}
