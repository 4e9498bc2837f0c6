package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"gatehouse/core"
)

func (k *fakeKernel) Observed(_ context.Context, q core.ObservedQuery) (core.ObservedPage, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.queries++
	if k.broken != nil {
		return core.ObservedPage{}, k.broken
	}
	limit := q.Limit
	if limit == 0 {
		limit = core.ObservedLimit
	}
	var page core.ObservedPage
	known := q.Session == ""
	for _, o := range slices.Backward(k.observed) {
		if q.Session != "" && string(o.Session) != q.Session && o.SessionName != q.Session {
			continue
		}
		known = true
		page.Total++
		if len(page.Rows) < limit {
			page.Rows = append(page.Rows, o)
		}
	}
	known = known || slices.ContainsFunc(k.sessions, func(s core.SessionSummary) bool { return string(s.ID) == q.Session || s.Name == q.Session })
	if !known {
		return page, &core.NotFoundError{What: "session", Name: q.Session}
	}
	k.read += len(page.Rows)
	return page, nil
}

func (k *fakeKernel) UnitReads(_ context.Context, q core.UnitReadsQuery) (core.UnitReadsPage, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.queries++
	if k.broken != nil {
		return core.UnitReadsPage{}, k.broken
	}
	var page core.UnitReadsPage
	for _, r := range slices.Backward(k.unitRead[q.Unit]) {
		switch {
		case q.Session != "" && string(r.Session) != q.Session && r.SessionName != q.Session, q.Before != 0 && r.Seq >= q.Before:
		case len(page.Reads) == q.Limit:
			page.More = true
			return page, nil
		default:
			page.Reads = append(page.Reads, r)
		}
	}
	k.read += len(page.Reads)
	return page, nil
}

func fileUnit(name string) core.Unit {
	return core.Unit{Gatekeeper: "files", Service: "home", Name: name}
}

// sees adds a unit that a session read some times, in a turn of its own.
func (k *fakeKernel) sees(session string, turn int, unit core.Unit, reads int, change ...func(*core.ObservedUnit)) {
	at := start.Add(-time.Duration(200-len(k.observed)) * time.Minute)
	o := core.ObservedUnit{
		SessionName: session, Strategy: core.StrategyPrivate, Reads: reads, LastReadAt: at.Add(time.Duration(reads) * time.Minute),
		Observation: core.Observation{
			Session: core.SessionID("s-" + session), FirstSeenAt: at, Turn: turn, Found: core.Found{Unit: unit, Permission: "read"},
		},
	}
	for _, c := range change {
		c(&o)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.observed = append(k.observed, o)
	if k.unitRead == nil {
		k.unitRead = map[core.Unit][]core.UnitRead{}
	}
	for i := range reads {
		r := core.UnitRead{
			Seq: int64(len(k.observed)*10_000 + i), At: at.Add(time.Duration(i) * time.Minute), Session: o.Session, SessionName: session,
			Turn: turn, Actor: "alice", Subject: "SITE.read", Bytes: 120,
		}
		if turn > 0 {
			r.Step, r.Actor, r.Args = i%5+1, "script", fmt.Sprintf(`{"path":"part-%d"}`, i+1)
		}
		k.unitRead[unit] = append(k.unitRead[unit], r)
	}
}

func observe(k *fakeKernel) {
	k.sees("site-refresh", 1, fileUnit("docs"), 12)
	k.sees("site-refresh", 1, fileUnit("img"), 2, func(o *core.ObservedUnit) { o.Strategy = core.StrategyACL })
	k.sees("billing-cleanup", 2, core.Unit{Gatekeeper: "sql", Service: "billing.example", Name: "invoices"}, 40, func(o *core.ObservedUnit) {
		o.Found.OwnerOnly, o.Found.Labels, o.Found.Permission = true, []string{"finance", core.LabelOwnerOnly}, "select"
	})
	k.sees("billing-cleanup", 0, fileUnit("docs"), 1)
	k.sees("billing-cleanup", 3, core.Unit{Gatekeeper: "web", Service: "status.example", Name: "https://status.example/"}, 3,
		func(o *core.ObservedUnit) { o.Strategy, o.Found.Labels = core.StrategyPublic, []string{"vendor"} })
}

func (d *driver) unitAt() string {
	row, ok := d.a.observed.current()
	if !ok {
		return ""
	}
	return row.unit.Name
}

func TestGoldenObservations(t *testing.T) {
	broken := errors.New("gatehouse.db: the disk does not answer")
	states := []struct {
		name string
		make func(t *testing.T, w, h int) *driver
	}{
		{"empty", func(t *testing.T, w, h int) *driver {
			d := newDriver(t, newFake(), w, h)
			d.press("3")
			return d
		}},
		{"loading", func(t *testing.T, w, h int) *driver {
			d := newDriver(t, site(), w, h)
			d.press("3")
			d.hold = true
			d.send(reloadMsg{})
			d.a.Update(observedSlowMsg{d.a.observed.gen})
			return d
		}},
		{"full", func(t *testing.T, w, h int) *driver {
			d := newDriver(t, site(), w, h)
			d.press("3", "j")
			return d
		}},
		{"error", func(t *testing.T, w, h int) *driver {
			d := newDriver(t, site(), w, h)
			d.k.broken = broken
			d.press("3")
			return d
		}},
		{"unit", func(t *testing.T, w, h int) *driver {
			d := newDriver(t, site(), w, h)
			d.press("3", "j", "enter", "j")
			return d
		}},
		{"unit-owner-only", func(t *testing.T, w, h int) *driver {
			d := newDriver(t, site(), w, h)
			d.press("3", "j", "j", "enter")
			return d
		}},
		{"unit-error", func(t *testing.T, w, h int) *driver {
			d := newDriver(t, site(), w, h)
			d.press("3")
			d.k.broken = broken
			d.press("enter")
			return d
		}},
	}
	for _, s := range states {
		for _, size := range sizes() {
			t.Run(fmt.Sprintf("%s-%dx%d", s.name, size[0], size[1]), func(t *testing.T) {
				d := s.make(t, size[0], size[1])
				d.intact()
				lines := strings.Split(d.frame(), "\n")
				for i := range lines {
					lines[i] = strings.TrimRight(lines[i], " ")
				}
				golden.RequireEqual(t, strings.Join(lines, "\n")+"\n")
			})
		}
	}
}

// TestT4_CursorFollowsTheUnit: units that come in stand above, and the row under the cursor keeps its line.
func TestT4_CursorFollowsTheUnit(t *testing.T) {
	d := newDriver(t, site(), 80, 24)
	d.press("3", "j", "j")
	on := d.unitAt()
	line := slices.IndexFunc(strings.Split(d.frame(), "\n"), func(l string) bool { return strings.HasPrefix(l, "▸") })
	d.outside(func() {
		for i := range 60 {
			d.k.sees("site-refresh", 9, fileUnit(fmt.Sprint("new-", i)), 1)
		}
	})
	if got := d.unitAt(); got != on {
		t.Errorf("the cursor is on %s, want %s", got, on)
	}
	if got := slices.IndexFunc(strings.Split(d.frame(), "\n"), func(l string) bool { return strings.HasPrefix(l, "▸") }); got != line {
		t.Errorf("the row moved from line %d to %d:\n%s", line, got, d.frame())
	}
	d.press("g")
	d.shows("new-59", "64 units")
	// A unit that another session reads as well moves up: the cursor goes with it.
	d.press("G")
	on = d.unitAt()
	d.outside(func() { d.k.sees("billing-cleanup", 4, fileUnit(on), 1) })
	if got := d.unitAt(); got != on {
		t.Errorf("the cursor is on %s, want %s", got, on)
	}
	d.intact()
}

func TestObservationsFilter(t *testing.T) {
	for typed, want := range map[string][]string{
		"invoices":                       {"invoices"},
		"FILES":                          nil, // smart case: a capital means itself
		"files":                          {"docs", "img"},
		"label:owner":                    {"invoices"},
		"label:vendor":                   {"https://status.example/"},
		"unit:home/im":                   {"img"},
		"session:site-refresh":           {"img", "docs"},
		"session:billing-cleanup docs":   {"docs"},
		"session:s-site-refresh unit:mg": {"img"},
		"private":                        {"docs", "invoices"},
	} {
		t.Run(typed, func(t *testing.T) {
			d := newDriver(t, site(), 120, 40)
			d.press("3", "/")
			d.typeText(typed)
			d.advance(time.Second)
			d.press("enter")
			var got []string
			for _, i := range d.a.observed.rows {
				got = append(got, d.a.observed.all[i].unit.Name)
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			if want == nil {
				d.shows("No unit matches.")
			}
			d.press("esc")
			if len(d.a.observed.rows) != 4 || !d.a.observed.filter.empty() {
				t.Errorf("esc leaves %d units under %q", len(d.a.observed.rows), d.a.observed.filter.text)
			}
			d.press("esc")
			d.shows("Needs you")
		})
	}
	d := newDriver(t, site(), 80, 24)
	d.press("3", "/")
	d.typeText("session:nowhere")
	d.advance(time.Second)
	d.shows("nowhere", "not found")
	d.press("esc")
	d.shows("4 units")
}

// TestObservationsOfASession: from the sessions, by a key and back; a name with a space stays whole while more is typed.
func TestObservationsOfASession(t *testing.T) {
	k := site()
	k.sessions[1].Name = "billing  cleanup"
	d := newDriver(t, k, 120, 40)
	d.press("2", "j", "o")
	d.shows("session:billing  cleanup", "invoices", "status.example", "docs")
	d.hides("img", "+1")
	d.press("/")
	d.typeText("label:owner")
	d.press("enter")
	d.shows("1 of 3 units", "invoices")
	d.press("enter")
	d.shows("Reads behind it · billing  cleanup", "1-27 of 40")
	d.press("esc")
	d.press("o") // all sessions; the words stay
	d.shows("/ label:owner", "1 of 4 units")
	d.press("esc", "o")
	d.shows("session:billing-cleanup", "3 units")
}

// TestReadsOfAUnitComeByPages: the work is that of the pages that were looked at.
func TestReadsOfAUnitComeByPages(t *testing.T) {
	k := newFake()
	k.sees("site-refresh", 1, fileUnit("docs"), 5000)
	d := newDriver(t, k, 80, 24)
	d.press("3")
	k.read = 0
	d.press("enter")
	d.shows("of 5,000")
	if k.read > pageSize {
		t.Errorf("opening read %d rows, want a page", k.read)
	}
	d.press("G")
	d.press("pgdown")
	if n := len(d.a.unit.reads); n != 2*pageSize && n != 3*pageSize {
		t.Errorf("%d reads are at hand", n)
	}
	on := d.a.unit.reads[d.a.unit.at].seq
	d.outside(func() {
		reads := k.unitRead[fileUnit("docs")]
		next := reads[len(reads)-1]
		next.Seq++
		k.unitRead[fileUnit("docs")] = append(reads, next)
	})
	if got := d.a.unit.reads[d.a.unit.at].seq; got != on || len(d.a.unit.reads)%pageSize != 1 {
		t.Errorf("the cursor is on read %d, want %d, of %d", got, on, len(d.a.unit.reads))
	}
	for step := 1; step <= 9; step++ {
		k.script = append(k.script, core.TranscriptEntry{Kind: core.TranscriptText, Turn: 1, Step: step, Text: fmt.Sprint("said at ", step)})
	}
	d.press("enter") // the step that read it
	if d.a.top().place() != atStep {
		t.Errorf("enter leads to %s", d.a.top().place())
	}
	read := d.a.step.step
	d.shows(fmt.Sprint("said at ", read))
	d.press("]") // of the session that read it, whatever transcript was open before
	d.shows(fmt.Sprint("said at ", read+1))
	d.press("[", "[")
	d.shows(fmt.Sprint("said at ", read-1))
	d.press("esc")
	if d.a.top().place() != atUnit {
		t.Errorf("esc leads back to %s", d.a.top().place())
	}
}

// TestObservationsDrawWhatIsInSight: ten thousand units cost no more than those on the screen.
func TestObservationsDrawWhatIsInSight(t *testing.T) {
	k := newFake()
	for i := range core.ObservedLimit + 5 {
		k.sees("s", 1, fileUnit(fmt.Sprint("unit-", i)), 0)
	}
	d := newDriver(t, k, 120, 40)
	d.press("3")
	d.shows("newest 10,000 of 10,005")
	before := d.a.observed.drawn
	d.press("G")
	if n := d.a.observed.drawn - before; n > 3*40 {
		t.Errorf("%d rows were drawn for one key", n)
	}
	d.shows("unit-5 ")
}

// TestT26_NamesOfUnits: what services call their units does no harm, on the screen and on the clipboard.
func TestT26_NamesOfUnits(t *testing.T) {
	for i, text := range hostile(t) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			k := newFake()
			k.sees(text, 1, core.Unit{Gatekeeper: text, Service: text, Name: text}, 2, func(o *core.ObservedUnit) {
				o.Found.Labels, o.Found.Permission = []string{text}, text
			})
			for unit := range k.unitRead {
				k.unitRead[unit][0].Args, k.unitRead[unit][1].Subject, k.unitRead[unit][1].Why = text, text, text
			}
			for _, size := range sizes() {
				d := newDriver(t, k, size[0], size[1], func(o *Options) { o.Theme = ThemeDefault })
				for _, key := range []string{"3", "y", "o", "/", "esc", "enter", "J", "j", "y", "?"} {
					d.press(key)
					d.intact()
					for _, bad := range []string{"\x1b]", "\x1b[2J", "\x07", "\u202e", "\u009b", "\x1bP", "\r", "\t"} {
						if strings.Contains(d.a.View(), bad) || strings.Contains(strings.Join(d.copied, ""), bad) {
							t.Fatalf("after %s there is %q:\n%q", key, bad, d.a.View())
						}
					}
				}
			}
		})
	}
}

func TestCopyTheIDOfAUnit(t *testing.T) {
	d := newDriver(t, site(), 80, 24)
	d.press("3", "G", "y")
	d.shows("was sent to the clipboard")
	if want := []string{fileUnit("img").String()}; !slices.Equal(d.copied, want) {
		t.Errorf("copied %q, want %q", d.copied, want)
	}
	d.press("3", "g")
	d.k.observed, d.a.observed.rows = nil, nil
	d.press("y")
	d.shows("there is no unit")
}

// TestObservationsInATerminal opens the screen in a terminal emulator, by keys.
func TestObservationsInATerminal(t *testing.T) {
	e := newEmulator(t, 120, 40)
	press, ended := e.run(t, Options{Kernel: site()})
	e.waitFor(t, "Needs you")
	press("3")
	e.waitFor(t, "Observations · all sessions", "invoices", "owner-only")
	press("/inv\r")
	e.waitFor(t, "/ inv", "1 of 4 units")
	press("\r")
	e.waitFor(t, "sql · billing.example · invoices", "Reads behind it", "SITE.read")
	press("\x1b")
	e.waitFor(t, "1 of 4 units")
	press("q")
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}
