// Package predicate compiles the conditions that people write over declared, typed names: those of rules for approval
// (kernel R23). They are expressions of the Common Expression Language. A name that is not declared, and an expression
// that is neither true nor false, are refused when they are compiled, with line and column.
package predicate

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"cel.dev/cel-go/cel"

	"gatehouse/core"
)

// Limits of an expression.
const (
	sourceLimit = 4096    // bytes
	costLimit   = 100_000 // steps that one evaluation may take, as the library counts them
)

// Compiler implements core.Predicates.
type Compiler struct{}

var _ core.Predicates = Compiler{}

// Compile reads an expression over the fields of an action kind. Errors are a *core.PredicateError.
func (Compiler) Compile(fields []core.FieldDef, source string) (core.Predicate, error) {
	if len(source) > sourceLimit {
		return nil, &core.PredicateError{Line: 1, Column: 1, Text: fmt.Sprintf("longer than %d bytes", sourceLimit)}
	}
	options := make([]cel.EnvOption, 0, len(fields))
	for _, f := range fields {
		options = append(options, cel.Variable(f.Name, typeOf(f.Type)))
	}
	env, err := cel.NewEnv(options...)
	if err != nil {
		return nil, fmt.Errorf("predicate: %w", err)
	}
	ast, issues := env.Compile(source)
	if issues != nil && issues.Err() != nil {
		return nil, firstOf(issues)
	}
	if ast.OutputType() != cel.BoolType {
		return nil, &core.PredicateError{Line: 1, Column: 1, Text: fmt.Sprintf("is %s; write a condition that is true or false", ast.OutputType())}
	}
	program, err := env.Program(ast, cel.CostLimit(costLimit), cel.InterruptCheckFrequency(100))
	if err != nil {
		return nil, fmt.Errorf("predicate: %w", err)
	}
	types := make(map[string]core.ParamType, len(fields))
	for _, f := range fields {
		types[f.Name] = f.Type
	}
	return &condition{program: program, types: types}, nil
}

// firstOf is the first fault of an expression, where it stands.
func firstOf(issues *cel.Issues) error {
	first := issues.Errors()[0]
	return &core.PredicateError{Line: first.Location.Line(), Column: max(first.Location.Column()+1, 1), Text: first.Message}
}

func typeOf(t core.ParamType) *cel.Type {
	switch t {
	case core.TypeString:
		return cel.StringType
	case core.TypeInteger:
		return cel.IntType
	case core.TypeBoolean:
		return cel.BoolType
	case core.TypeBytes:
		return cel.BytesType
	case core.TypeArray:
		return cel.ListType(cel.DynType)
	default:
		return cel.MapType(cel.StringType, cel.DynType)
	}
}

type condition struct {
	program cel.Program
	types   map[string]core.ParamType
}

// Met reports whether the condition holds over the values that will be sent. A field that an action does not have makes
// an expression that needs it an error, and an error is no yes.
func (c *condition) Met(ctx context.Context, values map[string]json.RawMessage) (bool, error) {
	activation := make(map[string]any, len(values))
	for name, raw := range values {
		t, declared := c.types[name]
		if !declared || len(raw) == 0 || string(raw) == "null" {
			continue
		}
		value, err := valueOf(t, raw)
		if err != nil {
			return false, fmt.Errorf("field %s: %w", name, err)
		}
		activation[name] = value
	}
	out, _, err := c.program.ContextEval(ctx, activation)
	if err != nil {
		return false, fmt.Errorf("predicate: %w", err)
	}
	met, isBool := out.Value().(bool)
	return isBool && met, nil
}

func valueOf(t core.ParamType, raw json.RawMessage) (any, error) {
	switch t {
	case core.TypeString:
		return decode[string](raw)
	case core.TypeInteger:
		return decode[int64](raw)
	case core.TypeBoolean:
		return decode[bool](raw)
	case core.TypeArray:
		return decode[[]any](raw)
	case core.TypeBytes:
		text, err := decode[string](raw)
		if err != nil {
			return nil, err
		}
		return base64.StdEncoding.DecodeString(text)
	default:
		return decode[map[string]any](raw)
	}
}

func decode[T any](raw json.RawMessage) (T, error) {
	var v T
	err := json.Unmarshal(raw, &v)
	return v, err
}
