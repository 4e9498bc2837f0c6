package core

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// Tools lists what an agent of a session can call: every method of every binding, then ToolAsk. The documentation is
// made from the manifests. A binding whose resource cannot be opened now is listed by its driver's manifest.
func (k *Kernel) Tools(ctx context.Context, session string) ([]Tool, error) {
	bindings, err := k.Bindings(ctx, session)
	if err != nil {
		return nil, err
	}
	var tools []Tool
	for _, b := range bindings {
		operations, _, err := k.Operations(ctx, session, b.Name)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if g, known := k.gatekeepers[b.Kind]; err != nil && known {
			operations = g.Manifest().Operations
		}
		for _, o := range operations {
			tools = append(tools, o.Tool(b.Name))
		}
	}
	return append(tools, askTool()), nil
}

// Tool is an operation as an agent calls it on a binding, with its typed documentation.
func (o Operation) Tool(binding BindingName) Tool {
	return Tool{Name: string(binding) + "." + o.Name, About: o.Doc(binding), Schema: o.schema()}
}

// Doc is the typed documentation of an operation: its signature, what it does, what becomes of a call, each argument.
func (o Operation) Doc(binding BindingName) string {
	params := make([]string, len(o.Params))
	for i, p := range o.Params {
		mark := ""
		if p.Optional {
			mark = "?"
		}
		params[i] = fmt.Sprintf("%s%s: %s", p.Name, mark, p.Type)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s.%s(%s)", binding, o.Name, strings.Join(params, ", "))
	if o.Returns != "" {
		fmt.Fprintf(&b, " → %s", o.Returns)
	}
	fmt.Fprintf(&b, "\n%s\n%s", o.About, o.laneDoc())
	for _, p := range o.Params {
		if p.About != "" {
			fmt.Fprintf(&b, "\n- %s: %s", p.Name, p.About)
		}
	}
	return b.String()
}

// laneDoc says what becomes of a call.
func (o Operation) laneDoc() string {
	switch {
	case o.IsRead():
		doc := "Reads; the result shows what is queued (pending) and says what it cannot show (incomplete)."
		if o.Unsimulated != "" {
			doc += " Not shown: " + o.Unsimulated
		}
		return doc
	case !o.allows(LaneAwait):
		return "Queued for a person; you go on at once, and reads show the effect."
	case !o.allows(LaneSimulate):
		return "Queued for a person; the turn waits after this step until it is settled: " + o.AwaitReason
	default:
		return "Queued for a person; reads show the effect, or the turn waits until it is settled: " + o.AwaitReason
	}
}

// schema is the JSON Schema of the arguments.
func (o Operation) schema() json.RawMessage {
	type property struct {
		Type        string `json:"type"`
		Encoding    string `json:"contentEncoding,omitempty"`
		Description string `json:"description,omitempty"`
	}
	schema := struct {
		Type       string              `json:"type"`
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
		Additional bool                `json:"additionalProperties"`
	}{Type: "object", Properties: make(map[string]property, len(o.Params)), Required: []string{}}
	for _, p := range o.Params {
		prop := property{Type: string(p.Type), Description: p.About}
		if p.Type == TypeBytes {
			prop.Type, prop.Encoding = "string", "base64"
		}
		schema.Properties[p.Name] = prop
		if !p.Optional {
			schema.Required = append(schema.Required, p.Name)
		}
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		panic("core: a schema that is not JSON: " + err.Error())
	}
	return raw
}
