package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gatehouse/core"
)

func (a *app) sessionListCommand() *cobra.Command {
	var removed bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the sessions, newest first",
		Args:  exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if removed {
				return a.sessionListRemoved(cmd.Context())
			}
			return a.sessionList(cmd.Context())
		},
	}
	c.Flags().BoolVar(&removed, "removed", false, "those that were removed, with the day on which they go for good")
	return c
}

func (a *app) sessionRemoveCommand() *cobra.Command {
	var purge, yes bool
	c := &cobra.Command{
		Use:   "rm SESSION",
		Short: "Remove a session; it can be brought back for 30 days",
		Long: `Remove a session: it is in no list and no queue any more, nothing of it can be
decided, and its name is free. gatehouse session restore brings it back for 30
days; after that its content goes.

With --purge the content goes now: what was said, asked and answered, what would
have been sent, what it takes to undo, names and reasons. That cannot be taken
back. What stays are the rows of the record, actions with their digests, what
was read, and the latch. Backups are not touched.`,
		Example: `  gatehouse session rm site-refresh
  gatehouse session rm s3 --purge`,
		Args: exactly("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if purge {
				return a.sessionPurge(cmd.Context(), args[0], yes)
			}
			return a.sessionRemove(cmd.Context(), args[0])
		},
	}
	c.Flags().BoolVar(&purge, "purge", false, "remove its content for good; asks")
	c.Flags().BoolVar(&yes, "yes", false, "purge without asking")
	return c
}

func (a *app) sessionRestoreCommand() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "restore SESSION",
		Short: "Bring a removed session back",
		Long: `Bring a removed session back, with everything that waited in it. It is named by
its id; gatehouse session list --removed lists them. Where its name was given to
another session meanwhile, it needs another one.`,
		Example: `  gatehouse session restore s3
  gatehouse session restore s3 --name site-refresh-old`,
		Args: exactly("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.sessionRestore(cmd.Context(), args[0], name) },
	}
	c.Flags().StringVar(&name, "name", "", "the `NAME` that it gets, in place of its own")
	return c
}

// removedObject is what --json prints of a session that was removed.
type removedObject struct {
	ID        core.SessionID `json:"id"`
	Name      string         `json:"name"` // that it had
	State     string         `json:"state"`
	RemovedAt *string        `json:"removed_at"`
	GoesAt    *string        `json:"goes_at"`
	By        string         `json:"by"`
}

func (a *app) sessionListRemoved(ctx context.Context) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	sessions, err := p.kernel.RemovedSessions(ctx)
	if err != nil {
		return err
	}
	t := newTable("ID", "NAME", "REMOVED", "GOES", "BY")
	for _, s := range sessions {
		if s.Owner != p.person {
			continue
		}
		r := s.Removed
		if a.json {
			if err := a.object(removedObject{s.ID, r.Name, "removed", jsonTime(r.At), jsonTime(r.Goes()), r.By}); err != nil {
				return err
			}
			continue
		}
		t.add(string(s.ID), r.Name, stamp(r.At), r.Goes().UTC().Format(time.DateOnly), r.By)
	}
	if a.json {
		return nil
	}
	return t.print(a.out, "no removed sessions")
}

func (a *app) sessionRemove(ctx context.Context, ref string) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	s, err := p.kernel.RemoveSession(ctx, ref, a.authority(p))
	if err != nil {
		return err
	}
	if a.json {
		return a.object(map[string]string{"session": string(s.ID), "state": "removed"})
	}
	a.say("session %s is removed; for 30 days gatehouse session restore %s brings it back", string(s.ID), string(s.ID))
	return nil
}

func (a *app) sessionRestore(ctx context.Context, ref, name string) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	s, err := p.kernel.RestoreSession(ctx, ref, name, a.authority(p))
	if errors.Is(err, core.ErrNameTaken) {
		return &fault{code: codeFailed, message: err.Error(), hint: "give another name with --name"}
	}
	if err != nil {
		return err
	}
	return a.printSession(ctx, p, string(s.ID))
}

func (a *app) sessionPurge(ctx context.Context, ref string, yes bool) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	if !yes {
		if err := a.askPurge(ctx, ref); err != nil {
			return err
		}
	}
	s, err := p.kernel.PurgeSession(ctx, ref, a.authority(p))
	if err != nil {
		return err
	}
	if a.json {
		return a.object(map[string]string{"session": string(s.ID), "state": "purged"})
	}
	a.say("the content of session %s is gone; its rows of the record, digests and what it had read stay", string(s.ID))
	return nil
}

// errUnpurged ends a command at whose prompt a person did not confirm.
var errUnpurged = errors.New("nothing was purged")

func (a *app) askPurge(ctx context.Context, ref string) error {
	if !a.in.tty.stdin {
		return usage("add --yes if the content of the session may go for good", "nothing was purged: there is no terminal to ask at")
	}
	fmt.Fprintf(a.in.stderr, "The content of session %s goes for good. Type purge to do it: ", line(ref))
	answer, err := interruptibly(ctx, func() (string, error) { return bufio.NewReader(a.in.stdin).ReadString('\n') })
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("standard input: %w", err)
	}
	if strings.TrimSpace(answer) != "purge" {
		return failedWith(errUnpurged)
	}
	return nil
}
