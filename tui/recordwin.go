package tui

import (
	"cmp"
	"slices"
)

// recordWindow is a run of rows of the record that match, newest first. It
// knows no terminal and asks nothing.
type recordWindow struct {
	rows  []recordRow
	above int64 // newer rows were looked at up to this place
	upTo  int64 // the newest place that the list is about
	below int64 // older rows were looked at down to this place; 1 is all of them
	at    int   // row under the cursor
	top   int   // first row drawn
}

func (w *recordWindow) moreAbove() bool { return w.above < w.upTo }
func (w *recordWindow) moreBelow() bool { return w.below > 1 }

func (w *recordWindow) cursor() (recordRow, bool) {
	if w.at < 0 || w.at >= len(w.rows) {
		return recordRow{}, false
	}
	return w.rows[w.at], true
}

// first says that the cursor is on the newest row, or that there is none.
func (w *recordWindow) first() bool { return w.at == 0 && !w.moreAbove() }

// move puts the cursor some rows on, and reports whether it moved.
func (w *recordWindow) move(by int) bool {
	to := min(max(w.at+by, 0), len(w.rows)-1)
	if to < 0 || to == w.at {
		return false
	}
	w.at = to
	return true
}

func (w *recordWindow) wantsBelow() bool { return w.moreBelow() && w.at >= len(w.rows)-nearEdge }

func (w *recordWindow) wantsAbove() bool { return w.moreAbove() && w.at < nearEdge }

// append adds the page of older rows; what is far above is let go.
func (w *recordWindow) append(page []recordRow, below int64) {
	w.rows = append(w.rows, page...)
	w.below = below
	if over := min(len(w.rows)-windowRows, w.top); over > 0 {
		w.rows = slices.Clone(w.rows[over:])
		w.at, w.top, w.above = w.at-over, w.top-over, w.rows[0].seq
	}
}

// prepend adds the page of newer rows, newest first; what is far below is let
// go. The cursor stays on its row.
func (w *recordWindow) prepend(page []recordRow, above int64) {
	w.rows = append(slices.Clone(page), w.rows...)
	w.at, w.top, w.above = w.at+len(page), w.top+len(page), above
	if keep := max(windowRows, w.at+nearEdge); keep < len(w.rows) {
		w.rows, w.below = w.rows[:keep:keep], w.rows[keep-1].seq
	}
}

// index finds a row by its number, or the one that stands where it would.
func (w *recordWindow) index(seq int64) int {
	i, _ := slices.BinarySearchFunc(w.rows, seq, func(r recordRow, seq int64) int { return cmp.Compare(seq, r.seq) })
	return min(i, max(len(w.rows)-1, 0))
}

// scroll moves the top so that the cursor is drawn within a height, without
// empty lines below while there are rows above.
func (w *recordWindow) scroll(height int) {
	if w.at < w.top {
		w.top = w.at
	}
	w.top = max(w.top, w.at-height+1)
	w.top = max(min(w.top, len(w.rows)-height), 0)
}
