package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"gatehouse/core"
	"gatehouse/gatekeepers/kit"
)

var errMoved = errors.New("memory: item moved since the claim")

// Send carries one action out at the service, which compares the base while it holds its lock: what moved since the
// claim is refused by the service itself, and nothing is overwritten.
func (i *items) Send(ctx context.Context, d core.Dispatch) (core.Outcome, error) {
	c, err := i.read(d.Payload)
	if err != nil {
		return core.Outcome{}, core.NotSent(err)
	}
	i.service.count("send:" + d.Kind)
	if err := i.service.at(ctx, PointSend, d.Kind); err != nil {
		return core.Outcome{}, err
	}
	if err := pause(ctx, i.address.latency); err != nil {
		return core.Outcome{}, err
	}
	mode, held, err := i.failNow(d.Kind, c.target())
	if err != nil {
		return core.Outcome{}, core.NotSent(err)
	}
	if outcome, err, done := failSend(ctx, mode, held, i.UnitOf(c.target())); done {
		return outcome, err
	}
	if mode == FailMoved {
		held.Body += "changed by a stranger\n"
		if err := i.service.Put(c.target(), held); err != nil {
			return core.Outcome{}, core.NotSent(err)
		}
	}
	outcome, err := i.effect(d, c)
	if err != nil {
		return core.Outcome{}, err
	}
	if err := i.service.at(ctx, PointSent, d.Kind); err != nil {
		return core.Outcome{}, err
	}
	if mode == FailAfter {
		return core.Outcome{}, fmt.Errorf("%w: the answer was lost", errFailed)
	}
	return outcome, nil
}

// effect is what happens at the service, under its lock.
func (i *items) effect(d core.Dispatch, c change) (core.Outcome, error) {
	outcome := core.Outcome{End: core.EndApplied}
	err := i.service.backing.update(func(st *state) error {
		for _, b := range d.Base {
			if b.ResultOf == 0 && !b.Same(versionIn(st, b.Target)) {
				return errMoved
			}
		}
		id := fmt.Sprintf("i%d", st.NextID+1)
		if err := carryOut(st, d.Kind, c, id, st.NextID+1, d.At); err != nil {
			return err
		}
		target := c.target()
		switch d.Kind {
		case kindCreate:
			st.NextID++
			target = c.Collection + "/" + id
			outcome.Created = []core.Created{{Name: d.Provides[0], Real: id}}
		case kindMove:
			outcome.Versions = append(outcome.Versions, versionIn(st, target))
			target = c.goal()
			outcome.Created = []core.Created{{Name: target, Real: target}}
		case kindRestore:
			outcome.Created = []core.Created{{Name: target, Real: target}}
		}
		outcome.Versions = append(outcome.Versions, versionIn(st, target))
		st.Effects = append(st.Effects, Effect{Action: d.Action, Kind: d.Kind, Target: target, At: d.At})
		return i.answer(&outcome, st, target)
	})
	var refused *core.CallError
	switch {
	case errors.Is(err, errMoved):
		return core.Outcome{End: core.EndRetryable, Text: "the item moved since the claim"}, nil
	case errors.As(err, &refused):
		return core.Outcome{End: core.EndFailed, Text: refused.Text, Found: []core.Found{i.UnitOf(c.target())}}, nil
	case err != nil:
		return core.Outcome{}, err
	}
	return outcome, nil
}

func (i *items) answer(outcome *core.Outcome, st *state, target string) error {
	item, there := st.item(target)
	if !there {
		return nil
	}
	outcome.Found = []core.Found{i.UnitOf(target)}
	var err error
	outcome.Value, err = json.Marshal(item.show())
	return err
}

func versionIn(st *state, target string) core.BaseVersion {
	if item, there := st.item(target); there {
		return core.BaseVersion{Target: target, Version: item.version()}
	}
	return core.BaseVersion{Target: target, Absent: true}
}

// failNow counts a call at a place, in the service's own state, and says how it is to fail.
func (i *items) failNow(where, target string) (Mode, Item, error) {
	var mode Mode
	var held Item
	if len(i.address.failures) == 0 {
		return "", held, nil
	}
	err := i.service.backing.update(func(st *state) error {
		st.Counts[where]++
		for _, f := range i.address.failures {
			if f.mode != FailProject && f.matches(where, st.Counts[where]) {
				mode = f.mode
				break
			}
		}
		held, _ = st.item(target)
		return nil
	})
	return mode, held, err
}

// Find looks through what the service carried out.
func (i *items) Find(_ context.Context, d core.Dispatch) ([]core.Created, error) {
	effects, err := i.service.Effects()
	if err != nil {
		return nil, err
	}
	for _, e := range effects {
		if e.Action != d.Action || len(d.Provides) != 1 {
			continue
		}
		real := e.Target
		if core.Provisional(d.Provides[0]) {
			_, real = split(e.Target)
		}
		return []core.Created{{Name: d.Provides[0], Real: real}}, nil
	}
	return nil, fmt.Errorf("action %d: %w", d.Action, core.ErrNotFound)
}

var _ kit.Finder = (*items)(nil)
