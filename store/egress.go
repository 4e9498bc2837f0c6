package store

import (
	"time"

	"gatehouse/core"
)

// EgressAnswers implements core.View.
func (v *view) EgressAnswers(session core.SessionID, sink core.EgressSink, host string) ([]core.EgressAnswer, error) {
	var out []core.EgressAnswer
	err := v.l.each(v.ctx, `SELECT egress.session, egress.sink, egress.host, egress.matches, egress.turn, egress.step, egress.question,
			item.state, egress.decision, egress.asked_at
		FROM egress JOIN item ON item.id = egress.question WHERE egress.session = ? AND egress.sink = ? AND egress.host = ?
		ORDER BY egress.question`, []any{session, sink, host},
		func(row scanner) error {
			var a core.EgressAnswer
			var at int64
			err := row.Scan(&a.Session, &a.Sink, &a.Host, &a.Matches, &a.Turn, &a.Step, &a.Question, &a.State, &a.Decision, &at)
			a.At = moment(at)
			out = append(out, a)
			return err
		})
	return out, err
}

// InsertEgressQuestion implements core.Tx.
func (t *tx) InsertEgressQuestion(a core.EgressAnswer) error {
	_, err := t.l.exec(`INSERT INTO egress (question, session, sink, host, matches, turn, step, decision, asked_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		int64(a.Question), a.Session, a.Sink, a.Host, a.Matches, a.Turn, a.Step, a.Decision, nanos(a.At))
	return err
}

// AnswerEgress implements core.Tx.
func (t *tx) AnswerEgress(question core.ActionID, decision core.EgressDecision, at time.Time) (bool, error) {
	n, err := t.l.exec(`UPDATE egress SET decision = ?, decided_at = ? WHERE question = ? AND decision = ''`,
		decision, nanos(at), int64(question))
	return n == 1, err
}

// ForgetEgress implements core.Tx.
func (t *tx) ForgetEgress(session core.SessionID, host string) (int, error) {
	n, err := t.l.exec(`DELETE FROM egress WHERE session = ?1 AND decision <> '' AND (?2 = '' OR host = ?2)`, session, host)
	return int(n), err
}
