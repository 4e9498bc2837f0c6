package tui

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// stepView shows one step of a turn on the whole body: what was told and said,
// and each call with its arguments and its answer. Its parts fold. Rows are
// broken once a width; a frame makes those in sight alone.
type stepView struct {
	a       *app
	session core.Session
	turn    int
	step    int
	gen     int
	loaded  bool
	err     string
	model   string
	parts   []stepPart
	steps   [][2]int // turn and step of each in the session, in order
	at      int      // part under the cursor
	top     int      // first row drawn
	laid    []laidLine
	laidAt  int
	drawn   int // rows drawn, for tests that count work
}

// stepPart is one foldable thing of a step, clean.
type stepPart struct {
	key    entryKey
	head   line
	body   []line
	shut   bool
	action core.ActionID // that the call queued; 0 is none
}

// stepMsg is the answer to a read of a step.
type stepMsg struct {
	gen   int
	steps [][2]int
	model string
	parts []stepPart
	err   error
}

func newStepView(a *app) *stepView { return &stepView{a: a} }

func (v *stepView) place() place { return atStep }

// open shows a step of a session.
func (v *stepView) open(s core.Session, turn, step int) term.Cmd {
	v.session, v.a.message = s, ""
	v.a.push(v)
	return v.turnTo(turn, step)
}

func (v *stepView) turnTo(turn, step int) term.Cmd {
	v.turn, v.step, v.loaded, v.err, v.model = turn, step, false, "", ""
	v.parts, v.at, v.top, v.laid = nil, 0, 0, nil
	return v.load()
}

func (v *stepView) load() term.Cmd {
	v.gen++
	gen, ctx, kernel, session, turn, step := v.gen, v.a.ctx, v.a.kernel, string(v.session.ID), v.turn, v.step
	return func() term.Msg { return readStep(ctx, kernel, session, turn, step, gen) }
}

func readStep(ctx context.Context, kernel Kernel, session string, turn, step, gen int) stepMsg {
	entries, err := kernel.Transcript(ctx, session)
	msg := stepMsg{gen: gen, err: err}
	for _, e := range entries {
		msg.steps = withStep(msg.steps, e)
		if e.Turn != turn || e.Step != step || e.Kind == core.TranscriptTurn {
			continue
		}
		if e.Model != "" {
			msg.model, _ = cleanLine(e.Model, 60)
		}
		msg.parts = append(msg.parts, viewPart(e, len(msg.parts)))
	}
	return msg
}

// withStep are the steps with that of an entry, which comes in order.
func withStep(steps [][2]int, e core.TranscriptEntry) [][2]int {
	one := [2]int{e.Turn, e.Step}
	if e.Step == 0 || len(steps) > 0 && steps[len(steps)-1] == one {
		return steps
	}
	return append(steps, one)
}

func (v *stepView) update(msg term.Msg) term.Cmd {
	switch msg := msg.(type) {
	case reloadMsg:
		if v.a.open(v) && v.a.script.live() == nil { // a turn that runs here tells what it stores
			return v.load()
		}
	case resizedMsg:
		v.laid = nil
		v.keepInSight()
	case stepMsg:
		v.take(msg)
	}
	return nil
}

// take shows what was read; what was folded stays so.
func (v *stepView) take(msg stepMsg) {
	if msg.gen != v.gen {
		return
	}
	if msg.err != nil {
		v.err, _ = cleanLine(msg.err.Error(), reasonLimit)
		return
	}
	for i := range msg.parts {
		at := slices.IndexFunc(v.parts, func(p stepPart) bool { return p.key == msg.parts[i].key })
		if at >= 0 {
			msg.parts[i].shut = v.parts[at].shut
		}
	}
	v.parts, v.steps, v.model, v.loaded, v.err, v.laid = msg.parts, msg.steps, msg.model, true, "", nil
	v.at = min(v.at, max(len(v.parts)-1, 0))
	v.top = min(v.top, v.lastTop())
}

// stored reads the step again when something of it was stored just now.
func (v *stepView) stored(session core.SessionID, e core.TranscriptEntry) term.Cmd {
	if v.session.ID != session || !v.a.open(v) {
		return nil
	}
	if v.turn != e.Turn || v.step != e.Step {
		v.steps = withStep(v.steps, e)
		return nil
	}
	return v.load()
}

// layout breaks the parts to a width, once.
func (v *stepView) layout(width int) []laidLine {
	if v.laid != nil && v.laidAt == width {
		return v.laid
	}
	v.laid, v.laidAt = make([]laidLine, 0, len(v.laid)), width
	for i, p := range v.parts {
		v.laid = append(v.laid, laidLine{p.head, i})
		if p.shut {
			continue
		}
		for _, l := range p.body {
			for _, row := range bodyRows(l, max(width-5, 10)) {
				v.laid = append(v.laid, laidLine{line{l.role, row, l.flows}, i})
			}
		}
	}
	return v.laid
}

// span is where the rows of a part lie: the first, and the one behind the last.
func (v *stepView) span(part int) (first, end int) {
	laid := v.layout(v.a.body().w)
	first = sort.Search(len(laid), func(i int) bool { return laid[i].entry >= part })
	return first, sort.Search(len(laid), func(i int) bool { return laid[i].entry > part })
}

func (v *stepView) room() int    { return max(v.a.body().h-1, 1) }
func (v *stepView) lastTop() int { return max(len(v.layout(v.a.body().w))-v.room(), 0) }

// keepInSight scrolls so that the head of the part under the cursor is drawn,
// and as much of the rest as there is room for.
func (v *stepView) keepInSight() {
	first, end := v.span(v.at)
	if end > v.top+v.room() {
		v.top = end - v.room()
	}
	v.top = max(min(v.top, first, v.lastTop()), 0)
}

func (v *stepView) move(by int) term.Cmd {
	v.at = min(max(v.at+by, 0), max(len(v.parts)-1, 0))
	v.keepInSight()
	return nil
}

// scroll moves the rows; the cursor goes to the part that is read.
func (v *stepView) scroll(by int) term.Cmd {
	v.top = min(max(v.top+by, 0), v.lastTop())
	laid := v.layout(v.a.body().w)
	if v.top < len(laid) {
		first, last := laid[v.top].entry, laid[min(v.top+v.room(), len(laid))-1].entry
		v.at = min(max(v.at, first), last)
	}
	return nil
}

func (v *stepView) ends(last bool) term.Cmd {
	v.at, v.top = 0, 0
	if last {
		v.at, v.top = max(len(v.parts)-1, 0), v.lastTop()
	}
	return nil
}

func (v *stepView) fold() term.Cmd {
	if v.at < len(v.parts) {
		v.parts[v.at].shut = !v.parts[v.at].shut
		v.laid = nil
		v.keepInSight()
	}
	return nil
}

// foldAll folds every part, or unfolds them where all are folded.
func (v *stepView) foldAll() term.Cmd {
	shut := slices.ContainsFunc(v.parts, func(p stepPart) bool { return !p.shut })
	for i := range v.parts {
		v.parts[i].shut = shut
	}
	v.laid = nil
	v.keepInSight()
	return nil
}

// next goes to the step before or after, as the session has them.
func (v *stepView) next(by int) term.Cmd {
	at := slices.Index(v.steps, [2]int{v.turn, v.step})
	if to := at + by; at >= 0 && to >= 0 && to < len(v.steps) {
		return v.turnTo(v.steps[to][0], v.steps[to][1])
	}
	v.a.say(roleMuted, "there is no step beyond this one")
	return nil
}

func (v *stepView) noAction() string {
	if v.at >= len(v.parts) || v.parts[v.at].action == 0 {
		return "this queued nothing"
	}
	return ""
}

func (v *stepView) toAction() term.Cmd { return v.a.queue.goTo(v.parts[v.at].action) }

func (v *stepView) close() term.Cmd {
	v.a.pop(v)
	return nil
}

func (v *stepView) nothing() string {
	if len(v.parts) == 0 {
		return "there is nothing to fold"
	}
	return ""
}

func (v *stepView) commands() []*command {
	at := []place{atStep}
	move := func(name string, keys []string, about string, run func() term.Cmd) *command {
		return &command{name: name, at: at, keys: keys, title: name, tag: "Move", navigates: true, about: about, run: run}
	}
	half := func() int { return max(v.room()/2, 1) }
	return []*command{
		{
			name: "step.fold", at: at, keys: []string{"enter", "space"}, title: "fold", tag: "Step", navigates: true, footer: 1,
			about: "fold what is under the cursor, or unfold it", run: v.fold, disabled: v.nothing,
		},
		{
			name: "step.fold-all", at: at, keys: []string{"z"}, title: "fold all", tag: "Step", navigates: true, footer: 3,
			about: "fold every part, or unfold them all", run: v.foldAll, disabled: v.nothing,
		},
		{
			name: "step.action", at: at, keys: []string{"o"}, title: "its action", tag: "Step", navigates: true, footer: 2,
			about: "the action that the call queued, in the queue", run: v.toAction, disabled: v.noAction,
		},
		{
			name: "step.back", at: at, keys: []string{"esc"}, title: "back", tag: "Step", navigates: true, footer: 4,
			about: "back to the transcript", run: v.close,
		},
		move("step.next", []string{"]"}, "the next step", func() term.Cmd { return v.next(1) }),
		move("step.previous", []string{"["}, "the step before", func() term.Cmd { return v.next(-1) }),
		move("step.down", []string{"j", "down"}, "next part", func() term.Cmd { return v.move(1) }),
		move("step.up", []string{"k", "up"}, "part above", func() term.Cmd { return v.move(-1) }),
		move("step.first", []string{"g", "home"}, "its beginning", func() term.Cmd { return v.ends(false) }),
		move("step.last", []string{"G", "end"}, "its end", func() term.Cmd { return v.ends(true) }),
		move("step.row-down", []string{"J"}, "one row down", func() term.Cmd { return v.scroll(1) }),
		move("step.row-up", []string{"K"}, "one row up", func() term.Cmd { return v.scroll(-1) }),
		move("step.scroll-down", []string{"ctrl+d", "pgdown", "ctrl+f"}, "half a page down", func() term.Cmd { return v.scroll(half()) }),
		move("step.scroll-up", []string{"ctrl+u", "pgup", "ctrl+b"}, "half a page up", func() term.Cmd { return v.scroll(-half()) }),
	}
}

// title names the step and says how much of it is out of sight.
func (v *stepView) title(total int) (title, note string) {
	title = fmt.Sprintf("Step %d of turn %d", v.step, v.turn)
	if v.model != "" {
		title += " · " + v.model
	}
	if total > v.room() {
		note = fmt.Sprintf("%d-%d of %s", v.top+1, min(v.top+v.room(), total), thousands(total))
	}
	return title, note
}
