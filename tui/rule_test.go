package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gatehouse/core"
)

// fakeRules are the rules of a fake kernel.
type fakeRules struct {
	made  []core.Rule
	asked []core.RuleRequest
	shown []core.ActionID
	runs  []core.Summary
	fault error
}

func (k *fakeKernel) PreviewRule(_ context.Context, r core.RuleRequest, by core.PersonID) (core.RulePreview, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rules.asked = append(k.rules.asked, r)
	return core.RulePreview{Rule: core.Rule{Binding: r.Binding, Kind: r.Kind, Author: by, ExpiresAt: start.Add(core.RuleLife)}, Runs: k.rules.runs}, k.rules.fault
}

func (k *fakeKernel) AddRule(_ context.Context, r core.RuleRequest, shown []core.ActionID, by core.Authority, _ func(core.Progress)) (core.Rule, []core.Result, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	rule := core.Rule{ID: "r1", Session: core.SessionID(r.Session), Binding: r.Binding, Kind: r.Kind, Condition: r.Condition, Author: by.Person}
	k.rules.made, k.rules.shown = append(k.rules.made, rule), shown
	var results []core.Result
	for _, id := range shown {
		results = append(results, core.Result{Action: id, Outcome: core.OutcomeApplied})
	}
	return rule, results, nil
}

func (k *fakeKernel) Rules(context.Context, string) ([]core.RuleStanding, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []core.RuleStanding
	for _, r := range k.rules.made {
		out = append(out, core.RuleStanding{Rule: r})
	}
	return out, k.broken
}

func (k *fakeKernel) RemoveRule(_ context.Context, id core.RuleID, _ core.Authority) (core.Rule, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.IndexFunc(k.rules.made, func(r core.Rule) bool { return r.ID == id })
	gone := k.rules.made[i]
	k.rules.made = slices.Delete(k.rules.made, i, i+1)
	return gone, nil
}

func ruleDriver(t *testing.T, w, h int) *driver {
	t.Helper()
	d := newDriver(t, site(), w, h)
	d.a.queue.goToRow(t, d, 38)
	return d
}

func TestRule_ShowsWhatItRunsAndAsksBeforeItIsMade(t *testing.T) {
	d := ruleDriver(t, 120, 40)
	d.k.rules.runs = []core.Summary{{ID: 38, Title: "edit one"}, {ID: 39, Title: "edit \x1b[2Jtwo"}}
	d.press("R")
	d.shows("A rule for")
	if d.k.rules.made != nil {
		t.Fatal("made at once")
	}
	d.typeText(`path != ""`)
	d.press("enter")
	d.shows("runs at once", "#38 edit one")
	d.shows("#39 edit two")
	if got := d.k.rules.asked[0].Condition; got != `path != ""` {
		t.Errorf("got condition %q", got)
	}
	d.press("enter") // the focus is on Cancel
	if d.k.rules.made != nil {
		t.Fatal("made by enter")
	}
	d.press("R")
	d.press("enter")
	d.press("tab", "enter")
	d.shows("rule r1 is made; 2 of 2 carried out")
	if !slices.Equal(d.k.rules.shown, []core.ActionID{38, 39}) {
		t.Errorf("got %v, want what was shown", d.k.rules.shown)
	}
}

func TestRule_AFaultIsSaidWhereItIsTyped(t *testing.T) {
	d := ruleDriver(t, 120, 40)
	d.k.rules.fault = &core.PredicateError{Line: 1, Column: 3, Text: "undeclared reference to 'pth'"}
	d.press("R")
	d.typeText("pth")
	d.press("enter")
	d.shows("line 1, column 3: undeclared reference to 'pth'")
	d.shows("pth")
}

func TestRule_OneKindThroughOneBinding(t *testing.T) {
	d := ruleDriver(t, 120, 40)
	d.press("a", "R")
	if len(d.k.rules.asked) > 0 {
		t.Error("asked about different kinds")
	}
	d.shows("mark such rows alone")
}

func TestRule_OneIsEnded(t *testing.T) {
	d := ruleDriver(t, 120, 40)
	d.press("ctrl+r")
	d.shows("there is no rule")
	d.press("esc")
	d.k.rules.made = []core.Rule{{ID: "r1", Session: "s1", Binding: "SITE", Kind: "write", Condition: "always \x1b[31mred"}}
	d.press("ctrl+r")
	d.press("enter")
	d.shows("End rule r1?")
	d.press("tab", "enter")
	d.shows("rule r1 ended")
	if len(d.k.rules.made) != 0 {
		t.Error("still there")
	}
}

func TestGoldenRules(t *testing.T) {
	for name, state := range map[string]func(*driver){
		"condition": func(d *driver) { d.press("R") },
		"preview": func(d *driver) {
			for i := range 9 {
				d.k.rules.runs = append(d.k.rules.runs, core.Summary{ID: core.ActionID(38 + i), Title: strings.Repeat("edit a page ", 9)})
			}
			d.press("R")
			d.press("enter")
		},
		"list": func(d *driver) {
			d.k.rules.made = []core.Rule{{ID: "r1", Session: "s1", Binding: "SITE", Kind: "write", Condition: `path.startsWith("docs/")`}}
			d.press("ctrl+r")
		},
		"list-empty": func(d *driver) { d.press("ctrl+r") },
		"list-error": func(d *driver) {
			d.k.broken = errors.New("gatehouse.db: the disk does not answer")
			d.press("ctrl+r")
		},
	} {
		for _, size := range sizes() {
			t.Run(name+"-"+fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
				d := ruleDriver(t, size[0], size[1])
				state(d)
				d.golden(t)
			})
		}
	}
}

// TestRule_AnAnswerThatComesLateOpensNothing: who went elsewhere while the rows
// were looked at is asked nothing over what they do now (T5).
func TestRule_AnAnswerThatComesLateOpensNothing(t *testing.T) {
	d := ruleDriver(t, 120, 40)
	d.hold = true
	d.press("R", "2")
	d.release()
	d.shows("Sessions ──")
	d.hides("A rule for")
	d.press("1")
	d.a.queue.goToRow(t, d, 38)
	d.press("R")
	d.shows("A rule for")
	d.hold = true
	d.press("enter", "?")
	d.release()
	d.shows("Keys · ")
	d.hides("A rule for")
}
