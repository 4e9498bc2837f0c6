package tui

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// fakeFirst is what a home begins with, and counts what it is asked.
type fakeFirst struct {
	demos, looks int
	servers      []ModelServer
	edit         ConfigEdit
	written      []ConfigEdit
	fault        error
}

func (f *fakeFirst) Demo(context.Context) (string, error) { f.demos++; return "/tmp/demo", f.fault }
func (f *fakeFirst) Models(context.Context) []ModelServer { f.looks++; return f.servers }
func (f *fakeFirst) PlanModel(_ context.Context, base, model string) (ConfigEdit, error) {
	f.edit.Path, f.edit.After = "/home/alice/.config/gatehouse/config.yaml", f.edit.Before+"openai:\n  base_url: \""+base+"\"\n  model: \""+model+"\"\n"
	return f.edit, f.fault
}

func (f *fakeFirst) Write(_ context.Context, e ConfigEdit) error {
	if f.fault != nil {
		return f.fault
	}
	f.written = append(f.written, e)
	return nil
}

func answering() *fakeFirst {
	return &fakeFirst{servers: []ModelServer{
		{Name: "Ollama", Base: "http://127.0.0.1:11434/v1", Models: []string{"qwen3:8b", "llama3.2:3b"}},
		{Name: "LM Studio", Base: "http://127.0.0.1:1234/v1", Fault: "LM Studio on 127.0.0.1:1234: nothing answers"},
	}, edit: ConfigEdit{Before: "# mine\nqueue:\n  cap: 10 # enough\n"}}
}

func empty(t testing.TB, f *fakeFirst, w, h int) *driver {
	return newDriver(t, newFake(), w, h, func(o *Options) {
		o.FirstRun, o.Folders, o.Runner = f, &fakeFolders{all: []string{"/srv/plans/", "/srv/site/"}}, &fakeRunner{}
	})
}

func TestFirstRunOnAnEmptyHomeAlone(t *testing.T) {
	d := empty(t, answering(), 80, 24)
	d.shows("Begin", "Try the demo", "Connect a folder", "Use a local model")
	for name, k := range map[string]*fakeKernel{"sessions": site(), "connections": newFake(), "broken": newFake()} {
		switch name {
		case "connections":
			c, _ := connected()
			k.places.uses = c.places.uses
		case "broken":
			k.broken = errors.New("the disk does not answer")
		}
		d := newDriver(t, k, 80, 24, func(o *Options) { o.FirstRun = answering() })
		d.hides("Try the demo")
		d.press("~")
		d.shows("Try the demo")
	}
	d.press("esc")
	d.shows("Nothing waits for you.")
	d.press("~", "q")
	if !d.quit {
		t.Fatal("q does not leave")
	}
}

// TestFirstRunDialsNothingBefore the choice.
func TestFirstRunDialsNothingBefore(t *testing.T) {
	f := answering()
	d := empty(t, f, 80, 24)
	d.press("j", "j", "k", "r", "2", "~", "esc")
	if f.looks+f.demos+len(f.written) > 0 {
		t.Fatalf("%+v", f)
	}
	d.press("~", "m")
	if f.looks != 1 {
		t.Fatalf("looked %d times", f.looks)
	}
	d.shows("qwen3:8b", "Ollama")
}

func TestFirstRunWritesWhatWasShown(t *testing.T) {
	f := answering()
	d := empty(t, f, 80, 24)
	d.press("m", "enter")
	d.shows("Write this into the configuration?", `+  model: "qwen3:8b"`, "cap: 10 # enough", "[ Cancel ]")
	d.press("enter")
	if len(f.written) > 0 {
		t.Fatal("enter at once wrote")
	}
	d.press("m", "enter", "tab", "enter")
	if len(f.written) != 1 || f.written[0] != f.edit {
		t.Fatalf("wrote %+v", f.written)
	}
	d.shows("agents use qwen3:8b from now on")
	f.fault = errors.New("configuration config.yaml:3: unknown key opnai")
	d.press("m", "enter")
	d.shows("unknown key opnai")
}

func TestFirstRunWithoutModels(t *testing.T) {
	f := answering()
	f.servers = f.servers[1:]
	d := empty(t, f, 80, 24)
	d.press("m")
	d.shows("LM Studio on 127.0.0.1:1234: nothing answers", "openai.base_url")
}

func TestFirstRunConnectsAFolder(t *testing.T) {
	d := empty(t, answering(), 80, 24)
	d.press("c")
	d.typeText("/srv/site")
	d.press("enter", "enter", "enter", "enter")
	d.shows("Bind site to /srv/site?", "which is made with it", "[ Cancel ]")
	d.k.places.nothingMade(t)
	d.press("tab", "enter")
	if p := d.k.places; len(p.made) != 1 || len(p.bound) != 1 || p.bound[0].Session != "s-site" || p.bound[0].Name != "SITE" {
		t.Fatalf("made %+v, bound %+v", p.made, p.bound)
	}
	d.shows("Transcript · site")
	if d.a.top().place() != atComposer {
		t.Fatalf("at %s, want the composer", d.a.top().place())
	}
}

func TestFirstRunDemo(t *testing.T) {
	f := answering()
	f.fault = errors.New("demo: git is not installed; install git")
	d := empty(t, f, 80, 24)
	d.press("t")
	d.shows("git is not installed")
	f.fault = nil
	d.press("enter")
	if !d.quit || f.demos != 2 {
		t.Fatalf("quit %v after %d demos", d.quit, f.demos)
	}
}

func TestGoldenBegin(t *testing.T) {
	for name, keys := range map[string][]string{"begin": nil, "begin-models": {"m"}, "begin-none": {"m"}, "begin-write": {"m", "enter"}, "begin-loading": {"m"}, "begin-error": {"t"}} {
		for _, size := range sizes() {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				f := answering()
				switch name {
				case "begin-none":
					f.servers = f.servers[1:]
				case "begin-error":
					f.fault = errors.New("demo: git is not installed; install git")
				}
				d := empty(t, f, size[0], size[1])
				d.hold = name == "begin-loading"
				d.press(keys...)
				d.golden(t)
			})
		}
	}
}
