package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"gatehouse/core"
)

// maxGitOutput is how much git may answer; more is refused, never cut.
const maxGitOutput = 4 << 20

func errNoWorkTree() error {
	return &core.CallError{Code: core.CodeConflict, Text: "the folder is not in a git work tree"}
}

// repository is a git work tree that a path lies in, with a git folder of our own to read it through.
//
// Nothing that the repository says is run. Its configuration can name programs in a dozen places, and more with every
// version of git, so it is not handed to git at all: git reads a folder of ours whose configuration holds a few plain
// values copied from it, and whose objects, references and index are the repository's. Hooks, fsmonitor, filters,
// external diffs, text conversions, pagers and signature programs have nowhere to be named. Index and objects are only
// read: optional locks are off.
type repository struct {
	program string
	top     string // of the work tree
	prefix  string // of the path's binding root in it, or "" where top lies in the root
	inRoot  string // of top below the binding root, where it lies there
	shadow  string
	index   string
	objects string
}

// plainSettings are the settings that say how files on disk compare with what git holds; all are single words.
func plainSettings() []string {
	return []string{
		"core.repositoryformatversion", "core.filemode", "core.ignorecase", "core.precomposeunicode", "core.symlinks",
		"core.autocrlf", "core.eol", "core.checkstat", "core.trustctime", "core.sparsecheckout", "core.sparsecheckoutcone",
		"extensions.objectformat", "extensions.refstorage",
	}
}

// plainValue reports whether a setting is one short word: letters, digits, dot, underscore, hyphen.
func plainValue(value string) bool {
	for _, c := range []byte(value) {
		letter := (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
		if !letter && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return value != "" && len(value) <= 40
}

// repository finds the work tree of a path of the root, and makes what git is to read it through. The caller calls Close.
func (r *resource) repository(ctx context.Context, full string) (*repository, error) {
	if r.driver.options.Git == "" {
		return nil, &core.CallError{Code: core.CodeConflict, Text: "git was not found on this machine; status, diff and log need it"}
	}
	start, err := r.onDiskFolder(full)
	if err != nil {
		return nil, err
	}
	top, gitDir, err := findWorkTree(filepath.Join(r.rootPath, filepath.FromSlash(start)))
	if err != nil {
		return nil, err
	}
	repo := &repository{program: r.driver.options.Git, top: top, index: filepath.Join(gitDir, "index")}
	if inside, ok := below(r.rootPath, strings.TrimSuffix(top, "/")); ok {
		repo.prefix = strings.TrimPrefix(inside, "/")
	} else if repo.inRoot, ok = below(top, strings.TrimSuffix(r.rootPath, "/")); !ok {
		return nil, errNoWorkTree()
	}
	common, err := commonDir(gitDir)
	if err != nil {
		return nil, errNoWorkTree()
	}
	repo.objects = filepath.Join(common, "objects")
	if repo.shadow, err = os.MkdirTemp(r.driver.options.TempDir, "gatehouse-git-"); err != nil {
		return nil, fmt.Errorf("a folder for git: %w", err)
	}
	if err := repo.furnish(ctx, gitDir, common); err != nil {
		return nil, errors.Join(err, repo.Close())
	}
	return repo, nil
}

// Close removes our git folder; what it links to is not touched.
func (g *repository) Close() error { return os.RemoveAll(g.shadow) }

// onDiskFolder is the deepest folder at or above a path that is on disk, reached without links.
func (r *resource) onDiskFolder(full string) (string, error) {
	for at := full; ; at, _ = split(at) {
		info, err := r.disk.lstat(at)
		if err == nil && info.IsDir() {
			return at, nil
		}
		if err != nil && !errors.Is(err, errAbsent) {
			return "", err
		}
		if at == "" {
			return "", errAbsent
		}
	}
}

// findWorkTree goes up from a folder to the one that has a .git, as git does.
func findWorkTree(folder string) (top, gitDir string, err error) {
	for {
		candidate := filepath.Join(folder, ".git")
		info, err := os.Lstat(candidate)
		switch {
		case err == nil && info.IsDir():
			return folder, candidate, nil
		case err == nil && info.Mode().IsRegular() && info.Size() <= maxPath:
			return linkedWorkTree(folder, candidate)
		case err == nil:
			return "", "", errNoWorkTree()
		}
		above := filepath.Dir(folder)
		if above == folder {
			return "", "", errNoWorkTree()
		}
		folder = above
	}
}

// linkedWorkTree reads the file that stands for .git in a submodule or a second work tree.
func linkedWorkTree(folder, file string) (top, gitDir string, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", "", errNoWorkTree()
	}
	target, found := strings.CutPrefix(strings.TrimSpace(string(raw)), "gitdir:")
	if !found {
		return "", "", errNoWorkTree()
	}
	gitDir = strings.TrimSpace(target)
	if !filepath.IsAbs(gitDir) {
		gitDir = filepath.Join(folder, gitDir)
	}
	if info, err := os.Stat(gitDir); err != nil || !info.IsDir() {
		return "", "", errNoWorkTree()
	}
	return folder, gitDir, nil
}

// commonDir is where a second work tree keeps what it shares.
func commonDir(gitDir string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(gitDir, "commondir"))
	if errors.Is(err, os.ErrNotExist) {
		return gitDir, nil
	}
	if err != nil {
		return "", err
	}
	common := strings.TrimSpace(string(raw))
	if !filepath.IsAbs(common) {
		common = filepath.Join(gitDir, common)
	}
	return common, nil
}

// furnish fills our git folder.
func (g *repository) furnish(ctx context.Context, gitDir, common string) error {
	head, err := os.ReadFile(filepath.Join(gitDir, "HEAD"))
	if err != nil || len(head) > maxPath {
		return errNoWorkTree()
	}
	if err := os.WriteFile(filepath.Join(g.shadow, "HEAD"), head, 0o600); err != nil {
		return err
	}
	config, err := g.settings(ctx, filepath.Join(common, "config"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(g.shadow, "config"), []byte(config), 0o600); err != nil {
		return err
	}
	links := map[string]string{
		"objects": g.objects, "refs": filepath.Join(common, "refs"), "packed-refs": filepath.Join(common, "packed-refs"),
		"reftable": filepath.Join(common, "reftable"), "info": filepath.Join(common, "info"), "shallow": filepath.Join(common, "shallow"),
	}
	shared, err := filepath.Glob(filepath.Join(globQuote(gitDir), "sharedindex.*"))
	if err != nil {
		return err
	}
	for _, s := range shared {
		links[filepath.Base(s)] = s
	}
	for name, target := range links {
		if _, err := os.Lstat(target); err != nil {
			continue // not every repository has all of them
		}
		if err := os.Symlink(target, filepath.Join(g.shadow, name)); err != nil {
			return err
		}
	}
	return nil
}

func globQuote(p string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(p)
}

// settings copies the plain settings of a repository's configuration. What it includes from elsewhere is left out.
func (g *repository) settings(ctx context.Context, file string) (string, error) {
	raw, err := g.run(ctx, "config", "--file", file, "--no-includes", "--null", "--list")
	if err != nil {
		return "", errNoWorkTree()
	}
	values := make(map[string]string)
	for _, line := range strings.Split(string(raw), "\x00") {
		name, value, set := strings.Cut(line, "\n")
		if !set {
			value = "true"
		}
		values[name] = value
	}
	var b strings.Builder
	for _, name := range plainSettings() {
		value, found := values[name]
		if !found || !plainValue(value) {
			continue
		}
		section, key, _ := strings.Cut(name, ".")
		fmt.Fprintf(&b, "[%s]\n\t%s = %s\n", section, key, value)
	}
	return b.String(), nil
}

// environment is all that git sees of ours.
func (g *repository) environment() []string {
	return []string{
		"PATH=" + filepath.Dir(g.program) + ":/usr/bin:/bin", "HOME=" + g.shadow, "LC_ALL=C", "TZ=UTC",
		"GIT_DIR=" + g.shadow, "GIT_WORK_TREE=" + g.top, "GIT_INDEX_FILE=" + g.index, "GIT_OBJECT_DIRECTORY=" + g.objects,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_PAGER=cat", "GIT_LITERAL_PATHSPECS=1",
	}
}

// run runs git and returns what it prints. Its complaints are not passed on: they can name what lies outside.
func (g *repository) run(ctx context.Context, args ...string) ([]byte, error) {
	always := []string{
		"--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.untrackedCache=false",
		"-c", "log.showSignature=false", "-c", "submodule.recurse=false", "-c", "core.quotePath=false",
	}
	cmd := exec.CommandContext(ctx, g.program, append(always, args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = g.top, g.environment(), time.Second
	var out limited
	cmd.Stdout = &out
	err := cmd.Run()
	switch {
	case out.over:
		return nil, &core.CallError{Code: core.CodeTooLarge, Text: "git: the answer is larger than 4 MiB; give a path to narrow it"}
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, &core.CallError{Code: core.CodeConflict, Text: "git: could not read the repository; ask the operator to look at it"}
	}
	return out.Bytes(), nil
}

// limited keeps maxGitOutput bytes and makes the writer fail beyond.
type limited struct {
	bytes.Buffer
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxGitOutput {
		l.over = true
		return 0, io.ErrShortWrite
	}
	return l.Buffer.Write(p)
}

// spec is a path of the root as git names it, for use behind "--".
func (g *repository) spec(full string) string {
	p := full
	if g.inRoot != "" {
		p, _ = below(full, g.inRoot)
	} else {
		p = join(g.prefix, full)
	}
	if p == "" {
		return "."
	}
	return p
}

// path is a path that git names as one of the root; false where it lies outside.
func (g *repository) path(p string) (string, bool) {
	if g.inRoot != "" {
		return join(g.inRoot, p), true
	}
	return below(p, g.prefix)
}
