package term

import (
	"io"
	"os"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	xterm "github.com/charmbracelet/x/term"

	"gatehouse/core/text"
)

// The results of a Cmd that reach a person who looks elsewhere. A terminal that
// does not know them leaves them out.
type (
	// Bell rings, or whatever the terminal does instead.
	Bell struct{}
	// Note is shown by the desktop (OSC 9) behind the program's name. Any text
	// will do: it is cleaned and cut here.
	Note struct{ Text string }
)

// Reporter is a [Screen] that tells the terminal about itself beside its frame.
type Reporter interface {
	// Report is called after each View, from the same goroutine. What it says
	// holds until the next; when the screen ends or is suspended, the terminal
	// is told that nothing holds any more.
	Report() Report
}

// Report is the state of the program. The zero value says nothing.
type Report struct {
	Waits    Waits    // what the program waits for a person to do (OSC 7501)
	About    string   // one line about it
	Progress Progress // of what is being carried out (OSC 9;4)
}

// Waits is what a program waits for.
type Waits string

// The things a program can wait for; zero is nothing.
const (
	WaitsPermission Waits = "permission"
	WaitsAnswer     Waits = "question"
)

// Progress is how far something has come; the zero value is nothing at work.
type Progress struct {
	Running bool
	Percent int  // 0 to 100
	Failed  bool // something of it did not end well
}

const (
	programName = "gatehouse"
	noteLimit   = 200
)

// note is the sequence of a desktop note. The name in front does more than say
// who speaks: OSC 9 with a number in front is something else.
func note(s string) string {
	line, _ := text.CleanLine(s, noteLimit)
	return ansi.Notify(programName + ": " + line)
}

// report puts what the screen says of itself into the library's view.
func (a *adapter) report(view *tea.View) {
	screen, ok := a.screen.(Reporter)
	if !ok || a.silent {
		return
	}
	r := screen.Report()
	if r.Waits != "" {
		about, _ := text.CleanLine(r.About, noteLimit)
		view.ProgramStatus = &tea.ProgramStatus{
			State: tea.ProgramStateBlocked, Kind: tea.ProgramStatusKind(r.Waits), ID: programName, App: programName, Message: about,
		}
	}
	if r.Progress.Running {
		state := tea.ProgressBarDefault
		if r.Progress.Failed {
			state = tea.ProgressBarError
		}
		view.ProgressBar = tea.NewProgressBar(state, r.Progress.Percent)
	}
	if r.Waits != "" || r.Progress.Running {
		a.mu.Lock()
		a.reported = true
		a.mu.Unlock()
	}
}

// unreport is what takes back everything that was reported; empty where nothing
// was. The record has a name of its own, so that those of other programs on the
// terminal stay.
func (a *adapter) unreport() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.reported {
		return ""
	}
	return ansi.ClearProgramStatusID(programName) + ansi.ResetProgressBar
}

// quiet takes back what was reported, once the library let go of the terminal.
// A terminal that is gone needs no telling.
func (a *adapter) quiet(w io.Writer) {
	if w == nil {
		w = os.Stdout
	}
	if s := a.unreport(); s != "" {
		_, _ = io.WriteString(w, s)
	}
}

// silent reports that nothing but frames may be written: the terminal is a dumb
// one, or none.
func (o Options) silent() bool {
	environ := o.Environ
	if environ == nil {
		environ = os.Environ()
	}
	if name, _ := lookup(environ, "TERM"); name == "" || name == "dumb" {
		return true
	}
	out := o.Output
	if out == nil {
		out = os.Stdout
	}
	file, isFile := out.(*os.File)
	return isFile && !xterm.IsTerminal(file.Fd())
}

// signal makes what reaches a person one of the library's messages.
func (a *adapter) signal(msg Msg) tea.Msg {
	if a.silent {
		return nil
	}
	if n, ok := msg.(Note); ok {
		return tea.Raw(note(n.Text))()
	}
	return tea.Raw("\a")()
}
