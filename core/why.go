package core

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Chain is how something came about and what followed from it, told by the record.
type Chain struct {
	Subject string    // what it is about, such as "action 12"
	Session SessionID // empty where the subject belongs to none
	Rows    []Row     // oldest first, each once
	Earlier bool      // rows before the first were left out: there are more than a chain holds
}

// chainMost bounds the rows of each part of a chain.
const chainMost = 1000

// Why tells the chain of an action or a question: what its turn had read, was refused and had sent to its model before
// it, then every row about it, and the plan that decided it. An id of nothing is ErrNotFound.
func (k *Kernel) Why(ctx context.Context, id ActionID) (Chain, error) {
	var c Chain
	err := k.store.Read(ctx, func(v View) error {
		var err error
		if c, err = chainSubject(v, id); err != nil {
			return err
		}
		return c.gather(v)
	})
	return c, err
}

// WhyRow is Why for what a row of the record is about; a number that no row has is ErrNotFound.
func (k *Kernel) WhyRow(ctx context.Context, seq int64) (Chain, error) {
	var c Chain
	err := k.store.Read(ctx, func(v View) error {
		rows, err := v.Rows(RecordQuery{After: seq - 1, UpTo: seq, Limit: 1})
		if err != nil {
			return err
		}
		if seq < 1 || len(rows) == 0 {
			return notFound("row of the record", strconv.FormatInt(seq, 10), "see gatehouse log")
		}
		c = Chain{Subject: rows[0].Entry.Subject, Session: rows[0].Entry.Session}
		if c.Subject == "" {
			c.Rows = rows
			return nil
		}
		return c.gather(v)
	})
	return c, err
}

func chainSubject(v View, id ActionID) (Chain, error) {
	a, err := v.Action(id)
	if err == nil {
		return Chain{Subject: actionSubject(id), Session: a.Session}, nil
	}
	if !errors.Is(err, ErrNotFound) {
		return Chain{}, err
	}
	q, err := v.Question(id)
	if errors.Is(err, ErrNotFound) {
		return Chain{}, notFound("action", id.String(), "see gatehouse queue list --state all")
	}
	return Chain{Subject: questionSubject(id), Session: q.Session}, err
}

// gather reads the rows of a chain: those about the subject, the plans that they name, and what came before the first.
func (c *Chain) gather(v View) error {
	about, err := v.Rows(RecordQuery{Session: c.Session, Subject: c.Subject, Limit: chainMost})
	if err != nil || len(about) == 0 {
		return err
	}
	c.Rows = about
	for _, id := range plansOf(about) {
		rows, err := v.Rows(RecordQuery{Subject: planSubject(id), Limit: chainMost})
		if err != nil {
			return err
		}
		c.Rows = append(c.Rows, rows...)
	}
	before, err := c.before(v, about[0])
	if err != nil {
		return err
	}
	c.Rows = append(c.Rows, before...)
	slices.SortFunc(c.Rows, func(a, b Row) int { return int(a.Seq - b.Seq) })
	c.Rows = slices.CompactFunc(c.Rows, func(a, b Row) bool { return a.Seq == b.Seq })
	return nil
}

// before reads what the turn of a row had read, was refused and had sent to its model, newest first. Calls from outside
// of a turn, from a command or another program, count as one turn.
func (c *Chain) before(v View, first Row) ([]Row, error) {
	e := first.Entry
	if e.Session == "" {
		return nil, nil
	}
	q := RecordQuery{
		Session: e.Session, Turn: e.Turn, Types: []EventType{EventRead, EventBlocked, EventEgress}, Before: first.Seq, Limit: chainMost + 1,
	}
	if e.Turn > 0 { // what came before the turn began is not looked at
		began, err := v.Rows(RecordQuery{Session: e.Session, Subject: (Turn{Number: e.Turn}).subject(), Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(began) > 0 {
			q.After = began[0].Seq
		}
	}
	rows, err := v.Rows(q)
	if err != nil {
		return nil, err
	}
	if len(rows) > chainMost {
		c.Earlier, rows = true, rows[:chainMost]
	}
	if e.Turn == 0 {
		rows = slices.DeleteFunc(rows, func(r Row) bool { return r.Entry.Turn != 0 })
	}
	return rows, nil
}

func planSubject(id PlanID) string { return "plan " + string(id) }

// plansOf are the plans that decisions name, each once.
func plansOf(rows []Row) []PlanID {
	var ids []PlanID
	for _, r := range rows {
		if r.Entry.Type != EventDecision {
			continue
		}
		var named struct {
			Plan PlanID `json:"plan"`
		}
		if json.Unmarshal(r.Entry.Detail, &named) == nil && named.Plan != "" && !slices.Contains(ids, named.Plan) {
			ids = append(ids, named.Plan)
		}
	}
	return ids
}

// SubjectAction is the action or the question that a subject of the record names; ok is false for another subject.
func SubjectAction(subject string) (id ActionID, ok bool) {
	for _, kind := range []string{"action ", "question "} {
		if number, found := strings.CutPrefix(subject, kind); found {
			n, err := strconv.ParseInt(number, 10, 64)
			return ActionID(n), err == nil && n > 0
		}
	}
	return 0, false
}
