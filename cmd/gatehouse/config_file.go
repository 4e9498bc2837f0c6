package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// checkFile looks at a configuration file before it is used: an unknown key, a
// key written twice, a value of the wrong kind are errors with their line. It
// returns the line of each key that is there.
func checkFile(path string, content []byte, keys []key) (map[string]int, error) {
	c := fileCheck{path: path, keys: keys, lines: map[string]int{}}
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		return nil, c.syntax(err)
	}
	if len(document.Content) == 0 {
		return c.lines, nil
	}
	top := document.Content[0]
	if top.Kind == yaml.ScalarNode && top.Tag == "!!null" {
		return c.lines, nil
	}
	return c.lines, c.mapping(top, "")
}

type fileCheck struct {
	path  string
	keys  []key
	lines map[string]int
}

func (c fileCheck) at(line int, hint, format string, args ...any) error {
	return invalidFile(hint, "configuration %s:%d: %s", c.path, line, fmt.Sprintf(format, args...))
}

// syntax moves the line that the parser names to where editors expect it.
func (c fileCheck) syntax(err error) error {
	words := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if m := regexp.MustCompile(`^line (\d+): `).FindStringSubmatch(words); m != nil {
		if _, scanned := fmt.Sscan(m[1], &line); scanned == nil {
			words = strings.TrimPrefix(words, m[0])
		}
	}
	return c.at(line, "", "%s", words)
}

func (c fileCheck) mapping(n *yaml.Node, prefix string) error {
	if n.Kind != yaml.MappingNode {
		if prefix == "" {
			return c.at(n.Line, "write each as key: value", "holds no keys")
		}
		return c.at(n.Line, "gatehouse help configuration lists them", "%s holds keys of its own", strings.TrimSuffix(prefix, "."))
	}
	for i := 0; i < len(n.Content); i += 2 {
		if err := c.entry(n.Content[i], n.Content[i+1], prefix); err != nil {
			return err
		}
	}
	return nil
}

// entry checks one key and what stands behind it.
func (c fileCheck) entry(name, value *yaml.Node, prefix string) error {
	full := prefix + name.Value
	if strings.Contains(name.Value, ".") {
		return c.at(name.Line, "write what stands behind a dot on a line of its own, indented", "unknown key %s", full)
	}
	if _, twice := c.lines[full]; twice {
		return c.at(name.Line, "keep one of them", "key %s stands here a second time", full)
	}
	c.lines[full] = name.Line
	var group []string
	for _, k := range c.keys {
		if k.name == full {
			return c.value(k, value)
		}
		group = append(group, k.name)
	}
	if slices.ContainsFunc(group, func(k string) bool { return strings.HasPrefix(k, full+".") }) {
		return c.mapping(value, full+".")
	}
	hint := "gatehouse help configuration lists the keys"
	if near, found := nearest(full, group); found {
		hint = fmt.Sprintf("did you mean %s?", near)
	}
	return c.at(name.Line, hint, "unknown key %s", full)
}

// value checks that what stands behind a key is of the kind of its default.
func (c fileCheck) value(k key, n *yaml.Node) error {
	if _, isList := k.value.([]string); isList {
		var words []string
		if n.Kind != yaml.SequenceNode || n.Decode(&words) != nil {
			return c.at(n.Line, "write it as [A, B]", "key %s: not a list of words", k.name)
		}
		return nil
	}
	if _, isPrices := k.value.(prices); isPrices {
		return c.prices(k, n)
	}
	if _, isRules := k.value.(egressRules); isRules {
		return c.egressRules(n)
	}
	if n.Kind != yaml.ScalarNode {
		return c.at(n.Line, "", "key %s: not a single value", k.name)
	}
	if wrong := k.check(n.Value); wrong != "" || n.Tag == "!!null" {
		if n.Tag == "!!null" {
			wrong = "empty"
		}
		return c.at(n.Line, "", "key %s: %q is %s", k.name, n.Value, wrong)
	}
	return nil
}
