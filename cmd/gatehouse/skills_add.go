package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"gatehouse/core"
	"gatehouse/skills"
	"gatehouse/store"
)

// addFlags are the flags of skills add.
type addFlags struct {
	collection  string
	title       string
	description string
	visibility  string
}

func (a *app) skillsAddCommand() *cobra.Command {
	var f addFlags
	c := &cobra.Command{
		Use:   "add FOLDER|FILE",
		Short: "Import a folder, a git checkout or a file of skills",
		Long: `Import documents into the library. A folder, also a git checkout, becomes a
collection, named after it or by --collection; gatehouse skills sync reads it again.
Of a checkout remote, branch and commit are recorded; nothing is fetched. A file is
put into a collection that is written here (--collection, "written" if left out), which is
made if there is none. Visibility is fixed when a collection is made: private is for
you alone, public for everybody who uses this store.

Links are not followed. What is too large, or has a path that cannot be, is left out
and named. A broken skill is kept as a document and listed as a problem.`,
		Example: `  gatehouse skills add ./runbooks --visibility public
  gatehouse skills add ~/src/team-skills --collection team
  gatehouse skills add deploy/SKILL.md --collection mine`,
		Args: exactly("FOLDER|FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.addSkillsFrom(cmd.Context(), args[0], f) },
	}
	c.Flags().StringVar(&f.collection, "collection", "", "the `ID` of the collection")
	c.Flags().StringVar(&f.title, "title", "", "its title, when it is made")
	c.Flags().StringVar(&f.description, "description", "", "its description, when it is made; agents see it")
	c.Flags().StringVar(&f.visibility, "visibility", "", "who reads it when it is made: private, if left out, or public")
	return c
}

func (a *app) addSkillsFrom(ctx context.Context, given string, f addFlags) error {
	visibility := skills.Visibility(f.visibility)
	switch visibility {
	case skills.VisibilityPrivate, skills.VisibilityPublic:
	case "":
		visibility = skills.VisibilityPrivate
	default:
		return usage("use private or public", "no visibility %q", f.visibility)
	}
	place, err := filepath.Abs(given)
	if err != nil {
		return err
	}
	resolved, err := filepath.EvalSymlinks(place)
	if err != nil {
		return missingPath(given, err)
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return missingPath(given, err)
	}
	d, err := a.desk(ctx)
	if err != nil {
		return err
	}
	id := skills.CollectionID(f.collection)
	if id == "" && info.IsDir() {
		id = collectionName(resolved)
	}
	c := store.SkillCollection{Place: resolved, Collection: skills.Collection{
		ID: id, Title: f.title, Description: f.description, Visibility: visibility, Owner: d.who(), Source: skills.Source{Kind: skills.SourceFolder},
	}}
	if c.Title == "" {
		c.Title = string(id)
	}
	if !info.IsDir() {
		return a.addFile(ctx, d, c, place, resolved)
	}
	again, err := addable(ctx, d, c, f.visibility)
	if err != nil {
		return err
	}
	if tree := findCheckout(resolved); tree != nil {
		if c.Source, err = tree.source(ctx); err != nil {
			return err
		}
	}
	if !again {
		return a.importSkills(ctx, d, c, "imported", nil)
	}
	return a.importSkills(ctx, d, c, "imported", func(work *imported) error { return refuseAgentLines(ctx, d, c, work) })
}

// refuseAgentLines leaves to sync what a person has to see before agents do.
func refuseAgentLines(ctx context.Context, d *desk, c store.SkillCollection, work *imported) error {
	if work.changes.None() {
		return nil
	}
	lines, err := agentLines(ctx, d, c, work)
	work.report.Changes = nil
	if err != nil || lines == 0 {
		return err
	}
	return &fault{
		code: codeFailed, message: fmt.Sprintf("collection %q: %s by agents in what changed", c.ID, count(lines, "line")),
		hint: fmt.Sprintf("look first with gatehouse skills sync %s --no-fetch", c.ID),
	}
}

// addable refuses an import over a collection that came from elsewhere, and reports one that was imported before.
func addable(ctx context.Context, d *desk, c store.SkillCollection, said string) (again bool, err error) {
	if c.ID == skills.BundledCollection {
		return false, builtIn(c.ID)
	}
	there, err := d.shelf.Entry(ctx, d.scope, c.ID)
	switch {
	case skills.CodeOf(err) == skills.CodeNotFound:
		return false, skills.CheckCollectionID(c.ID)
	case err != nil:
		return false, err
	case there.Place != c.Place:
		return false, &fault{code: codeFailed, message: fmt.Sprintf("collection %q: %s", c.ID, core.ErrNameTaken), hint: "give another with --collection"}
	case said != "" && there.Visibility != c.Visibility:
		return false, &fault{
			code: codeFailed, message: fmt.Sprintf("collection %q: is %s, and that is fixed", c.ID, there.Visibility), hint: "import it again under another --collection",
		}
	}
	return true, nil
}

func builtIn(id skills.CollectionID) error {
	return &fault{code: codeFailed, message: fmt.Sprintf("collection %q: %s: it is built in", id, core.ErrNameTaken), hint: "give another with --collection"}
}

// importReport is what --json prints of an import.
type importReport struct {
	Collection string     `json:"collection"`
	Source     string     `json:"source"`
	Files      int        `json:"files"`
	Read       int        `json:"read"`
	Added      int        `json:"added"`
	Changed    int        `json:"changed"`
	Removed    int        `json:"removed"`
	Skills     int        `json:"skills"`
	Broken     int        `json:"broken"`
	LeftOut    []leftOut  `json:"left_out"`
	Changes    []fileDiff `json:"changes,omitempty"` // of a sync
}

// imported is an import before it is seen by anybody.
type imported struct {
	*store.Import
	changes store.ImportChanges
	report  importReport
}

// importSkills reads a place into a collection. judge, if not nil, is shown what would change and may refuse; nobody sees
// anything of it before.
func (a *app) importSkills(ctx context.Context, d *desk, c store.SkillCollection, event string, judge func(*imported) error) (err error) {
	by := a.authority(d.parts)
	if err := d.kernel.MayChangeLibrary(ctx, by); err != nil {
		return err
	}
	source, err := openSource(c.Place)
	if err != nil {
		return err
	}
	defer func() { _ = source.close() }() // it was only read
	im, err := d.store.BeginImport(ctx, c, d.alive, systemClock{}.Now())
	if err != nil {
		return err
	}
	defer func() {
		if ended := im.End(context.WithoutCancel(ctx)); err == nil {
			err = ended
		}
	}()
	work := &imported{Import: im, report: importReport{Collection: line(string(c.ID)), Source: c.Source.String()}}
	if err := a.readInto(ctx, work, source, d.who()); err != nil {
		return err
	}
	if judge != nil {
		if err := judge(work); err != nil {
			return err
		}
	}
	err = d.kernel.ChangeLibrary(ctx, core.LibraryChange{
		Event: event, Subject: "collection " + string(c.ID),
		Apply: func(tx core.Tx) (map[string]any, error) {
			r := work.report
			row := map[string]any{"files": r.Files, "added": r.Added, "changed": r.Changed, "removed": r.Removed, "source": string(c.Source.Kind)}
			if c.Source.Commit != "" {
				row["commit"] = c.Source.Commit
			}
			return row, im.Finish(tx, work.changes, systemClock{}.Now())
		},
	}, by)
	if err != nil {
		return err
	}
	return a.reportImport(ctx, d, c, work)
}

// readInto reads what has to be read, one document at a time.
func (a *app) readInto(ctx context.Context, work *imported, source *skillSource, author skills.AccountID) error {
	r := &work.report
	show, end := a.counter("looking at files")
	files, out, err := source.list(ctx, func(n int) { show(n, 0) })
	end()
	if err != nil {
		return err
	}
	r.Files, r.LeftOut = len(files), out
	stamps := make(map[string]string, len(files))
	for _, f := range files {
		stamps[f.Path] = f.Stamp
	}
	wanted, err := work.Plan(ctx, files)
	if err != nil {
		return err
	}
	show, end = a.counter("reading")
	defer end()
	for i, path := range wanted {
		if err := ctx.Err(); err != nil {
			return err
		}
		show(i, len(wanted))
		document, err := source.read(path)
		if errors.Is(err, fs.ErrNotExist) { // nobody can say what else goes: a part of a folder is not what was meant
			return &fault{
				code: codeFailed, message: fmt.Sprintf("%s: %s was removed while the folder was read", source.dir, line(path)), hint: "nothing was taken over; try again",
			}
		}
		if err != nil { // changed or refused since it was listed
			work.Drop(path)
			r.LeftOut = append(r.LeftOut, leftOut{path, "cannot be read: " + reasonOf(err)})
			continue
		}
		r.Read++
		document.Author = author
		if err := work.Put(ctx, document, stamps[path]); err != nil {
			return err
		}
	}
	if work.changes, err = work.Changes(ctx); err != nil {
		return err
	}
	r.Added, r.Changed, r.Removed = len(work.changes.Added), len(work.changes.Changed), len(work.changes.Removed)
	return nil
}

func (a *app) reportImport(ctx context.Context, d *desk, c store.SkillCollection, work *imported) error {
	r := work.report
	n, err := d.shelf.Counts(ctx, d.scope, c.ID)
	if err != nil {
		return err
	}
	r.Skills, r.Broken, r.LeftOut = n.Skills, n.Broken, list(r.LeftOut)
	if a.json {
		for i := range r.LeftOut {
			r.LeftOut[i] = leftOut{line(r.LeftOut[i].Path), line(r.LeftOut[i].Why)}
		}
		return a.object(r)
	}
	a.noteLeftOut(r.LeftOut)
	return pairs(
		a.out, "",
		[2]string{"collection", string(c.ID)}, [2]string{"source", r.Source},
		[2]string{"documents", fmt.Sprintf("%d (%d read, %d added, %d changed, %d removed)", n.Documents, r.Read, r.Added, r.Changed, r.Removed)},
		[2]string{"skills", fmt.Sprintf("%d (%d more are broken; see gatehouse skills list)", n.Skills, n.Broken)},
	)
}

// writtenHere is the collection that a single file goes into.
const writtenHere = "written"

// addFile publishes one file into a collection that is written here. A skill keeps the folder that it lies in.
func (a *app) addFile(ctx context.Context, d *desk, c store.SkillCollection, place, resolved string) error {
	if c.ID == "" {
		c.ID, c.Title = writtenHere, writtenHere
	}
	c.Place, c.Source = "", skills.Source{Kind: skills.SourceWritten}
	content, err := readSkillFile(resolved)
	if err != nil {
		return err
	}
	name := filepath.Base(place)
	if skills.IsSkillPath(name) {
		name = filepath.Base(filepath.Dir(place)) + "/" + name
	}
	document, err := skills.NewDocument(skills.Ref{Collection: c.ID, Path: name}, content)
	if err != nil {
		return err
	}
	return a.publishInto(ctx, d, c, []skills.Document{document}, "published")
}

// publishInto puts documents into a collection that is written here, and makes it where there is none.
func (a *app) publishInto(ctx context.Context, d *desk, c store.SkillCollection, documents []skills.Document, event string) error {
	if c.ID == skills.BundledCollection {
		return builtIn(c.ID)
	}
	for _, document := range documents {
		err := d.kernel.ChangeLibrary(ctx, core.LibraryChange{
			Event: event, Subject: "document " + document.Ref.String(),
			Apply: func(tx core.Tx) (map[string]any, error) {
				t, err := store.SkillsIn(tx)
				if err != nil {
					return nil, err
				}
				there, err := t.Entry(d.scope, c.ID)
				if skills.CodeOf(err) == skills.CodeNotFound {
					if err = t.Create(c, systemClock{}.Now()); err == nil {
						there, err = t.Entry(d.scope, c.ID)
					}
				}
				if err != nil {
					return nil, err
				}
				document.Author = d.who()
				return map[string]any{"sha256": document.SHA256, "bytes": len(document.Bytes)}, t.Publish(there, document)
			},
		}, a.authority(d.parts))
		if err != nil {
			return err
		}
		if err := a.noteDocument(document); err != nil {
			return err
		}
	}
	return nil
}

// documentObject is what --json prints of a document that was written.
type documentObject struct {
	ID     string     `json:"id"`
	SHA256 string     `json:"sha256"`
	Skill  bool       `json:"skill"`
	Faults []lintLine `json:"faults"`
}

func (a *app) noteDocument(d skills.Document) error {
	_, ok, faults := skills.Inspect(d)
	if a.json {
		o := documentObject{ID: line(d.Ref.String()), SHA256: d.SHA256, Skill: ok, Faults: []lintLine{}}
		for _, f := range faults {
			o.Faults = append(o.Faults, lintLine{
				File: o.ID, Line: f.Line, Column: f.Column, Severity: f.Severity(), Code: f.Code, Message: f.Reason, Repair: f.Repair,
			})
		}
		return a.object(o)
	}
	for _, f := range faults {
		a.say("%s", f.In(d.Ref.String()))
	}
	if _, err := fmt.Fprintln(a.out, line(d.Ref.String())); err != nil {
		return err
	}
	if !ok && skills.IsSkillPath(d.Ref.Path) {
		a.say("it is kept as a document and is no skill before this is mended")
	}
	return nil
}
