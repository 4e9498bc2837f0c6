package predicate_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/predicate"
)

func fields() []core.FieldDef {
	return []core.FieldDef{
		{Name: "path", Type: core.TypeString},
		{Name: "rows", Type: core.TypeInteger},
		{Name: "labels", Type: core.TypeArray},
		{Name: "data", Type: core.TypeBytes},
		{Name: "done", Type: core.TypeBoolean},
		{Name: "extra", Type: core.TypeObject},
	}
}

func TestCompile_FaultsHaveTheirPlace(t *testing.T) {
	for source, want := range map[string]core.PredicateError{
		"pth == 'a'":                   {Line: 1, Column: 1, Text: "undeclared reference to 'pth'"},
		"path == 'a' &&\n  rows < 'b'": {Line: 2, Column: 8, Text: "found no matching overload"},
		"path ==":                      {Line: 1, Column: 8, Text: "Syntax error"},
		"path":                         {Line: 1, Column: 1, Text: "true or false"},
		"":                             {Line: 1, Column: 1, Text: "Syntax error"},
	} {
		_, err := predicate.Compiler{}.Compile(fields(), source)
		var got *core.PredicateError
		if !errors.As(err, &got) || got.Line != want.Line || got.Column != want.Column || !strings.Contains(got.Text, want.Text) {
			t.Errorf("%q: got %v, want %v", source, err, &want)
		}
	}
	if _, err := (predicate.Compiler{}).Compile(fields(), strings.Repeat("(", 5000)); err == nil {
		t.Error("a long expression was read")
	}
}

func TestMet(t *testing.T) {
	values := map[string]json.RawMessage{
		"path": []byte(`"docs/a.md"`), "rows": []byte(`12`), "labels": []byte(`["x","y"]`), "data": []byte(`"aGk="`),
		"done": []byte(`true`), "extra": []byte(`{"k":1}`), "undeclared": []byte(`1`),
	}
	for source, want := range map[string]bool{
		`path.startsWith("docs/") && rows <= 100`: true, `rows > 100`: false, `"x" in labels`: true, `data == b"hi"`: true,
		`done`: true, `extra.k == 1`: true, `path.matches("^docs/.*[.]md$")`: true,
	} {
		p, err := predicate.Compiler{}.Compile(fields(), source)
		if err != nil {
			t.Fatalf("%q: %v", source, err)
		}
		if got, err := p.Met(context.Background(), values); err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", source, got, err, want)
		}
	}
}

func TestMet_WhatIsMissingOrEndlessIsNoYes(t *testing.T) {
	endless := "[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, " +
		"[1,2,3,4,5,6,7,8,9].all(d, [1,2,3,4,5,6,7,8,9].all(e, [1,2,3,4,5,6,7,8,9].all(f, a+b+c+d+e+f > 0))))))"
	for _, source := range []string{`rows < 5`, endless} {
		p, err := predicate.Compiler{}.Compile(fields(), source)
		if err != nil {
			t.Fatal(err)
		}
		if met, err := p.Met(context.Background(), map[string]json.RawMessage{"rows": []byte("null")}); met || err == nil {
			t.Errorf("%q: got %v, %v, want an error and no yes", source, met, err)
		}
	}
}
