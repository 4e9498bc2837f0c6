package files

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"gatehouse/core"
)

// Limits of what git says.
const (
	maxCommits = 200
	maxChanged = 10000
)

type statusValue struct {
	Branch  string          `json:"branch,omitempty"` // absent where HEAD is detached
	Head    string          `json:"head,omitempty"`   // absent before the first commit
	Entries []statusEntry   `json:"entries"`
	Pending []pendingChange `json:"pending"`
}

// statusEntry has git's letters: M modified, A added, D deleted, T changed in kind, U unmerged, ? untracked, "." the same.
type statusEntry struct {
	Path     string `json:"path"`
	Index    string `json:"index"`
	Worktree string `json:"worktree"`
}

func (q *question) status() (core.Fetched, error) {
	repo, err := q.r.repository(q.ctx, q.full)
	if err != nil {
		return core.Fetched{}, err
	}
	defer repo.Close()
	raw, err := repo.run(q.ctx, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all",
		"--ignore-submodules=dirty", "--no-renames", "--no-ahead-behind", "--", repo.spec(q.full))
	if err != nil {
		return core.Fetched{}, err
	}
	value := statusValue{Entries: []statusEntry{}}
	for _, line := range strings.Split(string(raw), "\x00") {
		if head, found := strings.CutPrefix(line, "# branch.oid "); found && head != "(initial)" {
			value.Head = head
		}
		if branch, found := strings.CutPrefix(line, "# branch.head "); found && branch != "(detached)" {
			value.Branch = toUTF8(branch)
		}
		e, ok := statusLine(line)
		if !ok {
			continue
		}
		full, ok := repo.path(strings.TrimSuffix(e.Path, "/"))
		if !ok || !q.inScope(full) {
			continue
		}
		e.Path = toUTF8(q.r.show(full))
		value.Entries = append(value.Entries, e)
	}
	if len(value.Entries) > maxChanged {
		return core.Fetched{}, &core.CallError{Code: core.CodeTooLarge, Text: "status: more than 10,000 changes; give a path to narrow it"}
	}
	changes, acts, err := q.changes()
	if err != nil {
		return core.Fetched{}, err
	}
	value.Pending = changes
	return q.answer(value, acts)
}

// inScope keeps to the path that was asked about and to what a binding can name.
func (q *question) inScope(full string) bool {
	_, why := relative(full)
	return isBelow(full, q.full) && (why == "" || why == "is not UTF-8")
}

// statusLine reads one record of porcelain v2.
func statusLine(line string) (statusEntry, bool) {
	kind, rest, _ := strings.Cut(line, " ")
	fields := map[string]int{"1": 7, "u": 9, "?": 0}
	skip, known := fields[kind]
	if !known {
		return statusEntry{}, false
	}
	if kind == "?" {
		return statusEntry{Path: rest, Index: "?", Worktree: "?"}, true
	}
	parts := strings.SplitN(rest, " ", skip+1)
	if len(parts) != skip+1 || len(parts[0]) != 2 {
		return statusEntry{}, false
	}
	return statusEntry{Path: parts[skip], Index: parts[0][:1], Worktree: parts[0][1:]}, true
}

type diffValue struct {
	Staged   string `json:"staged"`
	Unstaged string `json:"unstaged"`
	Pending  string `json:"pending"`
}

func (q *question) diff() (core.Fetched, error) {
	repo, err := q.r.repository(q.ctx, q.full)
	if err != nil {
		return core.Fetched{}, err
	}
	defer repo.Close()
	var value diffValue
	for _, part := range []struct {
		to   *string
		args []string
	}{{&value.Staged, []string{"--cached"}}, {&value.Unstaged, nil}} {
		raw, err := repo.run(q.ctx, append(append(q.diffArgs(repo), part.args...), "--", repo.spec(q.full))...)
		if err != nil {
			return core.Fetched{}, err
		}
		*part.to = toUTF8(string(raw))
	}
	pending, acts, err := q.pendingDiff()
	if err != nil {
		return core.Fetched{}, err
	}
	value.Pending = pending
	return q.answer(value, acts)
}

// diffArgs makes git name paths as the binding does.
func (q *question) diffArgs(repo *repository) []string {
	list := []string{
		"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--ignore-submodules=dirty",
		"--submodule=short", "--unified=3", "--diff-algorithm=myers",
	}
	inBinding := ""
	if rest, ok := below(repo.inRoot, q.r.sub); ok && rest != "" {
		inBinding = rest + "/"
	}
	list = append(list, "--src-prefix=a/"+inBinding, "--dst-prefix=b/"+inBinding)
	if sub := repo.spec(q.r.sub); inBinding == "" && sub != "." {
		list = append(list, "--relative="+sub+"/")
	}
	return list
}

type logValue struct {
	Branch  string   `json:"branch,omitempty"`
	Head    string   `json:"head,omitempty"`
	Commits []commit `json:"commits"`
	More    bool     `json:"more,omitempty"`
}

type commit struct {
	ID      string `json:"id"`
	Author  string `json:"author"`
	At      string `json:"at"`
	Subject string `json:"subject"`
}

func (q *question) log() (core.Fetched, error) {
	repo, err := q.r.repository(q.ctx, q.full)
	if err != nil {
		return core.Fetched{}, err
	}
	defer repo.Close()
	value := logValue{Commits: []commit{}}
	if _, err := repo.run(q.ctx, "rev-parse", "--git-dir"); err != nil { // one that cannot be read is not one without commits
		return core.Fetched{}, err
	}
	oid, err := repo.run(q.ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		if q.ctx.Err() != nil {
			return core.Fetched{}, q.ctx.Err()
		}
		return q.answer(value, nil) // no commit yet
	}
	value.Head = strings.TrimSpace(string(oid))
	if branch, err := repo.run(q.ctx, "symbolic-ref", "--quiet", "--short", "HEAD"); err == nil {
		value.Branch = toUTF8(strings.TrimSpace(string(branch)))
	}
	raw, err := repo.run(q.ctx, "log", "-n", strconv.Itoa(maxCommits+1), "-z", "--no-show-signature", "--no-color",
		"--no-decorate", "--no-mailmap", "--format=%H%x1f%an%x1f%aI%x1f%s", "--", repo.spec(q.full))
	if err != nil {
		return core.Fetched{}, err
	}
	for _, record := range bytes.Split(bytes.TrimSuffix(raw, []byte{0}), []byte{0}) {
		parts := strings.SplitN(toUTF8(string(record)), "\x1f", 4)
		if len(parts) == 4 {
			value.Commits = append(value.Commits, commit{ID: parts[0], Author: parts[1], At: parts[2], Subject: parts[3]})
		}
	}
	if len(value.Commits) > maxCommits {
		value.Commits, value.More = value.Commits[:maxCommits], true
	}
	return q.answer(value, nil)
}

// pendingNote is a line of a pending diff for what has no text to compare.
func pendingNote(format string, args ...any) string { return fmt.Sprintf(format, args...) + "\n" }
