package tui

import (
	"errors"
	"strings"
	"testing"

	"gatehouse/core"
)

func TestPolicyShowsEveryRule(t *testing.T) {
	d := together(t, 200, 50)
	d.press("%")
	for _, tier := range ruled().Tiers() {
		for _, r := range tier.Rules {
			name, _ := cleanLine(r.Name, 30)
			d.shows(name, r.When)
		}
	}
	d.shows("fixed: no configuration changes these", "configured:", "shipped:")
	d.press("j")
	d.shows("allow when sink.kind == \"fetch\" && sink.host == \"docs.example\"")
}

// TestPolicyWhatWouldHappenIf: the answer is that of the policy, with its rule,
// and nobody is asked anything.
func TestPolicyWhatWouldHappenIf(t *testing.T) {
	d := together(t, 120, 40)
	d.press("%", "]")
	d.shows(`ask · by rule "first fetch of a host", shipped`, `when sink.kind == "fetch" && !sink.known`)
	d.press("j", "enter")
	d.typeText("docs.example")
	d.press("enter")
	d.shows(`allow · by rule "docs", configured`)
	d.press("j", "j", "j", "j", "enter") // latched: the fixed tier stands over the others
	d.shows(`deny · by rule "latched: no fetch", fixed`)
	d.press("g", "enter")
	d.typeText("model")
	d.press("down", "enter")
	d.shows(`deny · by rule "latched: local models", shipped`)
	d.press("j", "j", "enter") // it stays here
	d.shows("allow · no rule holds")
	if len(d.k.log) != len(leaving()) {
		t.Fatal("the record grew")
	}
}

func TestPolicyFillsInASession(t *testing.T) {
	d := together(t, 120, 40)
	d.press("%", "]", "j", "j", "j", "enter")
	d.shows("In which session?", "none", "billing-cleanup")
	d.press("down", "enter")
	d.shows(`deny · by rule "latched: no fetch", fixed`, "as the session says", "1 unit", "payroll")
	d.press("j", "j", "enter")
	d.shows("the session says that")
	d.press("G", "enter")
	d.typeText("the salary is 1234567890123")
	d.press("enter")
	p := d.a.policy.policy.(*fakePolicy)
	last := len(p.asked) - 1
	if r := p.asked[last]; r.Session != "s-site-refresh" || r.Matches != nil || len(p.sends[last]) != 1 || r.Caller.Kind != core.CallerAgent {
		t.Fatalf("asked %+v, sending %q", r, p.sends[last])
	}
}

func TestPolicyFaultIsShownWhole(t *testing.T) {
	d := together(t, 120, 40)
	d.a.policy.policy.(*fakePolicy).broken = errors.New("session s-site-refresh: does not exist")
	d.press("%", "]")
	d.shows("⇒ session s-site-refresh: does not exist")
}

// TestPolicyDropsStaleAnswers: the answer is to what is on the screen.
func TestPolicyDropsStaleAnswers(t *testing.T) {
	d := together(t, 120, 40)
	d.press("%", "]", "j", "j")
	d.hold = true
	d.press("enter")
	held := d.held
	d.held, d.hold = nil, false
	d.press("G", "k", "k", "k", "enter") // latched
	d.shows("deny · by rule")
	d.a.policy.policy.(*fakePolicy).rules = nil
	for _, cmd := range held {
		d.do(cmd)
	}
	d.shows("deny · by rule")
}

func TestPolicyLeftLeadsToWhy(t *testing.T) {
	d := together(t, 120, 40)
	d.press("%", "[")
	d.shows("What left", "deny", "model api.example", "owner-only: local models", "fetch docs.example")
	d.press("j", "enter")
	if d.a.stack[0] != view(d.a.record) || d.a.record.shows != recordChain {
		t.Fatalf("not at the chain:\n%s", d.frame())
	}
	if r, _ := d.a.record.current(); r.seq != 2 {
		t.Fatalf("the chain is of row %d", r.seq)
	}
}

func TestNoPolicyToLookAt(t *testing.T) {
	d := newDriver(t, site(), 80, 24)
	d.press("%")
	d.shows("there is no policy to look at here")
}

func TestPolicyByPalette(t *testing.T) {
	for word, want := range map[string]string{"people": "People", "policy": "Policy over what leaves"} {
		d := together(t, 120, 40)
		d.press(":")
		d.typeText(word)
		d.press("enter")
		if !strings.Contains(d.frame(), want) {
			t.Fatalf("%s does not lead there:\n%s", word, d.frame())
		}
	}
}
