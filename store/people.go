package store

import (
	"fmt"

	"gatehouse/core"
)

const personColumns = `id, signing, sealing, tenant, added_by, added_at`

func scanPerson(row scanner, p *core.Person) error {
	var added int64
	err := row.Scan(&p.ID, &p.Signing, &p.Sealing, &p.Tenant, &p.AddedBy, &added)
	p.AddedAt = moment(added)
	return err
}

// Person implements core.View.
func (v *view) Person(id core.PersonID) (core.Person, error) {
	var p core.Person
	err := v.find(`SELECT `+personColumns+` FROM person WHERE id = ?`, []any{id}, func(row scanner) error { return scanPerson(row, &p) })
	if err != nil {
		return core.Person{}, fmt.Errorf("person %q: %w", id, err)
	}
	p.Accounts, err = v.accounts(id)
	return p, err
}

func (v *view) accounts(id core.PersonID) ([]core.Account, error) {
	var out []core.Account
	err := v.l.each(v.ctx, `SELECT kind, name FROM account WHERE person = ? ORDER BY kind`, []any{id}, func(row scanner) error {
		var a core.Account
		err := row.Scan(&a.Kind, &a.Name)
		out = append(out, a)
		return err
	})
	return out, err
}

// People implements core.View: by name.
func (v *view) People() ([]core.Person, error) {
	var out []core.Person
	err := v.l.each(v.ctx, `SELECT `+personColumns+` FROM person ORDER BY id`, nil, func(row scanner) error {
		var p core.Person
		err := scanPerson(row, &p)
		out = append(out, p)
		return err
	})
	for i := range out {
		if err == nil {
			out[i].Accounts, err = v.accounts(out[i].ID)
		}
	}
	return out, err
}

// RoleGrants implements core.View: oldest first.
func (v *view) RoleGrants(session core.SessionID) ([]core.RoleGrant, error) {
	return v.grants(`session = ?`, session)
}

// GrantsTo implements core.View.
func (v *view) GrantsTo(person core.PersonID) ([]core.RoleGrant, error) {
	return v.grants(`person = ?`, person)
}

func (v *view) grants(where string, arg any) ([]core.RoleGrant, error) {
	var out []core.RoleGrant
	err := v.l.each(v.ctx, `SELECT session, giver, person, role, decides, at FROM role_grant WHERE `+where+` ORDER BY seq`, []any{arg},
		func(row scanner) error {
			var g core.RoleGrant
			var at int64
			err := row.Scan(&g.Session, &g.Giver, &g.Person, &g.Role, &g.Decides, &at)
			g.At = moment(at)
			out = append(out, g)
			return err
		})
	return out, err
}

// Latch implements core.View.
func (v *view) Latch(session core.SessionID) (core.Latch, error) {
	var l core.Latch
	err := v.find(`SELECT session, at, turn, read, gatekeeper, service, name FROM latch WHERE session = ?`, []any{session},
		func(row scanner) error {
			var at int64
			err := row.Scan(&l.Session, &at, &l.Turn, &l.Read, &l.Unit.Gatekeeper, &l.Unit.Service, &l.Unit.Name)
			l.At = moment(at)
			return err
		})
	if err != nil {
		return core.Latch{}, fmt.Errorf("latch of session %s: %w", session, err)
	}
	return l, nil
}

// InsertPerson implements core.Tx.
func (t *tx) InsertPerson(p core.Person) error {
	_, err := t.l.exec(`INSERT INTO person (`+personColumns+`) VALUES (?, ?, ?, ?, ?, ?)`,
		p.ID, p.Signing, p.Sealing, p.Tenant, p.AddedBy, nanos(p.AddedAt))
	if constraint(err) {
		return fmt.Errorf("person %q: %w", p.ID, core.ErrNameTaken)
	}
	return err
}

// PutAccount implements core.Tx.
func (t *tx) PutAccount(person core.PersonID, a core.Account) error {
	_, err := t.l.exec(`INSERT INTO account (person, kind, name) VALUES (?, ?, ?)
		ON CONFLICT (person, kind) DO UPDATE SET name = excluded.name`, person, a.Kind, a.Name)
	return err
}

// PutRoleGrant implements core.Tx.
func (t *tx) PutRoleGrant(g core.RoleGrant) error {
	_, err := t.l.exec(`INSERT INTO role_grant (session, giver, person, role, decides, at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (session, giver, person) DO UPDATE SET role = excluded.role, decides = excluded.decides, at = excluded.at`,
		g.Session, g.Giver, g.Person, g.Role, flag(g.Decides), nanos(g.At))
	if err != nil {
		return err
	}
	return t.peopleChanged(g.Session)
}

// RemoveRoleGrants implements core.Tx.
func (t *tx) RemoveRoleGrants(session core.SessionID, person, giver core.PersonID) (int, error) {
	n, err := t.l.exec(`DELETE FROM role_grant WHERE session = ? AND person = ? AND (?3 = '' OR giver = ?3)`, session, person, giver)
	if err != nil || n == 0 {
		return 0, err
	}
	return int(n), t.peopleChanged(session)
}

func (t *tx) peopleChanged(session core.SessionID) error {
	_, err := t.l.exec(`UPDATE session SET people_version = people_version + 1 WHERE id = ?`, session)
	return err
}

// SetLatch implements core.Tx.
func (t *tx) SetLatch(l core.Latch) (bool, error) {
	n, err := t.l.exec(`INSERT INTO latch (session, at, turn, read, gatekeeper, service, name) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`, l.Session, nanos(l.At), l.Turn, l.Read, l.Unit.Gatekeeper, l.Unit.Service, l.Unit.Name)
	if err != nil || n == 0 {
		return false, err
	}
	_, err = t.l.exec(`UPDATE session SET latched = 1 WHERE id = ?`, l.Session)
	return true, err
}
