package core

import (
	"errors"
	"fmt"
	"strings"

	"gatehouse/core/text"
)

// Errors to branch on.
var (
	ErrNameTaken     = errors.New("name is taken")
	ErrPlanConfirmed = errors.New("plan was already confirmed")
	ErrNoPerson      = errors.New("a decision comes from a person")
	ErrStoreReplaced = errors.New("store was replaced or made read-only while open")
	ErrNewerSchema   = errors.New("store was written by a newer version")
	ErrForeignFile   = errors.New("file is not a gatehouse store")
)

// together is one error of several in one line; what repeats another is left out. errors.Join would take a line for each.
func together(errs ...error) error {
	var out error
	for _, err := range errs {
		switch {
		case err == nil:
		case out == nil:
			out = err
		case !strings.Contains(out.Error(), err.Error()):
			out = fmt.Errorf("%w; %w", out, err)
		}
	}
	return out
}

// Half says which half of the gate refused (kernel R2).
type Half string

// The halves.
const (
	HalfIntent Half = "intent" // the service was not called
	HalfExact  Half = "exact"  // fetched and withheld
)

// RefusedError is a refusal of the gate. Its text names units; front ends show it to the owner alone.
type RefusedError struct {
	Check string // the check that refused
	Half  Half
	Unit  Unit   // zero where no single unit is meant
	Why   string // one line

	Person PersonID // who could not read it, where that is why
	Public string   // what the caller may be told, in place of the name of the check alone
}

func (e *RefusedError) Error() string {
	if e.Unit.IsZero() {
		return e.Why
	}
	return fmt.Sprintf("%s: %s", e.Unit, e.Why)
}

// DecisionRefusedError is a decision that did not count: made by an agent's process, without the key, or not opened (kernel R34, R26).
type DecisionRefusedError struct {
	Text string
	Hint string
}

func (e *DecisionRefusedError) Error() string { return e.Text }

// CapError says that a binding has too many open actions (kernel R24).
type CapError struct {
	Binding BindingName
	Cap     int
}

func (e *CapError) Error() string {
	return fmt.Sprintf("binding %s: %d actions wait already; a person must decide some before more can be queued", e.Binding, e.Cap)
}

// reasonLimit is how many code points of a reason are kept.
const reasonLimit = 2000

// cleanReason makes any text one clean line (K19).
func cleanReason(s string) string {
	line, _ := text.CleanLine(s, reasonLimit)
	return line
}
