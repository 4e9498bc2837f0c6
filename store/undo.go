package store

import (
	"errors"
	"fmt"
	"io"

	"gatehouse/core"
)

// undoPart is how much of the undo data one row holds: memory stays bounded, whatever the driver streams.
const undoPart = 1 << 20

// StoreUndo implements core.Tx. Data of an earlier claim is replaced.
func (t *tx) StoreUndo(id core.ActionID, data io.Reader) (int64, error) {
	if _, err := t.l.exec(`DELETE FROM undo WHERE action = ?`, int64(id)); err != nil {
		return 0, err
	}
	var total int64
	buf := make([]byte, undoPart)
	for part := 0; ; part++ {
		n, err := io.ReadFull(data, buf)
		total += int64(n)
		if total > core.UndoLimit {
			return total, fmt.Errorf("action %d: undo data is larger than %d MiB", id, core.UndoLimit>>20)
		}
		if n > 0 {
			if _, err := t.l.exec(`INSERT INTO undo (action, part, data) VALUES (?, ?, ?)`, int64(id), part, buf[:n]); err != nil {
				return total, err
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return total, nil
		case err != nil:
			return total, fmt.Errorf("action %d: undo data: %w", id, err)
		case t.ctx.Err() != nil:
			return total, t.ctx.Err()
		}
	}
}

// UndoPart implements core.View.
func (v *view) UndoPart(id core.ActionID, part int) ([]byte, error) {
	var data []byte
	if err := v.l.one(`SELECT data FROM undo WHERE action = ? AND part = ?`, []any{int64(id), part}, &data); err != nil {
		return nil, fmt.Errorf("action %d: undo data: %w", id, err)
	}
	return data, nil
}
