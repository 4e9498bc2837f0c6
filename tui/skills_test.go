package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"gatehouse/skills"
	"gatehouse/tui/term"
)

// onDeploy are the keys that lead to the skill deploy.
func onDeploy() []string { return []string{"4", "G", "enter", "j"} }

func TestGoldenSkills(t *testing.T) {
	states := []struct {
		name string
		make func(t *testing.T, w, h int) *driver
	}{
		{"empty", func(t *testing.T, w, h int) *driver {
			d := newDriver(t, newFake(), w, h, withLibrary(newFakeLibrary()))
			d.press("4")
			return d
		}},
		{"none", func(t *testing.T, w, h int) *driver {
			d := newDriver(t, newFake(), w, h)
			d.press("4")
			return d
		}},
		{"loading", func(t *testing.T, w, h int) *driver {
			d := newDriver(t, lent(), w, h, withLibrary(runbooks(t)))
			d.press(onDeploy()...)
			d.hold = true
			d.send(reloadMsg{})
			d.a.shelves.slow, d.a.shelves.page.slow, d.a.dirty = true, true, true
			return d
		}},
		{"error", func(t *testing.T, w, h int) *driver {
			l := runbooks(t)
			l.broken = errors.New("gatehouse.db: the disk does not answer")
			d := newDriver(t, lent(), w, h, withLibrary(l))
			d.press("4")
			return d
		}},
		{"page-error", func(t *testing.T, w, h int) *driver {
			l := runbooks(t)
			d := newDriver(t, lent(), w, h, withLibrary(l))
			d.press(onDeploy()...)
			l.broken = errors.New("gatehouse.db: the disk does not answer")
			d.press("tab", "m")
			return d
		}},
	}
	for name, keys := range map[string][]string{
		"collection": {"tab"}, "text": {"enter", "j", "tab"}, "raw": {"enter", "j", "tab", "m"}, "problems": {"enter", "G", "tab", "]"},
		"fix": {"enter", "G", "tab", "]", "f"}, "catalog": {"tab", "]", "]"}, "changed": {"enter", "j", "tab", "[", "["}, "readers": {"tab", "["},
		"tree": {"enter", "j"}, "pin": {"]", "]", "P"},
	} {
		states = append(states, struct {
			name string
			make func(t *testing.T, w, h int) *driver
		}{name, func(t *testing.T, w, h int) *driver {
			d := newDriver(t, lent(), w, h, withLibrary(runbooks(t)))
			d.press("4", "G")
			d.press(keys...)
			return d
		}})
	}
	for name, typed := range map[string]string{"search": "release", "search-none": "zeppelin"} {
		states = append(states, struct {
			name string
			make func(t *testing.T, w, h int) *driver
		}{name, func(t *testing.T, w, h int) *driver {
			d := newDriver(t, lent(), w, h, withLibrary(runbooks(t)))
			d.press("4", "/")
			d.typeText(typed)
			return d
		}})
	}
	for _, s := range states {
		for _, size := range sizes() {
			t.Run(fmt.Sprintf("%s-%dx%d", s.name, size[0], size[1]), func(t *testing.T) {
				d := s.make(t, size[0], size[1])
				d.intact()
				lines := strings.Split(d.frame(), "\n")
				for i, line := range lines {
					lines[i] = strings.TrimRight(line, " ")
				}
				golden.RequireEqual(t, strings.Join(lines, "\n")+"\n")
			})
		}
	}
}

// TestSkillsFollowTheID: the cursor stays on its document while others come and
// go, and on its line.
func TestSkillsFollowTheID(t *testing.T) {
	l := runbooks(t)
	d := newDriver(t, lent(), 120, 40, withLibrary(l))
	d.press("4", "G", "enter", "j", "j", "j")
	if got := d.a.shelves.treeRef().Path; got != "drain/SKILL.md" {
		t.Fatalf("the cursor is on %q", got)
	}
	d.outside(func() {
		l.put(t, skills.Collection{ID: "runbooks"}, "a-first/SKILL.md", "---\nname: a-first\ndescription: x\n---\n")
		l.put(t, skills.Collection{ID: "aaa", Visibility: skills.VisibilityPublic}, "x.md", "x")
	})
	d.advance(100 * time.Millisecond)
	if got := d.a.shelves.treeRef().Path; got != "drain/SKILL.md" {
		t.Errorf("the cursor went to %q", got)
	}
	d.shows("Text · runbooks/drain/SKILL.md", "a-first", "4 collections")
}

// TestSkillsKeepTheirWindow: of a large collection only the rows around the
// cursor are at hand and only those in sight are drawn.
func TestSkillsKeepTheirWindow(t *testing.T) {
	l := newFakeLibrary()
	c := skills.Collection{ID: "big", Visibility: skills.VisibilityPublic}
	const all = 4000
	for i := range all {
		l.put(t, c, fmt.Sprintf("d-%05d.md", i), "x")
	}
	d := newDriver(t, newFake(), 120, 40, withLibrary(l))
	d.press("4")
	if !d.a.shelves.shelves[0].open {
		d.press("enter")
	}
	l.given = 0
	before := d.a.shelves.drawn
	d.press("G")
	d.shows("d-03999.md")
	if l.given > 2*shelfWindow {
		t.Errorf("%d documents were read for one key", l.given)
	}
	if n := d.a.shelves.drawn - before; n > 6*40 {
		t.Errorf("%d rows were drawn for one key", n)
	}
	for range 20 {
		d.press("pgup")
	}
	if n := len(d.a.shelves.shelves[0].docs); n > shelfWindow {
		t.Errorf("%d documents are at hand", n)
	}
	ref := d.a.shelves.treeRef()
	if ref.Path == "" || !strings.HasPrefix(ref.Path, "d-03") {
		t.Errorf("the cursor is on %v", ref)
	}
	d.shows(ref.Path)
}

// TestSkillsSearchAsTyped: the answer to what is no longer asked changes nothing.
func TestSkillsSearchAsTyped(t *testing.T) {
	l := runbooks(t)
	d := newDriver(t, lent(), 120, 40, withLibrary(l))
	d.press("4", "/")
	d.typeText("deploy")
	d.shows("runbooks/deploy/SKILL.md", "Skills · / deploy", "Roll a release out")
	if l.searches != 1 {
		t.Errorf("%d searches for one burst of keys", l.searches)
	}
	gen := d.a.shelves.find.gen
	d.tap("backspace")
	d.send(foundMsg{gen: gen, hits: []hitRow{{id: "stale"}}})
	d.hides("stale")
	d.press("esc")
	d.send(foundMsg{gen: gen, hits: []hitRow{{id: "stale"}}})
	d.hides("stale", "/ deplo")
	d.shows("3 collections")

	d.press("/")
	d.typeText("drain")
	d.press("enter")
	if d.a.top().place() != atSkills {
		t.Fatalf("enter leads to %s", d.a.top().place())
	}
	d.press("enter")
	d.shows("Text · runbooks/drain/SKILL.md", "Drain it.")
	d.press("esc", "esc")
	d.shows("3 collections")
}

// TestSkillsDropStalePages: a page that comes late is not shown for another document.
func TestSkillsDropStalePages(t *testing.T) {
	d := newDriver(t, lent(), 120, 40, withLibrary(runbooks(t)))
	d.press(onDeploy()...)
	gen := d.a.shelves.page.gen
	d.press("j")
	d.send(skillPageMsg{gen: gen, body: pageBody{lines: []line{{text: "stale"}}}})
	d.hides("stale")
	d.shows("staging, production")
}

func TestSkillsPinAndUnpin(t *testing.T) {
	l := runbooks(t)
	d := newDriver(t, lent(), 120, 40, withLibrary(l))
	d.press("4", "P")
	d.shows("pins are those of the session on the Catalog tab")
	d.press("]", "]") // alice-notes is private
	d.shows("Catalog", "site-refresh · 25 of 25", "Nothing is pinned to it")
	d.press("tab", "G")
	d.shows("it is private, and not pinned to the session", "no room: 25 entries at most")
	d.press("tab")
	d.press("P")
	d.shows("Pin alice-notes to site-refresh?", "the session has read the collection")
	d.press("esc")
	if len(l.pins["s-site-refresh"]) != 0 {
		t.Fatal("esc pinned it")
	}
	d.press("P")
	d.a.shelves.at = 2 // the prompt holds what it is about (T5)
	d.press("tab", "enter")
	if got := l.pins["s-site-refresh"]; len(got) != 1 || got[0] != "alice-notes" {
		t.Fatalf("pinned %v", got)
	}
	d.shows("alice-notes is pinned to site-refresh")
	d.press("g", "tab", "g", "tab")
	d.shows("pinned  alice-notes", "alice-notes/triage/SKILL.md")
	d.press("P")
	d.shows("it is pinned to this session already")
	l.refuse = errors.New("collection alice-notes: an agent started this process")
	d.press("U", "tab", "enter")
	d.shows("an agent started this process")
	l.refuse = nil
	d.press("U", "tab", "enter")
	d.shows("alice-notes is no longer pinned to site-refresh")
	if len(l.pins["s-site-refresh"]) != 0 {
		t.Error("the pin is still there")
	}
	d.press("o")
	d.typeText("billing")
	d.press("down", "enter")
	d.shows("billing-cleanup · ")
}

// TestSkillsTabs: each tab says what it is for.
func TestSkillsTabs(t *testing.T) {
	d := newDriver(t, lent(), 120, 40, withLibrary(runbooks(t)))
	d.press(onDeploy()...)
	d.shows("# Deploy", "the runbook", "<https://runbooks.example/deploy>", "[x] announce it")
	d.press("[", "[")
	d.shows("It changed since you used it", "-> Never at night.", "+> Never on a Friday.")
	d.press("]")
	d.shows("2 sessions, 3 reads", "site-refresh", "alone · 0 reads")
	d.press("[", "[", "[", "G")
	d.shows("SKILL.md:3:22 FM_COLON", "gatehouse skills fix /srv/runbooks/rollback/SKILL.md")
	d.hides("+description")
	d.press("f")
	d.shows(`+description: "Use when: a release went wrong"`, "nothing is written here")
	d.press("k")
	d.shows("Nothing is wrong with this skill")
}

// TestT26_TextOfSkills: what strangers write does no harm, as names and as Markdown.
func TestT26_TextOfSkills(t *testing.T) {
	for i, bad := range hostile(t) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			l := newFakeLibrary()
			l.shelves = []Shelf{{Collection: skills.Collection{
				ID: skills.CollectionID(bad), Title: bad, Description: bad, Owner: skills.AccountID(bad),
				Source: skills.Source{Kind: skills.SourceGit, Remote: bad, Branch: bad, Commit: bad},
			}, Place: bad, Documents: 1}}
			c := skills.Collection{ID: "pub", Visibility: skills.VisibilityPublic, Description: bad, Title: bad}
			l.put(t, c, "x/SKILL.md", "---\nname: x\ndescription: |\n  "+strings.ReplaceAll(bad, "\n", "\n  ")+"\n---\n# "+bad+"\n\n"+bad+"\n\n* "+bad+"\n\n|"+bad+"|b|\n|-|-|\n|"+bad+
				"|c|\n\n```\n"+bad+"\n```\n\n["+bad+"](<"+bad+">) &#27;[2J &#x202e;x\n")
			for _, size := range sizes() {
				d := newDriver(t, lent(), size[0], size[1], withLibrary(l), func(o *Options) { o.Theme = ThemeDefault })
				for _, key := range []string{"4", "y", "]", "[", "G", "enter", "j", "y", "m", "tab", "L", "]", "f", "]", "]", "]", "]", "m", "tab", "/", "esc", "?"} {
					d.press(key)
					d.intact()
					for _, no := range []string{"\x1b]", "\x1b[2J", "\x07", "\u202e", "\u009b", "\x1bP", "\r", "\t"} {
						if strings.Contains(d.a.View(), no) || strings.Contains(strings.Join(d.copied, ""), no) {
							t.Fatalf("after %s there is %q:\n%q", key, no, d.a.View())
						}
					}
				}
			}
		})
	}
}

// TestSkillsLargeDocument: a document of a megabyte costs no more per frame than
// what is in sight, and its end can be reached.
func TestSkillsLargeDocument(t *testing.T) {
	l := newFakeLibrary()
	c := skills.Collection{ID: "big", Visibility: skills.VisibilityPublic}
	var b strings.Builder
	for i := 0; b.Len() < 1<<20; i++ {
		fmt.Fprintf(&b, "## Part %d\n\nSome words about it, and [a link](https://x.example/%d).\n\n", i, i)
	}
	b.WriteString("The very end.\n")
	l.put(t, c, "long.md", b.String())
	d := newDriver(t, newFake(), 120, 40, withLibrary(l))
	d.press("4", "j", "tab")
	d.shows("## Part 0", "a link <https://x.example/0>")
	before := d.a.shelves.drawn
	d.press("G")
	d.shows("The very end.")
	if n := d.a.shelves.drawn - before; n > 3*2*40 {
		t.Errorf("%d rows were drawn for one key", n)
	}
	d.send(term.SizeMsg{Width: 60, Height: 15})
	d.advance(50 * time.Millisecond)
	d.intact()
	d.press("G")
	d.shows("The very end.")
}

// TestSkillsResize: each place of the screen outlives every size (T25).
func TestT25_ResizeSkills(t *testing.T) {
	for name, keys := range map[string][]string{
		"tree": {"4"}, "text": {"4", "G", "enter", "j", "tab"}, "search": {"4", "/", "d", "e"}, "catalog": {"4", "]", "]"}, "pin": {"4", "]", "]", "P"},
		"session": {"4", "]", "]", "o"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t, lent(), 200, 50, withLibrary(runbooks(t)))
			d.press(keys...)
			at, on := d.a.top().place(), d.a.shelves.treeRef()
			for _, size := range [][2]int{{200, 50}, {60, 15}, {80, 24}, {20, 5}, {1, 1}, {120, 40}, {60, 15}, {200, 50}} {
				d.send(term.SizeMsg{Width: size[0], Height: size[1]})
				d.advance(50 * time.Millisecond)
				if size[0] >= minWidth && size[1] >= minHeight {
					d.intact()
				}
				if d.a.top().place() != at || d.a.shelves.treeRef() != on {
					t.Fatalf("at %v the place is %s and the cursor on %v", size, d.a.top().place(), d.a.shelves.treeRef())
				}
			}
		})
	}
}

var _ Library = (*fakeLibrary)(nil)
