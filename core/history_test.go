package core_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/core"
	loop "gatehouse/core/agent"
	"gatehouse/core/predicate"
	"gatehouse/gatekeepers/memory"
)

// world is one random history: a session of alice's over a service of three items, a mailbox that is hers alone, and Bob,
// who comes and goes. What it expects is kept here in the plainest form, and never asked of the kernel.
type world struct {
	*rig
	rt    *rapid.T
	notes *memory.Service
	mail  core.Unit
	unit  core.Unit

	bob     core.PersonID
	present bool // Bob has a role
	access  bool // Bob may read the notes
	latched bool
	words   int

	set      map[core.Unit]bool
	state    map[core.ActionID]core.State
	preview  map[core.ActionID]seen
	stranger map[string]int // changes of an item behind everybody's back
	effects  int
	decided  bool // the last operation was a decision of a person
}

// seen is a preview, and how often its item had been changed behind everybody's back when it first stood there.
type seen struct {
	digest  core.Digest
	changes int
}

func (w *world) name() string { return string(w.session.Name) }

// newWorld makes a session of its own on the rig, which all histories of a test share.
func newWorld(rt *rapid.T, r *rig, n int) *world {
	w := &world{
		rig: r, rt: rt, bob: core.PersonID(fmt.Sprintf("bob-%d", n)), access: true, set: make(map[core.Unit]bool), state: make(map[core.ActionID]core.State),
		preview: make(map[core.ActionID]seen), stranger: make(map[string]int),
	}
	var err error
	w.session, err = r.kernel.NewSession(context.Background(), core.NewSession{Name: fmt.Sprintf("history %d", n), Owner: "alice"})
	r.must(err)
	notes, mail := fmt.Sprintf("n%d", n), fmt.Sprintf("m%d", n)
	r.bind("NOTES", "memory://"+notes+"/items")
	r.bind("MAIL", "memory://"+mail+"/inbox")
	w.notes = r.service("memory://" + notes + "/items")
	for i := range 3 {
		r.must(w.notes.Put(fmt.Sprintf("items/item-%d", i), memory.Item{Title: "item"}))
	}
	r.put("memory://"+mail+"/inbox", "inbox/1")
	w.unit, w.mail = memory.Unit(notes, "items"), memory.Unit(mail, "inbox")
	r.driver.SetOwnerOnly(w.mail)
	r.driver.SetAccess(w.bob, w.unit, core.AccessPassed)
	r.know(w.bob)
	r.connectAs(w.bob, "memory://"+notes+"/items")
	return w
}

// TestHistories_HoldTheRules runs random histories of submits, decisions in bulk, rules, forks, people, opens, reverts,
// turns and restarts, and holds R4, R6, R7, R10, R13, R16 to R19, R21 to R23 and R27 after every step.
func TestHistories_HoldTheRules(t *testing.T) {
	t.Setenv("TMPDIR", inMemory(t))
	r := newRigOn(t, memory.NewObserved(core.StrategyACL), func(o *core.Options) { o.Predicates = predicate.Compiler{} })
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		w := newWorld(rt, r, n)
		for range rapid.IntRange(4, 16).Draw(rt, "operations") {
			w.step()
			w.check()
		}
		w.wantEnd()
	})
	if v, err := r.kernel.VerifyRecord(context.Background()); err != nil || !v.OK() {
		t.Errorf("record: got %+v, %v", v.FirstBad, err)
	}
	if v, err := r.db.Fsck(context.Background()); err != nil || !v.OK() {
		t.Errorf("store: got %+v, %v", v.FirstBad, err)
	}
}

// actions lists what was ever queued in the session, by id.
func (w *world) actions() []core.Action {
	page, err := w.kernel.Queue(context.Background(), core.QueueQuery{Session: w.session.ID, AllState: true, Limit: 1000})
	w.must(err)
	var out []core.Action
	for _, row := range page.Rows {
		if row.Question == nil {
			out = append(out, w.action(row.ID))
		}
	}
	slices.SortFunc(out, func(a, b core.Action) int { return int(a.ID - b.ID) })
	return out
}

// next is R13, as a person would write it down.
func next(from core.State) []core.State {
	return map[core.State][]core.State{
		"":                 {core.StatePending, core.StateApplied}, // new, or new and approved by a rule
		core.StatePending:  {core.StateApplied, core.StateRejected, core.StateStranded},
		core.StateStranded: {core.StateRejected},
		core.StateFailed:   {core.StateApplied, core.StateRejected},
		core.StateApplied:  {core.StateReverted},
	}[from]
}

// check holds everything against what was before.
func (w *world) check() {
	actions := w.actions()
	byID := make(map[core.ActionID]core.Action)
	for _, a := range actions {
		byID[a.ID] = a
	}
	for id := range w.state {
		if _, there := byID[id]; !there {
			w.rt.Fatalf("R13: action %d is gone", id)
		}
	}
	for _, a := range actions {
		was := w.state[a.ID]
		if a.State != was && !slices.Contains(next(was), a.State) {
			w.rt.Fatalf("R13: action %d went from %q to %s", a.ID, was, a.State)
		}
		w.checkReferences(a, byID)
		if a.State == core.StateApplied && was != core.StateApplied {
			w.checkApplied(a, actions)
		}
	}
	w.checkEffects(byID)
	for _, a := range actions {
		w.state[a.ID] = a.State
		if w.preview[a.ID].digest != a.Digest {
			w.preview[a.ID] = seen{a.Digest, w.stranger[a.Draft.Targets[0]]}
		}
	}
	w.checkSet()
	w.checkLatch()
	w.checkReads(actions)
	w.checkTurn(actions)
}

// checkReferences is R17: what needs what will not happen is stranded, or was rejected; nothing else is stranded.
func (w *world) checkReferences(a core.Action, byID map[core.ActionID]core.Action) {
	dead := false
	for _, ref := range a.Draft.Needs {
		provider := byID[ref.Provider].State
		dead = dead || provider == core.StateRejected || provider == core.StateStranded
		if a.State == core.StateApplied && provider != core.StateApplied && provider != core.StateReverted {
			w.rt.Fatalf("R17: action %d is applied, and action %d, which it needs, is %s", a.ID, ref.Provider, provider)
		}
	}
	if dead && a.State != core.StateStranded && a.State != core.StateRejected {
		w.rt.Fatalf("R17: action %d is %s, and what it needs will not happen", a.ID, a.State)
	}
	if !dead && a.State == core.StateStranded {
		w.rt.Fatalf("R17: action %d is stranded, and all it needs can happen", a.ID)
	}
}

// checkApplied is R18, that nobody approves a base that they have not seen, R7, and R23, that a rule skips nothing.
func (w *world) checkApplied(a core.Action, actions []core.Action) {
	if w.latched {
		w.rt.Fatalf("R7: action %d was applied in a latched session", a.ID)
	}
	onResult := slices.ContainsFunc(a.Draft.Base, func(b core.BaseVersion) bool { return b.ResultOf != 0 })
	if p, known := w.preview[a.ID]; known && !onResult && p.digest == a.Digest && p.changes != w.stranger[a.Draft.Targets[0]] {
		w.rt.Fatalf("R18: action %d was applied over a change that nobody saw", a.ID)
	}
	if a.Rule == "" {
		if !w.decided {
			w.rt.Fatalf("R23: action %d was applied without a decision and without a rule", a.ID)
		}
		return
	}
	for _, other := range actions {
		if other.ID < a.ID && other.State == core.StatePending && other.Connection == a.Connection {
			w.rt.Fatalf("R23: rule %s applied action %d in front of action %d", a.Rule, a.ID, other.ID)
		}
	}
}

// checkEffects is R19: what is applied happened once, and nothing else happened.
func (w *world) checkEffects(byID map[core.ActionID]core.Action) {
	effects, err := w.notes.Effects()
	w.must(err)
	sent := make(map[core.ActionID]int)
	for _, e := range effects {
		sent[e.Action]++
	}
	for id, a := range byID {
		wanted := 0
		if a.State == core.StateApplied || a.State == core.StateReverted {
			wanted = 1
		}
		if sent[id] != wanted {
			w.rt.Fatalf("R19: action %d is %s, and happened %d times", id, a.State, sent[id])
		}
	}
	w.effects = len(effects)
}

// checkSet is R4: nothing leaves the set, and what was released is in it.
func (w *world) checkSet() {
	set, err := w.kernel.Observations(context.Background(), string(w.session.ID))
	w.must(err)
	for unit := range w.set {
		if !slices.ContainsFunc(set, func(o core.Observation) bool { return o.Found.Unit == unit }) {
			w.rt.Fatalf("R4: %v was read, and is not in the set", unit)
		}
	}
	for _, o := range set {
		w.set[o.Found.Unit] = true
	}
}

// checkLatch is R6 and R7: it is set by the one read that sets it, and for ever.
func (w *world) checkLatch() {
	latch, set, err := w.kernel.Latch(context.Background(), string(w.session.ID))
	w.must(err)
	if set != w.latched {
		w.rt.Fatalf("R6: the latch is %v (%+v), want %v", set, latch, w.latched)
	}
}

// checkReads is R16: a read shows the service's item with what waits on it, in the order of ids.
func (w *world) checkReads(actions []core.Action) {
	for i := range 3 {
		id := fmt.Sprintf("item-%d", i)
		item, err := w.notes.Item("items/" + id)
		w.must(err)
		body, pending, plain := item.Body, 0, true
		var gaps []core.ActionID
		for _, a := range actions {
			switch {
			case a.State != core.StatePending || !slices.Contains(a.Draft.Targets, "items/"+id):
			case a.Draft.Lane == core.LaneAwait || len(gaps) > 0:
				gaps = append(gaps, a.ID) // what it will do is not simulated, and nothing is shown over a gap
			default:
				pending, plain = pending+1, plain && a.Method == "append"
				body += strings.Trim(string(after(a, "text")), `"`)
			}
		}
		out := w.callAs(agent(9), "NOTES", "get", `{"id":%q}`, id)
		switch {
		case !w.readable():
			w.wantRefused(out, "R8")
		case out.Status() != core.StatusOK:
			w.rt.Fatalf("R16: %s: got %s (%s)", id, out.Status(), out.Reason())
		case out.Pending() != pending || !slices.EqualFunc(out.Incomplete(), gaps, func(g core.Gap, id core.ActionID) bool { return g.Action == id }):
			w.rt.Fatalf("R16: %s: got %d pending, incomplete %v, want %d and %v", id, out.Pending(), out.Incomplete(), pending, gaps)
		case plain && field[string](w.t, out, "body") != body:
			w.rt.Fatalf("R16: %s: got body %q, want %q", id, field[string](w.t, out, "body"), body)
		default:
			w.set[w.unit] = true
		}
	}
}

func after(a core.Action, name string) []byte {
	for _, f := range a.Draft.Fields {
		if f.Name == name {
			return f.After
		}
	}
	return nil
}

// readable reports whether everybody present may read the notes (R8).
func (w *world) readable() bool { return !w.present || w.access }

func (w *world) wantRefused(out core.Released, rule string) {
	if out.Status() == core.StatusOK || out.Action() != 0 {
		w.rt.Fatalf("%s: got %s and action %d, want a refusal", rule, out.Status(), out.Action())
	}
}

// checkTurn is R27: a turn waits for exactly those of its actions that wait for a person.
func (w *world) checkTurn(actions []core.Action) {
	turn, waiting, err := w.kernel.OpenTurn(context.Background(), string(w.session.ID))
	var none *core.NoTurnError
	if errors.As(err, &none) || errors.Is(err, core.ErrNotFound) {
		return
	}
	w.must(err)
	var want, got []core.ActionID
	for _, a := range actions {
		if a.Caller.Turn == turn.Number && a.Draft.Lane == core.LaneAwait && a.State == core.StatePending {
			want = append(want, a.ID)
		}
	}
	for _, wait := range waiting {
		got = append(got, wait.ID)
	}
	if !slices.Equal(got, want) {
		w.rt.Fatalf("R27: turn %d waits for %v, want %v", turn.Number, got, want)
	}
}

// wantEnd: everything can be decided, and then no turn waits (R21, R27).
func (w *world) wantEnd() {
	for range 3 {
		w.decide(func(core.Action) core.Verdict { return core.VerdictReject })
		w.check()
		w.goOn()
		w.check()
	}
	for _, a := range w.actions() {
		if a.State == core.StatePending || a.State == core.StateStranded {
			w.rt.Fatalf("R21: action %d is %s after it was rejected", a.ID, a.State)
		}
	}
	s, err := w.kernel.Session(context.Background(), string(w.session.ID))
	w.must(err)
	if s.State != core.SessionIdle {
		w.rt.Fatalf("R27: the session is %s (%s) at the end", s.State, s.WaitingFor)
	}
}

// awaiting is a model that asks for two charges and, once it was told what became of them, for nothing.
type awaiting struct{}

func (awaiting) Name() string        { return "awaiting" }
func (awaiting) Destination() string { return core.DestinationLocal }

func (awaiting) Complete(_ context.Context, r core.Request, _ func(string)) (core.Response, error) {
	if r.Step > 1 {
		return core.Response{Text: "done"}, nil
	}
	var calls []core.ToolCall
	for i := range 2 {
		calls = append(calls, core.ToolCall{ID: fmt.Sprint(i), Name: "NOTES.charge", Args: fmt.Sprintf(`{"id":"item-%d","amount":5}`, i)})
	}
	return core.Response{Calls: calls}, nil
}

func (w *world) runner() loop.Options {
	return loop.Options{Kernel: w.kernel, Model: awaiting{}, Session: string(w.session.ID), Task: "charge", By: "alice"}
}
