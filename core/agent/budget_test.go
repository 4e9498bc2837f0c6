package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/agent"
)

// metered is a fake model that takes tokens and has a price.
type metered struct {
	*fake
	price  core.Price
	priced bool
}

func (m metered) Price() (core.Price, bool) { return m.price, m.priced }

// takes is a reply that asks for a read and took so many tokens.
func takes(id string, input, output int) reply {
	return func(context.Context, core.Request, func(string)) (core.Response, error) {
		return core.Response{
			Calls: []core.ToolCall{tool(id, "NOTES.get", `{"id":"item-1"}`)}, Usage: core.Usage{Input: input, Output: output},
		}, nil
	}
}

func budgets(list ...core.Budget) func(*core.Options) {
	return func(o *core.Options) { o.Budgets = list }
}

func tokens(per core.BudgetScope, limit int64) core.Budget {
	return core.Budget{Per: per, Of: core.BudgetTokens, Limit: limit}
}

// spending runs turns of a kernel with budgets and keeps what was warned about.
type spending struct {
	*rig
	kernel   *core.Kernel
	warnings []string
}

func (r *rig) spending(list ...core.Budget) *spending {
	k, _ := r.process(budgets(list...))
	return &spending{rig: r, kernel: k}
}

func (s *spending) options(m core.Model) agent.Options {
	o := s.rig.options(m)
	o.Kernel = s.kernel
	o.Observer = func(e agent.Event) {
		if e.Kind == agent.EventWarning {
			s.warnings = append(s.warnings, e.Text)
		}
	}
	return o
}

func (s *spending) wantSpent(want core.Usage) {
	s.t.Helper()
	got, err := s.kernel.Spending(context.Background(), s.session)
	s.must(err)
	if got.Session != want || got.Today != want {
		s.t.Errorf("got %+v in the session and %+v today, want %+v", got.Session, got.Today, want)
	}
}

func TestA9_WarnsThenStopsWithinOneResponse(t *testing.T) {
	s := newRig(t).spending(tokens(core.BudgetSession, 1000))
	m := fakeModel(takes("1", 300, 100), takes("2", 300, 120), takes("3", 300, 150), takes("4", 300, 150))
	report := s.run(s.options(m), core.TurnFailed)
	s.wantEnd(report, core.TurnEndBudget)
	if len(m.asked()) != 3 {
		t.Errorf("asked %d times, want 3: 820 leave room for one more, 1270 for none", len(m.asked()))
	}
	if len(s.warnings) != 1 || s.warnings[0] != "the budget of 1000 tokens a session: 820 spent" {
		t.Errorf("warned %q, want once at 820", s.warnings)
	}
	const why = "the budget of 1000 tokens a session: 1270 spent, nothing more may be asked"
	if last := s.transcript()[len(s.transcript())-1]; report.Turn.Reason != why || !strings.Contains(last.Text, why) {
		t.Errorf("got %q, and %q in the transcript, want %q", report.Turn.Reason, last.Text, why)
	}
	if results := s.results(); len(results) != 3 || results[2].Status() != core.StatusOK {
		t.Errorf("got %d results, want the calls of what was paid for to have run", len(results))
	}
	s.wantSpent(core.Usage{Input: 900, Output: 370})

	// Another process knows it too; with more to spend the turn goes on where it was.
	s = s.rig.spending(tokens(core.BudgetSession, 1000))
	s.wantEnd(s.resume(s.options(m), core.TurnFailed), core.TurnEndBudget)
	s = s.rig.spending(tokens(core.BudgetSession, 5000))
	s.wantEnd(s.resume(s.options(m), core.TurnDone), core.TurnEndDone)
	if len(m.asked()) != 5 {
		t.Errorf("asked %d times, want 5", len(m.asked()))
	}
}

func TestA9_ABudgetOfZeroAsksNothing(t *testing.T) {
	s := newRig(t).spending(tokens(core.BudgetDay, 0))
	m := fakeModel(says("hello"))
	report := s.run(s.options(m), core.TurnFailed)
	s.wantEnd(report, core.TurnEndBudget)
	if len(m.asked()) != 0 || !strings.HasPrefix(report.Turn.Reason, "the budget of 0 tokens a day") {
		t.Errorf("asked %d times (%s), want never", len(m.asked()), report.Turn.Reason)
	}
}

// wall is a clock that is moved by hand.
type wall struct{ now time.Time }

func (w *wall) Now() time.Time { return w.now }

func TestA9_ADayCountsAllSessionsAndEndsAtMidnight(t *testing.T) {
	r := newRig(t)
	clock := &wall{time.Date(2026, 3, 1, 23, 50, 0, 0, time.FixedZone("east", 9*3600))}
	k, _ := r.process(budgets(tokens(core.BudgetDay, 1000)), func(o *core.Options) { o.Clock = clock })
	s := &spending{rig: r, kernel: k}
	s.wantEnd(s.run(s.options(fakeModel(takes("1", 1000, 0))), core.TurnFailed), core.TurnEndBudget)
	other, err := k.NewSession(context.Background(), core.NewSession{Name: "other", Owner: alice})
	r.must(err)
	o := s.options(fakeModel(says("hello")))
	o.Session = string(other.ID)
	report, err := agent.Run(context.Background(), o)
	r.must(err)
	r.wantEnd(report, core.TurnEndBudget)
	clock.now = clock.now.Add(11 * time.Minute)
	report, err = agent.Continue(context.Background(), o)
	r.must(err)
	r.wantEnd(report, core.TurnEndDone)
}

func TestA9_CostByThePriceList(t *testing.T) {
	s := newRig(t).spending(core.Budget{Per: core.BudgetSession, Of: core.BudgetCost, Limit: 10_000}) // 0.01
	m := metered{fakeModel(takes("1", 1000, 500), takes("2", 1000, 500), says("done")), core.Price{Input: 2_500_000, Output: 10_000_000}, true}
	report := s.run(s.options(m), core.TurnFailed) // 0.0025 + 0.005 a response
	if want := "the budget of 0.01 a session: 0.015 spent, nothing more may be asked"; report.Turn.Reason != want {
		t.Errorf("got %q, want %q", report.Turn.Reason, want)
	}
	s.wantSpent(core.Usage{Input: 2000, Output: 1000, Cost: 15_000})

	s = newRig(t).spending(core.Budget{Per: core.BudgetDay, Of: core.BudgetCost, Limit: 1_000_000})
	m = metered{fake: fakeModel(says("hello"))}
	if report = s.run(s.options(m), core.TurnFailed); !strings.Contains(report.Turn.Reason, "no price of this model") || len(m.asked()) != 0 {
		t.Errorf("got %q after %d questions, want it refused without a price", report.Turn.Reason, len(m.asked()))
	}
}

// What was asked and never stored is paid for all the same.
func TestA9_WhatWasLostCounts(t *testing.T) {
	r := newRig(t)
	s := r.spending()
	broken := func(context.Context, core.Request, func(string)) (core.Response, error) {
		return core.Response{Usage: core.Usage{Input: 70, Output: 7, Estimated: true}}, errors.New("cut")
	}
	m := metered{fake: fakeModel(broken)}
	s.run(s.options(m), core.TurnFailed)
	s.wantSpent(core.Usage{Input: 70, Output: 7, Estimated: true})

	// A process that dies while the model is at work leaves the estimate of the question.
	r = newRig(t)
	killed := errors.New("killed")
	k, _ := r.process(func(o *core.Options) {
		o.Fault = failAt(func(p core.FaultPoint) error {
			if p == core.FaultTurnResponse {
				return killed
			}
			return nil
		})
	})
	s = &spending{rig: r, kernel: k}
	stored := core.Usage{}
	m = metered{fake: fakeModel(func(context.Context, core.Request, func(string)) (core.Response, error) {
		got, err := k.Spending(context.Background(), r.session)
		stored = got.Session
		return core.Response{Text: "lost", Usage: core.Usage{Input: 5}}, err
	})}
	if _, err := agent.Run(context.Background(), s.options(m)); !errors.Is(err, killed) {
		t.Fatalf("got %v, want the planted fault", err)
	}
	if stored.Input == 0 || !stored.Estimated {
		t.Errorf("got %+v while the model was at work, want an estimate", stored)
	}
	s.wantSpent(core.Usage{Input: 5})
}

type failAt func(core.FaultPoint) error

func (f failAt) At(p core.FaultPoint) error { return f(p) }

func TestRun_AContextThatIsFullOffersANewTurn(t *testing.T) {
	r := newRig(t)
	full := func(context.Context, core.Request, func(string)) (core.Response, error) {
		return core.Response{}, fmt.Errorf("%w: 9000 of 8192", core.ErrContextFull)
	}
	m := fakeModel(calls(tool("1", "NOTES.get", `{"id":"item-1"}`)), full, says("a fresh start"))
	report := r.run(r.options(m), core.TurnDone)
	r.wantEnd(report, core.TurnEndContext)
	if !strings.Contains(report.Turn.Reason, "no longer fits") {
		t.Errorf("got %q, want it said", report.Turn.Reason)
	}
	r.wantEnd(r.run(r.options(m), core.TurnDone), core.TurnEndDone)
	if asked := m.asked(); len(asked[1].History) != 1 || len(asked[2].History) != 0 {
		t.Errorf("got %d and %d earlier steps, want 1 before and none behind it", len(asked[1].History), len(asked[2].History))
	}
	r.run(r.options(m), core.TurnDone)
	if last := m.asked()[3]; len(last.History) != 1 || last.History[0].Turn != 2 {
		t.Errorf("got %+v, want the turn behind it", last.History)
	}
}

func TestParseCost(t *testing.T) {
	for s, want := range map[string]string{"0": "0.00", "2.5": "2.50", "0.000001": "0.000001", "12.3456": "12.3456", ".5": "0.50", "10": "10.00"} {
		if got, err := core.ParseCost(s); err != nil || got.String() != want {
			t.Errorf("%s: got %s (%v), want %s", s, got, err, want)
		}
	}
	for _, s := range []string{"", ".", "-1", "1e3", "0.0000001", "1,5", "1.2.3", "NaN", "9999999999999"} {
		if got, err := core.ParseCost(s); err == nil {
			t.Errorf("%s: got %s, want it refused", s, got)
		}
	}
}
