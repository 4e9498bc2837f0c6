package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"golang.org/x/sys/unix"

	"gatehouse/core"
)

// resource is a connection root, narrowed to a sub-path of it ("" is all).
type resource struct {
	driver   *Driver
	disk     *disk
	rootPath string // real, for git alone; files are reached through disk
	sub      string
	service  string
	key      string
}

// check looks at the folder once, when it is opened.
func (r *resource) check(url string) error {
	info, err := r.disk.root.Stat(".")
	if err != nil {
		return err
	}
	id := idOf(info)
	r.key = fmt.Sprintf("files:%d:%d", id.Device, id.Inode)
	sub, err := r.disk.lstat(r.sub)
	switch {
	case errors.Is(err, errAbsent):
		return fmt.Errorf("binding %q: its path does not exist: %w", url, core.ErrNotFound)
	case errors.Is(err, errLink), err == nil && kindOf(sub) == kindLink:
		return fmt.Errorf("binding %q: its path goes through a symbolic link; name the folder that it points to", url)
	case err != nil:
		return fmt.Errorf("binding %q: %w", url, err)
	case !sub.IsDir():
		return fmt.Errorf("binding %q: its path is no folder", url)
	}
	return nil
}

// Key is the root's device and inode: bindings whose folders overlap share a journal.
func (r *resource) Key() string { return r.key }

func (r *resource) unit() core.Unit {
	name := r.sub
	if name == "" {
		name = "."
	}
	return core.Unit{Gatekeeper: Kind, Service: r.service, Name: name}
}

// Unit is the folder or sub-path whole.
func (r *resource) Unit() core.Found { return core.Found{Unit: r.unit(), Permission: "read"} }

// Covers reports whether a unit is this folder or lies in it.
func (r *resource) Covers(u core.Unit) bool {
	if u.Gatekeeper != Kind || u.Service != r.service {
		return false
	}
	name := u.Name
	if name == "." {
		name = ""
	}
	_, ok := below(name, r.sub)
	return ok
}

// Operations is the manifest's list.
func (r *resource) Operations() []core.Operation { return append(reads(), writes()...) }

// Close lets go of the folder.
func (r *resource) Close() error { return r.disk.root.Close() }

// full is a path of a call as a path below the root. What leads out of the binding is not found, like what is not there
// (GK3); the error depends on the spelling alone.
func (r *resource) full(p string) (string, error) {
	clean, why := relative(p)
	if why != "" && malformed(p) == "" {
		return "", &core.CallError{Code: core.CodeNotFound, Text: quote(p) + ": not found"}
	}
	if why != "" {
		return "", core.Invalid("path %s: %s", quote(p), why)
	}
	full := join(r.sub, clean)
	if len(full) > maxPath {
		return "", core.Invalid("path %s: is too long", quote(p))
	}
	return full, nil
}

// show is a path below the root as callers of this binding name it.
func (r *resource) show(full string) string {
	rest, ok := below(full, r.sub)
	if !ok {
		return "" // not reached: nothing outside is ever walked
	}
	if rest == "" {
		return "."
	}
	return rest
}

// fault words an error for the caller without data of the service; what it has no words for is passed on and has to go
// through the gate.
func (r *resource) fault(full string, err error) error {
	name := quote(r.show(full))
	say := func(code, why string) error { return &core.CallError{Code: code, Text: name + ": " + why} }
	var call *core.CallError
	switch {
	case errors.As(err, &call):
		return err
	case errors.Is(err, errAbsent), errors.Is(err, errSwapped):
		return say(core.CodeNotFound, "not found")
	case errors.Is(err, errLink):
		return say(core.CodeConflict, "is, or lies behind, a symbolic link; links are never followed, name the real path")
	case errors.Is(err, errNotFolder):
		return say(core.CodeConflict, "is not a folder, or lies behind a file")
	case errors.Is(err, errNotFile):
		return say(core.CodeConflict, "is not a file")
	case errors.Is(err, errTooLarge):
		return say(core.CodeTooLarge, "is larger than 1 MiB; read it in windows, or write a smaller one")
	case errors.Is(err, errTooMany):
		return say(core.CodeTooLarge, "holds more than 10,000 entries; move or delete parts of it")
	case errors.Is(err, errHoldsGit):
		return say(core.CodeConflict, "holds a .git, which is never in a binding")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, unix.EPERM):
		return say(core.CodeConflict, "permission denied by the system; ask the operator")
	default:
		return fmt.Errorf("%s: %w", name, err)
	}
}

// Intend names the one unit, and the paths that a call depends on.
func (r *resource) Intend(call core.Call) (core.Intent, error) {
	a, err := decodeArgs(call)
	if err != nil {
		return core.Intent{}, err
	}
	intent := core.Intent{Units: []core.Found{r.Unit()}}
	switch call.Method {
	case opLog:
		_, err = r.full(a.Path)
	case opList, opSearch, opStatus, opDiff:
		err = r.intend(&intent, r.full, a.Path, true)
	case opWrite, opEdit, opMkdir:
		err = r.intend(&intent, r.target, a.Path, false)
	case opDelete:
		err = r.intend(&intent, r.target, a.Path, true)
	case opMove:
		if err = r.intend(&intent, r.target, a.From, true); err == nil {
			err = r.intend(&intent, r.target, a.To, false)
		}
	default:
		err = r.intend(&intent, r.full, a.Path, false)
	}
	return intent, err
}

func (r *resource) intend(intent *core.Intent, resolve func(string) (string, error), p string, withBelow bool) error {
	full, err := resolve(p)
	if err != nil {
		return err
	}
	intent.Targets = append(intent.Targets, selectPath(full, withBelow)...)
	return nil
}

// selectPath picks what can change a path: effects on it, on the folders above it, which may move or vanish, and, for
// what holds others, on all below it.
func selectPath(full string, withBelow bool) []core.Selector {
	if full == "" {
		if withBelow {
			return []core.Selector{{Reach: core.ReachAll}}
		}
		return nil
	}
	var list []core.Selector
	for _, above := range ancestors(full) {
		list = append(list, core.Selector{Reach: core.ReachExact, Target: above})
	}
	list = append(list, core.Selector{Reach: core.ReachExact, Target: full})
	if withBelow {
		list = append(list, core.Selector{Reach: core.ReachPrefix, Target: full + "/"})
	}
	return list
}

// Extend adds what the effects found so far depend on: where moved things come from, with all they held, and everything
// that made the places they act on what they are. The source of a move counts whole: to translate a path back through
// moves would need their order, and without it "move p to t, move t/q to p" makes p/q/q/q and so on for ever.
func (r *resource) Extend(intent core.Intent, j core.Journal) core.Intent {
	have := make(map[core.Selector]bool, len(intent.Targets))
	for _, s := range intent.Targets {
		have[s] = true
	}
	if have[core.Selector{Reach: core.ReachAll}] {
		return intent
	}
	targets := slices.Clone(intent.Targets)
	add := func(list []core.Selector) {
		for _, s := range list {
			if !have[s] {
				have[s] = true
				targets = append(targets, s)
			}
		}
	}
	for _, e := range j.Effects {
		for _, target := range e.Targets {
			add(selectPath(target, false))
		}
		if e.Kind != opMove {
			continue
		}
		if p, err := decodePayload(e.Payload); err == nil { // one that cannot be read cannot be replayed, and says so there
			add(selectPath(p.From, true))
		}
	}
	intent.Targets = targets
	return intent
}

// simulate lays the pending effects over the folder.
func (r *resource) simulate(j core.Journal) *tree {
	t := newTree(r.disk)
	t.key = r.key
	t.replay(j)
	return t
}

// Read answers a read with the pending effects in it.
func (r *resource) Read(ctx context.Context, call core.Call, j core.Journal) (core.Fetched, error) {
	a, err := decodeArgs(call)
	if err != nil {
		return core.Fetched{}, err
	}
	full, err := r.full(a.Path)
	if err != nil {
		return core.Fetched{}, err
	}
	if err := ctx.Err(); err != nil {
		return core.Fetched{}, err
	}
	q := &question{r: r, ctx: ctx, args: a, full: full, tree: r.simulate(j), journal: j}
	var found core.Fetched
	switch call.Method {
	case opRead:
		found, err = q.read()
	case opList:
		found, err = q.list()
	case opSearch:
		found, err = q.search()
	case opStat:
		found, err = q.stat()
	case opStatus:
		found, err = q.status()
	case opDiff:
		found, err = q.diff()
	case opLog:
		found, err = q.log()
	default:
		return core.Fetched{}, core.Invalid("files has no read %q", call.Method)
	}
	if err != nil {
		return core.Fetched{Incomplete: q.tree.gaps}, r.fault(full, err)
	}
	found.Incomplete = q.tree.gaps
	return found, nil
}

// question is one read while it is answered.
type question struct {
	r       *resource
	ctx     context.Context
	args    args
	full    string
	tree    *tree
	journal core.Journal
}
