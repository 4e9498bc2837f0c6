package files

import (
	"context"
	"errors"
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
	trusted := func(context.Context) ([]string, error) {
		return []string{source, filepath.Join(dir, "gone/skills")}, nil // nothing stands at the second
	}
	files := map[string]string{"a/skills/x/SKILL.md": "x", "b/y.txt": "y"}
	b := newBenchIn(t, dir, "", files, Options{Trusted: trusted})
	for _, c := range []struct {
		want bool
		args []any
	}{
		{true, []any{opWrite, "path", "a/skills/x/SKILL.md", "text", "z"}},
		{true, []any{opWrite, "path", "a/skills/new/SKILL.md", "text", "z"}},
		{true, []any{opMove, "from", "b/y.txt", "to", "a/skills/y.txt"}},
		{true, []any{opMove, "from", "a", "to", "c"}},
		{true, []any{opDelete, "path", "a/skills"}},
		{true, []any{opWrite, "path", "gone/skills/x/SKILL.md", "text", "z"}},
		{true, []any{opMove, "from", "b", "to", "gone"}},
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
	inside := newBenchIn(t, filepath.Join(source, "x"), "", nil, Options{Trusted: trusted})
	if _, d := inside.queue(opWrite, "path", "notes.md", "text", "n"); !d.WidensTrust {
		t.Error("a write in a folder below it does not widen trust")
	}
	unsure := newBenchIn(t, filepath.Join(dir, "b"), "", nil, Options{Trusted: func(context.Context) ([]string, error) {
		return nil, errors.New("cannot tell")
	}})
	if _, d := unsure.queue(opWrite, "path", "notes.md", "text", "n"); !d.WidensTrust {
		t.Error("a write does not widen trust although nobody can tell what is trusted")
	}
}
