package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"gatehouse/core"
	"gatehouse/core/text"
)

// actionObject is what --json prints of an action, and of a question.
type actionObject struct {
	ID           core.ActionID     `json:"id"`
	Session      core.SessionID    `json:"session"`
	SessionName  string            `json:"session_name"`
	Binding      core.BindingName  `json:"binding"`
	Gatekeeper   string            `json:"gatekeeper"`
	Connection   core.ConnectionID `json:"connection"`
	Kind         string            `json:"kind"`
	Lane         core.Lane         `json:"lane"`
	State        string            `json:"state"`
	Title        string            `json:"title"`
	Fields       []core.Field      `json:"fields"`
	Base         []baseObject      `json:"base"`
	Needs        []core.ActionID   `json:"needs"`
	After        []core.ActionID   `json:"after"`
	Refs         []refObject       `json:"refs"`
	Provides     []string          `json:"provides"`
	Dependants   []core.ActionID   `json:"dependants"`
	Drifted      bool              `json:"drifted"`
	Drift        core.Drift        `json:"drift"`
	Retryable    bool              `json:"retryable"`
	Revertible   bool              `json:"revertible"`
	Reverts      core.ActionID     `json:"reverts"`     // 0 for what is no revert
	RevertedBy   core.ActionID     `json:"reverted_by"` // 0 until one was applied
	Irreversible bool              `json:"irreversible"`
	CostsMoney   bool              `json:"costs_money"`
	Risk         core.Risk         `json:"risk"`
	Opened       bool              `json:"opened"`
	Units        []core.Unit       `json:"units"`
	Digest       string            `json:"digest"`
	Reason       string            `json:"reason"`
	Rule         string            `json:"rule"`
	Caller       core.Caller       `json:"caller"`
	Turn         int               `json:"turn"`
	CreatedAt    *string           `json:"created_at"`
	DecidedAt    *string           `json:"decided_at"`
	DecidedBy    core.PersonID     `json:"decided_by"`
	DecidedHow   core.Means        `json:"decided_how"`
	Result       json.RawMessage   `json:"result"`
	Created      []core.Created    `json:"created"`

	Choices *[]string `json:"choices,omitempty"` // questions alone
	Answer  *string   `json:"answer,omitempty"`
}

// baseObject is the state of one target that an action was made on.
type baseObject struct {
	core.BaseVersion
	Resolved string `json:"resolved,omitempty"` // what "result of" came to be
}

// refObject is a tie to an earlier action.
type refObject struct {
	core.Reference
	Needs bool   `json:"needs"` // else it only comes after
	State string `json:"state"`
	Title string `json:"title"`
	Bound string `json:"bound"` // the service's own id, once there is one
}

func objectOfDetail(d core.Detail) actionObject {
	if d.Question != nil {
		return objectOfQuestion(d)
	}
	x, draft := d.Action, d.Action.Draft
	o := actionObject{
		ID: x.ID, Session: x.Session, SessionName: d.SessionName, Binding: x.Binding, Gatekeeper: x.Gatekeeper,
		Connection: x.Connection, Kind: draft.Kind, Lane: draft.Lane, State: string(x.State), Title: draft.Title,
		Fields: list(draft.Fields), Base: []baseObject{}, Needs: []core.ActionID{}, After: []core.ActionID{}, Refs: []refObject{},
		Provides: list(draft.Provides), Dependants: []core.ActionID{},
		Drifted: x.Drift != core.DriftNone, Drift: x.Drift, Retryable: x.Retryable,
		Revertible: draft.Revertible, Reverts: x.Reverts, RevertedBy: revertedBy(d), Irreversible: draft.Irreversible, CostsMoney: draft.CostsMoney, Risk: x.Risk(),
		Opened: d.Opened, Units: list(d.Observed), Digest: x.Digest.String(), Reason: x.Reason, Rule: x.Rule,
		Caller: x.Caller, Turn: x.Caller.Turn, CreatedAt: jsonTime(x.CreatedAt), DecidedAt: jsonTime(x.DecidedAt),
		DecidedBy: x.DecidedBy, DecidedHow: x.DecidedHow, Result: x.Result, Created: list(x.Created),
	}
	for _, b := range d.Base {
		o.Base = append(o.Base, baseObject{b.BaseVersion, b.Resolved})
	}
	for _, r := range d.Refs {
		o.Refs = append(o.Refs, refObject{r.Reference, r.Needs, string(r.State), r.Title, r.Bound})
		if r.Needs {
			o.Needs = appendNew(o.Needs, r.Provider)
		} else {
			o.After = appendNew(o.After, r.Provider)
		}
	}
	for _, dependant := range d.Dependants {
		o.Dependants = appendNew(o.Dependants, dependant.Action)
	}
	if len(o.Result) == 0 {
		o.Result = json.RawMessage("null")
	}
	return o
}

func objectOfQuestion(d core.Detail) actionObject {
	q := d.Question
	choices, answer := list(q.Choices), q.Answer
	return actionObject{
		ID: q.ID, Session: q.Session, SessionName: d.SessionName, Kind: core.QueueKindQuestion, State: string(q.State), Title: q.Text,
		Fields: []core.Field{}, Base: []baseObject{}, Needs: []core.ActionID{}, After: []core.ActionID{}, Refs: []refObject{},
		Provides: []string{}, Dependants: []core.ActionID{}, Units: []core.Unit{}, Created: []core.Created{}, Risk: core.RiskLow,
		Reason: q.Reason, Caller: q.Caller, Turn: q.Caller.Turn, CreatedAt: jsonTime(q.AskedAt), DecidedAt: jsonTime(q.DecidedAt),
		DecidedBy: q.DecidedBy, Result: json.RawMessage("null"), Choices: &choices, Answer: &answer,
	}
}

func appendNew(ids []core.ActionID, id core.ActionID) []core.ActionID {
	for _, have := range ids {
		if have == id {
			return ids
		}
	}
	return append(ids, id)
}

// printDetail prints one action for a person, whole.
func (a *app) printDetail(d core.Detail) error {
	if d.Question != nil {
		return a.printQuestion(d)
	}
	x := d.Action
	fmt.Fprintf(a.out, "%s  %s\n", x.ID, line(x.Draft.Title))
	rows := [][2]string{
		{"state", stateWords(core.QueueRow{Summary: x.Summary()})},
		{"risk", riskReasons(x)},
		{"kind", fmt.Sprintf("%s, lane %s", x.Draft.Kind, x.Draft.Lane)},
		{"session", fmt.Sprintf("%s (%s)", d.SessionName, x.Session)},
		{"binding", fmt.Sprintf("%s, %s, connection %s", x.Binding, x.Gatekeeper, x.Connection)},
		{"asked for by", callerWords(x.Caller) + ", " + stamp(x.CreatedAt)},
	}
	add := func(name, value string) {
		if value != "" {
			rows = append(rows, [2]string{"" + name, value})
		}
	}
	for _, r := range d.Refs {
		name := "comes after"
		if r.Needs {
			name = "needs"
		}
		add(name, fmt.Sprintf("%d  %s (%s)", r.Provider, r.Title, r.State))
	}
	for _, dependant := range d.Dependants {
		add("needed by", fmt.Sprintf("%d (%s)", dependant.Action, dependant.State))
	}
	for _, row := range revertRows(d) {
		add(row[0], row[1])
	}
	for _, b := range d.Base {
		add("made on", baseWords(b))
	}
	if x.DecidedBy != "" {
		add("decided by", fmt.Sprintf("%s, by %s, %s", x.DecidedBy, x.DecidedHow, stamp(x.DecidedAt)))
	}
	add("reason", x.Reason)
	for _, c := range x.Created {
		add("created", c.Name+" is "+c.Real)
	}
	if len(d.Observed) > 0 {
		add("its session had read", unitWords(d.Observed))
	}
	add("digest", x.Digest.String())
	if err := pairs(a.out, "  ", rows...); err != nil {
		return err
	}
	a.printSides(x)
	for _, f := range x.Draft.Fields {
		a.printField(f)
	}
	return nil
}

func (a *app) printQuestion(d core.Detail) error {
	q := d.Question
	fmt.Fprintf(a.out, "%s  %s\n", q.ID, line(q.Text))
	rows := [][2]string{
		{"state", string(q.State)},
		{"session", fmt.Sprintf("%s (%s)", d.SessionName, q.Session)},
		{"asked by", callerWords(q.Caller) + ", " + stamp(q.AskedAt)},
	}
	if len(q.Choices) > 0 {
		rows = append(rows, [2]string{"choices", strings.Join(q.Choices, " | ")})
	}
	if q.Answer != "" {
		rows = append(rows, [2]string{"answer", q.Answer}, [2]string{"answered by", fmt.Sprintf("%s, %s", q.DecidedBy, stamp(q.DecidedAt))})
	}
	return pairs(a.out, "  ", rows...)
}

// riskReasons says why a risk is high (kernel R26).
func riskReasons(x core.Action) string {
	var why []string
	if x.Draft.Irreversible {
		why = append(why, "irreversible")
	}
	if x.Draft.CostsMoney {
		why = append(why, "costs money")
	}
	if x.Draft.WidensTrust {
		why = append(why, "widens trust")
	}
	if x.Drift != core.DriftNone {
		why = append(why, "changed since it was made")
	}
	if len(why) == 0 {
		return string(x.Risk())
	}
	return string(x.Risk()) + ": " + strings.Join(why, ", ")
}

func callerWords(c core.Caller) string {
	words := string(c.Kind)
	if c.Name != "" {
		words += " " + c.Name
	}
	if c.Turn > 0 {
		words += fmt.Sprintf(", turn %d, step %d", c.Turn, c.Step)
	}
	if c.Person != "" {
		words += ", for " + string(c.Person)
	}
	return words
}

func baseWords(b core.BaseState) string {
	switch {
	case b.Absent:
		return b.Target + ", which is not there"
	case b.ResultOf != 0 && b.Resolved != "":
		return fmt.Sprintf("%s, the result of %d, now %s", b.Target, b.ResultOf, b.Resolved)
	case b.ResultOf != 0:
		return fmt.Sprintf("%s, the result of %d", b.Target, b.ResultOf)
	default:
		return b.Target + " at " + b.Version
	}
}

// unitsShown is how many units a line names; the JSON has them all.
const unitsShown = 4

func unitWords(units []core.Unit) string {
	var words []string
	for i, u := range units {
		if i == unitsShown {
			words = append(words, strconv.Itoa(len(units)-i)+" more")
			break
		}
		words = append(words, u.String())
	}
	return strings.Join(words, ", ")
}

// printField prints one field of what will be sent: a text of several lines as
// a diff, anything else before and after. It says when something was hidden in
// the field that a terminal would not have shown.
func (a *app) printField(f core.Field) {
	before, after := fieldText(f.Before), fieldText(f.After)
	name := line(f.Name)
	switch {
	case before == nil && after == nil:
		fmt.Fprintf(a.out, "\n  %s: none\n", name)
	case before != nil && after != nil && *before == *after:
		fmt.Fprintf(a.out, "\n  %s: %s (stays)\n", name, indent(*after))
	case !manyLines(before) && !manyLines(after) && !sameButEnd(before, after):
		fmt.Fprintf(a.out, "\n  %s\n", name)
		if before != nil {
			fmt.Fprintf(a.out, "  - %s\n", block(strings.TrimSuffix(*before, "\n")))
		}
		if after != nil {
			fmt.Fprintf(a.out, "  + %s\n", block(strings.TrimSuffix(*after, "\n")))
		}
	default:
		fmt.Fprintf(a.out, "\n  %s\n", name)
		// The first two lines name the sides; a later one that looks like them is content.
		diff := strings.SplitN(udiff.Unified("before", "after", orEmpty(before), orEmpty(after)), "\n", 3)
		fmt.Fprintf(a.out, "  %s\n", indent(diff[len(diff)-1]))
	}
	_, hiddenBefore := text.CleanBlock(orEmpty(before))
	_, hiddenAfter := text.CleanBlock(orEmpty(after))
	if hiddenBefore || hiddenAfter {
		fmt.Fprintf(a.out, "  ! %s holds characters that are not shown; --json has them escaped\n", name)
	}
}

// fieldText is a JSON string as its text, anything else as compact JSON, and
// null as nothing.
func fieldText(raw json.RawMessage) *string {
	trimmed := bytes.TrimSpace(raw)
	if len(trimmed) == 0 || bytes.Equal(trimmed, []byte("null")) {
		return nil
	}
	var words string
	if json.Unmarshal(trimmed, &words) == nil {
		return &words
	}
	words = string(trimmed)
	return &words
}

func manyLines(s *string) bool {
	return s != nil && strings.Contains(strings.TrimSuffix(*s, "\n"), "\n")
}

// sameButEnd reports that only a line break at the end makes the difference.
func sameButEnd(a, b *string) bool {
	return a != nil && b != nil && strings.TrimSuffix(*a, "\n") == strings.TrimSuffix(*b, "\n")
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func indent(s string) string {
	return strings.ReplaceAll(block(strings.TrimSuffix(s, "\n")), "\n", "\n  ")
}
