package egress_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/egress"
)

func rule(name, when string, decide core.EgressDecision) egress.Rule {
	return egress.Rule{Name: name, When: when, Decide: decide}
}

func policy(t testing.TB, rules ...egress.Rule) *egress.Policy {
	t.Helper()
	p, err := egress.New(rules)
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func fetch(host string) core.EgressRequest {
	return core.EgressRequest{
		Sink: core.SinkFetch, Session: "s1", Caller: core.Caller{Kind: core.CallerAgent}, Destination: host, Host: host, Bytes: 30,
	}
}

func want(t *testing.T, p *egress.Policy, r core.EgressRequest, decision core.EgressDecision, name string) {
	t.Helper()
	if got := p.Decide(t.Context(), r); got.Decision != decision || got.Rule != name {
		t.Errorf("%s to %q: got %s by %q (%s), want %s by %q", r.Sink, r.Host, got.Decision, got.Rule, got.Why, decision, name)
	}
}

// permutations calls f with every order of rules.
func permutations(rules []egress.Rule, f func([]egress.Rule)) {
	var walk func(n int)
	walk = func(n int) {
		if n == len(rules) {
			f(rules)
			return
		}
		for i := n; i < len(rules); i++ {
			rules[n], rules[i] = rules[i], rules[n]
			walk(n + 1)
			rules[n], rules[i] = rules[i], rules[n]
		}
	}
	walk(0)
}

// TestX18_TheOrderOfRulesDecidesNothing takes all 40,320 orders of conditions that were read once, for reading is what
// costs, and reads a few orders whole.
func TestX18_TheOrderOfRulesDecidesNothing(t *testing.T) {
	rules := []egress.Rule{
		rule("a", `sink.host == "one.example"`, core.EgressAllow), rule("b", `sink.host.endsWith(".example")`, core.EgressAsk),
		rule("c", `"payroll" in labels`, core.EgressDeny), rule("d", `payload.bytes > 1000`, core.EgressDeny),
		rule("e", `sink.kind == "fetch"`, core.EgressAllow), rule("f", `units.exists(u, u.startsWith("files:"))`, core.EgressAsk),
		rule("g", `payload.bytes / (payload.bytes - 30) > 2`, core.EgressAllow), rule("h", `payload.bytes > 999`, core.EgressDeny),
	}
	requests := []core.EgressRequest{fetch("one.example"), fetch("two.example"), fetch("one.example")}
	requests[0].Bytes, requests[0].Units = 40, []core.Unit{{Gatekeeper: "files", Service: "local", Name: "x"}}
	requests[1].Bytes = 2000 // d and h both deny: one of them is named, always the same
	// The third divides by zero, which is a deny.

	decide := egress.Orders(t, rules)
	var first []core.EgressVerdict
	orders := 0
	permutations(slices.Clone(rules), func(order []egress.Rule) {
		orders++
		for i, r := range requests {
			got := decide(order, r)
			if len(first) < len(requests) {
				first = append(first, got)
			} else if got != first[i] {
				t.Fatalf("request %d: got %+v in order %v, want %+v", i, got, names(order), first[i])
			}
		}
	})
	if orders != 40320 {
		t.Errorf("got %d orders, want all of 8 rules", orders)
	}
	for i, decision := range []core.EgressDecision{core.EgressAsk, core.EgressDeny, core.EgressDeny} {
		if first[i].Decision != decision {
			t.Errorf("request %d: got %+v, want %s", i, first[i], decision)
		}
		slices.Reverse(rules)
		if got := policy(t, rules...).Decide(t.Context(), requests[i]); got != first[i] {
			t.Errorf("request %d: got %+v of a policy that was read, want %+v", i, got, first[i])
		}
	}
}

func names(rules []egress.Rule) string {
	var out []string
	for _, r := range rules {
		out = append(out, r.Name)
	}
	return strings.Join(out, " ")
}

func TestX19_AFaultyRuleIsRefusedWithItsPlace(t *testing.T) {
	for _, c := range []struct {
		when         string
		line, column int
		words        string
	}{
		{`sink.hots == "x"`, 1, 5, "undeclared reference"},
		{`hots`, 1, 1, "undeclared reference"},
		{"sink.kind == \"fetch\" &&\n  payload.bytes == \"many\"", 2, 17, "no matching overload"},
		{`sink.host`, 1, 1, "is no condition"},
		{`payload.bytes + 1`, 1, 1, "is no condition"},
		{`sink.kind == "fetch`, 1, 14, "Syntax error"},
		{`sink.local == 1`, 1, 12, "no matching overload"},
		{`session.owner == "x"`, 1, 1, "undeclared reference"},
	} {
		p, err := egress.New([]egress.Rule{rule("good", `sink.local`, core.EgressAllow), rule("bad", c.when, core.EgressDeny)})
		if err != nil {
			t.Fatal(err)
		}
		var fault *egress.RuleError
		if err := p.Check(); !errors.As(err, &fault) {
			t.Errorf("%q: got %v, want it refused", c.when, err)
			continue
		}
		if fault.Rule != "bad" || fault.Line != c.line || fault.Column != c.column || !strings.Contains(fault.Text, c.words) {
			t.Errorf("%q: got %+v, want line %d column %d %q", c.when, fault, c.line, c.column, c.words)
		}
		if strings.ContainsAny(fault.Error(), "\n\t") {
			t.Errorf("%q: more than one line: %q", c.when, fault.Error())
		}
		// Nobody is let out over a policy that was never checked.
		if got := p.Decide(t.Context(), fetch("x.example")); got.Decision != core.EgressDeny {
			t.Errorf("%q: got %+v of a policy that cannot be read", c.when, got)
		}
	}
}

func TestPolicy_NamesAndDecisions(t *testing.T) {
	for _, c := range []struct {
		rules []egress.Rule
		words string
	}{
		{[]egress.Rule{rule(" ", "", core.EgressDeny)}, "has no name"},
		{[]egress.Rule{rule("a", "", core.EgressDeny), rule("a", "", core.EgressAllow)}, "stands twice"},
		{[]egress.Rule{rule("labelled value", "", core.EgressAllow)}, "shipped rule"},
		{[]egress.Rule{rule("latched: no fetch", "", core.EgressAllow)}, "shipped rule"},
		{[]egress.Rule{rule("a", "", "")}, "use allow, ask or deny"},
		{[]egress.Rule{rule("a", "", "maybe")}, "use allow, ask or deny"},
		{[]egress.Rule{rule("a\nb", "", core.EgressDeny)}, "one line"},
	} {
		if _, err := egress.New(c.rules); err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%v: got %v, want %q", c.rules, err, c.words)
		}
	}
}

func TestE2_AnErrorInAConditionIsDeny(t *testing.T) {
	p := policy(t, rule("let all out", "", core.EgressAllow), rule("odd", `100 / payload.bytes > 1`, core.EgressAllow))
	empty := fetch("x.example")
	empty.Bytes = 0
	got := p.Decide(t.Context(), empty)
	if got.Decision != core.EgressDeny || got.Rule != "odd" || !strings.Contains(got.Why, "cannot be told") {
		t.Errorf("got %+v, want a deny that says why", got)
	}
	want(t, p, fetch("x.example"), core.EgressAllow, "let all out")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	slow := policy(t, rule("long", `[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, a + b + c > 0)))`, core.EgressAllow))
	if got := slow.Decide(ctx, fetch("x.example")); got.Decision != core.EgressDeny {
		t.Errorf("got %+v where nobody waits any more", got)
	}
}

func TestE3_Tiers(t *testing.T) {
	p := policy(t)
	want(t, p, fetch("a.example"), core.EgressAsk, "first fetch of a host")
	known := fetch("a.example")
	known.Known = true
	want(t, p, known, core.EgressAllow, "otherwise: allow")
	known.Matches = []string{"abcdefghijkl"}
	want(t, p, known, core.EgressAsk, "labelled value")
	model := core.EgressRequest{Sink: core.SinkModel, Host: "api.example"}
	want(t, p, model, core.EgressAllow, "otherwise: allow")
	model.Labels = []string{"payroll"}
	want(t, p, model, core.EgressAllow, "otherwise: allow")
	model.Labels = []string{"owner-only", "payroll"}
	want(t, p, model, core.EgressDeny, "owner-only: local models")
	model.Local = true
	want(t, p, model, core.EgressAllow, "otherwise: allow")
	model.Local, model.Labels, model.Latched = false, nil, true
	want(t, p, model, core.EgressDeny, "latched: local models")

	// What is configured stands over what is shipped, and under what is fixed.
	p = policy(t, rule("ours", `sink.host.endsWith("example")`, core.EgressAllow), rule("not there", `sink.host == "bad.example"`, core.EgressDeny))
	want(t, p, fetch("a.example"), core.EgressAllow, "ours")
	want(t, p, fetch("bad.example"), core.EgressDeny, "not there")
	want(t, p, fetch("a.test"), core.EgressAsk, "first fetch of a host")
	model.Host = "models.example" // the operator cleared this provider (kernel R7)
	want(t, p, model, core.EgressAllow, "ours")
	latched := fetch("a.example")
	latched.Latched = true
	want(t, p, latched, core.EgressDeny, "latched: no fetch")
}

// A local read needs nothing of its session where nothing is configured: no condition is read for it.
func TestWants_WhatStaysHereNeedsNothing(t *testing.T) {
	local := core.EgressRequest{Sink: core.SinkRead, Local: true}
	plain, err := egress.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if plain.Wants(local) {
		t.Error("a local read costs a look at its session")
	}
	want(t, plain, local, core.EgressAllow, "otherwise: allow")
	if plain.Read() {
		t.Error("conditions were read for it")
	}
	away := local
	away.Local = false
	for _, r := range []core.EgressRequest{away, fetch("x.example"), {Sink: core.SinkFetch, Local: true}, {Sink: core.SinkModel}} {
		if !plain.Wants(r) {
			t.Errorf("%s: is decided on nothing", r.Sink)
		}
	}
	p := policy(t, rule("none", `sink.kind == "read" && "payroll" in labels`, core.EgressDeny))
	if !p.Wants(local) {
		t.Error("a configured rule does not see what was read")
	}
}

// Every shipped and fixed rule is one that a local read does not meet, which Wants relies on.
func TestWants_AgreesWithTheRules(t *testing.T) {
	p := policy(t)
	for _, sink := range core.EgressSinks() {
		r := core.EgressRequest{
			Sink: sink, Local: true, Latched: true, Labels: []string{core.LabelOwnerOnly}, Matches: []string{"abcdefghijkl"},
		}
		if p.Wants(r) {
			continue
		}
		if got := p.DecideByRules(t.Context(), r); got.Decision != core.EgressAllow {
			t.Errorf("%s: got %+v of the rules, and they would not be asked", sink, got)
		}
	}
}
