package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"gatehouse/core"
	"gatehouse/gatekeepers/model/script"
)

func (a *app) recordCommand() *cobra.Command {
	var out string
	var turn int
	c := &cobra.Command{
		Use:   "record SESSION --out FILE",
		Short: "Turn what an agent did into a script that plays it again",
		Long: `Write what the model said and asked for in the last turn of a session, or in
another one, as a script for gatehouse run --script. Arguments stand in it as the
model wrote them; results do not, and are those of the day on which it is played.
A call that no script can make, such as one with broken JSON, is left out and
counted. The file must not exist; - prints the script.`,
		Example: `  gatehouse record site-refresh --out refresh.yaml
  gatehouse run -s another --bind SITE=./copy --script refresh.yaml`,
		Args: exactly("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usage("write it as gatehouse record SESSION --out FILE", "record: --out is missing")
			}
			return a.recordScript(cmd.Context(), args[0], turn, out)
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "the `FILE` to write")
	c.Flags().IntVar(&turn, "turn", 0, "the `NUMBER` of the turn; 0 is the last")
	return c
}

// scriptObject is what --json prints of a script that was written.
type scriptObject struct {
	Session core.SessionID `json:"session"`
	Turn    int            `json:"turn"`
	File    string         `json:"file"`
	Steps   int            `json:"steps"`
	LeftOut int            `json:"left_out"`
}

func (a *app) recordScript(ctx context.Context, ref string, turn int, out string) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	if err := a.enter(ctx, p, ref, core.RoleView); err != nil {
		return err
	}
	session, err := p.kernel.Session(ctx, ref)
	if err != nil {
		return err
	}
	entries, err := p.kernel.Transcript(ctx, string(session.ID))
	if err != nil {
		return err
	}
	last := 0
	for _, e := range entries {
		last = max(last, e.Turn)
	}
	switch {
	case last == 0:
		return &fault{code: codeNotFound, message: fmt.Sprintf("session %s: no turn was started", session.ID), hint: "an agent has to work in it first"}
	case turn < 0 || turn > last:
		return &fault{code: codeNotFound, message: fmt.Sprintf("session %s: no turn %d", session.ID, turn), hint: fmt.Sprintf("the last one is %d", last)}
	case turn == 0:
		turn = last
	}
	r := newScriptRecorder(turn)
	for _, e := range entries {
		if e.Turn == turn {
			r.add(e)
		}
	}
	content, err := r.script(string(session.ID))
	if err != nil {
		return err
	}
	if err := a.letOut(ctx, p, session.ID, out, content); err != nil {
		return err
	}
	if r.leftOut > 0 {
		a.say("%s left out: no script can make it", count(r.leftOut, "call"))
	}
	o := scriptObject{session.ID, turn, out, len(r.steps.Content), r.leftOut}
	switch {
	case a.json && out != "-":
		return a.object(o)
	case out != "-":
		_, err = fmt.Fprintf(a.out, "%s: %s of turn %d\n", line(out), count(o.Steps, "step"), turn)
	}
	return err
}

// letOut asks the policy before a file with what was said in a session is
// written outside the store (sharing E1). What is printed stays on the screen.
func (a *app) letOut(ctx context.Context, p *parts, session core.SessionID, out string, content []byte) error {
	if out == "-" {
		return a.writeScript(out, content)
	}
	done, err := p.kernel.Permit(ctx, core.EgressRequest{
		Sink: core.SinkFile, Session: session, Caller: core.Caller{Kind: core.CallerPerson, Person: p.person},
		Destination: filepath.Base(out), Local: true, Bytes: len(content),
	}, string(content))
	if err != nil {
		return err
	}
	written := a.writeScript(out, content)
	return errors.Join(written, done(written))
}

// writeScript writes a new file, or prints.
func (a *app) writeScript(out string, content []byte) error {
	if out == "-" {
		_, err := a.out.Write(content)
		return err
	}
	file, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &fault{code: codeFailed, message: fmt.Sprintf("file %s: exists already", out), hint: "name another one, or move it away"}
	}
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

// scriptRecorder makes the steps of a script of the entries of one turn.
type scriptRecorder struct {
	turn    int
	steps   *yaml.Node
	step    int    // of the entry before
	called  string // the last call of an earlier response, where nothing was said since
	named   string // the last call
	status  core.Status
	leftOut int
}

func newScriptRecorder(turn int) *scriptRecorder {
	return &scriptRecorder{turn: turn, steps: &yaml.Node{Kind: yaml.SequenceNode}}
}

func (r *scriptRecorder) add(e core.TranscriptEntry) {
	if e.Step != r.step {
		r.called, r.step = r.named, e.Step
	}
	switch e.Kind {
	case core.TranscriptText:
		r.steps.Content = append(r.steps.Content, pairsNode("say", textNode(plainText(e.Text))))
		r.called, r.named = "", ""
	case core.TranscriptCall:
		r.call(e)
	}
}

// call adds a call. Calls of two responses without a word between would be
// played as one: what the last one before gave is expected between them.
func (r *scriptRecorder) call(e core.TranscriptEntry) {
	name := fmt.Sprintf("s%d_%d", e.Step, len(r.steps.Content)+1)
	step, made := callStep(e.Call, name)
	if !made {
		r.leftOut++
		return
	}
	if r.called != "" {
		r.steps.Content = append(r.steps.Content, pairsNode("expect", pairsNode("of", textNode(r.called), "status", textNode(string(r.status)))))
		r.called = ""
	}
	r.steps.Content = append(r.steps.Content, step)
	if r.named, r.status = name, core.StatusError; e.Result.Valid() {
		r.status = e.Result.Status()
	}
}

// script is all of it, with a word on where it comes from. It can be played.
func (r *scriptRecorder) script(session string) ([]byte, error) {
	content, err := document(fmt.Sprintf("Turn %d of session %s, as gatehouse record wrote it.", r.turn, session), r.steps)
	if err != nil {
		return nil, err
	}
	var wrong *script.Fault
	if _, err := script.Parse("script", content); errors.As(err, &wrong) {
		return nil, &fault{code: codeFailed, message: fmt.Sprintf("turn %d of session %s cannot be played: %s", r.turn, session, wrong.Text)}
	}
	return content, nil
}

// document is a script of steps.
func document(comment string, steps *yaml.Node) ([]byte, error) {
	version := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: "1"}
	root := pairsNode("version", version, "steps", steps)
	if comment != "" {
		root.HeadComment = "# " + comment
	}
	var buf bytes.Buffer
	encoder := yaml.NewEncoder(&buf)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		return nil, err
	}
	return buf.Bytes(), encoder.Close()
}

// callStep is a call as a script has it; made is false for one that none can make.
func callStep(c core.ToolCall, name string) (step *yaml.Node, made bool) {
	decoder := json.NewDecoder(strings.NewReader(c.Args))
	decoder.UseNumber()
	var args map[string]any
	if err := decoder.Decode(&args); err != nil && (!errors.Is(err, io.EOF) || strings.TrimSpace(c.Args) != "") {
		return nil, false
	}
	values, made := valueNode(args)
	if !made {
		return nil, false
	}
	if c.Name != core.ToolAsk {
		step = pairsNode("call", textNode(c.Name), "args", values, "as", textNode(name))
	} else {
		values.Content = append(values.Content, textNode("as"), textNode(name))
		step = pairsNode("ask", values)
	}
	alone, err := document("", &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{step}})
	if err == nil {
		_, err = script.Parse("step", alone)
	}
	return step, err == nil
}

// valueNode is a JSON value in YAML, of the type that it has.
func valueNode(v any) (*yaml.Node, bool) {
	switch v := v.(type) {
	case string:
		return textNode(plainText(v)), true
	case json.Number:
		tag := "!!int"
		if strings.ContainsAny(v.String(), ".eE") {
			tag = "!!float"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: v.String()}, true
	case []any:
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range v {
			node, made := valueNode(item)
			if !made {
				return nil, false
			}
			list.Content = append(list.Content, node)
		}
		return list, true
	case map[string]any:
		mapping := &yaml.Node{Kind: yaml.MappingNode}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			node, made := valueNode(v[key])
			if !made {
				return nil, false
			}
			mapping.Content = append(mapping.Content, textNode(key), node)
		}
		return mapping, true
	default:
		node := &yaml.Node{}
		return node, node.Encode(v) == nil
	}
}

// plainText keeps what would insert a result as it is.
func plainText(s string) string { return strings.ReplaceAll(s, "${", "$${") }

// textNode is a text that stays one, whatever it looks like.
func textNode(s string) *yaml.Node {
	n := &yaml.Node{}
	if err := n.Encode(s); err != nil {
		n.SetString(s)
	}
	return n
}

// pairsNode is a mapping of names and nodes in turn.
func pairsNode(pairs ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i < len(pairs); i += 2 {
		n.Content = append(n.Content, textNode(pairs[i].(string)), pairs[i+1].(*yaml.Node))
	}
	return n
}
