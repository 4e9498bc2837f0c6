package core

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"gatehouse/core/text"
)

// nameLimit is how many code points the name of a session or a connection may have.
const nameLimit = 80

// NewSession says what a session is to be.
type NewSession struct {
	Name  string
	Owner PersonID
}

// NewSession makes a session. Its name is one clean line, unique in the store, and not of the form of an id.
func (k *Kernel) NewSession(ctx context.Context, n NewSession) (Session, error) {
	if err := checkName("session name", n.Name); err != nil {
		return Session{}, err
	}
	now := k.clock.Now()
	s := Session{Name: n.Name, Owner: n.Owner, CreatedAt: now, UpdatedAt: now}
	err := k.store.Write(ctx, func(tx Tx) error {
		if err := tx.InsertSession(&s); err != nil {
			return namedError("session", n.Name, err)
		}
		return tx.Append(Entry{
			At: now, Type: EventSession, Session: s.ID, Actor: string(n.Owner), Subject: "session " + string(s.ID),
			Detail: detail(map[string]any{"event": "new", "name": textHash(s.Name)}),
		})
	})
	return s, err
}

// RenameSession gives a session another name; its id stays.
func (k *Kernel) RenameSession(ctx context.Context, ref, name string, by PersonID) error {
	if err := checkName("session name", name); err != nil {
		return err
	}
	now := k.clock.Now()
	return k.store.Write(ctx, func(tx Tx) error {
		s, err := findSession(tx, ref)
		if err != nil {
			return err
		}
		if err := tx.RenameSession(s.ID, name, now); err != nil {
			return namedError("session", name, err)
		}
		return tx.Append(Entry{
			At: now, Type: EventSession, Session: s.ID, Actor: string(by), Subject: "session " + string(s.ID),
			Detail: detail(map[string]any{"event": "rename", "name": textHash(name)}),
		})
	})
}

// Session finds a session by id or unique name.
func (k *Kernel) Session(ctx context.Context, ref string) (SessionSummary, error) {
	var out SessionSummary
	err := k.store.Read(ctx, func(v View) error {
		s, err := findSession(v, ref)
		if err != nil {
			return err
		}
		rows, err := v.Summaries(s.ID)
		if err != nil {
			return err
		}
		if len(rows) != 1 {
			return fmt.Errorf("session %s: %d rows", s.ID, len(rows))
		}
		err = k.judgeRunning(v, rows)
		out = rows[0]
		return err
	})
	return out, err
}

// Sessions lists all sessions, newest first.
func (k *Kernel) Sessions(ctx context.Context) ([]SessionSummary, error) {
	var out []SessionSummary
	err := k.store.Read(ctx, func(v View) (err error) {
		if out, err = v.Summaries(""); err != nil {
			return err
		}
		return k.judgeRunning(v, out)
	})
	return out, err
}

// BindRequest introduces a resource into a session under a name. Without a connection one is made, or the person's own
// connection to the same service is used.
type BindRequest struct {
	Session    string
	Name       string
	URL        string
	Connection ConnectionID // its id, or a name that it alone has
	Person     PersonID
	Root       string // of the connection, as it was shown: Bind refuses another. Empty checks nothing
}

// Bind opens the resource before anything is stored, so that a binding that does not work is never made.
func (k *Kernel) Bind(ctx context.Context, r BindRequest) (Binding, error) {
	session, err := k.Session(ctx, r.Session)
	if err == nil {
		err = writable(session.Session)
	}
	if err != nil {
		return Binding{}, err
	}
	tried, err := k.tryBinding(ctx, r)
	if err != nil {
		return Binding{}, err
	}
	b := tried.binding
	b.Session, b.CreatedAt = session.ID, k.clock.Now()
	err = k.store.Write(ctx, func(tx Tx) error { return k.storeBinding(tx, &b, tried.connection, tried.fresh, r.Person) })
	return b, err
}

// TryBinding does what Bind does but for the session, and stores nothing: whoever makes a session for its bindings asks
// first.
func (k *Kernel) TryBinding(ctx context.Context, r BindRequest) error {
	_, err := k.tryBinding(ctx, r)
	return err
}

// triedBinding is a binding that works and is not stored.
type triedBinding struct {
	binding    Binding
	connection Connection
	fresh      bool // the connection is not stored either
}

func (k *Kernel) tryBinding(ctx context.Context, r BindRequest) (triedBinding, error) {
	name, err := ParseBindingName(r.Name)
	if err != nil {
		return triedBinding{}, err
	}
	kind, _, found := strings.Cut(r.URL, ":")
	if !found {
		return triedBinding{}, fmt.Errorf("binding URL %q: write it as KIND://…, for example file:///srv/site", r.URL)
	}
	g, err := k.gatekeeperFor(kind)
	if err != nil {
		return triedBinding{}, err
	}
	url, err := normalizeGuarded(g, r.URL)
	if err != nil {
		return triedBinding{}, unbindable(err)
	}
	connection, fresh, err := k.connectionFor(ctx, g, r, url)
	if err != nil {
		return triedBinding{}, err
	}
	if r.Root != "" && r.Root != connection.Root {
		return triedBinding{}, Invalid("%s: leads to another place than it did when it was shown; look again", url)
	}
	if kind := g.Manifest().Kind; connection.Kind != kind {
		return triedBinding{}, Invalid("connection %s: is to %s, and the URL is for %s; leave it out, or name another", connection.ID, connection.Kind, kind)
	}
	resource, err := openGuarded(ctx, g, connection, url)
	if err != nil {
		return triedBinding{}, unbindable(err)
	}
	if err := resource.Close(); err != nil {
		return triedBinding{}, fmt.Errorf("binding %s: %w", name, err)
	}
	return triedBinding{binding: Binding{Name: name, URL: url, Kind: connection.Kind}, connection: connection, fresh: fresh}, nil
}

// unbindable makes what a driver says against a URL a fault of the person who gave it, where it says nothing else.
func unbindable(err error) error {
	var call *CallError
	if errors.As(err, &call) || errors.Is(err, ErrNotFound) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return Invalid("%s", err)
}

// gatekeeperFor finds a driver by the scheme of a URL; files answers to file:// as well.
func (k *Kernel) gatekeeperFor(scheme string) (Gatekeeper, error) {
	for _, g := range k.gatekeepers {
		m := g.Manifest()
		if m.Kind == scheme {
			return g, nil
		}
		for _, form := range m.Forms {
			if s, _, ok := strings.Cut(form, ":"); ok && s == scheme {
				return g, nil
			}
		}
	}
	return nil, notFound("gatekeeper", scheme, "see gatehouse gatekeeper list")
}

// connectionFor finds the person's connection to the service that a URL names, or describes the one to be made.
func (k *Kernel) connectionFor(ctx context.Context, g Gatekeeper, r BindRequest, url string) (c Connection, fresh bool, err error) {
	if r.Connection != "" {
		err = k.store.Read(ctx, func(v View) (err error) {
			c, err = connectionNamed(v, string(r.Connection))
			return err
		})
		if err == nil && r.Person != "" && c.Owner != "" && c.Owner != r.Person {
			err = Invalid("connection %s: belongs to %s; bind through one of your own", c.ID, c.Owner)
		}
		return c, false, err
	}
	described, err := connectGuarded(ctx, g, url)
	if err != nil {
		return Connection{}, false, unbindable(err)
	}
	described.Kind = g.Manifest().Kind
	if r.Person != "" {
		described.Owner = r.Person
	}
	existing, err := k.Connections(ctx)
	if err != nil {
		return Connection{}, false, err
	}
	for _, e := range existing {
		// A person may have given the service another name; where it leads is what counts.
		same := e.Root == described.Root && (e.Service == described.Service || e.Root != "")
		if same && e.Kind == described.Kind && e.Owner == described.Owner {
			return e, false, nil
		}
	}
	return described, true, nil
}

func (k *Kernel) storeBinding(tx Tx, b *Binding, c Connection, fresh bool, by PersonID) error {
	if fresh {
		if err := tx.InsertConnection(&c); err != nil {
			return err
		}
		err := tx.Append(Entry{
			At: b.CreatedAt, Type: EventConnect, Actor: string(by), Subject: "connection " + string(c.ID),
			Detail: detail(map[string]any{"kind": c.Kind, "service": textHash(c.Service)}),
		})
		if err != nil {
			return err
		}
	}
	b.Connection = c.ID
	if err := tx.InsertBinding(*b); err != nil {
		return namedError("binding", string(b.Name), err)
	}
	return tx.Append(Entry{
		At: b.CreatedAt, Type: EventBind, Session: b.Session, Actor: string(by), Subject: "binding " + string(b.Name),
		Detail: detail(map[string]any{"kind": b.Kind, "connection": c.ID, "url": textHash(b.URL)}),
	})
}

// Unbind takes a binding away from a session. What was read and queued through it stays.
func (k *Kernel) Unbind(ctx context.Context, session, name string, by PersonID) error {
	now := k.clock.Now()
	return k.store.Write(ctx, func(tx Tx) error {
		s, err := findSession(tx, session)
		if err != nil {
			return err
		}
		if err := tx.RemoveBinding(s.ID, BindingName(name), now); err != nil {
			return missingBinding(s, name, err)
		}
		return tx.Append(Entry{At: now, Type: EventUnbind, Session: s.ID, Actor: string(by), Subject: "binding " + name})
	})
}

// Bindings lists the bindings of a session by name.
func (k *Kernel) Bindings(ctx context.Context, session string) ([]Binding, error) {
	var out []Binding
	err := k.store.Read(ctx, func(v View) error {
		s, err := findSession(v, session)
		if err != nil {
			return err
		}
		out, err = v.Bindings(s.ID)
		return err
	})
	return out, err
}

// Connections lists every connection of the store.
func (k *Kernel) Connections(ctx context.Context) ([]Connection, error) {
	var out []Connection
	err := k.store.Read(ctx, func(v View) (err error) {
		out, err = v.Connections()
		return err
	})
	return out, err
}

// Observations lists the set of a session; an empty reference lists all sessions' (kernel R4).
func (k *Kernel) Observations(ctx context.Context, session string) ([]Observation, error) {
	var out []Observation
	err := k.store.Read(ctx, func(v View) error {
		var id SessionID
		if session != "" {
			s, err := findSession(v, session)
			if err != nil {
				return err
			}
			id = s.ID
		}
		var err error
		out, err = v.Observations(id)
		return err
	})
	return out, err
}

// Operations lists what can be called on a binding, with the manifest of its driver.
func (k *Kernel) Operations(ctx context.Context, session string, name BindingName) ([]Operation, Manifest, error) {
	at, err := k.locate(ctx, session, name)
	if err != nil {
		return nil, Manifest{}, err
	}
	return at.resource.Operations(), k.gatekeepers[at.connection.Kind].Manifest(), nil
}

func findSession(v sessionView, ref string) (Session, error) {
	s, err := v.Session(ref)
	if errors.Is(err, ErrNotFound) {
		return Session{}, noSession(ref)
	}
	if err == nil {
		err = unremoved(s)
	}
	return s, err
}

func noSession(ref string) error { return notFound("session", ref, "see gatehouse session list") }

func missingBinding(s Session, name string, err error) error {
	if errors.Is(err, ErrNotFound) {
		return notFound("binding", name, fmt.Sprintf("see gatehouse bindings %s", s.ID))
	}
	return err
}

func namedError(what, name string, err error) error {
	if errors.Is(err, ErrNameTaken) {
		return fmt.Errorf("%s %q: %w", what, name, ErrNameTaken)
	}
	return err
}

// checkName accepts one clean line that cannot be taken for an id.
func checkName(what, name string) error {
	clean, hidden := text.CleanLine(name, nameLimit+1)
	switch {
	case name == "" || clean == "":
		return Invalid("%s: empty; give it a name", what)
	case hidden || clean != name:
		return Invalid("%s %q: has line breaks, outer blanks or control characters; use one plain line", what, clean)
	case utf8.RuneCountInString(name) > nameLimit:
		return Invalid("%s: %d characters, %d at most", what, utf8.RuneCountInString(name), nameLimit)
	case looksLikeID(name):
		return Invalid("%s %q: looks like an id; choose another", what, name)
	}
	return nil
}

// looksLikeID reports whether a name has the form of the id of a session or a connection.
func looksLikeID(name string) bool {
	if len(name) < 2 || (name[0] != 's' && name[0] != 'c') {
		return false
	}
	_, err := strconv.ParseUint(name[1:], 10, 64)
	return err == nil
}
