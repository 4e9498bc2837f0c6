package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// onRecord opens the screen of the record.
func onRecord(t *testing.T, k *fakeKernel, w, h int) *driver {
	t.Helper()
	d := newDriver(t, k, w, h)
	d.press("5")
	return d
}

func (d *driver) seq() int64 {
	r, _ := d.a.record.current()
	return r.seq
}

func (d *driver) wantSeq(want int64) {
	d.t.Helper()
	if got := d.seq(); got != want {
		d.t.Fatalf("the cursor is on row %d, want %d:\n%s", got, want, d.frame())
	}
}

// arrive lets rows come from another process.
func (d *driver) arrive(entries ...core.Entry) {
	d.outside(func() { d.k.happen(entries...) })
}

func TestGoldenRecord(t *testing.T) {
	states := map[string]func(t *testing.T, w, h int) *driver{
		"record-empty": func(t *testing.T, w, h int) *driver { return onRecord(t, newFake(), w, h) },
		"record-error": func(t *testing.T, w, h int) *driver {
			k := newFake()
			k.broken = errors.New("gatehouse.db: the disk does not answer")
			return onRecord(t, k, w, h)
		},
		"record-loading": func(t *testing.T, w, h int) *driver {
			d := newDriver(t, happened(), w, h)
			d.hold = true
			d.tap("5")
			d.advance(0)
			d.a.record.slow, d.a.dirty = true, true
			return d
		},
		"record-full": func(t *testing.T, w, h int) *driver { return onRecord(t, happened(), w, h) },
		"record-row": func(t *testing.T, w, h int) *driver {
			d := onRecord(t, happened(), w, h)
			d.press("j", "enter")
			return d
		},
		"record-why": func(t *testing.T, w, h int) *driver {
			d := onRecord(t, happened(), w, h)
			d.press("p")
			return d
		},
		"record-bad": func(t *testing.T, w, h int) *driver {
			k := happened()
			k.log[4].Blob = []byte(strings.Replace(string(k.log[4].Blob), "alice", "mallory", 1))
			d := onRecord(t, k, w, h)
			d.press("V")
			return d
		},
	}
	for name, open := range states {
		for _, size := range sizes() {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				d := open(t, size[0], size[1])
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

func TestRecordTailFollowsWhileTheCursorIsOnTop(t *testing.T) {
	d := onRecord(t, happened(), 120, 40)
	d.wantSeq(11)
	d.arrive(reads(3)...)
	d.wantSeq(14)
	d.shows("SITE.read3", "14 rows")
	d.hides("new .")
}

func TestRecordCursorFollowsItsRow(t *testing.T) {
	d := onRecord(t, happened(), 120, 40)
	d.press("j", "j")
	d.wantSeq(9)
	d.arrive(reads(3)...)
	d.wantSeq(9)
	d.shows("3 new .")
	d.hides("SITE.read3")
	d.press(".")
	d.wantSeq(9)
	d.shows("SITE.read3")
	d.hides("new .")
	d.arrive(reads(1)...)
	d.shows("1 new .")
	d.press("g") // back at the top, it follows again
	d.wantSeq(15)
	d.hides("new .")
}

func TestRecordNewRowsWaitWhileARowIsOpen(t *testing.T) {
	d := onRecord(t, happened(), 120, 40)
	d.press("enter")
	d.shows("Row 11", "previous")
	d.arrive(reads(2)...)
	d.shows("Row 11")
	d.press("esc")
	d.wantSeq(13)
}

func TestRecordFilter(t *testing.T) {
	for text, want := range map[string][]int64{
		"kind:read,blocked":                {6, 5},
		"kind:submit session:site-refresh": {7},
		"who:mcp":                          {8},
		"decisions:":                       {10, 9},
		"egress:":                          {4},
		"action:#41":                       {11, 10, 7},
		"latched":                          {6},
		"docs list":                        {5},
	} {
		d := onRecord(t, happened(), 120, 40)
		d.press("/")
		d.typeText(text)
		d.press("enter")
		var got []int64
		for _, r := range d.a.record.win.rows {
			got = append(got, r.seq)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
		d.shows("/ " + text)
		d.press("esc")
		d.wantSeq(want[0]) // the cursor stays on its row
		d.hides("/ " + text)
	}
}

func TestRecordFilterThatIsNone(t *testing.T) {
	d := onRecord(t, happened(), 120, 40)
	d.press("/")
	d.typeText("kind:decided")
	d.shows(`"decided": not in the record`)
	d.press("esc")
	d.press("/")
	d.typeText("session:nowhere")
	d.press("enter")
	d.shows("no session is called nowhere")
	d.press("esc", "/")
	d.typeText("xyzzy")
	d.press("enter")
	d.shows("Nothing matches xyzzy.")
	d.press("esc")
	d.wantSeq(11)
}

func TestRecordDecisionsAndEgressHaveKeys(t *testing.T) {
	d := onRecord(t, happened(), 120, 40)
	d.press("d")
	d.shows("Record · / decisions:", "plan p1")
	d.hides("SITE.list")
	d.press("e")
	d.shows("Record · / egress:", "model script")
	d.press("e")
	d.hides("egress:")
	d.shows("SITE.list")
}

func TestRecordTailHonoursTheFilter(t *testing.T) {
	d := onRecord(t, happened(), 120, 40)
	d.press("d")
	d.wantSeq(10)
	d.arrive(reads(3)...)
	d.wantSeq(10)
	d.arrive(core.Entry{Type: core.EventAnswer, Actor: "alice", Subject: "question 7"})
	d.wantSeq(15)
	d.shows("question 7")
	d.hides("SITE.read1")
}

func TestRecordPagesByKey(t *testing.T) {
	k := happened()
	k.happen(reads(5000)...)
	d := onRecord(t, k, 120, 40)
	k.queries, k.read = 0, 0
	d.press("G")
	d.wantSeq(1)
	if k.read > 3*pageSize {
		t.Errorf("the way to the end read %d rows", k.read)
	}
	d.press("g")
	d.wantSeq(5011)
	for range 300 {
		d.press("pgdown")
	}
	d.wantSeq(1)
	if n := len(d.a.record.win.rows); n > windowRows {
		t.Errorf("%d rows are kept", n)
	}
	for range 300 {
		d.press("pgup")
	}
	d.wantSeq(5011)
	for i, r := range d.a.record.win.rows {
		if r.seq != 5011-int64(i) {
			t.Fatalf("row %d stands at place %d", r.seq, i)
		}
	}
}

// A row that is rare is found, by questions that each look at a part.
func TestRecordRareRowsAreFoundInBoundedQuestions(t *testing.T) {
	k := happened()
	k.happen(reads(2 * recordSpan * 3)...)
	d := newDriver(t, k, 80, 24)
	d.press("5")
	k.queries, k.read = 0, 0
	d.press("d")
	d.shows("plan p1")
	if k.read > 10 || k.queries < 3 {
		t.Errorf("%d rows in %d questions", k.read, k.queries)
	}
}

func TestRecordOpenedRow(t *testing.T) {
	k := happened()
	d := onRecord(t, k, 120, 40)
	d.press("j", "enter")
	row := k.log[9]
	d.shows("Row 10", "alice by terminal", row.Hash.String(), row.Prev.String(), `"verdict": "approve"`, "site-refresh (s-site-refresh)")
	d.press("]")
	d.shows("Row 9", "plan p1")
	d.press("[", "o")
	if d.a.top() != view(d.a.queue) || d.cursor() != 41 || d.a.queue.pane != paneDetail {
		t.Errorf("o does not open action 41:\n%s", d.frame())
	}
	d.press("5", "s")
	if d.a.top() != view(d.a.script) || d.a.script.session.ID != "s-site-refresh" {
		t.Errorf("s does not open the session:\n%s", d.frame())
	}
	d.press("esc", "esc", "G", "o")
	d.shows("the row is about no action")
}

func TestRecordWhy(t *testing.T) {
	d := onRecord(t, happened(), 120, 40)
	d.press("p")
	d.shows("Why action 41", "submit", "decision", "outcome")
	d.hides("SITE.list")
	d.press("k", "enter")
	d.shows("Row 10")
	d.press("esc")
	d.shows("Why action 41")
	d.press("esc")
	d.wantSeq(11)
}

func TestRecordVerified(t *testing.T) {
	d := onRecord(t, happened(), 80, 24)
	d.shows("not verified")
	d.press("V")
	d.shows("✓ verified 11 rows at 10:00")
}

func TestRecordBroken(t *testing.T) {
	k := happened()
	k.log[4].Entry.Actor = "mallory"
	k.log[4].Blob = []byte(strings.Replace(string(k.log[4].Blob), "alice", "mallory", 1))
	d := onRecord(t, k, 80, 24)
	d.press("V")
	d.shows("✗ row 5 content was changed, found at 10:00", "the record was changed")
}

func TestRecordVerificationShowsProgressAndStops(t *testing.T) {
	d := onRecord(t, happened(), 80, 24)
	d.a.record.check.running, d.a.record.check.steps = true, &checkSteps{more: make(chan struct{}, 1)}
	stopped := false
	d.a.record.check.stop = func() { stopped = true }
	d.a.record.check.steps.put(4000, 9000, false)
	d.send(d.a.record.check.steps.take())
	d.shows("verifying 4,000 of 9,000")
	d.tap("V")
	if !stopped {
		t.Error("V does not stop the check")
	}
}

// T26: what others wrote into a row does not reach the terminal.
func TestRecordIsClean(t *testing.T) {
	k := newFake()
	k.happen(core.Entry{
		Type: "re\x1b[2Jad", Session: "s\u202e1", Actor: "a\x1b]0;x\x07b", Subject: "宽宽e\u0301\u202e", Rule: "\x1b[31m",
		Units: []core.Unit{{Name: "u\x1b[5m"}}, Detail: []byte(`{"k\u001b[1m":"v\u001b[2m\u202e"}`),
	})
	for _, size := range sizes() {
		d := onRecord(t, k, size[0], size[1])
		d.intact()
		d.press("enter")
		d.intact()
		if strings.ContainsAny(d.frame(), "\x1b\x07\u202e") {
			t.Errorf("%q", d.frame())
		}
	}
}

func TestRecordResizes(t *testing.T) {
	for _, keys := range [][]string{{"5"}, {"5", "enter"}, {"5", "p"}, {"5", "/"}} {
		d := newDriver(t, happened(), 200, 50)
		d.press(keys...)
		at, row := d.a.top().place(), d.seq()
		for _, size := range [][2]int{{60, 15}, {80, 24}, {1, 1}, {120, 40}, {60, 15}, {200, 50}} {
			d.send(term.SizeMsg{Width: size[0], Height: size[1]})
			if size[0] >= minWidth {
				d.intact()
			}
			if d.a.top().place() != at || d.seq() != row {
				t.Fatalf("at %v: %s, row %d", size, d.a.top().place(), d.seq())
			}
		}
	}
}

// TestRecordWhyOfRowsThatAreGone: rows that were taken out of the file after
// the list was read lead to a sentence, and the list stays.
func TestRecordWhyOfRowsThatAreGone(t *testing.T) {
	k := happened()
	d := onRecord(t, k, 120, 40)
	d.press("j")
	before := d.seq()
	k.mu.Lock()
	k.log = k.log[:1]
	k.mu.Unlock()
	d.press("p")
	d.shows("the record holds no row about", "V checks what was changed")
	d.wantSeq(before)
	d.intact()
}
