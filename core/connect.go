package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatehouse/core/text"
)

// ConnectRequest asks for a connection to what a URL names. What is empty comes from the driver.
type ConnectRequest struct {
	URL     string
	Name    string     // unique among connections
	Service string     // what units carry as their service; never that of another place
	Readers []PersonID // who may read, as the owner says
	Labels  []string
	Root    string // the place as it was shown: Connect refuses another. Empty checks nothing
}

// Grant is what a connection or a binding would give. It is shown before either is made, and changes nothing.
type Grant struct {
	Connection Connection // without an id where it is yet to be made
	Binding    BindingName
	URL        string // the whole narrowing, in its one form
	Unit       Unit   // what its folder or account is put on record as
	Reads      []string
	Queues     []string
}

// Fresh reports that the connection does not exist yet.
func (g Grant) Fresh() bool { return g.Connection.ID == "" }

// PreviewConnect says what Connect would make, and refuses what it would refuse.
func (k *Kernel) PreviewConnect(ctx context.Context, r ConnectRequest, person PersonID) (Grant, error) {
	kind, _, found := strings.Cut(r.URL, ":")
	if !found {
		return Grant{}, Invalid("URL %q: write it as KIND://…, for example file:///srv/site", r.URL)
	}
	g, err := k.gatekeeperFor(kind)
	if err != nil {
		return Grant{}, err
	}
	url, err := normalizeGuarded(g, r.URL)
	if err != nil {
		return Grant{}, unbindable(err)
	}
	c, err := connectGuarded(ctx, g, url)
	if err != nil {
		return Grant{}, unbindable(err)
	}
	c.Kind = g.Manifest().Kind
	if person != "" {
		c.Owner = person
	}
	if err := described(&c, r); err != nil {
		return Grant{}, err
	}
	existing, err := k.Connections(ctx)
	if err != nil {
		return Grant{}, err
	}
	if err := distinct(c, existing); err != nil {
		return Grant{}, err
	}
	return k.granted(ctx, g, Grant{Connection: c, URL: url})
}

// described puts what the person said over what the driver said.
func described(c *Connection, r ConnectRequest) error {
	if r.Name != "" {
		c.Name = r.Name
	}
	if err := checkName("connection name", c.Name); err != nil {
		return err
	}
	if r.Service != "" {
		if err := checkName("service", r.Service); err != nil {
			return err
		}
		c.Service = r.Service
	}
	if r.Root != "" && r.Root != c.Root {
		return Invalid("%s: leads to another place than it did when it was shown; look again", r.URL)
	}
	for _, label := range r.Labels {
		if clean, hidden := text.CleanLine(label, nameLimit); hidden || clean != label || label == "" {
			return Invalid("label %q: write one plain word or line", clean)
		}
	}
	for _, reader := range r.Readers {
		if clean, hidden := text.CleanLine(string(reader), nameLimit); hidden || clean != string(reader) || reader == "" {
			return Invalid("reader %q: write the name of one person", clean)
		}
	}
	c.Labels = append(c.Labels, r.Labels...)
	slices.Sort(c.Labels)
	c.Labels = slices.Compact(c.Labels)
	c.Readers = append(c.Readers, r.Readers...)
	slices.Sort(c.Readers)
	c.Readers = slices.Compact(c.Readers)
	return nil
}

// distinct refuses a connection that is there already, and one that could be taken for another.
func distinct(c Connection, existing []Connection) error {
	for _, e := range existing {
		switch {
		case e.Kind == c.Kind && e.Root == c.Root && e.Owner == c.Owner:
			return Invalid("%s: is connected already, as %s %q; bind it with --connection %s", c.Root, e.ID, e.Name, e.ID)
		case e.Name == c.Name:
			return fmt.Errorf("connection %q: %w: %s has it; give another with --name", c.Name, ErrNameTaken, e.ID)
		case e.Kind == c.Kind && e.Service == c.Service && e.Root != c.Root:
			return Invalid("service %q: is that of %s, which lies elsewhere; give another", c.Service, e.ID)
		}
	}
	return nil
}

// granted opens the resource, so that what does not work is never offered, and lists what it can do.
func (k *Kernel) granted(ctx context.Context, g Gatekeeper, out Grant) (Grant, error) {
	resource, err := openGuarded(ctx, g, out.Connection, out.URL)
	if err != nil {
		return Grant{}, unbindable(err)
	}
	out.Unit = resource.Unit().Unit
	for _, op := range resource.Operations() {
		if slices.Contains(op.Lanes, LaneRead) {
			out.Reads = append(out.Reads, op.Name)
		} else {
			out.Queues = append(out.Queues, op.Name)
		}
	}
	return out, resource.Close()
}

// Connect makes a connection. It is a decision of a person (kernel R34).
func (k *Kernel) Connect(ctx context.Context, r ConnectRequest, by Authority) (Connection, error) {
	by, err := k.authorize(ctx, by)
	if err != nil {
		return Connection{}, err
	}
	grant, err := k.PreviewConnect(ctx, r, by.Person)
	if err != nil {
		return Connection{}, err
	}
	c, now := grant.Connection, k.clock.Now()
	err = k.store.Write(ctx, func(tx Tx) error {
		existing, err := tx.Connections()
		if err != nil {
			return err
		}
		if err := distinct(c, existing); err != nil {
			return err
		}
		if err := tx.InsertConnection(&c); err != nil {
			return err
		}
		return tx.Append(Entry{
			At: now, Type: EventConnect, Actor: string(by.Person), Authority: by.String(), Subject: "connection " + string(c.ID),
			Detail: detail(map[string]any{
				"kind": c.Kind, "service": textHash(c.Service), "root": textHash(c.Root), "readers": len(c.Readers), "labels": len(c.Labels),
			}),
		})
	})
	return c, err
}

// PreviewBind says what Bind would give. A session that does not exist yet may be left out.
func (k *Kernel) PreviewBind(ctx context.Context, r BindRequest) (Grant, error) {
	if r.Session != "" {
		s, err := k.Session(ctx, r.Session)
		if err != nil {
			return Grant{}, err
		}
		taken, err := k.Bindings(ctx, string(s.ID))
		if err != nil {
			return Grant{}, err
		}
		for _, b := range taken {
			if string(b.Name) == r.Name {
				return Grant{}, fmt.Errorf("binding %q: %w", r.Name, ErrNameTaken)
			}
		}
	}
	tried, err := k.tryBinding(ctx, r)
	if err != nil {
		return Grant{}, err
	}
	g := k.gatekeepers[tried.connection.Kind]
	return k.granted(ctx, g, Grant{Connection: tried.connection, Binding: tried.binding.Name, URL: tried.binding.URL})
}

// ConnectionUse is a connection with the sessions that are bound to it.
type ConnectionUse struct {
	Connection
	Bindings []Binding
}

// ConnectionUses lists the connections of the store, oldest first, with the bindings that use each.
func (k *Kernel) ConnectionUses(ctx context.Context) ([]ConnectionUse, error) {
	var out []ConnectionUse
	err := k.store.Read(ctx, func(v View) error {
		connections, err := v.Connections()
		if err != nil {
			return err
		}
		for _, c := range connections {
			bound, err := v.BindingsOf(c.ID)
			if err != nil {
				return err
			}
			out = append(out, ConnectionUse{c, bound})
		}
		return nil
	})
	return out, err
}

// InUseError refuses to take away a connection that bindings use.
type InUseError struct {
	Connection ConnectionID
	Bindings   []Binding
}

// Error implements error.
func (e *InUseError) Error() string {
	words := make([]string, len(e.Bindings))
	for i, b := range e.Bindings {
		words[i] = fmt.Sprintf("%s of %s", b.Name, b.Session)
	}
	return fmt.Sprintf("connection %s: is used by %s; unbind them first, or add --force to unbind them with it", e.Connection, strings.Join(words, ", "))
}

// Disconnected is what Disconnect did.
type Disconnected struct {
	Connection Connection
	Unbound    []Binding
}

// Disconnect takes a connection away, by id or by name. Where bindings use it the error is an *InUseError; Force unbinds
// them. What was read and queued through it stays: an action that waits can then only be rejected. It is a decision of a
// person (kernel R34).
func (k *Kernel) Disconnect(ctx context.Context, ref string, force Forced, by Authority) (Disconnected, error) {
	by, err := k.authorize(ctx, by)
	if err != nil {
		return Disconnected{}, err
	}
	var out Disconnected
	now := k.clock.Now()
	err = k.store.Write(ctx, func(tx Tx) error {
		if out.Connection, err = connectionNamed(tx, ref); err != nil {
			return err
		}
		id := out.Connection.ID
		if out.Unbound, err = tx.BindingsOf(id); err != nil {
			return err
		}
		if len(out.Unbound) > 0 && force != UnbindFirst {
			return &InUseError{Connection: id, Bindings: out.Unbound}
		}
		for _, b := range out.Unbound {
			if err := k.unbind(tx, b, now, by); err != nil {
				return err
			}
		}
		if err := tx.RemoveConnection(id, now); err != nil {
			return err
		}
		return tx.Append(Entry{
			At: now, Type: EventDisconnect, Actor: string(by.Person), Authority: by.String(), Subject: "connection " + string(id),
			Detail: detail(map[string]any{"kind": out.Connection.Kind, "unbound": len(out.Unbound)}),
		})
	})
	if err != nil {
		return Disconnected{}, err
	}
	return out, nil
}

// Forced says what becomes of bindings that use a connection; the zero value keeps both.
type Forced int

// UnbindFirst takes the bindings away with their connection.
const UnbindFirst Forced = 1

func (k *Kernel) unbind(tx Tx, b Binding, now time.Time, by Authority) error {
	if err := tx.RemoveBinding(b.Session, b.Name, now); err != nil {
		return err
	}
	return tx.Append(Entry{
		At: now, Type: EventUnbind, Session: b.Session, Actor: string(by.Person), Authority: by.String(),
		Subject: "binding " + string(b.Name), Detail: detail(map[string]any{"connection": b.Connection}),
	})
}

// connectionNamed finds a connection by id, or by a name that one alone has.
func connectionNamed(v sessionView, ref string) (Connection, error) {
	c, err := v.Connection(ConnectionID(ref))
	if !errors.Is(err, ErrNotFound) {
		return c, err
	}
	all, err := v.Connections()
	if err != nil {
		return Connection{}, err
	}
	var named []Connection
	for _, c := range all {
		if c.Name == ref {
			named = append(named, c)
		}
	}
	switch len(named) {
	case 0:
		return Connection{}, notFound("connection", ref, "see gatehouse connections")
	case 1:
		return named[0], nil
	}
	ids := make([]string, len(named))
	for i, c := range named {
		ids[i] = string(c.ID)
	}
	return Connection{}, Invalid("connection %q: %s have this name; give the id", ref, strings.Join(ids, ", "))
}
