package kit_test

import (
	"reflect"
	"testing"

	"gatehouse/core"
	"gatehouse/gatekeepers/kit"
)

func effect(id core.ActionID, targets ...string) core.Effect {
	return core.Effect{Action: id, Targets: targets, State: core.StatePending}
}

func TestK57_ReplayStopsAtTheFirstGapAndSaysWhich(t *testing.T) {
	journal := core.Journal{
		Effects: []core.Effect{effect(1, "a"), effect(2, "a"), effect(3, "b")},
		Gaps:    []core.Gap{{Action: 9, Reason: "claimed"}},
	}
	var seen []core.ActionID
	got := kit.Replay(journal, func(e core.Effect) error {
		if e.Action == 2 {
			return kit.Conflict("no such line")
		}
		seen = append(seen, e.Action)
		return nil
	})
	if !reflect.DeepEqual(seen, []core.ActionID{1}) || !reflect.DeepEqual(got.Projected, seen) {
		t.Errorf("projected %v, reported %v, want 1 alone", seen, got.Projected)
	}
	want := []core.Gap{
		{Action: 9, Reason: "claimed"},
		{Action: 2, Reason: "cannot be shown: no such line"},
		{Action: 3, Reason: "behind action 2"},
	}
	if !reflect.DeepEqual(got.Incomplete, want) {
		t.Errorf("got %v, want %v", got.Incomplete, want)
	}
}

func TestResolveJournal_KeepsWhatIsStored(t *testing.T) {
	stored := core.Effect{Action: 2, Targets: []string{"c/~1", "c/i7"}, Payload: []byte(`{"id":"~1"}`)}
	got, err := kit.ResolveJournal(core.Journal{Effects: []core.Effect{stored}}, someNames(), []string{"id"})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Effects[0].Targets, []string{"c/i7"}) || string(got.Effects[0].Payload) != `{"id":"i7"}` {
		t.Errorf("got %v %s", got.Effects[0].Targets, got.Effects[0].Payload)
	}
	if stored.Targets[0] != "c/~1" || string(stored.Payload) != `{"id":"~1"}` {
		t.Error("the stored effect was changed")
	}
}

func TestLineage_BaseNeedsAndAfter(t *testing.T) {
	move := effect(3, "c/a", "c/b")
	move.Provides = []string{"c/b"}
	journal := core.Journal{Effects: []core.Effect{effect(2, "c/a"), move, effect(5, "c/z")}}
	for _, c := range []struct {
		name   string
		states []kit.State
		refs   []string
		want   kit.Lineage
	}{
		{"nothing pending on it", []kit.State{{Target: "c/x", Version: "v1", Exists: true}}, nil, kit.Lineage{
			Base: []core.BaseVersion{{Target: "c/x", Version: "v1"}},
		}},
		{"nothing there", []kit.State{{Target: "c/x"}}, nil, kit.Lineage{Base: []core.BaseVersion{{Target: "c/x", Absent: true}}}},
		{"edited before", []kit.State{{Target: "c/z", Version: "v1", Exists: true}}, nil, kit.Lineage{
			Base:  []core.BaseVersion{{Target: "c/z", ResultOf: 5}},
			After: []core.Reference{{Name: "c/z", Provider: 5}},
		}},
		{"provided by a move", []kit.State{{Target: "c/b", Exists: true}}, nil, kit.Lineage{
			Base:  []core.BaseVersion{{Target: "c/b", ResultOf: 3}},
			Needs: []core.Reference{{Name: "c/b", Provider: 3}},
		}},
		{"freed by a move", []kit.State{{Target: "c/a", Version: "v1"}}, nil, kit.Lineage{
			Base:  []core.BaseVersion{{Target: "c/a", ResultOf: 3}},
			After: []core.Reference{{Name: "c/a", Provider: 3}},
		}},
		{"refers to what is not created", []kit.State{{Target: "c/~2", Exists: true}}, []string{"~2", "~1"}, kit.Lineage{
			Base:  []core.BaseVersion{{Target: "c/~2", Absent: true}},
			Needs: []core.Reference{{Name: "~2", Provider: 12}},
		}},
	} {
		if got := kit.LineageOf(journal, someNames(), c.states, c.refs); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", c.name, got, c.want)
		}
	}
}
