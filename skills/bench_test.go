package skills_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gatehouse/skills"
)

const benchDocuments = 100_000

// corpus makes documents of 2 KB in the median, with words as unevenly common
// as in any language.
func corpus(n int) []skills.Document {
	r := rand.New(rand.NewPCG(1, 2))
	words := rand.NewZipf(r, 1.1, 8, 40_000)
	documents := make([]skills.Document, n)
	for i := range documents {
		var b strings.Builder
		fmt.Fprintf(&b, "---\nname: skill-%d\ndescription: Does the work of number %d\n---\n", i, i)
		for size := 500 + r.IntN(3000); b.Len() < size; {
			fmt.Fprintf(&b, "w%x ", words.Uint64())
		}
		d, err := skills.NewDocument(skills.Ref{Collection: skills.CollectionID(fmt.Sprintf("c%d", i%50)), Path: fmt.Sprintf("s%d/SKILL.md", i)}, []byte(b.String()))
		if err != nil {
			panic(err)
		}
		documents[i] = d
	}
	return documents
}

func benchQueries() []skills.Query {
	var all []skills.Query
	for _, text := range []string{"w1", "w1 w2", "w3 wff", "w1 w2 w3 w4", "wabc", "skill 77", "number 4242", "w100 w200", "nowhere"} {
		all = append(all, skills.Query{Text: text, Limit: skills.DefaultSearchLimit})
	}
	return append(all, skills.Query{Text: "w1 wab", Limit: 20, Prefix: true}, skills.Query{Text: "numb", Limit: 20, Prefix: true})
}

func BenchmarkIndex(b *testing.B) {
	documents := corpus(20_000)
	c := skills.Collection{Visibility: skills.VisibilityPublic}
	b.ResetTimer()
	for b.Loop() {
		var engine skills.MemoryEngine
		for _, d := range documents {
			if err := engine.Put(b.Context(), skills.EntryFor(c, d)); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(documents)*b.N)/b.Elapsed().Seconds(), "documents/s")
}

func BenchmarkSearch(b *testing.B) {
	s := newShelf(b)
	c := skills.Collection{Visibility: skills.VisibilityPublic}
	for _, d := range corpus(benchDocuments) {
		s.documents[d.Ref] = d
		c.ID = d.Ref.Collection
		s.collections[c.ID] = c
		if err := s.engine.Put(b.Context(), skills.EntryFor(c, d)); err != nil {
			b.Fatal(err)
		}
	}
	queries, scope := benchQueries(), skills.For("alice")
	b.Run("engine", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			q := queries[i%len(queries)]
			terms, err := skills.ParseQuery(q)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := s.engine.Find(b.Context(), terms, scope, q.Limit); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if _, err := s.library().Search(b.Context(), scope, queries[i%len(queries)]); err != nil {
				b.Fatal(err)
			}
		}
	})
}
