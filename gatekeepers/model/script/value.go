package script

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// valueKind says what a value is.
type valueKind int

const (
	kindPlain valueKind = iota // a number, a truth value, null
	kindText                   // with references in it, perhaps
	kindList
	kindObject
)

// value is a piece of YAML whose texts may insert results.
type value struct {
	line  int
	kind  valueKind
	plain any
	parts []part   // of a text
	keys  []string // of an object; items are its members
	items []value
}

// part is a literal, or a reference where it has a name.
type part struct {
	literal string
	ref     reference
}

// reference names a result, or a part of one.
type reference struct {
	line int
	name string
	path []string
}

func (r reference) String() string { return strings.Join(append([]string{r.name}, r.path...), ".") }

func isName(s string) bool { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(s) }

// text reads a scalar as text, whatever type YAML would give it.
func (p *parser) text(n *yaml.Node, what string) (value, error) {
	if n.Kind != yaml.ScalarNode {
		return value{}, p.fault(n.Line, "%s must be a text", what)
	}
	return p.template(n.Value, n.Line)
}

func (p *parser) value(n *yaml.Node) (value, error) {
	v := value{line: n.Line}
	switch n.Kind {
	case yaml.ScalarNode:
		return p.scalar(n)
	case yaml.SequenceNode:
		v.kind = kindList
		for _, item := range n.Content {
			inner, err := p.value(item)
			if err != nil {
				return v, err
			}
			v.items = append(v.items, inner)
		}
		return v, nil
	case yaml.MappingNode:
		v.kind = kindObject
		for i := 0; i < len(n.Content); i += 2 {
			key := n.Content[i]
			if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
				return v, p.fault(key.Line, "a key must be a plain text")
			}
			for _, known := range v.keys {
				if known == key.Value {
					return v, p.fault(key.Line, "%q stands twice", key.Value)
				}
			}
			inner, err := p.value(n.Content[i+1])
			if err != nil {
				return v, err
			}
			v.keys, v.items = append(v.keys, key.Value), append(v.items, inner)
		}
		return v, nil
	default:
		return v, p.fault(n.Line, "anchors and aliases cannot be used in a script")
	}
}

func (p *parser) scalar(n *yaml.Node) (value, error) {
	v := value{line: n.Line, kind: kindPlain}
	var err error
	switch n.Tag {
	case "!!null":
	case "!!bool":
		var b bool
		err = n.Decode(&b)
		v.plain = b
	case "!!int":
		var i int64
		err = n.Decode(&i)
		v.plain = i
	case "!!float":
		var f float64
		err = n.Decode(&f)
		if err == nil && (math.IsNaN(f) || math.IsInf(f, 0)) {
			err = fmt.Errorf("%s is no number in JSON", n.Value)
		}
		v.plain = f
	default:
		return p.template(n.Value, n.Line) // dates too: a script says what it says
	}
	if err != nil {
		return v, p.fault(n.Line, "%q cannot be read: %v", n.Value, err)
	}
	return v, nil
}

// template cuts a text at its references.
func (p *parser) template(s string, line int) (value, error) {
	v := value{line: line, kind: kindText}
	var literal strings.Builder
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			literal.WriteString(s)
			break
		}
		if i > 0 && s[i-1] == '$' {
			literal.WriteString(s[:i-1] + "${")
			s = s[i+2:]
			continue
		}
		end := strings.IndexByte(s[i:], '}')
		if end < 0 {
			return v, p.fault(line, "${ without its }; write $${ for a plain ${")
		}
		ref, err := p.reference(s[i+2:i+end], line)
		if err != nil {
			return v, err
		}
		literal.WriteString(s[:i])
		if literal.Len() > 0 {
			v.parts = append(v.parts, part{literal: literal.String()})
			literal.Reset()
		}
		v.parts = append(v.parts, part{ref: ref})
		s = s[i+end+1:]
	}
	if literal.Len() > 0 {
		v.parts = append(v.parts, part{literal: literal.String()})
	}
	return v, nil
}

func (p *parser) reference(s string, line int) (reference, error) {
	words := strings.Split(s, ".")
	ref := reference{line: line, name: words[0], path: words[1:]}
	if !isName(ref.name) {
		return ref, p.fault(line, "%q is no name of a result; write NAME or NAME.path", s)
	}
	for _, w := range ref.path {
		if w == "" {
			return ref, p.fault(line, "%q has an empty part", s)
		}
	}
	if _, known := p.names[ref.name]; !known {
		return ref, p.fault(line, "no earlier step is named %q with as", ref.name)
	}
	return ref, nil
}

// references lists those in a value.
func (v value) references() []reference {
	var out []reference
	for _, part := range v.parts {
		if part.ref.name != "" {
			out = append(out, part.ref)
		}
	}
	for _, item := range v.items {
		out = append(out, item.references()...)
	}
	return out
}

// render puts results in the place of references. One that is a whole text keeps its type.
func (v value) render(s *scope) (any, error) {
	switch v.kind {
	case kindText:
		if len(v.parts) == 1 && v.parts[0].ref.name != "" {
			return s.resolve(v.parts[0].ref)
		}
		return v.renderText(s)
	case kindList:
		list := make([]any, len(v.items))
		for i, item := range v.items {
			rendered, err := item.render(s)
			if err != nil {
				return nil, err
			}
			list[i] = rendered
		}
		return list, nil
	case kindObject:
		object := make(map[string]any, len(v.items))
		for i, item := range v.items {
			rendered, err := item.render(s)
			if err != nil {
				return nil, err
			}
			object[v.keys[i]] = rendered
		}
		return object, nil
	default:
		return v.plain, nil
	}
}

func (v value) renderText(s *scope) (string, error) {
	var b strings.Builder
	for _, part := range v.parts {
		if part.ref.name == "" {
			b.WriteString(part.literal)
			continue
		}
		inserted, err := s.resolve(part.ref)
		if err != nil {
			return "", err
		}
		if text, is := inserted.(string); is {
			b.WriteString(text)
			continue
		}
		raw, err := json.Marshal(inserted)
		if err != nil {
			return "", fmt.Errorf("%s: %w", part.ref, err)
		}
		b.Write(raw)
	}
	return b.String(), nil
}
