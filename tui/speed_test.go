package tui

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"charm.land/bubbles/v2/list"
	tea "charm.land/bubbletea/v2"

	"gatehouse/core"
)

// many is a queue of n actions in a few sessions.
func many(n int) *fakeKernel {
	k := newFake()
	sessions := []string{"alpha", "beta", "gamma", "delta"}
	for i := range n {
		k.add(core.ActionID(i+1), sessions[i*len(sessions)/n], []string{"write", "edit", "move"}[i%3], fmt.Sprintf("write docs/chapter-%d/page-%d.md", i/20, i))
	}
	return k
}

// TestT6_WorkIsThatOfTheWindow counts what a walk through the list costs: rows
// read, questions asked and rows drawn are the same for a hundred times as many
// actions.
func TestT6_WorkIsThatOfTheWindow(t *testing.T) {
	type work struct{ queries, read, drawn, frames, held int }
	walk := func(n int) work {
		d := newDriver(t, many(n), 120, 40)
		before := work{d.k.queries, d.k.read, d.a.queue.cache.drawn, d.a.drawn, 0}
		for range 300 {
			d.tap("j")
		}
		for _, key := range []string{"G", "k", "pgup", "g", "pgdown", "o", "s", "G"} {
			d.tap(key)
		}
		d.intact()
		return work{d.k.queries - before.queries, d.k.read - before.read, d.a.queue.cache.drawn - before.drawn, d.a.drawn - before.frames, len(d.a.queue.win.rows)}
	}
	small, large := walk(1_000), walk(100_000)
	t.Logf("1,000 actions: %+v; 100,000: %+v", small, large)
	if large.queries > small.queries+4 || large.read > 2*small.read || large.drawn > small.drawn*3/2 || large.frames > small.frames+4 {
		t.Fatalf("work grows with the queue: %+v for 1,000, %+v for 100,000", small, large)
	}
	if large.held > windowRows {
		t.Fatalf("%d rows are held, %d at most", large.held, windowRows)
	}
}

// TestT6_CachedRowsAreNotDrawnAgain: a key draws the two rows that changed.
func TestT6_CachedRowsAreNotDrawnAgain(t *testing.T) {
	d := newDriver(t, many(1000), 120, 40)
	d.press("j", "j", "j", "k")
	before := d.a.queue.cache.drawn
	d.tap("j")
	d.tap("k")
	if got := d.a.queue.cache.drawn - before; got > 2 {
		t.Fatalf("two keys drew %d rows that had been drawn before", got)
	}
	d.clock.now = d.clock.now.Add(time.Minute)
	d.tap("j")
	d.intact()
}

// TestT6_WindowKeepsItsPlace walks far down and back; ids stay in order and none
// is shown twice or left out.
func TestT6_WindowKeepsItsPlace(t *testing.T) {
	for _, order := range []string{"", "o", "s", "ooo"} {
		t.Run("order "+order, func(t *testing.T) {
			d := newDriver(t, many(2000), 80, 24)
			for _, key := range order {
				d.press(string(key))
			}
			d.press("g")
			seen := []core.ActionID{d.cursor()}
			for range 1999 {
				d.tap("j")
				seen = append(seen, d.cursor())
			}
			unique := make(map[core.ActionID]bool)
			for _, id := range seen {
				unique[id] = true
			}
			if len(unique) != 2000 {
				t.Fatalf("a walk down met %d of 2,000 rows", len(unique))
			}
			for i := len(seen) - 2; i >= 0; i-- {
				d.tap("k")
				if d.cursor() != seen[i] {
					t.Fatalf("on the way back the cursor is on %d, want %d", d.cursor(), seen[i])
				}
			}
		})
	}
}

// keys presses n keys and returns the time of one with its frame, reads
// included.
func keysToFrames(d *driver, n int) time.Duration {
	keys := []string{"j", "j", "j", "k"}
	began := time.Now()
	for i := range n {
		d.tap(keys[i%len(keys)])
		d.timers = d.timers[:0]
	}
	return time.Since(began) / time.Duration(n)
}

type item string

func (i item) FilterValue() string { return string(i) }
func (i item) Title() string       { return string(i) }
func (i item) Description() string { return "pending" }

// bubblesKeyToFrame is the same with the list of the library as it comes.
func bubblesKeyToFrame(b *testing.B, n, times int) time.Duration {
	items := make([]list.Item, n)
	for i := range items {
		items[i] = item(fmt.Sprintf("write docs/chapter-%d/page-%d.md", i/20, i))
	}
	l := list.New(items, list.NewDefaultDelegate(), 120, 40)
	key := tea.KeyPressMsg{Code: 'j', Text: "j"}
	_ = l.View()
	began := time.Now()
	for range times {
		l, _ = l.Update(key)
		_ = l.View()
	}
	return time.Since(began) / time.Duration(times)
}

// BenchmarkP2_KeyToFrame prints the ratios of P2: 100,000 actions against 100,
// and against bubbles/list at 10,000 rows, in one run. Rounds of both take turns,
// and medians are compared, so that a busy machine weighs on both alike.
func BenchmarkP2_KeyToFrame(b *testing.B) {
	const round = 48
	coloured := func(o *Options) { o.Theme = ThemeDefault }
	few, lots := newDriver(b, many(100), 120, 40, coloured), newDriver(b, many(100_000), 120, 40, coloured)
	var at100, at100k []time.Duration
	for b.Loop() {
		few.tap("g")
		lots.tap("g")
		at100 = append(at100, keysToFrames(few, round))
		at100k = append(at100k, keysToFrames(lots, round))
	}
	peer := bubblesKeyToFrame(b, 10_000, 40)
	small, large := median(at100), median(at100k)
	b.ReportMetric(float64(large)/float64(small), "x_at_100(<=1.5)")
	b.ReportMetric(float64(peer)/float64(large), "x_faster_than_bubbles(>=100)")
	b.ReportMetric(float64(small.Nanoseconds())/1000, "us_at_100")
	b.ReportMetric(float64(large.Nanoseconds())/1000, "us_at_100000")
	b.ReportMetric(float64(peer.Nanoseconds())/1000, "us_bubbles")
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
