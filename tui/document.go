package tui

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"gatehouse/core"
)

// document is what the detail pane shows of an action or a question: built off
// the loop, clean, independent of any width.
type document struct {
	id      core.ActionID
	version int64
	digest  core.Digest
	title   string
	state   core.Summary
	reason  string
	lines   []line
	opened  bool
}

// view says how much of an action a document shows.
type docView struct {
	context    int  // unchanged lines around a change
	provenance bool // the whole way it came here
}

// docBuilder collects lines.
type docBuilder struct {
	now    time.Time
	view   docView
	bytes  byteFields
	lines  []line
	hidden bool
}

// buildDocument makes a document of a detail. It does not block on anything but
// its own work.
func buildDocument(d core.Detail, v docView, bytes byteFields, now time.Time) *document {
	b := &docBuilder{now: now, view: v, bytes: bytes}
	if d.Question != nil {
		return b.question(d)
	}
	a := d.Action
	doc := &document{id: a.ID, version: a.Version, digest: a.Digest, state: a.Summary(), opened: d.Opened}
	doc.title = b.clean(a.Draft.Title, titleLimit)
	doc.reason = b.clean(a.Reason, reasonLimit)
	b.head(d)
	b.around(d)
	if v.provenance {
		b.provenance(d)
	}
	b.blank()
	b.sides(a)
	b.fields(a)
	if b.hidden {
		b.lines = append([]line{{roleWarn, "! characters that a terminal would obey, or not show, were taken out of this text", true}}, b.lines...)
	}
	doc.lines = b.lines
	return doc
}

func (b *docBuilder) clean(s string, limit int) string {
	out, hidden := cleanLine(s, limit)
	b.hidden = b.hidden || hidden
	return out
}

func (b *docBuilder) add(r role, text string)  { b.lines = append(b.lines, line{r, text, false}) }
func (b *docBuilder) flow(r role, text string) { b.lines = append(b.lines, line{r, text, true}) }
func (b *docBuilder) blank()                   { b.add(rolePlain, "") }

// pair is a line of a name and a value; values line up.
func (b *docBuilder) pair(r role, name, value string) {
	b.flow(r, fmt.Sprintf("%-7s %s", name, value))
}

func (b *docBuilder) head(d core.Detail) {
	a := d.Action
	sign, signRole := stateSign(a.Summary())
	state := string(a.State)
	if word := stateWord(a.Summary()); word != "" {
		state = word
	}
	r := rolePlain
	risk := string(a.Risk()) + " risk"
	if a.Risk() == core.RiskHigh {
		r, risk = roleDanger, "▲ high risk: "+riskWhy(a)
	}
	if signRole == rolePlain {
		signRole = roleMuted
	}
	b.flow(signRole, fmt.Sprintf("%s %s · %s · %s · %s · %s", sign, state, age(b.now, a.CreatedAt),
		b.clean(a.Gatekeeper, 40), a.Binding, a.Draft.Lane))
	b.flow(r, risk)
	b.pair(rolePlain, "by", b.clean(callerLine(a.Caller), 200)+", in "+b.clean(d.SessionName, 100))
	if a.Reason != "" {
		b.pair(roleWarn, "reason", b.clean(a.Reason, reasonLimit))
	}
	if a.Draft.LaneReason != "" {
		b.pair(roleMuted, "lane", b.clean(a.Draft.LaneReason, reasonLimit))
	}
	if a.DecidedBy != "" {
		b.pair(roleMuted, "decided", fmt.Sprintf("by %s, %s", b.clean(string(a.DecidedBy), 60), ago(b.now, a.DecidedAt)))
	}
}

// riskWhy names every ground for a high risk (kernel R26).
func riskWhy(a core.Action) string {
	var why []string
	for _, ground := range []struct {
		holds bool
		text  string
	}{
		{a.Draft.Irreversible, "cannot be undone"},
		{a.Draft.CostsMoney, "costs money"},
		{a.Draft.WidensTrust, "widens what is trusted"},
		{a.Drift != core.DriftNone, "changed since it was made"},
		{a.Draft.Lane == core.LaneAwait && len(a.Draft.Fields) == 0, "there is no preview"},
	} {
		if ground.holds {
			why = append(why, ground.text)
		}
	}
	return strings.Join(why, ", ")
}

func callerLine(c core.Caller) string {
	var parts []string
	switch {
	case c.Name != "":
		parts = append(parts, c.Name)
	case c.Kind == core.CallerPerson:
		parts = append(parts, string(c.Person))
	default:
		parts = append(parts, string(c.Kind))
	}
	if c.Turn > 0 {
		parts = append(parts, fmt.Sprintf("turn %d step %d", c.Turn, c.Step))
	}
	return strings.Join(parts, ", ")
}

// around shows what an action stands on, and what stands on it.
func (b *docBuilder) around(d core.Detail) {
	b.reverts(d)
	for _, base := range d.Base {
		b.pair(roleMuted, "base", b.base(base))
	}
	for _, ref := range d.Refs {
		name := "after"
		if ref.Needs {
			name = "needs"
		}
		what := fmt.Sprintf("#%d %s (%s)", ref.Provider, b.clean(ref.Title, titleLimit), ref.State)
		if ref.Bound != "" {
			what += " → " + b.clean(ref.Bound, 200)
		}
		b.pair(refRole(ref.State), name, what)
	}
	if len(d.Dependants) > 0 {
		var needs, after []core.ActionID
		for _, dep := range d.Dependants {
			if dep.Needs {
				needs = append(needs, dep.Action)
			} else {
				after = append(after, dep.Action)
			}
		}
		if len(needs) > 0 {
			b.pair(roleMuted, "behind", idList(needs)+" cannot happen without it")
		}
		if len(after) > 0 {
			b.pair(roleMuted, "later", idList(after)+" on the same target")
		}
	}
	if unit := d.Unit.Unit; !unit.IsZero() {
		b.pair(roleMuted, "seen by", b.clean("who may "+orRead(d.Unit.Permission)+" "+unit.String(), 300))
	}
}

func orRead(permission string) string {
	if permission == "" {
		return "read"
	}
	return permission
}

func refRole(s core.State) role {
	switch s {
	case core.StateApplied, core.StatePending, core.StateClaimed:
		return roleMuted
	}
	return roleWarn
}

func (b *docBuilder) base(s core.BaseState) string {
	target := b.clean(s.Target, 200)
	switch {
	case s.Absent:
		return target + ": does not exist yet"
	case s.ResultOf != 0 && s.Resolved != "":
		return fmt.Sprintf("%s: result of #%d, %s", target, s.ResultOf, short(b.clean(s.Resolved, 80)))
	case s.ResultOf != 0:
		return fmt.Sprintf("%s: result of #%d", target, s.ResultOf)
	}
	return target + ": " + short(b.clean(s.Version, 80))
}

// short cuts a long hash so that a person can compare its beginning.
func short(s string) string {
	if len(s) > 20 && ascii(s) {
		return s[:16] + "…"
	}
	return s
}

// provenance is the whole way an action came here.
func (b *docBuilder) provenance(d core.Detail) {
	a := d.Action
	b.blank()
	b.add(roleHunk, "where it comes from")
	b.pair(rolePlain, "made", a.CreatedAt.Format("2006-01-02 15:04:05")+" by "+string(a.Caller.Kind)+" "+b.clean(a.Caller.Name, 100))
	if a.Caller.Person != "" {
		b.pair(rolePlain, "for", b.clean(string(a.Caller.Person), 60))
	}
	if a.Caller.CallID != "" {
		b.pair(rolePlain, "call", b.clean(a.Caller.CallID, 100))
	}
	b.pair(rolePlain, "method", b.clean(string(a.Binding)+"."+a.Method, 100))
	b.pair(rolePlain, "digest", a.Digest.String())
	b.pair(rolePlain, "at", b.clean(a.Resource, 300))
	for _, target := range a.Draft.Targets {
		b.pair(rolePlain, "touches", b.clean(target, 300))
	}
	if a.Rule != "" {
		b.pair(rolePlain, "rule", b.clean(a.Rule, 100))
	}
	b.pair(rolePlain, "read", plural(len(d.Observed), "unit", "units")+" before it")
	for i, unit := range d.Observed {
		if i == 100 {
			b.flow(roleMuted, fmt.Sprintf("        and %d more", len(d.Observed)-i))
			break
		}
		b.flow(roleMuted, "        "+b.clean(unit.String(), 300))
	}
}

// fields shows everything that will be sent, before and after.
func (b *docBuilder) fields(a core.Action) {
	if len(a.Draft.Fields) == 0 {
		b.flow(roleWarn, "there is no preview of what will be sent")
	}
	for _, f := range a.Draft.Fields {
		b.field(a, f)
	}
}

func (b *docBuilder) field(a core.Action, f core.Field) {
	name := b.clean(f.Name, 80)
	isBytes := b.bytes[byteField{a.Gatekeeper, a.Draft.Kind, f.Name}]
	before, after := b.value(f.Before, isBytes), b.value(f.After, isBytes)
	if len(before) <= 1 && len(after) <= 1 && len(first(before))+len(first(after)) < 120 {
		switch {
		case bytes.Equal(f.Before, f.After):
			b.flow(rolePlain, fmt.Sprintf(" %s: %s", name, first(after)))
		default:
			if before != nil {
				b.flow(roleRemoved, fmt.Sprintf("-%s: %s", name, first(before)))
			}
			if after != nil {
				b.flow(roleAdded, fmt.Sprintf("+%s: %s", name, first(after)))
			}
		}
		return
	}
	if last := len(b.lines) - 1; last >= 0 && b.lines[last].text != "" {
		b.blank()
	}
	b.add(roleMuted, fmt.Sprintf("── %s, %s", name, change(before, after)))
	defer b.blank()
	if bytes.Equal(f.Before, f.After) {
		for _, text := range after {
			b.add(rolePlain, " "+text)
		}
		return
	}
	b.lines = append(b.lines, diffLines(before, after, b.view.context)...)
}

func change(before, after []string) string {
	switch {
	case before == nil:
		return "new, " + plural(len(after), "line", "lines")
	case after == nil:
		return "removed, " + plural(len(before), "line", "lines")
	}
	return fmt.Sprintf("%s → %s", plural(len(before), "line", "lines"), plural(len(after), "line", "lines"))
}

func first(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[0]
}

// value makes lines of a JSON value: strings as their text, the rest as JSON
// that people can read. Nil is absent.
func (b *docBuilder) value(raw json.RawMessage, isBytes bool) []string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		if isBytes {
			s = decoded(s)
		}
		return b.body(s)
	}
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return b.body(string(raw))
	}
	return b.body(out.String())
}

func (b *docBuilder) body(s string) []string {
	lines, hidden := cleanLines(s)
	b.hidden = b.hidden || hidden
	return lines
}

// decoded shows base64 that holds text as that text, and other bytes as a note.
func decoded(s string) string {
	raw, err := base64.StdEncoding.DecodeString(s)
	switch {
	case err != nil:
		return s
	case utf8.Valid(raw):
		return string(raw)
	}
	return fmt.Sprintf("(%s that are no text)", plural(len(raw), "byte", "bytes"))
}

// byteFields are the fields that drivers declare as bytes.
type byteFields map[byteField]bool

type byteField struct{ gatekeeper, kind, field string }

func newByteFields(manifests []core.Manifest) byteFields {
	set := make(byteFields)
	for _, m := range manifests {
		for _, kind := range m.Kinds {
			for _, f := range kind.Fields {
				if f.Type == core.TypeBytes {
					set[byteField{m.Kind, kind.Name, f.Name}] = true
				}
			}
		}
	}
	return set
}

func (b *docBuilder) question(d core.Detail) *document {
	q := d.Question
	doc := &document{id: q.ID, version: q.Version}
	doc.title = b.clean(q.Text, titleLimit)
	doc.state = core.Summary{ID: q.ID, Kind: core.QueueKindQuestion, State: core.State(q.State), Session: q.Session, CreatedAt: q.AskedAt}
	b.flow(roleAccent, fmt.Sprintf("◆ question · %s · %s", q.State, age(b.now, q.AskedAt)))
	b.pair(rolePlain, "by", b.clean(callerLine(q.Caller), 200)+", in "+b.clean(d.SessionName, 100))
	b.blank()
	for _, text := range b.body(q.Text) {
		b.flow(rolePlain, text)
	}
	b.blank()
	for i, choice := range q.Choices {
		b.flow(rolePlain, fmt.Sprintf("%d  %s", i+1, b.clean(choice, 200)))
	}
	if q.Answer != "" {
		b.pair(roleGood, "answer", b.clean(q.Answer, reasonLimit))
	}
	if q.State == core.QuestionOpen {
		b.blank()
		b.flow(roleMuted, "A answers it")
	}
	doc.lines = b.lines
	return doc
}
