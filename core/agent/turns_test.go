package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/agent"
)

func TestA1_WritesAreShownQueuedAndNotMade(t *testing.T) {
	r := newRig(t)
	report := r.run(r.options(play(t, `
  - say: I add three notes.
  - call: NOTES.create
    args: {title: first}
    as: first
  - call: NOTES.create
    args: {title: second}
  - call: NOTES.create
    args: {title: third}
  - expect: {of: first, status: ok}
  - call: NOTES.list
    as: all
  - call: NOTES.append
    args: {id: "${first.id}", text: more}
  - expect: {of: all, contains: first, pending: 3}
  - expect: {of: all, contains: third}
  - say: "The first is ${first.id}."
`)), core.TurnDone)
	r.wantEnd(report, core.TurnEndDone)
	if effects, err := r.service().Effects(); err != nil || len(effects) != 0 {
		t.Errorf("got effects %v (%v), want the service untouched", effects, err)
	}
	if rows := r.queue(); len(rows) != 4 || rows[0].State != core.StatePending || rows[0].Caller.Turn != 1 {
		t.Errorf("got queue %v, want four pending of turn 1", rows)
	}
	if s := r.wantSession(core.SessionWaitingDecision); s.Pending != 4 {
		t.Errorf("got %d pending, want 4", s.Pending)
	}
	entries := r.transcript()
	last := entries[len(entries)-2]
	if last.Kind != core.TranscriptText || last.Text != "The first is ~1." {
		t.Errorf("got last text %q of kind %s", last.Text, last.Kind)
	}
	r.wantWhole()
}

func TestA3_ModelDiesMidStream(t *testing.T) {
	r := newRig(t)
	model := fakeModel(
		func(_ context.Context, _ core.Request, delta func(string)) (core.Response, error) {
			delta("I will cre")
			return core.Response{}, errors.New("connection reset")
		},
		says("Done."),
	)
	var events []agent.EventKind
	o := r.options(model)
	o.Observer = func(e agent.Event) { events = append(events, e.Kind) }
	report := r.run(o, core.TurnFailed)
	r.wantEnd(report, core.TurnEndModel)
	if !strings.Contains(report.Turn.Reason, "connection reset") {
		t.Errorf("got reason %q, want the error", report.Turn.Reason)
	}
	if len(events) < 3 || events[1] != agent.EventDelta || events[2] != agent.EventDiscarded {
		t.Errorf("got events %v, want the partial text discarded", events)
	}
	r.wantSession(core.SessionFailed)
	r.resume(r.options(model), core.TurnDone)
	texts := 0
	for _, e := range r.transcript() {
		if e.Kind == core.TranscriptText {
			texts++
			if e.Text != "Done." {
				t.Errorf("got text %q, want no partial one", e.Text)
			}
		}
	}
	if asked := model.asked(); texts != 1 || len(asked) != 2 || len(asked[1].Messages) != 1 {
		t.Errorf("got %d texts, %d requests; want one text, and the message told again", texts, len(asked))
	}
}

func TestA3_FaultsOfTheModelAreAnswers(t *testing.T) {
	for _, c := range []struct {
		name string
		call core.ToolCall
		code string
		want string
	}{
		{"malformed", tool("1", "NOTES.create", `{"title": `), core.CodeInvalid, "not a JSON object"},
		{"no object", tool("1", "NOTES.create", `[]`), core.CodeInvalid, "not a JSON object"},
		{"schema", tool("1", "NOTES.create", `{"titel":"x"}`), core.CodeInvalid, `"title" is missing`},
		{"type", tool("1", "NOTES.create", `{"title":7}`), core.CodeInvalid, "type string"},
		{"no such binding", tool("1", "OTHER.create", `{}`), core.CodeNotFound, `binding "OTHER": not found`},
		{"no such method", tool("1", "NOTES.burn", `{}`), core.CodeNotFound, `method "NOTES.burn": not found`},
		{"no such tool", tool("1", "bash", `{}`), core.CodeNotFound, `tool "bash": not found`},
		{"ask without a question", tool("1", "ask", `{"choices":["a"]}`), core.CodeInvalid, "question is empty"},
		{"ask with more", tool("1", "ask", `{"question":"a","why":"b"}`), core.CodeInvalid, "why"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			model := fakeModel(calls(c.call), says("I see."))
			r.run(r.options(model), core.TurnDone)
			got := model.asked()[1].History[0].Results[0]
			if got.Status() != core.StatusError || got.Code() != c.code || !strings.Contains(got.Reason(), c.want) {
				t.Errorf("got %s %s %q, want an error %s with %q", got.Status(), got.Code(), got.Reason(), c.code, c.want)
			}
			if rows := r.queue(); len(rows) != 0 {
				t.Errorf("got queue %v, want nothing", rows)
			}
		})
	}
}

func TestA3_CallIDRepeated(t *testing.T) {
	r := newRig(t)
	model := fakeModel(
		calls(create("a", "first"), create("a", "first"), create("a", "second")),
		calls(create("a", "first")),
	)
	r.run(r.options(model), core.TurnDone)
	if rows := r.queue(); len(rows) != 2 {
		t.Fatalf("got %d actions, want one for each pair of id and arguments", len(rows))
	}
	got := r.results()
	if len(got) != 4 || got[0].Action() != got[1].Action() || got[0].Action() != got[3].Action() || got[2].Action() == got[0].Action() {
		t.Errorf("got answers %v, want the stored one for the same arguments", got)
	}
}

func TestA8_DecisionIsToldOnce(t *testing.T) {
	r := newRig(t)
	model := fakeModel(calls(create("1", "first"), create("2", "second")), says("Queued."), says("I see."), says("Still."))
	r.run(r.options(model), core.TurnDone)
	rows := r.queue()
	r.reject("not now", rows[0].ID)
	r.approve(rows[1].ID)
	r.run(r.options(model), core.TurnDone)
	r.run(r.options(model), core.TurnDone)
	asked := model.asked()
	if got := asked[2].Decisions; len(got) != 2 || got[0].State != "rejected" || got[0].Reason != "not now" || got[1].State != "applied" {
		t.Errorf("got decisions %+v in the next request, want both with the reason", got)
	}
	if got := asked[3].Decisions; len(got) != 0 {
		t.Errorf("got decisions %+v again", got)
	}
	note := core.DecisionNote(asked[2].Decisions)
	if n := strings.Count(note, "not now"); n != 1 {
		t.Errorf("got note %q with the reason %d times", note, n)
	}
	if history := asked[3].History; len(history[2].Decisions) != 2 || len(history[3-1].Messages) != 1 {
		t.Errorf("got history %+v, want the note where it was told", history)
	}
}

// A response that was lost does not lose what it was to be told.
func TestA8_DecisionIsToldAgainWhereTheResponseWasLost(t *testing.T) {
	r := newRig(t)
	model := fakeModel(
		calls(create("1", "first")), says("Queued."),
		func(context.Context, core.Request, func(string)) (core.Response, error) {
			return core.Response{}, errors.New("gone")
		},
	)
	r.run(r.options(model), core.TurnDone)
	r.reject("no", r.queue()[0].ID)
	r.run(r.options(model), core.TurnFailed)
	r.resume(r.options(model), core.TurnDone)
	asked := model.asked()
	if len(asked[2].Decisions) != 1 || len(asked[3].Decisions) != 1 || len(asked[3].Messages) != 1 {
		t.Errorf("got %v then %v, want both told again", asked[2].Decisions, asked[3].Decisions)
	}
}

func TestA10_MessagesAreToldAtTheNextStepInOrder(t *testing.T) {
	r := newRig(t)
	other, _ := r.process()
	typed := func(text string) {
		_, err := other.Say(context.Background(), r.session, text, core.MessageQueued, alice)
		r.must(err)
	}
	model := fakeModel(
		func(context.Context, core.Request, func(string)) (core.Response, error) {
			typed("one")
			typed("two")
			return core.Response{Calls: []core.ToolCall{create("1", "first")}}, nil
		},
		func(context.Context, core.Request, func(string)) (core.Response, error) {
			typed("three")
			return core.Response{Text: "That is all."}, nil
		},
		says("And three."),
	)
	r.run(r.options(model), core.TurnDone)
	var got []string
	for _, request := range model.asked() {
		var texts []string
		for _, m := range request.Messages {
			texts = append(texts, m.Text)
		}
		got = append(got, strings.Join(texts, ","))
	}
	if want := "the task|one,two|three"; strings.Join(got, "|") != want {
		t.Errorf("got messages %q, want %q", strings.Join(got, "|"), want)
	}
}

func TestA10_SteeringBreaksOffTheResponse(t *testing.T) {
	r := newRig(t)
	other, _ := r.process()
	model := fakeModel(
		func(ctx context.Context, _ core.Request, delta func(string)) (core.Response, error) {
			delta("a long")
			_, err := other.Say(context.Background(), r.session, "rather this", core.MessageSteering, alice)
			r.check(err)
			<-ctx.Done()
			return core.Response{}, ctx.Err()
		},
		says("As you say."),
	)
	r.run(r.options(model), core.TurnDone)
	asked := model.asked()
	if len(asked) != 2 || len(asked[1].Messages) != 2 || asked[1].Messages[1].Text != "rather this" || asked[1].Step != 1 {
		t.Errorf("got requests %+v, want step 1 asked for again with the message", asked)
	}
}

func TestK61_StepLimitEndsTheTurn(t *testing.T) {
	r := newRig(t)
	model := fakeModel()
	for range 10 {
		model.replies = append(model.replies, calls(tool("", "NOTES.list", `{}`)))
	}
	o := r.options(model)
	o.Limits = core.TurnLimits{Steps: 3}
	report := r.run(o, core.TurnDone)
	r.wantEnd(report, core.TurnEndSteps)
	if len(model.asked()) != 3 || !strings.Contains(report.Turn.Reason, "3 steps") {
		t.Errorf("got %d requests and reason %q, want three and the limit", len(model.asked()), report.Turn.Reason)
	}
	entries := r.transcript()
	if last := entries[len(entries)-1]; last.Kind != core.TranscriptTurn || !strings.Contains(last.Text, "3 steps") {
		t.Errorf("got last entry %+v, want it to say why", last)
	}
	r.wantSession(core.SessionIdle)
	for _, released := range r.results() {
		if !released.Valid() {
			t.Error("got a call without an answer")
		}
	}
}

func TestR29_TimeLimitEndsTheTurn(t *testing.T) {
	r := newRig(t)
	o := r.options(fakeModel(func(ctx context.Context, _ core.Request, _ func(string)) (core.Response, error) {
		<-ctx.Done()
		return core.Response{}, ctx.Err()
	}))
	o.Limits = core.TurnLimits{Time: 20_000_000}
	report := r.run(o, core.TurnDone)
	r.wantEnd(report, core.TurnEndTime)
}

// What the model is shown of tools comes from the manifest.
func TestTools_TypedDocumentation(t *testing.T) {
	r := newRig(t)
	model := fakeModel()
	r.run(r.options(model), core.TurnDone)
	request := model.asked()[0]
	tools := make(map[string]core.Tool)
	for _, tool := range request.Tools {
		tools[tool.Name] = tool
	}
	get := tools["NOTES.get"]
	if !strings.HasPrefix(get.About, "NOTES.get(collection?: string, id: string) → {collection, id,") {
		t.Errorf("got %q, want a signature first", get.About)
	}
	if got := tools["NOTES.publish"].About; !strings.Contains(got, "the turn waits") || !strings.Contains(got, "nobody can take it back") {
		t.Errorf("got %q, want that it waits and why", got)
	}
	var schema struct {
		Type     string
		Required []string
	}
	if err := json.Unmarshal(get.Schema, &schema); err != nil || schema.Type != "object" || len(schema.Required) != 1 || schema.Required[0] != "id" {
		t.Errorf("got schema %s (%v)", get.Schema, err)
	}
	if _, found := tools[core.ToolAsk]; !found || !strings.Contains(request.System, "NOTES (memory)") {
		t.Errorf("got tools %v and system text %q", tools, request.System)
	}
}
