package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"gatehouse/core"
	"gatehouse/skills"
	"gatehouse/store"
)

func (a *app) skillsCommand() *cobra.Command {
	c := a.family(
		"skills", "Collections of skills: find, read, mend, publish",
		a.skillsAddCommand(), a.skillsListCommand(), a.skillsSearchCommand(), a.skillsReadCommand(), a.skillsCatalogCommand(),
		a.skillsLintCommand(), a.skillsFixCommand(), a.skillsSyncCommand(), a.skillsPinCommand(), a.skillsUnpinCommand(),
		a.skillsEditCommand(), a.skillsDeleteCommand(), a.skillsPublishCommand(),
	)
	page, err := pages.ReadFile("help/skills.txt")
	if err != nil {
		panic("gatehouse: the page of skills is missing: " + err.Error())
	}
	c.Long = strings.TrimSpace(string(page))
	return c
}

// desk is the skill library at work, for the person who runs this process.
type desk struct {
	*parts
	shelf   *store.Shelf
	all     skills.Shelf    // with the built-in skills
	library *skills.Library // over all
	scope   skills.Scope
}

func (a *app) desk(ctx context.Context) (*desk, error) {
	p, err := a.parts(ctx)
	if err != nil {
		return nil, err
	}
	return p.desk()
}

func (p *parts) desk() (*desk, error) {
	shelf, engine, err := skills.WithBundled(p.store.Shelf(), p.store.SkillEngine())
	if err != nil {
		return nil, err
	}
	return &desk{p, p.store.Shelf(), shelf, skills.New(shelf, engine), skills.For(skills.AccountID(p.person))}, nil
}

func (a *app) skillsListCommand() *cobra.Command {
	var collections bool
	c := &cobra.Command{
		Use:   "list [COLLECTION]",
		Short: "List skills, and what is wrong with those that are none",
		Long: `List the skills that you can read, of all collections or of one. Files that are
named SKILL.md and are no skill stand below as problems, with every fault.
With --collections it lists the collections.`,
		Example: `  gatehouse skills list
  gatehouse skills list --collections`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("write it as gatehouse skills list [COLLECTION]", "skills list: %q is one too many", args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := a.desk(cmd.Context())
			if err != nil {
				return err
			}
			if collections {
				return a.listCollections(cmd.Context(), d)
			}
			return a.listSkills(cmd.Context(), d, args)
		},
	}
	c.Flags().BoolVar(&collections, "collections", false, "list collections instead")
	return c
}

// skillObject is what --json prints of a skill. A file that is named as one and is none has faults and no name.
type skillObject struct {
	ID          string            `json:"id"`
	Collection  string            `json:"collection"`
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Visibility  skills.Visibility `json:"visibility"`
	Faults      []lintLine        `json:"faults"`
}

func (a *app) listSkills(ctx context.Context, d *desk, only []string) error {
	listing, err := d.library.List(ctx, d.scope, skills.Page{})
	if err != nil {
		return err
	}
	t, found := newTable("ID", "NAME", "VISIBILITY", "DESCRIPTION"), false
	t.whole = true
	var problems []skills.Problem
	for _, c := range listing.Collections {
		if len(only) > 0 && string(c.ID) != only[0] {
			continue
		}
		found = true
		faulty, err := a.addSkills(ctx, d, c, t)
		if err != nil {
			return err
		}
		problems = append(problems, faulty...)
	}
	if len(only) > 0 && !found {
		return &skills.RefusedError{Code: skills.CodeNotFound, Text: fmt.Sprintf("collection %q: not found", only[0]), Hint: "see gatehouse skills list --collections"}
	}
	if a.json {
		return nil
	}
	if err := t.print(a.out, "no skills; add some with gatehouse skills add FOLDER"); err != nil || len(problems) == 0 {
		return err
	}
	fmt.Fprint(a.out, "\nProblems:\n")
	for _, p := range problems {
		for _, f := range p.Faults {
			fmt.Fprintf(a.out, "  %s\n", f.In(p.Ref.String()))
		}
	}
	return nil
}

// addSkills lists one collection, and returns what is broken in it.
func (a *app) addSkills(ctx context.Context, d *desk, c skills.Collection, t *table) (broken []skills.Problem, err error) {
	all, err := d.all.Skills(ctx, d.scope, c.ID)
	if err != nil {
		return nil, err
	}
	problems, err := d.shelf.Problems(ctx, d.scope, c.ID)
	if err != nil && skills.CodeOf(err) != skills.CodeNotFound { // the built-in ones are on no shelf of the store
		return nil, err
	}
	faults := map[string][]lintLine{}
	valid := map[string]bool{}
	for _, s := range all {
		valid[s.Ref.Path] = true
	}
	for _, p := range problems {
		for _, f := range p.Faults {
			faults[p.Ref.Path] = append(faults[p.Ref.Path], lintLine{
				File: line(p.Ref.String()), Line: f.Line, Column: f.Column, Severity: f.Severity(), Code: f.Code, Message: f.Reason, Repair: f.Repair,
			})
		}
		if !valid[p.Ref.Path] {
			broken = append(broken, p)
		}
	}
	for _, s := range all {
		t.add(s.Ref.String(), s.Frontmatter.Name, string(c.Visibility), s.Frontmatter.Description)
		if a.json {
			o := skillObject{
				line(s.Ref.String()), line(string(c.ID)), s.Frontmatter.Name, line(s.Frontmatter.Description), c.Visibility, list(faults[s.Ref.Path]),
			}
			if err := a.object(o); err != nil {
				return nil, err
			}
		}
	}
	for _, p := range broken {
		if a.json {
			o := skillObject{ID: line(p.Ref.String()), Collection: line(string(c.ID)), Visibility: c.Visibility, Faults: faults[p.Ref.Path]}
			if err := a.object(o); err != nil {
				return nil, err
			}
		}
	}
	return broken, nil
}

// collectionObject is what --json prints of a collection.
type collectionObject struct {
	ID          string            `json:"id"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Visibility  skills.Visibility `json:"visibility"`
	Owner       string            `json:"owner"`
	Kind        skills.SourceKind `json:"kind"`
	Place       string            `json:"place"`
	Remote      string            `json:"remote"`
	Branch      string            `json:"branch"`
	Commit      string            `json:"commit"`
	ImportedAt  *string           `json:"imported_at"`
	Documents   int               `json:"documents"`
	Skills      int               `json:"skills"`
	Broken      int               `json:"broken"`
}

func (a *app) listCollections(ctx context.Context, d *desk) error {
	all, err := d.shelf.Entries(ctx, d.scope)
	if err != nil {
		return err
	}
	t := newTable("ID", "VISIBILITY", "SKILLS", "BROKEN", "DOCUMENTS", "IMPORTED", "SOURCE")
	for _, c := range all {
		n, err := d.shelf.Counts(ctx, d.scope, c.ID)
		if skills.CodeOf(err) == skills.CodeNotFound {
			continue // removed meanwhile
		}
		if err != nil {
			return err
		}
		if a.json {
			o := collectionObject{
				line(string(c.ID)), line(c.Title), line(c.Description), c.Visibility, line(string(c.Owner)), c.Source.Kind, line(c.Place),
				line(c.Source.Remote), line(c.Source.Branch), c.Source.Commit, jsonTime(c.ImportedAt), n.Documents, n.Skills, n.Broken,
			}
			if err := a.object(o); err != nil {
				return err
			}
			continue
		}
		words := strings.TrimSpace(c.Source.String() + " " + c.Place)
		t.add(string(c.ID), string(c.Visibility), fmt.Sprint(n.Skills), fmt.Sprint(n.Broken), fmt.Sprint(n.Documents), stamp(c.ImportedAt), words)
	}
	if a.json {
		return nil
	}
	return t.print(a.out, "no collections; add one with gatehouse skills add FOLDER")
}

// who is the person as an account of the library.
func (d *desk) who() skills.AccountID { return skills.AccountID(d.person) }

// present is the scope of everybody who can see a session.
func (d *desk) present(ctx context.Context, session core.SessionID) (skills.Scope, error) {
	members, err := d.kernel.Members(ctx, string(session), d.person)
	if err != nil {
		return skills.Scope{}, err
	}
	scope := d.scope
	for _, m := range members {
		scope.Accounts = append(scope.Accounts, skills.AccountID(m.Person))
	}
	return scope, nil
}
