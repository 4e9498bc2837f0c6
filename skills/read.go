package skills

import (
	"fmt"
	"unicode/utf8"
)

// WindowLimit is how much of a document one read gives, in bytes.
const WindowLimit = 64 << 10

// Window is a part of a document.
type Window struct {
	Ref         Ref
	ContentType string
	SHA256      string // of the whole document
	Size        int    // of the whole document, in bytes
	Offset      int    // where the window begins
	Next        int    // the offset to read on from; Size at the end
	// Text is the window of a document that is text, exactly as stored: whoever
	// shows it cleans it. Bytes is that of a binary one.
	Text   string
	Bytes  []byte
	Binary bool
}

// ReadWindow returns at most limit bytes from offset on. A window of text begins
// and ends between characters: an offset inside one moves back to its start,
// and a limit smaller than one gives the whole of it, so that reading on always
// gets on.
func ReadWindow(d Document, offset, limit int) (Window, error) {
	size := len(d.Bytes)
	switch {
	case offset < 0, offset > size:
		return Window{}, &RefusedError{
			Code: CodeBadWindow, Text: fmt.Sprintf("offset %d of document %s: it has %d bytes", offset, shown(d.Ref.String()), size),
			Hint: fmt.Sprintf("read from an offset of 0 to %d", size),
		}
	case limit < 1, limit > WindowLimit:
		return Window{}, &RefusedError{
			Code: CodeBadWindow, Text: fmt.Sprintf("limit %d: a read gives 1 to %d bytes", limit, WindowLimit),
			Hint: "read in several windows",
		}
	}
	w := Window{Ref: d.Ref, ContentType: d.ContentType, SHA256: d.SHA256, Size: size, Binary: d.Binary()}
	end := min(offset+limit, size)
	if w.Binary {
		w.Offset, w.Next, w.Bytes = offset, end, d.Bytes[offset:end:end]
		return w, nil
	}
	for offset > 0 && offset < size && !utf8.RuneStart(d.Bytes[offset]) {
		offset--
	}
	for end > offset && end < size && !utf8.RuneStart(d.Bytes[end]) {
		end--
	}
	if end == offset && offset < size {
		_, n := utf8.DecodeRune(d.Bytes[offset:])
		end += n
	}
	w.Offset, w.Next, w.Text = offset, end, string(d.Bytes[offset:end])
	return w, nil
}
