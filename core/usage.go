package core

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Cost is money in millionths of the currency in which prices are written.
type Cost int64

// millionths make one.
const millionths = 1_000_000

// ParseCost reads an amount such as 2.50, with six decimals at most; anything below a millionth is refused.
func ParseCost(s string) (Cost, error) {
	whole, part, _ := strings.Cut(s, ".")
	digits := whole + part
	if digits == "" || len(part) > 6 || len(whole) > 12 || strings.Trim(digits, "0123456789") != "" {
		return 0, fmt.Errorf("%q: not an amount such as 2.50, with six decimals at most", s)
	}
	n, err := strconv.ParseInt("0"+whole+part+strings.Repeat("0", 6-len(part)), 10, 64)
	return Cost(n), err
}

// String is the amount with two decimals, or with as many as it needs.
func (c Cost) String() string {
	s := fmt.Sprintf("%d.%06d", c/millionths, c%millionths)
	for strings.HasSuffix(s, "0") && len(s)-strings.IndexByte(s, '.') > 3 {
		s = s[:len(s)-1]
	}
	return s
}

// Price is what a million tokens cost.
type Price struct {
	Input  Cost
	Output Cost
}

// Of is the cost of a response, rounded up.
func (p Price) Of(u Usage) Cost {
	return (Cost(u.Input)*p.Input + Cost(u.Output)*p.Output + millionths - 1) / millionths
}

// Usage is what responses took. An estimated one was not counted by the provider.
type Usage struct {
	Input     int  `json:"input,omitempty"`
	Output    int  `json:"output,omitempty"`
	Estimated bool `json:"estimated,omitempty"`
	Cost      Cost `json:"cost,omitempty"` // millionths; the kernel's, by the model's price
}

// Tokens are all of them.
func (u Usage) Tokens() int { return u.Input + u.Output }

// Metered is a model whose responses count before they are there, so that one that was lost is not for free. Price is
// not known where no list has it.
type Metered interface {
	Price() (price Price, known bool)
}

// bytesPerToken is how tokens are estimated where nobody counts them.
const bytesPerToken = 4

// EstimateTokens is about how many tokens a text of so many bytes has.
func EstimateTokens(bytes int) int { return (bytes + bytesPerToken - 1) / bytesPerToken }

// Spending is one question to a model, whether it was answered or not.
type Spending struct {
	ID      int64
	Session SessionID
	Turn    int
	Step    int
	Model   string
	At      time.Time
	Usage   Usage
}

// BudgetScope is what a budget holds for.
type BudgetScope string

// The scopes. A day begins at midnight where the clock is.
const (
	BudgetSession BudgetScope = "session"
	BudgetDay     BudgetScope = "day"
)

// BudgetUnit is what a budget counts.
type BudgetUnit string

// The units; the limit of a budget of cost is in millionths.
const (
	BudgetTokens BudgetUnit = "tokens"
	BudgetCost   BudgetUnit = "cost"
)

// Budget is how much may be spent. One of zero means that nothing may be asked; where there is none nothing is held
// back. What is asked at the same time by several processes may exceed it by one response each.
type Budget struct {
	Per   BudgetScope
	Of    BudgetUnit
	Limit int64
}

// Standing is how much of a budget is spent.
type Standing struct {
	Budget
	Spent int64
}

// Reached reports that no model may be asked any more.
func (s Standing) Reached() bool { return s.Spent >= s.Limit }

// Near reports that four fifths are spent.
func (s Standing) Near() bool { return s.Spent >= s.Limit-s.Limit/5 }

// String is one line for a person.
func (s Standing) String() string {
	if s.Of == BudgetCost {
		return fmt.Sprintf("the budget of %s a %s: %s spent", Cost(s.Limit), s.Per, Cost(s.Spent))
	}
	return fmt.Sprintf("the budget of %d tokens a %s: %d spent", s.Limit, s.Per, s.Spent)
}

// standings says how much of each budget is spent.
func (k *Kernel) standings(v turnsView, session SessionID) ([]Standing, error) {
	if len(k.budgets) == 0 {
		return nil, nil
	}
	own, today, err := k.spent(v, session)
	if err != nil {
		return nil, err
	}
	out := make([]Standing, len(k.budgets))
	for i, b := range k.budgets {
		u := own
		if b.Per == BudgetDay {
			u = today
		}
		out[i] = Standing{Budget: b, Spent: int64(u.Tokens())}
		if b.Of == BudgetCost {
			out[i].Spent = int64(u.Cost)
		}
	}
	return out, nil
}

// spent is what a session took ever, and all sessions today.
func (k *Kernel) spent(v turnsView, session SessionID) (own, today Usage, err error) {
	if own, err = v.Spent(session, time.Time{}); err != nil {
		return own, today, err
	}
	now := k.clock.Now()
	today, err = v.Spent("", time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location()))
	return own, today, err
}

// reached is the first budget that lets nothing more be asked.
func reached(standings []Standing) (Standing, bool) {
	for _, s := range standings {
		if s.Reached() {
			return s, true
		}
	}
	return Standing{}, false
}

func (k *Kernel) hasCostBudget() bool {
	for _, b := range k.budgets {
		if b.Of == BudgetCost {
			return true
		}
	}
	return false
}

// SpendingReport is what models took.
type SpendingReport struct {
	Session Usage // of the session, ever
	Today   Usage // of all sessions
	Budgets []Standing
}

// Spending says what the models of a session took, and how much of each budget is spent.
func (k *Kernel) Spending(ctx context.Context, ref string) (SpendingReport, error) {
	var out SpendingReport
	err := k.store.Read(ctx, func(v View) error {
		session, err := findSession(v, ref)
		if err != nil {
			return err
		}
		if out.Session, out.Today, err = k.spent(v, session.ID); err != nil {
			return err
		}
		out.Budgets, err = k.standings(v, session.ID)
		return err
	})
	return out, err
}
