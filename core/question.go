package core

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gatehouse/core/text"
)

// The limits of a question.
const (
	questionLimit = 4 << 10 // bytes of its text
	choicesLimit  = 20
	choiceLimit   = 200     // code points of a choice
	answerLimit   = 4 << 10 // bytes of a free answer
)

// AskRequest is a question to whoever may decide in a session (kernel R32).
type AskRequest struct {
	Session string // id or name
	Caller  Caller
	Text    string
	Choices []string // none: any answer
}

// Ask puts a question into the queue and returns at once: pending, with the question's id (kernel R31, R32). Agents ask
// through RunCall, which suspends their turn.
func (k *Kernel) Ask(ctx context.Context, r AskRequest) (Released, error) {
	q, err := newQuestion(r.Text, r.Choices)
	if err != nil {
		return release(releasedBody{Status: StatusError, Code: CodeInvalid, Reason: cleanReason(err.Error())}), nil
	}
	q.Caller = r.Caller
	var out Released
	err = k.store.Write(ctx, func(tx Tx) error {
		session, err := findSession(tx, r.Session)
		if err != nil {
			return err
		}
		q.Session = session.ID
		body, err := k.storeQuestion(tx, &q)
		out = release(body)
		return err
	})
	return out, err
}

// askArgs are the arguments of ToolAsk.
type askArgs struct {
	Question string   `json:"question"`
	Choices  []string `json:"choices"`
}

func askTool() Tool {
	return Tool{
		Name: ToolAsk,
		About: "ask(question: string, choices?: array) → {answer}\n" +
			"Asks the person who decides. The turn waits after this step until there is an answer, which comes as a note.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"question":{"type":"string","description":"What you need to know."},` +
			`"choices":{"type":"array","items":{"type":"string"},"description":"The possible answers; none for a free one."}},` +
			`"required":["question"],"additionalProperties":false}`),
	}
}

// askCall is the agent's own ask: question and answer of the call are one transaction.
func (k *Kernel) askCall(ctx context.Context, turn Turn, caller Caller, call ToolCall, args json.RawMessage) (Released, error) {
	var in askArgs
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.DisallowUnknownFields()
	err := dec.Decode(&in)
	if err != nil {
		err = fmt.Errorf("ask: %w; it takes question and choices?", err)
	}
	var q Question
	if err == nil {
		q, err = newQuestion(in.Question, in.Choices)
	}
	if err != nil {
		return k.answerError(ctx, turn, caller, call, CodeInvalid, err.Error())
	}
	return k.answer(ctx, turn, caller, call, func(tx Tx) (releasedBody, error) {
		q.Session, q.Caller = turn.Session, caller
		return k.storeQuestion(tx, &q)
	})
}

func newQuestion(question string, choices []string) (Question, error) {
	clean, _ := text.CleanBlock(question)
	clean = strings.TrimSpace(clean)
	switch {
	case clean == "":
		return Question{}, errors.New("ask: the question is empty")
	case len(clean) > questionLimit:
		return Question{}, fmt.Errorf("ask: the question has %d bytes, %d at most", len(clean), questionLimit)
	case len(choices) > choicesLimit:
		return Question{}, fmt.Errorf("ask: %d choices, %d at most", len(choices), choicesLimit)
	}
	q := Question{Text: clean, State: QuestionOpen}
	for _, c := range choices {
		line, _ := text.CleanLine(c, choiceLimit)
		if line == "" || slices.Contains(q.Choices, line) {
			return Question{}, fmt.Errorf("ask: choice %q is empty or stands twice", line)
		}
		q.Choices = append(q.Choices, line)
	}
	return q, nil
}

func (k *Kernel) storeQuestion(tx Tx, q *Question) (releasedBody, error) {
	s, err := tx.Session(string(q.Session))
	if err == nil {
		err = unremoved(s) // its content may be gone already
	}
	if err != nil {
		return releasedBody{}, err
	}
	q.AskedAt = k.clock.Now()
	if err := tx.InsertQuestion(q); err != nil {
		return releasedBody{}, err
	}
	body := releasedBody{Status: StatusPending, Action: q.ID, Reason: "waits for a person's answer"}
	return body, tx.Append(k.questionRow(*q, map[string]any{
		"event": "asked", "text": textHash(q.Text), "choices": len(q.Choices),
	}))
}

func (k *Kernel) questionRow(q Question, pairs map[string]any) Entry {
	pairs["state"] = q.State
	return Entry{
		At: k.clock.Now(), Type: EventQuestion, Session: q.Session, Turn: q.Caller.Turn, Actor: q.Caller.actor(),
		Authority: string(q.Caller.Person), Subject: questionSubject(q.ID), Detail: detail(pairs),
	}
}

func questionSubject(id ActionID) string { return fmt.Sprintf("question %d", id) }

// Question finds a question.
func (k *Kernel) Question(ctx context.Context, id ActionID) (Question, error) {
	var q Question
	err := k.store.Read(ctx, func(v View) (err error) {
		q, err = findQuestion(v, id)
		return err
	})
	return q, err
}

func findQuestion(v questionView, id ActionID) (Question, error) {
	q, err := v.Question(id)
	if errors.Is(err, ErrNotFound) {
		return Question{}, notFound("question", id.String(), "see gatehouse queue list --kind question")
	}
	return q, err
}

// ChoiceError says that an answer is not one of a question's choices. Nothing was changed.
type ChoiceError struct {
	Question ActionID
	Choice   string
	Choices  []string
}

func (e *ChoiceError) Error() string {
	if len(e.Choices) == 0 {
		return fmt.Sprintf("question %d: the answer is empty or too long", e.Question)
	}
	return fmt.Sprintf("question %d: %q is not among its choices: %s", e.Question, e.Choice, strings.Join(e.Choices, ", "))
}

// Answer answers a question; it is a decision like any other (kernel R32, R34). A question that is no longer open gives
// OutcomeNotPending with the reason.
func (k *Kernel) Answer(ctx context.Context, id ActionID, choice, reason string, by Authority) (Result, error) {
	by, err := k.authorize(ctx, by)
	if err != nil {
		return Result{}, err
	}
	result := Result{Action: id, Outcome: OutcomeAnswered, Reason: cleanReason(reason)}
	err = k.store.Write(ctx, func(tx Tx) error {
		before, err := findQuestion(tx, id)
		if err != nil {
			return err
		}
		if before.State != QuestionOpen {
			result = notOpen(before)
			return nil
		}
		if err := maySettle(tx, before.Session, by.Person); err != nil {
			return err
		}
		answer, err := before.choose(choice)
		if err != nil {
			return err
		}
		after := before
		after.State, after.Answer, after.Reason = QuestionAnswered, answer, result.Reason
		after.DecidedBy, after.DecidedAt = by.Person, k.clock.Now()
		if err := k.changeQuestion(tx, before, &after); err != nil {
			return err
		}
		if _, err := tx.AnswerEgress(after.ID, EgressDecision(answer), after.DecidedAt); err != nil {
			return err
		}
		row := k.questionRow(after, map[string]any{"answer": textHash(answer), "reason": textHash(after.Reason)})
		row.Type, row.Actor, row.Authority = EventAnswer, string(by.Person), by.String()
		return tx.Append(row)
	})
	return result, err
}

func notOpen(q Question) Result {
	why := fmt.Sprintf("question %d: already %s", q.ID, q.State)
	if q.DecidedBy != "" {
		why += " by " + string(q.DecidedBy)
	}
	return Result{Action: q.ID, Outcome: OutcomeNotPending, Reason: why}
}

// choose accepts one of the choices, whatever the case of letters where that names one alone.
func (q Question) choose(choice string) (string, error) {
	if len(q.Choices) == 0 {
		clean, _ := text.CleanBlock(choice)
		if strings.TrimSpace(clean) == "" || len(clean) > answerLimit {
			return "", &ChoiceError{Question: q.ID}
		}
		return clean, nil
	}
	var alike []string
	for _, c := range q.Choices {
		if c == choice {
			return c, nil
		}
		if strings.EqualFold(c, choice) {
			alike = append(alike, c)
		}
	}
	if len(alike) == 1 {
		return alike[0], nil
	}
	return "", &ChoiceError{Question: q.ID, Choice: cleanReason(choice), Choices: q.Choices}
}

// changeQuestion ends a question and tells its agent.
func (k *Kernel) changeQuestion(tx Tx, before Question, after *Question) error {
	changed, err := tx.ChangeQuestion(before, after)
	if err != nil {
		return err
	}
	if !changed {
		return fmt.Errorf("question %d: changed meanwhile", before.ID)
	}
	if after.Caller.Kind != CallerAgent || after.Caller.Turn == 0 {
		return nil
	}
	return k.tell(tx, Notice{
		Session: after.Session, Turn: after.Caller.Turn, Action: after.ID, State: string(after.State),
		Title: cleanReason(after.Text), Reason: after.Reason, At: k.clock.Now(),
	})
}

// withdrawQuestions takes back what a turn asked that ends before it was answered.
func (k *Kernel) withdrawQuestions(tx Tx, turn Turn) error {
	waiting, err := tx.Waiting(turn.Session, turn.Number, 0)
	if err != nil {
		return err
	}
	for _, w := range waiting {
		if !w.Question {
			continue
		}
		before, err := tx.Question(w.ID)
		if err != nil {
			return err
		}
		after := before
		after.State, after.Reason = QuestionWithdrawn, fmt.Sprintf("turn %d ended", turn.Number)
		after.DecidedAt = k.clock.Now()
		if err := k.changeQuestion(tx, before, &after); err != nil {
			return err
		}
		if err := tx.Append(k.questionRow(after, map[string]any{"event": "withdrawn"})); err != nil {
			return err
		}
	}
	return nil
}
