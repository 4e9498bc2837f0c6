package core

import (
	"encoding/json"
	"fmt"
	"time"
)

// Effect is a live action as a driver sees it when it replays.
type Effect struct {
	Action    ActionID
	Kind      string
	Payload   json.RawMessage
	Fields    []Field
	Targets   []string
	Provides  []string
	Needs     []Reference
	After     []Reference
	CreatedAt time.Time
	State     State
}

// Journal is what a session has pending on one resource, for one call (kernel R16).
type Journal struct {
	Effects []Effect // pending, of the simulate lane, in id order: to be replayed
	Gaps    []Gap    // never replayed: claimed, unknown, retryable, awaited, and what stands behind one of them
}

// Last is the newest effect that touches a target, which is what a write on it comes after; false where there is none.
func (j Journal) Last(target string) (Effect, bool) {
	for i := len(j.Effects) - 1; i >= 0; i-- {
		for _, t := range j.Effects[i].Targets {
			if t == target {
				return j.Effects[i], true
			}
		}
	}
	return Effect{}, false
}

// buildJournal keeps the order of ids and never replays over a gap: an effect that shares a target with, needs or
// comes after something that is not replayed is a gap itself (K57). Live must be in id order.
func buildJournal(live []LiveEffect) Journal {
	var j Journal
	blockedTarget := make(map[string]ActionID)
	blocked := make(map[ActionID]bool)
	for _, e := range live {
		reason := e.gapReason(blockedTarget, blocked)
		if reason == "" {
			j.Effects = append(j.Effects, e.Effect)
			continue
		}
		j.Gaps = append(j.Gaps, Gap{Action: e.Action, Reason: reason})
		blocked[e.Action] = true
		for _, t := range e.Targets {
			if _, found := blockedTarget[t]; !found {
				blockedTarget[t] = e.Action
			}
		}
	}
	return j
}

func (e LiveEffect) gapReason(blockedTarget map[string]ActionID, blocked map[ActionID]bool) string {
	switch e.State {
	case StatePending:
	case StateFailed:
		return "failed, may be retried"
	default:
		return string(e.State)
	}
	if e.Lane != LaneSimulate {
		return "waits for its real result"
	}
	for _, refs := range [][]Reference{e.Needs, e.After} {
		for _, r := range refs {
			if blocked[r.Provider] {
				return fmt.Sprintf("behind action %d", r.Provider)
			}
		}
	}
	for _, t := range e.Targets {
		if first, found := blockedTarget[t]; found {
			return fmt.Sprintf("behind action %d", first)
		}
	}
	return ""
}
