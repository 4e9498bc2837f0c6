package files

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"

	"gatehouse/core"
)

// args is what calls can say, all operations together; the declared parameters say which of it each takes.
type args struct {
	Path   string  `json:"path"`
	Offset int64   `json:"offset"`
	Limit  int64   `json:"limit"`
	Cursor string  `json:"cursor"`
	Query  string  `json:"query"`
	Text   *string `json:"text"`
	Base64 *string `json:"base64"`
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
	raw := call.Args
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return a, core.Invalid("%s: arguments are not a JSON object", call.Method)
	}
	declared := make(map[string]bool, len(op.Params))
	for _, p := range op.Params {
		declared[p.Name] = true
		value, found := given[p.Name]
		if found && string(value) == "null" {
			delete(given, p.Name)
			found = false
		}
		if !found && !p.Optional {
			return a, core.Invalid("%s: argument %s is missing", call.Method, p.Name)
		}
	}
	for name := range given {
		if !declared[name] {
			return a, core.Invalid("%s: has no argument %s", call.Method, quote(name))
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if err := decoder.Decode(&a); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return a, core.Invalid("%s: argument %s is a %s, want %s", call.Method, quote(wrong.Field), wrong.Value, wrong.Type)
		}
		return a, core.Invalid("%s: arguments cannot be read", call.Method)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return a, core.Invalid("%s: arguments have something behind them", call.Method)
	}
	return a, nil
}

// content is what a write says the file shall hold.
func (a args) content() ([]byte, error) {
	var data []byte
	switch {
	case (a.Text == nil) == (a.Base64 == nil):
		return nil, core.Invalid("write: give either text or base64")
	case a.Text != nil:
		data = []byte(*a.Text)
	default:
		var err error
		if data, err = base64.StdEncoding.DecodeString(*a.Base64); err != nil {
			return nil, core.Invalid("write: base64 cannot be decoded")
		}
	}
	if len(data) > maxWrite {
		return nil, &core.CallError{Code: core.CodeTooLarge, Text: "write: the content is larger than 1 MiB"}
	}
	return data, nil
}
