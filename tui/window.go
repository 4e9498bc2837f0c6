package tui

import (
	"slices"

	"gatehouse/core"
)

// Sizes of the window over the store.
const (
	pageSize   = 200  // rows of one read
	nearEdge   = 60   // rows left before the next page is asked for
	windowRows = 1200 // rows kept; the far end goes first
)

// window is a run of rows that stand next to each other in the store's order,
// the order of the screen. It knows no terminal and asks nothing: it says what
// it wants.
type window struct {
	rows         []row
	above, below bool // there is more in that direction
	at           int  // row under the cursor
	top          int  // first row drawn
	total        int  // rows that match, as last counted
	keep         bool // a range is open: nothing is dropped
}

func (w *window) cursor() (row, bool) {
	if w.at < 0 || w.at >= len(w.rows) {
		return row{}, false
	}
	return w.rows[w.at], true
}

func (w *window) index(id core.ActionID) int {
	return slices.IndexFunc(w.rows, func(r row) bool { return r.ID == id })
}

// move puts the cursor some rows on, and reports whether it moved.
func (w *window) move(by int) bool {
	to := min(max(w.at+by, 0), len(w.rows)-1)
	if to < 0 || to == w.at {
		return false
	}
	w.at = to
	return true
}

// wantsBelow and wantsAbove say that the cursor comes near an end that is not
// the end of the list.
func (w *window) wantsBelow() bool { return w.below && w.at >= len(w.rows)-nearEdge }

func (w *window) wantsAbove() bool { return w.above && w.at < nearEdge }

// replace shows other rows, with the cursor on a row of them.
func (w *window) replace(rows []row, above, below bool, at int) {
	screen := w.at - w.top
	w.rows, w.above, w.below = rows, above, below
	w.at = min(max(at, 0), max(len(rows)-1, 0))
	w.top = max(w.at-screen, 0)
}

// append adds the page behind the last row.
func (w *window) append(page []row, more bool) {
	w.rows = append(w.rows, page...)
	w.below = more
	if over := len(w.rows) - windowRows; over > 0 && !w.keep {
		over = min(over, w.top)
		w.rows = append([]row{}, w.rows[over:]...)
		w.at, w.top, w.above = w.at-over, w.top-over, w.above || over > 0
	}
}

// prepend adds the page in front of the first row, nearest row first.
func (w *window) prepend(page []row, more bool) {
	front := slices.Clone(page)
	slices.Reverse(front)
	w.rows = append(front, w.rows...)
	w.at, w.top, w.above = w.at+len(page), w.top+len(page), more
	if over := len(w.rows) - windowRows; over > 0 && !w.keep {
		keep := max(windowRows, w.at+nearEdge)
		if keep < len(w.rows) {
			w.rows, w.below = w.rows[:keep:keep], true
		}
	}
}

// scroll moves the top so that the cursor is drawn within a height, where
// groups take a line for their heading.
func (w *window) scroll(height int, grouped bool) {
	if w.at < w.top {
		w.top = w.at
	}
	w.top = min(max(w.top, 0), max(len(w.rows)-1, 0))
	for w.top < w.at && w.lines(w.top, w.at, grouped) > height {
		w.top++
	}
	// No empty lines below the last row while there are rows above.
	for w.top > 0 && w.lines(w.top-1, len(w.rows)-1, grouped) <= height {
		w.top--
	}
}

// lines counts the lines of rows from top to last, a heading for the first
// group included. It stops counting far beyond any screen.
func (w *window) lines(top, last int, grouped bool) int {
	if last-top > 1000 {
		return last - top
	}
	n := last - top + 1
	if !grouped || last < top {
		return n
	}
	n++
	for i := top + 1; i <= last; i++ {
		if w.rows[i].Place.Group != w.rows[i-1].Place.Group {
			n++
		}
	}
	return n
}

// between returns the rows from one id to another, in either direction.
func (w *window) between(a, b core.ActionID) []row {
	i, j := w.index(a), w.index(b)
	if i < 0 || j < 0 {
		return nil
	}
	if i > j {
		i, j = j, i
	}
	return w.rows[i : j+1]
}
