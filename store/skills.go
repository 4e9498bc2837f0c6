package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gatehouse/core"
	"gatehouse/skills"
)

// Shelf is the skill library of this store as it can be read. Each method looks at one snapshot, so that nobody sees half
// an import; what was removed since it was listed is skills.CodeNotFound, like what the scope may not read.
type Shelf struct{ db *DB }

var _ skills.Shelf = (*Shelf)(nil)

// Shelf returns the skill library of this store.
func (db *DB) Shelf() *Shelf { return &Shelf{db} }

// Bits of a document's number.
const (
	placeBits = 40
	pageBits  = placeBits - 1 // a page holds one numbering of a whole collection
)

// SkillCollection is a collection with what this store alone keeps of it.
type SkillCollection struct {
	skills.Collection
	Place      string // the file or folder that it is imported from; empty for one that is written here
	MadeAt     time.Time
	ImportedAt time.Time // zero for one that is written here

	key        int64
	generation int64
	page       int64
	importer   core.ProcessID
	token      string
}

const collectionColumns = `key, id, title, description, visibility, owner, kind, place, remote, branch, revision,
	made_at, imported_at, generation, page, importer, import`

func scanCollection(row scanner, c *SkillCollection) error {
	var made, imported int64
	err := row.Scan(&c.key, &c.ID, &c.Title, &c.Description, &c.Visibility, &c.Owner, &c.Source.Kind, &c.Place, &c.Source.Remote,
		&c.Source.Branch, &c.Source.Commit, &made, &imported, &c.generation, &c.page, &c.importer, &c.token)
	c.MadeAt, c.ImportedAt = moment(made), moment(imported)
	return err
}

// skillCollections lists all of them, by id. One whose first import is not done yet has no generation and is none.
func (v *view) skillCollections() ([]SkillCollection, error) {
	var out []SkillCollection
	err := v.l.each(v.ctx, `SELECT `+collectionColumns+` FROM skill_collection WHERE id <> '' AND generation >= 0 ORDER BY id`, nil, func(row scanner) error {
		var c SkillCollection
		err := scanCollection(row, &c)
		out = append(out, c)
		return err
	})
	return out, err
}

// skillCollection finds one, for whoever may read it.
func (v *view) skillCollection(scope skills.Scope, id skills.CollectionID) (SkillCollection, error) {
	c, err := v.collectionOf(id)
	if err == nil && (!scope.Reads(c.Collection) || c.generation < 0) {
		return SkillCollection{}, noCollection(id)
	}
	return c, err
}

// collectionOf finds a collection, whoever may read it.
func (v *view) collectionOf(id skills.CollectionID) (SkillCollection, error) {
	var c SkillCollection
	err := v.find(`SELECT `+collectionColumns+` FROM skill_collection WHERE id = ? AND id <> ''`, []any{string(id)},
		func(row scanner) error { return scanCollection(row, &c) })
	if errors.Is(err, core.ErrNotFound) {
		return SkillCollection{}, noCollection(id)
	}
	return c, err
}

// Places lists where collections are imported from, whoever reads them: real paths of folders and files.
func (s *Shelf) Places(ctx context.Context) ([]string, error) {
	var out []string
	err := s.db.snapshot(ctx, func(v *view) error {
		return v.l.each(ctx, `SELECT DISTINCT place FROM skill_collection WHERE id <> '' AND place <> '' ORDER BY place`, nil, func(row scanner) error {
			var place string
			err := row.Scan(&place)
			out = append(out, place)
			return err
		})
	})
	return out, err
}

func noCollection(id skills.CollectionID) error {
	return &skills.RefusedError{Code: skills.CodeNotFound, Text: fmt.Sprintf("collection %q: not found", id)}
}

func noDocument(ref skills.Ref) error {
	return &skills.RefusedError{Code: skills.CodeNotFound, Text: fmt.Sprintf("document %q: not found", ref)}
}

// numbers are the first and the last number that a document of the collection can have.
func (c SkillCollection) numbers() (first, last int64) {
	return c.key << placeBits, (c.key+1)<<placeBits - 1
}

// current is the condition for rows that readers of a collection see; it takes the collection's generation.
const current = `d.since <= ?1 AND (d.until = 0 OR d.until > ?1)`

const documentColumns = `d.path, d.title, d.description, d.author, d.content_type, d.sha256, d.size`

// SkillDocument is a document with its size, and without its bytes unless they are asked for.
type SkillDocument struct {
	skills.Document
	Size int64
}

func scanDocument(row scanner, c SkillCollection, d *SkillDocument, more ...any) error {
	d.Ref.Collection = c.ID
	return row.Scan(append([]any{&d.Ref.Path, &d.Title, &d.Description, &d.Author, &d.ContentType, &d.SHA256, &d.Size}, more...)...)
}

// Entries lists the collections the scope reads, by id, with what this store keeps of them.
func (s *Shelf) Entries(ctx context.Context, scope skills.Scope) ([]SkillCollection, error) {
	var out []SkillCollection
	err := s.db.snapshot(ctx, func(v *view) error {
		all, err := v.skillCollections()
		for _, c := range all {
			if scope.Reads(c.Collection) {
				out = append(out, c)
			}
		}
		return err
	})
	return out, err
}

// Entry finds a collection that the scope reads.
func (s *Shelf) Entry(ctx context.Context, scope skills.Scope, id skills.CollectionID) (SkillCollection, error) {
	var c SkillCollection
	err := s.db.snapshot(ctx, func(v *view) (err error) {
		c, err = v.skillCollection(scope, id)
		return err
	})
	return c, err
}

// Collections implements skills.Shelf.
func (s *Shelf) Collections(ctx context.Context, scope skills.Scope) ([]skills.Collection, error) {
	all, err := s.Entries(ctx, scope)
	out := make([]skills.Collection, len(all))
	for i, c := range all {
		out[i] = c.Collection
	}
	return out, err
}

// Documents implements skills.Shelf.
func (s *Shelf) Documents(ctx context.Context, scope skills.Scope, id skills.CollectionID, offset, limit int) ([]skills.Document, error) {
	var out []skills.Document
	err := s.inside(ctx, scope, id, func(v *view, c SkillCollection) error {
		first, last := c.numbers()
		return v.l.each(ctx, `SELECT `+documentColumns+` FROM skill_document d
			WHERE `+current+` AND d.number BETWEEN ?2 AND ?3 ORDER BY d.number LIMIT ?4 OFFSET ?5`,
			[]any{c.generation, first, last, limit, offset}, func(row scanner) error {
				var d SkillDocument
				err := scanDocument(row, c, &d)
				out = append(out, d.Document)
				return err
			})
	})
	return out, err
}

func (s *Shelf) inside(ctx context.Context, scope skills.Scope, id skills.CollectionID, fn func(*view, SkillCollection) error) error {
	return s.db.snapshot(ctx, func(v *view) error {
		c, err := v.skillCollection(scope, id)
		if err != nil {
			return err
		}
		return fn(v, c)
	})
}

// skillHead is what is kept of a skill beside its document.
type skillHead struct {
	Title       string
	Frontmatter skills.Frontmatter
	Body        int
}

// Skills implements skills.Shelf. They come by path.
func (s *Shelf) Skills(ctx context.Context, scope skills.Scope, id skills.CollectionID) ([]skills.Skill, error) {
	var out []skills.Skill
	err := s.inside(ctx, scope, id, func(v *view, c SkillCollection) error {
		first, last := c.numbers()
		return v.l.each(ctx, `SELECT d.path, d.author, d.sha256, s.head FROM skill s JOIN skill_document d ON d.number = s.number
			WHERE `+current+` AND s.number BETWEEN ?2 AND ?3 ORDER BY s.number`,
			[]any{c.generation, first, last}, func(row scanner) error {
				skill := skills.Skill{Ref: skills.Ref{Collection: c.ID}}
				var head string
				if err := row.Scan(&skill.Ref.Path, &skill.Author, &skill.SHA256, &head); err != nil {
					return err
				}
				var kept skillHead
				if err := json.Unmarshal([]byte(head), &kept); err != nil {
					return fmt.Errorf("skill %s: %w (%w)", skill.Ref, ErrDamaged, err)
				}
				skill.Title, skill.Frontmatter, skill.Body = kept.Title, kept.Frontmatter, kept.Body
				out = append(out, skill)
				return nil
			})
	})
	return out, err
}

// Problems lists, by path, the documents of a collection that have faults as skills, warnings among them.
func (s *Shelf) Problems(ctx context.Context, scope skills.Scope, id skills.CollectionID) ([]skills.Problem, error) {
	var out []skills.Problem
	err := s.inside(ctx, scope, id, func(v *view, c SkillCollection) error {
		first, last := c.numbers()
		return v.l.each(ctx, `SELECT d.path, d.faults FROM skill_document d
			WHERE `+current+` AND d.number BETWEEN ?2 AND ?3 AND d.faults IS NOT NULL ORDER BY d.number`,
			[]any{c.generation, first, last}, func(row scanner) error {
				p := skills.Problem{Ref: skills.Ref{Collection: c.ID}}
				var faults sql.NullString
				if err := row.Scan(&p.Ref.Path, &faults); err != nil {
					return err
				}
				err := decode(faults, &p.Faults)
				out = append(out, p)
				return err
			})
	})
	return out, err
}

// Document implements skills.Shelf.
func (s *Shelf) Document(ctx context.Context, scope skills.Scope, ref skills.Ref) (skills.Collection, skills.Document, error) {
	var c SkillCollection
	var d skills.Document
	err := s.db.snapshot(ctx, func(v *view) (err error) {
		if c, err = v.skillCollection(scope, ref.Collection); skills.CodeOf(err) == skills.CodeNotFound {
			return noDocument(ref)
		}
		if err == nil {
			d, err = v.skillDocument(c, ref.Path)
		}
		return err
	})
	return c.Collection, d, err
}

func (v *view) skillDocument(c SkillCollection, path string) (skills.Document, error) {
	var d SkillDocument
	err := v.find(`SELECT `+documentColumns+`, b.bytes FROM skill_document d JOIN skill_bytes b ON b.number = d.number
		WHERE `+current+` AND d.collection = ?2 AND d.path = ?3`, []any{c.generation, c.key, path},
		func(row scanner) error { return scanDocument(row, c, &d, &d.Bytes) })
	if errors.Is(err, core.ErrNotFound) {
		return skills.Document{}, noDocument(skills.Ref{Collection: c.ID, Path: path})
	}
	return d.Document, err
}

// SkillCount is how many documents, skills and broken skills a collection has.
type SkillCount struct{ Documents, Skills, Broken int }

// Counts counts what a collection holds.
func (s *Shelf) Counts(ctx context.Context, scope skills.Scope, id skills.CollectionID) (SkillCount, error) {
	var n SkillCount
	err := s.inside(ctx, scope, id, func(v *view, c SkillCollection) error {
		first, last := c.numbers()
		return v.l.one(`SELECT count(*), count(s.number), count(CASE WHEN d.faults IS NOT NULL AND s.number IS NULL THEN 1 END)
			FROM skill_document d LEFT JOIN skill s ON s.number = d.number WHERE `+current+` AND d.number BETWEEN ?2 AND ?3`,
			[]any{c.generation, first, last}, &n.Documents, &n.Skills, &n.Broken)
	})
	return n, err
}
