package openai

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"

	"gatehouse/core"
)

// DefaultBase is the hosted endpoint; it alone is known to want a key.
const (
	DefaultBase = "https://" + defaultHost + "/v1"
	defaultHost = "api.openai.com"
)

// The limits where none are given.
const (
	DefaultTimeout = 10 * time.Minute
	DefaultTries   = 5
)

// waitLimit is the longest pause before another try, listTime how long a list of models may take, and tail how long
// after its end an answer may take to say what it took.
const (
	waitLimit = 30 * time.Second
	listTime  = 15 * time.Second
	tail      = 5 * time.Second
)

// Options say which model is asked, and where.
type Options struct {
	Base      string // the URL above chat/completions; empty is DefaultBase
	Model     string
	Key       string // sent as a bearer token; may be empty
	KeyEnv    string // the variable that the key stood in, for errors
	Timeout   time.Duration
	Tries     int // of one response, before anything of it was shown
	MaxOutput int // tokens of one response; 0 leaves it to the server
	Price     core.Price
	Priced    bool // Price is known

	Transport http.RoundTripper                                // nil is http.DefaultTransport
	Now       func() time.Time                                 // nil is the system's clock
	Sleep     func(ctx context.Context, d time.Duration) error // nil waits; it ends with the context
}

// Model asks one model at one endpoint. It may be used by several goroutines, and connects when it is asked.
type Model struct {
	o      Options
	base   string // without what must not be shown
	url    *url.URL
	client *http.Client
}

var (
	_ core.Model   = (*Model)(nil)
	_ core.Metered = (*Model)(nil)
)

// SettingError is a setting that cannot be used.
type SettingError struct {
	Setting string // the key of the configuration
	Text    string
	Hint    string
}

func (e *SettingError) Error() string { return e.Setting + ": " + e.Text }

// New checks the options and reaches for nothing. The error is a *SettingError.
func New(o Options) (*Model, error) {
	if o.Base == "" {
		o.Base = DefaultBase
	}
	u, err := url.Parse(o.Base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, &SettingError{"openai.base_url", "not an http or https address", "write it as http://localhost:11434/v1"}
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, &SettingError{"openai.base_url", "holds more than an address", "leave out user, password and what follows ? or #; keys go into a variable"}
	}
	if u.Hostname() == defaultHost && o.Key == "" {
		return nil, &SettingError{"openai.key_env", fmt.Sprintf("the variable %s holds no key", o.KeyEnv), "set it, or name another variable; or set openai.base_url to a server that needs none"}
	}
	if strings.ContainsFunc(o.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, &SettingError{"openai.key_env", fmt.Sprintf("what the variable %s holds is no key: it has blanks or other characters that none has", o.KeyEnv), "set it again"}
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Tries <= 0 {
		o.Tries = DefaultTries
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	return &Model{
		o: o, url: u, base: strings.TrimRight(o.Base, "/"),
		client: &http.Client{
			Transport:     o.Transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Name implements core.Model.
func (m *Model) Name() string {
	name := m.clean(m.o.Model)
	if name == "" {
		name = "(none)"
	}
	return "openai " + name
}

// Destination implements core.Model: the host, or local for one on loopback.
func (m *Model) Destination() string {
	host := strings.ToLower(m.url.Hostname())
	if at, err := netip.ParseAddr(host); err == nil && at.Unmap().IsLoopback() || host == "localhost" {
		return "local"
	}
	return host
}

// Price implements core.Metered.
func (m *Model) Price() (core.Price, bool) { return m.o.Price, m.o.Priced }

// Offered lists the models of the endpoint by name.
func (m *Model) Offered(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	service := openai.NewModelService(m.options(kindList)...)
	page, err := service.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s lists no models: %s", m.base, m.clean(bare(err)))
	}
	names := make([]string, 0, len(page.Data))
	for _, model := range page.Data {
		names = append(names, model.ID)
	}
	slices.Sort(names)
	return names, nil
}

// Complete implements core.Model. Errors are one clean line without the key.
func (m *Model) Complete(ctx context.Context, r core.Request, onDelta func(string)) (core.Response, error) {
	if m.o.Model == "" {
		offered, err := m.Offered(ctx)
		if err != nil {
			return core.Response{}, fmt.Errorf("no model is chosen (openai.model), and %w", err)
		}
		return core.Response{}, m.unknownModel(offered)
	}
	params, err := m.params(r)
	if err != nil {
		return core.Response{}, err
	}
	var spent core.Usage
	for try := 1; ; try++ {
		a := &assembly{offered: fullNames(r.Tools), onDelta: onDelta}
		out, sent, err := m.try(ctx, params, a)
		if sent > 0 {
			spent = sum(spent, a.used(sent))
		}
		out.Usage = spent
		if err == nil {
			return out, nil
		}
		pause, again := m.pause(ctx, err, a, try)
		if !again {
			return core.Response{Usage: spent}, m.explain(ctx, err)
		}
		if err := m.o.Sleep(ctx, pause); err != nil {
			return core.Response{Usage: spent}, err
		}
	}
}

func sum(a, b core.Usage) core.Usage {
	return core.Usage{Input: a.Input + b.Input, Output: a.Output + b.Output, Estimated: a.Estimated || b.Estimated}
}

// try asks once. Sent is about how many bytes went out, and zero where the endpoint refused them.
func (m *Model) try(ctx context.Context, params openai.ChatCompletionNewParams, a *assembly) (out core.Response, sent int, err error) {
	ctx, cancel := context.WithTimeout(ctx, m.o.Timeout)
	defer cancel()
	service := openai.NewChatCompletionService(m.options(kindStream)...)
	raw, err := params.MarshalJSON()
	if err != nil {
		return core.Response{}, 0, err
	}
	stream := service.NewStreaming(ctx, params)
	if err := stream.Err(); err != nil {
		if ctx.Err() != nil {
			sent = len(raw) // it was at work on it, and may count it
		}
		return core.Response{}, sent, err
	}
	defer func() { _ = stream.Close() }() // all of it that counts was read
	sent = len(raw)
	for stream.Next() {
		if err := a.add(stream.Current()); err != nil {
			return core.Response{}, sent, err
		}
		if a.finish != "" {
			// What took place is known: what it took may follow, and a server that holds the line open is let go of.
			defer time.AfterFunc(tail, cancel).Stop()
			break
		}
	}
	for a.finish != "" && !a.counted && stream.Next() {
		if err := a.add(stream.Current()); err != nil {
			return core.Response{}, sent, err
		}
	}
	if err := stream.Err(); err != nil && a.finish == "" {
		if ctx.Err() != nil {
			return core.Response{}, sent, ctx.Err()
		}
		return core.Response{}, sent, streamFault(err)
	}
	out, err = a.response(m.o.MaxOutput)
	return out, sent, err
}

// pause is how long to wait before another try, if there is to be one: not once something was shown.
func (m *Model) pause(ctx context.Context, err error, a *assembly, try int) (time.Duration, bool) {
	if a.begun() || try >= m.o.Tries || ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
		return 0, false
	}
	growing := 500 * time.Millisecond << min(try-1, 6)
	growing += time.Duration(rand.Int64N(int64(growing / 4))) // so that many do not come back at once
	var answer *answerError
	var cut *cutError
	var ended *endError
	switch {
	case errors.As(err, &answer):
		if !answer.passing() || answer.full() {
			return 0, false
		}
		if asked := answer.retryAfter(m.o.Now()); asked > 0 {
			return min(asked, waitLimit), true
		}
		return min(growing, waitLimit), true
	case errors.As(err, &ended):
		return 0, false
	case errors.As(err, &cut):
		return min(growing, waitLimit), true
	default:
		return 0, false // nobody is there
	}
}
