package skills_test

import (
	"strings"
	"testing"

	"gatehouse/skills"
)

func TestS74_TooLarge(t *testing.T) {
	ref := skills.Ref{Collection: "c", Path: "big"}
	if _, err := skills.NewDocument(ref, make([]byte, skills.DocumentLimit)); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	_, err := skills.NewDocument(ref, make([]byte, skills.DocumentLimit+1))
	code(t, err, skills.CodeTooLarge)
	if err == nil || !strings.Contains(err.Error(), "1800001") || !strings.Contains(err.Error(), "1800000") {
		t.Errorf("got %v, want both numbers", err)
	}
}

func TestS75_Paths(t *testing.T) {
	for _, path := range []string{"../x", "/x", "a//b", "a/\x1b", "", ".", "..", "a/./b", "a/..", "a/", "a\nb", "a\u0085b", "a\xff", strings.Repeat("é", 1025)} {
		code(t, skills.CheckPath(path), skills.CodeBadPath)
		if err := skills.CheckPath(path); err != nil && strings.ContainsAny(err.Error(), "\x1b\n\u0085") {
			t.Errorf("%q: the error shows it raw: %q", path, err)
		}
	}
	for _, path := range []string{"x", "a/b", "..a/b..", "a b", strings.Repeat("é", 1024)} {
		if err := skills.CheckPath(path); err != nil {
			t.Error(err)
		}
	}
}

func TestCollectionID(t *testing.T) {
	for _, id := range []skills.CollectionID{"", "a/b", "a b", "a\u202eb", "a\n", skills.CollectionID(strings.Repeat("x", 257))} {
		code(t, skills.CheckCollectionID(id), skills.CodeBadCollection)
	}
	if err := skills.CheckCollectionID("Röhre-1.x"); err != nil {
		t.Error(err)
	}
}

func TestScope(t *testing.T) {
	public := skills.Collection{Visibility: skills.VisibilityPublic, Owner: "alice"}
	private := skills.Collection{Visibility: skills.VisibilityPrivate, Owner: "alice"}
	for _, c := range []struct {
		scope           skills.Scope
		public, private bool
	}{
		{skills.Scope{}, false, false},
		{skills.For("alice"), true, true},
		{skills.For("bob"), true, false},
		{skills.For("alice", "bob"), true, false},
	} {
		if got := c.scope.Reads(public); got != c.public {
			t.Errorf("%v reads public: %t", c.scope, got)
		}
		if got := c.scope.Reads(private); got != c.private {
			t.Errorf("%v reads private: %t", c.scope, got)
		}
	}
	if skills.For("").Reads(skills.Collection{Visibility: skills.VisibilityPrivate}) || skills.For("alice").Reads(skills.Collection{}) {
		t.Error("a zero value is read")
	}
}

func TestReadWindow(t *testing.T) {
	d, err := skills.NewDocument(skills.Ref{Collection: "c", Path: "a.md"}, []byte(strings.Repeat("日é", 40_000)))
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{1, 7, skills.WindowLimit} {
		var b strings.Builder
		offset, reads := 0, 0
		for offset < len(d.Bytes) && reads < 100 {
			w, err := skills.ReadWindow(d, offset, limit)
			if err != nil || w.Binary || w.Next <= offset || w.Offset != offset || w.Size != len(d.Bytes) {
				t.Fatalf("at %d: %+v, %v", offset, w, err)
			}
			b.WriteString(w.Text)
			offset, reads = w.Next, reads+1
		}
		if !strings.HasPrefix(string(d.Bytes), b.String()) || limit == skills.WindowLimit && b.Len() != len(d.Bytes) {
			t.Errorf("limit %d: the windows are not the document", limit)
		}
	}
	if w, err := skills.ReadWindow(d, 4, 3); err != nil || w.Text != "é" || w.Offset != 3 {
		t.Errorf("inside a character: got %+v, %v", w, err)
	}
	if w, err := skills.ReadWindow(d, len(d.Bytes), 10); err != nil || w.Text != "" || w.Next != len(d.Bytes) {
		t.Errorf("at the end: got %+v, %v", w, err)
	}
	for _, c := range [][2]int{{-1, 10}, {len(d.Bytes) + 1, 10}, {0, 0}, {0, -1}, {0, skills.WindowLimit + 1}} {
		_, err := skills.ReadWindow(d, c[0], c[1])
		code(t, err, skills.CodeBadWindow)
	}
	for path, want := range map[string]string{"a.png": "image/png", "a": "application/octet-stream", "SKILL.md": "text/markdown"} {
		if got := skills.ContentType(path, []byte{0xff, 0}); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}
