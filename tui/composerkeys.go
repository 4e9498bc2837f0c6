package tui

import (
	"gatehouse/core"
	"gatehouse/tui/term"
)

// writeCommands are the keys with which a person talks to the agent.
func (v *transcript) writeCommands() []*command {
	at := []place{atTranscript}
	writes := []place{atComposer}
	return []*command{
		{
			name: "transcript.write", at: at, keys: []string{"i", "tab"}, title: "write", tag: "Agent", navigates: true, footer: 5,
			about: "write to the agent", run: func() term.Cmd { v.comp.focused = true; return nil }, disabled: v.noRunner,
		},
		{
			name: "transcript.continue", at: at, keys: []string{"C"}, title: "continue", tag: "Agent",
			about: "go on with the open turn", run: func() term.Cmd { return v.start("") }, disabled: v.noRunner,
		},
		{
			name: "composer.send", at: writes, keys: []string{"enter"}, title: "send", tag: "Agent", footer: 1,
			about: "send; to an agent at work at its next step", run: func() term.Cmd { return v.send(core.MessageQueued) },
		},
		{
			name: "composer.steer", at: writes, keys: []string{"ctrl+s"}, title: "steer", tag: "Agent", footer: 3,
			about: "send, and break off what is being answered", run: func() term.Cmd { return v.send(core.MessageSteering) },
		},
		{
			name: "composer.line", at: writes, keys: []string{"alt+enter", "ctrl+j"}, title: "new line", tag: "Agent", footer: 2,
			about: "begin a new line", run: func() term.Cmd { v.comp.split(); return nil },
		},
		{
			name: "composer.rub-out", at: writes, keys: []string{"backspace"}, title: "rub out", tag: "Agent",
			about: "take the character before the cursor away", run: func() term.Cmd { v.comp.rubOut(); return v.changed() },
		},
		{
			name: "composer.up", at: writes, keys: []string{"up"}, title: "up", tag: "Agent", navigates: true,
			about: "line above, then what was sent before", run: func() term.Cmd { return v.vertical(-1) },
		},
		{
			name: "composer.down", at: writes, keys: []string{"down"}, title: "down", tag: "Agent", navigates: true,
			about: "line below, then what was sent after", run: func() term.Cmd { return v.vertical(1) },
		},
		{
			name: "composer.leave", at: writes, keys: []string{"esc"}, title: "leave", tag: "Agent", navigates: true, footer: 4,
			about: "leave what is being written; it is kept, and the turn goes on", run: func() term.Cmd { v.comp.focused = false; return nil },
		},
		{
			name: "composer.complete", at: writes, keys: []string{"tab"}, title: "complete", tag: "Agent", navigates: true,
			about: "write the chosen command out; else leave what is being written", run: v.completeOrLeave,
		},
	}
}

// typed is the line that is being written.
func (v *transcript) typed() *input {
	if !v.comp.focused {
		return nil
	}
	return &v.comp.rows[v.comp.at]
}

func (v *transcript) changed() term.Cmd { return v.slashTyped() }

// vertical chooses among the commands that are listed, else goes among the
// lines.
func (v *transcript) vertical(by int) term.Cmd {
	if !v.slashMove(by) {
		v.comp.vertical(by)
	}
	return nil
}

// pasted takes text in, lines and all; it never sends.
func (v *transcript) pasted(s string) { v.comp.insert(s) }

func (v *transcript) noRunner() string {
	if v.a.runner == nil {
		return "no agent can be run here"
	}
	return ""
}
