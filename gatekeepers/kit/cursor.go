package kit

import (
	"encoding/base64"
	"encoding/json"

	"gatehouse/core"
)

// Cursor is a place in a list that needs no memory on our side. It holds what it depends on, not a secret: a changed
// list, other arguments or a damaged cursor are noticed.
type Cursor struct {
	Query string `json:"q"` // Version of the method and its arguments
	After string `json:"a"` // the last thing listed
	List  string `json:"l"` // Version of the list and of the actions shown in it
}

type sealedCursor struct {
	Cursor
	Sum string `json:"s"`
}

func (c Cursor) sum() string { return Version("cursor", c.Query, c.After, c.List) }

// String is what a caller gets as "next".
func (c Cursor) String() string {
	raw, err := json.Marshal(sealedCursor{c, c.sum()})
	if err != nil {
		panic("kit: a cursor that is not JSON: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// ParseCursor reads a cursor back. One that was not made by String, or for another query, is invalid; one whose list
// has moved is core.CodeListChanged.
func ParseCursor(s, query, list string) (Cursor, error) {
	bad := core.Invalid("cursor: not one of this list; leave it out to begin again")
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return Cursor{}, bad
	}
	var sealed sealedCursor
	if err := json.Unmarshal(raw, &sealed); err != nil || sealed.Sum != sealed.sum() || sealed.Query != query {
		return Cursor{}, bad
	}
	if sealed.List != list {
		return Cursor{}, ListChanged()
	}
	return sealed.Cursor, nil
}

// ListChanged refuses to go on in a list that is no longer the one that was begun.
func ListChanged() error {
	return &core.CallError{Code: core.CodeListChanged, Text: "list changed since the page before; leave the cursor out to begin again"}
}
