package store

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"gatehouse/core"
)

const sessionColumns = `session.id, session.name, session.owner, session.created_at, session.updated_at,
	session.people_version, session.latched, session.removed_at, session.removed_name, session.removed_by, session.purged_at,
	session.read_only`

func scanSession(row scanner, s *core.Session, more ...any) error {
	var created, updated, removed, purged int64
	dest := append([]any{
		&s.ID, &s.Name, &s.Owner, &created, &updated, &s.PeopleVersion, &s.Latched, &removed, &s.Removed.Name, &s.Removed.By, &purged, &s.ReadOnly,
	}, more...)
	if err := row.Scan(dest...); err != nil {
		return err
	}
	s.CreatedAt, s.UpdatedAt = moment(created), moment(updated)
	s.Removed.At, s.Removed.Purged = moment(removed), moment(purged)
	return nil
}

// Session implements core.View. An id goes before a name that looks like one.
func (v *view) Session(ref string) (core.Session, error) {
	var s core.Session
	err := v.find(`SELECT `+sessionColumns+` FROM session WHERE id = ?`, []any{ref}, func(row scanner) error { return scanSession(row, &s) })
	if errors.Is(err, core.ErrNotFound) {
		err = v.find(`SELECT `+sessionColumns+` FROM session WHERE name = ?`, []any{ref}, func(row scanner) error { return scanSession(row, &s) })
	}
	if err != nil {
		return core.Session{}, fmt.Errorf("session %q: %w", ref, err)
	}
	return s, nil
}

// InsertSession implements core.Tx.
func (t *tx) InsertSession(s *core.Session) error {
	var id string
	err := t.l.one(`INSERT INTO session (id, name, owner, created_at, updated_at)
		VALUES ('s' || (SELECT coalesce(max(seq), 0) + 1 FROM session), ?, ?, ?, ?) RETURNING id`,
		[]any{s.Name, s.Owner, nanos(s.CreatedAt), nanos(s.UpdatedAt)}, &id)
	if constraint(err) {
		return fmt.Errorf("session %q: %w", s.Name, core.ErrNameTaken)
	}
	s.ID = core.SessionID(id)
	return err
}

// RenameSession implements core.Tx.
func (t *tx) RenameSession(id core.SessionID, name string, at time.Time) error {
	n, err := t.l.exec(`UPDATE session SET name = ?, updated_at = ? WHERE id = ?`, name, nanos(at), id)
	switch {
	case constraint(err):
		return fmt.Errorf("session %q: %w", name, core.ErrNameTaken)
	case err == nil && n == 0:
		return fmt.Errorf("session %s: %w", id, core.ErrNotFound)
	default:
		return err
	}
}

// Summaries implements core.View.
func (v *view) Summaries(id core.SessionID) ([]core.SessionSummary, error) {
	var out []core.SessionSummary
	err := v.l.each(v.ctx, `SELECT `+sessionColumns+`,
		(SELECT coalesce(sum(actions), 0) FROM waiting WHERE waiting.session = session.id),
		(SELECT count(*) FROM item WHERE open = 1 AND item.session = session.id AND kind = 'question'),
		(SELECT count(*) FROM observation WHERE observation.session = session.id),
		(SELECT count(DISTINCT person) FROM role_grant WHERE role_grant.session = session.id),
		(SELECT coalesce(sum(cost), 0) FROM spending WHERE spending.session = session.id), `+turnStanding+`
		FROM session WHERE (?1 = '' AND removed_at = 0) OR id = ?1 ORDER BY seq DESC`, []any{id},
		func(row scanner) error {
			var s core.SessionSummary
			var questions int
			var last standing
			if err := scanSession(row, &s.Session, append([]any{&s.Pending, &questions, &s.Units, &s.People, &s.Cost}, last.dest()...)...); err != nil {
				return err
			}
			s.State, s.WaitingFor = waiting(s.Pending, questions)
			last.overrule(&s)
			out = append(out, s)
			return nil
		})
	return out, err
}

// waiting is the state of a session in which no turn runs or is suspended, and what a person would do next.
func waiting(pending, questions int) (core.SessionState, string) {
	switch {
	case questions > 0:
		return core.SessionWaitingAnswer, count(questions, "question to answer", "questions to answer")
	case pending > 0:
		return core.SessionWaitingDecision, count(pending, "action to decide", "actions to decide")
	default:
		return core.SessionIdle, ""
	}
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

const connectionColumns = `id, kind, name, owner, service, root, labels, readers`

func scanConnection(row scanner, c *core.Connection) error {
	var labels, readers sql.NullString
	if err := row.Scan(&c.ID, &c.Kind, &c.Name, &c.Owner, &c.Service, &c.Root, &labels, &readers); err != nil {
		return err
	}
	if err := decode(labels, &c.Labels); err != nil {
		return err
	}
	return decode(readers, &c.Readers)
}

// Connection implements core.View.
func (v *view) Connection(id core.ConnectionID) (core.Connection, error) {
	var c core.Connection
	err := v.find(`SELECT `+connectionColumns+` FROM connection WHERE id = ? AND removed_at = 0`, []any{id}, func(row scanner) error { return scanConnection(row, &c) })
	if err != nil {
		return core.Connection{}, fmt.Errorf("connection %s: %w", id, err)
	}
	return c, nil
}

// Connections implements core.View: oldest first.
func (v *view) Connections() ([]core.Connection, error) {
	var out []core.Connection
	err := v.l.each(v.ctx, `SELECT `+connectionColumns+` FROM connection WHERE removed_at = 0 ORDER BY seq`, nil, func(row scanner) error {
		var c core.Connection
		err := scanConnection(row, &c)
		out = append(out, c)
		return err
	})
	return out, err
}

// InsertConnection implements core.Tx.
func (t *tx) InsertConnection(c *core.Connection) error {
	labels, err := list(c.Labels)
	if err != nil {
		return err
	}
	readers, err := list(c.Readers)
	if err != nil {
		return err
	}
	var id string
	err = t.l.one(`INSERT INTO connection (id, kind, name, owner, service, root, labels, readers)
		VALUES ('c' || (SELECT coalesce(max(seq), 0) + 1 FROM connection), ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		[]any{c.Kind, c.Name, c.Owner, c.Service, c.Root, labels, readers}, &id)
	c.ID = core.ConnectionID(id)
	return err
}

const bindingColumns = `session, name, url, kind, connection, created_at`

func scanBinding(row scanner, b *core.Binding) error {
	var created int64
	err := row.Scan(&b.Session, &b.Name, &b.URL, &b.Kind, &b.Connection, &created)
	b.CreatedAt = moment(created)
	return err
}

// Binding implements core.View.
func (v *view) Binding(session core.SessionID, name core.BindingName) (core.Binding, error) {
	var b core.Binding
	err := v.find(`SELECT `+bindingColumns+` FROM binding WHERE session = ? AND name = ? AND removed_at = 0`, []any{session, name},
		func(row scanner) error { return scanBinding(row, &b) })
	if err != nil {
		return core.Binding{}, fmt.Errorf("binding %s in session %s: %w", name, session, err)
	}
	return b, nil
}

// Bindings implements core.View: by name.
func (v *view) Bindings(session core.SessionID) ([]core.Binding, error) {
	var out []core.Binding
	err := v.l.each(v.ctx, `SELECT `+bindingColumns+` FROM binding WHERE session = ? AND removed_at = 0 ORDER BY name`, []any{session},
		func(row scanner) error {
			var b core.Binding
			err := scanBinding(row, &b)
			out = append(out, b)
			return err
		})
	return out, err
}

// BindingsOf implements core.View: by session and name.
func (v *view) BindingsOf(connection core.ConnectionID) ([]core.Binding, error) {
	var out []core.Binding
	err := v.l.each(v.ctx, `SELECT `+bindingColumns+` FROM binding WHERE connection = ? AND removed_at = 0 ORDER BY session, name`, []any{connection},
		func(row scanner) error {
			var b core.Binding
			err := scanBinding(row, &b)
			out = append(out, b)
			return err
		})
	return out, err
}

// RemoveConnection implements core.Tx.
func (t *tx) RemoveConnection(id core.ConnectionID, at time.Time) error {
	n, err := t.l.exec(`UPDATE connection SET removed_at = max(?, 1) WHERE id = ? AND removed_at = 0`, nanos(at), id)
	if err == nil && n == 0 {
		return fmt.Errorf("connection %s: %w", id, core.ErrNotFound)
	}
	return err
}

// InsertBinding implements core.Tx.
func (t *tx) InsertBinding(b core.Binding) error {
	n, err := t.l.exec(`INSERT INTO binding (`+bindingColumns+`) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (session, name) DO UPDATE SET url = excluded.url, kind = excluded.kind,
			connection = excluded.connection, removed_at = 0,
			created_at = iif(url = excluded.url AND connection = excluded.connection, created_at, max(excluded.created_at,
				(SELECT 1 + coalesce(max(created_at), 0) FROM item WHERE session = excluded.session AND binding = excluded.name),
				(SELECT 1 + coalesce(max(created_at), 0) FROM rule WHERE session = excluded.session AND binding = excluded.name)))
		WHERE removed_at <> 0`,
		b.Session, b.Name, b.URL, b.Kind, b.Connection, nanos(b.CreatedAt))
	switch {
	case constraint(err):
		return fmt.Errorf("session %s: %w", b.Session, core.ErrNotFound)
	case err == nil && n == 0:
		return fmt.Errorf("binding %s: %w", b.Name, core.ErrNameTaken)
	case err != nil:
		return err
	}
	return t.touchSession(b.Session, b.CreatedAt)
}

// RemoveBinding implements core.Tx.
func (t *tx) RemoveBinding(session core.SessionID, name core.BindingName, at time.Time) error {
	n, err := t.l.exec(`UPDATE binding SET removed_at = max(?, 1) WHERE session = ? AND name = ? AND removed_at = 0`, nanos(at), session, name)
	if err == nil && n == 0 {
		return fmt.Errorf("binding %s in session %s: %w", name, session, core.ErrNotFound)
	}
	if err != nil {
		return err
	}
	return t.touchSession(session, at)
}

func (t *tx) touchSession(id core.SessionID, at time.Time) error {
	_, err := t.l.exec(`UPDATE session SET updated_at = max(updated_at, ?) WHERE id = ?`, nanos(at), id)
	return err
}
