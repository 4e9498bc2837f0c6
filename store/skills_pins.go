package store

import (
	"context"
	"errors"
	"time"

	"gatehouse/core"
	"gatehouse/skills"
)

// SkillPin is a collection that a person pinned to a session.
type SkillPin struct {
	Session    core.SessionID
	Collection skills.CollectionID
	By         core.PersonID
	At         time.Time
}

// Pinned lists the collections that people pinned to a session, by id.
func (s *Shelf) Pinned(ctx context.Context, session core.SessionID) ([]skills.CollectionID, error) {
	pins, err := s.Pins(ctx, session)
	out := make([]skills.CollectionID, len(pins))
	for i, p := range pins {
		out[i] = p.Collection
	}
	return out, err
}

// Pins lists the pins of a session by collection, or, for none, of all.
func (s *Shelf) Pins(ctx context.Context, session core.SessionID) ([]SkillPin, error) {
	var out []SkillPin
	err := s.db.snapshot(ctx, func(v *view) error {
		return v.l.each(ctx, `SELECT session, collection, by, at FROM skill_pin WHERE ?1 = '' OR session = ?1 ORDER BY session, collection`,
			[]any{string(session)}, func(row scanner) error {
				var p SkillPin
				var at int64
				err := row.Scan(&p.Session, &p.Collection, &p.By, &at)
				p.At = moment(at)
				out = append(out, p)
				return err
			})
	})
	return out, err
}

// Pin pins a collection to a session, and reports whether that is new.
func (s SkillTx) Pin(p SkillPin) (bool, error) {
	n, err := s.t.l.exec(`INSERT INTO skill_pin (session, collection, by, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		string(p.Session), string(p.Collection), string(p.By), nanos(p.At))
	return n > 0, err
}

// Unpin takes a pin away, and reports whether there was one.
func (s SkillTx) Unpin(session core.SessionID, collection skills.CollectionID) (bool, error) {
	n, err := s.t.l.exec(`DELETE FROM skill_pin WHERE session = ? AND collection = ?`, string(session), string(collection))
	return n > 0, err
}

// LastUse is when an operator last used a skill, or nil.
func (s *Shelf) LastUse(ctx context.Context, account skills.AccountID, ref skills.Ref) (*skills.Use, error) {
	use := skills.Use{Account: account, Ref: ref}
	var at int64
	err := s.db.snapshot(ctx, func(v *view) error {
		return v.l.one(`SELECT sha256, at, text FROM skill_use WHERE account = ? AND collection = ? AND path = ?`,
			[]any{string(account), string(ref.Collection), ref.Path}, &use.SHA256, &at, &use.Text)
	})
	if errors.Is(err, core.ErrNotFound) {
		return nil, nil
	}
	use.At = moment(at)
	return &use, err
}

// Used keeps the last use of a skill by an operator.
func (s *Shelf) Used(ctx context.Context, use skills.Use) error {
	return s.db.Write(ctx, func(ct core.Tx) error {
		t, err := SkillsIn(ct)
		if err != nil {
			return err
		}
		_, err = t.t.l.exec(`INSERT INTO skill_use (account, collection, path, sha256, at, text) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET sha256 = excluded.sha256, at = excluded.at, text = excluded.text`,
			string(use.Account), string(use.Ref.Collection), use.Ref.Path, use.SHA256, nanos(use.At), use.Text)
		return err
	})
}

// Service is what units of this library carry as their service. No other store's library has it.
func (s *Shelf) Service(ctx context.Context) (service string, err error) {
	err = s.db.snapshot(ctx, func(v *view) error { return v.l.one(`SELECT service FROM skill_library`, nil, &service) })
	return service, err
}
