package files

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gatehouse/core"
)

// git runs git as the operator would, without the configuration of whoever runs the tests.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=alice", "GIT_AUTHOR_EMAIL=alice@example.com", "GIT_COMMITTER_NAME=alice", "GIT_COMMITTER_EMAIL=alice@example.com",
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always",
	}
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, complaint.String())
	}
	return string(out)
}

// newRepository makes a repository with site/ and secret/ in it, both committed.
func newRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	for name, content := range map[string]string{
		"site/index.html": "<h1>one</h1>\n", "site/about.html": "about\n", "secret/plan.txt": "hush\n",
	} {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "first")
	return dir
}

func (b *bench) status(path string) statusValue {
	b.t.Helper()
	return decodeAs[statusValue](b.t, b.read(opStatus, "path", path).Value)
}

func (b *bench) diff(path string) diffValue {
	b.t.Helper()
	return decodeAs[diffValue](b.t, b.read(opDiff, "path", path).Value)
}

func (b *bench) log(path string) logValue {
	b.t.Helper()
	return decodeAs[logValue](b.t, b.read(opLog, "path", path).Value)
}

func TestF9_NothingOutsideTheBoundFolderShows(t *testing.T) {
	for _, as := range []string{"root", "sub"} {
		t.Run(as, func(t *testing.T) {
			dir := newRepository(t)
			root, sub := filepath.Join(dir, "site"), ""
			if as == "sub" {
				root, sub = dir, "site"
			}
			b := newBenchIn(t, root, sub, nil, Options{})
			for name, content := range map[string]string{"secret/plan.txt": "hush hush\n", "secret/new.txt": "hush\n", "site/about.html": "hello\n"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			git(t, dir, "add", "secret")
			git(t, dir, "commit", "-q", "-m", "second, elsewhere")
			if err := os.WriteFile(filepath.Join(dir, "secret/new.txt"), []byte("hush, changed\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			status, diff, log := b.read(opStatus), b.read(opDiff), b.read(opLog)
			for what, f := range map[string]core.Fetched{"status": status, "diff": diff, "log": log, "list": b.read(opList), "search": b.read(opSearch, "query", "h")} {
				if s := string(f.Value); strings.Contains(s, "secret") || strings.Contains(s, "hush") || strings.Contains(s, "elsewhere") || strings.Contains(s, "site/") {
					t.Errorf("%s shows what lies outside: %s", what, s)
				}
			}
			if got := b.status("").Entries; len(got) != 1 || got[0] != (statusEntry{Path: "about.html", Index: ".", Worktree: "M"}) {
				t.Errorf("status: got %+v", got)
			}
			if got := b.diff("").Unstaged; !strings.Contains(got, "--- a/about.html\n+++ b/about.html\n") {
				t.Errorf("diff: got %s", got)
			}
			if got := b.log("").Commits; len(got) != 1 || got[0].Subject != "first" || got[0].Author != "alice" {
				t.Errorf("log: got %+v", got)
			}
			for _, path := range []string{"../secret/plan.txt", "secret/plan.txt", "site/../../secret/plan.txt"} {
				_, err := b.tryRead(opRead, "path", path)
				if err == nil || strings.Contains(err.Error(), "hush") {
					t.Errorf("read %s: got %v, want a refusal", path, err)
				}
			}
		})
	}
}

func TestF12_NothingPlantedRuns(t *testing.T) {
	dir := newRepository(t)
	mark := filepath.Join(t.TempDir(), "ran")
	script := filepath.Join(t.TempDir(), "evil.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$0 $*\" >> "+mark+"\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	extra := filepath.Join(t.TempDir(), "included")
	if err := os.WriteFile(extra, []byte("[core]\n\tfsmonitor = "+script+"\n[diff]\n\texternal = "+script+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"core.fsmonitor": script, "core.hooksPath": filepath.Dir(script), "diff.external": script, "diff.evil.textconv": script,
		"diff.evil.command": script, "filter.evil.clean": script, "filter.evil.smudge": script, "filter.evil.process": script,
		"filter.evil.required": "true", "core.pager": script, "pager.log": script, "pager.diff": script, "pager.status": script,
		"log.showSignature": "true", "gpg.program": script, "core.sshCommand": script, "core.alternateRefsCommand": script,
		"core.editor": script, "include.path": extra, "alias.status": "!" + script, "alias.diff": "!" + script, "core.worktree": "/",
		"credential.helper": "!" + script, "remote.origin.promisor": "true", "remote.origin.url": "ext::" + script,
		"trailer.evil.command": script, "submodule.recurse": "true", "diff.submodule": "log",
	} {
		git(t, dir, "config", "--file", filepath.Join(dir, ".git/config"), name, value)
	}
	for _, hook := range []string{"post-index-change", "fsmonitor-watchman", "post-checkout", "pre-commit", "reference-transaction"} {
		if err := os.WriteFile(filepath.Join(dir, ".git/hooks", hook), []byte("#!/bin/sh\necho hook >> "+mark+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b := newBenchIn(t, dir, "", map[string]string{
		".gitattributes":  "* diff=evil filter=evil\n",
		"site/index.html": "<h1>two</h1>\n",
	}, Options{})
	config, err := os.ReadFile(filepath.Join(dir, ".git/config"))
	if err != nil {
		t.Fatal(err)
	}
	index, err := os.ReadFile(filepath.Join(dir, ".git/index"))
	if err != nil {
		t.Fatal(err)
	}
	entries := b.status("").Entries
	if !slices.Contains(entries, statusEntry{Path: "site/index.html", Index: ".", Worktree: "M"}) {
		t.Errorf("status: got %+v", entries)
	}
	if got := b.diff("").Unstaged; !strings.Contains(got, "+<h1>two</h1>") {
		t.Errorf("diff: got %s", got)
	}
	if got := b.log("").Commits; len(got) != 1 {
		t.Errorf("log: got %+v", got)
	}
	if ran, err := os.ReadFile(mark); err == nil {
		t.Errorf("planted programs ran: %s", ran)
	}
	if now, _ := os.ReadFile(filepath.Join(dir, ".git/config")); string(now) != string(config) {
		t.Error("configuration was changed")
	}
	if now, _ := os.ReadFile(filepath.Join(dir, ".git/index")); string(now) != string(index) {
		t.Error("index was changed by a read")
	}
}

func TestF13_AsGitSaysWithPendingOnTop(t *testing.T) {
	dir := newRepository(t)
	inner := newRepository(t)
	git(t, dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "mod")
	git(t, dir, "config", "core.autocrlf", "true")
	b := newBenchIn(t, dir, "", map[string]string{
		".gitattributes": "*.crlf text eol=crlf\n", ".gitignore": "*.log\n", "x.crlf": "a\r\nb\r\n",
	}, Options{})
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "second")
	git(t, dir, "checkout", "-q", "--detach")
	b.disk("debug.log", "ignored")
	b.disk("site/about.html", "staged by the operator\n")
	git(t, dir, "add", "site/about.html")
	b.disk("site/index.html", "<h1>two</h1>\n")
	b.disk("untracked.txt", "u")
	// Touched, but the same after the filter.
	b.disk("x.crlf", "a\r\nb\r\n")
	git(t, filepath.Join(dir, "mod"), "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "moved on")

	id, _ := b.queue(opEdit, "path", "site/index.html", "old", "two", "new", "three")
	added, _ := b.queue(opWrite, "path", "site/new.html", "text", "new\n")
	gone, _ := b.queue(opDelete, "path", "secret/plan.txt")

	status := b.status("")
	if status.Branch != "" || len(status.Head) != 40 {
		t.Errorf("detached head: got %q %q", status.Branch, status.Head)
	}
	want := []statusEntry{
		{"mod", ".", "M"}, {"site/about.html", "M", "."}, {"site/index.html", ".", "M"}, {"untracked.txt", "?", "?"},
	}
	if !slices.Equal(status.Entries, want) {
		t.Errorf("status: got %+v, want %+v", status.Entries, want)
	}
	porcelain := git(t, dir, "status", "--porcelain", "--untracked-files=all", "--no-renames")
	if got, want := len(status.Entries), strings.Count(porcelain, "\n"); got != want {
		t.Errorf("status: got %d entries, git says\n%s", got, porcelain)
	}
	var pending []string
	for _, p := range status.Pending {
		pending = append(pending, p.Change+" "+p.Path)
	}
	if want := []string{"deleted secret/plan.txt", "modified site/index.html", "added site/new.html"}; !slices.Equal(pending, want) {
		t.Errorf("pending: got %v, want %v", pending, want)
	}
	wantIDs(t, "status", b.read(opStatus).Projected, id, added, gone)

	diff := b.diff("")
	if want := git(t, dir, "diff", "--cached", "--no-renames"); diff.Staged != want {
		t.Errorf("staged: got\n%s\nwant\n%s", diff.Staged, want)
	}
	if want := git(t, dir, "diff", "--no-renames"); diff.Unstaged != want {
		t.Errorf("unstaged: got\n%s\nwant\n%s", diff.Unstaged, want)
	}
	for _, line := range []string{"-<h1>two</h1>\n+<h1>three</h1>\n", "+++ b/site/new.html", "--- a/secret/plan.txt\n+++ /dev/null"} {
		if !strings.Contains(diff.Pending, line) {
			t.Errorf("pending diff lacks %q: %s", line, diff.Pending)
		}
	}
	if got := b.diff("site"); strings.Contains(got.Pending, "secret") || strings.Contains(got.Unstaged, "mod") || got.Unstaged == "" {
		t.Errorf("diff of site: got %+v", got)
	}
	if got := b.status("site").Entries; len(got) != 2 {
		t.Errorf("status of site: got %+v", got)
	}
	if got := b.log("site").Commits; len(got) != 1 {
		t.Errorf("log of site: got %+v", got)
	}
	// Inside the submodule it is the submodule's repository that answers, in the binding's paths.
	b.disk("mod/site/index.html", "<h1>inner</h1>\n")
	if got := b.status("mod").Entries; !slices.Equal(got, []statusEntry{{"mod/site/index.html", ".", "M"}}) {
		t.Errorf("status of mod: got %+v", got)
	}
	if got := b.diff("mod").Unstaged; !strings.Contains(got, "+++ b/mod/site/index.html") {
		t.Errorf("diff of mod: got %s", got)
	}
}

func TestF13_WithoutAWorkTreeOrACommit(t *testing.T) {
	b := newBench(t, map[string]string{"a": "a"})
	if _, err := b.tryRead(opStatus); err == nil || !strings.Contains(err.Error(), "not in a git work tree") {
		t.Errorf("status: got %v", err)
	}
	git(t, b.dir, "init", "-q", "-b", "main")
	if got := b.status(""); got.Branch != "main" || got.Head != "" || len(got.Entries) != 1 {
		t.Errorf("status: got %+v", got)
	}
	if got := b.log(""); len(got.Commits) != 0 {
		t.Errorf("log: got %+v", got)
	}
	b.queue(opWrite, "path", "b", "text", "b")
	if got := b.diff("").Pending; !strings.Contains(got, "+b") {
		t.Errorf("diff: got %q", got)
	}
}
