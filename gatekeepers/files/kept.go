package files

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"strings"

	"gatehouse/core"
)

// keptInline is how much undo data a revert carries itself, so that reads can show it while it waits: a file of 1 MiB
// and its line. Of more the revert holds hash and size, and the store has the bytes.
const keptInline = maxWrite + 1<<16

var errKept = errors.New("what was kept of it is not whole any more")

// keptReader reads undo data back, entry by entry, and hashes it.
type keptReader struct {
	in   *bufio.Reader
	sum  hash.Hash
	size int64
	rest *io.LimitedReader // content of the entry at hand
}

func readKept(src io.Reader) *keptReader {
	k := &keptReader{sum: sha256.New()}
	k.in = bufio.NewReader(io.TeeReader(src, k))
	return k
}

// Write takes what was read for the hash.
func (k *keptReader) Write(p []byte) (int, error) {
	k.size += int64(len(p))
	return k.sum.Write(p)
}

// next is the entry after the last, whose content was read or is skipped; io.EOF behind the last one.
func (k *keptReader) next() (undoEntry, io.Reader, error) {
	var e undoEntry
	if k.rest != nil && k.rest.N > 0 {
		if _, err := io.Copy(io.Discard, k.rest); err != nil {
			return e, nil, err
		}
		if k.rest.N > 0 {
			return e, nil, errKept
		}
	}
	line, err := k.in.ReadBytes('\n')
	if errors.Is(err, io.EOF) && len(line) == 0 {
		return e, nil, io.EOF
	}
	if err != nil {
		return e, nil, fmt.Errorf("%w: %w", errKept, err)
	}
	if err := json.Unmarshal(line, &e); err != nil || e.Size < 0 {
		return e, nil, errKept
	}
	if len(e.Raw) > 0 {
		e.Path = string(e.Raw)
	}
	if !keptPath(e.Path) {
		return e, nil, errKept
	}
	k.rest = &io.LimitedReader{R: k.in}
	if e.Kind == kindFile {
		k.rest.N = e.Size
	}
	return e, k.rest, nil
}

// keptPath reports whether a path of undo data stays below what it was kept of. It may hold what no new name may.
func keptPath(p string) bool {
	if p == "" {
		return true
	}
	for _, name := range strings.Split(p, "/") {
		if name == "" || name == "." || name == ".." || strings.ContainsRune(name, 0) || hidden(name) {
			return false
		}
	}
	return true
}

// kept is what a restore puts back, as its payload names it.
type kept struct {
	Data []byte `json:"data,omitempty"` // the undo data, where it is small; the store has it otherwise
	Sum  string `json:"sum"`            // SHA-256 of the undo data, in hex
	Size int64  `json:"size"`
}

// same compares what was read with what was approved.
func (k *kept) same(r *keptReader) bool {
	return r.size == k.Size && hex.EncodeToString(r.sum.Sum(nil)) == k.Sum
}

// keptEntry is an entry as a person sees it.
type keptEntry struct {
	Path     string  `json:"path,omitempty"`
	Kind     kind    `json:"kind"`
	Mode     string  `json:"mode"`
	Modified string  `json:"modified"`
	Size     int64   `json:"size"`
	Text     *string `json:"text,omitempty"`
	Base64   []byte  `json:"base64,omitempty"`
	Sum      string  `json:"sha256,omitempty"`
	Link     string  `json:"link,omitempty"`

	content []byte // of a small file
}

// listKept reads undo data once: what there is of it, with the content as long as all of it is small.
func listKept(undo core.UndoSource, size int64) (*kept, []keptEntry, error) {
	if undo == nil {
		return nil, nil, errKept
	}
	src := undo()
	var data bytes.Buffer
	inline := size <= keptInline
	if inline {
		src = io.TeeReader(src, &data)
	}
	r := readKept(src)
	var list []keptEntry
	for {
		e, content, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		entry, err := listEntry(e, content, inline)
		if err != nil {
			return nil, nil, err
		}
		if list = append(list, entry); len(list) > maxEntries+1 {
			return nil, nil, errTooMany
		}
	}
	if len(list) == 0 || list[0].Path != "" {
		return nil, nil, errKept
	}
	k := &kept{Sum: hex.EncodeToString(r.sum.Sum(nil)), Size: r.size}
	if inline {
		k.Data = data.Bytes()
	}
	return k, list, nil
}

func listEntry(e undoEntry, content io.Reader, inline bool) (keptEntry, error) {
	out := keptEntry{
		Path: toUTF8(e.Path), Kind: e.Kind, Mode: fmt.Sprintf("%04o", e.Mode), Modified: shownTime(e.Modified), Size: e.Size,
		Link: toUTF8(string(e.Link)),
	}
	if e.Kind != kindFile {
		return out, nil
	}
	if !inline || e.Size > maxWrite {
		sum := sha256.New()
		n, err := io.Copy(sum, content)
		if err == nil && n != e.Size {
			err = errKept
		}
		out.Sum = hexOf(sum.Sum(nil))
		return out, err
	}
	data, err := io.ReadAll(content)
	if err == nil && int64(len(data)) != e.Size {
		err = errKept
	}
	out.content = data
	if isText(data) {
		words := string(data)
		out.Text = &words
	} else {
		out.Base64 = data
	}
	return out, err
}

func hexOf(sum []byte) string { return hex.EncodeToString(sum) }

// modeOf is the inverse of unixMode.
func modeOf(unix uint32) fs.FileMode {
	m := fs.FileMode(unix) & fs.ModePerm
	for bit, mode := range map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if unix&bit != 0 {
			m |= mode
		}
	}
	return m
}
