package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gatehouse/skills"
)

func listSource(t *testing.T, dir string) (paths []string, out map[string]string) {
	t.Helper()
	s, err := openSource(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.close() })
	files, left, err := s.list(t.Context(), func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	slices.Sort(paths)
	out = map[string]string{}
	for _, o := range left {
		out[o.Path] = o.Why
	}
	return paths, out
}

// Whatever lies in a folder, an import ends, reads nothing outside, and says what it left out.
func TestSourceWithOddFiles(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	try := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	put := func(name string) {
		t.Helper()
		path := filepath.Join(dir, name)
		try(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("text"), 0o600))
	}
	put("a/SKILL.md")
	put(".git/config")
	put("line\nbreak.md")
	put("esc\x1b[31m.md")
	put("a/no\xffutf8.md")
	try(
		os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600),
		os.MkdirAll(filepath.Join(dir, "fold\xffer"), 0o700),
		os.WriteFile(filepath.Join(dir, "fold\xffer", "x.md"), []byte("x"), 0o600),
		os.Symlink(".", filepath.Join(dir, "loop")),
		os.Symlink("../a", filepath.Join(dir, "a", "up")),
		os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "leak.md")),
		os.Symlink(outside, filepath.Join(dir, "outside")),
		syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600),
	)
	huge, err := os.Create(filepath.Join(dir, "huge.md"))
	try(err)
	try(huge.Truncate(2<<30), huge.Close())

	paths, out := listSource(t, dir)
	if !slices.Equal(paths, []string{"a/SKILL.md"}) {
		t.Errorf("got %q, want one file", paths)
	}
	for name, want := range map[string]string{
		"line\nbreak.md": "control character", "esc\x1b[31m.md": "control character", "a/no\xffutf8.md": "UTF-8", "fold\xffer": "UTF-8", "loop": "link", "a/up": "link",
		"leak.md": "link", "outside": "link", "pipe": "no regular file", "huge.md": "2147483648 bytes, at most 1800000",
	} {
		if !strings.Contains(out[name], want) {
			t.Errorf("%q: left out because %q, want %q", name, out[name], want)
		}
		if strings.ContainsAny(out[name], "\n\x1b") {
			t.Errorf("%q: the reason is no clean line: %q", name, out[name])
		}
	}
	if len(out) != 10 {
		t.Errorf("left out: %q", out)
	}
	// A file that becomes something else between looking and reading is not read.
	s, err := openSource(dir)
	try(err)
	defer func() { _ = s.close() }()
	for _, name := range []string{"leak.md", "pipe", "huge.md", "gone.md", "../x", "outside/secret"} {
		if d, err := s.read(name); err == nil {
			t.Errorf("%s: was read: %q", name, d.Bytes)
		}
	}
}

// TestSourceOfManyFiles: a folder with 100,000 files is walked over without reading one of them.
func TestSourceOfManyFiles(t *testing.T) {
	if testing.Short() {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI runs the whole, without -short")
		}
		t.Skip("makes 100,000 files, which a short run leaves out")
	}
	const files, folders = 100_000, 10
	dir := t.TempDir()
	for i := range folders {
		folder := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		for n := range files / folders {
			// Nobody may read them: looking is enough.
			f, err := os.OpenFile(filepath.Join(folder, fmt.Sprint(n)), os.O_CREATE|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if paths, out := listSource(t, dir); len(paths) != files || len(out) != 0 {
		t.Errorf("got %d files and %d left out, want %d", len(paths), len(out), files)
	}
}

// inProcess runs a command without a process, on a store of the test's own.
func inProcess(t *testing.T, store string, args ...string) (stdout string, code int) {
	t.Helper()
	var out, words bytes.Buffer
	code = run(invocation{args: append(args, "--store", store), stdin: strings.NewReader(""), stdout: &out, stderr: &words}, additions{})
	if code != 0 {
		t.Logf("%v: %s", args, words.String())
	}
	return out.String(), code
}

// TestImportOfManySkills: a second import of many skills reads the one that changed and no other.
func TestImportOfManySkills(t *testing.T) {
	for _, name := range []string{"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME"} {
		t.Setenv(name, t.TempDir())
	}
	t.Setenv("CLAUDECODE", "")
	t.Setenv("GEMINI_CLI", "")
	t.Setenv("CODEX_SANDBOX", "")
	const many = 1000
	dir, store := filepath.Join(t.TempDir(), "many"), filepath.Join(t.TempDir(), "g.db")
	write := func(i int, body string) {
		t.Helper()
		folder := filepath.Join(dir, fmt.Sprintf("s%04d", i))
		text := fmt.Sprintf("---\nname: s%04d\ndescription: number %d\n---\n%s\n", i, i, body)
		if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "SKILL.md"), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range many {
		write(i, "one")
	}
	add := func() (r importReport) {
		t.Helper()
		out, code := inProcess(t, store, "skills", "add", dir, "--json")
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, out)
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := add(); r.Read != many || r.Added != many || r.Skills != many {
		t.Errorf("first: got %+v", r)
	}
	// What was written just before the first import may be read once more, and is the same: see stampAge.
	if r := add(); r.Changed != 0 || r.Added != 0 || r.Read > many/2 {
		t.Errorf("second: got %+v", r)
	}
	write(500, "zebra")
	if r := add(); r.Read != 1 || r.Changed != 1 || r.Skills != many {
		t.Errorf("third: got %+v", r)
	}
	if out, _ := inProcess(t, store, "skills", "search", "zebra", "--json"); strings.Count(out, "\n") != 1 || !strings.Contains(out, "s0500") {
		t.Errorf("search: got %s", out)
	}
}

// A file of 2 GB is refused by its size; lint says so like any fault.
func TestLintOfAHugeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "SKILL.md")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(2<<30), f.Close()); err != nil {
		t.Fatal(err)
	}
	faults, err := lintFaults(path)
	if err != nil || len(faults) != 1 || faults[0].Code != skills.FaultTooLarge {
		t.Errorf("got %+v, %v", faults, err)
	}
}

// A checkout whose configuration names programs is left to its owner.
func TestReachesKeysOfPrograms(t *testing.T) {
	for key, want := range map[string]bool{
		"filter.x.smudge": true, "merge.x.driver": true, "merge.ff": false, "include.path": true, "url.x.insteadof": true, "core.bare": false,
		"remote.origin.url": false, "branch.main.remote": false, "credential.https://x.helper": true, "core.gitproxy": true,
	} {
		if got := reaches(key); got != want {
			t.Errorf("%s: got %t, want %t", key, got, want)
		}
	}
}

func TestRemoteIsToldWithoutCredentials(t *testing.T) {
	for given, want := range map[string][2]string{
		"https://Git.example/a.git":         {"https://Git.example/a.git", "git.example"},
		"https://bob:pw@git.example:8443/a": {"https://git.example:8443/a", "git.example"},
		"https://bob:p%zz@git.example/a":    {"https://git.example/a", "git.example"},
		"ssh://git@git.example/~/a":         {"ssh://git.example/~/a", "git.example"},
		"git@git.example:a/b":               {"git@git.example:a/b", "git.example"},
		"https://git.example/a%zz":          {"https://git.example/a%zz", "git.example"},
		"file:///srv/a":                     {"file:///srv/a", ""},
		"/srv/a:b":                          {"/srv/a:b", ""},
		"../a":                              {"../a", ""},
	} {
		shown := withoutCredentials(given)
		r := fetchRequest(shown, "alice")
		if shown != want[0] || r.Host != want[1] || r.Local != (r.Host == "") {
			t.Errorf("%s: got %q at %q, local %v; want %q", given, shown, r.Host, r.Local, want)
		}
	}
}
