package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"slices"
	"strings"

	"gatehouse/core"
)

// maxEntries is how much a folder may hold to be moved or deleted (GK6).
const maxEntries = 10000

// versionFolder is the version of a folder that only has to be there, such as a parent that was made.
const versionFolder = "folder"

var (
	errTooMany  = errors.New("holds more than 10,000 entries")
	errHoldsGit = errors.New("holds a .git")
)

func fileVersion(sum []byte, mode fs.FileMode) string {
	return fmt.Sprintf("sha256:%s/%04o", hex.EncodeToString(sum), unixMode(mode))
}

// unixMode is a mode in the numbers that people know.
func unixMode(mode fs.FileMode) uint32 {
	m := uint32(mode.Perm())
	for bit, unix := range map[fs.FileMode]uint32{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if mode&bit != 0 {
			m |= unix
		}
	}
	return m
}

// contentSum hashes a file of the tree, however large, and stops with the context.
func (t *tree) contentSum(ctx context.Context, it item) ([]byte, error) {
	if !it.onDisk {
		sum := sha256.Sum256(it.content)
		return sum[:], nil
	}
	f, _, err := t.d.open(it.disk)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, &patientReader{ctx: ctx, r: f}); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}

// patientReader ends a long read when its context ends.
type patientReader struct {
	ctx context.Context
	r   io.Reader
}

func (p *patientReader) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.r.Read(b)
}

// version is the state of what stands at a path by itself: a folder is there or not, whatever it holds.
func (t *tree) version(ctx context.Context, target string) (core.BaseVersion, error) {
	it, err := t.at(target)
	if errors.Is(err, errLink) { // on the way there: nothing of ours can be behind it
		return core.BaseVersion{Target: target, Version: "link above"}, nil
	}
	if err != nil {
		return core.BaseVersion{}, err
	}
	v := core.BaseVersion{Target: target}
	switch it.kind {
	case kindAbsent:
		v.Absent = true
	case kindFolder:
		v.Version = versionFolder
	case kindLink:
		to, err := t.linkText(it)
		if err != nil {
			return v, err
		}
		v.Version = "link:" + shortSum(to)
	case kindFile:
		sum, err := t.contentSum(ctx, it)
		if err != nil {
			return v, err
		}
		v.Version = fileVersion(sum, it.perm())
	default:
		v.Version = "other"
	}
	return v, nil
}

func (t *tree) linkText(it item) (string, error) {
	if !it.onDisk {
		return it.link, nil
	}
	return t.d.linkText(it.disk)
}

func shortSum(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

// census is what a folder holds, as its version counts it.
type census struct {
	entries int
	bytes   int64    // of all files
	touched []string // what effects put or left below it
	list    []string // paths below it, for a preview
	sum     hash.Hash
}

func (c *census) version() string { return "tree:" + hex.EncodeToString(c.sum.Sum(nil)) }

// survey walks a folder of the tree and hashes names, kinds, sizes and times below it. What an effect put there has no
// time that is known before it is applied, so files among expect, and files that are not on disk, count by content.
func (t *tree) survey(ctx context.Context, it item, expect []string) (*census, error) {
	c := &census{sum: sha256.New()}
	expected := make(map[string]bool, len(expect))
	for _, p := range expect {
		expected[p] = true
	}
	if err := t.surveyFolder(ctx, it, "", c, expected); err != nil {
		return nil, err
	}
	slices.Sort(c.touched)
	return c, nil
}

func (t *tree) surveyFolder(ctx context.Context, it item, at string, c *census, expected map[string]bool) error {
	if it.onDisk {
		if err := t.refuseGit(it.disk); err != nil {
			return err
		}
	}
	children, _, more, err := t.children(ctx, it, "", maxEntries)
	if err != nil {
		return err
	}
	if c.entries += len(children); more || c.entries > maxEntries {
		return errTooMany
	}
	for _, child := range children {
		p := join(at, child.name)
		c.list = append(c.list, p)
		detail, err := t.detail(ctx, child.item, expected[p])
		if err != nil {
			return err
		}
		if child.item.kind == kindFile {
			c.bytes += child.item.size()
			if !child.item.onDisk {
				c.touched = append(c.touched, p)
			}
		}
		fmt.Fprintf(c.sum, "%d:%s %s %s\n", len(p), p, child.item.kind, detail)
		if child.item.kind == kindFolder {
			if err := t.surveyFolder(ctx, child.item, p, c, expected); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *tree) detail(ctx context.Context, it item, expected bool) (string, error) {
	switch it.kind {
	case kindFile:
		if it.onDisk && !expected {
			return fmt.Sprintf("%d %d", it.size(), it.modified().UnixNano()), nil
		}
		sum, err := t.contentSum(ctx, it)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d %s", it.size(), fileVersion(sum, it.perm())), nil
	case kindLink:
		to, err := t.linkText(it)
		return shortSum(to), err
	default:
		return "", nil
	}
}

// refuseGit keeps folders with a repository in them from being moved or deleted as a whole.
func (t *tree) refuseGit(disk string) error {
	dir, err := t.d.folder(disk)
	if err != nil {
		return err
	}
	defer dir.Close()
	f, err := dir.Open(".")
	if err != nil {
		return known(err)
	}
	defer f.Close()
	for {
		chunk, err := f.Readdirnames(1024)
		if slices.ContainsFunc(chunk, isGitName) {
			return errHoldsGit
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// folderVersion is survey as a version of a target, with what the survey found.
func (t *tree) folderVersion(ctx context.Context, target string, expect []string) (core.BaseVersion, *census, error) {
	it, err := t.at(target)
	if err != nil {
		return core.BaseVersion{}, nil, err
	}
	if it.kind != kindFolder {
		v, err := t.version(ctx, target)
		return v, nil, err
	}
	c, err := t.survey(ctx, it, expect)
	switch {
	case errors.Is(err, errTooMany), errors.Is(err, errHoldsGit):
		return core.BaseVersion{Target: target, Version: strings.ReplaceAll(err.Error(), " ", "-")}, nil, nil
	case err != nil:
		return core.BaseVersion{}, nil, err
	}
	return core.BaseVersion{Target: target, Version: c.version()}, c, nil
}
