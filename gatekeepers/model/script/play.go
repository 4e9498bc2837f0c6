package script

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"gatehouse/core"
)

var _ core.Model = (*Script)(nil)

// Name implements core.Model.
func (s *Script) Name() string { return "script " + filepath.Base(s.file) }

// Destination implements core.Model: nothing leaves this machine.
func (s *Script) Destination() string { return "local" }

// Complete implements core.Model. The response is the one behind those that this turn has had; an expectation that does
// not hold is a *Fault.
func (s *Script) Complete(ctx context.Context, r core.Request, onDelta func(string)) (core.Response, error) {
	if err := ctx.Err(); err != nil {
		return core.Response{}, err
	}
	scope, place, err := s.replay(r)
	if err != nil {
		return core.Response{}, err
	}
	if place >= len(s.responses) {
		return core.Response{}, nil
	}
	next := s.responses[place]
	for _, e := range next.expects {
		if err := scope.check(e); err != nil {
			return core.Response{}, err
		}
	}
	var out core.Response
	said := make([]string, len(next.says))
	for i, say := range next.says {
		if said[i], err = say.renderText(scope); err != nil {
			return core.Response{}, err
		}
	}
	out.Text = strings.Join(said, "\n\n")
	for i, c := range next.calls {
		args, err := c.args.render(scope)
		if err != nil {
			return core.Response{}, err
		}
		raw, err := plainJSON(args)
		if err != nil {
			return core.Response{}, scope.fault(c.line, "args: %v", err)
		}
		out.Calls = append(out.Calls, core.ToolCall{ID: fmt.Sprintf("%d.%d", place+1, i+1), Name: c.target, Args: raw})
	}
	if onDelta != nil && out.Text != "" {
		onDelta(out.Text)
	}
	return out, nil
}

// plainJSON is JSON without the escapes that are meant for web pages.
func plainJSON(v any) (string, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(buf.String(), "\n"), nil
}

// replay counts the responses that the turn has had and gathers their results by name.
func (s *Script) replay(r core.Request) (*scope, int, error) {
	scope := &scope{file: s.file, results: make(map[string]*result)}
	place := 0
	byAction := make(map[core.ActionID]*result)
	settle := func(decisions []core.Decided) {
		for _, d := range decisions {
			if held, ours := byAction[d.ID]; ours {
				held.settle(d)
			}
		}
	}
	for _, e := range r.History {
		if e.Turn != r.Turn {
			continue
		}
		settle(e.Decisions)
		if place < len(s.responses) {
			calls := s.responses[place].calls
			if len(calls) != len(e.Response.Calls) {
				return nil, 0, &Fault{File: s.file, Text: fmt.Sprintf("step %d of the turn was made by another script", e.Step)}
			}
			for i, c := range calls {
				if c.target != e.Response.Calls[i].Name {
					return nil, 0, &Fault{File: s.file, Line: c.line, Text: fmt.Sprintf("step %d of the turn was made by another script", e.Step)}
				}
				held, err := newResult(e.Results[i])
				if err != nil {
					return nil, 0, err
				}
				if c.as != "" {
					scope.results[c.as] = held
				}
				if id := e.Results[i].Action(); id != 0 {
					byAction[id] = held
				}
			}
		}
		place++
	}
	settle(r.Decisions)
	return scope, place, nil
}

// result is what a call gave, and what became of it.
type result struct {
	waits    bool // the call was told pending
	envelope map[string]any
	value    any
}

func newResult(r core.Released) (*result, error) {
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	out := &result{waits: r.Status() == core.StatusPending}
	decoded, err := decodeJSON(raw)
	if err != nil {
		return nil, err
	}
	out.envelope, _ = decoded.(map[string]any)
	out.value = out.envelope["value"]
	return out, nil
}

func decodeJSON(raw []byte) (any, error) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	err := dec.Decode(&v)
	return v, err
}

// settle adds what people decided. Only a call that waited changes its status and value by it.
func (r *result) settle(d core.Decided) {
	r.envelope["state"] = d.State
	if d.Reason != "" {
		r.envelope["reason"] = d.Reason
	}
	if !r.waits {
		return
	}
	switch d.State {
	case string(core.StateApplied), string(core.QuestionAnswered):
		r.envelope["status"] = string(core.StatusOK)
	case string(core.StateRejected):
		r.envelope["status"] = string(core.StatusRefused)
	default:
		r.envelope["status"] = string(core.StatusError)
	}
	if d.Question {
		r.value, r.envelope["answer"] = d.Answer, d.Answer
		return
	}
	if v, err := decodeJSON([]byte(d.Result)); err == nil {
		r.value = v
	}
}

// scope is the results so far by name.
type scope struct {
	file    string
	results map[string]*result
}

func (s *scope) fault(line int, format string, args ...any) *Fault {
	return &Fault{File: s.file, Line: line, Text: fmt.Sprintf(format, args...)}
}

func (s *scope) resolve(r reference) (any, error) {
	held, found := s.results[r.name]
	if !found {
		return nil, s.fault(r.line, "%s: no result yet", r.name)
	}
	if len(r.path) == 0 {
		return held.value, nil
	}
	if v, found := walk(held.value, r.path); found {
		return v, nil
	}
	if v, found := walk(map[string]any(held.envelope), r.path); found {
		return v, nil
	}
	return nil, s.fault(r.line, "%s: the result has no such part", r)
}

func walk(v any, path []string) (any, bool) {
	for _, word := range path {
		switch inner := v.(type) {
		case map[string]any:
			next, found := inner[word]
			if !found {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(word)
			if err != nil || i < 0 || i >= len(inner) {
				return nil, false
			}
			v = inner[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// shownLimit is how much of a result stands in a fault.
const shownLimit = 200

func shown(v any) string {
	raw, err := plainJSON(v)
	if err != nil {
		return "?"
	}
	if len(raw) > shownLimit {
		raw = strings.ToValidUTF8(raw[:shownLimit], "") + "…"
	}
	return raw
}

func (s *scope) check(e expectation) error {
	held, found := s.results[e.of.name]
	if !found {
		return s.fault(e.line, "%s: no result yet", e.of.name)
	}
	for _, envelope := range []struct {
		name string
		want *value
	}{{"status", e.status}, {"pending", e.pending}} {
		if envelope.want == nil {
			continue
		}
		want, err := envelope.want.render(s)
		if err != nil {
			return err
		}
		if got := held.envelope[envelope.name]; !same(got, want) {
			return s.fault(e.line, "expected %s of %s to be %s, got %s%s", envelope.name, e.of.name, shown(want), shown(got), held.why())
		}
	}
	if e.contains == nil && e.equals == nil {
		return nil
	}
	got, err := s.resolve(e.of)
	if err != nil {
		return err
	}
	if e.equals != nil {
		want, err := e.equals.render(s)
		if err != nil {
			return err
		}
		if !same(got, want) {
			return s.fault(e.line, "expected %s to equal %s, got %s%s", e.of, shown(want), shown(got), held.why())
		}
	}
	if e.contains != nil {
		want, err := e.contains.render(s)
		if err != nil {
			return err
		}
		if !holds(got, want) {
			return s.fault(e.line, "expected %s to contain %s, got %s%s", e.of, shown(want), shown(got), held.why())
		}
	}
	return nil
}

// why is the reason of a call that went wrong.
func (r *result) why() string {
	if reason, is := r.envelope["reason"].(string); is && reason != "" {
		return ": " + reason
	}
	return ""
}

// same compares as JSON: a number is a number however it was written.
func same(a, b any) bool { return reflect.DeepEqual(normal(a), normal(b)) }

func normal(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return v
	}
	var out any
	if json.Unmarshal(raw, &out) != nil {
		return v
	}
	return out
}

// holds reports that a text stands in any text of a value, or that a value is an element of it.
func holds(got, want any) bool {
	switch got := got.(type) {
	case string:
		text, is := want.(string)
		return is && strings.Contains(got, text)
	case []any:
		for _, item := range got {
			if same(item, want) || holds(item, want) {
				return true
			}
		}
	case map[string]any:
		for _, item := range got {
			if holds(item, want) {
				return true
			}
		}
	default:
		return same(got, want)
	}
	return false
}
