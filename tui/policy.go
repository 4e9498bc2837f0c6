package tui

import (
	"context"
	"math"
	"strings"

	"gatehouse/core"
	"gatehouse/core/egress"
	"gatehouse/tui/term"
)

const atPolicy place = "policy"

// Policy is the policy over what leaves, as it is now. Its methods are called
// off the loop; none of them asks, remembers or writes anything.
type Policy interface {
	// Tiers lists the rules, the tier that stands over the others first.
	Tiers() []egress.Tier
	// Test says what becomes of a request, with what is known of its session
	// filled in where one is named; sends are the texts that would leave.
	Test(ctx context.Context, r core.EgressRequest, sends ...string) (core.EgressVerdict, core.EgressRequest, error)
}

// The parts of the screen.
const (
	policyRules = iota
	policyTry   // what would happen if
	policyLeft  // what left, or was refused
	policyParts
)

// leftLimit is how many rows of the record are shown of what left; the record
// itself shows all.
const leftLimit = 100

// policyRule is a rule as it is drawn; its texts are clean.
type policyRule struct {
	tier, name, when string
	decide           core.EgressDecision
}

// policyView is the policy over what leaves: its rules, what it would make of
// something, and what it made of what wanted to leave lately.
type policyView struct {
	a      *app
	policy Policy // nil: there is none to look at
	part   int
	at     [policyParts]int
	top    [policyParts]int
	gen    int
	loaded bool
	err    string
	rules  []policyRule
	left   []recordRow

	asked    tryForm
	tries    int
	tried    bool
	verdict  policyRule // the rule that decided; its condition may be unknown
	why      string
	found    core.EgressRequest // as the kernel filled it in
	tryFault string
}

func newPolicyView(a *app, p Policy) *policyView {
	return &policyView{a: a, policy: p, asked: tryForm{sink: core.SinkFetch}}
}

func (v *policyView) place() place { return atPolicy }

type (
	policyMsg struct {
		gen   int
		rules []policyRule
		left  []recordRow
		err   error
	}
	policyTriedMsg struct {
		try     int
		verdict core.EgressVerdict
		found   core.EgressRequest
		err     error
	}
)

func (v *policyView) load() term.Cmd {
	v.gen++
	gen, policy, r := v.gen, v.policy, v.a.record.reader()
	return func() term.Msg {
		out := policyMsg{gen: gen, rules: policyRows(policy.Tiers())}
		rows, err := r.kernel.Record(r.ctx, core.RecordQuery{Types: []core.EventType{core.EventEgress}, Before: math.MaxInt64, Limit: leftLimit})
		if err == nil {
			var found recordFound
			found, err = r.tell(rows, recordWindow{}, true)
			out.left = found.win.rows
		}
		out.err = err
		return out
	}
}

func policyRows(tiers []egress.Tier) []policyRule {
	var out []policyRule
	for _, tier := range tiers {
		for _, r := range tier.Rules {
			row := policyRule{tier: tier.Name, decide: r.Decide}
			row.name, _ = cleanLine(r.Name, 100)
			row.when, _ = cleanLine(strings.Join(strings.Fields(r.When), " "), reasonLimit)
			out = append(out, row)
		}
	}
	return out
}

func (v *policyView) update(msg term.Msg) term.Cmd {
	switch msg := msg.(type) {
	case shownMsg:
		return term.All(v.load(), v.try())
	case reloadMsg:
		if v.a.stack[0] == view(v) {
			return term.All(v.load(), v.try())
		}
	case policyMsg:
		v.take(msg)
	case policyTriedMsg:
		v.takeTried(msg)
	}
	return nil
}

// take shows what was read; the cursor of what left stays on its row.
func (v *policyView) take(msg policyMsg) {
	if msg.gen != v.gen {
		return
	}
	if msg.err != nil {
		v.err, _ = cleanLine(msg.err.Error(), reasonLimit)
		if v.loaded {
			v.a.fail(msg.err)
		}
		return
	}
	var on int64
	if r, ok := v.row(); ok {
		on = r.seq
	}
	v.rules, v.left, v.loaded, v.err = msg.rules, msg.left, true, ""
	for i, r := range v.left {
		if r.seq == on {
			v.at[policyLeft] = i
		}
	}
	for part := range policyParts {
		v.at[part] = min(v.at[part], max(v.length(part)-1, 0))
	}
}

func (v *policyView) length(part int) int {
	switch part {
	case policyRules:
		return len(v.rules)
	case policyTry:
		return len(v.asked.fields())
	default:
		return len(v.left)
	}
}

// row is the row under the cursor of what left.
func (v *policyView) row() (recordRow, bool) {
	if at := v.at[policyLeft]; at < len(v.left) {
		return v.left[at], true
	}
	return recordRow{}, false
}

func (v *policyView) move(by int) term.Cmd {
	at := &v.at[v.part]
	*at = min(max(*at+by, 0), max(v.length(v.part)-1, 0))
	return nil
}

func (v *policyView) turn(by int) term.Cmd {
	v.part = (v.part + by + policyParts) % policyParts
	return nil
}

// press opens what is under the cursor.
func (v *policyView) press() term.Cmd {
	switch v.part {
	case policyTry:
		return v.change()
	case policyLeft:
		r, _ := v.row()
		cmd := v.a.show(v.a.record)
		return term.All(cmd, v.a.record.chainFor(r))
	default:
		v.part = policyTry
		return nil
	}
}

func (v *policyView) noRow() string {
	if _, ok := v.row(); v.part == policyLeft && !ok {
		return "nothing has asked to leave yet"
	}
	return ""
}

func (v *policyView) unknown() string {
	if v.policy == nil {
		return "there is no policy to look at here"
	}
	return ""
}

func (v *policyView) commands() []*command {
	at := []place{atPolicy}
	page := func() int { return max(v.a.body().h-3, 1) }
	move := func(name string, keys []string, by func() int) *command {
		return &command{
			name: name, at: at, keys: keys, title: strings.ReplaceAll(name[len("policy."):], "-", " "), tag: "Move", navigates: true,
			about: "look through the rules, the question, or what left", run: func() term.Cmd { return v.move(by()) },
		}
	}
	return []*command{
		{
			name: "screen.policy", at: screens(), keys: []string{"%"}, title: "policy", tag: "Screens", navigates: true, disabled: v.unknown,
			about: "the rules over what leaves, what would happen if, and what left", run: func() term.Cmd { return v.a.show(v) },
		},
		{
			name: "policy.press", at: at, keys: []string{"enter"}, title: "change, or why", tag: "Detail", navigates: true, footer: 1, disabled: v.noRow,
			about: "change a part of the question; of what left, the chain that led to it", run: v.press,
		},
		{
			name: "policy.next-part", at: at, keys: []string{"]", "tab"}, title: "next part", tag: "Move", navigates: true, footer: 2,
			about: "rules, what would happen if, what left", run: func() term.Cmd { return v.turn(1) },
		},
		{
			name: "policy.previous-part", at: at, keys: []string{"[", "shift+tab"}, title: "part before", tag: "Move", navigates: true,
			about: "rules, what would happen if, what left", run: func() term.Cmd { return v.turn(-1) },
		},
		{
			name: "policy.back", at: at, keys: []string{"esc"}, title: "queue", tag: "Screens", navigates: true, footer: 3,
			about: "back to the queue", run: func() term.Cmd { return v.a.show(v.a.queue) },
		},
		move("policy.down", []string{"j", "down"}, func() int { return 1 }),
		move("policy.up", []string{"k", "up"}, func() int { return -1 }),
		move("policy.next-page", []string{"pgdown", "ctrl+f", "ctrl+d"}, page),
		move("policy.previous-page", []string{"pgup", "ctrl+b", "ctrl+u"}, func() int { return -page() }),
		move("policy.first", []string{"g", "home"}, func() int { return -v.length(v.part) }),
		move("policy.last", []string{"G", "end"}, func() int { return v.length(v.part) }),
	}
}
