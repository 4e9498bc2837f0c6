package files

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"gatehouse/core"
)

// Limits of a read.
const (
	defaultWindow = 64 << 10
	maxWindow     = 1 << 20
	maxHashed     = 8 << 20 // larger files have a version made of size and time: a window must not cost the whole file
)

type readValue struct {
	Path    string  `json:"path"`
	Text    *string `json:"text,omitempty"`
	Base64  *string `json:"base64,omitempty"`
	Version string  `json:"version"`
	Size    int64   `json:"size"`
	Next    int64   `json:"next,omitempty"`
}

func (q *question) read() (core.Fetched, error) {
	limit := q.args.Limit
	switch {
	case q.args.Offset < 0:
		return core.Fetched{}, core.Invalid("read: offset %d is negative", q.args.Offset)
	case limit < 0 || limit > maxWindow:
		return core.Fetched{}, core.Invalid("read: limit %d is not between 1 and %d", limit, maxWindow)
	case limit == 0:
		limit = defaultWindow
	}
	it, err := q.existing()
	if err != nil {
		return core.Fetched{}, err
	}
	window, size, version, err := q.window(it, limit)
	if err != nil {
		return core.Fetched{}, err
	}
	value := readValue{Path: q.r.show(q.full), Version: version, Size: size}
	end := q.args.Offset + int64(len(window))
	if end < size && len(window) > 0 {
		window = wholeRunes(window)
		end = q.args.Offset + int64(len(window))
		value.Next = end
	}
	value.Text, value.Base64 = textOrBase64(window)
	return q.answer(value, it.acts)
}

// existing is what stands at the path of the call; missing is errAbsent.
func (q *question) existing() (item, error) {
	it, err := q.tree.at(q.full)
	if err == nil && !it.exists() {
		err = errAbsent
	}
	return it, err
}

// window reads part of a file of any size.
func (q *question) window(it item, limit int64) (window []byte, size int64, version string, err error) {
	if it.kind == kindLink {
		return nil, 0, "", errLink
	}
	if it.kind != kindFile {
		return nil, 0, "", errNotFile
	}
	if !it.onDisk {
		return cut(it.content, q.args.Offset, limit), int64(len(it.content)), sumOf(it.content), nil
	}
	f, info, err := q.tree.d.open(it.disk)
	if err != nil {
		return nil, 0, "", err
	}
	defer f.Close()
	if info.Size() <= maxHashed {
		data, err := io.ReadAll(io.LimitReader(f, maxHashed+1))
		if err != nil {
			return nil, 0, "", err
		}
		if len(data) <= maxHashed {
			return cut(data, q.args.Offset, limit), int64(len(data)), sumOf(data), nil
		}
	}
	window = make([]byte, limit)
	n, err := f.ReadAt(window, q.args.Offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, "", err
	}
	return window[:n], info.Size(), fmt.Sprintf("stat:%d-%d", info.Size(), info.ModTime().UnixNano()), nil
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func cut(data []byte, offset, limit int64) []byte {
	if offset >= int64(len(data)) {
		return nil
	}
	return data[offset:min(int64(len(data)), offset+limit)]
}

// wholeRunes drops a character that the end of a window cut in two; windows that follow each other join to the file.
func wholeRunes(window []byte) []byte {
	for back := 1; back <= utf8.UTFMax && back < len(window); back++ {
		i := len(window) - back
		if !utf8.RuneStart(window[i]) {
			continue
		}
		if !utf8.FullRune(window[i:]) {
			return window[:i]
		}
		break
	}
	return window
}

// textOrBase64 gives bytes as text where JSON carries them exactly and a person can read them.
func textOrBase64(data []byte) (asText, asBase64 *string) {
	if isText(data) {
		s := string(data)
		return &s, nil
	}
	s := base64.StdEncoding.EncodeToString(data)
	return nil, &s
}

func isText(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }

type statValue struct {
	Path     string `json:"path"`
	Kind     kind   `json:"kind"`
	Size     int64  `json:"size"`
	Mode     string `json:"mode"`
	Modified string `json:"modified"`
}

func (q *question) stat() (core.Fetched, error) {
	it, err := q.existing()
	if err != nil {
		return core.Fetched{}, err
	}
	return q.answer(statValue{
		Path: q.r.show(q.full), Kind: it.kind, Size: it.size(),
		Mode:     fmt.Sprintf("%04o", unixMode(it.perm())),
		Modified: it.modified().UTC().Format("2006-01-02T15:04:05Z"),
	}, it.acts)
}

// answer makes a result that comes from the unit.
func (q *question) answer(value any, acts []core.ActionID) (core.Fetched, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return core.Fetched{}, fmt.Errorf("answer of files: %w", err)
	}
	return core.Fetched{Value: raw, Found: []core.Found{q.r.Unit()}, Projected: acts}, nil
}
