package store

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"gatehouse/core"
)

func TestFsckFindsWhatDoesNotAgree(t *testing.T) {
	for name, c := range map[string]struct {
		change string
		want   string
	}{
		"nothing":              {`SELECT 1`, ""},
		"content gone":         {`DELETE FROM content WHERE id = 2`, "action 2: its content"},
		"question gone":        {`DELETE FROM question WHERE id = 4`, "question 4"},
		"session gone":         {`DELETE FROM session WHERE id = 's2'`, "missing"},
		"two claims":           {`UPDATE item SET state = 'claimed', claim_holder = 'x' WHERE id IN (1, 2)`, "connection c1"},
		"reference backwards":  {`UPDATE reference SET provider = 9`, "action 3"},
		"decided, still shown": {`UPDATE item SET state = 'applied', open = 0 WHERE id = 1`, "action 1: reads would show it"},
		"not shown":            {`DELETE FROM target WHERE action = 2`, "action 2: reads would not"},
		"names of nobody":      {`UPDATE name SET provider = 77`, "~1"},
		"counts":               {`UPDATE head SET waiting = 9`, "counts"},
		"count of a binding":   {`UPDATE waiting SET actions = 0`, "binding s1 SITE"},
		"sequence":             {`UPDATE head SET item = 1`, "counts"},
	} {
		t.Run(name, func(t *testing.T) {
			db := openNew(t)
			s := newSession(t, db, "one")
			newSession(t, db, "two")
			submit(t, db, draftOf(s, "a"))
			submit(t, db, draftOf(s, "b"))
			a := draftOf(s, "c")
			a.Draft.Needs, a.Draft.Provides = []core.Reference{{Name: "a", Provider: 1}}, []string{"~1"}
			submit(t, db, a)
			ask(t, db, s, "May I?")
			write(t, db, func(tx core.Tx) error { return tx.Observe("s2", 0, noon, a.Draft.Found) })
			recordRows(t, db, 3)
			if _, err := db.writer.exec(`PRAGMA foreign_keys = 0`); err != nil { // as other programs have it
				t.Fatal(err)
			}
			tamper(t, db, c.change)
			found, err := db.Fsck(background)
			switch {
			case err != nil:
				t.Fatal(err)
			case c.want == "" && (!found.OK() || found.Rows != 3):
				t.Errorf("%+v", found)
			case c.want != "" && (found.OK() || found.FirstBad.Seq != 0 || !strings.Contains(found.FirstBad.Reason, c.want)):
				t.Errorf("%+v, want %q", found.FirstBad, c.want)
			}
		})
	}
}

func TestFsckOfADamagedFileIsAFinding(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	for range 200 {
		submit(t, db, draftOf(s, "a"))
	}
	path := db.Path()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	overwrite(t, path, info.Size()*3/4/4096*4096, []byte(strings.Repeat("x", 8*4096)))
	damaged := openAt(t, path)
	found, err := damaged.Fsck(background)
	if err != nil || found.OK() || found.FirstBad.Reason == "" || strings.Contains(found.FirstBad.Reason, "\n") {
		t.Errorf("%+v (%v)", found.FirstBad, err)
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	if _, err := damaged.Fsck(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
