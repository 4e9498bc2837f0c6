package core

import (
	"context"
	"errors"
)

// Detail is everything a person has to see of an action, or of a question, before deciding.
type Detail struct {
	Action      Action
	SessionName string
	Question    *Question // set for a question; then only its session is set besides
	Refs        []RefState
	Dependants  []Dependent
	Unit        Found // the resource: what a colleague would need to be able to read
	Base        []BaseState
	Opened      bool
	Reverts     *RevertState  // what it takes back
	RevertedBy  []RevertState // what was queued to take it back, oldest first
	CanRevert   bool          // a revert of it could be queued now
	Observed    []Unit        // what the session had read when the action was made
}

// RefState is a reference with what has become of it.
type RefState struct {
	Reference
	Needs bool // else it only comes after
	State State
	Title string
	Bound string // the real id of a provisional one; empty before
}

// BaseState is a base version with what "result of" turned out to be.
type BaseState struct {
	BaseVersion
	Resolved string // empty while it is not known
}

// Show is Peek that also notes that this person opened the action at its digest (kernel R26). A show by a process that
// an agent started does not count.
func (k *Kernel) Show(ctx context.Context, id ActionID, by Authority) (Detail, error) {
	d, err := k.Peek(ctx, id)
	if err != nil || d.Question != nil || (by.AgentMark != "" && by.Key == "") || by.Person == "" {
		return d, err
	}
	if by.Key != "" {
		if _, err := k.authorize(ctx, by); err != nil {
			return d, nil // a show is nothing to refuse; it only does not count
		}
	}
	d.Opened = true
	now := k.clock.Now()
	return d, k.store.Write(ctx, func(tx Tx) error {
		first, err := tx.MarkOpened(by.Person, id, d.Action.Digest, now)
		if err != nil || !first {
			return err
		}
		row := k.actionRow(d.Action, EventOpened, map[string]any{})
		row.Actor = string(by.Person)
		return tx.Append(row)
	})
}

// Peek reads an action or a question with everything around it. Stale previews are made fresh first.
func (k *Kernel) Peek(ctx context.Context, id ActionID) (Detail, error) {
	if err := k.refresh(ctx, id); err != nil && !errors.Is(err, ErrNotFound) {
		return Detail{}, err
	}
	var d Detail
	err := k.store.Read(ctx, func(v View) error {
		a, err := v.Action(id)
		if errors.Is(err, ErrNotFound) {
			return d.loadQuestion(v, id)
		}
		if err != nil {
			return err
		}
		d.Action = a
		return d.loadAround(v)
	})
	if err != nil || d.Question != nil {
		return d, err
	}
	if c, err := k.callOf(ctx, d.Action); err == nil { // a binding that is gone only leaves the unit out
		d.Unit = c.resource.Unit()
		_, can := reverterOf(c.resource)
		d.CanRevert = d.CanRevert && can
	} else {
		d.CanRevert = false
	}
	return d, nil
}

func (d *Detail) loadQuestion(v View, id ActionID) error {
	q, err := v.Question(id)
	if errors.Is(err, ErrNotFound) {
		return notFound("action", id.String(), "see gatehouse queue list --state all")
	}
	if err != nil {
		return err
	}
	s, err := v.Session(string(q.Session))
	d.Question, d.SessionName = &q, s.Name
	if err == nil {
		err = unremoved(s)
	}
	return err
}

func (d *Detail) loadAround(v View) error {
	s, err := v.Session(string(d.Action.Session))
	if err != nil {
		return err
	}
	if err := unremoved(s); err != nil {
		return err
	}
	d.SessionName = s.Name
	names, err := namesOf(v, d.Action)
	if err != nil {
		return err
	}
	if err := d.loadRefs(v, d.Action.Draft.Needs, names, true); err != nil {
		return err
	}
	if err := d.loadRefs(v, d.Action.Draft.After, names, false); err != nil {
		return err
	}
	if d.Dependants, err = v.Dependents(d.Action.ID); err != nil {
		return err
	}
	if err := d.loadBase(v); err != nil {
		return err
	}
	if err := d.loadReverts(v); err != nil {
		return err
	}
	observations, err := v.Observations(d.Action.Session)
	if err != nil {
		return err
	}
	for i := 0; i < len(observations) && i < d.Action.Context; i++ {
		d.Observed = append(d.Observed, observations[i].Found.Unit)
	}
	return nil
}

func (d *Detail) loadRefs(v actionView, refs []Reference, names Names, needs bool) error {
	for _, r := range refs {
		a, err := v.ActionState(r.Provider)
		if err != nil {
			return err
		}
		d.Refs = append(d.Refs, RefState{
			Reference: r, Needs: needs, State: a.State, Title: a.Draft.Title, Bound: names[r.Name].Real,
		})
	}
	return nil
}

func (d *Detail) loadBase(v actionView) error {
	for _, b := range d.Action.Draft.Base {
		state := BaseState{BaseVersion: b}
		if b.ResultOf != 0 {
			a, err := v.ActionState(b.ResultOf)
			if err != nil {
				return err
			}
			for _, got := range a.Versions {
				if got.Target == b.Target {
					state.Resolved = got.Version
				}
			}
		}
		d.Base = append(d.Base, state)
	}
	return nil
}

// Queue is one window of everything that waits, or of everything there was.
func (k *Kernel) Queue(ctx context.Context, q QueueQuery) (QueuePage, error) {
	var page QueuePage
	err := k.store.Read(ctx, func(v View) (err error) {
		page, err = v.Queue(q)
		return err
	})
	return page, err
}

// Record lists rows of the record.
func (k *Kernel) Record(ctx context.Context, q RecordQuery) ([]Row, error) {
	var rows []Row
	err := k.store.Read(ctx, func(v View) (err error) {
		rows, err = v.Rows(q)
		return err
	})
	return rows, err
}

// LastPlans lists the newest confirmed plans first, with what became of every item.
func (k *Kernel) LastPlans(ctx context.Context, limit int) ([]PlanRecord, error) {
	if _, err := k.Recover(ctx); err != nil {
		return nil, err
	}
	var plans []PlanRecord
	err := k.store.Read(ctx, func(v View) (err error) {
		plans, err = v.Plans(limit)
		return err
	})
	return plans, err
}
