package store

import (
	"fmt"
	"time"

	"gatehouse/core"
)

const planColumns = `seq, id, person, how, holder, confirmed_at, finished_at, dismissed`

// Plan implements core.View.
func (v *view) Plan(id core.PlanID) (core.PlanRecord, error) {
	found, err := v.plans(`WHERE id = ?`, id)
	if err != nil {
		return core.PlanRecord{}, err
	}
	if len(found) == 0 {
		return core.PlanRecord{}, fmt.Errorf("plan %s: %w", id, core.ErrNotFound)
	}
	return found[0], nil
}

// Plans implements core.View. No limit is 20.
func (v *view) Plans(limit int) ([]core.PlanRecord, error) {
	if limit <= 0 {
		limit = 20
	}
	return v.plans(`ORDER BY seq DESC LIMIT ?`, limit)
}

func (v *view) plans(where string, args ...any) ([]core.PlanRecord, error) {
	var out []core.PlanRecord
	var seqs []int64
	err := v.l.each(v.ctx, `SELECT `+planColumns+` FROM plan `+where, args, func(row scanner) error {
		var p core.PlanRecord
		var seq, confirmed, finished int64
		if err := row.Scan(&seq, &p.ID, &p.By, &p.How, &p.Holder, &confirmed, &finished, &p.Dismissed); err != nil {
			return err
		}
		p.ConfirmedAt, p.FinishedAt = moment(confirmed), moment(finished)
		out, seqs = append(out, p), append(seqs, seq)
		return nil
	})
	for i := 0; i < len(out) && err == nil; i++ {
		err = v.planItems(seqs[i], &out[i])
	}
	return out, err
}

func (v *view) planItems(seq int64, p *core.PlanRecord) error {
	return v.l.each(v.ctx, `SELECT action, digest, verdict, reason, outcome, outcome_reason FROM plan_item WHERE plan = ? ORDER BY place`,
		[]any{seq}, func(row scanner) error {
			var item core.PlanItem
			var res core.Result
			var digest []byte
			if err := row.Scan(&item.Action, &digest, &item.Verdict, &item.Reason, &res.Outcome, &res.Reason); err != nil {
				return err
			}
			item.Digest, res.Action = digestOf(digest), item.Action
			p.Items, p.Results = append(p.Items, item), append(p.Results, res)
			return nil
		})
}

// InsertPlan implements core.Tx.
func (t *tx) InsertPlan(p core.PlanRecord) error {
	var taken int
	if err := t.l.one(`SELECT count(*) FROM plan WHERE id = ?`, []any{p.ID}, &taken); err != nil {
		return err
	}
	if taken > 0 {
		return fmt.Errorf("plan %s: %w", p.ID, core.ErrPlanConfirmed)
	}
	if len(p.Items) > core.PlanLimit {
		return fmt.Errorf("plan %s: %d items, %d at most", p.ID, len(p.Items), core.PlanLimit)
	}
	var seq int64
	err := t.l.one(`INSERT INTO plan (id, person, how, holder, confirmed_at) VALUES (?, ?, ?, ?, ?) RETURNING seq`,
		[]any{p.ID, p.By, p.How, p.Holder, nanos(p.ConfirmedAt)}, &seq)
	if err != nil {
		return fmt.Errorf("plan %s: %w", p.ID, err)
	}
	for place, item := range p.Items {
		_, err := t.l.exec(`INSERT INTO plan_item (plan, action, place, digest, verdict, reason, outcome, outcome_reason)
			VALUES (?, ?, ?, ?, ?, ?, ?, '')`,
			seq, int64(item.Action), place, item.Digest[:], item.Verdict, item.Reason, core.OutcomeNotStarted)
		if err != nil {
			return fmt.Errorf("plan %s: action %d: %w", p.ID, item.Action, err)
		}
	}
	return nil
}

// SetPlanItem implements core.Tx; an action that is not in the plan is core.ErrNotFound.
func (t *tx) SetPlanItem(plan core.PlanID, id core.ActionID, outcome core.ItemOutcome, reason string) error {
	n, err := t.l.exec(`UPDATE plan_item SET outcome = ?, outcome_reason = ?
		WHERE plan = (SELECT seq FROM plan WHERE id = ?) AND action = ?`, outcome, reason, plan, int64(id))
	if err == nil && n == 0 {
		return fmt.Errorf("plan %s: action %d: %w", plan, id, core.ErrNotFound)
	}
	return err
}

// FinishPlan implements core.Tx.
func (t *tx) FinishPlan(plan core.PlanID, at time.Time) error {
	n, err := t.l.exec(`UPDATE plan SET finished_at = ? WHERE id = ? AND finished_at = 0`, nanos(at), plan)
	if err == nil && n == 0 {
		return fmt.Errorf("plan %s that is carried out: %w", plan, core.ErrNotFound)
	}
	return err
}
