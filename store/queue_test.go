package store

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatehouse/core"
)

func ask(t testing.TB, db *DB, session core.SessionID, text string) core.Question {
	t.Helper()
	q := core.Question{
		Session: session, Text: text, Choices: []string{"yes", "no"}, State: core.QuestionOpen, AskedAt: noon,
		Caller: core.Caller{Kind: core.CallerAgent, Person: "alice", Turn: 1},
	}
	write(t, db, func(tx core.Tx) error { return tx.InsertQuestion(&q) })
	return q
}

// queueModel is what the queue holds, and its definition, row by row.
type queueModel struct {
	actions   []core.Action
	questions []core.Question
}

type modelRow struct {
	id                     core.ActionID
	session, kind, binding string
	state, title, fields   string
	turn                   int
	risk                   core.Risk
	open                   bool
	group                  string
}

func (m *queueModel) rows(q core.QueueQuery) []modelRow {
	var rows []modelRow
	for _, a := range m.actions {
		var fields []string
		for _, f := range a.Draft.Fields {
			fields = append(fields, f.Name, string(f.Before), string(f.After))
		}
		rows = append(rows, modelRow{
			id: a.ID, session: string(a.Session), kind: a.Draft.Kind, binding: string(a.Binding), state: string(a.State), title: a.Draft.Title,
			fields: strings.ToLower(strings.Join(fields, "\n")), turn: a.Caller.Turn, risk: a.Risk(), open: a.Undecided(),
		})
	}
	for _, a := range m.questions {
		rows = append(rows, modelRow{
			id: a.ID, session: string(a.Session), kind: core.QueueKindQuestion, state: string(a.State), title: a.Text,
			turn: a.Caller.Turn, risk: core.RiskLow, open: a.State == core.QuestionOpen,
		})
	}
	rows = slices.DeleteFunc(rows, func(r modelRow) bool { return !wanted(q, r) })
	for i := range rows {
		switch q.Order {
		case core.OrderSession:
			rows[i].group = rows[i].session
		case core.OrderKind:
			rows[i].group = rows[i].kind
		case core.OrderBinding:
			rows[i].group = rows[i].binding
		}
	}
	slices.SortFunc(rows, func(a, b modelRow) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.id, b.id))
	})
	return rows
}

func wanted(q core.QueueQuery, r modelRow) bool {
	state := q.AllState || (len(q.States) == 0 && r.open) || slices.Contains(q.States, r.state)
	if !state || (q.Session != "" && r.session != string(q.Session)) || (q.Session != "" && q.Turn != 0 && r.turn != q.Turn) {
		return false
	}
	if (len(q.IDs) > 0 && !slices.Contains(q.IDs, r.id)) || (len(q.Kinds) > 0 && !slices.Contains(q.Kinds, r.kind)) {
		return false
	}
	if (q.Risk != "" && r.risk != q.Risk) || (q.UpTo != 0 && r.id > q.UpTo) {
		return false
	}
	for _, w := range q.Words {
		if !strings.Contains(strings.ToLower(r.title), strings.ToLower(w)) {
			return false
		}
	}
	return q.Grep == "" || strings.Contains(r.fields, strings.ToLower(q.Grep))
}

func (m *queueModel) fill(t testing.TB, db *DB) {
	t.Helper()
	var sessions []core.SessionID
	for i := range 12 {
		sessions = append(sessions, newSession(t, db, fmt.Sprint("session ", i)))
	}
	for i := range 3 * indexBacklog / 2 { // titles in the index, and some that are not yet
		session := sessions[i%len(sessions)]
		if i%9 == 4 {
			m.questions = append(m.questions, ask(t, db, session, fmt.Sprintf("May I touch page %d%%?", i)))
			continue
		}
		a := draftOf(session, fmt.Sprint("Page_", i))
		a.Binding = core.BindingName([]string{"SITE", "NOTES", "A"}[i%3])
		a.Draft.Kind = []string{"files.edit", "files.move", "notes.add", "question.like"}[i%4]
		a.Draft.Irreversible = i%5 == 0
		a.Draft.Fields[0].After = []byte(fmt.Sprintf(`"Zeile \"%d\""`, i))
		a.Caller.Turn = i % 3
		m.actions = append(m.actions, submit(t, db, a))
	}
	for i := range m.actions {
		if i%4 == 1 {
			m.actions[i] = m.change(t, db, m.actions[i], core.States()[i/4%len(core.States())])
		}
	}
}

func (m *queueModel) change(t testing.TB, db *DB, a core.Action, state core.State) core.Action {
	t.Helper()
	after := change(t, db, a.ID, func(a *core.Action) { a.State, a.ClaimHolder = state, "p" })
	after.Draft.Fields = a.Draft.Fields
	return after
}

func TestQueueAgainstItsDefinition(t *testing.T) {
	db := openNew(t)
	m := &queueModel{}
	m.fill(t, db)
	words := []string{"page", "PAGE_1", "e_", "edit page_3", "1", "%", `"`, "e", "touch page 4%", "", "é", "page_37", `\`}
	rapid.Check(t, func(rt *rapid.T) {
		q := core.QueueQuery{
			Session:  core.SessionID(rapid.SampledFrom([]string{"", "", "s1", "s10", "s99"}).Draw(rt, "session")),
			Turn:     rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(rt, "turn"),
			IDs:      rapid.SampledFrom([][]core.ActionID{nil, nil, {3, 7, 300, 5}}).Draw(rt, "ids"),
			States:   rapid.SampledFrom([][]string{nil, nil, {"applied"}, {"pending"}, {"unknown", "rejected"}, {"open", "answered"}}).Draw(rt, "states"),
			AllState: rapid.IntRange(0, 3).Draw(rt, "all") == 0,
			Kinds:    rapid.SampledFrom([][]string{nil, nil, {"question"}, {"files.edit", "question"}}).Draw(rt, "kinds"),
			Risk:     rapid.SampledFrom([]core.Risk{"", "", core.RiskHigh, core.RiskLow}).Draw(rt, "risk"),
			UpTo:     rapid.SampledFrom([]core.ActionID{0, 0, 100, 10000}).Draw(rt, "upto"),
			Words:    rapid.SliceOfN(rapid.SampledFrom(words), 0, 2).Draw(rt, "words"),
			Grep:     rapid.SampledFrom([]string{"", "", `ZEILE \"1`, `mode`, `"a" : 1`}).Draw(rt, "grep"),
			Order:    rapid.SampledFrom([]core.QueueOrder{core.OrderID, core.OrderSession, core.OrderKind, core.OrderBinding}).Draw(rt, "order"),
			Limit:    rapid.IntRange(1, 90).Draw(rt, "limit"),
			Count:    true,
		}
		if strings.Contains(q.Grep, "Z") {
			q.Grep = `zeile "1` // as people see it, not as JSON escapes it
		}
		model := q
		if strings.Contains(q.Grep, "zeile") {
			model.Grep = `zeile \"1`
		}
		checkPages(t, db, q, m.rows(model))
	})
}

// checkPages walks a list to its end and back and compares every row.
func checkPages(t *testing.T, db *DB, q core.QueueQuery, want []modelRow) {
	t.Helper()
	ids := func(rows []core.QueueRow) (out []core.ActionID) {
		for _, r := range rows {
			out = append(out, r.ID)
		}
		return out
	}
	var all []core.ActionID
	for _, r := range want {
		all = append(all, r.id)
	}
	var forwards, backwards []core.ActionID
	read(t, db, func(v core.View) error {
		next := q
		for more := true; more; {
			page, err := v.Queue(next)
			if err != nil {
				return err
			}
			if page.Total != len(want) {
				t.Fatalf("%+v: total %d, want %d", q, page.Total, len(want))
			}
			if more = page.More; more && len(page.Rows) != q.Limit {
				t.Fatalf("%+v: a page of %d with more behind it", q, len(page.Rows))
			}
			forwards = append(forwards, ids(page.Rows)...)
			if more {
				next.After = &page.Rows[len(page.Rows)-1].Place
			}
		}
		next = q
		next.Last = true
		for more := true; more; {
			page, err := v.Queue(next)
			if err != nil {
				return err
			}
			backwards = append(backwards, ids(page.Rows)...)
			if more = page.More; more {
				next.Last, next.Before = false, &page.Rows[len(page.Rows)-1].Place
			}
		}
		return nil
	})
	slices.Reverse(backwards)
	if !slices.Equal(forwards, all) || !slices.Equal(backwards, all) {
		t.Fatalf("%+v:\nforwards  %v\nbackwards %v\nwant      %v", q, forwards, backwards, all)
	}
}

func TestQueueRowsSayWhatListsShow(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	a := submit(t, db, draftOf(s, "a"))
	q := ask(t, db, s, "May I?")
	read(t, db, func(v core.View) error {
		page, err := v.Queue(core.QueueQuery{Order: core.OrderBinding, Count: true})
		if err != nil {
			return err
		}
		if len(page.Rows) != 2 || page.Newest != 2 || page.Questions != 1 || page.Waiting != 1 || page.More {
			t.Fatalf("%+v", page)
		}
		row := page.Rows[1]
		want := core.QueueRow{
			Summary: core.Summary{
				ID: a.ID, Session: s, Binding: "SITE", Gatekeeper: "files", Connection: "c1", Resource: "root", Kind: "files.edit",
				Lane: core.LaneSimulate, Title: "Edit a", State: core.StatePending, Risk: core.RiskLow, Digest: a.Digest, CreatedAt: noon,
			},
			SessionName: "one", Place: core.QueuePlace{Group: "SITE", ID: a.ID}, Version: 1, Caller: a.Caller,
		}
		if row != want {
			t.Errorf("got\n%+v\nwant\n%+v", row, want)
		}
		question := page.Rows[0].Question
		if question == nil || fmt.Sprint(*question) != fmt.Sprint(q) {
			t.Errorf("got %+v, want %+v", question, q)
		}
		return nil
	})
	if err := db.Read(background, func(v core.View) error {
		_, err := v.Queue(core.QueueQuery{Order: "size"})
		return err
	}); err == nil {
		t.Error("an order that is none was accepted")
	}
}

// What a transaction sees of the header is what it has changed.
func TestQueueWithinATransaction(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	write(t, db, func(tx core.Tx) error {
		a := draftOf(s, "a")
		err := tx.InsertAction(&a)
		page, qerr := tx.Queue(core.QueueQuery{Count: true})
		if page.Waiting != 1 || page.Newest != 1 || page.Total != 1 {
			t.Errorf("%+v", page)
		}
		return errors.Join(err, qerr)
	})
}

func TestQuestionIsAnsweredOnce(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	q := ask(t, db, s, "May I?")
	answer := func(text string) bool {
		after := q
		after.State, after.Answer, after.DecidedBy, after.DecidedAt, after.Reason = core.QuestionAnswered, text, "alice", noon, "so"
		var won bool
		write(t, db, func(tx core.Tx) (err error) {
			won, err = tx.ChangeQuestion(q, &after)
			return err
		})
		return won
	}
	if !answer("yes") || answer("no") {
		t.Error("two answers")
	}
	read(t, db, func(v core.View) error {
		got, err := v.Question(q.ID)
		want := q
		want.State, want.Answer, want.DecidedBy, want.DecidedAt, want.Reason, want.Version = core.QuestionAnswered, "yes", "alice", noon, "so", 2
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if _, err := v.Action(q.ID); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("a question as an action: %v", err)
		}
		return err
	})
	fsckOK(t, db)
}

// Every page is found along an index: no row is sorted, and none is read that is not shown.
func TestQueuePagesFollowAnIndex(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	for order, index := range map[core.QueueOrder]string{
		core.OrderID: "item_open", core.OrderSession: "item_session", core.OrderKind: "item_kind", core.OrderBinding: "item_binding",
	} {
		column, err := group(order)
		if err != nil {
			t.Fatal(err)
		}
		place := &core.QueuePlace{Group: "x", ID: 5}
		for i, sp := range []span{{}, {from: place}, {from: place, within: column != ""}} {
			query, args := queueBatchQuery(core.QueueQuery{Order: order}, match{}, column, sp, i > 0, 10)
			plan := explainQuery(t, db, query, args...)
			if !strings.Contains(plan, index) || strings.Contains(plan, "TEMP B-TREE") {
				t.Errorf("order %q: %s", order, plan)
			}
		}
	}
	query, args := queueBatchQuery(core.QueueQuery{Session: s}, match{}, "", span{}, false, 10)
	if plan := explainQuery(t, db, query, args...); !strings.Contains(plan, "item_session") || strings.Contains(plan, "TEMP B-TREE") {
		t.Errorf("one session: %s", plan)
	}
}

// P2 and P3's part that is the store's, at 100,000 actions.
func BenchmarkQueue(b *testing.B) {
	db := openAt(b, filepath.Join(benchDir(b), "g.db"))
	fillQueue(b, db, 100_000)
	like := `SELECT id FROM item WHERE open = 1 AND title LIKE '%' || ? || '%' ORDER BY id LIMIT 200`
	middle := &core.QueuePlace{Group: "B5", ID: 50_000}
	for name, q := range map[string]core.QueueQuery{
		"id": {Limit: 40, After: middle}, "kind": {Limit: 40, Order: core.OrderKind, After: &core.QueuePlace{Group: "files.edit", ID: 50_000}},
		"binding": {Limit: 40, Order: core.OrderBinding, After: middle}, "session": {Limit: 40, Order: core.OrderSession, Last: true},
		"open": {Count: true}, "rare word": {Words: []string{"file-77777"}, Count: true}, "common word": {Words: []string{"file-7"}, Limit: 40},
		"common word, counted": {Words: []string{"file-7"}, Count: true, Limit: 40}, "short word": {Words: []string{"7"}, Limit: 40},
		"rare word by kind": {Words: []string{"file-7777"}, Limit: 40, Order: core.OrderKind},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				read(b, db, func(v core.View) error {
					_, err := v.Queue(q)
					return err
				})
			}
		})
	}
	b.Run("LIKE", func(b *testing.B) {
		for b.Loop() {
			read(b, db, func(v core.View) error {
				_, err := v.(*view).ids(like, "file-77777")
				return err
			})
		}
	})
}

func fillQueue(b *testing.B, db *DB, n int) {
	b.Helper()
	s := newSession(b, db, "one")
	begin := time.Now()
	for done := 0; done < n; {
		write(b, db, func(tx core.Tx) error {
			for range 5000 {
				a := benchAction(s, done)
				if err := tx.InsertAction(&a); err != nil {
					return err
				}
				done++
			}
			return nil
		})
	}
	b.Logf("%d actions in %s", n, time.Since(begin).Round(time.Millisecond))
}
