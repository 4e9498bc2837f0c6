package web_test

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/egress"
	"gatehouse/gatekeepers/conformance"
	"gatehouse/gatekeepers/kit"
	"gatehouse/gatekeepers/web"
	"gatehouse/store"
)

// site is a server that every public name leads to.
type site struct {
	driver *web.Driver
	calls  atomic.Int64
}

func newSite(t testing.TB, handler http.HandlerFunc) *site {
	t.Helper()
	s := &site{}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls.Add(1)
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	s.driver = web.New(kit.NewHTTP(kit.HTTPOptions{
		Roots: roots,
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			if host == "inner.example.com" {
				return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
		},
		Dial: func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
		},
	}))
	return s
}

func pages(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/page":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprint(w, `<html><head><title>T</title><style>x{}</style></head><body><h1>Opening <em>hours</em></h1><p>See <a href="/more">more</a>.</p><script>bad()</script></body></html>`)
	case "/long":
		w.Header().Set("Content-Type", "text/plain")
		_, _ = fmt.Fprint(w, strings.Repeat("é", 40<<10))
	case "/binary":
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write([]byte{0x89, 0x50})
	case "/away":
		http.Redirect(w, r, "https://b.example.com/page", http.StatusFound)
	case "/inner":
		http.Redirect(w, r, "https://inner.example.com/secret-path", http.StatusFound)
	case "/private":
		http.Redirect(w, r, "https://0x7f.1/secret-path", http.StatusFound)
	case "/here":
		http.Redirect(w, r, "/page", http.StatusFound)
	case "/reset":
		panic(http.ErrAbortHandler)
	default:
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusNotFound)
		_, _ = fmt.Fprint(w, "nothing here")
	}
}

func newKernel(t testing.TB, driver core.Gatekeeper, policy core.Egress, checks ...core.Check) *core.Kernel {
	t.Helper()
	db, err := store.Open(context.Background(), store.Options{Path: filepath.Join(t.TempDir(), "gatehouse.db")})
	if err != nil {
		t.Fatal(err)
	}
	k, err := core.New(core.Options{
		Store: db, Gatekeepers: []core.Gatekeeper{driver}, Clock: &clock{}, Rand: rand.Reader, Alive: alone{}, Checks: checks, Egress: policy,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

type clock struct{ looks atomic.Int64 }

func (c *clock) Now() time.Time { return time.Unix(1_800_000_000+c.looks.Add(1), 0).UTC() }

type alone struct{}

func (alone) Self() core.ProcessID         { return "self" }
func (alone) Alive(id core.ProcessID) bool { return id == "self" }

// rig is a session with WEB under a policy.
type rig struct {
	t      *testing.T
	kernel *core.Kernel
}

func newRig(t *testing.T, s *site, url string, rules ...egress.Rule) *rig {
	t.Helper()
	policy, err := egress.New(rules)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t, newKernel(t, s.driver, policy)}
	if _, err := r.kernel.NewSession(t.Context(), core.NewSession{Name: "work", Owner: "alice"}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.kernel.Bind(t.Context(), core.BindRequest{Session: "work", Name: "WEB", URL: url, Person: "alice"}); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) fetch(url string) core.Released {
	r.t.Helper()
	out, err := r.kernel.Call(r.t.Context(), core.CallRequest{
		Session: "work", Binding: "WEB", Method: "fetch", Args: json.RawMessage(fmt.Sprintf(`{"url":%q}`, url)),
		Caller: core.Caller{Kind: core.CallerPerson, Person: "alice"},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

func allow() egress.Rule { return egress.Rule{Name: "all", Decide: core.EgressAllow} }

func TestFetch_AsMarkdown(t *testing.T) {
	r := newRig(t, newSite(t, pages), "web:///", allow())
	out := r.fetch("https://example.com/page#part")
	var value struct {
		URL, Type, Text string
		Status          int
	}
	if err := json.Unmarshal(out.Value(), &value); err != nil {
		t.Fatal(err)
	}
	if want := "# Opening *hours*\n\nSee [more](https://example.com/more)."; value.Text != want || value.Status != 200 || value.Type != "text/html" || value.URL != "https://example.com/page" {
		t.Errorf("got %+v (%s), want %q", value, out.Reason(), want)
	}
	if units := out.Units(); len(units) != 1 || units[0].Name != "https://example.com" {
		t.Errorf("got units %v", units)
	}
	if out := r.fetch("https://example.com/here"); !strings.Contains(string(out.Value()), "Opening") {
		t.Errorf("a redirect on its host: got %s", out.Value())
	}
	if out := r.fetch("https://example.com/away"); !strings.Contains(string(out.Value()), `"redirect":"https://b.example.com/page"`) {
		t.Errorf("a redirect to another host: got %s (%s)", out.Value(), out.Reason())
	}
	for url, code := range map[string]string{
		"https://example.com/binary": core.CodeInvalid, "https://example.com/reset": "unreachable", "https://inner.example.com/": core.CodeInvalid,
	} {
		if out := r.fetch(url); out.Status() != core.StatusError || out.Code() != code || len(out.Units()) != 0 {
			t.Errorf("%s: got %s %s (%s) over %v", url, out.Status(), out.Code(), out.Reason(), out.Units())
		}
	}
	// Where a page leads that is not reached: another host is not followed, an address is refused with nothing of it said.
	if out := r.fetch("https://example.com/inner"); !strings.Contains(string(out.Value()), `"redirect":"https://inner.example.com/secret-path"`) {
		t.Errorf("got %s (%s)", out.Value(), out.Reason())
	}
	if out := r.fetch("https://example.com/private"); out.Status() != core.StatusError || strings.Contains(out.Reason(), "secret-path") {
		t.Errorf("got %s (%s), want it refused and nothing of what the page said", out.Status(), out.Reason())
	}
}

func TestFetch_Windows(t *testing.T) {
	r := newRig(t, newSite(t, pages), "web:///", allow())
	text, offset := "", 0
	for range 3 {
		out, err := r.kernel.Call(t.Context(), core.CallRequest{
			Session: "work", Binding: "WEB", Method: "fetch", Args: json.RawMessage(fmt.Sprintf(`{"url":"https://example.com/long","offset":%d}`, offset)),
			Caller: core.Caller{Kind: core.CallerPerson, Person: "alice"},
		})
		if err != nil {
			t.Fatal(err)
		}
		var value struct {
			Text string
			Next int
		}
		if err := json.Unmarshal(out.Value(), &value); err != nil {
			t.Fatal(err)
		}
		if text += value.Text; value.Next == 0 {
			break
		}
		offset = value.Next
	}
	if text != strings.Repeat("é", 40<<10) {
		t.Errorf("got %d bytes", len(text))
	}
}

// TestX20_RefusedWithoutAQuestion: what is never reached is not asked about either.
func TestX20_RefusedWithoutAQuestion(t *testing.T) {
	s := newSite(t, pages)
	r := newRig(t, s, "web:///")
	for _, url := range []string{
		"http://example.com/", "ftp://example.com/", "file:///etc/passwd", "data:text/html,x", "https://a:b@example.com/",
		"https://169.254.169.254/", "https://2130706433/", "https://0x7f.1/", "https://[::ffff:10.0.0.1]/", "http://127.0.0.1/", "https:/x", "::",
	} {
		if out := r.fetch(url); out.Status() != core.StatusError || out.Code() != core.CodeInvalid {
			t.Errorf("%s: got %s (%s)", url, out.Status(), out.Reason())
		}
	}
	asked := r.fetch("https://example.com/page")
	if asked.Status() != core.StatusPending || s.calls.Load() != 0 {
		t.Fatalf("got %s (%s) after %d calls, want a question first", asked.Status(), asked.Reason(), s.calls.Load())
	}
	if _, err := r.kernel.Answer(t.Context(), asked.Action(), "allow", "", core.Authority{Person: "alice", Means: core.MeansPipe}); err != nil {
		t.Fatal(err)
	}
	if out := r.fetch("https://example.com/page"); out.Status() != core.StatusOK {
		t.Errorf("got %s (%s)", out.Status(), out.Reason())
	}
}

func TestX21_AnAttemptThatFailsIsInTheLog(t *testing.T) {
	s := newSite(t, pages)
	r := newRig(t, s, "web:///", allow())
	r.fetch("https://example.com/reset")
	rows, err := r.kernel.Record(t.Context(), core.RecordQuery{Types: []core.EventType{core.EventEgress}})
	if err != nil || len(rows) != 2 || s.calls.Load() == 0 {
		t.Fatalf("got %d rows after %d calls, %v; want the attempt and how it went", len(rows), s.calls.Load(), err)
	}
	if rows[0].Entry.Subject != "fetch example.com" || !strings.Contains(string(rows[1].Entry.Detail), `"outcome":"error"`) {
		t.Errorf("got %s and %s", rows[0].Blob, rows[1].Blob)
	}
}

func TestConformance(t *testing.T) {
	const noWrites, noLists = "the web has no write", "the web has no list"
	s := newSite(t, pages)
	conformance.Run(t, conformance.Setup{
		Name: "web", Gatekeeper: s.driver,
		Kernel: func(t testing.TB, checks ...core.Check) *core.Kernel {
			return newKernel(t, s.driver, core.AllowAll{}, checks...)
		},
		URLs: []string{"web:///", "web:///#origin=https://example.com", "web:///#origin=https://example.com:8443", "web:///#origin=http://[::1]:8080"},
		BadURLs: []string{
			"", "web:", "web://", "web://host/", "web:///x", "web:///#", "web:///#origin=", "web:///#origin=example.com", "web:///#origin=https://a/b",
			"web:///#origin=https://u@a", "web:///#origin=https://a?x", "web:///#origin=https://a#b", "web:///#origin=ftp://a", "web:///#origin=https://a b",
			"web:///#tool=a", "WEB:///", "file:///", "web:///#origin=https://a:",
		},
		Fresh: func(testing.TB) conformance.Service {
			return conformance.Service{
				URL: "web:///#origin=https://example.com", Narrow: "web:///#origin=https://example.com", Other: "web:///#origin=https://b.example.com",
				Calls: func() int { return int(s.calls.Load()) },
			}
		},
		Sample: conformance.Sample{
			Read: conformance.Call("fetch", `{"url":"https://example.com/page"}`),
			List: conformance.Call("fetch", `{"url":"https://example.com/page"}`),
			Outside: []conformance.Request{
				conformance.Call("fetch", `{"url":"https://b.example.com/page"}`), conformance.Call("fetch", `{"url":"https://example.com:8443/page"}`),
			},
			Bad: []conformance.Request{
				conformance.Call("fetch", `{}`), conformance.Call("fetch", `{"url":5}`), conformance.Call("fetch", `{"url":"https://example.com/","offset":-1}`),
				conformance.Call("fetch", `{"url":"http://example.com/"}`),
			},
		},
		Lacks: map[string]string{
			"overlapping bindings": noWrites, "cursor of a changed list": noLists, "pages make the list": noLists,
			"missing is out of scope":      "a page that is not there is an answer, with its status",
			"pending writes touch nothing": noWrites, "fields and kinds are declared": noWrites, "replay in order of ids": noWrites,
			"filters after projection": noWrites, "own writes never drift": noWrites, "second edit alone": noWrites,
			"rejecting the first of two edits": noWrites, "provisional until bound": noWrites, "reject cascade": noWrites, "drift": noWrites,
			"await is not shown": noWrites, "what cannot be projected": noWrites, "a read while an effect is claimed": noWrites,
			"failed before dispatch": noWrites, "refused, retryable": noWrites, "refused for good": noWrites, "unknown outcome": noWrites,
			"journal of another resource": noWrites, "fidelity": noWrites, "revert applied": noWrites, "revert drifts": noWrites,
			"revert unknown": noWrites, "reverts bring back what was": noWrites,
		},
	})
}
