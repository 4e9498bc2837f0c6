package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gatehouse/core"
)

// memberCommands are those of the people of one session, and of the way out of
// a latched one.
func (a *app) memberCommands() []*cobra.Command {
	return []*cobra.Command{
		a.grantCommand(), a.revokeCommand(), a.membersCommand(), a.forkCommand(), a.exportCommand(), a.inspectCommand(),
		a.openFileCommand(), a.verifyFileCommand(), a.continueCommand(), a.withdrawCommand(), a.proposalsCommand(),
	}
}

func (a *app) grantCommand() *cobra.Command {
	var decide bool
	c := &cobra.Command{
		Use:   "grant SESSION PERSON view|build",
		Short: "Give a person a role in a session",
		Long: `Give a person a role in a session, no higher than your own: view sees it, build
also talks to its agent, binds connections of their own and drafts decisions.
With --decide they also decide. From then on the agent reads only what all who
have a role may read, and each time they open it every source is checked with
their own connections. A latched session is its owner's alone.`,
		Example: `  gatehouse session grant site-refresh bob view
  gatehouse session grant site-refresh ann build --decide`,
		Args: exactly("SESSION", "PERSON", "view|build"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.grant(cmd.Context(), args[0], core.RoleGrant{Person: core.PersonID(args[1]), Role: core.Role(args[2]), Decides: decide})
		},
	}
	c.Flags().BoolVar(&decide, "decide", false, "they may also decide")
	return c
}

func (a *app) revokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke SESSION PERSON",
		Short: "Take a person out of a session",
		Long: `Take a person out of a session: the owner takes away every role they were given,
others what they gave themselves. Roles that came through that person go with
them, and come back when they do.`,
		Args: exactly("SESSION", "PERSON"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.revoke(cmd.Context(), args[0], args[1]) },
	}
}

func (a *app) membersCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "people SESSION",
		Short: "List the people of a session and how they came in",
		Args:  exactly("SESSION"),
		RunE:  func(cmd *cobra.Command, args []string) error { return a.members(cmd.Context(), args[0]) },
	}
}

func (a *app) forkCommand() *cobra.Command {
	var at int
	var name string
	c := &cobra.Command{
		Use:   "fork SESSION",
		Short: "Make a session that is what another was after a turn",
		Long: `Make a session of your own that is what another was after a turn: what was said,
its bindings and what it had read by then, without what waits and without its
people. It is the way out of a latched session, from before the read that set
the latch. --at 0 takes the bindings alone.`,
		Example: `  gatehouse session fork site-refresh --at 2 --name site-refresh-private`,
		Args:    exactly("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("at") {
				return usage("give the last turn to take over, or 0", "fork: --at is missing")
			}
			return a.fork(cmd.Context(), core.Fork{Session: args[0], At: at, Name: name})
		},
	}
	c.Flags().IntVar(&at, "at", 0, "the last `TURN` to take over")
	c.Flags().StringVar(&name, "name", "", "its `NAME`; the old one with -fork otherwise")
	return c
}

func (a *app) grant(ctx context.Context, session string, g core.RoleGrant) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	if err := p.kernel.GrantRole(ctx, session, g, a.authority(p)); err != nil {
		return err
	}
	return a.printMembers(ctx, p, session)
}

func (a *app) revoke(ctx context.Context, session, person string) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	if err := p.kernel.RevokeRole(ctx, session, core.PersonID(person), a.authority(p)); err != nil {
		return err
	}
	return a.printMembers(ctx, p, session)
}

func (a *app) members(ctx context.Context, session string) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	return a.printMembers(ctx, p, session)
}

// memberObject is what --json prints of one person of a session.
type memberObject struct {
	Person  core.PersonID   `json:"person"`
	Role    core.Role       `json:"role"`
	Decides bool            `json:"decides"`
	From    []core.PersonID `json:"from"`
}

func (a *app) printMembers(ctx context.Context, p *parts, session string) error {
	members, err := p.kernel.Members(ctx, session, p.person)
	if err != nil {
		return err
	}
	t := newTable("PERSON", "ROLE", "DECIDES", "GIVEN BY")
	for _, m := range members {
		var from []core.PersonID
		var given []string
		for _, g := range m.From {
			from = append(from, g.Giver)
			given = append(given, string(g.Giver)+" ("+string(g.Role)+")")
		}
		if a.json {
			if err := a.object(memberObject{m.Person, m.Rights.Role, m.Rights.Decides, list(from)}); err != nil {
				return err
			}
			continue
		}
		role := string(m.Rights.Role)
		if role == "" {
			role = "none"
		}
		t.add(string(m.Person), role, strconv.FormatBool(m.Rights.Decides), strings.Join(given, ", "))
	}
	if a.json {
		return nil
	}
	return t.print(a.out, "")
}

func (a *app) fork(ctx context.Context, f core.Fork) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	if f.Name == "" {
		old, err := p.kernel.Session(ctx, f.Session)
		if err != nil {
			return err
		}
		f.Name = old.Name + "-fork"
	}
	made, err := p.kernel.ForkSession(ctx, f, a.authority(p))
	if err != nil {
		return err
	}
	return a.printSession(ctx, p, string(made.ID))
}
