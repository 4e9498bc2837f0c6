package store

import (
	"fmt"

	"gatehouse/core"
)

// DismissPlan implements core.Tx.
func (t *tx) DismissPlan(plan core.PlanID, by core.PersonID) error {
	n, err := t.l.exec(`UPDATE plan SET dismissed = 1 WHERE id = ? AND person = ?`, plan, by)
	if err == nil && n == 0 {
		return fmt.Errorf("plan %s of %s: %w", plan, by, core.ErrNotFound)
	}
	return err
}
