package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gatehouse/core"
	"gatehouse/core/share"
	"gatehouse/skills"
)

func (a *app) blueprintShowCommand() *cobra.Command {
	var instructions bool
	c := &cobra.Command{
		Use:   "show FILE",
		Short: "Show what is in a blueprint",
		Example: `  gatehouse blueprint show refresh.yaml
  gatehouse blueprint show refresh.yaml --instructions | gatehouse run -s refresh -`,
		Args: exactly("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			b, raw, err := readBlueprint(args[0])
			if err != nil {
				return err
			}
			switch {
			case instructions:
				_, err = fmt.Fprint(a.out, block(b.Instructions))
			case a.json:
				err = a.object(objectOfBlueprint(args[0], b, raw))
			default:
				_, err = fmt.Fprint(a.out, block(string(raw)))
			}
			return err
		},
	}
	c.Flags().BoolVar(&instructions, "instructions", false, "the instructions alone")
	return c
}

func readBlueprint(path string) (core.Blueprint, []byte, error) {
	raw, err := readBounded(path, share.BlueprintLimit)
	if err != nil {
		return core.Blueprint{}, nil, err
	}
	b, err := share.ParseBlueprint(raw)
	var newer *share.NewerError
	if errors.As(err, &newer) {
		return b, nil, invalidFile("", "%s: %s", path, strings.TrimPrefix(newer.Error(), "file: "))
	}
	if err != nil {
		return b, nil, invalidFile("", "%s: %s", path, strings.TrimPrefix(err.Error(), "file: "))
	}
	return b, raw, nil
}

// shapeObject is what --json prints of a binding of a blueprint; URL is what it is to be bound to.
type shapeObject struct {
	Name       core.BindingName `json:"name"`
	Gatekeeper string           `json:"gatekeeper"`
	Form       string           `json:"form"`
	Operations []string         `json:"operations"`
	URL        string           `json:"url"`
	Wider      bool             `json:"wider"`
	LeftOut    bool             `json:"left_out"`
}

// referenceObject is what --json prints of a reference to skills.
type referenceObject struct {
	Collection string `json:"collection"`
	Source     string `json:"source"`
	Hole       bool   `json:"hole"`
}

// madeObject is what --json prints of a blueprint, of a plan to make a session of one, and of what was made.
type madeObject struct {
	File         string            `json:"file"`
	Digest       string            `json:"digest"`
	Title        string            `json:"title"`
	Instructions string            `json:"instructions"`
	Name         string            `json:"name,omitempty"`
	Session      core.SessionID    `json:"session,omitempty"`
	Bindings     []shapeObject     `json:"bindings"`
	Skills       []referenceObject `json:"skills"`
	Error        *faultObject      `json:"error,omitempty"`
}

func objectOfBlueprint(path string, b core.Blueprint, raw []byte) madeObject {
	o := madeObject{File: path, Digest: share.BlueprintDigest(raw), Title: b.Title, Instructions: b.Instructions, Bindings: []shapeObject{}, Skills: []referenceObject{}}
	for _, s := range b.Bindings {
		o.Bindings = append(o.Bindings, shapeObject{Name: s.Name, Gatekeeper: s.Gatekeeper, Form: s.Form, Operations: list(s.Operations)})
	}
	for _, s := range b.Skills {
		o.Skills = append(o.Skills, referenceObject{s.Collection, s.Source, s.Hole()})
	}
	return o
}

func (a *app) blueprintNewCommand() *cobra.Command {
	var binds []string
	var name string
	var yes bool
	c := &cobra.Command{
		Use:   "new FILE",
		Short: "Make a session from a blueprint, with bindings of your own",
		Long: `Make a session from a blueprint. What the file says is shown first, then each of
its bindings is bound again, to something of your own: your connections of that
kind are listed, and the narrowest that fits is proposed. In a script --bind
says it for each; --bind NAME=- leaves one out. The plan is shown and asked about
unless --yes is given.

A blueprint is not signed. Nothing in it is fetched or run, and it holds no rules
and no credentials: one that does is refused. Its instructions become part of
nothing; give them to the agent yourself once you have read them.`,
		Example: `  gatehouse blueprint new refresh.yaml
  gatehouse blueprint new refresh.yaml --name refresh --bind 'SITE=file:///srv/site#path=docs' --yes`,
		Args: exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.blueprintNew(cmd.Context(), args[0], name, binds, yes)
		},
	}
	c.Flags().StringArrayVar(&binds, "bind", nil, "a binding as `NAME=URL`, or NAME=- to leave it out; may be repeated")
	c.Flags().StringVar(&name, "name", "", "the `NAME` of the session; the title's when left out")
	c.Flags().BoolVar(&yes, "yes", false, "make it without asking")
	return c
}

// rebinding is a blueprint on its way to a session.
type rebinding struct {
	*desk
	a     *app
	from  core.Blueprint
	in    *bufio.Reader
	made  core.BlueprintMake
	shown madeObject
}

func (a *app) blueprintNew(ctx context.Context, file, name string, binds []string, yes bool) error {
	b, raw, err := readBlueprint(file)
	if err != nil {
		return err
	}
	given, err := givenBinds(b, binds)
	if err != nil {
		return err
	}
	d, err := a.desk(ctx)
	if err != nil {
		return err
	}
	r := &rebinding{desk: d, a: a, from: b, in: bufio.NewReader(a.in.stdin), shown: objectOfBlueprint(file, b, raw)}
	r.made = core.BlueprintMake{Name: name, Digest: r.shown.Digest}
	if r.made.Name == "" {
		r.made.Name = b.Title
	}
	if !a.json {
		fmt.Fprintf(a.out, "%s\n", block(string(raw)))
	}
	if err := r.name(ctx); err != nil {
		return err
	}
	for i, shape := range b.Bindings {
		if err := r.bind(ctx, &r.shown.Bindings[i], shape, given); err != nil {
			return err
		}
	}
	if err := r.confirm(ctx, yes); err != nil {
		return err
	}
	s, _, err := d.kernel.MakeFromBlueprint(ctx, r.made, a.authority(d.parts))
	if err != nil {
		return err
	}
	if a.json {
		r.shown.Session = s.ID
		return a.object(r.shown)
	}
	if b.Instructions != "" {
		a.say("give the agent its instructions with: gatehouse blueprint show %s --instructions | gatehouse run -s %s -", file, string(s.ID))
	}
	return a.printSession(ctx, d.parts, string(s.ID))
}

// givenBinds reads --bind, each for a binding of the blueprint and once.
func givenBinds(b core.Blueprint, binds []string) (map[core.BindingName]string, error) {
	given := make(map[core.BindingName]string)
	for _, one := range binds {
		name, url, found := strings.Cut(one, "=")
		if !found || url == "" {
			return nil, usage("write it as --bind NAME=URL, or NAME=- to leave it out", "--bind %q: no URL", one)
		}
		known := false
		for _, shape := range b.Bindings {
			known = known || string(shape.Name) == name
		}
		if !known {
			return nil, usage("see gatehouse blueprint show FILE", "--bind %q: the blueprint has no binding of that name", name)
		}
		if _, twice := given[core.BindingName(name)]; twice {
			return nil, usage("", "--bind %s: given twice", name)
		}
		given[core.BindingName(name)] = url
	}
	return given, nil
}

// asks reports that there is a person to ask.
func (r *rebinding) asks() bool { return r.a.in.tty.stdin && !r.a.json }

func (r *rebinding) name(ctx context.Context) (err error) {
	if r.made.Name == "" && r.asks() {
		r.made.Name, err = r.a.prompt(ctx, r.in, "Name of the session: ")
	}
	if err == nil && r.made.Name == "" {
		err = usage("add --name NAME", "blueprint new: the file has no title to call the session by")
	}
	if err != nil {
		return err
	}
	r.shown.Name = r.made.Name
	if _, err := r.kernel.Session(ctx, r.made.Name); err == nil {
		return fmt.Errorf("session %q: %w", r.made.Name, core.ErrNameTaken)
	}
	return nil
}

// bind finds what a shape is bound to, and tries it.
func (r *rebinding) bind(ctx context.Context, shown *shapeObject, shape core.BlueprintBinding, given map[core.BindingName]string) error {
	request := core.BindRequest{Name: string(shape.Name), URL: given[shape.Name], Person: r.person}
	if request.URL == "" {
		candidates, err := r.kernel.Candidates(ctx, shape, r.person)
		if err != nil {
			return err
		}
		if whole := wholeURL(shape.Form); whole != "" {
			request.URL = whole
		} else if request, err = r.choose(ctx, shape, candidates, request); err != nil {
			return err
		}
	}
	if request.URL == "-" {
		shown.LeftOut = true
		return nil
	}
	var err error
	if request.URL, err = resourceURL(request.URL); err != nil {
		return err
	}
	form, kind, err := r.kernel.FormOf(request.URL)
	if err != nil {
		return err
	}
	if kind != shape.Gatekeeper {
		return usage("give a URL of that kind", "binding %s: the blueprint wants %s, and %s is for %s", shape.Name, shape.Gatekeeper, request.URL, kind)
	}
	grant, err := r.kernel.PreviewBind(ctx, request)
	if err != nil {
		return err
	}
	request.URL, request.Root = grant.URL, grant.Connection.Root
	shown.URL, shown.Wider = grant.URL, core.Wider(form, shape.Form)
	r.made.Binds = append(r.made.Binds, request)
	return nil
}

// wholeURL is the one URL of a form that has no names in it.
func wholeURL(form string) string {
	for _, word := range []string{"NAME", "PATH", "VALUE"} {
		if strings.Contains(form, word) {
			return ""
		}
	}
	if !strings.HasSuffix(form, "/") {
		return ""
	}
	return form
}

// choose lets a person pick: one of the candidates, or a folder or URL of theirs.
func (r *rebinding) choose(ctx context.Context, shape core.BlueprintBinding, candidates []core.Candidate, request core.BindRequest) (core.BindRequest, error) {
	if !r.asks() {
		var could []string
		for _, c := range candidates {
			if c.URL != "" {
				could = append(could, c.URL)
			}
		}
		hint := "add --bind " + string(shape.Name) + "=URL, or " + string(shape.Name) + "=- to leave it out"
		if len(could) > 0 {
			hint += "; the narrowest of yours is " + could[0]
		}
		return request, usage(hint, "binding %s (%s, %s): not said what it is bound to", shape.Name, shape.Gatekeeper, shape.Form)
	}
	fmt.Fprintf(r.a.out, "\n%s: %s, %s\n", shape.Name, shape.Gatekeeper, shape.Form)
	proposal := "-"
	for i, c := range candidates {
		where := c.URL
		if where == "" {
			where = "no binding of this form yet; its root is " + c.Connection.Root
		}
		fmt.Fprintf(r.a.out, "  %d  %s  %s\n", i+1, line(c.Connection.Name), line(where))
		if i == 0 && c.URL != "" {
			proposal = "1"
		}
	}
	answer, err := r.a.prompt(ctx, r.in, fmt.Sprintf("Number, folder or URL for %s, - leaves it out [%s]: ", shape.Name, proposal))
	if err != nil {
		return request, err
	}
	if answer == "" {
		answer = proposal
	}
	n, err := strconv.Atoi(answer)
	if err != nil {
		request.URL = answer
		return request, nil
	}
	if n < 1 || n > len(candidates) || candidates[n-1].URL == "" {
		return request, usage("give one that has a binding of this form, or a folder or URL", "binding %s: number %d is none to choose", shape.Name, n)
	}
	request.URL, request.Connection = candidates[n-1].URL, candidates[n-1].Connection.ID
	return request, nil
}

// confirm shows the plan and returns nil when a person wants it.
func (r *rebinding) confirm(ctx context.Context, yes bool) error {
	if !r.a.json {
		if err := r.print(ctx); err != nil {
			return err
		}
	}
	if yes {
		return nil
	}
	if !r.asks() {
		f := usage("look at the plan, then add --yes", "nothing was made: there is no terminal to ask at")
		if r.a.json {
			f.told = true
			r.shown.Error = &faultObject{string(f.code), f.message, f.hint}
			return errors.Join(f, r.a.object(r.shown))
		}
		return f
	}
	answer, err := r.a.prompt(ctx, r.in, "Type yes to make it: ")
	if err != nil {
		return err
	}
	if answer != "yes" {
		return failedWith(errUnmade)
	}
	return nil
}

// errUnmade ends a command at whose prompt a person did not confirm.
var errUnmade = errors.New("nothing was made")

func (r *rebinding) print(ctx context.Context) error {
	fmt.Fprintf(r.a.out, "Makes session %s, of your own:\n", line(r.made.Name))
	t := newTable("NAME", "GATEKEEPER", "BOUND TO")
	for _, b := range r.shown.Bindings {
		target := b.URL
		switch {
		case b.LeftOut:
			target = "left out"
		case b.Wider:
			target += " (wider than the blueprint: " + b.Form + ")"
		}
		t.add(string(b.Name), b.Gatekeeper, target)
	}
	if err := t.print(r.a.out, "no bindings"); err != nil {
		return err
	}
	collections, err := r.all.Collections(ctx, r.scope)
	if err != nil {
		return err
	}
	for _, s := range r.from.Skills {
		fmt.Fprintf(r.a.out, "Skills: %s\n", skillLine(s, collections))
	}
	return nil
}

// skillLine says what becomes of a reference: nothing by itself.
func skillLine(s core.BlueprintSkill, have []skills.Collection) string {
	if s.Hole() {
		return "a collection that is not for everybody is left out"
	}
	for _, c := range have {
		if string(c.ID) == s.Collection {
			return line(s.Collection) + " is in your library; pin it with gatehouse skills pin"
		}
	}
	if s.Source == "" {
		return line(s.Collection) + " is not in your library"
	}
	return line(s.Collection) + " is not in your library; it came from " + line(s.Source)
}
