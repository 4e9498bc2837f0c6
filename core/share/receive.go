package share

import (
	"context"

	"gatehouse/core"
)

// Entry is one attempt to open a file, every check of which is the kernel's. It is for one goroutine.
type Entry struct {
	File     *File
	Manifest Manifest
	*core.FileEntry
	id *Identity
}

// Enter takes a file as far as the verdicts (sharing 3): its hashes, who sent it and whether it still stands, whether it is
// for whoever opens, and every unit of its manifest. The body stays sealed.
func Enter(ctx context.Context, k *core.Kernel, f *File, id *Identity, by core.Authority, progress Progress) (*Entry, error) {
	if err := f.CheckSealed(progress); err != nil {
		return nil, err
	}
	if err := f.known(ctx, k, id.SigningKey()); err != nil {
		return nil, err
	}
	entry, err := k.Arrive(ctx, core.Arrival{
		File: f.Header.File.String(), Level: f.Header.Level, Serial: f.Header.Serial, Sender: f.Header.Sender,
		Created: f.Header.Created, Expires: f.Header.Expires, Own: id.SigningKey(),
	}, by)
	if err != nil {
		return nil, err
	}
	m, err := f.Manifest(id)
	if err != nil {
		return nil, err
	}
	err = entry.Check(ctx, core.Contents{
		Until: m.Until, Tenant: m.Tenant, Mine: id.Person().Tenant, Set: m.observations(), Manifest: f.Header.ManifestHash.String(),
	})
	return &Entry{File: f, Manifest: m, FileEntry: entry, id: id}, err
}

// known holds a file against the copy that this store made of it, if it did (X5).
func (f *File) known(ctx context.Context, k *core.Kernel, own string) error {
	made, here, err := k.MadeHere(ctx, f.Header.File.String())
	if err != nil || !here {
		return err
	}
	if f.Header.Sender != own {
		return invalid("sender key differs: this store made that file of session %s, and somebody else signed it", made.Session)
	}
	if made.Serial == f.Header.Serial && made.Manifest != "" && made.Manifest != f.Header.ManifestHash.String() {
		return invalid("it is not the one that this store made of session %s: its manifest is another", made.Session)
	}
	return nil
}

func (m Manifest) observations() []core.SharedObservation {
	out := make([]core.SharedObservation, len(m.Set))
	for i, u := range m.Set {
		out[i] = core.SharedObservation{Public: u.Public, Observation: core.Observation{
			Found:       core.Found{Unit: u.Unit, Permission: u.Permission, Labels: u.Labels, OwnerOnly: u.OwnerOnly},
			FirstSeenAt: u.FirstSeenAt, Turn: u.Turn,
		}}
	}
	return out
}

// Release runs every check again and makes the session (sharing 3).
func (e *Entry) Release(ctx context.Context, progress Progress) (core.Session, error) {
	return e.FileEntry.Release(ctx, func(each func(core.Piece) error) error {
		body, err := e.File.Content(e.id, e.Manifest, progress)
		if err != nil {
			return err
		}
		return Pieces(body, e.Manifest.Pieces, each)
	})
}
