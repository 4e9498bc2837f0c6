package files

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"gatehouse/core"
)

// restore puts back what was kept, beside its place first, and compares it with what was approved before it goes there.
func (a *applying) restore() error {
	if a.payload.Kept == nil {
		return errKept
	}
	if err := a.makeParents(); err != nil {
		return err
	}
	above, name := split(a.payload.Path)
	dir, err := a.r.disk.folder(above)
	if err != nil {
		return err
	}
	defer dir.Close()
	sweep(dir)
	old, err := a.r.disk.lstatIn(dir, name)
	if err != nil && !errors.Is(err, errAbsent) {
		return err
	}
	temp := &tempFile{name: a.tempName()}
	err = a.rebuild(dir, temp, old)
	if temp.file != nil {
		defer temp.file.Close() // its lock goes with it
	}
	if err == nil {
		err = a.check()
	}
	if err == nil {
		err = temp.become(dir, name, old != nil)
	}
	if err != nil {
		_ = dir.RemoveAll(temp.name) // the error says why
		return err
	}
	return a.finish(dir)
}

// kept is where the bytes come from: the action itself, or the store.
func (a *applying) kept() (io.Reader, error) {
	switch {
	case a.payload.Kept.Data != nil:
		return bytes.NewReader(a.payload.Kept.Data), nil
	case a.dispatch.Undo != nil:
		return a.dispatch.Undo(), nil
	default:
		return nil, errKept
	}
}

// rebuild makes all that was kept under a name that is never shown. Nothing of it counts unless it is, byte for byte,
// what the digest holds.
func (a *applying) rebuild(dir *os.Root, temp *tempFile, old fs.FileInfo) error {
	src, err := a.kept()
	if err != nil {
		return err
	}
	k := readKept(src)
	e, content, err := k.next()
	if err != nil || e.Path != "" {
		return errors.Join(errKept, err)
	}
	switch e.Kind {
	case kindFile:
		err = a.rebuildFile(dir, temp, e, content, old)
	case kindFolder:
		err = a.rebuildFolder(dir, temp, e, k)
	case kindLink:
		err = dir.Symlink(string(e.Link), temp.name)
	default:
		err = errKept
	}
	if err != nil {
		return err
	}
	if _, _, err := k.next(); !errors.Is(err, io.EOF) {
		return errors.Join(errKept, err)
	}
	if !a.payload.Kept.same(k) {
		return errKept
	}
	return a.at(FaultSynced)
}

func (a *applying) rebuildFile(dir *os.Root, temp *tempFile, e undoEntry, content io.Reader, old fs.FileInfo) error {
	var err error
	if temp.file, err = dir.OpenFile(temp.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return err
	}
	if err := unix.Flock(int(temp.file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	if err := a.at(FaultCreated); err != nil {
		return err
	}
	keepOwner(temp.file, old)
	if err := a.fillKept(temp.file, e, content); err != nil {
		return err
	}
	if err := dir.Chtimes(temp.name, e.Modified, e.Modified); err != nil {
		return err
	}
	return a.at(FaultWritten)
}

// fillKept writes a file, and waits until it is on disk.
func (a *applying) fillKept(f *os.File, e undoEntry, content io.Reader) error {
	n, err := io.Copy(f, &patientReader{ctx: a.ctx, r: content})
	if err == nil && n != e.Size {
		err = errKept
	}
	if err == nil {
		err = f.Chmod(modeOf(e.Mode))
	}
	if err == nil {
		err = f.Sync()
	}
	return err
}

// rebuildFolder makes a folder with all it held. Modes and times of folders come last, innermost first: what is put into
// one changes them.
func (a *applying) rebuildFolder(dir *os.Root, temp *tempFile, top undoEntry, k *keptReader) error {
	if err := dir.Mkdir(temp.name, 0o700); err != nil {
		return err
	}
	root, err := dir.OpenRoot(temp.name)
	if err != nil {
		return err
	}
	defer root.Close()
	if temp.file, err = root.Open("."); err != nil {
		return err
	}
	if err := unix.Flock(int(temp.file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	if err := a.at(FaultCreated); err != nil {
		return err
	}
	folders := []undoEntry{top}
	for {
		e, content, err := k.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = a.rebuildEntry(root, e, content)
		}
		if err != nil {
			return err
		}
		if e.Kind == kindFolder {
			folders = append(folders, e)
		}
	}
	slices.Reverse(folders)
	for _, e := range folders {
		if err := finishFolder(root, e); err != nil {
			return err
		}
	}
	return a.at(FaultWritten)
}

func (a *applying) rebuildEntry(root *os.Root, e undoEntry, content io.Reader) error {
	if err := a.ctx.Err(); err != nil {
		return err
	}
	switch e.Kind {
	case kindFolder:
		return root.Mkdir(e.Path, 0o700)
	case kindLink:
		return root.Symlink(string(e.Link), e.Path)
	case kindFile:
	default:
		return errKept
	}
	f, err := root.OpenFile(e.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = a.fillKept(f, e, content)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = root.Chtimes(e.Path, e.Modified, e.Modified)
	}
	return err
}

func finishFolder(root *os.Root, e undoEntry) error {
	path := e.Path
	if path == "" {
		path = "."
	}
	f, err := root.Open(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		err = nil // a file system that cannot
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = root.Chtimes(path, e.Modified, e.Modified)
	}
	if err == nil {
		err = root.Chmod(path, modeOf(e.Mode))
	}
	return err
}

// unmakeFolders removes the folders that were made for what was moved away again. One that somebody put something into
// a moment ago stays, and the outcome says so.
func (a *applying) unmakeFolders() error {
	if a.payload.Unmake == "" {
		return nil
	}
	chain := ancestors(a.payload.From)
	for i := len(chain) - 1; i >= 0 && isBelow(chain[i], a.payload.Unmake); i-- {
		above, name := split(chain[i])
		dir, err := a.r.disk.folder(above)
		if err != nil {
			return err
		}
		err = dir.Remove(name)
		if err == nil {
			err = syncFolder(dir)
		}
		_ = dir.Close() // nothing is written through it
		if err != nil {
			a.note = "moved, but " + quote(a.r.show(chain[i])) + " is not empty and stays"
			return nil
		}
	}
	return nil
}

// layRestore shows what will be there again. What the store alone has is not read for that.
func (t *tree) layRestore(e core.Effect, p payload) error {
	if p.Kept == nil || p.Kept.Data == nil {
		return errMisfit("it is too large to be shown before it is applied")
	}
	old, err := t.at(p.Path)
	if err != nil {
		return err
	}
	maker := old.maker
	switch old.kind {
	case kindFile:
	case kindAbsent:
		maker = e.Action
	default:
		return errMisfit("something that is no file stands in its place")
	}
	if err := t.makeParents(e, p); err != nil {
		return err
	}
	acts := merge(old.acts, []core.ActionID{e.Action})
	k := readKept(bytes.NewReader(p.Kept.Data))
	for {
		entry, content, err := k.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return errMisfit("what was kept cannot be read")
		}
		n := &node{kind: entry.Kind, mode: modeOf(entry.Mode), at: entry.Modified, link: string(entry.Link), maker: maker, acts: acts}
		if entry.Kind == kindFile {
			if n.content, err = io.ReadAll(content); err != nil {
				return errMisfit("what was kept cannot be read")
			}
		}
		if err := t.put(join(p.Path, entry.Path), n); err != nil {
			return err
		}
	}
}
