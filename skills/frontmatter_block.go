package skills

import "strings"

// paragraph reads a description that stands in indented lines below its key.
func (h *head) paragraph(e entry) (Scalar, *Fault) {
	var b strings.Builder
	s := Scalar{Key: e.path}
	blanks, ended := 0, false
	for i, line := range e.children {
		text := line[indent(line):]
		switch {
		case blank(line):
			blanks++
			continue
		case comment(line):
			ended = b.Len() > 0
			continue
		case ended:
			return s, e.child(h, i, indent(line), FaultLine, "text behind a comment", "move the comment away from the text")
		}
		at := indent(line)
		if b.Len() == 0 {
			s.Line, s.Column = h.line(e.index+1+i), e.shift+at+1
			if bad := e.badParagraph(h, i); bad != nil {
				return s, bad
			}
			blanks = 0
		}
		kept := strings.TrimRight(beforeComment(text), " \t")
		if colon := colonAt(kept); colon >= 0 {
			return s, e.child(h, i, at+colon, FaultColon, "a colon and a blank in a value without quotes", repairBlock)
		}
		ended = len(kept) < len(strings.TrimRight(text, " \t"))
		if b.Len() > 0 {
			b.WriteString(strings.Repeat("\n", blanks))
			if blanks == 0 {
				b.WriteByte(' ')
			}
		}
		blanks = 0
		b.WriteString(kept)
	}
	s.Text = b.String()
	return s, nil
}

// badParagraph says why a paragraph may not begin as it does.
func (e entry) badParagraph(h *head, i int) *Fault {
	line := e.children[i]
	at := indent(line)
	if bad := e.notOnLine(h, i); bad.Code == FaultNotScalar {
		return bad
	}
	if bad := badStart(line[at:]); bad != nil {
		return e.child(h, i, at, bad.Code, bad.Reason, repairBlock)
	}
	return nil
}

// block reads a folded or literal block.
func (h *head) block(e entry) (Scalar, *Fault) {
	s := Scalar{Key: e.path, Line: h.line(e.index), Column: e.shift + column(e.line, e.at)}
	chomp := byte(0)
	header := strings.TrimRight(beforeComment(e.value), " \t")
	switch {
	case len(header) == 1:
	case header[1:] == "-", header[1:] == "+":
		chomp = header[1]
	case strings.TrimLeft(header[1:], "+-0123456789") == "":
		digit := max(strings.IndexAny(header, "0123456789"), 1)
		return s, e.own(h, e.at+digit, FaultBlockIndent, "a block whose indentation is given in digits", "write "+header[:1]+" and indent the lines below alike")
	default:
		return s, e.own(h, e.at, FaultIndicator, "a value without quotes begins with "+`"`+header[:1]+`"`, repairQuote)
	}
	first, found := firstOfBlock(e.children)
	if !found {
		s.Text = chompEmpty(chomp, first)
		if i, more := e.content(); more {
			return s, e.child(h, i, indent(e.children[i]), FaultIndent, "an indented line behind a comment that ended the block", "indent the comment, or move it")
		}
		return s, nil
	}
	depth := indent(e.children[first])
	for i, line := range e.children[:first] {
		if len(line) > depth {
			return s, e.child(h, i, depth, FaultBlockIndent, "a blank line with more spaces than the line below it", "delete the spaces")
		}
	}
	f := folder{literal: header[0] == '|'}
	for i, line := range e.children {
		if blank(line) && len(line) <= depth {
			f.blanks++
			continue
		}
		if indent(line) < depth {
			if bad := h.behindBlock(e, i); bad != nil {
				return s, bad
			}
			break
		}
		f.add(line[depth:])
	}
	s.Text = f.end(chomp)
	s.Line, s.Column = h.line(e.index+1+first), e.shift+depth+1
	return s, nil
}

// firstOfBlock returns the first line of a block's text. Without one, it is the
// number of blank lines.
func firstOfBlock(lines []string) (int, bool) {
	for i, line := range lines {
		if !blank(line) {
			return i, indent(line) > 0
		}
	}
	return len(lines), false
}

func chompEmpty(chomp byte, blanks int) string {
	if chomp == '+' {
		return strings.Repeat("\n", blanks)
	}
	return ""
}

// behindBlock checks that from line i, which is indented less than the block,
// only comments follow.
func (h *head) behindBlock(e entry, i int) *Fault {
	for j := i; j < len(e.children); j++ {
		if line := e.children[j]; !blank(line) && !comment(line) {
			return e.child(h, j, indent(line), FaultIndent, "a line that is indented less than the block above it", "indent all lines of the block alike")
		}
	}
	return nil
}

// folder joins the lines of a block.
type folder struct {
	literal bool
	text    strings.Builder
	begun   bool
	spaced  bool // the line before began with a blank: it is not folded
	blanks  int  // blank lines since then
}

func (f *folder) add(line string) {
	spaced := line[0] == ' ' || line[0] == '\t'
	if f.begun {
		switch {
		case f.literal, f.spaced, spaced:
			f.text.WriteByte('\n')
		case f.blanks == 0:
			f.text.WriteByte(' ')
		}
	}
	f.text.WriteString(strings.Repeat("\n", f.blanks))
	f.text.WriteString(line)
	f.begun, f.spaced, f.blanks = true, spaced, 0
}

func (f *folder) end(chomp byte) string {
	switch chomp {
	case '-':
	case '+':
		f.text.WriteString("\n" + strings.Repeat("\n", f.blanks))
	default:
		f.text.WriteByte('\n')
	}
	return f.text.String()
}
