package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gatehouse/core"
	"gatehouse/skills"
)

// An import of a folder goes through many short transactions, so that other writers never wait long, and yet readers see
// all of it at once: what it stores belongs to the next generation of the collection, which Finish makes the present one.
// An import that ends in between, however it ends, leaves nothing that anybody sees; the next one clears it away.

// ImportingError refuses an import of a collection that is being imported.
type ImportingError struct{ Collection skills.CollectionID }

// Error implements error.
func (e *ImportingError) Error() string {
	return fmt.Sprintf("collection %q: is being imported by another process", e.Collection)
}

// Import is an import under way. It is for one goroutine.
type Import struct {
	db    *DB
	entry SkillCollection
	fresh bool
	known map[string]knownDocument

	numbers map[string]int64 // of what is to be read
	listed  []string         // all paths, in order
	stamps  []string
	stored  map[string]bool   // written for the next generation
	same    map[string]string // read and found as it was, with the new stamp
	pending []staged
	weight  int
	writing chan error // of the batch that is being written while the next one is read; nil for none
	written []staged   // that batch
}

type knownDocument struct {
	number int64
	stamp  string
	sha256 string
	size   int64
}

// Listed is a file of the source as it looks from outside.
type Listed struct {
	Path  string
	Stamp string // changes whenever the content may have; empty is never the same
}

// BeginImport claims a collection for an import; it makes one that is not there yet, which nobody sees before Finish. A
// collection that a living process imports is an *ImportingError.
func (db *DB) BeginImport(ctx context.Context, c SkillCollection, alive core.Alive, now time.Time) (*Import, error) {
	im := &Import{
		db: db, entry: c, known: map[string]knownDocument{}, numbers: map[string]int64{}, stored: map[string]bool{}, same: map[string]string{},
	}
	token := strconv.FormatInt(now.UnixNano(), 36)
	err := db.Write(ctx, func(ct core.Tx) error {
		t, err := SkillsIn(ct)
		if err != nil {
			return err
		}
		there, err := t.claimed(c, alive, now)
		if err != nil {
			return err
		}
		im.fresh = there.generation < 0
		there.Source, there.Place = c.Source, c.Place
		im.entry = there
		im.entry.importer, im.entry.token = alive.Self(), token
		_, err = t.t.l.exec(`UPDATE skill_collection SET importer = ?, import = ? WHERE key = ?`, string(alive.Self()), token, there.key)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := im.db.clearSkills(ctx, im.entry); err != nil {
		return nil, err
	}
	return im, im.readKnown(ctx)
}

// claimed finds the collection that an import is for, or makes it.
func (s SkillTx) claimed(c SkillCollection, alive core.Alive, now time.Time) (SkillCollection, error) {
	there, err := s.t.collectionOf(c.ID)
	if skills.CodeOf(err) == skills.CodeNotFound {
		if there, err = s.t.createCollection(c, now); err != nil {
			return there, err
		}
		there.generation = -1
		_, err = s.t.l.exec(`UPDATE skill_collection SET generation = -1 WHERE key = ?`, there.key)
		return there, err
	}
	switch {
	case err != nil:
		return there, err
	case there.importer != "" && alive.Alive(there.importer):
		return there, &ImportingError{c.ID}
	case there.generation < 0: // of a first import that died: as if it had never begun
		there.Collection = c.Collection
		_, err = s.t.l.exec(`UPDATE skill_collection SET title = ?, description = ?, visibility = ?, owner = ? WHERE key = ?`,
			c.Title, c.Description, string(c.Visibility), string(c.Owner), there.key)
		return there, err
	case !skills.For(c.Owner).Reads(there.Collection):
		return there, fmt.Errorf("collection %q: %w", c.ID, core.ErrNameTaken)
	}
	return there, nil
}

// next is the generation that the import makes.
func (im *Import) next() int64 { return max(im.entry.generation, 0) + 1 }

func (im *Import) readKnown(ctx context.Context) error {
	return im.db.snapshot(ctx, func(v *view) error {
		return v.l.each(ctx, `SELECT path, number, stamp, sha256, size FROM skill_document WHERE collection = ?`, []any{im.entry.key}, func(row scanner) error {
			var path string
			var k knownDocument
			err := row.Scan(&path, &k.number, &k.stamp, &k.sha256, &k.size)
			im.known[path] = k
			return err
		})
	})
}

// Plan takes all files of the source and returns, in order, those whose content has to be read. It is called once.
func (im *Import) Plan(ctx context.Context, files []Listed) ([]string, error) {
	slices.SortFunc(files, func(a, b Listed) int { return compareText(a.Path, b.Path) })
	var wanted []string
	for _, f := range files {
		im.listed, im.stamps = append(im.listed, f.Path), append(im.stamps, f.Stamp)
		if k, known := im.known[f.Path]; !known || f.Stamp == "" || k.stamp != f.Stamp {
			wanted = append(wanted, f.Path)
		}
	}
	there := make([]placed, 0, len(im.known))
	for path, k := range im.known {
		there = append(there, placed{path, k.number})
	}
	slices.SortFunc(there, func(a, b placed) int { return compareText(a.path, b.path) })
	numbers, ok := placesFor(im.entry, there, wanted)
	if !ok {
		if err := im.renumber(ctx, &there); err != nil {
			return nil, err
		}
		if numbers, ok = placesFor(im.entry, there, wanted); !ok {
			return nil, fmt.Errorf("collection %s: has too many documents", im.entry.ID)
		}
	}
	for i, path := range wanted {
		im.numbers[path] = numbers[i]
	}
	return wanted, nil
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (im *Import) renumber(ctx context.Context, there *[]placed) error {
	err := im.db.Write(ctx, func(ct core.Tx) error {
		t, err := SkillsIn(ct)
		if err != nil {
			return err
		}
		entry, err := t.t.renumber(im.entry)
		im.entry.page = entry.page
		return err
	})
	if err != nil {
		return err
	}
	if err := im.readKnown(ctx); err != nil {
		return err
	}
	for i := range *there {
		(*there)[i].number = im.known[(*there)[i].path].number
	}
	return nil
}

// A batch is written when it has so many documents, or so many bytes of text and tokens.
const (
	batchDocuments = 250
	batchBytes     = 4 << 20
)

// Put takes the content of a planned file. What did not change in spite of its stamp is not stored again.
func (im *Import) Put(ctx context.Context, d skills.Document, stamp string) error {
	d.Ref.Collection = im.entry.ID
	if k, known := im.known[d.Ref.Path]; known && k.sha256 == d.SHA256 {
		im.same[d.Ref.Path] = stamp
		return nil
	}
	if _, planned := im.numbers[d.Ref.Path]; !planned {
		return fmt.Errorf("document %s: was not listed", d.Ref)
	}
	s := stagedOf(im.entry, d, stamp)
	im.pending = append(im.pending, s)
	im.weight += len(d.Bytes) + len(s.tokens)
	if len(im.pending) < batchDocuments && im.weight < batchBytes {
		return nil
	}
	return im.flush(ctx)
}

// flush has what waits written, while the caller goes on; what went wrong with the batch before is its error.
func (im *Import) flush(ctx context.Context) error {
	if err := im.wait(); err != nil || len(im.pending) == 0 {
		return err
	}
	batch, ended := im.pending, make(chan error, 1)
	im.pending, im.weight = nil, 0
	im.written, im.writing = batch, ended
	go func() { ended <- im.write(ctx, batch) }()
	return nil
}

// wait lets the batch that is being written end.
func (im *Import) wait() error {
	if im.writing == nil {
		return nil
	}
	err := <-im.writing
	for _, s := range im.written {
		if err == nil {
			im.stored[s.doc.Ref.Path] = true
		}
	}
	im.writing, im.written = nil, nil
	return err
}

func (im *Import) write(ctx context.Context, batch []staged) error {
	return im.db.Write(ctx, func(ct core.Tx) error {
		t, err := SkillsIn(ct)
		if err != nil {
			return err
		}
		if err := t.holds(im); err != nil {
			return err
		}
		for _, s := range batch {
			if err := t.t.store(im.entry, im.numbers[s.doc.Ref.Path], im.next(), s); err != nil {
				return err
			}
		}
		return nil
	})
}

// holds reports that the collection is still this import's: nobody removed it, and nobody took it for dead.
func (s SkillTx) holds(im *Import) error {
	var token string
	err := s.t.l.one(`SELECT import FROM skill_collection WHERE key = ? AND id <> ''`, []any{im.entry.key}, &token)
	if errors.Is(err, core.ErrNotFound) {
		return &skills.RefusedError{Code: skills.CodeNotFound, Text: fmt.Sprintf("collection %q: was removed meanwhile", im.entry.ID)}
	}
	if err == nil && token != im.entry.token {
		return &ImportingError{im.entry.ID}
	}
	return err
}

// ImportChanges are the documents that differ between the present generation and the next, each list by path.
type ImportChanges struct {
	Added, Changed, Removed []string
	Kept                    int
}

// None reports that the source is what the collection holds.
func (c ImportChanges) None() bool { return len(c.Added)+len(c.Changed)+len(c.Removed) == 0 }

// Changes stores what waits and says what Finish would change.
func (im *Import) Changes(ctx context.Context) (ImportChanges, error) {
	var c ImportChanges
	if err := im.flush(ctx); err != nil {
		return c, err
	}
	if err := im.wait(); err != nil {
		return c, err
	}
	at := 0
	for _, path := range sortedKeys(im.known) {
		for at < len(im.listed) && im.listed[at] < path {
			at++
		}
		if at == len(im.listed) || im.listed[at] != path {
			c.Removed = append(c.Removed, path)
		}
	}
	for _, path := range im.listed {
		_, known := im.known[path]
		switch {
		case im.stored[path] && known:
			c.Changed = append(c.Changed, path)
		case im.stored[path]:
			c.Added = append(c.Added, path)
		case known:
			c.Kept++
		}
	}
	return c, nil
}

func sortedKeys(known map[string]knownDocument) []string {
	paths := make([]string, 0, len(known))
	for path := range known {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}

// Drop takes a listed file out again: it was gone, or refused, when it was to be read.
func (im *Import) Drop(path string) {
	if at, found := slices.BinarySearch(im.listed, path); found {
		im.listed = slices.Delete(im.listed, at, at+1)
		im.stamps = slices.Delete(im.stamps, at, at+1)
	}
}

// Staged is a document as the next generation has it; CodeNotFound where the import does not change it.
func (im *Import) Staged(ctx context.Context, path string) (skills.Document, error) {
	next := im.entry
	next.generation = im.next()
	if !im.stored[path] {
		return skills.Document{}, noDocument(skills.Ref{Collection: im.entry.ID, Path: path})
	}
	var d SkillDocument
	err := im.db.snapshot(ctx, func(v *view) error {
		return v.find(`SELECT `+documentColumns+`, b.bytes FROM skill_document d JOIN skill_bytes b ON b.number = d.number
			WHERE d.number = ?`, []any{im.numbers[path]}, func(row scanner) error { return scanDocument(row, next, &d, &d.Bytes) })
	})
	return d.Document, err
}

// Finish makes the imported generation the one that readers see, within a transaction of the kernel that also writes the
// row of the record.
func (im *Import) Finish(ct core.Tx, c ImportChanges, now time.Time) error {
	s, err := SkillsIn(ct)
	if err != nil {
		return err
	}
	if err := s.holds(im); err != nil {
		return err
	}
	for _, path := range slices.Concat(c.Changed, c.Removed) {
		if _, err := s.t.l.exec(`UPDATE skill_document SET until = ? WHERE number = ?`, im.next(), im.known[path].number); err != nil {
			return err
		}
	}
	for path, stamp := range im.same {
		if _, err := s.t.l.exec(`UPDATE skill_document SET stamp = ? WHERE number = ?`, stamp, im.known[path].number); err != nil {
			return err
		}
	}
	e := im.entry
	_, err = s.t.l.exec(`UPDATE skill_collection SET generation = ?, imported_at = ?, kind = ?, place = ?, remote = ?, branch = ?, revision = ?,
		importer = '', import = '' WHERE key = ?`,
		im.next(), nanos(now), string(e.Source.Kind), e.Place, e.Source.Remote, e.Source.Branch, e.Source.Commit, e.key)
	return err
}

// End clears away what nobody sees any more: after Finish what it replaced, otherwise all that the import stored. It is
// always called; a second call does nothing.
func (im *Import) End(ctx context.Context) error {
	if im.entry.token == "" {
		return nil
	}
	_ = im.wait() // nothing is written after the clearing; what went wrong was told or is of no matter now
	err := im.db.Write(ctx, func(ct core.Tx) error {
		s, err := SkillsIn(ct)
		if err != nil {
			return err
		}
		if im.fresh { // and not finished: it never was
			if _, err = s.t.l.exec(`UPDATE skill_collection SET id = '' WHERE key = ? AND import = ? AND generation = -1`, im.entry.key, im.entry.token); err != nil {
				return err
			}
		}
		_, err = s.t.l.exec(`UPDATE skill_collection SET importer = '', import = '' WHERE key = ? AND import = ?`, im.entry.key, im.entry.token)
		return err
	})
	im.entry.token = ""
	if err != nil {
		return err
	}
	return im.db.ClearSkills(ctx)
}

// ClearSkills removes, a few at a time, rows that nobody sees: those of removed collections and of past generations.
// Collections that are being imported are left alone.
func (db *DB) ClearSkills(ctx context.Context) error {
	var all []SkillCollection
	err := db.snapshot(ctx, func(v *view) error {
		return v.l.each(ctx, `SELECT `+collectionColumns+` FROM skill_collection WHERE importer = ''`, nil, func(row scanner) error {
			var c SkillCollection
			err := scanCollection(row, &c)
			all = append(all, c)
			return err
		})
	})
	for _, c := range all {
		if err == nil {
			err = db.clearSkills(ctx, c)
		}
	}
	return err
}

func (db *DB) clearSkills(ctx context.Context, c SkillCollection) error {
	const some = 500
	for {
		var numbers []int64
		err := db.snapshot(ctx, func(v *view) error {
			return v.l.each(ctx, `SELECT number FROM skill_document WHERE collection = ?1
				AND (since > ?2 OR until <> 0 AND until <= ?2 OR ?2 = -1) ORDER BY number LIMIT ?3`,
				[]any{c.key, c.generation, some}, func(row scanner) error {
					var n int64
					err := row.Scan(&n)
					numbers = append(numbers, n)
					return err
				})
		})
		if err != nil || len(numbers) == 0 && c.ID != "" {
			return err
		}
		err = db.Write(ctx, func(ct core.Tx) error {
			s, err := SkillsIn(ct)
			if err != nil {
				return err
			}
			for _, n := range numbers {
				if err := s.t.erase(n); err != nil {
					return err
				}
			}
			if len(numbers) == 0 {
				_, err = s.t.l.exec(`DELETE FROM skill_collection WHERE key = ? AND id = ''`, c.key)
			}
			return err
		})
		if err != nil || len(numbers) == 0 {
			return err
		}
	}
}
