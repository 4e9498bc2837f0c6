package memory_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/gatekeepers/memory"
)

// appended queues appends to one item, each made over the ones before.
func appended(t *testing.T, r core.Resource, texts ...string) core.Journal {
	t.Helper()
	var journal core.Journal
	for i, text := range texts {
		draft := prepare(t, r, callOf("append", `{"collection":"notes","id":"item-1","text":"`+text+`"}`), journal)
		journal.Effects = append(journal.Effects, effectOf(core.ActionID(i+1), draft))
	}
	return journal
}

func getItem() core.Call { return callOf("get", `{"collection":"notes","id":"item-1"}`) }

func TestK56_EffectsAreShownInOrderOfIDs(t *testing.T) {
	eachForm(t, func(t *testing.T, form string) {
		r := open(t, memory.New(), "memory://svc?seed=1&replay="+form)
		journal := appended(t, r, "<first>", "<second>", "<third>")
		got, err := r.Read(context.Background(), getItem(), journal)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(got.Value), `\u003cfirst\u003e\u003csecond\u003e\u003cthird\u003e`) {
			t.Errorf("got %s", got.Value)
		}
		if !slices.Equal(got.Projected, []core.ActionID{1, 2, 3}) || len(got.Incomplete) != 0 {
			t.Errorf("projected %v, incomplete %v", got.Projected, got.Incomplete)
		}
	})
}

func TestK59_APayloadOfAnotherServiceMeansNothing(t *testing.T) {
	eachForm(t, func(t *testing.T, form string) {
		d := memory.New()
		journal := appended(t, open(t, d, "memory://a?seed=1&replay="+form), "x")
		b := open(t, d, "memory://b?seed=1&replay="+form)
		got, err := b.Read(context.Background(), getItem(), journal)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Projected) != 0 || len(got.Incomplete) != 1 {
			t.Errorf("projected %v, incomplete %v; want a gap", got.Projected, got.Incomplete)
		}
		e := journal.Effects[0]
		_, err = b.Apply(context.Background(), core.Dispatch{Action: 1, Kind: e.Kind, Payload: e.Payload, At: moment()})
		if !core.IsNotSent(err) {
			t.Errorf("got %v, want nothing sent", err)
		}
	})
}

// The effect lands after the items were read and before anything was replayed over them: it is shown once.
func TestK66_AnEffectThatLandsAfterTheFetchIsShownOnce(t *testing.T) {
	eachForm(t, func(t *testing.T, form string) {
		d := memory.New()
		url := "memory://svc?seed=1&replay=" + form
		r := open(t, d, url)
		s := service(t, d, url)
		draft := prepare(t, r, callOf("append", `{"collection":"notes","id":"item-1","text":"once"}`), core.Journal{})
		landed := false
		s.SetHook(func(ctx context.Context, point memory.Point, _ string) error {
			if point != memory.PointFetched || landed {
				return nil
			}
			landed = true
			outcome, err := r.Apply(ctx, dispatchOf(1, draft))
			if outcome.End != core.EndApplied {
				t.Errorf("got end %d, %v", outcome.End, err)
			}
			return err
		})
		got, err := r.Read(context.Background(), getItem(), core.Journal{Effects: []core.Effect{effectOf(1, draft)}})
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(got.Value), "once"); n != 1 || !landed {
			t.Errorf("shown %d times: %s", n, got.Value)
		}
	})
}

// What a service says of a failure names the unit that its words come from, so that the gate can withhold them.
func TestK67_WordsOfTheServiceNameTheirUnit(t *testing.T) {
	r := open(t, memory.New(), "memory://svc?seed=1&fail=leak:append,leak:get")
	draft := prepare(t, r, callOf("append", `{"collection":"notes","id":"item-1","text":"x"}`), core.Journal{})
	outcome, err := r.Apply(context.Background(), dispatchOf(1, draft))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(outcome.Text, "Body of note 1") || len(outcome.Found) != 1 || outcome.Found[0].Unit != memory.Unit("svc", "notes") {
		t.Errorf("got %q of %v", outcome.Text, outcome.Found)
	}
	_, err = r.Read(context.Background(), getItem(), core.Journal{})
	if err == nil || !strings.Contains(err.Error(), "Body of note 1") {
		t.Errorf("a read that fails: got %v, want an error that holds the body", err)
	}
}
