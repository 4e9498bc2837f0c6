package core

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// BlueprintMake is a session to be made from a blueprint, as it was shown to a person.
type BlueprintMake struct {
	Name   string // of the session
	Digest string // of the file
	Binds  []BindRequest
}

// Candidate is what a shape could be bound to again: a connection of the person's own, and the narrowest URL of the same
// form that they have bound through it before, if any.
type Candidate struct {
	Connection Connection
	URL        string
}

// Candidates lists the person's connections that a shape could be bound through, those with a URL that fits first, the
// narrowest of these in front: what lies inside another place comes before it.
func (k *Kernel) Candidates(ctx context.Context, shape BlueprintBinding, person PersonID) ([]Candidate, error) {
	g, known := k.gatekeepers[shape.Gatekeeper]
	if !known {
		return nil, notFound("gatekeeper", shape.Gatekeeper, "this program has no driver of that kind")
	}
	m := g.Manifest()
	uses, err := k.ConnectionUses(ctx)
	if err != nil {
		return nil, err
	}
	var out []Candidate
	for _, u := range uses {
		if u.Kind != shape.Gatekeeper || u.Owner != person {
			continue
		}
		c := Candidate{Connection: u.Connection}
		for _, b := range u.Bindings {
			if FormOf(m, b.URL) == shape.Form && len(b.URL) > len(c.URL) {
				c.URL = b.URL
			}
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b Candidate) int {
		switch {
		case (a.URL == "") != (b.URL == ""):
			return len(b.URL) - len(a.URL)
		case a.Connection.Root != b.Connection.Root && strings.HasPrefix(a.Connection.Root, b.Connection.Root):
			return -1
		case a.Connection.Root != b.Connection.Root && strings.HasPrefix(b.Connection.Root, a.Connection.Root):
			return 1
		default:
			return len(b.URL) - len(a.URL)
		}
	})
	return out, nil
}

// FormOf is the shape of a binding URL of any kind that this program has a driver for.
func (k *Kernel) FormOf(url string) (form, kind string, err error) {
	scheme, _, _ := strings.Cut(url, ":")
	g, err := k.gatekeeperFor(scheme)
	if err != nil {
		return "", "", err
	}
	normal, err := normalizeGuarded(g, url)
	if err != nil {
		return "", "", unbindable(err)
	}
	m := g.Manifest()
	return FormOf(m, normal), m.Kind, nil
}

// MakeFromBlueprint makes a session with all its bindings, or nothing. Every binding is tried first; nothing is run. It is
// a decision of a person (kernel R34).
func (k *Kernel) MakeFromBlueprint(ctx context.Context, b BlueprintMake, by Authority) (Session, []Binding, error) {
	by, err := k.authorize(ctx, by)
	if err != nil {
		return Session{}, nil, err
	}
	if err := checkName("session name", b.Name); err != nil {
		return Session{}, nil, err
	}
	tried := make([]triedBinding, len(b.Binds))
	for i, r := range b.Binds {
		r.Person = by.Person
		if tried[i], err = k.tryBinding(ctx, r); err != nil {
			return Session{}, nil, fmt.Errorf("binding %s: %w", r.Name, err)
		}
	}
	now := k.clock.Now()
	s := Session{Name: b.Name, Owner: by.Person, CreatedAt: now, UpdatedAt: now}
	var bindings []Binding
	err = k.store.Write(ctx, func(tx Tx) error {
		bindings = nil
		if err := tx.InsertSession(&s); err != nil {
			return namedError("session", b.Name, err)
		}
		err := tx.Append(Entry{
			At: now, Type: EventSession, Session: s.ID, Actor: string(by.Person), Authority: by.String(), Digest: b.Digest,
			Subject: "session " + string(s.ID),
			Detail:  detail(map[string]any{"event": "from-blueprint", "name": textHash(s.Name), "bindings": len(b.Binds)}),
		})
		if err != nil {
			return err
		}
		made := make(map[string]Connection) // by what they lead to: two bindings may share a fresh one
		for _, t := range tried {
			one, fresh, key := t.binding, t.fresh, t.connection.Kind+"\n"+t.connection.Root
			if t.connection.Root == "" {
				key += "\n" + t.connection.Service
			}
			if first, is := made[key]; is && fresh {
				t.connection, fresh = first, false
			}
			one.Session, one.CreatedAt = s.ID, now
			if err := k.storeBinding(tx, &one, t.connection, fresh, by.Person); err != nil {
				return err
			}
			t.connection.ID = one.Connection
			made[key] = t.connection
			bindings = append(bindings, one)
		}
		return nil
	})
	return s, bindings, err
}
