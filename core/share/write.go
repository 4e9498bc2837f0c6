package share

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"slices"

	"filippo.io/age"

	"gatehouse/core"
)

// Progress is told how many bytes of how many were worked through. It may be nil.
type Progress func(done, total int64)

func (p Progress) at(done, total int64) {
	if p != nil {
		p(done, total)
	}
}

// Content writes what a body holds. It is run twice, to measure and to seal, and has to write the same bytes.
type Content func(w io.Writer) error

// Measure runs content and puts size, frames and their hashes in a manifest. Nothing is kept of it but these.
func (m *Manifest) Measure(content Content) error {
	m.Frames = nil
	f := &framer{emit: func(place int, frame []byte) error {
		m.Frames = append(m.Frames, frameHash(place, frame))
		return nil
	}}
	if err := content(f); err != nil {
		return err
	}
	err := f.flush()
	m.Size = f.size
	return err
}

// Seal writes a file: header h completed by what was sealed, a manifest that was measured, and the content. What is
// written is what was measured, else ErrChanged; a file that Seal failed on is none.
func Seal(dst io.WriteSeeker, id *Identity, h Header, m Manifest, content Content, progress Progress) (Header, error) {
	h.Sender, m.Sender = id.SigningKey(), id.SigningKey()
	h.Recipients = slices.Clone(h.Recipients)
	slices.Sort(h.Recipients)
	m.File, m.Level, m.Serial, m.Recipients = h.File, h.Level, h.Serial, h.Recipients
	h.ManifestSize, h.BodySize = 1, 1 // stand for what is sealed below
	room, err := h.signedHeader(id)
	if err != nil {
		return h, err
	}
	table, err := m.encode()
	if err != nil {
		return h, err
	}
	if _, err := dst.Seek(int64(len(room)), io.SeekStart); err != nil {
		return h, err
	}
	size, sum, err := sealed(dst, h.Recipients, func(w io.Writer) error {
		_, err := w.Write(table)
		return err
	})
	if err != nil {
		return h, err
	}
	if size > manifestLimit {
		return h, core.Invalid("session: has read more than a file can list")
	}
	h.ManifestSize, h.ManifestHash = uint32(size), sum
	if size, sum, err = sealed(dst, h.Recipients, func(w io.Writer) error { return m.body(w, content, progress) }); err != nil {
		return h, err
	}
	h.BodySize, h.BodyHash = uint64(size), sum
	head, err := h.signedHeader(id)
	if err != nil {
		return h, err
	}
	if _, err := dst.Seek(0, io.SeekStart); err != nil {
		return h, err
	}
	_, err = dst.Write(head)
	return h, err
}

// body writes the frames of content, each of which must be the one that was measured.
func (m *Manifest) body(w io.Writer, content Content, progress Progress) error {
	var done int64
	f := &framer{emit: func(place int, frame []byte) error {
		if place >= len(m.Frames) || frameHash(place, frame) != m.Frames[place] {
			return ErrChanged
		}
		if _, err := w.Write(binary.BigEndian.AppendUint32(nil, uint32(len(frame)))); err != nil {
			return err
		}
		_, err := w.Write(frame)
		done += int64(len(frame))
		progress.at(done, m.Size)
		return err
	}}
	if err := content(f); err != nil {
		return err
	}
	if err := f.flush(); err != nil {
		return err
	}
	if f.count != len(m.Frames) {
		return ErrChanged
	}
	return nil
}

// sealed writes one sealed section and says how long it is and what its hash is.
func sealed(dst io.Writer, recipients []string, fill func(io.Writer) error) (int64, core.Digest, error) {
	to := make([]age.Recipient, len(recipients))
	for i, r := range recipients {
		key, err := parseSealing(r)
		if err != nil {
			return 0, core.Digest{}, core.Invalid("%s", err)
		}
		to[i] = key
	}
	out := &meter{w: dst, hash: sha256.New()}
	w, err := age.Encrypt(out, to...)
	if err != nil {
		return 0, core.Digest{}, err
	}
	if err := errors.Join(fill(w), w.Close()); err != nil {
		return 0, core.Digest{}, err
	}
	var sum core.Digest
	out.hash.Sum(sum[:0])
	return out.size, sum, nil
}

// meter counts and hashes what passes it.
type meter struct {
	w    io.Writer
	hash hash.Hash
	size int64
}

func (m *meter) Write(p []byte) (int, error) {
	n, err := m.w.Write(p)
	m.hash.Write(p[:n])
	m.size += int64(n)
	return n, err
}
