package tui

import (
	"slices"
	"strings"

	"github.com/sahilm/fuzzy"

	"gatehouse/tui/term"
)

// recentLimit is how many commands the palette remembers.
const recentLimit = 8

// palette finds any command by name and runs it as its key would. It is opened
// for one place and one subject, and runs nothing that is about another (T5).
//
// Enter never decides in a list (T3). Here a person names what they mean: a
// command that decides without a prompt of its own is run only when something
// was typed, and only on what was chosen when the palette opened. In a dialog
// its own keys alone decide.
type palette struct {
	a       *app
	of      place
	subject string // what decisions were about when it opened
	line    input
	entries []paletteEntry
	at, top int
	recent  []string // names, newest first
}

// paletteEntry is a command with the bytes of its title that were looked for.
type paletteEntry struct {
	c   *command
	hit []int
}

// subjected is a view whose decisions are about something under a cursor.
type subjected interface{ subject() string }

func newPalette(a *app) *palette { return &palette{a: a, line: input{limit: 60}} }

// open shows the commands for the place below.
func (p *palette) open() term.Cmd {
	p.a.pop(p.a.help)
	p.of, p.subject = p.a.top().place(), p.about()
	p.line.set("")
	p.search()
	p.a.push(p)
	return nil
}

// about says what decisions of the view on top would be about.
func (p *palette) about() string {
	if s, ok := p.a.top().(subjected); ok {
		return s.subject()
	}
	return ""
}

func (p *palette) place() place { return atPalette }

func (p *palette) typed() *input { return &p.line }

func (p *palette) changed() term.Cmd {
	p.search()
	return nil
}

func (p *palette) update(term.Msg) term.Cmd { return nil }

// typing says why the palette does not open: text is being typed.
func (p *palette) typing() string {
	if t, ok := p.a.top().(typist); ok && t.typed() != nil && p.a.top() != view(p) {
		return "text is being typed; esc leaves it"
	}
	return ""
}

// search lists what the line finds: titles first, then names, then what says so
// in its description; what can be used comes before what cannot.
func (p *palette) search() {
	p.at, p.top = 0, 0
	query := strings.TrimSpace(p.line.text())
	if query == "" {
		p.entries = p.listed()
		return
	}
	all := p.a.keys.commands
	found := make(map[*command]bool)
	p.entries = nil
	add := func(c *command, hit []int) {
		if !found[c] {
			found[c] = true
			p.entries = append(p.entries, paletteEntry{c, hit})
		}
	}
	for _, m := range fuzzy.FindFrom(query, titles(all)) {
		add(all[m.Index], m.MatchedIndexes)
	}
	for _, m := range fuzzy.FindFrom(query, names(all)) {
		add(all[m.Index], nil)
	}
	for _, c := range all {
		if strings.Contains(strings.ToLower(c.about+" "+c.tag), strings.ToLower(query)) {
			add(c, nil)
		}
	}
	p.usableFirst()
}

// listed are all commands: those used last, then those that can be used.
func (p *palette) listed() []paletteEntry {
	p.entries = make([]paletteEntry, 0, len(p.a.keys.commands))
	for _, c := range p.a.keys.commands {
		p.entries = append(p.entries, paletteEntry{c: c})
	}
	p.usableFirst()
	rank := func(e paletteEntry) int {
		if i := slices.Index(p.recent, e.c.name); i >= 0 {
			return i
		}
		return recentLimit
	}
	slices.SortStableFunc(p.entries, func(a, b paletteEntry) int { return rank(a) - rank(b) })
	return p.entries
}

func (p *palette) usableFirst() {
	unusable := make(map[*command]int, len(p.entries))
	for _, e := range p.entries {
		if p.why(e.c) != "" {
			unusable[e.c] = 1
		}
	}
	slices.SortStableFunc(p.entries, func(a, b paletteEntry) int { return unusable[a.c] - unusable[b.c] })
}

type titles []*command

func (t titles) String(i int) string { return t[i].title }
func (t titles) Len() int            { return len(t) }

type names []*command

func (n names) String(i int) string { return n[i].name }
func (n names) Len() int            { return len(n) }

// why says why a command cannot be run from here; empty where it can.
func (p *palette) why(c *command) string {
	switch {
	case !slices.Contains(c.at, p.of) && p.screenOf(c) == nil:
		return "only " + somewhere(c.at)
	case c.decides && p.of.dialog():
		return "it decides: " + keyLabel(c.keys[0]) + " in the dialog does that"
	case c.decides && p.a.broken != "":
		return "nothing can be decided: " + p.a.broken
	}
	return c.why()
}

// screenOf is the screen to show before a command of another place is run. A
// command that changes anything is about a row that has to be seen first, so
// those that only look are run this way. A dialog is left by its own keys.
func (p *palette) screenOf(c *command) view {
	if !c.navigates || !slices.Contains(screens(), p.of) {
		return nil
	}
	for _, t := range p.a.tabs {
		if p.a.stack[0] != t.view && slices.Contains(c.at, t.view.place()) {
			return t.view
		}
	}
	return nil
}

// somewhere names places as a sentence goes on.
func somewhere(at []place) string {
	words := make([]string, 0, len(at))
	for _, p := range at {
		if p == atRunning {
			words = append(words, "while a plan is carried out")
			continue
		}
		words = append(words, "in the "+string(p))
	}
	return strings.Join(words, " or ")
}

// press runs the chosen command, or says why it cannot be.
func (p *palette) press() term.Cmd {
	if p.at >= len(p.entries) {
		p.a.say(roleWarn, "no command is called that; ctrl+u clears the line")
		return nil
	}
	c := p.entries[p.at].c
	if why := p.why(c); why != "" {
		p.a.say(roleWarn, c.title+": "+why)
		return nil
	}
	bare := strings.TrimSpace(p.line.text()) == ""
	if c.decides && !c.prompts && bare {
		p.a.say(roleWarn, c.title+": it decides; type its name first, or use "+keyLabel(c.keys[0]))
		return nil
	}
	p.close()
	p.used(c)
	if c.decides && p.subject != p.about() {
		p.a.say(roleWarn, "not run: what was chosen changed meanwhile; look, then decide")
		return nil
	}
	var cmd term.Cmd
	if !slices.Contains(c.at, p.of) {
		cmd = p.a.show(p.screenOf(c))
	}
	cmd = term.All(cmd, p.a.run(c))
	p.a.dirty = true // even where the command itself changed nothing: the palette has gone
	return cmd
}

func (p *palette) used(c *command) {
	p.recent = slices.DeleteFunc(p.recent, func(name string) bool { return name == c.name })
	p.recent = slices.Insert(p.recent, 0, c.name)
	p.recent = p.recent[:min(len(p.recent), recentLimit)]
}

func (p *palette) close() term.Cmd {
	p.a.pop(p)
	return nil
}

func (p *palette) move(by int) term.Cmd {
	p.at = min(max(p.at+by, 0), max(len(p.entries)-1, 0))
	return nil
}

func (p *palette) commands() []*command {
	at := []place{atPalette}
	move := func(name string, keys []string, about string, by func() int) *command {
		return &command{
			name: name, at: at, keys: keys, title: name, tag: "Palette", navigates: true, about: about,
			run: func() term.Cmd { return p.move(by()) },
		}
	}
	page := func() int { return max(p.a.body().h-4, 1) }
	return []*command{
		{
			name: "palette", at: append(screens(), atHelp, atPlan, atRunning, atOutcome), keys: []string{":", "ctrl+p"}, title: "palette",
			tag: "Screens", about: "every command by name; one that cannot be used says why", run: p.open, disabled: p.typing,
		},
		{
			name: "palette.run", at: at, keys: []string{"enter"}, title: "run", tag: "Palette", navigates: true, footer: 1,
			about: "run the chosen command as its key would", run: p.press,
		},
		{
			name: "palette.close", at: at, keys: []string{"esc"}, title: "close", tag: "Palette", navigates: true, footer: 2,
			about: "close the palette", run: p.close,
		},
		move("palette.down", []string{"down", "ctrl+n"}, "next command", func() int { return 1 }),
		move("palette.up", []string{"up", "ctrl+p"}, "command above", func() int { return -1 }),
		move("palette.next-page", []string{"pgdown"}, "a page down", page),
		move("palette.previous-page", []string{"pgup"}, "a page up", func() int { return -page() }),
	}
}
