// Package searchsuite is what every search engine of the skill library must do,
// as one suite of named cases. An engine joins with a function that makes an
// empty one:
//
//	func TestSearch(t *testing.T) { searchsuite.Run(t, fresh) }
//
// The package is for tests alone.
package searchsuite

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/skills"
)

// Fresh makes an empty engine that ends with the test.
type Fresh func(t testing.TB) skills.Engine

// Run runs all cases, each on an engine of its own.
func Run(t *testing.T, fresh Fresh) {
	for _, c := range []struct {
		name string
		test func(*testing.T, *bench)
	}{
		{"TestS53_EveryTokenMustMatch", everyToken},
		{"TestS54_TokensSpanFields", spanFields},
		{"TestS55_WholeTokens", wholeTokens},
		{"TestS56_Prefix", prefix},
		{"TestS57_CaseFolding", caseFolding},
		{"TestS58_Composition", composition},
		{"TestS59_Bigrams", bigrams},
		{"TestS60_Separators", separators},
		{"TestS67_FrontmatterWins", frontmatterWins},
		{"TestS68_OrderInOneTier", order},
		{"TestS69_Private", private},
		{"OneCollection", oneCollection},
		{"Tiers", tiers},
		{"Limit", limit},
		{"Replace", replace},
		{"Remove", remove},
		{"LongTokens", longTokens},
		{"QuotesAreNoSyntax", quotes},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, &bench{t: t, engine: fresh(t)}) })
	}
	t.Run("TestS66_NonInterference", func(t *testing.T) { nonInterference(t, fresh) })
}

// The collections of the cases.
const (
	alice = skills.AccountID("alice")
	bob   = skills.AccountID("bob")
)

func collection(id skills.CollectionID) skills.Collection {
	c := skills.Collection{ID: id, Visibility: skills.VisibilityPublic}
	switch id {
	case "pa":
		c.Visibility, c.Owner = skills.VisibilityPrivate, alice
	case "pb":
		c.Visibility, c.Owner = skills.VisibilityPrivate, bob
	}
	return c
}

type bench struct {
	t      testing.TB
	engine skills.Engine
}

// put keeps a document, given as "collection/path".
func (b *bench) put(id, body string) { b.putDocument(id, skills.Document{Bytes: []byte(body)}) }

func (b *bench) putDocument(id string, d skills.Document) {
	b.t.Helper()
	ref, err := skills.ParseRef(id)
	if err != nil {
		b.t.Fatal(err)
	}
	d.Ref = ref
	d.ContentType = skills.ContentType(ref.Path, d.Bytes)
	if err := b.engine.Put(b.t.Context(), skills.EntryFor(collection(ref.Collection), d)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) find(q skills.Query, accounts ...skills.AccountID) string {
	b.t.Helper()
	return b.findIn(q, skills.For(accounts...))
}

func (b *bench) findIn(q skills.Query, scope skills.Scope) string {
	b.t.Helper()
	if q.Limit == 0 {
		q.Limit = skills.SearchLimit
	}
	terms, err := skills.ParseQuery(q)
	if err != nil {
		b.t.Fatal(err)
	}
	matches, err := b.engine.Find(b.t.Context(), terms, scope, q.Limit)
	if err != nil {
		b.t.Fatalf("find %q: %v", q.Text, err)
	}
	var ids []string
	for _, m := range matches {
		ids = append(ids, fmt.Sprintf("%s:%d", m.Ref, m.Tier))
	}
	return strings.Join(ids, " ")
}

// want searches as alice. A wanted id ends in a colon and the tier.
func (b *bench) want(query, want string) {
	b.t.Helper()
	if got := b.find(skills.Query{Text: query}, alice); got != want {
		b.t.Errorf("%q: got %q, want %q", query, got, want)
	}
}

// A scope of one collection is part of the query, and not a filter behind the limit.
func oneCollection(_ *testing.T, b *bench) {
	b.put("aaa/1", "deploy")
	b.put("aaa/2", "deploy")
	b.put("pa/1", "deploy")
	b.put("pb/1", "deploy")
	b.put("zzz/1", "deploy")
	for only, want := range map[skills.CollectionID]string{"zzz": "zzz/1:3", "pa": "pa/1:3", "pb": "", "no": "", "": "aaa/1:3 aaa/2:3"} {
		got := b.findIn(skills.Query{Text: "deploy", Limit: 2}, skills.Scope{Accounts: []skills.AccountID{alice}, Only: only})
		if only == "" {
			got = b.find(skills.Query{Text: "deploy", Limit: 2}, alice)
		}
		if got != want {
			b.t.Errorf("in %q: got %q, want %q", only, got, want)
		}
	}
}

func everyToken(_ *testing.T, b *bench) {
	b.put("pub/a", "deploy staging")
	b.put("pub/b", "deploy prod")
	b.want("deploy prod", "pub/b:3")
	b.want("prod deploy deploy", "pub/b:3")
	b.want("deploy nowhere", "")
}

func spanFields(_ *testing.T, b *bench) {
	b.put("pub/x/SKILL.md", "---\nname: deploy\ndescription: d\n---\nto prod")
	b.put("pub/y/SKILL.md", "---\nname: other\ndescription: d\n---\nto prod")
	b.want("deploy prod", "pub/x/SKILL.md:3")
}

func wholeTokens(_ *testing.T, b *bench) {
	b.put("pub/a", "start")
	b.want("art", "")
	b.want("star", "")
}

func prefix(_ *testing.T, b *bench) {
	b.put("pub/a", "deploy now")
	b.put("pub/b", "depot")
	b.put("pa/c", "deploy")
	b.put("pb/c", "deploy")
	for query, want := range map[string]string{
		"dep": "pa/c:3 pub/a:3 pub/b:3", "now dep": "pub/a:3", "dep now": "", "deploy": "pa/c:3 pub/a:3", "no dep": "", "x": "",
	} {
		if got := b.find(skills.Query{Text: query, Prefix: true}, alice); got != want {
			b.t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
	b.want("dep", "")
}

func caseFolding(_ *testing.T, b *bench) {
	b.put("pub/a", "STRASSE")
	b.want("straße", "pub/a:3")
	b.put("pub/b", "ΣΊΣΥΦΟΣ")
	b.want("σίσυφος", "pub/b:3")
}

func composition(_ *testing.T, b *bench) {
	b.put("pub/a", "cafe\u0301")
	b.want("caf\u00e9", "pub/a:3")
	b.want("cafe", "")
	b.put("pub/b", "so\u00adft ﬁle")
	b.want("soft file", "pub/b:3")
}

func bigrams(_ *testing.T, b *bench) {
	b.put("pub/a", "日本語の文書")
	b.want("日本語", "pub/a:3")
	b.want("本日", "")
	b.put("pub/b", "サーバー")
	b.want("サーバ", "pub/b:3")
	b.put("pub/c", "a 火 b")
	b.want("火", "pub/c:3")
}

func separators(_ *testing.T, b *bench) {
	b.put("pub/a", "foo bar baz md")
	b.put("pub/foo_bar-baz.md", "")
	b.want("foo_bar-baz.md", "pub/foo_bar-baz.md:1 pub/a:3")
	b.want("foo bar baz md", "pub/foo_bar-baz.md:1 pub/a:3")
}

func frontmatterWins(_ *testing.T, b *bench) {
	b.putDocument("pub/x/SKILL.md", skills.Document{
		Bytes: []byte("---\nname: x\ndescription: sends an invoice\n---\n"), Description: "stored words",
	})
	b.want("invoice", "pub/x/SKILL.md:2")
	b.want("stored", "")
}

func order(_ *testing.T, b *bench) {
	for _, id := range []string{"pub/b", "pub/a/z", "pa/z", "pub/a", "b/a", "pub/B"} {
		b.put(id, "word")
	}
	for range 3 {
		b.want("word", "b/a:3 pa/z:3 pub/B:3 pub/a:3 pub/a/z:3 pub/b:3")
	}
}

func private(_ *testing.T, b *bench) {
	b.put("pub/x", "word")
	b.put("pa/x", "word")
	b.put("pb/x", "word secret")
	b.want("secret", "")
	b.want("word", "pa/x:3 pub/x:3")
	for want, accounts := range map[string][]skills.AccountID{
		"": nil, "pub/x:3": {alice, bob}, "pb/x:3 pub/x:3": {bob}, "pa/x:3 pub/x:3": {alice, alice},
	} {
		if got := b.find(skills.Query{Text: "word"}, accounts...); got != want {
			b.t.Errorf("for %v: got %q, want %q", accounts, got, want)
		}
	}
}

func tiers(_ *testing.T, b *bench) {
	b.putDocument("pub/a", skills.Document{Bytes: []byte("deploy prod")})
	b.putDocument("pub/b", skills.Document{Description: "deploy prod"})
	b.putDocument("pub/c", skills.Document{Title: "Deploy Prod", Description: "deploy"})
	b.putDocument("pub/d", skills.Document{Title: "deploy", Bytes: []byte("prod")})
	b.putDocument("pub/prod/e", skills.Document{Title: "deploy"})
	b.want("deploy prod", "pub/c:1 pub/b:2 pub/prod/e:2 pub/a:3 pub/d:3")
}

func limit(_ *testing.T, b *bench) {
	var want []string
	for i := range 60 {
		b.put(fmt.Sprintf("pb/%02d", i), "word")
		b.put(fmt.Sprintf("pub/%02d", (i*7)%60), "word")
		want = append(want, fmt.Sprintf("pub/%02d:3", i))
	}
	for _, n := range []int{1, 20, 50} {
		got := b.find(skills.Query{Text: "word", Limit: n}, alice)
		if got != strings.Join(want[:n], " ") {
			b.t.Errorf("limit %d: got %q", n, got)
		}
	}
}

func replace(_ *testing.T, b *bench) {
	b.put("pub/a", "before")
	b.put("pub/a", "after")
	b.want("before", "")
	b.want("after", "pub/a:3")
}

func remove(_ *testing.T, b *bench) {
	b.put("pub/a", "word")
	b.put("pub/b", "word")
	for range 2 {
		if err := b.engine.Remove(b.t.Context(), skills.Ref{Collection: "pub", Path: "a"}); err != nil {
			b.t.Error(err)
		}
	}
	b.want("word", "pub/b:3")
}

func longTokens(_ *testing.T, b *bench) {
	long := strings.Repeat("x", 130)
	b.put("pub/a", long)
	b.put("pub/b", long[:129])
	b.want(long, "pub/a:3")
}

// What means something to an engine's own language means nothing in a query.
func quotes(_ *testing.T, b *bench) {
	b.put("pub/a", "one near two or not and")
	for _, query := range []string{`"one" OR two`, "one AND NOT two", "one* two^", "NEAR(one two)", "one' -- two", "{one}: two"} {
		b.want(query, "pub/a:3")
	}
}

// nonInterference: what alice gets is the same with and without any set of
// documents of bob.
func nonInterference(t *testing.T, fresh Fresh) {
	words := []string{"deploy", "prod", "staging", "日本語", "straße", "x"}
	rapid.Check(t, func(r *rapid.T) {
		with, without := &bench{t: t, engine: fresh(t)}, &bench{t: t, engine: fresh(t)}
		for i := range rapid.IntRange(0, 25).Draw(r, "documents") {
			place := rapid.SampledFrom([]string{"pub", "pa", "pb", "pb"}).Draw(r, "collection")
			id := fmt.Sprintf("%s/%d", place, rapid.IntRange(0, i).Draw(r, "path"))
			d := skills.Document{
				Title: rapid.SampledFrom(append(words, "")).Draw(r, "title"),
				Bytes: []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 4).Draw(r, "body"), " ")),
			}
			with.putDocument(id, d)
			if place != "pb" {
				without.putDocument(id, d)
			}
		}
		query := skills.Query{
			Text:   strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 3).Draw(r, "query"), " "),
			Limit:  rapid.IntRange(1, 5).Draw(r, "limit"),
			Prefix: rapid.Bool().Draw(r, "prefix"),
		}
		for _, scope := range [][]skills.AccountID{{alice}, {alice, bob}, nil} {
			if got, want := with.find(query, scope...), without.find(query, scope...); got != want {
				r.Fatalf("%+v for %v: got %q, want %q", query, scope, got, want)
			}
		}
	})
}
