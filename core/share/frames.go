package share

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"

	"gatehouse/core"
)

var errSpelling = errors.New("not written in the one form there is")

// A body is frames one behind the other: a length of four bytes, then so many bytes. All but the last are full, and none
// is empty, so that a size has one number of frames. The hash of each stands in the manifest with its place.

func framesOf(size int64) int { return int((size + frameSize - 1) / frameSize) }

func frameHash(place int, frame []byte) core.Digest {
	h := sha256.New()
	var at [8]byte
	binary.BigEndian.PutUint64(at[:], uint64(place))
	h.Write([]byte("gatehouse frame 1\n"))
	h.Write(at[:])
	h.Write(frame)
	var d core.Digest
	h.Sum(d[:0])
	return d
}

// framer cuts what is written to it into frames and hands each out.
type framer struct {
	emit  func(place int, frame []byte) error
	buf   []byte
	count int
	size  int64
}

func (f *framer) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		room := min(frameSize-len(f.buf), len(p))
		f.buf = append(f.buf, p[:room]...)
		p = p[room:]
		if len(f.buf) == frameSize {
			if err := f.flush(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

func (f *framer) flush() error {
	if len(f.buf) == 0 {
		return nil
	}
	if f.count == framesLimit {
		return core.Invalid("session: larger than a file can hold")
	}
	err := f.emit(f.count, f.buf)
	f.size += int64(len(f.buf))
	f.count++
	f.buf = f.buf[:0]
	return err
}

// frameReader gives the bytes of frames, each checked before a byte of it is handed out.
type frameReader struct {
	src      io.Reader
	m        Manifest
	next     int
	left     int64
	buf      []byte
	ready    *bytes.Reader
	progress Progress
}

func newFrameReader(src io.Reader, m Manifest, progress Progress) *frameReader {
	return &frameReader{src: src, m: m, left: m.Size, buf: make([]byte, 0, frameSize), ready: bytes.NewReader(nil), progress: progress}
}

func (f *frameReader) Read(p []byte) (int, error) {
	for f.ready.Len() == 0 {
		if err := f.frame(); err != nil {
			return 0, err
		}
	}
	return f.ready.Read(p)
}

// frame reads the next one; io.EOF where the manifest and the body end together.
func (f *frameReader) frame() error {
	if f.next == len(f.m.Frames) {
		if n, err := io.ReadFull(f.src, make([]byte, 1)); n != 0 || err != io.EOF {
			return invalid("more frames than its manifest lists")
		}
		return io.EOF
	}
	var head [4]byte
	if _, err := io.ReadFull(f.src, head[:]); err != nil {
		return invalid("frame %d is missing", f.next+1)
	}
	want := min(f.left, frameSize)
	if size := binary.BigEndian.Uint32(head[:]); int64(size) != want {
		return invalid("frame %d has %d bytes, not %d", f.next+1, size, want)
	}
	f.buf = f.buf[:want]
	if _, err := io.ReadFull(f.src, f.buf); err != nil {
		return invalid("frame %d ends too early", f.next+1)
	}
	if frameHash(f.next, f.buf) != f.m.Frames[f.next] {
		return invalid("frame %d is not the one of its manifest", f.next+1)
	}
	f.next++
	f.left -= want
	f.ready.Reset(f.buf)
	f.progress.at(f.m.Size-f.left, f.m.Size)
	return nil
}
