package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gatehouse/core"
	"gatehouse/core/egress"
)

// fakeCompany are people and roles in memory.
type fakeCompany struct {
	people  []core.Person
	members map[core.SessionID][]core.Member
	latches map[core.SessionID]core.Latch
	given   []core.RoleGrant
	gone    []string // session and person
	refuse  error    // of what changes a role
}

func (k *fakeKernel) People(context.Context) ([]core.Person, error) {
	return slices.Clone(k.company.people), k.broken
}

func (k *fakeKernel) Members(_ context.Context, session string, _ core.PersonID) ([]core.Member, error) {
	m, known := k.company.members[core.SessionID(session)]
	if !known {
		return nil, fmt.Errorf("session %q: %w", session, core.ErrNotFound)
	}
	return slices.Clone(m), k.broken
}

func (k *fakeKernel) GrantRole(_ context.Context, session string, g core.RoleGrant, by core.Authority) error {
	if k.company.refuse != nil {
		return k.company.refuse
	}
	g.Session, g.Giver, g.At = core.SessionID(session), by.Person, start
	k.company.given = append(k.company.given, g)
	return nil
}

func (k *fakeKernel) RevokeRole(_ context.Context, session string, person core.PersonID, _ core.Authority) error {
	if k.company.refuse != nil {
		return k.company.refuse
	}
	k.company.gone = append(k.company.gone, session+" "+string(person))
	return nil
}

func (k *fakeKernel) Latch(_ context.Context, session string) (core.Latch, bool, error) {
	l, set := k.company.latches[core.SessionID(session)]
	return l, set, k.broken
}

// company is site with people in its first session, and a second that is latched.
func company() *fakeKernel {
	k := site()
	at := start.Add(-48 * time.Hour)
	k.company.people = []core.Person{
		{
			ID: "bob", Signing: "ed25519:AAAAbob", Sealing: "age1bob", Tenant: "harbour", AddedBy: "alice", AddedAt: at,
			Accounts: []core.Account{{Kind: "files", Name: "bob"}, {Kind: "team-drive", Name: "bob@harbour.example"}},
		},
		{ID: "carol", AddedBy: "alice", AddedAt: at},
		{ID: "dora", Signing: "ed25519:AAAAdora", Sealing: "age1dora", Tenant: "quay", AddedBy: "alice", AddedAt: at},
	}
	k.sessions[0].PeopleVersion, k.sessions[0].People = 3, 2
	k.sessions[1].Latched = true
	k.company.members = map[core.SessionID][]core.Member{
		"s-site-refresh": {
			{Person: "alice", Rights: core.Rights{Role: core.RoleOwner, Decides: true}},
			{Person: "bob", Rights: core.Rights{Role: core.RoleBuild, Decides: true}, From: []core.RoleGrant{
				{Session: "s-site-refresh", Giver: "alice", Person: "bob", Role: core.RoleBuild, Decides: true, At: at},
			}},
			{Person: "dora", From: []core.RoleGrant{
				{Session: "s-site-refresh", Giver: "erin", Person: "dora", Role: core.RoleView, At: at},
			}},
		},
	}
	k.company.latches = map[core.SessionID]core.Latch{
		"s-billing-cleanup": {Session: "s-billing-cleanup", At: at, Turn: 3, Read: "MAIL.list", Unit: core.Unit{Gatekeeper: "mail", Service: "mail.example", Name: "inbox"}},
	}
	k.happen(leaving()...)
	return k
}

// leaving are rows of what wanted to leave.
func leaving() []core.Entry {
	row := func(subject, decision, rule string) core.Entry {
		return core.Entry{
			Type: core.EventEgress, Session: "s-site-refresh", Turn: 1, Actor: "agent script", Authority: "alice", Subject: subject, Rule: rule,
			Detail: []byte(`{"event":"decided","decision":"` + decision + `"}`),
		}
	}
	return []core.Entry{
		row("fetch docs.example", "allow", "docs"),
		row("fetch status.example", "ask", "first fetch of a host"),
		row("model api.example", "deny", "owner-only: local models"),
	}
}

// fakePolicy is a policy of real rules over a session in memory.
type fakePolicy struct {
	rules  []egress.Rule
	asked  []core.EgressRequest
	sends  [][]string
	broken error
}

func (p *fakePolicy) policy() *egress.Policy {
	out, err := egress.New(p.rules)
	if err != nil {
		panic(err)
	}
	return out
}

func (p *fakePolicy) Tiers() []egress.Tier { return p.policy().Rules() }

func (p *fakePolicy) Test(ctx context.Context, r core.EgressRequest, sends ...string) (core.EgressVerdict, core.EgressRequest, error) {
	p.asked, p.sends = append(p.asked, r), append(p.sends, sends)
	if p.broken != nil {
		return core.EgressVerdict{}, r, p.broken
	}
	if r.Session == "s-gone" {
		return core.EgressVerdict{}, r, errors.New("session s-gone: does not exist")
	}
	if r.Session != "" {
		r.Units, r.Latched = []core.Unit{{Gatekeeper: "files", Service: "local:quay", Name: "payroll"}}, true
		r.Labels = append(r.Labels, "payroll")
	}
	return p.policy().Decide(ctx, r), r, nil
}

// ruled are two configured rules.
func ruled() *fakePolicy {
	return &fakePolicy{rules: []egress.Rule{
		{Name: "docs", When: `sink.kind == "fetch" && sink.host == "docs.example"`, Decide: core.EgressAllow},
		{Name: "no payroll to models elsewhere, whoever asks for it and whatever it is called", When: `sink.kind == "model" && !sink.local && "payroll" in labels && payload.bytes > 0 && caller == "agent"`, Decide: core.EgressDeny},
	}}
}
