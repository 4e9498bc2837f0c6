package share

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"time"

	"gatehouse/core"
)

// Parcel is what leaves, measured and looked through: what a person is shown before a byte is written.
type Parcel struct {
	Level      Level
	Manifest   Manifest
	Findings   []Finding // what looks like a secret; taken out of what leaves where Redact was asked for
	Counts     Counts
	Parts      []Part // what leaves, in its order; the first 5,000
	Departure  *core.Departure
	id         *Identity
	recipients []string
	expires    time.Time
	scanner    *Scanner // nil takes nothing out
}

// Counts says how much of what leaves.
type Counts struct {
	Turns     int   `json:"turns"`
	Messages  int   `json:"messages"`
	Steps     int   `json:"steps"`
	Answers   int   `json:"answers"`
	Holes     int   `json:"holes"`
	Proposals int   `json:"proposals"`
	Bytes     int64 `json:"bytes"`
}

func (c *Counts) count(p core.Piece) {
	switch {
	case p.Turn != nil:
		c.Turns++
	case p.Message != nil:
		c.Messages++
	case p.Step != nil:
		c.Steps++
	case p.Answer != nil:
		c.Answers++
	case p.Hole != nil:
		c.Holes++
	case p.Proposal != nil:
		c.Proposals++
	}
}

// SecretsError is a session that holds what looks like secrets. They are named by their places alone.
type SecretsError struct{ Findings []Finding }

func (e *SecretsError) Error() string {
	f := e.Findings[0]
	more := ""
	if n := len(e.Findings) - 1; n > 0 {
		more = fmt.Sprintf(", and in %d more places", n)
	}
	return fmt.Sprintf("share: refused, %s holds what looks like a %s%s", f.Place, f.Kind, more)
}

// Packing says how a departure becomes a file.
type Packing struct {
	Expires time.Time // zero is never
	Redact  bool      // take out what looks like a secret, and list it, instead of refusing
}

// Pack looks through everything that leaves and measures it. Nothing is written. What looks like a secret is a
// *SecretsError, or, with Redact, is taken out and listed; in the name of a source it always refuses, for that name has
// to stay. An archive stays with its owner and is not looked through.
func Pack(ctx context.Context, d *core.Departure, id *Identity, p Packing) (*Parcel, error) {
	out := &Parcel{Level: d.Level, Departure: d, id: id, expires: p.Expires}
	for _, person := range d.People {
		if err := CheckPerson(person); err != nil {
			return nil, err
		}
		out.recipients = append(out.recipients, person.Sealing)
	}
	if d.Level == LevelArchive {
		out.recipients = []string{id.SealingKey()}
	}
	slices.Sort(out.recipients)
	out.Manifest = Manifest{
		Name: id.Person().ID, Tenant: id.Person().Tenant, Until: d.Until, Set: setOf(d.Set), Checkpoint: d.Checkpoint,
		Level: d.Level, Recipients: out.recipients, Sender: id.SigningKey(),
	}
	if d.Level != LevelArchive {
		out.scanner = NewScanner()
		if found := out.scanner.names(out.Manifest); len(found) > 0 {
			return nil, &SecretsError{Findings: found}
		}
	}
	if err := out.measure(ctx); err != nil {
		return nil, err
	}
	if len(out.Findings) > 0 && !p.Redact {
		return nil, &SecretsError{Findings: out.Findings}
	}
	for _, f := range out.Findings[:min(len(out.Findings), redactionLimit)] {
		out.Manifest.Redactions = append(out.Manifest.Redactions, Redaction(f))
	}
	return out, nil
}

func setOf(set []core.SharedObservation) []SharedUnit {
	out := make([]SharedUnit, len(set))
	for i, o := range set {
		out[i] = SharedUnit{
			Unit: o.Found.Unit, Permission: o.Found.Permission, Labels: o.Found.Labels, OwnerOnly: o.Found.OwnerOnly,
			Public: o.Public, FirstSeenAt: o.FirstSeenAt.UTC(), Turn: o.Turn,
		}
	}
	return out
}

// names looks for secrets in the names of sources.
func (s *Scanner) names(m Manifest) []Finding {
	var out []Finding
	for i, u := range m.Set {
		for _, text := range append([]string{u.Unit.Gatekeeper, u.Unit.Service, u.Unit.Name, u.Permission}, u.Labels...) {
			if _, kinds := s.text(text, false); len(kinds) > 0 {
				out = append(out, Finding{Place: fmt.Sprintf("the name of source %d", i+1), Kind: kinds[0], Count: len(kinds)})
			}
		}
	}
	return out
}

// measure runs everything that leaves once.
func (p *Parcel) measure(ctx context.Context) error {
	p.Counts, p.Findings, p.Parts, p.Manifest.Pieces = Counts{}, nil, nil, 0
	var unlisted error
	err := p.Manifest.Measure(p.content(ctx, func(piece core.Piece, found []Finding) {
		p.Counts.count(piece)
		p.Findings = append(p.Findings, found...)
		p.Manifest.Pieces++
		if len(p.Parts) < partsLimit && unlisted == nil {
			var part Part
			part, unlisted = partOf(piece)
			p.Parts = append(p.Parts, part)
		}
	}))
	p.Counts.Bytes = p.Manifest.Size
	if err == nil {
		err = unlisted
	}
	return err
}

func (p *Parcel) content(ctx context.Context, tell func(core.Piece, []Finding)) Content {
	return func(w io.Writer) error {
		out := NewPieceWriter(w)
		return p.Departure.Each(ctx, func(piece core.Piece) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			var found []Finding
			if p.scanner != nil {
				var err error
				if piece, found, err = p.scanner.Clean(piece); err != nil {
					return err
				}
			}
			tell(piece, found)
			return out.Write(piece)
		})
	}
}

// Digest is over what leaves, as the record names it.
func (p *Parcel) Digest() string {
	h := sha256.New()
	for _, f := range p.Manifest.Frames {
		h.Write(f[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Leaving is what the kernel is told before a byte is written.
func (p *Parcel) Leaving(destination string, rand io.Reader) core.Leaving {
	return core.Leaving{
		Destination: destination, Audience: p.recipients, Bytes: p.Counts.Bytes, Digest: p.Digest(),
		NewFile: func() (string, error) {
			var id FileID
			_, err := io.ReadFull(rand, id[:])
			return id.String(), err
		},
	}
}

// Write seals what was packed, under the id and serial that the kernel gave.
func (p *Parcel) Write(ctx context.Context, dst io.WriteSeeker, s core.Share, progress Progress) (Header, error) {
	file, err := ParseFileID(s.File)
	if err != nil {
		return Header{}, err
	}
	h := Header{Level: p.Level, File: file, Serial: s.Serial, Created: s.At.UTC().Truncate(time.Second), Expires: p.expires.UTC().Truncate(time.Second), Recipients: p.recipients}
	if p.expires.IsZero() {
		h.Expires = time.Time{}
	}
	return Seal(dst, p.id, h, p.Manifest, p.content(ctx, func(core.Piece, []Finding) {}), progress)
}
