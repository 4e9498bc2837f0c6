package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// TestT1_DraftsAreCarriedOutTogether walks the whole way: drafts, undo, plan,
// result, and the way back.
func TestT1_DraftsAreCarriedOutTogether(t *testing.T) {
	d := newDriver(t, site(), 80, 24)
	d.a.queue.goToRow(t, d, 38)
	d.press("A")
	d.shows("A #38", "1 draft")
	if got := d.k.row(38).State; got != core.StatePending {
		t.Fatalf("a draft changed the action: it is %s", got)
	}
	d.press("j", "A", "j", "A")
	d.press("z")
	d.shows("taken back: approve #41", "2 drafts")
	d.a.queue.goToRow(t, d, 43)
	d.press("x")
	d.typeText("keep it")
	d.press("enter")
	d.shows("x #43", "3 drafts")
	d.press("j", "X") // 44, with the same reason
	d.press("c")
	d.shows("Carry out 4 decisions", "first  –   #43 reject", "“keep it”", "then   ✓   #38 approve", "[ Cancel ]")
	d.press("tab", "enter")
	d.shows("2 rejected · 2 applied", "✓   #38", "–   #43")
	if d.k.confirms != 1 || len(d.k.drafts) != 0 {
		t.Fatalf("got %d confirms and %d drafts, want 1 and 0", d.k.confirms, len(d.k.drafts))
	}
	d.press("1", "j") // it stays until dismissed
	d.shows("2 rejected · 2 applied")
	d.press("esc")
	d.shows("Needs you")
	d.hides("#38", "#43")
	if !d.k.plans[0].Dismissed {
		t.Fatal("the result was not dismissed in the store")
	}
}

// goToRow puts the cursor on a row by keys.
func (q *queue) goToRow(t *testing.T, d *driver, id core.ActionID) {
	t.Helper()
	d.press("g")
	for range len(q.win.rows) {
		if d.cursor() == id {
			return
		}
		d.press("j")
	}
	t.Fatalf("#%d is not in the list:\n%s", id, d.frame())
}

func TestT2_FocusAndCount(t *testing.T) {
	low := func() *fakeKernel {
		k := newFake()
		for id := core.ActionID(1); id <= 30; id++ {
			k.add(id, "s", "write", fmt.Sprintf("write f%d", id))
		}
		k.add(31, "s", "delete", "delete all", high)
		return k
	}
	t.Run("a single low-risk item has the focus on Confirm", func(t *testing.T) {
		d := newDriver(t, low(), 80, 24)
		d.press("A", "c")
		d.shows("[ Confirm ]")
		d.press("enter")
		if d.k.confirms != 1 {
			t.Fatal("enter on Confirm did not confirm")
		}
	})
	t.Run("more have it on Cancel", func(t *testing.T) {
		d := newDriver(t, low(), 80, 24)
		d.press("A", "j", "A", "c")
		d.shows("[ Cancel ]")
		d.press("enter")
		if d.k.confirms != 0 || len(d.k.drafts) != 2 {
			t.Fatalf("got %d confirms, %d drafts, want 0 and 2", d.k.confirms, len(d.k.drafts))
		}
	})
	t.Run("more than 25: the count is typed", func(t *testing.T) {
		d := newDriver(t, low(), 80, 24)
		d.press("a")
		d.shows("30 marked", "1 of high risk left out")
		d.press("A", "c")
		d.shows("Carry out 30 decisions")
		d.press("tab", "enter")
		d.shows("Type 30 to confirm")
		d.typeText("3")
		d.press("enter")
		d.shows("not confirmed: type 30")
		if d.k.confirms != 0 {
			t.Fatal("confirmed with the wrong count")
		}
		d.typeText("0")
		d.press("enter")
		d.shows("30 applied")
	})
	t.Run("a high-risk item: opened first, then the count is typed", func(t *testing.T) {
		d := newDriver(t, low(), 80, 24)
		d.press("G", "A", "c", "tab", "enter")
		d.shows("not confirmed: #31", "never opened")
		d.press("esc", "enter") // open it
		d.press("A", "tab", "enter")
		d.shows("Type 1 to confirm")
		d.typeText("1")
		d.press("enter")
		d.shows("1 applied")
	})
	t.Run("one key adds prerequisites", func(t *testing.T) {
		k := low()
		k.needs[2] = []core.ActionID{1}
		d := newDriver(t, k, 80, 24)
		d.press("j", "A", "c")
		d.shows("Carry out 0 decisions", "skipped: action 1 is not in this plan", "1 prerequisite is missing: #1; + adds")
		d.press("tab", "enter")
		d.shows("not confirmed: nothing in it would be done")
		d.press("+")
		d.shows("Carry out 2 decisions", "✓    #1", "✓    #2", "needs #1")
		d.press("tab", "enter")
		d.shows("2 applied")
	})
	t.Run("in the detail A opens the plan of that one", func(t *testing.T) {
		d := newDriver(t, low(), 80, 24)
		d.press("j", "enter", "A")
		d.shows("Carry out 1 decision", "#2 approve")
		if len(d.k.drafts) != 0 {
			t.Fatal("it was drafted too")
		}
	})
}

// TestT3_ReflexesDecideNothing presses every key that other tools taught the
// hand, on every place that is no dialog.
func TestT3_ReflexesDecideNothing(t *testing.T) {
	reflexes := []string{"enter", "esc", "y", "a", "d", "s", "v", "space", "tab", "o", "n", "r", "e", "D", "Y", "S", "R", "delete", "backspace", "ctrl+d", "1"}
	for _, at := range []string{"list", "detail", "sessions"} {
		for _, key := range reflexes {
			t.Run(at+" "+key, func(t *testing.T) {
				d := newDriver(t, site(), 120, 40)
				d.a.queue.goToRow(t, d, 38)
				switch at {
				case "detail":
					d.press("enter")
				case "sessions":
					d.press("2")
				}
				d.press(key, "enter", key)
				if len(d.k.drafts) > 0 || d.k.confirms > 0 || len(d.k.answers) > 0 || d.k.row(38).State != core.StatePending {
					t.Fatalf("%s decided: drafts %v", key, d.k.drafts)
				}
			})
		}
	}
	t.Run("help runs no decision on enter", func(t *testing.T) {
		d := newDriver(t, site(), 80, 24)
		d.a.queue.goToRow(t, d, 38)
		d.press("?", "enter") // the first entry is approve
		d.shows("A does that: enter decides nothing")
		if len(d.k.drafts) > 0 {
			t.Fatal("enter in the help drafted")
		}
	})
}

func TestT3_TableRefusesDecisionsOnReflexes(t *testing.T) {
	for _, c := range []struct {
		name   string
		change KeyChange
		want   []string
	}{
		{"on a navigation key", KeyChange{"draft.approve", []string{"j"}}, []string{"draft.approve", "list.down"}},
		{"on enter", KeyChange{"draft.reject-again", []string{"enter"}}, []string{"draft.reject-again", "list.open"}},
		{"on a navigation key of another pane", KeyChange{"plan.one", []string{"v"}}, []string{"plan.one", "range"}},
		{"on a key of other tools", KeyChange{"settle", []string{"delete", "tab"}}, []string{"settle", "tab"}},
		{"on a small letter", KeyChange{"draft.approve", []string{"b"}}, []string{"draft.approve", "capital", "b"}},
		{"two commands on one key", KeyChange{"draft.reject", []string{"c"}}, []string{"draft.reject", "plan.open"}},
		{"unknown command", KeyChange{"draft.aprove", []string{"B"}}, []string{"draft.aprove"}},
		{"no key", KeyChange{"help", nil}, []string{"help"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := newApp(t.Context(), Options{
				Kernel: newFake(), Clock: &fakeClock{start}, Authority: core.Authority{Person: "alice"}, Keys: []KeyChange{c.change},
			})
			if err == nil {
				t.Fatal("the table was accepted")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not name %q", err, want)
				}
			}
		})
	}
	t.Run("a good change counts", func(t *testing.T) {
		d := newDriver(t, site(), 80, 24, func(o *Options) { o.Keys = []KeyChange{{"draft.approve", []string{"B"}}} })
		d.a.queue.goToRow(t, d, 38)
		d.press("A")
		d.hides("1 draft")
		d.press("B")
		d.shows("1 draft", "B approve")
	})
}

func TestT4_CursorFollowsIDs(t *testing.T) {
	t.Run("new rows are counted and brought in by a key", func(t *testing.T) {
		d := newDriver(t, site(), 80, 24)
		d.a.queue.goToRow(t, d, 41)
		before := lineOf(t, d, "#41")
		d.outside(func() {
			for id := core.ActionID(46); id <= 48; id++ {
				d.k.add(id, "another", "write", fmt.Sprintf("write new%d", id))
			}
		})
		d.shows("3 new .")
		d.hides("new46")
		if after := lineOf(t, d, "#41"); after != before || d.cursor() != 41 {
			t.Fatalf("the row moved from line %d to %d, the cursor is on %d", before, after, d.cursor())
		}
		d.press(".")
		d.shows("13 in all")
		if d.cursor() != 41 {
			t.Fatalf("the cursor is on %d", d.cursor())
		}
	})
	t.Run("a change under the cursor holds decisions back", func(t *testing.T) {
		d := newDriver(t, site(), 80, 24)
		d.a.queue.goToRow(t, d, 41)
		d.outside(func() {
			d.k.change(41, func(r *core.QueueRow) { r.Drift, r.Digest = core.DriftFresh, digestFor(41, 2) })
		})
		d.shows("#41 changed: base moved")
		d.tap("A")
		d.shows("look, then decide")
		if len(d.k.drafts) != 0 {
			t.Fatal("drafted on a row that had just changed")
		}
		d.advance(guardFor)
		d.tap("A")
		if len(d.k.drafts) != 1 || d.k.drafts[0].Digest != digestFor(41, 2) {
			t.Fatalf("after a look: %v", d.k.drafts)
		}
	})
	t.Run("a row decided elsewhere stays under the cursor", func(t *testing.T) {
		d := newDriver(t, site(), 80, 24)
		d.a.queue.goToRow(t, d, 41)
		before := lineOf(t, d, "#41")
		d.outside(func() {
			d.k.change(43, state(core.StateApplied))
			d.k.change(41, func(r *core.QueueRow) { r.State, r.Reason = core.StateRejected, "no need" })
		})
		d.shows("– ", "#41 changed: it is rejected now: no need")
		d.hides("#43")
		if after := lineOf(t, d, "#41"); after != before {
			t.Fatalf("the row moved from line %d to %d", before, after)
		}
		d.press("j", "r")
		d.hides("#41 –")
	})
	t.Run("keys are dropped while a dialog opens", func(t *testing.T) {
		d := newDriver(t, site(), 80, 24)
		d.a.queue.goToRow(t, d, 38)
		d.press("A")
		d.tap("c")
		d.tap("enter") // meant for the list
		if d.k.confirms != 0 {
			t.Fatal("a key of before the dialog confirmed it")
		}
		d.advance(dialogDropFor)
		d.tap("enter")
		if d.k.confirms != 1 {
			t.Fatal("a key after the moment was dropped too")
		}
	})
	t.Run("drafts and marks go by id", func(t *testing.T) {
		d := newDriver(t, site(), 80, 24)
		d.a.queue.goToRow(t, d, 42)
		d.press("space", "o") // another order
		d.shows("1 marked")
		d.press("A")
		if len(d.k.drafts) != 1 || d.k.drafts[0].Action != 42 {
			t.Fatalf("got %v, want a draft on 42", d.k.drafts)
		}
	})
}

func lineOf(t *testing.T, d *driver, text string) int {
	t.Helper()
	for i, line := range strings.Split(d.frame(), "\n") {
		if strings.Contains(line, text) {
			return i
		}
	}
	t.Fatalf("no line with %q:\n%s", text, d.frame())
	return 0
}

// TestT5_DialogsHoldWhatTheyOpenedWith: what changes behind a dialog does not
// change what it does.
func TestT5_DialogsHoldWhatTheyOpenedWith(t *testing.T) {
	t.Run("prompt", func(t *testing.T) {
		d := newDriver(t, site(), 80, 24)
		d.a.queue.goToRow(t, d, 43)
		d.press("x")
		d.outside(func() { d.k.change(43, state(core.StateApplied)) })
		d.a.queue.win.move(-2) // the selection goes elsewhere
		d.typeText("late")
		d.press("enter")
		d.shows("#43 was decided by bob before: it is applied")
		if len(d.k.drafts) != 0 {
			t.Fatalf("drafted on another row: %v", d.k.drafts)
		}
	})
	t.Run("plan", func(t *testing.T) {
		d := newDriver(t, site(), 80, 24)
		d.a.queue.goToRow(t, d, 38)
		d.press("A", "c")
		d.k.drafts = append(d.k.drafts, core.DraftedDecision{Person: "alice", Action: 43, Digest: digestFor(43, 1), Verdict: core.VerdictApprove})
		d.outside(func() {})
		d.press("enter")
		d.shows("1 applied")
		if d.k.row(43).State != core.StatePending {
			t.Fatal("a draft made after the plan was carried out with it")
		}
	})
}

// TestT7_StaleAnswersAreDropped keeps an answer back until another read was
// asked for.
func TestT7_StaleAnswersAreDropped(t *testing.T) {
	d := newDriver(t, site(), 80, 24)
	d.hold = true
	q := d.a.queue
	f, _ := parseFilter("index")
	q.filter = f
	d.do(q.load(loadFirst))
	late := d.held
	d.held, d.hold = nil, false
	q.filter, _ = parseFilter("readme")
	d.do(q.load(loadFirst))
	d.shows("#45")
	for _, cmd := range late {
		d.do(cmd)
	}
	d.shows("#45")
	d.hides("#41")
}

// TestT7_QuietMessagesDrawNothing: a tick that found nothing makes no frame.
func TestT7_QuietMessagesDrawNothing(t *testing.T) {
	d := newDriver(t, site(), 80, 24)
	before := d.a.drawn
	d.advance(10 * tickEvery)
	if got := d.a.drawn - before; got != 0 {
		t.Fatalf("%d frames were drawn while nothing happened", got)
	}
	d.tap("F12")
	if got := d.a.drawn - before; got != 0 {
		t.Fatal("a key without meaning made a frame")
	}
	d.tap("j")
	if got := d.a.drawn - before; got != 1 {
		t.Fatalf("a key made %d frames", got)
	}
}

// TestT7_ProgressIsBatched: a thousand reports within a moment are few frames.
func TestT7_ProgressIsBatched(t *testing.T) {
	k := newFake()
	for id := core.ActionID(1); id <= 500; id++ {
		k.add(id, "s", "write", fmt.Sprintf("write f%d", id))
	}
	d := newDriver(t, k, 80, 24)
	d.press("a", "A", "c", "tab", "enter")
	d.typeText("500")
	before := d.a.drawn
	d.press("enter")
	d.shows("500 applied")
	if got := d.a.drawn - before; got > 20 {
		t.Fatalf("1,000 reports made %d frames", got)
	}
}

// TestT7_ReportsOfAMomentAreOneMessage: what gathers while a frame is drawn
// comes together, a moment later.
func TestT7_ReportsOfAMomentAreOneMessage(t *testing.T) {
	d := newDriver(t, site(), 80, 24)
	p := d.a.plan
	p.feed, p.live = newFeed(), map[core.ActionID]core.Progress{}
	for id := core.ActionID(1); id <= 100; id++ {
		p.feed.put(core.Progress{Action: id, Done: int(id)})
	}
	msg := p.feed.take().(feedMsg)
	if len(msg.batch) != 100 {
		t.Fatalf("a message has %d of 100 reports", len(msg.batch))
	}
	p.feed.put(core.Progress{Action: 101, Done: 100})
	later, ok := p.progress(msg)().(term.Later)
	if !ok || later.After != batchFor || p.done != 100 {
		t.Fatalf("the next batch is asked for at once: %+v", later)
	}
}

// TestT7_NothingBlocksTheLoop: a key whose read is held back still has its
// frame, and no question to the kernel is asked within Update.
func TestT7_NothingBlocksTheLoop(t *testing.T) {
	d := newDriver(t, site(), 120, 40)
	d.hold = true
	asked := d.k.queries + d.k.shows
	for _, key := range []string{"j", "j", "enter", "esc", "o", "s", "A", "a", "r", "2", "1", "G", "g", "d"} {
		d.clock.now = d.clock.now.Add(time.Second)
		d.tap(key)
		d.intact()
	}
	if got := d.k.queries + d.k.shows; got != asked {
		t.Fatalf("the kernel was asked %d times within Update", got-asked)
	}
}

func TestLoadingSaysSoAfterAMoment(t *testing.T) {
	d := newDriver(t, site(), 80, 24)
	d.hold = true
	d.tap("o")
	held := d.held
	d.held, d.hold = nil, false
	batch := held[0]().(term.Batch)
	d.do(batch[1]) // the clock runs, the read does not answer
	d.shows("#38")
	d.hides("reading")
	d.advance(slowAfter)
	d.shows("#38", "reading")
	d.do(batch[0])
	d.hides("reading")
}

func TestBrokenReadKeepsItsRows(t *testing.T) {
	d := newDriver(t, site(), 80, 24)
	d.k.broken = errors.New("the disk\nis \x1b[31mfull")
	d.press("r")
	d.shows("#38", "the disk is full")
	d.intact()
	d.k.broken = nil
	d.press("r")
	d.shows("#38")

	k := newFake()
	k.broken = errors.New("no such table")
	d = newDriver(t, k, 80, 24)
	d.shows("The queue could not be read: no such table", "tries again")
}
