package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gatehouse/core/text"
)

// The rules of everything printed here. Results go to stdout through a.out,
// progress and messages to stderr. Text that somebody else wrote is cleaned on
// its way (line, block) or escaped (JSON), never passed on as it came. Nothing
// depends on colour, so there is none on the command line.

// object prints one JSON object as one line.
func (a *app) object(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("JSON: %w", err)
	}
	_, err = fmt.Fprintf(a.out, "%s\n", escapeJSON(raw))
	return err
}

// pretty prints JSON for a person: indented, and safe for a terminal.
func (a *app) pretty(raw json.RawMessage) error {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return fmt.Errorf("JSON: %w", err)
	}
	_, err := fmt.Fprintf(a.out, "%s\n", escapeJSON(readable(b.Bytes())))
	return err
}

// readable writes <, > and & as they are where JSON escapes them for web
// pages; a backslash that is escaped itself begins nothing.
func readable(raw []byte) []byte {
	plain := strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")
	return []byte(plain.Replace(string(raw)))
}

// escapeJSON writes characters that a terminal acts on, or that cannot be
// seen, as \u escapes: the value stays the same.
func escapeJSON(raw []byte) []byte {
	if !bytes.ContainsFunc(raw, unprintable) {
		return raw
	}
	var b bytes.Buffer
	for _, r := range string(raw) {
		switch {
		case !unprintable(r):
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

func unprintable(r rune) bool {
	if r < utf8.RuneSelf {
		return r == 0x7f // JSON escapes the rest itself
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point)
}

// line cleans a text for one cell or line of output.
func line(s string) string {
	clean, _ := text.CleanLine(s, text.NoLimit)
	return clean
}

// block cleans a text of several lines.
func block(s string) string {
	clean, _ := text.CleanBlock(s)
	return clean
}

// table is rows of aligned columns; the last one is never padded.
type table struct {
	head  []string
	rows  [][]string
	whole bool   // no cell is cut
	ahead string // in front of each row
}

func newTable(head ...string) *table { return &table{head: head} }

// add cleans the cells and keeps them as a row.
func (t *table) add(cells ...string) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = line(c)
	}
	t.rows = append(t.rows, row)
}

// cellLimit is how wide a cell may be that is not the last, unless the table is whole.
const cellLimit = 40

func (t *table) cut(cell string) string {
	if t.whole {
		return cell
	}
	return text.Truncate(cell, cellLimit)
}

// print writes the table, or the words for none when it is empty.
func (t *table) print(w io.Writer, none string) error {
	if len(t.rows) == 0 {
		_, err := fmt.Fprintln(w, none)
		return err
	}
	rows := t.rows
	if len(t.head) > 0 {
		rows = append([][]string{t.head}, rows...)
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], text.Width(t.cut(c)))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var l strings.Builder
		for i, c := range row {
			if i == len(row)-1 {
				l.WriteString(c)
				break
			}
			c = t.cut(c)
			l.WriteString(c)
			l.WriteString(strings.Repeat(" ", widths[i]-text.Width(c)+2))
		}
		b.WriteString(strings.TrimRight(t.ahead+l.String(), " "))
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// pairs is a table of names and values, none of them cut.
func pairs(w io.Writer, ahead string, named ...[2]string) error {
	t := newTable()
	t.whole, t.ahead = true, ahead
	for _, p := range named {
		t.add(p[0], p[1])
	}
	return t.print(w, "")
}

// stamp is a time for a person, in their zone.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// jsonTime is a time for a machine, null where there is none.
func jsonTime(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := t.UTC().Format(time.RFC3339Nano)
	return &s
}

// say is a message for a person, on stderr; with --json there is none.
func (a *app) say(format string, args ...any) {
	if a.json {
		return
	}
	for i, arg := range args {
		if s, ok := arg.(string); ok {
			args[i] = line(s)
		}
	}
	fmt.Fprintf(a.in.stderr, format+"\n", args...)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// list is never null in JSON.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
