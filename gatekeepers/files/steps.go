package files

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// write puts a whole new file in the place of the old one, or of none.
func (a *applying) write() error {
	content, err := a.content()
	if err != nil {
		return err
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
	temp, err := a.unfinished(dir, old, content)
	if err != nil {
		return err
	}
	defer temp.file.Close() // synced; the lock goes with it
	if err = a.check(); err == nil {
		err = temp.become(dir, name, old != nil)
	}
	if err != nil {
		_ = dir.Remove(temp.name) // the error says why
		return err
	}
	return a.finish(dir)
}

// content is what a write sends, or what an edit makes of the file that was approved.
func (a *applying) content() ([]byte, error) {
	if a.dispatch.Kind == opWrite {
		return a.payload.Content, nil
	}
	data, _, err := a.r.disk.content(a.payload.Path, maxWrite)
	if err != nil {
		return nil, err
	}
	edited, count := replaceOnce(string(data), a.payload.Old, a.payload.New)
	if count != 1 {
		return nil, errDrifted
	}
	return []byte(edited), nil
}

// finish makes an effect durable that is there.
func (a *applying) finish(dirs ...*os.Root) error {
	a.done = true
	if err := a.at(FaultDone); err != nil {
		return err
	}
	for _, dir := range dirs {
		if err := syncFolder(dir); err != nil {
			return err
		}
	}
	return a.at(FaultDurable)
}

// tempFile is a file beside the one that it will become. It is locked as long as its process lives.
type tempFile struct {
	name string
	file *os.File
}

// tempName is a name that no listing shows and that no other process takes.
func (a *applying) tempName() string {
	return fmt.Sprintf("%s%d-%s", tempPrefix, a.dispatch.Action, strings.ToLower(rand.Text()[:10]))
}

// unfinished writes the new content beside the old and waits until it is on disk.
func (a *applying) unfinished(dir *os.Root, old fs.FileInfo, content []byte) (*tempFile, error) {
	t := &tempFile{name: a.tempName()}
	var err error
	if t.file, err = dir.OpenFile(t.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, err
	}
	if err := a.fill(t.file, old, content); err != nil {
		_ = t.file.Close()     // thrown away
		_ = dir.Remove(t.name) // the error says why
		return nil, err
	}
	return t, nil
}

func (a *applying) fill(f *os.File, old fs.FileInfo, content []byte) error {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	half := len(content) / 2
	steps := []func() error{
		func() error { return a.at(FaultCreated) },
		func() error { _, err := f.Write(content[:half]); return err },
		func() error { return a.at(FaultHalf) },
		func() error { _, err := f.Write(content[half:]); return err },
		func() error { return a.at(FaultWritten) },
		func() error { keepOwner(f, old); return f.Chmod(a.payload.Mode) },
		f.Sync,
		func() error { return a.at(FaultSynced) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// keepOwner gives the new file the owner of the old one where the system lets it: only its administrator can.
func keepOwner(f *os.File, old fs.FileInfo) {
	if old == nil {
		return
	}
	uid, gid, ok := ownerOf(old)
	mine, err := f.Stat()
	if !ok || err != nil {
		return
	}
	if u, g, ok := ownerOf(mine); !ok || u != uid || g != gid {
		_ = f.Chown(uid, gid) // refused to people who are not the administrator; the mode is kept anyway
	}
}

// become puts the new file in its place. One that has to be new takes no other's.
func (t *tempFile) become(dir *os.Root, name string, replace bool) error {
	if replace {
		return withFDs(dir, dir, func(fd, _ int) error { return unix.Renameat(fd, t.name, fd, name) })
	}
	return renameNew(dir, t.name, dir, name)
}

// renameNew moves a name to where nothing stands.
func renameNew(from *os.Root, old string, to *os.Root, name string) error {
	err := withFDs(from, to, func(fromFD, toFD int) error { return renameExclusive(fromFD, old, toFD, name) })
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		// A file system without this: look, then move. What comes in between is overwritten.
		if _, lookErr := to.Lstat(name); !errors.Is(lookErr, fs.ErrNotExist) {
			return errDrifted
		}
		err = withFDs(from, to, func(fromFD, toFD int) error { return unix.Renameat(fromFD, old, toFD, name) })
	}
	if errors.Is(err, unix.EEXIST) || errors.Is(err, unix.ENOTEMPTY) {
		return errDrifted
	}
	return err
}

// withFDs opens two folders for system calls that take descriptors.
func withFDs(a, b *os.Root, fn func(a, b int) error) error {
	first, err := a.Open(".")
	if err != nil {
		return err
	}
	defer first.Close()
	second, err := b.Open(".")
	if err != nil {
		return err
	}
	defer second.Close()
	return fn(int(first.Fd()), int(second.Fd()))
}

func (a *applying) move() error {
	if err := a.makeParents(); err != nil {
		return err
	}
	fromAbove, fromName := split(a.payload.From)
	from, err := a.r.disk.folder(fromAbove)
	if err != nil {
		return err
	}
	defer from.Close()
	toAbove, toName := split(a.payload.To)
	to, err := a.r.disk.folder(toAbove)
	if err != nil {
		return err
	}
	defer to.Close()
	if err := a.check(); err != nil {
		return err
	}
	if err := renameNew(from, fromName, to, toName); err != nil {
		return err
	}
	if err := a.finish(to, from); err != nil {
		return err
	}
	return a.unmakeFolders()
}

func (a *applying) mkdir() error {
	if err := a.makeParents(); err != nil {
		return err
	}
	if err := a.check(); err != nil {
		return err
	}
	if err := a.makeFolder(a.payload.Path, a.payload.Mode); err != nil {
		return err
	}
	return a.finish()
}

func (a *applying) delete() error {
	above, name := split(a.payload.Path)
	dir, err := a.r.disk.folder(above)
	if err != nil {
		return err
	}
	defer dir.Close()
	sweep(dir)
	if err := a.check(); err != nil {
		return err
	}
	if a.payload.Folder {
		return a.deleteFolder(dir, name)
	}
	if err := dir.Remove(name); err != nil {
		return err
	}
	return a.finish(dir)
}

// deleteFolder takes a folder away in one step, under a name that is never shown, and erases it then.
func (a *applying) deleteFolder(dir *os.Root, name string) error {
	aside := a.tempName()
	if err := renameNew(dir, name, dir, aside); err != nil {
		return err
	}
	if err := a.finish(dir); err != nil {
		return err
	}
	if err := dir.RemoveAll(aside); err != nil {
		a.note = "the folder is gone, but parts of it could not be erased; they lie under " + aside
	}
	return a.at(FaultErased)
}

// sweep erases what processes that died left unfinished in a folder. What a live one works on is locked.
func sweep(dir *os.Root) {
	f, err := dir.Open(".")
	if err != nil {
		return // nothing depends on it
	}
	defer f.Close()
	for {
		chunk, err := f.Readdirnames(1024)
		for _, name := range chunk {
			if strings.HasPrefix(name, tempPrefix) {
				sweepOne(dir, name)
			}
		}
		if err != nil {
			return
		}
	}
}

func sweepOne(dir *os.Root, name string) {
	info, err := dir.Lstat(name)
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		return
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		_ = dir.RemoveAll(name) // tried again next time
	}
}
