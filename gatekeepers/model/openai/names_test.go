package openai

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/core"
)

func TestWireName(t *testing.T) {
	long := "SITE." + strings.Repeat("x", 80)
	for full, want := range map[string]string{"SITE.read": "SITE-read", "ask": "ask", "A_1.b_2": "A_1-b_2"} {
		if got := wireName(full); got != want {
			t.Errorf("%s: got %s, want %s", full, got, want)
		}
	}
	for _, full := range []string{long, "SITE.a-b", "SITE.a.b", "", ".", "ü.x"} {
		if got := wireName(full); strings.Count(got, "-") < 2 {
			t.Errorf("%s: got %s, want one that no plain name is", full, got)
		}
	}
}

// Any names go out in letters that are allowed, no two as one, and come back whole.
func TestWireName_ComesBack(t *testing.T) {
	allowed := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[A-C_]{1,40}\.?[a-c_.\-ü/]{0,40}`), 1, 12, rapid.ID[string]).Draw(t, "names")
		tools := make([]core.Tool, len(names))
		for i, n := range names {
			tools[i].Name = n
		}
		offered := fullNames(tools)
		if len(offered) != len(names) {
			t.Fatalf("%d names for %d tools: %v", len(offered), len(names), offered)
		}
		for _, n := range names {
			wire := wireName(n)
			if !allowed.MatchString(wire) || fullName(wire, offered) != n {
				t.Fatalf("%q went out as %q and came back as %q", n, wire, fullName(wire, offered))
			}
		}
	})
}
