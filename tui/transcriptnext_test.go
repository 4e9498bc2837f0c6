package tui

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/agent"
)

// ended opens a session whose last turn ended in a way.
func ended(t *testing.T, w int, e core.TranscriptEntry, budgets ...core.Standing) *driver {
	k := site()
	e.Kind, e.Turn, e.Model = core.TranscriptTurn, 1, "tiny"
	e.Text = "turn 1: " + string(e.End) + suffix(": ", e.Text)
	k.script[len(k.script)-1] = e
	k.budgets = budgets
	d := newDriver(t, k, w, 24, func(o *Options) { o.Runner, o.Settings = &fakeRunner{}, "/etc/gatehouse.yaml" })
	d.press("2", "enter")
	d.intact()
	return d
}

// flat is the frame as one line, so that a sentence is found where it is broken.
func (d *driver) flat() string { return strings.Join(strings.Fields(d.frame()), " ") }

// TestNextStepIsSaid: whatever stops an agent, one line says which setting, or
// which key, leads on.
func TestNextStepIsSaid(t *testing.T) {
	standing := func(per core.BudgetScope, of core.BudgetUnit, limit, spent int64) core.Standing {
		return core.Standing{Budget: core.Budget{Per: per, Of: of, Limit: limit}, Spent: spent}
	}
	model := func(text string) core.TranscriptEntry {
		return core.TranscriptEntry{End: core.TurnEndModel, State: core.TurnFailed, Text: text}
	}
	budget := core.TranscriptEntry{End: core.TurnEndBudget, State: core.TurnFailed, Text: "the budget of 1000 tokens a session: 1200 spent"}
	for _, c := range []struct {
		name    string
		end     core.TranscriptEntry
		budgets []core.Standing
		want    string
	}{
		{
			"session budget", budget,
			[]core.Standing{standing(core.BudgetSession, core.BudgetTokens, 1000, 1200)},
			"→ budget.session_tokens is reached: raise it in /etc/gatehouse.yaml, start gatehouse again, then C goes on",
		},
		{
			"day budget", budget,
			[]core.Standing{standing(core.BudgetSession, core.BudgetTokens, 9000, 1200), standing(core.BudgetDay, core.BudgetCost, 2_000_000, 2_000_000)},
			"→ budget.day_cost is reached: raise it in /etc/gatehouse.yaml, or wait for tomorrow, start gatehouse again, then C goes on",
		},
		{
			"budget of zero",
			core.TranscriptEntry{End: core.TurnEndDone, State: core.TurnDone},
			[]core.Standing{standing(core.BudgetDay, core.BudgetTokens, 0, 0)},
			"→ budget.day_tokens is 0: no model may be asked; raise it in /etc/gatehouse.yaml",
		},
		{"budget again", budget, []core.Standing{standing(core.BudgetSession, core.BudgetTokens, 9000, 1200)}, "→ there is budget again: C goes on"},
		{
			"context full",
			core.TranscriptEntry{End: core.TurnEndContext, State: core.TurnFailed, Text: "the model takes no more"},
			nil,
			"→ i begins a new turn, without what was said so far; gatehouse session new NAME makes a new session",
		},
		{
			"missing key", model("model tiny: http://here/v1 wants a key; set MY_KEY, or name another variable with openai.key_env"), nil,
			"wants a key; set MY_KEY, or name another variable with openai.key_env; settings: /etc/gatehouse.yaml; C goes on",
		},
		{"wrong key", model("model tiny: http://here/v1 refused the key in MY_KEY (openai.key_env): 401"), nil, "refused the key in MY_KEY (openai.key_env): 401"},
		{
			"no model server", model("model tiny: http://here is no model server that speaks this protocol: 404; check openai.base_url (most end in /v1)"), nil,
			"check openai.base_url (most end in /v1)",
		},
		{
			"unknown model", model(`model huge: model "huge" is not offered; set openai.model to one that http://here/v1 offers: tiny, small`), nil,
			"set openai.model to one that http://here/v1 offers: tiny, small",
		},
	} {
		for _, w := range []int{80, 120} {
			t.Run(c.name, func(t *testing.T) {
				d := ended(t, w, c.end, c.budgets...)
				if flat := d.flat(); !strings.Contains(flat, c.want) {
					t.Errorf("the frame does not say %q:\n%s", c.want, d.frame())
				}
			})
		}
	}
}

// TestNoModelIsSaid: a turn that cannot begin says why in full, and keeps what was typed.
func TestNoModelIsSaid(t *testing.T) {
	r := &fakeRunner{run: func(context.Context, func(agent.Event)) error {
		return errors.New("no model is configured; set provider to openai and openai.model in /etc/gatehouse.yaml")
	}}
	d := writing(t, r, 60, 15)
	d.typeText("do it")
	d.press("enter")
	if flat := d.flat(); !strings.Contains(flat, "→ no model is configured; set provider to openai and openai.model in /etc/gatehouse.yaml › do it") {
		t.Errorf("the frame does not say why:\n%s", d.frame())
	}
	d.intact()
}

// TestStatusStaysAfterTheTurn: model, step, tokens and cost of the last turn, and the budgets.
func TestStatusStaysAfterTheTurn(t *testing.T) {
	r := &fakeRunner{}
	d := newDriver(t, site(), 120, 40, func(o *Options) { o.Runner = r })
	d.k.budgets = []core.Standing{
		{Budget: core.Budget{Per: core.BudgetSession, Of: core.BudgetTokens, Limit: 50_000}, Spent: 1280},
		{Budget: core.Budget{Per: core.BudgetDay, Of: core.BudgetCost, Limit: 5_000_000}, Spent: 4_200_000},
	}
	r.run = func(_ context.Context, observe func(agent.Event)) error {
		text := core.TranscriptEntry{Kind: core.TranscriptText, Turn: 2, Step: 3, Model: "tiny", Text: "Done."}
		end := core.TranscriptEntry{Kind: core.TranscriptTurn, Turn: 2, Model: "tiny", State: core.TurnDone, End: core.TurnEndDone, Text: "turn 2: done"}
		d.k.script = append(d.k.script, text, end)
		observe(agent.Event{Kind: agent.EventStarted, Turn: 2})
		observe(agent.Event{Kind: agent.EventUsage, Turn: 2, Step: 3, Usage: core.Usage{Input: 1200, Output: 80, Cost: 2500}})
		observe(agent.Event{Kind: agent.EventEntry, Turn: 2, Step: 3, Entry: text})
		observe(agent.Event{Kind: agent.EventEntry, Turn: 2, Entry: end})
		return nil
	}
	d.press("2", "enter", "i")
	d.typeText("go")
	d.press("enter")
	want := "turn 2: done · day 4.20 of 5.00 · step 3 of 30 · tiny · 1,280 tokens · cost 0.0025 · session 1,280 of 50,000 tokens"
	d.shows(want)
	d.press("esc", "esc", "j", "enter")
	d.hides("1,280 tokens · cost")
	d.press("esc", "k", "enter")
	d.shows(want)
}

// TestQuestionOfAnotherProcess is answered in the transcript too.
func TestQuestionOfAnotherProcess(t *testing.T) {
	r := &fakeRunner{}
	d := newDriver(t, site(), 80, 24, func(o *Options) { o.Runner = r })
	d.press("2", "j", "enter")
	d.shows("◆ Q7 Fetch from status.example?", "1  Yes, once", "i answers Q7 here")
	d.press("i")
	d.typeText("2")
	d.press("enter")
	if d.k.answers[7] != "No" || len(r.tasks) != 0 {
		t.Fatalf("answered %q, tasks %q", d.k.answers, r.tasks)
	}
	d.hides("◆ Q7")
}

// TestQuitNamesTurnAndDrafts: what would be stopped and what is kept.
func TestQuitNamesTurnAndDrafts(t *testing.T) {
	d, _ := working(t, &fakeRunner{}, 80, 24)
	d.press("esc", "1", "g", "j", "j", "j", "A", "q")
	d.shows("Quit while an agent works, with 1 draft not carried out?", "Drafts are kept")
}
