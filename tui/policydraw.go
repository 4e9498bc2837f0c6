package tui

import (
	"fmt"
	"strings"
)

func (v *policyView) draw(r rect) []string {
	t := &v.a.theme
	names := []string{"rules", "what would happen if", "what left"}
	names[v.part] = strings.ToUpper(names[v.part][:1]) + names[v.part][1:]
	title := "Policy over what leaves · " + names[v.part]
	note := "] " + names[(v.part+1)%policyParts]
	if columns(title)+columns(note)+8 > r.w {
		title = "Policy · " + names[v.part]
	}
	lines := []string{t.rule(r.w, roleTitle, title, note)}
	say := func(role role, text string) {
		for _, part := range wrap(text, r.w-4) {
			lines = append(lines, t.spans(r.w, span{role, "   " + part}))
		}
	}
	switch {
	case v.err != "" && !v.loaded:
		lines = append(lines, spaces(r.w))
		say(roleDanger, v.err)
		say(roleMuted, "r tries again")
		return fill(lines, r)
	case !v.loaded:
		lines = append(lines, spaces(r.w))
		say(roleMuted, "looking…")
		return fill(lines, r)
	}
	room := rect{r.w, r.h - 1}
	switch v.part {
	case policyRules:
		lines = append(lines, v.drawRules(room)...)
	case policyTry:
		lines = append(lines, v.drawTry(room)...)
	default:
		lines = append(lines, v.drawLeft(room)...)
	}
	return fill(lines, r)
}

// drawRules draws the tiers, and below them the rule under the cursor whole.
func (v *policyView) drawRules(r rect) []string {
	t := &v.a.theme
	var rows []string
	cursorLine, tier := 0, ""
	for i, one := range v.rules {
		if one.tier != tier {
			tier = one.tier
			rows = append(rows, t.spans(r.w, span{roleMuted, "  " + tierSentence(tier)}))
		}
		cursor := i == v.at[policyRules]
		role := rolePlain
		if cursor {
			role, cursorLine = roleCursor, len(rows)
		}
		rows = append(rows, t.spans(r.w, span{roleAccent, flag(cursor, "▸") + "   "},
			span{decisionRole(one.decide), pad(string(one.decide), 6)}, span{role, " " + pad(one.name, min(30, r.w/2)) + "  "},
			span{roleMuted, or(one.when, "always")}))
	}
	below := v.wholeRule(r.w)
	room := max(r.h-len(below), 2)
	if cursorLine == 1 {
		cursorLine = 0
	}
	v.top[policyRules] = inSight(v.top[policyRules], cursorLine, room-1)
	if cursorLine == 0 {
		v.top[policyRules] = 0
	}
	from := max(min(v.top[policyRules], len(rows)-room), 0)
	return append(fill(rows[from:], rect{r.w, room}), below...)
}

func tierSentence(tier string) string {
	switch tier {
	case "fixed":
		return "fixed: no configuration changes these"
	case "configured":
		return "configured: stand over what is shipped"
	case "shipped":
		return "shipped: hold where nothing else is configured"
	}
	clean, _ := cleanLine(tier, 60)
	return clean
}

func (v *policyView) wholeRule(w int) []string {
	at := v.at[policyRules]
	if at >= len(v.rules) {
		return nil
	}
	t, one := &v.a.theme, v.rules[at]
	lines := []string{t.rule(w, rolePlain, one.name, one.tier)}
	parts := wrap(string(one.decide)+" when "+or(one.when, "always"), w-4)
	for i, part := range parts {
		if i == 4 {
			break
		}
		lines = append(lines, t.spans(w, span{decisionRole(one.decide), "  " + part}))
	}
	return lines
}

// drawTry draws the answer over the question, so that it is seen on the
// smallest screen.
func (v *policyView) drawTry(r rect) []string {
	t := &v.a.theme
	role, text, below := v.answer()
	lines := []string{t.spans(r.w, span{role, " ⇒ " + text}), t.spans(r.w, span{roleMuted, "   " + below})}
	fields := v.asked.fields()
	room := max(r.h-len(lines), 1)
	at := v.at[policyTry]
	v.top[policyTry] = inSight(v.top[policyTry], at, room)
	for i := max(min(v.top[policyTry], len(fields)-room), 0); i < len(fields) && len(lines) < r.h; i++ {
		f, cursor := fields[i], i == at
		role := rolePlain
		switch {
		case cursor:
			role = roleCursor
		case f.of:
			role = roleMuted
		}
		lines = append(lines, t.spans(r.w, span{roleAccent, flag(cursor, "▸") + "  "}, span{roleMuted, pad(f.name, 16)}, span{role, f.value}))
	}
	for _, l := range v.filledIn() {
		for _, part := range wrapHanging(l, r.w-4, 17) {
			if len(lines) == 11 {
				lines = append(lines, spaces(r.w))
			}
			lines = append(lines, t.spans(r.w, span{roleMuted, "   " + part}))
		}
	}
	return fill(lines, r)
}

// filledIn says what the session added to the question.
func (v *policyView) filledIn() []string {
	if v.asked.session == "" || !v.tried || v.tryFault != "" {
		return nil
	}
	f := v.found
	labels, _ := cleanLine(strings.Join(f.Labels, ", "), titleLimit)
	out := []string{
		pad("has read", 16) + " " + plural(len(f.Units), "unit", "units"),
		pad("their labels", 16) + " " + or(labels, "none"),
		pad("latched", 16) + " " + yes(f.Latched),
		pad("allowed before", 16) + " " + yes(f.Known),
	}
	for i, m := range f.Matches {
		if i == 5 {
			out = append(out, fmt.Sprintf("%s and %d more", pad("", 16), len(f.Matches)-i))
			break
		}
		clean, _ := cleanLine(m, 200)
		out = append(out, pad("labelled value", 16)+" "+clean)
	}
	return out
}

func (v *policyView) drawLeft(r rect) []string {
	t := &v.a.theme
	if len(v.left) == 0 {
		return []string{spaces(r.w), t.spans(r.w, span{roleMuted, "   Nothing has asked to leave yet."})}
	}
	var lines []string
	at := v.at[policyLeft]
	v.top[policyLeft] = inSight(v.top[policyLeft], at, r.h)
	for i := max(min(v.top[policyLeft], len(v.left)-r.h), 0); i < len(v.left) && len(lines) < r.h; i++ {
		row, cursor := v.left[i], i == at
		decision, _ := cleanLine(detailText(detailOf(row.raw.Entry)["decision"]), 10)
		rule, _ := cleanLine(row.raw.Entry.Rule, 100)
		role := rolePlain
		if cursor {
			role = roleCursor
		}
		name := min(40, r.w/3)
		lines = append(lines, t.spans(r.w, span{roleAccent, flag(cursor, "▸") + " "}, span{roleMuted, row.at + "  "},
			span{decisionRoleOf(decision), pad(or(decision, "–"), 6)}, span{role, " " + pad(row.subject, name)},
			span{roleMuted, "  " + pad(rule, 24) + "  " + pad(row.session, 24)}))
	}
	return lines
}

// decisionRoleOf is the role of a word of the record.
func decisionRoleOf(word string) role {
	switch word {
	case "allow":
		return roleGood
	case "ask":
		return roleWarn
	case "deny":
		return roleDanger
	}
	return roleMuted
}
