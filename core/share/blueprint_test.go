package share_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/share"
)

func blueprint() core.Blueprint {
	return core.Blueprint{
		Title:        `Weekly "refresh": #1`,
		Instructions: "Look at what is new.\n\n  - keep the order\n\tand tabs\n# no comment\n--- no document\n",
		Bindings: []core.BlueprintBinding{
			{Name: "DOCS", Gatekeeper: "files", Form: "file:///PATH#path=VALUE", Operations: []string{"list", "read"}},
			{Name: "LIB", Gatekeeper: "library", Form: "library:///"},
		},
		Skills: []core.BlueprintSkill{{Collection: "runbooks", Source: "git https://example.org/r.git main"}, {Collection: "style"}, {}},
	}
}

func encoded(t testing.TB, b core.Blueprint) []byte {
	t.Helper()
	raw, err := share.EncodeBlueprint(b)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestBlueprint_ReadsBackAsItWas(t *testing.T) {
	raw := encoded(t, blueprint())
	back, err := share.ParseBlueprint(raw)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprintf("%+v", back) != fmt.Sprintf("%+v", blueprint()) {
		t.Errorf("got %+v, want %+v", back, blueprint())
	}
	if again := encoded(t, back); !bytes.Equal(again, raw) {
		t.Errorf("got\n%s\nthe second time, want\n%s", again, raw)
	}
	if again := encoded(t, core.Blueprint{Instructions: "a  \r\nb\n\n\n"}); !bytes.Equal(again, encoded(t, core.Blueprint{Instructions: "a\nb"})) {
		t.Errorf("got %s, want one form", again)
	}
}

// wantRefused wants a file refused with words that are clean.
func wantRefused(t *testing.T, file string, words ...string) {
	t.Helper()
	_, err := share.ParseBlueprint([]byte(file))
	var invalid *share.InvalidError
	if !errors.As(err, &invalid) {
		t.Errorf("%q: got %v, want it refused", file, err)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q: got %q, want %q in it", file, err, word)
		}
	}
	if strings.ContainsAny(err.Error(), "\x1b\n\u202e") {
		t.Errorf("%q: %q is not clean", file, err)
	}
}

func TestX13_AForgedBlueprintIsRefused(t *testing.T) {
	const head = "gatehouse-blueprint: 1\n"
	for _, key := range []string{"rules", "hooks", "policies", "trust", "credentials", "connection", "environment", "approvals", "grants", "egress"} {
		wantRefused(t, head+"title: x\n"+key+": [a]\n", "line 3", "never carries")
		wantRefused(t, head+"bindings:\n  - name: A\n    gatekeeper: files\n    form: file:///PATH\n    "+key+": a\n", "line 6", "never carries")
	}
	wantRefused(t, head+"colour: red\n", "line 2", `"colour"`, "no field")
	wantRefused(t, head+"title: a\ntitle: b\n", "line 3", "stands twice")
	wantRefused(t, head+"bindings:\n  - name: A\n    gatekeeper: files\n    form: file:///srv/payroll\n", "line 3", "form")
	wantRefused(t, head+"bindings:\n  - name: A\n    gatekeeper: files\n    form: file:///PATH#path=payroll\n", "form")
	wantRefused(t, head+"bindings:\n  - name: A\n    gatekeeper: files\n    form: file:///PATH\n    operations: [\"rm -rf /\"]\n", "line 3", "operation")
	wantRefused(t, head+"bindings:\n  - name: a b\n    gatekeeper: files\n    form: file:///PATH\n", "line 3", "binding name")
	wantRefused(t, head+"skills:\n  - source: x\n", "line 3")
	wantRefused(t, head+"skills:\n  - collection: x\n    hole: y\n", "line 3")
}

func TestX15_EscapesInABlueprintAreInert(t *testing.T) {
	const head = "gatehouse-blueprint: 1\n"
	wantRefused(t, head+"title: \"\\e[31mred\\e]0;x\\a\"\n", "line 2", "title")
	wantRefused(t, head+"title: \"\\u202egpj\"\n", "line 2")
	wantRefused(t, head+"instructions: \"a\\e[2Jb\"\n", "line 2")
	wantRefused(t, head+"\"\\e[31m\": x\n", "line 2")
	wantRefused(t, head+"skills:\n  - collection: \"\\x9b31m\"\n")
	wantRefused(t, "\x1b[31m")
	if _, err := share.EncodeBlueprint(core.Blueprint{Instructions: "fine\nnot\x1b[2J fine\n"}); err == nil || !strings.Contains(err.Error(), "instructions, line 2") {
		t.Errorf("got %v, want the line refused", err)
	}
}

func TestX14_ABlueprintIsBounded(t *testing.T) {
	const head = "gatehouse-blueprint: 1\n"
	wantRefused(t, head+"# "+strings.Repeat("a", share.BlueprintLimit)+"\n", "at most")
	wantRefused(t, head+"instructions: |\n  "+strings.Repeat("a", share.InstructionsLimit+1)+"\n", "at most")
	wantRefused(t, head+"title: "+strings.Repeat("a", 201)+"\n", "at most")
	wantRefused(t, head+"bindings:\n"+strings.Repeat("  - {name: A, gatekeeper: files, form: \"file:///\"}\n", 65), "bindings")
	wantRefused(t, head+"bindings:\n"+strings.Repeat("  - {name: A, gatekeeper: files, form: \"file:///\"}\n", 2), "twice")
	wantRefused(t, head+"title: "+strings.Repeat("[", 100_000))
	wantRefused(t, head+"title: &a x\n", "anchors")
	wantRefused(t, head+"title: !!binary aGVsbG8=\n", "tags")
	wantRefused(t, head+"title: 5\n", "line 2", "a text is wanted")
	wantRefused(t, head+"---\nmore: 1\n", "behind its end")
	wantRefused(t, "title: x\n", "does not begin")
	wantRefused(t, "", "not a blueprint")
	wantRefused(t, "\xff\xfe", "UTF-8")
	wantRefused(t, "gatehouse-blueprint: 0\n", "version")
	var newer *share.NewerError
	if _, err := share.ParseBlueprint([]byte("gatehouse-blueprint: 2\nwhatever: [1]\n")); !errors.As(err, &newer) || newer.Version != 2 {
		t.Errorf("got %v, want a newer version told", err)
	}
}

func TestX11_SecretsInABlueprintAreFoundWithTheirPlace(t *testing.T) {
	s := share.NewScanner()
	if found := s.ScanBlueprint(blueprint()); len(found) > 0 {
		t.Errorf("got %v, want nothing", found)
	}
	b := blueprint()
	b.Title = "key AKIAABCDEFGHIJKLMNOP"
	b.Instructions = "first\nuse ghp_abcdefghijklmnopqrstuvwxyz012345\nlook in /srv/payroll/2026\n"
	b.Skills[0].Source = "git https://ann:hunter22@example.org/r.git"
	var got []string
	for _, f := range s.ScanBlueprint(b) {
		got = append(got, f.Place)
	}
	want := "instructions, line 2 instructions, line 3 skill 1, source title"
	if strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// FuzzBlueprint: what is read has one form, in which it reads back as the same.
func FuzzBlueprint(f *testing.F) {
	f.Add(encoded(f, blueprint()))
	f.Add(encoded(f, core.Blueprint{}))
	f.Add([]byte("gatehouse-blueprint: 1\nrules: [x]\n"))
	f.Add([]byte("gatehouse-blueprint: 1\ninstructions: |2\n   a\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := share.ParseBlueprint(raw)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\x1b\n") {
				t.Errorf("%q is not clean", err)
			}
			return
		}
		form, err := share.EncodeBlueprint(b)
		if err != nil {
			return // characters that only an escape can carry
		}
		back, err := share.ParseBlueprint(form)
		if err != nil {
			t.Fatalf("%q: does not read back: %v", form, err)
		}
		if again := encoded(t, back); !bytes.Equal(again, form) {
			t.Errorf("got %q, then %q", form, again)
		}
	})
}
