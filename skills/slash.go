package skills

import (
	"slices"
	"strings"
	"unicode"
)

// Command is a message that calls a skill or a built-in.
type Command struct {
	Name       string
	Collection CollectionID // empty if the message names none
	Args       string       // trimmed, otherwise as written
}

// Message is what a person typed, taken apart: a command, or text to send.
type Message struct {
	Command *Command // nil for text
	Text    string   // of text, without the slash that escapes one
}

const escapeHint = "begin with // to send a text that starts with a slash"

// ParseMessage reads the start of a message. /name args is a command,
// /name:collection args one in that collection; // is a slash. Anything else
// that begins with a slash is refused, so that no misspelt command is sent to
// a model.
func ParseMessage(s string) (Message, error) {
	rest, slash := strings.CutPrefix(s, "/")
	switch {
	case !slash:
		return Message{Text: s}, nil
	case strings.HasPrefix(rest, "/"):
		return Message{Text: rest}, nil
	}
	word, args := rest, ""
	if end := strings.IndexFunc(rest, unicode.IsSpace); end >= 0 {
		word, args = rest[:end], strings.TrimSpace(rest[end:])
	}
	name, collection, named := strings.Cut(word, ":")
	switch {
	case name == "" || len(name) > NameLimit || badNameAt(name) >= 0:
		return Message{}, &RefusedError{Code: CodeBadCommand, Text: "command " + shown("/"+word) + ": not the name of a skill", Hint: escapeHint}
	case named && CheckCollectionID(CollectionID(collection)) != nil:
		return Message{}, &RefusedError{
			Code: CodeBadCommand, Text: "command " + shown("/"+word) + ": no collection can be named so", Hint: "write /" + name + ":COLLECTION",
		}
	}
	return Message{Command: &Command{Name: name, Collection: CollectionID(collection), Args: args}}, nil
}

// Target is what a command means: a built-in, or a skill.
type Target struct {
	Builtin string // empty for a skill
	Skill   Skill
}

// Resolve finds what the command means among the skills that the person may
// read. A built-in wins, unless the command names a collection.
func Resolve(c Command, skills []Skill) (Target, error) {
	if c.Collection == "" && slices.Contains(Builtins(), c.Name) {
		return Target{Builtin: c.Name}, nil
	}
	var found []Skill
	for _, s := range skills {
		if s.Frontmatter.Name == c.Name && s.Frontmatter.UserInvocable && (c.Collection == "" || c.Collection == s.Ref.Collection) {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b Skill) int { return compareRefs(a.Ref, b.Ref) })
	switch len(found) {
	case 0:
		return Target{}, &RefusedError{Code: CodeNotFound, Text: "command " + shown(c.word()) + ": no such skill", Hint: escapeHint}
	case 1:
		return Target{Skill: found[0]}, nil
	}
	refused := &RefusedError{
		Code: CodeAmbiguousSkill, Text: "command " + shown(c.word()) + ": several skills have this name",
		Hint: "choose one, or write /" + c.Name + ":COLLECTION",
	}
	for _, s := range found {
		refused.Choices = append(refused.Choices, s.Ref)
	}
	return Target{}, refused
}

func (c Command) word() string {
	if c.Collection == "" {
		return "/" + c.Name
	}
	return "/" + c.Name + ":" + string(c.Collection)
}
