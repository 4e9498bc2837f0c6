package tui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"gatehouse/core"
)

// Limits of the step view. What is cut says so.
const (
	valueLines = 20_000  // of one value
	valueBytes = 4 << 20 // of one value
)

// answerFacts is what a call was answered.
type answerFacts struct {
	answered   bool
	status     string
	code       string
	reason     string
	action     core.ActionID
	pending    int
	incomplete []core.Gap
	units      []core.Unit
	value      json.RawMessage
}

func factsOf(r core.Released) answerFacts {
	if !r.Valid() {
		return answerFacts{}
	}
	return answerFacts{
		answered: true, status: string(r.Status()), code: r.Code(), reason: r.Reason(), action: r.Action(), pending: r.Pending(),
		incomplete: r.Incomplete(), units: r.Units(), value: r.Value(),
	}
}

// line says in a few words how the call ended.
func (f answerFacts) line() (string, role) {
	if !f.answered {
		return "not answered yet", rolePlain
	}
	reason, _ := cleanLine(f.reason, 200)
	status, r := f.status, rolePlain
	if f.code != "" {
		r = roleWarn
		code, _ := cleanLine(f.code, 40)
		status += " " + code
	}
	if f.action != 0 {
		status += " #" + f.action.String()
	}
	if f.pending > 0 {
		status += fmt.Sprintf(", shows %s", plural(f.pending, "pending effect", "pending effects"))
	}
	if n := len(f.incomplete); n > 0 {
		r = roleWarn
		status += fmt.Sprintf(", incomplete: %d not shown", n)
	}
	return status + suffix(": ", reason), r
}

// viewPart takes an entry into the view model of its step; n parts stand before it.
func viewPart(e core.TranscriptEntry, n int) stepPart {
	if e.Kind == core.TranscriptCall {
		p := callPart(e.Call, factsOf(e.Result))
		p.key = keyOf(e)
		return p
	}
	p := stepPart{key: entryKey{kind: e.Kind, turn: e.Turn, step: e.Step, at: int64(n)}}
	switch e.Kind {
	case core.TranscriptMessage:
		who, _ := cleanLine(string(e.By), 60)
		p.head = line{roleAccent, who, true}
	case core.TranscriptNote:
		p.head = line{roleWarn, "decided", true}
	default:
		p.head = line{roleTitle, "said", true}
	}
	lines, _ := cleanLines(e.Text)
	for _, text := range cutTo(lines, valueLines) {
		p.body = append(p.body, line{rolePlain, "  " + text, true})
	}
	return p
}

// callPart is a call with everything that is known of its answer.
func callPart(call core.ToolCall, f answerFacts) stepPart {
	name, _ := cleanLine(call.Name, 80)
	status, r := f.line()
	p := stepPart{head: line{r, "→ " + name + " · " + status, false}, action: f.action}
	flow := func(r role, name, text string) {
		p.body = append(p.body, line{r, fmt.Sprintf("  %-9s %s", name, text), true})
	}
	if f.reason != "" {
		reason, _ := cleanLine(f.reason, reasonLimit)
		flow(roleWarn, "reason", reason)
	}
	if f.action != 0 {
		flow(roleAccent, "queued", "#"+f.action.String()+"; o shows it in the queue")
	}
	for _, unit := range f.units {
		text, _ := cleanLine(unit.String(), 300)
		flow(roleMuted, "read", text)
	}
	if f.pending > 0 {
		flow(roleMuted, "shows", plural(f.pending, "effect that is only queued", "effects that are only queued"))
	}
	for _, gap := range f.incomplete {
		why, _ := cleanLine(gap.Reason, 200)
		flow(roleWarn, "lacks", fmt.Sprintf("#%s: %s", gap.Action, why))
	}
	p.body = append(p.body, valueRows("arguments", json.RawMessage(call.Args))...)
	if f.answered && len(f.value) > 0 {
		p.body = append(p.body, valueRows("result", f.value)...)
	}
	return p
}

// valueRows shows a value as JSON that people can read, line breaks within its
// strings as such: results hold whole files.
func valueRows(name string, raw json.RawMessage) []line {
	cut := 0
	if len(raw) > valueBytes {
		cut = len(raw) - valueBytes
	}
	var out bytes.Buffer
	if cut > 0 || json.Indent(&out, raw, "", "  ") != nil {
		out.Reset()
		out.Write(raw[:len(raw)-cut])
	}
	lines, _ := cleanLines(strings.ReplaceAll(out.String(), `\n`, "\n"))
	note := ""
	if len(lines) > 1 {
		note = " · " + plural(len(lines), "line", "lines")
	}
	rows := []line{{roleMuted, "  " + name + note, false}}
	for _, text := range cutTo(lines, valueLines) {
		rows = append(rows, line{rolePlain, "    " + text, false})
	}
	if cut > 0 {
		rows = append(rows, line{roleMuted, "    " + folded(cut, "more byte", "more bytes"), false})
	}
	return rows
}

func cutTo(lines []string, most int) []string {
	if len(lines) > most {
		return append(lines[:most:most], folded(len(lines)-most, "more line", "more lines"))
	}
	return lines
}

// bodyRows breaks a line of a part to a width; what goes on stands under where
// it began.
func bodyRows(l line, width int) []string {
	if l.flows {
		return wrapHanging(l.text, width, 2)
	}
	text := strings.TrimLeft(l.text, " ")
	lead := spaces(min(len(l.text)-len(text), width/2))
	rows := hardRows(text, width-len(lead))
	for i := range rows {
		rows[i] = lead + rows[i]
	}
	return rows
}

// hardRows breaks a line wherever the width ends: values are no prose. Each
// character is looked at once, however long the line is.
func hardRows(s string, width int) []string {
	if len(s) <= width {
		return []string{s}
	}
	if ascii(s) {
		rows := make([]string, 0, len(s)/width+1)
		for ; len(s) > width; s = s[width:] {
			rows = append(rows, s[:width])
		}
		return append(rows, s)
	}
	var rows []string
	from, used := 0, 0
	for at := 0; at < len(s); {
		cluster, w := ansi.FirstGraphemeCluster(s[at:], ansi.GraphemeWidth)
		if used+w > width && at > from {
			rows, from, used = append(rows, s[from:at]), at, 0
		}
		used += w
		at += len(cluster)
	}
	return append(rows, s[from:])
}

func (v *stepView) draw(r rect) []string {
	t := &v.a.theme
	laid := v.layout(r.w)
	title, note := v.title(len(laid))
	lines := []string{t.rule(r.w, roleTitle, title, note)}
	switch {
	case v.err != "":
		lines = append(lines, spaces(r.w))
		for _, row := range wrap(v.err, max(r.w-4, 10)) {
			lines = append(lines, t.spans(r.w, span{roleDanger, "   " + row}))
		}
		lines = append(lines, t.spans(r.w, span{roleMuted, "   r tries again"}))
	case !v.loaded:
		lines = append(lines, spaces(r.w), t.spans(r.w, span{roleMuted, "   reading the step"}))
	case len(v.parts) == 0:
		lines = append(lines, spaces(r.w), t.spans(r.w, span{rolePlain, "   The model said nothing and called nothing."}),
			t.spans(r.w, span{roleMuted, "   esc goes back to the transcript."}))
	}
	for i := v.top; i < len(laid) && len(lines) < r.h; i++ {
		lines = append(lines, v.drawRow(laid, i, r.w))
		v.drawn++
	}
	return fill(lines, r)
}

func (v *stepView) drawRow(laid []laidLine, i, width int) string {
	l := laid[i]
	sign, r := " ", l.role
	head := i == 0 || laid[i-1].entry != l.entry
	fold := "  "
	if head {
		fold = "- "
		if v.parts[l.entry].shut {
			fold = "+ "
		}
	}
	if l.entry == v.at {
		sign = "│"
		if head {
			sign = "▸"
		}
		if head && r != roleWarn {
			r = roleCursor
		}
	}
	return v.a.theme.spans(width, span{roleAccent, " " + sign + " "}, span{roleMuted, fold}, span{r, l.text})
}
