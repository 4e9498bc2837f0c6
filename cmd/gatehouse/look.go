package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gatehouse/core"
)

func (a *app) observationsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "observations [SESSION]",
		Short: "List what a session, or every session, has read",
		Long: `List the units that a session has read: the smallest things with an access rule
of their own. The list never shrinks, whatever is unbound or disconnected later.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) <= 1 {
				return nil
			}
			return exactly("SESSION")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.observations(cmd.Context(), strings.Join(args, ""))
		},
	}
}

// observationObject is what --json prints of a unit that was read.
type observationObject struct {
	Unit        string         `json:"unit"`
	Gatekeeper  string         `json:"gatekeeper"`
	Service     string         `json:"service"`
	Session     core.SessionID `json:"session"`
	Permission  string         `json:"permission"`
	Labels      []string       `json:"labels"`
	FirstSeenAt *string        `json:"first_seen_at"`
	Turn        int            `json:"turn"`
	OwnerOnly   bool           `json:"owner_only"`
}

func (a *app) observations(ctx context.Context, session string) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	if err := p.named(session); err != nil {
		return err
	}
	if err := a.enter(ctx, p, session, core.RoleView); err != nil {
		return err
	}
	observed, err := p.kernel.Observations(ctx, session)
	if err != nil {
		return err
	}
	t := newTable("SESSION", "GATEKEEPER", "SERVICE", "UNIT", "NEEDS", "LABELS", "TURN", "FIRST SEEN")
	for _, o := range observed {
		u := o.Found.Unit
		if a.json {
			err := a.object(observationObject{
				u.Name, u.Gatekeeper, u.Service, o.Session, o.Found.Permission, list(o.Found.Labels), jsonTime(o.FirstSeenAt), o.Turn, o.Found.OwnerOnly,
			})
			if err != nil {
				return err
			}
			continue
		}
		labels := o.Found.Labels
		if o.Found.OwnerOnly {
			labels = append([]string{"owner-only"}, labels...)
		}
		t.add(string(o.Session), u.Gatekeeper, u.Service, u.Name, o.Found.Permission, strings.Join(labels, ", "), turnWord(o.Turn), stamp(o.FirstSeenAt))
	}
	if a.json {
		return nil
	}
	return t.print(a.out, "nothing was read")
}

func turnWord(turn int) string {
	if turn == 0 {
		return "by hand"
	}
	return strconv.Itoa(turn)
}

func (a *app) connectionsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "connections",
		Short: "List the accounts and folders that bindings reach",
		Args:  exactly(),
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.connections(cmd.Context()) },
	}
}

// connectionObject is what --json prints of a connection.
type connectionObject struct {
	ID         core.ConnectionID `json:"id"`
	Gatekeeper string            `json:"gatekeeper"`
	Name       string            `json:"name"`
	Owner      core.PersonID     `json:"owner"`
	Service    string            `json:"service"`
	Root       string            `json:"root"`
	Labels     []string          `json:"labels"`
	Readers    []core.PersonID   `json:"readers"`
	Sessions   []string          `json:"sessions"` // bound to it
}

func (a *app) connections(ctx context.Context) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	connections, err := p.kernel.ConnectionUses(ctx)
	if err != nil {
		return err
	}
	t := newTable("ID", "GATEKEEPER", "NAME", "OWNER", "SERVICE", "ROOT", "LABELS", "READERS", "SESSIONS")
	for _, c := range connections {
		if a.json {
			if err := a.object(objectOfConnection(c.Connection, usesOf(c))); err != nil {
				return err
			}
			continue
		}
		readers := make([]string, len(c.Readers))
		for i, r := range c.Readers {
			readers[i] = string(r)
		}
		t.add(string(c.ID), c.Kind, c.Name, string(c.Owner), c.Service, c.Root,
			strings.Join(c.Labels, ","), strings.Join(readers, ","), strings.Join(usesOf(c), ","))
	}
	if a.json {
		return nil
	}
	return t.print(a.out, "no connections; gatehouse connect files FOLDER makes one")
}

func (a *app) gatekeeperCommand() *cobra.Command {
	return a.family(
		"gatekeeper", "See which services can be bound, and what becomes of each call",
		&cobra.Command{
			Use:   "list",
			Short: "List the gatekeepers, with how many methods read, simulate and wait",
			Args:  exactly(),
			RunE:  func(cmd *cobra.Command, _ []string) error { return a.gatekeeperList(cmd.Context()) },
		},
		&cobra.Command{
			Use:   "show KIND",
			Short: "Show what a gatekeeper can do: methods, arguments, kinds of action",
			Args:  exactly("KIND"),
			RunE:  func(cmd *cobra.Command, args []string) error { return a.gatekeeperShow(cmd.Context(), args[0]) },
		},
	)
}

// census counts the methods of a gatekeeper by lane. One that may take several
// counts in each.
type census struct {
	Read     int `json:"read"`
	Simulate int `json:"simulate"`
	Await    int `json:"await"`
}

func countLanes(operations []core.Operation) census {
	var c census
	for _, o := range operations {
		for _, l := range o.Lanes {
			switch l {
			case core.LaneRead:
				c.Read++
			case core.LaneSimulate:
				c.Simulate++
			case core.LaneAwait:
				c.Await++
			}
		}
	}
	return c
}

func (a *app) gatekeeperList(ctx context.Context) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	t := newTable("KIND", "READ", "SIMULATE", "AWAIT", "OBSERVERS", "ABOUT")
	for _, m := range p.kernel.Manifests() {
		c := countLanes(m.Operations)
		if a.json {
			err := a.object(struct {
				Kind      string        `json:"kind"`
				About     string        `json:"about"`
				Forms     []string      `json:"forms"`
				Observers core.Strategy `json:"observers"`
				Local     bool          `json:"local"`
				Lanes     census        `json:"lanes"`
			}{m.Kind, m.About, list(m.Forms), observers(m), m.Local, c})
			if err != nil {
				return err
			}
			continue
		}
		t.add(m.Kind, strconv.Itoa(c.Read), strconv.Itoa(c.Simulate), strconv.Itoa(c.Await), string(observers(m)), m.About)
	}
	if a.json {
		return nil
	}
	return t.print(a.out, "no gatekeepers")
}

// observers is the strategy of a manifest; undeclared is private (kernel R11).
func observers(m core.Manifest) core.Strategy {
	if m.Observers == "" {
		return core.StrategyPrivate
	}
	return m.Observers
}

func (a *app) gatekeeperShow(ctx context.Context, kind string) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	var kinds []string
	for _, m := range p.kernel.Manifests() {
		if m.Kind != kind {
			kinds = append(kinds, m.Kind)
			continue
		}
		if a.json {
			return a.object(struct {
				core.Manifest
				Lanes census `json:"lanes"`
			}{m, countLanes(m.Operations)})
		}
		return a.printManifest(m)
	}
	hint := "see gatehouse gatekeeper list"
	if near, found := nearest(kind, kinds); found {
		hint = "did you mean " + near + "?"
	}
	return &fault{code: codeNotFound, message: fmt.Sprintf("gatekeeper %q: not found", kind), hint: hint}
}

func (a *app) printManifest(m core.Manifest) error {
	c := countLanes(m.Operations)
	fmt.Fprintf(a.out, "%s: %s\n", line(m.Kind), line(m.About))
	for _, form := range m.Forms {
		fmt.Fprintf(a.out, "  %s\n", line(form))
	}
	fmt.Fprintf(a.out, "  others may see: %s\n", observers(m))
	fmt.Fprintf(a.out, "\nMethods: %d read, %d simulate, %d await\n", c.Read, c.Simulate, c.Await)
	for _, o := range m.Operations {
		fmt.Fprintf(a.out, "\n  %s(%s)  %s\n", line(o.Name), paramWords(o.Params), laneWords(o.Lanes))
		fmt.Fprintf(a.out, "    %s\n", line(o.About))
		for _, param := range o.Params {
			fmt.Fprintf(a.out, "    %s  %s\n", line(param.Name), line(param.About))
		}
		for _, note := range [][2]string{{"returns", o.Returns}, {"observes", o.Observes}, {"waits because", o.AwaitReason}, {"not simulated", o.Unsimulated}} {
			if note[1] != "" {
				fmt.Fprintf(a.out, "    %s: %s\n", note[0], line(note[1]))
			}
		}
	}
	fmt.Fprintln(a.out, "\nKinds of action")
	t := newTable("  KIND", "CAN BE REVERTED", "IRREVERSIBLE", "COSTS MONEY", "FIELDS")
	for _, k := range m.Kinds {
		var fields []string
		for _, f := range k.Fields {
			fields = append(fields, f.Name)
		}
		t.rows = append(t.rows, []string{"  " + line(k.Name), possible(k.Revertible), possible(k.Irreversible), possible(k.CostsMoney), line(strings.Join(fields, ", "))})
	}
	return t.print(a.out, "  none")
}

func paramWords(params []core.Param) string {
	var words []string
	for _, p := range params {
		word := line(p.Name) + " " + string(p.Type)
		if p.Optional {
			word = "[" + word + "]"
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

func laneWords(lanes []core.Lane) string {
	var words []string
	for _, l := range lanes {
		words = append(words, string(l))
	}
	return strings.Join(words, " or ")
}

// possible names the values that a flag of a kind may have.
func possible(values []bool) string {
	var yes, no bool
	for _, v := range values {
		yes, no = yes || v, no || !v
	}
	if yes && no {
		return "it depends"
	}
	return yesNo(yes)
}
