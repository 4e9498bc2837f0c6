package share

import (
	"errors"
	"fmt"
)

// Errors to branch on.
var (
	ErrNotRecipient = errors.New("file is not for you")
	ErrPassphrase   = errors.New("identity: wrong passphrase")
	ErrChanged      = errors.New("session changed since it was shown; look again")
)

// InvalidError is a file that is not what its sender made. Nothing of it was handed out.
type InvalidError struct{ Reason string }

func (e *InvalidError) Error() string { return "file: not valid: " + e.Reason }

func invalid(format string, args ...any) error {
	return &InvalidError{Reason: fmt.Sprintf(format, args...)}
}

// NewerError is a file of a version that this program does not read.
type NewerError struct{ Version, Reads int }

func (e *NewerError) Error() string {
	return fmt.Sprintf("file: has version %d, and this gatehouse reads version %d; open it with a newer one", e.Version, e.Reads)
}
