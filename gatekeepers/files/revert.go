package files

import (
	"context"
	"errors"
	"strconv"
	"time"

	"gatehouse/core"
)

// opRestore is the kind that puts back what an action replaced or deleted. Reverts alone make it.
const opRestore = "restore"

var _ core.Reverter = (*resource)(nil)

// IntendRevert names what the action touched, with all below it.
func (r *resource) IntendRevert(back core.Reversal) (core.Intent, error) {
	p, err := r.reversed(back)
	if err != nil {
		return core.Intent{}, err
	}
	intent := core.Intent{Units: []core.Found{r.Unit()}}
	for _, full := range append(p.paths(back.Kind), p.Parents...) {
		intent.Targets = append(intent.Targets, selectPath(full, true)...)
	}
	return intent, nil
}

// reversed is the payload of an action that lies whole within this binding.
func (r *resource) reversed(back core.Reversal) (payload, error) {
	p, err := decodePayload(back.Payload)
	if err != nil {
		return p, err
	}
	if err := r.inside(p, back.Kind); err != nil {
		return p, &core.CallError{Code: core.CodeNotFound, Text: "it was made for another folder, or for one that was replaced since"}
	}
	return p, nil
}

// PrepareRevert makes the way back: what was made is deleted, what was replaced or deleted is restored, what was moved is
// moved back. Folders that the action made on its way go too, where nothing else is in them.
func (r *resource) PrepareRevert(ctx context.Context, back core.Reversal, j core.Journal) (core.Reverse, error) {
	p, err := r.reversed(back)
	if err != nil {
		return core.Reverse{}, err
	}
	if err := ctx.Err(); err != nil {
		return core.Reverse{}, err
	}
	d := &draft{r: r, ctx: ctx, tree: r.simulate(j), journal: j, back: true}
	d.out = core.Draft{Lane: core.LaneSimulate, Revertible: true}
	v := &reverting{draft: d, back: back, was: p}
	full := p.paths(back.Kind)[0]
	switch {
	case back.Kind == opMove:
		full = p.To
		err = v.moveBack()
	case back.Kind == opMkdir, back.Kind != opDelete && back.UndoSize == 0:
		err = v.unmake()
	default:
		err = v.restore()
	}
	if errors.Is(err, errKept) {
		err = &core.CallError{Code: core.CodeConflict, Text: quote(r.show(full)) + ": what was kept of it is not whole any more"}
	}
	if err != nil {
		return core.Reverse{}, r.fault(full, err)
	}
	d.out.Kind = d.op
	out, err := d.finish()
	return core.Reverse{Draft: out, Moved: v.moved}, err
}

// reverting is a revert while it is prepared.
type reverting struct {
	*draft
	back  core.Reversal
	was   payload
	moved string
}

// compare notes a path that is not as the action left it.
func (v *reverting) compare(full string) error {
	if _, pending := v.lastOn(full); pending {
		return nil // the kernel knows what the pending action does
	}
	now, err := v.tree.version(v.ctx, full)
	if err == nil && v.back.Kind == opRestore && now.Version == versionFolder {
		now, _, err = v.tree.folderVersion(v.ctx, full, nil)
	}
	if err != nil {
		return err
	}
	for _, left := range v.back.Versions {
		if left.Same(now) {
			return nil
		}
	}
	v.moved = v.r.show(full)
	return nil
}

// unmake deletes what the action made: a file, or a folder with nothing in it.
func (v *reverting) unmake() error {
	full := v.was.Path
	it, err := v.tree.at(full)
	if err != nil {
		return err
	}
	want := kindFile
	if v.back.Kind == opMkdir {
		want = kindFolder
	}
	restored := v.back.Kind == opRestore // of anything, with all that it holds
	switch {
	case !it.exists():
		return v.conflict(full, "is not there any more; there is nothing to take back")
	case it.kind != want && !restored:
		return v.conflict(full, "is something else now; look at it, and delete it by hand")
	case it.kind == kindFolder && !restored:
		if err := v.empty(full, it); err != nil {
			return err
		}
	default:
		if err := v.compare(full); err != nil {
			return err
		}
	}
	top, err := v.lonely(full)
	if err != nil {
		return err
	}
	v.op = opDelete
	return v.delete(top)
}

func (v *reverting) conflict(full, why string) error {
	return &core.CallError{Code: core.CodeConflict, Text: quote(v.r.show(full)) + ": " + why}
}

func (v *reverting) empty(full string, it item) error {
	children, _, _, err := v.tree.children(v.ctx, it, "", 1)
	if err == nil && len(children) > 0 {
		err = v.conflict(full, "is not empty; only an empty folder is taken back")
	}
	return err
}

// lonely is the outermost folder that the action made on its way to a path and that holds nothing else; the path itself
// where there is none.
func (v *reverting) lonely(full string) (string, error) {
	top := full
	for i := len(v.was.Parents) - 1; i >= 0; i-- {
		it, err := v.tree.at(v.was.Parents[i])
		if err != nil || it.kind != kindFolder {
			return top, err
		}
		children, _, _, err := v.tree.children(v.ctx, it, "", 2)
		if err != nil || len(children) != 1 {
			return top, err
		}
		top = v.was.Parents[i]
	}
	return top, nil
}

// moveBack moves what was moved back, and removes the folders that were made for it.
func (v *reverting) moveBack() error {
	v.op = opMove
	it, err := v.tree.at(v.was.To)
	if err != nil {
		return err
	}
	if !it.exists() {
		return v.conflict(v.was.To, "is not there any more; there is nothing to take back")
	}
	if err := v.compareMoved(it); err != nil {
		return err
	}
	if err := v.moveTo(v.was.To, v.was.From); err != nil {
		return err
	}
	top, err := v.lonely(v.was.To)
	if err != nil || top == v.was.To || isBelow(v.was.From, top) {
		return err
	}
	return v.takeAway(top)
}

// compareMoved knows of a folder what it held when it was moved, of a file what it was.
func (v *reverting) compareMoved(it item) error {
	if it.kind != kindFolder || !v.was.Folder {
		return v.compare(v.was.To)
	}
	now, _, err := v.tree.folderVersion(v.ctx, v.was.To, v.was.Touched)
	if err != nil {
		return err
	}
	for _, b := range v.back.Base {
		if b.Target == v.was.From && b.Version == now.Version {
			return nil
		}
	}
	v.moved = v.r.show(v.was.To)
	return nil
}

// takeAway says that folders go with what is moved out of them: those from top down that were made for it.
func (v *reverting) takeAway(top string) error {
	it, err := v.tree.at(top)
	if err != nil {
		return err
	}
	c, err := v.tree.survey(v.ctx, it, nil)
	if err != nil {
		return err
	}
	v.payload.Unmake = top
	v.payload.UnmakeTouched = c.touched
	v.touch(top)
	v.out.Base = append(v.out.Base, core.BaseVersion{Target: top, Version: c.version()})
	for _, folder := range append(ancestors(v.was.To), v.was.To) {
		if isBelow(folder, top) && folder != v.was.To {
			v.unmade = append(v.unmade, v.r.show(folder))
		}
	}
	v.need(top)
	v.after(top, true)
	return nil
}

// restore puts back what undo data holds.
func (v *reverting) restore() error {
	v.op = opRestore
	full := v.was.Path
	k, list, err := listKept(v.back.Undo, v.back.UndoSize)
	if err != nil {
		return err
	}
	for _, e := range list {
		switch e.Kind {
		case kindFile, kindFolder, kindLink:
		default:
			return v.conflict(full, "held something that is no file, folder or link; that cannot be made again")
		}
	}
	old, err := v.tree.at(full)
	if err != nil {
		return err
	}
	first := list[0]
	switch {
	case old.exists() && v.back.Kind == opDelete:
		return v.conflict(full, "is there again; move or delete it first")
	case old.exists() && (old.kind != kindFile || first.Kind != kindFile):
		return v.conflict(full, "is something else now; move or delete it first")
	}
	if err := v.compare(full); err != nil {
		return err
	}
	mode, err := strconv.ParseUint(first.Mode, 8, 32)
	if err != nil {
		return errKept
	}
	v.payload.Path, v.payload.Kept, v.payload.Mode = full, k, modeOf(uint32(mode))
	if !old.exists() {
		v.provide(full)
	}
	if _, err := v.makeWay(full); err != nil {
		return err
	}
	if err := v.base(full, old, false); err != nil {
		return err
	}
	v.after(full, false)
	if err := v.restoreFields(old, first, list[1:]); err != nil {
		return err
	}
	if old.exists() {
		v.undo = old.size()
	}
	v.value.Path = v.r.show(full)
	v.out.Projected = old.acts
	v.out.Title = v.title("restore " + v.r.show(full))
	return nil
}

func (v *reverting) restoreFields(old item, e keptEntry, below []keptEntry) error {
	var modified any
	if old.exists() {
		modified = shownTime(old.modified())
	}
	if e.Kind == kindFile && e.Sum == "" && e.Size <= maxWrite {
		if err := v.body(old, e.content); err != nil {
			return err
		}
		v.field("modified", modified, e.Modified)
		return nil
	}
	var path, size, mode any
	if old.exists() {
		path, size, mode = v.r.show(v.payload.Path), old.size(), modeText(old.perm())
	}
	v.field("path", path, v.r.show(v.payload.Path))
	v.field("kind", nil, e.Kind)
	switch e.Kind {
	case kindFile:
		var sum any
		if old.exists() {
			now, err := v.tree.contentSum(v.ctx, old)
			if err != nil {
				return err
			}
			sum = hexOf(now)
		}
		v.field("size", size, e.Size)
		v.field("sha256", sum, e.Sum)
	case kindLink:
		v.field("link", nil, e.Link)
	case kindFolder:
		if below == nil {
			below = []keptEntry{}
		}
		v.field("entries", nil, below)
	}
	v.field("mode", mode, e.Mode)
	v.field("modified", modified, e.Modified)
	return nil
}

func shownTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
