package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/share"
	"gatehouse/tui/term"
)

// fakeSharer shares in memory.
type fakeSharer struct {
	lines    []core.OpenLine
	after    core.AccessCheck // of a line that is asked about again
	refuse   error            // of what begins
	packs    []ShareRequest
	packErr  func(ShareRequest) error
	lets     error // of Write
	written  int
	began    []string
	releases int
	again    []int
	closed   int
	odd      string // stands in every text
}

type fakeOpening struct{ s *fakeSharer }

func (o *fakeOpening) Lines() []core.OpenLine { return slices.Clone(o.s.lines) }

func (o *fakeOpening) Again(_ context.Context, line int) error {
	o.s.again = append(o.s.again, line)
	o.s.lines[line].Check = o.s.after
	return nil
}

func (o *fakeOpening) Release(context.Context) (core.Session, error) {
	o.s.releases++
	for _, l := range o.s.lines {
		if !l.Check.Passed() {
			return core.Session{}, &core.OpenDeniedError{Lines: o.Lines()}
		}
	}
	return core.Session{ID: "s-site-refresh", Name: "site from bob"}, nil
}

func (o *fakeOpening) Close() error {
	o.s.closed++
	return nil
}

func (s *fakeSharer) Open(_ context.Context, session string, person core.PersonID) (Opening, error) {
	s.began = append(s.began, session+" "+string(person))
	if s.refuse != nil {
		return nil, s.refuse
	}
	return &fakeOpening{s}, nil
}

func (s *fakeSharer) OpenFile(_ context.Context, path string) (Opening, error) {
	s.began = append(s.began, path)
	if s.refuse != nil {
		return nil, s.refuse
	}
	return &fakeOpening{s}, nil
}

func (s *fakeSharer) Pack(_ context.Context, r ShareRequest) (Parcel, error) {
	s.packs = append(s.packs, r)
	if s.packErr != nil {
		if err := s.packErr(r); err != nil {
			return Parcel{}, err
		}
	}
	unit := core.Unit{Gatekeeper: "files", Service: "local:quay", Name: "docs" + s.odd}
	p := Parcel{
		Level: r.Level, Until: 2, Units: []core.Unit{unit}, Path: "/srv/out/" + r.Path,
		Counts: share.Counts{Turns: 2, Messages: 3, Steps: 4, Answers: 5, Holes: 1, Proposals: 1, Bytes: 12345},
		Write: func(context.Context) error {
			s.written++
			return s.lets
		},
	}
	for _, id := range r.For {
		p.People = append(p.People, core.Person{ID: id, Signing: "ed25519:x", Sealing: "age1x"})
		p.Lines = append(p.Lines, core.ExportLine{Person: id, Unit: unit, Check: core.AccessCheck{Access: core.AccessPassed}})
	}
	if r.Redact {
		p.Findings = []share.Finding{{Place: "turn 1, step 2" + s.odd, Kind: "token of GitHub", Count: 2}}
	}
	return p, nil
}

func lines(odd string) []core.OpenLine {
	return []core.OpenLine{
		{Name: "files local:quay docs" + odd, Connection: "c1", Check: core.AccessCheck{Access: core.AccessPassed}},
		{Name: "files team-drive plans" + odd, Check: core.AccessCheck{Access: core.AccessNotVerifiable, Reason: "no connection of yours to files team-drive; make one with gatehouse connect" + odd}},
		{Name: "a private source", Check: core.AccessCheck{Access: core.AccessDenied, Reason: "the service says no"}},
	}
}

func sharer(t testing.TB, w, h int) (*driver, *fakeSharer) {
	s := &fakeSharer{lines: lines(""), after: core.AccessCheck{Access: core.AccessPassed}}
	d := newDriver(t, company(), w, h, func(o *Options) { o.Policy, o.Runner, o.Sharer = ruled(), &fakeRunner{}, s })
	return d, s
}

// toParcel goes through the dialogs of a file for bob and dora.
func (d *driver) toParcel() {
	d.press("2", "E", "enter", "down", "down", "enter", "enter", "down", "enter", "enter")
	d.typeText("site.gatehouse")
	d.press("enter")
}

func TestShareShowsWhatLeavesBeforeItIsWritten(t *testing.T) {
	d, s := sharer(t, 200, 50)
	d.press("2", "E")
	d.shows("Share site-refresh: with whom?", "bob", "no key", "nobody: an archive")
	d.press("enter")
	d.shows("that is all", "for bob")
	d.press("down", "down", "enter", "enter")
	d.shows("how much?", "replay", "sealed")
	d.press("down", "enter")
	d.shows("up to which turn?")
	d.typeText("none")
	d.press("enter")
	d.shows("give the number of a turn")
	d.typeText("2")
	d.press("enter")
	d.typeText("site.gatehouse")
	d.press("enter")
	d.shows("Write site-refresh as sealed?", "[ Cancel ]", "/srv/out/site.gatehouse", "12,345 bytes", "3 messages", "✓ passes", "bob: files", "dora: files",
		"nothing that leaves looks like one", share.Promise, core.LevelSealed.Says()[:60], share.Fingerprint(core.Person{Signing: "ed25519:x", Sealing: "age1x"}))
	if s.written != 0 {
		t.Fatal("written before it was shown")
	}
	d.press("tab", "enter")
	if s.written != 1 || !slices.Equal(s.packs[0].For, []core.PersonID{"bob", "dora"}) || s.packs[0].Level != core.LevelSealed || s.packs[0].Until != 2 {
		t.Fatalf("written %d times, of %+v", s.written, s.packs)
	}
	d.shows("written to /srv/out/site.gatehouse")
}

func TestShareWithSomebodyWithoutAKey(t *testing.T) {
	d, s := sharer(t, 80, 24)
	d.press("2", "E", "down", "enter")
	d.shows("carol has no key")
	if len(s.packs) != 0 {
		t.Fatal("went on")
	}
}

// TestT3_NoReflexWritesAFile, nor opens one.
func TestT3_NoReflexWritesAFile(t *testing.T) {
	for _, key := range []string{"enter", "esc", "y", "a", "space", "A", "c", "E", "O"} {
		d, s := sharer(t, 120, 40)
		d.toParcel()
		d.shows("[ Cancel ]")
		d.press(key)
		if s.written != 0 {
			t.Fatalf("%s wrote the file", key)
		}
		d, s = sharer(t, 120, 40)
		d.press("&", "enter", "enter", "O")
		d.shows("[ Cancel ]")
		d.press(key)
		if s.releases != 0 {
			t.Fatalf("%s opened it", key)
		}
	}
	d, s := sharer(t, 120, 40)
	d.toParcel()
	d.send(term.PasteMsg{Text: "\t\n"})
	if s.written != 0 {
		t.Fatal("a paste wrote the file")
	}
}

// TestT4_KeysWhileAFileIsProposed are dropped.
func TestT4_KeysWhileAFileIsProposed(t *testing.T) {
	d, s := sharer(t, 120, 40)
	d.press("2", "E", "enter", "enter", "enter", "enter")
	d.typeText("site.gatehouse")
	d.tap("enter")
	d.tap("tab")
	d.tap("enter")
	d.shows("[ Cancel ]", "Write the file")
	if s.written != 0 {
		t.Fatal("written")
	}
}

// TestX1_DeniedNamesUnitAndPerson, and offers a replay.
func TestX1_DeniedNamesUnitAndPerson(t *testing.T) {
	d, s := sharer(t, 120, 40)
	s.packErr = func(r ShareRequest) error {
		if r.Level != core.LevelSealed {
			return nil
		}
		return &core.ExportDeniedError{
			Session: r.Session, Level: r.Level, Offers: []core.ShareLevel{core.LevelReplay, core.LevelBlueprint},
			Lines: []core.ExportLine{
				{Person: "bob", Unit: core.Unit{Gatekeeper: "files", Service: "payroll.example", Name: "march"}, Check: core.AccessCheck{Access: core.AccessDenied, Reason: "not a reader"}},
				{Person: "dora", Unit: core.Unit{Gatekeeper: "mail", Service: "mail.example", Name: "inbox"}, Check: core.AccessCheck{Access: core.AccessNotVerifiable}},
			},
		}
	}
	d.toParcel()
	d.shows("Not sealed for all of them", "✗ will fail", "bob: files", "march", "not a reader", "? cannot tell", "dora: mail", "instead", "blueprint", "a prefix", "[ Cancel ]", "Look at a replay")
	d.press("tab", "enter")
	d.shows("Write site-refresh as replay?", "[ Cancel ]")
	if s.written != 0 {
		t.Fatal("written")
	}
}

func TestShareSecretsAreListedAndTakenOut(t *testing.T) {
	d, s := sharer(t, 120, 40)
	s.packErr = func(r ShareRequest) error {
		if r.Redact {
			return nil
		}
		return &share.SecretsError{Findings: []share.Finding{{Place: "turn 1, step 2", Kind: "token of GitHub", Count: 2}}}
	}
	d.toParcel()
	d.shows("holds what looks like secrets", "token of GitHub, 2 times: turn 1, step 2", "[ Cancel ]", "Look without them")
	d.press("tab", "enter")
	d.shows("Write site-refresh as sealed?", "taken out", "turn 1, step 2", "[ Cancel ]")
}

func TestShareFaultsAreShownWhole(t *testing.T) {
	d, s := sharer(t, 80, 24)
	s.lets = errors.New("share: what was checked is older than two minutes; begin again")
	d.toParcel()
	d.press("G", "tab", "enter")
	d.shows("nothing was changed", "older than two minutes; begin again")
	d.press("esc")
	s.packErr = func(ShareRequest) error {
		return &core.LatchedError{Latch: core.Latch{Session: "s-site-refresh", Turn: 3, Read: "MAIL.list"}, What: "share sealed"}
	}
	d.toParcel()
	d.shows("MAIL.list in turn", "gatehouse session fork")
}

// TestShareDropsStaleParcels: what is proposed is what was asked for last.
func TestShareDropsStaleParcels(t *testing.T) {
	d, _ := sharer(t, 120, 40)
	d.press("2", "E", "enter", "enter", "enter", "enter")
	d.typeText("old.gatehouse")
	d.hold = true
	d.press("enter")
	held := d.held
	d.held, d.hold = nil, false
	d.toParcel()
	for _, cmd := range held {
		d.do(cmd)
	}
	d.shows("Write site-refresh as sealed?", "/srv/out/site.gatehouse")
}

// TestT5_AFileIsOfTheSessionItWasAskedFor, whatever the list shows by then.
func TestT5_AFileIsOfTheSessionItWasAskedFor(t *testing.T) {
	d, s := sharer(t, 120, 40)
	d.press("2", "E")
	d.outside(func() { slices.Reverse(d.k.sessions) })
	d.press("enter", "enter", "enter", "enter")
	d.typeText("x.gatehouse")
	d.press("enter")
	if len(s.packs) != 1 || s.packs[0].Session != "s-site-refresh" {
		t.Fatalf("packed %+v", s.packs)
	}
}

// TestK17_OneLineIsRunAgain, after something was connected.
func TestK17_OneLineIsRunAgain(t *testing.T) {
	d, s := sharer(t, 120, 40)
	d.press("&", "enter", "enter")
	d.shows("bob opens site-refresh", "1 of 3 pass, 1 fail, 1 cannot be told", "✓ passes", "? cannot tell", "✗ will fail", "the service says no")
	d.press("j", "enter")
	if !slices.Equal(s.again, []int{1}) {
		t.Fatalf("asked again about %v", s.again)
	}
	d.shows("2 of 3 pass, 1 fail")
	d.press("O", "tab", "enter")
	d.shows("not opened: 2 of 3 pass")
	d.press("j", "enter", "O", "tab", "enter")
	d.shows("they would be let in")
	d.press("esc")
	d.shows("People · bob")
	if s.closed != 1 {
		t.Fatalf("closed %d times", s.closed)
	}
}

func TestOpenAFile(t *testing.T) {
	d, s := sharer(t, 120, 40)
	s.lines = s.lines[:1]
	d.press("2", "O")
	d.typeText("~/site.gatehouse")
	d.press("enter")
	d.shows("~/site.gatehouse", "1 of 1 pass")
	d.press("O")
	d.shows("somebody else's words", "[ Cancel ]")
	d.press("tab", "enter")
	d.shows("Transcript · site from bob", "opened, to be looked at")
	if s.closed != 1 {
		t.Fatalf("closed %d times", s.closed)
	}
	s.refuse = &core.FileRefusedError{File: "0123456789", Reason: "was taken back by its sender"}
	d.press("2", "O")
	d.typeText("b.gatehouse")
	d.press("enter")
	d.shows("was taken back by its sender", "a begins again")
	s.refuse = nil
	d.press("a")
	d.shows("1 of 1 pass")
}

// TestOpeningIsAskedOneAtATime, and an answer that comes too late is let go of.
func TestOpeningIsAskedOneAtATime(t *testing.T) {
	d, s := sharer(t, 120, 40)
	d.press("&", "enter", "enter", "j")
	d.hold = true
	d.press("enter")
	held := d.held
	d.press("enter", "O", "a")
	d.shows("still asking about files team-drive plans")
	d.held, d.hold = nil, false
	d.press("esc")
	d.shows("People · bob")
	if s.closed != 0 {
		t.Fatal("closed under whoever asks")
	}
	for _, cmd := range held {
		d.do(cmd)
	}
	if s.closed != 1 || len(s.again) != 1 {
		t.Fatalf("closed %d times, asked %v", s.closed, s.again)
	}
	d.shows("People · bob")
}

func TestT26_HostileSharing(t *testing.T) {
	for i, odd := range hostile(t) {
		for _, size := range sizes() {
			d, s := sharer(t, size[0], size[1])
			s.odd, s.lines, s.after.Reason = odd, lines(odd), odd
			s.packErr = func(r ShareRequest) error {
				if r.Redact {
					return nil
				}
				return &share.SecretsError{Findings: []share.Finding{{Place: odd, Kind: odd, Count: 1}}}
			}
			d.toParcel()
			for _, key := range []string{"G", "tab", "enter", "G", "esc", "&", "enter", "enter", "j", "enter", "j", "O"} {
				d.press(key)
				d.intact()
				if strings.Contains(d.a.View(), "\x1b]52") || strings.Contains(d.a.View(), "\x1b[2J") {
					t.Fatalf("text %d is obeyed", i)
				}
			}
		}
	}
}

func sharePlaces() map[string]func(d *driver, s *fakeSharer) {
	return map[string]func(d *driver, s *fakeSharer){
		"share-people": func(d *driver, _ *fakeSharer) { d.press("2", "E", "enter") },
		"share-level":  func(d *driver, _ *fakeSharer) { d.press("2", "E", "enter", "enter") },
		"share-turn":   func(d *driver, _ *fakeSharer) { d.press("2", "E", "enter", "enter", "enter") },
		"share-file":   func(d *driver, _ *fakeSharer) { d.press("2", "E", "enter", "enter", "enter", "enter") },
		"share":        func(d *driver, _ *fakeSharer) { d.toParcel() },
		"open":         func(d *driver, _ *fakeSharer) { d.press("&", "enter", "enter", "j") },
		"open-try":     func(d *driver, _ *fakeSharer) { d.press("&", "enter", "enter", "O") },
		"open-file":    func(d *driver, _ *fakeSharer) { d.press("2", "O") },
		"open-empty": func(d *driver, s *fakeSharer) {
			s.lines = nil
			d.press("&", "enter", "enter")
		},
		"open-loading": func(d *driver, _ *fakeSharer) {
			d.press("&", "enter")
			d.hold = true
			d.press("enter")
			d.advance(time.Millisecond)
		},
		"open-error": func(d *driver, s *fakeSharer) {
			s.refuse = &core.LatchedError{Latch: core.Latch{Session: "s-site-refresh", Turn: 3, Read: "MAIL.list"}, What: "open"}
			d.press("&", "enter", "enter")
		},
		"share-denied": func(d *driver, s *fakeSharer) {
			s.packErr = func(r ShareRequest) error {
				return &core.ExportDeniedError{Session: r.Session, Level: r.Level, Offers: []core.ShareLevel{core.LevelReplay, core.LevelBlueprint}, Lines: []core.ExportLine{
					{Person: "bob", Unit: core.Unit{Gatekeeper: "files", Service: "payroll.example", Name: "march"}, Check: core.AccessCheck{Access: core.AccessDenied, Reason: "not a reader"}},
				}}
			}
			d.toParcel()
		},
	}
}

// TestT25_ResizeSharing: no panic, no overlap, the focus kept.
func TestT25_ResizeSharing(t *testing.T) {
	for name, lead := range sharePlaces() {
		t.Run(name, func(t *testing.T) {
			d, s := sharer(t, 200, 50)
			lead(d, s)
			d.resizes()
		})
	}
}

// TestGoldenSharing holds the dialogs and the report at the four sizes.
func TestGoldenSharing(t *testing.T) {
	for name, lead := range sharePlaces() {
		for _, size := range sizes() {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				d, s := sharer(t, size[0], size[1])
				lead(d, s)
				d.golden(t)
			})
		}
	}
}
