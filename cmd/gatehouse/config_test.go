package main

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
)

// aloneWith clears everything of the environment that configures, and writes a
// configuration file.
func aloneWith(t *testing.T, content string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(name, filepath.Join(dir, name))
	}
	for _, k := range configKeys() {
		t.Setenv(k.env, "")
	}
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// another is a valid value that is not the default, as it stands in the
// environment and in the file.
func another(t *testing.T, k key) (env, file string) {
	t.Helper()
	switch v := k.value.(type) {
	case int:
		return "17", "17"
	case bool:
		return strconv.FormatBool(!v), strconv.FormatBool(!v)
	case time.Duration:
		return "7m", "7m"
	case []string:
		return "ONE,TWO", "[ONE, TWO]"
	case tokenLimit:
		return "7000", "7000"
	case costLimit:
		return "2.5", "2.5"
	case prices:
		return "a/b=1.25/10,c=0/0", "[{name: a/b, input_per_million: 1.25, output_per_million: 10}, {name: c, input_per_million: 0, output_per_million: 0}]"
	case egressRules:
		rules := `[{"name": "none", "when": "sink.local", "decide": "deny"}]`
		return rules, rules
	case string:
		for _, choice := range k.choices {
			if choice != v {
				return choice, choice
			}
		}
		if len(k.choices) == 1 {
			return "", ""
		}
		return "/elsewhere/file", "/elsewhere/file"
	}
	t.Fatalf("%s: no test for a key of type %T", k.name, k.value)
	return "", ""
}

// nested writes a.b as a mapping.
func nested(name, value string) string {
	if group, rest, found := strings.Cut(name, "."); found {
		return group + ":\n  " + rest + ": " + value + "\n"
	}
	return name + ": " + value + "\n"
}

// Every key of the table has a default, a variable that is bound, a place in
// the settings, and a line in the help.
func TestConfiguration_Table(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range configKeys() {
		t.Run(k.name, func(t *testing.T) {
			if want := "GATEHOUSE_" + strings.ToUpper(strings.ReplaceAll(k.name, ".", "_")); k.env != want {
				t.Errorf("variable: got %s, want %s", k.env, want)
			}
			if seen[k.env] || seen[k.name] || k.about == "" || strings.ToLower(k.name) != k.name {
				t.Error("stands in the table twice, has capitals, or says nothing about itself")
			}
			seen[k.env], seen[k.name] = true, true
			path := aloneWith(t, "")
			standard := valueOf(t, path, k.name)
			if d, ok := k.value.(time.Duration); ok {
				k.value = shortTime(d)
			}
			if k.value = expandDirs(k); !reflect.DeepEqual(standard, k.value) {
				t.Errorf("default: got %v, want %v", standard, k.value)
			}
			env, file := another(t, keyNamed(t, k.name))
			if env == "" {
				return
			}
			path = aloneWith(t, nested(k.name, file))
			fromFile := valueOf(t, path, k.name)
			if reflect.DeepEqual(fromFile, standard) {
				t.Errorf("%s in the file: the default %v holds", file, standard)
			}
			path = aloneWith(t, "")
			t.Setenv(k.env, env)
			if got := valueOf(t, path, k.name); !reflect.DeepEqual(got, fromFile) {
				t.Errorf("%s=%s: got %v, want %v", k.env, env, got, fromFile)
			}
		})
	}
}

func keyNamed(t *testing.T, name string) key {
	t.Helper()
	for _, k := range configKeys() {
		if k.name == name {
			return k
		}
	}
	t.Fatalf("no key %s", name)
	return key{}
}

// expandDirs is the default in the folders that hold now.
func expandDirs(k key) any {
	for _, now := range configKeys() {
		if now.name == k.name && k.path {
			return now.value
		}
	}
	return k.value
}

func valueOf(t *testing.T, path, name string) any {
	t.Helper()
	c, err := loadConfiguration(globalFlags{config: path})
	if err != nil {
		t.Fatal(err)
	}
	values := c.values()
	if len(values) != len(configKeys()) {
		t.Fatalf("%d values, %d keys", len(values), len(configKeys()))
	}
	return values[name]
}

func TestConfiguration_FileEnvironmentFlag(t *testing.T) {
	path := aloneWith(t, "queue:\n  cap: 5\nstore: below/own.db\n")
	c, err := loadConfiguration(globalFlags{config: path})
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(filepath.Dir(path), "below", "own.db"); c.Queue.Cap != 5 || c.Store != want {
		t.Errorf("file: got %d, %s; want 5, %s", c.Queue.Cap, c.Store, want)
	}
	t.Setenv("GATEHOUSE_QUEUE_CAP", "6")
	t.Setenv("GATEHOUSE_STORE", "/env.db")
	if c, err = loadConfiguration(globalFlags{config: path}); err != nil || c.Queue.Cap != 6 || c.Store != "/env.db" {
		t.Errorf("environment: got %d, %s, %v; want 6, /env.db", c.Queue.Cap, c.Store, err)
	}
	if c, err = loadConfiguration(globalFlags{config: path, store: "/flag.db"}); err != nil || c.Store != "/flag.db" {
		t.Errorf("flag: got %s, %v; want /flag.db", c.Store, err)
	}
}

func TestConfiguration_Refused(t *testing.T) {
	for _, c := range []struct{ content, want string }{
		{"stor: x\n", ":1: unknown key stor"},
		{"# a\n\nqueue:\n  cap: 1\n  size: 2\n", ":5: unknown key queue.size"},
		{"Queue:\n  cap: 1\n", ":1: unknown key Queue"},
		{"queue.cap: 1\n", ":1: "},
		{"queue: 7\n", ":1: queue holds keys of its own"},
		{"queue:\n  cap: many\n", `:2: key queue.cap: "many" is not a number`},
		{"queue:\n  cap: 0\n", ":2: key queue.cap"},
		{"queue:\n  cap:\n", ":2: key queue.cap"},
		{"decisions:\n  require_key: yep\n", ":2: key decisions.require_key"},
		{"turns:\n  time: 30\n", ":2: key turns.time"},
		{"turns:\n  time: -5m\n", ":2: key turns.time"},
		{"ui:\n  theme: pink\n", ":2: key ui.theme"},
		{"store: [a]\n", ":1: key store: not a single value"},
		{"store: a\nstore: b\n", ":2: "},
		{"budget:\n  day_tokens: -1\n", ":2: key budget.day_tokens"},
		{"budget:\n  day_tokens: 1.5\n", ":2: key budget.day_tokens"},
		{"budget:\n  day_cost: 1e3\n", `:2: key budget.day_cost: "1e3" is neither an amount`},
		{"models: a\n", ":1: key models: not a list"},
		{"models:\n  - a\n", ":2: key models: an entry that is no model"},
		{"models:\n  - name: a\n    input_per_million: 1\n", ":2: key models: a model without all of"},
		{"models:\n  - name: a\n    price: 1\n", ":3: key models: unknown key price"},
		{"models:\n  - {name: a, input_per_million: x, output_per_million: 1}\n", `:2: key models: input_per_million "x": not an amount`},
		{"models:\n  - &a {name: a, input_per_million: 1, output_per_million: 1}\n  - {name: a, input_per_million: 1, output_per_million: 1}\n", `:3: key models: model "a" stands here a second time`},
		{"egress:\n  rules: 5\n", ":2: key egress.rules: not a list"},
		{"egress:\n  rules:\n    - a\n", ":3: key egress.rules: an entry that is no rule"},
		{"egress:\n  rules:\n    - name: a\n      decide: deny\n      if: x\n", ":5: key egress.rules: unknown key if"},
		{"egress:\n  rules:\n    - name: a\n", ":3: key egress.rules: a rule without name or decide"},
		{"egress:\n  rules:\n    - {name: a, decide: perhaps}\n", `:3: egress rule "a": decides "perhaps"`},
		{"egress:\n  rules:\n    - {name: a, decide: deny}\n    - {name: a, decide: ask}\n", `:4: egress rule "a": stands twice`},
		{"egress:\n  rules:\n    - name: a\n      decide: deny\n      when: sink.hots == 'x'\n", `:5: egress rule "a", line 1, column 5: undeclared reference`},
		{"egress:\n  rules:\n    - name: a\n      decide: deny\n      when: |\n        sink.local ||\n        payload.bytes == 'x'\n", `:7: egress rule "a", line 2, column 15: found no matching`},
		{"- a\n", ":1: holds no keys"},
		{"a: [\n", "config.yaml:"},
	} {
		_, err := loadConfiguration(globalFlags{config: aloneWith(t, c.content)})
		var f *fault
		if !errors.As(err, &f) || f.code != codeInvalidFile || !strings.Contains(f.message, c.want) {
			t.Errorf("%q: got %v; want an invalid file with %q", c.content, err, c.want)
		}
	}
	for _, content := range []string{"", "\n# nothing\n", "---\n"} {
		if _, err := loadConfiguration(globalFlags{config: aloneWith(t, content)}); err != nil {
			t.Errorf("%q: got %v, want no error", content, err)
		}
	}
}

func TestConfiguration_BrokenReloadKeepsTheLastValidOne(t *testing.T) {
	path := aloneWith(t, "queue:\n  cap: 5\n")
	c, err := loadConfiguration(globalFlags{config: path})
	if err != nil {
		t.Fatal(err)
	}
	if changed, err := c.reload(); changed || err != nil {
		t.Errorf("nothing changed: got %t, %v", changed, err)
	}
	rewrite := func(content string) {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, broken := range []string{"queue: [\n", "queue:\n  cap: 6\nquue: 1\n", "queue:\n  cap: x\n"} {
		rewrite(broken)
		if changed, err := c.reload(); changed || err == nil || c.Queue.Cap != 5 {
			t.Errorf("%q: got %t, %v, cap %d; want an error and the last valid cap 5", broken, changed, err, c.Queue.Cap)
		}
	}
	rewrite("queue:\n  cap: 8\n")
	if changed, err := c.reload(); !changed || err != nil || c.Queue.Cap != 8 {
		t.Errorf("valid again: got %t, %v, cap %d; want 8", changed, err, c.Queue.Cap)
	}
}

// TestX19_AFaultyRuleKeepsTheOldPolicy: what is loaded is refused whole, with its place, and told of once.
func TestX19_AFaultyRuleKeepsTheOldPolicy(t *testing.T) {
	path := aloneWith(t, "egress:\n  rules:\n    - {name: ours, decide: deny, when: sink.host == 'a.example'}\n")
	c, err := loadConfiguration(globalFlags{config: path})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	policy := livePolicy{followed(c, slog.New(slog.NewTextHandler(&log, nil)))}
	holds := func(when, rule string, decision core.EgressDecision) {
		t.Helper()
		r := core.EgressRequest{Sink: core.SinkFetch, Host: "a.example", Known: true}
		if got := policy.Decide(t.Context(), r); got.Decision != decision || got.Rule != rule {
			t.Errorf("%s: got %+v, want %s by %s", when, got, decision, rule)
		}
	}
	holds("first", "ours", core.EgressDeny)
	for _, broken := range []string{
		"egress:\n  rules:\n    - {name: new, decide: allow, when: sink.hots == 'a.example'}\n",
		"egress:\n  rules:\n    - {name: new, decide: allow, when: payload.bytes}\n",
	} {
		log.Reset()
		if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			holds("broken", "ours", core.EgressDeny)
		}
		if n := strings.Count(log.String(), "last valid values stay"); n != 1 || !strings.Contains(log.String(), "line 1, column") {
			t.Errorf("told of %d times, want once with the place: %s", n, log.String())
		}
	}
	if err := os.WriteFile(path, []byte("egress:\n  rules:\n    - {name: new, decide: allow, when: sink.host == 'a.example'}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	holds("mended", "new", core.EgressAllow)
}

// What is not configured costs nothing: no condition is read.
func TestConfiguration_ReadsNoConditionWithoutRules(t *testing.T) {
	c, err := loadConfiguration(globalFlags{config: aloneWith(t, "queue:\n  cap: 5\n")})
	if err != nil {
		t.Fatal(err)
	}
	if c.policy.Wants(core.EgressRequest{Sink: core.SinkRead, Local: true}) {
		t.Error("a local read has to look at its session")
	}
}
