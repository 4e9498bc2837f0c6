package tui

import (
	"gatehouse/core"
	"gatehouse/tui/term"
)

// recordChainMsg is the chain behind a row.
type recordChainMsg struct {
	gen     int
	seq     int64
	subject string
	earlier bool
	found   recordFound
	err     error
}

// chainOf reads why something came about: the same as gatehouse why.
func (v *record) chainOf() term.Cmd {
	row, _ := v.current()
	return v.chainFor(row)
}

// chainFor is chainOf for a row that another screen shows.
func (v *record) chainFor(row recordRow) term.Cmd {
	v.whyGen++
	r, gen := v.reader(), v.whyGen
	return func() term.Msg {
		var c core.Chain
		var err error
		if row.about != 0 {
			c, err = r.kernel.Why(r.ctx, row.about)
		} else {
			c, err = r.kernel.WhyRow(r.ctx, row.seq)
		}
		msg := recordChainMsg{gen: gen, seq: row.seq, earlier: c.Earlier, err: err}
		if err == nil {
			msg.subject, _ = cleanLine(c.Subject, titleLimit)
			msg.found, msg.err = r.tell(c.Rows, recordWindow{}, false)
		}
		return msg
	}
}

// takeChain shows a chain, oldest first, with the cursor on the row that it was
// asked for from.
func (v *record) takeChain(msg recordChainMsg) {
	if msg.gen != v.whyGen || v.a.stack[0] != view(v) {
		return
	}
	if msg.err != nil {
		v.a.fail(msg.err)
		return
	}
	if len(msg.found.win.rows) == 0 { // they were there when the list was read
		v.a.say(roleDanger, "the record holds no row about "+or(msg.subject, "it")+" any more; V checks what was changed")
		return
	}
	v.words = msg.found.words
	v.chain, v.why, v.earlier, v.shows = msg.found.win, msg.subject, msg.earlier, recordChain
	for i, r := range v.chain.rows {
		if r.seq == msg.seq {
			v.chain.at = i
		}
	}
	v.fit()
}
