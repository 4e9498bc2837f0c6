package store

import "gatehouse/core"

// head is the one row that every change needs: read once in a transaction, written once at its end.
type head struct {
	item    core.ActionID
	change  int64
	indexed core.ActionID
	log     core.Head
	tally   tally
}

// tally counts what the header of the queue shows, so that no screen has to walk the queue for it.
type tally struct {
	waiting, drifted, unknown, questions, undecided int
}

func (t *tally) add(o tally, sign int) {
	t.waiting += sign * o.waiting
	t.drifted += sign * o.drifted
	t.unknown += sign * o.unknown
	t.questions += sign * o.questions
	t.undecided += sign * o.undecided
}

func tallyOf(a core.Action) tally {
	var t tally
	if a.State == core.StatePending {
		t.waiting = 1
		if a.Drift != core.DriftNone {
			t.drifted = 1
		}
	}
	if a.State == core.StateUnknown {
		t.unknown = 1
	}
	if a.Undecided() {
		t.undecided = 1
	}
	return t
}

func tallyOfQuestion(q core.Question) tally {
	if q.State == core.QuestionOpen {
		return tally{questions: 1, undecided: 1}
	}
	return tally{}
}

func (v *view) readHead() (head, error) {
	var h head
	var hash []byte
	err := v.l.one(`SELECT item, change, indexed, log_seq, log_hash, waiting, drifted, unknown, questions, undecided FROM head`, nil,
		&h.item, &h.change, &h.indexed, &h.log.Seq, &hash,
		&h.tally.waiting, &h.tally.drifted, &h.tally.unknown, &h.tally.questions, &h.tally.undecided)
	copy(h.log.Hash[:], hash)
	return h, err
}

// currentHead is the head as this view sees it, changes of a running transaction among them.
func (v *view) currentHead() (head, error) {
	if v.held != nil {
		return *v.held, nil
	}
	return v.readHead()
}

// forChange hands out the head of this transaction; what is changed in it is stored at the end.
func (t *tx) forChange() (*head, error) {
	if t.held == nil {
		h, err := t.readHead()
		if err != nil {
			return nil, err
		}
		t.held = &h
	}
	return t.held, nil
}

func (t *tx) saveHead() error {
	if t.held == nil {
		return nil
	}
	h := t.held
	_, err := t.l.exec(`UPDATE head SET item = ?, change = ?, indexed = ?, log_seq = ?, log_hash = ?,
		waiting = ?, drifted = ?, unknown = ?, questions = ?, undecided = ?`,
		int64(h.item), h.change, int64(h.indexed), h.log.Seq, h.log.Hash[:],
		h.tally.waiting, h.tally.drifted, h.tally.unknown, h.tally.questions, h.tally.undecided)
	return err
}
