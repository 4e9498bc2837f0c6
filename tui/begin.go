package tui

import (
	"context"
	"strings"

	"gatehouse/tui/term"
)

// FirstRun is what a person who has nothing here yet can begin with. Its
// methods are called off the loop, and none before it was chosen.
type FirstRun interface {
	// Demo makes the demo in a home of its own and says where. The screens end
	// then: whoever opened them shows those of the demo.
	Demo(ctx context.Context) (where string, err error)
	// Models looks for models on this machine, and nowhere else.
	Models(ctx context.Context) []ModelServer
	// PlanModel says how the configuration would name a model.
	PlanModel(ctx context.Context, base, model string) (ConfigEdit, error)
	// Write puts an edit into effect, unless the file has changed since.
	Write(ctx context.Context, e ConfigEdit) error
}

// ModelServer is a place that was asked for models.
type ModelServer struct {
	Name   string
	Base   string // URL
	Models []string
	Fault  string // one line; empty where there are models
}

// ConfigEdit is a change of a file, as text.
type ConfigEdit struct{ Path, Before, After string }

// beginning is the screen of a home with nothing in it.
type beginning struct {
	a    *app
	run  FirstRun
	at   int
	busy string // what is being done
	note []string
	gen  int
}

func newBeginning(a *app, run FirstRun) *beginning { return &beginning{a: a, run: run} }

func (f *beginning) place() place { return atFirst }

// The messages of this screen.
type (
	homeMsg     struct{ empty bool }
	demoMadeMsg struct{ err error }
	modelsMsg   struct {
		gen     int
		servers []ModelServer
	}
	editMsg struct {
		gen   int
		model string
		edit  ConfigEdit
		err   error
	}
	writtenMsg struct {
		model string
		err   error
	}
)

// look finds out whether there is anything here.
func (f *beginning) look() term.Cmd {
	if f.run == nil {
		return nil
	}
	ctx, kernel := f.a.ctx, f.a.kernel
	return func() term.Msg {
		sessions, err := kernel.Sessions(ctx)
		if err != nil || len(sessions) > 0 {
			return homeMsg{}
		}
		uses, err := kernel.ConnectionUses(ctx)
		return homeMsg{err == nil && len(uses) == 0}
	}
}

func (f *beginning) update(msg term.Msg) term.Cmd {
	switch msg := msg.(type) {
	case homeMsg:
		if msg.empty && len(f.a.stack) == 1 && f.a.top() == view(f.a.queue) {
			f.a.stack = []view{f}
		}
	case demoMadeMsg:
		f.busy = ""
		if msg.err != nil {
			f.a.fail(msg.err)
			return nil
		}
		return term.Do(term.Quit{})
	case modelsMsg:
		if msg.gen == f.gen {
			f.found(msg.servers)
		}
	case editMsg:
		if msg.gen == f.gen {
			f.propose(msg)
		}
	case writtenMsg:
		if msg.err != nil {
			f.a.fail(msg.err)
			return nil
		}
		f.a.say(roleGood, "agents use "+msg.model+" from now on; connect a folder next")
		f.at = 1
	}
	return nil
}

// choice is one thing to begin with.
type choice struct {
	title string
	about string
	do    func() term.Cmd
}

func (f *beginning) choices() []choice {
	return []choice{
		{"Try the demo", "A scripted agent works on a small site in a new folder among the temporary ones; then its queue is shown. No network, no key; this home stays empty.", f.demo},
		{"Connect a folder", "A session is bound to a folder of yours. What that gives is shown before it is made; the folder changes only by what you approve.", f.folder},
		{"Use a local model", "Looks for Ollama on 127.0.0.1:11434 and LM Studio on 127.0.0.1:1234, when you choose it and not before. What is written into the configuration is shown first.", f.models},
	}
}

func (f *beginning) demo() term.Cmd {
	f.busy = "making the demo…"
	ctx, run := f.a.ctx, f.run
	return f.a.work(func() term.Msg {
		_, err := run.Demo(ctx)
		return demoMadeMsg{err}
	})
}

func (f *beginning) folder() term.Cmd { return f.a.places.askFolder(bindPlan{}) }

func (f *beginning) models() term.Cmd {
	f.gen++
	f.busy, f.note = "looking for models on this machine…", nil
	gen, ctx, run := f.gen, f.a.ctx, f.run
	return func() term.Msg { return modelsMsg{gen, run.Models(ctx)} }
}

// found offers the models, or says that there are none and what to do.
func (f *beginning) found(servers []ModelServer) {
	f.busy, f.note = "", nil
	type model struct{ base, name string }
	models := map[string]model{}
	var items []pickItem
	for _, s := range servers {
		if s.Fault != "" {
			clean, _ := cleanLine(s.Fault, titleLimit)
			f.note = append(f.note, clean)
		}
		for _, m := range s.Models {
			clean, _ := cleanLine(m, titleLimit)
			key := s.Base + " " + m
			models[key] = model{s.Base, m}
			items = append(items, pickItem{key: key, text: clean, note: s.Name + " · " + s.Base})
		}
	}
	if len(items) == 0 {
		f.note = append(f.note, "No local model was found. Set provider: openai, openai.base_url and openai.model in "+or(f.a.settings, "the configuration")+".")
		return
	}
	if f.a.top() != view(f) {
		return
	}
	f.a.picker.ask(pick{
		title: "Use a local model", label: "find", about: "enter shows what is written into the configuration", none: "No model has that in its name.",
		items: items, do: func(item pickItem, _ string) term.Cmd {
			m := models[item.key]
			f.gen++
			gen, ctx, run := f.gen, f.a.ctx, f.run
			return func() term.Msg {
				edit, err := run.PlanModel(ctx, m.base, m.name)
				return editMsg{gen, item.text, edit, err}
			}
		},
	}, false)
}

// propose shows the difference that the choice makes to the file.
func (f *beginning) propose(msg editMsg) {
	if msg.err != nil {
		f.a.fail(msg.err)
		return
	}
	if f.a.top().place().dialog() {
		return
	}
	name, _ := cleanLine(msg.edit.Path, titleLimit)
	lines := []line{{roleMuted, name, true}, {}}
	before, _ := cleanLines(msg.edit.Before)
	if msg.edit.Before == "" {
		before = nil
		lines[0].text += "  (a new file)"
	}
	after, _ := cleanLines(msg.edit.After)
	lines = append(lines, diffLines(before, after, defaultContext)...)
	f.a.proposal.ask(proposal{
		title: "Write this into the configuration?", lines: lines, accept: "Write", do: func() term.Cmd {
			ctx, run := f.a.ctx, f.run
			return f.a.work(func() term.Msg { return writtenMsg{msg.model, run.Write(ctx, msg.edit)} })
		},
	})
}

func (f *beginning) move(by int) term.Cmd {
	f.at = min(max(f.at+by, 0), len(f.choices())-1)
	return nil
}

func (f *beginning) working() string { return f.busy }

func (f *beginning) commands() []*command {
	if f.run == nil {
		return nil
	}
	at := []place{atFirst}
	choose := func(name, key string, i int) *command {
		c := f.choices()[i]
		return &command{
			name: "begin." + name, at: at, keys: []string{key}, title: strings.ToLower(c.title), tag: "Begin", about: c.about, prompts: true,
			disabled: f.working, run: c.do,
		}
	}
	return []*command{
		{
			name: "begin.choose", at: at, keys: []string{"enter"}, title: "choose", tag: "Begin", footer: 1, prompts: true, disabled: f.working,
			about: "begin with the one under the cursor", run: func() term.Cmd { return f.choices()[f.at].do() },
		},
		choose("demo", "t", 0), choose("folder", "c", 1), choose("model", "m", 2),
		{
			name: "begin.leave", at: at, keys: []string{"esc"}, title: "queue", tag: "Begin", footer: 2, navigates: true,
			about: "to the queue; nothing has happened", run: func() term.Cmd { return f.a.show(f.a.queue) },
		},
		{
			name: "begin.down", at: at, keys: []string{"j", "down"}, title: "down", tag: "Move", navigates: true, about: "next choice",
			run: func() term.Cmd { return f.move(1) },
		},
		{
			name: "begin.up", at: at, keys: []string{"k", "up"}, title: "up", tag: "Move", navigates: true, about: "choice before",
			run: func() term.Cmd { return f.move(-1) },
		},
		{
			name: "screen.begin", at: screens(), keys: []string{"~"}, title: "begin", tag: "Screens", navigates: true,
			about: "try the demo, connect a folder, use a local model", run: func() term.Cmd { return f.a.show(f) },
		},
	}
}

func (f *beginning) draw(r rect) []string {
	t := &f.a.theme
	lines := []string{t.rule(r.w, roleTitle, "Begin", "")}
	for i, c := range f.choices() {
		role := rolePlain
		if i == f.at {
			role = roleCursor
		}
		lines = append(lines, t.spans(r.w, span{roleAccent, " " + flag(i == f.at, "▸") + " "}, span{role, c.title}))
		if r.h < 16 && i != f.at {
			continue
		}
		for _, part := range wrap(c.about, min(r.w-8, 90)) {
			lines = append(lines, t.spans(r.w, span{roleMuted, "     " + part}))
		}
	}
	if f.busy != "" {
		lines = append(lines, t.spans(r.w, span{roleAccent, "   " + f.busy}))
	}
	for _, note := range f.note {
		for _, part := range wrap(note, r.w-6) {
			lines = append(lines, t.spans(r.w, span{roleWarn, "   " + part}))
		}
	}
	return fill(lines, r)
}
