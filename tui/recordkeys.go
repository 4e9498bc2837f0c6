package tui

import (
	"strconv"
	"strings"

	"gatehouse/tui/term"
)

func (v *record) commands() []*command {
	all := v.rowCommands()
	all = append(all, v.filterCommands()...)
	all = append(all, v.lookCommands()...)
	return append(all, v.moveCommands()...)
}

// rowCommands are about the row under the cursor, or the opened one.
func (v *record) rowCommands() []*command {
	lists, all := []place{atRecord, atRecordChain}, []place{atRecord, atRecordChain, atRecordRow}
	return []*command{
		{
			name: "record.open", at: lists, keys: []string{"enter"}, title: "open", tag: "Detail", navigates: true, footer: 1,
			about: "every field of the row, and how it hangs in the chain", run: v.open, disabled: v.nothing,
		},
		{
			name: "record.why", at: all, keys: []string{"p"}, title: "why", tag: "Detail", footer: 2,
			about: "what led to it and what followed from it", run: v.chainOf, disabled: v.nothing,
		},
		{
			name: "record.action", at: all, keys: []string{"o"}, title: "action", tag: "Detail", footer: 7,
			about: "open the action or question in the queue", run: v.toAction, disabled: v.noAction,
		},
		{
			name: "record.session", at: all, keys: []string{"s"}, title: "session", tag: "Detail", footer: 8,
			about: "the transcript of its session", run: v.toSession, disabled: v.noSession,
		},
		{
			name: "record.copy", at: all, keys: []string{"y"}, title: "copy", tag: "Detail",
			about: "copy the row's number and hash", run: v.copyHash, disabled: v.nothing,
		},
		{
			name: "record.copy-all", at: []place{atRecordRow}, keys: []string{"Y"}, title: "copy all", tag: "Detail",
			about: "copy all that the row says", run: v.copyRow,
		},
		{
			name: "record.next", at: []place{atRecordRow}, keys: []string{"]", "tab"}, title: "next row", tag: "Detail", navigates: true, footer: 3,
			about: "open the row below this one", run: func() term.Cmd { return v.next(1) },
		},
		{
			name: "record.previous", at: []place{atRecordRow}, keys: []string{"[", "shift+tab"}, title: "previous row", tag: "Detail", navigates: true,
			about: "open the row above this one", run: func() term.Cmd { return v.next(-1) },
		},
		{
			name: "record.back", at: all, keys: []string{"esc"}, title: "back", tag: "Screens", navigates: true, footer: 9,
			about: "leave the row, the chain, the filter, the screen", run: v.back,
		},
	}
}

// lookCommands choose what the list shows, and check the chain.
func (v *record) lookCommands() []*command {
	at := []place{atRecord}
	return []*command{
		{
			name: "record.filter", at: at, keys: []string{"/"}, title: "filter", tag: "Choose", footer: 3,
			about: "words, kind: session: who: action: decisions: egress:", run: v.startFilter,
		},
		{
			name: "record.decisions", at: at, keys: []string{"d"}, title: "decisions", tag: "Choose", footer: 4,
			about: "only what people decided, or everything again", run: func() term.Cmd { return v.only("decisions:") },
		},
		{
			name: "record.egress", at: at, keys: []string{"e"}, title: "egress", tag: "Choose", footer: 5,
			about: "only what left, or everything again", run: func() term.Cmd { return v.only("egress:") },
		},
		{
			name: "record.bring-in", at: at, keys: []string{"."}, title: "show new", tag: "Choose",
			about: "show the rows that arrived since", run: v.bringIn, disabled: v.noneNew,
		},
		{
			name: "record.verify", at: []place{atRecord, atRecordChain, atRecordRow}, keys: []string{"V"}, title: "verify", tag: "Choose", footer: 6,
			about: "check that no row was changed, removed or moved; again: stop", run: v.verify,
		},
	}
}

func (v *record) moveCommands() []*command {
	move := func(name string, keys []string, by func() int) *command {
		return &command{
			name: "record." + name, at: []place{atRecord, atRecordChain}, keys: keys, title: name, tag: "Move", navigates: true,
			about: "look through the record", run: func() term.Cmd { return v.step(by()) },
		}
	}
	scroll := func(name string, keys []string, by func() int) *command {
		return &command{
			name: "record.row-" + name, at: []place{atRecordRow}, keys: keys, title: name, tag: "Move", navigates: true,
			about: "read the row", run: func() term.Cmd { return v.scrollRow(by()) },
		}
	}
	end := func(name string, keys []string, last bool) *command {
		return &command{
			name: "record." + name, at: []place{atRecord, atRecordChain}, keys: keys, title: name, tag: "Move", navigates: true,
			about: "the newest and the oldest row", run: func() term.Cmd { return v.ends(last) },
		}
	}
	const far = 1 << 20
	down, up := func() int { return 1 }, func() int { return -1 }
	page, back := v.page, func() int { return -v.page() }
	return []*command{
		move("down", []string{"j", "down"}, down),
		move("up", []string{"k", "up"}, up),
		move("next-page", []string{"pgdown", "ctrl+f", "ctrl+d"}, page),
		move("previous-page", []string{"pgup", "ctrl+b", "ctrl+u"}, back),
		end("first", []string{"g", "home"}, false),
		end("last", []string{"G", "end"}, true),
		scroll("down", []string{"j", "down", "J"}, down),
		scroll("up", []string{"k", "up", "K"}, up),
		scroll("next-page", []string{"pgdown", "ctrl+f", "ctrl+d", "space"}, page),
		scroll("previous-page", []string{"pgup", "ctrl+b", "ctrl+u"}, back),
		scroll("top", []string{"g", "home"}, func() int { return -far }),
		scroll("end", []string{"G", "end"}, func() int { return far }),
	}
}

func (v *record) filterCommands() []*command {
	at := []place{atRecordFilter}
	return []*command{
		{
			name: "record.filter-accept", at: at, keys: []string{"enter"}, title: "keep", tag: "Filter", navigates: true,
			about: "keep the filter", run: v.acceptFilter,
		},
		{
			name: "record.filter-leave", at: at, keys: []string{"esc"}, title: "leave", tag: "Filter", navigates: true,
			about: "leave the filter as it was", run: v.leaveFilter,
		},
	}
}

// recordFilterMsg applies what was typed a moment ago, if it still stands.
type recordFilterMsg struct{ text string }

func (v *record) startFilter() term.Cmd {
	v.before = v.filter
	v.input = &input{}
	v.input.set(v.filter.text)
	if !v.filter.empty() {
		v.input.insert(" ")
	}
	return nil
}

// changed is called after each key of the filter. The store filters, so a burst
// of keys is one read.
func (v *record) changed() term.Cmd {
	f, err := parseRecordFilter(v.input.text())
	if err != nil {
		v.a.say(roleWarn, err.Error())
		return nil
	}
	v.a.message = ""
	v.filter = f
	return term.After(2*batchFor, recordFilterMsg{v.input.text()})
}

func (v *record) acceptFilter() term.Cmd {
	f, err := parseRecordFilter(v.input.text())
	if err != nil {
		v.a.say(roleWarn, err.Error())
		return nil
	}
	v.input, v.filter = nil, f
	return v.load(recordFirst)
}

func (v *record) leaveFilter() term.Cmd {
	v.input, v.filter = nil, v.before
	return v.load(recordAround)
}

// only shows rows of one sort, or everything again.
func (v *record) only(text string) term.Cmd {
	if v.filter.text == text {
		v.filter = recordFilter{}
		return v.load(recordAround)
	}
	f, err := parseRecordFilter(text)
	if err != nil {
		v.a.fail(err)
		return nil
	}
	v.filter = f
	return v.load(recordFirst)
}

func (v *record) copyHash() term.Cmd {
	r, _ := v.current()
	seq := strconv.FormatInt(r.seq, 10)
	return v.a.copy(r.raw.Entry.Session, seq+" "+r.raw.Hash.String(), "row "+seq+" and its hash were sent to the clipboard")
}

func (v *record) copyRow() term.Cmd {
	var b strings.Builder
	for _, l := range v.pane.doc.lines {
		b.WriteString(l.text + "\n")
	}
	return v.a.copy("", b.String(), plural(len(v.pane.doc.lines), "line was", "lines were")+" sent to the clipboard")
}
