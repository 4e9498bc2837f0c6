package core

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
)

// authorize decides whether a decision counts, and says how it was given (kernel R34).
func (k *Kernel) authorize(ctx context.Context, by Authority) (Authority, error) {
	if by.Person == "" {
		return by, ErrNoPerson
	}
	if by.Key != "" {
		err := k.store.Read(ctx, func(v View) error {
			_, err := v.OperatorKey(keyHash(by.Key))
			return err
		})
		if errors.Is(err, ErrNotFound) {
			return by, &DecisionRefusedError{
				Text: "decision refused: the operator key is not one of this store",
				Hint: "make one with gatehouse identity operator-key",
			}
		}
		if err != nil {
			return by, err
		}
		by.Means = MeansKey
		return by, nil
	}
	if by.AgentMark != "" {
		return by, &DecisionRefusedError{
			Text: fmt.Sprintf("decision refused: this process was started by an agent (%s is set)", by.AgentMark),
			Hint: "decide in a terminal of your own, or set GATEHOUSE_OPERATOR_KEY to a key you made with gatehouse identity operator-key",
		}
	}
	switch by.Means {
	case MeansTerminal:
		return by, nil
	case MeansPipe:
		if !k.settings().RequireKey {
			return by, nil
		}
	}
	return by, &DecisionRefusedError{
		Text: "decision refused: decisions.require_key is set and this is no terminal",
		Hint: "set GATEHOUSE_OPERATOR_KEY to a key you made with gatehouse identity operator-key",
	}
}

// NewOperatorKey makes a key that lets a person decide from processes without a terminal. Only its hash is kept.
func (k *Kernel) NewOperatorKey(ctx context.Context, by Authority) (string, error) {
	by, err := k.authorize(ctx, by)
	if err != nil {
		return "", err
	}
	var raw [24]byte
	if _, err := k.rand.Read(raw[:]); err != nil {
		return "", fmt.Errorf("operator key: %w", err)
	}
	key := "gok_" + base64.RawURLEncoding.EncodeToString(raw[:])
	now := k.clock.Now()
	err = k.store.Write(ctx, func(tx Tx) error {
		if err := tx.InsertOperatorKey(keyHash(key), by.Person, now); err != nil {
			return err
		}
		return tx.Append(Entry{
			At: now, Type: EventKey, Actor: string(by.Person), Authority: by.String(),
			Detail: detail(map[string]any{"key": keyHash(key)[:12]}),
		})
	})
	return key, err
}

func keyHash(key string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(key))) }

// String is how the record says who decided and how, such as "alice by pipe".
func (a Authority) String() string { return fmt.Sprintf("%s by %s", a.Person, a.Means) }

// change moves an action to a state by compare-and-set; what else differs in after is written with it.
func change(tx actionTx, before Action, after *Action) error {
	if before.State != after.State && !before.State.CanBecome(after.State) {
		return lostRace(before)
	}
	won, err := tx.ChangeAction(before, after)
	if err != nil {
		return err
	}
	if !won {
		return &LostRaceError{Action: before.ID, State: before.State}
	}
	return nil
}

// rejectAction ends an action and settles what hangs on it, within one transaction (kernel R17, R21).
func (k *Kernel) rejectAction(tx Tx, a Action, reason string, by Authority, why map[string]any) error {
	if !a.Rejectable() {
		return lostRace(a)
	}
	after := a
	after.State, after.Reason = StateRejected, cleanReason(reason)
	after.DecidedBy, after.DecidedHow, after.DecidedAt = by.Person, by.Means, k.clock.Now()
	if err := change(tx, a, &after); err != nil {
		return err
	}
	pairs := map[string]any{"verdict": VerdictReject, "from": a.State, "reason": textHash(after.Reason)}
	for key, value := range why {
		pairs[key] = value
	}
	if err := tx.Append(k.decisionRow(after, by, pairs)); err != nil {
		return err
	}
	if err := k.notify(tx, after); err != nil {
		return err
	}
	return k.endDependents(tx, after)
}

func (k *Kernel) decisionRow(a Action, by Authority, pairs map[string]any) Entry {
	row := k.actionRow(a, EventDecision, pairs)
	row.Actor, row.Authority = string(by.Person), by.String()
	return row
}

// actionRow begins a row of the record about an action.
func (k *Kernel) actionRow(a Action, t EventType, pairs map[string]any) Entry {
	pairs["state"] = a.State
	return Entry{
		At: k.clock.Now(), Type: t, Session: a.Session, Turn: a.Caller.Turn, Actor: "kernel", Rule: a.Rule,
		Digest: a.Digest.String(), Subject: actionSubject(a.ID), Detail: detail(a.tellRevert(pairs)),
	}
}

// endDependents strands what needs a dead provider and marks what only comes after it, all the way down (kernel R17).
func (k *Kernel) endDependents(tx Tx, dead Action) error {
	return k.overDependents(tx, dead.ID, func(a Action, d Dependent) error {
		if !d.Needs {
			return k.markStale(tx, a, dead.ID)
		}
		after := a
		after.State = StateStranded
		after.Reason = cleanReason(fmt.Sprintf("needs action %d (%s), which is %s", dead.ID, dead.Draft.Title, dead.State))
		if err := change(tx, a, &after); err != nil {
			return err
		}
		if err := tx.Append(k.actionRow(after, EventStrand, map[string]any{"cause": dead.ID})); err != nil {
			return err
		}
		if err := k.notify(tx, after); err != nil {
			return err
		}
		return k.endDependents(tx, after)
	})
}

// staleDependents marks everything made on an action whose content changed: it was previewed over what is no more.
func (k *Kernel) staleDependents(tx Tx, changed ActionID) error {
	return k.overDependents(tx, changed, func(a Action, _ Dependent) error { return k.markStale(tx, a, changed) })
}

// overDependents visits the pending dependents of an action; one that both needs and follows it is visited as needing.
func (k *Kernel) overDependents(tx Tx, provider ActionID, visit func(Action, Dependent) error) error {
	dependents, err := tx.Dependents(provider)
	if err != nil {
		return err
	}
	needs := make(map[ActionID]bool)
	for _, d := range dependents {
		needs[d.Action] = needs[d.Action] || d.Needs
	}
	visited := make(map[ActionID]bool)
	for _, d := range dependents {
		if visited[d.Action] {
			continue
		}
		visited[d.Action] = true
		a, err := tx.ActionState(d.Action)
		if err != nil {
			return err
		}
		if a.State != StatePending {
			continue
		}
		d.Needs = needs[d.Action]
		if err := visit(a, d); err != nil {
			return err
		}
	}
	return nil
}

func (k *Kernel) markStale(tx Tx, a Action, cause ActionID) error {
	if a.Drift == DriftStale {
		return nil
	}
	after := a
	after.Drift = DriftStale
	after.Reason = fmt.Sprintf("was made on action %d, which changed or ended", cause)
	if err := change(tx, a, &after); err != nil {
		return err
	}
	if err := tx.Append(k.actionRow(after, EventDrift, map[string]any{"drift": DriftStale, "cause": cause})); err != nil {
		return err
	}
	return k.staleDependents(tx, a.ID)
}

// notify keeps a change of an agent's action for its next step (agent 3).
func (k *Kernel) notify(tx Tx, a Action) error {
	if a.Caller.Kind != CallerAgent || a.Caller.Turn == 0 {
		return nil
	}
	return k.tell(tx, Notice{
		Session: a.Session, Turn: a.Caller.Turn, Action: a.ID, State: string(a.State), Title: a.Draft.Title,
		Reason: a.Reason, At: k.clock.Now(),
	})
}
