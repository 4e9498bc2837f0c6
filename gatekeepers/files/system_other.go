//go:build !linux && !darwin

package files

import "golang.org/x/sys/unix"

// renameExclusive is not there: the caller looks before it moves.
func renameExclusive(int, string, int, string) error { return unix.ENOSYS }
