package share_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/share"
)

// buffer is a file in memory that can be written from the start again.
type buffer struct {
	data []byte
	at   int64
}

func (b *buffer) Write(p []byte) (int, error) {
	if grow := int(b.at) + len(p) - len(b.data); grow > 0 {
		b.data = append(b.data, make([]byte, grow)...)
	}
	copy(b.data[b.at:], p)
	b.at += int64(len(p))
	return len(p), nil
}

func (b *buffer) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekStart {
		return 0, errors.New("only from the start")
	}
	b.at = offset
	return offset, nil
}

func identity(t testing.TB, name string) *share.Identity {
	t.Helper()
	id, err := share.NewIdentity(rand.Reader, core.PersonID(name), "")
	if err != nil {
		t.Fatal(err)
	}
	return id
}

var _ io.WriteSeeker = (*buffer)(nil)

func day() time.Time { return time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC) }

func header(to ...*share.Identity) share.Header {
	h := share.Header{Level: share.LevelSealed, File: share.FileID{1, 2, 3}, Serial: 1, Created: day()}
	for _, id := range to {
		h.Recipients = append(h.Recipients, id.SealingKey())
	}
	return h
}

func manifest() share.Manifest {
	unit := core.Unit{Gatekeeper: "memory", Service: "notes", Name: "payroll-canary"}
	return share.Manifest{
		Name: "alice", Until: 1, Set: []share.SharedUnit{{Unit: unit, Permission: "read", FirstSeenAt: day(), Turn: 1}},
	}
}

// script is a session of some pieces: one turn, and a step of so many bytes of text for each of the sizes.
func script(sizes ...int) []core.Piece {
	pieces := []core.Piece{
		{Session: &core.SharedSession{Name: "title-canary", CreatedAt: day()}},
		{Turn: &core.SharedTurn{Number: 1, State: core.TurnDone, End: core.TurnEndDone, Model: "m", StartedAt: day(), UpdatedAt: day()}},
		{Message: &core.SharedMessage{Turn: 1, Step: 1, By: "alice", Text: "do", At: day()}},
	}
	for i, n := range sizes {
		pieces = append(pieces,
			core.Piece{Step: &core.SharedStep{
				Turn: 1, Number: i + 1, At: day(), Text: string(bytes.Repeat([]byte{'a' + byte(i%26)}, n)),
				Calls: []core.ToolCall{{ID: share.CallID(0), Name: "NOTES.list", Args: "{}"}},
			}},
			core.Piece{Answer: &core.SharedAnswer{Turn: 1, Step: i + 1, Call: share.CallID(0), Body: json.RawMessage(`{"status":"ok"}`)}},
		)
	}
	return append(pieces, core.Piece{Proposal: &core.Proposal{
		Number: 1, Turn: 1, Gatekeeper: "memory", Binding: "NOTES", Method: "create", Args: json.RawMessage(`{}`), Kind: "create",
		Lane: core.LaneSimulate, Title: "t", CreatedAt: day(),
	}})
}

func content(pieces []core.Piece) share.Content {
	return func(w io.Writer) error {
		p := share.NewPieceWriter(w)
		for _, piece := range pieces {
			if err := p.Write(piece); err != nil {
				return err
			}
		}
		return nil
	}
}

// seal makes a file.
func seal(t testing.TB, from *share.Identity, h share.Header, m share.Manifest, pieces []core.Piece) []byte {
	t.Helper()
	m.Pieces = len(pieces)
	return sealContent(t, from, h, m, content(pieces))
}

func sealContent(t testing.TB, from *share.Identity, h share.Header, m share.Manifest, c share.Content) []byte {
	t.Helper()
	if err := m.Measure(c); err != nil {
		t.Fatal(err)
	}
	var b buffer
	if _, err := share.Seal(&b, from, h, m, c, nil); err != nil {
		t.Fatal(err)
	}
	return b.data
}

// opened reads a file to its end and gives its pieces; they count for nothing where there is an error.
func opened(raw []byte, id *share.Identity) ([]core.Piece, share.Manifest, error) {
	f, err := share.Open(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, share.Manifest{}, err
	}
	if err := f.CheckSealed(nil); err != nil {
		return nil, share.Manifest{}, err
	}
	return unsealed(f, id)
}

// unsealed is opened without a look at the hashes of the header.
func unsealed(f *share.File, id *share.Identity) ([]core.Piece, share.Manifest, error) {
	m, err := f.Manifest(id)
	if err != nil {
		return nil, m, err
	}
	body, err := f.Content(id, m, nil)
	if err != nil {
		return nil, m, err
	}
	var out []core.Piece
	err = share.Pieces(body, m.Pieces, func(p core.Piece) error {
		out = append(out, p)
		return nil
	})
	return out, m, err
}

func wantInvalid(t testing.TB, err error, what string) {
	t.Helper()
	var bad *share.InvalidError
	var newer *share.NewerError
	if !errors.As(err, &bad) && !errors.As(err, &newer) {
		t.Fatalf("%s: got %v, want it refused as not valid", what, err)
	}
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// forge makes a file whose body is not what its manifest lists.
func forge(t testing.TB, from *share.Identity, h share.Header, m share.Manifest, body []byte) []byte {
	t.Helper()
	h.Sender, m.Sender = from.SigningKey(), from.SigningKey()
	m.File, m.Level, m.Serial, m.Recipients = h.File, h.Level, h.Serial, h.Recipients
	return forgeWith(t, from, h, m, body)
}

// forgeWith is forge with the manifest as it is.
func forgeWith(t testing.TB, from *share.Identity, h share.Header, m share.Manifest, body []byte) []byte {
	t.Helper()
	return forged(t, from, h, m, body, h.Recipients)
}

// forgeSealedTo makes a file that names other recipients than those whom it is sealed to.
func forgeSealedTo(t testing.TB, from *share.Identity, h share.Header, to *share.Identity) []byte {
	t.Helper()
	h.Sender = from.SigningKey()
	return forged(t, from, h, manifest(), []byte("body"), []string{to.SealingKey()})
}

func forged(t testing.TB, from *share.Identity, h share.Header, m share.Manifest, body []byte, to []string) []byte {
	t.Helper()
	raw, err := share.Forge(from, h, m, body, to)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func unchecked(t testing.TB, pieces []core.Piece) []byte {
	t.Helper()
	raw, err := share.Unchecked(pieces)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func openTemp(t testing.TB) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "file.gatehouse"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func mustManifest(t testing.TB, f *share.File, id *share.Identity) share.Manifest {
	t.Helper()
	m, err := f.Manifest(id)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
