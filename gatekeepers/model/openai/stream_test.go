package openai_test

import (
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/gatekeepers/model/openai"
	"gatehouse/gatekeepers/model/openai/fake"
)

const odd = "Grüße, 世界 👋 – «ok»\nSecond line."

func TestComplete_StreamsInOddChunks(t *testing.T) {
	for _, cut := range []int{0, 1, 2, 3, 7, 64, 1021} {
		r := newRig(t, nil, fake.Reply{
			Cut: cut, Text: odd, Usage: &fake.Usage{Input: 40, Output: 12},
			Calls: []fake.Call{
				{ID: "a", Name: "SITE-read", Args: `{"path":"ü 👋.html"}`}, {ID: "b", Name: "SITE-write_all", Args: `{"path":"b"}`},
			},
		})
		got := r.answer(task())
		if got.Text != odd || strings.Join(r.deltas, "") != odd || len(r.deltas) < 2 {
			t.Errorf("cut %d: got %q in %q, want %q in pieces", cut, got.Text, r.deltas, odd)
		}
		want := []core.ToolCall{
			{ID: "a", Name: "SITE.read", Args: `{"path":"ü 👋.html"}`}, {ID: "b", Name: "SITE.write_all", Args: `{"path":"b"}`},
		}
		if len(got.Calls) != 2 || got.Calls[0] != want[0] || got.Calls[1] != want[1] {
			t.Errorf("cut %d: got %+v, want %+v", cut, got.Calls, want)
		}
		if want := (core.Usage{Input: 40, Output: 12}); got.Usage != want {
			t.Errorf("cut %d: got %+v, want %+v", cut, got.Usage, want)
		}
	}
}

func TestComplete_UsageThatNobodyCountsIsAnEstimate(t *testing.T) {
	r := newRig(t, nil, fake.Reply{Text: strings.Repeat("x", 400)})
	u := r.answer(task()).Usage
	if !u.Estimated || u.Output != 100 || u.Input < 50 {
		t.Errorf("got %+v, want about a token for four bytes, and that said", u)
	}
}

func TestComplete_TellsTheConversation(t *testing.T) {
	r := newRig(t, nil, fake.Reply{Text: "ok"})
	request := task()
	request.Decisions = []core.Decided{{ID: 3, State: "rejected", Title: "edit a", Reason: "no"}}
	request.History = []core.Exchange{
		{
			Turn: 1, Step: 1, Messages: []core.Message{{Text: "First."}},
			Response: core.Response{Text: "I read.", Calls: []core.ToolCall{
				{ID: "1", Name: "SITE.read", Args: `{"path":"a"}`}, {ID: "2", Name: "SITE.read", Args: `{"path":`}, {ID: "3", Name: "no such tool", Args: "{}"},
			}},
			Results: make([]core.Released, 3),
		},
		{Turn: 1, Step: 2}, // a response that said nothing
	}
	r.answer(request)
	got := r.server.Asked()[0]
	var roles []string
	for _, m := range got.Messages {
		roles = append(roles, m.Role)
	}
	if want := "system user assistant tool tool tool user"; strings.Join(roles, " ") != want {
		t.Fatalf("got %v, want %s", roles, want)
	}
	if args := got.Messages[2].ToolCalls[1].Function.Args; args != `{"malformed_arguments":"{\"path\":"}` {
		t.Errorf("got %s, want what the model wrote, as JSON", args)
	}
	if last := got.Messages[6].Content; !strings.HasPrefix(last, "Do it.\n\n") || !strings.Contains(last, "action 3 (edit a): rejected; reason: no") {
		t.Errorf("got %q, want the message and the decision", last)
	}
	if !got.Options.Usage || got.Header.Get("Authorization") != "Bearer "+secret || got.Model != "tiny" {
		t.Errorf("got %+v, want usage asked for, the key and the model", got)
	}
}

func TestComplete_SendsNoKeyThatStandsInTheEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-of-another-place")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
	r := newRig(t, func(o *openai.Options) { o.Key = "" }, fake.Reply{Text: "ok"})
	r.answer(task())
	if sent := r.server.Asked()[0].Header.Get("Authorization"); sent != "" {
		t.Errorf("got %q sent, want nothing", sent)
	}
}

// Some servers give all calls of an answer one index, and send each whole.
func TestComplete_CallsWithOneIndex(t *testing.T) {
	frame := func(id string) string {
		return `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"` + id +
			`","type":"function","function":{"name":"SITE-read","arguments":"{\"path\":\"` + id + `\"}"}}]}}]}` + "\n\n"
	}
	r := newRig(t, nil, fake.Reply{Raw: true, Body: ": a comment\n\n" + frame("a") + frame("b") +
		`data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"})
	got := r.answer(task())
	if len(got.Calls) != 2 || got.Calls[0].Args != `{"path":"a"}` || got.Calls[1].Args != `{"path":"b"}` {
		t.Errorf("got %+v, want two calls", got.Calls)
	}
}

func TestA3_BrokenArgumentsAndUnknownToolsArePassedOn(t *testing.T) {
	r := newRig(t, nil, fake.Reply{Calls: []fake.Call{
		{ID: "a", Name: "SITE-read", Args: `{"path": "a`}, {ID: "b", Name: "SITE-burn", Args: "{}"}, {ID: "c", Name: "ask", Args: ""},
	}})
	got := r.answer(task()).Calls
	want := []core.ToolCall{{ID: "a", Name: "SITE.read", Args: `{"path": "a`}, {ID: "b", Name: "SITE.burn", Args: "{}"}, {ID: "c", Name: "ask", Args: "{}"}}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	}
}

func TestA3_DyingMidStreamIsAnErrorWithoutARepeat(t *testing.T) {
	for name, reply := range map[string]fake.Reply{
		"line breaks":       {Text: "I beg", Die: true},
		"ends without end":  {Text: "I beg", Finish: "none"},
		"inside arguments":  {Calls: []fake.Call{{ID: "a", Name: "SITE-read", Args: `{"path":"a"`}}, Die: true},
		"error in a stream": {Text: "I beg", Error: true},
		"broken frame":      {Raw: true, Body: `data: {"choices":[{"index":0,"delta":{"content":"I beg"}}]}` + "\n\ndata: {\"choi\n\n"},
	} {
		r := newRig(t, nil, reply, fake.Reply{Text: "Again."})
		out, err := r.ask(task())
		wantLine(t, err, "the answer broke off")
		if len(r.server.Asked()) != 1 || len(r.waited) != 0 || len(out.Calls) != 0 || out.Text != "" {
			t.Errorf("%s: got %d questions and %+v, want one and nothing", name, len(r.server.Asked()), out)
		}
		if out.Usage.Tokens() == 0 || !out.Usage.Estimated {
			t.Errorf("%s: got usage %+v, want an estimate of what was sent", name, out.Usage)
		}
		if again := r.answer(task()); again.Text != "Again." || strings.Join(r.deltas, "") != "Again." {
			t.Errorf("%s: got %q on asking again", name, again.Text)
		}
	}
}

func TestComplete_AStreamThatDiesBeforeAnythingIsTriedAgain(t *testing.T) {
	r := newRig(t, nil, fake.Reply{Die: true}, fake.Reply{Text: "Now."})
	if got := r.answer(task()); got.Text != "Now." || len(r.waited) != 1 {
		t.Errorf("got %q after %v, want one pause", got.Text, r.waited)
	}
}

func TestComplete_AnAnswerWithoutEnd(t *testing.T) {
	r := newRig(t, func(o *openai.Options) { o.MaxOutput = 50 }, fake.Reply{Text: "and on", Finish: "length"})
	r.fails("cut off at 50 tokens (openai.max_output)")
	if got := r.server.Asked(); len(got) != 1 || got[0].MaxTokens != 50 {
		t.Errorf("got %+v, want one question for 50 tokens", got)
	}
	r = newRig(t, nil, fake.Reply{Text: strings.Repeat("and on ", 700_000), Hang: true})
	r.fails("the answer does not end")
}
