package tui

import (
	"context"
	"errors"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/skills"
	"gatehouse/tui/term"
)

// Skills is the skill library as the composer uses it, on the authority of the
// person at the screen. Its methods are called off the loop.
type Skills interface {
	// Offers lists the commands that the person may call, by the word to type.
	Offers(ctx context.Context) ([]skills.Offer, error)
	// Invoke finds what a command means and what it becomes. Nothing is sent and
	// no session has read anything. Of several skills with one name the error is
	// a refusal with the choices; InvokeRef takes one of them.
	Invoke(ctx context.Context, c skills.Command) (skills.Invocation, error)
	InvokeRef(ctx context.Context, c skills.Command, ref skills.Ref) (skills.Invocation, error)
	// Take reads what was shown into a session, through the gate, and returns the
	// text to send. What is no longer as it was shown is refused.
	Take(ctx context.Context, session core.SessionID, i skills.Invocation) (string, error)
}

// slashRows is how many commands are listed at once.
const slashRows = 5

// slash is what the composer knows of commands.
type slash struct {
	offers []skills.Offer // clean
	gen    int
	at     int
	asked  int // grows with each command, so that no answer meets the wrong one
}

type (
	offersMsg struct {
		gen    int
		offers []skills.Offer
		err    error
	}
	// invokedMsg says what a command becomes.
	invokedMsg struct {
		asked  int
		sent   slashMessage
		called skills.Invocation
		err    error
	}
	// takenMsg says that a session has read what it is now to be sent.
	takenMsg struct {
		sent slashMessage
		text string
		err  error
	}
)

// slashMessage is a message that calls a skill: where and how it was typed.
type slashMessage struct {
	session core.SessionID
	typed   string
	kind    core.MessageKind
	command skills.Command
}

// word is the beginning of a command that is being typed, "" where none is.
func (v *transcript) word() string {
	if v.a.skills == nil || !v.comp.focused || len(v.comp.rows) != 1 || v.question() != nil {
		return ""
	}
	text := v.comp.rows[0].text()
	if !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") || strings.ContainsAny(text, " \t") {
		return ""
	}
	return text
}

// matching are the commands that what is being typed may become.
func (v *transcript) matching() []skills.Offer {
	word := v.word()
	if word == "" {
		return nil
	}
	var found []skills.Offer
	for _, o := range v.slash.offers {
		if strings.HasPrefix(o.Word, word) {
			found = append(found, o)
		}
	}
	return found
}

// slashTyped looks for the commands anew when one is begun.
func (v *transcript) slashTyped() term.Cmd {
	v.slash.at = 0
	v.slashRoom()
	if v.word() != "/" {
		return nil
	}
	v.slash.gen++
	gen, ctx, library := v.slash.gen, v.a.ctx, v.a.skills
	return func() term.Msg {
		offers, err := library.Offers(ctx)
		return offersMsg{gen, offers, err}
	}
}

func (v *transcript) offered(msg offersMsg) {
	if msg.gen != v.slash.gen {
		return
	}
	v.a.fail(msg.err)
	v.slash.offers = msg.offers
	for i := range v.slash.offers {
		o := &v.slash.offers[i]
		o.Hint, _ = cleanLine(o.Hint, titleLimit)
		o.Description, _ = cleanLine(o.Description, titleLimit)
	}
	v.slashRoom()
}

// slashRoom scrolls to where the transcript was, in the room that is left.
func (v *transcript) slashRoom() {
	if v.live() == nil && v.follow {
		v.keepInSight()
	}
	v.keepEnd()
}

// slashMove chooses among the commands that are listed, and reports whether any
// are.
func (v *transcript) slashMove(by int) bool {
	n := len(v.matching())
	if n == 0 {
		return false
	}
	v.slash.at = (v.slash.at + by + n) % n
	return true
}

// slashComplete writes the chosen command out, and reports whether there was
// anything to add.
func (v *transcript) slashComplete() bool {
	found := v.matching()
	if len(found) == 0 {
		return false
	}
	chosen := found[min(v.slash.at, len(found)-1)]
	if chosen.Word == v.word() {
		return false
	}
	v.comp.set(chosen.Word + " ")
	v.slash.at = 0
	return true
}

// completeOrLeave completes the command that is being typed, else goes from the composer.
func (v *transcript) completeOrLeave() term.Cmd {
	if len(v.matching()) > 0 {
		if !v.slashComplete() {
			v.comp.set(v.word() + " ")
		}
		return nil
	}
	v.comp.focused = false
	return nil
}

// slashed takes a message that begins with a slash, and reports whether it was
// one that goes no further. Nothing is sent before it was seen.
func (v *transcript) slashed(typed string, kind core.MessageKind) (text string, cmd term.Cmd, done bool) {
	if v.a.skills == nil {
		return typed, nil, false
	}
	if chosen := v.matching(); len(chosen) > 0 && !slices.ContainsFunc(chosen, func(o skills.Offer) bool { return o.Word == v.word() }) {
		v.slashComplete() // a word that is only begun is written out first
		return "", nil, true
	}
	message, err := skills.ParseMessage(typed)
	if err != nil {
		v.a.fail(withHint(err))
		return "", nil, true
	}
	if message.Command == nil {
		return message.Text, nil, false
	}
	v.slash.asked++
	asked, ctx, library := v.slash.asked, v.a.ctx, v.a.skills
	sent := slashMessage{v.session.ID, typed, kind, *message.Command}
	return "", func() term.Msg {
		called, err := library.Invoke(ctx, sent.command)
		return invokedMsg{asked, sent, called, err}
	}, true
}

// invoked shows what a command becomes, or asks which was meant.
func (v *transcript) invoked(msg invokedMsg) term.Cmd {
	if msg.asked != v.slash.asked || v.session.ID != msg.sent.session || v.comp.text() != msg.sent.typed {
		return nil // it was written on meanwhile
	}
	var refused *skills.RefusedError
	switch {
	case errors.As(msg.err, &refused) && len(refused.Choices) > 0:
		v.chooseSkill(msg.sent, refused)
		return nil
	case msg.err != nil:
		v.a.fail(withHint(msg.err))
		return nil
	case msg.called.Builtin != "":
		return v.builtin(msg.called.Builtin)
	}
	v.a.preview.show(msg.sent, msg.called)
	return nil
}

// chooseSkill asks which of several skills of one name is meant (S84).
func (v *transcript) chooseSkill(sent slashMessage, refused *skills.RefusedError) {
	choices := make([]string, len(refused.Choices))
	for i, ref := range refused.Choices {
		choices[i], _ = cleanLine(ref.String(), titleLimit)
	}
	title, _ := cleanLine(refused.Text, titleLimit)
	v.a.sheet.ask(question{
		title: title, choices: choices, accept: "Show it",
		do: func(answer sheetAnswer) term.Cmd {
			v.slash.asked++
			asked, ctx, library, ref := v.slash.asked, v.a.ctx, v.a.skills, refused.Choices[answer.choice]
			return func() term.Msg {
				called, err := library.InvokeRef(ctx, sent.command, ref)
				return invokedMsg{asked, sent, called, err}
			}
		},
	})
}

// builtin runs the command of the screens that a built-in stands for.
func (v *transcript) builtin(name string) term.Cmd {
	stands := map[string]string{
		"help": "help", "queue": "transcript.queue", "sessions": "screen.sessions", "observations": "screen.observations",
		"quit": "quit", "close": "transcript.back",
	}[name]
	at := slices.IndexFunc(v.a.keys.commands, func(c *command) bool { return c.name == stands })
	if at < 0 {
		v.a.say(roleWarn, "/"+name+" does nothing here; : finds every command")
		return nil
	}
	v.comp.sent(v.comp.text())
	v.comp.focused = false
	return v.a.run(v.a.keys.commands[at])
}

// takeSkill reads a skill that was shown into the session, and sends it then.
func (v *transcript) takeSkill(sent slashMessage, called skills.Invocation) term.Cmd {
	ctx, library := v.a.ctx, v.a.skills
	return v.a.work(func() term.Msg {
		text, err := library.Take(ctx, sent.session, called)
		return takenMsg{sent, text, err}
	})
}

func (v *transcript) taken(msg takenMsg) term.Cmd {
	switch {
	case msg.err != nil:
		v.a.fail(withHint(msg.err)) // what was typed is kept
		return nil
	case v.session.ID != msg.sent.session:
		v.a.say(roleWarn, "/"+msg.sent.command.Name+" was not sent: another session is on the screen")
		return nil
	}
	return v.deliver(msg.sent.kind, msg.text, msg.sent.typed)
}

// withHint adds to a refusal what to do.
func withHint(err error) error {
	var refused *skills.RefusedError
	if errors.As(err, &refused) && refused.Hint != "" {
		return errors.New(refused.Text + "; " + refused.Hint)
	}
	return err
}

// slashLines are the commands that what is being typed may become.
func (v *transcript) slashLines(width int) []string {
	t, found := &v.a.theme, v.matching()
	first := max(min(v.slash.at-slashRows+1, len(found)-slashRows), 0)
	var lines []string
	for i := first; i < len(found) && i < first+slashRows; i++ {
		sign, r := "  ", rolePlain
		if i == v.slash.at {
			sign, r = "▸ ", roleCursor
		}
		words := found[i].Word
		if found[i].Hint != "" {
			words += " " + found[i].Hint
		}
		lines = append(lines, t.spans(width, span{roleAccent, " " + sign}, span{r, words}, span{roleMuted, "  " + found[i].Description}))
	}
	return lines
}
