package share

import (
	"crypto/sha256"
	"errors"
	"io"

	"filippo.io/age"

	"gatehouse/core"
)

// File is a session file whose header was read and whose signature holds. It is for one goroutine.
type File struct {
	Header Header
	src    io.ReaderAt
	start  int64 // of the manifest
}

// Open reads the header of a file of size bytes. Faults are *InvalidError and *NewerError.
func Open(src io.ReaderAt, size int64) (*File, error) {
	h, start, err := readHeader(io.NewSectionReader(src, 0, size))
	if err != nil {
		return nil, err
	}
	// All three are bounded, so that the sum is.
	switch whole := start + int64(h.ManifestSize) + int64(h.BodySize); {
	case size < whole:
		return nil, invalid("it is cut off: %d of %d bytes are here", size, whole)
	case size > whole:
		return nil, invalid("%d bytes stand behind its end", size-whole)
	}
	return &File{Header: h, src: src, start: start}, nil
}

func (f *File) manifestSection() *io.SectionReader {
	return io.NewSectionReader(f.src, f.start, int64(f.Header.ManifestSize))
}

func (f *File) bodySection() *io.SectionReader {
	return io.NewSectionReader(f.src, f.start+int64(f.Header.ManifestSize), int64(f.Header.BodySize))
}

// CheckSealed holds both sealed sections against the hashes of the header. It needs no key.
func (f *File) CheckSealed(progress Progress) error {
	total := int64(f.Header.ManifestSize) + int64(f.Header.BodySize)
	for _, section := range []struct {
		name string
		from *io.SectionReader
		want core.Digest
		done int64
	}{
		{"manifest", f.manifestSection(), f.Header.ManifestHash, 0},
		{"body", f.bodySection(), f.Header.BodyHash, int64(f.Header.ManifestSize)},
	} {
		h := sha256.New()
		counted := &counter{r: section.from, tell: func(n int64) { progress.at(section.done+n, total) }}
		if _, err := io.Copy(h, counted); err != nil {
			return err
		}
		var got core.Digest
		if h.Sum(got[:0]); got != section.want {
			return invalid("its %s is not the one that was signed", section.name)
		}
	}
	return nil
}

type counter struct {
	r    io.Reader
	n    int64
	tell func(int64)
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.tell(c.n)
	return n, err
}

// Manifest opens the manifest. Who is not a recipient gets ErrNotRecipient, and learns nothing.
func (f *File) Manifest(id *Identity) (Manifest, error) {
	if !f.Header.For(id.SealingKey()) {
		return Manifest{}, ErrNotRecipient
	}
	opened, err := unsealed(f.manifestSection(), id)
	if err != nil {
		return Manifest{}, err
	}
	m, err := decodeManifest(opened)
	if err != nil {
		return Manifest{}, err
	}
	return m, m.agrees(f.Header)
}

// Content opens the body: a stream of which every frame was checked before its first byte is given. It ends in io.EOF
// only where the body is whole. The kernel asks for it once every unit passed.
func (f *File) Content(id *Identity, m Manifest, progress Progress) (io.Reader, error) {
	opened, err := unsealed(f.bodySection(), id)
	if err != nil {
		return nil, err
	}
	return newFrameReader(opened, m, progress), nil
}

// unsealed decrypts a section. What names recipients is bounded, whoever sealed it.
func unsealed(section io.Reader, id *Identity) (io.Reader, error) {
	bounded := &headBound{r: section, left: sealLimit}
	opened, err := age.Decrypt(bounded, id.sealing)
	var mismatch *age.NoIdentityMatchError
	if errors.As(err, &mismatch) {
		return nil, ErrNotRecipient
	}
	if err != nil {
		return nil, invalid("a sealed part is damaged")
	}
	bounded.open = true
	return opened, nil
}

// headBound fails a reader that goes on for too long before it is opened.
type headBound struct {
	r    io.Reader
	left int
	open bool
}

func (b *headBound) Read(p []byte) (int, error) {
	if b.open {
		return b.r.Read(p)
	}
	if b.left <= 0 {
		return 0, errSpelling
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
