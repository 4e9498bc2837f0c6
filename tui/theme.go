package tui

// role is what a piece of text is for. Colour comes from roles alone.
type role uint8

const (
	rolePlain  role = iota
	roleTitle       // the name of the program, titles of panes
	roleAccent      // the one accent: keys, the cursor's row
	roleMuted       // what stands behind: ages, rules between panes
	roleDanger      // dangerous or failed, and nothing else
	roleWarn        // has to be looked at: drifted, unknown, unseen
	roleGood        // applied
	roleAdded       // lines of a diff
	roleRemoved
	roleHunk
	roleCursor // the row under the cursor
	roleFocus  // the button that enter presses
	roleDim    // old rows while new ones are read
	roles
)

// ThemeName names a theme.
type ThemeName string

// The themes. None draws no colour: signs, words, bold and reverse are left.
const (
	ThemeDefault ThemeName = ""
	ThemeNone    ThemeName = "none"
)

// theme is a start sequence by role; an empty one draws plain text.
type theme struct{ start [roles]string }

// newTheme uses the palette of the terminal, which its owner made readable,
// with one grey from the fixed part.
func newTheme(name ThemeName) theme {
	var t theme
	if name == ThemeNone {
		t.start[roleTitle] = "\x1b[1m"
		t.start[roleCursor] = "\x1b[1m"
		t.start[roleFocus] = "\x1b[7m"
		t.start[roleDim] = "\x1b[2m"
		return t
	}
	t.start[roleTitle] = "\x1b[1m"
	t.start[roleAccent] = "\x1b[36m"
	t.start[roleMuted] = "\x1b[38;5;244m"
	t.start[roleDanger] = "\x1b[31m"
	t.start[roleWarn] = "\x1b[33m"
	t.start[roleGood] = "\x1b[32m"
	t.start[roleAdded] = "\x1b[32m"
	t.start[roleRemoved] = "\x1b[31m"
	t.start[roleHunk] = "\x1b[36m"
	t.start[roleCursor] = "\x1b[1;36m"
	t.start[roleFocus] = "\x1b[1;7m"
	t.start[roleDim] = "\x1b[2m"
	return t
}

// paint draws text in a role. The text holds no sequences of its own.
func (t *theme) paint(r role, text string) string {
	if start := t.start[r]; start != "" && text != "" {
		return start + text + "\x1b[m"
	}
	return text
}
