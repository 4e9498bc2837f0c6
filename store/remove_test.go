package store

import (
	"fmt"
	"strings"
	"testing"

	"gatehouse/core"
)

func purged(t *testing.T, db *DB, id core.SessionID) {
	t.Helper()
	write(t, db, func(tx core.Tx) error {
		if err := tx.RemoveSession(id, "alice by pipe", noon); err != nil {
			return err
		}
		return tx.PurgeSession(id, noon)
	})
	if err := db.Scrub(background); err != nil {
		t.Fatal(err)
	}
}

// The index of titles keeps the words of titles that were deleted from it until it is made anew.
func TestR33_APurgeTakesTitlesOutOfTheIndex(t *testing.T) {
	db := openNew(t)
	gone, stays := newSession(t, db, "gone"), newSession(t, db, "stays")
	write(t, db, func(tx core.Tx) error {
		for i := range 2 * indexBacklog {
			session, word := gone, "kanarienvogel"
			if i%2 == 1 {
				session, word = stays, "nachtigall"
			}
			a := draftOf(session, fmt.Sprint(word, " ", i))
			if err := tx.InsertAction(&a); err != nil {
				return err
			}
		}
		return nil
	})
	matches := func(word string) (n int) {
		t.Helper()
		if err := db.snapshot(background, func(v *view) error {
			return v.l.one(`SELECT count(*) FROM item_text WHERE item_text MATCH ?`, []any{`"` + word + `"`}, &n)
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if matches("kanarienvogel") == 0 || matches("nachtigall") == 0 {
		t.Fatal("titles are not in the index")
	}
	purged(t, db, gone)
	if n := matches("kanarienvogel"); n != 0 {
		t.Errorf("the index still finds %d of the titles that were purged", n)
	}
	if n := matches("nachtigall"); n != indexBacklog {
		t.Errorf("the index finds %d titles of the other session, want %d", n, indexBacklog)
	}
	if v, err := db.Fsck(background); err != nil || !v.OK() {
		t.Errorf("got %+v, %v", v.FirstBad, err)
	}
}

// A table that a later migration adds has to be thought of: does it hold content of a session?
func TestR33_APurgeKnowsEveryTable(t *testing.T) {
	known := map[string]bool{}
	for _, name := range strings.Fields(`
		session binding item content outcome undo target reference name question answer notice plan_item draft turn step message
		rule skill_pin egress proposal

		observation unit_read log latch head waiting lease opened plan spending role_grant
		connection person account operator_key store_identity share seen_file imported
		skill_collection skill_document skill_bytes skill skill_use skill_library skill_retired
		goose_db_version sqlite_sequence`) {
		known[name] = true
	}
	db := openNew(t)
	err := db.snapshot(background, func(v *view) error {
		return v.l.each(background, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'item_text%' AND name NOT LIKE 'skill_token%'`, nil,
			func(row scanner) error {
				var name string
				err := row.Scan(&name)
				if !known[name] {
					t.Errorf("table %s: say in PurgeSession what becomes of what it holds of a session, and name it here", name)
				}
				return err
			})
	})
	if err != nil {
		t.Fatal(err)
	}
}
