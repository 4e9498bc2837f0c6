package main

import (
	"context"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gatehouse/core"
)

func (a *app) sessionCommand() *cobra.Command {
	family := a.family(
		"session", "Make, list and share sessions",
		&cobra.Command{
			Use:   "new NAME",
			Short: "Make a session",
			Long: `Make a session: the unit of work, with bindings, a transcript, a queue of its
own and a list of everything it has read. Its name is one plain line, unique in
the store; its id (s1, s2, …) stays when the name changes.`,
			Example: `  gatehouse session new site-refresh`,
			Args:    exactly("NAME"),
			RunE:    func(cmd *cobra.Command, args []string) error { return a.sessionNew(cmd.Context(), args[0]) },
		},
		a.sessionListCommand(),
		&cobra.Command{
			Use:   "show SESSION",
			Short: "Show one session",
			Args:  exactly("SESSION"),
			RunE:  func(cmd *cobra.Command, args []string) error { return a.sessionShow(cmd.Context(), args[0]) },
		},
		&cobra.Command{
			Use:   "rename SESSION NAME",
			Short: "Give a session another name",
			Args:  exactly("SESSION", "NAME"),
			RunE:  func(cmd *cobra.Command, args []string) error { return a.sessionRename(cmd.Context(), args[0], args[1]) },
		},
	)
	family.AddCommand(a.memberCommands()...)
	family.AddCommand(a.sessionRemoveCommand(), a.sessionRestoreCommand())
	return family
}

// sessionObject is what --json prints of a session.
type sessionObject struct {
	ID         core.SessionID    `json:"id"`
	Name       string            `json:"name"`
	State      core.SessionState `json:"state"`
	Pending    int               `json:"pending"`
	Units      int               `json:"units"`
	Latched    bool              `json:"latched"`
	UpdatedAt  *string           `json:"updated_at"`
	WaitingFor string            `json:"waiting_for"`
	Owner      core.PersonID     `json:"owner"`
	CreatedAt  *string           `json:"created_at"`
}

func objectOfSession(s core.SessionSummary) sessionObject {
	return sessionObject{
		ID: s.ID, Name: s.Name, State: s.State, Pending: s.Pending, Units: s.Units, Latched: s.Latched,
		UpdatedAt: jsonTime(s.UpdatedAt), WaitingFor: s.WaitingFor, Owner: s.Owner, CreatedAt: jsonTime(s.CreatedAt),
	}
}

func (a *app) sessionNew(ctx context.Context, name string) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	made, err := p.kernel.NewSession(ctx, core.NewSession{Name: name, Owner: p.person})
	if err != nil {
		return err
	}
	return a.printSession(ctx, p, string(made.ID))
}

func (a *app) sessionShow(ctx context.Context, ref string) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	if err := a.enter(ctx, p, ref, core.RoleView); err != nil {
		return err
	}
	return a.printSession(ctx, p, ref)
}

func (a *app) sessionRename(ctx context.Context, ref, name string) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	if err := a.enter(ctx, p, ref, core.RoleOwner); err != nil {
		return err
	}
	s, err := p.kernel.Session(ctx, ref)
	if err != nil {
		return err
	}
	if err := p.kernel.RenameSession(ctx, string(s.ID), name, p.person); err != nil {
		return err
	}
	return a.printSession(ctx, p, string(s.ID))
}

func (a *app) printSession(ctx context.Context, p *parts, ref string) error {
	s, err := p.kernel.Session(ctx, ref)
	if err != nil {
		return err
	}
	if a.json {
		return a.object(objectOfSession(s))
	}
	waiting := s.WaitingFor
	if waiting == "" {
		waiting = "nothing"
	}
	return pairs(
		a.out, "",
		[2]string{"session", string(s.ID)},
		[2]string{"name", s.Name},
		[2]string{"state", string(s.State)},
		[2]string{"waits for", waiting},
		[2]string{"pending", strconv.Itoa(s.Pending)},
		[2]string{"units read", strconv.Itoa(s.Units)},
		[2]string{"owner", string(s.Owner)},
		[2]string{"latch", a.latchLine(ctx, p, s)},
		[2]string{"updated", stamp(s.UpdatedAt)},
	)
}

// latchLine says what set the latch of a session, if anything did.
func (a *app) latchLine(ctx context.Context, p *parts, s core.SessionSummary) string {
	if !s.Latched {
		return "open"
	}
	latch, _, err := p.kernel.Latch(ctx, string(s.ID))
	if err != nil {
		return "set"
	}
	return "set by " + latch.String() + "; only " + string(s.Owner) + " opens it, and nothing is queued or sent"
}

func (a *app) sessionList(ctx context.Context) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	sessions, err := p.kernel.Sessions(ctx)
	if err != nil {
		return err
	}
	mine, err := p.mine(ctx)
	if err != nil {
		return err
	}
	t := newTable("ID", "NAME", "STATE", "PENDING", "UNITS", "UPDATED", "WAITS FOR")
	for _, s := range sessions {
		if !mine(s.ID) {
			continue
		}
		if a.json {
			if err := a.object(objectOfSession(s)); err != nil {
				return err
			}
			continue
		}
		t.add(string(s.ID), s.Name, string(s.State), strconv.Itoa(s.Pending), strconv.Itoa(s.Units), stamp(s.UpdatedAt), s.WaitingFor)
	}
	if a.json {
		return nil
	}
	return t.print(a.out, "no sessions; make one with gatehouse session new NAME")
}

func (a *app) bindCommand() *cobra.Command {
	var connection string
	c := &cobra.Command{
		Use:   "bind SESSION NAME URL",
		Short: "Give a session access to one resource",
		Long: `Give a session access to one resource, and to nothing else, under a name such as
SITE. Agents reach it as env.SITE. A folder may be given by its path.`,
		Example: `  gatehouse bind site-refresh SITE ./site
  gatehouse bind site-refresh DOCS 'file:///srv/site#path=docs'`,
		Args: exactly("SESSION", "NAME", "URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.bind(cmd.Context(), core.BindRequest{
				Session: args[0], Name: args[1], URL: args[2], Connection: core.ConnectionID(connection),
			})
		},
	}
	c.Flags().StringVar(&connection, "connection", "", "use the connection with this `ID` or name instead of finding or making one")
	return c
}

func (a *app) unbindCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "unbind SESSION NAME",
		Short: "Take a resource away from a session",
		Long: `Take a resource away from a session. What it has queued through it stays in the
queue, and what it has read stays on record.`,
		Args: exactly("SESSION", "NAME"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.unbind(cmd.Context(), args[0], args[1]) },
	}
}

func (a *app) bindingsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "bindings SESSION",
		Short: "List what a session can reach",
		Args:  exactly("SESSION"),
		RunE:  func(cmd *cobra.Command, args []string) error { return a.bindings(cmd.Context(), args[0]) },
	}
}

// bindingObject is what --json prints of a binding.
type bindingObject struct {
	Session    core.SessionID    `json:"session"`
	Name       core.BindingName  `json:"name"`
	URL        string            `json:"url"`
	Gatekeeper string            `json:"gatekeeper"`
	Connection core.ConnectionID `json:"connection"`
	CreatedAt  *string           `json:"created_at"`
}

func objectOfBinding(b core.Binding) bindingObject {
	return bindingObject{b.Session, b.Name, b.URL, b.Kind, b.Connection, jsonTime(b.CreatedAt)}
}

func (a *app) bind(ctx context.Context, r core.BindRequest) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	r.Person = p.person
	if err := a.enter(ctx, p, r.Session, core.RoleBuild); err != nil {
		return err
	}
	if r.URL, err = resourceURL(r.URL); err != nil {
		return err
	}
	b, err := p.kernel.Bind(ctx, r)
	if err != nil {
		return err
	}
	if a.json {
		return a.object(objectOfBinding(b))
	}
	return pairs(
		a.out, "",
		[2]string{"session", string(b.Session)},
		[2]string{"binding", string(b.Name)},
		[2]string{"resource", b.URL},
		[2]string{"gatekeeper", b.Kind},
		[2]string{"connection", string(b.Connection)},
	)
}

// resourceURL makes a URL of what may be the path of a folder.
func resourceURL(given string) (string, error) {
	scheme, _, found := strings.Cut(given, "://")
	if found && !strings.ContainsAny(scheme, `/\.`) {
		return given, nil
	}
	if given == "" {
		return "", usage("give a folder, or a URL such as file:///srv/site", "resource: empty")
	}
	path, err := filepath.Abs(given)
	if err != nil {
		return "", err
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String(), nil
}

func (a *app) unbind(ctx context.Context, session, name string) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	if err := a.enter(ctx, p, session, core.RoleBuild); err != nil {
		return err
	}
	if err := p.kernel.Unbind(ctx, session, name, p.person); err != nil {
		return err
	}
	if a.json {
		return a.object(map[string]string{"session": session, "name": name, "state": "unbound"})
	}
	a.say("%s no longer reaches %s; what it queued and read stays", session, name)
	return nil
}

func (a *app) bindings(ctx context.Context, session string) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	if err := a.enter(ctx, p, session, core.RoleView); err != nil {
		return err
	}
	bindings, err := p.kernel.Bindings(ctx, session)
	if err != nil {
		return err
	}
	t := newTable("NAME", "GATEKEEPER", "CONNECTION", "RESOURCE")
	for _, b := range bindings {
		if a.json {
			if err := a.object(objectOfBinding(b)); err != nil {
				return err
			}
			continue
		}
		t.add(string(b.Name), b.Kind, string(b.Connection), b.URL)
	}
	if a.json {
		return nil
	}
	return t.print(a.out, "no bindings; make one with gatehouse bind "+line(session)+" NAME FOLDER")
}
