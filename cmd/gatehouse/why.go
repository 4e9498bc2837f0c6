package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gatehouse/core"
)

func (a *app) whyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "why ID",
		Short: "Tell the chain from what was read to what an action did",
		Long: `Tell how an action came about, from the record: what its turn had read before it,
when it was queued, who decided, when it was sent, and how it ended. ID is an
action, such as 12, or a row of the record, such as log:340. With --json every
row is an object as gatehouse log prints it.`,
		Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.why(cmd.Context(), args[0]) },
	}
}

// why prints the rows of the record that led to an action and followed from it.
func (a *app) why(ctx context.Context, word string) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	subject, session, err := whyOf(ctx, p, word)
	if err != nil {
		return err
	}
	if err := p.named(string(session)); err != nil {
		return err
	}
	if err := a.enter(ctx, p, string(session), core.RoleView); err != nil {
		return err
	}
	rows, err := chainOf(ctx, p, subject, session)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if err := a.printRow(r); err != nil {
			return err
		}
	}
	return nil
}

// whyOf finds what a word is about, and in which session.
func whyOf(ctx context.Context, p *parts, word string) (subject string, session core.SessionID, err error) {
	if place, isRow := strings.CutPrefix(word, "log:"); isRow {
		seq, err := strconv.ParseInt(place, 10, 64)
		if err != nil || seq < 1 {
			return "", "", usage("write a row as log:340", "%q is no row of the record", word)
		}
		rows, err := p.kernel.Record(ctx, core.RecordQuery{After: seq - 1, Limit: 1})
		if err != nil {
			return "", "", err
		}
		if len(rows) == 0 || rows[0].Seq != seq {
			return "", "", &fault{code: codeNotFound, message: fmt.Sprintf("row %d of the record: not found", seq), hint: "see gatehouse log"}
		}
		return rows[0].Entry.Subject, rows[0].Entry.Session, nil
	}
	id, err := oneID(word)
	if err != nil {
		return "", "", err
	}
	d, err := p.kernel.Peek(ctx, id)
	if err != nil {
		return "", "", err
	}
	if d.Question != nil {
		return "question " + id.String(), d.Question.Session, nil
	}
	return "action " + id.String(), d.Action.Session, nil
}

// chainOf walks the rows of a session in pages: those about the subject, and
// before the first of them what the same turn had read or was refused.
func chainOf(ctx context.Context, p *parts, subject string, session core.SessionID) ([]core.Row, error) {
	var chain []core.Row
	before := map[int][]core.Row{} // reads by turn
	found := false
	for q := (core.RecordQuery{Session: session}); ; {
		rows, err := p.kernel.Record(ctx, q)
		if err != nil || len(rows) == 0 {
			return chain, err
		}
		for _, r := range rows {
			e := r.Entry
			switch {
			case e.Subject == subject && !found:
				found = true
				chain = append(before[e.Turn], r)
				before = nil
			case e.Subject == subject:
				chain = append(chain, r)
			case !found && (e.Type == core.EventRead || e.Type == core.EventBlocked):
				before[e.Turn] = append(before[e.Turn], r)
			}
		}
		q.After = rows[len(rows)-1].Seq
	}
}
