package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"gatehouse/core"
)

func (a *app) connectCommand() *cobra.Command {
	var (
		r       core.ConnectRequest
		readers []string
		yes     bool
	)
	c := &cobra.Command{
		Use:   "connect files FOLDER",
		Short: "Connect a folder that sessions can be bound to",
		Long: `Make a connection: a place that bindings narrow and sessions reach. What it gives
is shown first, and asked about unless --yes is given. Nothing is read and
nothing is changed by connecting.`,
		Example: `  gatehouse connect files ./site
  gatehouse connect files /srv/handbook --name handbook --reader bob --label internal`,
		Args: exactly("files", "FOLDER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != "files" {
				return usage("use files", "connect: %q cannot be connected by hand", args[0])
			}
			for _, reader := range readers {
				r.Readers = append(r.Readers, core.PersonID(reader))
			}
			var err error
			if r.URL, err = resourceURL(args[1]); err != nil {
				return err
			}
			return a.connect(cmd.Context(), r, yes)
		},
	}
	c.Flags().StringVar(&r.Name, "name", "", "its `NAME`; the folder's when left out")
	c.Flags().StringVar(&r.Service, "service", "", "the `SERVICE` that units of it carry")
	c.Flags().StringArrayVar(&readers, "reader", nil, "a `PERSON` who may read it; may be repeated")
	c.Flags().StringArrayVar(&r.Labels, "label", nil, "a `LABEL` that units of it carry; may be repeated")
	c.Flags().BoolVar(&yes, "yes", false, "make it without asking")
	return c
}

func (a *app) disconnectCommand() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "disconnect CONNECTION",
		Short: "Take a connection away",
		Long: `Take a connection away, by id or name. It is refused while sessions are bound to
it, unless --force unbinds them. What was read and queued through it stays: an
action that waits can then only be rejected.`,
		Args: exactly("CONNECTION"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.disconnect(cmd.Context(), args[0], force) },
	}
	c.Flags().BoolVar(&force, "force", false, "unbind the sessions that use it")
	return c
}

// grantObject is what --json prints of a grant that is yet to be confirmed.
type grantObject struct {
	connectionObject
	Unit   string       `json:"unit"`
	Reads  []string     `json:"reads"`
	Queues []string     `json:"queues"`
	Error  *faultObject `json:"error,omitempty"`
}

func objectOfConnection(c core.Connection, sessions []string) connectionObject {
	return connectionObject{c.ID, c.Kind, c.Name, c.Owner, c.Service, c.Root, list(c.Labels), list(c.Readers), list(sessions)}
}

func (a *app) connect(ctx context.Context, r core.ConnectRequest, yes bool) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	grant, err := p.kernel.PreviewConnect(ctx, r, p.person)
	if err != nil {
		return err
	}
	r.Root = grant.Connection.Root
	if !yes {
		if err := a.askGrant(ctx, grant); err != nil {
			return err
		}
	}
	c, err := p.kernel.Connect(ctx, r, a.authority(p))
	if err != nil {
		return err
	}
	if a.json {
		return a.object(objectOfConnection(c, nil))
	}
	return pairs(
		a.out, "",
		[2]string{"connection", string(c.ID)}, [2]string{"name", c.Name}, [2]string{"root", c.Root}, [2]string{"service", c.Service},
	)
}

// askGrant shows the grant and returns nil when a person at a terminal confirms it.
func (a *app) askGrant(ctx context.Context, g core.Grant) error {
	if !a.in.tty.stdin {
		f := usage("look at what it would give, then add --yes", "nothing was connected: there is no terminal to ask at")
		if a.json {
			f.told = true
			return errors.Join(f, a.object(grantObject{
				objectOfConnection(g.Connection, nil), g.Unit.String(), list(g.Reads), list(g.Queues), &faultObject{string(f.code), f.message, f.hint},
			}))
		}
		return errors.Join(f, a.printGrant(g))
	}
	if err := a.printGrant(g); err != nil {
		return err
	}
	if err := a.out.Flush(); err != nil {
		return err
	}
	fmt.Fprint(a.in.stderr, "Type yes to connect it: ")
	answer, err := interruptibly(ctx, func() (string, error) { return bufio.NewReader(a.in.stdin).ReadString('\n') })
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("standard input: %w", err)
	}
	if strings.TrimSpace(answer) != "yes" {
		return failedWith(errUnconnected)
	}
	return nil
}

// errUnconnected ends a command at whose prompt a person did not confirm.
var errUnconnected = errors.New("nothing was connected")

func (a *app) printGrant(g core.Grant) error {
	c := g.Connection
	return pairs(
		a.out, "",
		[2]string{"connects", c.Kind},
		[2]string{"name", c.Name},
		[2]string{"root", c.Root},
		[2]string{"can be read", "all files and folders in it, by " + strings.Join(g.Reads, ", ")},
		[2]string{"can be queued", strings.Join(g.Queues, ", ") + "; nothing happens before you approve"},
		[2]string{"unit", g.Unit.String()},
		[2]string{"labels", orNone(strings.Join(c.Labels, ", "))},
		[2]string{"who could see", sees(c)},
	)
}

// sees says to whom what was read through a connection could be shown later.
func sees(c core.Connection) string {
	people := []string{string(c.Owner)}
	for _, r := range c.Readers {
		if r != c.Owner {
			people = append(people, string(r))
		}
	}
	if len(people) == 1 {
		return people[0] + " alone"
	}
	return strings.Join(people, ", ")
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func (a *app) disconnect(ctx context.Context, ref string, force bool) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	var forced core.Forced
	if force {
		forced = core.UnbindFirst
	}
	done, err := p.kernel.Disconnect(ctx, ref, forced, a.authority(p))
	if err != nil {
		return err
	}
	if a.json {
		names := []string{}
		for _, b := range done.Unbound {
			names = append(names, string(b.Session)+"."+string(b.Name))
		}
		return a.object(struct {
			ID      core.ConnectionID `json:"id"`
			State   string            `json:"state"`
			Unbound []string          `json:"unbound"`
		}{done.Connection.ID, "disconnected", names})
	}
	for _, b := range done.Unbound {
		a.say("session %s no longer reaches %s", b.Session, b.Name)
	}
	a.say("%s %s is disconnected; what was read and queued through it stays, and what waits can only be rejected",
		done.Connection.ID, line(done.Connection.Name))
	return nil
}

// usesOf names the sessions bound to a connection, each once.
func usesOf(u core.ConnectionUse) []string {
	var out []string
	seen := map[core.SessionID]bool{}
	for _, b := range u.Bindings {
		if !seen[b.Session] {
			out = append(out, string(b.Session))
			seen[b.Session] = true
		}
	}
	return out
}
