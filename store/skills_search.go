package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gatehouse/core"
	"gatehouse/skills"
)

// SkillEngine is the search over the documents of this store. What Put keeps is an entry alone, as a document without
// a type whose bytes are its tokens; documents that are published or imported are indexed in the transaction that stores them.
type SkillEngine struct {
	db        *DB
	words     int  // up to how many words that begin with a prefix are asked for one by one
	indexOnly bool // for tests: the tier of every match is asked of the index
}

var _ skills.Engine = (*SkillEngine)(nil)

// SkillEngine returns the search over the documents of this store.
func (db *DB) SkillEngine() *SkillEngine { return &SkillEngine{db: db, words: manyWords} }

// The letters in front of tokens: see the migration.
const (
	ofName  = "n"
	ofAbout = "a"
	ofBody  = "b"
)

// indexText is what the index gets of an entry.
func indexText(e skills.Entry) string {
	size := 0
	for _, list := range [][]string{e.Name, e.About, e.Body} {
		for _, token := range list {
			size += 3 * (len(token) + 2)
		}
	}
	var b strings.Builder
	b.Grow(size)
	put := func(letters string, tokens []string) {
		for _, letter := range letters {
			for _, token := range tokens {
				b.WriteRune(letter)
				b.WriteString(token)
				b.WriteByte(' ')
			}
		}
	}
	put(ofName+ofAbout+ofBody, e.Name)
	put(ofAbout+ofBody, e.About)
	put(ofBody, e.Body)
	return b.String()
}

// matching asks for all of the tokens. They are letters, marks and digits, and mean nothing to the index.
func matching(letter string, tokens []string) string {
	var b strings.Builder
	for _, token := range tokens {
		b.WriteString(`"` + letter + token + `" `)
	}
	return b.String()
}

// Put implements skills.Engine. A collection that is not there yet is made as the entry describes it.
func (e *SkillEngine) Put(ctx context.Context, entry skills.Entry) error {
	return e.db.Write(ctx, func(ct core.Tx) error {
		s, err := SkillsIn(ct)
		if err != nil {
			return err
		}
		c, err := s.t.collectionOf(entry.Ref.Collection)
		if skills.CodeOf(err) == skills.CodeNotFound {
			c.Collection = skills.Collection{
				ID: entry.Ref.Collection, Visibility: entry.Visibility, Owner: entry.Owner, Source: skills.Source{Kind: skills.SourceWritten},
			}
			c, err = s.t.createCollection(c, time.Time{})
		}
		if err != nil {
			return err
		}
		tokens := indexText(entry)
		return s.t.publish(c, staged{doc: skills.Document{Ref: entry.Ref, Bytes: []byte(tokens)}, tokens: tokens})
	})
}

// Remove implements skills.Engine.
func (e *SkillEngine) Remove(ctx context.Context, ref skills.Ref) error {
	return e.db.Write(ctx, func(ct core.Tx) error {
		s, err := SkillsIn(ct)
		if err != nil {
			return err
		}
		c, err := s.t.collectionOf(ref.Collection)
		if err == nil {
			err = s.Remove(c, ref.Path)
		}
		if skills.CodeOf(err) == skills.CodeNotFound {
			return nil
		}
		return err
	})
}

// errEnough ends a walk over rows.
var errEnough = errors.New("enough")

// manyWords is how many words may begin with a prefix for them to be asked for one by one.
const manyWords = 64

// Find implements skills.Engine. Within a tier the index gives documents in the order of their numbers, which is that of
// collection and path wherever keys rise with ids; so matches are read no further than the limit. Where there are no more
// in any field, each says itself of which tier it is, which is cheaper than to look for each tier among all documents.
func (e *SkillEngine) Find(ctx context.Context, t skills.Terms, scope skills.Scope, limit int) ([]skills.Match, error) {
	var found []skills.Match
	err := e.db.snapshot(ctx, func(v *view) error {
		runs, err := v.readableRuns(scope)
		if err != nil {
			return err
		}
		s := skillSearch{v: v, terms: t, words: e.words, runs: runs, limit: limit, seen: make(map[int64]bool, limit)}
		body, broad, err := s.query(ofBody)
		if err != nil {
			return err
		}
		if broad { // its first matches cost as much as all of them
			if err = s.collect(ofName, ofAbout); err == nil {
				err = s.walk(body, s.as(skills.TierBody))
			}
			found = s.found
			return err
		}
		first, err := s.first(body, limit+1)
		if err != nil {
			return err
		}
		if len(first) <= limit && !e.indexOnly {
			found, err = v.judged(first, t)
			return err
		}
		err = s.collect(ofName, ofAbout)
		for add := s.as(skills.TierBody); err == nil && len(first) > 0; first = first[1:] {
			err = add(first[0].number, first[0].ref)
		}
		found = s.found
		return enough(err)
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// skillSearch is one search within one snapshot.
type skillSearch struct {
	v     *view
	terms skills.Terms
	words int // as in SkillEngine
	runs  []run
	limit int
	found []skills.Match
	seen  map[int64]bool // what is found already, which is of a lower tier too
}

// numbered is a match before its tier is known.
type numbered struct {
	number int64
	ref    skills.Ref
}

// query is what the index is asked for a tier; empty where no word begins with the prefix. Broad is one that gathers all
// documents of a prefix.
func (s *skillSearch) query(letter string) (query string, broad bool, err error) {
	query = matching(letter, s.terms.Whole)
	if s.terms.Prefix == "" {
		return query, false, nil
	}
	words, err := s.v.wordsFrom(letter+s.terms.Prefix, s.words)
	switch {
	case err != nil:
		return "", false, err
	case len(words) > s.words:
		return query + ` "` + letter + s.terms.Prefix + `"*`, true, nil
	case len(words) == 0:
		return "", false, nil
	}
	if query != "" {
		query += "AND "
	}
	return query + `("` + strings.Join(words, `" OR "`) + `")`, false, nil
}

// wordsFrom are the words of the index that begin so, or one more than the limit.
func (v *view) wordsFrom(prefix string, limit int) ([]string, error) {
	var words []string
	// Each word is sought behind the one before, past all of its documents; no token has a character below a digit.
	err := v.l.each(context.Background(), `WITH RECURSIVE w (term) AS (
			SELECT (SELECT term FROM skill_token_word WHERE term >= ?1 LIMIT 1)
			UNION ALL SELECT (SELECT term FROM skill_token_word WHERE term >= w.term || '!' LIMIT 1) FROM w WHERE w.term < ?2)
		SELECT term FROM w WHERE term < ?2`, []any{prefix, prefix + string(utf8.MaxRune)}, func(row scanner) error {
		var word string
		err := row.Scan(&word)
		words = append(words, word)
		if err == nil && len(words) > limit {
			return errEnough
		}
		return err
	})
	return words, enough(err)
}

// first are the first documents that match, in order.
func (s *skillSearch) first(query string, limit int) ([]numbered, error) {
	var found []numbered
	err := s.walk(query, func(number int64, ref skills.Ref) error {
		found = append(found, numbered{number, ref})
		if len(found) == limit {
			return errEnough
		}
		return nil
	})
	return found, err
}

// collect adds what is in the fields of each letter until there is enough.
func (s *skillSearch) collect(letters ...string) error {
	for i, letter := range letters {
		query, _, err := s.query(letter)
		if err == nil {
			err = s.walk(query, s.as(skills.Tier(i+1)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// as returns what adds a match to those found, if it is none of them yet; errEnough is that there are enough.
func (s *skillSearch) as(tier skills.Tier) func(int64, skills.Ref) error {
	return func(number int64, ref skills.Ref) error {
		if len(s.found) < s.limit && !s.seen[number] {
			s.seen[number] = true
			s.found = append(s.found, skills.Match{Ref: ref, Tier: tier})
		}
		if len(s.found) >= s.limit {
			return errEnough
		}
		return nil
	}
}

func enough(err error) error {
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// walk goes over the documents that match and that the scope reads, unless there are enough already.
func (s *skillSearch) walk(query string, fn func(number int64, ref skills.Ref) error) error {
	if query == "" || len(s.found) >= s.limit {
		return nil
	}
	for _, r := range s.runs {
		err := s.v.l.each(s.v.ctx, `SELECT d.number, c.id, d.path FROM skill_token t
			CROSS JOIN skill_document d ON d.number = t.rowid
			CROSS JOIN skill_collection c ON c.key = d.collection
			WHERE t.skill_token MATCH ? AND t.rowid BETWEEN ? AND ? AND d.since <= c.generation AND (d.until = 0 OR d.until > c.generation)
			ORDER BY t.rowid`, []any{query, r.first, r.last}, func(row scanner) error {
			var number int64
			var ref skills.Ref
			if err := row.Scan(&number, &ref.Collection, &ref.Path); err != nil {
				return err
			}
			return fn(number, ref)
		})
		if err != nil {
			return enough(err)
		}
	}
	return nil
}

// judged gives each its tier, by its own fields, and sorts them.
func (v *view) judged(all []numbered, t skills.Terms) ([]skills.Match, error) {
	found := make([]skills.Match, 0, len(all))
	for _, m := range all {
		name, about, err := v.fieldTokens(m)
		if err != nil {
			return nil, err
		}
		found = append(found, skills.Match{Ref: m.ref, Tier: t.TierOf(name, about)})
	}
	slices.SortStableFunc(found, func(a, b skills.Match) int { return int(a.Tier - b.Tier) })
	return found, nil
}

// fieldTokens are the tokens of a document beside those of its body, as indexText had them.
func (v *view) fieldTokens(m numbered) (name, about []string, err error) {
	h := skills.Heading{Path: m.ref.Path}
	var contentType string
	var head sql.NullString
	var entry []byte
	err = v.l.one(`SELECT d.title, d.description, d.content_type, s.head, b.bytes FROM skill_document d
		LEFT JOIN skill s ON s.number = d.number LEFT JOIN skill_bytes b ON b.number = d.number AND d.content_type = ''
		WHERE d.number = ?`, []any{m.number}, &h.Title, &h.Description, &contentType, &head, &entry)
	if err != nil {
		return nil, nil, err
	}
	if contentType == "" { // an entry alone: see SkillEngine
		for token := range strings.FieldsSeq(string(entry)) {
			switch token[:1] {
			case ofName:
				name = append(name, token[1:])
			case ofAbout:
				about = append(about, token[1:])
			}
		}
		return name, about, nil
	}
	if head.Valid {
		var kept skillHead
		if err := decode(head, &kept); err != nil {
			return nil, nil, fmt.Errorf("skill %s: %w", m.ref, err)
		}
		h.Skill = &kept.Frontmatter
	}
	name, about = h.Tokens()
	return name, about, nil
}

// run is a stretch of numbers.
type run struct{ first, last int64 }

// readableRuns are the numbers that the scope reads, in the order of collection ids. A run goes on from one collection to
// the next where no other has a key between them.
func (v *view) readableRuns(scope skills.Scope) ([]run, error) {
	var all []SkillCollection // with what tells who reads them, and no more
	err := v.l.each(context.Background(), `SELECT key, id, visibility, owner FROM skill_collection WHERE id <> '' AND generation >= 0 ORDER BY id`, nil,
		func(row scanner) error {
			var c SkillCollection
			err := row.Scan(&c.key, &c.ID, &c.Visibility, &c.Owner)
			all = append(all, c)
			return err
		})
	return runsOf(all, scope), err
}

func runsOf(all []SkillCollection, scope skills.Scope) []run {
	keys := make([]int64, len(all))
	for i, c := range all {
		keys[i] = c.key
	}
	slices.Sort(keys)
	after := make(map[int64]int64, len(keys))
	for i, key := range keys[:max(len(keys)-1, 0)] {
		after[key] = keys[i+1]
	}
	var runs []run
	last := int64(-1)       // key of the collection before, where the scope reads it
	for _, c := range all { // by id
		if !scope.Reads(c.Collection) {
			last = -1
			continue
		}
		low, high := c.numbers()
		if last >= 0 && after[last] == c.key {
			runs[len(runs)-1].last = high
		} else {
			runs = append(runs, run{low, high})
		}
		last = c.key
	}
	return runs
}
