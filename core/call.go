package core

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// changeRetries is how often a read or a preparation is repeated when the actions it depends on changed meanwhile
// (kernel R13, R16).
const changeRetries = 3

// CallRequest is one call by anyone: an agent, a person by hand, a client.
type CallRequest struct {
	Session string // id or name
	Binding BindingName
	Method  string
	Args    json.RawMessage // a JSON object; empty is {}
	Caller  Caller
}

// JSONError is an argument text that is not a JSON object.
type JSONError struct {
	Offset int64 // byte at which reading failed, from 1
	Err    error
}

func (e *JSONError) Error() string {
	return fmt.Sprintf("arguments: not a JSON object at byte %d: %v", e.Offset, e.Err)
}

func (e *JSONError) Unwrap() error { return e.Err }

// located is where a call goes.
type located struct {
	session    Session
	binding    Binding
	connection Connection
	resource   Resource
}

// Call runs one call through the gate and returns what was released. The error is for what never reaches the gate: an
// unknown session, binding or method, arguments that are not JSON, a context that ended, a store that failed. Everything
// else is a Released: refused, or an error whose text passed the gate.
func (k *Kernel) Call(ctx context.Context, r CallRequest) (Released, error) {
	args, err := compactArgs(r.Args)
	if err != nil {
		return Released{}, err
	}
	at, err := k.locate(ctx, r.Session, r.Binding)
	if err != nil {
		return Released{}, err
	}
	if err := k.mayCall(ctx, at.session, r.Caller.Person, r.Session); err != nil {
		return Released{}, err
	}
	op, found := findOperation(at.resource.Operations(), r.Method)
	if !found {
		return Released{}, notFound("method", string(r.Binding)+"."+r.Method, "its methods: "+methodNames(at.resource.Operations()))
	}
	c := &callInProgress{located: at, op: op, caller: r.Caller, args: args, method: r.Method}
	if stored, ok, err := k.storedAnswer(ctx, c); ok || err != nil {
		return stored, err
	}
	if err := op.checkArgs(args); err != nil {
		return k.releaseError(ctx, c, err)
	}
	carryOut := k.submit
	if op.IsRead() {
		carryOut = k.read
	}
	released, err := carryOut(ctx, c)
	if errors.Is(err, ErrNameTaken) {
		// The same call, made at the same moment, was answered first; this one did nothing.
		if stored, ok, lost := k.storedAnswer(ctx, c); ok && lost == nil {
			return stored, nil
		}
	}
	return released, err
}

// mayCall holds a caller's person against their role: it takes build to work in the session of another (kernel R12).
func (k *Kernel) mayCall(ctx context.Context, s Session, person PersonID, ref string) error {
	if person == "" || person == s.Owner {
		return nil
	}
	return k.store.Read(ctx, func(v View) error {
		_, err := sessionFor(v, ref, person, RoleBuild)
		return err
	})
}

// callInProgress is a call with all that is known of it before the service is asked.
type callInProgress struct {
	located
	op      Operation
	caller  Caller
	method  string
	args    json.RawMessage
	gaps    []Gap      // what an error does not take into account, where the call got as far as that
	reverts *Action    // for a revert: what is taken back, with its content
	by      Authority  // for a revert: who asked for it
	met     int        // how often its people changed under it
	leaving *departure // the last one that was let go
	hash    string     // of method and arguments; set for callers with a call id
}

func (c *callInProgress) passage(p Purpose) Passage {
	return Passage{
		Session: c.session, Binding: c.binding, Connection: c.connection, Caller: c.caller, Purpose: p, Method: c.method, Resource: c.resource,
	}
}

func (k *Kernel) locate(ctx context.Context, session string, name BindingName) (located, error) {
	var at located
	err := k.store.Read(ctx, func(v View) (err error) {
		at, err = locateIn(v, session, name)
		return err
	})
	if err != nil {
		return at, err
	}
	at.resource, err = k.resource(ctx, at.connection, at.binding.URL)
	return at, err
}

// locateIn finds everything but the resource, which may have to be opened.
func locateIn(v sessionView, session string, name BindingName) (located, error) {
	var at located
	var err error
	if at.session, err = findSession(v, session); err != nil {
		return at, err
	}
	if at.binding, err = v.Binding(at.session.ID, name); err != nil {
		return at, missingBinding(at.session, string(name), err)
	}
	at.connection, err = v.Connection(at.binding.Connection)
	return at, err
}

// compactArgs accepts one JSON object and nothing behind it.
func compactArgs(raw json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return json.RawMessage("{}"), nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	var object map[string]json.RawMessage
	if err := dec.Decode(&object); err != nil {
		return nil, &JSONError{Offset: jsonOffset(err, raw, dec), Err: err}
	}
	if object == nil {
		return nil, &JSONError{Offset: 1, Err: errors.New("null is not an object")}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, &JSONError{Offset: dec.InputOffset() + 1, Err: errors.New("something stands behind the object")}
	}
	var buf bytes.Buffer
	if err := json.Compact(&buf, raw); err != nil {
		return nil, &JSONError{Offset: jsonOffset(err, raw, dec), Err: err}
	}
	return buf.Bytes(), nil
}

func jsonOffset(err error, raw []byte, dec *json.Decoder) int64 {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return syntax.Offset
	case errors.As(err, &kind):
		return kind.Offset
	case errors.Is(err, io.ErrUnexpectedEOF):
		return int64(len(raw))
	default:
		return dec.InputOffset()
	}
}

func methodNames(operations []Operation) string {
	names := make([]string, len(operations))
	for i, o := range operations {
		names[i] = o.Name
	}
	return strings.Join(names, ", ")
}

// checkArgs holds arguments against the declared parameters: none unknown, none missing, each of its type.
func (o Operation) checkArgs(args json.RawMessage) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(args, &object); err != nil {
		return Invalid("%s: %v", o.Name, err)
	}
	known := make(map[string]bool, len(o.Params))
	for _, p := range o.Params {
		known[p.Name] = true
		raw, given := object[p.Name]
		switch {
		case !given && !p.Optional:
			return Invalid("%s: argument %q is missing; it takes %s", o.Name, p.Name, o.paramNames())
		case given && !p.Type.fits(raw):
			return Invalid("%s: argument %q must be of type %s", o.Name, p.Name, p.Type)
		}
	}
	for name := range object {
		if !known[name] {
			return Invalid("%s: no argument %q; it takes %s", o.Name, name, o.paramNames())
		}
	}
	return nil
}

func (o Operation) paramNames() string {
	names := make([]string, len(o.Params))
	for i, p := range o.Params {
		names[i] = p.Name
		if p.Optional {
			names[i] += "?"
		}
	}
	return strings.Join(names, ", ")
}

func (t ParamType) fits(raw json.RawMessage) bool {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return false
	}
	switch v := v.(type) {
	case string:
		return t == TypeString || t == TypeBytes
	case bool:
		return t == TypeBoolean
	case json.Number:
		_, err := v.Int64()
		return t == TypeInteger && err == nil
	case []any:
		return t == TypeArray
	case map[string]any:
		return t == TypeObject
	default:
		return false
	}
}

// storedAnswer gives a repeated call of a turn the answer it got (kernel R30).
func (k *Kernel) storedAnswer(ctx context.Context, c *callInProgress) (Released, bool, error) {
	if c.caller.CallID == "" || c.caller.Turn == 0 {
		return Released{}, false, nil
	}
	hash, err := argsHash(string(c.binding.Name)+"."+c.method, c.args)
	if err != nil {
		return Released{}, false, err
	}
	c.hash = hash
	var answer Answer
	err = k.store.Read(ctx, func(v View) (err error) {
		answer, err = v.Answer(c.session.ID, c.caller.Turn, c.caller.CallID, hash)
		return err
	})
	if errors.Is(err, ErrNotFound) {
		return Released{}, false, nil
	}
	if err != nil {
		return Released{}, false, err
	}
	released, err := rebuild(answer)
	return released, true, err
}

// keepAnswer stores what a call of a turn was told, in the transaction of its read or submit (agent 3).
func (c *callInProgress) keepAnswer(tx turnTx, body releasedBody) (Released, error) {
	out := release(body)
	if c.hash == "" {
		return out, nil
	}
	raw, err := json.Marshal(out.body)
	if err != nil {
		return Released{}, fmt.Errorf("answer of call %s: %w", c.caller.CallID, err)
	}
	return out, tx.InsertAnswer(Answer{
		Session: c.session.ID, Turn: c.caller.Turn, Step: c.caller.Step, CallID: c.caller.CallID,
		ArgsHash: c.hash, Body: raw,
	})
}

// actor is how the record names a caller.
func (c Caller) actor() string {
	switch {
	case c.Name != "":
		return string(c.Kind) + " " + c.Name
	case c.Person != "":
		return string(c.Person)
	default:
		return string(c.Kind)
	}
}

// entry begins a row of the record about this call.
func (c *callInProgress) entry(k *Kernel, t EventType, units []Unit, pairs map[string]any) Entry {
	pairs["binding"], pairs["method"], pairs["connection"] = c.binding.Name, c.method, c.connection.ID
	return Entry{
		At: k.clock.Now(), Type: t, Session: c.session.ID, Turn: c.caller.Turn, Actor: c.caller.actor(),
		Authority: string(c.caller.Person), Units: units,
		Subject: fmt.Sprintf("%s.%s", c.binding.Name, c.method), Detail: detail(pairs),
	}
}
