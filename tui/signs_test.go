package tui

import (
	"testing"

	"gatehouse/core"
)

// TestT8_EveryStateHasASignAndAWord: no state is told by colour alone, and no two look the same.
func TestT8_EveryStateHasASignAndAWord(t *testing.T) {
	seen := map[string]core.State{}
	for _, state := range core.States() {
		row := core.Summary{Kind: "edit", State: state}
		sign, _ := stateSign(row)
		if other, taken := seen[sign]; taken {
			t.Errorf("%s and %s have the same sign %s", state, other, sign)
		}
		seen[sign] = state
		if word := stateWord(row); word == "" && state != core.StatePending {
			t.Errorf("%s has no word", state)
		}
	}
	drifted := core.Summary{Kind: "edit", State: core.StatePending, Drift: core.DriftFresh}
	if sign, _ := stateSign(drifted); sign != "≠" || stateWord(drifted) == "" {
		t.Errorf("a drifted action has sign %s and word %q", sign, stateWord(drifted))
	}
}

// TestT8_RolesAreAllThatColours: a role without a start sequence in the theme without colours draws plain text.
func TestT8_RolesAreAllThatColours(t *testing.T) {
	none := newTheme(ThemeNone)
	for r := range roles {
		if got := none.paint(r, ""); got != "" {
			t.Errorf("role %d paints nothing as %q", r, got)
		}
	}
	if got := none.paint(roleDanger, "failed"); got != "failed" {
		t.Errorf("got %q", got)
	}
}
