package kit_test

import (
	"encoding/json"

	"gatehouse/core"
	"gatehouse/gatekeepers/kit"
)

// Reverse is all that the driver of shelves adds to take back what it sent: each reverse is a call of its own.
func (t *texts) Reverse(r core.Reversal, was []kit.Was[entry]) (*kit.Write[entry], error) {
	var c change
	if json.Unmarshal(r.Payload, &c) != nil || len(was) == 0 {
		return nil, kit.Conflict("what it was before was not kept")
	}
	method, args := "write", arguments{Name: c.Name, Text: was[0].Value.Text}
	switch {
	case r.Kind == "rename":
		method, args = "rename", arguments{Name: c.To, To: c.Name}
	case !was[0].There:
		method, args = "remove", arguments{Name: c.Name}
	}
	given := map[string]string{"name": args.Name}
	switch method {
	case "write":
		given["text"] = args.Text
	case "rename":
		given["to"] = args.To
	}
	raw, err := json.Marshal(given)
	if err != nil {
		return nil, err
	}
	request, err := t.Parse(core.Call{Method: method, Args: raw})
	return request.Write, err
}
