package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/gatekeepers/memory"
)

// open makes a resource of the driver alone.
func open(t *testing.T, d *memory.Driver, url string) core.Resource {
	t.Helper()
	c, err := d.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Open(context.Background(), c, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func service(t *testing.T, d *memory.Driver, url string) *memory.Service {
	t.Helper()
	s, err := d.Service(url)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func moment() time.Time { return time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC) }

func callOf(method, args string) core.Call {
	return core.Call{Method: method, Args: json.RawMessage(args), At: moment(), Next: 1}
}

// prepare makes a draft that must be possible.
func prepare(t *testing.T, r core.Resource, call core.Call, journal core.Journal) core.Draft {
	t.Helper()
	d, err := r.Prepare(context.Background(), call, journal)
	if err != nil {
		t.Fatalf("%s %s: %v", call.Method, call.Args, err)
	}
	return d
}

func effectOf(id core.ActionID, d core.Draft) core.Effect {
	return core.Effect{
		Action: id, Kind: d.Kind, Payload: d.Payload, Fields: d.Fields, Targets: d.Targets, Provides: d.Provides,
		Needs: d.Needs, After: d.After, CreatedAt: moment(), State: core.StatePending,
	}
}

func dispatchOf(id core.ActionID, d core.Draft) core.Dispatch {
	return core.Dispatch{Action: id, Kind: d.Kind, Payload: d.Payload, Base: d.Base, Provides: d.Provides, At: moment()}
}

func eachForm(t *testing.T, run func(t *testing.T, form string)) {
	for _, form := range []string{"overlay", "native"} {
		t.Run(form, func(t *testing.T) { run(t, form) })
	}
}

func TestMove_BringsItsSourceAndItsUnitAlong(t *testing.T) {
	eachForm(t, func(t *testing.T, form string) {
		d := memory.New()
		r := open(t, d, "memory://svc?seed=1&replay="+form)
		edit := prepare(t, r, callOf("append", `{"collection":"notes","id":"item-1","text":"edited\n"}`), core.Journal{})
		journal := core.Journal{Effects: []core.Effect{effectOf(1, edit)}}
		move := prepare(t, r, callOf("move", `{"collection":"notes","id":"item-1","to":"kept","to_collection":"archive"}`), journal)
		if want := []core.Reference{{Name: "notes/item-1", Provider: 1}}; !reflect.DeepEqual(move.After, want) {
			t.Errorf("after: got %v, want %v", move.After, want)
		}
		read := callOf("get", `{"collection":"archive","id":"kept"}`)
		intent, err := r.Intend(read)
		if err != nil {
			t.Fatal(err)
		}
		wider := r.Extend(intent, core.Journal{Effects: []core.Effect{effectOf(2, move)}})
		if !slices.Contains(wider.Targets, core.Selector{Reach: core.ReachExact, Target: "notes/item-1"}) {
			t.Errorf("targets %v: the source is missing", wider.Targets)
		}
		if !slices.ContainsFunc(wider.Units, func(f core.Found) bool { return f.Unit == memory.Unit("svc", "notes") }) {
			t.Errorf("units %v: the source's unit is missing", wider.Units)
		}
		journal.Effects = append(journal.Effects, effectOf(2, move))
		got, err := r.Read(context.Background(), read, journal)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(got.Value), `edited`) || !slices.Equal(got.Projected, []core.ActionID{1, 2}) {
			t.Errorf("got %s showing %v", got.Value, got.Projected)
		}
		if len(got.Found) != 1 || got.Found[0].Unit != memory.Unit("svc", "notes") {
			t.Errorf("found %v, want the unit that the data comes from", got.Found)
		}
	})
}

func TestMove_OutOfTheNarrowingIsAGap(t *testing.T) {
	eachForm(t, func(t *testing.T, form string) {
		d := memory.New()
		whole := open(t, d, "memory://svc?seed=2&replay="+form)
		move := prepare(t, whole, callOf("move", `{"collection":"notes","id":"item-1","to":"kept","to_collection":"archive"}`), core.Journal{})
		narrow := open(t, d, "memory://svc/archive?replay="+form)
		if narrow.Key() != whole.Key() {
			t.Fatal("bindings to one service do not share a journal")
		}
		journal := core.Journal{Effects: []core.Effect{effectOf(1, move)}}
		call := callOf("list", `{}`)
		intent, err := narrow.Intend(call)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range narrow.Extend(intent, journal).Units {
			if !narrow.Covers(u.Unit) {
				t.Errorf("unit %s: outside of the narrowing", u.Unit)
			}
		}
		got, err := narrow.Read(context.Background(), call, journal)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Projected) != 0 || len(got.Incomplete) != 1 || strings.Contains(string(got.Value), "Note 1") {
			t.Errorf("got %s, projected %v, incomplete %v", got.Value, got.Projected, got.Incomplete)
		}
		if _, err := narrow.Prepare(context.Background(), callOf("move", `{"id":"x","to":"y","to_collection":"notes"}`), core.Journal{}); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("a move out of the narrowing: got %v, want not found", err)
		}
	})
}

func TestK12_WhatActionsMakeIsNoUnit(t *testing.T) {
	eachForm(t, func(t *testing.T, form string) {
		r := open(t, memory.New(), "memory://svc?replay="+form)
		create := prepare(t, r, callOf("create", `{"collection":"notes","title":"New"}`), core.Journal{})
		journal := core.Journal{Effects: []core.Effect{effectOf(1, create)}}
		for _, read := range []core.Call{
			callOf("list", `{"collection":"notes"}`), callOf("search", `{"query":"new"}`), callOf("search", `{"query":"nothing"}`),
		} {
			got, err := r.Read(context.Background(), read, journal)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Found) != 0 {
				t.Errorf("%s %s: found %v, want no unit", read.Method, read.Args, got.Found)
			}
		}
	})
}

func TestPrepare_ChangesNothingAndShowsWhatIsSent(t *testing.T) {
	d := memory.New()
	r := open(t, d, "memory://svc?seed=1")
	before, err := service(t, d, "memory://svc").Item("notes/item-1")
	if err != nil {
		t.Fatal(err)
	}
	draft := prepare(t, r, callOf("update", `{"collection":"notes","id":"item-1","title":"Other"}`), core.Journal{})
	want := []core.Field{{Name: "title", Before: json.RawMessage(`"Note 1"`), After: json.RawMessage(`"Other"`)}}
	if !reflect.DeepEqual(draft.Fields, want) {
		t.Errorf("fields: got %s, want %s", draft.Fields, want)
	}
	after, err := service(t, d, "memory://svc").Item("notes/item-1")
	if err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("got %+v, %v; want %+v", after, err, before)
	}
}

// G50, GK5: a label goes out as one label, and stands once, as it was spelled.
func TestAddLabel_KeepsTheExistingSpelling(t *testing.T) {
	d := memory.New()
	s := service(t, d, "memory://svc")
	if err := s.Put("notes/a", memory.Item{Title: "A", Labels: []string{"bug"}}); err != nil {
		t.Fatal(err)
	}
	r := open(t, d, "memory://svc")
	draft := prepare(t, r, callOf("add_label", `{"collection":"notes","id":"a","label":"Bug"}`), core.Journal{})
	if !strings.Contains(string(draft.Value), `"labels":["bug"]`) || strings.Contains(string(draft.Payload), `"labels"`) {
		t.Errorf("value %s, payload %s", draft.Value, draft.Payload)
	}
}

func TestApply_RefusesABaseThatMovedSinceTheClaim(t *testing.T) {
	d := memory.New()
	r := open(t, d, "memory://svc?seed=1&fail=moved")
	draft := prepare(t, r, callOf("append", `{"collection":"notes","id":"item-1","text":"x"}`), core.Journal{})
	outcome, err := r.Apply(context.Background(), dispatchOf(1, draft))
	if err != nil || outcome.End != core.EndRetryable {
		t.Errorf("got end %d, %v; want refused, retryable", outcome.End, err)
	}
	if effects, err := service(t, d, "memory://svc").Effects(); err != nil || len(effects) != 0 {
		t.Errorf("effects %v, %v; want none", effects, err)
	}
}

func TestApply_FailsAsTold(t *testing.T) {
	for _, c := range []struct {
		fail    string
		end     core.OutcomeEnd
		failed  bool // with an error
		notSent bool
		effects int
	}{
		{"before", core.EndUnknown, true, true, 0},
		{"after", core.EndUnknown, true, false, 1},
		{"unknown", core.EndUnknown, false, false, 0},
		{"retryable", core.EndRetryable, false, false, 0},
		{"good", core.EndFailed, false, false, 0},
		{"leak", core.EndFailed, false, false, 0},
		{"leak-error", core.EndUnknown, true, false, 0},
		{"hang", core.EndUnknown, true, false, 0},
		{"slow", core.EndApplied, false, false, 1},
		{"good:delete", core.EndApplied, false, false, 1},
		{"good:append:2", core.EndApplied, false, false, 1},
		{"good:append:1", core.EndFailed, false, false, 0},
	} {
		d := memory.New()
		r := open(t, d, "memory://svc?seed=1&fail="+c.fail)
		draft := prepare(t, r, callOf("append", `{"collection":"notes","id":"item-1","text":"x"}`), core.Journal{})
		ctx, cancel := context.WithCancel(context.Background())
		if c.fail == "hang" {
			cancel()
		}
		outcome, err := r.Apply(ctx, dispatchOf(1, draft))
		cancel()
		if outcome.End != c.end || (err != nil) != c.failed || core.IsNotSent(err) != c.notSent {
			t.Errorf("%s: got end %d, %v", c.fail, outcome.End, err)
		}
		if effects, err := service(t, d, "memory://svc").Effects(); err != nil || len(effects) != c.effects {
			t.Errorf("%s: effects %v, %v; want %d", c.fail, effects, err, c.effects)
		}
		if words := outcome.Text + fmt.Sprint(err); strings.HasPrefix(c.fail, "leak") != strings.Contains(words, "Body of note 1") {
			t.Errorf("%s: words %q", c.fail, words)
		}
	}
}

// K37 at the driver: what waits for an id is not sent, and says which action makes it.
func TestApply_UnboundIDIsNotSent(t *testing.T) {
	d := memory.New()
	r := open(t, d, "memory://svc")
	create := prepare(t, r, callOf("create", `{"collection":"notes","title":"New"}`), core.Journal{})
	call := callOf("append", `{"collection":"notes","id":"~1","text":"x"}`)
	call.Names = core.Names{"~1": {Provider: 1}}
	comment := prepare(t, r, call, core.Journal{Effects: []core.Effect{effectOf(1, create)}})
	if want := []core.Reference{{Name: "~1", Provider: 1}}; !reflect.DeepEqual(comment.Needs, want) || len(comment.After) != 0 {
		t.Errorf("needs %v, after %v; want %v and nothing", comment.Needs, comment.After, want)
	}
	dispatch := dispatchOf(2, comment)
	dispatch.Names = call.Names
	_, err := r.Apply(context.Background(), dispatch)
	if !core.IsNotSent(err) || !strings.Contains(err.Error(), "action 1 makes it") {
		t.Errorf("got %v, want not sent, naming action 1", err)
	}
	if n := service(t, d, "memory://svc").Calls("send:"); n != 0 {
		t.Errorf("%d calls were sent", n)
	}
	// the provider is on its way and cannot be shown
	get := callOf("get", `{"collection":"notes","id":"~1"}`)
	get.Names = call.Names
	_, err = r.Read(context.Background(), get, core.Journal{Gaps: []core.Gap{{Action: 1, Reason: "claimed"}}})
	var refused *core.CallError
	if !errors.As(err, &refused) || refused.Code != core.CodeNotCreated {
		t.Errorf("got %v, want not created yet", err)
	}
}

func TestFind_LooksForWhatWasCreated(t *testing.T) {
	d := memory.New()
	r := open(t, d, "memory://svc?fail=after:create")
	create := prepare(t, r, callOf("create", `{"collection":"notes","title":"New"}`), core.Journal{})
	finder, finds := r.(core.Finder)
	if !finds {
		t.Fatal("the driver cannot look for what was created")
	}
	if _, err := finder.Find(context.Background(), dispatchOf(1, create)); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("before: got %v, want not found", err)
	}
	if _, err := r.Apply(context.Background(), dispatchOf(1, create)); err == nil {
		t.Fatal("the answer was to be lost")
	}
	created, err := finder.Find(context.Background(), dispatchOf(1, create))
	if want := []core.Created{{Name: "~1", Real: "i1"}}; err != nil || !reflect.DeepEqual(created, want) {
		t.Errorf("got %v, %v; want %v", created, err, want)
	}
}

func TestBlock_HoldsAnApplyUntilReleased(t *testing.T) {
	d := memory.New()
	r := open(t, d, "memory://svc?seed=1")
	s := service(t, d, "memory://svc")
	draft := prepare(t, r, callOf("delete", `{"collection":"notes","id":"item-1"}`), core.Journal{})
	entered, release := s.Block(memory.PointSent)
	var applied sync.WaitGroup
	applied.Go(func() {
		if outcome, err := r.Apply(context.Background(), dispatchOf(1, draft)); err != nil || outcome.End != core.EndApplied {
			t.Errorf("got end %d, %v", outcome.End, err)
		}
	})
	<-entered
	if _, err := s.Item("notes/item-1"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("the effect is not made yet: %v", err)
	}
	release()
	applied.Wait()
}

// Two drivers stand for two processes: they share nothing but the file.
func TestFile_IsSharedAndNothingIsLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "service.json")
	url := "memory://svc?seed=1&file=" + path
	const each = 20
	var done sync.WaitGroup
	for n := range 2 {
		d := memory.New()
		r := open(t, d, url)
		done.Go(func() {
			for i := range each {
				draft, err := r.Prepare(context.Background(), callOf("create", `{"collection":"notes","title":"New"}`), core.Journal{})
				if err != nil {
					t.Error(err)
					return
				}
				id := core.ActionID(1 + n*each + i)
				if outcome, err := r.Apply(context.Background(), dispatchOf(id, draft)); err != nil || outcome.End != core.EndApplied {
					t.Errorf("action %d: end %d, %v", id, outcome.End, err)
				}
			}
		})
	}
	done.Wait()
	s := service(t, memory.New(), url)
	effects, err := s.Effects()
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[core.ActionID]bool)
	targets := make(map[string]bool)
	for _, e := range effects {
		seen[e.Action], targets[e.Target] = true, true
	}
	if len(effects) != 2*each || len(seen) != 2*each || len(targets) != 2*each {
		t.Errorf("%d effects of %d actions on %d items, want %d of each", len(effects), len(seen), len(targets), 2*each)
	}
	if items, err := s.Items("notes"); err != nil || len(items) != 2*each+1 {
		t.Errorf("got %d items, %v; want %d", len(items), err, 2*each+1)
	}
}

func TestFile_OfSomethingElseIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "service.json")
	if err := os.WriteFile(path, []byte("not JSON"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := open(t, memory.New(), "memory://svc?file="+path)
	_, err := r.Read(context.Background(), callOf("list", `{"collection":"notes"}`), core.Journal{})
	if err == nil || !strings.Contains(err.Error(), "not a service of this driver") {
		t.Errorf("got %v", err)
	}
}

func TestUndo_IsTheItemsAsTheyWere(t *testing.T) {
	r := open(t, memory.New(), "memory://svc?seed=1")
	draft := prepare(t, r, callOf("delete", `{"collection":"notes","id":"item-1"}`), core.Journal{})
	dispatch := dispatchOf(1, draft)
	dispatch.WantUndo = true
	current, err := r.Current(context.Background(), dispatch)
	if err != nil {
		t.Fatal(err)
	}
	if len(current.Versions) != 1 || !current.Versions[0].Same(draft.Base[0]) {
		t.Errorf("versions %v, want %v", current.Versions, draft.Base)
	}
	var undo []struct {
		Target string
		Value  memory.Item
	}
	if err := json.NewDecoder(current.Undo).Decode(&undo); err != nil || len(undo) != 1 || undo[0].Value.Title != "Note 1" {
		t.Errorf("got %+v, %v", undo, err)
	}
	if err := current.Undo.Close(); err != nil {
		t.Error(err)
	}
}
