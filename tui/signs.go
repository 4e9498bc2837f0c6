package tui

import (
	"fmt"
	"strings"
	"time"

	"gatehouse/core"
)

// stateSign is the sign of a state, with the role it is drawn in.
func stateSign(r core.Summary) (string, role) {
	if r.Kind == core.QueueKindQuestion {
		return "◆", roleAccent
	}
	if r.State == core.StatePending && r.Drift != core.DriftNone {
		return "≠", roleWarn
	}
	switch r.State {
	case core.StatePending:
		return "●", rolePlain
	case core.StateClaimed:
		return "◐", roleAccent
	case core.StateApplied:
		return "✓", roleGood
	case core.StateFailed:
		return "✗", roleDanger
	case core.StateUnknown:
		return "?", roleWarn
	case core.StateRejected:
		return "–", roleMuted
	case core.StateStranded:
		return "⊘", roleMuted
	case core.StateReverted:
		return "↶", roleMuted
	}
	return "·", roleMuted
}

// stateWord says the same as the sign; empty for what simply waits.
func stateWord(r core.Summary) string {
	switch {
	case r.Kind == core.QueueKindQuestion:
		return ""
	case r.State == core.StatePending && r.Drift == core.DriftBlocked:
		return "drifted: reject only"
	case r.State == core.StatePending && r.Drift != core.DriftNone:
		return "base moved"
	case r.State == core.StatePending:
		return ""
	case r.State == core.StateClaimed:
		return "being carried out"
	case r.State == core.StateUnknown:
		return "outcome unknown"
	case r.State == core.StateFailed && r.Retryable:
		return "failed, can be tried again"
	}
	return string(r.State)
}

// outcomeSign is the sign of what became of an item of a plan.
func outcomeSign(o core.ItemOutcome) (string, role) {
	switch o {
	case core.OutcomeApplied, core.OutcomeAnswered:
		return "✓", roleGood
	case core.OutcomeRejected:
		return "–", roleMuted
	case core.OutcomeFailed:
		return "✗", roleDanger
	case core.OutcomeUnknown:
		return "?", roleWarn
	case core.OutcomeDrifted:
		return "≠", roleWarn
	case core.OutcomeStranded:
		return "⊘", roleMuted
	case core.OutcomeSkipped, core.OutcomeNotStarted, core.OutcomeNotPending:
		return "●", rolePlain
	}
	return "◐", roleAccent
}

// age is how long something waits, in at most three or four characters.
func age(now, then time.Time) string {
	d := now.Sub(then)
	switch {
	case then.IsZero():
		return ""
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	case d < 365*24*time.Hour:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
	return fmt.Sprintf("%dy", int(d.Hours()/24/365))
}

// ago is an age in words.
func ago(now, then time.Time) string {
	if s := age(now, then); s != "now" {
		return s + " ago"
	}
	return "just now"
}

// plural counts in words.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%s %s", thousands(n), many)
}

// thousands writes 100000 as 100,000.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// idList names ids, a few at most.
func idList(ids []core.ActionID) string {
	const most = 6
	var parts []string
	for i, id := range ids {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(ids)-most))
			break
		}
		parts = append(parts, "#"+id.String())
	}
	return strings.Join(parts, " ")
}

// withoutVerb drops a kind that a title repeats as its first word.
func withoutVerb(kind, title string) string {
	if rest, ok := strings.CutPrefix(title, kind+" "); ok {
		return rest
	}
	return title
}
