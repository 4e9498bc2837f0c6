package tui

import (
	"gatehouse/core"
	"gatehouse/tui/term"
)

// outgoing is a text on its way out of the screen: to the clipboard, or into a
// note on the desktop. Both are sinks that the policy is asked about (sharing E1).
type outgoing struct {
	sink    core.EgressSink
	session core.SessionID // what it is of; empty where that is no one session
	text    string
	then    term.Msg // what sends it
	said    string   // the line at the bottom once it was sent; empty says nothing
	role    role
}

// leftMsg is the policy's answer.
type leftMsg struct {
	outgoing
	err error
}

// leave asks the policy, off the loop, and sends what may go.
func (a *app) leave(l outgoing) term.Cmd {
	ctx, kernel, who := a.ctx, a.kernel, a.who
	return func() term.Msg {
		done, err := kernel.Permit(ctx, core.EgressRequest{
			Sink: l.sink, Session: l.session, Caller: core.Caller{Kind: core.CallerPerson, Person: who.Person},
			Destination: string(l.sink), Local: true, Bytes: len(l.text),
		}, l.text)
		if err == nil {
			err = done(nil)
		}
		return leftMsg{l, err}
	}
}

// left sends what the policy let go, or says why it stays.
func (a *app) left(msg leftMsg) term.Cmd {
	if msg.err != nil {
		if msg.said != "" {
			a.fail(msg.err)
		}
		return nil
	}
	if msg.said != "" {
		a.say(msg.role, msg.said)
	}
	return term.Do(msg.then)
}

// copy sends a text to the clipboard, if the policy lets it.
func (a *app) copy(session core.SessionID, text, said string) term.Cmd {
	return a.copyAs(roleMuted, session, text, said)
}

func (a *app) copyAs(r role, session core.SessionID, text, said string) term.Cmd {
	return a.leave(outgoing{core.SinkClipboard, session, text, term.Copy{Text: text}, said, r})
}
