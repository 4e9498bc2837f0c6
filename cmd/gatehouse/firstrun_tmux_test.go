package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/gatekeepers/model/openai/fake"
)

// TestTmuxFirstRun: an empty home offers three things; a folder is connected
// after its grant was shown, a session is bound to it, and the composer says
// which setting a model needs.
func TestTmuxFirstRun(t *testing.T) {
	server := fake.Start()
	defer server.Close()
	w := newWorkplace(t, server, "old head\n")
	w.screens()
	w.shows("Try the demo", "Connect a folder", "Use a local model")
	w.keys("c")
	w.shows("type a path")
	w.presses("/", "folder /▏")
	w.types(strings.TrimPrefix(w.site, "/"))
	w.keys("Enter")
	w.shows("A session for the folder")
	w.presses("Tab", "[ Go on ]")
	w.keys("Enter")
	w.shows("Name of the binding")
	w.presses("Tab", "[ Go on ]")
	w.keys("Enter")
	w.shows("How much of it")
	w.presses("Tab", "[ Show the grant ]")
	w.keys("Enter")
	w.shows("Bind site to", "env.SITE", "can be queued", "which is made with it", "[ Cancel ]")
	if got := w.gatehouse("session", "list"); strings.Contains(got, "site") {
		t.Fatalf("before it was confirmed there is %s", got)
	}
	w.presses("Tab", "[ Bind ]")
	w.keys("Enter")
	w.shows("Transcript · site", "reach it as env.SITE")
	if got := w.gatehouse("bindings", "site"); !strings.Contains(got, "SITE") {
		t.Fatalf("bound: %s", got)
	}
	w.types("tidy up")
	w.keys("Enter")
	w.shows("no model is configured; set provider to openai")
	if _, err := os.Stat(filepath.Join(w.dir, "gatehouse", "config.yaml")); err == nil {
		t.Fatal("a configuration was written")
	}
	w.keys("Escape")
}
