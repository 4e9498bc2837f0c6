package store

import (
	"strings"

	"golang.org/x/sys/unix"
)

// bootID tells one boot of the machine from another. The time of boot would change when the clock is set.
func bootID() (string, error) {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	return strings.ReplaceAll(id, "-", ""), err
}
