package store

import (
	"fmt"
	"strings"
	"testing"

	"gatehouse/core"
)

func recordRows(t testing.TB, db *DB, n int) {
	t.Helper()
	write(t, db, func(tx core.Tx) error {
		for i := range n {
			e := core.Entry{At: noon, Type: core.EventRead, Session: "s1", Actor: "alice", Subject: fmt.Sprint("row ", i)}
			if i%2 == 1 {
				e.Type, e.Session = core.EventSubmit, "s2"
			}
			if err := tx.Append(e); err != nil {
				return err
			}
		}
		return nil
	})
}

func verify(t testing.TB, db *DB) core.Verification {
	t.Helper()
	var v core.Verifier
	var head core.Head
	read(t, db, func(view core.View) (err error) {
		head, err = view.EachRow(func(seq int64, blob []byte, prev, hash core.Digest) error {
			v.Add(seq, blob, prev, hash)
			return nil
		})
		return err
	})
	return v.Finish(head)
}

// The one who edits the record drops its triggers first; only the chain can tell.
func TestK62_ChangedRecordNamesTheFirstBadRow(t *testing.T) {
	for name, c := range map[string]struct {
		change []string
		bad    int64
	}{
		"untouched":      {nil, 0},
		"edited":         {[]string{`UPDATE log SET blob = replace(blob, 'row 4', 'row 9') WHERE seq = 5`}, 5},
		"hash edited":    {[]string{`UPDATE log SET hash = zeroblob(32) WHERE seq = 5`}, 5},
		"removed":        {[]string{`DELETE FROM log WHERE seq = 5`}, 5},
		"first removed":  {[]string{`DELETE FROM log WHERE seq = 1`}, 1},
		"removed, moved": {[]string{`DELETE FROM log WHERE seq = 5`, `UPDATE log SET seq = seq - 1 WHERE seq > 5`}, 5},
		"swapped": {[]string{
			`UPDATE log SET seq = 100 WHERE seq = 5`, `UPDATE log SET seq = 5 WHERE seq = 6`, `UPDATE log SET seq = 6 WHERE seq = 100`,
		}, 5},
		"tail cut": {[]string{`DELETE FROM log WHERE seq > 7`}, 8},
		"added":    {[]string{`INSERT INTO log (seq, blob, prev, hash) SELECT 11, blob, hash, hash FROM log WHERE seq = 10`}, 11},
		"all gone": {[]string{`DELETE FROM log`}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			db := openNew(t)
			recordRows(t, db, 10)
			tamper(t, db, append([]string{`DROP TRIGGER log_no_update`, `DROP TRIGGER log_no_delete`}, c.change...)...)
			found := verify(t, db)
			checked, err := db.Fsck(background)
			if err != nil {
				t.Fatal(err)
			}
			for who, got := range map[string]core.Verification{"verify": found, "fsck": checked} {
				if c.bad == 0 {
					if !got.OK() || got.Rows != 10 {
						t.Errorf("%s: %+v, want 10 good rows", who, got)
					}
					continue
				}
				if got.OK() || got.FirstBad.Seq != c.bad || got.FirstBad.Reason == "" {
					t.Errorf("%s: %+v, want row %d", who, got.FirstBad, c.bad)
				}
			}
		})
	}
}

// tamper changes the file as another program would.
func tamper(t testing.TB, db *DB, statements ...string) {
	t.Helper()
	write(t, db, func(tx core.Tx) error {
		for _, s := range statements {
			if _, err := db.writer.exec(s); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
		return nil
	})
}

func TestRecordAndObservationsAreAppendOnly(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	recordRows(t, db, 2)
	write(t, db, func(tx core.Tx) error { return tx.Observe(s, 0, noon, draftOf(s, "a").Draft.Found) })
	for _, statement := range []string{
		`UPDATE log SET blob = '{}'`, `DELETE FROM log`, `UPDATE observation SET permission = ''`, `DELETE FROM observation`,
	} {
		err := db.Write(background, func(core.Tx) error {
			_, err := db.writer.exec(statement)
			return err
		})
		if err == nil {
			t.Errorf("%s: went through", statement)
		}
	}
	if found := verify(t, db); !found.OK() || found.Rows != 2 {
		t.Errorf("%+v", found)
	}
}

func TestRowsByPlaceSessionAndType(t *testing.T) {
	db := openNew(t)
	recordRows(t, db, 10)
	for name, c := range map[string]struct {
		query core.RecordQuery
		want  []int64
	}{
		"all":         {core.RecordQuery{}, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
		"after":       {core.RecordQuery{After: 8}, []int64{9, 10}},
		"before":      {core.RecordQuery{Before: 4}, []int64{3, 2, 1}},
		"between":     {core.RecordQuery{Before: 6, After: 2, Limit: 2}, []int64{5, 4}},
		"session":     {core.RecordQuery{Session: "s2", Limit: 2}, []int64{2, 4}},
		"types":       {core.RecordQuery{Types: []core.EventType{core.EventSubmit, core.EventClaim}, After: 6}, []int64{8, 10}},
		"nothing":     {core.RecordQuery{Session: "s3"}, nil},
		"no such row": {core.RecordQuery{After: 10}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			read(t, db, func(v core.View) error {
				rows, err := v.Rows(c.query)
				var got []int64
				for _, r := range rows {
					got = append(got, r.Seq)
					if r.Entry.Subject != fmt.Sprint("row ", r.Seq-1) || len(r.Blob) == 0 || r.Hash == (core.Digest{}) {
						t.Errorf("row %d: %+v", r.Seq, r)
					}
				}
				if fmt.Sprint(got) != fmt.Sprint(c.want) {
					t.Errorf("got %v, want %v", got, c.want)
				}
				return err
			})
		})
	}
}

func TestRowsByWhatTheyHold(t *testing.T) {
	db := openNew(t)
	write(t, db, func(tx core.Tx) error {
		for _, e := range []core.Entry{
			{Type: core.EventTurn, Session: "s1", Turn: 1, Actor: "agent scout", Subject: "turn 1"},
			{Type: core.EventRead, Session: "s1", Turn: 1, Actor: "agent scout", Subject: "SITE.list", Units: []core.Unit{{Service: "files", Name: "Docs_A"}}},
			{Type: core.EventSubmit, Session: "s1", Turn: 1, Actor: "agent scout", Subject: "action 1", Detail: []byte(`{"kind":"edit"}`)},
			{Type: core.EventEgress, Session: "s1", Turn: 2, Actor: "agent scout", Subject: "model m", Rule: "allow-all"},
			{Type: core.EventSubmit, Session: "s2", Turn: 2, Actor: "mcp writer", Subject: "action 11"},
			{Type: core.EventDecision, Session: "s1", Turn: 1, Actor: "alice", Authority: "alice by terminal", Subject: "action 1", Digest: "sha256:abc"},
		} {
			e.At = noon
			if err := tx.Append(e); err != nil {
				return err
			}
		}
		return nil
	})
	for name, c := range map[string]struct {
		query core.RecordQuery
		want  []int64
	}{
		"subject is exact":         {core.RecordQuery{Subject: "action 1"}, []int64{3, 6}},
		"subject, newest first":    {core.RecordQuery{Subject: "action 1", Before: 100}, []int64{6, 3}},
		"who":                      {core.RecordQuery{Who: "SCOUT"}, []int64{1, 2, 3, 4}},
		"who is not the authority": {core.RecordQuery{Who: "terminal"}, nil},
		"turn":                     {core.RecordQuery{Turn: 2}, []int64{4, 5}},
		"turn of a session":        {core.RecordQuery{Turn: 2, Session: "s1"}, []int64{4}},
		"word in the subject":      {core.RecordQuery{Words: []string{"site"}}, []int64{2}},
		"word in a unit":           {core.RecordQuery{Words: []string{"docs_a"}}, []int64{2}},
		"a sign is no joker":       {core.RecordQuery{Words: []string{"doc%a"}}, nil},
		"nor is a line":            {core.RecordQuery{Words: []string{"doc__a"}}, nil},
		"word in the detail":       {core.RecordQuery{Words: []string{"edit"}}, []int64{3}},
		"word in the rule":         {core.RecordQuery{Words: []string{"allow"}}, []int64{4}},
		"word in the digest":       {core.RecordQuery{Words: []string{"abc"}}, []int64{6}},
		"word in the type":         {core.RecordQuery{Words: []string{"egre"}}, []int64{4}},
		"all words":                {core.RecordQuery{Words: []string{"action", "scout"}}, []int64{3}},
		"up to":                    {core.RecordQuery{After: 1, UpTo: 3}, []int64{2, 3}},
		"up to, of a type":         {core.RecordQuery{UpTo: 4, Types: []core.EventType{core.EventSubmit}}, []int64{3}},
	} {
		t.Run(name, func(t *testing.T) {
			read(t, db, func(v core.View) error {
				rows, err := v.Rows(c.query)
				var got []int64
				for _, r := range rows {
					got = append(got, r.Seq)
				}
				if fmt.Sprint(got) != fmt.Sprint(c.want) {
					t.Errorf("got %v, want %v", got, c.want)
				}
				return err
			})
		})
	}
}

// Rare rows are found without reading the rest.
func TestRowsOfATypeOrSubjectAreFoundByAnIndex(t *testing.T) {
	db := openNew(t)
	for query, index := range map[string]string{
		`SELECT seq FROM log WHERE seq > 5 AND type IN ('egress') ORDER BY seq DESC LIMIT 9`:             "log_type",
		`SELECT seq FROM log WHERE seq > 5 AND session = 's1' AND subject = 'x' ORDER BY seq LIMIT 1000`: "log_subject",
	} {
		found := false
		read(t, db, func(v core.View) error {
			return v.(*view).l.each(background, "EXPLAIN QUERY PLAN "+query, nil, func(row scanner) error {
				var id, parent, unused int
				var text string
				err := row.Scan(&id, &parent, &unused, &text)
				found = found || strings.Contains(text, index)
				return err
			})
		})
		if !found {
			t.Errorf("%s: does not use %s", query, index)
		}
	}
}
