package files

import "golang.org/x/sys/unix"

// renameExclusive fails with EEXIST where something stands.
func renameExclusive(fromFD int, from string, toFD int, to string) error {
	return unix.RenameatxNp(fromFD, from, toFD, to, unix.RENAME_EXCL)
}
