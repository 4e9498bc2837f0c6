package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"gatehouse/core"
	"gatehouse/gatekeepers/kit"
)

// Kind is the kind of this gatekeeper.
const Kind = "web"

const (
	service    = "web"
	everything = "all origins"
	scheme     = "web:///"
	narrowing  = "#origin="
	example    = "write web:/// or web:///#origin=https://HOST"

	codeUnreachable = "unreachable"
)

// Driver is the gatekeeper of the web.
type Driver struct{ client *kit.HTTP }

var (
	_ core.Gatekeeper = (*Driver)(nil)
	_ core.Outbound   = (*resource)(nil)
)

// New makes the driver over a client. It reaches for nothing.
func New(client *kit.HTTP) *Driver { return &Driver{client} }

// Manifest is what the driver says of itself.
func (d *Driver) Manifest() core.Manifest {
	return core.Manifest{
		Kind: Kind, About: "The web: pages, fetched without credentials.", Forms: []string{scheme, scheme + narrowing + "https://HOST"},
		Operations: operations(), Observers: core.StrategyPublic,
	}
}

func operations() []core.Operation {
	return []core.Operation{{
		Name: "fetch", About: "Fetches a page, as Markdown where it is HTML; 64 KiB at most at once.", Lanes: []core.Lane{core.LaneRead},
		Params: []core.Param{
			{Name: "url", Type: core.TypeString, About: "An https address."},
			{Name: "offset", Type: core.TypeInteger, Optional: true, About: "The byte to begin at; the \"next\" of the window before."},
		},
		Returns: "{url, status, type, text, size, next?} or {url, status, redirect}, which is another host's to fetch",
		Depends: core.ReachExact, Observes: "the origin",
	}}
}

// Normalize prints a binding URL in its one form.
func (d *Driver) Normalize(raw string) (string, error) {
	o, err := parsePlace(raw)
	if err != nil || o == "" {
		return scheme, err
	}
	return scheme + narrowing + o, nil
}

// parsePlace reads a binding URL; an empty origin is the whole web. What cannot be read grants nothing (GK2).
func parsePlace(raw string) (string, error) {
	wrong := func(why string) (string, error) { return "", fmt.Errorf("binding %q: %s; %s", raw, why, example) }
	rest, ours := strings.CutPrefix(raw, scheme)
	if !ours {
		return wrong("does not begin with " + scheme)
	}
	if rest == "" {
		return "", nil
	}
	named, narrowed := strings.CutPrefix(rest, narrowing)
	if !narrowed {
		return wrong("has a narrowing other than an origin")
	}
	u, err := url.Parse(named)
	switch {
	case err != nil || u.Hostname() == "" || u.Opaque != "":
		return wrong("names no origin")
	case u.Scheme != "https" && u.Scheme != "http":
		return wrong("names an origin that is not of the web")
	case u.User != nil || u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.ContainsAny(named, "#?%\\ \t\r\n"):
		return wrong("names more than an origin")
	case strings.HasSuffix(u.Host, ":"):
		return wrong("names a port that is none")
	}
	return originOf(u), nil
}

// originOf is scheme, host and port in one form.
func originOf(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port == "" || u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		return u.Scheme + "://" + host
	}
	return u.Scheme + "://" + host + ":" + port
}

// Connect describes the one connection to the web; it carries no access.
func (d *Driver) Connect(_ context.Context, raw string) (core.Connection, error) {
	if _, err := parsePlace(raw); err != nil {
		return core.Connection{}, err
	}
	return core.Connection{Kind: Kind, Name: Kind, Service: service, Root: scheme}, nil
}

// Open narrows the web to an origin, or not. It asks nobody.
func (d *Driver) Open(_ context.Context, _ core.Connection, raw string) (core.Resource, error) {
	o, err := parsePlace(raw)
	if err != nil {
		return nil, err
	}
	return &resource{client: d.client, origin: o}, nil
}

// resource is the web, narrowed to an origin or not.
type resource struct {
	client *kit.HTTP
	origin string // empty is all
}

func found(name string) core.Found {
	return core.Found{Unit: core.Unit{Gatekeeper: Kind, Service: service, Name: name}, Permission: "public"}
}

func (r *resource) Key() string { return scheme + r.origin }

func (r *resource) Unit() core.Found {
	if r.origin == "" {
		return found(everything)
	}
	return found(r.origin)
}

func (r *resource) Covers(u core.Unit) bool {
	return u.Gatekeeper == Kind && u.Service == service && u.Name != "" && (r.origin == "" || u.Name == r.origin)
}

func (r *resource) Operations() []core.Operation                     { return operations() }
func (r *resource) Extend(i core.Intent, _ core.Journal) core.Intent { return i }
func (r *resource) Close() error                                     { return nil }

type arguments struct {
	URL    string
	Offset int
}

// parse reads the arguments and refuses, before anybody is asked, what is never reached. Outside of the narrowing is the
// answer of what is not there (GK3).
func (r *resource) parse(call core.Call) (a arguments, u *url.URL, err error) {
	op, known := core.Manifest{Operations: operations()}.Operation(call.Method)
	if !known {
		return a, nil, core.Invalid("%s: no such method", call.Method)
	}
	if err := kit.Decode(op, call.Args, &a); err != nil {
		return a, nil, err
	}
	if a.Offset < 0 {
		return a, nil, core.Invalid("fetch: offset %d is negative", a.Offset)
	}
	if len(a.URL) > urlLimit {
		return a, nil, core.Invalid("fetch: the address has %d bytes, %d at most", len(a.URL), urlLimit)
	}
	if u, err = url.Parse(a.URL); err != nil {
		return a, nil, core.Invalid("fetch: the address cannot be read; write it as https://HOST/PATH")
	}
	if err := r.client.Check(u); err != nil {
		return a, nil, core.Invalid("fetch: %s", err)
	}
	if r.origin != "" && originOf(u) != r.origin {
		return a, nil, &core.CallError{Code: core.CodeNotFound, Text: "fetch: not found"}
	}
	u.Fragment, u.RawFragment = "", "" // it is not sent
	return a, u, nil
}

// urlLimit is how many bytes an address may have.
const urlLimit = 8 << 10

// Intend names the origin.
func (r *resource) Intend(call core.Call) (core.Intent, error) {
	_, u, err := r.parse(call)
	if err != nil {
		return core.Intent{}, err
	}
	return core.Intent{Units: []core.Found{found(originOf(u))}}, nil
}

// Goes says where a fetch goes: all that leaves is the address.
func (r *resource) Goes(call core.Call) (core.Going, error) {
	_, u, err := r.parse(call)
	if err != nil {
		return core.Going{}, err
	}
	host := strings.ToLower(u.Hostname())
	address, err := netip.ParseAddr(host)
	local := host == "localhost" || err == nil && address.Unmap().IsLoopback()
	return core.Going{Sink: core.SinkFetch, Destination: host, Host: host, Local: local, Sends: []string{u.String()}}, nil
}

// Read fetches. A redirect to another host, or out of the narrowing, is an answer and no step.
func (r *resource) Read(ctx context.Context, call core.Call, _ core.Journal) (core.Fetched, error) {
	a, u, err := r.parse(call)
	if err != nil {
		return core.Fetched{}, err
	}
	var elsewhere *url.URL
	answer, err := r.client.Do(ctx, kit.HTTPRequest{URL: u, Follow: func(to *url.URL) bool {
		if strings.EqualFold(to.Hostname(), u.Hostname()) && (r.origin == "" || originOf(to) == r.origin) {
			return true
		}
		elsewhere = to
		return false
	}})
	if err != nil {
		return core.Fetched{}, plain(ctx, u, err)
	}
	out := core.Fetched{Found: origins(append(answer.Via, answer.URL))}
	if elsewhere != nil {
		out.Value, err = json.Marshal(map[string]any{"url": answer.URL.String(), "status": answer.Status, "redirect": elsewhere.String()})
		return out, err
	}
	out.Value, err = pageOf(answer).window(a.Offset)
	return out, err
}

// origins are the units of addresses, each once.
func origins(list []*url.URL) []core.Found {
	var out []core.Found
	seen := map[string]bool{}
	for _, u := range list {
		if o := originOf(u); !seen[o] {
			seen[o] = true
			out = append(out, found(o))
		}
	}
	return out
}

// plain says in words of ours why nothing came: they hold nothing of the service's data.
func plain(ctx context.Context, u *url.URL, err error) error {
	var refused *kit.AddressError
	var large *kit.TooLargeError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &refused) && (refused.Address == u.String() || refused.Address == u.Hostname()):
		return core.Invalid("fetch: %s", refused)
	case errors.As(err, &refused):
		return core.Invalid("fetch: %s leads to an address that is not reached: %s", u.Hostname(), refused.Why)
	case errors.As(err, &large):
		return &core.CallError{Code: core.CodeTooLarge, Text: "fetch: " + large.Error()}
	case errors.Is(err, context.DeadlineExceeded):
		return &core.CallError{Code: codeUnreachable, Text: fmt.Sprintf("fetch: %s did not answer in time", u.Hostname())}
	}
	return &core.CallError{Code: codeUnreachable, Text: fmt.Sprintf("fetch: %s gave no whole answer; try again later", u.Hostname())}
}

// Prepare refuses: there is no write.
func (r *resource) Prepare(_ context.Context, call core.Call, _ core.Journal) (core.Draft, error) {
	return core.Draft{}, core.Invalid("%s: not a write", call.Method)
}

var errNoActions = errors.New("the web carries no action out")

// Current and Apply are never asked: no action is made here.
func (r *resource) Current(context.Context, core.Dispatch) (core.Current, error) {
	return core.Current{}, errNoActions
}

func (r *resource) Apply(context.Context, core.Dispatch) (core.Outcome, error) {
	return core.Outcome{}, core.NotSent(errNoActions)
}
