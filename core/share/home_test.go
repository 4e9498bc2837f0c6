package share_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/share"
	"gatehouse/gatekeepers/memory"
	"gatehouse/store"
)

// home is a person with a store of their own. All homes of a test share one driver: the service they all reach.
type home struct {
	t      *testing.T
	name   core.PersonID
	id     *share.Identity
	path   string
	db     *store.DB
	kernel *core.Kernel
	driver *memory.Driver
	clock  *clock
	by     core.Authority
	turns  int
	egress *sink
}

type clock struct{ now time.Time }

// Now moves on by a second at each call: files are dated to the second.
func (c *clock) Now() time.Time { c.now = c.now.Add(10 * time.Millisecond); return c.now }

type alive struct{}

func (alive) Self() core.ProcessID      { return "self" }
func (alive) Alive(core.ProcessID) bool { return true }

// sink is an egress policy that keeps what it was asked and refuses what it is told to.
type sink struct {
	asked  []core.EgressRequest
	refuse core.EgressSink
}

func (s *sink) Decide(_ context.Context, r core.EgressRequest) core.EgressVerdict {
	s.asked = append(s.asked, r)
	if r.Sink == s.refuse {
		return core.EgressVerdict{Decision: core.EgressDeny, Rule: "test"}
	}
	return core.EgressVerdict{Decision: core.EgressAllow, Rule: "test"}
}

func newHome(t *testing.T, driver *memory.Driver, name core.PersonID, tenant string) *home {
	t.Helper()
	h := &home{
		t: t, name: name, driver: driver, clock: &clock{now: day()}, path: filepath.Join(t.TempDir(), "gatehouse.db"),
		by: core.Authority{Person: name, Means: core.MeansPipe}, egress: &sink{},
	}
	var err error
	h.id, err = share.NewIdentity(rand.Reader, name, tenant)
	h.must(err)
	h.db, err = store.Open(context.Background(), store.Options{Path: h.path})
	h.must(err)
	h.kernel, err = core.New(core.Options{
		Store: h.db, Gatekeepers: []core.Gatekeeper{driver}, Clock: h.clock, Rand: rand.Reader, Alive: alive{}, Egress: h.egress,
	})
	h.must(err)
	t.Cleanup(func() { h.must(h.kernel.Close()); h.must(h.db.Close()) })
	return h
}

func (h *home) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// meet records people of other homes, as one does with their lines.
func (h *home) meet(others ...*home) {
	h.t.Helper()
	for _, o := range others {
		p, err := core.ParsePerson(o.id.Person().Line())
		h.must(err)
		_, err = h.kernel.AddPerson(context.Background(), p, h.by)
		h.must(err)
	}
}

func (h *home) connect() {
	h.t.Helper()
	_, err := h.kernel.Connect(context.Background(), core.ConnectRequest{URL: "memory://notes", Name: "notes of " + string(h.name)}, h.by)
	h.must(err)
}

// session makes one with a binding for each collection.
func (h *home) session(collections ...string) string {
	h.t.Helper()
	s, err := h.kernel.NewSession(context.Background(), core.NewSession{Name: "title-canary", Owner: h.name})
	h.must(err)
	for _, c := range collections {
		h.bind(string(s.ID), c)
	}
	return string(s.ID)
}

func (h *home) bind(session, collection string) {
	h.t.Helper()
	service, err := h.driver.Service("memory://notes")
	h.must(err)
	h.must(service.Put(collection+"/1", memory.Item{Title: collection + "-canary"}))
	_, err = h.kernel.Bind(context.Background(), core.BindRequest{
		Session: session, Name: strings.ToUpper(collection), URL: "memory://notes/" + collection, Person: h.name,
	})
	h.must(err)
}

// turn has an agent asked something make one call, and end.
func (h *home) turn(session, asked, call, args string) core.Released {
	h.t.Helper()
	ctx := context.Background()
	h.turns++
	now := h.clock.Now()
	turn := core.Turn{
		Session: core.SessionID(session), State: core.TurnRunning, Model: "m", Source: "/srv/model-source-canary", By: h.name, OnDenial: core.DenialResume,
		Limits: core.TurnLimits{Steps: 30, Time: time.Minute}, RunningSince: now, StartedAt: now, UpdatedAt: now,
	}
	id := fmt.Sprintf("provider-id-canary-%d", h.turns)
	h.must(h.db.Write(ctx, func(tx core.Tx) error {
		if err := tx.InsertTurn(&turn); err != nil {
			return err
		}
		m := core.Message{Session: turn.Session, By: h.name, Kind: core.MessageQueued, Text: asked, At: now}
		if err := tx.InsertMessage(&m); err != nil {
			return err
		}
		if err := tx.DeliverMessages(turn.Session, turn.Number, 1, []int64{m.ID}); err != nil {
			return err
		}
		return tx.InsertStep(core.Step{Session: turn.Session, Turn: turn.Number, Number: 1, At: h.clock.Now(), Response: core.Response{
			Text: "answer of turn " + fmt.Sprint(turn.Number), Calls: []core.ToolCall{{ID: id, Name: call, Args: args}},
		}})
	}))
	binding, method, _ := strings.Cut(call, ".")
	out, err := h.kernel.Call(ctx, core.CallRequest{
		Session: session, Binding: core.BindingName(binding), Method: method, Args: json.RawMessage(args),
		Caller: core.Caller{Kind: core.CallerAgent, Person: h.name, Turn: turn.Number, Step: 1, CallID: id, Name: "m"},
	})
	h.must(err)
	ended := turn
	ended.State, ended.End, ended.UpdatedAt = core.TurnDone, core.TurnEndDone, h.clock.Now()
	h.must(h.db.Write(ctx, func(tx core.Tx) error {
		_, err := tx.ChangeTurn(turn, &ended)
		return err
	}))
	return out
}

func (h *home) hand(session, call string) core.Released {
	h.t.Helper()
	binding, method, _ := strings.Cut(call, ".")
	out, err := h.kernel.Call(context.Background(), core.CallRequest{
		Session: session, Binding: core.BindingName(binding), Method: method, Args: json.RawMessage(`{}`),
		Caller: core.Caller{Kind: core.CallerPerson, Person: h.name},
	})
	h.must(err)
	return out
}

// export is all of gatehouse session export.
func (h *home) export(r core.ExportRequest, p share.Packing) ([]byte, *share.Parcel, error) {
	ctx := context.Background()
	r.Tenant = h.id.Person().Tenant
	d, err := h.kernel.PrepareExport(ctx, r, h.by)
	if err != nil {
		return nil, nil, err
	}
	parcel, err := share.Pack(ctx, d, h.id, p)
	if err != nil {
		return nil, nil, err
	}
	leaving := parcel.Leaving("a file", rand.Reader)
	given, err := d.Leave(ctx, leaving)
	if err != nil {
		return nil, parcel, err
	}
	var b buffer
	header, err := parcel.Write(ctx, &b, given, nil)
	h.must(d.Left(ctx, given, leaving, header.ManifestHash.String(), err))
	return b.data, parcel, err
}

// mustExport is an export that works.
func (h *home) mustExport(session string, level core.ShareLevel, until int, to ...core.PersonID) []byte {
	h.t.Helper()
	raw, _, err := h.export(core.ExportRequest{Session: session, Level: level, Until: until, For: to}, share.Packing{})
	h.must(err)
	return raw
}

// open is all of gatehouse session open.
func (h *home) open(raw []byte) (core.Session, []core.OpenLine, error) {
	ctx := context.Background()
	f, err := share.Open(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return core.Session{}, nil, err
	}
	e, err := share.Enter(ctx, h.kernel, f, h.id, h.by, nil)
	if err != nil {
		return core.Session{}, nil, err
	}
	if err := e.Passed(ctx); err != nil {
		return core.Session{}, e.Lines(), err
	}
	s, err := e.Release(ctx, nil)
	return s, e.Lines(), err
}

// transcript is all that a session says, as one text.
func (h *home) transcript(session string) string {
	h.t.Helper()
	entries, err := h.kernel.Transcript(context.Background(), session)
	h.must(err)
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%s %d/%d %s %s %s", e.Kind, e.Turn, e.Step, e.Text, e.Call.Name, e.Call.Args)
		if e.Result.Valid() {
			raw, err := json.Marshal(e.Result)
			h.must(err)
			b.Write(raw)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// holds reports whether any file of a home holds some words.
func (h *home) holds(words string) bool {
	h.t.Helper()
	found := false
	h.must(filepath.Walk(filepath.Dir(h.path), func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		found = found || bytes.Contains(raw, []byte(words))
		return err
	}))
	return found
}

func (h *home) wantNothing() {
	h.t.Helper()
	sessions, err := h.kernel.Sessions(context.Background())
	h.must(err)
	if len(sessions) != 0 {
		h.t.Errorf("%s has %d sessions, want none", h.name, len(sessions))
	}
	for _, canary := range []string{"title-canary", "plan-canary", "question-canary", "answer of turn"} {
		if h.holds(canary) {
			h.t.Errorf("%s stands in the store of %s", canary, h.name)
		}
	}
}

func unit(collection string) core.Unit { return memory.Unit("notes", collection) }
