package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"

	"gatehouse/core"
)

var _ core.AccessChecker = (*Driver)(nil)

// Admits looks at the readers that the owner of the connection wrote down: a folder has no list of its own.
func (d *Driver) Admits(_ context.Context, connection core.Connection, _ core.Unit, who core.Observer) core.AccessCheck {
	names := []core.PersonID{who.Person}
	if who.Account != "" {
		names = append(names, core.PersonID(who.Account))
	}
	for _, name := range names {
		if slices.Contains(connection.Readers, name) {
			return core.AccessCheck{Access: core.AccessPassed}
		}
	}
	return core.AccessCheck{Access: core.AccessDenied, Reason: "is not among the readers of the connection"}
}

// Reaches opens the path of a unit below the opener's own folder and reads a name of it.
func (d *Driver) Reaches(ctx context.Context, own core.Connection, unit core.Unit, _ string) core.AccessCheck {
	sub := unit.Name
	if sub == "." {
		sub = ""
	}
	opened, err := d.Open(ctx, own, place{root: own.Root, sub: sub}.String())
	if err != nil {
		return unreached(err)
	}
	defer func() { _ = opened.Close() }() // only read
	name := sub
	if name == "" {
		name = "."
	}
	r, ours := opened.(*resource)
	if !ours {
		return core.AccessCheck{}
	}
	folder, err := r.disk.root.Open(name)
	if err != nil {
		return unreached(err)
	}
	defer func() { _ = folder.Close() }()
	if _, err := folder.Readdirnames(1); err != nil && !errors.Is(err, io.EOF) {
		return unreached(err)
	}
	return core.AccessCheck{Access: core.AccessPassed}
}

// unreached tells what is refused from what does not answer. Missing and out of scope are one answer (GK3).
func unreached(err error) core.AccessCheck {
	switch {
	case errors.Is(err, core.ErrNotFound), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return core.AccessCheck{Access: core.AccessDenied, Reason: "your folder has no such path, or you may not read it"}
	default:
		return core.AccessCheck{Access: core.AccessUnreachable, Reason: "your folder cannot be looked at"}
	}
}
