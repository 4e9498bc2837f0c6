package core_test

import (
	"context"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/gatekeepers/memory"
)

func TestK1_ThreeReadsOfOneUnit(t *testing.T) {
	r := newRig(t)
	for range 3 {
		r.wantStatus(r.call("NOTES", "list", `{}`), core.StatusOK)
	}
	id := r.made("first")
	before := len(r.rows(core.EventRead))
	for range 3 {
		r.wantStatus(r.call("NOTES", "get", `{"id":%q}`, id), core.StatusOK)
	}
	if got := len(r.rows(core.EventRead)) - before; got != 3 {
		t.Errorf("got %d rows for three reads, want 3", got)
	}
	set, err := r.kernel.Observations(context.Background(), "work")
	if err != nil {
		t.Fatal(err)
	}
	if len(set) != 1 || set[0].Found.Unit != memory.Unit("notes", "items") {
		t.Errorf("got set %v, want the one unit", set)
	}
}

func TestK11_UnitsOfAResultOnceInOneTransaction(t *testing.T) {
	r := newRig(t)
	r.bind("ALL", "memory://notes")
	s := r.service(notesURL)
	for _, target := range []string{"a/1", "a/2", "b/3", "a/4"} {
		if err := s.Put(target, memory.Item{Title: "same words"}); err != nil {
			t.Fatal(err)
		}
	}
	out := r.call("ALL", "search", `{"query":"same words"}`)
	r.wantStatus(out, core.StatusOK)
	if len(out.Units()) != 2 {
		t.Errorf("got units %v, want a and b once each", out.Units())
	}
	set, err := r.kernel.Observations(context.Background(), "work")
	if err != nil {
		t.Fatal(err)
	}
	if len(set) != 2 || !set[0].FirstSeenAt.Equal(set[1].FirstSeenAt) {
		t.Errorf("got set %v, want two units of one moment", set)
	}
	rows := r.rows(core.EventRead)
	if last := rows[len(rows)-1].Entry; len(last.Units) != 2 {
		t.Errorf("got a row with units %v, want both", last.Units)
	}
}

func TestK12_ProvisionalIDsAndEmptySearchesAreNoUnits(t *testing.T) {
	r := newRig(t)
	out := r.call("NOTES", "search", `{"query":"nothing has this"}`)
	r.wantStatus(out, core.StatusOK)
	r.create("queued")
	listed := r.call("NOTES", "list", `{}`)
	r.wantStatus(listed, core.StatusOK)
	if !strings.Contains(string(listed.Value()), `"~1"`) {
		t.Fatalf("the queued item is not in the list: %s", listed.Value())
	}
	for _, released := range []core.Released{out, listed} {
		for _, u := range released.Units() {
			if strings.HasPrefix(u.Name, "~") {
				t.Errorf("a provisional id is a unit: %v", u)
			}
		}
	}
	if len(out.Units()) != 0 {
		t.Errorf("a search that found nothing has units %v", out.Units())
	}
	if rows := r.rows(core.EventRead); len(rows) == 0 || len(rows[0].Entry.Units) != 0 {
		t.Errorf("got rows %v, want one without a unit for the search", rows)
	}
}

func TestK56_PendingEffectsOfTheTarget(t *testing.T) {
	r := newRig(t)
	a, b := r.made("a"), r.made("b")
	r.submit("append", `{"id":%q,"text":"one "}`, a)
	r.submit("append", `{"id":%q,"text":"elsewhere"}`, b)
	r.submit("append", `{"id":%q,"text":"two"}`, a)
	out := r.call("NOTES", "get", `{"id":%q}`, a)
	r.wantStatus(out, core.StatusOK)
	if out.Pending() != 2 {
		t.Errorf("got pending %d, want 2", out.Pending())
	}
	if got := field[string](t, out, "body"); !strings.Contains(got, "one") || strings.Index(got, "one") > strings.Index(got, "two") {
		t.Errorf("got body %q, want both in id order", got)
	}
}

func TestK57_NothingIsReplayedOverAGap(t *testing.T) {
	r := newRig(t)
	r.bind("ODD", "memory://odd/items?fail=project:append")
	create := r.submitTo("ODD", "create", `{"title":"x","body":"start"}`)
	r.wantOutcomes(r.approve(create), core.OutcomeApplied)
	id := r.action(create).Created[0].Real
	first := r.submitTo("ODD", "add_label", `{"id":%q,"label":"seen"}`, id)
	gap := r.submitTo("ODD", "append", `{"id":%q,"text":"cannot be projected"}`, id)
	r.submitTo("ODD", "update", `{"id":%q,"title":"over the gap"}`, id)
	out := r.call("ODD", "get", `{"id":%q}`, id)
	r.wantStatus(out, core.StatusOK)
	if out.Pending() != 1 {
		t.Errorf("got pending %d, want 1 (action %d alone)", out.Pending(), first)
	}
	if gaps := out.Incomplete(); len(gaps) == 0 || gaps[0].Action != gap {
		t.Errorf("got incomplete %v, want action %d named first", gaps, gap)
	}
	if got := field[string](t, out, "title"); got != "x" {
		t.Errorf("title %q was applied over the gap", got)
	}
}

func TestK58_RefusedSubmitLeavesNothing(t *testing.T) {
	check := &refuse{half: core.HalfExact, unit: "items"}
	r := newRig(t, func(o *core.Options) { o.Checks = []core.Check{check} })
	id := r.made("kept")
	check.set(true)
	out := r.call("NOTES", "append", `{"id":%q,"text":"never"}`, id)
	r.wantStatus(out, core.StatusRefused)
	check.set(false)
	got := r.call("NOTES", "get", `{"id":%q}`, id)
	if got.Pending() != 0 || strings.Contains(string(got.Value()), "never") {
		t.Errorf("the refused write shows: %s", got.Value())
	}
	if page, err := r.kernel.Queue(context.Background(), core.QueueQuery{}); err != nil || len(page.Rows) != 0 {
		t.Errorf("got queue %v, %v; want nothing", page.Rows, err)
	}
}

func TestK59_JournalOfAnotherResource(t *testing.T) {
	r := newRig(t)
	r.bind("OTHER", "memory://other/items")
	id := r.submit("create", `{"title":"only in notes"}`)
	out := r.call("OTHER", "list", `{}`)
	if out.Pending() != 0 || strings.Contains(string(out.Value()), "only in notes") {
		t.Errorf("an effect on notes shows on other: %s", out.Value())
	}
	// The binding leads elsewhere now: what was queued through it is not sent there.
	if err := r.kernel.Unbind(context.Background(), "work", "NOTES", "alice"); err != nil {
		t.Fatal(err)
	}
	r.bind("NOTES", "memory://other/items")
	r.wantOutcomes(r.approve(id), core.OutcomeSkipped)
	if n := r.service("memory://other/items").Calls("send:"); n != 0 {
		t.Errorf("%d effects were sent to the other resource", n)
	}
}

func TestK60_CapOfOpenActions(t *testing.T) {
	r := newRig(t, func(o *core.Options) { o.Cap = 2 })
	first, _ := r.create("1")
	r.create("2")
	out := r.call("NOTES", "create", `{"title":"3"}`)
	r.wantStatus(out, core.StatusError)
	if !strings.Contains(out.Reason(), "2 actions wait") {
		t.Errorf("got reason %q, want the cap named", out.Reason())
	}
	r.reject("room", first)
	r.create("3 again")
}

func TestK67_ErrorTextPassesTheGate(t *testing.T) {
	check := &refuse{half: core.HalfExact, unit: "items"}
	r := newRig(t, func(o *core.Options) { o.Checks = []core.Check{check} })
	const canary = "row value 4711"
	r.bind("LEAKY", "memory://leaky/items?fail=leak:append")
	create := r.submitTo("LEAKY", "create", `{"title":"x","body":%q}`, canary)
	r.wantOutcomes(r.approve(create), core.OutcomeApplied)
	id := r.action(create).Created[0].Real
	leak := r.submitTo("LEAKY", "append", `{"id":%q,"text":"y"}`, id)
	check.set(true)
	r.wantOutcomes(r.approve(leak), core.OutcomeFailed)
	if reason := r.action(leak).Reason; strings.Contains(reason, canary) || !strings.Contains(reason, "withheld") {
		t.Errorf("got reason %q, want it withheld", reason)
	}
	if rows := r.rows(core.EventBlocked); len(rows) != 1 {
		t.Errorf("got %d blocked rows, want 1", len(rows))
	}
	check.set(false)
	again := r.submitTo("LEAKY", "append", `{"id":%q,"text":"z"}`, id)
	r.wantOutcomes(r.approve(again), core.OutcomeFailed)
	if reason := r.action(again).Reason; !strings.Contains(reason, canary) {
		t.Errorf("got reason %q, want the service's words where the unit may be read", reason)
	}
}

func TestGate_RefusalAtIntentDoesNotCallTheService(t *testing.T) {
	check := &refuse{half: core.HalfIntent, unit: "items"}
	r := newRig(t, func(o *core.Options) { o.Checks = []core.Check{check} })
	id := r.made("secret")
	check.set(true)
	before := r.service(notesURL).Calls("")
	out := r.call("NOTES", "get", `{"id":%q}`, id)
	r.wantStatus(out, core.StatusRefused)
	if n := r.service(notesURL).Calls("") - before; n != 0 {
		t.Errorf("the service was called %d times", n)
	}
	if strings.Contains(out.Reason(), "items") || len(out.Units()) != 0 {
		t.Errorf("the refusal names the unit to the agent: %q", out.Reason())
	}
	rows := r.rows(core.EventBlocked)
	if len(rows) != 1 || len(rows[0].Entry.Units) != 1 {
		t.Errorf("got blocked rows %v, want one that names the unit", rows)
	}
}

func TestReleased_ZeroValueIsInvalid(t *testing.T) {
	var zero core.Released
	if zero.Valid() || zero.Status() != core.StatusError {
		t.Error("the zero value passes for released data")
	}
	if _, err := zero.MarshalJSON(); err == nil {
		t.Error("the zero value can be printed")
	}
}
