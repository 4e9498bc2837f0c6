package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// acquaint makes keys for people and records each in the stores of the others: acquaint NAME:TENANT….
func acquaint(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("write it as: acquaint NAME:TENANT NAME:TENANT")
	}
	lines := make([]string, len(args))
	for i, arg := range args {
		name, tenant, _ := strings.Cut(arg, ":")
		goHome(ts, false, []string{name})
		ts.Check(ts.Exec("gatehouse", "identity", "init", "--name", name, "--tenant", tenant))
		ts.Check(ts.Exec("gatehouse", "identity", "export"))
		lines[i] = strings.TrimSpace(ts.ReadFile("stdout"))
	}
	for i, arg := range args {
		name, _, _ := strings.Cut(arg, ":")
		goHome(ts, false, []string{name})
		for j, line := range lines {
			if j != i {
				ts.Check(ts.Exec("gatehouse", "people", "add", line))
			}
		}
	}
}

// knows looks for words in the bytes and the names of all files below a folder: knows FOLDER WORD…. Negated it wants none.
func knows(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("write it as: knows FOLDER WORD…")
	}
	for _, word := range args[1:] {
		var found []string
		ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			hit := strings.Contains(entry.Name(), word)
			if entry.Type().IsRegular() {
				raw, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				hit = hit || bytes.Contains(raw, []byte(word))
			}
			if hit {
				found = append(found, path)
			}
			return nil
		}))
		if (len(found) > 0) == neg {
			ts.Fatalf("%q is in %d files: %q (negated: %t)", word, len(found), found, neg)
		}
	}
}
