package share

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"time"

	"gatehouse/core"
)

// Limits of a manifest.
const (
	setLimit       = 100_000
	redactionLimit = 100_000
	wordLimit      = 4096 // bytes of one name, label or place
)

// Manifest is the sealed table of contents: what has to be checked before the body may be opened, and what the body is.
type Manifest struct {
	File       FileID          `json:"file"`
	Level      Level           `json:"level"`
	Serial     uint64          `json:"serial"`
	Sender     string          `json:"sender"` // signing key, as in the header
	Name       core.PersonID   `json:"name"`   // of the sender, as they call themselves
	Tenant     string          `json:"tenant"`
	Recipients []string        `json:"recipients"`
	Until      int             `json:"until"` // the last turn that is in it
	Set        []SharedUnit    `json:"set"`   // what was read by then, in order of first sight
	Checkpoint core.Checkpoint `json:"checkpoint"`
	Redactions []Redaction     `json:"redactions"`
	Pieces     int             `json:"pieces"`
	Size       int64           `json:"size"` // of all frames
	Frames     []core.Digest   `json:"frames"`
}

// SharedUnit is an observation as it travels.
type SharedUnit struct {
	Unit        core.Unit `json:"unit"`
	Permission  string    `json:"permission"`
	Labels      []string  `json:"labels"`
	OwnerOnly   bool      `json:"owner_only"`
	Public      bool      `json:"public"` // everybody of the tenant may read it
	FirstSeenAt time.Time `json:"first_seen_at"`
	Turn        int       `json:"turn"`
}

// Redaction says that something that looked like a secret was taken out, and where.
type Redaction struct {
	Place string `json:"place"`
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}

// MarshalText makes a file id hex in JSON.
func (id FileID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (id *FileID) UnmarshalText(text []byte) error {
	parsed, err := ParseFileID(string(text))
	*id = parsed
	return err
}

func (m Manifest) encode() ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	return encodeExact(m)
}

func decodeManifest(r io.Reader) (Manifest, error) {
	raw, err := io.ReadAll(io.LimitReader(r, manifestLimit+1))
	if err != nil || len(raw) > manifestLimit {
		return Manifest{}, invalid("the manifest is damaged")
	}
	var m Manifest
	if err := decodeExact(raw, &m); err != nil {
		return Manifest{}, invalid("the manifest is damaged: %s", err)
	}
	return m, m.check()
}

func (m Manifest) check() error {
	switch {
	case levelCode(m.Level) == 0:
		return invalid("no such level in the manifest")
	case len(m.Set) > setLimit, len(m.Redactions) > redactionLimit, len(m.Frames) > framesLimit:
		return invalid("the manifest lists too much")
	case len(m.Frames) == 0:
		return invalid("a body without frames")
	case m.Size < 1 || m.Size > bodyLimit || framesOf(m.Size) != len(m.Frames):
		return invalid("%d bytes in %d frames do not add up", m.Size, len(m.Frames))
	case m.Pieces < 1 || m.Until < 0:
		return invalid("a manifest without pieces")
	}
	seen := make(map[core.Unit]bool, len(m.Set))
	for _, u := range m.Set {
		switch {
		case u.Unit.Gatekeeper == "" || u.Unit.Name == "" || u.Turn < 0:
			return invalid("a unit without a name")
		case seen[u.Unit]:
			return invalid("a unit twice")
		case len(u.Unit.Gatekeeper)+len(u.Unit.Service)+len(u.Unit.Name)+len(u.Permission) > wordLimit:
			return invalid("a unit with too long a name")
		case !slices.IsSorted(u.Labels) || len(u.Labels) > 64:
			return invalid("labels out of order")
		}
		seen[u.Unit] = true
	}
	return nil
}

// agrees holds a manifest against the header it came under.
func (m Manifest) agrees(h Header) error {
	switch {
	case m.Sender != h.Sender:
		return invalid("sender key differs: it was made by %s and is signed by somebody else", m.Name)
	case m.File != h.File || m.Level != h.Level || m.Serial != h.Serial || !slices.Equal(m.Recipients, h.Recipients):
		return invalid("header and manifest are of two files")
	}
	return nil
}

// Labels are those of the whole set, sorted.
func (m Manifest) Labels() []string {
	var out []string
	for _, u := range m.Set {
		out = append(out, u.Labels...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// encodeExact is the one JSON of a value: its fields in order, without blanks.
func encodeExact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// decodeExact reads what encodeExact wrote and nothing else: an unknown field, one twice, or another spelling is refused.
func decodeExact(raw []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	again, err := encodeExact(into)
	if err != nil {
		return err
	}
	if !bytes.Equal(again, raw) {
		return errSpelling
	}
	return nil
}
