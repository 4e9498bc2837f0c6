package tui

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sahilm/fuzzy"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// choose puts the cursor of the open palette on a command.
func (d *driver) choose(name string) {
	d.t.Helper()
	p := d.a.finder
	if i := slices.IndexFunc(p.entries, func(e paletteEntry) bool { return e.c.name == name }); i >= 0 {
		p.at = i
		return
	}
	d.t.Fatalf("the palette does not list %s", name)
}

// TestT31_EveryCommandInThePalette: in every place that is not for typing, the
// palette lists every command; one that is usable does what its key does, and
// one that is not says why and does nothing.
func TestT31_EveryCommandInThePalette(t *testing.T) {
	ran := map[string]bool{}
	for name, keys := range places() {
		d := newDriver(t, site(), 120, 40)
		d.press(keys...)
		d.press("ctrl+p")
		if name == "help" || name == "palette" || d.a.top() != view(d.a.finder) {
			continue // it takes the place of the help; text is typed, or a prompt is answered
		}
		if got, want := len(d.a.finder.entries), len(d.a.keys.commands); got != want {
			t.Errorf("%s: %d commands listed, want %d", name, got, want)
		}
		d.advance(dialogDropFor)
		plans, drafts := d.k.confirms, len(d.k.drafts)
		for _, c := range d.a.keys.commands {
			if why := d.a.finder.why(c); why != "" {
				d.choose(c.name)
				d.tap("enter")
				d.shows((c.title + ": " + why)[:12])
				continue
			}
			ran[c.name] = true
			if c.name != "palette" {
				samePaletteAndKey(t, name, keys, c)
			}
		}
		if d.a.top() != view(d.a.finder) || d.k.confirms != plans || len(d.k.drafts) != drafts {
			t.Errorf("%s: a command that cannot be used did something", name)
		}
	}
	for _, name := range []string{"draft.approve", "plan.one", "draft.reject", "draft.undo", "plan.open", "settle", "retry", "outcome.dismiss", "plan.close", "quit"} {
		if !ran[name] {
			t.Errorf("%s is nowhere run by the palette", name)
		}
	}
}

// samePaletteAndKey compares a command's key with its line in the palette.
func samePaletteAndKey(t *testing.T, name string, keys []string, c *command) {
	byKey, byPalette := newDriver(t, site(), 120, 40), newDriver(t, site(), 120, 40)
	byPalette.press(keys...)
	byPalette.press("ctrl+p")
	byPalette.typeText(c.name)
	byPalette.choose(c.name)
	byPalette.press("enter")
	byKey.press(keys...)
	if !slices.Contains(c.at, byKey.a.top().place()) {
		return // it shows another screen first
	}
	byKey.a.message, byKey.a.frame = "", "" // what was said before, the palette takes away
	byKey.press(c.keys[0])
	if got, want := byPalette.frame(), byKey.frame(); got != want {
		t.Errorf("%s in %s: by the palette\n%s\nby its key\n%s", c.name, name, got, want)
	}
	if got, want := byPalette.k.drafts, byKey.k.drafts; !reflect.DeepEqual(got, want) {
		t.Errorf("%s in %s: drafts by the palette %v, by its key %v", c.name, name, got, want)
	}
	if got, want := byPalette.k.confirms, byKey.k.confirms; got != want || byPalette.quit != byKey.quit {
		t.Errorf("%s in %s: carried out %d plans, its key %d; quit %v and %v", c.name, name, got, want, byPalette.quit, byKey.quit)
	}
}

// TestT3_PaletteDecidesNothingByReflex: enter on a bare palette decides
// nothing, even when the last command stands first; enter in a plan is not
// pressed by the palette.
func TestT3_PaletteDecidesNothingByReflex(t *testing.T) {
	d := newDriver(t, site(), 120, 40)
	d.a.queue.goToRow(t, d, 38)
	d.press(":")
	d.typeText("approve")
	d.press("enter")
	if len(d.k.drafts) != 1 || d.k.confirms != 0 {
		t.Fatalf("got %d drafts and %d plans, want one draft and nothing carried out", len(d.k.drafts), d.k.confirms)
	}
	d.a.queue.goToRow(t, d, 39)
	d.press(":", "enter")
	if got := d.a.finder.entries[0].c.name; got != "draft.approve" {
		t.Errorf("first is %s, want the command used last", got)
	}
	if len(d.k.drafts) != 1 {
		t.Fatalf("enter on a bare palette drafted %v", d.k.drafts)
	}
	d.shows("type its name first")
	d.press("esc", "c", "tab", ":")
	d.typeText("press")
	d.press("enter")
	if d.k.confirms != 0 {
		t.Fatal("the palette confirmed a plan")
	}
	d.shows("it decides")
}

// TestT4_PaletteDropsEarlyKeysAndPastes: keys within the moment after it opens
// are dropped; a paste is text, newline and all.
func TestT4_PaletteDropsEarlyKeysAndPastes(t *testing.T) {
	d := newDriver(t, site(), 120, 40)
	d.advance(time.Second)
	for _, key := range []string{":", "q", "enter"} {
		d.tap(key)
	}
	if got := d.a.finder.line.text(); got != "" || d.quit || d.a.top() != view(d.a.finder) {
		t.Fatalf("early keys were taken: %q, quit %v", got, d.quit)
	}
	d.advance(dialogDropFor)
	d.send(term.PasteMsg{Text: "approve\n\r"})
	if got := d.a.finder.line.text(); strings.TrimSpace(got) != "approve" || len(d.k.drafts) != 0 {
		t.Fatalf("a paste gave %q and %d drafts", got, len(d.k.drafts))
	}
}

// TestT5_PaletteHoldsItsSubject: what was chosen when the palette opened is
// gone when the command is given, so nothing is drafted.
func TestT5_PaletteHoldsItsSubject(t *testing.T) {
	d := newDriver(t, site(), 120, 40)
	d.a.queue.goToRow(t, d, 41)
	d.press(":")
	d.typeText("approve")
	d.outside(func() {
		d.k.change(41, func(r *core.QueueRow) { r.Digest = digestFor(41, 2) })
	})
	d.advance(time.Second) // the guard of the row has passed
	d.press("enter")
	if len(d.k.drafts) != 0 {
		t.Fatalf("drafted %v", d.k.drafts)
	}
	d.shows("what was chosen changed meanwhile")
}

// TestPaletteShowsTheScreenFirst: a command that looks is run on its own
// screen; one that changes something is not run on rows that nobody saw.
func TestPaletteShowsTheScreenFirst(t *testing.T) {
	d := newDriver(t, site(), 120, 40)
	d.press("2", ":")
	d.choose("filter")
	d.press("enter")
	if d.a.top().place() != atFilter {
		t.Fatalf("got %s, want the filter of the queue", d.a.top().place())
	}
	d.press("esc", "2", ":")
	d.typeText("approve")
	d.choose("draft.approve")
	d.press("enter")
	if len(d.k.drafts) != 0 {
		t.Fatalf("drafted %v from another screen", d.k.drafts)
	}
	d.shows("approve: only in the queue")
}

// TestPaletteStaysOutOfTyping: where text is typed, its keys are text or nothing.
func TestPaletteStaysOutOfTyping(t *testing.T) {
	for _, name := range []string{"filter", "reason", "count"} {
		d := newDriver(t, site(), 120, 40)
		d.press(places()[name]...)
		d.press(":", "ctrl+p")
		if d.a.top() == view(d.a.finder) {
			t.Errorf("%s: the palette opened", name)
		}
	}
}

// TestPaletteSearch: titles before descriptions, what is usable before what is not.
func TestPaletteSearch(t *testing.T) {
	d := newDriver(t, site(), 120, 40)
	for typed, want := range map[string]string{"appr": "draft.approve", "carout": "plan.open", "QUIT": "quit", "sess": "screen.sessions", "draft.rej": "draft.reject"} {
		d.press(":")
		d.typeText(typed)
		if got := d.a.finder.entries[0].c.name; got != want {
			t.Errorf("%q finds %s first, want %s", typed, got, want)
		}
		d.press("esc")
	}
	d.press(":")
	d.typeText("zzz")
	d.press("enter")
	d.shows("No command is called that")
}

// TestPaletteHighlightKeepsCharacters: fuzzy counts bytes; pieces end between
// characters, whatever their width, and give the title together.
func TestPaletteHighlightKeepsCharacters(t *testing.T) {
	for title, c := range map[string]struct {
		typed string
		want  []string
	}{
		"approve":            {"ae", []string{"a", "e"}},
		"設定を開く":              {"定開", []string{"定", "開"}},
		"re\u0301sume\u0301": {"sm", []string{"s", "m"}},
		"cafe\u0301":         {"\u0301", []string{"e\u0301"}}, // the mark alone: its character is drawn whole
		"cafe\u0301 x":       {"ex", []string{"e\u0301", "x"}},
	} {
		m := fuzzy.Find(c.typed, []string{title})
		if len(m) != 1 {
			t.Fatalf("%q is not found in %q", c.typed, title)
		}
		var hits []string
		whole := ""
		for _, s := range highlight(title, m[0].MatchedIndexes, rolePlain, roleTitle) {
			whole += s.text
			if s.role == roleTitle {
				hits = append(hits, s.text)
			}
		}
		if whole != title || !slices.Equal(hits, c.want) {
			t.Errorf("%q in %q: got %q of %q, want %q", c.typed, title, hits, whole, c.want)
		}
	}
}
