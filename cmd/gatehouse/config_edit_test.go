package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gatehouse/tui"
)

func itoa(n int) string { return strconv.Itoa(n) }

func wantedModel() []setting {
	return []setting{{"provider", "openai"}, {"openai.model", "qwen3:8b"}, {"openai.base_url", "http://127.0.0.1:11434/v1"}}
}

func configured(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConfigEditKeepsTheRest(t *testing.T) {
	const added = "provider: \"openai\"\nopenai:\n  base_url: \"http://127.0.0.1:11434/v1\"\n  model: \"qwen3:8b\"\n"
	for _, c := range []struct{ name, before, after string }{
		{"empty", "", added},
		{"comments", "# mine\nqueue:\n  cap: 10 # enough\n# end", "# mine\nqueue:\n  cap: 10 # enough\n# end\n" + added},
		{
			"replaced", "provider: script # for now\nopenai:\n    # the old one\n    model: 'a # b'   # slow\n    timeout: 90s\n",
			"provider: \"openai\" # for now\nopenai:\n    base_url: \"http://127.0.0.1:11434/v1\"\n    # the old one\n    model: \"qwen3:8b\"   # slow\n    timeout: 90s\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := configured(t, c.before)
			edit, err := planEdit(path, wantedModel())
			if err != nil || edit.After != c.after {
				t.Fatalf("%v, got\n%s\nwant\n%s", err, edit.After, c.after)
			}
			if got, _ := os.ReadFile(path); string(got) != c.before {
				t.Fatal("planning wrote")
			}
			if err := writeEdit(edit); err != nil {
				t.Fatal(err)
			}
			if got, _ := os.ReadFile(path); string(got) != c.after {
				t.Fatalf("wrote %s", got)
			}
		})
	}
}

func TestConfigEditRefuses(t *testing.T) {
	for name, content := range map[string]string{
		"broken": "queue: [\n", "unknown": "opnai:\n  model: x\n", "flow": "openai: {model: x}\n", "folded": "openai:\n  model: >\n    a\n    b\n",
	} {
		path := configured(t, content)
		_, err := planEdit(path, wantedModel())
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "config.yaml") {
			t.Errorf("%s: got %v, want one line that names the file", name, err)
		}
		if got, _ := os.ReadFile(path); string(got) != content {
			t.Errorf("%s: was written", name)
		}
	}
}

func TestConfigEditOfAChangedFile(t *testing.T) {
	path := configured(t, "# a\n")
	edit, err := planEdit(path, wantedModel())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("# b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeEdit(edit); err == nil || !strings.Contains(err.Error(), "was changed since") {
		t.Fatalf("got %v", err)
	}
	fresh := tui.ConfigEdit{Path: filepath.Join(t.TempDir(), "new", "config.yaml"), After: "# new\n"}
	if err := writeEdit(fresh); err != nil {
		t.Fatal(err)
	}
}

func TestFolderCompletion(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"site", "sing", ".hidden", ".git"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "sifile"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m := machineFolders{home: dir}
	for typed, want := range map[string]string{
		dir + "/si": dir + "/sing/ " + dir + "/site/", "~/si": "~/sing/ ~/site/", "~": "~/sing/ ~/site/", "~/.h": "~/.hidden/", dir + "/none/x": "",
	} {
		got, err := m.Complete(t.Context(), typed)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: got %q %v, want %q", typed, got, err, want)
		}
	}
	many := t.TempDir()
	for i := range tui.FolderLimit + 50 {
		if err := os.Mkdir(filepath.Join(many, itoa(i)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := m.Complete(t.Context(), many+"/"); err != nil || len(got) != tui.FolderLimit {
		t.Fatalf("%d folders, %v", len(got), err)
	}
}
