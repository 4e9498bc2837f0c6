package core

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// Anchor is the newest row of a record as it is kept outside the file of the record, so that a file whose end was cut
// off, or which was written anew from some row on, is told from the one that it was (kernel R33).
type Anchor struct {
	Store string    `json:"store"` // id of the store, which stays when its file is moved
	Seq   int64     `json:"seq"`
	Hash  Digest    `json:"hash"`
	At    time.Time `json:"at"` // when it was put there
}

// Anchors keeps the anchor of one store. It lags behind the record by a second at most and never goes back by itself.
type Anchors interface {
	// Anchor reads it. ErrNotFound is that there is none; every other error that it cannot be made out.
	Anchor() (Anchor, error)
	// Reanchor puts the newest row in the place of whatever was anchored.
	Reanchor(ctx context.Context) error
}

// AnchorState says how a record stands to its anchor. The zero value is that nobody compared them.
type AnchorState string

// The states of an anchor.
const (
	AnchorMissing AnchorState = "missing" // there is none: nothing can be said
	AnchorBroken  AnchorState = "broken"  // it cannot be made out: nothing can be said
	AnchorHolds   AnchorState = "holds"   // its row is in the record as it was
	AnchorAhead   AnchorState = "ahead"   // the record ends before it: an older copy, or its end was cut off
	AnchorDiffers AnchorState = "differs" // its row is in the record and is another
)

// Anchored is a record held against its anchor.
type Anchored struct {
	State  AnchorState
	Anchor Anchor // zero where it is missing or broken
	Head   Head   // the newest row of the record
	Fault  string // why it is broken, one line
}

// MissingRows is how many rows the record lacks that the anchor has seen, at least.
func (a Anchored) MissingRows() int64 {
	if a.State != AnchorAhead {
		return 0
	}
	return a.Anchor.Seq - a.Head.Seq
}

// FirstBad names the first row that is not what the anchor has seen; nil where it has nothing against the record.
func (a Anchored) FirstBad() *BadRow {
	switch a.State {
	case AnchorAhead:
		return &BadRow{Seq: a.Head.Seq + 1, Reason: fmt.Sprintf("and what follows, up to row %d, is missing", a.Anchor.Seq)}
	case AnchorDiffers:
		return &BadRow{Seq: a.Anchor.Seq, Reason: "is not the row that was anchored outside the file"}
	default:
		return nil
	}
}

// CompareAnchor holds the end of a record whose chain is whole against an anchor; at is the hash of the record's row at
// the place of the anchor, and zero where the record ends before it.
func CompareAnchor(anchor Anchor, head Head, at Digest) AnchorState {
	switch {
	case head.Seq < anchor.Seq:
		return AnchorAhead
	case at != anchor.Hash:
		return AnchorDiffers
	default:
		return AnchorHolds
	}
}

// Anchored compares the end of the record with its anchor, without walking the record: VerifyRecord does both.
func (k *Kernel) Anchored(ctx context.Context) (Anchored, error) {
	kept := k.keptAnchor()
	err := k.store.Read(ctx, func(v View) error { return kept.compare(v) })
	return kept, err
}

// keptAnchor reads the anchor. It comes before the record is looked at: from then on the record only grows.
func (k *Kernel) keptAnchor() Anchored {
	if k.anchors == nil {
		return Anchored{State: AnchorMissing}
	}
	anchor, err := k.anchors.Anchor()
	switch {
	case errors.Is(err, ErrNotFound):
		return Anchored{State: AnchorMissing}
	case err != nil:
		return Anchored{State: AnchorBroken, Fault: cleanReason(err.Error())}
	}
	return Anchored{Anchor: anchor}
}

func (a *Anchored) compare(v recordView) error {
	newest, err := v.Rows(RecordQuery{Before: math.MaxInt64, Limit: 1})
	if err != nil {
		return err
	}
	for _, row := range newest {
		a.Head = Head{Seq: row.Seq, Hash: row.Hash}
	}
	if a.State != "" {
		return nil
	}
	var at Digest
	rows, err := v.Rows(RecordQuery{After: a.Anchor.Seq - 1, Before: a.Anchor.Seq + 1, Limit: 1})
	if err != nil {
		return err
	}
	for _, row := range rows {
		at = row.Hash
	}
	a.State = CompareAnchor(a.Anchor, a.Head, at)
	return nil
}

// AcceptAnchor makes the record as it is the truth: a person says that they restored a backup, or know why the anchor is
// gone (kernel R33, R34). What was accepted is a row of the record. A record whose own chain is broken is refused; one
// whose anchor holds is left as it is.
func (k *Kernel) AcceptAnchor(ctx context.Context, by Authority) (Anchored, error) {
	by, err := k.authorize(ctx, by)
	if err != nil {
		return Anchored{}, err
	}
	if k.anchors == nil {
		return Anchored{}, Invalid("anchor: none is kept for this store")
	}
	kept := k.keptAnchor()
	chain, err := k.verifyChain(ctx, &kept, func(int64, int64) {})
	switch {
	case err != nil:
		return kept, err
	case !chain.OK():
		return kept, fmt.Errorf("nothing was accepted: row %d of the record %s", chain.FirstBad.Seq, chain.FirstBad.Reason)
	case kept.State == AnchorHolds:
		return kept, nil
	}
	err = k.store.Write(ctx, func(tx Tx) error {
		return tx.Append(Entry{
			At: k.clock.Now(), Type: EventAnchor, Actor: string(by.Person), Authority: by.String(), Subject: "anchor",
			Digest: digestWords(kept.Anchor.Hash), Detail: detail(map[string]any{
				"was": kept.State, "anchored": kept.Anchor.Seq, "accepted": kept.Head.Seq, "missing": kept.MissingRows(), "hash": kept.Head.Hash,
			}),
		})
	})
	if err != nil {
		return kept, err
	}
	return kept, k.anchors.Reanchor(ctx)
}

// digestWords is a digest as a row names it; empty for none.
func digestWords(d Digest) string {
	if d == (Digest{}) {
		return ""
	}
	return d.String()
}

// verifyStep is how many rows are checked between two reports of progress.
const verifyStep = 2000

// VerifyRecord walks the whole record and names the first row that is not what was written, by its own chain and by the
// anchor that is kept outside the file (K62).
func (k *Kernel) VerifyRecord(ctx context.Context) (Verification, error) {
	return k.VerifyRecordWatched(ctx, func(int64, int64) {})
}

// VerifyRecordWatched is VerifyRecord that tells, now and then and on the caller's goroutine, how many of how many rows
// it has checked. It ends early with the error of a context that ends.
func (k *Kernel) VerifyRecordWatched(ctx context.Context, progress func(checked, all int64)) (Verification, error) {
	kept := k.keptAnchor()
	out, err := k.verifyChain(ctx, &kept, progress)
	if err != nil {
		return out, err
	}
	out.Anchored = kept
	if out.OK() {
		out.FirstBad = kept.FirstBad()
	}
	return out, nil
}

// verifyChain walks the record, and compares its end with an anchor over the same snapshot.
func (k *Kernel) verifyChain(ctx context.Context, kept *Anchored, progress func(checked, all int64)) (Verification, error) {
	var out Verification
	err := k.store.Read(ctx, func(v View) error {
		unread := kept.compare(v) // a row that cannot be made out is one that the chain names
		var verifier Verifier
		checked := int64(0)
		head, err := v.EachRow(func(seq int64, blob []byte, prev, hash Digest) error {
			verifier.Add(seq, blob, prev, hash)
			if checked++; checked%verifyStep == 0 {
				progress(checked, kept.Head.Seq)
				return ctx.Err()
			}
			return nil
		})
		if err != nil {
			return err
		}
		if out = verifier.Finish(head); out.OK() {
			return unread
		}
		return nil
	})
	return out, err
}
