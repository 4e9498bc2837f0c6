package share

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"gatehouse/core"
	"gatehouse/core/text"
)

// The fields of a blueprint. There are no others.
const (
	keyVersion      = "gatehouse-blueprint"
	keyTitle        = "title"
	keyBindings     = "bindings"
	keySkills       = "skills"
	keyInstructions = "instructions"
)

// neverCarried are words that a forged file may try (sharing X13): refused like any other unknown field, and told why.
func neverCarried(key string) bool {
	key = strings.ToLower(key)
	return slices.ContainsFunc([]string{
		"rule", "hook", "polic", "trust", "credential", "token", "secret", "password", "env", "grant", "approv", "claim", "connection", "url", "path", "command", "egress", "key",
	}, func(word string) bool { return strings.Contains(key, word) })
}

// ParseBlueprint reads a blueprint. It refuses, with the line, everything that EncodeBlueprint does not write: other fields,
// other types, what stands twice, anchors and tags. It takes time and memory in proportion to the file, which is bounded.
// An error is an *InvalidError or a *NewerError; its text is clean.
func ParseBlueprint(raw []byte) (core.Blueprint, error) {
	switch {
	case len(raw) > BlueprintLimit:
		return core.Blueprint{}, invalid("a blueprint has %d bytes at most", BlueprintLimit)
	case !utf8.Valid(raw):
		return core.Blueprint{}, invalid("not UTF-8")
	}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		return core.Blueprint{}, invalid("not a blueprint: %s", clean(err.Error()))
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return core.Blueprint{}, invalid("has something behind its end")
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return core.Blueprint{}, invalid("not a blueprint")
	}
	b, err := parseBlueprintNode(doc.Content[0])
	if err != nil {
		return core.Blueprint{}, err
	}
	if err := checkBlueprint(b); err != nil {
		return core.Blueprint{}, invalid("%s", clean(err.Error()))
	}
	return b, nil
}

func clean(s string) string {
	line, _ := text.CleanLine(s, 300)
	return line
}

// fieldsOf gives the members of a mapping, each once and of those that are allowed.
func fieldsOf(n *yaml.Node, what string, allowed ...string) (map[string]*yaml.Node, error) {
	if err := plainNode(n, yaml.MappingNode, "!!map", what); err != nil {
		return nil, err
	}
	out := make(map[string]*yaml.Node)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if err := plainNode(key, yaml.ScalarNode, "!!str", "a field of "+what); err != nil {
			return nil, err
		}
		switch {
		case !slices.Contains(allowed, key.Value) && neverCarried(key.Value):
			return nil, invalid("line %d: %q: a blueprint never carries rules, hooks, policies, trust, credentials or places", key.Line, clean(key.Value))
		case !slices.Contains(allowed, key.Value):
			return nil, invalid("line %d: %q: no field of %s, which has %s", key.Line, clean(key.Value), what, strings.Join(allowed, ", "))
		case out[key.Value] != nil:
			return nil, invalid("line %d: %q: stands twice", key.Line, clean(key.Value))
		}
		out[key.Value] = n.Content[i+1]
	}
	return out, nil
}

// plainNode refuses another type, an anchor, an alias and a tag that was written.
func plainNode(n *yaml.Node, kind yaml.Kind, tag, what string) error {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return invalid("line %d: %s: anchors and aliases are not read", n.Line, clean(what))
	case n.Style&yaml.TaggedStyle != 0:
		return invalid("line %d: %s: tags are not read", n.Line, clean(what))
	case n.Kind != kind || n.ShortTag() != tag:
		return invalid("line %d: %s: not what stands there, %s is wanted", n.Line, clean(what), map[string]string{
			"!!map": "fields", "!!seq": "a list", "!!str": "a text", "!!int": "a number",
		}[tag])
	}
	return nil
}

func textOf(fields map[string]*yaml.Node, key string) (string, error) {
	n, there := fields[key]
	if !there {
		return "", nil
	}
	if err := plainNode(n, yaml.ScalarNode, "!!str", key); err != nil {
		return "", err
	}
	if line := uncleanLine(n.Value); line > 0 {
		return "", invalid("line %d: %s: holds characters that cannot be seen", n.Line, key)
	}
	return n.Value, nil
}

func listOf(fields map[string]*yaml.Node, key string) ([]*yaml.Node, error) {
	n, there := fields[key]
	if !there {
		return nil, nil
	}
	return n.Content, plainNode(n, yaml.SequenceNode, "!!seq", key)
}

func parseBlueprintNode(n *yaml.Node) (core.Blueprint, error) {
	var b core.Blueprint
	if err := checkVersion(n); err != nil {
		return b, err
	}
	fields, err := fieldsOf(n, "a blueprint", keyVersion, keyTitle, keyBindings, keySkills, keyInstructions)
	if err != nil {
		return b, err
	}
	if b.Title, err = textOf(fields, keyTitle); err != nil {
		return b, err
	}
	if b.Instructions, err = textOf(fields, keyInstructions); err != nil {
		return b, err
	}
	b.Instructions = instructionsForm(b.Instructions)
	bindings, err := listOf(fields, keyBindings)
	if err != nil {
		return b, err
	}
	for _, one := range bindings {
		shape, err := parseShape(one)
		if err != nil {
			return b, err
		}
		b.Bindings = append(b.Bindings, shape)
	}
	collections, err := listOf(fields, keySkills)
	if err != nil {
		return b, err
	}
	for _, one := range collections {
		skill, err := parseSkill(one)
		if err != nil {
			return b, err
		}
		b.Skills = append(b.Skills, skill)
	}
	return b, nil
}

// checkVersion looks at the version before anything else: what is in a newer file is not ours to judge.
func checkVersion(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode || len(n.Content) < 2 || n.Content[0].Value != keyVersion {
		return invalid("not a blueprint: it does not begin with %s: %d", keyVersion, blueprintVersion)
	}
	at := n.Content[1]
	if err := plainNode(at, yaml.ScalarNode, "!!int", keyVersion); err != nil {
		return err
	}
	version, err := strconv.Atoi(at.Value)
	switch {
	case err != nil || version < 1:
		return invalid("line %d: %q: not a version", at.Line, clean(at.Value))
	case version > blueprintVersion:
		return &NewerError{Version: version, Reads: blueprintVersion}
	}
	return nil
}

func parseShape(n *yaml.Node) (shape core.BlueprintBinding, err error) {
	fields, err := fieldsOf(n, "a binding", "name", "gatekeeper", "form", "operations")
	if err != nil {
		return shape, err
	}
	name, err := textOf(fields, "name")
	if err != nil {
		return shape, err
	}
	shape.Name = core.BindingName(name)
	if shape.Gatekeeper, err = textOf(fields, "gatekeeper"); err != nil {
		return shape, err
	}
	if shape.Form, err = textOf(fields, "form"); err != nil {
		return shape, err
	}
	operations, err := listOf(fields, "operations")
	if err != nil {
		return shape, err
	}
	for _, op := range operations {
		if err := plainNode(op, yaml.ScalarNode, "!!str", "an operation"); err != nil {
			return shape, err
		}
		shape.Operations = append(shape.Operations, op.Value)
	}
	if err := checkShape(shape); err != nil {
		return shape, invalid("line %d: %s", n.Line, clean(err.Error()))
	}
	return shape, nil
}

func parseSkill(n *yaml.Node) (skill core.BlueprintSkill, err error) {
	fields, err := fieldsOf(n, "a skill", "collection", "source", "hole")
	if err != nil {
		return skill, err
	}
	if skill.Collection, err = textOf(fields, "collection"); err != nil {
		return skill, err
	}
	if skill.Source, err = textOf(fields, "source"); err != nil {
		return skill, err
	}
	if _, err = textOf(fields, "hole"); err != nil {
		return skill, err
	}
	if (fields["hole"] != nil) == (fields["collection"] != nil) || skill.Collection == "" && fields["collection"] != nil {
		return skill, invalid("line %d: a skill is a collection or a hole", n.Line)
	}
	return skill, nil
}
