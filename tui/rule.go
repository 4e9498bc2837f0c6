package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// ruleSubject is what the rows that a person had marked have in common.
type ruleSubject struct {
	session core.SessionID
	name    string // of the session, clean
	binding core.BindingName
	kind    string
}

type (
	ruleSubjectMsg struct {
		gen     int
		subject ruleSubject
		err     error
	}
	rulePreviewMsg struct {
		gen     int
		subject ruleSubject
		request core.RuleRequest
		preview core.RulePreview
		err     error
	}
	ruleMadeMsg struct {
		rule    core.Rule
		results []core.Result
		err     error
	}
	ruleEndedMsg struct {
		rule core.Rule
		err  error
	}
)

// ruleLooks is how many of the marked rows are looked at: a rule is about one
// kind through one binding, and one row tells that.
const ruleLooks = 50

// ruleAsk begins a rule from the rows that are marked, or the one under the cursor.
func (q *queue) ruleAsk() term.Cmd {
	if q.held() {
		return nil
	}
	q.ruleGen++
	gen, ctx, kernel := q.ruleGen, q.a.ctx, q.a.kernel
	targets := q.targets()
	return func() term.Msg {
		subject, err := commonSubject(ctx, kernel, targets)
		return ruleSubjectMsg{gen, subject, err}
	}
}

func commonSubject(ctx context.Context, kernel Kernel, targets []target) (ruleSubject, error) {
	var out ruleSubject
	for i, t := range targets[:min(len(targets), ruleLooks)] {
		d, err := kernel.Peek(ctx, t.id)
		if err != nil {
			return out, err
		}
		if d.Question != nil {
			return out, errors.New("a rule is about actions; mark no questions")
		}
		one := ruleSubject{session: d.Action.Session, binding: d.Action.Binding, kind: d.Action.Draft.Kind}
		one.name, _ = cleanLine(d.SessionName, titleLimit)
		if i > 0 && one != out {
			return out, errors.New("a rule is about one kind through one binding of one session; mark such rows alone")
		}
		out = one
	}
	return out, nil
}

// updateRules takes in what was read or made for rules.
func (q *queue) updateRules(msg term.Msg) term.Cmd {
	switch msg := msg.(type) {
	case ruleSubjectMsg:
		if !q.awaits(msg.gen) {
			return nil
		}
		if msg.err != nil {
			q.a.fail(msg.err)
			return nil
		}
		q.askCondition(msg.subject, "", "")
	case rulePreviewMsg:
		if q.awaits(msg.gen) {
			q.previewed(msg)
		}
	case ruleMadeMsg:
		return q.ruleMade(msg)
	case ruleEndedMsg:
		if msg.err != nil {
			q.a.fail(msg.err)
			return nil
		}
		q.a.say(roleGood, fmt.Sprintf("rule %s ended; it approved %d", msg.rule.ID, msg.rule.Used))
	}
	return nil
}

// awaits reports that an answer is the one asked for last, and that the person
// has not gone elsewhere: a prompt rises over nothing but the queue (T5).
func (q *queue) awaits(gen int) bool { return gen == q.ruleGen && q.a.top() == view(q) }

// askCondition asks under which condition; fault is what was wrong with the last one.
func (q *queue) askCondition(s ruleSubject, condition, fault string) {
	body := []string{
		fmt.Sprintf("In %s, %s through %s is carried out without asking, for 24 hours, while the driver allows it and the risk is low.", s.name, s.kind, s.binding),
		"A condition narrows it, over the fields as they will be sent: path.startsWith(\"docs/\"). Empty: always.",
	}
	if fault != "" {
		body = append(body, "! "+fault)
	}
	ctx, kernel, who := q.a.ctx, q.a.kernel, q.a.who.Person
	q.a.sheet.ask(question{
		title: fmt.Sprintf("A rule for %s through %s?", s.kind, s.binding), body: body, label: "condition", value: condition, accept: "Look",
		do: func(answer sheetAnswer) term.Cmd {
			request := core.RuleRequest{
				Session: string(s.session), Binding: s.binding, Kind: s.kind, Condition: strings.TrimSpace(answer.text),
			}
			q.ruleGen++
			gen := q.ruleGen
			return func() term.Msg {
				preview, err := kernel.PreviewRule(ctx, request, who)
				return rulePreviewMsg{gen, s, request, preview, err}
			}
		},
	})
}

// previewed shows exactly what the rule would run at once, and asks.
func (q *queue) previewed(msg rulePreviewMsg) {
	if msg.err != nil {
		line, _ := cleanLine(describe(msg.err), reasonLimit)
		q.askCondition(msg.subject, msg.request.Condition, line)
		return
	}
	var ids []core.ActionID
	for _, s := range msg.preview.Runs {
		ids = append(ids, s.ID)
	}
	ctx, kernel, who := q.a.ctx, q.a.kernel, q.a.who
	q.a.proposal.ask(proposal{
		title: fmt.Sprintf("A rule for %s through %s", msg.subject.kind, msg.subject.binding), lines: ruleLines(msg), accept: "Make it", danger: len(ids) > 0,
		do: func() term.Cmd {
			return q.a.work(func() term.Msg {
				rule, results, err := kernel.AddRule(ctx, msg.request, ids, who, nil)
				return ruleMadeMsg{rule, results, err}
			})
		},
	})
}

// ruleLines are the rule and every action that it would carry out at once.
func ruleLines(msg rulePreviewMsg) []line {
	var out []line
	add := func(r role, name, value string) {
		clean, _ := cleanLine(value, titleLimit)
		out = append(out, line{r, pad(name, proposalHang-2) + "  " + clean, true})
	}
	rule := msg.preview.Rule
	add(rolePlain, "session", msg.subject.name)
	add(roleTitle, "approves", rule.Kind+" through "+string(rule.Binding)+", at low risk")
	add(roleTitle, "while", or(msg.request.Condition, "always"))
	add(rolePlain, "until", rule.ExpiresAt.Format("2006-01-02 15:04"))
	out = append(out, line{})
	if len(msg.preview.Runs) == 0 {
		add(roleMuted, "at once", "nothing that waits is covered: it counts for what comes")
	}
	for i, s := range msg.preview.Runs {
		name := ""
		if i == 0 {
			name = "runs at once"
		}
		add(roleWarn, name, fmt.Sprintf("#%d %s", s.ID, s.Title))
	}
	return out
}

func (q *queue) ruleMade(msg ruleMadeMsg) term.Cmd {
	if msg.rule.ID == "" {
		q.a.fail(msg.err)
		return q.a.refresh()
	}
	applied := 0
	for _, r := range msg.results {
		if r.Outcome == core.OutcomeApplied {
			applied++
		}
	}
	q.a.say(roleGood, fmt.Sprintf("rule %s is made; %d of %d carried out", msg.rule.ID, applied, len(msg.results)))
	if msg.err != nil {
		q.a.fail(msg.err)
	}
	q.letGo = true
	return q.a.refresh()
}

// rules lists them, to end one.
func (q *queue) rules() term.Cmd {
	ctx, kernel := q.a.ctx, q.a.kernel
	gen := q.a.picker.ask(pick{
		title: "Rules", label: "rule", about: "enter ends one", none: "there is no rule: R on a row of the queue makes one", do: q.endRule,
	}, true)
	return func() term.Msg {
		rules, err := kernel.Rules(ctx, "")
		return pickedMsg{gen, ruleItems(rules), err}
	}
}

// ruleItems are rules as a picker shows them, the newest first.
func ruleItems(rules []core.RuleStanding) []pickItem {
	items := make([]pickItem, 0, len(rules))
	for _, r := range slices.Backward(rules) {
		text, _ := cleanLine(fmt.Sprintf("%s  %s through %s of %s", r.ID, r.Kind, r.Binding, r.Session), titleLimit)
		note := "always"
		if r.Condition != "" {
			note, _ = cleanLine(r.Condition, titleLimit)
		}
		if r.Off != "" {
			off, _ := cleanLine(r.Off, titleLimit)
			note += " · off: " + off
		}
		items = append(items, pickItem{key: string(r.ID), text: text, note: note})
	}
	return items
}

func (q *queue) endRule(item pickItem, _ string) term.Cmd {
	ctx, kernel, who := q.a.ctx, q.a.kernel, q.a.who
	q.a.sheet.ask(question{
		title: "End rule " + item.key + "?", body: []string{item.text, "What it covers waits for a person again."}, accept: "End it",
		do: func(sheetAnswer) term.Cmd {
			return q.a.work(func() term.Msg {
				rule, err := kernel.RemoveRule(ctx, core.RuleID(item.key), who)
				return ruleEndedMsg{rule, err}
			})
		},
	})
	return nil
}

func (q *queue) ruleCommands() []*command {
	return []*command{
		{
			name: "rule.make", at: []place{atList, atDetail}, keys: []string{"R"}, title: "rule…", tag: "Decide", decides: true, prompts: true,
			about: "let this kind happen without asking; shows first what would run", run: q.ruleAsk, disabled: q.nothing,
		},
		{
			name: "rule.list", at: []place{atList}, keys: []string{"ctrl+r"}, title: "rules", tag: "Decide", navigates: true,
			about: "the rules there are, and which count now; enter ends one", run: q.rules,
		},
	}
}
