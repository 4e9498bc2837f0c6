package core

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatehouse/core/text"
)

// EgressAnswer is a question about something that wanted to leave, and what a person said. It counts for what goes from
// the same session through the same sink to the same place with the same values in it.
type EgressAnswer struct {
	Session  SessionID
	Sink     EgressSink
	Host     string
	Matches  string // hash over the values from labelled units; empty for none
	Turn     int    // who asked: a turn's step waits for its own questions alone
	Step     int
	Question ActionID
	State    QuestionState
	Decision EgressDecision // EgressAllow or EgressDeny; empty while nobody answered
	At       time.Time
}

type egressView interface {
	// EgressAnswers lists the questions about a sink and a host in a session, oldest first.
	EgressAnswers(session SessionID, sink EgressSink, host string) ([]EgressAnswer, error)
}

type egressTx interface {
	// InsertEgressQuestion ties a question to what it is about.
	InsertEgressQuestion(EgressAnswer) error
	// AnswerEgress keeps what was answered; false where the question is about nothing that wanted to leave.
	AnswerEgress(question ActionID, decision EgressDecision, at time.Time) (bool, error)
	// ForgetEgress takes the answers about a host away, of all hosts where it is empty, and says how many there were.
	ForgetEgress(session SessionID, host string) (int, error)
}

// departure is a decision on something that is about to leave.
type departure struct {
	request  EgressRequest
	verdict  EgressVerdict
	question ActionID // the one that was asked, or whose answer decided
	logged   bool     // it has a row of its own, to be completed with how it went (sharing E2)
}

// host is what answers are remembered under.
func (d *departure) host() string {
	if d.request.Host != "" {
		return d.request.Host
	}
	return d.request.Destination
}

// permit asks the policy, and a person where the policy says so. What may not go is an *EgressError. The decision is a
// row before anything goes, but for what stays here, and for what has its row in a transaction of its own: an effect in
// its claim, a request to a model with what it is reckoned to take.
func (k *Kernel) permit(ctx context.Context, r EgressRequest, sends ...string) (*departure, error) {
	d := &departure{request: r}
	d.request.Bytes = max(r.Bytes, 0)
	selective, is := k.egress.(SelectiveEgress)
	if r.Session != "" && (!is || selective.Wants(r)) {
		err := k.store.Read(ctx, func(v View) error { return d.fill(v, sends) })
		if err != nil {
			return nil, err
		}
	}
	d.verdict = k.egress.Decide(ctx, d.request)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if d.verdict.Decision == EgressAllow && !d.ownRow() {
		return d, nil
	}
	err := k.store.Write(ctx, func(tx Tx) error {
		if d.verdict.Decision == EgressAsk {
			if err := k.askPerson(tx, d, sends); err != nil {
				return err
			}
		}
		if d.verdict.Decision == EgressAllow && !d.ownRow() {
			return nil
		}
		return tx.Append(d.row(k, nil))
	})
	if err != nil {
		return nil, err
	}
	d.logged = d.verdict.Decision == EgressAllow && d.ownRow()
	if d.verdict.Decision != EgressAllow {
		return d, &EgressError{
			Sink: r.Sink, Destination: r.Destination, Verdict: d.verdict, Question: d.question, Session: r.Session,
		}
	}
	return d, nil
}

func (d *departure) ownRow() bool {
	switch d.request.Sink {
	case SinkModel, SinkApply:
		return false
	case SinkRead:
		return !d.request.Local
	default:
		return true
	}
}

// fill adds what is known of the session: what it has read, its latch, what a person allowed before, and which values of
// labelled units are in what it sends. A model is sent all that was said, so values are not looked for in that: the
// labels of the units decide.
func (d *departure) fill(v View, sends []string) error {
	r := &d.request
	s, err := v.Session(string(r.Session))
	if err != nil {
		return err
	}
	r.Latched = s.Latched
	set, err := v.Observations(s.ID)
	if err != nil {
		return err
	}
	labelled := make(map[Unit]bool)
	for _, o := range set {
		r.Units = append(r.Units, o.Found.Unit)
		r.Labels = append(r.Labels, o.Found.Labels...)
		if o.Found.OwnerOnly {
			r.Labels = append(r.Labels, LabelOwnerOnly)
		}
		labelled[o.Found.Unit] = len(o.Found.Labels) > 0 || o.Found.OwnerOnly
	}
	slices.Sort(r.Labels)
	r.Labels = slices.Compact(r.Labels)
	answers, err := v.EgressAnswers(s.ID, r.Sink, d.host())
	if err != nil {
		return err
	}
	r.Known = slices.ContainsFunc(answers, func(a EgressAnswer) bool { return a.Decision == EgressAllow })
	if r.Local || r.Sink == SinkModel || len(r.Labels) == 0 {
		return nil
	}
	r.Matches, err = labelledIn(v, s.ID, labelled, sends)
	return err
}

// askPerson lets an earlier answer decide, or puts a question, once (kernel R32).
func (k *Kernel) askPerson(tx Tx, d *departure, sends []string) error {
	r := d.request
	mine := EgressAnswer{
		Session: r.Session, Sink: r.Sink, Host: d.host(), Matches: textHash(strings.Join(r.Matches, "\n")),
		Turn: r.Caller.Turn, Step: r.Caller.Step, At: k.clock.Now(),
	}
	if mine.Session == "" {
		d.verdict.Why = "there is no session to ask in"
		d.verdict.Decision = EgressDeny
		return nil
	}
	earlier, err := tx.EgressAnswers(mine.Session, mine.Sink, mine.Host)
	if err != nil {
		return err
	}
	slices.Reverse(earlier) // the newest answer counts
	for _, a := range earlier {
		if a.Matches == mine.Matches && a.Decision != "" {
			d.question, d.verdict.Decision = a.Question, a.Decision
			d.verdict.Why = fmt.Sprintf("a person answered %s to question %d", a.Decision, a.Question)
			return nil
		}
	}
	for _, a := range earlier {
		if a.Matches == mine.Matches && a.State == QuestionOpen && a.Turn == mine.Turn && a.Step == mine.Step {
			d.question = a.Question
			return nil
		}
	}
	q := Question{
		Session: r.Session, Caller: r.Caller, Text: d.asks(sends), Choices: []string{string(EgressAllow), string(EgressDeny)}, State: QuestionOpen,
	}
	if _, err := k.storeQuestion(tx, &q); err != nil {
		return err
	}
	mine.Question, d.question = q.ID, q.ID
	return tx.InsertEgressQuestion(mine)
}

// What a question shows of what would leave.
const (
	asksValues = 10  // values of labelled units
	asksTexts  = 5   // texts that would be sent
	asksText   = 400 // code points of each
)

// asks is the text of a question: what goes where, by which rule it asks, and the values that were found in it.
func (d *departure) asks(sends []string) string {
	var b strings.Builder
	line := func(s string) string {
		clean, _ := text.CleanLine(s, asksText)
		return clean
	}
	fmt.Fprintf(&b, "%s to %s: may it go? Rule %q asks.", d.request.Sink, line(d.request.Destination), d.verdict.Rule)
	with := "where it holds no labelled value"
	if len(d.request.Matches) > 0 {
		with = "where it holds these same values"
	}
	fmt.Fprintf(&b, "\nThe answer is remembered in this session for %s to %s, %s, until gatehouse egress forget.", d.request.Sink, line(d.host()), with)
	if n := len(d.request.Matches); n > 0 {
		fmt.Fprintf(&b, "\nIt holds what was read under the labels %s:", line(strings.Join(d.request.Labels, ", ")))
		for _, m := range d.request.Matches[:min(n, asksValues)] {
			fmt.Fprintf(&b, "\n  %q", line(m))
		}
		if n > asksValues {
			fmt.Fprintf(&b, "\n  and %d more", n-asksValues)
		}
	}
	for i, s := range sends[:min(len(sends), asksTexts)] {
		if i == 0 {
			b.WriteString("\nIt sends:")
		}
		b.WriteString("\n  " + line(s))
	}
	return b.String()
}

// row is the row of a decision; with more in it, that of its completion. It holds no content: a host that holds a
// labelled value stands as its hash.
func (d *departure) row(k *Kernel, more map[string]any) Entry {
	r := d.request
	destination := r.Destination
	for _, m := range r.Matches {
		if strings.Contains(strings.ToLower(destination+" "+r.Host), strings.ToLower(m)) {
			destination = textHash(destination)
			break
		}
	}
	pairs := map[string]any{
		"event": "decided", "sink": r.Sink, "destination": destination, "decision": d.verdict.Decision, "bytes": r.Bytes,
	}
	if len(r.Matches) > 0 {
		pairs["matches"] = len(r.Matches)
	}
	if d.question != 0 {
		pairs["question"] = d.question
	}
	if r.Caller.Step > 0 && r.Sink != SinkModel {
		pairs["step"] = r.Caller.Step
	}
	for name, value := range more {
		pairs[name] = value
	}
	return Entry{
		At: k.clock.Now(), Type: EventEgress, Session: r.Session, Turn: r.Caller.Turn, Actor: r.Caller.actor(),
		Authority: string(r.Caller.Person), Rule: d.verdict.Rule, Units: r.Units, Digest: r.Digest,
		Subject: string(r.Sink) + " " + destination, Detail: detail(pairs),
	}
}

// How what left came out, as the completing row says it.
const (
	wentOK          = "ok"
	wentError       = "error"
	wentWithheld    = "withheld" // it came back and was not released
	wentInterrupted = "interrupted"
)

// complete writes how something went that has a row of its own (sharing E2). The units are in the first row.
func (d *departure) complete(k *Kernel, tx recorder, how string) error {
	if d == nil || !d.logged {
		return nil
	}
	row := d.row(k, map[string]any{"event": "completed", "outcome": how})
	row.Units = nil
	return tx.Append(row)
}

// Permit asks the policy for a sink outside of calls, turns and the queue: an export, a file, the clipboard. The kernel
// fills in what it knows of the session; sends are the texts that would leave. What may not go is an *EgressError; an
// ask is a question in the queue, and passes when it is asked again after the answer. Done completes the row of the
// decision and is called once, with nil where all went well.
func (k *Kernel) Permit(ctx context.Context, r EgressRequest, sends ...string) (done func(error) error, err error) {
	d, err := k.permit(ctx, r, sends...)
	if err != nil {
		return nil, err
	}
	return func(fault error) error {
		how := wentOK
		if fault != nil {
			how = wentError
		}
		return k.store.Write(context.WithoutCancel(ctx), func(tx Tx) error { return d.complete(k, tx, how) })
	}, nil
}

// TestEgress says what the policy makes of a request, with what is known of its session filled in where one is named.
// Nothing is asked, remembered or written.
func (k *Kernel) TestEgress(ctx context.Context, r EgressRequest, sends ...string) (EgressVerdict, EgressRequest, error) {
	d := &departure{request: r}
	if r.Session != "" {
		err := k.store.Read(ctx, func(v View) error {
			s, err := findSession(v, string(r.Session))
			if err != nil {
				return err
			}
			d.request.Session = s.ID
			return d.fill(v, sends)
		})
		if err != nil {
			return EgressVerdict{}, r, err
		}
	}
	return k.egress.Decide(ctx, d.request), d.request, nil
}

// ForgetEgress takes back what persons answered about a host in a session, about all hosts where it is empty: it is asked
// again. It is a decision like any other.
func (k *Kernel) ForgetEgress(ctx context.Context, session, host string, by Authority) (int, error) {
	by, err := k.authorize(ctx, by)
	if err != nil {
		return 0, err
	}
	var n int
	err = k.store.Write(ctx, func(tx Tx) error {
		s, err := findSession(tx, session)
		if err != nil {
			return err
		}
		if err := maySettle(tx, s.ID, by.Person); err != nil {
			return err
		}
		if n, err = tx.ForgetEgress(s.ID, host); err != nil || n == 0 {
			return err
		}
		return tx.Append(Entry{
			At: k.clock.Now(), Type: EventEgress, Session: s.ID, Actor: string(by.Person), Authority: by.String(),
			Subject: "answers", Detail: detail(map[string]any{"event": "forgotten", "answers": n}),
		})
	})
	return n, err
}
