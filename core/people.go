package core

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// Person is somebody this store knows: a colleague, or another identity on this machine for a rehearsal (kernel R12a).
type Person struct {
	ID       PersonID
	Signing  string // public key that their files are signed with; empty for a person without one
	Sealing  string // public key that files for them are sealed to; empty for a person without one
	Tenant   string // the organisation that the owner of this record says they belong to
	AddedBy  PersonID
	AddedAt  time.Time
	Accounts []Account // the people map: who they are at each service (kernel R8)
}

// Account is who a person is at the services of one kind.
type Account struct {
	Kind string // gatekeeper kind
	Name string // as the service knows them
}

// personMark begins the line that a person sends to a colleague; the digit is the version of its form.
const personMark = "gatehouse-person:1"

// Line is what a person sends to a colleague: mark, name, keys, tenant, with blanks between.
func (p Person) Line() string {
	parts := []string{personMark, string(p.ID), p.Signing, p.Sealing}
	if p.Tenant != "" {
		parts = append(parts, p.Tenant)
	}
	return strings.Join(parts, " ")
}

// ParsePerson reads a line made by Line, or a bare name: a person without keys, who can be given roles in this store and
// no files. Whether the keys are keys is for whoever seals to judge.
func ParsePerson(line string) (Person, error) {
	words := strings.Fields(line)
	switch {
	case len(words) == 1 && words[0] != personMark:
		return namedPerson(Person{ID: PersonID(words[0])})
	case len(words) == 0:
		return Person{}, Invalid("person: empty; give a name, or the line that gatehouse identity export prints")
	case words[0] != personMark:
		return Person{}, Invalid("person: not a line of gatehouse identity export, which begins with %s; a bare name has no blanks", personMark)
	case len(words) != 4 && len(words) != 5:
		return Person{}, Invalid("person: the line has %d parts, not 4 or 5; copy it whole", len(words))
	}
	p := Person{ID: PersonID(words[1]), Signing: words[2], Sealing: words[3]}
	if len(words) == 5 {
		p.Tenant = words[4]
	}
	return namedPerson(p)
}

func namedPerson(p Person) (Person, error) {
	if err := checkName("person", string(p.ID)); err != nil {
		return Person{}, err
	}
	if strings.ContainsAny(string(p.ID), " \t") {
		return Person{}, Invalid("person %q: a name has no blanks", p.ID)
	}
	return p, nil
}

// account is who a person is at the services of a kind; empty where nobody said.
func (p Person) account(kind string) string {
	for _, a := range p.Accounts {
		if a.Kind == kind {
			return a.Name
		}
	}
	return ""
}

// Role is what somebody other than the owner may do in a session (kernel R12). The zero value is nothing.
type Role string

// The roles, each with all of those before it.
const (
	RoleNone  Role = ""
	RoleView  Role = "view"  // sees
	RoleBuild Role = "build" // also prompts, binds own connections, drafts decisions
	RoleOwner Role = "owner" // also decides, shares, sets rules
)

func (r Role) rank() int {
	switch r {
	case RoleView:
		return 1
	case RoleBuild:
		return 2
	case RoleOwner:
		return 3
	default:
		return 0
	}
}

// Includes reports whether a role allows what another allows.
func (r Role) Includes(other Role) bool { return r.rank() >= other.rank() }

// RoleGrant is one person giving another a role in a session. It counts for what its giver may give now.
type RoleGrant struct {
	Session SessionID
	Giver   PersonID
	Person  PersonID
	Role    Role
	Decides bool // may also decide, as the owner does
	At      time.Time
}

// Rights are what grants come to for one person.
type Rights struct {
	Role    Role
	Decides bool
}

// rightsOf computes who may do what: the best path over grants from the owner, each capped by what its giver has. It is
// never stored, so that what a giver loses is lost to all who had it through them, and cycles give nothing (kernel R12).
func rightsOf(owner PersonID, grants []RoleGrant) map[PersonID]Rights {
	out := map[PersonID]Rights{owner: {Role: RoleOwner, Decides: true}}
	for changed := true; changed; {
		changed = false
		for _, g := range grants {
			giver := out[g.Giver]
			if giver.Role == RoleNone || g.Person == owner {
				continue
			}
			given := Rights{Role: lesser(g.Role, giver.Role), Decides: g.Decides && giver.Decides}
			had := out[g.Person]
			best := Rights{Role: greater(had.Role, given.Role), Decides: had.Decides || given.Decides}
			if best != had {
				out[g.Person], changed = best, true
			}
		}
	}
	return out
}

func lesser(a, b Role) Role {
	if a.rank() < b.rank() {
		return a
	}
	return b
}

func greater(a, b Role) Role {
	if a.rank() > b.rank() {
		return a
	}
	return b
}

// granted lists who was ever given something, by name.
func granted(grants []RoleGrant) []PersonID {
	var out []PersonID
	for _, g := range grants {
		out = append(out, g.Person)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// present lists everybody but one person who could see what a session reads, by name.
func present(all map[PersonID]Rights, but PersonID) []PersonID {
	var out []PersonID
	for person, s := range all {
		if person != but && s.Role != RoleNone {
			out = append(out, person)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}

// RoleError says what a person would need to have in a session, and has not.
type RoleError struct {
	Session SessionID
	Person  PersonID
	Needs   string // in words: "to decide"
}

// Error implements error.
func (e *RoleError) Error() string {
	return fmt.Sprintf("session %s: %s has no right %s; its owner can give it with gatehouse session grant", e.Session, e.Person, e.Needs)
}
