package store

import (
	"fmt"
	"path/filepath"
	"testing"

	"gatehouse/core"
	"gatehouse/skills"
	"gatehouse/skills/searchsuite"
)

// The suite makes an engine for each case and, for its property, two for each of many rounds. Two stores are enough, each
// emptied before it is used again: no case looks at more than two.
func TestSkillEngine(t *testing.T) {
	for name, how := range map[string]SkillEngine{
		"as it is":            {words: manyWords},
		"tiers by the index":  {words: manyWords, indexOnly: true},
		"prefix by the index": {words: -1}, // even none is too many to be asked for one by one
	} {
		t.Run(name, func(t *testing.T) { runSuite(t, how) })
	}
}

func runSuite(t *testing.T, how SkillEngine) {
	stores := []*DB{openNew(t), openNew(t)}
	count := 0
	searchsuite.Run(t, func(t testing.TB) skills.Engine {
		db := stores[count%len(stores)]
		count++
		write(t, db, func(tx core.Tx) error {
			s, err := SkillsIn(tx)
			if err != nil {
				return err
			}
			for _, query := range []string{`DELETE FROM skill_token`, `DELETE FROM skill_document`, `DELETE FROM skill_collection`} {
				if _, err := s.t.l.exec(query); err != nil {
					return err
				}
			}
			return nil
		})
		engine := how
		engine.db = db
		return &engine
	})
}

// Keys stop following ids once a gap between two is used up; what is found, and in which order, stays the same.
func TestSkillEngineWithoutRoomBetweenKeys(t *testing.T) {
	db := openAt(t, filepath.Join(t.TempDir(), "g.db"))
	engine := db.SkillEngine()
	put := func(id string) {
		t.Helper()
		c := skills.Collection{ID: skills.CollectionID(id), Visibility: skills.VisibilityPublic}
		d, err := skills.NewDocument(skills.Ref{Collection: c.ID, Path: "x"}, []byte("word"))
		if err != nil {
			t.Fatal(err)
		}
		if err := engine.Put(t.Context(), skills.EntryFor(c, d)); err != nil {
			t.Fatal(err)
		}
	}
	put("a")
	put("z")
	for i := range 30 {
		put(fmt.Sprintf("m%02d", i)) // each between the one before and z
	}
	matches, err := engine.Find(t.Context(), skills.Terms{Whole: []string{"word"}}, skills.For("alice"), 40)
	if err != nil {
		t.Fatal(err)
	}
	if len(matches) != 32 {
		t.Fatalf("got %d matches, want 32", len(matches))
	}
	for i, m := range matches[1:] {
		if matches[i].Ref.Collection >= m.Ref.Collection {
			t.Errorf("%s stands before %s", matches[i].Ref, m.Ref)
		}
	}
}

// Numbers in one collection run out in the same way: then it is numbered afresh.
func TestSkillEngineWithoutRoomBetweenNumbers(t *testing.T) {
	db := openNew(t)
	engine := db.SkillEngine()
	paths := []string{"a", "z"}
	for i := range 60 {
		paths = append(paths, fmt.Sprintf("m%02d", i))
	}
	for _, path := range paths {
		c := skills.Collection{ID: "pub", Visibility: skills.VisibilityPublic}
		if err := engine.Put(t.Context(), skills.EntryFor(c, skills.Document{Ref: skills.Ref{Collection: "pub", Path: path}, Bytes: []byte("word")})); err != nil {
			t.Fatal(err)
		}
	}
	matches, err := engine.Find(t.Context(), skills.Terms{Whole: []string{"word"}}, skills.For("alice"), 100)
	if err != nil {
		t.Fatal(err)
	}
	if len(matches) != len(paths) {
		t.Fatalf("got %d matches, want %d", len(matches), len(paths))
	}
	for i, m := range matches[1:] {
		if matches[i].Ref.Path >= m.Ref.Path {
			t.Errorf("%s stands before %s", matches[i].Ref, m.Ref)
		}
	}
}
