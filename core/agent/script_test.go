package agent_test

import (
	"context"
	"strings"
	"testing"

	"gatehouse/core"
)

// A script over real results: what it inserts, what it expects, and where it goes on.

func TestScript_AnswersAndDecisionsAreInserted(t *testing.T) {
	r := newRig(t)
	model := play(t, `
  - call: NOTES.publish
    args: {id: item-1}
    as: out
  - ask: {question: "Which of ${out.status}?", choices: [left, right], as: side}
  - say: "${side}, because ${side.reason}; ${out.state} for ${out.reason}."
  - expect: {of: out, status: refused}
  - expect: {of: side, equals: right}
`)
	waiting := r.run(r.options(model), core.TurnSuspended).Waiting
	// The question uses a result of its own response, so it comes one step later.
	r.reject("too early", waiting[0].ID)
	waiting = r.resume(r.options(model), core.TurnSuspended).Waiting
	q, err := r.kernel.Question(context.Background(), waiting[0].ID)
	r.must(err)
	if q.Text != "Which of refused?" {
		t.Errorf("got question %q", q.Text)
	}
	_, err = r.kernel.Answer(context.Background(), q.ID, "right", "it is", person())
	r.must(err)
	r.resume(r.options(model), core.TurnDone)
	entries := r.transcript()
	if got, want := entries[len(entries)-2].Text, "right, because it is; rejected for too early."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestScript_ExpectationsThatFailNameFileAndLine(t *testing.T) {
	for _, c := range []struct{ name, expect, want string }{
		{"contains", "{of: all, contains: elephant}", `test.yaml:8: expected all to contain "elephant", got {`},
		{"equals", "{of: all.items.0.title, equals: x}", `test.yaml:8: expected all.items.0.title to equal "x", got "`},
		{"status", "{of: all, status: refused}", `test.yaml:8: expected status of all to be "refused", got "ok"`},
		{"pending", "{of: all, pending: 2}", "test.yaml:8: expected pending of all to be 2, got 1"},
		{"no such part", "{of: all.items.99, equals: x}", "test.yaml:8: all.items.99: the result has no such part"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			model := play(t, `
  - call: NOTES.append
    args: {id: item-1, text: more}
  - call: NOTES.list
    as: all
  - expect: `+c.expect+"\n")
			report := r.run(r.options(model), core.TurnFailed)
			if !strings.Contains(report.Turn.Reason, c.want) {
				t.Errorf("got %q, want %q", report.Turn.Reason, c.want)
			}
		})
	}
}

func TestScript_ExpectationsThatHold(t *testing.T) {
	r := newRig(t)
	r.run(r.options(play(t, `
  - call: NOTES.get
    args: {id: item-1}
    as: one
  - call: NOTES.list
    as: all
  - call: NOTES.get
    args: {id: item-99}
    as: none
  - expect: {of: one, status: ok, pending: 0, contains: item-1}
  - expect: {of: one.id, equals: item-1}
  - expect: {of: one.labels, equals: []}
  - expect: {of: all, contains: item-2}
  - expect: {of: none, status: error}
  - expect: {of: none.code, equals: not_found}
  - call: NOTES.create
    args: {title: "${one.id}", labels: "${one.labels}", body: "labels ${one.labels}, pending ${one.pending}"}
    as: made
  - expect: {of: made.body, equals: "labels [], pending 0"}
`)), core.TurnDone)
}
