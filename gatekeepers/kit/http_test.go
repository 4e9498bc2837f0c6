package kit_test

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/gatekeepers/kit"
)

// network is a server that answers at every public address, names that stand for addresses, and a count of what was
// dialled and waited for.
type network struct {
	options kit.HTTPOptions
	dialled atomic.Int64
	waited  []time.Duration
	calls   atomic.Int64
}

func newNetwork(t *testing.T, names map[string]string, handler http.HandlerFunc) *network {
	t.Helper()
	n := &network{}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.calls.Add(1)
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	n.options = kit.HTTPOptions{
		Roots: roots, Agent: "test",
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			if address, known := names[host]; known {
				return []netip.Addr{netip.MustParseAddr(address)}, nil
			}
			return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
		},
		Dial: func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
			n.dialled.Add(1)
			return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
		},
		Wait: func(_ context.Context, d time.Duration) error {
			n.waited = append(n.waited, d)
			return nil
		},
	}
	return n
}

func (n *network) do(t *testing.T, address string, more ...func(*kit.HTTPRequest)) (kit.HTTPAnswer, error) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		return kit.HTTPAnswer{}, &kit.AddressError{Address: address, Why: "cannot be read"}
	}
	r := kit.HTTPRequest{URL: u}
	for _, f := range more {
		f(&r)
	}
	return kit.NewHTTP(n.options).Do(t.Context(), r)
}

// TestX20_RefusedBeforeConnecting is every spelling that leads off the open network, by itself and as the goal of a
// redirect.
func TestX20_RefusedBeforeConnecting(t *testing.T) {
	names := map[string]string{
		"inner.example.com": "10.0.0.1", "meta.example.com": "169.254.169.254", "six.example.com": "fd00::1", "mapped.example.com": "::ffff:127.0.0.1",
	}
	var location atomic.Pointer[string]
	n := newNetwork(t, names, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", *location.Load())
		w.WriteHeader(http.StatusFound)
	})
	for _, address := range []string{
		"http://example.com/", "http://127.0.0.1/", "ftp://example.com/", "file:///etc/passwd", "data:text/plain,x", "https:example.com",
		"https://user@example.com/", "https://user:pass@example.com/", "https://169.254.169.254/", "https://2130706433/", "https://0x7f.1/",
		"https://0x7f000001/", "https://127.1/", "https://017700000001/", "https://0177.0.0.1/", "https://127.0.0.1./", "https://[::1]/",
		"https://[::ffff:10.0.0.1]/", "https://[::ffff:a00:1]/", "https://[::10.0.0.1]/", "https://[64:ff9b::a00:1]/", "https://[2002:a00:1::]/",
		"https://[fe80::1%25eth0]/", "https://[fe80::1]/", "https://[fd00:ec2::254]/", "https://10.0.0.1/", "https://192.168.1.1/", "https://172.16.0.1/",
		"https://100.64.0.1/", "https://0.0.0.0/", "https://224.0.0.1/", "https://255.255.255.255/", "https://localhost/", "https://LOCALHOST./",
		"https://x.localhost/", "https://１２７.0.0.1/", "https://inner.example.com/", "https://meta.example.com/", "https://six.example.com/",
		"https://mapped.example.com/", "https://example.com:99999/", "https:///x", "",
	} {
		before := n.dialled.Load()
		if answer, err := n.do(t, address); err == nil {
			t.Errorf("%s: answered %d", address, answer.Status)
		}
		if n.dialled.Load() != before {
			t.Errorf("%s: was dialled", address)
		}
		if address == "" {
			continue
		}
		location.Store(&address)
		if _, err := n.do(t, "https://example.com/"); err == nil && !strings.HasPrefix(address, "https:example") && address != "https:///x" {
			t.Errorf("a redirect to %s was followed, or taken for an answer", address)
		}
		if n.dialled.Load() != before+1 {
			t.Errorf("a redirect to %s: dialled %d times, want the first alone", address, n.dialled.Load()-before)
		}
	}
}

// A name that stands for one address when it is looked at and for another when it is dialled leads to the first.
func TestGK8_TheAddressThatIsDialledWasChecked(t *testing.T) {
	n := newNetwork(t, nil, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	var looks atomic.Int64
	n.options.Resolve = func(context.Context, string) ([]netip.Addr, error) {
		if looks.Add(1) == 1 {
			return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	dial := n.options.Dial
	n.options.Dial = func(ctx context.Context, a netip.AddrPort) (net.Conn, error) {
		if a.Addr().IsLoopback() {
			t.Errorf("dialled %s", a)
		}
		return dial(ctx, a)
	}
	if answer, err := n.do(t, "https://example.com/"); err != nil || string(answer.Body) != "ok" {
		t.Errorf("got %q, %v", answer.Body, err)
	}
	// One private address among public ones is enough to stay away.
	n.options.Resolve = func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("10.0.0.1")}, nil
	}
	var refused *kit.AddressError
	if _, err := n.do(t, "https://example.com/"); !errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
}

func TestGK8_Redirects(t *testing.T) {
	var credentials []string
	n := newNetwork(t, nil, func(w http.ResponseWriter, r *http.Request) {
		credentials = append(credentials, r.Host+"="+r.Header.Get("Authorization"))
		switch r.URL.Path {
		case "/end":
			_, _ = w.Write([]byte("end"))
		case "/away":
			http.Redirect(w, r, "https://a.example.com/back", http.StatusFound)
		case "/back":
			http.Redirect(w, r, "https://example.com/end", http.StatusFound)
		default:
			hops := len(r.URL.Path) - 1
			http.Redirect(w, r, map[bool]string{true: "/end", false: r.URL.Path + "x"}[hops == 3], http.StatusFound)
		}
	})
	if answer, err := n.do(t, "https://example.com/x"); err != nil || string(answer.Body) != "end" || len(answer.Via) != 3 {
		t.Errorf("three redirects: got %q, %v", answer.Body, err)
	}
	if _, err := n.do(t, "https://example.com/"); err == nil {
		t.Error("four redirects were followed")
	}
	credentials = nil
	answer, err := n.do(t, "https://example.com/away", func(r *kit.HTTPRequest) { r.Header = http.Header{"Authorization": {"secret"}} })
	if got := strings.Join(credentials, " "); err != nil || string(answer.Body) != "end" || got != "example.com=secret a.example.com= example.com=" {
		t.Errorf("got %q, %v with credentials %q, want them sent to the first origin once", answer.Body, err, got)
	}
}

func TestGK8_LimitsAndRetries(t *testing.T) {
	var big atomic.Int64
	n := newNetwork(t, nil, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/big":
			_, _ = w.Write(make([]byte, big.Load()))
		case "/slow":
			<-r.Context().Done()
		default:
			w.Header().Set("Retry-After", strings.TrimPrefix(r.URL.Path, "/"))
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	n.options.Body = 1000
	big.Store(1000)
	if answer, err := n.do(t, "https://example.com/big"); err != nil || len(answer.Body) != 1000 {
		t.Errorf("at the cap: got %d bytes, %v", len(answer.Body), err)
	}
	big.Store(1001)
	var large *kit.TooLargeError
	if answer, err := n.do(t, "https://example.com/big"); !errors.As(err, &large) || len(answer.Body) != 0 {
		t.Errorf("over the cap: got %d bytes, %v; want it refused and not cut", len(answer.Body), err)
	}
	for _, c := range []struct {
		path, method string
		calls        int64
	}{{"7", "GET", 3}, {"30", "GET", 3}, {"31", "GET", 1}, {"x", "GET", 1}, {"7", "POST", 1}, {"7", "DELETE", 1}} {
		before := n.calls.Load()
		n.waited = nil
		answer, err := n.do(t, "https://example.com/"+c.path, func(r *kit.HTTPRequest) { r.Method = c.method })
		if err != nil || answer.Status != http.StatusTooManyRequests || n.calls.Load()-before != c.calls {
			t.Errorf("%s after %s: got %d calls, status %d, %v; want %d", c.method, c.path, n.calls.Load()-before, answer.Status, err, c.calls)
		}
		if len(n.waited) != int(c.calls-1) {
			t.Errorf("%s after %s: waited %v", c.method, c.path, n.waited)
		}
	}
	n.options.Deadline = time.Millisecond
	if _, err := n.do(t, "https://example.com/slow"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
}

func TestGK8_LoopbackWhereConfigured(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("here")) }))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	closed := kit.NewHTTP(kit.HTTPOptions{})
	if _, err := closed.Do(t.Context(), kit.HTTPRequest{URL: u}); err == nil {
		t.Error("loopback was reached, and nobody configured it")
	}
	open := kit.NewHTTP(kit.HTTPOptions{Loopback: []string{u.Host}})
	if answer, err := open.Do(t.Context(), kit.HTTPRequest{URL: u}); err != nil || string(answer.Body) != "here" {
		t.Errorf("got %q, %v", answer.Body, err)
	}
}
