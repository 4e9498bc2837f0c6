package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The tests of the house itself: who may import whom, and what no file of it
// may contain. The rules bind non-test code; the checkers are in
// house_rules_test.go.

// root is the module's, seen from here.
const root = "../.."

// files returns every file of the tree that git would keep, by its path from
// the root: dot folders other than .git too, build outputs not.
func files(t *testing.T) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(root, func(p string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // gone since the folder was read
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case !entry.Type().IsRegular(), rel == "gatehouse", rel == ".git", // a file in a linked work tree
			slices.Contains([]string{".test", ".prof", ".out", ".db"}, path.Ext(rel)):
			return nil
		}
		paths = append(paths, rel)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func read(t *testing.T, rel string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(rel)))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// goFiles returns the parsed Go files of the tree, test data aside.
func goFiles(t *testing.T) []source {
	t.Helper()
	var sources []source
	for _, rel := range files(t) {
		if path.Ext(rel) != ".go" || strings.Contains(rel, "testdata/") {
			continue
		}
		s, err := parseSource(rel, read(t, rel))
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, s)
	}
	return sources
}

func shipped(sources []source) []source {
	return slices.DeleteFunc(sources, func(s source) bool { return strings.HasSuffix(s.path, "_test.go") })
}

func report(t *testing.T, faults []string) {
	t.Helper()
	for _, fault := range faults {
		t.Error(fault)
	}
}

func TestHouse_Source(t *testing.T) {
	sources := shipped(goFiles(t))
	for _, rule := range []struct {
		name  string
		check func(source) []string
	}{
		{"who imports whom", roomFaults},
		{"who reaches out", socketFaults},
		{"kernel and library are pure", purityFaults},
		{"no init", initFaults},
		{"no mutable package variable", variableFaults},
		{"no clock of their own", clockFaults},
	} {
		t.Run(rule.name, func(t *testing.T) {
			for _, s := range sources {
				report(t, rule.check(s))
			}
		})
	}
}

func TestHouse_Dependencies(t *testing.T) {
	list := exec.Command("go", "list", "-e", "-json=ImportPath,Deps", "./...")
	list.Dir = root
	var complaint bytes.Buffer
	list.Stderr = &complaint
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v: %s", err, complaint.String())
	}
	seen := 0
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; seen++ {
		var pkg struct {
			ImportPath string
			Deps       []string
		}
		if err := decoder.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		report(t, depFaults(strings.TrimPrefix(pkg.ImportPath, modulePath+"/"), pkg.Deps))
	}
	if seen == 0 {
		t.Error("go list found no package")
	}
}

func TestHouse_Packages(t *testing.T) {
	packages := map[string][]source{}
	for _, s := range shipped(goFiles(t)) {
		packages[s.pkg] = append(packages[s.pkg], s)
	}
	for _, files := range packages {
		report(t, packageFaults(files))
	}
}

func TestHouse_Lengths(t *testing.T) {
	for _, s := range goFiles(t) {
		lines := strings.Count(read(t, s.path), "\n")
		report(t, lengthFaults(s.path, lines))
		if lines > longFile {
			t.Logf("%s has %d lines, more than %d", s.path, lines, longFile)
		}
	}
	for _, s := range shipped(goFiles(t)) {
		for _, long := range longFunctions(s) {
			t.Logf("%s, more than %d", long, longFunction)
		}
	}
}

func TestHouse_TopFolder(t *testing.T) {
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() {
			name += "/"
		}
		names = append(names, name)
	}
	report(t, topFaults(names))
}

func TestHouse_NoPlaceOfOneMachine(t *testing.T) {
	hosts := append(registryHosts(), ownRegistries(t)...)
	for _, rel := range files(t) {
		if content := read(t, rel); !strings.Contains(content, "\x00") {
			report(t, placeFaults(rel, content, hosts))
		}
	}
}

// ownRegistries are the hosts from which this machine fetches modules.
func ownRegistries(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOPROXY").Output()
	if err != nil {
		t.Fatalf("go env: %v", err)
	}
	var hosts []string
	for _, proxy := range strings.FieldsFunc(strings.TrimSpace(string(out)), func(r rune) bool { return r == ',' || r == '|' }) {
		u, err := url.Parse(proxy)
		if err != nil {
			continue
		}
		if name := u.Hostname(); strings.Contains(name, ".") && name != "127.0.0.1" {
			hosts = append(hosts, name)
		}
	}
	return hosts
}

func TestHouse_GoMod(t *testing.T) { report(t, goModFaults(read(t, "go.mod"))) }

func TestHouse_OneTestCommand(t *testing.T) {
	const command = "go test ./..."
	if !strings.Contains(read(t, ".ci/run"), command) {
		t.Errorf(".ci/run does not call %q", command)
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), command) {
		t.Errorf("README.md does not name %q", command)
	}
}
