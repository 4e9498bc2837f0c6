package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatehouse/core"
)

// recordRow is a row of the record as it is drawn: clean, built off the loop.
type recordRow struct {
	seq     int64
	at      string // in the time zone of the person
	kind    core.EventType
	who     string
	session string
	subject string
	gist    string
	about   core.ActionID // the action or question it is about; 0 is none
	asks    bool          // it is about a question
	raw     core.Row
}

// recordWords is what rows are told with: the names of sessions, and where the
// person is.
type recordWords struct {
	names map[core.SessionID]string
	zone  *time.Location
}

// rows makes rows of what the store gave.
func (t recordWords) rows(rows []core.Row) []recordRow {
	out := make([]recordRow, len(rows))
	for i, r := range rows {
		out[i] = t.row(r)
	}
	return out
}

func (t recordWords) row(r core.Row) recordRow {
	e := r.Entry
	row := recordRow{seq: r.Seq, at: e.At.In(t.zone).Format("01-02 15:04:05"), raw: r}
	kind, _ := cleanLine(string(e.Type), 20)
	row.kind = core.EventType(kind)
	row.who, _ = cleanLine(e.Actor, 100)
	row.subject, _ = cleanLine(e.Subject, titleLimit)
	row.session, _ = cleanLine(or(t.names[e.Session], string(e.Session)), 100)
	row.about, _ = core.SubjectAction(e.Subject)
	row.asks = strings.HasPrefix(e.Subject, "question ")
	row.gist, _ = cleanLine(gistOf(e), titleLimit)
	return row
}

// sign marks what one looks for: what left, what was decided, what was refused.
func (r recordRow) sign() (string, role) {
	switch r.kind {
	case core.EventEgress, core.EventClaim:
		return "↑", roleAccent
	case core.EventDecision, core.EventPlan, core.EventAnswer:
		return "◆", roleTitle
	case core.EventBlocked:
		return "⊘", roleWarn
	case core.EventOutcome:
		return outcomeOfRow(r.raw.Entry)
	}
	return "·", roleMuted
}

func outcomeOfRow(e core.Entry) (string, role) {
	state := core.State(detailText(detailOf(e)["state"]))
	return stateSign(core.Summary{State: state})
}

// gistSkips are members of a detail that the row says elsewhere, or that only
// the opened row shows.
func gistSkips(name string, e core.Entry) bool {
	switch name {
	case "binding", "method", "action", "plan", "never_opened", "unopened", "holder", "on_denial":
		return true
	case "event":
		return e.Type == core.EventTurn || e.Type == core.EventSession // said first
	}
	return false
}

// gistOf says in a few words what a row holds: units, what its detail says, and
// the rule. Hashes are left to the opened row.
func gistOf(e core.Entry) string {
	var parts []string
	d := detailOf(e)
	if event := detailText(d["event"]); event != "" {
		parts = append(parts, event)
	}
	if verdict := detailText(d["verdict"]); verdict != "" {
		parts = append(parts, verdict)
	}
	switch len(e.Units) {
	case 0:
	case 1:
		parts = append(parts, e.Units[0].Name)
	default:
		parts = append(parts, plural(len(e.Units), "unit", "units"))
	}
	names := make([]string, 0, len(d))
	for name := range d {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		value := detailText(d[name])
		if value == "" || name == "verdict" || gistSkips(name, e) || strings.HasPrefix(value, "sha256:") {
			continue
		}
		switch name {
		case "state", "destination", "kind", "end", "code":
			parts = append(parts, value)
		default:
			parts = append(parts, strings.ReplaceAll(name, "_", " ")+" "+value)
		}
	}
	if e.Rule != "" {
		parts = append(parts, "rule "+e.Rule)
	}
	return strings.Join(parts, " · ")
}

func detailOf(e core.Entry) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(e.Detail, &members) != nil {
		return nil // the opened row shows it as it is
	}
	return members
}

// detailText is a member as a person writes it; nothing for what says nothing.
func detailText(raw json.RawMessage) string {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return ""
	}
	switch v := value.(type) {
	case string:
		return v
	case float64:
		if n, err := strconv.Atoi(string(raw)); err == nil {
			if n == 0 {
				return ""
			}
			return thousands(n)
		}
		return string(raw)
	case bool:
		if v {
			return "yes"
		}
	case []any:
		if len(v) > 0 {
			return strconv.Itoa(len(v))
		}
	}
	return ""
}

// recordDocument is an opened row: every field, what its detail holds, and how
// it hangs in the chain.
func (t recordWords) document(r recordRow) *document {
	e := r.raw.Entry
	b := &docBuilder{}
	add := func(name, value string) {
		if value != "" {
			b.flow(rolePlain, fmt.Sprintf("%-10s %s", name, b.clean(value, reasonLimit)))
		}
	}
	sign, signRole := r.sign()
	b.flow(signRole, strings.TrimSpace(sign+" "+string(r.kind)+" "+r.subject))
	b.blank()
	add("row", strconv.FormatInt(r.seq, 10))
	add("at", e.At.In(t.zone).Format("2006-01-02 15:04:05.000000000 MST"))
	add("kind", string(e.Type))
	add("session", t.session(e.Session))
	if e.Turn > 0 {
		add("turn", strconv.Itoa(e.Turn))
	}
	add("who", e.Actor)
	add("authority", e.Authority)
	add("rule", e.Rule)
	add("subject", e.Subject)
	add("digest", e.Digest)
	for i, u := range e.Units {
		name := ""
		if i == 0 {
			name = "units"
		}
		b.flow(rolePlain, fmt.Sprintf("%-10s %s", name, b.clean(u.String(), reasonLimit)))
	}
	b.blank()
	if text := b.value(e.Detail, false); len(text) > 0 {
		b.add(roleMuted, "detail")
		for _, l := range text {
			b.add(rolePlain, "  "+l)
		}
		b.blank()
	}
	add("hash", r.raw.Hash.String())
	add("previous", previousWords(r.raw))
	add("sealed", fmt.Sprintf("%s of canonical JSON, with the number and the previous hash", plural(len(r.raw.Blob), "byte", "bytes")))
	if b.hidden {
		b.lines = append([]line{{roleWarn, "! characters that a terminal would obey, or not show, were taken out of this text", true}}, b.lines...)
	}
	return &document{title: fmt.Sprintf("row %d", r.seq), lines: b.lines}
}

func previousWords(r core.Row) string {
	if r.Seq == 1 {
		return r.Prev.String() + " (there is no row before it)"
	}
	return r.Prev.String()
}

func (t recordWords) session(id core.SessionID) string {
	if name := t.names[id]; name != "" && name != string(id) {
		return name + " (" + string(id) + ")"
	}
	return string(id)
}
