package openai_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gatehouse/core"
	"gatehouse/gatekeepers/model/openai"
	"gatehouse/gatekeepers/model/openai/fake"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

const secret = "sk-test-0123456789abcdef"

// rig is a model at a fake server, and what it waited.
type rig struct {
	t      *testing.T
	server *fake.Server
	model  *openai.Model
	waited []time.Duration
	deltas []string
}

func newRig(t *testing.T, change func(*openai.Options), replies ...fake.Reply) *rig {
	t.Helper()
	r := &rig{t: t, server: fake.Start(replies...)}
	t.Cleanup(r.server.Close)
	o := openai.Options{
		Base: r.server.Base(), Model: "tiny", Key: secret, KeyEnv: "MY_KEY", Transport: r.server.Client().Transport,
		Now: func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) },
		Sleep: func(ctx context.Context, d time.Duration) error {
			r.waited = append(r.waited, d)
			return ctx.Err()
		},
	}
	if change != nil {
		change(&o)
	}
	var err error
	if r.model, err = openai.New(o); err != nil {
		t.Fatal(err)
	}
	return r
}

// task is a request with a task and two tools.
func task() core.Request {
	schema := []byte(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)
	return core.Request{
		Turn: 1, Step: 1, System: "You work.", Messages: []core.Message{{Text: "Do it."}},
		Tools: []core.Tool{
			{Name: "SITE.read", About: "Reads.", Schema: schema},
			{Name: "SITE.write_all", About: "Writes.", Schema: schema},
			{Name: core.ToolAsk, About: "Asks.", Schema: []byte(`{"type":"object"}`)},
		},
	}
}

func (r *rig) ask(request core.Request) (core.Response, error) {
	r.t.Helper()
	r.deltas = nil
	return r.model.Complete(context.Background(), request, func(s string) { r.deltas = append(r.deltas, s) })
}

func (r *rig) answer(request core.Request) core.Response {
	r.t.Helper()
	out, err := r.ask(request)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// fails wants an error of one line with these words, and without the key.
func (r *rig) fails(want ...string) error {
	r.t.Helper()
	_, err := r.ask(task())
	wantLine(r.t, err, want...)
	return err
}

func wantLine(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("got no error")
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("got %q, want it to say %q", err, w)
		}
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		if deep := fmt.Sprintf("%v %+v %#v", inner, inner, inner); strings.Contains(deep, secret) || strings.Contains(deep, secret[:12]) {
			t.Errorf("got %q: it holds the key", deep)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("got %q, want one line", err)
	}
}
