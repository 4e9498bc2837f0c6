package main_test

import (
	"strings"
	"testing"
)

// A rule that nothing can break is no rule. Each checker is shown a small bad
// example, which it must refuse, and a good one beside it.

type planted struct {
	name    string
	path    string
	content string
	want    string // part of the one fault, "" for none
}

func plant(t *testing.T, check func(source) []string, cases []planted) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, err := parseSource(c.path, c.content)
			if err != nil {
				t.Fatal(err)
			}
			one(t, check(s), c.want)
		})
	}
}

// one fails unless faults is the one that holds want, or none for "".
func one(t *testing.T, faults []string, want string) {
	t.Helper()
	switch {
	case want == "" && len(faults) > 0:
		t.Errorf("got faults %q, want none", faults)
	case want != "" && (len(faults) != 1 || !strings.Contains(faults[0], want)):
		t.Errorf("got faults %q, want one with %q", faults, want)
	}
}

func TestPlanted_MayImport(t *testing.T) {
	allowed := `cmd/gatehouse→store cmd/gatehouse→gatekeepers/files cmd/gatehouse→core/agent
		tui→core tui→core/agent tui→core/egress tui→core/share tui→core/text tui→skills tui→tui/term tui/term→core/text
		store→core store→skills store→core/text store/migrate→store
		gatekeepers/files→gatekeepers/kit gatekeepers/files→core gatekeepers/files→core/text gatekeepers/files→gatekeepers/files/git
		gatekeepers/kit→core gatekeepers/library→skills gatekeepers/model/anthropic→core gatekeepers/conformance→gatekeepers/kit
		gatekeepers/faulty→core store/faulty→store gatekeepers/conformance→gatekeepers/memory
		skills→core/text core→core/text core/agent→core core/share→core/text core/agent→core/agent/code`
	for _, edge := range strings.Fields(allowed) {
		if from, to, _ := strings.Cut(edge, "→"); !mayImport(from, to) {
			t.Errorf("%s is refused, want it allowed", edge)
		}
	}
	forbidden := `tui→store tui→gatekeepers/files tui→gatekeepers/kit tui→cmd/gatehouse tui/term→store
		store→tui store→gatekeepers/kit store→core/agent store→cmd/gatehouse
		gatekeepers/files→store gatekeepers/files→tui gatekeepers/files→gatekeepers/mcp gatekeepers/files→skills gatekeepers/files→core/egress
		gatekeepers/kit→gatekeepers/files gatekeepers/kit→skills gatekeepers/model/anthropic→gatekeepers/kit
		gatekeepers/filesystem→gatekeepers/files gatekeepers/files→gatekeepers/memory
		skills→core skills→store core→core/agent core→core/egress core→skills core→store
		core/agent→core/share core/agent→store core/agent→skills core/text→core core/text→skills
		cmd/gatehouse→gatekeepers/memory cmd/gatehouse→gatekeepers/conformance cmd/gatehouse→store/faulty cmd/gatehouse→gatekeepers/faulty
		pkg/other→core`
	for _, edge := range strings.Fields(forbidden) {
		if from, to, _ := strings.Cut(edge, "→"); mayImport(from, to) {
			t.Errorf("%s is allowed, want it refused", edge)
		}
	}
}

func TestPlanted_Rooms(t *testing.T) {
	plant(t, roomFaults, []planted{
		{"screen and store", "tui/a.go", `package tui; import ("gatehouse/core"; "gatehouse/store")`, "tui may not import store"},
		{"under another name", "core/a.go", `package core; import x "gatehouse/skills"`, "core may not import skills"},
		{"for its effects", "core/a.go", `package core; import _ "gatehouse/core/agent"`, "core may not import core/agent"},
		{"a name like ours", "core/a.go", `package core; import _ "gatehouses/store"`, ""},
		{"allowed", "tui/a.go", `package tui; import "gatehouse/core"`, ""},
	})
	one(t, depFaults("tui", []string{"fmt", "gatehouse/core", "gatehouse/gatekeepers/files"}), "tui depends on gatekeepers/files")
	one(t, depFaults("cmd/gatehouse", []string{"gatehouse/core", "gatehouse/gatekeepers/memory"}), "cmd/gatehouse depends on gatekeepers/memory")
	one(t, depFaults("store", []string{"os", "gatehouse/core", "gatehouse/core/text"}), "")
}

func TestPlanted_Sockets(t *testing.T) {
	plant(t, socketFaults, []planted{
		{"net", "store/a.go", `package store; import "net"`, "may import net"},
		{"http", "tui/a.go", `package tui; import "net/http"`, "may import net/http"},
		{"exec", "gatekeepers/sqldb/a.go", `package sqldb; import run "os/exec"`, "may import os/exec"},
		{"a name like one on the list", "gatekeepers/filesystem/a.go", `package filesystem; import "net"`, "may import net"},
		{"url", "store/a.go", `package store; import "net/url"`, ""},
		{"on the list", "gatekeepers/files/git/a.go", `package git; import "os/exec"`, ""},
		{"the terminal", "tui/term/a.go", `package term; import "os/exec"`, ""},
	})
}

func TestPlanted_Purity(t *testing.T) {
	plant(t, purityFaults, []planted{
		{"file", "core/a.go", `package core; import "os"`, "core imports os"},
		{"sql", "core/a.go", `package core; import "database/sql"`, "core imports database/sql"},
		{"socket", "skills/a.go", `package skills; import "net"`, "skills imports net"},
		{"terminal", "core/a.go", `package core; import _ "charm.land/bubbletea/v2"`, "core imports charm.land"},
		{"not the kernel itself", "core/agent/a.go", `package agent; import "os"`, ""},
		{"pure", "core/a.go", `package core; import ("context"; "io/fs"; "net/url")`, ""},
	})
}

func TestPlanted_Init(t *testing.T) {
	plant(t, initFaults, []planted{
		{"init", "store/a.go", "package store\nfunc init() { println(1) }", "store/a.go:2: func init"},
		{"method", "store/a.go", "package store\ntype T int\nfunc (T) init() {}", ""},
	})
}

func TestPlanted_Variables(t *testing.T) {
	plant(t, variableFaults, []planted{
		{"counter", "store/a.go", "package store\nvar n int", "store/a.go:2: package variable n"},
		{"map", "store/a.go", "package store\nvar ok = map[string]bool{}", "package variable ok"},
		{"pattern", "store/a.go", "package store\nimport \"regexp\"\nvar name = regexp.MustCompile(`a`)", "package variable name"},
		{"one of a group", "store/a.go", "package store\nimport \"errors\"\nvar (\n ErrA = errors.New(`a`)\n cache []int\n)", "a.go:5: package variable cache"},
		{"somebody else's New", "store/a.go", "package store\nimport \"x/errors\"\nvar ErrA = other.New(`a`)", "package variable ErrA"},
		{"an error without a value", "store/a.go", "package store\nvar ErrA error", "package variable ErrA"},
		{"an effect under a blank name", "store/a.go", "package store\nvar _ = register()", "package variable _"},
		{"an effect within a value", "store/a.go", "package store\nvar _ I = T{id: register()}", "package variable _"},
		{"sentinels", "store/a.go", "package store\nimport (e \"errors\"; \"fmt\")\nvar ErrA, errB = e.New(`a`), fmt.Errorf(`b`)", ""},
		{"embedded", "store/a.go", "package store\nimport \"embed\"\n\n//go:embed *.sql\nvar migrations embed.FS", ""},
		{"assertions", "store/a.go", "package store\nvar _ I = T{}\nvar _ I = (*T)(nil)", ""},
		{"inside a function", "store/a.go", "package store\nfunc f() { var n int; _ = n }\nconst c = 1", ""},
	})
}

func TestPlanted_Clock(t *testing.T) {
	plant(t, clockFaults, []planted{
		{"now", "core/a.go", "package core\nimport \"time\"\nvar t = time.Now()", "core/a.go:3: time.Now"},
		{"as a value", "core/agent/a.go", "package agent\nimport \"time\"\nfunc f() { g(time.Now) }", "time.Now"},
		{"since", "skills/a.go", "package skills\nimport \"time\"\nfunc f() { _ = time.Since(x) }", "time.Since"},
		{"sleep", "core/a.go", "package core\nimport \"time\"\nfunc f() { time.Sleep(1) }", "time.Sleep"},
		{"under another name", "core/a.go", "package core\nimport clock \"time\"\nfunc f() { clock.Now() }", "time.Now"},
		{"dot", "core/a.go", "package core\nimport . \"time\"\nfunc f() { Now() }", "dot import"},
		{"chance", "core/a.go", "package core\nimport \"math/rand/v2\"", "randomness"},
		{"secret chance", "core/share/a.go", "package share\nimport \"crypto/rand\"", "randomness"},
		{"the clock that came in", "core/a.go", "package core\nimport \"time\"\nfunc f(c Clock) { var _ time.Time = c.Now() }", ""},
		{"elsewhere", "cmd/gatehouse/a.go", "package main\nimport \"time\"\nfunc f() { time.Now() }", ""},
	})
}

func TestPlanted_Lengths(t *testing.T) {
	one(t, lengthFaults("store/a.go", 601), "601 lines")
	one(t, lengthFaults("store/a.go", 600), "")
	plant(t, longFunctions, []planted{
		{"long", "store/a.go", "package store\nfunc f() {" + strings.Repeat("\n", 80) + "}", "f has 81 lines"},
		{"a screen", "store/a.go", "package store\nfunc f() {" + strings.Repeat("\n", 79) + "}", ""},
	})
}

func TestPlanted_Packages(t *testing.T) {
	plant(t, func(s source) []string { return packageFaults([]source{s}) }, []planted{
		{"silent", "store/a.go", "package store", "no package comment"},
		{"a comment about something else", "store/a.go", "// Copyright.\npackage store", "no package comment"},
		{"cut off from it", "store/a.go", "// Package store keeps.\n\npackage store", "no package comment"},
		{"a name that says nothing", "core/utils/a.go", "// Package utils helps.\npackage utils", "nothing about its role"},
		{"good", "store/a.go", "// Package store keeps.\npackage store", ""},
		{"command", "cmd/gatehouse/a.go", "// Gatehouse opens.\npackage main", ""},
	})
}

func TestPlanted_TopFolder(t *testing.T) {
	one(t, topFaults([]string{"core/", "docs/", "go.mod"}), "docs/")
	one(t, topFaults([]string{"main.go"}), "main.go")
	one(t, topFaults([]string{"core"}), "core")
	one(t, topFaults([]string{".ci/", ".gitignore", "cmd/", "tui/", "core/", "store/", "gatekeepers/", "skills/", "LICENSE", "go.sum"}), "")
}

func TestPlanted_Places(t *testing.T) {
	hosts := registryHosts()
	for content, want := range map[string]string{
		"a\ncd /" + "work/main":                  "a.md:2: a path",
		`"/` + `root/.cache"`:                    "a path",
		"see /tmp/" + "gh/notes":                 "a path",
		"GOPROXY=https://proxy." + "golang.org":  "registry host",
		"npm: https://registry." + "npmjs.org/x": "registry host",
		"a/work/tree, ./work/b, ~/work/c":        "",
		"https://www.apache.org/licenses":        "",
	} {
		one(t, placeFaults("a.md", content, hosts), want)
	}
}

func TestPlanted_GoMod(t *testing.T) {
	for content, want := range map[string]string{
		"require (\n\tcharm.land/bubbletea/v2 v2.1.1\n)":                                       "go.mod:2: charm.land/bubbletea",
		"\tcharm.land/bubbles/v2 v2.2.1 // indirect":                                           "charm.land/bubbles",
		"\tcharm.land/bubbles/v2 v2.2.1 // github.com/charmbracelet/bubbletea":                 "charm.land/bubbles",
		"\tcharm.land/bubbletea/v2 v2.1.1 // github.com/charmbracelet/bubbletea":               "",
		"\tcharm.land/lipgloss/v2 v2.1.0 // indirect; github.com/charmbracelet/lipgloss":       "",
		"require charm.land/wish/v2 v2.0.0-beta.1 // github.com/charmbracelet/wish\n\ngo 1.26": "",
	} {
		one(t, goModFaults(content), want)
	}
}
