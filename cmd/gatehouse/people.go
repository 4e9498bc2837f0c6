package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"gatehouse/core"
	"gatehouse/core/share"
)

func (a *app) peopleCommand() *cobra.Command {
	return a.family(
		"people", "Colleagues: their keys and their accounts",
		&cobra.Command{
			Use:   "add LINE",
			Short: "Record a colleague",
			Long: `Record a colleague by the line that gatehouse identity export printed for them,
after you compared its fingerprint with them by another way. A bare name records
somebody without keys: enough to rehearse a share on this store with --as.`,
			Example: `  gatehouse people add bob`,
			Args:    exactly("LINE"),
			RunE:    func(cmd *cobra.Command, args []string) error { return a.peopleAdd(cmd.Context(), args[0]) },
		},
		&cobra.Command{
			Use:   "list",
			Short: "List the people that this store knows",
			Args:  exactly(),
			RunE:  func(cmd *cobra.Command, _ []string) error { return a.peopleList(cmd.Context()) },
		},
		&cobra.Command{
			Use:   "map PERSON KIND=ACCOUNT",
			Short: "Say who a person is at the services of a kind",
			Long: `Say who a person is at the services of one kind. Before your agent reads
something while that person is in the session, the service is asked about this
account; where it cannot be told that they may read it, the read is refused.`,
			Example: `  gatehouse people map bob files=bob`,
			Args:    exactly("PERSON", "KIND=ACCOUNT"),
			RunE:    func(cmd *cobra.Command, args []string) error { return a.peopleMap(cmd.Context(), args[0], args[1]) },
		},
	)
}

// personObject is what --json prints of a person.
type personObject struct {
	ID       core.PersonID     `json:"id"`
	Signing  string            `json:"signing"`
	Sealing  string            `json:"sealing"`
	Tenant   string            `json:"tenant"`
	Accounts map[string]string `json:"accounts"`
	AddedBy  core.PersonID     `json:"added_by"`
	AddedAt  *string           `json:"added_at"`

	Fingerprint string `json:"fingerprint"`
}

func objectOfPerson(p core.Person) personObject {
	accounts := make(map[string]string, len(p.Accounts))
	for _, account := range p.Accounts {
		accounts[account.Kind] = account.Name
	}
	return personObject{p.ID, p.Signing, p.Sealing, p.Tenant, accounts, p.AddedBy, jsonTime(p.AddedAt), share.Fingerprint(p)}
}

func (a *app) peopleAdd(ctx context.Context, line string) error {
	person, err := core.ParsePerson(line)
	if err == nil {
		err = share.CheckPerson(person)
	}
	if err != nil {
		return err
	}
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	if person, err = p.kernel.AddPerson(ctx, person, a.authority(p)); err != nil {
		return err
	}
	if a.json {
		return a.object(objectOfPerson(person))
	}
	words := share.Fingerprint(person)
	if words == "" {
		words = "none, for there are no keys: roles in this store, and no files"
	}
	return pairs(a.out, "", [2]string{"person", string(person.ID)}, [2]string{"tenant", person.Tenant}, [2]string{"fingerprint", words})
}

func (a *app) peopleList(ctx context.Context) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	people, err := p.kernel.People(ctx)
	if err != nil {
		return err
	}
	t := newTable("PERSON", "TENANT", "ACCOUNTS", "ADDED", "FINGERPRINT")
	for _, person := range people {
		if a.json {
			if err := a.object(objectOfPerson(person)); err != nil {
				return err
			}
			continue
		}
		var accounts []string
		for _, account := range person.Accounts {
			accounts = append(accounts, account.Kind+"="+account.Name)
		}
		words := share.Fingerprint(person)
		if words == "" {
			words = "no keys"
		}
		t.add(string(person.ID), person.Tenant, strings.Join(accounts, " "), stamp(person.AddedAt), words)
	}
	if a.json {
		return nil
	}
	return t.print(a.out, "nobody but you; add a colleague with gatehouse people add")
}

func (a *app) peopleMap(ctx context.Context, person, mapping string) error {
	kind, account, found := strings.Cut(mapping, "=")
	if !found || kind == "" || account == "" {
		return usage("write it as files=bob", "account %q: is not KIND=ACCOUNT", mapping)
	}
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	if err := p.kernel.MapAccount(ctx, core.PersonID(person), core.Account{Kind: kind, Name: account}, a.authority(p)); err != nil {
		return err
	}
	if a.json {
		return a.object(map[string]string{"person": person, "kind": kind, "account": account})
	}
	a.say("%s is %s at services of kind %s", person, account, kind)
	return nil
}
