package kit

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"gatehouse/core"
)

// Decode reads the arguments of a call into a struct, strictly: an object and nothing behind it, no argument that is
// not declared, none twice, none missing, each of its declared type. Null counts as missing. Every fault is a
// *core.CallError that names the argument and says what would be right.
func Decode(op core.Operation, args json.RawMessage, into any) error {
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage("{}")
	}
	members, err := objectMembers(op, args)
	if err != nil {
		return err
	}
	given := make(map[string]json.RawMessage, len(members))
	kept := make(map[string]json.RawMessage, len(members))
	for _, m := range members {
		if _, twice := given[m.name]; twice {
			return core.Invalid("%s: argument %q is given twice; give it once", op.Name, m.name)
		}
		given[m.name] = m.value
		if string(m.value) != "null" {
			kept[m.name] = m.value
		}
	}
	if err := checkParams(op, given, kept); err != nil {
		return err
	}
	raw, err := json.Marshal(kept)
	if err != nil {
		return core.Invalid("%s: arguments are not JSON; give one object", op.Name)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return core.Invalid("%s: argument %q holds a %s where another type is expected", op.Name, wrong.Field, wrong.Value)
		}
		return core.Invalid("%s: arguments cannot be read; see the declared types", op.Name)
	}
	return nil
}

type member struct {
	name  string
	value json.RawMessage
}

// objectMembers splits an object without losing duplicates, which encoding/json hides.
func objectMembers(op core.Operation, args json.RawMessage) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(args))
	fault := func(err error) error {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return core.Invalid("%s: arguments end in the middle, at byte %d", op.Name, len(args))
		}
		return core.Invalid("%s: arguments are not JSON at byte %d", op.Name, dec.InputOffset())
	}
	open, err := dec.Token()
	if err != nil {
		return nil, fault(err)
	}
	if open != json.Delim('{') {
		return nil, core.Invalid("%s: arguments must be one JSON object", op.Name)
	}
	var members []member
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, fault(err)
		}
		name, isName := key.(string)
		if !isName {
			return nil, fault(errors.New("not a name"))
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, fault(err)
		}
		members = append(members, member{name, value})
	}
	if _, err := dec.Token(); err != nil {
		return nil, fault(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, core.Invalid("%s: arguments must be one JSON object, with nothing behind it", op.Name)
	}
	return members, nil
}

func checkParams(op core.Operation, given, kept map[string]json.RawMessage) error {
	declared := make(map[string]bool, len(op.Params))
	names := make([]string, 0, len(op.Params))
	for _, p := range op.Params {
		declared[p.Name] = true
		names = append(names, p.Name)
		value, found := kept[p.Name]
		if !found {
			if !p.Optional {
				return core.Invalid("%s: argument %q is missing", op.Name, p.Name)
			}
			continue
		}
		if err := checkType(p.Type, value); err != nil {
			return core.Invalid("%s: argument %q %s", op.Name, p.Name, err)
		}
	}
	for name := range given {
		if !declared[name] {
			return core.Invalid("%s: no argument is called %q; it takes %s", op.Name, name, strings.Join(names, ", "))
		}
	}
	return nil
}

func checkType(want core.ParamType, raw json.RawMessage) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return errors.New("is not JSON")
	}
	ok := false
	switch want {
	case core.TypeString:
		_, ok = v.(string)
	case core.TypeBoolean:
		_, ok = v.(bool)
	case core.TypeArray:
		_, ok = v.([]any)
	case core.TypeObject:
		_, ok = v.(map[string]any)
	case core.TypeInteger:
		if n, isNumber := v.(json.Number); isNumber {
			_, err := n.Int64()
			ok = err == nil
		}
	case core.TypeBytes:
		if s, isString := v.(string); isString {
			_, err := base64.StdEncoding.DecodeString(s)
			ok = err == nil
		}
		if !ok {
			return errors.New("must be bytes in base64")
		}
	}
	if !ok {
		return fmt.Errorf("must be of type %s", want)
	}
	return nil
}
