package share

import (
	"encoding/json"

	"gatehouse/core"
	"gatehouse/core/text"
)

// Limits of what is listed of a parcel; Counts and the size are of all of it.
const (
	partsLimit = 5000
	partChars  = 100
)

// Part is one thing that leaves, as a person is shown it before a byte is written: what is taken out is taken out here too.
type Part struct {
	Turn  int    `json:"turn"`
	Step  int    `json:"step"`
	Kind  string `json:"kind"`
	Bytes int    `json:"bytes"`
	Text  string `json:"text"` // how it begins, one clean line
}

func partOf(p core.Piece) (Part, error) {
	raw, err := json.Marshal(p)
	part := Part{Bytes: len(raw)}
	switch {
	case p.Session != nil:
		part.Kind, part.Text = "session", p.Session.Name
	case p.Turn != nil:
		part.Kind, part.Turn, part.Text = "turn", p.Turn.Number, string(p.Turn.State)+" "+p.Turn.Reason
	case p.Message != nil:
		part.Kind, part.Turn, part.Step, part.Text = "message", p.Message.Turn, p.Message.Step, p.Message.Text
	case p.Step != nil:
		part.Kind, part.Turn, part.Step, part.Text = "step", p.Step.Turn, p.Step.Number, p.Step.Text
		for _, call := range p.Step.Calls {
			part.Text += " " + call.Name + " " + call.Args
		}
	case p.Answer != nil:
		part.Kind, part.Turn, part.Step, part.Text = "answer", p.Answer.Turn, p.Answer.Step, string(p.Answer.Body)
	case p.Hole != nil:
		part.Kind, part.Turn, part.Step, part.Text = "left out", p.Hole.Turn, p.Hole.Step, "a step that is not cleared for them"
	case p.Proposal != nil:
		part.Kind, part.Turn, part.Text = "proposal", p.Proposal.Turn, p.Proposal.Title
	}
	part.Text, _ = text.CleanLine(part.Text, partChars)
	return part, err
}
