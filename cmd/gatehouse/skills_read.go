package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"gatehouse/core"
	"gatehouse/skills"
)

func (a *app) skillsSearchCommand() *cobra.Command {
	q := skills.Query{}
	c := &cobra.Command{
		Use:   "search QUERY",
		Short: "Find documents that hold every word",
		Long: `Find documents that hold every word of the query, in name, title, description, path
or text. Those with all words in the name stand first. What you cannot read changes
nothing in the answer.`,
		Example: `  gatehouse skills search "rollback staging"
  gatehouse skills search --prefix rollb`,
		Args: exactly("QUERY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Text = args[0]
			return a.searchSkills(cmd.Context(), q)
		},
	}
	c.Flags().IntVar(&q.Limit, "limit", skills.DefaultSearchLimit, "how many at most, 1 to 50")
	c.Flags().BoolVar(&q.Prefix, "prefix", false, "the last word may be the beginning of one")
	return c
}

func (a *app) searchSkills(ctx context.Context, q skills.Query) error {
	if _, err := skills.ParseQuery(q); err != nil { // before a store is opened
		return err
	}
	d, err := a.desk(ctx)
	if err != nil {
		return err
	}
	hits, err := d.library.Search(ctx, d.scope, q)
	if err != nil {
		return err
	}
	t := newTable("ID", "SNIPPET")
	t.whole = true
	for _, h := range hits {
		if a.json {
			if err := a.object(h); err != nil {
				return err
			}
			continue
		}
		t.add(h.ID, h.Snippet)
	}
	if a.json {
		return nil
	}
	return t.print(a.out, "nothing holds all words of "+skills.ShownQuery(q.Text))
}

func (a *app) skillsReadCommand() *cobra.Command {
	var offset, limit int
	c := &cobra.Command{
		Use:   "read ID",
		Short: "Print a document",
		Long: `Print a document, by the id that list and search show. It comes in windows of 64 KiB;
--offset reads on.`,
		Example: `  gatehouse skills read runbooks/deploy/SKILL.md`,
		Args:    exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.readSkill(cmd.Context(), args[0], offset, limit)
		},
	}
	c.Flags().IntVar(&offset, "offset", 0, "the `BYTE` to begin at")
	c.Flags().IntVar(&limit, "limit", skills.WindowLimit, "how many bytes at most")
	return c
}

// windowObject is what --json prints of a window.
type windowObject struct {
	ID          string `json:"id"`
	ContentType string `json:"content_type"`
	SHA256      string `json:"sha256"`
	Size        int    `json:"size"`
	Offset      int    `json:"offset"`
	Next        int    `json:"next"`
	Text        string `json:"text,omitempty"`
	Bytes       []byte `json:"bytes,omitempty"` // of a binary document
}

func (a *app) readSkill(ctx context.Context, id string, offset, limit int) error {
	d, err := a.desk(ctx)
	if err != nil {
		return err
	}
	w, err := d.library.Read(ctx, d.scope, id, offset, limit)
	if err != nil {
		return err
	}
	if a.json {
		return a.object(windowObject{line(w.Ref.String()), w.ContentType, w.SHA256, w.Size, w.Offset, w.Next, w.Text, w.Bytes})
	}
	if w.Binary {
		return &fault{
			code: codeFailed, message: fmt.Sprintf("document %s: is binary (%s, %d bytes)", w.Ref, w.ContentType, w.Size), hint: "read it with --json",
		}
	}
	text := block(w.Text)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if _, err := io.WriteString(a.out, text); err != nil {
		return err
	}
	if w.Next < w.Size {
		a.say("%d of %d bytes; go on with --offset %d", w.Next, w.Size, w.Next)
	}
	return nil
}

func (a *app) skillsCatalogCommand() *cobra.Command {
	var session string
	c := &cobra.Command{
		Use:   "catalog",
		Short: "Show what an agent is told of the library unasked",
		Long: `Show the catalog: at most 25 collections and skills that an agent is told of before
it has asked for anything, and how many are left out. With a session it is that
session's: what is pinned to it stands first, and what somebody in it may not read
is not in it.`,
		Example: `  gatehouse skills catalog -s site-refresh`,
		Args:    exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.catalog(cmd.Context(), session) },
	}
	c.Flags().StringVarP(&session, "session", "s", "", "the `SESSION`, by id or name")
	return c
}

func (a *app) catalog(ctx context.Context, session string) error {
	d, err := a.desk(ctx)
	if err != nil {
		return err
	}
	scope := d.scope
	var pinned []skills.CollectionID
	if session != "" {
		s, err := d.kernel.Session(ctx, session)
		if err != nil {
			return err
		}
		if scope, err = d.present(ctx, s.ID); err != nil {
			return err
		}
		if pinned, err = d.shelf.Pinned(ctx, s.ID); err != nil {
			return err
		}
	}
	catalog, err := d.library.Catalog(ctx, scope, pinned)
	if err != nil {
		return err
	}
	if a.json {
		return a.object(catalog)
	}
	t := newTable("ID", "DESCRIPTION")
	t.whole = true
	for _, e := range catalog.Entries {
		t.add(e.ID, e.Description)
	}
	if err := t.print(a.out, "the catalog is empty"); err != nil {
		return err
	}
	o := catalog.Omitted
	fmt.Fprintf(a.out, "\nleft out: %s, %s, %d that cannot be shown\n", count(o.Collections, "collection"), count(o.Skills, "skill"), o.Unusable)
	if catalog.Incomplete {
		fmt.Fprintln(a.out, "a collection could not be loaded; the list is incomplete")
	}
	return nil
}

func (a *app) skillsPinCommand() *cobra.Command {
	var session string
	c := &cobra.Command{
		Use:   "pin COLLECTION -s SESSION",
		Short: "Offer a collection to the agent of a session first",
		Long: `Pin a collection to a session: its skills stand first in the catalog of the session's
agent, also those of a private collection. Their descriptions reach the agent, so that
the collection counts as read: whoever joins the session must be able to read it.`,
		Example: `  gatehouse skills pin runbooks -s site-refresh`,
		Args:    exactly("COLLECTION"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.pin(cmd.Context(), args[0], session) },
	}
	c.Flags().StringVarP(&session, "session", "s", "", "the `SESSION`, by id or name")
	return c
}

func (a *app) skillsUnpinCommand() *cobra.Command {
	var session string
	c := &cobra.Command{
		Use:   "unpin COLLECTION -s SESSION",
		Short: "Take a pin away",
		Long: `Take a pin away. What the agent was told of the collection stays read: the set of
what a session has read never shrinks.`,
		Example: `  gatehouse skills unpin runbooks -s site-refresh`,
		Args:    exactly("COLLECTION"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.unpin(cmd.Context(), args[0], session) },
	}
	c.Flags().StringVarP(&session, "session", "s", "", "the `SESSION`, by id or name")
	return c
}

// pinPlace finds the session of a pin.
func (a *app) pinPlace(ctx context.Context, session string) (*desk, core.SessionID, error) {
	if session == "" {
		return nil, "", usage("see gatehouse session list", "which session? give it with -s")
	}
	d, err := a.desk(ctx)
	if err != nil {
		return nil, "", err
	}
	s, err := d.kernel.Session(ctx, session)
	return d, s.ID, err
}
