package main

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/gatekeepers/files"
	"gatehouse/tui"
)

// machineFolders are the folders of this machine, for the screens.
type machineFolders struct{ home string }

func newMachineFolders() machineFolders {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return machineFolders{home}
}

// folderScan is how many entries of a folder are looked at for completions.
const folderScan = 10_000

// Complete lists the folders that a path may become. Hidden ones are listed
// when their dot was typed.
func (m machineFolders) Complete(ctx context.Context, typed string) ([]string, error) {
	if typed == "" {
		typed = "./"
	}
	if typed == "~" {
		typed = "~/"
	}
	lead, begun := typed[:strings.LastIndexByte(typed, '/')+1], typed[strings.LastIndexByte(typed, '/')+1:]
	dir, err := os.Open(m.real(lead))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, core.Invalid("folder %s: %s", line(lead), reason(err))
	}
	defer dir.Close()                     //nolint:errcheck // it was only read
	entries, _ := dir.ReadDir(folderScan) // what cannot be listed is not offered
	var out []string
	for _, entry := range entries {
		if ctx.Err() != nil {
			break
		}
		name := entry.Name()
		if !strings.HasPrefix(name, begun) || strings.HasPrefix(name, ".") && !strings.HasPrefix(begun, ".") || name == ".git" {
			continue
		}
		if entry.IsDir() || entry.Type()&fs.ModeSymlink != 0 && isFolder(filepath.Join(dir.Name(), name)) {
			out = append(out, lead+name+"/")
		}
	}
	slices.Sort(out)
	return out[:min(len(out), tui.FolderLimit)], ctx.Err()
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// real finds a folder that was typed.
func (m machineFolders) real(typed string) string {
	if below, found := strings.CutPrefix(typed, "~/"); found && m.home != "" {
		return filepath.Join(m.home, below)
	}
	if typed == "" {
		return "."
	}
	return typed
}

// URL names the folder that a person typed.
func (m machineFolders) URL(typed string) (string, error) {
	if typed == "~" {
		typed = "~/"
	}
	return resourceURL(m.real(typed))
}

// Within names a folder in what a connection reaches.
func (m machineFolders) Within(c core.Connection, sub string) (string, error) {
	if c.Kind != files.Kind {
		return "", core.Invalid("connection %s: is to %s; use gatehouse bind with its URL", c.ID, line(c.Kind))
	}
	where := (&url.URL{Scheme: "file", Path: filepath.ToSlash(c.Root)}).String()
	if sub != "" {
		where += "#path=" + strings.ReplaceAll(url.PathEscape(sub), "&", "%26")
	}
	return where, nil
}
