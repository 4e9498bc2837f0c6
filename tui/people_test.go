package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/share"
	"gatehouse/tui/term"
)

// together drives screens over a store with people, and a policy.
func together(t testing.TB, w, h int) *driver {
	return newDriver(t, company(), w, h, func(o *Options) { o.Policy, o.Runner = ruled(), &fakeRunner{} })
}

func (c fakeCompany) nothingChanged(t testing.TB) {
	t.Helper()
	if len(c.given)+len(c.gone) > 0 {
		t.Fatalf("changed something: gave %+v, took %q", c.given, c.gone)
	}
}

func TestPeopleShowsWhoIsKnown(t *testing.T) {
	d := together(t, 200, 50)
	d.press("&")
	d.shows("bob", "harbour", "files = bob", share.Fingerprint(d.k.company.people[0]), "carol", "no keys", "3 people")
	d.press("enter")
	d.shows("People · bob", "team-drive = bob@harbour.example", "by alice", "site-refresh", "build + decide", "alice gave build + decide, 2026-03-02")
	d.press("esc", "G", "enter")
	d.shows("People · dora", "nothing now", "erin gave view") // what they were given counts for nothing now
	d.press("esc", "k", "enter")
	d.shows("People · carol", "none: roles in this store", "gatehouse people map carol", "has a role in no session")
}

// TestK18_PeopleOfHiddenSessions: a session that the person has no role in shows nowhere.
func TestK18_PeopleOfHiddenSessions(t *testing.T) {
	k := company()
	k.sessions[1].PeopleVersion = 4 // and no members are told of
	d := newDriver(t, k, 120, 40)
	d.press("&", "enter")
	d.shows("1 session")
	d.hides("billing-cleanup")
}

func TestGrantSaysWhatItMeans(t *testing.T) {
	d := together(t, 120, 40)
	d.press("&", "+")
	d.shows("A role for bob: in which session?", "site-refresh", "latched: its owner's alone")
	d.press("enter")
	d.shows("which role?", "build + decide")
	d.press("enter")
	d.shows("Give bob a role in site-refresh?", "it reads only what all of these may read", "others there", "alice", "they may now", "build + decide", "[ Cancel ]", "Give view")
	d.hides("dora") // what she was given counts for nothing
	d.k.company.nothingChanged(t)
	d.press("tab", "enter")
	if got := d.k.company.given; len(got) != 1 || got[0].Person != "bob" || got[0].Session != "s-site-refresh" || got[0].Role != core.RoleView || got[0].Decides {
		t.Fatalf("gave %+v", got)
	}
	d.shows("bob has view in site-refresh from you")
}

func TestGrantFromSessions(t *testing.T) {
	d := together(t, 120, 40)
	d.press("2", "+")
	d.shows("A role in site-refresh: for whom?", "carol")
	d.typeText("carol")
	d.press("enter")
	d.typeText("build decide")
	d.press("enter")
	d.shows("Give carol a role in site-refresh?", "they approve and reject")
	d.press("tab", "enter")
	if got := d.k.company.given; len(got) != 1 || got[0].Person != "carol" || got[0].Role != core.RoleBuild || !got[0].Decides {
		t.Fatalf("gave %+v", got)
	}
}

// TestK26_GrantInALatchedSessionSaysWhyNot: it names the read, and what to do instead.
func TestK26_GrantInALatchedSessionSaysWhyNot(t *testing.T) {
	d := together(t, 80, 24)
	d.press("2", "j", "+", "enter", "enter")
	d.shows("billing-cleanup: nothing was changed", "MAIL.list in turn 3", "gatehouse session fork", "s-billing-cleanup --at 2", "[ Cancel ]")
	d.press("tab", "enter")
	d.k.company.nothingChanged(t)
}

// TestT3_NoReflexGivesARole, nor takes one.
func TestT3_NoReflexGivesARole(t *testing.T) {
	for _, key := range []string{"enter", "esc", "y", "a", "space", "A", "c", "D", "+"} {
		t.Run(key, func(t *testing.T) {
			d := together(t, 120, 40)
			d.press("&", "+", "enter", "enter")
			d.shows("[ Cancel ]")
			d.press(key)
			d.k.company.nothingChanged(t)
			d = together(t, 120, 40)
			d.press("&", "enter", "D")
			d.shows("[ Cancel ]")
			d.press(key)
			d.k.company.nothingChanged(t)
		})
	}
	d := together(t, 120, 40)
	d.press("&", "+", "enter", "enter")
	d.send(term.PasteMsg{Text: "\t\n"})
	d.k.company.nothingChanged(t)
}

// TestT4_KeysWhileARoleIsProposed are dropped.
func TestT4_KeysWhileARoleIsProposed(t *testing.T) {
	d := together(t, 120, 40)
	d.press("&", "+", "enter")
	d.advance(dialogDropFor)
	d.tap("enter") // opens the proposal
	d.tap("tab")
	d.tap("enter")
	d.shows("[ Cancel ]", "the agent")
	d.k.company.nothingChanged(t)
}

// TestT5_RevokeHoldsWhomItAskedAbout, whatever changes below.
func TestT5_RevokeHoldsWhomItAskedAbout(t *testing.T) {
	d := together(t, 120, 40)
	d.press("&", "enter", "D")
	d.shows("Take bob out of site-refresh?", "What they saw they can keep a copy of")
	d.outside(func() { d.k.company.people = d.k.company.people[2:] })
	d.press("tab", "enter")
	if got := d.k.company.gone; len(got) != 1 || got[0] != "s-site-refresh bob" {
		t.Fatalf("took %q", got)
	}
	d.shows("bob is out of site-refresh")
}

func TestRoleRefusedInFull(t *testing.T) {
	d := together(t, 80, 24)
	d.k.company.refuse = errors.New("session s-site-refresh: alice cannot give view, which is more than their own role")
	d.press("&", "+", "enter", "enter", "tab", "enter")
	d.shows("site-refresh: nothing was changed", "which is more than their own")
}

// TestPeopleDropStaleAnswers: an older read does not take the place of a newer.
func TestPeopleDropStaleAnswers(t *testing.T) {
	d := together(t, 120, 40)
	d.hold = true
	d.press("&")
	held := d.held
	d.held, d.hold = nil, false
	d.k.company.people = d.k.company.people[:1]
	d.press("r")
	d.shows("1 person")
	d.k.company.people = nil
	for _, cmd := range held {
		d.do(cmd)
	}
	d.shows("bob", "1 person")
}

// TestPeopleDropStaleProposals: what is proposed is what was asked for last.
func TestPeopleDropStaleProposals(t *testing.T) {
	d := together(t, 120, 40)
	d.press("&", "+", "enter")
	d.hold = true
	d.press("enter")
	held := d.held
	d.held, d.hold = nil, false
	d.press("j", "+", "enter", "enter")
	d.shows("Give carol a role")
	for _, cmd := range held {
		d.do(cmd)
	}
	d.shows("Give carol a role")
}

// TestT26_HostilePeople: names, tenants and accounts are text.
func TestT26_HostilePeople(t *testing.T) {
	for i, name := range hostile(t) {
		k := company()
		k.company.people = append(k.company.people, core.Person{
			ID: core.PersonID(name), Tenant: name, AddedBy: core.PersonID(name), AddedAt: start, Accounts: []core.Account{{Kind: name, Name: name}},
		})
		k.sessions[0].Name = name
		k.company.members["s-site-refresh"] = append(k.company.members["s-site-refresh"], core.Member{
			Person: core.PersonID(name), Rights: core.Rights{Role: core.RoleView}, From: []core.RoleGrant{{Giver: core.PersonID(name), Role: core.Role(name)}},
		})
		for _, size := range sizes() {
			d := newDriver(t, k, size[0], size[1], func(o *Options) { o.Policy = ruled() })
			for _, key := range []string{"&", "G", "enter", "D", "esc", "+", "enter", "enter"} {
				d.press(key)
				d.intact()
				if strings.Contains(d.a.View(), "\x1b]52") || strings.Contains(d.a.View(), "\x1b[2J") {
					t.Fatalf("text %d is obeyed", i)
				}
			}
		}
	}
}

func peoplePlaces() map[string][]string {
	return map[string][]string{
		"people": {"&"}, "person": {"&", "enter"}, "person-keyless": {"&", "j", "enter"}, "revoke": {"&", "enter", "D"},
		"grant-session": {"&", "+"}, "grant-role": {"&", "+", "enter"}, "grant": {"&", "+", "enter", "enter"},
		"grant-latched": {"2", "j", "+", "enter", "enter"},
		"policy":        {"%"}, "policy-rule": {"%", "j", "j"}, "policy-try": {"%", "]"}, "policy-left": {"%", "["}, "policy-sink": {"%", "]", "enter"}, "policy-host": {"%", "]", "j", "enter"},
		"policy-session": {"%", "]", "j", "j", "j", "enter", "down", "enter"},
	}
}

func TestT25_ResizePeopleAndPolicy(t *testing.T) {
	for name, keys := range peoplePlaces() {
		t.Run(name, func(t *testing.T) {
			d := together(t, 200, 50)
			d.press(keys...)
			d.resizes()
		})
	}
}

// TestGoldenPeople holds people and policy at the four sizes.
func TestGoldenPeople(t *testing.T) {
	states := map[string]func(t *testing.T, w, h int) *driver{}
	for name, key := range map[string]string{"people": "&", "policy": "%"} {
		states[name+"-empty"] = func(t *testing.T, w, h int) *driver {
			d := newDriver(t, newFake(), w, h, func(o *Options) { o.Policy = &fakePolicy{} })
			d.press(key)
			if name == "policy" {
				d.press("[")
			}
			return d
		}
		states[name+"-loading"] = func(t *testing.T, w, h int) *driver {
			d := together(t, w, h)
			d.hold = true
			d.press(key)
			d.a.people.slow = true
			d.send(resizedMsg{})
			return d
		}
		states[name+"-error"] = func(t *testing.T, w, h int) *driver {
			d := together(t, w, h)
			d.k.broken = errors.New("gatehouse.db: the disk does not answer")
			d.press(key)
			return d
		}
	}
	for name, keys := range peoplePlaces() {
		states[name] = func(t *testing.T, w, h int) *driver {
			d := together(t, w, h)
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

// TestPeopleAreBounded: what is drawn is what is in sight.
func TestPeopleAreBounded(t *testing.T) {
	k := company()
	for i := range 5000 {
		k.company.people = append(k.company.people, core.Person{ID: core.PersonID(fmt.Sprintf("p%04d", i)), AddedAt: start.Add(time.Duration(i))})
	}
	d := newDriver(t, k, 80, 24)
	d.press("&", "G")
	d.shows("p4999")
	d.intact()
}
