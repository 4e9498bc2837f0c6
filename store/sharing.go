package store

import (
	"database/sql"
	"fmt"
	"time"

	"gatehouse/core"
)

const shareColumns = `session, level, audience, file, serial, manifest, at`

func scanShare(row scanner, s *core.Share) error {
	var serial, at int64
	err := row.Scan(&s.Session, &s.Level, &s.Audience, &s.File, &serial, &s.Manifest, &at)
	s.Serial, s.At = uint64(serial), moment(at)
	return err
}

// Share implements core.View.
func (v *view) Share(session core.SessionID, level core.ShareLevel, audience string) (core.Share, error) {
	var s core.Share
	err := v.find(`SELECT `+shareColumns+` FROM share WHERE session = ? AND level = ? AND audience = ?`, []any{session, level, audience},
		func(row scanner) error { return scanShare(row, &s) })
	return s, err
}

// ShareOf implements core.View.
func (v *view) ShareOf(file string) (core.Share, error) {
	var s core.Share
	err := v.find(`SELECT `+shareColumns+` FROM share WHERE file = ?`, []any{file}, func(row scanner) error { return scanShare(row, &s) })
	return s, err
}

// PutShare implements core.Tx.
func (t *tx) PutShare(s core.Share) error {
	_, err := t.l.exec(`INSERT INTO share (`+shareColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (session, level, audience) DO UPDATE SET serial = excluded.serial, manifest = excluded.manifest, at = excluded.at`,
		s.Session, s.Level, s.Audience, s.File, int64(s.Serial), s.Manifest, nanos(s.At))
	return err
}

// SeenFiles implements core.View.
func (v *view) SeenFiles(file string) ([]core.SeenFile, error) {
	var out []core.SeenFile
	err := v.l.each(v.ctx, `SELECT sender, file, serial, revoked, at FROM seen_file WHERE file = ? ORDER BY sender`, []any{file},
		func(row scanner) error {
			var s core.SeenFile
			var serial, revoked, at int64
			err := row.Scan(&s.Sender, &s.File, &serial, &revoked, &at)
			s.Serial, s.Revoked, s.At = uint64(serial), uint64(revoked), moment(at)
			out = append(out, s)
			return err
		})
	return out, err
}

// PutSeenFile implements core.Tx.
func (t *tx) PutSeenFile(s core.SeenFile) error {
	_, err := t.l.exec(`INSERT INTO seen_file (sender, file, serial, revoked, at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (sender, file) DO UPDATE SET serial = max(serial, excluded.serial), revoked = max(revoked, excluded.revoked),
			at = excluded.at`, s.Sender, s.File, int64(s.Serial), int64(s.Revoked), nanos(s.At))
	return err
}

// Imported implements core.View.
func (v *view) Imported(session core.SessionID) (core.Imported, error) {
	var i core.Imported
	err := v.find(`SELECT session, file, serial, level, sender, until, at, continued_at FROM imported WHERE session = ?`, []any{session},
		func(row scanner) error {
			var serial, at, continued int64
			err := row.Scan(&i.Session, &i.File, &serial, &i.Level, &i.Sender, &i.Until, &at, &continued)
			i.Serial, i.At, i.ContinuedAt = uint64(serial), moment(at), moment(continued)
			return err
		})
	return i, err
}

// InsertImported implements core.Tx.
func (t *tx) InsertImported(i core.Imported) error {
	_, err := t.l.exec(`INSERT INTO imported (session, file, serial, level, sender, until, at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		i.Session, i.File, int64(i.Serial), i.Level, i.Sender, i.Until, nanos(i.At))
	if err != nil {
		return fmt.Errorf("session %s: %w", i.Session, err)
	}
	_, err = t.l.exec(`UPDATE session SET read_only = 1 WHERE id = ?`, i.Session)
	return err
}

// ContinueImported implements core.Tx.
func (t *tx) ContinueImported(session core.SessionID, at time.Time) (bool, error) {
	n, err := t.l.exec(`UPDATE imported SET continued_at = ? WHERE session = ? AND continued_at = 0`, nanos(at), session)
	if err != nil || n == 0 {
		return false, err
	}
	_, err = t.l.exec(`UPDATE session SET read_only = 0 WHERE id = ?`, session)
	return true, err
}

// Proposals implements core.View.
func (v *view) Proposals(session core.SessionID) ([]core.StoredProposal, error) {
	var out []core.StoredProposal
	err := v.l.each(v.ctx, `SELECT body, action FROM proposal WHERE session = ? ORDER BY number`, []any{session}, func(row scanner) error {
		var p core.StoredProposal
		var body string
		if err := row.Scan(&body, &p.Action); err != nil {
			return err
		}
		err := decode(sql.NullString{String: body, Valid: true}, &p.Proposal)
		out = append(out, p)
		return err
	})
	return out, err
}

// InsertProposal implements core.Tx.
func (t *tx) InsertProposal(session core.SessionID, p core.Proposal) error {
	body, err := encode(p)
	if err != nil {
		return err
	}
	_, err = t.l.exec(`INSERT INTO proposal (session, number, body) VALUES (?, ?, ?)`, session, p.Number, body)
	return err
}

// SubmitProposal implements core.Tx.
func (t *tx) SubmitProposal(session core.SessionID, number int, action core.ActionID) error {
	n, err := t.l.exec(`UPDATE proposal SET action = ? WHERE session = ? AND number = ?`, int64(action), session, number)
	if err == nil && n == 0 {
		return fmt.Errorf("proposal %d of session %s: %w", number, session, core.ErrNotFound)
	}
	return err
}

// TurnSteps implements core.View.
func (v *view) TurnSteps(session core.SessionID, turn int) ([]core.Step, error) {
	return v.steps(`session = ? AND turn = ? ORDER BY number`, session, turn)
}

// TurnMessages implements core.View.
func (v *view) TurnMessages(session core.SessionID, turn int) ([]core.Message, error) {
	return v.messages(`session = ? AND turn = ?`, session, turn)
}

// TurnAnswers implements core.View.
func (v *view) TurnAnswers(session core.SessionID, turn int) ([]core.Answer, error) {
	return v.answers(`session = ? AND turn = ?`, session, turn)
}
