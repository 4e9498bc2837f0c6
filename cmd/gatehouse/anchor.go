package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"gatehouse/core"
)

const acceptAnchor = "gatehouse log anchor --accept"

func (a *app) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Check that no row was changed, removed or moved",
		Long: `Walk the whole record and check that no row was changed, removed, moved or cut off
at the end, and that it goes on from the row that is anchored outside the file.
The first bad row is named, and the exit code is 1.`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.recordVerify(cmd.Context()) },
	}
}

func (a *app) anchorCommand() *cobra.Command {
	var accept bool
	c := &cobra.Command{
		Use:   "anchor",
		Short: "Show the row of the record that is kept outside the file",
		Long: `The newest row of the record is also kept in a small file outside the store, so
that a file whose end was cut off, or that was written anew, is found. It follows
the record within a second and never goes back by itself. After you restored a
backup, the record ends before its anchor: --accept says that this is known, and
takes the record as it is. That is a decision, and a row of the record.`,
		Example: `  gatehouse log anchor
  gatehouse log anchor --accept`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if accept {
				return a.anchorAccept(cmd.Context())
			}
			return a.anchorShow(cmd.Context())
		},
	}
	c.Flags().BoolVar(&accept, "accept", false, "take the record as it is for the truth")
	return c
}

// anchorObject is what --json prints of an anchor and of the end of the record.
type anchorObject struct {
	State  core.AnchorState `json:"state"`
	Store  string           `json:"store"`
	File   string           `json:"file"`
	Seq    int64            `json:"seq"`
	Hash   string           `json:"hash"`
	At     *string          `json:"at"`
	Rows   int64            `json:"rows"`
	Head   string           `json:"head"`
	Behind int64            `json:"missing"`
	Fault  string           `json:"fault"`
}

func (a *app) anchorObject(ctx context.Context, p *parts, kept core.Anchored) (anchorObject, error) {
	id, err := p.store.ID(ctx)
	if err != nil {
		return anchorObject{}, err
	}
	file, err := p.store.AnchorPath(ctx)
	o := anchorObject{
		State: kept.State, Store: id, File: file, Seq: kept.Anchor.Seq, At: jsonTime(kept.Anchor.At), Rows: kept.Head.Seq,
		Behind: kept.MissingRows(), Fault: kept.Fault,
	}
	if kept.Anchor.Seq > 0 {
		o.Hash = kept.Anchor.Hash.String()
	}
	if kept.Head.Seq > 0 {
		o.Head = kept.Head.Hash.String()
	}
	return o, err
}

func (a *app) anchorShow(ctx context.Context) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	kept, err := p.kernel.Anchored(ctx)
	if err != nil {
		return err
	}
	o, err := a.anchorObject(ctx, p, kept)
	if err != nil {
		return err
	}
	if a.json {
		return a.object(o)
	}
	row := func(seq int64, hash string) string {
		if seq == 0 {
			return "none"
		}
		return fmt.Sprintf("row %d, %s", seq, hash)
	}
	anchored := row(o.Seq, o.Hash)
	if o.Seq > 0 {
		anchored += ", " + stamp(kept.Anchor.At)
	}
	return pairs(
		a.out, "",
		[2]string{"record", row(o.Rows, o.Head)},
		[2]string{"anchor", anchored},
		[2]string{"file", o.File},
		[2]string{"store", o.Store},
		[2]string{"state", anchorWords(kept)},
	)
}

func (a *app) anchorAccept(ctx context.Context) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	before, err := p.kernel.AcceptAnchor(ctx, a.authority(p))
	if err != nil {
		return err
	}
	if before.State == core.AnchorHolds {
		a.say("nothing to accept: %s", anchorWords(before))
	} else {
		a.say("accepted: the record as it is up to row %d; before, %s", before.Head.Seq, anchorWords(before))
	}
	return a.anchorShow(ctx)
}

// anchorWords says in one line how the record stands to its anchor.
func anchorWords(kept core.Anchored) string {
	switch kept.State {
	case core.AnchorHolds:
		return fmt.Sprintf("the record goes on from row %d, which is anchored outside the file", kept.Anchor.Seq)
	case core.AnchorBroken:
		return "the anchor outside the file cannot be read (" + kept.Fault + "); make it new with " + acceptAnchor
	case core.AnchorAhead, core.AnchorDiffers:
		f := anchorFault(kept)
		return f.message + "; " + f.hint
	default:
		return "no row of the record is anchored outside the file; the next one written will be"
	}
}

// anchorFault is what is wrong with a record that does not go on from its anchor.
func anchorFault(kept core.Anchored) *fault {
	if kept.State == core.AnchorAhead {
		return &fault{
			code: codeFailed, message: "an older copy: " + missingWords(kept.MissingRows()),
			hint: "if you restored a backup, run " + acceptAnchor,
		}
	}
	bad := kept.FirstBad()
	return &fault{
		code: codeFailed, message: fmt.Sprintf("the record was changed: row %d %s", bad.Seq, bad.Reason),
		hint: "compare with a backup; if this is a backup that was gone on with, run " + acceptAnchor,
	}
}

func missingWords(n int64) string {
	if n == 1 {
		return "1 row is missing"
	}
	return fmt.Sprintf("%d rows are missing", n)
}

func (a *app) recordVerify(ctx context.Context) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	v, err := p.kernel.VerifyRecord(ctx)
	if err != nil {
		return err
	}
	err = a.printVerification(v, "the record is whole: %s\n", func(bad core.BadRow) *fault {
		if v.Anchored.FirstBad() != nil {
			return anchorFault(v.Anchored)
		}
		return &fault{
			code: codeFailed, message: fmt.Sprintf("the record was changed: row %d %s", bad.Seq, bad.Reason),
			hint: "compare with a backup; rows before it are as they were written",
		}
	})
	if err != nil || a.json || v.Anchored.State == "" {
		return err
	}
	_, err = fmt.Fprintln(a.out, line(anchorWords(v.Anchored)))
	return err
}

// anchorCheck is the doctor's line about the anchor.
func (a *app) anchorCheck(ctx context.Context, p *parts) check {
	kept, err := p.kernel.Anchored(ctx)
	if err != nil {
		return a.badCheck(ctx, "anchor", err)
	}
	c := check{"anchor", checkOK, anchorWords(kept), ""}
	switch kept.State {
	case core.AnchorAhead, core.AnchorDiffers:
		f := anchorFault(kept)
		c.State, c.Detail, c.Hint = checkBad, f.message, f.hint
	case core.AnchorBroken:
		c.State = checkNote
	}
	err = unix.Access(anchorDir(), unix.W_OK)
	if c.State != checkBad && err != nil && !errors.Is(err, unix.ENOENT) {
		c.State, c.Hint = checkNote, "it falls behind, for "+anchorDir()+" cannot be written"
	}
	return c
}
