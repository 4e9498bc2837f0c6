package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/core/text"
	"gatehouse/skills"
)

// git runs as a child process that is given nothing of this one: no secrets, no configuration but the checkout's own, and
// of that none that names a program. What cannot be turned off by name is looked for, and then git is not run.

// checkout is a git work tree that documents are imported from.
type checkout struct {
	program string
	top     string
}

// findCheckout returns the work tree whose top a folder is, or nil.
func findCheckout(folder string) *checkout {
	if _, err := os.Lstat(filepath.Join(folder, ".git")); err != nil {
		return nil
	}
	program, err := exec.LookPath("git")
	if err != nil {
		return &checkout{top: folder}
	}
	return &checkout{program: program, top: folder}
}

var errNoGit = errors.New("git was not found on this machine")

// gitPatience is how long children of an interrupted git may take to end.
const gitPatience = 2 * time.Second

// gitWords is how much of git's words a person is shown.
const gitWords = 300

func (c *checkout) git(ctx context.Context, args ...string) (string, error) {
	if c.program == "" {
		return "", errNoGit
	}
	safe := []string{"-C", c.top}
	for _, setting := range []string{
		"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.sshCommand=ssh", "core.askPass=", "core.pager=cat", "core.attributesFile=/dev/null",
		"credential.helper=", "protocol.ext.allow=never", "submodule.recurse=false", "gc.auto=0", "maintenance.auto=false",
		"http.followRedirects=false", // the egress policy was asked about this host and no other
		"merge.verifySignatures=false",
	} {
		safe = append(safe, "-c", setting)
	}
	cmd := exec.CommandContext(ctx, c.program, append(safe, args...)...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "SSH_AUTH_SOCK=" + os.Getenv("SSH_AUTH_SOCK"), "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", ownMark + "=git",
	}
	cmd.WaitDelay = gitPatience // what git started may hold its output open longer than git lives
	var out, words bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &words
	err := cmd.Run()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		said, _ := text.CleanLine(words.String(), gitWords)
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, said)
	}
	return strings.TrimSpace(out.String()), nil
}

// source reads where a checkout stands. Nothing is fetched. What cannot be told is empty: it is provenance and no more.
func (c *checkout) source(ctx context.Context) (skills.Source, error) {
	s := skills.Source{Kind: skills.SourceGit}
	if c.program == "" {
		return s, nil
	}
	s.Commit, _ = c.git(ctx, "rev-parse", "--verify", "--quiet", "HEAD")   // there may be no commit yet
	s.Branch, _ = c.git(ctx, "symbolic-ref", "--short", "--quiet", "HEAD") // nor a branch
	remote, _ := c.git(ctx, "remote", "get-url", "origin")                 // nor a remote; of several, the one that fetch asks
	s.Remote = withoutCredentials(remote)
	return s, ctx.Err()
}

// withoutCredentials takes name and password out of an address.
func withoutCredentials(remote string) string {
	if u, err := url.Parse(remote); err == nil && u.Scheme != "" && u.User != nil {
		u.User = nil
		remote = u.String()
	} else if scheme, rest, whole := strings.Cut(remote, "://"); err != nil && whole {
		place, path, _ := strings.Cut(rest, "/")
		remote = scheme + "://" + place[strings.LastIndexByte(place, '@')+1:] + "/" + path
	}
	clean, _ := text.CleanLine(remote, text.NoLimit)
	return clean
}

// hostOf is the machine that a remote is on, as far as its address says it, in lower case; empty for this one.
func hostOf(remote string) string {
	if _, rest, whole := strings.Cut(remote, "://"); whole {
		place, _, _ := strings.Cut(rest, "/")
		u := url.URL{Host: place[strings.LastIndexByte(place, '@')+1:]}
		return strings.ToLower(u.Hostname())
	}
	// host:path, unless a slash stands in front of the colon.
	place, _, colon := strings.Cut(remote, ":")
	if !colon || strings.Contains(place, "/") {
		return ""
	}
	return strings.ToLower(place[strings.LastIndexByte(place, '@')+1:])
}

// fetchRequest is what the egress policy is asked before a checkout is brought forward.
func fetchRequest(remote string, by core.PersonID) core.EgressRequest {
	host := hostOf(remote)
	return core.EgressRequest{
		Sink: core.SinkSync, Caller: core.Caller{Kind: core.CallerPerson, Person: by}, Destination: remote, Host: host, Local: host == "",
	}
}

// pull brings a checkout that is harmless up to its remote, forward only.
func (c *checkout) pull(ctx context.Context, branch string) error {
	if branch == "" {
		return &fault{code: codeFailed, message: c.top + ": is on no branch", hint: "check one out, or sync what is there with --no-fetch"}
	}
	if _, err := c.git(ctx, "fetch", "--no-tags", "--no-recurse-submodules", "--upload-pack=git-upload-pack", "origin", "refs/heads/"+branch); err != nil {
		return &fault{code: codeUnreachable, message: fmt.Sprintf("%s: nothing could be fetched: %s", c.top, err), hint: "sync what is there with --no-fetch"}
	}
	if _, err := c.git(ctx, "merge", "--ff-only", "--no-edit", "FETCH_HEAD"); err != nil {
		return &fault{code: codeFailed, message: fmt.Sprintf("%s: cannot go forward to its remote: %s", c.top, err), hint: "bring it up to date by hand, then sync with --no-fetch"}
	}
	return nil
}

// harmless refuses a checkout whose configuration names programs that git would run, or sends it elsewhere.
func (c *checkout) harmless(ctx context.Context) error {
	if c.program == "" {
		return &fault{code: codeFailed, message: errNoGit.Error(), hint: "bring the checkout up to date yourself, then sync with --no-fetch"}
	}
	names, err := c.git(ctx, "config", "--local", "--includes", "--name-only", "--list")
	if err != nil {
		return err
	}
	for _, name := range strings.Fields(names) {
		if reaches(strings.ToLower(name)) {
			clean, _ := text.CleanLine(name, gitWords)
			return &fault{
				code: codeFailed, message: fmt.Sprintf("%s: its git configuration sets %s, which can run programs or lead elsewhere", c.top, clean),
				hint: "bring it up to date by hand, then sync with --no-fetch",
			}
		}
	}
	return nil
}

// reaches reports a key of git's configuration that can name a program, or another place than the remote, and that no
// setting of ours turns off.
func reaches(key string) bool {
	if strings.HasPrefix(key, "merge.") {
		return strings.HasSuffix(key, ".driver")
	}
	for _, prefix := range []string{
		"filter.", "hook.", "diff.", "url.", "include", "credential.", "http.", "ssh.", "gpg.", "core.gitproxy", "core.alternaterefscommand",
		"core.worktree", "remote.origin.proxy", "remote.origin.vcs", "extensions.worktreeconfig", "extensions.partialclone",
	} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}
