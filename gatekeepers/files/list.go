package files

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"gatehouse/core"
)

// pageEntries is how many entries a page of a list has.
const pageEntries = 1000

type listValue struct {
	Entries []entry `json:"entries"`
	Next    string  `json:"next,omitempty"`
}

type entry struct {
	Name string `json:"name"`
	Kind kind   `json:"kind"`
	Size int64  `json:"size"`
	Note string `json:"note,omitempty"`
}

func (q *question) list() (core.Fetched, error) {
	it, err := q.existing()
	if err != nil {
		return core.Fetched{}, err
	}
	if it.kind == kindLink {
		return core.Fetched{}, errLink
	}
	if it.kind != kindFolder {
		return core.Fetched{}, errNotFolder
	}
	from, err := q.cursor(it)
	if err != nil {
		return core.Fetched{}, err
	}
	children, acts, more, err := q.tree.children(q.ctx, it, from.After, q.page())
	if err != nil {
		return core.Fetched{}, err
	}
	value := listValue{Entries: make([]entry, 0, len(children))}
	for _, c := range children {
		value.Entries = append(value.Entries, entryOf(c))
	}
	if more {
		value.Next = cursor{Folder: q.full, After: children[len(children)-1].name, State: q.state(it)}.String()
	}
	return q.answer(value, merge(acts, it.acts))
}

func (q *question) page() int {
	if page := q.r.driver.hooks.page; page != nil {
		return page(q.args.Path)
	}
	return pageEntries
}

func entryOf(c child) entry {
	e := entry{Name: c.name, Kind: c.item.kind, Size: c.item.size()}
	if !utf8.ValidString(c.name) {
		e.Name = toUTF8(c.name)
		e.Note = "the name is not UTF-8 and cannot be used in a path"
	}
	return e
}

// cursor says where a list or a search goes on. It holds all there is to know; nothing is kept between two pages.
type cursor struct {
	Folder string `json:"f,omitempty"` // listed or searched, for a list that is asked about another one
	After  string `json:"a,omitempty"` // last name of a list, last path of a search
	Raw    []byte `json:"r,omitempty"` // After, where it is not UTF-8
	Query  string `json:"q,omitempty"`
	Line   int    `json:"l,omitempty"` // lines of After that were searched
	Offset int64  `json:"o,omitempty"` // bytes of After that were searched
	State  string `json:"s"`
}

func (c cursor) String() string {
	if !utf8.ValidString(c.After) {
		c.Raw, c.After = []byte(c.After), ""
	}
	raw, err := json.Marshal(c)
	if err != nil {
		panic("files: a cursor that is not JSON: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

func parseCursor(s string) (cursor, error) {
	var c cursor
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil || c.Line < 0 || c.Offset < 0 {
		return cursor{}, core.Invalid("cursor: not one of this folder; leave it out to begin again")
	}
	if len(c.Raw) > 0 {
		c.After = string(c.Raw)
	}
	return c, nil
}

func errListChanged() error {
	return &core.CallError{Code: core.CodeListChanged, Text: "list changed since the page before; begin again without a cursor"}
}

// cursor reads where the call goes on, and refuses to where the list moved meanwhile. A call without one begins.
func (q *question) cursor(it item) (cursor, error) {
	if q.args.Cursor == "" {
		return cursor{}, nil
	}
	c, err := parseCursor(q.args.Cursor)
	if err != nil {
		return c, err
	}
	if c.Folder != q.full || c.Query != q.args.Query {
		return c, core.Invalid("cursor: belongs to another path or query; leave it out to begin again")
	}
	if c.Query == "" && c.State != q.state(it) {
		return c, errListChanged()
	}
	return c, nil
}

// state is what a list depends on: the time of the folder and the actions below it.
func (q *question) state(folder item) string {
	h := sha256.New()
	if folder.exists() {
		fmt.Fprintf(h, "%d %s\n", folder.modified().UnixNano(), folder.disk)
	}
	for _, e := range q.journal.Effects {
		fmt.Fprintf(h, "%d %x\n", e.Action, sha256.Sum256(e.Payload))
	}
	for _, gap := range q.journal.Gaps {
		fmt.Fprintf(h, "%d %s\n", gap.Action, gap.Reason)
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}
