package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"gatehouse/core"
)

// The bits of item.flags.
const (
	flagRevertible = 1 << iota
	flagIrreversible
	flagCostsMoney
	flagWidensTrust
	flagAutoApprovable
)

func flagsOf(d *core.Draft) int {
	return flag(d.Revertible)*flagRevertible | flag(d.Irreversible)*flagIrreversible | flag(d.CostsMoney)*flagCostsMoney |
		flag(d.WidensTrust)*flagWidensTrust | flag(d.AutoApprovable)*flagAutoApprovable
}

func setFlags(d *core.Draft, flags int) {
	d.Revertible = flags&flagRevertible != 0
	d.Irreversible = flags&flagIrreversible != 0
	d.CostsMoney = flags&flagCostsMoney != 0
	d.WidensTrust = flags&flagWidensTrust != 0
	d.AutoApprovable = flags&flagAutoApprovable != 0
}

// What is read of an action. The light part leaves out payload, values, arguments and what fields hold; the names of
// the fields stay, for the risk of an action depends on there being any.
const (
	lightColumns = `item.id, item.session, item.binding, item.gatekeeper, item.connection, item.resource, item.kind, item.lane,
		item.title, item.method, item.caller, item.context, item.created_at, item.digest, item.state, item.version,
		item.retryable, item.drift, item.flags, item.reason, item.rule, item.claim_holder, item.claimed_at,
		item.decided_by, item.decided_how, item.decided_at, item.undo_size, item.reverts,
		content.lane_reason, content.targets, content.base, content.needs, content.after, content.provides,
		content.field_names, content.projected, content.incomplete, content.found, outcome.created, outcome.versions`
	wholeColumns = lightColumns + `, content.args, content.value, content.payload, content.fields, content.submitted, outcome.result`
	actionTables = ` FROM item JOIN content USING (id) LEFT JOIN outcome USING (id) `
)

// lightRow holds the columns of the light part on their way into an action.
type lightRow struct {
	a                                                    core.Action
	caller                                               string
	created, claimed, decided                            int64
	digest                                               []byte
	flags                                                int
	targets, base, needs, after, provides, names         sql.NullString
	projected, incomplete, found, createdNames, versions sql.NullString
}

func (r *lightRow) dest() []any {
	a, d := &r.a, &r.a.Draft
	return []any{
		&a.ID, &a.Session, &a.Binding, &a.Gatekeeper, &a.Connection, &a.Resource, &d.Kind, &d.Lane,
		&d.Title, &a.Method, &r.caller, &a.Context, &r.created, &r.digest, &a.State, &a.Version,
		&a.Retryable, &a.Drift, &r.flags, &a.Reason, &a.Rule, &a.ClaimHolder, &r.claimed,
		&a.DecidedBy, &a.DecidedHow, &r.decided, &a.UndoSize, &a.Reverts,
		&d.LaneReason, &r.targets, &r.base, &r.needs, &r.after, &r.provides,
		&r.names, &r.projected, &r.incomplete, &r.found, &r.createdNames, &r.versions,
	}
}

func (r *lightRow) action() (core.Action, error) {
	a, d := &r.a, &r.a.Draft
	a.CreatedAt, a.ClaimedAt, a.DecidedAt = moment(r.created), moment(r.claimed), moment(r.decided)
	a.Digest = digestOf(r.digest)
	setFlags(d, r.flags)
	if err := json.Unmarshal([]byte(r.caller), &a.Caller); err != nil {
		return *a, fmt.Errorf("action %d: caller: %w (%w)", a.ID, ErrDamaged, err)
	}
	var names []string
	err := firstError(
		decode(r.targets, &d.Targets), decode(r.base, &d.Base), decode(r.needs, &d.Needs), decode(r.after, &d.After),
		decode(r.provides, &d.Provides), decode(r.names, &names), decode(r.projected, &d.Projected),
		decode(r.incomplete, &d.Incomplete), decode(r.found, &d.Found),
		decode(r.createdNames, &a.Created), decode(r.versions, &a.Versions),
	)
	for _, name := range names {
		d.Fields = append(d.Fields, core.Field{Name: name})
	}
	if err != nil {
		return *a, fmt.Errorf("action %d: %w", a.ID, err)
	}
	return *a, nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Action implements core.View.
func (v *view) Action(id core.ActionID) (core.Action, error) {
	var r lightRow
	var args, value, payload, fields, submitted, result sql.NullString
	dest := append(r.dest(), &args, &value, &payload, &fields, &submitted, &result)
	if err := v.l.one(`SELECT `+wholeColumns+actionTables+`WHERE item.id = ?`, []any{int64(id)}, dest...); err != nil {
		return core.Action{}, fmt.Errorf("action %d: %w", id, err)
	}
	a, err := r.action()
	if err != nil {
		return a, err
	}
	a.Args, a.Result = unraw(args), unraw(result)
	a.Draft.Value, a.Draft.Payload = unraw(value), unraw(payload)
	if a.Draft.Fields, err = decodeFields(fields); err != nil {
		return a, err
	}
	a.Draft.Submitted, err = decodeFields(submitted)
	return a, err
}

// ActionState implements core.View. Of the fields it gives the names, so that Risk is what it is for the whole action.
func (v *view) ActionState(id core.ActionID) (core.Action, error) {
	var r lightRow
	if err := v.l.one(`SELECT `+lightColumns+actionTables+`WHERE item.id = ?`, []any{int64(id)}, r.dest()...); err != nil {
		return core.Action{}, fmt.Errorf("action %d: %w", id, err)
	}
	return r.action()
}

func (v *view) lightActions(where string, args ...any) ([]core.Action, error) {
	var out []core.Action
	err := v.l.each(v.ctx, `SELECT `+lightColumns+actionTables+where, args, func(row scanner) error {
		var r lightRow
		if err := row.Scan(r.dest()...); err != nil {
			return err
		}
		a, err := r.action()
		out = append(out, a)
		return err
	})
	return out, err
}

// OpenClaim implements core.View: the oldest where there are several.
func (v *view) OpenClaim(connection core.ConnectionID) (core.Action, bool, error) {
	found, err := v.lightActions(`WHERE item.connection = ? AND item.state = 'claimed' ORDER BY item.id LIMIT 1`, connection)
	if err != nil || len(found) == 0 {
		return core.Action{}, false, err
	}
	return found[0], true, nil
}

// Claimed implements core.View.
func (v *view) Claimed() ([]core.Action, error) {
	return v.lightActions(`WHERE item.state = 'claimed' ORDER BY item.id`)
}

// CountOpen implements core.View.
func (v *view) CountOpen(session core.SessionID, binding core.BindingName) (int, error) {
	var n int
	err := v.l.one(`SELECT coalesce(sum(actions), 0) FROM waiting WHERE session = ? AND binding = ?`, []any{session, binding}, &n)
	return n, err
}

// RevertsOf implements core.View.
func (v *view) RevertsOf(id core.ActionID) ([]core.ActionID, error) {
	return v.ids(`SELECT id FROM item WHERE reverts = ? AND reverts <> 0 ORDER BY id`, int64(id))
}

// Stale implements core.View.
func (v *view) Stale(session core.SessionID) ([]core.ActionID, error) {
	return v.ids(`SELECT id FROM item WHERE drift = 'stale' AND (state = 'pending' OR (state = 'failed' AND retryable)) AND (?1 = '' OR session = ?1)
		AND session NOT IN (SELECT id FROM session WHERE removed_at <> 0) ORDER BY id`, session)
}

// RejectedInTurn implements core.View.
func (v *view) RejectedInTurn(session core.SessionID, turn int, digest core.Digest) (core.ActionID, bool, error) {
	found, err := v.ids(`SELECT id FROM item WHERE session = ? AND turn = ? AND state = 'rejected' AND digest = ? ORDER BY id LIMIT 1`,
		session, turn, digest[:])
	if err != nil || len(found) == 0 {
		return 0, false, err
	}
	return found[0], true, nil
}

func (v *view) ids(query string, args ...any) ([]core.ActionID, error) {
	var out []core.ActionID
	err := v.l.each(context.Background(), query, args, func(row scanner) error {
		var id core.ActionID
		err := row.Scan(&id)
		out = append(out, id)
		return err
	})
	return out, err
}
