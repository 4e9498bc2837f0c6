package files

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"gatehouse/core"
)

func FuzzPlace(f *testing.F) {
	for _, s := range []string{
		"file:///srv/site", "file:///srv/site#path=docs", "file:///", "file:///a%20b#path=c%26d/e%23", "file:///srv/\u00fc", "file:///srv?x",
		"file:///srv#path=../x", "file:///srv/%2e%2e/x", "file:///srv#path=%2e%2e", "file:///srv/.g%69t", "file:///srv#path=a%00", "file:////srv//x/",
		"file:///srv#path=a#path=b", "file:///100%25", "file:///srv#path=a%2fb",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := parsePlace(s)
		if err != nil {
			return
		}
		printed := p.String()
		again, err := parsePlace(printed)
		if err != nil || again != p || again.String() != printed {
			t.Fatalf("%q: printed as %q, which reads as %+v %v, want %+v", s, printed, again, err, p)
		}
		if !filepath.IsAbs(p.root) || filepath.Clean(p.root) != p.root || !utf8.ValidString(printed) {
			t.Fatalf("%q: root %q", s, p.root)
		}
		for _, name := range strings.Split(p.root+"/"+p.sub, "/") {
			if name == ".." || isGitName(name) || strings.ContainsRune(name, 0) {
				t.Fatalf("%q: grants %+v", s, p)
			}
		}
		if _, why := relative(p.sub); why != "" {
			t.Fatalf("%q: sub-path %q %s", s, p.sub, why)
		}
	})
}

func TestConnectNamesOneFolderOneService(t *testing.T) {
	dir := t.TempDir()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a/site", "b/site", "c"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "a/site"), filepath.Join(dir, "alias")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	d := New(Options{Host: "here", User: "alice"})
	connect := func(name string) core.Connection {
		t.Helper()
		c, err := d.Connect(context.Background(), place{root: filepath.Join(dir, name)}.String())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	a := connect("a/site")
	sum := sha256.Sum256([]byte(filepath.Join(real, "a/site")))
	if want := fmt.Sprintf("local:here/site~%x", sum[:4]); a.Service != want || a.Owner != "alice" || a.Kind != Kind || len(a.Readers) != 0 {
		t.Errorf("got %+v, want service %s", a, want)
	}
	if b := connect("b/site"); b.Service == a.Service {
		t.Error("two folders are one service")
	}
	if alias := connect("alias"); alias.Service != a.Service || alias.Root != a.Root {
		t.Errorf("a folder by another name: got %+v, want %+v", alias, a)
	}
	for name, word := range map[string]string{"missing": "does not exist", "file": "is a file"} {
		_, err := d.Connect(context.Background(), place{root: filepath.Join(dir, name)}.String())
		if err == nil || !strings.Contains(err.Error(), word) || strings.Contains(err.Error(), "\n") {
			t.Errorf("connect %s: got %v, want %q", name, err, word)
		}
	}
	open := func(c core.Connection, root, sub string) error {
		r, err := d.Open(context.Background(), c, place{root: filepath.Join(dir, root), sub: sub}.String())
		if err == nil {
			err = r.Close()
		}
		return err
	}
	whole := connect(".")
	if err := open(whole, ".", "a/site"); err != nil {
		t.Error(err)
	}
	if err := open(whole, "a/site", ""); err != nil {
		t.Error(err)
	}
	for _, bad := range []struct{ root, sub string }{{"b/site", ""}, {".", ""}, {"a", "site"}, {"a/site", "missing"}} {
		if err := open(a, bad.root, bad.sub); err == nil {
			t.Errorf("open %+v with a connection to a/site: was accepted", bad)
		}
	}
	if err := open(whole, ".", "file"); err == nil || !strings.Contains(err.Error(), "no folder") {
		t.Errorf("open of a file: got %v", err)
	}
	if err := open(whole, ".", "alias"); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("open through a link: got %v", err)
	}
}

func TestCoversWhatLiesInside(t *testing.T) {
	dir := t.TempDir()
	wide := newBenchIn(t, dir, "", map[string]string{"site/a/x": "x", "site-two/x": "x"}, Options{})
	narrow := newBenchIn(t, dir, "site", nil, Options{})
	unit := func(name string) core.Unit {
		u := wide.res.Unit().Unit
		u.Name = name
		return u
	}
	for name, want := range map[string][2]bool{".": {true, false}, "site": {true, true}, "site/a": {true, true}, "site-two": {true, false}} {
		if got := [2]bool{wide.res.Covers(unit(name)), narrow.res.Covers(unit(name))}; got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if narrow.res.Unit().Unit != unit("site") {
		t.Errorf("unit: got %v", narrow.res.Unit().Unit)
	}
}
