package tui

import (
	"testing"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// TestE1_TheClipboardAsksThePolicy copies under a policy that lets it and under one that does not.
func TestE1_TheClipboardAsksThePolicy(t *testing.T) {
	d := newDriver(t, site(), 120, 40)
	d.a.queue.goToRow(t, d, 38)
	d.press("y")
	if len(d.copied) != 1 || len(d.k.permits) != 1 || d.k.permits[0].Sink != core.SinkClipboard || d.k.permits[0].Session == "" {
		t.Fatalf("got %q after asking %+v", d.copied, d.k.permits)
	}
	d.shows("was sent to the clipboard")
	d.k.refused = map[core.EgressSink]bool{core.SinkClipboard: true}
	for _, key := range []string{"y", "Y"} {
		d.press(key)
		if len(d.copied) != 1 {
			t.Fatalf("%s: got %q, want nothing more on the clipboard", key, d.copied)
		}
		d.shows("clipboard: refused, egress rule no clipboard")
	}
}

// TestE1_ANoteAsksThePolicy keeps a refused note to itself; the bell holds no content and rings.
func TestE1_ANoteAsksThePolicy(t *testing.T) {
	d := newDriver(t, site(), 120, 40)
	d.k.refused = map[core.EgressSink]bool{core.SinkNote: true}
	d.a.notices.on = Notices{Bell: true, Note: true}
	d.a.notices.batch = []noticed{{needTurn, "turn failed in work"}}
	d.do(d.a.notices.flush())
	var notes, bells int
	for _, m := range d.others {
		switch m.(type) {
		case term.Note:
			notes++
		case term.Bell:
			bells++
		}
	}
	if notes != 0 || bells != 1 {
		t.Errorf("got %d notes and %d bells, want the bell alone", notes, bells)
	}
}
