package store

import "gatehouse/core"

// awaitedBy counts what keeps the newest turn of a session from going on: what its last step asked for, or, before the
// first, letting the model be asked (kernel R27).
const awaitedBy = `(SELECT count(*) FROM item WHERE open = 1 AND lane <> 'simulate' AND item.session = session.id
	AND turn = (SELECT max(number) FROM turn WHERE turn.session = session.id)
	AND coalesce(caller ->> '$.step', 0) = (SELECT coalesce(max(number), 0) FROM step WHERE step.session = session.id AND step.turn = item.turn)
	AND state IN ('pending', 'claimed', 'open') AND caller ->> '$.kind' = 'agent' AND kind `

// turnStanding are the columns of a session's newest turn.
const turnStanding = `coalesce((SELECT state FROM turn WHERE turn.session = session.id ORDER BY number DESC LIMIT 1), ''),
	coalesce((SELECT reason FROM turn WHERE turn.session = session.id ORDER BY number DESC LIMIT 1), ''),
	` + awaitedBy + `<> 'question'),
	` + awaitedBy + `= 'question')`

// standing is where the newest turn of a session stands; its state is empty where there is none.
type standing struct {
	state   core.TurnState
	reason  string
	awaited int
	asked   int
}

func (t *standing) dest() []any { return []any{&t.state, &t.reason, &t.awaited, &t.asked} }

// overrule puts what a turn says of a session in the place of what its queue says. One that ended well says nothing.
func (t standing) overrule(s *core.SessionSummary) {
	switch t.state {
	case core.TurnRunning:
		s.State, s.WaitingFor = core.SessionRunning, ""
	case core.TurnFailed:
		s.State, s.WaitingFor = core.SessionFailed, t.reason
	case core.TurnSuspended:
		s.State, s.WaitingFor = t.suspended()
	}
}

func (t standing) suspended() (core.SessionState, string) {
	decide := count(t.awaited, "action to decide", "actions to decide")
	answer := count(t.asked, "question to answer", "questions to answer")
	switch {
	case t.asked > 0 && t.awaited > 0:
		return core.SessionWaitingAnswer, answer + ", " + decide
	case t.asked > 0:
		return core.SessionWaitingAnswer, answer
	case t.awaited > 0:
		return core.SessionWaitingDecision, decide
	default:
		return core.SessionReady, "the turn to be continued"
	}
}
