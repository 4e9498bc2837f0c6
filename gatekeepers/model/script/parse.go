package script

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// sizeLimit is how many bytes a script may have.
const sizeLimit = 1 << 20

//go:embed default.yaml
var defaultScript []byte

// Fault is what is wrong in a script, and where.
type Fault struct {
	File string
	Line int // from 1; 0 where no line is meant
	Text string
}

func (f *Fault) Error() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s", f.File, f.Text)
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Text)
}

// Script is a parsed script. It implements core.Model and is not changed by being played.
type Script struct {
	file      string
	responses []response
}

// response is what goes out together.
type response struct {
	says    []value
	expects []expectation
	calls   []call
}

type call struct {
	line   int
	target string // NAME.method, or core.ToolAsk
	args   value
	as     string
}

type expectation struct {
	line     int
	of       reference
	contains *value
	equals   *value
	status   *value
	pending  *value
}

// Default is the embedded script, played where nothing else is configured.
func Default() (*Script, error) { return Parse("default", defaultScript) }

// Parse reads a script; file is the name that faults carry. The error is a *Fault.
func Parse(file string, data []byte) (*Script, error) {
	p := &parser{script: &Script{file: file}, names: make(map[string]int)}
	if len(data) > sizeLimit {
		return nil, p.fault(0, "%d bytes, %d at most", len(data), sizeLimit)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, p.fault(0, "empty; a script has version: 1 and steps")
		}
		return nil, p.yamlFault(err)
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		if err != nil {
			return nil, p.yamlFault(err)
		}
		return nil, p.fault(second.Line, "a second document; a script is one")
	}
	if err := p.document(doc.Content[0]); err != nil {
		return nil, err
	}
	return p.script, nil
}

type parser struct {
	script *Script
	names  map[string]int // as → line, so far
	fresh  []string       // names that the response being gathered gives
}

func (p *parser) fault(line int, format string, args ...any) *Fault {
	return &Fault{File: p.script.file, Line: line, Text: fmt.Sprintf(format, args...)}
}

// yamlFault takes the line out of what the YAML reader says.
func (p *parser) yamlFault(err error) *Fault {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if m := regexp.MustCompile(`^line (\d+): (.*)`).FindStringSubmatch(text); m != nil {
		if line, bad := strconv.Atoi(m[1]); bad == nil {
			return p.fault(line, "not YAML: %s", m[2])
		}
	}
	return p.fault(0, "not YAML: %s", text)
}

func (p *parser) document(n *yaml.Node) error {
	fields, err := p.mapping(n, "a script", "version", "steps")
	if err != nil {
		return err
	}
	version, given := fields["version"]
	if !given {
		return p.fault(n.Line, "no version; write version: 1")
	}
	if version.Kind != yaml.ScalarNode || version.Value != "1" {
		return p.fault(version.Line, "version %q is not known; this program reads version 1", version.Value)
	}
	steps, given := fields["steps"]
	if !given {
		return p.fault(n.Line, "no steps")
	}
	if steps.Kind != yaml.SequenceNode {
		return p.fault(steps.Line, "steps must be a list")
	}
	for _, step := range steps.Content {
		if err := p.step(step); err != nil {
			return err
		}
	}
	return nil
}

// mapping reads the members of a mapping, each once and none unknown.
func (p *parser) mapping(n *yaml.Node, what string, known ...string) (map[string]*yaml.Node, error) {
	if n.Kind != yaml.MappingNode {
		return nil, p.fault(n.Line, "%s must be a mapping with %s", what, strings.Join(known, ", "))
	}
	fields := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if !slices.Contains(known, key.Value) {
			return nil, p.fault(key.Line, "%s has no %q; it takes %s", what, key.Value, strings.Join(known, ", "))
		}
		if _, twice := fields[key.Value]; twice {
			return nil, p.fault(key.Line, "%q stands twice", key.Value)
		}
		fields[key.Value] = n.Content[i+1]
	}
	return fields, nil
}

const stepKinds = "say, call, ask, expect"

func (p *parser) step(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return p.fault(n.Line, "a step must be one of %s", stepKinds)
	}
	var kind, second *yaml.Node
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		switch key.Value {
		case "say", "call", "ask", "expect", "code":
			if kind == nil {
				kind = key
			} else {
				second = key
			}
		case "args", "as":
		default:
			return p.fault(key.Line, "unknown step %q; a step is one of %s", key.Value, stepKinds)
		}
	}
	switch {
	case kind == nil:
		return p.fault(n.Line, "a step without %s", strings.ReplaceAll(stepKinds, ", ", ", without "))
	case second != nil:
		return p.fault(second.Line, "a step is one of %s, not %s and %s", stepKinds, kind.Value, second.Value)
	}
	switch kind.Value {
	case "say":
		return p.say(n)
	case "call":
		return p.call(n)
	case "ask":
		return p.ask(n)
	case "expect":
		return p.expect(n)
	default:
		return p.fault(kind.Line, "code steps cannot be run yet; use call steps")
	}
}

// open is the response being gathered; a say or an expect behind calls begins the next.
func (p *parser) open(begin bool) *response {
	s := p.script
	if len(s.responses) == 0 || begin && len(s.responses[len(s.responses)-1].calls) > 0 {
		s.responses = append(s.responses, response{})
		p.fresh = nil
	}
	return &s.responses[len(s.responses)-1]
}

func (p *parser) say(n *yaml.Node) error {
	fields, err := p.mapping(n, "a say step", "say")
	if err != nil {
		return err
	}
	said, err := p.text(fields["say"], "say")
	if err != nil {
		return err
	}
	r := p.open(true)
	r.says = append(r.says, said)
	return nil
}

func (p *parser) call(n *yaml.Node) error {
	fields, err := p.mapping(n, "a call step", "call", "args", "as")
	if err != nil {
		return err
	}
	target := fields["call"]
	binding, method, dotted := strings.Cut(target.Value, ".")
	if target.Kind != yaml.ScalarNode || !dotted || binding == "" || method == "" {
		return p.fault(target.Line, "call %q: write BINDING.METHOD", target.Value)
	}
	args := value{line: n.Line, kind: kindObject}
	if given, found := fields["args"]; found {
		if given.Kind != yaml.MappingNode {
			return p.fault(given.Line, "args must be a mapping")
		}
		if args, err = p.value(given); err != nil {
			return err
		}
	}
	return p.addCall(call{line: n.Line, target: target.Value, args: args}, fields["as"])
}

// askTool is core's ToolAsk; a script cannot call it by another name.
const askTool = "ask"

func (p *parser) ask(n *yaml.Node) error {
	outer, err := p.mapping(n, "an ask step", "ask")
	if err != nil {
		return err
	}
	fields, err := p.mapping(outer["ask"], "ask", "question", "choices", "as")
	if err != nil {
		return err
	}
	question, given := fields["question"]
	if !given {
		return p.fault(outer["ask"].Line, "ask without a question")
	}
	asked, err := p.text(question, "question")
	if err != nil {
		return err
	}
	args := value{line: n.Line, kind: kindObject, keys: []string{"question"}, items: []value{asked}}
	if choices, given := fields["choices"]; given {
		if choices.Kind != yaml.SequenceNode {
			return p.fault(choices.Line, "choices must be a list of texts")
		}
		list := value{line: choices.Line, kind: kindList}
		for _, c := range choices.Content {
			choice, err := p.text(c, "a choice")
			if err != nil {
				return err
			}
			list.items = append(list.items, choice)
		}
		args.keys, args.items = append(args.keys, "choices"), append(args.items, list)
	}
	return p.addCall(call{line: n.Line, target: askTool, args: args}, fields["as"])
}

// addCall adds a call to the response being gathered, or begins the next where it uses a result of this one.
func (p *parser) addCall(c call, as *yaml.Node) error {
	used := slices.ContainsFunc(c.args.references(), func(r reference) bool { return slices.Contains(p.fresh, r.name) })
	r := p.open(used)
	if as != nil {
		if as.Kind != yaml.ScalarNode || !isName(as.Value) {
			return p.fault(as.Line, "as %q: use letters, digits and _", as.Value)
		}
		if first, taken := p.names[as.Value]; taken {
			return p.fault(as.Line, "as %q: taken on line %d", as.Value, first)
		}
		c.as = as.Value
		p.names[c.as] = as.Line
		p.fresh = append(p.fresh, c.as)
	}
	r.calls = append(r.calls, c)
	return nil
}

func (p *parser) expect(n *yaml.Node) error {
	outer, err := p.mapping(n, "an expect step", "expect")
	if err != nil {
		return err
	}
	body := outer["expect"]
	fields, err := p.mapping(body, "expect", "of", "contains", "equals", "status", "pending")
	if err != nil {
		return err
	}
	of, given := fields["of"]
	if !given || of.Kind != yaml.ScalarNode {
		return p.fault(body.Line, "expect without of; name the result of an earlier step")
	}
	e := expectation{line: n.Line}
	if e.of, err = p.reference(of.Value, of.Line); err != nil {
		return err
	}
	for name, into := range map[string]**value{
		"contains": &e.contains, "equals": &e.equals, "status": &e.status, "pending": &e.pending,
	} {
		if field, given := fields[name]; given {
			v, err := p.value(field)
			if err != nil {
				return err
			}
			*into = &v
		}
	}
	switch {
	case len(fields) == 1:
		return p.fault(body.Line, "expect says nothing of %s; add contains, equals, status or pending", of.Value)
	case e.status != nil && !slices.Contains([]string{"ok", "pending", "refused", "error"}, fields["status"].Value):
		return p.fault(fields["status"].Line, "status %q: use ok, pending, refused or error", fields["status"].Value)
	case e.pending != nil && fields["pending"].Tag != "!!int":
		return p.fault(fields["pending"].Line, "pending %q: use a number", fields["pending"].Value)
	}
	r := p.open(true)
	r.expects = append(r.expects, e)
	return nil
}
