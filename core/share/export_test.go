package share

import (
	"bytes"
	"encoding/binary"
	"io"

	"gatehouse/core"
)

// Forge writes a file as a sender would who keeps to no rule: the manifest as it is, any bytes as the body, sealed to
// whom it likes.
func Forge(id *Identity, h Header, m Manifest, body []byte, sealTo []string) ([]byte, error) {
	table, err := encodeExact(m)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	put := func(p []byte) (int64, core.Digest, error) {
		return sealed(&b, sealTo, func(w io.Writer) error { _, err := w.Write(p); return err })
	}
	size, sum, err := put(table)
	if err != nil {
		return nil, err
	}
	h.ManifestSize, h.ManifestHash = uint32(size), sum
	if size, sum, err = put(body); err != nil {
		return nil, err
	}
	h.BodySize, h.BodyHash = uint64(size), sum
	head, err := h.signedHeader(id)
	return append(head, b.Bytes()...), err
}

// Unchecked writes pieces in whatever order.
func Unchecked(pieces []core.Piece) ([]byte, error) {
	var b []byte
	for _, p := range pieces {
		raw, err := encodeExact(p)
		if err != nil {
			return nil, err
		}
		b = binary.BigEndian.AppendUint32(b, uint32(len(raw)))
		b = append(b, raw...)
	}
	return b, nil
}

// DecodeHeader and EncodeHeader are for the fuzzer.
func DecodeHeader(raw []byte) (Header, error) { return decodeHeader(raw) }

// EncodeHeader is the inverse of DecodeHeader.
func EncodeHeader(h Header) ([]byte, error) { return h.encode() }

// DecodeManifest is for the fuzzer.
func DecodeManifest(raw []byte) (Manifest, error) { return decodeManifest(bytes.NewReader(raw)) }

// EncodeManifest is the inverse of DecodeManifest.
func EncodeManifest(m Manifest) ([]byte, error) { return m.encode() }

// Frames reads a body in the clear.
func Frames(r io.Reader, m Manifest) io.Reader { return newFrameReader(r, m, nil) }
