package files

import (
	"maps"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"gatehouse/core"
)

// pendingChange is what pending actions change at a path, against the disk.
type pendingChange struct {
	Path    string          `json:"path"`
	Change  string          `json:"change"` // added, modified, deleted or moved here
	Actions []core.ActionID `json:"actions"`

	full string
	old  item // on disk at this path
	now  item
}

// changes walks what the effects put into the tree, and nothing else, in order of paths.
func (q *question) changes() ([]pendingChange, []core.ActionID, error) {
	list := []pendingChange{}
	if err := q.changesBelow(q.tree.top, "", &list); err != nil {
		return nil, nil, err
	}
	var acts []core.ActionID
	for _, c := range list {
		acts = merge(acts, c.Actions)
	}
	return list, acts, nil
}

func (q *question) changesBelow(n *node, at string, list *[]pendingChange) error {
	for _, name := range slices.Sorted(maps.Keys(n.over)) {
		full := join(at, name)
		if !isBelow(full, q.full) && !isBelow(q.full, full) {
			continue
		}
		child := n.over[name]
		if len(child.acts) > 0 && isBelow(full, q.full) {
			if err := q.change(full, list); err != nil {
				return err
			}
		}
		if err := q.changesBelow(child, full, list); err != nil {
			return err
		}
	}
	return nil
}

// change compares a path of the tree with the disk.
func (q *question) change(full string, list *[]pendingChange) error {
	now, err := q.tree.at(full)
	if err != nil {
		return err
	}
	old, err := newTree(q.r.disk).at(full)
	if err != nil {
		return err
	}
	c := pendingChange{Path: q.r.show(full), Actions: now.acts, full: full, old: old, now: now}
	switch {
	case !old.exists() && !now.exists():
		return nil
	case !old.exists() && now.onDisk:
		c.Change = "moved here"
	case !old.exists():
		c.Change = "added"
	case !now.exists():
		c.Change = "deleted"
	default:
		c.Change = "modified"
	}
	*list = append(*list, c)
	return nil
}

// pendingDiff shows the pending changes as git would show them.
func (q *question) pendingDiff() (string, []core.ActionID, error) {
	changes, acts, err := q.changes()
	if err != nil {
		return "", nil, err
	}
	var b strings.Builder
	for _, c := range changes {
		text, err := q.diffOf(c)
		if err != nil {
			return "", nil, err
		}
		b.WriteString(text)
		if b.Len() > maxGitOutput {
			return "", nil, &core.CallError{Code: core.CodeTooLarge, Text: "diff: the pending changes are larger than 4 MiB; give a path to narrow it"}
		}
	}
	return b.String(), acts, nil
}

func (q *question) diffOf(c pendingChange) (string, error) {
	switch {
	case c.old.kind == kindFolder && !c.now.exists():
		return pendingNote("deleted folder %s", quote(c.Path)), nil
	case c.now.kind == kindFolder && c.Change == "moved here":
		return q.moved(c), nil
	case c.now.kind == kindFolder:
		return pendingNote("new folder %s", quote(c.Path)), nil
	case c.now.kind == kindFile && c.Change == "moved here":
		return q.moved(c), nil
	}
	before, beforeText, err := q.side(newTree(q.r.disk), c.old)
	if err != nil {
		return "", err
	}
	after, afterText, err := q.side(q.tree, c.now)
	if err != nil {
		return "", err
	}
	if !beforeText || !afterText {
		return pendingNote("Binary files a/%s and b/%s differ", quote(c.Path), quote(c.Path)), nil
	}
	oldName, newName := "a/"+quote(c.Path), "b/"+quote(c.Path)
	if !c.old.exists() {
		oldName = "/dev/null"
	}
	if !c.now.exists() {
		newName = "/dev/null"
	}
	return udiff.Unified(oldName, newName, before, after), nil
}

// moved names where something came from, if that is within the binding.
func (q *question) moved(c pendingChange) string {
	if from := q.r.show(c.now.disk); isBelow(c.now.disk, q.r.sub) {
		return pendingNote("move from %s", quote(from)) + pendingNote("move to %s", quote(c.Path))
	}
	return pendingNote("moved here %s", quote(c.Path))
}

// side is one side of a diff; false where it is no text of at most 1 MiB.
func (q *question) side(t *tree, it item) (text string, isOne bool, err error) {
	if !it.exists() {
		return "", true, nil
	}
	if it.kind != kindFile || it.size() > maxWrite {
		return "", false, nil
	}
	data, err := t.read(it, maxWrite)
	if err != nil || !isText(data) {
		return "", false, err
	}
	return string(data), true, nil
}
