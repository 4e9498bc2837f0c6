package files

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWhatIsDoneToATrustedFolderWidensTrust(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "a/skills")
	if err := os.MkdirAll(source, 0o755); err != nil {
		t.Fatal(err)
	}
	trusted, err := PlaceAt("the skills", source)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"a/skills/x/SKILL.md": "x", "b/y.txt": "y"}
	b := newBenchIn(t, dir, "", files, Options{Trusted: []Place{trusted}})
	for _, c := range []struct {
		want bool
		args []any
	}{
		{true, []any{opWrite, "path", "a/skills/x/SKILL.md", "text", "z"}},
		{true, []any{opWrite, "path", "a/skills/new/SKILL.md", "text", "z"}},
		{true, []any{opMove, "from", "b/y.txt", "to", "a/skills/y.txt"}},
		{true, []any{opMove, "from", "a", "to", "c"}},
		{true, []any{opDelete, "path", "a/skills"}},
		{false, []any{opWrite, "path", "a/other.txt", "text", "z"}},
		{false, []any{opDelete, "path", "b"}},
	} {
		id, d, err := b.try(c.args[0].(string), c.args[1:]...)
		if err != nil {
			t.Fatal(err)
		}
		if d.WidensTrust != c.want || d.AutoApprovable == c.want {
			t.Errorf("%v: widens trust %v, auto-approvable %v; want %v", c.args, d.WidensTrust, d.AutoApprovable, c.want)
		}
		b.drop(id)
	}
	// A binding that lies in the folder.
	inside := newBenchIn(t, filepath.Join(source, "x"), "", nil, Options{Trusted: []Place{trusted}})
	if _, d := inside.queue(opWrite, "path", "notes.md", "text", "n"); !d.WidensTrust {
		t.Error("a write in a folder below it does not widen trust")
	}
}
