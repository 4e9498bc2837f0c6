package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"gatehouse/core"
)

// Limits of a page of a search.
const (
	maxHits    = 200
	maxScanned = 64 << 20 // bytes read
	maxLooked  = 20000    // files looked at
	maxQuery   = 1000
	maxLine    = 400  // bytes of a line that are shown
	maxSkipped = 20   // names of files that could not be searched
	sniffed    = 8000 // bytes that tell a text from something else
	walkBatch  = 1000 // names taken from a folder at a time
	longLine   = 1 << 20
)

type searchValue struct {
	Hits    []hit     `json:"hits"`
	Next    string    `json:"next,omitempty"`
	Skipped []skipped `json:"skipped,omitempty"`
}

type hit struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

type skipped struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// errPageFull ends a walk; the search has noted where.
var errPageFull = errors.New("page is full")

// hunt is a search while it walks.
type hunt struct {
	*question
	from    cursor
	value   searchValue
	acts    []core.ActionID
	scanned int64
	looked  int
	last    cursor
	buffer  *bufio.Reader // one for all files: a page can look at 20,000
}

func (q *question) search() (core.Fetched, error) {
	switch {
	case strings.TrimSpace(q.args.Query) == "":
		return core.Fetched{}, core.Invalid("search: query is blank")
	case len(q.args.Query) > maxQuery:
		return core.Fetched{}, core.Invalid("search: query is longer than %d bytes", maxQuery)
	case strings.ContainsAny(q.args.Query, "\n\r"):
		return core.Fetched{}, core.Invalid("search: query holds a line break; it has to be within one line")
	}
	it, err := q.existing()
	if err != nil {
		return core.Fetched{}, err
	}
	from, err := q.cursor(it)
	if err != nil {
		return core.Fetched{}, err
	}
	h := &hunt{question: q, from: from, value: searchValue{Hits: []hit{}}, acts: it.acts}
	if q.args.Cursor != "" {
		if err := h.checkState(); err != nil {
			return core.Fetched{}, err
		}
	}
	switch it.kind {
	case kindFolder:
		err = h.walk(it, "", from.After)
	case kindFile:
		err = h.file("", it)
	case kindLink:
		err = errLink
	default:
		err = errNotFile
	}
	if err != nil && !errors.Is(err, errPageFull) {
		return core.Fetched{}, err
	}
	if errors.Is(err, errPageFull) {
		h.last.Folder, h.last.Query = q.full, q.args.Query
		if h.last.State, err = h.stateAt(h.last.After); err != nil {
			return core.Fetched{}, err
		}
		h.value.Next = h.last.String()
	}
	found, err := q.answer(h.value, h.acts)
	if len(h.value.Hits) == 0 {
		found.Found = nil // nothing of the unit is in an empty answer (K12)
	}
	return found, err
}

// stateAt is the state that a page ending behind a path depends on: the folder that was being searched.
func (h *hunt) stateAt(after string) (string, error) {
	above, _ := split(after)
	it, err := h.tree.at(join(h.full, above))
	if err != nil {
		return "", err
	}
	return h.state(it), nil
}

func (h *hunt) checkState() error {
	now, err := h.stateAt(h.from.After)
	if err != nil || now != h.from.State {
		return errListChanged()
	}
	return nil
}

// walk searches what a folder holds, in order. What lies before the place to go on at is neither walked nor read; after
// is that place, as a path relative to this folder.
func (h *hunt) walk(folder item, at, after string) error {
	first, rest, deeper := strings.Cut(after, "/")
	begin := first
	if first != "" && (deeper || h.from.Offset > 0) {
		// The name itself is not done: go on in it, then behind it.
		it, err := h.tree.at(join(h.full, join(at, first)))
		if err != nil {
			return tolerate(err)
		}
		if err := h.visit(join(at, first), it, rest); err != nil {
			return err
		}
	}
	for {
		children, acts, more, err := h.tree.children(h.ctx, folder, begin, walkBatch)
		if err != nil {
			if at != "" && skippable(err) {
				h.skip(at, err)
				return nil
			}
			return err
		}
		h.acts = merge(h.acts, acts)
		for _, c := range children {
			if err := h.visit(join(at, c.name), c.item, ""); err != nil {
				return err
			}
			begin = c.name
		}
		if !more {
			return nil
		}
	}
}

func (h *hunt) visit(p string, it item, after string) error {
	switch it.kind {
	case kindFolder:
		return h.walk(it, p, after)
	case kindFile:
		return h.file(p, it)
	default:
		return nil
	}
}

// file searches one file. A page ends before a file or between two of its lines.
func (h *hunt) file(p string, it item) error {
	if err := h.ctx.Err(); err != nil {
		return err
	}
	from := cursor{After: p}
	if h.from.Offset > 0 && p == h.from.After {
		from = h.from
	}
	if h.looked == maxLooked || h.scanned >= maxScanned || len(h.value.Hits) == maxHits {
		return errPageFull
	}
	h.looked++
	r, size, err := h.reader(it, from.Offset)
	if err == nil {
		err = h.lines(p, r, size, from)
		_ = r.Close() // read-only
	}
	if err != nil && skippable(err) {
		h.skip(p, err)
		err = nil
	}
	if err == nil {
		h.last = cursor{After: p}
	}
	return err
}

var errNotText = errors.New("is not text")

// skippable keeps the end of a page, or of the context, from passing for a file that cannot be read.
func skippable(err error) bool {
	return !errors.Is(err, errPageFull) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

func (h *hunt) skip(p string, err error) {
	if errors.Is(err, errAbsent) || errors.Is(err, errNotText) || len(h.value.Skipped) == maxSkipped {
		return
	}
	h.value.Skipped = append(h.value.Skipped, skipped{Path: toUTF8(h.shown(p)), Why: h.skipReason(p, err)})
}

func (h *hunt) skipReason(p string, err error) string {
	var call *core.CallError
	if errors.As(h.r.fault(join(h.full, p), err), &call) {
		return call.Text
	}
	return "cannot be read"
}

func (h *hunt) shown(p string) string { return h.r.show(join(h.full, p)) }

// reader opens a file of the tree at an offset that was reached before.
func (h *hunt) reader(it item, offset int64) (io.ReadCloser, int64, error) {
	if !it.onDisk {
		return io.NopCloser(bytes.NewReader(cut(it.content, offset, maxWrite))), int64(len(it.content)), nil
	}
	f, info, err := h.tree.d.open(it.disk)
	if err != nil {
		return nil, 0, err
	}
	if offset > 0 {
		if _, err := f.Seek(offset, io.SeekStart); err != nil {
			_ = f.Close() // read-only
			return nil, 0, err
		}
	}
	return f, info.Size(), nil
}

// lines searches the lines of a text. Lines longer than longLine are searched in pieces.
func (h *hunt) lines(p string, r io.Reader, size int64, from cursor) error {
	if h.buffer == nil {
		h.buffer = bufio.NewReaderSize(nil, 64<<10)
	}
	buffered := h.buffer
	buffered.Reset(&patientReader{ctx: h.ctx, r: r})
	if from.Offset == 0 {
		head, err := buffered.Peek(int(min(size, sniffed)))
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if bytes.IndexByte(head, 0) >= 0 {
			return errNotText
		}
	}
	line, offset := from.Line, from.Offset
	query := []byte(h.args.Query)
	for {
		text, whole, n, err := readLine(buffered)
		if n > 0 {
			if len(h.value.Hits) == maxHits || h.scanned >= maxScanned {
				h.last = cursor{After: p, Line: line, Offset: offset} // never at 0: file looked at the limits before
				return errPageFull
			}
			h.scanned += int64(n)
			if i := bytes.Index(text, query); i >= 0 {
				h.value.Hits = append(h.value.Hits, hit{
					Path: toUTF8(h.shown(p)), Line: line + 1, Text: excerpt(text, i, len(query)),
				})
			}
			offset += int64(n)
			if whole {
				line++
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readLine reads a line without its end, or longLine bytes of one; n counts all that was taken.
func readLine(r *bufio.Reader) (text []byte, whole bool, n int, err error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		n += len(piece)
		line = append(line, piece...)
		switch {
		case err == nil:
			return bytes.TrimRight(line, "\r\n"), true, n, nil
		case errors.Is(err, bufio.ErrBufferFull) && n < longLine:
		case errors.Is(err, bufio.ErrBufferFull):
			return line, false, n, nil
		default:
			return line, true, n, err
		}
	}
}

// excerpt is the part of a line around what was found.
func excerpt(line []byte, at, length int) string {
	if len(line) > maxLine {
		begin := max(0, min(at-(maxLine-length)/2, len(line)-maxLine))
		if length >= maxLine {
			begin = at
		}
		end := min(len(line), begin+maxLine)
		for begin > 0 && begin < at && !utf8.RuneStart(line[begin]) {
			begin++
		}
		for end < len(line) && end > begin && !utf8.RuneStart(line[end]) {
			end--
		}
		line = line[begin:end]
	}
	return toUTF8(string(line))
}
