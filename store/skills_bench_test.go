package store

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/skills"
)

const benchSkills = 100_000

// benchCorpus makes documents of 2 KB in the median, with words as unevenly common as in any language.
func benchCorpus(n int) func(i int) (path, content string) {
	r := rand.New(rand.NewPCG(1, 2))
	words := rand.NewZipf(r, 1.1, 8, 40_000)
	return func(i int) (string, string) {
		var b strings.Builder
		fmt.Fprintf(&b, "---\nname: skill-%d\ndescription: Does the work of number %d\n---\n", i, i)
		for size := 500 + r.IntN(3000); b.Len() < size; {
			fmt.Fprintf(&b, "w%x ", words.Uint64())
		}
		return fmt.Sprintf("s%06d/SKILL.md", i), b.String()
	}
}

func benchSkillQueries() []skills.Query {
	var all []skills.Query
	for _, text := range []string{"w1", "w1 w2", "w3 wff", "w1 w2 w3 w4", "wabc", "skill 77", "number 4242", "w100 w200", "nowhere"} {
		all = append(all, skills.Query{Text: text, Limit: skills.DefaultSearchLimit})
	}
	return append(all, skills.Query{Text: "w1 wab", Limit: 20, Prefix: true}, skills.Query{Text: "numb", Limit: 20, Prefix: true})
}

// benchLibrary imports the corpus into ten collections, and gives the speed of it.
func benchLibrary(b *testing.B, db *DB) (perSecond float64) {
	document := benchCorpus(benchSkills)
	begin := time.Now()
	for part := range 10 {
		im, err := db.BeginImport(b.Context(), collectionFor(fmt.Sprintf("c%d", part)), onlyAlive{self: "p1"}, noon)
		if err != nil {
			b.Fatal(err)
		}
		listed := make([]Listed, benchSkills/10)
		for i := range listed {
			listed[i].Path = fmt.Sprintf("s%06d/SKILL.md", i)
		}
		wanted, err := im.Plan(b.Context(), listed)
		if err != nil {
			b.Fatal(err)
		}
		for i := range wanted {
			path, content := document(i)
			d, err := skills.NewDocument(skills.Ref{Path: path}, []byte(content))
			if err != nil {
				b.Fatal(err)
			}
			d.Author = "alice"
			if err := im.Put(b.Context(), d, ""); err != nil {
				b.Fatal(err)
			}
		}
		changes, err := im.Changes(b.Context())
		if err == nil {
			err = db.Write(b.Context(), func(tx core.Tx) error { return im.Finish(tx, changes, noon) })
		}
		if err == nil {
			err = im.End(b.Context())
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	return benchSkills / time.Since(begin).Seconds()
}

// benchFloor is an index of FTS5 with the same tokens of the same documents and nothing else.
func benchFloor(b *testing.B, dir string) *sql.DB {
	pool, err := sql.Open("sqlite", dsn(filepath.Join(dir, "floor.db"), "rwc", true))
	if err != nil {
		b.Fatal(err)
	}
	pool.SetMaxOpenConns(1)
	b.Cleanup(func() {
		if err := pool.Close(); err != nil {
			b.Error(err)
		}
	})
	if _, err := pool.Exec(`CREATE VIRTUAL TABLE floor USING fts5 (tokens, content = '', detail = none, tokenize = 'ascii')`); err != nil {
		b.Fatal(err)
	}
	tx, err := pool.Begin()
	if err != nil {
		b.Fatal(err)
	}
	document := benchCorpus(benchSkills)
	for i := range benchSkills {
		path, content := document(i % (benchSkills / 10))
		d, err := skills.NewDocument(skills.Ref{Collection: "c", Path: path}, []byte(content))
		if err != nil {
			b.Fatal(err)
		}
		e := skills.EntryFor(skills.Collection{}, d)
		text := strings.Join(append(append(e.Name, e.About...), e.Body...), " ")
		if _, err := tx.Exec(`INSERT INTO floor (rowid, tokens) VALUES (?, ?)`, i+1, text); err != nil {
			b.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
	return pool
}

// floorMatch asks the floor for what a search asks for.
func floorMatch(t skills.Terms) string {
	query := matching("", t.Whole)
	if t.Prefix != "" {
		query += `"` + t.Prefix + `"*`
	}
	return query
}

// P7: search over 100,000 documents against a bare match on the same tokens, once read to the end and once to the limit.
// Both run over the same mixed queries in the same run; ratio is work by floor, and is to be at most 1.5.
func BenchmarkSkillSearch(b *testing.B) {
	dir := benchDir(b)
	db := openAt(b, filepath.Join(dir, "g.db"))
	speed := benchLibrary(b, db)
	floor := benchFloor(b, dir)
	engine, queries, scope := db.SkillEngine(), benchSkillQueries(), skills.For("alice")
	for _, c := range []struct{ name, query string }{
		{"floor to the end", `SELECT count(*) FROM floor WHERE floor MATCH ?`},
		{"floor to the limit", `SELECT rowid FROM floor WHERE floor MATCH ? ORDER BY rowid LIMIT 20`},
	} {
		b.Run(c.name, func(b *testing.B) {
			stmt, err := floor.Prepare(c.query)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = stmt.Close() }() // the pool ends it too
			var floors, works time.Duration
			for b.Loop() {
				for _, q := range queries {
					terms, err := skills.ParseQuery(q)
					if err != nil {
						b.Fatal(err)
					}
					match := floorMatch(terms)
					begin := time.Now()
					rows, err := stmt.Query(match)
					if err != nil {
						b.Fatal(err)
					}
					for rows.Next() {
						var n int64
						if err := rows.Scan(&n); err != nil {
							b.Fatal(err)
						}
					}
					if err := rows.Close(); err != nil {
						b.Fatal(err)
					}
					middle := time.Now()
					if _, err := engine.Find(b.Context(), terms, scope, q.Limit); err != nil {
						b.Fatal(err)
					}
					floors, works = floors+middle.Sub(begin), works+time.Since(middle)
				}
			}
			b.ReportMetric(speed, "documents/s")
			n := float64(b.N * len(queries))
			b.ReportMetric(float64(floors.Microseconds())/n, "floor-µs")
			b.ReportMetric(float64(works.Microseconds())/n, "work-µs")
			b.ReportMetric(float64(works)/float64(floors), "ratio")
		})
	}
}
