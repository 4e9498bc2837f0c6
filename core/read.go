package core

import (
	"context"
	"errors"
	"fmt"
)

// lookahead is what is known before the service is asked: the units a call names, the targets it depends on, and the
// journal over them at one moment.
type lookahead struct {
	intent  Intent
	journal Journal
	version int64 // of the targets, to be the same after the fetch
	call    Call
	before  ActionID // only actions before this one were looked at; 0 is all
}

// errChanged says that actions changed between the look ahead and the transaction; the call is repeated.
var errChanged = errors.New("actions on the target changed meanwhile")

// lookAhead asks the driver, purely, what the call touches, until the pending effects add nothing more (kernel R16).
// Only actions before a limit count; 0 is no limit.
func (k *Kernel) lookAhead(ctx context.Context, c *callInProgress, extra []Selector, before ActionID) (*lookahead, error) {
	call := Call{Method: c.method, Args: c.args, At: k.clock.Now(), Session: c.session.ID, By: c.caller.Person}
	var look *lookahead
	err := k.store.Read(ctx, func(v View) (err error) {
		if call.Audience, err = audience(v, c.session); err != nil {
			return err
		}
		look, err = lookAheadIn(v, c, call, extra, before)
		return err
	})
	return look, err
}

// lookAheadIn gives the driver the provisional ids before it names targets: it has to name them in every spelling.
func lookAheadIn(v actionView, c *callInProgress, call Call, extra []Selector, before ActionID) (*lookahead, error) {
	said := newMentions()
	said.call(c.args, c.binding.URL)
	if c.reverts != nil {
		said.draft(c.reverts.Draft)
	}
	var err error
	if call.Names, call.Next, err = v.Names(c.session.ID, c.resource.Key(), said.words); err != nil {
		return nil, err
	}
	intent, err := c.intend(call)
	if err != nil {
		return nil, err
	}
	intent.Targets = append(intent.Targets, extra...)
	for {
		live, err := v.LiveEffects(c.session.ID, c.resource.Key(), intent.Targets)
		if err != nil {
			return nil, err
		}
		journal := buildJournal(upTo(live, before))
		wider, err := c.extended(intent, journal)
		if err != nil {
			return nil, err
		}
		if len(wider.Targets) > len(intent.Targets) || len(wider.Units) > len(intent.Units) {
			intent = wider
			continue
		}
		if call.Names, err = namesOfEffects(v, c, call.Names, journal); err != nil {
			return nil, err
		}
		version, err := v.TargetsVersion(c.session.ID, c.resource.Key(), intent.Targets)
		if err != nil {
			return nil, err
		}
		return &lookahead{intent: intent, journal: journal, version: version, call: call, before: before}, nil
	}
}

// namesOfEffects adds the provisional ids that the effects on a call's targets are written with.
func namesOfEffects(v actionView, c *callInProgress, names Names, journal Journal) (Names, error) {
	written := newMentions()
	for _, e := range journal.Effects {
		written.effect(e)
	}
	if len(written.words) == 0 {
		return names, nil
	}
	more, _, err := v.Names(c.session.ID, c.resource.Key(), written.words)
	if err != nil {
		return nil, err
	}
	for id, name := range names {
		more[id] = name
	}
	return more, nil
}

// upTo keeps the effects of actions before a limit.
func upTo(live []LiveEffect, before ActionID) []LiveEffect {
	if before == 0 {
		return live
	}
	for i, e := range live {
		if e.Action >= before {
			return live[:i]
		}
	}
	return live
}

// read is the first walk of the house: intent, fetch with the journal, exact, versions, one transaction.
func (k *Kernel) read(ctx context.Context, c *callInProgress) (Released, error) {
	for attempt := 0; ; attempt++ {
		look, err := k.lookAhead(ctx, c, nil, 0)
		if err != nil {
			return k.releaseError(ctx, c, err)
		}
		last := attempt == changeRetries
		if last {
			look.journal = look.journal.allGaps("changed while it was read")
		}
		if released, refused, err := k.gateIntent(ctx, c, look); refused || err != nil {
			return released, err
		}
		fetched, err := c.resource.Read(ctx, look.call, look.journal)
		if err != nil && !last && k.changedSince(ctx, c, look) {
			continue // what was not found may have been on its way from one place to another
		}
		if err != nil {
			c.gaps = mergeGaps(look.journal.Gaps, fetched.Incomplete)
			return k.releaseError(ctx, c, err)
		}
		fetched.Found = c.labelled(fetched.Found)
		p := c.passage(PurposeRead)
		p.Found = fetched.Found
		if err := k.checkExact(ctx, p); err != nil {
			return k.releaseRefusal(ctx, c, err)
		}
		released, err := k.releaseRead(ctx, c, look, fetched, last)
		switch {
		case errors.Is(err, errJoined):
			if err := k.meetAgain(ctx, c); err != nil {
				return k.releaseRefusal(ctx, c, err)
			}
			attempt-- // nothing that it depends on changed
		case !errors.Is(err, errChanged):
			return released, err
		}
	}
}

// changedSince reports that actions on what a call touches changed since the look ahead. Where it cannot be told they
// count as unchanged: the store will say so again when the answer is kept.
func (k *Kernel) changedSince(ctx context.Context, c *callInProgress, look *lookahead) bool {
	version := look.version
	err := k.store.Read(ctx, func(v View) (err error) {
		version, err = v.TargetsVersion(c.session.ID, c.resource.Key(), look.intent.Targets)
		return err
	})
	return err == nil && version != look.version
}

// allGaps is a journal that projects nothing and names everything: what a read falls back to when its targets do not
// hold still, so that no effect is ever shown twice (K66).
func (j Journal) allGaps(reason string) Journal {
	out := Journal{Gaps: append([]Gap{}, j.Gaps...)}
	for _, e := range j.Effects {
		out.Gaps = append(out.Gaps, Gap{Action: e.Action, Reason: reason})
	}
	return out
}

// gateIntent checks what the call names and asks the egress policy, before the service is called.
func (k *Kernel) gateIntent(ctx context.Context, c *callInProgress, look *lookahead) (Released, bool, error) {
	p := c.passage(PurposeRead)
	if !c.op.IsRead() {
		p.Purpose = PurposePrepare
	}
	p.Found = c.labelled(look.intent.Units)
	going, err := c.goes(k, look.call)
	if err != nil {
		released, err := k.releaseError(ctx, c, err)
		return released, true, err
	}
	p.Sink = going.Sink
	if err := k.checkIntent(ctx, p); err != nil {
		released, err := k.releaseRefusal(ctx, c, err)
		return released, true, err
	}
	bytes := 0
	for _, s := range going.Sends {
		bytes += len(s)
	}
	c.leaving, err = k.permit(ctx, EgressRequest{
		Sink: going.Sink, Session: c.session.ID, Caller: c.caller, Destination: going.Destination, Host: going.Host, Local: going.Local,
		Bytes: bytes, Latched: c.session.Latched,
	}, going.Sends...)
	var stays *EgressError
	switch {
	case err == nil:
		return Released{}, false, nil
	case !errors.As(err, &stays):
		return Released{}, true, err
	case stays.Verdict.Decision == EgressAsk:
		released, err := k.releaseAsked(ctx, c, stays)
		return released, true, err
	}
	released, err := k.releaseRefusal(ctx, c, &RefusedError{Check: "egress", Half: HalfIntent, Why: stays.Error(), Public: stays.Error()})
	return released, true, err
}

// releaseAsked answers a call that a person has to let go first: it is made again after the answer (kernel R32).
func (k *Kernel) releaseAsked(ctx context.Context, c *callInProgress, asked *EgressError) (Released, error) {
	body := releasedBody{
		Status: StatusPending, Action: asked.Question, Code: CodeAsked,
		Reason: cleanReason(asked.Error() + "; make the call again once it is answered"),
	}
	var out Released
	err := k.store.Write(ctx, func(tx Tx) (err error) {
		out, err = c.keepAnswer(tx, body)
		return err
	})
	return out, err
}

// releaseRead writes the log row, the set and the answer in one transaction, if the targets held still.
func (k *Kernel) releaseRead(ctx context.Context, c *callInProgress, look *lookahead, f Fetched, last bool) (Released, error) {
	gaps := mergeGaps(look.journal.Gaps, f.Incomplete)
	units := unitsOf(f.Found)
	body := releasedBody{
		Status: StatusOK, Value: f.Value, Pending: len(f.Projected), Incomplete: gaps, Units: units,
	}
	var out Released
	err := k.store.Write(ctx, func(tx Tx) error {
		if !last {
			version, err := tx.TargetsVersion(c.session.ID, c.resource.Key(), look.intent.Targets)
			if err != nil {
				return err
			}
			if version != look.version {
				return errChanged
			}
		}
		if err := k.recordRead(tx, c, f.Found, map[string]any{
			"bytes": len(f.Value), "pending": len(f.Projected), "incomplete": gapIDs(gaps), "cached": f.Cached,
		}); err != nil {
			return err
		}
		var err error
		out, err = c.keepAnswer(tx, body)
		return err
	})
	return out, err
}

// recordRead adds what was found to the set and writes the one row of the read (kernel R4, R5).
// The people are as they were when the gate let it pass, else it is errJoined; an owner-only unit sets the latch.
func (k *Kernel) recordRead(tx Tx, c *callInProgress, found []Found, pairs map[string]any) error {
	if len(found) > 0 {
		if err := unjoined(tx, c); err != nil {
			return err
		}
	}
	how := wentOK
	if _, failed := pairs["error"]; failed {
		how = wentError
	}
	if err := c.leaving.complete(k, tx, how); err != nil {
		return err
	}
	if c.caller.Step > 0 && c.caller.CallID != "" {
		pairs["step"], pairs["call"] = c.caller.Step, textHash(c.caller.CallID) // a model writes the id: it may be anything
	}
	row := c.entry(k, EventRead, unitsOf(found), pairs)
	if err := tx.Observe(c.session.ID, c.caller.Turn, row.At, found); err != nil {
		return err
	}
	if err := tx.Append(row); err != nil || !anyOwnerOnly(found) {
		return err
	}
	return k.setLatch(tx, c, row.At, found)
}

// releaseRefusal writes the blocked row, which alone names the unit, and answers without naming it (kernel R5).
func (k *Kernel) releaseRefusal(ctx context.Context, c *callInProgress, cause error) (Released, error) {
	var refused *RefusedError
	if !errors.As(cause, &refused) {
		refused = &RefusedError{Check: "egress", Half: HalfIntent, Why: cause.Error()}
	}
	var out Released
	err := k.store.Write(ctx, func(tx Tx) error {
		if err := c.leaving.complete(k, tx, wentWithheld); err != nil {
			return err
		}
		if err := tx.Append(k.blockedRow(c, refused)); err != nil {
			return err
		}
		var err error
		out, err = c.keepAnswer(tx, refusedBody(refused))
		return err
	})
	return out, err
}

func (k *Kernel) blockedRow(c *callInProgress, refused *RefusedError) Entry {
	var units []Unit
	if !refused.Unit.IsZero() {
		units = []Unit{refused.Unit}
	}
	pairs := map[string]any{"check": refused.Check, "half": refused.Half, "why": textHash(refused.Why)}
	if refused.Person != "" {
		pairs["person"] = refused.Person
	}
	return c.entry(k, EventBlocked, units, pairs)
}

// releaseError answers a call that could not be done. A CallError holds nothing of the service; any other text may, so
// it passes the gate as the whole resource (kernel R3).
func (k *Kernel) releaseError(ctx context.Context, c *callInProgress, cause error) (Released, error) {
	if ctx.Err() != nil {
		if c.leaving != nil && c.leaving.logged {
			// What left is on record whether or not anybody waits for the answer.
			interrupted := k.store.Write(context.WithoutCancel(ctx), func(tx Tx) error { return c.leaving.complete(k, tx, wentInterrupted) })
			return Released{}, together(ctx.Err(), interrupted)
		}
		return Released{}, ctx.Err()
	}
	var plain *CallError
	if errors.As(cause, &plain) {
		return k.releasePlainError(ctx, c, plain)
	}
	whole := c.labelled([]Found{c.resource.Unit()})
	p := c.passage(PurposeError)
	p.Found = whole
	if err := k.checkExact(ctx, p); err != nil {
		return k.releaseRefusal(ctx, c, err)
	}
	body := releasedBody{
		Status: StatusError, Code: "service", Reason: cleanReason(cause.Error()), Units: unitsOf(whole), Incomplete: c.gaps,
	}
	var out Released
	err := k.store.Write(ctx, func(tx Tx) error {
		if err := k.recordRead(tx, c, whole, map[string]any{"error": textHash(cause.Error())}); err != nil {
			return err
		}
		var err error
		out, err = c.keepAnswer(tx, body)
		return err
	})
	if errors.Is(err, errJoined) {
		return k.releaseRefusal(ctx, c, errTooManyJoined())
	}
	return out, err
}

// releasePlainError records a call that found or did nothing: a row, no unit (K12).
func (k *Kernel) releasePlainError(ctx context.Context, c *callInProgress, cause *CallError) (Released, error) {
	body := releasedBody{Status: StatusError, Code: cause.Code, Reason: cleanReason(cause.Text), Incomplete: c.gaps}
	var out Released
	err := k.store.Write(ctx, func(tx Tx) error {
		if err := c.leaving.complete(k, tx, wentError); err != nil {
			return err
		}
		if err := tx.Append(c.entry(k, EventRead, nil, map[string]any{"error": cause.Code})); err != nil {
			return err
		}
		var err error
		out, err = c.keepAnswer(tx, body)
		return err
	})
	return out, err
}

func mergeGaps(lists ...[]Gap) []Gap {
	var out []Gap
	seen := make(map[ActionID]bool)
	for _, list := range lists {
		for _, g := range list {
			if !seen[g.Action] {
				seen[g.Action] = true
				out = append(out, Gap{Action: g.Action, Reason: cleanReason(g.Reason)})
			}
		}
	}
	return out
}

func gapIDs(gaps []Gap) []ActionID {
	ids := make([]ActionID, len(gaps))
	for i, g := range gaps {
		ids[i] = g.Action
	}
	return ids
}

func changedTooOften(c *callInProgress) *CallError {
	return &CallError{Code: CodeChanged, Text: fmt.Sprintf("%s.%s: changed, try again", c.binding.Name, c.method)}
}
