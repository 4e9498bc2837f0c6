package tui

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"gatehouse/core"
)

// facts are the parts of a step as people know it: told, said, a read, a write
// that was queued, a call that was refused.
func facts() []stepPart {
	file := strings.Repeat("# Docs\\n\\n1. Install        (see below)\\n", 30)
	told := viewPart(core.TranscriptEntry{Kind: core.TranscriptMessage, Turn: 1, Step: 1, By: "alice", Text: "Split the long index into guides."}, 0)
	said := viewPart(core.TranscriptEntry{Kind: core.TranscriptText, Turn: 1, Step: 1, Text: "I read the site first, then queue the changes. " + strings.Repeat("More of it. ", 12)}, 1)
	unit := core.Unit{Gatekeeper: "files", Service: "local", Name: "site/docs"}
	read := callPart(core.ToolCall{ID: "c1", Name: "SITE.read", Args: `{"path":"docs/index.md"}`}, answerFacts{
		answered: true, status: "ok", units: []core.Unit{unit}, value: json.RawMessage(`{"text":"` + file + `","version":"8d4c"}`),
	})
	edit := callPart(core.ToolCall{ID: "c2", Name: "SITE.edit", Args: `{"path":"docs/index.md","old":"1. Install","new":"` + strings.Repeat("wide ", 60) + `"}`}, answerFacts{
		answered: true, status: "ok", action: 41, pending: 2, value: json.RawMessage(`{"path":"docs/index.md"}`),
	})
	refused := callPart(core.ToolCall{ID: "c3", Name: "SITE.read", Args: `{"path":"../etc/passwd"}`}, answerFacts{
		answered: true, status: "error", code: "refused", reason: "the path leads out of the folder \x1b[2J", incomplete: []core.Gap{{Action: 39, Reason: "a conflict"}},
	})
	open := callPart(core.ToolCall{ID: "c4", Name: "SITE.list", Args: `{`}, answerFacts{})
	parts := []stepPart{told, said, read, edit, refused, open}
	for i := range parts {
		parts[i].key = entryKey{kind: core.TranscriptCall, text: fmt.Sprint(i)}
	}
	return parts
}

// inStep opens the step of the transcript, and puts parts into it.
func inStep(t testing.TB, w, h int, parts []stepPart) *driver {
	d := newDriver(t, site(), w, h)
	d.press("2", "enter", "k", "enter")
	if parts != nil {
		d.send(stepMsg{gen: d.a.step.gen, model: "tiny", parts: parts})
	}
	return d
}

func TestGoldenStep(t *testing.T) {
	states := map[string]func(t *testing.T, w, h int) *driver{
		"empty": func(t *testing.T, w, h int) *driver { return inStep(t, w, h, []stepPart{}) },
		"loading": func(t *testing.T, w, h int) *driver {
			d := newDriver(t, site(), w, h)
			d.press("2", "enter", "k")
			d.hold = true
			d.press("enter")
			return d
		},
		"full": func(t *testing.T, w, h int) *driver { return inStep(t, w, h, facts()) },
		"folded": func(t *testing.T, w, h int) *driver {
			d := inStep(t, w, h, facts())
			d.press("z", "j", "j", "j", "enter")
			return d
		},
		"error": func(t *testing.T, w, h int) *driver {
			d := newDriver(t, site(), w, h)
			d.press("2", "enter", "k")
			d.k.broken = errors.New("gatehouse.db: the disk does not answer")
			d.press("enter")
			return d
		},
	}
	for name, make := range states {
		for _, size := range sizes() {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				d := make(t, size[0], size[1])
				d.intact()
				lines := strings.Split(d.frame(), "\n")
				for i := range lines {
					lines[i] = strings.TrimRight(lines[i], " ")
				}
				golden.RequireEqual(t, strings.Join(lines, "\n")+"\n")
			})
		}
	}
}

// TestStepOpensFoldsAndGoesBack walks through a step by keys.
func TestStepOpensFoldsAndGoesBack(t *testing.T) {
	d := inStep(t, 120, 40, nil)
	d.shows("Step 1 of turn 1 · script", "alice", "I read the site first", "→ SITE.list", "not answered yet", `"path": "docs"`)
	d.press("G", "enter")
	d.hides(`"path": "docs"`)
	d.press("z")
	d.hides("I read the site first")
	d.press("z")
	d.shows("I read the site first", `"path": "docs"`)
	d.press("]")
	d.shows("there is no step beyond this one")
	d.press("esc")
	d.shows("Transcript · site-refresh")
	d.press("G", "enter")
	d.shows("Step 1 of turn 1")
}

// TestStepLeadsToItsAction: o on a call shows what it queued, and nowhere else
// does anything.
func TestStepLeadsToItsAction(t *testing.T) {
	d := inStep(t, 120, 40, facts())
	d.press("j", "j", "o")
	d.shows("this queued nothing")
	d.press("j", "o")
	d.shows("#41 edit docs/index.md", "Needs you")
	if at := d.a.top().place(); at != atDetail {
		t.Fatalf("o leads to %s, want the detail", at)
	}
}

// TestStepKeepsItsFolds: what is stored meanwhile is added, what was folded stays.
func TestStepKeepsItsFolds(t *testing.T) {
	d := inStep(t, 120, 40, nil)
	d.press("G", "enter")
	d.outside(func() {
		last := len(d.k.script) - 1
		d.k.script = append(d.k.script[:last:last], core.TranscriptEntry{
			Kind: core.TranscriptCall, Turn: 1, Step: 1, Call: core.ToolCall{ID: "c2", Name: "SITE.read", Args: `{"path":"late.md"}`},
		}, d.k.script[last])
	})
	d.shows("late.md")
	d.hides(`"path": "docs"`)
}

// TestStepDrawsItsWindow: a frame of a step with large results draws the rows in
// sight, and keys do not break the rest again.
func TestStepDrawsItsWindow(t *testing.T) {
	var big []string
	for i := range 3000 {
		big = append(big, fmt.Sprintf(`"row %d %s"`, i, strings.Repeat("x", i%300)))
	}
	part := callPart(core.ToolCall{Name: "SITE.read", Args: "{}"}, answerFacts{answered: true, status: "ok", value: json.RawMessage("[" + strings.Join(big, ",") + "]")})
	d := inStep(t, 120, 40, []stepPart{part})
	v := d.a.step
	laid := v.layout(120)
	if len(laid) < 3000 {
		t.Fatalf("%d rows, want every line of the result", len(laid))
	}
	for _, key := range []string{"J", "K", "pgdown", "pgup", "G", "g", "J"} {
		v.drawn = 0
		d.tap(key)
		if v.drawn > d.a.size.h {
			t.Fatalf("%s drew %d rows on a screen of %d", key, v.drawn, d.a.size.h)
		}
		if &v.layout(120)[0] != &laid[0] {
			t.Fatalf("%s broke the rows again", key)
		}
	}
	d.press("G")
	d.shows("row 2999")
	d.intact()
}

// TestHardRowsLoseNothing: every character is in one row, and none is too wide.
func TestHardRowsLoseNothing(t *testing.T) {
	for _, s := range []string{"", "short", strings.Repeat("a", 250), strings.Repeat("宽é", 90), strings.Repeat("x", 1<<20)} {
		rows := hardRows(s, 57)
		if strings.Join(rows, "") != s {
			t.Errorf("%.20q: rows hold something else", s)
		}
		for _, row := range rows {
			if columns(row) > 57 {
				t.Errorf("%.20q: a row of %d columns", s, columns(row))
			}
		}
	}
}

// TestTranscriptFoldsCallsIntoSteps: the calls of a step are one line, with what
// they queued.
func TestTranscriptFoldsCallsIntoSteps(t *testing.T) {
	k := site()
	k.script = nil
	for i, name := range []string{"SITE.list", "SITE.read", "SITE.read", "SITE.edit"} {
		k.script = append(k.script, core.TranscriptEntry{
			Kind: core.TranscriptCall, Turn: 1, Step: 1 + i/3,
			Call: core.ToolCall{ID: fmt.Sprint(i), Name: name, Args: fmt.Sprintf(`{"path":"page-%d"}`, i)},
		})
	}
	d := newDriver(t, k, 120, 40)
	d.press("2", "enter")
	d.shows("→ 3 calls · SITE.list, 2 × SITE.read", "→ SITE.edit · not answered yet · ")
	d.hides("page-1")
	d.press("g", "space")
	d.shows("page-1", "page-2")
	d.press("enter")
	d.shows("Step 1 of turn 1", "→ SITE.list")
	d.press("]")
	d.shows("Step 2 of turn 1", "→ SITE.edit")
}
