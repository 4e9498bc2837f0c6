package tui

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// TestT21_EndOfALongPayload: decision keys stay visible, the end can be reached,
// and "unseen" is shown until it was.
func TestT21_EndOfALongPayload(t *testing.T) {
	k := newFake()
	k.add(1, "s", "write", "write long.txt")
	var b strings.Builder
	for i := 1; i <= 3000; i++ {
		fmt.Fprintf(&b, "line %d of the payload\n", i)
	}
	k.fields[1] = []core.Field{{Name: "text", Before: json.RawMessage("null"), After: quote(b.String())}}
	d := newDriver(t, k, 60, 15)
	d.press("enter")
	d.shows("A approve…", "x reject…", "unseen", "↓")
	d.press("J", "ctrl+d", "pgdown")
	d.shows("A approve…", "x reject…", "unseen")
	d.hides("line 3000 of the payload")
	d.press("G")
	d.shows("line 3000 of the payload", "A approve…", "x reject…")
	d.hides("unseen")
	d.press("g")
	d.hides("unseen")
	d.shows("↓")
	d.intact()
}

// TestT22_ArrivalsWhileApproving: the draft is on the row that was shown.
func TestT22_ArrivalsWhileApproving(t *testing.T) {
	d := newDriver(t, site(), 80, 24)
	d.a.queue.goToRow(t, d, 41)
	d.hold = true // the read after the arrivals is on its way when the key comes
	d.outside(func() {
		for id := core.ActionID(50); id < 55; id++ {
			d.k.add(id, "aaa", "delete", fmt.Sprintf("delete f%d", id))
		}
	})
	d.tap("A")
	d.release()
	d.advance(time.Second)
	if len(d.k.drafts) != 1 || d.k.drafts[0].Action != 41 || d.k.drafts[0].Digest != digestFor(41, 1) {
		t.Fatalf("got %v, want one draft on 41", d.k.drafts)
	}
	d.tap("A")
	if len(d.k.drafts) != 1 || d.cursor() != 41 {
		t.Fatalf("got %v with the cursor on %d", d.k.drafts, d.cursor())
	}
}

// TestT23_DecidedElsewhereBeforeTheKey: the compare-and-set fails and the
// message names who decided.
func TestT23_DecidedElsewhereBeforeTheKey(t *testing.T) {
	d := newDriver(t, site(), 80, 24)
	d.a.queue.goToRow(t, d, 41)
	d.k.change(41, state(core.StateApplied)) // nothing told the screen
	d.tap("A")
	d.shows("#41 was decided by bob before: it is applied")
	d.advance(time.Second)
	if len(d.k.drafts) != 0 {
		t.Fatalf("drafted: %v", d.k.drafts)
	}
	d.shows("✓") // and the row says so
}

// TestT24_PasteIsText: nothing is drafted by a paste, wherever it lands.
func TestT24_PasteIsText(t *testing.T) {
	d := newDriver(t, site(), 80, 24)
	d.a.queue.goToRow(t, d, 38)
	d.send(term.PasteMsg{Text: "AAAAc\n"})
	d.advance(time.Second)
	if len(d.k.drafts) != 0 || d.k.confirms != 0 {
		t.Fatalf("a paste drafted %v", d.k.drafts)
	}
	d.shows("pasted text was left out")
	d.press("x")
	d.send(term.PasteMsg{Text: "two\nlines\x1b[2J"})
	d.shows("reason two lines▏")
	d.press("esc", "A", "c")
	d.send(term.PasteMsg{Text: "\n\n1\n"})
	d.advance(time.Second)
	if d.k.confirms != 0 {
		t.Fatal("a paste confirmed a plan")
	}
	d.press("esc", "/")
	d.send(term.PasteMsg{Text: "index\nA"})
	d.shows("/ index A▏")
}

// places are all screens and dialogs, by the keys that lead there.
func places() map[string][]string {
	return map[string][]string{
		"queue":      {"g"},
		"detail":     {"g", "j", "enter"},
		"diff":       {"g", "j", "d"},
		"filter":     {"/"},
		"range":      {"g", "v", "j", "j"},
		"help":       {"?"},
		"reason":     {"G", "k", "k", "x"},
		"answer":     {"g", "A"},
		"settle":     {"g", "j", "U"},
		"retry":      {"g", "j", "T"},
		"plan":       {"g", "j", "j", "j", "A", "j", "A", "c"},
		"count":      {"g", "j", "j", "enter", "A", "tab", "enter"},
		"outcome":    {"g", "j", "j", "j", "A", "c", "enter"},
		"quit":       {"g", "j", "j", "j", "A", "q"},
		"sessions":   {"2"},
		"transcript": {"2", "enter"},
		"step":       {"2", "enter", "enter"},

		"observations":        {"3"},
		"observations filter": {"3", "/"},
		"unit":                {"3", "enter"},

		"drafted": {"g", "j", "j", "j", "A"},
		"palette": {":"},
	}
}

// TestT25_ResizeEverywhere: no panic, no overlap, the focus kept.
func TestT25_ResizeEverywhere(t *testing.T) {
	for name, keys := range places() {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t, site(), 200, 50)
			d.press(keys...)
			at, cursor := d.a.top().place(), d.cursor()
			for _, size := range [][2]int{{200, 50}, {60, 15}, {80, 24}, {20, 5}, {1, 1}, {120, 40}, {60, 15}, {200, 50}} {
				d.send(term.SizeMsg{Width: size[0], Height: size[1]})
				if size[0] >= minWidth && size[1] >= minHeight {
					d.intact()
				} else if frame := d.frame(); strings.Contains(frame, "\n") || len([]rune(frame)) > size[0] {
					t.Fatalf("a screen of %v shows %q", size, frame)
				}
				if d.a.top().place() != at || d.cursor() != cursor {
					t.Fatalf("at %v the place is %s and the cursor on %d, want %s and %d", size, d.a.top().place(), d.cursor(), at, cursor)
				}
			}
		})
	}
	t.Run("too small says how much is needed", func(t *testing.T) {
		d := newDriver(t, site(), 59, 15)
		d.shows("gatehouse needs 60×15; this is 59×15")
		d.send(term.SizeMsg{Width: 60, Height: 15})
		d.shows("#38")
	})
}

// hostile is text as people who mean harm, and people who write other scripts,
// put it into titles.
func hostile(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile("../core/text/testdata/escapes.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ In string }
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	texts := []string{
		"\x1b[2J\x1b[31mred\x1b]52;c;ZWNobyBvd25lZAo=\x07", "write 日本語のファイル名.md に書く", "write шрифт\u0301\u0302\u0303\u0304\u0305\u0306.md",
		"write שלום עולם \u202egnp.exe", "👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦 family", "🇩🇪🇫🇷 flags ⚠️ sign ☺︎", "a\tb\rc\nd", strings.Repeat("宽", 300),
		"e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301", "\u200b\u200d\u2060 hidden", "นี่คือภาษาไทย", "क्षत्रिय", "x\xff\xfe\x9b31mC1",
	}
	for _, c := range cases {
		texts = append(texts, c.In)
	}
	return texts
}

// TestT26_TextOfOthers: the frame stays whole and nothing is executed, in the
// list, the detail, the plan, the outcome and the transcript.
func TestT26_TextOfOthers(t *testing.T) {
	for i, text := range hostile(t) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			k := newFake()
			k.add(1, text, "write", text, func(r *core.QueueRow) { r.Reason, r.Caller.Name = text, text })
			k.add(2, "s", "question", text, asks(text, text, "no"))
			k.fields[1] = []core.Field{{Name: text, Before: quote(text + "\nb\n" + text), After: quote(text + "\nc\n" + text)}}
			k.sessions = []core.SessionSummary{{Session: core.Session{ID: "s1", Name: text}, WaitingFor: text}}
			k.script = []core.TranscriptEntry{
				{Kind: core.TranscriptText, Model: text, Text: text},
				{Kind: core.TranscriptCall, Call: core.ToolCall{Name: text, Args: text}},
			}
			for _, size := range [][2]int{{120, 40}, {60, 15}} {
				d := newDriver(t, k, size[0], size[1], func(o *Options) { o.Theme = ThemeDefault })
				check := func() {
					t.Helper()
					d.intact()
					for _, bad := range []string{"\x1b]", "\x1b[2J", "\x07", "\u202e", "\u009b", "\x1bP", "\r", "\t"} {
						if strings.Contains(d.a.View(), bad) {
							t.Fatalf("the frame holds %q:\n%q", bad, d.a.View())
						}
					}
				}
				d.a.queue.goToRow(t, d, 1)
				for _, key := range []string{"g", "enter", "L", "p", "A", "esc", "esc", "x", "enter", "c", "esc", "G", "A", "esc", "2", "enter", "k", "enter", "?"} {
					d.press(key)
					check()
				}
			}
		})
	}
}

// TestT27_StoreReplaced: a banner, no crash, decisions refused with the reason.
func TestT27_StoreReplaced(t *testing.T) {
	d := newDriver(t, site(), 80, 24)
	d.a.queue.goToRow(t, d, 38)
	d.watch.err = fmt.Errorf("gatehouse.db: %w", core.ErrStoreReplaced)
	d.advance(tickEvery)
	d.shows("! no decisions: gatehouse.db: store was replaced or made read-only while open")
	d.intact()
	for _, key := range []string{"A", "x", "X", "c"} {
		d.press(key)
		d.shows("nothing can be decided")
	}
	if len(d.k.drafts) > 0 || d.a.top() != view(d.a.queue) {
		t.Fatal("a decision was let through")
	}
	d.press("j", "enter", "esc", "2") // looking goes on
	d.intact()
	d.watch.err = nil
	d.advance(tickEvery)
	d.hides("no decisions")
}

func TestT27_StoreReplacedWhileThePlanIsOpen(t *testing.T) {
	d := newDriver(t, site(), 80, 24)
	d.a.queue.goToRow(t, d, 38)
	d.press("A", "c")
	d.watch.err = core.ErrStoreReplaced
	d.advance(tickEvery)
	d.press("enter")
	if d.k.confirms != 0 {
		t.Fatal("a plan was confirmed on a store that was replaced")
	}
}

// TestT28_DraftsSurvive: a second screen on the same store has the drafts. (The
// terminal is looked at in the scripts.)
func TestT28_DraftsSurvive(t *testing.T) {
	k := site()
	d := newDriver(t, k, 80, 24)
	d.a.queue.goToRow(t, d, 38)
	d.press("A", "j", "j")
	d.press("x")
	d.typeText("not this")
	d.press("enter")
	again := newDriver(t, k, 80, 24)
	again.shows("2 drafts", "A #38", "x #41")
	again.press("c")
	again.shows("Carry out 2 decisions", "“not this”")
}

// TestT28_CutOffPlanIsShown: what a dead process left of a plan is shown at the
// start, and can be dealt with in place.
func TestT28_CutOffPlanIsShown(t *testing.T) {
	k := site()
	k.change(38, state(core.StateApplied))
	k.change(39, state(core.StateUnknown))
	k.plans = []core.PlanRecord{{
		ID: "p9", By: "alice", Holder: "dead", ConfirmedAt: start,
		Results: []core.Result{
			{Action: 38, Outcome: core.OutcomeApplied},
			{Action: 39, Outcome: core.OutcomeNotStarted},
			{Action: 41, Outcome: core.OutcomeNotStarted},
		},
	}}
	alive := false
	living := func(o *Options) { o.Alive = func(core.ProcessID) bool { return alive } }
	d := newDriver(t, k, 80, 24, living)
	d.shows("Last plan, cut off · 1 outcome unknown · 1 still pending · 1 applied", "?   #39", "U settle", "●   #41", "✓   #38")
	d.press("U")
	d.shows("What became of #39")
	d.press("enter") // nothing is chosen
	d.shows("choose first")
	d.press("j", "enter")
	d.typeText("~1=88 seen there")
	d.press("enter")
	if s := k.settled[39]; !s.Applied || s.Reason != "seen there" || s.Created["~1"] != "88" {
		t.Fatalf("settled with %+v", s)
	}
	d.shows("1 still pending · 2 applied")
	d.press("j", "enter")
	d.shows("#41 edit docs/index.md")
	d.press("esc", "c")
	d.shows("Last plan, cut off")
	d.press("esc")
	d.shows("Needs you")
	again := newDriver(t, k, 80, 24, living)
	again.hides("cut off")

	k.plans[0].Dismissed, alive = false, true
	newDriver(t, k, 80, 24, living).hides("cut off") // another process is at it
}

func TestT29_NoScreen(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for name, in := range map[string]*os.File{"pipe": read, "device": null} {
		err := term.Check(in, write, []string{"TERM=xterm"})
		var none *term.NoScreenError
		if !errors.As(err, &none) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "gatehouse queue list") {
			t.Errorf("%s: got %v, want one line that says which command to use", name, err)
		}
	}
	if !term.Colourless([]string{"NO_COLOR=1"}) || term.Colourless([]string{"NO_COLOR=1", "NO_COLOR="}) || term.Colourless(nil) {
		t.Error("NO_COLOR is not read as its convention says")
	}
}

// TestT29_NoColour: with the theme that has none, no frame holds a colour, and
// nothing that colour says is lost.
func TestT29_NoColour(t *testing.T) {
	for name, keys := range places() {
		plain, colour := newDriver(t, site(), 120, 40), newDriver(t, site(), 120, 40, func(o *Options) { o.Theme = ThemeDefault })
		plain.press(keys...)
		colour.press(keys...)
		for _, start := range []string{"\x1b[3", "\x1b[4", "\x1b[9", "\x1b[1;3", "\x1b[10"} {
			if strings.Contains(plain.a.View(), start) {
				t.Errorf("%s: the frame has a colour: %q", name, start)
			}
		}
		if plain.frame() != colour.frame() {
			t.Errorf("%s: the text differs between the themes", name)
		}
		if plain.a.View() == colour.a.View() {
			t.Errorf("%s: the theme with colours has none", name)
		}
	}
}

// TestFooterKeepsItsTally: how much is shown stands at the right edge at every
// width; the keys that leave no room for it are not drawn.
func TestFooterKeepsItsTally(t *testing.T) {
	for w := minWidth; w <= 160; w++ {
		d := onRecord(t, happened(), w, 24)
		if lines := strings.Split(d.frame(), "\n"); !strings.HasSuffix(lines[23], "11 rows ") {
			t.Errorf("%d columns: the footer is %q", w, lines[23])
		}
	}
}
