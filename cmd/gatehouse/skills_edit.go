package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"gatehouse/core"
	"gatehouse/skills"
	"gatehouse/store"
)

func (a *app) skillsEditCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "edit ID",
		Short: "Change a document in your editor",
		Long: `Change a document of a collection that is written here, in the editor that VISUAL or
EDITOR names. The change is shown as a diff and stored only when you say yes. An
imported document is changed in its folder.`,
		Example: `  EDITOR=vi gatehouse skills edit mine/deploy/SKILL.md`,
		Args:    exactly("ID"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.editSkill(cmd.Context(), args[0], yes) },
	}
	c.Flags().BoolVar(&yes, "yes", false, "store it without asking")
	return c
}

func (a *app) editSkill(ctx context.Context, id string, yes bool) error {
	ref, err := skills.ParseRef(id)
	if err != nil {
		return err
	}
	d, err := a.desk(ctx)
	if err != nil {
		return err
	}
	if err := d.kernel.MayChangeLibrary(ctx, a.authority(d.parts)); err != nil {
		return err
	}
	entry, err := d.shelf.Entry(ctx, d.scope, ref.Collection)
	if err != nil {
		return err
	}
	if err := entry.Writable(); err != nil {
		return err
	}
	_, old, err := d.shelf.Document(ctx, d.scope, ref)
	if err != nil {
		return err
	}
	if old.Binary() {
		return &fault{code: codeFailed, message: fmt.Sprintf("document %s: is binary", ref), hint: "put another in its place with gatehouse skills add FILE"}
	}
	content, err := a.edited(ctx, ref, old.Bytes)
	if err != nil {
		return err
	}
	if skills.Digest(content) == old.SHA256 {
		a.say("%s: nothing changed", ref.String())
		return nil
	}
	document, err := skills.NewDocument(ref, content)
	if err != nil {
		return err
	}
	document.Title, document.Description = old.Title, old.Description
	name := filepath.Base(ref.Path)
	if err := a.showDiff(ref.String(), udiff.Unified(name, name, string(old.Bytes), string(content))); err != nil {
		return err
	}
	if !yes {
		if err := a.askYes(ctx, "store it", "nothing was stored"); err != nil {
			return err
		}
	}
	return a.replaceDocument(ctx, d, old.SHA256, document)
}

// edited lets a person change a text in their editor, and returns what it has become.
func (a *app) edited(ctx context.Context, ref skills.Ref, content []byte) ([]byte, error) {
	editor := strings.Fields(os.Getenv("VISUAL"))
	if len(editor) == 0 {
		editor = strings.Fields(os.Getenv("EDITOR"))
	}
	if len(editor) == 0 {
		return nil, usage("set VISUAL or EDITOR", "skills edit: no editor is named")
	}
	folder, err := os.MkdirTemp("", "gatehouse-edit-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }() // a copy of what is stored
	file := filepath.Join(folder, filepath.Base(ref.Path))
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, editor[0], append(editor[1:], file)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, a.in.stderr, a.in.stderr
	if err := cmd.Run(); err != nil {
		return nil, &fault{code: codeFailed, message: fmt.Sprintf("editor %s: %s", editor[0], err), hint: "nothing was stored"}
	}
	return readSkillFile(file)
}

// replaceDocument stores a document in place of the one that was looked at, and no other.
func (a *app) replaceDocument(ctx context.Context, d *desk, seen string, document skills.Document) error {
	err := d.kernel.ChangeLibrary(ctx, core.LibraryChange{
		Event: "edited", Subject: "document " + document.Ref.String(),
		Apply: func(tx core.Tx) (map[string]any, error) {
			t, err := store.SkillsIn(tx)
			if err != nil {
				return nil, err
			}
			c, now, err := t.Document(d.scope, document.Ref)
			if err == nil && now.SHA256 != seen {
				err = &fault{code: codeFailed, message: fmt.Sprintf("document %s: was changed meanwhile", document.Ref), hint: "look at it and edit it again"}
			}
			if err != nil {
				return nil, err
			}
			document.Author = d.who()
			return map[string]any{"sha256": document.SHA256, "before": seen, "bytes": len(document.Bytes)}, t.Publish(c, document)
		},
	}, a.authority(d.parts))
	if err != nil {
		return err
	}
	return a.noteDocument(document)
}

func (a *app) skillsDeleteCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "delete ID",
		Short: "Delete a document, or a whole collection",
		Long: `Delete a document of a collection that is written here, or, by the id of a
collection alone, a collection with all that is in it and its pins. The folder that it
was imported from is not touched. What sessions have read of it stays on record.`,
		Example: `  gatehouse skills delete mine/deploy/SKILL.md
  gatehouse skills delete runbooks --yes`,
		Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.deleteSkills(cmd.Context(), args[0], yes) },
	}
	c.Flags().BoolVar(&yes, "yes", false, "delete it without asking")
	return c
}

func (a *app) deleteSkills(ctx context.Context, id string, yes bool) error {
	d, err := a.desk(ctx)
	if err != nil {
		return err
	}
	change := core.LibraryChange{Event: "deleted"}
	if ref, err := skills.ParseRef(id); err == nil {
		if _, document, err := d.shelf.Document(ctx, d.scope, ref); err != nil {
			return err
		} else if !a.json {
			fmt.Fprintf(a.out, "deletes document %s (%d bytes)\n", line(ref.String()), len(document.Bytes))
		}
		change.Subject = "document " + ref.String()
		change.Apply = func(tx core.Tx) (map[string]any, error) { return deleteDocument(tx, d.scope, ref) }
	} else {
		collection := skills.CollectionID(id)
		n, err := d.shelf.Counts(ctx, d.scope, collection)
		if err != nil {
			return err
		}
		if !a.json {
			fmt.Fprintf(a.out, "deletes collection %s with %s\n", line(id), count(n.Documents, "document"))
		}
		change.Subject = "collection " + id
		change.Apply = func(tx core.Tx) (map[string]any, error) { return deleteCollection(tx, d.scope, collection, n) }
	}
	if err := d.kernel.MayChangeLibrary(ctx, a.authority(d.parts)); err != nil {
		return err
	}
	if !yes {
		if err := a.askYes(ctx, "delete it", "nothing was deleted"); err != nil {
			return err
		}
	}
	if err := d.kernel.ChangeLibrary(ctx, change, a.authority(d.parts)); err != nil {
		return err
	}
	if a.json {
		if err := a.object(struct {
			ID    string `json:"id"`
			State string `json:"state"`
		}{line(id), "deleted"}); err != nil {
			return err
		}
	}
	return d.store.ClearSkills(ctx)
}

func deleteDocument(tx core.Tx, scope skills.Scope, ref skills.Ref) (map[string]any, error) {
	t, err := store.SkillsIn(tx)
	if err != nil {
		return nil, err
	}
	c, document, err := t.Document(scope, ref)
	if err != nil {
		return nil, err
	}
	return map[string]any{"sha256": document.SHA256}, t.Remove(c, ref.Path)
}

func deleteCollection(tx core.Tx, scope skills.Scope, id skills.CollectionID, n store.SkillCount) (map[string]any, error) {
	t, err := store.SkillsIn(tx)
	if err != nil {
		return nil, err
	}
	c, err := t.Entry(scope, id)
	if err != nil {
		return nil, err
	}
	return map[string]any{"documents": n.Documents, "visibility": c.Visibility}, t.RemoveCollection(c)
}

func (a *app) skillsPublishCommand() *cobra.Command {
	var to string
	var yes bool
	c := &cobra.Command{
		Use:   "publish ID",
		Short: "Copy a document to where everybody can read it",
		Long: `Copy a document into a public collection that is written here (--collection, "public"
if left out), which is made if there is none. Visibility is fixed when a collection is
made, so that what is private is published as a copy. It is shown first.`,
		Example: `  gatehouse skills publish mine/deploy/SKILL.md
  gatehouse skills publish mine/deploy/SKILL.md --collection runbooks --yes`,
		Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.publishSkill(cmd.Context(), args[0], to, yes) },
	}
	c.Flags().StringVar(&to, "collection", string(skills.VisibilityPublic), "the `COLLECTION` that it goes into")
	c.Flags().BoolVar(&yes, "yes", false, "publish it without asking")
	return c
}

func (a *app) publishSkill(ctx context.Context, id, to string, yes bool) error {
	ref, err := skills.ParseRef(id)
	if err != nil {
		return err
	}
	d, err := a.desk(ctx)
	if err != nil {
		return err
	}
	if err := d.kernel.MayChangeLibrary(ctx, a.authority(d.parts)); err != nil {
		return err
	}
	_, document, err := d.shelf.Document(ctx, d.scope, ref)
	if err != nil {
		return err
	}
	c := store.SkillCollection{Collection: skills.Collection{
		ID: skills.CollectionID(to), Title: to, Visibility: skills.VisibilityPublic, Owner: d.who(), Source: skills.Source{Kind: skills.SourceWritten},
	}}
	there, err := d.shelf.Entry(ctx, d.scope, c.ID)
	switch {
	case err == nil && there.Visibility != skills.VisibilityPublic:
		return &fault{code: codeFailed, message: fmt.Sprintf("collection %q: is private, and that is fixed", to), hint: "give another with --collection"}
	case err != nil && skills.CodeOf(err) != skills.CodeNotFound:
		return err
	}
	document.Ref.Collection = c.ID
	if !a.json {
		fmt.Fprintf(a.out, "publishes %s as %s, for everybody who uses this store:\n\n", line(ref.String()), line(document.Ref.String()))
		if !document.Binary() {
			fmt.Fprintln(a.out, strings.TrimRight(block(string(document.Bytes)), "\n"))
		}
	}
	if !yes {
		if err := a.askYes(ctx, "publish it", "nothing was published"); err != nil {
			return err
		}
	}
	return a.publishInto(ctx, d, c, []skills.Document{document}, "published")
}
