package core

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
)

// Sides is a field of a drifted action seen from three sides: what the action was made on, what is there now, and what it
// was to become. The field itself says what will be sent.
type Sides struct {
	Name   string
	Base   json.RawMessage // null where there was nothing
	Theirs json.RawMessage
	Ours   json.RawMessage
}

// Sides lists the fields whose base moved since the action was submitted; none where nothing is known of that.
func (a Action) Sides() []Sides {
	if a.Drift != DriftFresh && a.Drift != DriftBlocked {
		return nil
	}
	var out []Sides
	for _, was := range a.Draft.Submitted {
		for _, now := range a.Draft.Fields {
			if now.Name == was.Name && !bytes.Equal(now.Before, was.Before) {
				out = append(out, Sides{Name: was.Name, Base: was.Before, Theirs: now.Before, Ours: was.After})
			}
		}
	}
	return out
}

// blockBeside blocks an action whose fresh preview cannot be made. What the driver shows of the place as it is now stands
// in its fields from then on, if the gate lets it pass, so that a person sees what it met.
func (k *Kernel) blockBeside(ctx context.Context, a Action, c *callInProgress, cause error) error {
	var plain *CallError
	if !errors.As(cause, &plain) || len(plain.Now) == 0 {
		return k.block(ctx, a, c, k.gateError(ctx, c, PurposePreview, cause))
	}
	words := k.gateText(ctx, c, PurposePreview, plain.Text, nil)
	if words.refused != nil {
		return k.block(ctx, a, c, gated{text: cleanReason(plain.Text), refused: words.refused})
	}
	after := a
	after.Drift, after.Reason = DriftBlocked, words.text
	after.Draft.Fields = metBy(a.Draft.Fields, plain.Now)
	if len(after.Draft.Submitted) == 0 {
		after.Draft.Submitted = a.Draft.Fields
	}
	err := after.Draft.normalize()
	if err == nil {
		after.Digest, err = DigestOf(a.Binding, after.Draft)
	}
	if err != nil {
		return err
	}
	err = k.store.Write(ctx, func(tx Tx) error {
		won, err := tx.ReplaceDraft(a, &after)
		if err == nil && !won {
			err = errChanged
		}
		if err == nil {
			err = k.recordGated(tx, c, words)
		}
		if err != nil {
			return err
		}
		return tx.Append(k.actionRow(after, EventDrift, map[string]any{
			"drift": DriftBlocked, "reason": textHash(after.Reason), "old_digest": a.Digest.String(),
		}))
	})
	if errors.Is(err, errJoined) {
		return errChanged
	}
	return err
}

// metBy puts what is there now in front of what fields were to become.
func metBy(fields, now []Field) []Field {
	out := slices.Clone(fields)
	for i := range out {
		for _, n := range now {
			if n.Name == out[i].Name {
				out[i].Before = n.Before
			}
		}
	}
	return out
}
