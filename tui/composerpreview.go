package tui

import (
	"fmt"

	"gatehouse/skills"
	"gatehouse/tui/term"
)

// atPreview is the place in which a person sees what a command becomes.
const atPreview place = "skill"

// previewLines is how many lines of an expansion are laid out at most; what is
// sent is what the library gave, whole.
const previewLines = 5000

// slashPreview shows what a command becomes before it is sent, and first what
// changed in the skill since this person used it last.
type slashPreview struct {
	a      *app
	sent   slashMessage
	called skills.Invocation
	lines  []line
	laid   []line
	laidAt int
	top    int
	cancel bool // the way back has the focus
}

func newSlashPreview(a *app) *slashPreview { return &slashPreview{a: a} }

// show opens it. Where the skill changed, going on takes a second key.
func (p *slashPreview) show(sent slashMessage, called skills.Invocation) {
	p.sent, p.called, p.top, p.laid, p.cancel = sent, called, 0, nil, called.Change.Changed
	p.lines = previewOf(called)
	p.a.message = ""
	p.a.pop(p)
	p.a.push(p)
}

// previewOf takes an invocation into the view model.
func previewOf(called skills.Invocation) []line {
	var lines []line
	add := func(r role, s string) {
		clean, _ := cleanLine(s, reasonLimit)
		lines = append(lines, line{r, clean, true})
	}
	body := func(s string) {
		all, _ := cleanLines(s)
		for i, text := range all {
			if i == previewLines {
				add(roleMuted, folded(len(all)-i, "more line", "more lines"))
				return
			}
			lines = append(lines, line{rolePlain, text, true})
		}
	}
	add(rolePlain, fmt.Sprintf("skill  %s · sha256 %.12s", called.Ref, called.SHA256))
	add(roleMuted, fmt.Sprintf("This is sent to the agent: %s bytes.", thousands(len(called.Text))))
	switch {
	case called.Change.First:
		add(roleWarn, "You have not used this skill before.")
	case called.Change.Changed:
		add(roleWarn, "It changed since you used it on "+called.Change.Since.Format("2006-01-02 15:04")+":")
		all, _ := cleanLines(called.Change.Diff)
		for _, text := range cutTo(all, bodyLines) {
			r := roleMuted
			switch {
			case len(text) > 0 && text[0] == '+':
				r = roleAdded
			case len(text) > 0 && text[0] == '-':
				r = roleRemoved
			}
			lines = append(lines, line{r, text, true})
		}
	}
	lines = append(lines, line{rolePlain, "", false})
	body(called.Text)
	return lines
}

func (p *slashPreview) place() place { return atPreview }

func (p *slashPreview) update(msg term.Msg) term.Cmd {
	if _, resized := msg.(resizedMsg); resized {
		p.laid = nil
	}
	return nil
}

func (p *slashPreview) close() term.Cmd {
	p.a.pop(p)
	return nil
}

func (p *slashPreview) press() term.Cmd {
	p.close()
	if p.cancel {
		return nil
	}
	return p.a.script.takeSkill(p.sent, p.called)
}

func (p *slashPreview) swap() term.Cmd {
	p.cancel = !p.cancel
	return nil
}

// room is how many lines of the text are in sight.
func (p *slashPreview) room() int { return max(p.a.body().h-2, 1) }

func (p *slashPreview) scroll(by int) term.Cmd {
	p.top = max(min(p.top+by, len(p.layout(p.a.size.w))-p.room()), 0)
	return nil
}

// layout breaks the lines to a width, once.
func (p *slashPreview) layout(width int) []line {
	if p.laid != nil && p.laidAt == width {
		return p.laid
	}
	p.laid, p.laidAt = p.laid[:0:0], width
	for _, l := range p.lines {
		if !l.flows {
			p.laid = append(p.laid, l)
			continue
		}
		for _, part := range wrap(l.text, max(width-4, 10)) {
			p.laid = append(p.laid, line{l.role, part, false})
		}
	}
	return p.laid
}

func (p *slashPreview) commands() []*command {
	at := []place{atPreview}
	move := func(name string, keys []string, by func() int) *command {
		return &command{
			name: "preview." + name, at: at, keys: keys, title: name, tag: "Move", navigates: true, about: "look through the text",
			run: func() term.Cmd { return p.scroll(by()) },
		}
	}
	return []*command{
		{
			name: "preview.press", at: at, keys: []string{"enter"}, title: "press", tag: "Agent", footer: 1, prompts: true,
			about: "press the button in brackets", run: p.press,
		},
		{
			name: "preview.close", at: at, keys: []string{"esc"}, title: "back", tag: "Agent", navigates: true, footer: 2,
			about: "back to the composer; nothing was sent", run: p.close,
		},
		{
			name: "preview.swap", at: at, keys: []string{"tab", "shift+tab", "left", "right", "h", "l"}, title: "other button", tag: "Agent",
			navigates: true, footer: 3, about: "to the other button", run: p.swap,
		},
		move("down", []string{"j", "down"}, func() int { return 1 }),
		move("up", []string{"k", "up"}, func() int { return -1 }),
		move("next-page", []string{"pgdown", "ctrl+f", "ctrl+d", "J", "space"}, p.room),
		move("previous-page", []string{"pgup", "ctrl+b", "ctrl+u", "K"}, func() int { return -p.room() }),
		move("first", []string{"g", "home"}, func() int { return -len(p.layout(p.a.size.w)) }),
		move("last", []string{"G", "end"}, func() int { return len(p.layout(p.a.size.w)) }),
	}
}

func (p *slashPreview) draw(r rect) []string {
	t := &p.a.theme
	laid := p.layout(r.w)
	room := max(r.h-2, 1)
	p.top = max(min(p.top, len(laid)-room), 0)
	note := ""
	if len(laid) > room {
		note = fmt.Sprintf("%d-%d of %s", p.top+1, min(p.top+room, len(laid)), thousands(len(laid)))
		if p.top+room < len(laid) {
			note += " ↓"
		}
	}
	title, _ := cleanLine(fmt.Sprintf("What /%s becomes", p.sent.command.Name), titleLimit)
	lines := []string{t.rule(r.w, roleTitle, title, note)}
	for i := p.top; i < len(laid) && i < p.top+room; i++ {
		lines = append(lines, t.spans(r.w, span{rolePlain, "  "}, span{laid[i].role, laid[i].text}))
	}
	lines = fill(lines, rect{r.w, r.h - 1})
	return append(lines, t.buttons(r.w, "Send", p.cancel, !p.cancel))
}
