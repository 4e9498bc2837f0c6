package files

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"gatehouse/core"
)

// Undo data is a sequence of entries: a line of JSON, then as many bytes as it says. Paths are relative to what the
// action was about, "" being that itself, and folders come before what they hold.
type undoEntry struct {
	Path     string    `json:"path"`
	Kind     kind      `json:"kind"`
	Mode     uint32    `json:"mode"`
	Modified time.Time `json:"modified"`
	Size     int64     `json:"size"`
	Link     []byte    `json:"link,omitempty"` // where a link points
	Raw      []byte    `json:"raw,omitempty"`  // the path where it is not UTF-8
}

// entryOverhead is more than an entry's line takes beside its path.
const entryOverhead = 256

// undoSize is how much undo data a folder will make at most.
func undoSize(c *census) int64 {
	size := c.bytes + entryOverhead
	for _, p := range c.list {
		size += entryOverhead + int64(len(encode(p))+2*len(p))
	}
	return size
}

var errMovedOn = errors.New("changed while it was copied for undo")

// undo streams what a write, an edit or a delete replaces. Reading it fails when that is no longer the version given.
func (r *resource) undo(ctx context.Context, kind string, p payload, subject core.BaseVersion) (io.ReadCloser, error) {
	switch kind {
	case opWrite, opEdit, opDelete, opRestore:
	default:
		return nil, nil
	}
	reader, writer := io.Pipe()
	u := &undoStream{PipeReader: reader, done: make(chan struct{})}
	u.fill = func() {
		defer close(u.done)
		out := bufio.NewWriter(writer)
		err := r.writeUndo(ctx, out, p, subject)
		if err == nil {
			err = out.Flush()
		}
		writer.CloseWithError(err) // nil is the end of the stream
	}
	return u, nil
}

// undoStream begins to look at the disk when it is read, and waits at Close for what fills it.
type undoStream struct {
	*io.PipeReader
	fill  func()
	begun bool
	done  chan struct{}
}

func (u *undoStream) Read(p []byte) (int, error) {
	if !u.begun {
		u.begun = true
		go u.fill()
	}
	return u.PipeReader.Read(p)
}

func (u *undoStream) Close() error {
	err := u.PipeReader.Close()
	if u.begun {
		<-u.done
	}
	return err
}

func (r *resource) writeUndo(ctx context.Context, w io.Writer, p payload, subject core.BaseVersion) error {
	t := newTree(r.disk)
	it, err := t.at(p.Path)
	if err != nil {
		return err
	}
	if err := r.writeUndoEntry(ctx, w, t, "", it); err != nil {
		return err
	}
	now, err := t.version(ctx, p.Path)
	if it.kind == kindFolder {
		now, _, err = t.folderVersion(ctx, p.Path, p.Touched)
	}
	if err != nil {
		return err
	}
	if !now.Same(subject) {
		return errMovedOn
	}
	return nil
}

func (r *resource) writeUndoEntry(ctx context.Context, w io.Writer, t *tree, path string, it item) error {
	e := undoEntry{Path: path, Kind: it.kind, Mode: unixMode(it.perm()), Modified: it.modified().UTC(), Size: it.size()}
	if clean := toUTF8(path); clean != path {
		e.Path, e.Raw = clean, []byte(path)
	}
	if it.kind == kindLink {
		to, err := r.disk.linkText(it.disk)
		if err != nil {
			return err
		}
		e.Link = []byte(to)
	}
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("undo of %s: %w", quote(path), err)
	}
	if _, err := w.Write(append(line, '\n')); err != nil {
		return err
	}
	switch it.kind {
	case kindFile:
		return r.copyContent(ctx, w, it)
	case kindFolder:
		children, _, more, err := t.children(ctx, it, "", maxEntries)
		if err != nil {
			return err
		}
		if more {
			return errTooMany
		}
		for _, c := range children {
			if err := r.writeUndoEntry(ctx, w, t, join(path, c.name), c.item); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *resource) copyContent(ctx context.Context, w io.Writer, it item) error {
	f, info, err := r.disk.open(it.disk)
	if err != nil {
		return err
	}
	defer f.Close()
	if info.Size() != it.size() {
		return errMovedOn
	}
	n, err := io.Copy(w, io.LimitReader(&patientReader{ctx: ctx, r: f}, it.size()))
	if err == nil && n != it.size() {
		err = errMovedOn
	}
	return err
}
