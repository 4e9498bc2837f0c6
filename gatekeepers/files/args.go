package files

import (
	"gatehouse/core"
	"gatehouse/gatekeepers/kit"
)

// args is what calls can say, all operations together; the declared parameters say which of it each takes.
type args struct {
	Path   string  `json:"path"`
	Offset int64   `json:"offset"`
	Limit  int64   `json:"limit"`
	Cursor string  `json:"cursor"`
	Query  string  `json:"query"`
	Text   *string `json:"text"`
	Base64 []byte  `json:"base64"` // nil where it is not given
	Old    string  `json:"old"`
	New    string  `json:"new"`
	From   string  `json:"from"`
	To     string  `json:"to"`
}

// decodeArgs reads the arguments of a call and refuses what the operation does not declare.
func decodeArgs(call core.Call) (args, error) {
	var a args
	op, found := core.Manifest{Operations: append(reads(), writes()...)}.Operation(call.Method)
	if !found {
		return a, core.Invalid("files has no operation %q", call.Method)
	}
	return a, kit.Decode(op, call.Args, &a)
}

// content is what a write says the file shall hold.
func (a args) content() ([]byte, error) {
	if (a.Text == nil) == (a.Base64 == nil) {
		return nil, core.Invalid("write: give either text or base64")
	}
	data := a.Base64
	if a.Text != nil {
		data = []byte(*a.Text)
	}
	if len(data) > maxWrite {
		return nil, &core.CallError{Code: core.CodeTooLarge, Text: "write: the content is larger than 1 MiB"}
	}
	return data, nil
}
