package openai_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/gatekeepers/model/openai"
	"gatehouse/gatekeepers/model/openai/fake"
)

func tooMany(after string) fake.Reply {
	return fake.Reply{
		Status: http.StatusTooManyRequests, Header: map[string]string{"Retry-After": after},
		Body: `{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}`,
	}
}

func TestA2_TooManyRequestsTwiceThenOneAnswer(t *testing.T) {
	r := newRig(t, nil, tooMany("2"), tooMany("Sun, 01 Mar 2026 12:00:07 GMT"), fake.Reply{Text: "Done."})
	got := r.answer(task())
	if got.Text != "Done." || strings.Join(r.deltas, "") != "Done." {
		t.Errorf("got %q in %q, want the text once", got.Text, r.deltas)
	}
	if len(r.waited) != 2 || r.waited[0] != 2*time.Second || r.waited[1] != 7*time.Second {
		t.Errorf("waited %v, want 2 s and 7 s", r.waited)
	}
	if len(r.server.Asked()) != 3 {
		t.Errorf("asked %d times, want 3", len(r.server.Asked()))
	}
}

func TestA2_TriesAndPausesAreBounded(t *testing.T) {
	r := newRig(t, func(o *openai.Options) { o.Tries = 4 }, tooMany("86400"))
	r.fails("has had enough for now", "slow down")
	if len(r.waited) != 3 || r.waited[0] != 30*time.Second {
		t.Errorf("waited %v, want 30 s three times", r.waited)
	}
	r = newRig(t, nil, fake.Reply{Status: 503, Body: "<html>busy</html>", Header: map[string]string{"Content-Type": "text/html"}})
	r.fails("answered 503 Service Unavailable")
	for i, d := range r.waited {
		if d > 30*time.Second || i > 0 && d <= r.waited[i-1] {
			t.Errorf("waited %v, want growing pauses", r.waited)
		}
	}
	if len(r.waited) != openai.DefaultTries-1 {
		t.Errorf("waited %d times, want %d", len(r.waited), openai.DefaultTries-1)
	}
}

func TestA2_StoppedWhileItWaits(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r := newRig(t, func(o *openai.Options) {
		o.Sleep = func(ctx context.Context, _ time.Duration) error {
			cancel()
			return ctx.Err()
		}
	}, tooMany("1"))
	if _, err := r.model.Complete(ctx, task(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's end", err)
	}
}

func TestComplete_QuotaIsNotTriedAgain(t *testing.T) {
	r := newRig(t, nil, fake.Reply{Status: 429, Body: `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`})
	r.fails("You exceeded your current quota")
	if len(r.waited) != 0 {
		t.Errorf("waited %v for more money", r.waited)
	}
}

func TestComplete_AHangEndsAtTheDeadline(t *testing.T) {
	for name, reply := range map[string]fake.Reply{"at once": {Hang: true}, "after text": {Text: "I am", Hang: true}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(o *openai.Options) { o.Timeout = 100 * time.Millisecond }, reply)
			r.fails("gave no whole answer within 100ms (openai.timeout)")
			if out, _ := r.ask(task()); out.Usage.Input == 0 || !out.Usage.Estimated {
				t.Errorf("got usage %+v, want an estimate of what was sent", out.Usage)
			}
			if len(r.server.Asked()) != 2 {
				t.Errorf("asked %d times for two answers", len(r.server.Asked()))
			}
		})
	}
}

func TestComplete_WrongOrMissingKey(t *testing.T) {
	r := newRig(t, nil)
	r.server.Key = "another"
	// The server repeats the key in what it says.
	r.fails("refused the key in MY_KEY (openai.key_env)", "Bearer [key]")
	r = newRig(t, func(o *openai.Options) { o.Key = "" })
	r.server.Key = "another"
	r.fails("wants a key; set MY_KEY", "openai.key_env")
}

// What is cut out goes before what is cut off: no half of a key stands at the end of a line.
func TestComplete_TheKeyIsRedactedBeforeAnythingIsShortened(t *testing.T) {
	for pad := 270; pad <= 310; pad += 4 {
		r := newRig(t, nil, fake.Reply{Status: 400, Body: `{"error":{"message":"` + strings.Repeat("x", pad) + secret + `"}}`})
		r.fails("answered 400")
		r = newRig(t, nil, fake.Reply{Raw: true, Body: `data: {"error":{"message":"` + strings.Repeat("x", pad) + secret + `"}}` + "\n\n"})
		r.fails("the answer broke off: the server said")
	}
}

func TestComplete_UnknownModel(t *testing.T) {
	r := newRig(t, func(o *openai.Options) { o.Model = "huge" })
	r.server.Models = []string{"tiny", "small"}
	r.fails(`model "huge" is not offered`, "openai.model", "small, tiny")
	r = newRig(t, func(o *openai.Options) { o.Model = "" })
	r.fails("no model is chosen", "tiny")
}

func TestComplete_NoModelServer(t *testing.T) {
	page := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<!doctype html><p>hello")) }
	web := httptest.NewServer(http.HandlerFunc(page))
	defer web.Close()
	r := newRig(t, func(o *openai.Options) { o.Base = web.URL })
	r.fails("is no model server", "openai.base_url")

	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "<html>files are only read", http.StatusNotImplemented)
	}))
	defer files.Close()
	r = newRig(t, func(o *openai.Options) { o.Base = files.URL })
	r.fails("is no model server", "501", "openai.base_url")

	r = newRig(t, func(o *openai.Options) { o.Base = strings.TrimSuffix(o.Base, "/v1") })
	r.fails("is no model server", "/v1")

	away := httptest.NewServer(http.RedirectHandler(web.URL, http.StatusTemporaryRedirect))
	defer away.Close()
	r = newRig(t, func(o *openai.Options) { o.Base = away.URL })
	r.fails("redirects elsewhere, which is not followed")

	gone := httptest.NewServer(nil)
	gone.Close()
	r = newRig(t, func(o *openai.Options) { o.Base = gone.URL + "/v1" })
	r.fails("cannot be reached", "connection refused", "openai.base_url")
	if len(r.waited) != 0 {
		t.Errorf("waited %v for nobody", r.waited)
	}
}

func TestComplete_AContextThatOverflows(t *testing.T) {
	for name, reply := range map[string]fake.Reply{
		"by code": {Status: 400, Body: `{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}`},
		"llama":   {Status: 400, Body: `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`},
		"vllm":    {Status: 400, Body: `{"object":"error","message":"maximum context length is 4096 tokens","code":400}`},
		"stream":  {Raw: true, Body: `data: {"error":{"message":"context window exceeded"}}` + "\n\n"},
	} {
		r := newRig(t, nil, reply)
		err := r.fails("no longer fits the model's context", "start a new turn")
		if !errors.Is(err, core.ErrContextFull) || len(r.waited) != 0 {
			t.Errorf("%s: got %v after %v, want ErrContextFull at once", name, err, r.waited)
		}
	}
}

func TestNew_Settings(t *testing.T) {
	for _, c := range []struct {
		o    openai.Options
		want string
	}{
		{openai.Options{KeyEnv: "OPENAI_API_KEY"}, "openai.key_env: the variable OPENAI_API_KEY holds no key"},
		{openai.Options{Key: "two words", KeyEnv: "K"}, "openai.key_env: what the variable K holds is no key"},
		{openai.Options{Base: "localhost:11434"}, "openai.base_url: not an http or https address"},
		{openai.Options{Base: "http://me:pw@host/v1"}, "openai.base_url: holds more than an address"},
	} {
		_, err := openai.New(c.o)
		var wrong *openai.SettingError
		if !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "two words") || strings.Contains(err.Error(), "pw") {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

func TestDestination_IsTheHostOrLocal(t *testing.T) {
	for base, want := range map[string]string{
		"http://localhost:11434/v1": "local", "http://127.0.0.3:1/v1": "local", "http://[::1]:8080/v1": "local",
		"https://Models.Example.com/v1": "models.example.com", "http://192.168.1.5:8000/v1": "192.168.1.5",
		"http://localhost.example.com/v1": "localhost.example.com",
	} {
		m, err := openai.New(openai.Options{Base: base, Model: "x"})
		if err != nil || m.Destination() != want {
			t.Errorf("%s: got %q (%v), want %q", base, m.Destination(), err, want)
		}
	}
}
