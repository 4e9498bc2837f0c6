package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/skills"
)

// SkillEngine is the search over the documents of this store. What Put keeps is an entry alone, as a document without
// a type whose bytes are its tokens; documents that are published or imported are indexed in the transaction that stores them.
type SkillEngine struct {
	db  *DB
	few int // up to how many matches are judged one by one
}

var _ skills.Engine = (*SkillEngine)(nil)

// SkillEngine returns the search over the documents of this store.
func (db *DB) SkillEngine() *SkillEngine { return &SkillEngine{db, fewMatches} }

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

// matching is the query of a tier. Tokens are letters, marks and digits, and mean nothing to the index.
func matching(letter string, t skills.Terms) string {
	var b strings.Builder
	for _, token := range t.Whole {
		b.WriteString(`"` + letter + token + `" `)
	}
	if t.Prefix != "" {
		b.WriteString(`"` + letter + t.Prefix + `"*`)
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

// fewMatches is up to how many matches it pays to ask each for its tier.
const fewMatches = 64

// Find implements skills.Engine. Within a tier the index gives documents in the order of their numbers, which is that of
// collection and path wherever keys rise with ids; so many matches are read no further than the limit. Few are all read
// at once, and asked for their tiers, which is cheaper than to look for each tier among all documents.
func (e *SkillEngine) Find(ctx context.Context, t skills.Terms, scope skills.Scope, limit int) ([]skills.Match, error) {
	var found []skills.Match
	err := e.db.snapshot(ctx, func(v *view) error {
		all, err := v.skillCollections()
		if err != nil {
			return err
		}
		runs := readableRuns(all, scope)
		// A prefix stands for many tokens, which every question would gather anew.
		if t.Prefix == "" {
			few, err := v.findAny(runs, matching(ofBody, t), e.few)
			if err != nil {
				return err
			}
			if len(few) <= e.few {
				found, err = v.judge(few, t, limit)
				return err
			}
		}
		found, err = v.findTiers(runs, t, limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// numbered is a match with the number of its document.
type numbered struct {
	number int64
	skills.Match
}

// findAny returns all that match in any field, in order, or one more than a few.
func (v *view) findAny(runs []run, query string, few int) ([]numbered, error) {
	var found []numbered
	for _, r := range runs {
		err := v.findIn(r, query, func(number int64, ref skills.Ref) error {
			found = append(found, numbered{number, skills.Match{Ref: ref, Tier: skills.TierBody}})
			if len(found) > few {
				return errEnough
			}
			return nil
		})
		if err != nil || len(found) > few {
			return found, err
		}
	}
	return found, nil
}

// judge finds the tier of each, and returns the first ones.
func (v *view) judge(few []numbered, t skills.Terms, limit int) ([]skills.Match, error) {
	for _, letter := range []string{ofAbout, ofName} { // what is of the name is of the next field too
		query := matching(letter, t)
		for i := range few {
			m := &few[i]
			if letter == ofName && m.Tier != skills.TierAbout {
				continue
			}
			var there int
			err := v.l.one(`SELECT count(*) FROM skill_token WHERE skill_token MATCH ? AND rowid = ?`, []any{query, m.number}, &there)
			if err != nil {
				return nil, err
			}
			if there > 0 {
				m.Tier--
			}
		}
	}
	slices.SortStableFunc(few, func(a, b numbered) int { return int(a.Tier - b.Tier) })
	found := make([]skills.Match, 0, min(limit, len(few)))
	for _, m := range few[:min(limit, len(few))] {
		found = append(found, m.Match)
	}
	return found, nil
}

// findTiers looks for one tier after the other until there are enough.
func (v *view) findTiers(runs []run, t skills.Terms, limit int) ([]skills.Match, error) {
	var found []skills.Match
	seen := make(map[int64]bool, limit)
	for tier, letter := range []string{ofName, ofAbout, ofBody} {
		query := matching(letter, t)
		for _, r := range runs {
			if len(found) >= limit {
				return found, nil
			}
			err := v.findIn(r, query, func(number int64, ref skills.Ref) error {
				if !seen[number] {
					seen[number] = true
					found = append(found, skills.Match{Ref: ref, Tier: skills.Tier(tier + 1)})
				}
				if len(found) >= limit {
					return errEnough
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// findIn walks over the documents that match within a run of numbers.
func (v *view) findIn(r run, query string, fn func(number int64, ref skills.Ref) error) error {
	err := v.l.each(v.ctx, `SELECT d.number, c.id, d.path FROM skill_token t
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
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// run is a stretch of numbers.
type run struct{ first, last int64 }

// readableRuns are the numbers that the scope reads, in the order of collection ids. A run goes on from one collection to
// the next where no other has a key between them.
func readableRuns(all []SkillCollection, scope skills.Scope) []run {
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
