package text_test

import (
	"testing"

	"gatehouse/core/text"
)

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		in      string
		columns int
		want    string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"}, // half a character is none
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"👨\u200d👩\u200d👧👨\u200d👩\u200d👧", 3, "👨\u200d👩\u200d👧…"},
		{"#\ufe0f#\ufe0f#\ufe0f", 5, "#\ufe0f#\ufe0f…"},
		{"##\ufe0f####", 4, "##\ufe0f…"},
		{"abc", 1, "…"},
		{"abc", 0, ""},
		{"abc", -4, ""},
		{"", 3, ""},
	} {
		if got := text.Truncate(c.in, c.columns); got != c.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", c.in, c.columns, got, c.want)
		}
	}
}

func TestWidth(t *testing.T) {
	for in, want := range map[string]int{"": 0, "abc": 3, "日本": 4, "e\u0301": 1, "👨\u200d👩\u200d👧": 2, "a·b…": 4} {
		if got := text.Width(in); got != want {
			t.Errorf("Width(%q) = %d, want %d", in, got, want)
		}
	}
}

func TestExpandTabs(t *testing.T) {
	for in, want := range map[string]string{
		"a":        "a",
		"\ta":      "    a",
		"ab\tc":    "ab  c",
		"abcd\te":  "abcd    e",
		"日\tb\tc":  "日  b   c",
		"\t\tdeep": "        deep",
	} {
		if got := text.ExpandTabs(in, 4); got != want {
			t.Errorf("ExpandTabs(%q, 4) = %q, want %q", in, got, want)
		}
	}
	if got, want := text.ExpandTabs("a\tb", 0), "a b"; got != want {
		t.Errorf("ExpandTabs with stop 0 = %q, want %q", got, want)
	}
}
