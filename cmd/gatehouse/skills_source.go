package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"gatehouse/core/text"
	"gatehouse/skills"
	"gatehouse/store"
)

// A source of documents is read without trusting anything in it. Links are never followed, so that loops and ways out of
// the folder are nothing; sizes and paths are judged before a byte is read; what is no regular file is left alone.

// leftOut is a file that is not taken, and why.
type leftOut struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// skillSource is a folder, or the one file of it that counts.
type skillSource struct {
	root *os.Root
	dir  string
	only string // the one file; empty for all
}

// openSource opens a file or folder of documents.
func openSource(place string) (*skillSource, error) {
	info, err := os.Stat(place)
	if err != nil {
		return nil, missingPath(place, err)
	}
	s := &skillSource{dir: place}
	if !info.IsDir() {
		s.dir, s.only = filepath.Dir(place), filepath.Base(place)
	}
	if s.root, err = os.OpenRoot(s.dir); err != nil {
		return nil, fmt.Errorf("folder %s: %w", s.dir, err)
	}
	return s, nil
}

func missingPath(place string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &fault{code: codeNotFound, message: place + ": does not exist"}
	}
	return err
}

func (s *skillSource) close() error { return s.root.Close() }

// list walks over the source and returns what can be read, in no order, and what is left out.
func (s *skillSource) list(ctx context.Context, seen func(int)) (files []store.Listed, out []leftOut, err error) {
	if s.only != "" {
		why, stamp := s.look(s.only)
		if why != "" {
			return nil, []leftOut{{s.only, why}}, nil
		}
		files = []store.Listed{{Path: s.only, Stamp: stamp}}
		return files, nil, s.settle(ctx, files)
	}
	err = fs.WalkDir(s.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && name == ".":
			return fmt.Errorf("folder %s: %w", s.dir, err)
		case err != nil && !utf8.ValidString(name): // no part of a path, and so not even looked into
			out = append(out, leftOut{name, "its name is not UTF-8"})
			return nil
		case err != nil:
			out = append(out, leftOut{name, "cannot be read: " + reasonOf(err)})
			return nil
		case entry.Name() == ".git":
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		}
		why, stamp := s.look(name)
		if why != "" {
			out = append(out, leftOut{name, why})
			return nil
		}
		files = append(files, store.Listed{Path: name, Stamp: stamp})
		seen(len(files))
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return files, out, s.settle(ctx, files)
}

// settle looks again at files that changed so shortly before that their stamp did not count.
func (s *skillSource) settle(ctx context.Context, files []store.Listed) error {
	if !slices.ContainsFunc(files, func(f store.Listed) bool { return f.Stamp == "" }) {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(stampAge):
	}
	for i, f := range files {
		if f.Stamp == "" {
			_, files[i].Stamp = s.look(f.Path)
		}
	}
	return nil
}

// reasonOf is an error without the path that it is told with anyway.
func reasonOf(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// stampAge is how long after its last change a file has to be left alone before its stamp counts: the clock of a file
// system ticks so slowly that a later change may leave no trace in it.
const stampAge = 50 * time.Millisecond

// look judges a file from outside.
func (s *skillSource) look(name string) (why, stamp string) {
	info, err := s.root.Lstat(name)
	switch {
	case err != nil:
		return "cannot be read: " + reasonOf(err), ""
	case info.Mode()&fs.ModeSymlink != 0:
		return "is a link; links are not followed", ""
	case !info.Mode().IsRegular():
		return "is no regular file", ""
	}
	if err := skills.CheckPath(name); err != nil {
		return refusalWords(err), ""
	}
	if err := skills.CheckSize(name, info.Size()); err != nil {
		return refusalWords(err), ""
	}
	var st unix.Stat_t
	if err := unix.Lstat(filepath.Join(s.dir, filepath.FromSlash(name)), &st); err != nil {
		return "", ""
	}
	changed := time.Unix(st.Ctim.Unix())
	if age := time.Since(changed); age < stampAge {
		return "", ""
	}
	return "", fmt.Sprintf("%d %d %d %d", st.Ino, st.Size, st.Mtim.Nano(), st.Ctim.Nano())
}

// refusalWords is what was wrong, without the path or name in front.
func refusalWords(err error) string {
	var refused *skills.RefusedError
	if !errors.As(err, &refused) {
		return err.Error()
	}
	return refused.Text
}

// read reads a file whole, if it is still what it looked like.
func (s *skillSource) read(name string) (skills.Document, error) {
	f, err := s.root.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return skills.Document{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return skills.Document{}, err
	}
	if !info.Mode().IsRegular() {
		return skills.Document{}, errors.New("is no regular file")
	}
	if err := skills.CheckSize(name, info.Size()); err != nil {
		return skills.Document{}, err
	}
	content, err := io.ReadAll(io.LimitReader(f, skills.DocumentLimit+1))
	if err != nil {
		return skills.Document{}, err
	}
	return skills.NewDocument(skills.Ref{Path: name}, content)
}

// collectionName makes an id from the name of a file or folder.
func collectionName(place string) skills.CollectionID {
	name, _ := text.CleanLine(path.Base(filepath.ToSlash(place)), text.NoLimit)
	var b []rune
	for _, r := range name {
		if r == ' ' || r == '/' || r == '\t' {
			r = '-'
		}
		b = append(b, r)
	}
	return skills.CollectionID(b)
}

// noteLeftOut tells a person what was not taken, a few by name.
func (a *app) noteLeftOut(out []leftOut) {
	const named = 20
	for i, o := range out {
		if i == named {
			a.say("… and %d more files were left out", len(out)-named)
			return
		}
		a.say("left out %s: %s", o.Path, o.Why)
	}
}

// counter draws how far an import is on a terminal, and nothing elsewhere.
func (a *app) counter(what string) (show func(done, total int), end func()) {
	if !a.in.tty.stderr || a.json {
		return func(int, int) {}, func() {}
	}
	drawn := -1
	show = func(done, total int) {
		const width, steps = 20, 100
		if total > 0 && done*steps/total == drawn || total == 0 && done%500 != 0 {
			return
		}
		if total == 0 {
			fmt.Fprintf(a.in.stderr, "\r\x1b[K%s %d", what, done)
			return
		}
		drawn = done * steps / total
		full := width * done / total
		fmt.Fprintf(a.in.stderr, "\r\x1b[K[%s%s] %s %d/%d", strings.Repeat("#", full), strings.Repeat(".", width-full), what, done, total)
	}
	return show, func() { fmt.Fprint(a.in.stderr, "\r\x1b[K") }
}
