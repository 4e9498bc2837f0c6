package store

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// TestOpen_AnEmptyFileBecomesPrivate: whoever made the file first, the store in it is its owner's alone.
func TestOpen_AnEmptyFileBecomesPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made.db")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	db, err := Open(context.Background(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %s, want 0600", info.Mode())
	}
	if err := db.Check(); err != nil {
		t.Errorf("the store distrusts itself: %v", err)
	}
}
