package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"gatehouse/core"
)

const hintJSON = `write the arguments as one JSON object, such as '{"path":"index.html"}'`

// argsLimit is how many bytes of arguments are read from standard input: more
// than the largest write of any driver takes when each byte is escaped.
const argsLimit = 16 << 20

func (a *app) callCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "call SESSION BINDING.METHOD [JSON|-]",
		Short: "Call what an agent would call, through the same gates",
		Long: `Call a method of a binding by hand, as an agent would, through the same gates.
Reads show what is queued; writes are queued. The arguments are one JSON object;
- reads it from standard input.

The answer is an object with status (ok, pending, refused, error), value,
pending (how many queued effects the value shows), incomplete (those that it
does not show), action (what was queued), units and reason. The exit code is 0
for ok and pending, 3 for refused, 1 for error.

gatehouse gatekeeper show KIND lists the methods.`,
		Example: `  gatehouse call site-refresh SITE.list '{"path":""}'
  gatehouse call site-refresh SITE.write '{"path":"robots.txt","text":"User-agent: *\n"}'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 3 {
				return nil
			}
			return exactly("SESSION", "BINDING.METHOD")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			given := "{}"
			if len(args) == 3 {
				given = args[2]
			}
			return a.call(cmd.Context(), args[0], args[1], given)
		},
	}
}

func (a *app) call(ctx context.Context, session, target, given string) error {
	binding, method, found := strings.Cut(target, ".")
	if !found || binding == "" || method == "" {
		return usage("write it as SITE.read", "%q: not a binding and a method", target)
	}
	args := []byte(given)
	if given == "-" {
		read, err := interruptibly(ctx, func() ([]byte, error) { return io.ReadAll(io.LimitReader(a.in.stdin, argsLimit+1)) })
		if err != nil {
			return fmt.Errorf("standard input: %w", err)
		}
		if len(read) > argsLimit {
			return usage("", "arguments: more than %d bytes", argsLimit)
		}
		args = read
	}
	if err := checkArgs(args); err != nil {
		return err
	}
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	if err := a.enter(ctx, p, session, core.RoleBuild); err != nil {
		return err
	}
	released, err := p.kernel.Call(ctx, core.CallRequest{
		Session: session, Binding: core.BindingName(binding), Method: method, Args: args,
		Caller: core.Caller{Kind: core.CallerPerson, Person: p.person},
	})
	if err != nil {
		return a.withMethod(ctx, p, session, binding, method, err)
	}
	if err := a.printReleased(released); err != nil {
		return err
	}
	switch released.Status() {
	case core.StatusOK, core.StatusPending:
		return nil
	case core.StatusRefused:
		return told(codeDenied)
	default:
		return told(codeFailed)
	}
}

// releasedObject is what is printed of an answer; the fields are always there.
type releasedObject struct {
	Status     core.Status     `json:"status"`
	Value      json.RawMessage `json:"value"`
	Pending    int             `json:"pending"`
	Incomplete []core.Gap      `json:"incomplete"`
	Action     *core.ActionID  `json:"action"` // null where nothing was queued
	Units      []core.Unit     `json:"units"`
	Code       string          `json:"code"`
	Reason     string          `json:"reason"`
}

func (a *app) printReleased(r core.Released) error {
	o := releasedObject{
		Status: r.Status(), Value: r.Value(), Pending: r.Pending(), Incomplete: list(r.Incomplete()),
		Units: list(r.Units()), Code: r.Code(), Reason: r.Reason(),
	}
	if id := r.Action(); id != 0 {
		o.Action = &id
	}
	if a.json {
		return a.object(o)
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return a.pretty(raw)
}

// checkArgs says at which line and column a text stops being one JSON object.
func checkArgs(args []byte) error {
	if len(bytes.TrimSpace(args)) == 0 {
		return usage(hintJSON, "arguments: empty")
	}
	var object map[string]json.RawMessage
	decoder := json.NewDecoder(bytes.NewReader(args))
	err := decoder.Decode(&object)
	offset := decoder.InputOffset()
	var (
		syntax *json.SyntaxError
		kind   *json.UnmarshalTypeError
	)
	switch {
	case err == nil && object != nil:
		rest := bytes.TrimSpace(args[offset:])
		if len(rest) == 0 {
			return nil
		}
		offset = int64(len(args) - len(bytes.TrimLeft(args[offset:], " \t\r\n")) + 1)
		return malformed(args, offset, "more behind the object")
	case errors.As(err, &syntax):
		return malformed(args, syntax.Offset, syntax.Error())
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return malformed(args, int64(len(args))+1, "ends in the middle")
	case errors.As(err, &kind), err == nil:
		return malformed(args, 1, "not an object")
	default:
		return malformed(args, max(offset, 1), err.Error())
	}
}

// malformed names the place of a byte, counted from 1, for a person.
func malformed(args []byte, offset int64, why string) error {
	before := args[:min(max(offset-1, 0), int64(len(args)))]
	row := bytes.Count(before, []byte("\n")) + 1
	column := len([]rune(string(before[bytes.LastIndexByte(before, '\n')+1:]))) + 1
	return usage(hintJSON, "arguments: line %d, column %d: %s", row, column, why)
}

// withMethod adds the nearest name to an answer that something does not exist.
func (a *app) withMethod(ctx context.Context, p *parts, session, binding, method string, err error) error {
	var missing *core.NotFoundError
	if !errors.As(err, &missing) {
		return err
	}
	hint := missing.Hint
	switch missing.Name {
	case method, binding + "." + method:
		operations, _, listed := p.kernel.Operations(ctx, session, core.BindingName(binding))
		if listed != nil {
			break
		}
		var methods []string
		for _, o := range operations {
			methods = append(methods, o.Name)
		}
		hint = "it has " + strings.Join(methods, ", ")
		if near, found := nearest(method, methods); found {
			hint = "did you mean " + binding + "." + near + "?"
		}
	case binding:
		bound, listed := p.kernel.Bindings(ctx, session)
		if listed != nil {
			break
		}
		var bindings []string
		for _, b := range bound {
			bindings = append(bindings, string(b.Name))
		}
		if near, found := nearest(binding, bindings); found {
			hint = "did you mean " + near + "?"
		}
	}
	return &fault{code: codeNotFound, message: missing.Error(), hint: hint}
}
