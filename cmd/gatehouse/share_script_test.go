package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// goHome makes everything that follows be done by another person, with folders
// and keys of their own: home NAME.
func goHome(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("write it as: home NAME")
	}
	home := ts.MkAbs(args[0] + ".home")
	ts.Setenv("HOME", home)
	ts.Setenv("XDG_DATA_HOME", filepath.Join(home, "data"))
	ts.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	ts.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	ts.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	ts.Setenv("TMPDIR", filepath.Join(home, "tmp"))
	ts.Check(os.MkdirAll(filepath.Join(home, "tmp"), 0o700))
	ts.Setenv(keyFile, filepath.Join(home, "me.key"))
}

// meet adds a person by the line that stands in a file: meet FILE.
func meet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("write it as: meet FILE")
	}
	ts.Check(ts.Exec("gatehouse", "people", "add", strings.TrimSpace(ts.ReadFile(args[0]))))
}
