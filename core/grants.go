package core

import (
	"context"
	"errors"
	"fmt"
)

// AddPerson records somebody, after their fingerprint was compared. It is a decision of a person (kernel R34).
func (k *Kernel) AddPerson(ctx context.Context, p Person, by Authority) (Person, error) {
	by, err := k.authorize(ctx, by)
	if err != nil {
		return Person{}, err
	}
	if p, err = namedPerson(p); err != nil {
		return Person{}, err
	}
	p.AddedBy, p.AddedAt, p.Accounts = by.Person, k.clock.Now(), nil
	err = k.store.Write(ctx, func(tx Tx) error {
		if err := distinctPerson(tx, p); err != nil {
			return err
		}
		if err := tx.InsertPerson(p); err != nil {
			return namedError("person", string(p.ID), err)
		}
		return tx.Append(Entry{
			At: p.AddedAt, Type: EventPerson, Actor: string(by.Person), Authority: by.String(), Subject: "person " + string(p.ID),
			Detail: detail(map[string]any{"event": "added", "signing": textHash(p.Signing), "sealing": textHash(p.Sealing), "tenant": textHash(p.Tenant)}),
		})
	})
	return p, err
}

// distinctPerson refuses a second person with the keys of a first: one of the two names would be a lie.
func distinctPerson(v peopleView, p Person) error {
	all, err := v.People()
	if err != nil {
		return err
	}
	for _, other := range all {
		switch {
		case other.ID == p.ID:
			return fmt.Errorf("person %q: %w", p.ID, ErrNameTaken)
		case p.Signing != "" && other.Signing == p.Signing, p.Sealing != "" && other.Sealing == p.Sealing:
			return Invalid("person %q: has the key of %q, who was added before; one person has one name", p.ID, other.ID)
		}
	}
	return nil
}

// People lists who this store has a record of, by name.
func (k *Kernel) People(ctx context.Context) ([]Person, error) {
	var out []Person
	err := k.store.Read(ctx, func(v View) (err error) {
		out, err = v.People()
		return err
	})
	return out, err
}

// MapAccount says who a person is at the services of a kind; owner-side checks use it (kernel R8). It is a decision of a
// person (kernel R34).
func (k *Kernel) MapAccount(ctx context.Context, person PersonID, account Account, by Authority) error {
	by, err := k.authorize(ctx, by)
	if err != nil {
		return err
	}
	if _, known := k.gatekeepers[account.Kind]; !known {
		return notFound("gatekeeper", account.Kind, "see gatehouse gatekeeper list")
	}
	if err := checkName("account", account.Name); err != nil {
		return err
	}
	return k.store.Write(ctx, func(tx Tx) error {
		if _, err := tx.Person(person); err != nil {
			return missingPerson(person, err)
		}
		if err := tx.PutAccount(person, account); err != nil {
			return err
		}
		return tx.Append(Entry{
			At: k.clock.Now(), Type: EventPerson, Actor: string(by.Person), Authority: by.String(), Subject: "person " + string(person),
			Detail: detail(map[string]any{"event": "mapped", "kind": account.Kind, "account": textHash(account.Name)}),
		})
	})
}

func missingPerson(person PersonID, err error) error {
	if errors.Is(err, ErrNotFound) {
		return notFound("person", string(person), "see gatehouse people list; gatehouse people add makes one")
	}
	return err
}

// GrantRole gives a person a role in a session, no higher than the giver's own, in place of what the same giver gave before
// (kernel R12). Somebody without a role is told that there is no such session (K18). It is a decision of a person.
func (k *Kernel) GrantRole(ctx context.Context, session string, g RoleGrant, by Authority) error {
	by, err := k.authorize(ctx, by)
	if err != nil {
		return err
	}
	if g.Role != RoleView && g.Role != RoleBuild {
		return Invalid("role %q: is not one that can be given; view and build are", g.Role)
	}
	return k.store.Write(ctx, func(tx Tx) error {
		s, err := sessionFor(tx, session, by.Person, RoleView)
		if err != nil {
			return err
		}
		if err := grantable(tx, s, g, by.Person); err != nil {
			return err
		}
		g.Session, g.Giver, g.At = s.ID, by.Person, k.clock.Now()
		if err := tx.PutRoleGrant(g); err != nil {
			return err
		}
		return tx.Append(k.grantRow(s, by, g.Person, map[string]any{"role": g.Role, "decides": g.Decides}))
	})
}

// grantable refuses a grant that could not count as it is said (K26).
func grantable(tx Tx, s Session, g RoleGrant, giver PersonID) error {
	if err := unlatched(tx, s, "grant"); err != nil {
		return err
	}
	if g.Person == s.Owner {
		return Invalid("session %s: %s owns it and needs no role", s.ID, g.Person)
	}
	if g.Person == giver {
		return Invalid("session %s: nobody gives a role to themselves", s.ID)
	}
	if _, err := tx.Person(g.Person); err != nil {
		return missingPerson(g.Person, err)
	}
	own, err := rights(tx, s, giver)
	if err != nil {
		return err
	}
	if !own.Role.Includes(g.Role) || (g.Decides && !own.Decides) {
		what := string(g.Role)
		if g.Decides {
			what += " with decisions"
		}
		return Invalid("session %s: %s cannot give %s, which is more than their own role", s.ID, giver, what)
	}
	return nil
}

func (k *Kernel) grantRow(s Session, by Authority, person PersonID, pairs map[string]any) Entry {
	return Entry{
		At: k.clock.Now(), Type: EventGrant, Session: s.ID, Actor: string(by.Person), Authority: by.String(),
		Subject: "person " + string(person), Detail: detail(pairs),
	}
}

// RevokeRole takes a person out of a session: the owner takes away every grant to them, others their own. What that
// person had given counts no more, and again once they are back (kernel R12). It is a decision of a person.
func (k *Kernel) RevokeRole(ctx context.Context, session string, person PersonID, by Authority) error {
	by, err := k.authorize(ctx, by)
	if err != nil {
		return err
	}
	return k.store.Write(ctx, func(tx Tx) error {
		s, err := sessionFor(tx, session, by.Person, RoleView)
		if err != nil {
			return err
		}
		giver := by.Person
		if giver == s.Owner {
			giver = ""
		}
		n, err := tx.RemoveRoleGrants(s.ID, person, giver)
		if err != nil {
			return err
		}
		if n == 0 {
			return notFound("grant to", string(person), fmt.Sprintf("see gatehouse session people %s", s.ID))
		}
		return tx.Append(k.grantRow(s, by, person, map[string]any{"revoked": n}))
	})
}

// Member is one person of a session, with how they came by their rights.
type Member struct {
	Person PersonID
	Rights Rights
	From   []RoleGrant // grants to them, also those that count for nothing now
}

// Members lists the people of a session, its owner first, then by name.
func (k *Kernel) Members(ctx context.Context, session string, by PersonID) ([]Member, error) {
	var out []Member
	err := k.store.Read(ctx, func(v View) error {
		s, err := sessionFor(v, session, by, RoleView)
		if err != nil {
			return err
		}
		grants, err := v.RoleGrants(s.ID)
		if err != nil {
			return err
		}
		all := rightsOf(s.Owner, grants)
		out = append(out, Member{Person: s.Owner, Rights: all[s.Owner]})
		for _, person := range granted(grants) {
			m := Member{Person: person, Rights: all[person]}
			for _, g := range grants {
				if g.Person == person {
					m.From = append(m.From, g)
				}
			}
			out = append(out, m)
		}
		return nil
	})
	return out, err
}

// rights are those of one person in a session.
func rights(v peopleView, s Session, person PersonID) (Rights, error) {
	if person == s.Owner {
		return Rights{Role: RoleOwner, Decides: true}, nil
	}
	if s.PeopleVersion == 0 {
		return Rights{}, nil
	}
	grants, err := v.RoleGrants(s.ID)
	if err != nil {
		return Rights{}, err
	}
	return rightsOf(s.Owner, grants)[person], nil
}

// sessionFor finds a session for a person with a role in it. Whoever has none is told what they would be told of a
// session that does not exist (K18).
func sessionFor(v interface {
	sessionView
	peopleView
}, ref string, person PersonID, needs Role,
) (Session, error) {
	s, err := findSession(v, ref)
	if err != nil {
		return s, err
	}
	own, err := rights(v, s, person)
	switch {
	case err != nil:
		return Session{}, err
	case own.Role == RoleNone:
		return Session{}, noSession(ref)
	case !own.Role.Includes(needs):
		return Session{}, &RoleError{Session: s.ID, Person: person, Needs: "to do that: it takes the role " + string(needs)}
	case needs == RoleBuild:
		return s, writable(s)
	}
	return s, nil
}

// maySettle is mayDecide for the session of an action.
func maySettle(v interface {
	sessionView
	peopleView
}, session SessionID, person PersonID,
) error {
	s, err := v.Session(string(session))
	if err != nil {
		return err
	}
	return mayDecide(v, s, person)
}

// mayDecide refuses a decision by somebody who is neither owner nor was given the right (kernel R12).
func mayDecide(v peopleView, s Session, person PersonID) error {
	own, err := rights(v, s, person)
	switch {
	case err != nil:
		return err
	case own.Role == RoleNone:
		return noSession(string(s.ID))
	case !s.Removed.At.IsZero():
		return unremoved(s)
	case !own.Decides:
		return &RoleError{Session: s.ID, Person: person, Needs: "to decide in it"}
	}
	return nil
}
