package skills_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gatehouse/core/text"
	"gatehouse/skills"
	"gatehouse/skills/searchsuite"
)

// withBundled is a library of stored documents beside the built-in skills.
func withBundled(t *testing.T) (*shelf, *skills.Library, skills.Engine) {
	t.Helper()
	s := newShelf(t)
	both, engine, err := skills.WithBundled(s, &s.engine)
	if err != nil {
		t.Fatal(err)
	}
	return s, skills.New(both, engine), engine
}

// The built-in skills have no fault, not even one that only warns.
func TestBundled_LintsClean(t *testing.T) {
	built, err := skills.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	documents, err := built.Documents(t.Context(), skills.For("anybody"), skills.BundledCollection, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, listed := range documents {
		_, d, err := built.Document(t.Context(), skills.For("anybody"), listed.Ref)
		if err != nil {
			t.Fatal(err)
		}
		skill, ok, faults := skills.Inspect(d)
		if !ok || len(faults) > 0 {
			t.Errorf("%s: got %v", d.Ref, faults)
		}
		if shown, hidden := text.CleanBlock(string(d.Bytes)); hidden || shown != string(d.Bytes) {
			t.Errorf("%s: holds what would be taken out", d.Ref)
		}
		if f := skill.Frontmatter; !f.ModelInvocable || !f.UserInvocable || f.ArgumentHint == "" || len(f.Description) > skills.CatalogDescription {
			t.Errorf("%s: got %+v", d.Ref, f)
		}
		if body := string(d.Bytes[skill.Body:]); strings.Count(body, "$ARGUMENTS") != 1 {
			t.Errorf("%s: has no place for arguments, or several", d.Ref)
		}
		names = append(names, skill.Frontmatter.Name)
	}
	if got := strings.Join(names, " "); got != "incident-timeline queue-triage release-notes" {
		t.Errorf("got %s", got)
	}
}

func TestBundled_StandsBesideWhatIsStored(t *testing.T) {
	s, library, engine := withBundled(t)
	s.put("pub/deploy/SKILL.md", skillFile("deploy", "an incident of ours"))
	s.put("pb/x", "incident")
	s.put("gatehouse/release-notes/SKILL.md", skillFile("release-notes", "an incident of an impostor"))
	scope := skills.For("alice")
	listing, err := library.List(t.Context(), scope, skills.Page{})
	if err != nil || len(listing.Collections) != 2 || listing.Collections[0].Title != "Built in" || listing.Collections[1].ID != "pub" {
		t.Errorf("lists %+v, %v", listing.Collections, err)
	}
	for limit, want := range map[int]string{1: "gatehouse/incident-timeline/SKILL.md", 20: "gatehouse/incident-timeline/SKILL.md pub/deploy/SKILL.md"} {
		hits, err := library.Search(t.Context(), scope, skills.Query{Text: "incident", Limit: limit})
		var got []string
		for _, h := range hits {
			got = append(got, h.ID)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("limit %d: found %v, %v", limit, got, err)
		}
	}
	w, err := library.Read(t.Context(), scope, "gatehouse/release-notes/SKILL.md", 0, skills.WindowLimit)
	if err != nil || strings.Contains(w.Text, "impostor") {
		t.Errorf("read %q, %v", w.Text, err)
	}
	catalog, err := library.Catalog(t.Context(), scope, nil)
	if err != nil || !catalog.Shows(skills.BundledCollection) || !catalog.Shows("pub") || catalog.Shows("pb") || catalog.Shows("gate") {
		t.Errorf("catalog %+v, %v", catalog, err)
	}
	ref := skills.Ref{Collection: skills.BundledCollection, Path: "x"}
	for _, err := range []error{engine.Put(t.Context(), skills.Entry{Ref: ref}), engine.Remove(t.Context(), ref)} {
		code(t, err, skills.CodeBadCollection)
	}
	if _, err := library.Read(t.Context(), skills.Scope{}, "gatehouse/release-notes/SKILL.md", 0, 10); skills.CodeOf(err) != skills.CodeNotFound {
		t.Errorf("the zero scope read: %v", err)
	}
}

// The engine with the built-in skills is an engine like any other: nothing in
// the suite's searches is about them.
func TestBundled_Search(t *testing.T) {
	searchsuite.Run(t, func(t testing.TB) skills.Engine {
		_, engine, err := skills.WithBundled(&skills.MemoryShelf{}, &skills.MemoryEngine{})
		if err != nil {
			t.Fatal(err)
		}
		return withoutBuiltIn{engine}
	})
}

// withoutBuiltIn leaves out what the suite does not know of.
type withoutBuiltIn struct{ skills.Engine }

func (w withoutBuiltIn) Find(ctx context.Context, terms skills.Terms, scope skills.Scope, limit int) ([]skills.Match, error) {
	all, err := w.Engine.Find(ctx, terms, scope, limit+3)
	var kept []skills.Match
	for _, m := range all {
		if m.Ref.Collection != skills.BundledCollection && len(kept) < limit {
			kept = append(kept, m)
		}
	}
	return kept, err
}

// uses keeps uses in memory.
type uses struct {
	last map[skills.Ref]skills.Use
	err  error
}

func (u *uses) LastUse(_ context.Context, account skills.AccountID, ref skills.Ref) (*skills.Use, error) {
	if use, used := u.last[ref]; used && use.Account == account {
		return &use, u.err
	}
	return nil, u.err
}

func (u *uses) Used(_ context.Context, use skills.Use) error {
	u.last[use.Ref] = use
	return nil
}

func TestInvoke(t *testing.T) {
	s, library, _ := withBundled(t)
	d := s.put("pub/deploy/SKILL.md", skillFile("deploy", "to $ARGUMENTS"))
	s.put("pb/ship/SKILL.md", skillFile("ship", "x"))
	u := &uses{last: map[skills.Ref]skills.Use{}}
	invoke := func(message string) (skills.Invocation, error) {
		return library.Invoke(t.Context(), "alice", parse(t, message), u)
	}
	got, err := invoke("/deploy prod now")
	if err != nil || got.Ref != d.Ref || got.SHA256 != d.SHA256 || !strings.Contains(got.Text, "to prod now") || !got.Change.First || got.Source != string(d.Bytes) {
		t.Errorf("got %+v, %v", got, err)
	}
	u.last[d.Ref] = skills.Use{Account: "alice", Ref: d.Ref, SHA256: got.SHA256, Text: got.Source}
	s.put("pub/deploy/SKILL.md", skillFile("deploy", "elsewhere"))
	if got, err := invoke("/deploy"); err != nil || !got.Change.Changed || !strings.Contains(got.Change.Diff, "+elsewhere") {
		t.Errorf("changed: got %+v, %v", got.Change, err)
	}
	if got, err := library.Invoke(t.Context(), "bob", parse(t, "/deploy"), nil); err != nil || !got.Change.First {
		t.Errorf("without uses: got %+v, %v", got.Change, err)
	}
	if got, err := invoke("/help me"); err != nil || got.Builtin != "help" || got.Text != "" {
		t.Errorf("built-in: got %+v, %v", got, err)
	}
	for _, message := range []string{"/ship", "/nosuch", "/ship:pb", "/deploy:pb"} {
		_, err := invoke(message)
		code(t, err, skills.CodeNotFound)
	}
	u.err = errors.New("disk trouble")
	if _, err := invoke("/deploy"); !errors.Is(err, u.err) {
		t.Errorf("got %v: what was used last is not known", err)
	}
}

func TestS84_InvokeOneOfSeveral(t *testing.T) {
	s, library, _ := withBundled(t)
	s.put("pub/deploy/SKILL.md", skillFile("deploy", "x"))
	d := s.put("runbooks/deploy/SKILL.md", skillFile("deploy", "y $ARGUMENT"))
	s.put("pb/deploy/SKILL.md", skillFile("deploy", "z"))
	c := parse(t, "/deploy now")
	_, err := library.Invoke(t.Context(), "alice", c, nil)
	code(t, err, skills.CodeAmbiguousSkill)
	var refused *skills.RefusedError
	if errors.As(err, &refused) && len(refused.Choices) != 2 {
		t.Errorf("got %v to choose from", refused.Choices)
	}
	got, err := library.InvokeRef(t.Context(), "alice", c, d.Ref, nil)
	if err != nil || got.Ref != d.Ref || !strings.Contains(got.Text, "y now") {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = library.InvokeRef(t.Context(), "alice", c, skills.Ref{Collection: "pb", Path: "deploy/SKILL.md"}, nil)
	code(t, err, skills.CodeNotFound)
}

func TestOffers(t *testing.T) {
	s, library, _ := withBundled(t)
	s.put("pub/deploy/SKILL.md", "---\nname: deploy\ndescription: \"ships \\u202ered\"\nargument-hint: [where]\n---\n")
	s.put("runbooks/deploy/SKILL.md", skillFile("deploy", "y"))
	s.put("runbooks/help/SKILL.md", skillFile("help", "y"))
	s.put("runbooks/mute/SKILL.md", "---\nname: mute\ndescription: d\nuser-invocable: false\n---\n")
	s.put("pb/secret/SKILL.md", skillFile("secret", "y"))
	s.broken = "nothing"
	offers, err := library.Offers(t.Context(), "alice")
	var words []string
	for _, o := range offers {
		words = append(words, o.Word)
		if clean, hidden := text.CleanLine(o.Description+o.Hint, text.NoLimit); hidden || clean != o.Description+o.Hint {
			t.Errorf("%s: %q %q is not clean", o.Word, o.Description, o.Hint)
		}
		// What is offered can be called as it is written.
		if got, err := library.Invoke(t.Context(), "alice", parse(t, o.Word), nil); err != nil || got.Ref != o.Ref {
			t.Errorf("%s: calls %s, %v", o.Word, got.Ref, err)
		}
	}
	if got := strings.Join(words, " "); err != nil || got != "/deploy:pub /deploy:runbooks /help:runbooks /incident-timeline /queue-triage /release-notes" {
		t.Errorf("got %s, %v", got, err)
	}
	s.broken = "runbooks"
	offers, err = library.Offers(t.Context(), "alice")
	if err != nil || len(offers) != 4 || offers[0].Word != "/deploy" || offers[0].Hint != "[where]" {
		t.Errorf("with one that does not load: got %+v, %v", offers, err)
	}
}
