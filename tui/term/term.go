// Package term is the only room that knows which terminal library the screens
// run on. Everything the library's version could change (messages, keys, the
// program, the clipboard) is turned into the few plain values declared here.
//
// The rules of all terminal output:
//
//   - A screen is opened on a terminal or not at all: see [Check].
//   - What was changed of the terminal is put back when the screen ends: at a
//     quit, at SIGINT, SIGTERM and SIGHUP, at the end of the context, at a
//     panic, and while the program is suspended. SIGKILL cannot be caught.
//   - A panic is an error of [Run], never a stack trace on the screen.
//   - Nothing else of the program writes to the terminal while it is open.
package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// Msg is something that happened. It is a past fact and holds values, never
// pointers into a screen.
type Msg any

// Cmd is work off the loop; its result is the next message. A nil Cmd, and a
// nil result, are nothing.
type Cmd func() Msg

// Screen is what [Run] shows. Its methods are called from one goroutine.
type Screen interface {
	// Init returns the first work.
	Init() Cmd
	// Update takes in one message. It does not block.
	Update(Msg) Cmd
	// View returns the whole frame, its lines divided by newlines. It is
	// called once after each message.
	View() string
}

// The messages that come from the terminal.
type (
	// KeyMsg is a key that was pressed. Name is its printable text, or a name
	// such as "enter", "space", "ctrl+d", "shift+tab"; Text is what it types,
	// empty for keys that type nothing.
	KeyMsg struct{ Name, Text string }
	// PasteMsg is a bracketed paste: text, never keys.
	PasteMsg struct{ Text string }
	// SizeMsg comes first, and whenever the terminal changes its size.
	SizeMsg struct{ Width, Height int }
	// ResumedMsg comes after a suspended program runs again.
	ResumedMsg struct{}
)

// The results of a Cmd that the terminal carries out itself.
type (
	// Batch runs several commands at once, in no order.
	Batch []Cmd
	// Later delivers a message after a time.
	Later struct {
		After time.Duration
		Msg   Msg
	}
	// Quit ends the screen. Err is what Run returns.
	Quit struct{ Err error }
	// Suspend gives the terminal back to the shell until the program is resumed.
	Suspend struct{}
	// Redraw draws every cell again.
	Redraw struct{}
	// Copy puts text on the clipboard through the terminal (OSC 52), which may
	// refuse in silence.
	Copy struct{ Text string }
)

// All makes one Cmd of several; those that are nil are left out.
func All(cmds ...Cmd) Cmd {
	var live Batch
	for _, cmd := range cmds {
		if cmd != nil {
			live = append(live, cmd)
		}
	}
	switch len(live) {
	case 0:
		return nil
	case 1:
		return live[0]
	}
	return func() Msg { return live }
}

// Do makes a Cmd of a message.
func Do(msg Msg) Cmd { return func() Msg { return msg } }

// After makes a Cmd that delivers a message after a time.
func After(d time.Duration, msg Msg) Cmd { return Do(Later{After: d, Msg: msg}) }

// FrameEvery is the longest that a changed frame waits until it is written.
// The library takes no shorter time.
const FrameEvery = time.Second / 120

// Options say where a screen runs. The zero value is standard input and output.
type Options struct {
	Input   io.Reader // nil is os.Stdin
	Output  io.Writer // nil is os.Stdout
	Environ []string  // nil is os.Environ
	Width   int       // with Height, the size at first where Output is no terminal
	Height  int
	Plain   bool // no colour, whatever the terminal can do
	Log     *slog.Logger
}

// ErrPanic is what Run returns, wrapped, when a screen panicked. The details
// are in the log.
var ErrPanic = errors.New("the screen stopped on an internal error")

// Run shows a screen until it quits, the context ends, or the process is told
// to end. The end of the context and signals are no errors: what they stop has
// been stored before.
func Run(ctx context.Context, screen Screen, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	go func() {
		select {
		case <-hangup:
			cancel()
		case <-ctx.Done():
		}
	}()

	a := &adapter{screen: screen, done: ctx.Done(), log: o.Log, silent: o.silent()}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	program := tea.NewProgram(a, o.program(ctx)...)
	_, err := program.Run()
	a.quiet(o.Output)
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.err != nil:
		return a.err
	case err == nil, errors.Is(err, tea.ErrInterrupted), ctx.Err() != nil:
		return nil
	}
	return fmt.Errorf("terminal: %w", err)
}

func (o Options) program(ctx context.Context) []tea.ProgramOption {
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithFPS(int(time.Second / FrameEvery))}
	if o.Input != nil {
		options = append(options, tea.WithInput(o.Input))
	}
	if o.Output != nil {
		options = append(options, tea.WithOutput(o.Output))
	}
	if o.Environ != nil {
		options = append(options, tea.WithEnvironment(o.Environ))
	}
	if o.Width > 0 && o.Height > 0 {
		options = append(options, tea.WithWindowSize(o.Width, o.Height))
	}
	if o.Plain {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	return options
}

// adapter shows a Screen to the library.
type adapter struct {
	screen Screen
	done   <-chan struct{}
	log    *slog.Logger
	last   string
	silent bool // nothing but frames is written

	mu       sync.Mutex
	err      error
	reported bool // the terminal was told something that has to be taken back
}

var _ tea.Model = (*adapter)(nil)

func (a *adapter) Init() (cmd tea.Cmd) {
	defer a.rescue(&cmd)
	return a.command(a.screen.Init())
}

func (a *adapter) Update(msg tea.Msg) (model tea.Model, cmd tea.Cmd) {
	model = a // also after a panic: the library draws once more before it quits
	defer a.rescue(&cmd)
	if a.failed() { // by View, which has no other way to say so
		return a, tea.Quit
	}
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return a, a.command(a.screen.Update(KeyMsg{Name: msg.String(), Text: msg.Text}))
	case tea.PasteMsg:
		return a, a.command(a.screen.Update(PasteMsg{Text: msg.Content}))
	case tea.WindowSizeMsg:
		return a, a.command(a.screen.Update(SizeMsg{Width: msg.Width, Height: msg.Height}))
	case tea.ResumeMsg:
		return a, a.command(a.screen.Update(ResumedMsg{}))
	case own:
		return a, a.command(a.screen.Update(msg.msg))
	}
	return a, nil
}

func (a *adapter) View() tea.View {
	var broken tea.Cmd
	func() {
		defer a.rescue(&broken)
		a.last = a.screen.View()
	}()
	view := tea.NewView(a.last)
	view.AltScreen = true
	view.WindowTitle = programName
	func() {
		defer a.rescue(&broken)
		a.report(&view)
	}()
	return view
}

// own wraps the screen's messages, so that none of the library's can be taken
// for one of them.
type own struct{ msg Msg }

// command turns a Cmd into one of the library's.
func (a *adapter) command(cmd Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		var broken tea.Cmd
		defer func() {
			if broken != nil {
				msg = broken()
			}
		}()
		defer a.rescue(&broken)
		return a.result(cmd())
	}
}

func (a *adapter) result(msg Msg) tea.Msg {
	switch msg := msg.(type) {
	case nil:
		return nil
	case Batch:
		batch := make(tea.BatchMsg, len(msg))
		for i, cmd := range msg {
			batch[i] = a.command(cmd)
		}
		return batch
	case Later:
		timer := time.NewTimer(msg.After)
		defer timer.Stop()
		select {
		case <-timer.C:
			return a.result(msg.Msg)
		case <-a.done:
			return nil
		}
	case Quit:
		a.fail(msg.Err)
		return tea.QuitMsg{}
	case Suspend:
		if s := a.unreport(); s != "" {
			return tea.Sequence(tea.Raw(s), tea.Suspend)()
		}
		return tea.SuspendMsg{}
	case Bell, Note:
		return a.signal(msg)
	case Redraw:
		return tea.ClearScreen()
	case Copy:
		return tea.SetClipboard(msg.Text)()
	}
	return own{msg}
}

// fail keeps the first error.
func (a *adapter) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err == nil {
		a.err = err
	}
}

func (a *adapter) failed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err != nil
}

// rescue makes a panic an error and a quit. The stack goes to the log, without
// the value of the panic, which may hold what a person wrote.
func (a *adapter) rescue(cmd *tea.Cmd) {
	value := recover()
	if value == nil {
		return
	}
	a.log.Error("screen panicked", "type", fmt.Sprintf("%T", value), "stack", string(debug.Stack()))
	a.fail(ErrPanic)
	*cmd = tea.Quit
}
