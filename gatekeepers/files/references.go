package files

import (
	"path/filepath"
	"slices"

	"gatehouse/core"
)

// makeWay finds the folders that are missing above a path and notes that they are made, and what made those that are
// there. It returns the folder that the path will be in. A name that is made has to be presentable.
func (d *draft) makeWay(full string) (item, error) {
	if err := presentable(d.r.show(full)); err != nil && !d.back {
		return item{}, err
	}
	folder, err := d.tree.at("")
	if err != nil {
		return item{}, err
	}
	for _, above := range ancestors(full) {
		it, err := d.tree.at(above)
		if err != nil {
			return item{}, err
		}
		switch it.kind {
		case kindFolder:
			folder = it
		case kindAbsent:
			if err := d.base(above, it, false); err != nil {
				return item{}, err
			}
			d.payload.Parents = append(d.payload.Parents, above)
			d.provide(above)
		default:
			return item{}, errNotFolder
		}
	}
	d.needFolders(full)
	if len(d.payload.Parents) > 0 {
		d.payload.FolderMode = folder.perm() & 0o755
		folder.info, folder.onDisk, folder.mode = nil, false, d.payload.FolderMode
	}
	return folder, nil
}

// provide says that the action makes a path, and touches it.
func (d *draft) provide(full string) {
	d.out.Provides = append(d.out.Provides, full)
	d.touch(full)
}

func (d *draft) touch(full string) {
	for _, t := range d.out.Targets {
		if t == full {
			return
		}
	}
	d.out.Targets = append(d.out.Targets, full)
}

// need ties the action to what brings a thing to its path, and the folders above it to theirs.
func (d *draft) need(full string) {
	if it, err := d.tree.at(full); err == nil && it.exists() {
		d.refer(full, it.maker, true)
	}
	d.needFolders(full)
}

// needFolders ties the action to what makes the folders above a path. It can do without a write that only made them on
// its way: then it makes them itself.
func (d *draft) needFolders(full string) {
	for _, above := range ancestors(full) {
		it, err := d.tree.at(above)
		if err != nil || it.kind != kindFolder {
			return
		}
		d.refer(above, it.maker, d.makes(it.maker, above))
	}
}

// makes reports whether an effect brings a folder for its own sake: by mkdir or a move, not on the way to something.
func (d *draft) makes(id core.ActionID, folder string) bool {
	for _, e := range d.journal.Effects {
		if e.Action != id {
			continue
		}
		p, err := decodePayload(e.Payload)
		if err != nil {
			return false
		}
		for _, parent := range p.Parents {
			if parent == folder {
				return false
			}
		}
		return e.Kind == opMkdir || e.Kind == opMove
	}
	return false
}

// refer adds a reference once; needing wins over coming after.
func (d *draft) refer(name string, provider core.ActionID, needed bool) {
	if provider == 0 {
		return
	}
	for _, r := range d.out.Needs {
		if r.Provider == provider {
			return
		}
	}
	if needed {
		d.out.Needs = append(d.out.Needs, core.Reference{Name: name, Provider: provider})
		kept := d.out.After[:0]
		for _, r := range d.out.After {
			if r.Provider != provider {
				kept = append(kept, r)
			}
		}
		d.out.After = kept
		return
	}
	for _, r := range d.out.After {
		if r.Provider == provider {
			return
		}
	}
	d.out.After = append(d.out.After, core.Reference{Name: name, Provider: provider})
}

// after ties the action to every earlier one that made its target what it is: on it, on a folder above it that it
// made or moved, and, where a folder goes whole, on all below.
func (d *draft) after(full string, withBelow bool) {
	for _, e := range d.journal.Effects {
		if _, laid := d.tree.kinds[e.Action]; !laid {
			continue
		}
		for _, target := range e.Targets {
			if isBelow(full, target) || withBelow && isBelow(target, full) {
				d.refer(target, e.Action, false)
				break
			}
		}
	}
}

func isBelow(p, folder string) bool {
	_, ok := below(p, folder)
	return ok
}

// base adds the state of a target that the action is made on. whole is for what is moved or deleted with all it holds.
func (d *draft) base(full string, it item, whole bool) error {
	d.touch(full)
	if whole && it.kind == kindFolder {
		return d.folderBase(full, it)
	}
	if id, found := d.lastOn(full); found {
		d.out.Base = append(d.out.Base, core.BaseVersion{Target: full, ResultOf: id})
		return nil
	}
	v, err := d.tree.version(d.ctx, full)
	if err != nil {
		return err
	}
	d.out.Base = append(d.out.Base, v)
	return nil
}

// lastOn finds the pending action whose outcome will hold the version of a target: the last that decides what stands
// there, if it names the target. Where a folder above was moved or deleted later, the version is known beforehand.
func (d *draft) lastOn(full string) (core.ActionID, bool) {
	for i := len(d.journal.Effects) - 1; i >= 0; i-- {
		e := d.journal.Effects[i]
		if _, laid := d.tree.kinds[e.Action]; !laid {
			continue
		}
		for _, target := range e.Targets {
			if target == full {
				return e.Action, true
			}
		}
		if e.Kind != opMove && e.Kind != opDelete {
			continue
		}
		p, err := decodePayload(e.Payload)
		if err != nil {
			return 0, false
		}
		for _, acted := range p.paths(e.Kind) {
			if isBelow(full, acted) {
				return 0, false
			}
		}
	}
	return 0, false
}

// folderBase is the version of a folder with all it holds, as it will be when everything earlier is done.
func (d *draft) folderBase(full string, it item) error {
	c, err := d.tree.survey(d.ctx, it, nil)
	if err != nil {
		return err
	}
	d.payload.Touched = c.touched
	d.out.Base = append(d.out.Base, core.BaseVersion{Target: full, Version: c.version()})
	if d.op == opDelete {
		shown := make([]string, len(c.list))
		for i, p := range c.list {
			shown[i] = toUTF8(p)
		}
		d.field("entries", shown, nil)
		d.undo = undoSize(c)
		d.value.Entries = &c.entries
	}
	return nil
}

// trusted reports whether the action touches what widens trust (kernel R26): something in such a folder, or a folder
// that such a one lies in.
func (d *draft) trusted() bool {
	if d.r.driver.options.Trusted == nil {
		return false
	}
	paths, err := d.r.driver.options.Trusted(d.ctx)
	if err != nil {
		return true // cannot tell
	}
	if len(paths) == 0 {
		return false
	}
	touched, err := chain(d.r.rootPath)
	if err != nil {
		return true
	}
	for _, target := range d.out.Targets {
		for _, p := range append(ancestors(target), target) {
			if info, err := d.r.disk.lstat(p); err == nil {
				touched = append(touched, idOf(info))
			}
		}
	}
	return slices.ContainsFunc(paths, func(path string) bool {
		place, err := PlaceAt("", path)
		if err != nil { // nothing stands there; what is put there is what will be trusted
			return d.reaches(path)
		}
		return slices.Contains(touched, place.ID) || d.holds(place)
	})
}

// reaches reports a target at, below or above a path, going by names alone.
func (d *draft) reaches(path string) bool {
	return slices.ContainsFunc(d.out.Targets, func(target string) bool {
		full := filepath.Join(d.r.rootPath, target)
		below, err1 := filepath.Rel(path, full)
		above, err2 := filepath.Rel(full, path)
		return err1 == nil && filepath.IsLocal(below) || err2 == nil && filepath.IsLocal(above)
	})
}

// holds reports a target that a place lies in.
func (d *draft) holds(place Place) bool {
	return slices.ContainsFunc(d.out.Targets, func(target string) bool {
		info, err := d.r.disk.lstat(target)
		return err == nil && slices.Contains(place.Above, idOf(info))
	})
}
