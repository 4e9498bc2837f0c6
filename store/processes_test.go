package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gatehouse/core"
)

func join(t *testing.T, path string) *Processes {
	t.Helper()
	p, err := Join(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestAliveFollowsTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.db")
	p := join(t, path)
	line, end := started(t, helper(t, "join", path))
	other := core.ProcessID(line)
	second := join(t, path)
	for _, asks := range []*Processes{p, second} {
		if !asks.Alive(p.Self()) || !asks.Alive(second.Self()) || !asks.Alive(other) {
			t.Errorf("%s takes a living process for dead", asks.Self())
		}
	}
	if p.Self() == second.Self() {
		t.Error("two ids are equal")
	}
	end()
	if p.Alive(other) || second.Alive(other) {
		t.Error("a process that ended is taken for alive")
	}
	if _, err := os.Stat(filepath.Join(path+".proc", line)); !os.IsNotExist(err) {
		t.Errorf("its file stays: %v", err)
	}
}

func TestAliveRefusesOtherBootsAndOtherNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.db")
	p := join(t, path)
	_, tail, _ := strings.Cut(string(p.Self()), "-")
	earlier := "0123456789abcdef-" + tail
	if err := os.WriteFile(filepath.Join(path+".proc", earlier), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(filepath.Dir(path), "precious")
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	boot, _, _ := strings.Cut(string(p.Self()), "-")
	for _, id := range []string{earlier, "", "x", boot + "-/../../precious", "../precious"} {
		if p.Alive(core.ProcessID(id)) {
			t.Errorf("%q is taken for alive", id)
		}
	}
	if _, err := os.Stat(secret); err != nil {
		t.Errorf("a file elsewhere was removed: %v", err)
	}
	join(t, path) // sweeps
	if _, err := os.Stat(filepath.Join(path+".proc", earlier)); !os.IsNotExist(err) {
		t.Errorf("the file of an earlier boot stays: %v", err)
	}
}

// Two who ask at once must not take each other for the process that is gone.
func TestAskingIsNotLiving(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.db")
	p := join(t, path)
	line, end := started(t, helper(t, "join", path))
	end()
	asking, err := os.OpenFile(filepath.Join(path+".proc", line), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = asking.Close() }()
	if err := flock(asking, unix.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	if p.Alive(core.ProcessID(line)) {
		t.Error("another who asks is taken for the process")
	}
}

func TestProcessFolderIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.db")
	p := join(t, path)
	for name, want := range map[string]os.FileMode{path + ".proc": os.ModeDir | 0o700, filepath.Join(path+".proc", string(p.Self())): 0o600} {
		info, err := os.Stat(name)
		if err != nil || info.Mode() != want {
			t.Errorf("%s: %v (%v), want %s", name, info, err, want)
		}
	}
}
