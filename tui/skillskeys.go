package tui

import "gatehouse/tui/term"

// The places of the skill library.
const (
	atSkills     place = "skills"
	atSkillsFind place = "skills search"
	atSkillsText place = "skills text"
)

func (v *skillsView) move(by int) term.Cmd {
	if v.find.shown() {
		v.find.at = min(max(v.find.at+by, 0), max(len(v.find.hits)-1, 0))
		return v.follow()
	}
	v.want.Path = ""
	v.at = min(max(v.at+by, 0), max(v.rows()-1, 0))
	cmd := v.ensure()
	return term.All(cmd, v.follow())
}

// enter folds a collection or shows what is in it; of a document it goes to the
// text.
func (v *skillsView) enter() term.Cmd {
	s, i := v.row(v.at)
	if v.find.shown() || s == nil || i >= 0 {
		return v.focusText()
	}
	if s.open {
		return v.shut()
	}
	return v.unfold()
}

func (v *skillsView) unfold() term.Cmd {
	s, i := v.row(v.at)
	if v.find.shown() || s == nil || i >= 0 || s.open {
		return nil
	}
	s.open = true
	v.number()
	return v.readShelf(s, 0)
}

// shut folds the collection that the cursor is in, and goes to it.
func (v *skillsView) shut() term.Cmd {
	s, i := v.row(v.at)
	if v.find.shown() || s == nil || !s.open {
		return nil
	}
	v.at -= i + 1
	s.open, s.docs, s.first = false, nil, 0
	s.gen++
	s.loading = false
	v.number()
	return v.follow()
}

func (v *skillsView) focusText() term.Cmd {
	v.text = true
	return v.follow()
}

func (v *skillsView) focusList() term.Cmd {
	v.text = false
	return v.follow()
}

// back takes the hits away, then goes to the queue.
func (v *skillsView) back() term.Cmd {
	if v.find.shown() {
		return v.leaveFind()
	}
	return v.a.show(v.a.queue)
}

func (v *skillsView) turn(by int) term.Cmd {
	v.tab = (v.tab + skillTab(by) + skillTabs) % skillTabs
	return v.follow()
}

func (v *skillsView) pageRoom() int {
	r := v.a.body()
	if l := v.layout(r); l.page.h > 0 {
		return max(l.page.h-2, 1)
	}
	return max(r.h-2, 1)
}

func (v *skillsView) lastTop() int { return max(len(v.page.body.lines)-v.pageRoom(), 0) }

func (v *skillsView) scroll(by int) term.Cmd {
	v.page.top = min(max(v.page.top+by, 0), v.lastTop())
	return nil
}

func (v *skillsView) sideways(by int) term.Cmd {
	v.page.left = max(v.page.left+by, 0)
	return nil
}

func (v *skillsView) copyID() term.Cmd {
	ref, _ := v.on()
	id := string(ref.Collection)
	if ref.Path != "" {
		id = ref.String()
	}
	clean, hidden := cleanLine(id, titleLimit)
	if hidden {
		return v.a.copyAs(roleWarn, "", clean, clean+" was sent to the clipboard, without the characters that are not shown")
	}
	return v.a.copy("", clean, clean+" was sent to the clipboard")
}

func (v *skillsView) nothing() string {
	if _, ok := v.on(); !ok {
		return "there is no collection or document under the cursor"
	}
	return ""
}

func (v *skillsView) toggleRaw() term.Cmd {
	v.raw = !v.raw
	v.tab = tabText
	return v.follow()
}

func (v *skillsView) toggleFix() term.Cmd {
	v.fix = !v.fix
	return v.follow()
}

func (v *skillsView) commands() []*command {
	return append(append(v.chooseCommands(), v.moveCommands()...), v.findCommands()...)
}

func (v *skillsView) chooseCommands() []*command {
	list, both := []place{atSkills}, []place{atSkills, atSkillsText}
	return []*command{
		{
			name: "skills.open", at: list, keys: []string{"enter"}, title: "open", tag: "Choose", navigates: true, footer: 1,
			about: "show what is in a collection, or fold it; read a document", run: v.enter,
		},
		{
			name: "skills.search", at: both, keys: []string{"/"}, title: "search", tag: "Choose", navigates: true, footer: 2,
			about: "find documents that hold every word, as you type", run: v.startFind,
		},
		{
			name: "skills.next-tab", at: both, keys: []string{"]"}, title: "next tab", tag: "Choose", navigates: true, footer: 3,
			about: "Text, Problems, Catalog, Changed, Readers", run: func() term.Cmd { return v.turn(1) },
		},
		{
			name: "skills.previous-tab", at: both, keys: []string{"["}, title: "tab before", tag: "Choose", navigates: true,
			about: "Readers, Changed, Catalog, Problems, Text", run: func() term.Cmd { return v.turn(-1) },
		},
		{
			name: "skills.raw", at: both, keys: []string{"m"}, title: "raw", tag: "Choose", navigates: true, footer: 4,
			about: "the text as it is written, or as Markdown", run: v.toggleRaw,
		},
		{
			name: "skills.fix", at: both, keys: []string{"f"}, title: "fix", tag: "Choose", navigates: true, footer: 5,
			about: "show the change that mends the skill; gatehouse skills fix makes it", run: v.toggleFix,
			disabled: func() string {
				if v.tab != tabProblems {
					return "what mends a skill stands on the Problems tab"
				}
				return ""
			},
		},
		{
			name: "skills.session", at: both, keys: []string{"o"}, title: "session", tag: "Choose", navigates: true, footer: 6,
			about: "choose whose catalog is shown", run: v.chooseSession, disabled: v.noSessions,
		},
		{
			name: "skills.pin", at: both, keys: []string{"P"}, title: "pin…", tag: "Decide", decides: true, prompts: true, footer: 7,
			about: "pin the collection to the session whose catalog is shown", run: v.askPin, disabled: func() string { return v.noPin(false) },
		},
		{
			name: "skills.unpin", at: both, keys: []string{"U"}, title: "unpin…", tag: "Decide", decides: true, prompts: true, footer: 8,
			about: "take the pin away; what was read stays read", run: v.askUnpin, disabled: func() string { return v.noPin(true) },
		},
		{
			name: "skills.copy", at: both, keys: []string{"y"}, title: "copy", tag: "Choose", navigates: true, footer: 9,
			about: "the id to the clipboard of the terminal", run: v.copyID, disabled: v.nothing,
		},
		{
			name: "skills.back", at: list, keys: []string{"esc"}, title: "back", tag: "Choose", navigates: true, footer: 10,
			about: "take the hits away, then back to the queue", run: v.back,
		},
		{
			name: "skills.text", at: list, keys: []string{"tab", "shift+tab"}, title: "text", tag: "Move", navigates: true,
			about: "to the text and its keys", run: v.focusText,
		},
		{
			name: "skills.list", at: []place{atSkillsText}, keys: []string{"esc", "tab", "shift+tab"}, title: "back", tag: "Move", navigates: true, footer: 1,
			about: "to the collections", run: v.focusList,
		},
	}
}

func (v *skillsView) moveCommands() []*command {
	move := func(at place, name string, keys []string, about string, run func() term.Cmd) *command {
		return &command{name: "skills." + name, at: []place{at}, keys: keys, title: name, tag: "Move", navigates: true, about: about, run: run}
	}
	page := func() int { return max(v.layout(v.a.body()).list.h-2, 1) }
	all := func() int { return v.rows() + len(v.find.hits) }
	return []*command{
		move(atSkills, "down", []string{"j", "down"}, "next row", func() term.Cmd { return v.move(1) }),
		move(atSkills, "up", []string{"k", "up"}, "row before", func() term.Cmd { return v.move(-1) }),
		move(atSkills, "next-page", []string{"pgdown", "ctrl+f"}, "a page on", func() term.Cmd { return v.move(page()) }),
		move(atSkills, "previous-page", []string{"pgup", "ctrl+b"}, "a page back", func() term.Cmd { return v.move(-page()) }),
		move(atSkills, "first", []string{"g", "home"}, "first row", func() term.Cmd { return v.move(-all()) }),
		move(atSkills, "last", []string{"G", "end"}, "last row", func() term.Cmd { return v.move(all()) }),
		move(atSkills, "unfold", []string{"right"}, "show what is in the collection", v.unfold),
		move(atSkills, "fold", []string{"left"}, "fold the collection that the cursor is in", v.shut),
		move(atSkills, "scroll-down", []string{"J", "ctrl+d"}, "more of the text", func() term.Cmd { return v.scroll(v.pageRoom() / 2) }),
		move(atSkills, "scroll-up", []string{"K", "ctrl+u"}, "the text before", func() term.Cmd { return v.scroll(-v.pageRoom() / 2) }),
		move(atSkillsText, "text-down", []string{"j", "down"}, "a line on", func() term.Cmd { return v.scroll(1) }),
		move(atSkillsText, "text-up", []string{"k", "up"}, "a line back", func() term.Cmd { return v.scroll(-1) }),
		move(atSkillsText, "text-page", []string{"pgdown", "ctrl+f", "J", "ctrl+d", "space"}, "more of the text", func() term.Cmd { return v.scroll(v.pageRoom() - 1) }),
		move(atSkillsText, "text-back", []string{"pgup", "ctrl+b", "K", "ctrl+u"}, "the text before", func() term.Cmd { return v.scroll(1 - v.pageRoom()) }),
		move(atSkillsText, "text-first", []string{"g", "home"}, "to its beginning", func() term.Cmd { return v.scroll(-len(v.page.body.lines)) }),
		move(atSkillsText, "text-last", []string{"G", "end"}, "to its end", func() term.Cmd { return v.scroll(len(v.page.body.lines)) }),
		move(atSkillsText, "left", []string{"H", "left"}, "sideways, to the left", func() term.Cmd { return v.sideways(-8) }),
		move(atSkillsText, "right", []string{"L", "right"}, "sideways, to the right", func() term.Cmd { return v.sideways(8) }),
	}
}

func (v *skillsView) findCommands() []*command {
	at := []place{atSkillsFind}
	move := func(name, key string, by int) *command {
		return &command{
			name: "skills.search." + name, at: at, keys: []string{key}, title: name, tag: "Search", navigates: true, about: "through what was found",
			run: func() term.Cmd { return v.move(by) },
		}
	}
	return []*command{
		{
			name: "skills.search.keep", at: at, keys: []string{"enter"}, title: "keep", tag: "Search", navigates: true,
			about: "go through what was found", run: v.acceptFind,
		},
		{
			name: "skills.search.leave", at: at, keys: []string{"esc"}, title: "leave", tag: "Search", navigates: true,
			about: "show the collections again", run: v.leaveFind,
		},
		move("down", "down", 1), move("up", "up", -1), move("page", "pgdown", 5), move("page-up", "pgup", -5),
	}
}
