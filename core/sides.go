package core

import (
	"bytes"
	"encoding/json"
)

// Sides is a field of a drifted action seen from three sides: what the action was made on, what is there now, and what it
// was to become. The field itself says what will be sent.
type Sides struct {
	Name   string
	Base   json.RawMessage // null where there was nothing
	Theirs json.RawMessage
	Ours   json.RawMessage
}

// Sides lists the fields whose base moved since the action was submitted; none where it has no fresh preview.
func (a Action) Sides() []Sides {
	if a.Drift != DriftFresh {
		return nil
	}
	var out []Sides
	for _, was := range a.Draft.Submitted {
		for _, now := range a.Draft.Fields {
			if now.Name == was.Name && !bytes.Equal(now.Before, was.Before) {
				out = append(out, Sides{Name: was.Name, Base: was.Before, Theirs: now.Before, Ours: was.After})
			}
		}
	}
	return out
}
