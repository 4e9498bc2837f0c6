package kit

import (
	"errors"
	"fmt"

	"gatehouse/core"
)

// ResolveJournal is a journal with bound provisional ids resolved in targets and payloads, so that one object has one
// spelling while it is replayed. What is stored stays as it was written.
func ResolveJournal(journal core.Journal, names core.Names, refs []string) (core.Journal, error) {
	resolved := core.Journal{Effects: make([]core.Effect, len(journal.Effects)), Gaps: journal.Gaps}
	for i, e := range journal.Effects {
		payload, err := ResolveRefs(names, e.Payload, refs)
		if err != nil {
			return core.Journal{}, fmt.Errorf("action %d: %w", e.Action, err)
		}
		e.Payload = payload
		targets := make([]string, 0, len(e.Targets))
		for _, t := range e.Targets {
			targets = appendNew(targets, ResolveTarget(names, t))
		}
		e.Targets = targets
		resolved.Effects[i] = e
	}
	return resolved, nil
}

// Replayed says what a replay showed and what it could not.
type Replayed struct {
	Projected  []core.ActionID
	Incomplete []core.Gap
}

// Replay projects the effects in id order and stops at the first that cannot be projected: it and all behind it are
// gaps, and so are those of the journal (K57). Project must leave its values untouched when it fails.
func Replay(journal core.Journal, project func(core.Effect) error) Replayed {
	replayed := Replayed{Incomplete: append([]core.Gap{}, journal.Gaps...)}
	for i, e := range journal.Effects {
		err := project(e)
		if err == nil {
			replayed.Projected = append(replayed.Projected, e.Action)
			continue
		}
		replayed.Incomplete = append(replayed.Incomplete, core.Gap{Action: e.Action, Reason: gapReason(err)})
		for _, behind := range journal.Effects[i+1:] {
			replayed.Incomplete = append(replayed.Incomplete,
				core.Gap{Action: behind.Action, Reason: fmt.Sprintf("behind action %d", e.Action)})
		}
		break
	}
	return replayed
}

// gapReason uses only words that hold nothing of the service's data.
func gapReason(err error) string {
	var refused *core.CallError
	if errors.As(err, &refused) {
		return "cannot be shown: " + refused.Text
	}
	return "cannot be shown"
}

func appendNew(list []string, s string) []string {
	for _, have := range list {
		if have == s {
			return list
		}
	}
	return append(list, s)
}
