package tui

import (
	"context"
	"strings"
	"testing"

	"gatehouse/core/text"
)

func rendered(ctx context.Context, width int, source string) []string {
	w := pageWriter{width: width}
	renderMarkdown(ctx, &w, []byte(source))
	var lines []string
	for _, l := range w.lines {
		lines = append(lines, l.text)
	}
	return lines
}

// TestMarkdownAsText: what it means stands there as text, links with where they lead.
func TestMarkdownAsText(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"# Head\n\nwords *em* `code`", "# Head\n\nwords *em* `code`"},
		{"[bank](https://evil.example)", "bank <https://evil.example>"},
		{"<https://a.example>", "<https://a.example>"},
		{"![a cat](cat.png)", "[picture: a cat] <cat.png>"},
		{"1. a\n2. b\n   - c", "1. a\n2. b\n   • c"},
		{"- [ ] a\n- [x] b", "• [ ] a\n• [x] b"},
		{"> a\n>\n> b", "▌ a\n▌\n▌ b"},
		{"```sh\nrm -r x\n```", "│ rm -r x"},
		{"|a|b|\n|-|-|\n|long|c|", "a     b\n────  ─\nlong  c"},
		{"<div>\nx\n</div>", "<div>\nx\n</div>"},
		{"&#27;[2Jx &#x202e;y \x1b[31mred", "x y red"},
		{"a\\*b", "a*b"},
	} {
		lines := rendered(t.Context(), 90, c.source)
		if len(lines) > 0 && strings.HasPrefix(lines[0], "! ") {
			lines = lines[2:]
		}
		if got := strings.Join(lines, "\n"); got != c.want {
			t.Errorf("%q gives\n%s\nwant\n%s", c.source, got, c.want)
		}
	}
}

// TestMarkdownOfEnemies: text that is made to cost much is shown as written, and
// nothing is wider than the page where it flows.
func TestMarkdownOfEnemies(t *testing.T) {
	for name, source := range map[string]string{
		"quotes":   strings.Repeat(">", 20_000) + "x",
		"lists":    strings.Repeat("- ", 20_000) + "x",
		"brackets": strings.Repeat("[", 100_000),
		"links":    strings.Repeat("[a](", 50_000),
		"stars":    strings.Repeat("*a **", 50_000),
		"fences":   strings.Repeat("```\nx\n", 20_000),
		"steps":    steps(400),
		"wide":     strings.Repeat("宽", 5000),
		"rtl":      strings.Repeat("שלום ", 2000),
	} {
		t.Run(name, func(t *testing.T) {
			w := pageWriter{width: 60}
			renderMarkdown(t.Context(), &w, []byte(source))
			if len(w.lines) == 0 {
				t.Fatal("nothing is shown")
			}
			for _, l := range w.lines {
				if n := text.Width(l.text); l.flows && n > 60 {
					t.Fatalf("a line is %d wide: %q", n, l.text)
				}
			}
		})
	}
}

// steps is a list in a list in a list.
func steps(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("  ", i) + "- x\n")
	}
	return b.String()
}

// TestMarkdownStopsInTime: when the time is over the rest is shown as written.
func TestMarkdownStopsInTime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := strings.Join(rendered(ctx, 60, "**a** [b](c)"), "\n"); got != "**a** [b](c)" {
		t.Errorf("got %q", got)
	}
}

// TestSkillsInATerminal opens the screen in a terminal emulator, by keys.
func TestSkillsInATerminal(t *testing.T) {
	e := newEmulator(t, 120, 40)
	press, ended := e.run(t, Options{Kernel: lent(), Library: runbooks(t)})
	e.waitFor(t, "Needs you")
	press("4")
	e.waitFor(t, "3 collections", "runbooks", "✗ 1 broken")
	press("G\r")
	e.waitFor(t, "/ deploy", "rollback/SKILL.md")
	press("j")
	e.waitFor(t, "• build the image", "▌ ▌ Or before a holiday.")
	press("/drain")
	e.waitFor(t, "1 hit", "Take a host out of service")
	press("\x1b")
	e.waitFor(t, "3 collections")
	press("q")
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}
