package share

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"gatehouse/core"
)

// pieceLimit is how many bytes one piece may have: more than any answer that was ever released.
const pieceLimit = 32 << 20

// PieceWriter writes pieces as content.
type PieceWriter struct {
	w     io.Writer
	order order
}

// NewPieceWriter writes to what takes the content of a file.
func NewPieceWriter(w io.Writer) *PieceWriter { return &PieceWriter{w: w} }

// Write writes one piece. Pieces out of order are refused here as they are when read.
func (p *PieceWriter) Write(piece core.Piece) error {
	if err := p.order.next(piece); err != nil {
		return err
	}
	raw, err := encodeExact(piece)
	if err != nil {
		return fmt.Errorf("%s: %w", placeOf(piece), err)
	}
	if len(raw) > pieceLimit {
		return core.Invalid("%s: %d bytes, %d at most travel in one piece", placeOf(piece), len(raw), pieceLimit)
	}
	if _, err := p.w.Write(binary.BigEndian.AppendUint32(nil, uint32(len(raw)))); err != nil {
		return err
	}
	_, err = p.w.Write(raw)
	return err
}

// Pieces reads content piece by piece, each strictly: unknown members, other spellings, a wrong order and anything twice
// are refused. It holds one piece at a time. Want is how many there are.
func Pieces(r io.Reader, want int, each func(core.Piece) error) error {
	var o order
	count := 0
	for {
		var head [4]byte
		switch _, err := io.ReadFull(r, head[:]); {
		case errors.Is(err, io.EOF):
			if count != want || count == 0 {
				return invalid("%d pieces, its manifest says %d", count, want)
			}
			return nil
		case err != nil:
			return damaged(err, "it ends within a piece")
		}
		piece, err := readPiece(r, binary.BigEndian.Uint32(head[:]))
		if err != nil {
			return err
		}
		if err := o.next(piece); err != nil {
			return err
		}
		if count++; count > want {
			return invalid("more pieces than the %d of its manifest", want)
		}
		if err := each(piece); err != nil {
			return err
		}
	}
}

func readPiece(r io.Reader, size uint32) (core.Piece, error) {
	if size == 0 || size > pieceLimit {
		return core.Piece{}, invalid("a piece of %d bytes, 1 to %d are possible", size, pieceLimit)
	}
	// Grown as it comes: a length alone costs nothing.
	raw, err := io.ReadAll(io.LimitReader(r, int64(size)))
	if err != nil {
		return core.Piece{}, damaged(err, "it ends within a piece")
	}
	if len(raw) != int(size) {
		return core.Piece{}, invalid("it ends within a piece")
	}
	var piece core.Piece
	if err := decodeExact(raw, &piece); err != nil {
		return core.Piece{}, invalid("a piece is not what it should be: %s", err)
	}
	return piece, nil
}

// damaged keeps a fault of the file as it is, and makes one of every other.
func damaged(err error, words string) error {
	var already *InvalidError
	if errors.As(err, &already) {
		return err
	}
	return invalid("%s", words)
}

// order holds pieces to the order of Piece and so finds what is there twice, in memory that does not grow.
type order struct {
	begun    bool
	turn     int
	step     int
	answer   int // of the calls of the step
	calls    []core.ToolCall
	hole     bool // nothing but holes follows
	proposal int
}

func (o *order) next(p core.Piece) error {
	if n := members(p); n != 1 {
		return invalid("a piece with %d members", n)
	}
	if p.Session == nil && !o.begun {
		return invalid("a piece before that of the session")
	}
	switch {
	case p.Session != nil:
		if o.begun {
			return invalid("two sessions in one file")
		}
		o.begun = true
		return nil
	case p.Proposal != nil:
		return o.proposed(*p.Proposal)
	case o.proposal > 0:
		return invalid("a proposal before the end of the transcript")
	case p.Turn != nil:
		return o.turned(*p.Turn)
	case p.Hole != nil:
		if p.Hole.Turn != o.turn || p.Hole.Step <= o.step {
			return invalid("a hole out of order")
		}
		o.hole, o.step, o.calls = true, p.Hole.Step, nil
		return nil
	case o.hole:
		return invalid("something behind a hole")
	case p.Message != nil:
		m := *p.Message
		if m.Turn != o.turn || m.Turn == 0 || m.Step != o.step+1 {
			return invalid("a message out of order")
		}
		return dated(m.At)
	case p.Step != nil:
		return o.stepped(*p.Step)
	default:
		return o.answered(*p.Answer)
	}
}

func (o *order) turned(t core.SharedTurn) error {
	if t.Number != o.turn+1 {
		return invalid("turn %d behind turn %d", t.Number, o.turn)
	}
	if t.State != core.TurnDone && t.State != core.TurnFailed {
		return invalid("turn %d: has state %q, which nothing in a file has", t.Number, t.State)
	}
	o.turn, o.step, o.calls = t.Number, 0, nil
	if err := dated(t.StartedAt); err != nil {
		return err
	}
	return dated(t.UpdatedAt)
}

func (o *order) stepped(s core.SharedStep) error {
	if s.Turn != o.turn || s.Turn == 0 || s.Number != o.step+1 {
		return invalid("step %d of turn %d out of order", s.Number, s.Turn)
	}
	for i, c := range s.Calls {
		if c.ID != CallID(i) {
			return invalid("step %d of turn %d: call with the id %q", s.Number, s.Turn, c.ID)
		}
	}
	o.step, o.answer, o.calls = s.Number, 0, s.Calls
	return dated(s.At)
}

func (o *order) answered(a core.SharedAnswer) error {
	if a.Turn != o.turn || a.Step != o.step {
		return invalid("an answer out of order")
	}
	for ; o.answer < len(o.calls); o.answer++ {
		if o.calls[o.answer].ID == a.Call {
			o.answer++
			if len(a.Body) == 0 || !json.Valid(a.Body) {
				return invalid("an answer that is none")
			}
			return nil
		}
	}
	return invalid("an answer to a call that is not there, or was answered")
}

func (o *order) proposed(p core.Proposal) error {
	if p.Number != o.proposal+1 {
		return invalid("proposal %d behind proposal %d", p.Number, o.proposal)
	}
	o.proposal = p.Number
	return dated(p.CreatedAt)
}

// CallID is the id of the i-th call of a step in a file.
func CallID(i int) string { return fmt.Sprintf("call-%d", i+1) }

// dated refuses times that no store can keep.
func dated(t time.Time) error {
	if t.Year() < 1970 || t.Year() > 2200 {
		return invalid("a time that is none")
	}
	return nil
}

func members(p core.Piece) int {
	n := 0
	for _, set := range []bool{
		p.Session != nil, p.Turn != nil, p.Message != nil, p.Step != nil, p.Answer != nil, p.Hole != nil, p.Proposal != nil,
	} {
		if set {
			n++
		}
	}
	return n
}

// placeOf names a piece for a person.
func placeOf(p core.Piece) string {
	switch {
	case p.Session != nil:
		return "session"
	case p.Turn != nil:
		return fmt.Sprintf("turn %d", p.Turn.Number)
	case p.Message != nil:
		return fmt.Sprintf("turn %d, step %d, message", p.Message.Turn, p.Message.Step)
	case p.Step != nil:
		return fmt.Sprintf("turn %d, step %d", p.Step.Turn, p.Step.Number)
	case p.Answer != nil:
		return fmt.Sprintf("turn %d, step %d, %s", p.Answer.Turn, p.Answer.Step, p.Answer.Call)
	case p.Proposal != nil:
		return fmt.Sprintf("proposal %d", p.Proposal.Number)
	default:
		return "hole"
	}
}
