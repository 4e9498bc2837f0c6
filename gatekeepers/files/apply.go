package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"gatehouse/core"
)

// The steps of an apply, in order; a process that dies at one leaves the file old or new.
const (
	FaultParent  core.FaultPoint = "files.parent"  // a missing folder was made
	FaultCreated core.FaultPoint = "files.created" // the unfinished file exists, empty
	FaultHalf    core.FaultPoint = "files.half"    // half of it is written
	FaultWritten core.FaultPoint = "files.written" // all of it, not yet on disk
	FaultSynced  core.FaultPoint = "files.synced"  // on disk
	FaultChecked core.FaultPoint = "files.checked" // the base was compared once more; the effect comes next
	FaultDone    core.FaultPoint = "files.done"    // the effect is there, not yet durable
	FaultDurable core.FaultPoint = "files.durable" // durable; what was deleted may not be erased yet
	FaultErased  core.FaultPoint = "files.erased"
)

// FaultPoints lists them all.
func FaultPoints() []core.FaultPoint {
	return []core.FaultPoint{
		FaultParent, FaultCreated, FaultHalf, FaultWritten, FaultSynced, FaultChecked, FaultDone, FaultDurable, FaultErased,
	}
}

// errDrifted says that the disk moved between the look and the effect: the next attempt finds out how.
var errDrifted = errors.New("changed on disk since it was looked at; look at it again")

// applying is an action while it is carried out.
type applying struct {
	r        *resource
	ctx      context.Context
	dispatch core.Dispatch
	payload  payload
	made     []string // parents that this apply made
	done     bool     // the effect is there: an error from now on leaves the outcome unknown
	note     string
}

// Apply carries an action out on the disk.
func (r *resource) Apply(ctx context.Context, dispatch core.Dispatch) (core.Outcome, error) {
	p, err := decodePayload(dispatch.Payload)
	if err != nil {
		return core.Outcome{}, core.NotSent(err)
	}
	if err := r.inside(p, dispatch.Kind); err != nil {
		return core.Outcome{}, core.NotSent(err)
	}
	a := &applying{r: r, ctx: ctx, dispatch: dispatch, payload: p}
	err = a.run()
	if err != nil && a.done {
		return core.Outcome{}, fmt.Errorf("carried out, but not known to last: %w", err)
	}
	if err != nil {
		if left := a.unmake(); left != nil {
			return core.Outcome{}, fmt.Errorf("a folder made on the way could not be removed again: %w", left)
		}
		return r.notApplied(p.paths(dispatch.Kind)[0], err), nil
	}
	return a.outcome()
}

func (a *applying) run() error {
	switch a.dispatch.Kind {
	case opWrite, opEdit:
		return a.write()
	case opMove:
		return a.move()
	case opDelete:
		return a.delete()
	case opMkdir:
		return a.mkdir()
	case opRestore:
		return a.restore()
	default:
		return fmt.Errorf("kind %q is not known", a.dispatch.Kind)
	}
}

// notApplied says whether another attempt can help.
func (r *resource) notApplied(full string, err error) core.Outcome {
	o := core.Outcome{End: core.EndRetryable}
	for _, lasting := range []error{unix.EXDEV, unix.ENAMETOOLONG, unix.EINVAL, unix.EILSEQ} {
		if errors.Is(err, lasting) {
			o.End = core.EndFailed
		}
	}
	switch {
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		o.Text = quote(r.show(full)) + ": the disk is full; nothing was changed, make room and retry"
	case errors.Is(err, unix.EROFS):
		o.Text = quote(r.show(full)) + ": the file system is read-only; nothing was changed"
	case errors.Is(err, unix.EXDEV):
		o.Text = quote(r.show(full)) + ": lies on another file system than where it would go; copy it instead"
	default:
		o.Text = r.fault(full, err).Error()
	}
	return o
}

// outcome reports what stands at every target now.
func (a *applying) outcome() (core.Outcome, error) {
	t := newTree(a.r.disk)
	o := core.Outcome{End: core.EndApplied, Text: a.note}
	v := writeValue{Parents: a.shown(a.payload.Parents)}
	for _, target := range append(a.payload.paths(a.dispatch.Kind), a.payload.others()...) {
		version, err := t.version(a.ctx, target)
		if err == nil && a.dispatch.Kind == opRestore && target == a.payload.Path && version.Version == versionFolder {
			version, _, err = t.folderVersion(a.ctx, target, nil)
		}
		if err != nil {
			return core.Outcome{}, fmt.Errorf("carried out, but cannot be looked at: %w", err)
		}
		o.Versions = append(o.Versions, version)
	}
	if a.dispatch.Kind == opMove {
		v.From, v.To = a.r.show(a.payload.From), a.r.show(a.payload.To)
	} else {
		v.Path = a.r.show(a.payload.Path)
	}
	for _, name := range a.dispatch.Provides {
		o.Created = append(o.Created, core.Created{Name: name, Real: name})
	}
	o.Value = encode(v)
	return o, nil
}

func (a *applying) shown(paths []string) []string {
	var list []string
	for _, p := range paths {
		list = append(list, a.r.show(p))
	}
	return list
}

func (a *applying) at(p core.FaultPoint) error { return a.r.driver.options.Fault.At(p) }

// check compares the base with the disk once more, right before the effect.
func (a *applying) check() error {
	t := newTree(a.r.disk)
	for _, b := range a.dispatch.Base {
		if a.wasMade(b.Target) {
			continue // by this apply, a moment ago
		}
		now, err := a.r.currentVersion(a.ctx, t, a.dispatch.Kind, a.payload, b)
		if err != nil {
			return err
		}
		if !now.Same(b) {
			return errDrifted
		}
	}
	return a.at(FaultChecked)
}

func (a *applying) wasMade(p string) bool {
	for _, made := range a.made {
		if made == p {
			return true
		}
	}
	return false
}

// makeParents makes the folders that were missing when the action was approved, no others.
func (a *applying) makeParents() error {
	for _, parent := range a.payload.Parents {
		if err := a.makeFolder(parent, a.payload.FolderMode); err != nil {
			return err
		}
		a.made = append(a.made, parent)
		if err := a.at(FaultParent); err != nil {
			return err
		}
	}
	return nil
}

func (a *applying) makeFolder(full string, mode fs.FileMode) error {
	above, name := split(full)
	dir, err := a.r.disk.folder(above)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Mkdir(name, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return errDrifted
		}
		return err
	}
	made, err := enter(dir, name)
	if err == nil {
		defer made.Close()
		err = made.Chmod(".", mode)
	}
	if err == nil {
		err = syncFolder(dir)
	}
	if err != nil {
		_ = dir.Remove(name) // the error says why
	}
	return err
}

// unmake removes the parents of an apply that came to nothing, so that a later one finds what was approved.
func (a *applying) unmake() error {
	for i := len(a.made) - 1; i >= 0; i-- {
		above, name := split(a.made[i])
		dir, err := a.r.disk.folder(above)
		if err != nil {
			return err
		}
		err = dir.Remove(name)
		_ = dir.Close() // nothing is written through it
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// syncFolder makes changes of names durable, where the file system can.
func syncFolder(dir *os.Root) error {
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}
