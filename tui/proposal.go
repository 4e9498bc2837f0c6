package tui

import (
	"fmt"

	"gatehouse/tui/term"
)

// proposal is what would be made, in full, before it is. It holds the digest or
// the place that it was shown with in its function (T5).
type proposal struct {
	title  string
	lines  []line
	accept string // name of the button that goes on
	danger bool
	do     func() term.Cmd
}

// proposalView shows a proposal. Its focus is on Cancel, and what was not seen
// to its end is not accepted.
type proposalView struct {
	a      *app
	p      proposal
	accept bool // the focus
	top    int
	seen   bool // its last line was on the screen
}

func newProposalView(a *app) *proposalView { return &proposalView{a: a} }

func (v *proposalView) ask(p proposal) {
	v.p, v.accept, v.top, v.seen = p, false, 0, false
	v.a.pop(v)
	v.a.push(v)
	v.look()
}

func (v *proposalView) place() place { return atProposal }

func (v *proposalView) update(msg term.Msg) term.Cmd {
	if _, ok := msg.(resizedMsg); ok {
		v.scroll(0)
	}
	return nil
}

// laid are the lines as they are broken to a width.
func (v *proposalView) laid(width int) []line {
	var out []line
	for _, l := range v.p.lines {
		if !l.flows {
			out = append(out, l)
			continue
		}
		for _, part := range wrapHanging(l.text, width-4, proposalHang) {
			out = append(out, line{l.role, part, false})
		}
	}
	return out
}

// proposalHang is where the second column of a proposal begins.
const proposalHang = 16

// room is what is left between the title and the buttons.
func (v *proposalView) room(r rect) int { return max(r.h-3, 1) }

func (v *proposalView) scroll(by int) term.Cmd {
	r := v.a.body()
	v.top = min(max(v.top+by, 0), max(len(v.laid(r.w))-v.room(r), 0))
	v.look()
	return nil
}

// look notes that the end is on the screen.
func (v *proposalView) look() {
	r := v.a.body()
	v.seen = v.seen || v.top+v.room(r) >= len(v.laid(r.w))
}

func (v *proposalView) step() term.Cmd {
	v.accept = !v.accept
	return nil
}

func (v *proposalView) press() term.Cmd {
	switch {
	case !v.accept:
		return v.close()
	case !v.seen:
		v.a.say(roleWarn, "there is more below: look at it first, G goes to its end")
		return nil
	}
	do := v.p.do
	v.a.pop(v)
	return do()
}

func (v *proposalView) close() term.Cmd {
	v.a.pop(v)
	v.a.say(roleMuted, "nothing was made")
	return nil
}

func (v *proposalView) commands() []*command {
	at := []place{atProposal}
	half := func() int { return max(v.room(v.a.body())/2, 1) }
	move := func(name string, keys []string, by func() int) *command {
		return &command{
			name: name, at: at, keys: keys, title: name, tag: "Move", navigates: true, about: "through what is proposed",
			run: func() term.Cmd { return v.scroll(by()) },
		}
	}
	return []*command{
		{
			name: "proposal.press", at: at, keys: []string{"enter"}, title: "press", tag: "Prompt", footer: 1, decides: true, prompts: true,
			about: "press the button that has the focus", run: v.press,
		},
		{
			name: "proposal.cancel", at: at, keys: []string{"esc"}, title: "cancel", tag: "Prompt", footer: 2, navigates: true,
			about: "make nothing of it", run: v.close,
		},
		{
			name: "proposal.next", at: at, keys: []string{"tab", "shift+tab", "left", "right"}, title: "other button", tag: "Prompt", footer: 3,
			navigates: true, about: "between the buttons", run: v.step,
		},
		move("proposal.down", []string{"j", "down"}, func() int { return 1 }),
		move("proposal.up", []string{"k", "up"}, func() int { return -1 }),
		move("proposal.page-down", []string{"J", "ctrl+d", "pgdown", "ctrl+f", "space"}, half),
		move("proposal.page-up", []string{"K", "ctrl+u", "pgup", "ctrl+b"}, func() int { return -half() }),
		move("proposal.first", []string{"g", "home"}, func() int { return -len(v.laid(v.a.body().w)) }),
		move("proposal.last", []string{"G", "end"}, func() int { return len(v.laid(v.a.body().w)) }),
	}
}

func (v *proposalView) draw(r rect) []string {
	t := &v.a.theme
	laid, room := v.laid(r.w), v.room(r)
	note, titleRole := "", roleTitle
	if v.p.danger {
		titleRole = roleDanger
	}
	if len(laid) > room {
		note = fmt.Sprintf("%d-%d of %d", v.top+1, min(v.top+room, len(laid)), len(laid))
		if !v.seen {
			note += " ↓ unseen"
		}
	}
	lines := []string{t.rule(r.w, titleRole, v.p.title, note)}
	for i := v.top; i < len(laid) && i < v.top+room; i++ {
		lines = append(lines, t.spans(r.w, span{rolePlain, "  "}, span{laid[i].role, laid[i].text}))
	}
	lines = fill(lines, rect{r.w, r.h - 1})
	return append(lines, t.buttons(r.w, v.p.accept, !v.accept, v.accept))
}
