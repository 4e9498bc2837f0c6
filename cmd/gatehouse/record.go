package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gatehouse/core"
)

// recordFilter is what the flags of log pick.
type recordFilter struct {
	session string
	types   []string
	who     string
	subject string
	words   []string
	after   int64
	limit   int
	follow  bool
}

func (a *app) logCommand() *cobra.Command {
	var f recordFilter
	c := &cobra.Command{
		Use:   "log",
		Short: "Read the record: everything that happened, in order",
		Long: `Read the record: every read, refusal, queued action, decision, claim, outcome and
question is one row, chained to the row before. Rows hold ids, counts and
hashes, never content. log verify walks the whole chain.`,
		Example: `  gatehouse log --session site-refresh
  gatehouse log --type decision,outcome --json
  gatehouse log --type decisions --who alice
  gatehouse log --subject "action 12"
  gatehouse log --follow`,
		Args: a.subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.record(cmd.Context(), f) },
	}
	c.Flags().StringVarP(&f.session, "session", "s", "", "only of this `SESSION`")
	c.Flags().StringSliceVar(&f.types, "type", nil, "only of these `TYPES`, such as read, outcome; decisions is all that people decided")
	c.Flags().StringVar(&f.who, "who", "", "only by those whose name holds this `TEXT`")
	c.Flags().StringVar(&f.subject, "subject", "", "only about this `SUBJECT`, such as \"action 12\"")
	c.Flags().StringArrayVar(&f.words, "word", nil, "only rows that hold this `TEXT`; given twice, both")
	c.Flags().Int64Var(&f.after, "after", 0, "only rows behind this `NUMBER`")
	c.Flags().IntVarP(&f.limit, "limit", "n", 0, "at most this `MANY` rows; 0 is all")
	c.Flags().BoolVarP(&f.follow, "follow", "f", false, "go on with new rows until interrupted")
	c.AddCommand(a.verifyCommand(), a.anchorCommand())
	return c
}

// rowObject is what --json prints of a row of the record.
type rowObject struct {
	Seq       int64           `json:"seq"`
	At        *string         `json:"at"`
	Type      core.EventType  `json:"type"`
	Session   core.SessionID  `json:"session"`
	Turn      int             `json:"turn"`
	Actor     string          `json:"actor"`
	Authority string          `json:"authority"`
	Rule      string          `json:"rule"`
	Units     []core.Unit     `json:"units"`
	Digest    string          `json:"digest"`
	Subject   string          `json:"subject"`
	Detail    json.RawMessage `json:"detail"`
	Prev      core.Digest     `json:"prev"`
	Hash      core.Digest     `json:"hash"`
}

func objectOfRow(r core.Row) rowObject {
	e := r.Entry
	o := rowObject{
		r.Seq, jsonTime(e.At), e.Type, e.Session, e.Turn, e.Actor, e.Authority, e.Rule, list(e.Units), e.Digest, e.Subject, e.Detail, r.Prev, r.Hash,
	}
	if len(o.Detail) == 0 {
		o.Detail = json.RawMessage("{}")
	}
	return o
}

// followEvery is how often log --follow looks for new rows.
const followEvery = 300 * time.Millisecond

func (a *app) record(ctx context.Context, f recordFilter) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	if f.limit < 0 {
		return usage("give 0 for all", "--limit %d: negative", f.limit)
	}
	q := core.RecordQuery{After: f.after, Who: f.who, Subject: f.subject, Words: f.words}
	if q.Types, err = core.ParseEventTypes(f.types); err != nil {
		return usage("see gatehouse log --help", "--type: %s", err)
	}
	if err := p.named(f.session); err != nil {
		return err
	}
	if f.session != "" {
		if err := a.enter(ctx, p, f.session, core.RoleView); err != nil {
			return err
		}
		if q.Session, err = p.recordOf(ctx, f.session); err != nil {
			return err
		}
	}
	printed, err := a.printRecord(ctx, p, &q, f.limit)
	if err != nil || !f.follow {
		return err
	}
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for f.limit == 0 || printed < f.limit {
		if err := a.out.Flush(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		more, err := a.printRecord(ctx, p, &q, f.limit-printed)
		if err != nil {
			return err
		}
		printed += more
	}
	return nil
}

// recordOf names the session whose rows are asked for: the record of one that was
// removed stays.
func (p *parts) recordOf(ctx context.Context, ref string) (core.SessionID, error) {
	session, err := p.kernel.Session(ctx, ref)
	var removed *core.RemovedError
	if errors.As(err, &removed) {
		return removed.Session, nil
	}
	return session.ID, err
}

// printRecord prints the rows behind the query's place, moves the place, and
// says how many there were; a limit below 1 is none.
func (a *app) printRecord(ctx context.Context, p *parts, q *core.RecordQuery, limit int) (int, error) {
	const window = 500
	printed := 0
	for {
		q.Limit = window
		if limit > 0 {
			q.Limit = min(window, limit-printed)
		}
		rows, err := p.kernel.Record(ctx, *q)
		if err != nil {
			return printed, err
		}
		for _, row := range rows {
			if err := a.printRow(row); err != nil {
				return printed, err
			}
			q.After = row.Seq
			printed++
		}
		if len(rows) < q.Limit || printed == limit {
			return printed, nil
		}
	}
}

func (a *app) printRow(row core.Row) error {
	if a.json {
		return a.object(objectOfRow(row))
	}
	e := row.Entry
	words := []string{fmt.Sprintf("%5d  %s  %-8s", row.Seq, stamp(e.At), line(string(e.Type)))}
	add := func(name, value string) {
		if value != "" {
			words = append(words, name+line(value))
		}
	}
	add("", string(e.Session))
	if e.Turn > 0 {
		add("turn ", strconv.Itoa(e.Turn))
	}
	add("", e.Subject)
	add("by ", e.Actor)
	add("authority ", e.Authority)
	add("rule ", e.Rule)
	if len(e.Units) > 0 {
		add("units ", unitWords(e.Units))
	}
	add("", string(e.Detail))
	_, err := fmt.Fprintln(a.out, strings.Join(words, "  "))
	return err
}

// verificationObject is what --json prints of a check of the record or the file.
type verificationObject struct {
	OK       bool         `json:"ok"`
	Rows     int64        `json:"rows"`
	FirstBad *core.BadRow `json:"first_bad"`

	Anchor core.AnchorState `json:"anchor,omitempty"` // of log verify
}

// printVerification says how a check of the record ended: exit 1 where it is not as it was written.
func (a *app) printVerification(v core.Verification, whole string, broken func(core.BadRow) *fault) error {
	switch {
	case a.json:
		if err := a.object(verificationObject{v.OK(), v.Rows, v.FirstBad, v.Anchored.State}); err != nil || v.OK() {
			return err
		}
		return told(codeFailed)
	case v.OK():
		_, err := fmt.Fprintf(a.out, whole, count(int(v.Rows), "row"))
		return err
	default:
		return broken(*v.FirstBad)
	}
}
