package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/skills"
)

// fakeSkills is a library of a few skills.
type fakeSkills struct {
	gone    bool
	changed bool
	took    []core.SessionID
}

func (f *fakeSkills) Offers(context.Context) ([]skills.Offer, error) {
	return []skills.Offer{
		{Word: "/deploy:notes", Description: "ships notes"},
		{Word: "/deploy:runbooks", Description: "ships \x1b[31mred"},
		{Word: "/queue-triage", Hint: "[where the queue is]", Description: "Look through what waits in a queue and sort it by what it needs next."},
		{Word: "/release-notes", Hint: "[from] [to]", Description: "Write release notes."},
	}, nil
}

func (f *fakeSkills) Invoke(ctx context.Context, c skills.Command) (skills.Invocation, error) {
	switch {
	case c.Name == "queue" || c.Name == "compact":
		return skills.Invocation{Command: c, Builtin: c.Name}, nil
	case c.Name == "nosuch":
		return skills.Invocation{}, &skills.RefusedError{Code: skills.CodeNotFound, Text: `command "/nosuch": no such skill`, Hint: "begin with // to send a text that starts with a slash"}
	case c.Name == "deploy" && c.Collection == "":
		return skills.Invocation{}, &skills.RefusedError{
			Code: skills.CodeAmbiguousSkill, Text: `command "/deploy": several skills have this name`,
			Choices: []skills.Ref{{Collection: "notes", Path: "deploy/SKILL.md"}, {Collection: "runbooks", Path: "deploy/SKILL.md"}},
		}
	}
	return f.InvokeRef(ctx, c, skills.Ref{Collection: "gatehouse", Path: c.Name + "/SKILL.md"})
}

func (f *fakeSkills) InvokeRef(_ context.Context, c skills.Command, ref skills.Ref) (skills.Invocation, error) {
	i := skills.Invocation{Command: c, Change: skills.Change{First: true}}
	i.Ref, i.SHA256 = ref, strings.Repeat("0a1b", 16)
	i.Text = fmt.Sprintf("<gatehouse-skill id=%q>\n# %s\n\n%sArguments: %s\n</gatehouse-skill>\n", ref, c.Name, strings.Repeat("One step of many.\n", 60), c.Args)
	if f.changed {
		i.Change = skills.Change{Changed: true, Since: start.Add(-48 * time.Hour), Diff: "--- when last used\n+++ now\n-be kind\n+be cruel\n"}
	}
	return i, nil
}

func (f *fakeSkills) Take(_ context.Context, session core.SessionID, i skills.Invocation) (string, error) {
	if f.gone {
		return "", &skills.RefusedError{Code: skills.CodeNotFound, Text: "skill " + i.Ref.String() + ": no longer available"}
	}
	f.took = append(f.took, session)
	return i.Text, nil
}

// commanding opens the composer over a library.
func commanding(t testing.TB, r *fakeRunner, f *fakeSkills, w, h int) *driver {
	d := newDriver(t, site(), w, h, func(o *Options) { o.Runner, o.Skills = r, f })
	d.press("2", "enter", "i")
	return d
}

func TestSlash_IsSeenBeforeItIsSent(t *testing.T) {
	r, f := &fakeRunner{}, &fakeSkills{}
	d := commanding(t, r, f, 80, 24)
	d.typeText("/release-notes 1.0 1.1")
	d.press("enter")
	d.shows("What /release-notes becomes", "You have not used this skill before", "One step of many", "[ Send ]")
	if len(r.tasks)+len(f.took) != 0 {
		t.Fatalf("sent %q, read into %v, before it was seen to its end", r.tasks, f.took)
	}
	d.press("G")
	d.shows("Arguments: 1.0 1.1")
	d.press("esc")
	if len(r.tasks)+len(f.took) != 0 || d.a.script.comp.text() != "/release-notes 1.0 1.1" {
		t.Fatal("esc sent it, or lost what was typed")
	}
	d.press("enter", "enter")
	if len(r.tasks) != 1 || !strings.Contains(r.tasks[0], "Arguments: 1.0 1.1") || len(f.took) != 1 || d.a.script.comp.text() != "" {
		t.Fatalf("sent %q, read into %v, left %q", r.tasks, f.took, d.a.script.comp.text())
	}
}

func TestSlash_ChangedSinceLastUse(t *testing.T) {
	r, f := &fakeRunner{}, &fakeSkills{changed: true}
	d := commanding(t, r, f, 80, 24)
	d.typeText("/release-notes")
	d.press("enter")
	d.shows("It changed since you used it on 2026-03-02", "+be cruel", "[ Cancel ]")
	d.press("enter")
	if len(r.tasks) != 0 {
		t.Fatal("a reflex sent what changed")
	}
	d.press("enter", "tab", "enter")
	if len(r.tasks) != 1 {
		t.Fatalf("sent %q", r.tasks)
	}
}

func TestS84_ChoiceAmongSkillsOfOneName(t *testing.T) {
	r, f := &fakeRunner{}, &fakeSkills{}
	d := commanding(t, r, f, 80, 24)
	d.typeText("/deploy x")
	d.press("enter")
	d.shows("several skills have this name", "1  notes/deploy/SKILL.md", "2  runbooks/deploy/SKILL.md")
	d.press("2", "enter")
	d.shows("What /deploy becomes", "skill  runbooks/deploy/SKILL.md")
	d.press("enter")
	if len(r.tasks) != 1 || !strings.Contains(r.tasks[0], "Arguments: x") {
		t.Fatalf("sent %q", r.tasks)
	}
}

func TestS85_TextAndUnknownCommands(t *testing.T) {
	r, f := &fakeRunner{}, &fakeSkills{}
	d := commanding(t, r, f, 80, 24)
	for _, typed := range []string{"/nosuch", "/Deploy now", "/usr/bin is full"} {
		d.typeText(typed)
		d.press("enter")
		d.shows("begin with // to send")
		if len(r.tasks) != 0 || d.a.script.comp.text() != typed {
			t.Fatalf("%q: sent %q, left %q", typed, r.tasks, d.a.script.comp.text())
		}
		d.a.script.comp.set("")
	}
	d.typeText("//deploy")
	d.press("enter")
	d.typeText("see src/deploy")
	d.press("enter")
	if fmt.Sprint(r.tasks) != "[/deploy see src/deploy]" {
		t.Errorf("sent %q", r.tasks)
	}
}

func TestS87_GoneAfterItWasShown(t *testing.T) {
	r, f := &fakeRunner{}, &fakeSkills{}
	d := commanding(t, r, f, 80, 24)
	d.typeText("/release-notes 1.0")
	d.press("enter")
	f.gone = true
	d.press("enter")
	d.shows("no longer available")
	if len(r.tasks) != 0 || d.a.script.comp.text() != "/release-notes 1.0" {
		t.Errorf("sent %q, left %q", r.tasks, d.a.script.comp.text())
	}
}

func TestS89_BuiltinsWin(t *testing.T) {
	r, f := &fakeRunner{}, &fakeSkills{}
	d := commanding(t, r, f, 80, 24)
	d.typeText("/compact")
	d.press("enter")
	d.shows("/compact does nothing here")
	d.a.script.comp.set("")
	d.typeText("/queue ")
	d.press("enter")
	if d.a.top().place() != atList || len(r.tasks) != 0 {
		t.Errorf("at %s, sent %q", d.a.top().place(), r.tasks)
	}
}

func TestSlash_CompletesAsTyped(t *testing.T) {
	r, f := &fakeRunner{}, &fakeSkills{}
	d := commanding(t, r, f, 80, 24)
	d.hides("/queue-triage")
	d.typeText("/")
	d.shows("/deploy:notes", "/queue-triage [where the queue is]", "ships red")
	d.intact()
	d.typeText("re")
	d.hides("/queue-triage")
	d.press("tab")
	if got := d.a.script.comp.text(); got != "/release-notes " {
		t.Errorf("tab makes %q", got)
	}
	d.hides("Write release notes.")
	d.a.script.comp.set("")
	d.typeText("/d")
	d.press("down", "enter") // enter writes a word out before it sends one
	if got := d.a.script.comp.text(); got != "/deploy:runbooks " || len(r.tasks) != 0 {
		t.Errorf("enter makes %q, sent %q", got, r.tasks)
	}
	d.a.script.comp.set("")
	d.press("tab")
	if d.a.top().place() != atTranscript {
		t.Error("tab does not leave where nothing is to be completed")
	}
}

// What comes back late is for what stood there then.
func TestSlash_AnswerAfterTypingOn(t *testing.T) {
	r, f := &fakeRunner{}, &fakeSkills{}
	d := commanding(t, r, f, 80, 24)
	d.typeText("/release-notes")
	d.hold = true
	d.press("enter")
	d.hold = false
	d.a.script.comp.set("something else")
	d.release()
	if d.a.top().place() != atComposer {
		t.Errorf("at %s", d.a.top().place())
	}
}

func TestSlash_ToAnAgentAtWork(t *testing.T) {
	r, f := &fakeRunner{}, &fakeSkills{}
	d := commanding(t, r, f, 80, 24)
	l := &liveTurn{session: d.a.script.session.ID, cancel: func() {}, feed: newTurnFeed(), width: 80, doing: "working"}
	d.a.script.runs[l.session] = l
	d.typeText("/release-notes 2")
	d.press("ctrl+s", "enter")
	if len(r.said) != 1 || r.kinds[0] != core.MessageSteering || !strings.Contains(r.said[0], "Arguments: 2") {
		t.Errorf("said %q %v", r.said, r.kinds)
	}
}

func TestSlash_NothingBegan(t *testing.T) {
	r := &fakeRunner{run: func(context.Context, func(agent.Event)) error { return errors.New("openai.model: not set") }}
	d := commanding(t, r, &fakeSkills{}, 80, 24)
	d.typeText("/release-notes 2")
	d.press("enter", "enter")
	if got := d.a.script.comp.text(); got != "/release-notes 2" {
		t.Errorf("what was typed comes back as %q", got)
	}
}

func TestGoldenSlash(t *testing.T) {
	for name, keys := range map[string][]string{"list": nil, "preview": {"enter"}} {
		for _, size := range sizes() {
			for _, changed := range []bool{false, true} {
				if name == "list" && changed {
					continue
				}
				full := fmt.Sprintf("%s-%dx%d", name, size[0], size[1])
				if changed {
					full = "changed-" + full
				}
				t.Run(full, func(t *testing.T) {
					d := commanding(t, &fakeRunner{}, &fakeSkills{changed: changed}, size[0], size[1])
					d.typeText("/")
					if name == "preview" {
						d.typeText("release-notes 1.0 1.1")
					}
					d.press(keys...)
					d.intact()
					golden.RequireEqual(t, trimmed(d.frame()))
				})
			}
		}
	}
}

// trimmed is a frame without the blanks at the ends of its lines.
func trimmed(frame string) string {
	lines := strings.Split(frame, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}
