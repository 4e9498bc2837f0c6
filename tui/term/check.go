package term

import (
	"fmt"
	"os"
	"slices"
	"strings"

	xterm "github.com/charmbracelet/x/term"
)

// NoScreenError says why no screen can be opened. Its text is one line that
// names the command to use instead.
type NoScreenError struct{ Why string }

func (e *NoScreenError) Error() string {
	return e.Why + "; use gatehouse queue list, queue show and queue approve"
}

// Check refuses to open a screen where there is none: a pipe, or a terminal
// that cannot move its cursor (T29). The error is a [*NoScreenError].
func Check(in, out *os.File, environ []string) error {
	switch name, found := lookup(environ, "TERM"); {
	case !xterm.IsTerminal(in.Fd()):
		return &NoScreenError{Why: "standard input is no terminal"}
	case !xterm.IsTerminal(out.Fd()):
		return &NoScreenError{Why: "standard output is no terminal"}
	case !found || name == "":
		return &NoScreenError{Why: "TERM is not set"}
	case name == "dumb":
		return &NoScreenError{Why: fmt.Sprintf("a terminal of type %q has no screen", name)}
	}
	return nil
}

// Colourless reports that the person asked for no colour (NO_COLOR).
func Colourless(environ []string) bool {
	value, _ := lookup(environ, "NO_COLOR")
	return value != ""
}

// lookup finds the last value of a variable, which is the one that counts.
func lookup(environ []string, name string) (string, bool) {
	for _, pair := range slices.Backward(environ) {
		if key, value, ok := strings.Cut(pair, "="); ok && key == name {
			return value, true
		}
	}
	return "", false
}
