package kit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gatehouse/core"
)

// ResolveID gives the real id where a provisional one is bound, and the id as written otherwise (kernel R17).
func ResolveID(names core.Names, id string) string {
	if name, known := names[id]; known && name.Real != "" {
		return name.Real
	}
	return id
}

// ResolveTarget resolves every bound part of a target.
func ResolveTarget(names core.Names, target string) string {
	if !strings.Contains(target, "~") {
		return target
	}
	parts := strings.Split(target, "/")
	for i, p := range parts {
		parts[i] = ResolveID(names, p)
	}
	return strings.Join(parts, "/")
}

// Spellings lists every way in which an action of the session may have written a target: with real ids, and with the
// provisional ids from before they were bound. The resolved spelling comes first.
func Spellings(names core.Names, target string) []string {
	target = ResolveTarget(names, target)
	formerly := make(map[string][]string)
	for id, name := range names {
		if name.Real != "" {
			formerly[name.Real] = append(formerly[name.Real], id)
		}
	}
	spelled := []string{""}
	for i, part := range strings.Split(target, "/") {
		former := formerly[part]
		slices.Sort(former)
		var longer []string
		for _, head := range spelled {
			if i > 0 {
				head += "/"
			}
			for _, p := range append([]string{part}, former...) {
				longer = append(longer, head+p)
			}
		}
		spelled = longer
	}
	return spelled
}

// hasProvisional reports whether a part of a target is a provisional id.
func hasProvisional(target string) bool {
	return strings.Contains(target, "~") && slices.ContainsFunc(strings.Split(target, "/"), core.Provisional)
}

// ResolveRefs replaces bound provisional ids at the declared places of a JSON object and leaves unbound ones as they
// are. A place is a path of member names separated by dots; "*" is every element of an array or member of an object.
func ResolveRefs(names core.Names, raw json.RawMessage, refs []string) (json.RawMessage, error) {
	if len(names) == 0 {
		return raw, nil
	}
	return rewriteRefs(raw, refs, func(id string) (string, error) { return ResolveID(names, id), nil })
}

// BindRefs is ResolveRefs for what is about to be sent: an id that is not bound yet is a core.NotCreated that names
// the action that makes it. It is the one place where ids in payloads are replaced for a service (kernel R18).
func BindRefs(names core.Names, raw json.RawMessage, refs []string) (json.RawMessage, error) {
	return rewriteRefs(raw, refs, func(id string) (string, error) {
		if !core.Provisional(id) {
			return id, nil
		}
		real, err := BindID(names, id)
		return real, err
	})
}

// BindID gives the real id, or core.NotCreated; an id that no action of the session provides is not found.
func BindID(names core.Names, id string) (string, error) {
	if !core.Provisional(id) {
		return id, nil
	}
	name, known := names[id]
	if !known {
		return "", NotFound(id)
	}
	if name.Real == "" {
		return "", core.NotCreated(id, name.Provider)
	}
	return name.Real, nil
}

// NotFound is the one answer for what is missing and what is out of scope (GK3).
func NotFound(what string) error {
	return &core.CallError{Code: core.CodeNotFound, Text: fmt.Sprintf("%s: not found", what)}
}

// Conflict refuses a write that contradicts what is there.
func Conflict(format string, args ...any) error {
	return &core.CallError{Code: core.CodeConflict, Text: fmt.Sprintf(format, args...)}
}

// rewriteRefs keeps numbers as they are written; a payload without references comes back byte for byte.
func rewriteRefs(raw json.RawMessage, refs []string, change func(string) (string, error)) (json.RawMessage, error) {
	if len(refs) == 0 || len(raw) == 0 || !bytes.Contains(raw, []byte("~")) {
		return raw, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("references: %w", err)
	}
	for _, ref := range refs {
		changed, err := rewriteAt(v, strings.Split(ref, "."), change)
		if err != nil {
			return nil, err
		}
		v = changed
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("references: %w", err)
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

func rewriteAt(v any, path []string, change func(string) (string, error)) (any, error) {
	if len(path) == 0 {
		if id, isString := v.(string); isString {
			return change(id)
		}
		return v, nil
	}
	var failed error
	into := func(inner any) any {
		changed, err := rewriteAt(inner, path[1:], change)
		if err != nil && failed == nil {
			failed = err
		}
		return changed
	}
	switch held := v.(type) {
	case map[string]any:
		for name, inner := range held {
			if path[0] == "*" || path[0] == name {
				held[name] = into(inner)
			}
		}
	case []any:
		if path[0] == "*" {
			for i, inner := range held {
				held[i] = into(inner)
			}
		}
	}
	return v, failed
}
