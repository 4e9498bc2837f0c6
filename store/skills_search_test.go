package store

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
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

// What a document says of its own tier is what the index says, for documents of every kind.
func TestSkillEngineTiersOfDocuments(t *testing.T) {
	db := openNew(t)
	engine := db.SkillEngine()
	if err := engine.Put(t.Context(), skills.Entry{Ref: skills.Ref{Collection: "pub", Path: "entry"}, Visibility: skills.VisibilityPublic, Name: []string{"red"}}); err != nil {
		t.Fatal(err)
	}
	for _, d := range []skills.Document{
		{Ref: skills.Ref{Path: "blue/SKILL.md"}, Title: "green", Description: "stored", Bytes: []byte("---\nname: blue\ndescription: red paint\n---\nbody stored word")},
		{Ref: skills.Ref{Path: "broken/SKILL.md"}, Title: "red", Description: "green", Bytes: []byte("---\nname: blue\n---\npaint word")},
		{Ref: skills.Ref{Path: "red/green.md"}, Bytes: []byte("blue word")},
		{Ref: skills.Ref{Path: "x/SKILL.md"}, Bytes: []byte("---\nname: x\ndescription: word\n---\nred green blue")},
		{Ref: skills.Ref{Path: "y"}, Title: "Red Green", Description: "Blue", Bytes: []byte{0, 1}},
	} {
		d.Ref.Collection = "pub"
		d.ContentType, d.SHA256, d.Author = skills.ContentType(d.Ref.Path, d.Bytes), skills.Digest(d.Bytes), "alice"
		write(t, db, func(tx core.Tx) error {
			s, err := SkillsIn(tx)
			if err != nil {
				return err
			}
			c, err := s.Entry(skills.For("alice"), "pub")
			if err != nil {
				return err
			}
			return s.Publish(c, d)
		})
	}
	tiers := map[skills.Tier]bool{}
	for _, text := range []string{"red", "green", "blue", "red green", "blue red", "stored", "paint red", "word", "skill", "md", "x", "re", "gre", "s", "none"} {
		for _, prefix := range []bool{false, true} {
			terms, err := skills.ParseQuery(skills.Query{Text: text, Limit: 20, Prefix: prefix})
			if err != nil {
				t.Fatal(err)
			}
			want, err := (&SkillEngine{db: db, words: -1, indexOnly: true}).Find(t.Context(), terms, skills.For("alice"), 20)
			if err != nil {
				t.Fatal(err)
			}
			got, err := engine.Find(t.Context(), terms, skills.For("alice"), 20)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q (prefix %t): got %v, want %v", text, prefix, got, want)
			}
			for _, m := range got {
				tiers[m.Tier] = true
			}
		}
	}
	if len(tiers) != 3 {
		t.Errorf("found only the tiers %v", tiers)
	}
}

// A beginning of more words than are asked for one by one finds what they find, in the same order.
func TestSkillEngineBroadPrefix(t *testing.T) {
	engine := openNew(t).SkillEngine()
	for i := range 2 * manyWords {
		e := skills.Entry{Ref: skills.Ref{Collection: "pub", Path: fmt.Sprintf("%03d", i)}, Visibility: skills.VisibilityPublic, Body: []string{fmt.Sprintf("w%03d", i)}}
		switch i {
		case 90:
			e.Name = []string{"wide"}
		case 80:
			e.About = []string{"wide"}
		case 70:
			e.About = []string{"wid"} // which another word begins with
		}
		if err := engine.Put(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	for prefix, want := range map[string]string{"w": "090:1 070:2 080:2 000:3", "w01": "010:3 011:3 012:3 013:3", "wi": "090:1 070:2 080:2", "x": ""} {
		matches, err := engine.Find(t.Context(), skills.Terms{Prefix: prefix}, skills.For("alice"), 4)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range matches {
			got = append(got, fmt.Sprintf("%s:%d", m.Ref.Path, m.Tier))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %q", prefix, got, want)
		}
	}
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
