package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"gatehouse/core"
)

// The action kinds, named like the operations.
const (
	opWrite  = "write"
	opEdit   = "edit"
	opMove   = "move"
	opDelete = "delete"
	opMkdir  = "mkdir"
)

// maxWrite is how much a write or an edit may leave in a file.
const maxWrite = 1 << 20

// payload is what Apply and replay need of an action. Paths are relative to the connection root.
type payload struct {
	Resource   string      `json:"resource"`       // the key it was made for; it means nothing elsewhere (K59)
	Path       string      `json:"path,omitempty"` // of all kinds but move
	From       string      `json:"from,omitempty"`
	To         string      `json:"to,omitempty"`
	Content    []byte      `json:"content,omitempty"` // write
	Old        string      `json:"old,omitempty"`     // edit
	New        string      `json:"new,omitempty"`
	Mode       fs.FileMode `json:"mode,omitempty"`        // what the file, or the folder made, will have
	Parents    []string    `json:"parents,omitempty"`     // folders made on the way, outermost first
	FolderMode fs.FileMode `json:"folder_mode,omitempty"` // what they will have
	Folder     bool        `json:"folder,omitempty"`      // a folder is moved or deleted
	// Touched lists, below a folder that is moved or deleted, what earlier actions leave there: compared by content.
	Touched []string `json:"touched,omitempty"`
	// Unmake is the outermost of the folders that go once what is moved has left them, with what Touched is for it.
	Unmake        string   `json:"unmake,omitempty"`
	UnmakeTouched []string `json:"unmake_touched,omitempty"`
	Kept          *kept    `json:"kept,omitempty"` // restore
}

// paths lists what an action acts on, the parents it makes aside.
func (p payload) paths(kind string) []string {
	if kind == opMove {
		return []string{p.From, p.To}
	}
	return []string{p.Path}
}

// others lists what an action makes or removes besides.
func (p payload) others() []string {
	if p.Unmake == "" {
		return p.Parents
	}
	return append(slices.Clone(p.Parents), p.Unmake)
}

func decodePayload(raw json.RawMessage) (payload, error) {
	var p payload
	if err := json.Unmarshal(raw, &p); err != nil {
		return p, fmt.Errorf("payload of a file action: %w", err)
	}
	return p, nil
}

// replay lays the effects of a journal over the tree. It stops at the first that does not fit what is there: what comes
// later was made on top of it (kernel R16).
func (t *tree) replay(j core.Journal) {
	t.gaps = append(t.gaps, j.Gaps...)
	for i, e := range j.Effects {
		if err := t.lay(e); err != nil {
			t.gaps = append(t.gaps, core.Gap{Action: e.Action, Reason: "does not fit what is there now: " + misfit(err)})
			for _, later := range j.Effects[i+1:] {
				t.gaps = append(t.gaps, core.Gap{Action: later.Action, Reason: fmt.Sprintf("behind action %d", e.Action)})
			}
			return
		}
		t.kinds[e.Action] = e.Kind
	}
}

// errMisfit carries a reason that names no path: a wider binding's effect may lie outside this one.
type errMisfit string

func (e errMisfit) Error() string { return string(e) }

func misfit(err error) string {
	var m errMisfit
	if errors.As(err, &m) {
		return string(m)
	}
	for _, answer := range []error{errAbsent, errLink, errNotFolder, errNotFile, errTooLarge} {
		if errors.Is(err, answer) {
			return answer.Error()
		}
	}
	return "the disk could not be read"
}

func (t *tree) lay(e core.Effect) error {
	p, err := decodePayload(e.Payload)
	if err != nil {
		return errMisfit("its payload cannot be read")
	}
	if p.Resource != t.key {
		return errMisfit("it was made for another folder")
	}
	switch e.Kind {
	case opWrite:
		return t.layWrite(e, p)
	case opEdit:
		return t.layEdit(e, p)
	case opMove:
		return t.layMove(e, p)
	case opDelete:
		return t.layDelete(e, p)
	case opMkdir:
		return t.layMkdir(e, p)
	case opRestore:
		return t.layRestore(e, p)
	default:
		return errMisfit("its kind is not known")
	}
}

func (t *tree) layWrite(e core.Effect, p payload) error {
	old, err := t.at(p.Path)
	if err != nil {
		return err
	}
	maker := old.maker
	switch old.kind {
	case kindFile:
	case kindAbsent:
		maker = e.Action
	default:
		return errMisfit("something that is no file stands in its place")
	}
	if err := t.makeParents(e, p); err != nil {
		return err
	}
	acts := merge(old.acts, []core.ActionID{e.Action})
	return t.put(p.Path, &node{kind: kindFile, content: p.Content, mode: p.Mode, at: e.CreatedAt, maker: maker, acts: acts})
}

func (t *tree) layEdit(e core.Effect, p payload) error {
	old, err := t.at(p.Path)
	if err != nil {
		return err
	}
	if !old.exists() {
		return errMisfit("its file is not there")
	}
	data, err := t.read(old, maxWrite)
	if err != nil {
		return err
	}
	edited, count := replaceOnce(string(data), p.Old, p.New)
	if count != 1 {
		return errMisfit("the text to replace is not there exactly once")
	}
	acts := merge(old.acts, []core.ActionID{e.Action})
	return t.put(p.Path, &node{kind: kindFile, content: []byte(edited), mode: old.perm(), at: e.CreatedAt, maker: old.maker, acts: acts})
}

func (t *tree) layMove(e core.Effect, p payload) error {
	src, err := t.at(p.From)
	if err != nil {
		return err
	}
	dst, err := t.at(p.To)
	if err != nil {
		return err
	}
	if !src.exists() {
		return errMisfit("what it moves is not there")
	}
	if dst.exists() {
		return errMisfit("something stands where it moves to")
	}
	if err := t.makeParents(e, p); err != nil {
		return err
	}
	moved := t.detach(p.From, src)
	moved.maker, moved.moved = e.Action, true
	moved.acts = merge(src.acts, append([]core.ActionID{e.Action}, dst.acts...))
	if err := t.put(p.From, &node{acts: moved.acts}); err != nil {
		return err
	}
	if err := t.put(p.To, moved); err != nil || p.Unmake == "" {
		return err
	}
	return t.put(p.Unmake, &node{acts: moved.acts})
}

func (t *tree) layDelete(e core.Effect, p payload) error {
	old, err := t.at(p.Path)
	if err != nil {
		return err
	}
	if !old.exists() {
		return errMisfit("what it deletes is not there")
	}
	return t.put(p.Path, &node{acts: merge(old.acts, []core.ActionID{e.Action})})
}

func (t *tree) layMkdir(e core.Effect, p payload) error {
	old, err := t.at(p.Path)
	if err != nil {
		return err
	}
	if old.exists() {
		return errMisfit("something stands in its place")
	}
	if err := t.makeParents(e, p); err != nil {
		return err
	}
	acts := merge(old.acts, []core.ActionID{e.Action})
	return t.put(p.Path, &node{kind: kindFolder, mode: p.Mode, at: e.CreatedAt, maker: e.Action, acts: acts})
}

// makeParents puts the folders that an effect makes on its way; one that is there meanwhile will do.
func (t *tree) makeParents(e core.Effect, p payload) error {
	for _, parent := range p.Parents {
		old, err := t.at(parent)
		if err != nil {
			return err
		}
		switch old.kind {
		case kindFolder:
			continue
		case kindAbsent:
		default:
			return errMisfit("something that is no folder stands where a folder is to be made")
		}
		acts := merge(old.acts, []core.ActionID{e.Action})
		n := &node{kind: kindFolder, mode: p.FolderMode, at: e.CreatedAt, maker: e.Action, acts: acts}
		if err := t.put(parent, n); err != nil {
			return err
		}
	}
	return nil
}

// replaceOnce replaces the only occurrence of old. Occurrences that overlap count as several: which of them is meant
// is as unclear.
func replaceOnce(s, old, with string) (replaced string, count int) {
	first := strings.Index(s, old)
	if first < 0 || old == "" {
		return s, 0
	}
	if second := strings.Index(s[first+1:], old); second >= 0 {
		return s, 2
	}
	return s[:first] + with + s[first+len(old):], 1
}
