package store

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"gatehouse/core"
	"gatehouse/skills"
)

// SkillTx changes the skill library within a transaction of the kernel. Whoever calls has asked the kernel whether a
// person decided so (kernel R34), and writes the row of the record in the same transaction.
type SkillTx struct{ t *tx }

// SkillsIn returns the skill library as a transaction of this store changes it.
func SkillsIn(t core.Tx) (SkillTx, error) {
	own, ok := t.(*tx)
	if !ok {
		return SkillTx{}, errors.New("skills: the transaction is another store's")
	}
	return SkillTx{own}, nil
}

// Entry finds a collection that the scope reads.
func (s SkillTx) Entry(scope skills.Scope, id skills.CollectionID) (SkillCollection, error) {
	return s.t.skillCollection(scope, id)
}

// Document finds a document with its bytes in a collection that the scope reads.
func (s SkillTx) Document(scope skills.Scope, ref skills.Ref) (SkillCollection, skills.Document, error) {
	c, err := s.t.skillCollection(scope, ref.Collection)
	if err != nil {
		return c, skills.Document{}, noDocument(ref)
	}
	d, err := s.t.skillDocument(c, ref.Path)
	return c, d, err
}

// Create makes a collection. An id that is taken, also by one that the person cannot see, is core.ErrNameTaken; so is that
// of a private collection that was removed, but for another private one of the same owner.
func (s SkillTx) Create(c SkillCollection, now time.Time) error {
	_, err := s.t.createCollection(c, now)
	return err
}

const (
	keyStride = 1 << 10
	firstKey  = 1 << 21
	lastKey   = 1<<22 - 1
)

func (t *tx) createCollection(c SkillCollection, now time.Time) (SkillCollection, error) {
	if err := skills.CheckCollectionID(c.ID); err != nil {
		return c, err
	}
	err := t.notRetired(c)
	if err != nil {
		return c, err
	}
	if c.key, err = t.keyFor(c.ID); err != nil {
		return c, err
	}
	c.MadeAt = now
	_, err = t.l.exec(`INSERT INTO skill_collection (`+collectionColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, '', '')`,
		c.key, string(c.ID), c.Title, c.Description, string(c.Visibility), string(c.Owner), string(c.Source.Kind), c.Place,
		c.Source.Remote, c.Source.Branch, c.Source.Commit, nanos(c.MadeAt))
	if constraint(err) {
		return c, fmt.Errorf("collection %q: %w", c.ID, core.ErrNameTaken)
	}
	return c, err
}

// notRetired refuses the id of a removed private collection to whoever could open with it what sessions read of that one.
func (t *tx) notRetired(c SkillCollection) error {
	var owner string
	err := t.l.one(`SELECT owner FROM skill_retired WHERE id = ?`, []any{string(c.ID)}, &owner)
	switch {
	case errors.Is(err, core.ErrNotFound), err == nil && c.Visibility == skills.VisibilityPrivate && string(c.Owner) == owner:
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("collection %q: %w", c.ID, core.ErrNameTaken)
}

// keyFor picks a key between those of the neighbours by id. Where there is none left any free one does: searches are a
// little slower then and not otherwise (see readableRuns).
func (t *tx) keyFor(id skills.CollectionID) (int64, error) {
	var below, above, highest sql.NullInt64
	var lowest sql.NullInt64
	err := t.l.one(`SELECT (SELECT key FROM skill_collection WHERE id <> '' AND id < ?1 ORDER BY id DESC LIMIT 1),
		(SELECT key FROM skill_collection WHERE id <> '' AND id > ?1 ORDER BY id LIMIT 1), (SELECT max(key) FROM skill_collection),
		(SELECT min(key) FROM skill_collection)`, []any{string(id)}, &below, &above, &highest, &lowest)
	if err != nil {
		return 0, err
	}
	var wanted int64
	switch {
	case !below.Valid && !above.Valid:
		wanted = firstKey
	case !above.Valid:
		wanted = below.Int64 + keyStride
	case !below.Valid:
		wanted = above.Int64 - keyStride
	default:
		wanted = below.Int64 + (above.Int64-below.Int64)/2
	}
	for _, key := range []int64{wanted, highest.Int64 + 1, lowest.Int64 - 1} {
		if free, err := t.keyIsFree(key); err != nil || free {
			return key, err
		}
	}
	return 0, errors.New("skills: no more collections can be made")
}

func (t *tx) keyIsFree(key int64) (bool, error) {
	if key < 1 || key > lastKey {
		return false, nil
	}
	var taken int
	err := t.l.one(`SELECT count(*) FROM skill_collection WHERE key = ?`, []any{key}, &taken)
	return taken == 0, err
}

// Writable refuses to change by hand what the next import would change back.
func (c SkillCollection) Writable() error {
	if c.Source.Kind == skills.SourceWritten {
		return nil
	}
	return &skills.RefusedError{
		Code: skills.CodeBadCollection, Text: fmt.Sprintf("collection %q: is imported from %s", c.ID, c.Place),
		Hint: "change the file there, then run gatehouse skills sync " + string(c.ID),
	}
}

// Publish puts a document into a collection, in place of one with the same path.
func (s SkillTx) Publish(c SkillCollection, d skills.Document) error {
	if err := c.Writable(); err != nil {
		return err
	}
	if d.Author == "" {
		return fmt.Errorf("document %s: nobody wrote it", d.Ref)
	}
	return s.t.publish(c, stagedOf(c, d, ""))
}

// Remove takes a document out of its collection.
func (s SkillTx) Remove(c SkillCollection, path string) error {
	if err := c.Writable(); err != nil {
		return err
	}
	number, err := s.t.numberOf(c, path)
	if errors.Is(err, core.ErrNotFound) {
		return noDocument(skills.Ref{Collection: c.ID, Path: path})
	}
	if err != nil {
		return err
	}
	return s.t.erase(number)
}

// RemoveCollection takes a collection away with all that is in it and all pins of it. Its rows are cleared away later.
func (s SkillTx) RemoveCollection(c SkillCollection) error {
	if _, err := s.t.l.exec(`DELETE FROM skill_pin WHERE collection = ?`, string(c.ID)); err != nil {
		return err
	}
	if c.Visibility != skills.VisibilityPublic {
		if _, err := s.t.l.exec(`INSERT INTO skill_retired (id, owner) VALUES (?, ?) ON CONFLICT DO NOTHING`, string(c.ID), string(c.Owner)); err != nil {
			return err
		}
	}
	n, err := s.t.l.exec(`UPDATE skill_collection SET id = '', generation = -1, importer = '', import = '' WHERE key = ? AND id = ?`, c.key, string(c.ID))
	if err == nil && n == 0 {
		return noCollection(c.ID)
	}
	return err
}

// staged is a document ready to be stored.
type staged struct {
	doc    skills.Document
	stamp  string
	skill  sql.NullString
	name   string
	faults sql.NullString
	tokens string
	err    error
}

// stagedOf does all the work that needs no transaction.
func stagedOf(c SkillCollection, d skills.Document, stamp string) staged {
	s := staged{doc: d, stamp: stamp, tokens: indexText(skills.EntryFor(c.Collection, d))}
	skill, ok, faults := skills.Inspect(d)
	if s.faults, s.err = list(faults); s.err != nil || !ok {
		return s
	}
	s.name = skill.Frontmatter.Name
	s.skill.Valid = true
	s.skill.String, s.err = encode(skillHead{skill.Title, skill.Frontmatter, skill.Body})
	return s
}

// numberOf finds the document that readers see at a path.
func (v *view) numberOf(c SkillCollection, path string) (number int64, err error) {
	err = v.l.one(`SELECT d.number FROM skill_document d WHERE `+current+` AND d.collection = ?2 AND d.path = ?3`,
		[]any{c.generation, c.key, path}, &number)
	return number, err
}

// publish stores one document within one transaction: no generation is needed, for nobody sees it half.
func (t *tx) publish(c SkillCollection, s staged) error {
	number, err := t.numberOf(c, s.doc.Ref.Path)
	if err == nil {
		if err := t.erase(number); err != nil {
			return err
		}
		return t.store(c, number, c.generation, s)
	}
	if !errors.Is(err, core.ErrNotFound) {
		return err
	}
	for range 2 {
		neighbours, err := t.neighbours(c, s.doc.Ref.Path)
		if err != nil {
			return err
		}
		if numbers, ok := placesFor(c, neighbours, []string{s.doc.Ref.Path}); ok {
			return t.store(c, numbers[0], c.generation, s)
		}
		if c, err = t.renumber(c); err != nil {
			return err
		}
	}
	return fmt.Errorf("collection %s: there is no room for one more document", c.ID)
}

// neighbours are the stored documents next to a path.
func (t *tx) neighbours(c SkillCollection, path string) ([]placed, error) {
	var out []placed
	for _, q := range []string{`d.path < ?2 ORDER BY d.path DESC`, `d.path > ?2 ORDER BY d.path`} {
		err := t.l.each(t.ctx, `SELECT d.path, d.number FROM skill_document d WHERE d.collection = ?1 AND `+q+` LIMIT 1`, []any{c.key, path},
			func(row scanner) error {
				var p placed
				err := row.Scan(&p.path, &p.number)
				out = append(out, p)
				return err
			})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// store writes a document and its place in the index.
func (t *tx) store(c SkillCollection, number, since int64, s staged) error {
	if s.err != nil {
		return s.err
	}
	d := s.doc
	_, err := t.l.exec(`INSERT INTO skill_document (number, collection, path, title, description, author, content_type, size, sha256, stamp,
		since, until, faults) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)`,
		number, c.key, d.Ref.Path, d.Title, d.Description, string(d.Author), d.ContentType, len(d.Bytes), d.SHA256, s.stamp, since, s.faults)
	if err != nil {
		return err
	}
	content := d.Bytes
	if content == nil {
		content = []byte{} // nil would be NULL
	}
	if _, err := t.l.exec(`INSERT INTO skill_bytes (number, bytes) VALUES (?, ?)`, number, content); err != nil {
		return err
	}
	if s.skill.Valid {
		if _, err := t.l.exec(`INSERT INTO skill (number, name, head) VALUES (?, ?, ?)`, number, s.name, s.skill); err != nil {
			return err
		}
	}
	_, err = t.l.exec(`INSERT INTO skill_token (rowid, tokens) VALUES (?, ?)`, number, s.tokens)
	return err
}

// erase removes a row with all that hangs on it.
func (t *tx) erase(number int64) error {
	if _, err := t.l.exec(`DELETE FROM skill_token WHERE rowid = ?`, number); err != nil {
		return err
	}
	_, err := t.l.exec(`DELETE FROM skill_document WHERE number = ?`, number)
	return err
}
