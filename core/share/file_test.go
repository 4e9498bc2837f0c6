package share_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/share"
)

func TestFile_ComesBackAsItWas(t *testing.T) {
	alice, bob, carol := identity(t, "alice"), identity(t, "bob"), identity(t, "carol")
	for _, sizes := range [][]int{{1}, {10, 300_000}, {256<<10 - 400, 256 << 10, 1}, {1 << 20}} {
		pieces := script(sizes...)
		raw := seal(t, alice, header(bob, carol), manifest(), pieces)
		for _, who := range []*share.Identity{bob, carol} {
			got, m, err := opened(raw, who)
			if err != nil {
				t.Fatalf("%v: %v", sizes, err)
			}
			if asJSON(t, got) != asJSON(t, pieces) {
				t.Errorf("%v: pieces came back otherwise", sizes)
			}
			if m.Set[0].Unit.Name != "payroll-canary" || m.Sender != alice.SigningKey() {
				t.Errorf("%v: got manifest %+v", sizes, m)
			}
		}
	}
}

func TestX4_AnyByteFlipped(t *testing.T) {
	alice, bob := identity(t, "alice"), identity(t, "bob")
	raw := seal(t, alice, header(bob), manifest(), script(50))
	for i := range raw {
		for _, bit := range []byte{1, 0x80} {
			bad := bytes.Clone(raw)
			bad[i] ^= bit
			got, _, err := opened(bad, bob)
			wantInvalid(t, err, "a flipped bit")
			if len(got) != 0 {
				t.Fatalf("byte %d: pieces were handed out", i)
			}
		}
	}
}

func TestX4_CutOffOrLonger(t *testing.T) {
	alice, bob := identity(t, "alice"), identity(t, "bob")
	raw := seal(t, alice, header(bob), manifest(), script(50))
	for n := range raw {
		_, _, err := opened(raw[:n], bob)
		wantInvalid(t, err, "a cut file")
	}
	for _, more := range [][]byte{{0}, []byte("\n"), raw} {
		_, _, err := opened(append(bytes.Clone(raw), more...), bob)
		wantInvalid(t, err, "a longer file")
	}
}

// TestX4_FramesOfTheSenderThatDiffer has a sender sign a body whose frames are not those of its manifest.
func TestX4_FramesOfTheSenderThatDiffer(t *testing.T) {
	alice, bob := identity(t, "alice"), identity(t, "bob")
	const frame = 256 << 10
	plain := make([]byte, 2*frame+100)
	for i := range plain {
		plain[i] = byte(i / frame)
	}
	m := manifest()
	m.Pieces = 1
	if err := m.Measure(func(w io.Writer) error { _, err := w.Write(plain); return err }); err != nil {
		t.Fatal(err)
	}
	frames := [][]byte{plain[:frame], plain[frame : 2*frame], plain[2*frame:]}
	for name, order := range map[string][]int{
		"removed": {0, 2}, "repeated": {0, 0, 1, 2}, "reordered": {1, 0, 2}, "added": {0, 1, 2, 2}, "last missing": {0, 1}, "none": {},
	} {
		var body bytes.Buffer
		for _, i := range order {
			body.Write(binary.BigEndian.AppendUint32(nil, uint32(len(frames[i]))))
			body.Write(frames[i])
		}
		raw := forge(t, alice, header(bob), m, body.Bytes())
		wantInvalid(t, drained(t, raw, bob), name)
	}
	for name, lengths := range map[string][]uint32{"2 GiB": {2 << 30}, "zero": {0, 0, 0, frame}, "short": {1}} {
		var body bytes.Buffer
		for _, n := range lengths {
			body.Write(binary.BigEndian.AppendUint32(nil, n))
		}
		body.Write(plain)
		raw := forge(t, alice, header(bob), m, body.Bytes())
		wantInvalid(t, drained(t, raw, bob), name)
	}
}

// drained reads a body to its end, whatever it says.
func drained(t *testing.T, raw []byte, id *share.Identity) error {
	t.Helper()
	f, err := share.Open(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	body, err := f.Content(id, mustManifest(t, f, id), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(io.Discard, body)
	return err
}

func TestX5_ManifestOfAnotherSender(t *testing.T) {
	alice, bob, carol := identity(t, "alice"), identity(t, "bob"), identity(t, "carol")
	pieces := script(10)
	raw := seal(t, alice, header(bob), manifest(), pieces)
	f, err := share.Open(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Manifest(bob)
	if err != nil {
		t.Fatal(err)
	}
	m.Set = nil // Bob hides the observation, and keeps Alice's name and key over it
	m.Recipients = []string{carol.SealingKey()}
	h := f.Header
	h.Recipients = m.Recipients
	h.Sender = bob.SigningKey()
	_, _, err = opened(forgeWith(t, bob, h, m, nil), carol)
	wantInvalid(t, err, "a manifest signed by somebody else")
	if !strings.Contains(err.Error(), "sender key differs") {
		t.Errorf("got %q, want it to say that the sender key differs", err)
	}
	// Her own words under Alice's key in the header: the signature is not Alice's.
	swapped := seal(t, bob, header(carol), m, pieces)
	key := func(id *share.Identity) []byte {
		k, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(id.SigningKey(), "ed25519:"))
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	swapped = bytes.Replace(swapped, key(bob), key(alice), 1)
	_, _, err = opened(swapped, carol)
	wantInvalid(t, err, "a header under a key that did not sign it")
}

func TestX6_FileForAnother(t *testing.T) {
	alice, bob, carol := identity(t, "alice"), identity(t, "bob"), identity(t, "carol")
	raw := seal(t, alice, header(bob), manifest(), script(10))
	got, m, err := opened(raw, carol)
	if !errors.Is(err, share.ErrNotRecipient) || len(got) != 0 || len(m.Set) != 0 {
		t.Fatalf("got %v, want that the file is not for her", err)
	}
	for _, canary := range []string{"title-canary", "payroll-canary", "alice", "NOTES"} {
		if bytes.Contains(raw, []byte(canary)) {
			t.Errorf("%s stands in the clear", canary)
		}
		if strings.Contains(err.Error(), canary) {
			t.Errorf("the error tells %s", canary)
		}
	}
	// Her key in the header without a stanza of hers does not help either.
	h := header(carol)
	_, _, err = opened(forgeSealedTo(t, alice, h, bob), carol)
	if !errors.Is(err, share.ErrNotRecipient) {
		t.Errorf("got %v, want that the file is not for her", err)
	}
}

func TestX14_LengthsAndCounts(t *testing.T) {
	alice, bob := identity(t, "alice"), identity(t, "bob")
	raw := seal(t, alice, header(bob), manifest(), script(10))
	mark := len("gatehouse-share\n") + 2
	huge := bytes.Clone(raw)
	binary.BigEndian.PutUint32(huge[mark:], 2<<30)
	before := allocated()
	_, err := share.Open(bytes.NewReader(huge), int64(len(huge)))
	wantInvalid(t, err, "a header of 2 GiB")
	if grown := allocated() - before; grown > 1<<20 {
		t.Errorf("took %d bytes to refuse a length", grown)
	}
	newer := bytes.Clone(raw)
	binary.BigEndian.PutUint16(newer[mark-2:], 9)
	_, err = share.Open(bytes.NewReader(newer), int64(len(newer)))
	var later *share.NewerError
	if !errors.As(err, &later) || later.Version != 9 {
		t.Errorf("got %v, want a newer version said to be that", err)
	}
	if _, err := share.Open(bytes.NewReader(nil), 0); err == nil {
		t.Error("an empty file is one")
	}
}

func TestX14_PiecesOutOfOrderOrTwice(t *testing.T) {
	good := script(5, 5)
	for name, pieces := range map[string][]core.Piece{
		"no session":        good[1:],
		"two sessions":      append([]core.Piece{good[0]}, good...),
		"a turn twice":      {good[0], good[1], good[1]},
		"a step twice":      {good[0], good[1], good[3], good[3]},
		"an answer twice":   {good[0], good[1], good[3], good[4], good[4]},
		"answer first":      {good[0], good[1], good[4]},
		"message elsewhere": {good[0], good[2]},
		"nothing in it":     {good[0], {}},
		"behind a proposal": append(append([]core.Piece{}, good...), good[1]),
		"proposal twice":    append(append([]core.Piece{}, good...), good[len(good)-1]),
		"something behind a hole": {
			good[0], good[1], {Hole: &core.Hole{Turn: 1, Step: 1}}, good[5],
		},
		"a running turn": {good[0], {Turn: &core.SharedTurn{Number: 1, State: core.TurnRunning, StartedAt: day(), UpdatedAt: day()}}},
	} {
		if err := content(pieces)(io.Discard); err == nil {
			t.Errorf("%s: was written", name)
		}
		raw := unchecked(t, pieces)
		err := share.Pieces(bytes.NewReader(raw), len(pieces), func(core.Piece) error { return nil })
		wantInvalid(t, err, name)
	}
	raw := unchecked(t, good)
	for _, want := range []int{0, len(good) - 1, len(good) + 1} {
		err := share.Pieces(bytes.NewReader(raw), want, func(core.Piece) error { return nil })
		wantInvalid(t, err, "another number of pieces")
	}
}

// TestX13_WhatNoPieceHas forges what never travels into a piece.
func TestX13_WhatNoPieceHas(t *testing.T) {
	for name, piece := range map[string]string{
		"a rule":           `{"rule":{"binding":"NOTES"}}`,
		"a hook":           `{"hook":{"command":"sh"}}`,
		"credentials":      `{"session":{"name":"s","created_at":"2026-03-01T09:00:00Z","credentials":"x"}}`,
		"an approval":      `{"proposal":{"number":1,"approved":true}}`,
		"a trust flag":     `{"turn":{"number":1,"trusted":true}}`,
		"an environment":   `{"session":{"name":"s","created_at":"2026-03-01T09:00:00Z"},"env":{}}`,
		"a member twice":   `{"session":{"name":"s","name":"t","created_at":"2026-03-01T09:00:00Z"}}`,
		"another spelling": `{"session":{"Name":"s","created_at":"2026-03-01T09:00:00Z"}}`,
		"blanks":           `{"session": {"name":"s","created_at":"2026-03-01T09:00:00Z"}}`,
	} {
		raw := binary.BigEndian.AppendUint32(nil, uint32(len(piece)))
		raw = append(raw, piece...)
		err := share.Pieces(bytes.NewReader(raw), 1, func(core.Piece) error { return nil })
		wantInvalid(t, err, name)
	}
}

// TestP8_ConstantMemory seals and reads 100 MB and looks at what is kept meanwhile.
func TestP8_ConstantMemory(t *testing.T) {
	if testing.Short() {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI runs the whole, without -short")
		}
		t.Skip("seals 100 MB, which a short run leaves out")
	}
	alice, bob := identity(t, "alice"), identity(t, "bob")
	text := strings.Repeat("0123456789abcdef", 1<<16) // 1 MiB
	pieces := 0
	c := func(w io.Writer) error {
		p := share.NewPieceWriter(w)
		pieces = 0
		for _, piece := range script()[:3] {
			if err := p.Write(piece); err != nil {
				return err
			}
			pieces++
		}
		for i := range 100 {
			pieces++
			if err := p.Write(core.Piece{Step: &core.SharedStep{Turn: 1, Number: i + 1, At: day(), Text: text}}); err != nil {
				return err
			}
		}
		return nil
	}
	m := manifest()
	if err := m.Measure(c); err != nil {
		t.Fatal(err)
	}
	m.Pieces = pieces
	file := openTemp(t)
	base := inUse()
	peak := uint64(0)
	look := func(done, total int64) {
		if done%(8<<20) == 0 || done == total {
			peak = max(peak, inUse())
		}
	}
	if _, err := share.Seal(file, alice, header(bob), m, c, look); err != nil {
		t.Fatal(err)
	}
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	f, err := share.Open(file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	if err := f.CheckSealed(nil); err != nil {
		t.Fatal(err)
	}
	body, err := f.Content(bob, mustManifest(t, f, bob), look)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := share.Pieces(body, pieces, func(core.Piece) error { n++; return nil }); err != nil {
		t.Fatal(err)
	}
	if n != pieces || peak == 0 {
		t.Fatalf("read %d pieces of %d", n, pieces)
	}
	if peak > base && peak-base > 24<<20 {
		t.Errorf("kept %d MB for a body of %d MB", (peak-base)>>20, m.Size>>20)
	}
}

func inUse() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

func allocated() uint64 {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.TotalAlloc
}

// full is a file on a disk with so much room.
type full struct {
	buffer
	room int
}

var errFull = errors.New("no space left")

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return f.buffer.Write(p)
}

// TestSeal_FullDisk: the header comes last, so that what a full disk leaves is no file.
func TestSeal_FullDisk(t *testing.T) {
	alice, bob := identity(t, "alice"), identity(t, "bob")
	pieces := script(100_000)
	whole := len(seal(t, alice, header(bob), manifest(), pieces))
	m := manifest()
	m.Pieces = len(pieces)
	if err := m.Measure(content(pieces)); err != nil {
		t.Fatal(err)
	}
	for room := 0; room < whole; room += 997 {
		f := &full{room: room}
		if _, err := share.Seal(f, alice, header(bob), m, content(pieces), nil); !errors.Is(err, errFull) {
			t.Fatalf("room for %d of %d: got %v, want a full disk", room, whole, err)
		}
		_, err := share.Open(bytes.NewReader(f.data), int64(len(f.data)))
		wantInvalid(t, err, "what is left")
	}
}
