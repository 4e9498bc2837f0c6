package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
)

// kind is what stands at a path, as values name it.
type kind string

const (
	kindAbsent kind = ""
	kindFile   kind = "file"
	kindFolder kind = "folder"
	kindLink   kind = "link"
	kindOther  kind = "other" // a device, a pipe, a socket
)

func kindOf(info fs.FileInfo) kind {
	switch {
	case info.Mode().IsRegular():
		return kindFile
	case info.IsDir():
		return kindFolder
	case info.Mode().Type() == fs.ModeSymlink:
		return kindLink
	default:
		return kindOther
	}
}

// node is what a pending effect put at a path, or a folder of the disk that such a thing lies in.
type node struct {
	kind    kind
	onDisk  bool   // content, or what over does not hold, lies on the disk
	disk    string // where, if so; another path than the node's own after a move
	content []byte // of a file that is not on the disk
	link    string // where a link points that is not on the disk
	mode    fs.FileMode
	at      time.Time
	over    map[string]*node // what pending effects put into this folder; kindAbsent hides what the disk has
	maker   core.ActionID    // the effect that brought it to this path; 0 where the disk has it here
	moved   bool             // by an effect, with all it holds
	acts    []core.ActionID  // effects that made it what it is
}

// tree is the folder with the pending effects of a journal laid over it. It belongs to one call.
type tree struct {
	d     *disk
	key   string // of the resource whose effects are laid
	top   *node
	gaps  []core.Gap // effects that could not be laid
	kinds map[core.ActionID]string
}

func newTree(d *disk) *tree {
	return &tree{d: d, top: &node{kind: kindFolder, onDisk: true}, kinds: make(map[core.ActionID]string)}
}

// item is what stands at a path in the tree. Items of kindAbsent have acts where an effect took something away.
type item struct {
	node             // a copy; over is shared
	info fs.FileInfo // where onDisk
	acts []core.ActionID
}

func (it item) exists() bool { return it.kind != kindAbsent }

func (it item) size() int64 {
	switch {
	case it.kind != kindFile:
		return 0
	case it.onDisk:
		return it.info.Size()
	default:
		return int64(len(it.content))
	}
}

func (it item) perm() fs.FileMode {
	if it.onDisk {
		return permissions(it.info)
	}
	return it.mode
}

func (it item) modified() time.Time {
	if it.onDisk {
		return it.info.ModTime()
	}
	return it.at
}

// at finds what stands at a path. Something missing, or behind something that is no folder, is an absent item and no
// error; a link on the way is one.
func (t *tree) at(p string) (item, error) {
	n := t.top
	var carried []core.ActionID
	rest := p
	for rest != "" {
		if n.kind != kindFolder {
			return item{acts: carried}, t.linkFault(n)
		}
		name, tail, _ := strings.Cut(rest, "/")
		next, found := n.over[name]
		if !found {
			break
		}
		if n.moved {
			carried = append(carried, n.acts...)
		}
		n, rest = next, tail
	}
	if rest == "" {
		it := item{node: *n, acts: merge(carried, n.acts)}
		if n.kind == kindAbsent || !n.onDisk {
			return it, nil
		}
		return t.stat(it, n.disk)
	}
	if n.moved {
		carried = append(carried, n.acts...)
	}
	if n.kind != kindFolder || !n.onDisk {
		return item{acts: carried}, t.linkFault(n)
	}
	disk := join(n.disk, rest)
	it := item{node: node{onDisk: true, disk: disk, moved: n.moved}, acts: merge(carried, nil)}
	return t.stat(it, disk)
}

// linkFault is the error for going through a link, nil for anything else.
func (t *tree) linkFault(n *node) error {
	if n.kind == kindLink {
		return errLink
	}
	return nil
}

// stat completes an item from the disk; what is gone there is absent.
func (t *tree) stat(it item, disk string) (item, error) {
	info, err := t.d.lstat(disk)
	if errors.Is(err, errAbsent) {
		return item{acts: it.acts}, nil
	}
	if err != nil {
		return item{}, err
	}
	it.info, it.kind = info, kindOf(info)
	return it, nil
}

// put places a node at a path whose parent is a folder of the tree.
func (t *tree) put(p string, n *node) error {
	above, name := split(p)
	parent, err := t.hold(above)
	if err != nil {
		return err
	}
	parent.set(name, n)
	return nil
}

func (n *node) set(name string, child *node) {
	if n.over == nil {
		n.over = make(map[string]*node)
	}
	n.over[name] = child
}

// hold makes the nodes down to a folder of the tree, so that something can be put into it, and returns the last.
func (t *tree) hold(p string) (*node, error) {
	n := t.top
	rest := p
	for rest != "" {
		name, tail, _ := strings.Cut(rest, "/")
		next, found := n.over[name]
		if !found {
			break
		}
		n, rest = next, tail
	}
	if n.kind != kindFolder {
		return nil, errAbsent
	}
	if rest == "" {
		return n, nil
	}
	if !n.onDisk {
		return nil, errAbsent
	}
	info, err := t.d.lstat(join(n.disk, rest))
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errNotFolder
	}
	for _, name := range strings.Split(rest, "/") {
		next := &node{kind: kindFolder, onDisk: true, disk: join(n.disk, name)}
		n.set(name, next)
		n = next
	}
	return n, nil
}

// detach copies what stands at a path, with all that effects put into it, for a move.
func (t *tree) detach(p string, it item) *node {
	n := it.node
	n.kind = it.kind
	return &n
}

// read returns the content of a file item of at most limit bytes.
func (t *tree) read(it item, limit int64) ([]byte, error) {
	if it.kind == kindLink {
		return nil, errLink
	}
	if it.kind != kindFile {
		return nil, errNotFile
	}
	if it.size() > limit {
		return nil, errTooLarge
	}
	if !it.onDisk {
		return it.content, nil
	}
	data, _, err := t.d.content(it.disk, limit)
	return data, err
}

// child is a name in a folder of the tree.
type child struct {
	name string
	item item
}

// children lists up to count of what a folder holds after a name, sorted by bytes, and the effects that show in it,
// those that took a name away among them. Without more there is nothing behind the last one.
func (t *tree) children(ctx context.Context, it item, after string, count int) (list []child, acts []core.ActionID, more bool, err error) {
	var dir *os.Root
	var fromDisk []string
	if it.onDisk {
		if dir, err = t.d.folder(it.disk); err != nil {
			return nil, nil, false, err
		}
		defer dir.Close()
		// Every name that an effect hides may cost one of the names asked for.
		if fromDisk, err = names(ctx, dir, after, count+1+len(it.over)); err != nil {
			return nil, nil, false, err
		}
	}
	all := fromDisk
	for name := range it.over {
		if name > after {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	for _, name := range slices.Compact(all) {
		if len(list) == count {
			return list, acts, true, nil
		}
		c, err := t.childOf(it, dir, name)
		if err != nil {
			return nil, nil, false, err
		}
		acts = merge(acts, c.acts)
		if c.exists() {
			list = append(list, child{name: name, item: c})
		}
	}
	return list, acts, false, nil
}

func (t *tree) childOf(it item, dir *os.Root, name string) (item, error) {
	n, found := it.over[name]
	if found && (n.kind == kindAbsent || !n.onDisk) {
		return item{node: *n, acts: n.acts}, nil
	}
	if found {
		c, err := t.stat(item{node: *n, acts: n.acts}, n.disk)
		return c, tolerate(err)
	}
	info, err := t.d.lstatIn(dir, name)
	if err != nil {
		return item{}, tolerate(err)
	}
	return item{node: node{kind: kindOf(info), onDisk: true, disk: join(it.disk, name), moved: it.moved}, info: info}, nil
}

// tolerate takes what vanished between listing and looking for absent.
func tolerate(err error) error {
	if errors.Is(err, errAbsent) || errors.Is(err, errLink) || errors.Is(err, errSwapped) {
		return nil
	}
	return err
}

// merge keeps ids sorted and each once.
func merge(a, b []core.ActionID) []core.ActionID {
	if len(b) == 0 && len(a) == 0 {
		return nil
	}
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return slices.Compact(all)
}

func permissions(info fs.FileInfo) fs.FileMode {
	return info.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
}
