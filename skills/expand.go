package skills

import (
	"fmt"
	"regexp"
	"strings"

	"gatehouse/core/text"
)

// ExpansionLimit is how large an expansion may be, in bytes, its wrapper
// counted.
const ExpansionLimit = 128 << 10

const (
	wrapperTag  = "gatehouse-skill"
	placeholder = "$ARGUMENT"
)

// Expand returns what a message that calls the skill becomes: its text with the
// arguments in place, cleaned, between tags that say whose it is and that
// nothing inside can close. The person sees it before it is sent.
func Expand(c Collection, d Document, args string) (string, error) {
	skill, ok, _ := Inspect(d)
	if !ok {
		return "", noLongerAvailable(d.Ref)
	}
	body := strings.TrimSpace(string(d.Bytes[skill.Body:]))
	places := countPlaceholders(body)
	// Asked before anything is put together: many places and long arguments make more than fits in memory.
	if size := len(body) + max(places, 1)*len(args); size > ExpansionLimit+places*len(placeholder+"S") {
		return "", expansionTooLarge(d.Ref, size)
	}
	switch {
	case places > 0:
		body = replacePlaceholders(body, args)
	case args != "":
		body += "\n\nArguments: " + args
	}
	clean, _ := text.CleanBlock(body)
	whole := fmt.Sprintf("<%s name=%s id=%s origin=%s author=%s sha256=%s>\n%s\n</%s>\n", wrapperTag,
		attribute(skill.Frontmatter.Name), attribute(d.Ref.String()), attribute(c.Source.String()),
		attribute(string(d.Author)), attribute(d.SHA256), disarm(clean), wrapperTag)
	if len(whole) > ExpansionLimit {
		return "", expansionTooLarge(d.Ref, len(whole))
	}
	return whole, nil
}

func expansionTooLarge(ref Ref, size int) error {
	return &RefusedError{
		Code: CodeSkillTooLarge, Text: fmt.Sprintf("skill %s: expands to %d bytes, at most %d", shown(ref.String()), size, ExpansionLimit),
		Hint: "give shorter arguments, or let the agent read the document in windows",
	}
}

// noLongerAvailable is for a skill that was there when it was listed. It says
// the same of one that was deleted and of one that may no longer be read.
func noLongerAvailable(ref Ref) error {
	return &RefusedError{Code: CodeNotFound, Text: "skill " + shown(ref.String()) + ": no longer available", Hint: "nothing was sent; list the skills again"}
}

// nextPlaceholder returns where the next $ARGUMENT or $ARGUMENTS begins and
// ends. One that goes on as a longer word is none.
func nextPlaceholder(s string) (start, end int, found bool) {
	for from := 0; ; {
		at := strings.Index(s[from:], placeholder)
		if at < 0 {
			return 0, 0, false
		}
		start = from + at
		end = start + len(placeholder)
		if end < len(s) && s[end] == 'S' {
			end++
		}
		if end == len(s) || !wordByte(s[end]) && s[end] != '_' {
			return start, end, true
		}
		from = end
	}
}

func countPlaceholders(s string) int {
	n := 0
	for {
		_, end, found := nextPlaceholder(s)
		if !found {
			return n
		}
		n++
		s = s[end:]
	}
}

func replacePlaceholders(s, args string) string {
	var b strings.Builder
	for {
		start, end, found := nextPlaceholder(s)
		if !found {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:start])
		b.WriteString(args)
		s = s[end:]
	}
}

// disarm takes from a cleaned text whatever could pass for one of our tags.
func disarm(s string) string {
	tag := regexp.MustCompile(`(?i)<(\s*/?\s*` + wrapperTag + `)`)
	return tag.ReplaceAllString(s, `<\$1`)
}

func attribute(s string) string {
	return `"` + strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;").Replace(oneLine(s)) + `"`
}
