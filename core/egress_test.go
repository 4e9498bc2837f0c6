package core_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/egress"
)

const iban = "DE89370400440532013000"

// TestX16_ALabelledValueAsksAndShowsTheMatch: a value of a labelled unit, in any of the encodings, on its way to a host
// that was allowed before.
func TestX16_ALabelledValueAsksAndShowsTheMatch(t *testing.T) {
	r := newAwayRig(t)
	r.labelled("PAY", "salaries", "name, iban\nAlice Example; "+iban+"\nkey=Tr0ub4dor-and-3", "payroll")
	first := r.fetch(said(1, "f0"), "https://ok.example/")
	r.wantStatus(first, core.StatusPending)
	r.answer(first.Action(), "allow")
	r.wantStatus(r.fetch(said(1, "f1"), "https://ok.example/?q="+iban), core.StatusOK) // nothing was read yet

	r.wantStatus(r.callAs(said(1, "p"), "PAY", "list", `{}`), core.StatusOK)
	sent := r.away.sent()
	b64 := base64.StdEncoding.EncodeToString
	for i, address := range []string{
		"https://ok.example/?q=" + iban, "https://ok.example/" + strings.ToLower(iban), "https://" + iban + ".ok.example/",
		"https://ok.example/?q=" + strings.ReplaceAll(iban, "3", "%33"),
		"https://ok.example/?q=" + url.QueryEscape(b64([]byte(iban))),
		"https://ok.example/?q=" + b64([]byte("x"+iban)), "https://ok.example/?q=" + b64([]byte("xy: "+iban)),
		"https://ok.example/" + base64.RawURLEncoding.EncodeToString([]byte("???>>>"+iban)),
		"https://ok.example/" + hex.EncodeToString([]byte(iban)), "https://ok.example/a" + strings.ToUpper(hex.EncodeToString([]byte(iban))),
		"https://ok.example/?q=" + url.QueryEscape(url.QueryEscape("Alice Example")), "https://ok.example/?q=Alice+Example",
		"https://ok.example/?q=" + b64([]byte(hex.EncodeToString([]byte(iban)))), "https://ok.example/?pw=tr0ub4dor-and-3",
	} {
		out := r.fetch(said(1, fmt.Sprint("x", i)), address)
		if out.Status() != core.StatusPending || out.Code() != core.CodeAsked {
			t.Errorf("%s: got %s (%s), want a question", address, out.Status(), out.Reason())
			continue
		}
		q, err := r.kernel.Question(context.Background(), out.Action())
		r.must(err)
		if !strings.Contains(q.Text, `"`+iban+`"`) && !strings.Contains(q.Text, `"Alice Example"`) && !strings.Contains(q.Text, `"Tr0ub4dor-and-3"`) {
			t.Errorf("%s: the question does not show the match: %s", address, q.Text)
		}
		if !strings.Contains(q.Text, "The answer is remembered in this session for fetch to ") || !strings.Contains(q.Text, "these same values") {
			t.Errorf("the question does not say what is remembered: %s", q.Text)
		}
		if !strings.Contains(q.Text, "payroll") || !slices.Equal(q.Choices, []string{"allow", "deny"}) {
			t.Errorf("got question %q with choices %v", q.Text, q.Choices)
		}
	}
	body := r.callAs(said(1, "b"), "AWAY", "fetch", `{"url":"https://ok.example/","body":%q}`, `{"a":["`+`\u0044`+iban[1:]+`"]}`)
	r.wantStatus(body, core.StatusPending)
	if r.away.sent() != sent {
		t.Errorf("something left: %s", r.away.sent())
	}
	// Short values and plain words are no values, and what another unit holds has no label.
	for i, address := range []string{"https://ok.example/?q=salaries", "https://ok.example/DE8937040044"[:30], "https://ok.example/?q=Compensation"} {
		r.wantStatus(r.fetch(said(1, fmt.Sprint("y", i)), address), core.StatusOK)
	}
	for _, row := range r.rows(core.EventEgress, core.EventQuestion, core.EventAnswer) {
		if blob := strings.ToLower(string(row.Blob)); strings.Contains(blob, strings.ToLower(iban)) || strings.Contains(blob, "alice example") {
			t.Errorf("row %d holds the value: %s", row.Seq, row.Blob)
		}
	}
}

// What a person allowed for one value is not allowed for another.
func TestX16_TheAnswerIsForTheValuesThatWereShown(t *testing.T) {
	r := newAwayRig(t)
	r.labelled("PAY", "salaries", iban+"\nFR1420041010050500013M02606", "payroll")
	r.wantStatus(r.callAs(said(1, "p"), "PAY", "list", `{}`), core.StatusOK)
	one := r.fetch(said(1, "a"), "https://ok.example/"+iban)
	r.wantStatus(one, core.StatusPending)
	r.answer(one.Action(), "allow")
	r.wantStatus(r.fetch(said(1, "b"), "https://ok.example/"+iban), core.StatusOK)
	two := r.fetch(said(1, "c"), "https://ok.example/FR1420041010050500013M02606")
	r.wantStatus(two, core.StatusPending)
	r.answer(two.Action(), "deny")
	r.wantStatus(r.fetch(said(1, "d"), "https://ok.example/FR1420041010050500013M02606"), core.StatusRefused)
	r.wantStatus(r.fetch(said(1, "e"), "https://ok.example/"), core.StatusOK)
}

func TestE3a_AskIsAQuestionAndItsAnswerIsRemembered(t *testing.T) {
	r := newAwayRig(t)
	out := r.fetch(said(1, "a"), "https://one.example/x")
	r.wantStatus(out, core.StatusPending)
	again := r.fetch(said(1, "b"), "https://one.example/y")
	if again.Action() != out.Action() || out.Action() == 0 {
		t.Errorf("asked twice: questions %d and %d, want one", out.Action(), again.Action())
	}
	other := r.fetch(said(1, "c"), "https://two.example/")
	if other.Action() == out.Action() {
		t.Error("one question for two hosts")
	}
	byHand := r.call("AWAY", "fetch", `{"url":"https://one.example/"}`)
	handAgain := r.call("AWAY", "fetch", `{"url":"https://one.example/"}`)
	if byHand.Status() != core.StatusPending || byHand.Action() != handAgain.Action() {
		t.Errorf("by hand: got %s and questions %d, %d", byHand.Status(), byHand.Action(), handAgain.Action())
	}
	if r.away.sent() != "" {
		t.Fatalf("sent %s before anybody answered", r.away.sent())
	}
	r.answer(out.Action(), "allow")
	r.answer(other.Action(), "deny")
	if stored := r.fetch(said(1, "a"), "https://one.example/x"); stored.Action() != out.Action() {
		t.Errorf("the same call: got %s, want the answer that is stored (kernel R30)", stored.Status())
	}
	r.wantStatus(r.fetch(said(1, "d"), "https://one.example/x"), core.StatusOK)
	r.wantStatus(r.fetch(said(2, "d"), "https://one.example/z"), core.StatusOK)
	refused := r.fetch(said(1, "e"), "https://two.example/")
	r.wantStatus(refused, core.StatusRefused)
	if !strings.Contains(refused.Reason(), fmt.Sprintf("answered deny to question %d", other.Action())) {
		t.Errorf("got reason %q", refused.Reason())
	}
	if got := r.away.sent(); got != "fetch:https://one.example/x fetch:https://one.example/z" {
		t.Errorf("sent %s", got)
	}
	// In another session nothing was allowed; what is forgotten is asked again.
	n, err := r.kernel.ForgetEgress(context.Background(), "work", "two.example", r.by)
	r.must(err)
	asked := r.fetch(said(1, "g"), "https://two.example/")
	if n != 1 || asked.Status() != core.StatusPending || asked.Action() == other.Action() {
		t.Errorf("forgot %d, then got %s question %d", n, asked.Status(), asked.Action())
	}
}

// Every decision is a row before the attempt, and a second one says how it went.
func TestE2_EveryDecisionIsARowBeforeTheAttempt(t *testing.T) {
	r := newAwayRig(
		t, egress.Rule{Name: "ok", When: `sink.host == "ok.example" || sink.kind == "read"`, Decide: core.EgressAllow},
		egress.Rule{Name: "bad", When: `sink.host == "bad.example"`, Decide: core.EgressDeny},
	)
	rows := func(want string) {
		t.Helper()
		if got := r.left(); got != want {
			t.Errorf("got rows %q, want %q", got, want)
		}
	}
	r.wantStatus(r.fetch(said(1, "a"), "https://ok.example/"), core.StatusOK)
	rows("fetch:decided-allow fetch:completed-allow-ok")
	out := r.fetch(said(1, "b"), "https://bad.example/")
	r.wantStatus(out, core.StatusRefused)
	if !strings.Contains(out.Reason(), "bad") {
		t.Errorf("the agent is not told the rule: %s", out.Reason())
	}
	rows("fetch:decided-allow fetch:completed-allow-ok fetch:decided-deny")
	all := r.rows(core.EventEgress, core.EventRead, core.EventBlocked)
	var order []string
	for _, row := range all {
		order = append(order, string(row.Entry.Type)+"/"+row.Entry.Rule)
	}
	if got := strings.Join(order, " "); got != "egress/ok egress/ok read/ egress/bad blocked/" {
		t.Errorf("got %s", got)
	}

	// A read of a service elsewhere is a decision too; one of a local service has its own row alone.
	r.wantStatus(r.call("AWAY", "look", `{}`), core.StatusOK)
	r.wantStatus(r.call("NOTES", "list", `{}`), core.StatusOK)
	rows("fetch:decided-allow fetch:completed-allow-ok fetch:decided-deny read:decided-allow read:completed-allow-ok")
}

func TestX21_AFetchThatFailsAfterSendingIsInTheLog(t *testing.T) {
	r := newAwayRig(t, egress.Rule{Name: "ok", Decide: core.EgressAllow})
	r.away.fail = errAway
	r.wantStatus(r.fetch(said(1, "a"), "https://ok.example/"), core.StatusError)
	if got := r.left(); got != "fetch:decided-allow fetch:completed-allow-error" || r.away.sent() == "" {
		t.Errorf("got rows %q after %q was sent", got, r.away.sent())
	}
	// A caller that leaves while it is on its way takes nothing of the first row with it.
	ctx, cancel := context.WithCancel(context.Background())
	r.away.fail, r.away.onSend = nil, cancel
	_, err := r.kernel.Call(ctx, core.CallRequest{
		Session: "work", Binding: "AWAY", Method: "fetch", Args: json.RawMessage(`{"url":"https://ok.example/"}`), Caller: said(1, "b"),
	})
	if want := "fetch:decided-allow fetch:completed-allow-error fetch:decided-allow fetch:completed-allow-interrupted"; !errors.Is(err, context.Canceled) || r.left() != want {
		t.Errorf("got %v and rows %q, want %q", err, r.left(), want)
	}
}

// An effect has its decision in the row of its claim, and one that may not go is not claimed.
func TestE2_AnEffectIsAskedInItsClaim(t *testing.T) {
	r := newAwayRig(
		t, egress.Rule{Name: "reads", When: `sink.kind == "read"`, Decide: core.EgressAllow},
		egress.Rule{Name: "no tuesdays", When: `sink.kind == "apply" && payload.bytes > 30`, Decide: core.EgressDeny},
		egress.Rule{Name: "small ones ask", When: `sink.kind == "apply" && payload.bytes < 5`, Decide: core.EgressAsk},
	)
	fine := r.submitTo("AWAY", "put", `{"text":"0123456789"}`)
	r.wantOutcomes(r.approve(fine), core.OutcomeApplied)
	claims := r.rows(core.EventClaim)
	if len(claims) != 1 || !strings.Contains(string(claims[0].Entry.Detail), `"egress_rule":"otherwise: allow"`) {
		t.Errorf("got claims %v", claims)
	}
	big := r.submitTo("AWAY", "put", `{"text":%q}`, strings.Repeat("x", 40))
	results := r.approve(big)
	r.wantOutcomes(results, core.OutcomeSkipped)
	if !strings.Contains(results[0].Reason, "no tuesdays") {
		t.Errorf("got %q", results[0].Reason)
	}
	small := r.submitTo("AWAY", "put", `{"text":"y"}`)
	results = r.approve(small)
	r.wantOutcomes(results, core.OutcomeSkipped)
	r.wantState(small, core.StatePending)
	if got := r.away.sent(); strings.Contains(got, "put:\"y") || strings.Contains(got, "xxx") {
		t.Errorf("sent %s", got)
	}
	open, err := r.kernel.Queue(context.Background(), core.QueueQuery{Kinds: []string{core.QueueKindQuestion}})
	r.must(err)
	if len(open.Rows) != 1 {
		t.Fatalf("got %d questions, want one", len(open.Rows))
	}
	r.answer(open.Rows[0].ID, "allow")
	r.wantOutcomes(r.approve(small), core.OutcomeApplied)
	claims = r.rows(core.EventClaim)
	if !strings.Contains(string(claims[len(claims)-1].Entry.Detail), fmt.Sprintf(`"egress_question":%d`, open.Rows[0].ID)) {
		t.Errorf("got claim %s", claims[len(claims)-1].Entry.Detail)
	}
}

// TestK8_NoFetchWhileLatched: the kernel refuses it, whatever the policy says, and names the read.
func TestK8_NoFetchWhileLatched(t *testing.T) {
	for name, rules := range map[string][]egress.Rule{"shipped": nil, "all allowed": {{Name: "all", Decide: core.EgressAllow}}} {
		t.Run(name, func(t *testing.T) {
			r := newAwayRig(t, rules...)
			r.labelled("MAIL", "inbox", "hello", core.LabelOwnerOnly)
			r.wantStatus(r.call("MAIL", "list", `{}`), core.StatusOK)
			out := r.fetch(said(1, "a"), "https://ok.example/")
			r.wantStatus(out, core.StatusRefused)
			if !strings.Contains(out.Reason(), "MAIL.list") || r.away.sent() != "" {
				t.Errorf("got %q; sent %q", out.Reason(), r.away.sent())
			}
			r.wantStatus(r.call("NOTES", "list", `{}`), core.StatusOK)
		})
	}
}

// A latch that is set while a fetch is on its way is seen by the policy.
func TestK8_ALatchSetMeanwhileStopsTheFetch(t *testing.T) {
	p, err := egress.New([]egress.Rule{{Name: "all", Decide: core.EgressAllow}})
	if err != nil {
		t.Fatal(err)
	}
	r := newAwayRig(t)
	r.labelled("MAIL", "inbox", "hello", core.LabelOwnerOnly)
	k := r.newKernel(func(o *core.Options) {
		o.Egress = p
		o.Gatekeepers = append(o.Gatekeepers, r.away)
		o.Checks = []core.Check{onIntent(func(p core.Passage) {
			if p.Sink == core.SinkFetch {
				r.wantStatus(r.call("MAIL", "list", `{}`), core.StatusOK)
			}
		})}
	})
	out, err := k.Call(context.Background(), core.CallRequest{
		Session: "work", Binding: "AWAY", Method: "fetch", Args: json.RawMessage(`{"url":"https://ok.example/"}`), Caller: said(1, "b"),
	})
	r.must(err)
	if out.Status() != core.StatusRefused || !strings.Contains(out.Reason(), "latched: no fetch") || r.away.sent() != "" {
		t.Errorf("got %s (%s); sent %q", out.Status(), out.Reason(), r.away.sent())
	}
}

type onIntent func(core.Passage)

func (onIntent) Name() string { return "meanwhile" }

func (f onIntent) CheckIntent(_ context.Context, p core.Passage) error {
	f(p)
	return nil
}

func (onIntent) CheckExact(context.Context, core.Passage) error { return nil }

// Local reads cost no look at their session, and no row, where nothing is configured.
func TestPermit_LocalReadsCostNothingMore(t *testing.T) {
	policy, err := egress.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &counting{}
	r := newRig(t, func(o *core.Options) {
		c.Store, o.Store, o.Egress = o.Store, c, policy
	})
	c.reset()
	r.wantStatus(r.call("NOTES", "list", `{}`), core.StatusOK)
	if c.writes.Load() != 1 || c.reads.Load() > 2 || len(r.rows(core.EventEgress)) != 0 {
		t.Errorf("got %d transactions, %d snapshots", c.writes.Load(), c.reads.Load())
	}
}

// Permit is for sinks that the kernel does not run itself.
func TestPermit_ForAFrontEnd(t *testing.T) {
	r := newAwayRig(t, egress.Rule{Name: "exports ask", When: `sink.kind == "export"`, Decide: core.EgressAsk})
	request := core.EgressRequest{Sink: core.SinkExport, Session: r.session.ID, Caller: core.Caller{Kind: core.CallerPerson, Person: "alice"}, Destination: "x.gatehouse"}
	_, err := r.kernel.Permit(context.Background(), request)
	var stays *core.EgressError
	if !errors.As(err, &stays) || stays.Question == 0 {
		t.Fatalf("got %v, want a question", err)
	}
	r.answer(stays.Question, "allow")
	done, err := r.kernel.Permit(context.Background(), request)
	r.must(err)
	r.must(done(nil))
	if got := r.left(); got != "export:decided-ask export:decided-allow export:completed-allow-ok" {
		t.Errorf("got %s", got)
	}
}
