package store

import (
	"context"
	"fmt"
	"strings"

	"gatehouse/core"
)

// Fsck looks through the whole store over one snapshot, in bounded memory: the file, the chain of the record, and what
// has to agree between tables. It changes nothing. What is wrong outside the record is a bad row with Seq 0.
func (db *DB) Fsck(ctx context.Context) (core.Verification, error) {
	var found core.Verification
	err := db.snapshot(ctx, func(v *view) error {
		reason, err := v.fileFault()
		if err != nil {
			return err
		}
		if reason == "" {
			if found, err = v.verifyChain(); err != nil {
				return err
			}
		}
		if reason == "" && found.OK() {
			if reason, err = v.tableFault(); err != nil {
				return err
			}
		}
		if reason != "" {
			found.FirstBad = &core.BadRow{Reason: reason}
		}
		return nil
	})
	if code(err) != 0 && ctx.Err() == nil {
		// A file in which SQLite loses its way is a finding, not a failure to look.
		return core.Verification{Rows: found.Rows, FirstBad: &core.BadRow{Reason: err.Error()}}, nil
	}
	return found, err
}

// fileFault is what SQLite itself finds wrong.
func (v *view) fileFault() (string, error) {
	reason := ""
	err := v.l.each(v.ctx, `PRAGMA integrity_check(1)`, nil, func(row scanner) error {
		var line string
		err := row.Scan(&line)
		if line != "ok" && reason == "" {
			reason = "file: " + strings.Join(strings.Fields(line), " ")
		}
		return err
	})
	if err != nil || reason != "" {
		return reason, err
	}
	err = v.l.each(v.ctx, `SELECT "table", coalesce(rowid, 0), parent FROM pragma_foreign_key_check LIMIT 1`, nil, func(row scanner) error {
		var table, parent string
		var id int64
		err := row.Scan(&table, &id, &parent)
		reason = fmt.Sprintf("%s row %d: what it refers to in %s is missing", table, id, parent)
		return err
	})
	return reason, err
}

func (v *view) verifyChain() (core.Verification, error) {
	var verifier core.Verifier
	head, err := v.EachRow(func(seq int64, blob []byte, prev, hash core.Digest) error {
		verifier.Add(seq, blob, prev, hash)
		return nil
	})
	if err != nil {
		return core.Verification{}, err
	}
	return verifier.Finish(head), nil
}

// tableFault is what does not agree between tables. Each query names the first row that breaks its rule.
func (v *view) tableFault() (string, error) {
	const live = `(item.state IN ('pending', 'claimed', 'unknown') OR (item.state = 'failed' AND item.retryable))`
	for _, rule := range []struct{ query, fault string }{
		{
			`SELECT id FROM item WHERE kind <> 'question' AND id NOT IN (SELECT id FROM content)`,
			"action %s: its content is missing",
		},
		{
			`SELECT id FROM item WHERE kind = 'question' AND id NOT IN (SELECT id FROM question)`,
			"question %s: what it can be answered with is missing",
		},
		{
			`SELECT connection FROM item WHERE state = 'claimed' GROUP BY connection HAVING count(*) > 1`,
			"connection %s: more than one action is claimed",
		},
		{
			`SELECT action FROM reference WHERE provider >= action OR provider NOT IN (SELECT id FROM item)
				OR action NOT IN (SELECT id FROM item)`,
			"action %s: it refers to an action that is not an earlier one",
		},
		{
			`SELECT action FROM target WHERE action > 0 AND action NOT IN (SELECT id FROM item WHERE ` + live + `)`,
			"action %s: reads would show it, though it is decided",
		},
		{
			`SELECT item.id FROM item JOIN content USING (id), json_each(content.targets) WHERE ` + live + ` AND NOT EXISTS (
				SELECT 1 FROM target WHERE session = item.session AND resource = item.resource AND name = json_each.value AND action = item.id)`,
			"action %s: reads would not show it, though it is not decided",
		},
		{
			`SELECT '~' || number FROM name WHERE provider NOT IN (SELECT id FROM item)`,
			"provisional id %s: what makes it is missing",
		},
		{
			`SELECT session || ' ' || binding FROM waiting WHERE actions <> (SELECT count(*) FROM item
				WHERE open = 1 AND item.session = waiting.session AND item.binding = waiting.binding AND state IN ('pending', 'claimed'))`,
			"binding %s: the count that is kept is not that of the queue",
		},
		{
			`SELECT 'head' FROM head WHERE item < (SELECT coalesce(max(id), 0) FROM item)
				OR change < (SELECT coalesce(max(version), 0) FROM target)
				OR waiting   <> (SELECT count(*) FROM item WHERE state = 'pending')
				OR drifted   <> (SELECT count(*) FROM item WHERE state = 'pending' AND drift <> '')
				OR unknown   <> (SELECT count(*) FROM item WHERE state = 'unknown')
				OR questions <> (SELECT count(*) FROM item WHERE state = 'open')
				OR undecided <> (SELECT count(*) FROM item WHERE open = 1)`,
			"%s: the counts that are kept are not those of the queue",
		},
	} {
		reason := ""
		err := v.l.each(v.ctx, rule.query+` LIMIT 1`, nil, func(row scanner) error {
			var what string
			err := row.Scan(&what)
			reason = fmt.Sprintf(rule.fault, what)
			return err
		})
		if err != nil || reason != "" {
			return reason, err
		}
	}
	return "", nil
}
