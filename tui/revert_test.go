package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"gatehouse/core"
)

// fakeReverts is what the fake kernel knows of reverts, and of drift.
type fakeReverts struct {
	asked     []core.ActionID                 // in order
	by        map[core.ActionID]core.ActionID // what reverts an action
	refused   map[core.ActionID]string
	submitted map[core.ActionID][]core.Field
}

func (f *fakeReverts) into(d *core.Detail) {
	a := &d.Action
	a.Draft.Submitted = f.submitted[a.ID]
	d.CanRevert = a.State == core.StateApplied && f.by[a.ID] == 0
	if back := f.by[a.ID]; back != 0 {
		d.RevertedBy = []core.RevertState{{Action: back, State: core.StatePending, Title: fmt.Sprintf("revert %d: %s", a.ID, a.Draft.Title)}}
	}
	for original, back := range f.by {
		if back == a.ID {
			d.Reverts = &core.RevertState{Action: original, State: core.StateApplied, Title: strings.TrimPrefix(a.Draft.Title, fmt.Sprintf("revert %d: ", original))}
		}
	}
}

func (k *fakeKernel) Revertible(_ context.Context, ids []core.ActionID) ([]core.ActionID, error) {
	var out []core.ActionID
	for _, id := range ids {
		if k.row(id).State == core.StateApplied && k.back.by[id] == 0 {
			out = append(out, id)
		}
	}
	slices.Reverse(out)
	return out, k.broken
}

func (k *fakeKernel) Revert(_ context.Context, id core.ActionID, _ core.Authority) (core.Result, error) {
	if why := k.back.refused[id]; why != "" {
		return core.Result{}, &core.NotRevertibleError{Action: id, Why: why}
	}
	k.back.asked = append(k.back.asked, id)
	r := k.row(id)
	back := core.ActionID(100 + len(k.back.asked))
	k.add(back, r.SessionName, "restore", fmt.Sprintf("revert %d: %s", id, r.Title))
	if k.back.by == nil {
		k.back.by = map[core.ActionID]core.ActionID{}
	}
	k.back.by[id] = back
	return core.Result{Action: back, Outcome: core.OutcomeQueued}, nil
}

// plain has two edits that can be decided without a look.
func plain() *fakeKernel {
	k := newFake()
	k.add(1, "alpha", "edit", "edit index.md")
	k.add(2, "alpha", "mkdir", "mkdir new")
	return k
}

// carriedOut approves what plain has and shows the result.
func carriedOut(t *testing.T, k *fakeKernel, w, h int) *driver {
	t.Helper()
	d := newDriver(t, k, w, h)
	d.press("A", "j", "A", "c", "tab", "enter")
	d.shows("2 applied")
	return d
}

func TestT1_AfterThePlanZOffersReverts(t *testing.T) {
	t.Run("all that was applied, newest first, the focus on Cancel", func(t *testing.T) {
		d := carriedOut(t, plain(), 100, 30)
		d.press("z")
		d.shows("Queue reverts of 2 actions?", "Nothing happens yet")
		d.press("enter") // Cancel
		if len(d.k.back.asked) != 0 {
			t.Fatalf("queued by a reflex: %v", d.k.back.asked)
		}
		d.shows("2 applied")
		d.press("z", "tab", "enter")
		if fmt.Sprint(d.k.back.asked) != "[2 1]" {
			t.Fatalf("got reverts of %v, want 2 and then 1", d.k.back.asked)
		}
		d.shows("2 reverts queued")
		if d.k.row(1).State != core.StateApplied || d.k.confirms != 1 {
			t.Error("something was decided")
		}
		d.press("z")
		d.shows("nothing that was applied can be taken back")
	})
	t.Run("one of them", func(t *testing.T) {
		d := carriedOut(t, plain(), 100, 30)
		d.press("j", "Z")
		d.shows("Queue a revert of #2?")
		d.press("tab", "enter")
		if fmt.Sprint(d.k.back.asked) != "[2]" {
			t.Fatalf("got reverts of %v", d.k.back.asked)
		}
	})
	t.Run("what the kernel refuses is told", func(t *testing.T) {
		k := plain()
		k.back.refused = map[core.ActionID]string{2: "cannot be reverted: new: is not empty"}
		d := carriedOut(t, k, 120, 30)
		d.press("z", "tab", "enter")
		d.shows("1 revert queued", "is not empty")
	})
	t.Run("nothing was applied", func(t *testing.T) {
		k := plain()
		k.outcomes = map[core.ActionID]core.ItemOutcome{1: core.OutcomeFailed, 2: core.OutcomeUnknown}
		d := newDriver(t, k, 100, 30)
		d.press("A", "j", "A", "c", "tab", "enter", "z")
		d.shows("nothing of it was applied")
	})
	t.Run("before the plan z takes a draft back", func(t *testing.T) {
		d := newDriver(t, plain(), 100, 30)
		d.press("A", "z")
		if len(d.k.drafts) != 0 || len(d.k.back.asked) != 0 {
			t.Fatalf("got drafts %v, reverts %v", d.k.drafts, d.k.back.asked)
		}
	})
}

func TestRevertFromTheDetail(t *testing.T) {
	k := plain()
	k.add(9, "alpha", "edit", "edit index.md", state(core.StateApplied))
	d := newDriver(t, k, 100, 30)
	d.press("Z")
	d.shows("only for what was applied")
	d.press("/")
	d.typeText("state:applied")
	d.press("enter", "enter")
	d.shows("Z queues an action that takes it back")
	d.press("Z", "tab", "enter")
	if fmt.Sprint(k.back.asked) != "[9]" {
		t.Fatalf("got %v", k.back.asked)
	}
	d.shows("1 revert queued: #101", "back by #101")
}

// drifted is a site whose edit of the index met another.
func drifted() *fakeKernel {
	k := site()
	k.change(41, func(r *core.QueueRow) {
		r.Drift, r.Risk, r.Reason = core.DriftFresh, core.RiskHigh, "docs/index.md changed since it was made"
	})
	base, theirs := "# Docs\n\n## Contents\n1. Install\n2. First page\n\n## About\nThis site.\n", "# Documents\n\n## Contents\n1. Install it\n2. First page\n\n## About\nThis site.\n"
	ours := "# Docs\n\n## Contents\n- Start here\n\n## About\nThis site.\n"
	k.fields[41] = []core.Field{{Name: "path", Before: quote("docs/index.md"), After: quote("docs/index.md")}, {Name: "text", Before: quote(theirs), After: quote(ours)}}
	k.back.submitted = map[core.ActionID][]core.Field{41: {{Name: "path", Before: quote("docs/index.md"), After: quote("docs/index.md")}, {Name: "text", Before: quote(base), After: quote(ours)}}}
	return k
}

func TestF5_DriftInThreeWays(t *testing.T) {
	d := newDriver(t, drifted(), 120, 40)
	d.a.queue.goToRow(t, d, 41)
	d.press("d")
	d.shows("against what it was made on", "-  # Docs", "+  # Documents", "! both changed this", "+  1. Install it", " + - Start here")
	// What will be sent stands below, as ever.
	d.shows("-1. Install it", "+- Start here")
	d = newDriver(t, drifted(), 120, 40)
	d.a.queue.goToRow(t, d, 43)
	d.press("d")
	if strings.Contains(d.frame(), "made on") {
		t.Error("an action that did not drift is shown three ways")
	}
}

// TestGoldenRevert holds the three-way comparison and the prompt at the four sizes.
func TestGoldenRevert(t *testing.T) {
	states := map[string]func(t *testing.T, w, h int) *driver{
		"drift": func(t *testing.T, w, h int) *driver {
			d := newDriver(t, drifted(), w, h)
			d.a.queue.goToRow(t, d, 41)
			d.press("d")
			return d
		},
		"drift-scrolled": func(t *testing.T, w, h int) *driver {
			d := newDriver(t, drifted(), w, h)
			d.a.queue.goToRow(t, d, 41)
			d.press("d", "ctrl+d")
			return d
		},
		"prompt": func(t *testing.T, w, h int) *driver {
			d := carriedOut(t, plain(), w, h)
			d.press("z")
			return d
		},
		"queued": func(t *testing.T, w, h int) *driver {
			d := carriedOut(t, plain(), w, h)
			d.press("z", "tab", "enter")
			return d
		},
	}
	for name, state := range states {
		for _, size := range sizes() {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				d := state(t, size[0], size[1])
				d.intact()
				lines := strings.Split(d.frame(), "\n")
				for i, line := range lines {
					lines[i] = strings.TrimRight(line, " ")
				}
				golden.RequireEqual(t, strings.Join(lines, "\n")+"\n")
			})
		}
	}
}
