package core

import "context"

// DraftDecision notes a decision that a person means to carry out later (T1). Nothing happens yet. It is a
// compare-and-set on the row that was seen: if the action changed since, a *LostRaceError says how it stands and who
// decided. An item without a digest means the action as it stands.
func (k *Kernel) DraftDecision(ctx context.Context, person PersonID, item PlanItem, seen int64) (DraftedDecision, error) {
	d := DraftedDecision{
		Person: person, Action: item.Action, Digest: item.Digest, Verdict: item.Verdict,
		Reason: cleanReason(item.Reason), At: k.clock.Now(),
	}
	err := k.store.Write(ctx, func(tx Tx) error {
		a, err := tx.ActionState(item.Action)
		if err != nil {
			return err
		}
		s, err := tx.Session(string(a.Session))
		if err != nil {
			return err
		}
		if err := unremoved(s); err != nil {
			return err
		}
		if own, err := rights(tx, s, person); err != nil {
			return err
		} else if !own.Role.Includes(RoleBuild) {
			return &RoleError{Session: s.ID, Person: person, Needs: "to draft decisions in it"}
		}
		open := a.State == StatePending || (item.Verdict == VerdictReject && a.Rejectable())
		moved := item.Digest != (Digest{}) && item.Digest != a.Digest
		if !open || moved || (seen != 0 && seen != a.Version) {
			return lostRace(a)
		}
		d.Digest = a.Digest
		return tx.PutDraft(d)
	})
	return d, err
}

// Drafts lists a person's drafts, oldest first.
func (k *Kernel) Drafts(ctx context.Context, person PersonID) ([]DraftedDecision, error) {
	var drafts []DraftedDecision
	err := k.store.Read(ctx, func(v View) (err error) {
		drafts, err = v.Drafts(person)
		return err
	})
	return drafts, err
}

// UndoDraft takes a person's newest draft back; false where there was none.
func (k *Kernel) UndoDraft(ctx context.Context, person PersonID) (last DraftedDecision, found bool, err error) {
	err = k.store.Write(ctx, func(tx Tx) error {
		drafts, err := tx.Drafts(person)
		if err != nil || len(drafts) == 0 {
			return err
		}
		last, found = drafts[len(drafts)-1], true
		return tx.DropDrafts(person, []ActionID{last.Action})
	})
	return last, found, err
}

// DropDrafts takes a person's drafts back; no ids means all of them.
func (k *Kernel) DropDrafts(ctx context.Context, person PersonID, ids ...ActionID) error {
	return k.store.Write(ctx, func(tx Tx) error { return tx.DropDrafts(person, ids) })
}
