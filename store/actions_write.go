package store

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"gatehouse/core"
)

// InsertAction implements core.Tx.
func (t *tx) InsertAction(a *core.Action) error {
	h, err := t.forChange()
	if err != nil {
		return err
	}
	caller, err := encode(a.Caller)
	if err != nil {
		return err
	}
	id, d := h.item+1, &a.Draft
	_, err = t.l.exec(`INSERT INTO item (id, open, state, version, session, turn, binding, gatekeeper, connection, resource,
			kind, lane, title, digest, drift, retryable, risk, flags, method, caller, context, created_at, reason, rule,
			claim_holder, claimed_at, decided_by, decided_how, decided_at, undo_size, reverts)
		VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		int64(id), flag(a.Undecided()), a.State, a.Session, a.Caller.Turn, a.Binding, a.Gatekeeper, a.Connection, a.Resource,
		d.Kind, d.Lane, d.Title, a.Digest[:], a.Drift, flag(a.Retryable), a.Risk(), flagsOf(d), a.Method, caller, a.Context,
		nanos(a.CreatedAt), a.Reason, a.Rule, a.ClaimHolder, nanos(a.ClaimedAt), a.DecidedBy, a.DecidedHow, nanos(a.DecidedAt), a.UndoSize, int64(a.Reverts))
	if err != nil {
		return fmt.Errorf("action: %w", err)
	}
	c, err := contentOf(d)
	if err != nil {
		return err
	}
	_, err = t.l.exec(`INSERT INTO content (id, args, lane_reason, targets, base, needs, after, provides, field_names,
			projected, incomplete, found, value, payload, fields, submitted) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		append([]any{int64(id), raw(a.Args)}, c...)...)
	if err != nil {
		return fmt.Errorf("action: %w", err)
	}
	h.item = id
	h.tally.add(tallyOf(*a), 1)
	a.ID, a.Version = id, 1
	if err := t.wait(a, waits(a)); err != nil {
		return err
	}
	if err := t.refer(a); err != nil {
		return err
	}
	if err := t.enter(a, d.Targets); err != nil {
		return err
	}
	if err := t.storeOutcome(core.Action{}, a); err != nil {
		return err
	}
	return t.indexTitles(h)
}

// contentOf gives the columns of a draft in the order of the statements that write them.
func contentOf(d *core.Draft) ([]any, error) {
	names := make([]string, len(d.Fields))
	for i, f := range d.Fields {
		names[i] = f.Name
	}
	var columns [9]sql.NullString
	var errs [11]error
	columns[0], errs[0] = list(d.Targets)
	columns[1], errs[1] = list(d.Base)
	columns[2], errs[2] = list(d.Needs)
	columns[3], errs[3] = list(d.After)
	columns[4], errs[4] = list(d.Provides)
	columns[5], errs[5] = list(names)
	columns[6], errs[6] = list(d.Projected)
	columns[7], errs[7] = list(d.Incomplete)
	columns[8], errs[8] = list(d.Found)
	fields, err := encodeFields(d.Fields)
	errs[9] = err
	submitted, err := encodeFields(d.Submitted)
	errs[10] = err
	out := []any{d.LaneReason}
	for _, c := range columns {
		out = append(out, c)
	}
	return append(out, raw(d.Value), raw(d.Payload), fields, submitted), firstError(errs[:]...)
}

// refer enters what the references and the provisional ids of an action are found by.
func (t *tx) refer(a *core.Action) error {
	for _, refs := range []struct {
		list  []core.Reference
		needs int
	}{{a.Draft.Needs, 1}, {a.Draft.After, 0}} {
		for _, r := range refs.list {
			_, err := t.l.exec(`INSERT OR IGNORE INTO reference (provider, action, needs, name) VALUES (?, ?, ?, ?)`,
				int64(r.Provider), int64(a.ID), refs.needs, r.Name)
			if err != nil {
				return err
			}
		}
	}
	return t.provide(a)
}

// unrefer takes references out again; provisional ids stay the action's own.
func (t *tx) unrefer(a *core.Action) error {
	for _, refs := range [][]core.Reference{a.Draft.Needs, a.Draft.After} {
		for _, r := range refs {
			if _, err := t.l.exec(`DELETE FROM reference WHERE provider = ? AND action = ?`, int64(r.Provider), int64(a.ID)); err != nil {
				return err
			}
		}
	}
	return nil
}

// touchBatch bounds the targets of one statement: the statements are kept prepared.
const touchBatch = 8

// touch gives targets a new version, one for all of them.
func (t *tx) touch(a *core.Action, targets []string) error { return t.target(a, targets, false) }

// enter touches targets and puts an action that is live into the journal of each.
func (t *tx) enter(a *core.Action, targets []string) error { return t.target(a, targets, a.Live()) }

func (t *tx) target(a *core.Action, targets []string, live bool) error {
	h, err := t.forChange()
	if err != nil {
		return err
	}
	h.change++
	for batch := range slices.Chunk(targets, touchBatch) {
		var args []any
		for _, name := range batch {
			args = append(args, a.Session, a.Resource, name, 0, h.change)
			if live {
				args = append(args, a.Session, a.Resource, name, int64(a.ID), 0)
			}
		}
		rows := strings.Repeat(", (?, ?, ?, ?, ?)", len(args)/5)
		_, err := t.l.exec(`INSERT INTO target (session, resource, name, action, version) VALUES `+rows[2:]+`
			ON CONFLICT DO UPDATE SET version = excluded.version`, args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// leave takes an action out of the journal.
func (t *tx) leave(a *core.Action, targets []string) error {
	for _, name := range targets {
		_, err := t.l.exec(`DELETE FROM target WHERE session = ? AND resource = ? AND name = ? AND action = ?`,
			a.Session, a.Resource, name, int64(a.ID))
		if err != nil {
			return err
		}
	}
	return nil
}

// ChangeAction implements core.Tx. Created, Versions and Result are kept where after has none of them.
func (t *tx) ChangeAction(before core.Action, after *core.Action) (bool, error) {
	changed, err := t.changeRow(before, after)
	if err != nil || !changed {
		return changed, err
	}
	var targets sql.NullString
	if err := t.l.one(`SELECT targets FROM content WHERE id = ?`, []any{int64(before.ID)}, &targets); err != nil {
		return false, err
	}
	var names []string
	if err := decode(targets, &names); err != nil {
		return false, err
	}
	switch {
	case before.Live() && !after.Live():
		err = firstError(t.leave(after, names), t.touch(after, names))
	case before.Live() == after.Live():
		err = t.touch(after, names)
	default:
		err = t.enter(after, names)
	}
	if err != nil {
		return false, err
	}
	return true, t.storeOutcome(before, after)
}

// changeRow is the compare-and-set on the row of an action, and on nothing else.
func (t *tx) changeRow(before core.Action, after *core.Action) (bool, error) {
	version := before.Version + 1
	// Naming open rewrites its entry in four indexes, changed or not.
	open := ""
	if before.Undecided() != after.Undecided() {
		open = `open = 1 - open, `
	}
	n, err := t.l.exec(`UPDATE item SET `+open+`state = ?, version = ?, drift = ?, retryable = ?, risk = ?, reason = ?, rule = ?,
			claim_holder = ?, claimed_at = ?, decided_by = ?, decided_how = ?, decided_at = ?, undo_size = ?
		WHERE id = ? AND version = ? AND state = ? AND drift = ? AND session = ? AND resource = ? AND binding = ?`,
		after.State, version, after.Drift, flag(after.Retryable), after.Risk(), after.Reason, after.Rule,
		after.ClaimHolder, nanos(after.ClaimedAt), after.DecidedBy, after.DecidedHow, nanos(after.DecidedAt), after.UndoSize,
		int64(before.ID), before.Version, before.State, before.Drift, before.Session, before.Resource, before.Binding)
	if err != nil || n == 0 {
		return false, err
	}
	h, err := t.forChange()
	if err != nil {
		return false, err
	}
	h.tally.add(tallyOf(before), -1)
	h.tally.add(tallyOf(*after), 1)
	after.Version = version
	return true, t.wait(&before, waits(after)-waits(&before))
}

// waits is 1 for what counts against the cap of a binding (kernel R24).
func waits(a *core.Action) int {
	return flag(a.State == core.StatePending || a.State == core.StateClaimed)
}

// wait changes the count of a binding.
func (t *tx) wait(a *core.Action, by int) error {
	if by == 0 {
		return nil
	}
	_, err := t.l.exec(`INSERT INTO waiting (session, binding, actions) VALUES (?, ?, 1)
		ON CONFLICT DO UPDATE SET actions = actions + ?`, a.Session, a.Binding, by)
	return err
}

// storeOutcome writes what an action came to, where there is anything to write.
func (t *tx) storeOutcome(before core.Action, after *core.Action) error {
	if len(after.Created)+len(after.Versions)+len(after.Result)+len(before.Created)+len(before.Versions) == 0 {
		return nil
	}
	created, err := list(after.Created)
	if err != nil {
		return err
	}
	versions, err := list(after.Versions)
	if err != nil {
		return err
	}
	_, err = t.l.exec(`INSERT INTO outcome (id, created, versions, result) VALUES (?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET created = coalesce(excluded.created, created),
			versions = coalesce(excluded.versions, versions), result = coalesce(excluded.result, result)`,
		int64(after.ID), created, versions, raw(after.Result))
	return err
}

// ReplaceDraft implements core.Tx.
func (t *tx) ReplaceDraft(before core.Action, after *core.Action) (bool, error) {
	old, err := t.ActionState(before.ID)
	if err != nil {
		return false, err
	}
	changed, err := t.changeRow(before, after)
	if err != nil || !changed {
		return changed, err
	}
	d := &after.Draft
	if err := t.reindexTitle(old.ID, old.Draft.Title, d.Title); err != nil {
		return false, err
	}
	_, err = t.l.exec(`UPDATE item SET kind = ?, lane = ?, title = ?, digest = ?, flags = ? WHERE id = ?`,
		d.Kind, d.Lane, d.Title, after.Digest[:], flagsOf(d), int64(after.ID))
	if err != nil {
		return false, err
	}
	c, err := contentOf(d)
	if err != nil {
		return false, err
	}
	_, err = t.l.exec(`UPDATE content SET lane_reason = ?, targets = ?, base = ?, needs = ?, after = ?, provides = ?, field_names = ?,
			projected = ?, incomplete = ?, found = ?, value = ?, payload = ?, fields = ?, submitted = ? WHERE id = ?`,
		append(c, int64(after.ID))...)
	if err != nil {
		return false, err
	}
	if err := firstError(t.unrefer(&old), t.leave(&old, old.Draft.Targets), t.refer(after)); err != nil {
		return false, err
	}
	// What it no longer touches changes too.
	if err := firstError(t.touch(&old, old.Draft.Targets), t.enter(after, d.Targets)); err != nil {
		return false, err
	}
	return true, t.storeOutcome(before, after)
}
