package files_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/gatekeepers/files"
)

// desk is a kernel with one session bound to a folder.
type desk struct {
	t       *testing.T
	dir     string
	db      string
	kernel  *core.Kernel
	session string
}

func newDesk(t *testing.T, options files.Options, content map[string]string) *desk {
	t.Helper()
	d := &desk{t: t, dir: folder(t), db: filepath.Join(folder(t), "gatehouse.db")}
	for name, text := range content {
		write(t, filepath.Join(d.dir, name), text)
	}
	d.kernel = newKernelAt(t, d.db, files.New(options))
	session, err := d.kernel.NewSession(t.Context(), core.NewSession{Name: "desk", Owner: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	d.session = string(session.ID)
	d.bind("SITE", "file://"+d.dir)
	return d
}

func (d *desk) bind(name, url string) {
	d.t.Helper()
	if _, err := d.kernel.Bind(d.t.Context(), core.BindRequest{Session: d.session, Name: name, URL: url, Person: "alice"}); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) call(binding core.BindingName, method, args string) core.Released {
	d.t.Helper()
	out, err := d.kernel.Call(d.t.Context(), core.CallRequest{
		Session: d.session, Binding: binding, Method: method, Args: json.RawMessage(args),
		Caller: core.Caller{Kind: core.CallerPerson, Person: "alice"},
	})
	if err != nil {
		d.t.Fatalf("%s %s: %v", method, args, err)
	}
	return out
}

func (d *desk) queue(method, args string) core.ActionID {
	d.t.Helper()
	out := d.call("SITE", method, args)
	if out.Action() == 0 {
		d.t.Fatalf("%s %s: got %s (%s)", method, args, out.Status(), out.Reason())
	}
	return out.Action()
}

func (d *desk) confirm(plan *core.Plan, err error) map[core.ActionID]core.Result {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
	authority := core.Authority{Person: "alice", Means: core.MeansPipe}
	results, err := d.kernel.Confirm(d.t.Context(), plan, authority, core.ConfirmOptions{Unopened: true}, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	byID := make(map[core.ActionID]core.Result)
	for _, r := range results {
		byID[r.Action] = r
	}
	return byID
}

func (d *desk) approve(ids ...core.ActionID) map[core.ActionID]core.Result {
	d.t.Helper()
	return d.confirm(d.kernel.PlanApprove(d.t.Context(), "alice", ids, core.PlanOptions{}))
}

func (d *desk) reject(ids ...core.ActionID) map[core.ActionID]core.Result {
	d.t.Helper()
	return d.confirm(d.kernel.PlanReject(d.t.Context(), "alice", ids, "no"))
}

func (d *desk) action(id core.ActionID) core.Action {
	d.t.Helper()
	detail, err := d.kernel.Peek(d.t.Context(), id)
	if err != nil {
		d.t.Fatal(err)
	}
	return detail.Action
}

func (d *desk) wantDisk(name, want string) {
	d.t.Helper()
	if got, err := os.ReadFile(filepath.Join(d.dir, name)); err != nil || string(got) != want {
		d.t.Errorf("%s on disk: got %q %v, want %q", name, got, err, want)
	}
}

func wantOutcome(t *testing.T, got map[core.ActionID]core.Result, id core.ActionID, want core.ItemOutcome) {
	t.Helper()
	if got[id].Outcome != want {
		t.Errorf("action %d: got %s (%s), want %s", id, got[id].Outcome, got[id].Reason, want)
	}
}

func TestF5_DriftedIsSeenAnewAndAppliedThen(t *testing.T) {
	d := newDesk(t, files.Options{}, map[string]string{"f.txt": "one\ntwo\n"})
	id := d.queue("edit", `{"path":"f.txt","old":"two","new":"2"}`)
	old := d.action(id)
	write(t, filepath.Join(d.dir, "f.txt"), "zero\none\ntwo\n")
	wantOutcome(t, d.approve(id), id, core.OutcomeDrifted)
	d.wantDisk("f.txt", "zero\none\ntwo\n")
	fresh := d.action(id)
	if fresh.Drift != core.DriftFresh || fresh.Digest == old.Digest {
		t.Fatalf("got drift %q, digest as before %v; want a fresh preview", fresh.Drift, fresh.Digest == old.Digest)
	}
	for _, f := range fresh.Draft.Fields {
		if f.Name == "text" && (string(f.Before) != `"zero\none\ntwo\n"` || string(f.After) != `"zero\none\n2\n"`) {
			t.Errorf("text: got %s to %s", f.Before, f.After)
		}
	}
	wantOutcome(t, d.approve(id), id, core.OutcomeApplied)
	d.wantDisk("f.txt", "zero\none\n2\n")
}

// faults fails at one point as long as it is set.
type faults struct {
	at  core.FaultPoint
	err error
}

func (f *faults) At(p core.FaultPoint) error {
	if p == f.at {
		return f.err
	}
	return nil
}

func TestF6_TheStateSaysWhichOrUnknown(t *testing.T) {
	for _, c := range []struct {
		point core.FaultPoint
		want  core.State
		disk  string
	}{
		{files.FaultCreated, core.StateFailed, "old"},
		{files.FaultHalf, core.StateFailed, "old"},
		{files.FaultSynced, core.StateFailed, "old"},
		{files.FaultChecked, core.StateFailed, "old"},
		{files.FaultDone, core.StateUnknown, "new"},
		{files.FaultDurable, core.StateUnknown, "new"},
	} {
		t.Run(string(c.point), func(t *testing.T) {
			f := &faults{at: c.point, err: errors.New("the machine is on fire")}
			d := newDesk(t, files.Options{Fault: f}, map[string]string{"f.txt": "old"})
			id := d.queue("write", `{"path":"f.txt","text":"new"}`)
			d.approve(id)
			if got := d.action(id); got.State != c.want {
				t.Errorf("got %s (%s), want %s", got.State, got.Reason, c.want)
			}
			d.wantDisk("f.txt", c.disk)
			out := d.call("SITE", "read", `{"path":"f.txt"}`)
			if len(out.Incomplete()) != 1 || out.Pending() != 0 {
				t.Errorf("read: pending %d, incomplete %v; want the action named", out.Pending(), out.Incomplete())
			}
			f.err = nil
			if c.want == core.StateFailed {
				r, err := d.kernel.Retry(t.Context(), id, core.Authority{Person: "alice", Means: core.MeansPipe}, false, nil)
				if err != nil || r.Outcome != core.OutcomeApplied {
					t.Errorf("retry: got %+v %v, want applied", r, err)
				}
				d.wantDisk("f.txt", "new")
			}
		})
	}
}

// A write that made the folder of a later one is rejected: the later one makes the folder itself. A mkdir that is
// rejected takes what needs it along.
func TestRejectedParents(t *testing.T) {
	d := newDesk(t, files.Options{}, map[string]string{"x.txt": "x"})
	first := d.queue("write", `{"path":"a/one.txt","text":"1"}`)
	second := d.queue("write", `{"path":"a/two.txt","text":"2"}`)
	if a := d.action(second); len(a.Draft.Needs) != 0 || len(a.Draft.After) != 1 || a.Draft.After[0].Provider != first {
		t.Errorf("second write: needs %v, after %v; want after %d", a.Draft.Needs, a.Draft.After, first)
	}
	d.reject(first)
	results := d.approve(second)
	if results[second].Outcome == core.OutcomeDrifted {
		results = d.approve(second)
	}
	wantOutcome(t, results, second, core.OutcomeApplied)
	d.wantDisk("a/two.txt", "2")

	made := d.queue("mkdir", `{"path":"b"}`)
	in := d.queue("write", `{"path":"b/in.txt","text":"in"}`)
	later := d.queue("edit", `{"path":"b/in.txt","old":"in","new":"out"}`)
	d.reject(made)
	if got := d.action(in); got.State != core.StateStranded {
		t.Errorf("write into a rejected folder: got %s", got.State)
	}
	if got := d.action(later); got.State != core.StateStranded {
		t.Errorf("edit of it: got %s", got.State)
	}
	if out := d.call("SITE", "stat", `{"path":"b"}`); out.Code() != core.CodeNotFound {
		t.Errorf("stat of the rejected folder: got %s %s", out.Status(), out.Code())
	}
}

// Everything that a person would do with a site in one afternoon, decided in one plan, in any order of ids.
func TestOnePlanOverManyKinds(t *testing.T) {
	d := newDesk(t, files.Options{}, map[string]string{
		"index.html": "<h1>old</h1>\n", "old/a.html": "a\n", "old/b.html": "b\n", "css/x.css": "x\n", "news.html": "n\n",
	})
	ids := []core.ActionID{
		d.queue("edit", `{"path":"index.html","old":"old","new":"new"}`),
		d.queue("edit", `{"path":"index.html","old":"new","new":"newest"}`),
		d.queue("mkdir", `{"path":"pages"}`),
		d.queue("write", `{"path":"pages/deep/one.html","text":"1\n"}`),
		d.queue("move", `{"from":"news.html","to":"pages/news.html"}`),
		d.queue("edit", `{"path":"pages/news.html","old":"n","new":"news"}`),
		d.queue("move", `{"from":"old","to":"pages/old"}`),
		d.queue("edit", `{"path":"pages/old/a.html","old":"a","new":"A"}`),
		d.queue("delete", `{"path":"pages/old/b.html"}`),
		d.queue("delete", `{"path":"css"}`),
		d.queue("write", `{"path":"css/new.css","text":"y\n"}`),
		d.queue("move", `{"from":"pages","to":"site"}`),
	}
	type seen struct{ args, value string }
	var shown []seen
	for _, args := range []string{
		`{"path":"index.html"}`, `{"path":"site/deep/one.html"}`, `{"path":"site/news.html"}`, `{"path":"site/old/a.html"}`, `{"path":"css/new.css"}`,
	} {
		out := d.call("SITE", "read", args)
		if out.Status() != core.StatusOK || out.Pending() == 0 || len(out.Incomplete()) != 0 {
			t.Fatalf("read %s: got %s (%s), pending %d, incomplete %v", args, out.Status(), out.Reason(), out.Pending(), out.Incomplete())
		}
		shown = append(shown, seen{args, string(out.Value())})
	}
	backwards := append([]core.ActionID(nil), ids...)
	for i := range len(backwards) / 2 {
		backwards[i], backwards[len(backwards)-1-i] = backwards[len(backwards)-1-i], backwards[i]
	}
	results := d.approve(backwards...)
	for _, id := range ids {
		wantOutcome(t, results, id, core.OutcomeApplied)
	}
	for _, s := range shown {
		out := d.call("SITE", "read", s.args)
		if got := string(out.Value()); got != s.value || out.Pending() != 0 {
			t.Errorf("read %s: got %s pending %d, shown before %s", s.args, got, out.Pending(), s.value)
		}
	}
	for _, gone := range []string{"old", "pages", "news.html", "site/old/b.html", "css/x.css"} {
		if _, err := os.Lstat(filepath.Join(d.dir, gone)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: got %v, want it gone", gone, err)
		}
	}
}

// Two bindings of one session that overlap see each other's effects, each within its own narrowing.
func TestOverlappingBindingsShareAJournal(t *testing.T) {
	d := newDesk(t, files.Options{}, map[string]string{"site/a.txt": "a", "secret/b.txt": "b"})
	d.bind("NARROW", "file://"+d.dir+"#path=site")
	d.queue("edit", `{"path":"site/a.txt","old":"a","new":"A"}`)
	d.queue("write", `{"path":"secret/c.txt","text":"c"}`)
	if out := d.call("NARROW", "read", `{"path":"a.txt"}`); !strings.Contains(string(out.Value()), `"text":"A"`) || out.Pending() != 1 {
		t.Errorf("read: got %s, pending %d", out.Value(), out.Pending())
	}
	if out := d.call("NARROW", "list", `{}`); out.Pending() != 1 || strings.Contains(string(out.Value()), "secret") {
		t.Errorf("list: got %s, pending %d", out.Value(), out.Pending())
	}
	out := d.call("NARROW", "write", `{"path":"new.txt","text":"n"}`)
	if out.Action() == 0 {
		t.Fatalf("write: got %s (%s)", out.Status(), out.Reason())
	}
	if out := d.call("SITE", "read", `{"path":"site/new.txt"}`); out.Pending() != 1 {
		t.Errorf("read of what the narrow one made: got %s, pending %d", out.Value(), out.Pending())
	}
	wantOutcome(t, d.approve(out.Action()), out.Action(), core.OutcomeApplied)
	d.wantDisk("site/new.txt", "n")
}
