package files

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"gatehouse/core"
)

func TestF7_BytesAreKeptExactly(t *testing.T) {
	contents := map[string]string{
		"crlf.txt": "a\r\nb\r\n", "mixed.txt": "a\r\nb\nc\rd", "no-newline": "a\nb", "empty": "", "bom.txt": "\ufeffx\n",
		"binary": "\x00\x01\xff\xfe", "latin1": "caf\xe9\n", "escape": "\x1b[31mred\x1b[0m\n", "\u00fcml\u00e4ut.txt": "x",
	}
	b := newBench(t, contents)
	for name, want := range contents {
		v := decodeAs[readValue](t, b.read(opRead, "path", name).Value)
		got := ""
		switch {
		case v.Text != nil:
			got = *v.Text
		case v.Base64 != nil:
			raw, err := base64.StdEncoding.DecodeString(*v.Base64)
			if err != nil {
				t.Fatal(err)
			}
			got = string(raw)
		}
		if got != want || v.Size != int64(len(want)) {
			t.Errorf("read %s: got %q, want %q", name, got, want)
		}
		if isText([]byte(want)) != (v.Text != nil) {
			t.Errorf("read %s: text where it is none, or base64 where it is", name)
		}
	}
	b.queue(opEdit, "path", "crlf.txt", "old", "b", "new", "B")
	b.queue(opEdit, "path", "no-newline", "old", "b", "new", "c")
	b.queue(opEdit, "path", "latin1", "old", "caf", "new", "CAF")
	b.queue(opWrite, "path", "binary", "base64", base64.StdEncoding.EncodeToString([]byte("\xff\x00\r\n")))
	b.queue(opWrite, "path", "mixed.txt", "text", "x\r\ny")
	b.applyAll()
	for name, want := range map[string]string{
		"crlf.txt": "a\r\nB\r\n", "no-newline": "a\nc", "latin1": "CAF\xe9\n", "binary": "\xff\x00\r\n", "mixed.txt": "x\r\ny",
	} {
		b.wantDisk(name, want)
	}
}

func TestF7_AGibibyteIsReadInWindows(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "a"})
	big := filepath.Join(b.dir, "big.bin")
	if err := os.WriteFile(big, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, 1<<30); err != nil {
		skip(t, "this file system has no sparse files: %v", err)
	}
	f, err := os.OpenFile(big, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("needle"), 1<<29); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	read := func(offset int64) readValue {
		t.Helper()
		return decodeAs[readValue](t, b.read(opRead, "path", "big.bin", "offset", offset, "limit", 6).Value)
	}
	if v := read(1 << 29); v.Text == nil || *v.Text != "needle" || v.Next != 1<<29+6 || v.Size != 1<<30 {
		t.Errorf("window: got %+v", v)
	}
	if v := read(1<<30 - 3); v.Base64 == nil || *v.Base64 != "AAAA" || v.Next != 0 {
		t.Errorf("last window: got %+v", v)
	}
	if v := read(1 << 31); v.Text == nil || *v.Text != "" || v.Next != 0 {
		t.Errorf("behind the end: got %+v", v)
	}
	b.wantRefused("larger than 1 MiB", opEdit, "path", "big.bin", "old", "needle", "new", "x")
	b.wantRefused("larger than 1 MiB", opWrite, "path", "new.txt", "text", strings.Repeat("x", maxWrite+1))
	b.queue(opWrite, "path", "new.txt", "text", strings.Repeat("x", maxWrite))
	if _, err := b.tryRead(opRead, "path", "big.bin", "limit", maxWindow+1); err == nil {
		t.Error("a window over the limit was read")
	}
	if hits := decodeAs[searchValue](t, b.read(opSearch, "query", "needle").Value).Hits; len(hits) != 0 {
		t.Errorf("search in what is no text: got %+v", hits)
	}
	// Too large to be kept for undo: it can be deleted, and never brought back.
	if _, d := b.queue(opDelete, "path", "big.bin"); d.Revertible || !d.Irreversible {
		t.Errorf("delete: revertible %v, irreversible %v", d.Revertible, d.Irreversible)
	}
}

func TestF7_WindowsJoinToTheFile(t *testing.T) {
	content := strings.Repeat("a\u20acb\U0001f600\n", 50)
	b := newBench(t, map[string]string{"t.txt": content})
	for _, limit := range []int{4, 5, 7, 64} {
		var got strings.Builder
		for offset := int64(0); ; {
			v := decodeAs[readValue](t, b.read(opRead, "path", "t.txt", "offset", offset, "limit", limit).Value)
			if v.Text == nil {
				t.Fatalf("limit %d, offset %d: got base64", limit, offset)
			}
			got.WriteString(*v.Text)
			if v.Next == 0 {
				break
			}
			if v.Next <= offset {
				t.Fatalf("limit %d: stands still at %d", limit, offset)
			}
			offset = v.Next
		}
		if got.String() != content {
			t.Errorf("limit %d: windows do not join to the file", limit)
		}
	}
	// A window smaller than a character still moves on.
	if v := decodeAs[readValue](t, b.read(opRead, "path", "t.txt", "offset", 1, "limit", 1).Value); v.Next != 2 || v.Base64 == nil {
		t.Errorf("window of a byte: got %+v", v)
	}
}

func TestF7_OddNamesAreListedSafely(t *testing.T) {
	b := newBench(t, map[string]string{"a\nb.txt": "needle", "\x1b[31mred": "needle", "z\u202egnp.exe": "x"})
	odd := filepath.Join(b.dir, "bad\xff.txt")
	if err := os.WriteFile(odd, []byte("needle"), 0o644); err != nil {
		skip(t, "this file system has no such names: %v", err)
	}
	list := b.read(opList)
	if !utf8.Valid(list.Value) || strings.ContainsAny(string(list.Value), "\n\x1b") {
		t.Errorf("list: got %q", list.Value)
	}
	noted := 0
	for _, e := range decodeAs[listValue](t, list.Value).Entries {
		if e.Note != "" {
			noted++
		}
	}
	if noted != 1 {
		t.Errorf("list: got %d notes, want one on the name that is not UTF-8", noted)
	}
	if _, err := b.tryRead(opRead, "path", "bad\ufffd.txt"); !isNotFound(err) {
		t.Errorf("read: got %v, want not found", err)
	}
	if got := b.text("a\nb.txt"); got != "needle" {
		t.Errorf("read: got %q", got)
	}
	if hits := decodeAs[searchValue](t, b.read(opSearch, "query", "needle").Value).Hits; len(hits) != 3 {
		t.Errorf("search: got %+v, want 3 hits", hits)
	}
	// No new name is made that a person could not tell from another, and titles are one clean line.
	for _, p := range []string{"new\nline", "esc\x1b[2J", "rtl\u202etxt", "tab\tname"} {
		b.wantRefused("not allowed in new names", opWrite, "path", p, "text", "x")
		b.wantRefused("not allowed in new names", opMkdir, "path", p)
		b.wantRefused("not allowed in new names", opMove, "from", "a\nb.txt", "to", p)
	}
	_, d := b.queue(opDelete, "path", "a\nb.txt")
	if strings.ContainsAny(d.Title, "\n\x1b") {
		t.Errorf("title: got %q", d.Title)
	}
	b.applyAll()
	b.wantGone("a\nb.txt")
}

func TestF7_SpecialFilesAreNotOpened(t *testing.T) {
	b := newBench(t, nil)
	if err := syscall.Mkfifo(filepath.Join(b.dir, "pipe"), 0o644); err != nil {
		skip(t, "no pipes can be made here: %v", err)
	}
	if _, err := b.tryRead(opRead, "path", "pipe"); err == nil || !strings.Contains(err.Error(), "not a file") {
		t.Errorf("read: got %v", err)
	}
	b.read(opSearch, "query", "x")
	b.wantRefused("not a file", opWrite, "path", "pipe", "text", "x")
	if e := decodeAs[listValue](t, b.read(opList).Value).Entries; len(e) != 1 || e[0].Kind != kindOther {
		t.Errorf("list: got %+v", e)
	}
}

const nobody = 65534

// childRead reads as a person who may not: the administrator, as who tests may run, may read everything.
func childRead(o order) error {
	if os.Getuid() == 0 {
		if err := syscall.Setgid(o.UID); err != nil {
			return err
		}
		if err := syscall.Setuid(o.UID); err != nil {
			return err
		}
	}
	r, err := openAt(o.Dir, Options{})
	if err != nil {
		return err
	}
	_, err = r.Read(context.Background(), call(opRead, "path", o.Path), core.Journal{})
	var refused *core.CallError
	if !errors.As(err, &refused) || !strings.Contains(refused.Text, "permission denied by the system") {
		return fmt.Errorf("read: got %w, want permission denied", err)
	}
	found, err := r.Read(context.Background(), call(opSearch, "query", "hush"), core.Journal{})
	if err != nil {
		return err
	}
	if !strings.Contains(string(found.Value), `"hits":[]`) || !strings.Contains(string(found.Value), "permission denied") {
		return fmt.Errorf("search: got %s, want the file skipped with the reason", found.Value)
	}
	return nil
}

func TestF7_AFileWithoutReadPermission(t *testing.T) {
	b := newBench(t, map[string]string{"locked.txt": "hush", "open.txt": "x"})
	if err := os.Chmod(filepath.Join(b.dir, "locked.txt"), 0); err != nil {
		t.Fatal(err)
	}
	for d := b.dir; d != filepath.Dir(os.TempDir()) && strings.HasPrefix(d, os.TempDir()+"/"); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if output, killed := runChild(t, "read", order{Dir: b.dir, Path: "locked.txt", UID: nobody}); output != "" || killed {
		t.Error(output)
	}
}

func TestModesAndOwnersAreKept(t *testing.T) {
	b := newBench(t, map[string]string{"run.sh": "#!/bin/sh\n", "private/x": "x"})
	script := filepath.Join(b.dir, "run.sh")
	if err := os.Chmod(script, 0o751); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(b.dir, "private"), 0o700); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := os.Chown(script, 1234, 1234); err != nil {
			t.Fatal(err)
		}
	}
	b.queue(opEdit, "path", "run.sh", "old", "sh\n", "new", "sh\ntrue\n")
	b.queue(opWrite, "path", "private/y", "text", "y")
	b.queue(opWrite, "path", "private/deep/z", "text", "z")
	b.queue(opWrite, "path", "public.txt", "text", "p")
	b.applyAll()
	for name, want := range map[string]os.FileMode{"run.sh": 0o751, "private/y": 0o600, "private/deep": 0o700, "private/deep/z": 0o600, "public.txt": 0o644} {
		info, err := os.Stat(filepath.Join(b.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s: got mode %04o, want %04o", name, info.Mode().Perm(), want)
		}
		if uid, _, ok := ownerOf(info); name == "run.sh" && os.Getuid() == 0 && (!ok || uid != 1234) {
			t.Errorf("%s: got owner %d, want the one it had", name, uid)
		}
	}
}

// skip leaves out what this machine cannot show; the one that decides has to.
func skip(t *testing.T, reason string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(reason, args...)
	}
	t.Skipf(reason, args...)
}
