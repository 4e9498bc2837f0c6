package script_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/gatekeepers/model/script"
)

func TestParse_FaultsNameFileAndLine(t *testing.T) {
	const head = "version: 1\nsteps:\n"
	for _, c := range []struct{ name, script, want string }{
		{"empty", "", "f.yaml: empty; a script has version: 1 and steps"},
		{"not YAML", "version: 1\nsteps: [\n", "f.yaml:2: not YAML"},
		{"a list", "- say: x\n", "f.yaml:1: a script must be a mapping"},
		{"no version", "steps: []\n", "f.yaml:1: no version; write version: 1"},
		{"other version", "version: 2\nsteps: []\n", `f.yaml:1: version "2" is not known`},
		{"no steps", "version: 1\n", "f.yaml:1: no steps"},
		{"steps no list", "version: 1\nsteps: {}\n", "f.yaml:2: steps must be a list"},
		{"unknown top key", "version: 1\nname: x\nsteps: []\n", `f.yaml:2: a script has no "name"`},
		{"two documents", head + "  - say: x\n---\nsteps: []\n", "f.yaml:"},
		{"key twice", "version: 1\nversion: 1\nsteps: []\n", `f.yaml:2: "version" stands twice`},

		{"empty step", head + "  - say: x\n  -\n", "f.yaml:4: a step must be one of say, call, ask, expect"},
		{"unknown step", head + "  - say: x\n  - shout: x\n", `f.yaml:4: unknown step "shout"; a step is one of`},
		{"step without kind", head + "  - as: x\n", "f.yaml:3: a step without say, without call"},
		{"two kinds", head + "  - say: x\n    call: A.b\n", "f.yaml:4: a step is one of say, call, ask, expect, not say and call"},
		{"code", head + "  - say: x\n  - code: |\n      env.SITE.read({})\n", "f.yaml:4: code steps cannot be run yet"},
		{"args of a say", head + "  - say: x\n    args: {}\n", `f.yaml:4: a say step has no "args"`},
		{"say no text", head + "  - say: [x]\n", "f.yaml:3: say must be a text"},

		{"call without a method", head + "  - call: SITE\n", `f.yaml:3: call "SITE": write BINDING.METHOD`},
		{"args no mapping", head + "  - call: A.b\n    args: [1]\n", "f.yaml:4: args must be a mapping"},
		{"argument twice", head + "  - call: A.b\n    args:\n      x: 1\n      x: 2\n", `f.yaml:6: "x" stands twice`},
		{"alias", head + "  - call: A.b\n    args:\n      x: &a 1\n      y: *a\n", "f.yaml:6: anchors and aliases cannot be used"},
		{"not a number", head + "  - call: A.b\n    args: {x: .inf}\n", `f.yaml:4: ".inf" cannot be read`},
		{"bad name", head + "  - call: A.b\n    as: a-b\n", `f.yaml:4: as "a-b": use letters, digits and _`},
		{"name taken", head + "  - call: A.b\n    as: x\n  - call: A.b\n    as: x\n", `f.yaml:6: as "x": taken on line 4`},

		{"unknown reference", head + "  - say: x\n  - say: ${y.z}\n", `f.yaml:4: no earlier step is named "y" with as`},
		{"own reference", head + "  - call: A.b\n    args: {x: \"${y}\"}\n    as: y\n", `f.yaml:4: no earlier step is named "y"`},
		{"open reference", head + "  - say: a ${y\n", "f.yaml:3: ${ without its }"},
		{"empty part", head + "  - call: A.b\n    as: y\n  - say: ${y..z}\n", `f.yaml:5: "y..z" has an empty part`},

		{"ask no mapping", head + "  - ask: why\n", "f.yaml:3: ask must be a mapping"},
		{"ask without question", head + "  - ask: {choices: [a]}\n", "f.yaml:3: ask without a question"},
		{"choices no list", head + "  - ask: {question: a, choices: b}\n", "f.yaml:3: choices must be a list"},

		{"expect of nothing", head + "  - expect: {equals: 1}\n", "f.yaml:3: expect without of"},
		{"expect nothing", head + "  - call: A.b\n    as: y\n  - expect: {of: y}\n", "f.yaml:5: expect says nothing of y"},
		{"expect of unknown", head + "  - expect: {of: y, equals: 1}\n", `f.yaml:3: no earlier step is named "y"`},
		{"unknown status", head + "  - call: A.b\n    as: y\n  - expect: {of: y, status: fine}\n", `f.yaml:5: status "fine"`},
		{"pending no number", head + "  - call: A.b\n    as: y\n  - expect: {of: y, pending: two}\n", `f.yaml:5: pending "two"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := script.Parse("f.yaml", []byte(c.script))
			var fault *script.Fault
			if !errors.As(err, &fault) {
				t.Fatalf("got %v, want a fault", err)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, want %q", err, c.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q, want one line", err)
			}
		})
	}
}

// next plays one step of a script over calls that were answered "nothing".
func next(t *testing.T, s *script.Script, history ...core.Exchange) core.Response {
	t.Helper()
	r, err := s.Complete(context.Background(), core.Request{Turn: 1, Step: len(history) + 1, History: history}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// unanswered is a step as it stands in the transcript when its calls gave nothing.
func unanswered(step int, r core.Response) core.Exchange {
	return core.Exchange{Turn: 1, Step: step, Response: r, Results: make([]core.Released, len(r.Calls))}
}

func TestComplete_CallsUpToTheNextSayAreOneResponse(t *testing.T) {
	s, err := script.Parse("f.yaml", []byte(`
version: 1
steps:
  - say: one
  - say: two
  - call: A.x
    args: {n: 7, s: "7", f: 1.5, b: true, nothing: null, when: 2026-03-01, list: [a, {k: v}], html: <b>}
  - call: A.y
  - ask: {question: why, choices: [1, yes]}
  - say: three
`))
	if err != nil {
		t.Fatal(err)
	}
	r := next(t, s)
	if r.Text != "one\n\ntwo" || len(r.Calls) != 3 {
		t.Fatalf("got %+v, want both texts with three calls", r)
	}
	const args = `{"b":true,"f":1.5,"html":"<b>","list":["a",{"k":"v"}],"n":7,"nothing":null,"s":"7","when":"2026-03-01"}`
	if r.Calls[0].Args != args {
		t.Errorf("got %s, want %s", r.Calls[0].Args, args)
	}
	if r.Calls[1].Name != "A.y" || r.Calls[1].Args != "{}" {
		t.Errorf("got %+v, want no arguments", r.Calls[1])
	}
	if r.Calls[2].Name != core.ToolAsk || r.Calls[2].Args != `{"choices":["1","yes"],"question":"why"}` {
		t.Errorf("got %+v, want the question", r.Calls[2])
	}
	ids := map[string]bool{r.Calls[0].ID: true, r.Calls[1].ID: true, r.Calls[2].ID: true}
	if len(ids) != 3 {
		t.Errorf("got ids %v, want three", ids)
	}
}

func TestComplete_AUsedResultBeginsTheNextResponse(t *testing.T) {
	s, err := script.Parse("f.yaml", []byte(`
version: 1
steps:
  - call: A.x
    as: first
  - call: A.y
  - call: A.z
    args: {plain: "$${first}", of: "${first.value}"}
  - call: A.w
`))
	if err != nil {
		t.Fatal(err)
	}
	r := next(t, s)
	if len(r.Calls) != 2 || r.Calls[1].Name != "A.y" {
		t.Errorf("got %+v, want the response to end before the call that uses its result", r.Calls)
	}
}

func TestComplete_AnotherScriptsTranscriptIsAFault(t *testing.T) {
	s, err := script.Parse("f.yaml", []byte("version: 1\nsteps:\n  - call: A.x\n"))
	if err != nil {
		t.Fatal(err)
	}
	other := core.Response{Calls: []core.ToolCall{{ID: "1", Name: "B.y", Args: "{}"}}}
	_, err = s.Complete(context.Background(), core.Request{Turn: 1, Step: 2, History: []core.Exchange{unanswered(1, other)}}, nil)
	if err == nil || !strings.Contains(err.Error(), "f.yaml:3: step 1 of the turn was made by another script") {
		t.Errorf("got %v, want a fault", err)
	}
}

func TestDefault_SaysWhatToDo(t *testing.T) {
	s, err := script.Default()
	if err != nil {
		t.Fatal(err)
	}
	r := next(t, s)
	if !strings.Contains(r.Text, "--script FILE") || len(r.Calls) != 0 || s.Name() != "script default" {
		t.Errorf("got %q by %q, want a hint and no calls", r.Text, s.Name())
	}
	if again := next(t, s, unanswered(1, r)); again.Text != "" || len(again.Calls) != 0 {
		t.Errorf("got %+v behind the end, want nothing", again)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("version: 1\nsteps:\n  - say: ${x}\n  - call: A.b\n    args: {a: [1, {b: ~}]}\n    as: x\n  - expect: {of: x.y, contains: 1}\n")
	f.Add("version: 1\nsteps:\n  - ask: {question: a, choices: [b], as: c}\n  - say: $${ ${c.answer}\n")
	f.Fuzz(func(t *testing.T, data string) {
		s, err := script.Parse("f.yaml", []byte(data))
		var fault *script.Fault
		if err != nil && !errors.As(err, &fault) {
			t.Fatalf("got %v, want a fault", err)
		}
		if err == nil {
			_, _ = s.Complete(context.Background(), core.Request{Turn: 1, Step: 1}, nil)
		}
	})
}
