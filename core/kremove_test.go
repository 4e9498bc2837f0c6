package core_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
)

const canary = "kanarienvogel"

// newRemovalRig has a session in whose every part a canary sits: its name, what was said, asked, answered, queued,
// decided, drafted, applied and kept for an undo.
func newRemovalRig(t *testing.T) (*rig, []core.ActionID) {
	t.Helper()
	ctx := t.Context()
	r := newRig(t)
	r.kernel = r.newKernel(func(o *core.Options) { o.Scrub = r.db.Scrub })
	r.must(r.kernel.RenameSession(ctx, "work", canary+"-name", "alice"))
	real := r.made(canary + "-title")
	edited := r.submit("append", `{"id":%q,"text":%q}`, real, canary+"-edit")
	r.wantOutcomes(r.approve(edited), core.OutcomeApplied)
	rejected, _ := r.create(canary + "-rejected")
	r.reject(canary+"-reason", rejected)
	waiting := r.submit("append", `{"id":%q,"text":%q}`, real, canary+"-body")
	r.call("NOTES", "search", `{"query":%q}`, canary+"-query")

	session := string(r.session.ID)
	lease, err := r.kernel.StartTurn(ctx, core.StartTurn{Session: session, Task: canary + "-task", By: "alice", Model: "m", OnDenial: core.DenialEnd})
	r.must(err)
	next, err := r.kernel.NextStep(ctx, lease)
	r.must(err)
	step, err := r.kernel.StoreResponse(ctx, lease, next.Request, core.Response{Text: canary + "-said", Calls: []core.ToolCall{
		{ID: "c1", Name: "NOTES.create", Args: `{"title":"` + canary + `-agent"}`},
		{ID: "c2", Name: core.ToolAsk, Args: `{"question":"` + canary + `-question?","choices":["` + canary + `-choice","no"]}`},
	}})
	r.must(err)
	var question core.ActionID
	for _, call := range step.Response.Calls {
		out, err := r.kernel.RunCall(ctx, lease, step.Number, call)
		r.must(err)
		question = out.Action()
	}
	_, err = r.kernel.NextStep(ctx, lease)
	r.must(err)
	_, err = r.kernel.Answer(ctx, question, canary+"-choice", canary+"-because", r.by)
	r.must(err)
	_, err = r.kernel.DraftDecision(ctx, "alice", core.PlanItem{Action: waiting, Verdict: core.VerdictReject, Reason: canary + "-draft"}, 0)
	r.must(err)
	_, err = r.kernel.StopTurn(ctx, session, "alice")
	r.must(err)
	return r, []core.ActionID{edited, rejected, waiting, question}
}

func (r *rig) remove() {
	r.t.Helper()
	_, err := r.kernel.RemoveSession(context.Background(), string(r.session.ID), r.by)
	r.must(err)
}

// whole wants the record and the tables of the store as they should be.
func (r *rig) whole() {
	r.t.Helper()
	v, err := r.kernel.VerifyRecord(context.Background())
	if err != nil || !v.OK() {
		r.t.Errorf("record: %+v, %v", v.FirstBad, err)
	}
	if v, err = r.db.Fsck(context.Background()); err != nil || !v.OK() {
		r.t.Errorf("store: %+v, %v", v.FirstBad, err)
	}
}

func (r *rig) wantRemoved(what string, err error) {
	r.t.Helper()
	var removed *core.RemovedError
	if !errors.As(err, &removed) || !errors.Is(err, core.ErrNotFound) {
		r.t.Errorf("%s: got %v, want that the session was removed", what, err)
	}
}

func TestR33_ARemovedSessionIsHidden(t *testing.T) {
	r, ids := newRemovalRig(t)
	ctx, id := t.Context(), string(r.session.ID)
	waiting := ids[2]
	before, err := r.kernel.Queue(ctx, core.QueueQuery{Count: true})
	r.must(err)
	if before.Waiting == 0 || before.Total == 0 {
		t.Fatalf("got %+v, want something that waits", before)
	}
	plan := r.planApprove(waiting)
	r.remove()

	all, err := r.kernel.Sessions(ctx)
	r.must(err)
	page, err := r.kernel.Queue(ctx, core.QueueQuery{Count: true, AllState: true})
	r.must(err)
	drafts, err := r.kernel.Drafts(ctx, "alice")
	r.must(err)
	if len(all) != 0 || len(page.Rows) != 0 || page.Total != 0 || page.Waiting != 0 || page.Questions != 0 || len(drafts) != 0 {
		t.Errorf("got sessions %v, rows %v, counts %+v, drafts %v, want nothing of it", all, page.Rows, page, drafts)
	}
	_, err = r.kernel.Session(ctx, id)
	r.wantRemoved("by id", err)
	if _, err = r.kernel.Session(ctx, canary+"-name"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("by name: got %v", err)
	}
	_, err = r.kernel.PlanApprove(ctx, "alice", []core.ActionID{waiting}, core.PlanOptions{})
	r.wantRemoved("plan", err)
	_, err = r.kernel.Confirm(ctx, plan, r.by, core.ConfirmOptions{Unopened: true}, nil)
	r.wantRemoved("a plan made before", err)
	_, err = r.kernel.Peek(ctx, waiting)
	r.wantRemoved("show", err)
	_, err = r.kernel.DraftDecision(ctx, "alice", core.PlanItem{Action: waiting, Verdict: core.VerdictReject}, 0)
	r.wantRemoved("draft", err)
	_, err = r.kernel.StartTurn(ctx, core.StartTurn{Session: id, Task: "go on", By: "alice", Model: "m"})
	r.wantRemoved("turn", err)
	_, err = r.kernel.Call(ctx, core.CallRequest{Session: id, Binding: "NOTES", Method: "list", Args: []byte(`{}`), Caller: core.Caller{Kind: core.CallerPerson, Person: "alice"}})
	r.wantRemoved("call", err)
	r.whole()

	_, err = r.kernel.RestoreSession(ctx, id, "", r.by)
	r.must(err)
	after, err := r.kernel.Queue(ctx, core.QueueQuery{Count: true})
	r.must(err)
	if after.Waiting != before.Waiting || after.Total != before.Total || len(after.Rows) != len(before.Rows) {
		t.Errorf("got %+v after the restore, want %+v", after, before)
	}
	r.wantState(waiting, core.StatePending)
	r.wantOutcomes(r.approve(waiting), core.OutcomeApplied)
	var events []string
	for _, row := range r.rows(core.EventSession) {
		if row.Entry.Authority == "alice by pipe" {
			events = append(events, string(row.Entry.Detail))
		}
	}
	if len(events) != 2 || !strings.Contains(events[0], `"remove"`) || !strings.Contains(events[1], `"restore"`) {
		t.Errorf("got rows %v, want the remove and the restore with who decided them", events)
	}
}

func TestR33_TheNameOfARemovedSessionIsFree(t *testing.T) {
	r := newRig(t)
	ctx, id := t.Context(), string(r.session.ID)
	r.remove()
	_, err := r.kernel.NewSession(ctx, core.NewSession{Name: "work", Owner: "alice"})
	r.must(err)
	if _, err := r.kernel.RestoreSession(ctx, id, "", r.by); !errors.Is(err, core.ErrNameTaken) {
		t.Errorf("got %v, want that its name was given away", err)
	}
	s, err := r.kernel.RestoreSession(ctx, id, "work-old", r.by)
	r.must(err)
	if found, err := r.kernel.Session(ctx, "work-old"); err != nil || found.ID != s.ID {
		t.Errorf("got %v, %v", found.ID, err)
	}
	if _, err := r.kernel.RestoreSession(ctx, id, "", r.by); err == nil {
		t.Error("restored twice")
	}
}

// A preview that has to be made anew waits until its session is back, and holds up no other.
func TestR33_AStalePreviewOfARemovedSessionWaits(t *testing.T) {
	r := newRig(t)
	ctx, id := t.Context(), string(r.session.ID)
	real := r.made("x")
	stale := r.submit("append", `{"id":%q,"text":"more"}`, real)
	alterStore(t, r, `UPDATE head SET drifted = drifted + 1; UPDATE item SET drift = 'stale' WHERE id = `+fmt.Sprint(stale))
	r.remove()
	_, err := r.kernel.Peek(ctx, stale)
	r.wantRemoved("show", err)
	other, err := r.kernel.NewSession(ctx, core.NewSession{Name: "other", Owner: "alice"})
	r.must(err)
	r.session = other
	r.bind("NOTES", notesURL)
	id2, _ := r.create("y")
	r.wantOutcomes(r.approve(id2), core.OutcomeApplied)
	if got := r.stored(stale); got.Drift != core.DriftStale {
		t.Errorf("got drift %q, want it left as it was", got.Drift)
	}
	_, err = r.kernel.RestoreSession(ctx, id, "", r.by)
	r.must(err)
	if got := r.action(stale); got.Drift == core.DriftStale || got.Drift == core.DriftBlocked {
		t.Errorf("got drift %q after the restore, want a fresh preview", got.Drift)
	}
}

func TestR33_WhatIsAtWorkIsNotRemoved(t *testing.T) {
	r := newRig(t)
	ctx, id := t.Context(), string(r.session.ID)
	for _, c := range []struct {
		by   core.Authority
		want string
	}{
		{core.Authority{Person: "bob", Means: core.MeansPipe}, "not found"},
		{core.Authority{Person: "alice", Means: core.MeansPipe, AgentMark: "CLAUDECODE"}, "agent"},
	} {
		_, err := r.kernel.RemoveSession(ctx, id, c.by)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v", c.by, err)
		}
		if _, err = r.kernel.PurgeSession(ctx, id, c.by); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("purge by %+v: got %v", c.by, err)
		}
	}
	waiting, _ := r.create("x")
	alterStore(t, r, `UPDATE item SET state = 'claimed', claim_holder = 'other' WHERE id = `+fmt.Sprint(waiting))
	refused := func(want string) {
		t.Helper()
		for name, do := range map[string]func(context.Context, string, core.Authority) (core.Session, error){
			"rm": r.kernel.RemoveSession, "purge": r.kernel.PurgeSession,
		} {
			if _, err := do(ctx, id, r.by); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: got %v, want one line with %q", name, err, want)
			}
		}
	}
	refused("is being carried out")
	alterStore(t, r, `UPDATE item SET state = 'pending', claim_holder = '' WHERE id = `+fmt.Sprint(waiting))
	_, err := r.kernel.StartTurn(ctx, core.StartTurn{Session: id, Task: "go", By: "alice", Model: "m"})
	r.must(err)
	refused("turn 1 is running")
}

func alterStore(t *testing.T, r *rig, statement string) {
	t.Helper()
	raw, err := sql.Open("sqlite", r.db.Path()+"?_busy_timeout=5000")
	r.must(err)
	defer raw.Close()
	_, err = raw.Exec(statement)
	r.must(err)
}

func TestR33_APurgeRemovesContentAndNoRow(t *testing.T) {
	r, ids := newRemovalRig(t)
	ctx, id := t.Context(), string(r.session.ID)
	if !r.inFile(canary) {
		t.Fatal("no canary in the file before")
	}
	rows, set := len(r.rows()), r.units()
	digests := make(map[core.ActionID]core.Digest)
	for _, a := range ids[:3] {
		digests[a] = r.action(a).Digest
	}
	_, err := r.kernel.PurgeSession(ctx, id, r.by)
	r.must(err)

	if r.inFile(canary) {
		t.Error("the file still holds a canary")
	}
	for _, word := range []string{"name", "title", "edit", "rejected", "reason", "body", "query", "task", "said", "agent", "question", "choice", "because", "draft"} {
		if r.inFile(canary + "-" + word) {
			t.Errorf("it holds the one of %s", word)
		}
	}
	if got := r.units(); len(got) == 0 || fmt.Sprint(got) != fmt.Sprint(set) {
		t.Errorf("got the set %v, want %v", got, set)
	}
	if got := len(r.rows()); got != rows+2 {
		t.Errorf("got %d rows, want the %d of before, the removal and the purge", got, rows)
	}
	for a, want := range digests {
		if got := r.stored(a); got.Digest != want || got.Draft.Title != "" || len(got.Draft.Payload) > 0 || got.Reason != "" {
			t.Errorf("action %d: got %+v, want its digest %s alone", a, got, want)
		}
	}
	r.whole()
	_, err = r.kernel.RestoreSession(ctx, id, "", r.by)
	r.wantRemoved("restore", err)
	if _, err := r.kernel.PurgeSession(ctx, id, r.by); err != nil {
		t.Errorf("purged again: %v", err)
	}
	if got := len(r.rows()); got != rows+2 {
		t.Errorf("got %d rows after a second purge, want no more", got)
	}
}

// stored is an action as the store has it, hidden or not.
func (r *rig) stored(id core.ActionID) (a core.Action) {
	r.t.Helper()
	r.must(r.db.Read(context.Background(), func(v core.View) (err error) {
		a, err = v.Action(id)
		return err
	}))
	return a
}

func (r *rig) units() []core.Unit {
	r.t.Helper()
	all, err := r.kernel.Observations(context.Background(), "")
	r.must(err)
	var out []core.Unit
	for _, o := range all {
		out = append(out, o.Found.Unit)
	}
	return out
}

func TestR33_HiddenSessionsArePurgedOneByOneWhenTheirTimeIsOver(t *testing.T) {
	r, _ := newRemovalRig(t)
	ctx := t.Context()
	_, err := r.kernel.NewSession(ctx, core.NewSession{Name: "second", Owner: "alice"})
	r.must(err)
	r.remove()
	r.later(time.Hour)
	_, err = r.kernel.RemoveSession(ctx, "second", r.by)
	r.must(err)
	purged := func(want core.SessionID) {
		t.Helper()
		s, done, err := r.kernel.PurgeExpired(ctx)
		r.must(err)
		if done != (want != "") || (done && s.ID != want) {
			t.Errorf("got %v of %s, want %q", done, s.ID, want)
		}
	}
	r.later(core.RemovedFor - 2*time.Hour)
	purged("")
	if !r.inFile(canary) {
		t.Error("its content went before its time")
	}
	r.later(2 * time.Hour)
	purged("s1")
	purged("s2")
	purged("")
	if r.inFile(canary) {
		t.Error("the file still holds a canary")
	}
	rows := r.rows(core.EventSession)
	last := rows[len(rows)-1].Entry
	if last.Actor != "gatehouse" || last.Authority != "alice by pipe" || !strings.Contains(string(last.Detail), "purge") {
		t.Errorf("got the row %+v, want it on the authority of whoever removed it", last)
	}
	r.whole()
}

// TestK10_APurgeKeepsTheLatch: not even the end of a session clears it.
func TestK10_APurgeKeepsTheLatch(t *testing.T) {
	r := newLatchRig(t)
	r.kernel = r.newKernel(func(o *core.Options) { o.Scrub = r.db.Scrub })
	r.wantStatus(r.call("MAIL", "list", `{}`), core.StatusOK)
	latch, _ := r.latched()
	r.remove()
	_, err := r.kernel.RestoreSession(t.Context(), string(r.session.ID), "", r.by)
	r.must(err)
	if again, set := r.latched(); !set || again != latch {
		t.Errorf("got %+v, %v after a restore", again, set)
	}
	_, err = r.kernel.PurgeSession(t.Context(), string(r.session.ID), r.by)
	r.must(err)
	r.must(r.db.Read(t.Context(), func(v core.View) error {
		s, err := v.Session(string(r.session.ID))
		if err != nil || !s.Latched {
			t.Errorf("got latched %v, %v", s.Latched, err)
		}
		again, err := v.Latch(s.ID)
		if again != latch {
			t.Errorf("got %+v, want %+v", again, latch)
		}
		return err
	}))
}
