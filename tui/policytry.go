package tui

import (
	"fmt"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// tryForm is what is asked of the policy, in words of a person. It is copied,
// never shared.
type tryForm struct {
	sink    core.EgressSink
	host    string
	local   bool
	session core.SessionID
	called  string // clean
	labels  string // as typed
	latched bool
	known   bool
	value   bool // it holds a value that was read under a label
	sends   string
}

// The parts of the question, in the order of the screen.
const (
	trySink = iota
	tryHost
	tryLocal
	trySession
	tryLabels
	tryLatched
	tryKnown
	tryValue
	trySends
)

// tryField is one part of the question as it is drawn.
type tryField struct {
	name, value string
	of          bool // what it is comes from the session
}

func yes(on bool) string {
	if on {
		return "yes"
	}
	return "no"
}

func (f tryForm) fields() []tryField {
	of := f.session != ""
	from := func(s string) string {
		if of {
			return "as the session says"
		}
		return s
	}
	clean := func(s string) string {
		line, _ := cleanLine(s, titleLimit)
		return line
	}
	labels := or(clean(f.labels), "none")
	if of {
		labels = strings.TrimPrefix(clean(f.labels)+" and those of the session", " and ")
	}
	return []tryField{
		trySink:    {"what", string(f.sink), false},
		tryHost:    {"host", or(clean(f.host), "none"), false},
		tryLocal:   {"stays here", yes(f.local), false},
		trySession: {"session", or(f.called, "none; say what it read yourself"), false},
		tryLabels:  {"labels read", labels, false},
		tryLatched: {"latched", from(yes(f.latched)), of},
		tryKnown:   {"allowed before", from(yes(f.known)), of},
		tryValue:   {"labelled value", from(yes(f.value)), of},
		trySends:   {"text sent", or(clean(f.sends), "none"), false},
	}
}

// request is the question as the policy takes it.
func (f tryForm) request(person core.PersonID) core.EgressRequest {
	r := core.EgressRequest{
		Sink: f.sink, Session: f.session, Host: f.host, Destination: f.host, Local: f.local, Bytes: len(f.sends),
		Caller: core.Caller{Kind: core.CallerAgent, Person: person}, Latched: f.latched, Known: f.known,
	}
	r.Labels = strings.FieldsFunc(f.labels, func(c rune) bool { return c == ',' || c == ' ' })
	slices.Sort(r.Labels)
	if f.value && f.session == "" {
		r.Matches = []string{"a labelled value"}
	}
	return r
}

// try asks the policy, off the loop. Nothing is asked of a person, and nothing
// is written.
func (v *policyView) try() term.Cmd {
	v.tries++
	try, policy, ctx, form, person := v.tries, v.policy, v.a.ctx, v.asked, v.a.who.Person
	return func() term.Msg {
		out := policyTriedMsg{try: try}
		var sends []string
		if form.sends != "" {
			sends = []string{form.sends}
		}
		out.verdict, out.found, out.err = policy.Test(ctx, form.request(person), sends...)
		return out
	}
}

func (v *policyView) takeTried(msg policyTriedMsg) {
	if msg.try != v.tries {
		return
	}
	v.tried, v.tryFault = true, ""
	if msg.err != nil {
		v.tryFault, _ = cleanLine(msg.err.Error(), reasonLimit)
		return
	}
	v.found = msg.found
	v.verdict = policyRule{decide: msg.verdict.Decision}
	v.verdict.name, _ = cleanLine(msg.verdict.Rule, 100)
	v.why, _ = cleanLine(msg.verdict.Why, reasonLimit)
}

// rule is the rule that decided, where it is one of those on the screen.
func (v *policyView) rule() (policyRule, bool) {
	i := slices.IndexFunc(v.rules, func(r policyRule) bool { return r.name == v.verdict.name })
	if i < 0 {
		return policyRule{}, false
	}
	return v.rules[i], true
}

// change changes the part of the question under the cursor.
func (v *policyView) change() term.Cmd {
	f := &v.asked
	switch v.at[policyTry] {
	case trySink:
		return v.pickSink()
	case tryHost:
		return v.typeLine("host", f.host, "Where it goes, such as status.example.", func(s string) { v.asked.host = s })
	case tryLocal:
		f.local = !f.local
	case trySession:
		return v.pickSession()
	case tryLabels:
		return v.typeLine("labels", f.labels, "Labels of what was read, with blanks between; owner-only is one.", func(s string) { v.asked.labels = s })
	case tryLatched:
		f.latched = !f.latched
	case tryKnown:
		f.known = !f.known
	case tryValue:
		f.value = !f.value
	case trySends:
		return v.typeLine("text", f.sends, "A text that would be sent. Values that the session read under labels are looked for in it.", func(s string) { v.asked.sends = s })
	}
	if at := v.at[policyTry]; f.session != "" && at >= tryLatched && at <= tryValue {
		v.a.say(roleMuted, "the session says that; choose none to say it yourself")
	}
	return v.try()
}

func (v *policyView) typeLine(label, value, about string, set func(string)) term.Cmd {
	v.a.sheet.ask(question{
		title: "What would happen if: " + label, label: label, value: value, accept: "Ask the policy",
		body: []string{about + " Nothing is sent: the policy is asked, and that is all."},
		do: func(answer sheetAnswer) term.Cmd {
			set(strings.TrimSpace(answer.text))
			return v.try()
		},
	})
	return nil
}

func (v *policyView) pickSink() term.Cmd {
	sinks := core.EgressSinks()
	items := make([]pickItem, len(sinks))
	for i, s := range sinks {
		items[i] = pickItem{key: string(s), text: string(s), note: sinkNote(s)}
	}
	v.a.picker.ask(pick{
		title: "What would leave?", label: "way", about: "words narrow it; enter chooses, nothing is sent", items: items,
		do: func(item pickItem, _ string) term.Cmd {
			v.asked.sink = core.EgressSink(item.key)
			return v.try()
		},
	}, false)
	return nil
}

// sinkNote says what a way out is.
func sinkNote(s core.EgressSink) string {
	switch s {
	case core.SinkFetch:
		return "a page of the web"
	case core.SinkModel:
		return "a request to a model"
	case core.SinkRead:
		return "the arguments of a read"
	case core.SinkApply:
		return "an effect of an approved action"
	case core.SinkMCP:
		return "a result to an agent outside"
	case core.SinkExport:
		return "a session file"
	case core.SinkBlueprint:
		return "a blueprint"
	case core.SinkSync:
		return "skills to their source"
	case core.SinkClipboard:
		return "what is copied"
	case core.SinkNote:
		return "a note on the desktop"
	case core.SinkFile:
		return "a file outside the store"
	}
	return ""
}

func (v *policyView) pickSession() term.Cmd {
	gen := v.a.picker.ask(pick{
		title: "In which session?", label: "session", about: "what it has read, its latch and earlier answers are filled in",
		do: func(item pickItem, _ string) term.Cmd {
			v.asked.session, v.asked.called = core.SessionID(item.key), ""
			if item.key != "" {
				v.asked.called = item.text
			}
			return v.try()
		},
	}, true)
	ctx, kernel := v.a.ctx, v.a.kernel
	return func() term.Msg {
		list, err := kernel.Sessions(ctx)
		items := []pickItem{{text: "none", note: "say what it read yourself"}}
		for _, s := range list {
			item := pickItem{key: string(s.ID), note: plural(s.Units, "unit", "units")}
			item.text, _ = cleanLine(s.Name, 100)
			items = append(items, item)
		}
		return pickedMsg{gen, items, err}
	}
}

// answer is what the policy makes of the question, and by which rule.
func (v *policyView) answer() (role, string, string) {
	switch {
	case v.tryFault != "":
		return roleDanger, v.tryFault, ""
	case !v.tried:
		return roleMuted, "asking…", ""
	}
	r, text := decisionRole(v.verdict.decide), string(v.verdict.decide)
	if text == "" {
		text = "no decision: nothing leaves"
	}
	below := v.why
	if rule, ok := v.rule(); ok {
		text += fmt.Sprintf(" · by rule %q, %s", rule.name, rule.tier)
		if below == "" {
			below = "when " + or(rule.when, "always")
		}
	} else if strings.HasPrefix(v.verdict.name, "otherwise") {
		text += " · no rule holds"
	} else {
		text += " · " + v.verdict.name
	}
	return r, text, below
}

func decisionRole(d core.EgressDecision) role {
	switch d {
	case core.EgressAllow:
		return roleGood
	case core.EgressAsk:
		return roleWarn
	default:
		return roleDanger
	}
}
