package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConfiguration_AChangedFileHoldsWithoutARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("queue:\n  cap: 5\n")
	c, err := loadConfiguration(globalFlags{config: path})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	live := followed(c, slog.New(slog.NewTextHandler(&log, nil)))
	if got := live.now(); got.Cap != 5 || got.RequireKey {
		t.Fatalf("got %+v", got)
	}
	write("queue:\n  cap: 7\ndecisions:\n  require_key: true\n")
	if got := live.now(); got.Cap != 7 || !got.RequireKey {
		t.Errorf("got %+v, want the changed file", got)
	}
	write("queue:\n  cap: 9\nno_such_key: 1\n")
	for range 2 {
		if got := live.now(); got.Cap != 7 || !got.RequireKey {
			t.Errorf("got %+v, want the last valid values", got)
		}
	}
	if n := strings.Count(log.String(), "last valid values stay"); n != 1 {
		t.Errorf("told of %d times, want once: %s", n, log.String())
	}
	if got := live.notices(); !got.Bell || !got.Note || !got.Status || !got.Progress {
		t.Errorf("got %+v, want all of them by default", got)
	}
	write("ui:\n  bell: false\n  progress: false\n")
	if got := live.notices(); got.Bell || !got.Note || !got.Status || got.Progress {
		t.Errorf("got %+v, want what the changed file says", got)
	}
	if c.Queue.Cap != 5 {
		t.Error("the first configuration changed under its holders")
	}
}
