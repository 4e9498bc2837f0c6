package skills_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"gatehouse/skills"
	"gatehouse/skills/searchsuite"
)

func TestMemoryEngine(t *testing.T) {
	searchsuite.Run(t, func(testing.TB) skills.Engine { return &skills.MemoryEngine{} })
}

// Removing many makes room; what is left is found as before.
func TestMemoryEngine_Compacts(t *testing.T) {
	b := newShelf(t)
	for i := range 3000 {
		b.put("pub/"+strings.Repeat("0", 1+i%3)+string(rune('a'+i%26))+strings.Repeat("x", i/26), "word")
	}
	for i := range 2900 {
		b.remove("pub/" + strings.Repeat("0", 1+i%3) + string(rune('a'+i%26)) + strings.Repeat("x", i/26))
	}
	b.put("pub/last", "word")
	if got := len(b.search("word", 50, "alice")); got != 50 {
		t.Errorf("got %d hits", got)
	}
	if hits := b.search("last", 50, "alice"); len(hits) != 1 {
		t.Errorf("got %v", hits)
	}
}

func code(t *testing.T, err error, want skills.RefusalCode) {
	t.Helper()
	if got := skills.CodeOf(err); got != want {
		t.Errorf("got %q (%v), want %q", got, err, want)
	}
}

func TestS62_EmptyQuery(t *testing.T) {
	for _, text := range []string{"", "  \t", "…!?", "\u200b", "__--"} {
		hits, err := newShelf(t).library().Search(t.Context(), skills.For("alice"), skills.Query{Text: text, Limit: 20})
		code(t, err, skills.CodeEmptyQuery)
		if hits != nil {
			t.Errorf("got %v, want nothing to observe", hits)
		}
	}
}

func TestS63_Limit(t *testing.T) {
	for _, limit := range []int{0, -1, 51} {
		_, err := skills.ParseQuery(skills.Query{Text: "a", Limit: limit})
		code(t, err, skills.CodeBadLimit)
	}
	for _, limit := range []int{1, skills.DefaultSearchLimit, 50} {
		_, err := skills.ParseQuery(skills.Query{Text: "a", Limit: limit})
		code(t, err, "")
	}
}

func TestS64_TooManyTokens(t *testing.T) {
	_, err := skills.ParseQuery(skills.Query{Text: strings.Repeat("a ", 17), Limit: 1})
	code(t, err, skills.CodeManyTokens)
	_, err = skills.ParseQuery(skills.Query{Text: strings.Repeat("a ", 16), Limit: 1})
	code(t, err, "")
	_, err = skills.ParseQuery(skills.Query{Text: strings.Repeat("é", 257), Limit: 1})
	code(t, err, skills.CodeLongQuery)
	_, err = skills.ParseQuery(skills.Query{Text: strings.Repeat("é", 256), Limit: 1})
	code(t, err, "")
}

// Everything the five operations give alice is byte for byte the same with and
// without any documents of bob, snippets and order included.
func TestS66_NonInterference(t *testing.T) {
	words := []string{"deploy", "prod", "staging", "日本語の", "invoice"}
	rapid.Check(t, func(r *rapid.T) {
		with, without := newShelf(t), newShelf(t)
		for range rapid.IntRange(0, 20).Draw(r, "documents") {
			place := rapid.SampledFrom([]string{"pub", "pa", "pb", "pb"}).Draw(r, "collection")
			text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 6).Draw(r, "text"), " ")
			id := place + "/" + rapid.SampledFrom([]string{"a", "b", "c/SKILL.md", "d/SKILL.md", "e"}).Draw(r, "path")
			if strings.HasSuffix(id, "SKILL.md") {
				text = "---\nname: deploy\ndescription: " + text + "\n---\n" + text
			}
			with.put(id, text)
			if place != "pb" {
				without.put(id, text)
			}
		}
		query := skills.Query{Text: rapid.SampledFrom(words).Draw(r, "query"), Limit: rapid.IntRange(1, 6).Draw(r, "limit"), Prefix: rapid.Bool().Draw(r, "prefix")}
		if got, want := everything(t, with, query), everything(t, without, query); got != want {
			r.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// everything is all that alice can be told.
func everything(t *testing.T, s *shelf, q skills.Query) string {
	t.Helper()
	l, scope := s.library(), skills.For("alice")
	var all []any
	add := func(value any, err error) {
		if err != nil {
			value = err.Error() + string(skills.CodeOf(err))
		}
		all = append(all, value)
	}
	hits, err := l.Search(t.Context(), scope, q)
	add(hits, err)
	for _, id := range []skills.CollectionID{"", "pub", "pa", "pb", "nosuch"} {
		listing, err := l.List(t.Context(), scope, skills.Page{Collection: id, Limit: 10})
		add(listing, err)
	}
	for _, id := range []string{"pub/a", "pb/a", "pb/c/SKILL.md", "nosuch/a"} {
		window, err := l.Read(t.Context(), scope, id, 0, 10)
		add(window, err)
		ref, _ := skills.ParseRef(id)
		expansion, err := l.Expand(t.Context(), scope, ref, "x")
		add(expansion, err)
	}
	catalog, err := l.Catalog(t.Context(), scope, []skills.CollectionID{"pa", "pb"})
	add(catalog, err)
	written, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(written)
}

func TestS69_MissingAndForbiddenAreOne(t *testing.T) {
	s := newShelf(t)
	s.put("pb/x", "secret")
	l, scope := s.library(), skills.For("alice")
	if hits := s.search("secret", 20, "alice"); len(hits) != 0 {
		t.Errorf("got %v", hits)
	}
	if hits := s.search("secret", 20, "bob"); len(hits) != 1 {
		t.Errorf("bob got %v", hits)
	}
	for _, pair := range [][2]string{{"pb/x", "no/x"}, {"pb/y", "no/y"}} {
		_, forbidden := l.Read(t.Context(), scope, pair[0], 0, 10)
		_, missing := l.Read(t.Context(), scope, pair[1], 0, 10)
		same(t, forbidden, missing)
	}
	_, forbidden := l.List(t.Context(), scope, skills.Page{Collection: "pb", Limit: 10})
	_, missing := l.List(t.Context(), scope, skills.Page{Collection: "no", Limit: 10})
	same(t, forbidden, missing)
	_, forbidden = l.Expand(t.Context(), scope, skills.Ref{Collection: "pb", Path: "x"}, "")
	_, missing = l.Expand(t.Context(), scope, skills.Ref{Collection: "no", Path: "x"}, "")
	same(t, forbidden, missing)
	if _, err := l.Read(t.Context(), skills.Scope{}, "pb/x", 0, 10); skills.CodeOf(err) != skills.CodeNotFound {
		t.Errorf("the zero scope read: %v", err)
	}
}

// same reports a difference other than the id that was asked for.
func same(t *testing.T, forbidden, missing error) {
	t.Helper()
	code(t, forbidden, skills.CodeNotFound)
	code(t, missing, skills.CodeNotFound)
	if got := strings.Replace(forbidden.Error(), "pb", "no", 1); got != missing.Error() {
		t.Errorf("got %q and %q", forbidden, missing)
	}
}

func TestS102_QueryInTheRecord(t *testing.T) {
	if got, want := skills.ShownQuery("a `b`\x1b[31m\nc"), "\"a `b` c\""; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSnippet(t *testing.T) {
	s := newShelf(t)
	s.put("pub/long", strings.Repeat("filler ", 400)+"needle \x1b[0m\nnext "+strings.Repeat("tail ", 100))
	s.put("pub/cjk", strings.Repeat("文書", 300)+"日本語"+strings.Repeat("文書", 300))
	for query, want := range map[string]string{"needle": "needle next", "日本語": "日本語"} {
		hits := s.search(query, 20, "alice")
		if len(hits) != 1 || !strings.Contains(hits[0].Snippet, want) || utf8.RuneCountInString(hits[0].Snippet) > 160 || strings.ContainsAny(hits[0].Snippet, "\x1b\n") {
			t.Errorf("%s: got %q", query, hits)
		}
	}
}

func FuzzTokens(f *testing.F) {
	for _, seed := range append(fieldSeeds(f), "STRASSE straße", "cafe\u0301", "日本語の文書 サーバー", "ที่นี่", "foo_bar-baz.md", "\u0345\u0345a", "ǅ ŉ ﬃ ½ ①", "\xff\xfe", strings.Repeat("x", 200)) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tokens := skills.Tokens(s)
		for _, token := range tokens {
			if n := utf8.RuneCountInString(token); n < 1 || n > skills.TokenLimit || !utf8.ValidString(token) {
				t.Errorf("token %q of %d", token, n)
			}
		}
		if upper := skills.Tokens(strings.ToUpper(s)); ascii(s) && !slices.Equal(upper, tokens) {
			t.Errorf("upper case: got %q, want %q", upper, tokens)
		}
		// A token found in a document can be searched for as it is.
		for _, token := range tokens {
			if again := skills.Tokens(token); !slices.Equal(again, []string{token}) {
				t.Errorf("token %q of %q is %q when searched for", token, s, again)
			}
		}
	})
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}
