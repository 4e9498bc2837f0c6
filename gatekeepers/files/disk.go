package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// What the disk answers besides the errors of the system.
var (
	errAbsent    = errors.New("not found")
	errLink      = errors.New("is a symbolic link, which is never followed")
	errNotFolder = errors.New("is not a folder")
	errNotFile   = errors.New("is not a file")
	errSwapped   = errors.New("was replaced while it was opened")
	errTooLarge  = errors.New("is too large")
)

// FileID names a file or folder whatever its path.
type FileID struct{ Device, Inode uint64 }

func idOf(info fs.FileInfo) FileID {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return FileID{}
	}
	return FileID{Device: uint64(stat.Dev), Inode: stat.Ino}
}

func ownerOf(info fs.FileInfo) (uid, gid int, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(stat.Uid), int(stat.Gid), true
}

// disk is the folder as it is. Every path is relative to the root, clean, and without links.
type disk struct {
	root      *os.Root
	protected map[FileID]string
	watch     func(what, path string) // tells tests what is looked at; nil otherwise
}

func (d *disk) saw(what, path string) {
	if d.watch != nil {
		d.watch(what, path)
	}
}

// folder opens a folder one component at a time; the caller closes it.
func (d *disk) folder(p string) (*os.Root, error) {
	d.saw("folder", p)
	at, err := d.root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	if p == "" {
		return at, nil
	}
	for _, name := range strings.Split(p, "/") {
		next, err := enter(at, name)
		_ = at.Close() // opened for looking only
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// enter opens a folder in a folder. It looks at the name after opening it: where both are one file, no link was followed,
// whatever was swapped in before or after.
func enter(in *os.Root, name string) (*os.Root, error) {
	if hidden(name) {
		return nil, errAbsent
	}
	next, err := in.OpenRoot(name)
	named, lerr := in.Lstat(name)
	if lerr == nil && err == nil {
		var opened fs.FileInfo
		if opened, lerr = next.Stat("."); lerr == nil && os.SameFile(named, opened) {
			return next, nil
		}
	}
	if err == nil {
		_ = next.Close() // opened for looking only
	}
	switch {
	case lerr != nil:
		return nil, known(lerr)
	case named.Mode().Type() == fs.ModeSymlink:
		return nil, errLink
	case !named.IsDir():
		return nil, errNotFolder
	case err != nil:
		return nil, known(err)
	default:
		return nil, errSwapped
	}
}

// known turns the errors that are answers into ours.
func known(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENAMETOOLONG):
		return errAbsent
	case errors.Is(err, unix.ENOTDIR):
		return errNotFolder
	case errors.Is(err, unix.ELOOP):
		return errLink
	default:
		return err
	}
}

// lstat looks at what stands at a path. A folder above it that is missing or no folder makes it absent.
func (d *disk) lstat(p string) (fs.FileInfo, error) {
	if p == "" {
		return d.root.Stat(".")
	}
	above, name := split(p)
	dir, err := d.folder(above)
	if errors.Is(err, errNotFolder) {
		return nil, errAbsent
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return d.lstatIn(dir, name)
}

func (d *disk) lstatIn(dir *os.Root, name string) (fs.FileInfo, error) {
	if hidden(name) {
		return nil, errAbsent
	}
	d.saw("look", name)
	info, err := dir.Lstat(name)
	if err != nil {
		return nil, known(err)
	}
	if _, found := d.protected[idOf(info)]; found {
		return nil, errAbsent
	}
	return info, nil
}

// open opens a regular file for reading.
func (d *disk) open(p string) (*os.File, fs.FileInfo, error) {
	above, name := split(p)
	dir, err := d.folder(above)
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	return d.openIn(dir, name)
}

// openIn is open in a folder that is open. It looks before, because opening a device can have effects, and after, like enter.
func (d *disk) openIn(dir *os.Root, name string) (*os.File, fs.FileInfo, error) {
	info, err := d.lstatIn(dir, name)
	if err != nil {
		return nil, nil, err
	}
	if err := regular(info); err != nil {
		return nil, nil, err
	}
	d.saw("open", name)
	f, err := dir.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, known(err)
	}
	opened, err := f.Stat()
	if err == nil {
		info, err = d.lstatIn(dir, name)
	}
	if err == nil && !os.SameFile(opened, info) {
		err = errSwapped
	}
	if err == nil {
		err = regular(opened)
	}
	if err != nil {
		_ = f.Close() // read-only
		return nil, nil, err
	}
	return f, opened, nil
}

func regular(info fs.FileInfo) error {
	switch {
	case info.Mode().IsRegular():
		return nil
	case info.Mode().Type() == fs.ModeSymlink:
		return errLink
	default:
		return errNotFile
	}
}

// content reads a whole file of at most limit bytes.
func (d *disk) content(p string, limit int64) ([]byte, fs.FileInfo, error) {
	f, info, err := d.open(p)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, nil, err
	}
	if int64(len(data)) > limit {
		return nil, info, errTooLarge
	}
	return data, info, nil
}

// linkText reads where a link points, for versions; it is never followed.
func (d *disk) linkText(p string) (string, error) {
	above, name := split(p)
	dir, err := d.folder(above)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	target, err := dir.Readlink(name)
	if err != nil {
		return "", known(err)
	}
	return target, nil
}

// names lists up to count names of an open folder that come after one, sorted by bytes. It reads the folder in chunks
// and keeps no more than count of them, however many there are.
func names(ctx context.Context, dir *os.Root, after string, count int) ([]string, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, known(err)
	}
	defer f.Close()
	var kept []string
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		chunk, err := f.Readdirnames(1024)
		for _, name := range chunk {
			if name > after && !hidden(name) {
				kept = append(kept, name)
			}
		}
		if len(kept) > 4*count+1024 || err != nil {
			slices.Sort(kept)
			kept = kept[:min(len(kept), count)]
		}
		if errors.Is(err, io.EOF) {
			return kept, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
