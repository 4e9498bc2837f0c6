package share_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"testing"

	"gatehouse/core"
	"gatehouse/core/share"
)

// FuzzHeader: what decodes encodes to the same bytes, so that there is one form.
func FuzzHeader(f *testing.F) {
	alice, bob := identity(f, "alice"), identity(f, "bob")
	h := header(bob)
	h.Sender, h.ManifestSize, h.BodySize = alice.SigningKey(), 1, 1
	raw, err := share.EncodeHeader(h)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add(raw[:40])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		h, err := share.DecodeHeader(raw)
		if err != nil {
			return
		}
		again, err := share.EncodeHeader(h)
		if err != nil || !bytes.Equal(again, raw) {
			t.Errorf("decodes, and encodes otherwise: %v", err)
		}
	})
}

func FuzzManifest(f *testing.F) {
	m := manifest()
	m.Level, m.Serial, m.Pieces = share.LevelSealed, 1, 1
	if err := m.Measure(func(w io.Writer) error { _, err := w.Write([]byte("x")); return err }); err != nil {
		f.Fatal(err)
	}
	raw, err := share.EncodeManifest(m)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(`{}`))
	f.Add(bytes.Replace(raw, []byte(`"until":1`), []byte(`"until":1,"rules":[]`), 1))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := share.DecodeManifest(raw)
		if err != nil {
			return
		}
		again, err := share.EncodeManifest(m)
		if err != nil || !bytes.Equal(again, raw) {
			t.Errorf("decodes, and encodes otherwise: %v", err)
		}
	})
}

// FuzzFrames reads any bytes as the body of a manifest over the good ones: either they are those, or it fails.
func FuzzFrames(f *testing.F) {
	plain := unchecked(f, script(20))
	m := manifest()
	if err := m.Measure(func(w io.Writer) error { _, err := w.Write(plain); return err }); err != nil {
		f.Fatal(err)
	}
	good := append(binary.BigEndian.AppendUint32(nil, uint32(len(plain))), plain...)
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add(append(bytes.Clone(good), 0, 0, 0, 0))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := io.ReadAll(share.Frames(bytes.NewReader(raw), m))
		if err == nil && !bytes.Equal(raw, good) {
			t.Error("another body was read to its end")
		}
		if len(got) > 0 && !bytes.Equal(got, plain) {
			t.Error("bytes were handed out that are not those of the manifest")
		}
	})
}

// FuzzPieces: what is read as pieces is written as the same bytes.
func FuzzPieces(f *testing.F) {
	f.Add(unchecked(f, script(3, 4)))
	f.Add([]byte{0, 0, 0, 2, '{', '}'})
	f.Add([]byte{0x7f, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, raw []byte) {
		for want := range 12 {
			var out bytes.Buffer
			w := share.NewPieceWriter(&out)
			err := share.Pieces(bytes.NewReader(raw), want, w.Write)
			if err == nil && !bytes.Equal(out.Bytes(), raw) {
				t.Error("reads, and is written otherwise")
			}
		}
	})
}

// FuzzScan: nothing is found in what was cleaned, and a piece stays a piece.
func FuzzScan(f *testing.F) {
	for _, s := range secrets() {
		f.Add(s)
	}
	s := share.NewScanner()
	f.Fuzz(func(t *testing.T, text string) {
		body, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			t.Fatal(err) // every string is JSON
		}
		clean, found, err := s.Clean(core.Piece{Answer: &core.SharedAnswer{Body: body}})
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > 0 && !json.Valid(clean.Answer.Body) {
			t.Error("no JSON is left")
		}
	})
}
