package core

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/gowebpki/jcs"
)

// canonical encodes a value as RFC 8785 JSON, so that equal values have equal bytes. Binary stands as base64.
func canonical(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	out, err := jcs.Transform(bytes.TrimRight(buf.Bytes(), "\n"))
	if err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	return out, nil
}

// digested is what an approval is bound to (kernel R14). The order of the members does not matter.
type digested struct {
	Kind    string        `json:"kind"`
	Binding BindingName   `json:"binding"`
	Lane    Lane          `json:"lane"`
	Payload []byte        `json:"payload"` // base64: payload bytes are compared as bytes, not as numbers
	Base    []BaseVersion `json:"base"`
	Fields  []rawField    `json:"fields"`
}

type rawField struct {
	Name   string `json:"name"`
	Before []byte `json:"before"`
	After  []byte `json:"after"`
}

// DigestOf computes the digest of a draft under a binding: the base as it was submitted and references as written (kernel R18).
func DigestOf(binding BindingName, d Draft) (Digest, error) {
	in := digested{
		Kind: d.Kind, Binding: binding, Lane: d.Lane, Payload: d.Payload,
		Base: append([]BaseVersion{}, d.Base...), Fields: make([]rawField, len(d.Fields)),
	}
	for i, f := range d.Fields {
		in.Fields[i] = rawField{Name: f.Name, Before: f.Before, After: f.After}
	}
	raw, err := canonical(in)
	if err != nil {
		return Digest{}, err
	}
	return sha256.Sum256(raw), nil
}

// normalize gives every piece of raw JSON in a draft its one stored form, so that what comes back from the store has
// the digest that it went in with: compact, and null where there is nothing.
func (d *Draft) normalize() error {
	pieces := []*json.RawMessage{&d.Payload, &d.Value}
	for i := range d.Fields {
		pieces = append(pieces, &d.Fields[i].Before, &d.Fields[i].After)
	}
	for _, p := range pieces {
		if len(*p) == 0 {
			*p = json.RawMessage("null")
			continue
		}
		var buf bytes.Buffer
		if err := json.Compact(&buf, *p); err != nil {
			return fmt.Errorf("draft %s: %w", d.Kind, err)
		}
		*p = buf.Bytes()
	}
	return nil
}

// argsHash tells apart two calls with one call id (kernel R30).
func argsHash(method string, args json.RawMessage) (string, error) {
	raw, err := jcs.Transform(args)
	if err != nil {
		return "", fmt.Errorf("arguments: %w", err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", method)
	h.Write(raw)
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
