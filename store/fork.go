package store

import "gatehouse/core"

// CopySession implements core.Tx. Bindings are those over the
// connections of whom the new session belongs to. What a person read by hand is taken over where it was read before the
// turn ended, and where a turn read it too, whatever clocks say.
func (t *tx) CopySession(from, to core.SessionID, turn int) error {
	for _, statement := range []string{
		`INSERT INTO binding (session, name, url, kind, connection, created_at)
			SELECT ?2, name, url, kind, connection, created_at FROM binding WHERE session = ?1 AND removed_at = 0
			AND connection IN (SELECT id FROM connection WHERE owner = (SELECT owner FROM session WHERE id = ?2))`,
		`INSERT INTO turn SELECT ?2, number, version, state, ended, reason, model, source, person, on_denial, step_limit, time_limit,
			worked, running_since, stop_asked, started_at, updated_at FROM turn WHERE session = ?1 AND number <= ?3`,
		`INSERT INTO step SELECT ?2, turn, number, decisions, text, calls, input, output, at, closed_at
			FROM step WHERE session = ?1 AND turn <= ?3`,
		`INSERT INTO message (session, person, kind, text, at, turn, step)
			SELECT ?2, person, kind, text, at, turn, step FROM message WHERE session = ?1 AND turn BETWEEN 1 AND ?3 ORDER BY id`,
		`INSERT INTO answer SELECT ?2, turn, call_id, args_hash, step, body FROM answer WHERE session = ?1 AND turn BETWEEN 1 AND ?3`,
		`INSERT INTO observation (session, gatekeeper, service, name, permission, labels, owner_only, first_seen_at, turn)
			SELECT ?2, gatekeeper, service, name, permission, labels, owner_only, first_seen_at, turn FROM observation o
			WHERE session = ?1 AND ?3 > 0 AND (turn BETWEEN 1 AND ?3
				OR (turn = 0 AND first_seen_at <= (SELECT updated_at FROM turn WHERE session = ?1 AND number = ?3))
				OR EXISTS (SELECT 1 FROM unit_read r JOIN log ON log.seq = r.log
					WHERE r.observation = o.seq AND log.blob ->> '$.turn' BETWEEN 1 AND ?3)) ORDER BY seq`,
		`INSERT INTO name SELECT ?2, resource, number, provider, real FROM name WHERE session = ?1 AND real <> ''`,
	} {
		if _, err := t.l.exec(statement, from, to, turn); err != nil {
			return err
		}
	}
	return nil
}
