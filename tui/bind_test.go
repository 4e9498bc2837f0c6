package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// binding drives screens that can connect and bind.
func binding(t testing.TB, w, h int) *driver {
	k, folders := connected()
	return newDriver(t, k, w, h, func(o *Options) { o.Folders, o.Runner = folders, &fakeRunner{} })
}

// toGrant goes through the dialogs of a binding of the first connection.
func (d *driver) toGrant() { d.press("2", "b", "enter", "enter", "enter") }

func (p fakePlaces) nothingMade(t testing.TB) {
	t.Helper()
	if n := len(p.made) + len(p.bound) + len(p.joined) + len(p.gone) + len(p.unbound); n > 0 {
		t.Fatalf("made something: %+v", p)
	}
}

func TestNewSessionFromEverywhere(t *testing.T) {
	for at, keys := range map[string][]string{
		"queue": nil, "sessions": {"2"}, "transcript": {"2", "enter"}, "composer": {"2", "enter", "i"}, "connections": {"@"}, "filter": {"/"},
	} {
		t.Run(at, func(t *testing.T) {
			d := binding(t, 80, 24)
			d.press(append(keys, "ctrl+n")...)
			d.shows("New session")
			d.typeText("tidy-up")
			d.press("enter")
			d.shows("Transcript · tidy-up", "made tidy-up")
			if len(d.k.places.made) != 1 || d.k.places.made[0] != (core.NewSession{Name: "tidy-up", Owner: "alice"}) {
				t.Fatalf("made %+v", d.k.places.made)
			}
			d.press("esc")
			d.shows("Sessions", "tidy-up")
		})
	}
}

func TestNewSessionRefusedKeepsWhatWasTyped(t *testing.T) {
	d := binding(t, 80, 24)
	d.k.places.refuse = errors.New(`session "site": name is taken`)
	d.press("ctrl+n")
	d.typeText("site")
	d.press("enter")
	d.shows("name is taken", "name site▏")
	d.press("esc")
	d.k.places.nothingMade(t)
}

// TestGrantIsWhatTheKernelPreviews: every field of the grant is on the page.
func TestGrantIsWhatTheKernelPreviews(t *testing.T) {
	d := binding(t, 200, 50)
	d.toGrant()
	g := d.k.grant("file:///srv/site")
	want := slices.Concat([]string{
		"site-refresh", "env.SITE_2", g.URL, string(g.Connection.ID), g.Connection.Kind, g.Connection.Name, g.Connection.Root,
		g.Connection.Service, string(g.Connection.Owner), g.Unit.String(), "[ Cancel ]",
	}, g.Reads, g.Queues, g.Connection.Labels)
	d.shows(want...)
	d.k.places.nothingMade(t)
	d.press("esc", "@", "c")
	d.typeText("/srv/plans")
	d.press("enter")
	g = d.k.grant("file:///srv/plans")
	d.shows("Connect /srv/plans?", "new connection", "alice, bob", "internal", g.Unit.String(), "[ Cancel ]")
	d.k.places.nothingMade(t)
}

// TestT3_EnterOnAGrantMakesNothing, nor does any other reflex.
func TestT3_EnterOnAGrantMakesNothing(t *testing.T) {
	for _, key := range []string{"enter", "esc", "y", "a", "space", "A", "c", "b"} {
		t.Run(key, func(t *testing.T) {
			d := binding(t, 120, 40)
			d.toGrant()
			d.shows("[ Cancel ]")
			d.press(key)
			d.k.places.nothingMade(t)
		})
	}
	t.Run("nor a paste", func(t *testing.T) {
		d := binding(t, 120, 40)
		d.toGrant()
		d.send(term.PasteMsg{Text: "\t\n"})
		d.shows("[ Cancel ]")
		d.k.places.nothingMade(t)
	})
}

// TestT4_KeysWhileAGrantOpens are dropped.
func TestT4_KeysWhileAGrantOpens(t *testing.T) {
	d := binding(t, 120, 40)
	d.press("2", "b", "enter", "enter")
	d.advance(dialogDropFor)
	d.tap("enter") // opens the grant
	d.tap("tab")
	d.tap("enter")
	d.shows("[ Cancel ]", "can be queued")
	d.k.places.nothingMade(t)
}

func TestBindMakesWhatWasShown(t *testing.T) {
	d := binding(t, 80, 24)
	d.press("2", "b")
	d.typeText("hand")
	d.hides("/srv/site")
	d.shows("connect a folder…")
	d.press("enter")
	d.shows("name HANDBOOK▏")
	d.press("enter")
	d.typeText("rules")
	d.press("enter", "tab")
	d.shows("#path=rules", "[ Bind ]")
	d.press("enter")
	want := core.BindRequest{
		Session: "s-site-refresh", Name: "HANDBOOK", URL: "file:///srv/handbook#path=rules", Connection: "c2", Person: "alice", Root: "/srv/handbook",
	}
	if got := d.k.places.bound; len(got) != 1 || got[0] != want {
		t.Fatalf("bound %+v, want %+v", got, want)
	}
	d.shows("bound: agents of site-refresh reach it as env.HANDBOOK")
}

func TestBindConnectsAFolder(t *testing.T) {
	d := binding(t, 80, 24)
	d.press("2", "enter", "b", "down", "down", "enter")
	d.shows("Connect a folder")
	d.typeText("/srv/pl")
	d.press("tab")
	d.shows("folder /srv/plans/▏")
	d.press("enter", "enter", "enter")
	d.shows("a new connection", "env.PLANS")
	d.press("tab", "enter")
	if got := d.k.places.bound; len(got) != 1 || got[0].Root != "/srv/plans" || got[0].Connection != "" || got[0].Name != "PLANS" {
		t.Fatalf("bound %+v", got)
	}
}

func TestBindRefusedInOneLine(t *testing.T) {
	d := binding(t, 80, 24)
	d.press("2", "b", "down", "down", "enter")
	d.typeText("/srv/missing")
	d.press("enter", "enter", "enter")
	d.shows("does not exist; make it first")
	d.hides("[ Cancel ]")
	d.toGrant()
	d.k.places.refuse = errors.New("file:///srv/site: leads to another place than it did when it was shown; look again")
	d.press("tab", "enter")
	d.shows("leads to another place")
	d.k.places.nothingMade(t)
}

func TestBindNameRefusedIsAskedAgain(t *testing.T) {
	d := binding(t, 80, 24)
	d.press("2", "b", "enter", "ctrl+u")
	d.typeText("site")
	d.press("enter")
	d.shows(`binding name "site"`, "name site▏")
}

// TestGrantIsSeenToItsEnd: what does not fit has to be looked at.
func TestGrantIsSeenToItsEnd(t *testing.T) {
	d := binding(t, 60, 15)
	d.toGrant()
	d.shows("unseen")
	d.press("tab", "enter")
	d.shows("there is more below")
	d.k.places.nothingMade(t)
	d.press("G")
	d.shows("who could see")
	d.hides("unseen")
	d.press("enter")
	if len(d.k.places.bound) != 1 {
		t.Fatal("nothing was bound")
	}
}

func TestHostileFolderNames(t *testing.T) {
	d := binding(t, 80, 24)
	d.press("@", "c")
	d.typeText("/srv/odd")
	d.press("down", "enter")
	d.shows("cannot be typed")
	d.intact()
	if got := d.a.picker.line.text(); got != "/srv/odd" {
		t.Fatalf("the line became %q", got)
	}
}

func TestFoldersAreBounded(t *testing.T) {
	k, folders := connected()
	for i := range 5000 {
		folders.all = append(folders.all, fmt.Sprintf("/many/%04d/", i))
	}
	d := newDriver(t, k, 80, 24, func(o *Options) { o.Folders = folders })
	d.press("@", "c")
	d.typeText("/many/")
	if n := len(d.a.picker.items); n != FolderLimit {
		t.Fatalf("%d items, want %d", n, FolderLimit)
	}
	d.intact()
}

// TestPickerDropsStaleAnswers: the list is of what is typed now.
func TestPickerDropsStaleAnswers(t *testing.T) {
	d := binding(t, 80, 24)
	d.press("@", "c")
	d.hold = true
	d.typeText("/srv/site")
	held := d.held
	d.held, d.hold = nil, false
	for _, cmd := range slices.Backward(held) {
		d.do(cmd)
	}
	if got := d.a.picker.items; len(got) != 1 || got[0].key != "/srv/site/" {
		t.Fatalf("shows %v", got)
	}
}

func TestUnbindSaysWhatStays(t *testing.T) {
	d := binding(t, 80, 24)
	d.press("2", "B", "enter")
	d.shows("Unbind SITE from site-refresh?", "stays on record as observations", "stays in the queue", "[ Cancel ]")
	d.press("enter")
	d.k.places.nothingMade(t)
	d.press("B", "enter", "tab", "enter")
	if got := d.k.places.unbound; len(got) != 1 || got[0] != "s-site-refresh SITE" {
		t.Fatalf("unbound %q", got)
	}
	d.shows("SITE is unbound")
}

func TestDisconnect(t *testing.T) {
	d := binding(t, 80, 24)
	d.press("@", "D")
	d.shows("c1 is used by SITE of s-site-refresh; unbind first: B in the session")
	d.press("j", "D")
	d.shows("Disconnect handbook?", "only be rejected", "[ Cancel ]")
	d.press("enter")
	d.k.places.nothingMade(t)
	d.k.places.inUse = &core.InUseError{Connection: "c2", Bindings: []core.Binding{{Session: "s9", Name: "LATE"}}}
	d.press("D", "tab", "enter")
	d.shows("c2 is used by LATE of s9")
	d.k.places.inUse = nil
	d.press("D", "tab", "enter")
	if !slices.Equal(d.k.places.gone, []string{"c2"}) {
		t.Fatalf("gone: %v", d.k.places.gone)
	}
}

func TestConnectMakesWhatWasShown(t *testing.T) {
	d := binding(t, 80, 24)
	d.press("@", "c")
	d.typeText("/srv/plans")
	d.press("enter", "tab", "enter")
	if got := d.k.places.joined; len(got) != 1 || got[0].Root != "/srv/plans" || got[0].URL != "file:///srv/plans" {
		t.Fatalf("connected %+v", got)
	}
	d.shows("connected /srv/plans as c9")
}

func TestSuggestedNames(t *testing.T) {
	for _, c := range [][3]string{
		{"my-site", "", "MY_SITE"},
		{"2026 plans", "", "PLANS"},
		{"日本", "", "SITE"},
		{"/", "", "SITE"},
		{".", "", "SITE"},
		{"site", "SITE", "SITE_2"},
		{strings.Repeat("x", 90), "", strings.Repeat("X", 28)},
	} {
		got := suggestName(c[0], []core.Binding{{Name: core.BindingName(c[1])}})
		if got != c[2] {
			t.Errorf("%q suggests %q, want %q", c[0], got, c[2])
		}
		if _, err := core.ParseBindingName(got); err != nil {
			t.Error(err)
		}
	}
}

// bindPlaces are the screens and dialogs of this file, by the keys that lead there.
func bindPlaces() map[string][]string {
	return map[string][]string{
		"new-session": {"ctrl+n"}, "connections": {"@"}, "picker": {"2", "b"}, "folders": {"@", "c", "/"}, "name": {"2", "b", "enter"},
		"sub": {"2", "b", "enter", "enter"}, "grant": {"2", "b", "enter", "enter", "enter"}, "unbind": {"2", "B"},
		"unbind-ask": {"2", "B", "enter"}, "disconnect": {"@", "j", "D"},
	}
}

func TestT25_ResizeBinding(t *testing.T) {
	for name, keys := range bindPlaces() {
		t.Run(name, func(t *testing.T) {
			d := binding(t, 200, 50)
			d.press(keys...)
			d.resizes()
		})
	}
}

// golden holds the frame as people see it.
func (d *driver) golden(t *testing.T) {
	t.Helper()
	d.intact()
	lines := strings.Split(d.frame(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	golden.RequireEqual(t, strings.Join(lines, "\n")+"\n")
}

// TestGoldenBinding holds the screens and dialogs at the four sizes.
func TestGoldenBinding(t *testing.T) {
	states := map[string]func(t *testing.T, w, h int) *driver{
		"connections-empty": func(t *testing.T, w, h int) *driver {
			d := newDriver(t, newFake(), w, h)
			d.press("@")
			return d
		},
		"connections-loading": func(t *testing.T, w, h int) *driver {
			d := binding(t, w, h)
			d.hold = true
			d.press("@")
			return d
		},
		"connections-error": func(t *testing.T, w, h int) *driver {
			k := newFake()
			k.broken = errors.New("gatehouse.db: the disk does not answer")
			d := newDriver(t, k, w, h)
			d.press("@")
			return d
		},
		"picker-loading": func(t *testing.T, w, h int) *driver {
			d := binding(t, w, h)
			d.press("2")
			d.hold = true
			d.press("b")
			return d
		},
		"picker-error": func(t *testing.T, w, h int) *driver {
			d := binding(t, w, h)
			d.press("2")
			d.k.broken = errors.New("gatehouse.db: the disk does not answer")
			d.press("b")
			return d
		},
		"unbind-empty": func(t *testing.T, w, h int) *driver {
			d := binding(t, w, h)
			d.k.places.bindings = nil
			d.press("2", "B")
			return d
		},
	}
	for name, keys := range bindPlaces() {
		states[name] = func(t *testing.T, w, h int) *driver {
			d := binding(t, w, h)
			d.press(keys...)
			return d
		}
	}
	for name, make := range states {
		for _, size := range sizes() {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) { make(t, size[0], size[1]).golden(t) })
		}
	}
}
