package skills

import (
	"time"

	"github.com/aymanbagabas/go-udiff"

	"gatehouse/core/text"
)

// Use is the last time that somebody used a skill.
type Use struct {
	Account AccountID
	Ref     Ref
	SHA256  string
	At      time.Time
	Text    string // the skill as it was then
}

// Change says how a skill stands to what somebody used last.
type Change struct {
	First   bool      // this operator never used it
	Changed bool      // it is not what this operator used last
	Since   time.Time // of the last use
	Diff    string    // cleaned; empty unless changed
}

// ChangeSince compares a document with an operator's last use of it; nil is
// none. A use of something else counts as none.
func ChangeSince(last *Use, account AccountID, d Document) Change {
	if last == nil || last.Account != account || last.Ref != d.Ref {
		return Change{First: true}
	}
	change := Change{Since: last.At, Changed: last.SHA256 != d.SHA256}
	if change.Changed {
		diff := udiff.Unified("when last used", "now", last.Text, string(d.Bytes))
		change.Diff, _ = text.CleanBlock(diff)
	}
	return change
}
