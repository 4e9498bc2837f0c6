package store

import (
	"os"
	"strings"
)

// bootID tells one boot of the machine from another.
func bootID() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.ReplaceAll(strings.TrimSpace(string(id)), "-", ""), err
}
