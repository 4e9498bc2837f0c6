package share

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"encoding/hex"
	"io"
	"slices"
	"time"

	"gatehouse/core"
)

// Limits of a file. What is above is refused before it is read.
const (
	headerLimit    = 256 << 10
	manifestLimit  = 16 << 20 // sealed
	bodyLimit      = 16 << 30 // sealed
	frameSize      = 256 << 10
	framesLimit    = 1 << 16
	recipientLimit = 64
	keyLimit       = 4096
	sealLimit      = 512 << 10 // the part of a sealed section that names recipients
	serialLimit    = 1 << 62
	timeLimit      = 1 << 40 // seconds: what is beyond is no time
)

const (
	fileMark    = "gatehouse-share\n"
	fileVersion = 1
	signDomain  = "gatehouse session file 1\n"
)

// FileID names what was shared: the same one for later copies of one session, level and audience. Of two copies the one
// with the larger serial counts.
type FileID [16]byte

// String is 32 hex digits.
func (id FileID) String() string { return hex.EncodeToString(id[:]) }

// ParseFileID is the inverse of String.
func ParseFileID(s string) (FileID, error) {
	var id FileID
	raw, err := hex.DecodeString(s)
	if err != nil || len(raw) != len(id) {
		return id, core.Invalid("file id: not 32 hex digits")
	}
	copy(id[:], raw)
	return id, nil
}

// Header is the part of a file that anybody can read. It names no title and no source.
type Header struct {
	Level        Level
	File         FileID
	Serial       uint64
	Created      time.Time // to the second
	Expires      time.Time // zero is never
	Sender       string    // signing key
	Recipients   []string  // sealing keys, sorted
	ManifestSize uint32    // sealed, as are all four
	ManifestHash core.Digest
	BodySize     uint64
	BodyHash     core.Digest
}

// Expired reports that the file is past its time.
func (h Header) Expired(now time.Time) bool { return !h.Expires.IsZero() && !now.Before(h.Expires) }

// For reports that somebody is among the recipients.
func (h Header) For(sealing string) bool { return slices.Contains(h.Recipients, sealing) }

func levelCode(l Level) byte {
	switch l {
	case LevelReplay:
		return 1
	case LevelSealed:
		return 2
	case LevelArchive:
		return 3
	default:
		return 0
	}
}

func levelOf(code byte) (Level, bool) {
	for _, l := range Levels() {
		if levelCode(l) == code {
			return l, true
		}
	}
	return "", false
}

// encode is the one form of a header: fields in order, big-endian, keys behind their lengths.
func (h Header) encode() ([]byte, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	sender, err := parseSigning(h.Sender)
	if err != nil {
		return nil, invalid("%s", err)
	}
	b := []byte{levelCode(h.Level)}
	b = append(b, h.File[:]...)
	b = binary.BigEndian.AppendUint64(b, h.Serial)
	b = binary.BigEndian.AppendUint64(b, seconds(h.Created))
	b = binary.BigEndian.AppendUint64(b, seconds(h.Expires))
	b = append(b, sender...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(h.Recipients)))
	for _, r := range h.Recipients {
		b = binary.BigEndian.AppendUint16(b, uint16(len(r)))
		b = append(b, r...)
	}
	b = binary.BigEndian.AppendUint32(b, h.ManifestSize)
	b = append(b, h.ManifestHash[:]...)
	b = binary.BigEndian.AppendUint64(b, h.BodySize)
	return append(b, h.BodyHash[:]...), nil
}

func (h Header) check() error {
	switch {
	case levelCode(h.Level) == 0:
		return invalid("no such level")
	case h.Serial == 0 || h.Serial > serialLimit:
		return invalid("serial %d", h.Serial)
	case len(h.Recipients) == 0 || len(h.Recipients) > recipientLimit:
		return invalid("%d recipients, 1 to %d are possible", len(h.Recipients), recipientLimit)
	case h.ManifestSize == 0 || h.ManifestSize > manifestLimit:
		return invalid("manifest of %d bytes, %d at most", h.ManifestSize, manifestLimit)
	case h.BodySize == 0 || h.BodySize > bodyLimit:
		return invalid("body of %d bytes, %d at most", h.BodySize, int64(bodyLimit))
	case h.Created.IsZero():
		return invalid("no date")
	}
	for i, r := range h.Recipients {
		if i > 0 && h.Recipients[i-1] >= r {
			return invalid("recipients twice or out of order")
		}
		if len(r) > keyLimit {
			return invalid("recipient key too long")
		}
		if _, err := parseSealing(r); err != nil {
			return invalid("%s", err)
		}
	}
	return nil
}

func seconds(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(t.Unix())
}

// cursor takes fields off bytes; after a fault it only gives zeros.
type cursor struct {
	rest  []byte
	short bool
}

func (c *cursor) take(n int) []byte {
	if len(c.rest) < n {
		c.short, c.rest = true, nil
		return make([]byte, n)
	}
	out := c.rest[:n]
	c.rest = c.rest[n:]
	return out
}

func (c *cursor) uint16() uint16 { return binary.BigEndian.Uint16(c.take(2)) }
func (c *cursor) uint32() uint32 { return binary.BigEndian.Uint32(c.take(4)) }
func (c *cursor) uint64() uint64 { return binary.BigEndian.Uint64(c.take(8)) }

func (c *cursor) time() time.Time {
	n := c.uint64()
	if n >= timeLimit {
		c.short = true
	}
	if n == 0 || c.short {
		return time.Time{}
	}
	return time.Unix(int64(n), 0).UTC()
}

// decodeHeader reads the one form and no other: what encodes to other bytes is refused.
func decodeHeader(raw []byte) (Header, error) {
	c := &cursor{rest: raw}
	var h Header
	level, known := levelOf(c.take(1)[0])
	h.Level = level
	copy(h.File[:], c.take(len(h.File)))
	h.Serial = c.uint64()
	h.Created, h.Expires = c.time(), c.time()
	h.Sender = signingText(c.take(ed25519.PublicKeySize))
	n := int(c.uint16())
	if n > recipientLimit {
		return Header{}, invalid("%d recipients, %d at most", n, recipientLimit)
	}
	for range n {
		size := int(c.uint16())
		if size > keyLimit {
			return Header{}, invalid("recipient key too long")
		}
		h.Recipients = append(h.Recipients, string(c.take(size)))
	}
	h.ManifestSize = c.uint32()
	copy(h.ManifestHash[:], c.take(len(h.ManifestHash)))
	h.BodySize = c.uint64()
	copy(h.BodyHash[:], c.take(len(h.BodyHash)))
	if c.short || len(c.rest) != 0 || !known {
		return Header{}, invalid("the header is damaged")
	}
	again, err := h.encode()
	if err != nil {
		return Header{}, err
	}
	if !bytes.Equal(again, raw) {
		return Header{}, invalid("the header is damaged")
	}
	return h, nil
}

// prefixSize is the mark, the version and the length of the header.
const prefixSize = len(fileMark) + 2 + 4

// signedHeader is everything up to the manifest: prefix, header, signature.
func (h Header) signedHeader(id *Identity) ([]byte, error) {
	if id.SigningKey() != h.Sender {
		return nil, invalid("the sender is not who signs")
	}
	raw, err := h.encode()
	if err != nil {
		return nil, err
	}
	b := []byte(fileMark)
	b = binary.BigEndian.AppendUint16(b, fileVersion)
	b = binary.BigEndian.AppendUint32(b, uint32(len(raw)))
	b = append(b, raw...)
	return append(b, id.sign(append([]byte(signDomain), b...))...), nil
}

// readHeader reads and checks what signedHeader made, and says how long it was.
func readHeader(r io.Reader) (Header, int64, error) {
	prefix := make([]byte, prefixSize)
	if _, err := io.ReadFull(r, prefix); err != nil || string(prefix[:len(fileMark)]) != fileMark {
		return Header{}, 0, invalid("not a session file of gatehouse")
	}
	c := &cursor{rest: prefix[len(fileMark):]}
	if v := c.uint16(); v != fileVersion {
		if v > fileVersion {
			return Header{}, 0, &NewerError{Version: int(v), Reads: fileVersion}
		}
		return Header{}, 0, invalid("version %d never was", v)
	}
	size := c.uint32()
	if size == 0 || size > headerLimit {
		return Header{}, 0, invalid("header of %d bytes, %d at most", size, headerLimit)
	}
	rest := make([]byte, int(size)+ed25519.SignatureSize)
	if _, err := io.ReadFull(r, rest); err != nil {
		return Header{}, 0, invalid("it ends within its header")
	}
	raw, signature := rest[:size], rest[size:]
	h, err := decodeHeader(raw)
	if err != nil {
		return Header{}, 0, err
	}
	key, err := parseSigning(h.Sender)
	if err != nil {
		return Header{}, 0, invalid("%s", err)
	}
	message := append(append([]byte(signDomain), prefix...), raw...)
	if !ed25519.Verify(key, message, signature) {
		return Header{}, 0, invalid("the signature is not the sender's")
	}
	return h, int64(len(prefix) + len(rest)), nil
}
