package skills

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Fix is what gatehouse proposes for a file; nothing is written before a person
// says yes.
type Fix struct {
	File  []byte // the file with the lines changed
	Lines []FixedLine
}

// FixedLine is a line as it is and as it would be, without line breaks.
type FixedLine struct {
	Line     int
	Old, New string
}

// Diff returns the change in the unified form.
func (f Fix) Diff(name string, file []byte) string {
	return udiff.Unified(name, name, string(file), string(f.File))
}

// ProposeFix quotes the values that were meant as text and read as something
// else. It changes no other byte of the file; without lines, it has nothing to
// propose.
func ProposeFix(file []byte) Fix {
	fix := Fix{}
	lines := strings.SplitAfter(string(file), "\n")
	for _, fault := range Parse(file).Faults {
		switch fault.Code {
		case FaultColon, FaultIndicator, FaultAlias:
		default:
			continue
		}
		i := fault.Line - 1
		for i > 0 && indent(lines[i]) > 0 {
			i-- // a paragraph is mended at its key
		}
		ending := lines[i][len(strings.TrimRight(lines[i], "\r\n")):]
		old := strings.TrimSuffix(lines[i], ending)
		mended, ok := mendLine(old, i+1 == fault.Line)
		if !ok {
			continue
		}
		fix.Lines = append(fix.Lines, FixedLine{Line: i + 1, Old: old, New: mended})
		lines[i] = mended + ending
	}
	fix.File = []byte(strings.Join(lines, ""))
	return fix
}

// mendLine quotes the value on a key's line, or makes a block of the paragraph
// below it.
func mendLine(line string, own bool) (string, bool) {
	end := keyEnd(line)
	if end == 0 || colonAt(line) != end {
		return "", false
	}
	if !own {
		return line[:end+1] + " >-", true
	}
	value := strings.Trim(line[end+1:], " \t")
	if value == "" {
		return "", false
	}
	comment := ""
	if value[0] != '"' && value[0] != '\'' {
		kept := beforeComment(value)
		value, comment = kept, value[len(kept):]
	}
	return line[:end+1] + " " + doubleQuote(meant(value)) + comment, true
}

// meant takes off quotes that were meant to go around the whole value: the one
// that closes first stands inside a word, as in 'It's ready'.
func meant(value string) string {
	quote := value[0]
	if quote != '"' && quote != '\'' || len(value) < 2 || value[len(value)-1] != quote {
		return value
	}
	inside := value[1 : len(value)-1]
	at := strings.IndexByte(inside, quote)
	if at < 0 || at+1 == len(inside) || inside[at+1] == ' ' {
		return value
	}
	return inside
}

func doubleQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
