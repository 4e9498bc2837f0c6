package agent_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/gatekeepers/memory"
	"gatehouse/gatekeepers/model/script"
	"gatehouse/store"
)

func TestMain(m *testing.M) {
	if raw := os.Getenv(childEnv); raw != "" {
		os.Exit(runChild(raw))
	}
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// rig is a store with a service in a file beside it, one session bound to the service as NOTES, and one kernel. Further
// kernels are further processes.
type rig struct {
	t       testing.TB
	dir     string
	db      *store.DB
	driver  *memory.Driver
	kernel  *core.Kernel
	session string
}

const alice = core.PersonID("alice")

func storeIn(dir string) string { return filepath.Join(dir, "gatehouse.db") }

// serviceURL is a service with items item-1 to item-8; options follow behind &.
func serviceURL(dir string, options ...string) string {
	return strings.Join(append([]string{"memory://box/notes?file=" + filepath.Join(dir, "service.json") + "&seed=8"}, options...), "&")
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func newRig(t testing.TB, urlOptions ...string) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), driver: memory.New()}
	db, err := store.Open(context.Background(), store.Options{Path: storeIn(r.dir)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.check(db.Close()) })
	r.db = db
	r.kernel, _ = r.process()
	s, err := r.kernel.NewSession(context.Background(), core.NewSession{Name: "work", Owner: alice})
	if err != nil {
		t.Fatal(err)
	}
	r.session = string(s.ID)
	_, err = r.kernel.Bind(context.Background(), core.BindRequest{
		Session: r.session, Name: "NOTES", URL: serviceURL(r.dir, urlOptions...), Person: alice,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// process is a kernel with a place of its own among the processes; end is its end.
func (r *rig) process(options ...func(*core.Options)) (k *core.Kernel, end func()) {
	r.t.Helper()
	processes, err := store.Join(storeIn(r.dir))
	if err != nil {
		r.t.Fatal(err)
	}
	o := core.Options{
		Store: r.db, Gatekeepers: []core.Gatekeeper{r.driver}, Clock: systemClock{}, Rand: rand.Reader, Alive: processes,
	}
	for _, option := range options {
		option(&o)
	}
	if k, err = core.New(o); err != nil {
		r.t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		r.check(k.Close())
		r.check(processes.Close())
	})
	r.t.Cleanup(end)
	return k, end
}

func (r *rig) check(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Error(err)
	}
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) options(m core.Model) agent.Options {
	return agent.Options{Kernel: r.kernel, Model: m, Session: r.session, Task: "the task", By: alice, Poll: 5 * time.Millisecond}
}

// run runs a turn and wants it to end or wait as said.
func (r *rig) run(o agent.Options, want core.TurnState) agent.Report {
	r.t.Helper()
	report, err := agent.Run(context.Background(), o)
	r.must(err)
	r.wantTurn(report, want)
	return report
}

func (r *rig) resume(o agent.Options, want core.TurnState) agent.Report {
	r.t.Helper()
	report, err := agent.Continue(context.Background(), o)
	r.must(err)
	r.wantTurn(report, want)
	return report
}

func (r *rig) wantTurn(report agent.Report, want core.TurnState) {
	r.t.Helper()
	if report.Turn.State != want {
		r.t.Fatalf("got turn %s (%s %s), want %s", report.Turn.State, report.Turn.End, report.Turn.Reason, want)
	}
}

func (r *rig) wantEnd(report agent.Report, want core.TurnEnd) {
	r.t.Helper()
	if report.Turn.End != want {
		r.t.Errorf("got end %q (%s), want %q", report.Turn.End, report.Turn.Reason, want)
	}
}

func (r *rig) wantSession(want core.SessionState) core.SessionSummary {
	r.t.Helper()
	s, err := r.kernel.Session(context.Background(), r.session)
	r.must(err)
	if s.State != want {
		r.t.Errorf("got session %s (%s), want %s", s.State, s.WaitingFor, want)
	}
	return s
}

func (r *rig) service() *memory.Service {
	r.t.Helper()
	bindings, err := r.kernel.Bindings(context.Background(), r.session)
	r.must(err)
	s, err := r.driver.Service(bindings[0].URL)
	r.must(err)
	return s
}

// queue lists everything that ever stood in the queue.
func (r *rig) queue() []core.QueueRow {
	r.t.Helper()
	page, err := r.kernel.Queue(context.Background(), core.QueueQuery{AllState: true})
	r.must(err)
	return page.Rows
}

func person() core.Authority { return core.Authority{Person: alice, Means: core.MeansPipe} }

func (r *rig) confirm(plan *core.Plan, err error) []core.Result {
	r.t.Helper()
	r.must(err)
	results, err := r.kernel.Confirm(context.Background(), plan, person(), core.ConfirmOptions{Unopened: true}, nil)
	r.must(err)
	return results
}

func (r *rig) approve(ids ...core.ActionID) {
	r.t.Helper()
	for _, result := range r.confirm(r.kernel.PlanApprove(context.Background(), alice, ids, core.PlanOptions{})) {
		if result.Outcome != core.OutcomeApplied {
			r.t.Fatalf("approve %d: got %s (%s)", result.Action, result.Outcome, result.Reason)
		}
	}
}

func (r *rig) reject(reason string, ids ...core.ActionID) {
	r.t.Helper()
	r.confirm(r.kernel.PlanReject(context.Background(), alice, ids, reason))
}

func (r *rig) transcript() []core.TranscriptEntry {
	r.t.Helper()
	entries, err := r.kernel.Transcript(context.Background(), r.session)
	r.must(err)
	return entries
}

// results are the answers in the transcript, oldest first.
func (r *rig) results() []core.Released {
	r.t.Helper()
	var out []core.Released
	for _, e := range r.transcript() {
		if e.Kind == core.TranscriptCall {
			out = append(out, e.Result)
		}
	}
	return out
}

// wantWhole checks the chain of the record.
func (r *rig) wantWhole() {
	r.t.Helper()
	v, err := r.kernel.VerifyRecord(context.Background())
	r.must(err)
	if !v.OK() {
		r.t.Errorf("record: row %d %s", v.FirstBad.Seq, v.FirstBad.Reason)
	}
}

// play is a script as a model.
func play(t testing.TB, steps string) core.Model {
	t.Helper()
	s, err := script.Parse("test.yaml", []byte("version: 1\nsteps:\n"+steps))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// reply is one response of a fake model.
type reply func(ctx context.Context, r core.Request, delta func(string)) (core.Response, error)

// fake is a model that gives its replies in order and keeps what it was asked. One that has no more says so and ends.
type fake struct {
	mu       sync.Mutex
	replies  []reply
	requests []core.Request
}

func fakeModel(replies ...reply) *fake { return &fake{replies: replies} }

func (f *fake) Name() string        { return "fake model" }
func (f *fake) Destination() string { return "local" }

func (f *fake) Complete(ctx context.Context, r core.Request, delta func(string)) (core.Response, error) {
	f.mu.Lock()
	f.requests = append(f.requests, r)
	n := len(f.requests)
	f.mu.Unlock()
	if n > len(f.replies) {
		return core.Response{Text: "Nothing more."}, nil
	}
	return f.replies[n-1](ctx, r, delta)
}

func (f *fake) asked() []core.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.requests)
}

func calls(list ...core.ToolCall) reply {
	return func(context.Context, core.Request, func(string)) (core.Response, error) {
		return core.Response{Calls: list}, nil
	}
}

func says(text string) reply {
	return func(context.Context, core.Request, func(string)) (core.Response, error) {
		return core.Response{Text: text}, nil
	}
}

func tool(id, name, args string) core.ToolCall { return core.ToolCall{ID: id, Name: name, Args: args} }

func create(id, title string) core.ToolCall {
	return tool(id, "NOTES.create", fmt.Sprintf(`{"title":%q}`, title))
}

func publish(id string, item int) core.ToolCall {
	return tool(id, "NOTES.publish", fmt.Sprintf(`{"id":"item-%d"}`, item))
}
