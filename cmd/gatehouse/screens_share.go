package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gatehouse/core"
	"gatehouse/core/share"
	"gatehouse/tui"
)

// screenSharer makes and opens session files for the screens, by the same code
// as the commands.
type screenSharer struct {
	a *app
	p *parts
}

var _ tui.Sharer = screenSharer{}

// identity is the one of this machine. There is nowhere on a screen to type a
// passphrase out of sight, so one under a passphrase is left to the commands.
func (s screenSharer) identity() (*share.Identity, error) {
	locked, err := keptIdentity()
	if err != nil {
		return nil, inOneLine(err)
	}
	id, err := locked.Unlock("")
	if errors.Is(err, share.ErrPassphrase) {
		return nil, errors.New("identity: is kept under a passphrase, which the screens do not ask for; use gatehouse session export and gatehouse session open")
	}
	return id, err
}

// rehearsedOpening opens a session of this store for somebody.
type rehearsedOpening struct{ *core.Opening }

// Release lets them in, as far as the record; there is no session that is new.
func (o rehearsedOpening) Release(ctx context.Context) (core.Session, error) {
	return core.Session{}, o.Opening.Release(ctx)
}

// Close does nothing.
func (rehearsedOpening) Close() error { return nil }

// Open begins a rehearsal.
func (s screenSharer) Open(ctx context.Context, session string, person core.PersonID) (tui.Opening, error) {
	o, err := s.p.kernel.Open(ctx, session, person)
	if err != nil {
		return nil, err
	}
	return rehearsedOpening{o}, nil
}

// fileOpening opens a file.
type fileOpening struct {
	*share.Entry
	closeFile func()
}

// Release opens it, without a bar.
func (o fileOpening) Release(ctx context.Context) (core.Session, error) {
	if err := o.Passed(ctx); err != nil {
		return core.Session{}, err
	}
	return o.Entry.Release(ctx, nil)
}

// Close closes the file.
func (o fileOpening) Close() error {
	o.closeFile()
	return nil
}

// OpenFile begins to open a file.
func (s screenSharer) OpenFile(ctx context.Context, path string) (tui.Opening, error) {
	path, err := fromHome(path)
	if err != nil {
		return nil, err
	}
	if notice, err := noticeIn(path); err != nil || notice != nil {
		if err == nil {
			err = errors.New("it is the notice of a withdrawal: gatehouse session open keeps it")
		}
		return nil, err
	}
	f, closeFile, err := openShared(path)
	if err != nil {
		return nil, inOneLine(err)
	}
	entry, err := s.enter(ctx, f)
	if err != nil {
		closeFile()
		return nil, inOneLine(err)
	}
	return fileOpening{entry, closeFile}, nil
}

func (s screenSharer) enter(ctx context.Context, f *share.File) (*share.Entry, error) {
	id, err := s.identity()
	if err != nil {
		return nil, err
	}
	return share.Enter(ctx, s.p.kernel, f, id, s.a.authority(s.p), nil)
}

// fromHome reads a path as it is typed: ~ is the home folder.
func fromHome(path string) (string, error) {
	if rest, is := strings.CutPrefix(path, "~/"); is {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		path = filepath.Join(home, rest)
	}
	return filepath.Abs(path)
}

// Pack looks through what would leave.
func (s screenSharer) Pack(ctx context.Context, r tui.ShareRequest) (tui.Parcel, error) {
	path, err := fromHome(r.Path)
	if err != nil {
		return tui.Parcel{}, err
	}
	if _, err := os.Lstat(path); err == nil {
		return tui.Parcel{}, fmt.Errorf("file %s: exists already; give another name", path)
	}
	id, err := s.identity()
	if err != nil {
		return tui.Parcel{}, err
	}
	request := core.ExportRequest{Session: string(r.Session), For: r.For, Level: r.Level, Until: r.Until, Tenant: id.Person().Tenant}
	d, err := s.p.kernel.PrepareExport(ctx, request, s.a.authority(s.p))
	if err != nil {
		return tui.Parcel{}, err
	}
	parcel, err := share.Pack(ctx, d, id, share.Packing{Redact: r.Redact})
	if err != nil {
		return tui.Parcel{}, err
	}
	out := tui.Parcel{
		Level: d.Level, Until: d.Until, People: d.People, Lines: d.Lines, Findings: parcel.Findings, Counts: parcel.Counts, Path: path,
		Write: func(ctx context.Context) error {
			_, err := leaveAs(ctx, parcel, path, nil)
			return err
		},
	}
	for _, o := range d.Set {
		out.Units = append(out.Units, o.Found.Unit)
	}
	return out, nil
}
