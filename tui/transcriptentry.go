package tui

import (
	"fmt"
	"strings"

	"gatehouse/core"
)

// entryView is one entry, clean.
type entryView struct {
	head   line
	body   []line
	folds  bool // the body is hidden at first
	open   bool
	number int
	key    entryKey
	turn   int
	step   int
	calls  []callView // of the step; they make one entry
}

// callView is one call of a step on a line, with the beginning of its answer.
type callView struct {
	key    entryKey
	name   string
	line   line
	peek   []line
	action core.ActionID
}

// entryKey tells entries apart: one that was stored while its turn runs is read and heard of, and is shown once.
type entryKey struct {
	kind       core.TranscriptKind
	turn, step int
	at         int64
	text       string
}

func keyOf(e core.TranscriptEntry) entryKey {
	switch e.Kind {
	case core.TranscriptCall:
		return entryKey{e.Kind, e.Turn, e.Step, 0, e.Call.ID + " " + e.Call.Name + " " + e.Call.Args}
	case core.TranscriptMessage: // the step that is told is not known while it waits
		return entryKey{e.Kind, 0, 0, e.At.UnixNano(), e.Text}
	default:
		return entryKey{e.Kind, e.Turn, e.Step, e.At.UnixNano(), e.Text}
	}
}

const (
	bodyLines  = 2000 // of one entry; what is longer is cut, and says so
	shownLines = 12   // of a text that does not fold
	peekLines  = 8    // of a result; the step view has all of it
	namesMost  = 4    // methods named on the line of a step
)

// viewEntry takes an entry into the view model.
func viewEntry(e core.TranscriptEntry) entryView {
	switch e.Kind {
	case core.TranscriptMessage:
		who, _ := cleanLine(string(e.By), 60)
		if e.Queued {
			who += " (waits for the next step)"
		}
		return textEntry(roleAccent, who, e.Text)
	case core.TranscriptNote:
		return textEntry(roleWarn, "decided", e.Text)
	case core.TranscriptText:
		model, _ := cleanLine(e.Model, 60)
		return textEntry(roleTitle, or(model, "agent")+fmt.Sprintf(" · turn %d step %d", e.Turn, e.Step), e.Text)
	case core.TranscriptCall:
		view := entryView{folds: true}
		view.call(e)
		return view
	}
	text, _ := cleanLine(e.Text, reasonLimit)
	return entryView{head: line{roleMuted, "── " + text, true}}
}

func textEntry(r role, head, body string) entryView {
	lines, _ := cleanLines(body)
	view := entryView{head: line{r, head, true}}
	for _, text := range cutTo(lines, bodyLines) {
		view.body = append(view.body, line{rolePlain, "  " + text, true})
	}
	return view
}

// viewEntries takes a transcript into the view model. The calls of a step are one entry.
func viewEntries(entries []core.TranscriptEntry) []entryView {
	out := make([]entryView, 0, len(entries))
	for _, e := range entries {
		if last := len(out) - 1; last >= 0 && out[last].takes(e) {
			out[last].call(e)
			continue
		}
		view := viewEntry(e)
		view.number, view.key, view.turn, view.step = len(out), entryOf(e), e.Turn, e.Step
		out = append(out, view)
	}
	return out
}

// entryOf is the key of the entry in which something is shown.
func entryOf(e core.TranscriptEntry) entryKey {
	if e.Kind == core.TranscriptCall {
		return entryKey{kind: e.Kind, turn: e.Turn, step: e.Step}
	}
	return keyOf(e)
}

// takes reports that a call belongs to the entry of its step.
func (v *entryView) takes(e core.TranscriptEntry) bool {
	return e.Kind == core.TranscriptCall && len(v.calls) > 0 && v.turn == e.Turn && v.step == e.Step
}

// call adds a call to the entry of its step, or tells its answer.
func (v *entryView) call(e core.TranscriptEntry) {
	one := viewCall(e)
	for i := range v.calls {
		if v.calls[i].key == one.key {
			v.calls[i] = one
			v.foldCalls()
			return
		}
	}
	v.calls = append(v.calls, one)
	v.foldCalls()
}

func viewCall(e core.TranscriptEntry) callView {
	name, _ := cleanLine(e.Call.Name, 80)
	args, _ := cleanLine(e.Call.Args, 120)
	f := factsOf(e.Result)
	status, r := f.line()
	one := callView{key: keyOf(e), name: name, action: f.action, line: line{r, name + " · " + status + " · " + args, false}}
	if f.answered && len(f.value) > 0 {
		rows := valueRows("result", f.value[:min(len(f.value), 64<<10)])[1:]
		for _, l := range cutRows(rows, peekLines) {
			one.peek = append(one.peek, line{roleMuted, "    " + l.text, false})
		}
	}
	return one
}

func cutRows(rows []line, most int) []line {
	if len(rows) > most {
		return append(rows[:most:most], line{roleMuted, "    " + folded(len(rows)-most, "more line", "more lines") + "; enter shows them", false})
	}
	return rows
}

// foldCalls makes the line of a step's calls, and what it unfolds to.
func (v *entryView) foldCalls() {
	v.body = v.body[:0:0]
	for _, c := range v.calls {
		v.body = append(v.body, line{c.line.role, "    " + c.line.text, false})
		v.body = append(v.body, c.peek...)
	}
	if len(v.calls) == 1 {
		v.head = line{v.calls[0].line.role, "  → " + v.calls[0].line.text, false}
		v.body = v.calls[0].peek
		return
	}
	r := rolePlain
	var queued []core.ActionID
	for _, c := range v.calls {
		if c.line.role == roleWarn {
			r = roleWarn
		}
		if c.action != 0 {
			queued = append(queued, c.action)
		}
	}
	text := fmt.Sprintf("  → %d calls · %s", len(v.calls), v.names())
	if len(queued) > 0 {
		text += " · queued " + idList(queued)
	}
	v.head = line{r, text, false}
}

// names are the methods that a step called, each once with how often.
func (v *entryView) names() string {
	var order []string
	times := map[string]int{}
	for _, c := range v.calls {
		if times[c.name] == 0 {
			order = append(order, c.name)
		}
		times[c.name]++
	}
	var words []string
	for i, name := range order {
		if i == namesMost {
			words = append(words, fmt.Sprintf("%d others", len(order)-i))
			break
		}
		if n := times[name]; n > 1 {
			name = fmt.Sprintf("%d × %s", n, name)
		}
		words = append(words, name)
	}
	return strings.Join(words, ", ")
}
