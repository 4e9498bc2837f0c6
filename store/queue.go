package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"gatehouse/core"
)

// queueLimit is the size of a page where none is asked for.
const queueLimit = 200

// conditions collects what a query is narrowed by.
type conditions struct {
	where []string
	args  []any
}

func (c *conditions) add(where string, args ...any) {
	c.where, c.args = append(c.where, where), append(c.args, args...)
}

// in narrows a column to a list of values.
func in[T any](c *conditions, column string, values []T) {
	if len(values) == 0 {
		return
	}
	c.where = append(c.where, column+" IN (?"+strings.Repeat(", ?", len(values)-1)+")")
	for _, v := range values {
		c.args = append(c.args, v)
	}
}

func (c *conditions) clause() string {
	if len(c.where) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(c.where, " AND ")
}

// Queue implements core.View. A page costs what it shows: rows are found along an index, from the place that is given.
// What is looked for in titles goes through the trigram index where it can, else rows are read and compared.
func (v *view) Queue(q core.QueueQuery) (core.QueuePage, error) {
	h, err := v.currentHead()
	if err != nil {
		return core.QueuePage{}, err
	}
	page := core.QueuePage{Newest: h.item}
	if q.Limit <= 0 {
		q.Limit = queueLimit
	}
	m := newMatch(q, h)
	if page.Rows, page.More, err = v.queueRows(q, m); err != nil {
		return core.QueuePage{}, err
	}
	if q.Count {
		if err := v.withoutHidden(&h.tally); err != nil {
			return core.QueuePage{}, err
		}
		page.Waiting, page.Drifted, page.Unknown, page.Questions = h.tally.waiting, h.tally.drifted, h.tally.unknown, h.tally.questions
		if page.Total, err = v.queueTotal(q, m, h); err != nil {
			return core.QueuePage{}, err
		}
	}
	return page, nil
}

// group is the column that an order keeps together; empty for the order by id.
func group(order core.QueueOrder) (string, error) {
	switch order {
	case core.OrderID:
		return "", nil
	case core.OrderSession:
		return "item.session", nil
	case core.OrderKind:
		return "item.kind", nil
	case core.OrderBinding:
		return "item.binding", nil
	default:
		return "", fmt.Errorf("queue: order %q is none; use session, kind or binding", order)
	}
}

// filter is the part of a query that rows are narrowed by, without place and text.
func filter(q core.QueueQuery) *conditions {
	c := &conditions{}
	c.add("item.session NOT IN (SELECT id FROM session WHERE removed_at <> 0)")
	switch {
	case onlyOpen(q):
		c.add("item.open = 1")
	case onlyDecided(q):
		c.add("item.open = 0")
	case q.Session != "": // lets the index on both be used
		c.add("item.open IN (0, 1)")
	}
	if !q.AllState {
		in(c, "item.state", q.States)
	}
	if q.Session != "" {
		c.add("item.session = ?", q.Session)
		if q.Turn != 0 {
			c.add("item.turn = ?", q.Turn)
		}
	}
	ids := make([]int64, len(q.IDs))
	for i, id := range q.IDs {
		ids[i] = int64(id)
	}
	if len(ids) > 0 { // one parameter, however many: a plan may name ten thousand
		text, _ := encode(ids) // integers always encode
		c.add("item.id IN (SELECT value FROM json_each(?))", text)
	}
	in(c, "item.kind", q.Kinds)
	if q.Risk != "" {
		c.add("item.risk = ?", q.Risk)
	}
	if q.UpTo != 0 {
		c.add("item.id <= ?", int64(q.UpTo))
	}
	return c
}

const queueColumns = `item.id, item.session, item.binding, item.gatekeeper, item.connection, item.resource, item.kind, item.lane,
	item.title, item.state, item.drift, item.retryable, item.risk, item.digest, item.created_at, item.reason, item.version, item.caller,
	item.decided_at, item.decided_by`

// queueRows reads one window; rows that the text leaves out are passed over, batch by batch.
func (v *view) queueRows(q core.QueueQuery, m match) (rows []core.QueueRow, more bool, err error) {
	column, err := group(q.Order)
	if err != nil {
		return nil, false, err
	}
	from, backwards := q.After, false
	if q.Before != nil || q.Last {
		from, backwards = q.Before, true
	}
	for {
		batch := q.Limit + 1 - len(rows)
		if m.slow() {
			batch = max(batch, 1000)
		}
		found, err := v.queueBatch(q, m, column, from, backwards, batch)
		if err != nil {
			return nil, false, err
		}
		for i := range found {
			keep, err := m.keeps(v, &found[i])
			if err != nil {
				return nil, false, err
			}
			if !keep {
				continue
			}
			if len(rows) == q.Limit {
				return rows, true, v.fill(rows)
			}
			rows = append(rows, found[i])
		}
		if len(found) < batch {
			return rows, false, v.fill(rows)
		}
		from = &found[len(found)-1].Place
	}
}

// queueBatch reads on from a place. In an order of groups that is first the rest of the place's own group, then what is
// behind it: a comparison of both at once would make SQLite walk the group from its beginning.
func (v *view) queueBatch(q core.QueueQuery, m match, column string, from *core.QueuePlace, backwards bool, limit int) ([]core.QueueRow, error) {
	spans := []span{{from: from}}
	if column != "" && from != nil {
		spans = []span{{from: from, within: true}, {from: from}}
	}
	var rows []core.QueueRow
	for _, sp := range spans {
		if len(rows) == limit {
			break
		}
		query, args := queueBatchQuery(q, m, column, sp, backwards, limit-len(rows))
		err := v.l.each(v.ctx, query, args, func(row scanner) error {
			r, err := scanQueueRow(row, q.Order)
			rows = append(rows, r)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// span is a stretch of a list: what is behind a place, or behind it within its group.
type span struct {
	from   *core.QueuePlace
	within bool
}

func queueBatchQuery(q core.QueueQuery, m match, column string, sp span, backwards bool, limit int) (string, []any) {
	c := filter(q)
	m.narrow(c)
	compare, direction := ">", ""
	if backwards {
		compare, direction = "<", " DESC"
	}
	order := "item.id" + direction
	if column != "" && !sp.within {
		order = column + direction + ", " + order
	}
	switch {
	case sp.from == nil:
	case column == "":
		c.add("item.id "+compare+" ?", int64(sp.from.ID))
	case sp.within:
		c.add(column+" = ?", sp.from.Group)
		c.add("item.id "+compare+" ?", int64(sp.from.ID))
	default:
		c.add(column+" "+compare+" ?", sp.from.Group)
	}
	return `SELECT ` + queueColumns + ` FROM item` + along(q, m) + c.clause() + ` ORDER BY ` + order + ` LIMIT ?`, append(c.args, limit)
}

// along names the index that gives rows in the order asked for. Left alone the planner takes any index on open, reads
// all of the queue and sorts it.
func along(q core.QueueQuery, m match) string {
	switch {
	case len(m.long) > 0 || len(q.IDs) > 0:
		return " NOT INDEXED" // few rows, by id
	case q.Session != "":
		return " INDEXED BY item_session"
	case !onlyOpen(q):
		return ""
	case q.Order == core.OrderSession:
		return " INDEXED BY item_session"
	case q.Order == core.OrderKind:
		return " INDEXED BY item_kind"
	case q.Order == core.OrderBinding:
		return " INDEXED BY item_binding"
	default:
		return " INDEXED BY item_open"
	}
}

// onlyOpen reports that a query asks for nothing that is decided.
func onlyOpen(q core.QueueQuery) bool {
	for _, s := range q.States {
		if core.QuestionState(s) != core.QuestionOpen && !(core.Action{State: core.State(s)}).Undecided() {
			return false
		}
	}
	return !q.AllState
}

// onlyDecided reports that it asks for nothing else.
func onlyDecided(q core.QueueQuery) bool {
	for _, s := range q.States {
		if core.QuestionState(s) == core.QuestionOpen || (core.Action{State: core.State(s)}).Undecided() {
			return false
		}
	}
	return !q.AllState && len(q.States) > 0
}

func scanQueueRow(row scanner, order core.QueueOrder) (core.QueueRow, error) {
	var r core.QueueRow
	var digest []byte
	var created, decided int64
	var caller string
	var by core.PersonID
	err := row.Scan(&r.ID, &r.Session, &r.Binding, &r.Gatekeeper, &r.Connection, &r.Resource, &r.Kind, &r.Lane,
		&r.Title, &r.State, &r.Drift, &r.Retryable, &r.Risk, &digest, &created, &r.Reason, &r.Version, &caller, &decided, &by)
	if err != nil {
		return r, err
	}
	r.Digest, r.CreatedAt = digestOf(digest), moment(created)
	if err := json.Unmarshal([]byte(caller), &r.Caller); err != nil {
		return r, fmt.Errorf("action %d: caller: %w (%w)", r.ID, ErrDamaged, err)
	}
	r.Place = core.QueuePlace{ID: r.ID}
	switch order {
	case core.OrderSession:
		r.Place.Group = string(r.Session)
	case core.OrderKind:
		r.Place.Group = r.Kind
	case core.OrderBinding:
		r.Place.Group = string(r.Binding)
	case core.OrderID:
	}
	if r.Kind == core.QueueKindQuestion {
		r.Question = &core.Question{
			ID: r.ID, Session: r.Session, Caller: r.Caller, Text: r.Title, State: core.QuestionState(r.State),
			Reason: r.Reason, AskedAt: r.CreatedAt, DecidedAt: moment(decided), DecidedBy: by, Version: r.Version,
		}
	}
	return r, nil
}

// fill adds to the rows of a page what is not in the list's own table.
func (v *view) fill(rows []core.QueueRow) error {
	names := make(map[core.SessionID]string)
	for i := range rows {
		r := &rows[i]
		name, known := names[r.Session]
		if !known {
			if err := v.l.one(`SELECT name FROM session WHERE id = ?`, []any{r.Session}, &name); err != nil {
				return fmt.Errorf("session %s: %w", r.Session, err)
			}
			names[r.Session] = name
		}
		r.SessionName = name
		if r.Question == nil {
			continue
		}
		var choices sql.NullString
		err := v.l.one(`SELECT choices, answer FROM question WHERE id = ?`, []any{int64(r.ID)}, &choices, &r.Question.Answer)
		if err != nil {
			return fmt.Errorf("question %d: %w", r.ID, err)
		}
		if err := decode(choices, &r.Question.Choices); err != nil {
			return err
		}
	}
	return nil
}

// queueTotal counts all rows that match. The plain queue's total is kept; others are counted along an index.
func (v *view) queueTotal(q core.QueueQuery, m match, h head) (int, error) {
	plain := !q.AllState && len(q.States) == 0 && q.Session == "" && len(q.IDs) == 0 && len(q.Kinds) == 0 && q.Risk == ""
	if plain && m.none() && (q.UpTo == 0 || q.UpTo >= h.item) {
		return h.tally.undecided, nil
	}
	c := filter(q)
	m.narrow(c)
	if !m.slow() {
		var n int
		err := v.l.one(`SELECT count(*) FROM item`+along(q, m)+c.clause(), c.args, &n)
		return n, err
	}
	total := 0
	err := v.l.each(v.ctx, `SELECT item.id, item.title FROM item`+along(q, m)+c.clause(), c.args, func(row scanner) error {
		var r core.QueueRow
		if err := row.Scan(&r.ID, &r.Title); err != nil {
			return err
		}
		keep, err := m.keeps(v, &r)
		if keep {
			total++
		}
		return err
	})
	return total, err
}
