package kit

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatehouse/core"
)

// The limits of a client where none are given (GK8).
const (
	DefaultHTTPDeadline = 30 * time.Second
	DefaultHTTPBody     = 4 << 20 // bytes
	httpRedirects       = 3
	httpRetries         = 2
	httpPatience        = 30 * time.Second // what Retry-After may ask for
)

// HTTPOptions are what a client is made of. The zero value reaches public hosts by https and nothing else.
type HTTPOptions struct {
	Loopback []string       // host:port on loopback that may be reached, by http too
	Private  []netip.Prefix // ranges that may be reached though they are not public
	Deadline time.Duration  // of one call with its redirects and retries; 0 is DefaultHTTPDeadline
	Body     int64          // bytes; 0 is DefaultHTTPBody
	Agent    string         // what it says it is
	Roots    *x509.CertPool // nil is the system's

	// Resolve, Dial and Wait are the world's where they are nil; tests pass their own.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, address netip.AddrPort) (net.Conn, error)
	Wait    func(ctx context.Context, d time.Duration) error
}

// HTTP is the client of every driver that speaks over a network (GK8): https, or http on a loopback that was configured;
// no user in an address; the address that is dialled is checked, not the name; redirects are followed by hand, checked
// again each time, without credentials to another origin; a body over its cap is refused and not cut. It uses no proxy.
// Reads that are told to come back later do so; a write is sent once.
type HTTP struct {
	options HTTPOptions
	client  *http.Client
}

// NewHTTP makes a client. It reaches for nothing.
func NewHTTP(o HTTPOptions) *HTTP {
	if o.Deadline <= 0 {
		o.Deadline = DefaultHTTPDeadline
	}
	if o.Body <= 0 {
		o.Body = DefaultHTTPBody
	}
	if o.Resolve == nil {
		o.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if o.Dial == nil {
		o.Dial = func(ctx context.Context, address netip.AddrPort) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", address.String())
		}
	}
	if o.Wait == nil {
		o.Wait = wait
	}
	h := &HTTP{options: o}
	h.client = &http.Client{
		Transport: &http.Transport{
			DialContext: h.dial, DisableKeepAlives: true, Proxy: nil, MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true,
			TLSClientConfig: &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return h
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// AddressError is an address that is not reached. Nothing was sent to it.
type AddressError struct {
	Address string // without a user
	Why     string
}

func (e *AddressError) Error() string { return fmt.Sprintf("%s: %s", e.Address, e.Why) }

// Check refuses an address by what it says of itself. What its name stands for is checked when it is dialled.
func (h *HTTP) Check(u *url.URL) error {
	refuse := func(why string) error { return &AddressError{Address: shownAddress(u), Why: why} }
	host := u.Hostname()
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	switch {
	case u.User != nil:
		return refuse("holds a user; addresses with credentials are not reached")
	case u.Opaque != "" || host == "":
		return refuse("names no host")
	case u.Scheme != "https" && u.Scheme != "http":
		return refuse("only https is reached")
	case strings.Contains(host, "%"):
		return refuse("names a zone of this machine")
	}
	if h.loopback(u) {
		return nil
	}
	if u.Scheme != "https" {
		return refuse("only https is reached, and http on a loopback address that is configured")
	}
	address, is, err := hostAddress(host)
	switch {
	case err != nil:
		return refuse("its host is neither a name nor an address as they are written")
	case is && !h.reachable(address):
		return refuse("is no public address")
	case name == "localhost" || strings.HasSuffix(name, ".localhost"):
		return refuse("is no public address")
	}
	return nil
}

// loopback reports an address on loopback that is configured.
func (h *HTTP) loopback(u *url.URL) bool {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return slices.Contains(h.options.Loopback, net.JoinHostPort(u.Hostname(), port))
}

// hostAddress reads an address in the host of a URL. A host that a resolver might take for an address in an old
// spelling (2130706433, 0x7f.1, 127.1) is an error: names do not end in a number.
func hostAddress(host string) (address netip.Addr, is bool, err error) {
	if address, err := netip.ParseAddr(host); err == nil {
		return address.Unmap(), true, nil
	}
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	last := strings.ToLower(labels[len(labels)-1])
	digits := last != "" && strings.Trim(last, "0123456789") == ""
	if hex, found := strings.CutPrefix(last, "0x"); digits || found && strings.Trim(hex, "0123456789abcdef") == "" {
		return netip.Addr{}, false, errors.New("ends in a number")
	}
	for _, b := range []byte(host) {
		if b <= ' ' || b >= 0x7f {
			return netip.Addr{}, false, errors.New("is not plain ASCII; write it in punycode")
		}
	}
	return netip.Addr{}, false, nil
}

// reachable reports a public address, or one that was configured.
func (h *HTTP) reachable(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if slices.ContainsFunc(h.options.Private, func(p netip.Prefix) bool { return p.Contains(a) }) {
		return true
	}
	if embedded, has := embeddedIPv4(a); has {
		return public(a) && public(embedded)
	}
	return public(a)
}

// public leaves out every range that is not of the open network: this machine, private ones, link-local with the
// metadata services, multicast, documentation, reserved.
func public(a netip.Addr) bool {
	if !a.IsValid() || !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsUnspecified() {
		return false
	}
	for _, s := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
		"203.0.113.0/24", "240.0.0.0/4", "::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16",
		"fec0::/10",
	} {
		if netip.MustParsePrefix(s).Contains(a) {
			return false
		}
	}
	return true
}

// embeddedIPv4 is the address that one of version 6 is translated to: by NAT64 or 6to4.
func embeddedIPv4(a netip.Addr) (netip.Addr, bool) {
	if !a.Is6() {
		return netip.Addr{}, false
	}
	raw := a.As16()
	switch {
	case netip.MustParsePrefix("64:ff9b::/96").Contains(a):
		return netip.AddrFrom4([4]byte(raw[12:])), true
	case netip.MustParsePrefix("2002::/16").Contains(a):
		return netip.AddrFrom4([4]byte(raw[2:6])), true
	}
	return netip.Addr{}, false
}

// dial resolves a name and connects to an address that was checked: whatever the name stands for a moment later, that is
// where the connection goes. A name with one address that is not reached is not reached at all.
func (h *HTTP) dial(ctx context.Context, _, target string) (net.Conn, error) {
	host, service, err := net.SplitHostPort(target)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return nil, &AddressError{Address: host, Why: "its port is no number"}
	}
	configured := slices.Contains(h.options.Loopback, target)
	address, is, err := hostAddress(host)
	if err != nil {
		return nil, &AddressError{Address: host, Why: err.Error()}
	}
	addresses := []netip.Addr{address}
	if !is {
		if addresses, err = h.options.Resolve(ctx, host); err != nil {
			return nil, core.NotSent(fmt.Errorf("%s: its name cannot be resolved", host))
		}
	}
	for _, a := range addresses {
		if !h.reachable(a) && (!configured || !a.Unmap().IsLoopback()) {
			return nil, &AddressError{Address: host, Why: "is, or stands for, no public address"}
		}
	}
	failed := fmt.Errorf("%s: its name stands for nothing", host)
	for _, a := range addresses {
		conn, err := h.options.Dial(ctx, netip.AddrPortFrom(a.Unmap(), uint16(port)))
		if err == nil {
			return conn, nil
		}
		failed = fmt.Errorf("%s: cannot be reached", host)
	}
	return nil, core.NotSent(failed)
}

// HTTPRequest is one call. Header is sent to the first origin alone.
type HTTPRequest struct {
	Method string // empty is GET
	URL    *url.URL
	Header http.Header
	Body   string

	// Follow is asked before a redirect is followed; nil follows within the rules. False gives the redirect as the answer.
	Follow func(to *url.URL) bool
}

// HTTPAnswer is what came back.
type HTTPAnswer struct {
	URL    *url.URL // after redirects
	Via    []*url.URL
	Status int
	Header http.Header
	Body   []byte
}

// TooLargeError is a body over its cap. Nothing of it is kept.
type TooLargeError struct{ Limit int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the answer has more than %d bytes; nothing of it was taken", e.Limit)
}

// Do makes a call. GET and HEAD are reads: they follow redirects, and are sent again where the server asks for that.
func (h *HTTP) Do(ctx context.Context, r HTTPRequest) (HTTPAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, h.options.Deadline)
	defer cancel()
	if r.Method == "" {
		r.Method = http.MethodGet
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	out := HTTPAnswer{URL: r.URL}
	for hop := 0; ; hop++ {
		if err := h.Check(out.URL); err != nil {
			return out, err
		}
		if err := h.once(ctx, r, reads, &out); err != nil {
			return out, err
		}
		to, redirects := redirect(out)
		if !redirects || !reads {
			return out, nil
		}
		if err := h.Check(to); err != nil {
			return out, err
		}
		if r.Follow != nil && !r.Follow(to) {
			return out, nil
		}
		if hop == httpRedirects {
			return out, &AddressError{Address: shownAddress(r.URL), Why: fmt.Sprintf("leads on more than %d times", httpRedirects)}
		}
		if !sameOrigin(to, r.URL) {
			r.Header, r.Body = nil, "" // no credential and no body to another origin, nor back from there
		}
		out.Via = append(out.Via, out.URL)
		out.URL = to
	}
}

// once sends one request, and for reads again after 429 and 503 where the server says when.
func (h *HTTP) once(ctx context.Context, r HTTPRequest, reads bool, out *HTTPAnswer) error {
	for try := 0; ; try++ {
		request, err := http.NewRequestWithContext(ctx, r.Method, out.URL.String(), strings.NewReader(r.Body))
		if err != nil {
			return &AddressError{Address: shownAddress(out.URL), Why: "cannot be called"}
		}
		for name, values := range r.Header {
			request.Header[name] = slices.Clone(values)
		}
		request.Header.Set("User-Agent", h.options.Agent)
		response, err := h.client.Do(request)
		if err != nil {
			return plainHTTPError(ctx, out.URL, err)
		}
		out.Status, out.Header = response.StatusCode, response.Header
		out.Body, err = h.body(response)
		if err != nil {
			return plainHTTPError(ctx, out.URL, err)
		}
		again, later := retryAfter(response)
		if !reads || !later || try == httpRetries {
			return nil
		}
		if err := h.options.Wait(ctx, again); err != nil {
			return nil // no time is left: what the server said stands
		}
	}
}

func (h *HTTP) body(response *http.Response) ([]byte, error) {
	defer func() { _ = response.Body.Close() }() // it was only read
	body, err := io.ReadAll(io.LimitReader(response.Body, h.options.Body+1))
	if err == nil && int64(len(body)) > h.options.Body {
		return nil, &TooLargeError{h.options.Body}
	}
	return body, err
}

// retryAfter is how long the server wants to be left alone; false where it does not say so, or for longer than anybody waits.
func retryAfter(r *http.Response) (time.Duration, bool) {
	if r.StatusCode != http.StatusTooManyRequests && r.StatusCode != http.StatusServiceUnavailable {
		return 0, false
	}
	seconds, err := strconv.Atoi(r.Header.Get("Retry-After"))
	d := time.Duration(seconds) * time.Second
	return d, err == nil && seconds >= 0 && d <= httpPatience
}

func redirect(a HTTPAnswer) (*url.URL, bool) {
	switch a.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, false
	}
	to, err := a.URL.Parse(a.Header.Get("Location"))
	return to, err == nil && a.Header.Get("Location") != ""
}

func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host) }

// plainHTTPError keeps refusals, and takes the whole address out of the rest.
func plainHTTPError(ctx context.Context, u *url.URL, err error) error {
	var refused *AddressError
	var large *TooLargeError
	var wrapped *url.Error
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &large):
		return large
	case ctx.Err() != nil:
		return fmt.Errorf("%s: did not answer in time: %w", u.Hostname(), ctx.Err())
	case errors.As(err, &wrapped):
		err = wrapped.Err
	}
	return fmt.Errorf("%s: %w", u.Hostname(), err)
}

// shownAddress is an address without its user.
func shownAddress(u *url.URL) string {
	clean := *u
	clean.User = nil
	return clean.String()
}
