package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/skills"
)

// onlyAlive says of every process but one that it lives.
type onlyAlive struct{ self, dead core.ProcessID }

func (o onlyAlive) Self() core.ProcessID         { return o.self }
func (o onlyAlive) Alive(id core.ProcessID) bool { return id != o.dead }
func collectionFor(id string) (c SkillCollection) {
	c.ID, c.Visibility, c.Owner, c.Source.Kind, c.Place = skills.CollectionID(id), skills.VisibilityPublic, "alice", skills.SourceFolder, "/src"
	return c
}

func skillText(name, description, body string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\n---\n%s\n", name, description, body)
}

// importInto imports files by path; a stamp is the text's digest.
func importInto(t *testing.T, db *DB, id string, files map[string]string) (ImportChanges, []string) {
	t.Helper()
	im, err := db.BeginImport(t.Context(), collectionFor(id), onlyAlive{self: "p1"}, noon)
	if err != nil {
		t.Fatal(err)
	}
	read := putAll(t, im, files)
	changes := finish(t, db, im)
	return changes, read
}

func putAll(t *testing.T, im *Import, files map[string]string) []string {
	t.Helper()
	var listed []Listed
	for path, text := range files {
		listed = append(listed, Listed{path, skills.Digest([]byte(text))})
	}
	wanted, err := im.Plan(t.Context(), listed)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range wanted {
		d, err := skills.NewDocument(skills.Ref{Path: path}, []byte(files[path]))
		if err != nil {
			t.Fatal(err)
		}
		d.Author = "alice"
		if err := im.Put(t.Context(), d, skills.Digest(d.Bytes)); err != nil {
			t.Fatal(err)
		}
	}
	return wanted
}

func finish(t *testing.T, db *DB, im *Import) ImportChanges {
	t.Helper()
	changes, err := im.Changes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	write(t, db, func(tx core.Tx) error { return im.Finish(tx, changes, noon) })
	if err := im.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	return changes
}

func pathsIn(t *testing.T, db *DB, id skills.CollectionID) string {
	t.Helper()
	all, err := db.Shelf().Documents(t.Context(), skills.For("alice"), id, 0, 1000)
	if skills.CodeOf(err) == skills.CodeNotFound {
		return "not found"
	}
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, d := range all {
		paths = append(paths, d.Ref.Path)
	}
	return strings.Join(paths, " ")
}

func foundFor(t *testing.T, db *DB, word string) int {
	t.Helper()
	matches, err := db.SkillEngine().Find(t.Context(), skills.Terms{Whole: []string{word}}, skills.For("alice"), 50)
	if err != nil {
		t.Fatal(err)
	}
	return len(matches)
}

// rows counts what is stored, seen or not.
func rows(t *testing.T, db *DB) (documents, tokens int) {
	t.Helper()
	read(t, db, func(v core.View) error {
		l := v.(*view).l
		return errors.Join(l.one(`SELECT count(*) FROM skill_document`, nil, &documents), l.one(`SELECT count(*) FROM skill_token`, nil, &tokens))
	})
	return documents, tokens
}

func TestImportReadsOnlyWhatChanged(t *testing.T) {
	db := openNew(t)
	files := map[string]string{"a/SKILL.md": skillText("a", "about apples", "one"), "b/SKILL.md": skillText("b", "about pears", "two"), "c.txt": "plain"}
	changes, read := importInto(t, db, "pub", files)
	if len(read) != 3 || len(changes.Added) != 3 {
		t.Fatalf("first import: read %v, changes %+v", read, changes)
	}
	files["b/SKILL.md"] = skillText("b", "about plums", "two")
	files["b/more.txt"] = "more"
	delete(files, "c.txt")
	changes, read = importInto(t, db, "pub", files)
	if !slices.Equal(read, []string{"b/SKILL.md", "b/more.txt"}) {
		t.Errorf("second import read %v", read)
	}
	if got := fmt.Sprint(changes); got != "{[b/more.txt] [b/SKILL.md] [c.txt] 1}" {
		t.Errorf("changes: got %s", got)
	}
	if got := pathsIn(t, db, "pub"); got != "a/SKILL.md b/SKILL.md b/more.txt" {
		t.Errorf("documents: got %s", got)
	}
	for word, want := range map[string]int{"pears": 0, "plums": 1, "plain": 0, "apples": 1} {
		if got := foundFor(t, db, word); got != want {
			t.Errorf("%s: got %d, want %d", word, got, want)
		}
	}
	if documents, tokens := rows(t, db); documents != 3 || tokens != 3 {
		t.Errorf("%d documents and %d rows of tokens are stored, want 3", documents, tokens)
	}
}

// A file that looks changed and is not is read, and not stored again.
func TestImportKeepsWhatIsTheSame(t *testing.T) {
	db := openNew(t)
	importInto(t, db, "pub", map[string]string{"a": "one"})
	im, err := db.BeginImport(t.Context(), collectionFor("pub"), onlyAlive{self: "p1"}, noon)
	if err != nil {
		t.Fatal(err)
	}
	wanted, err := im.Plan(t.Context(), []Listed{{"a", "another stamp"}})
	if err != nil || len(wanted) != 1 {
		t.Fatalf("to be read: %v, %v", wanted, err)
	}
	d, err := skills.NewDocument(skills.Ref{Path: "a"}, []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	if err := im.Put(t.Context(), d, "another stamp"); err != nil {
		t.Fatal(err)
	}
	if changes := finish(t, db, im); !changes.None() || changes.Kept != 1 {
		t.Errorf("got %+v, want no change", changes)
	}
}

// Nobody sees an import before it is finished, and nothing of one that never is.
func TestImportIsSeenWhole(t *testing.T) {
	db := openNew(t)
	im, err := db.BeginImport(t.Context(), collectionFor("pub"), onlyAlive{self: "p1"}, noon)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for i := range batchDocuments + 10 {
		files[fmt.Sprintf("%03d/SKILL.md", i)] = skillText("x", "about apples", "one")
	}
	putAll(t, im, files)
	if err := im.wait(); err != nil {
		t.Fatal(err)
	}
	if documents, _ := rows(t, db); documents != batchDocuments {
		t.Errorf("%d rows are stored halfway, want %d", documents, batchDocuments)
	}
	if got := pathsIn(t, db, "pub"); got != "not found" {
		t.Errorf("halfway: got %q", got)
	}
	if got := foundFor(t, db, "apples"); got != 0 {
		t.Errorf("halfway %d were found", got)
	}
	if err := im.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	if documents, tokens := rows(t, db); documents != 0 || tokens != 0 {
		t.Errorf("%d documents and %d rows of tokens are left", documents, tokens)
	}
	importInto(t, db, "pub", map[string]string{"a": "old pears"})
	im, err = db.BeginImport(t.Context(), collectionFor("pub"), onlyAlive{self: "p1"}, noon)
	if err != nil {
		t.Fatal(err)
	}
	putAll(t, im, map[string]string{"a": "new pears", "b": "new plums"})
	changes, err := im.Changes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := pathsIn(t, db, "pub"); got != "a" || foundFor(t, db, "old") != 1 || foundFor(t, db, "new") != 0 {
		t.Errorf("before the end: got %q", got)
	}
	staged, err := im.Staged(t.Context(), "a")
	if err != nil || string(staged.Bytes) != "new pears" {
		t.Errorf("staged: %q, %v", staged.Bytes, err)
	}
	write(t, db, func(tx core.Tx) error { return im.Finish(tx, changes, noon) })
	if got := pathsIn(t, db, "pub"); got != "a b" || foundFor(t, db, "old") != 0 || foundFor(t, db, "new") != 2 {
		t.Errorf("at the end, before clearing away: got %q", got)
	}
}

func TestTwoImportsOfOneCollection(t *testing.T) {
	db := openNew(t)
	first, err := db.BeginImport(t.Context(), collectionFor("pub"), onlyAlive{self: "p1"}, noon)
	if err != nil {
		t.Fatal(err)
	}
	putAll(t, first, map[string]string{"a": "one"})
	var busy *ImportingError
	if _, err := db.BeginImport(t.Context(), collectionFor("pub"), onlyAlive{self: "p2"}, noon.Add(1)); !errors.As(err, &busy) {
		t.Fatalf("a second import: got %v, want to be refused", err)
	}
	// The first process is gone: the second takes over, and the first cannot finish should it live after all.
	second, err := db.BeginImport(t.Context(), collectionFor("pub"), onlyAlive{self: "p2", dead: "p1"}, noon.Add(2))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Changes(t.Context()); !errors.As(err, &busy) {
		t.Errorf("the first import goes on: %v", err)
	}
	putAll(t, second, map[string]string{"b": "two"})
	finish(t, db, second)
	err = db.Write(t.Context(), func(tx core.Tx) error { return first.Finish(tx, ImportChanges{}, noon) })
	if !errors.As(err, &busy) {
		t.Errorf("the first import finishes: %v", err)
	}
	if err := first.End(t.Context()); err != nil {
		t.Error(err)
	}
	if got := pathsIn(t, db, "pub"); got != "b" {
		t.Errorf("got %q, want b", got)
	}
}

func TestCollectionRemovedDuringImport(t *testing.T) {
	db := openNew(t)
	importInto(t, db, "pub", map[string]string{"a": "one"})
	im, err := db.BeginImport(t.Context(), collectionFor("pub"), onlyAlive{self: "p1"}, noon)
	if err != nil {
		t.Fatal(err)
	}
	putAll(t, im, map[string]string{"a": "two"})
	write(t, db, func(tx core.Tx) error {
		s, err := SkillsIn(tx)
		if err != nil {
			return err
		}
		c, err := s.Entry(skills.For("alice"), "pub")
		if err != nil {
			return err
		}
		return s.RemoveCollection(c)
	})
	if _, err := im.Changes(t.Context()); skills.CodeOf(err) != skills.CodeNotFound {
		t.Errorf("got %v, want not_found", err)
	}
	if err := im.End(t.Context()); err != nil {
		t.Error(err)
	}
	for _, ref := range []string{"pub/a", "pub/b", "never/a"} {
		r, _ := skills.ParseRef(ref)
		if _, _, err := db.Shelf().Document(t.Context(), skills.For("alice"), r); skills.CodeOf(err) != skills.CodeNotFound {
			t.Errorf("%s: got %v, want not_found", ref, err)
		}
	}
	if documents, tokens := rows(t, db); documents != 0 || tokens != 0 {
		t.Errorf("%d documents and %d rows of tokens are left", documents, tokens)
	}
}

// Sessions keep the id of what they read: whoever got the id of a removed private collection could let others see it.
func TestS105_IdOfARemovedPrivateCollection(t *testing.T) {
	db := openNew(t)
	create := func(visibility skills.Visibility, owner skills.AccountID) error {
		return db.Write(t.Context(), func(tx core.Tx) error {
			s, err := SkillsIn(tx)
			if err != nil {
				return err
			}
			c := skills.Collection{ID: "pa", Visibility: visibility, Owner: owner, Source: skills.Source{Kind: skills.SourceWritten}}
			return s.Create(SkillCollection{Collection: c}, noon)
		})
	}
	remove := func() {
		t.Helper()
		write(t, db, func(tx core.Tx) error {
			s, err := SkillsIn(tx)
			if err != nil {
				return err
			}
			c, err := s.Entry(skills.For("alice"), "pa")
			if err != nil {
				return err
			}
			return s.RemoveCollection(c)
		})
		if err := db.ClearSkills(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := create(skills.VisibilityPublic, "alice"); err != nil {
		t.Fatal(err)
	}
	remove() // of a public one: nothing is kept
	if err := create(skills.VisibilityPrivate, "alice"); err != nil {
		t.Fatal(err)
	}
	remove()
	for _, c := range []struct {
		visibility skills.Visibility
		owner      skills.AccountID
	}{{skills.VisibilityPublic, "alice"}, {skills.VisibilityPublic, "bob"}, {skills.VisibilityPrivate, "bob"}} {
		if err := create(c.visibility, c.owner); !errors.Is(err, core.ErrNameTaken) {
			t.Errorf("%s of %s: got %v, want that the name is taken", c.visibility, c.owner, err)
		}
		made := collectionFor("pa")
		made.Visibility, made.Owner = c.visibility, c.owner
		if _, err := db.BeginImport(t.Context(), made, onlyAlive{self: "p1"}, noon); !errors.Is(err, core.ErrNameTaken) {
			t.Errorf("import as %s of %s: got %v, want that the name is taken", c.visibility, c.owner, err)
		}
	}
	if err := create(skills.VisibilityPrivate, "alice"); err != nil {
		t.Errorf("alice's own again: %v", err)
	}
}

// A skill that is edited into none is no skill and no command from the same transaction on.
func TestS36_SkillEditedFromValidToInvalid(t *testing.T) {
	db := openNew(t)
	publish := func(text string) {
		t.Helper()
		write(t, db, func(tx core.Tx) error {
			s, err := SkillsIn(tx)
			if err != nil {
				return err
			}
			c, err := s.Entry(skills.For("alice"), "pub")
			if skills.CodeOf(err) == skills.CodeNotFound {
				c = collectionFor("pub")
				c.Source.Kind, c.Place = skills.SourceWritten, ""
				if err = s.Create(c, noon); err == nil {
					c, err = s.Entry(skills.For("alice"), "pub")
				}
			}
			if err != nil {
				return err
			}
			d, err := skills.NewDocument(skills.Ref{Collection: "pub", Path: "a/SKILL.md"}, []byte(text))
			if err != nil {
				return err
			}
			d.Author = "alice"
			return s.Publish(c, d)
		})
	}
	state := func() string {
		t.Helper()
		ctx, shelf, scope := t.Context(), db.Shelf(), skills.For("alice")
		all, err := shelf.Skills(ctx, scope, "pub")
		if err != nil {
			t.Fatal(err)
		}
		problems, err := shelf.Problems(ctx, scope, "pub")
		if err != nil {
			t.Fatal(err)
		}
		count, err := shelf.Counts(ctx, scope, "pub")
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(len(all), len(problems), count, foundFor(t, db, "apples"))
	}
	publish(skillText("a", "about apples", "one"))
	if got := state(); got != "1 0 {1 1 0} 1" {
		t.Errorf("valid: got %s", got)
	}
	publish(skillText("a", "about: apples", "one"))
	if got := state(); got != "0 1 {1 0 1} 1" {
		t.Errorf("invalid: got %s", got)
	}
	publish(skillText("a", "about pears", "one"))
	if got := state(); got != "1 0 {1 1 0} 0" {
		t.Errorf("valid again: got %s", got)
	}
}

func TestWrittenByHandIsRefusedInImports(t *testing.T) {
	db := openNew(t)
	importInto(t, db, "pub", map[string]string{"a": "one"})
	err := db.Write(t.Context(), func(tx core.Tx) error {
		s, err := SkillsIn(tx)
		if err != nil {
			return err
		}
		c, err := s.Entry(skills.For("alice"), "pub")
		if err != nil {
			return err
		}
		d, err := skills.NewDocument(skills.Ref{Collection: "pub", Path: "a"}, []byte("two"))
		d.Author = "alice"
		return errors.Join(err, s.Publish(c, d))
	})
	if skills.CodeOf(err) != skills.CodeBadCollection {
		t.Errorf("got %v, want to be refused", err)
	}
}

// Units of one library are never taken for those of another.
func TestLibrariesHaveServicesOfTheirOwn(t *testing.T) {
	one, err1 := openNew(t).Shelf().Service(t.Context())
	two, err2 := openNew(t).Shelf().Service(t.Context())
	if err := errors.Join(err1, err2); err != nil || one == two || one == "" {
		t.Errorf("got %q and %q (%v)", one, two, err)
	}
}
