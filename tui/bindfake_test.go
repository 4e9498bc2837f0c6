package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gatehouse/core"
)

// fakePlaces are sessions, connections and bindings in memory, and folders.
type fakePlaces struct {
	uses     []core.ConnectionUse
	bindings []core.Binding
	made     []core.NewSession
	bound    []core.BindRequest
	joined   []core.ConnectRequest
	gone     []string // connections taken away
	unbound  []string
	previews int
	refuse   error // of what makes something
	inUse    error // of Disconnect
}

func (k *fakeKernel) NewSession(_ context.Context, n core.NewSession) (core.Session, error) {
	if k.places.refuse != nil {
		return core.Session{}, k.places.refuse
	}
	k.places.made = append(k.places.made, n)
	s := core.Session{ID: core.SessionID("s-" + n.Name), Name: n.Name, Owner: n.Owner, UpdatedAt: start}
	k.sessions = append([]core.SessionSummary{{Session: s, State: core.SessionIdle}}, k.sessions...)
	return s, nil
}

func (k *fakeKernel) Bindings(context.Context, string) ([]core.Binding, error) {
	return slices.Clone(k.places.bindings), k.broken
}

// grant is what any folder gives here.
func (k *fakeKernel) grant(url string) core.Grant {
	k.places.previews++
	root, _, _ := strings.Cut(strings.TrimPrefix(url, "file://"), "#")
	c := core.Connection{
		Kind: "files", Name: root[strings.LastIndexByte(root, '/')+1:], Owner: "alice", Root: root, Service: "local:quay/site~0a1b2c3d",
		Labels: []string{"internal"}, Readers: []core.PersonID{"bob"},
	}
	for _, u := range k.places.uses {
		if u.Root == root {
			c = u.Connection
		}
	}
	return core.Grant{
		Connection: c, URL: url, Unit: core.Unit{Gatekeeper: "files", Service: c.Service, Name: "."},
		Reads:  []string{"list", "read", "search", "stat", "git-status", "git-diff", "git-log"},
		Queues: []string{"write", "edit", "mkdir", "move", "copy", "delete", "set-executable"},
	}
}

func (k *fakeKernel) PreviewBind(_ context.Context, r core.BindRequest) (core.Grant, error) {
	if strings.Contains(r.URL, "missing") {
		return core.Grant{}, fmt.Errorf("folder %q: does not exist; make it first, or check the path", r.URL)
	}
	g := k.grant(r.URL)
	g.Binding = core.BindingName(r.Name)
	return g, nil
}

func (k *fakeKernel) Bind(_ context.Context, r core.BindRequest) (core.Binding, error) {
	if k.places.refuse != nil {
		return core.Binding{}, k.places.refuse
	}
	k.places.bound = append(k.places.bound, r)
	return core.Binding{Session: core.SessionID(r.Session), Name: core.BindingName(r.Name), URL: r.URL}, nil
}

func (k *fakeKernel) Unbind(_ context.Context, session, name string, _ core.PersonID) error {
	k.places.unbound = append(k.places.unbound, session+" "+name)
	return k.places.refuse
}

func (k *fakeKernel) PreviewConnect(_ context.Context, r core.ConnectRequest, _ core.PersonID) (core.Grant, error) {
	if strings.Contains(r.URL, "missing") {
		return core.Grant{}, errors.New("folder \"/srv/missing\": does not exist")
	}
	return k.grant(r.URL), nil
}

func (k *fakeKernel) Connect(_ context.Context, r core.ConnectRequest, _ core.Authority) (core.Connection, error) {
	if k.places.refuse != nil {
		return core.Connection{}, k.places.refuse
	}
	k.places.joined = append(k.places.joined, r)
	return core.Connection{ID: "c9", Root: r.Root}, nil
}

func (k *fakeKernel) ConnectionUses(context.Context) ([]core.ConnectionUse, error) {
	return slices.Clone(k.places.uses), k.broken
}

func (k *fakeKernel) Disconnect(_ context.Context, ref string, _ core.Forced, _ core.Authority) (core.Disconnected, error) {
	if k.places.inUse != nil {
		return core.Disconnected{}, k.places.inUse
	}
	k.places.gone = append(k.places.gone, ref)
	return core.Disconnected{}, nil
}

// fakeFolders are the folders of a machine.
type fakeFolders struct {
	all   []string
	asked []string
}

func (f *fakeFolders) Complete(_ context.Context, typed string) ([]string, error) {
	f.asked = append(f.asked, typed)
	var out []string
	for _, one := range f.all {
		if strings.HasPrefix(one, typed) {
			out = append(out, one)
		}
	}
	return out, nil
}

func (f *fakeFolders) URL(typed string) (string, error) {
	return "file://" + strings.TrimSuffix(typed, "/"), nil
}

func (f *fakeFolders) Within(c core.Connection, sub string) (string, error) {
	if sub == "" {
		return "file://" + c.Root, nil
	}
	return "file://" + c.Root + "#path=" + sub, nil
}

// connected is site with connections and folders.
func connected() (*fakeKernel, *fakeFolders) {
	k := site()
	k.places.uses = []core.ConnectionUse{
		{
			Connection: core.Connection{ID: "c1", Kind: "files", Name: "site", Owner: "alice", Root: "/srv/site", Service: "local:quay/site~0a1b2c3d"},
			Bindings:   []core.Binding{{Session: "s-site-refresh", Name: "SITE", URL: "file:///srv/site", Kind: "files", Connection: "c1"}},
		},
		{Connection: core.Connection{ID: "c2", Kind: "files", Name: "handbook", Owner: "alice", Root: "/srv/handbook", Service: "local:quay/handbook~9f8e7d6c"}},
	}
	k.places.bindings = k.places.uses[0].Bindings
	return k, &fakeFolders{all: []string{"/srv/handbook/", "/srv/odd\x1b[2Jname/", "/srv/plans/", "/srv/site/"}}
}

// Permit lets go what the fake does not refuse, and keeps what was asked.
func (k *fakeKernel) Permit(_ context.Context, r core.EgressRequest, _ ...string) (func(error) error, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.permits = append(k.permits, r)
	if k.refused[r.Sink] {
		return nil, &core.EgressError{Sink: r.Sink, Destination: r.Destination, Verdict: core.EgressVerdict{Decision: core.EgressDeny, Rule: "no " + string(r.Sink)}}
	}
	return func(error) error { return nil }, nil
}
