package tui

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Limits of rendering. What goes beyond them is shown as it was written: a
// stranger's text never makes a screen wait.
const (
	markdownPart  = 32 << 10 // bytes that are parsed at once
	markdownDepth = 24       // blocks within blocks
	markdownMarks = 400      // brackets, stars and the like on one line
	indentMost    = 24       // columns in front of nested text
)

// renderMarkdown adds a document to a page. The text is cleaned before it is
// parsed, and again where parsing makes characters of it. When the context ends
// the rest is added as it was written.
func renderMarkdown(ctx context.Context, w *pageWriter, source []byte) {
	lines, hidden := cleanLines(string(source))
	if hidden {
		w.say(roleWarn, "! ", "  ", "characters that a terminal would obey, or not show, were taken out")
		w.empty()
	}
	parser := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList)).Parser()
	for _, part := range markdownParts(lines) {
		if ctx.Err() != nil || tooIntricate(part) {
			w.empty()
			for _, l := range part {
				w.say(rolePlain, "", "", l)
			}
			continue
		}
		source := []byte(strings.Join(part, "\n") + "\n")
		m := markdown{w: w, source: source}
		m.blocks(parser.Parse(text.NewReader(source)), 0)
	}
}

// markdownParts cuts a document at blank lines outside fences, so that the
// cost of parsing grows with its length and no faster.
func markdownParts(lines []string) [][]string {
	var parts [][]string
	first, size, fence := 0, 0, ""
	for i, l := range lines {
		size += len(l) + 1
		trimmed := strings.TrimLeft(l, " ")
		switch {
		case fence == "" && (strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~")):
			fence = trimmed[:3]
		case fence != "" && strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]+" ") == "":
			fence = ""
		}
		whole := size >= markdownPart && fence == "" && trimmed == ""
		if whole || size >= 4*markdownPart {
			parts = append(parts, lines[first:i+1])
			first, size, fence = i+1, 0, ""
		}
	}
	return append(parts, lines[first:])
}

// tooIntricate finds what would cost a parser more than it is worth.
func tooIntricate(lines []string) bool {
	for _, l := range lines {
		marks, deep := 0, 0
		start := true
		for i := range len(l) {
			switch l[i] {
			case '>', '-', '+':
				if start {
					deep++
				}
				marks++
			case '[', ']', '*', '_', '`', '<', '!', '(', '&', '~', '|':
				start = start && l[i] == '*'
				if start {
					deep++
				}
				marks++
			case ' ':
			default:
				start = false
			}
		}
		if (marks > markdownMarks || deep > markdownDepth) && strings.Trim(l, "-=*_ |:") != "" {
			return true
		}
	}
	return false
}

// markdown walks over a parsed part of a document.
type markdown struct {
	w      *pageWriter
	source []byte
	lead   string // in front of the next row
	rest   string // in front of the rows after it
	tight  bool   // no empty line before the next block
}

// gap is an empty line before a block, unless it is the first of an item.
func (m *markdown) gap() {
	if !m.tight {
		if n := len(m.w.lines); n > 0 && strings.TrimSpace(m.w.lines[n-1].text) != "" {
			m.w.lines = append(m.w.lines, line{text: strings.TrimRight(m.rest, " ")})
		}
	}
	m.tight = false
}

// say adds text in front of which the place in lists and quotes stands.
func (m *markdown) say(r role, lines []string) {
	for _, l := range lines {
		m.w.say(r, m.lead, m.rest, l)
		m.lead = m.rest
	}
}

// within draws what is inside of a quote or an item.
func (m *markdown) within(lead, rest string, draw func()) {
	oldLead, oldRest := m.lead, m.rest
	if columns(oldRest)+columns(rest) <= indentMost {
		m.lead, m.rest = oldLead+lead, oldRest+rest
	}
	draw()
	m.lead, m.rest = oldRest, oldRest
}

func (m *markdown) blocks(parent ast.Node, depth int) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		m.block(n, depth)
	}
}

func (m *markdown) block(n ast.Node, depth int) {
	if depth > markdownDepth {
		m.say(roleMuted, []string{"… nested too deep to be drawn; m shows it as written"})
		return
	}
	switch n := n.(type) {
	case *ast.Heading:
		m.gap()
		m.say(roleTitle, m.inline(n, strings.Repeat("#", n.Level)+" "))
	case *ast.Paragraph:
		m.gap()
		m.say(rolePlain, m.inline(n, ""))
	case *ast.TextBlock:
		m.tight = false
		m.say(rolePlain, m.inline(n, ""))
	case *ast.FencedCodeBlock:
		m.code(n.Lines())
	case *ast.CodeBlock:
		m.code(n.Lines())
	case *ast.HTMLBlock:
		m.gap()
		m.verbatim(roleMuted, "", n.Lines())
	case *ast.ThematicBreak:
		m.gap()
		m.say(roleMuted, []string{strings.Repeat("─", max(min(m.w.width-columns(m.lead), 40), 3))})
	case *ast.Blockquote:
		m.gap()
		m.tight = true
		m.within("▌ ", "▌ ", func() { m.blocks(n, depth+1) })
	case *ast.List:
		m.list(n, depth)
	case *table.Table:
		m.table(n)
	default:
		m.blocks(n, depth+1)
	}
}

func (m *markdown) code(lines *text.Segments) {
	m.gap()
	m.verbatim(rolePlain, "│ ", lines)
}

// verbatim adds lines as they stand; they are looked at sideways.
func (m *markdown) verbatim(r role, lead string, lines *text.Segments) {
	for i := range lines.Len() {
		segment := lines.At(i)
		for _, l := range drawable(string(segment.Value(m.source))) {
			m.w.verbatim(r, m.lead+lead, []string{l})
			m.lead = m.rest
		}
	}
}

// drawable cleans what parsing gave; it may have made characters of words.
func drawable(s string) []string {
	lines, _ := cleanLines(s)
	return lines
}

func (m *markdown) list(n *ast.List, depth int) {
	if n.IsTight && depth > 0 && n.PreviousSibling() != nil {
		m.tight = true
	}
	m.gap()
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if n.IsOrdered() {
			mark = strconv.Itoa(number) + ". "
			number++
		}
		if !n.IsTight && item != n.FirstChild() {
			m.tight = false
			m.gap()
		}
		m.tight = true
		m.within(mark, spaces(columns(mark)), func() {
			if item.FirstChild() == nil {
				m.say(rolePlain, []string{""})
			}
			m.blocks(item, depth+1)
		})
	}
	m.tight = false
}

// inline is the text of a block, with the targets of its links behind them.
func (m *markdown) inline(n ast.Node, lead string) []string {
	var b strings.Builder
	b.WriteString(lead)
	m.spell(&b, n, 0)
	return drawable(b.String())
}

func (m *markdown) spell(b *strings.Builder, parent ast.Node, depth int) {
	if depth > markdownDepth {
		b.WriteString("…")
		return
	}
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			b.WriteString(plainText(n.Value(m.source)))
			switch {
			case n.HardLineBreak():
				b.WriteByte('\n')
			case n.SoftLineBreak():
				b.WriteByte(' ')
			}
		case *ast.String:
			b.WriteString(plainText(n.Value))
		case *ast.CodeSpan:
			b.WriteByte('`')
			m.verbatimInline(b, n)
			b.WriteByte('`')
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				segment := n.Segments.At(i)
				b.Write(bytes.ReplaceAll(segment.Value(m.source), []byte("\n"), []byte(" ")))
			}
		case *ast.AutoLink:
			b.WriteString("<" + string(n.URL(m.source)) + ">")
		case *ast.Link:
			m.link(b, n, n.Destination, depth)
		case *ast.Image:
			b.WriteString("[picture: ")
			m.spell(b, n, depth+1)
			b.WriteString("] <" + plainText(n.Destination) + ">")
		case *ast.Emphasis:
			mark := strings.Repeat("*", n.Level)
			b.WriteString(mark)
			m.spell(b, n, depth+1)
			b.WriteString(mark)
		case *table.TaskCheckBox:
			if n.IsChecked {
				b.WriteString("[x] ")
			} else {
				b.WriteString("[ ] ")
			}
		case *table.Strikethrough:
			b.WriteString("~~")
			m.spell(b, n, depth+1)
			b.WriteString("~~")
		default:
			m.spell(b, n, depth+1)
		}
	}
}

// link shows where a link leads: words alone could say anything.
func (m *markdown) link(b *strings.Builder, n ast.Node, target []byte, depth int) {
	var words strings.Builder
	m.spell(&words, n, depth+1)
	to := plainText(target)
	if words.String() != to && words.Len() > 0 {
		b.WriteString(words.String() + " ")
	}
	b.WriteString("<" + to + ">")
}

func (m *markdown) verbatimInline(b *strings.Builder, n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(bytes.ReplaceAll(t.Value(m.source), []byte("\n"), []byte(" ")))
		}
	}
}

// plainText takes off the backslashes and makes characters of their names. What
// that makes is cleaned again.
func plainText(raw []byte) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(raw))))
}

// table lays the cells out in columns; it is looked at sideways.
func (m *markdown) table(n *table.Table) {
	m.gap()
	var rows [][]string
	var widths []int
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			cell := strings.Join(m.inline(c, ""), " ")
			cells = append(cells, cell)
			if len(widths) < len(cells) {
				widths = append(widths, 0)
			}
			widths[len(cells)-1] = min(max(widths[len(cells)-1], columns(cell)), tableCell)
		}
		rows = append(rows, cells)
	}
	for i, cells := range rows {
		var b strings.Builder
		for j, cell := range cells {
			if j > 0 {
				b.WriteString("  ")
			}
			b.WriteString(pad(cell, widths[j]))
		}
		m.w.verbatim(headRole(i), m.lead, []string{strings.TrimRight(b.String(), " ")})
		m.lead = m.rest
		if i == 0 {
			var under []string
			for _, w := range widths {
				under = append(under, strings.Repeat("─", max(w, 1)))
			}
			m.w.verbatim(roleMuted, m.lead, []string{strings.Join(under, "  ")})
		}
	}
}

// tableCell is how wide a column of a table gets; raw shows the rest.
const tableCell = 60

func headRole(row int) role {
	if row == 0 {
		return roleTitle
	}
	return rolePlain
}
