package main

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"gatehouse/core"
)

func TestParseIDs(t *testing.T) {
	for _, c := range []struct {
		words string // with blanks between
		stdin string
		want  selection
	}{
		{"12", "", selection{single: []core.ActionID{12}}},
		{"12 3", "", selection{single: []core.ActionID{12, 3}}},
		{"12,15", "", selection{single: []core.ActionID{12, 15}}},
		{"12-20", "", selection{ranges: []idRange{{12, 20}}}},
		{"7-7", "", selection{ranges: []idRange{{7, 7}}}},
		{"1,3-4", "", selection{single: []core.ActionID{1}, ranges: []idRange{{3, 4}}}},
		{"@site-refresh", "", selection{groups: []idGroup{{session: "site-refresh"}}}},
		{"@s1/2", "", selection{groups: []idGroup{{session: "s1", turn: 2}}}},
		{"@a/b", "", selection{groups: []idGroup{{session: "a/b"}}}},
		{"@a/b/3", "", selection{groups: []idGroup{{session: "a/b", turn: 3}}}},
		{"@a/0", "", selection{groups: []idGroup{{session: "a/0"}}}},
		{"-", "4\n\n 5-6 \n@x\n", selection{single: []core.ActionID{4}, ranges: []idRange{{5, 6}}, groups: []idGroup{{session: "x"}}}},
	} {
		got, err := parseIDs(strings.Fields(c.words), strings.NewReader(c.stdin))
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("parseIDs(%q): got %v, %v; want %v", c.words, got, err, c.want)
		}
	}
}

func TestParseIDs_Refused(t *testing.T) {
	for _, c := range []struct{ words, stdin, want string }{
		{"20-12", "", "runs backwards"},
		{"x", "", "not an id"},
		{"0", "", "not an id"},
		{"-1", "", "not an id"},
		{"+1", "", "not an id"},
		{"1-", "", "not a range"},
		{"1-2-3", "", "not a range"},
		{"1,,2", "", "not an id"},
		{"1,", "", "not an id"},
		{"99999999999999999999", "", "not an id"},
		{"1-10001", "", "more than 10000"},
		{"@", "", "no session"},
		{"@/3", "", "no session"},
		{"~1", "", "not an id"},
		{"-", "", "no ids"},
		{"-", "1\ntwo\n", "line 2"},
	} {
		_, err := parseIDs(strings.Fields(c.words), strings.NewReader(c.stdin))
		var f *fault
		if !errors.As(err, &f) || f.code != codeUsage || !strings.Contains(f.message, c.want) {
			t.Errorf("parseIDs(%q): got %v; want a usage fault with %q", c.words, err, c.want)
		}
	}
}

func TestCheckArgs_Position(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{`{}`, ""},
		{" {\"a\": [1, 2]}\n", ""},
		{``, "empty"},
		{" \n", "empty"},
		{`{`, "line 1, column 2"},
		{`{"a":}`, "line 1, column 6"},
		{"{\n  \"a\": 1\n  \"b\": 2}", "line 3, column 3"},
		{`{"ä": x}`, "line 1, column 7"},
		{`{} x`, "line 1, column 4"},
		{`[]`, "not an object"},
		{`null`, "not an object"},
		{`"a"`, "not an object"},
	} {
		err := checkArgs([]byte(c.args))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("checkArgs(%q): got %v, want %q", c.args, err, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	commands := []string{"approve", "list", "plan", "reject", "show", "settle"}
	for word, want := range map[string]string{
		"aprove": "approve", "lst": "list", "rejcet": "reject", "LIST": "list", "app": "approve", "sho": "show",
		"frobnicate": "", "x": "", "": "", "zzzz": "",
	} {
		if got, _ := nearest(word, commands); got != want {
			t.Errorf("nearest(%q): got %q, want %q", word, got, want)
		}
	}
}

func TestEscapeJSON(t *testing.T) {
	for given, want := range map[string]string{
		`{"a":"plain ä"}`:   `{"a":"plain ä"}`,
		"\"\u202eevil\"":    `"\u202eevil"`,
		"\"\u009b31m\"":     `"\u009b31m"`,
		"\"\U000e0041\"":    `"\udb40\udc41"`,
		"\"\u200b\x7f\"":    `"\u200b\u007f"`,
		"\"two\u2028ways\"": `"two\u2028ways"`,
	} {
		if got := string(escapeJSON([]byte(given))); got != want {
			t.Errorf("escapeJSON(%q): got %s, want %s", given, got, want)
		}
	}
}
