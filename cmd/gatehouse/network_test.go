package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestE1_LocalBindingsMakeNoConnection runs the demo, a decision and a read in a network namespace that holds nothing,
// not even a loopback that is up: what works there connects to nobody.
func TestE1_LocalBindingsMakeNoConnection(t *testing.T) {
	missing := func(why string) {
		t.Helper()
		if os.Getenv("CI") == "true" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	if runtime.GOOS != "linux" {
		missing("an empty network namespace needs Linux")
	}
	if out, err := exec.Command("unshare", "-rn", "true").CombinedOutput(); err != nil {
		missing("an empty network namespace cannot be made here: " + strings.TrimSpace(string(out)))
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "gatehouse")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, args := range [][]string{
		{"demo", "--dir", filepath.Join(dir, "d"), "--headless"},
		{"--store", filepath.Join(dir, "d", "gatehouse.db"), "queue", "approve", "1", "--yes"},
		{"--store", filepath.Join(dir, "d", "gatehouse.db"), "call", "s1", "SITE.list", "{}"},
	} {
		c := exec.Command("unshare", append([]string{"-rn", program}, args...)...)
		c.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "XDG_STATE_HOME=")
		for _, mark := range []string{"CLAUDECODE", "GEMINI_CLI", "CODEX_SANDBOX", "GATEHOUSE_AGENT"} {
			c.Env = append(c.Env, mark+"=")
		}
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
