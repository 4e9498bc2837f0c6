package tui

import (
	"fmt"
	"strings"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// settledMsg is what became of settling, of a retry or of an answer.
type settledMsg struct {
	id     core.ActionID
	what   string
	result core.Result
	err    error
}

func (q *queue) settled(msg settledMsg) term.Cmd {
	switch {
	case msg.err != nil:
		q.a.fail(msg.err)
	default:
		line := fmt.Sprintf("#%d: %s", msg.id, msg.result.Outcome)
		if msg.result.Reason != "" {
			line += ": " + msg.result.Reason
		}
		clean, _ := cleanLine(line, reasonLimit)
		_, r := outcomeSign(msg.result.Outcome)
		q.a.say(r, clean)
	}
	q.letGo = true
	return q.a.refresh()
}

func (q *queue) settleAsk() term.Cmd {
	r, _ := q.current()
	if q.held() {
		return nil
	}
	q.a.settleAsk(r.ID, r.Title)
	return nil
}

func (q *queue) retryAsk() term.Cmd {
	r, _ := q.current()
	if q.held() {
		return nil
	}
	q.a.retryAsk(r.ID, r.Title, r.State == core.StateUnknown)
	return nil
}

// settleAsk asks what became of an action whose outcome nobody heard. It holds
// the id; the kernel refuses what is not unknown any more.
func (a *app) settleAsk(id core.ActionID, title string) {
	ctx, kernel, who := a.ctx, a.kernel, a.who
	a.sheet.ask(question{
		title:   fmt.Sprintf("What became of #%d %s?", id, title),
		body:    []string{"The program ended, or the line broke, before the outcome was known. Look at the service first.", "If it was to create something whose id nobody heard, write NAME=ID before the reason."},
		choices: []string{"It was applied", "It did not happen: reject it"},
		label:   "reason", accept: "Settle",
		do: func(answer sheetAnswer) term.Cmd {
			s := core.Settlement{Applied: answer.choice == 0}
			s.Created, s.Reason = createdAndReason(answer.text)
			return a.work(func() term.Msg {
				result, err := kernel.Settle(ctx, id, who, s)
				return settledMsg{id: id, what: "settle", result: result, err: err}
			})
		},
	})
}

// createdAndReason takes NAME=ID words with a provisional NAME from the front
// of a reason.
func createdAndReason(s string) (map[string]string, string) {
	var created map[string]string
	rest := strings.TrimSpace(s)
	for {
		word, after, _ := strings.Cut(rest, " ")
		name, id, found := strings.Cut(word, "=")
		if !found || !core.Provisional(name) || id == "" {
			return created, rest
		}
		if created == nil {
			created = make(map[string]string)
		}
		created[name] = id
		rest = strings.TrimSpace(after)
	}
}

// retryAsk asks before something is sent again.
func (a *app) retryAsk(id core.ActionID, title string, unknown bool) {
	ctx, kernel, who := a.ctx, a.kernel, a.who
	body := []string{"It failed and nothing was changed. It is sent again as it was approved, if its base still holds."}
	if unknown {
		body = []string{"It may have happened already: sent again, it may happen twice. Look at the service first."}
	}
	a.sheet.ask(question{
		title: fmt.Sprintf("Try #%d again: %s", id, title), body: body, accept: "Try again", danger: unknown,
		do: func(sheetAnswer) term.Cmd {
			a.say(roleMuted, fmt.Sprintf("#%d is being sent again", id))
			return a.work(func() term.Msg {
				result, err := kernel.Retry(ctx, id, who, unknown, nil)
				return settledMsg{id: id, what: "retry", result: result, err: err}
			})
		},
	})
}

// answerAsk asks for the answer to a question, in the place of the queue.
func (q *queue) answerAsk(t target) term.Cmd {
	ctx, kernel, who := q.a.ctx, q.a.kernel, q.a.who
	ask := question{
		title: "Q" + t.id.String() + " " + t.ask.Text, accept: "Answer", choices: t.ask.Choices, label: "reason",
	}
	if t.ask.State != core.QuestionOpen {
		q.a.say(roleWarn, "Q"+t.id.String()+" is "+string(t.ask.State)+" already")
		return nil
	}
	if len(t.ask.Choices) == 0 {
		ask.label = "answer"
	}
	ask.do = func(answer sheetAnswer) term.Cmd {
		choice, reason := answer.text, ""
		if len(ask.choices) > 0 {
			choice, reason = t.raw[answer.choice], answer.text
		}
		return q.a.work(func() term.Msg {
			result, err := kernel.Answer(ctx, t.id, choice, reason, who)
			return settledMsg{id: t.id, what: "answer", result: result, err: err}
		})
	}
	q.a.sheet.ask(ask)
	return nil
}
