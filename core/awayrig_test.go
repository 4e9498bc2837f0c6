package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"

	"gatehouse/core"
	"gatehouse/core/egress"
	"gatehouse/gatekeepers/memory"
)

// away is a service at other places: a fetch goes where its argument says, a put to the service itself.
type away struct {
	mu    sync.Mutex
	asked []string // addresses that were fetched, and bodies that were put
	fail  error

	onSend func() // called once something was sent
}

func (a *away) Manifest() core.Manifest {
	str := func(name string, optional bool) core.Param {
		return core.Param{Name: name, Type: core.TypeString, Optional: optional, About: "What."}
	}
	return core.Manifest{
		Kind: "away", About: "A service elsewhere.", Forms: []string{"away://"}, Observers: core.StrategyPublic,
		Operations: []core.Operation{
			{
				Name: "fetch", About: "Fetches.", Lanes: []core.Lane{core.LaneRead}, Depends: core.ReachExact, Observes: "the host",
				Params: []core.Param{str("url", false), str("body", true)},
			},
			{Name: "put", About: "Puts.", Lanes: []core.Lane{core.LaneSimulate}, Kinds: []string{"put"}, Params: []core.Param{str("text", false)}},
			{Name: "look", About: "Looks.", Lanes: []core.Lane{core.LaneRead}, Depends: core.ReachExact, Observes: "all"},
		},
		Kinds: []core.ActionKind{{
			Name: "put", Fields: []core.FieldDef{{Name: "text", Type: core.TypeString}}, Revertible: []bool{false},
			Irreversible: []bool{false}, CostsMoney: []bool{false},
		}},
	}
}

func (a *away) Normalize(url string) (string, error) { return url, nil }
func (a *away) Connect(context.Context, string) (core.Connection, error) {
	return core.Connection{Kind: "away", Name: "away", Service: "away.example"}, nil
}

func (a *away) Open(context.Context, core.Connection, string) (core.Resource, error) { return a, nil }

func (a *away) Key() string                                      { return "away:" }
func (a *away) Covers(core.Unit) bool                            { return true }
func (a *away) Operations() []core.Operation                     { return a.Manifest().Operations }
func (a *away) Close() error                                     { return nil }
func (a *away) Extend(i core.Intent, _ core.Journal) core.Intent { return i }
func (a *away) Intend(core.Call) (core.Intent, error)            { return core.Intent{}, nil }

func (a *away) Unit() core.Found { return awayUnit("all") }

func awayUnit(name string) core.Found {
	return core.Found{Unit: core.Unit{Gatekeeper: "away", Service: "away.example", Name: name}}
}

type awayArgs struct{ URL, Body, Text string }

func (a *away) args(raw json.RawMessage) (awayArgs, *url.URL) {
	var in awayArgs
	_ = json.Unmarshal(raw, &in)
	u, err := url.Parse(in.URL)
	if err != nil {
		u = &url.URL{}
	}
	return in, u
}

func (a *away) Goes(call core.Call) (core.Going, error) {
	if call.Method != "fetch" {
		return core.Going{Sink: core.SinkRead, Destination: "away.example", Host: "away.example", Sends: []string{string(call.Args)}}, nil
	}
	in, u := a.args(call.Args)
	return core.Going{Sink: core.SinkFetch, Destination: u.Host, Host: u.Host, Sends: []string{in.URL, in.Body}}, nil
}

func (a *away) send(what string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, what)
	if a.onSend != nil {
		a.onSend()
	}
	return a.fail
}

func (a *away) sent() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(a.asked, " ")
}

func (a *away) Read(ctx context.Context, call core.Call, _ core.Journal) (core.Fetched, error) {
	in, u := a.args(call.Args)
	if err := a.send(call.Method + ":" + in.URL); err != nil {
		return core.Fetched{}, err
	}
	if ctx.Err() != nil {
		return core.Fetched{}, ctx.Err()
	}
	return core.Fetched{Value: json.RawMessage(`"page"`), Found: []core.Found{awayUnit("host " + u.Host)}}, nil
}

func (a *away) Prepare(_ context.Context, call core.Call, _ core.Journal) (core.Draft, error) {
	in, _ := a.args(call.Args)
	raw, err := json.Marshal(in.Text)
	return core.Draft{
		Kind: "put", Lane: core.LaneSimulate, Title: "put", Payload: raw, Targets: []string{"x"},
		Fields: []core.Field{{Name: "text", Before: json.RawMessage("null"), After: raw}}, Value: json.RawMessage("{}"),
		Base: []core.BaseVersion{{Target: "x", Absent: true}},
	}, err
}

func (a *away) Current(context.Context, core.Dispatch) (core.Current, error) {
	return core.Current{Versions: []core.BaseVersion{{Target: "x", Absent: true}}}, nil
}

func (a *away) Apply(_ context.Context, d core.Dispatch) (core.Outcome, error) {
	if err := a.send("put:" + string(d.Payload)); err != nil {
		return core.Outcome{}, err
	}
	return core.Outcome{End: core.EndApplied, Versions: []core.BaseVersion{{Target: "x", Version: "1"}}}, nil
}

var errAway = errors.New("connection reset after the request left")

// awayRig is a rig with the service AWAY, the policy that ships (and rules), and PAY, a collection with a label.
type awayRig struct {
	*rig
	away *away
}

func newAwayRig(t testing.TB, rules ...egress.Rule) *awayRig {
	t.Helper()
	policy, err := egress.New(rules)
	if err == nil {
		err = policy.Check()
	}
	if err != nil {
		t.Fatal(err)
	}
	out := &awayRig{away: &away{}}
	out.rig = newRig(t, func(o *core.Options) {
		o.Egress = policy
		o.Gatekeepers = append(o.Gatekeepers, out.away)
	})
	out.bind("AWAY", "away://")
	return out
}

// labelled binds a collection under labels and puts an item there.
func (r *awayRig) labelled(name, title, body string, labels ...string) {
	r.t.Helper()
	url := "memory://" + strings.ToLower(name) + "/items"
	c := core.Connection{Kind: "memory", Name: name, Owner: "alice", Service: strings.ToLower(name), Labels: labels}
	r.must(r.db.Write(context.Background(), func(tx core.Tx) error { return tx.InsertConnection(&c) }))
	_, err := r.kernel.Bind(context.Background(), core.BindRequest{
		Session: string(r.session.ID), Name: name, URL: url, Connection: c.ID, Person: "alice",
	})
	r.must(err)
	r.must(r.service(url).Put("items/1", memory.Item{Title: title, Body: body}))
}

// said is a call of an agent that is kept with its answer.
func said(turn int, id string) core.Caller {
	return core.Caller{Kind: core.CallerAgent, Person: "alice", Turn: turn, Step: 1, CallID: id, Name: "model"}
}

func (r *awayRig) fetch(caller core.Caller, url string) core.Released {
	r.t.Helper()
	return r.callAs(caller, "AWAY", "fetch", `{"url":%q}`, url)
}

func (r *awayRig) answer(id core.ActionID, choice string) {
	r.t.Helper()
	result, err := r.kernel.Answer(context.Background(), id, choice, "", r.by)
	r.must(err)
	if result.Outcome != core.OutcomeAnswered {
		r.t.Fatalf("question %d: got %s (%s)", id, result.Outcome, result.Reason)
	}
}

// left are the rows of what left, one word for each: event, decision and outcome.
func (r *awayRig) left() string {
	r.t.Helper()
	var words []string
	for _, row := range r.rows(core.EventEgress) {
		var d struct{ Event, Sink, Decision, Outcome string }
		r.must(json.Unmarshal(row.Entry.Detail, &d))
		words = append(words, d.Sink+":"+strings.Trim(d.Event+"-"+d.Decision+"-"+d.Outcome, "-"))
	}
	return strings.Join(words, " ")
}
