package core

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// undoOf reads what an action kept, a part at a time: no snapshot of the store is held while a driver is at work.
func (k *Kernel) undoOf(ctx context.Context, a Action) UndoSource {
	return func() io.Reader { return &undoReader{ctx: ctx, k: k, action: a.ID, left: a.UndoSize} }
}

// undoFor is undoOf for an action of which only the id is at hand; nil where nothing was kept.
func (k *Kernel) undoFor(ctx context.Context, v actionView, id ActionID) (UndoSource, error) {
	a, err := v.ActionState(id)
	if err != nil || a.UndoSize == 0 {
		return nil, err
	}
	return k.undoOf(ctx, a), nil
}

type undoReader struct {
	ctx    context.Context
	k      *Kernel
	action ActionID
	part   int
	rest   []byte
	left   int64
}

func (u *undoReader) Read(p []byte) (int, error) {
	for len(u.rest) == 0 {
		var data []byte
		err := u.k.store.Read(u.ctx, func(v View) (err error) {
			data, err = v.UndoPart(u.action, u.part)
			return err
		})
		switch {
		case errors.Is(err, ErrNotFound) && u.left == 0:
			return 0, io.EOF
		case errors.Is(err, ErrNotFound):
			return 0, fmt.Errorf("action %d: its undo data is not whole", u.action)
		case err != nil:
			return 0, err
		}
		u.rest, u.part = data, u.part+1
		if u.left -= int64(len(data)); u.left < 0 {
			return 0, fmt.Errorf("action %d: its undo data is longer than it was", u.action)
		}
	}
	n := copy(p, u.rest)
	u.rest = u.rest[n:]
	return n, nil
}
