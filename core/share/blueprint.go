package share

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gatehouse/core"
	"gatehouse/core/text"
)

// Limits of a blueprint. What is above is refused, made or read.
const (
	BlueprintLimit      = 256 << 10 // bytes of the file
	InstructionsLimit   = 64 << 10  // bytes
	blueprintTitle      = 200       // code points
	blueprintBindings   = 64
	blueprintOperations = 256 // of one binding
	blueprintSkills     = 256
	blueprintSource     = 500 // code points
)

const blueprintVersion = 1

// blueprintHead is what a blueprint begins with: a person who opens the file reads what it is.
const blueprintHead = `# A Gatehouse blueprint: shapes of bindings, references to skills, instructions.
# It is not signed and holds no data. Read all of it before you make a session of
# it with gatehouse blueprint new.
`

// EncodeBlueprint writes a blueprint in its one form: the same bytes for the same blueprint.
func EncodeBlueprint(b core.Blueprint) ([]byte, error) {
	b.Instructions = instructionsForm(b.Instructions)
	if err := checkBlueprint(b); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString(blueprintHead)
	fmt.Fprintf(&out, "%s: %d\n", keyVersion, blueprintVersion)
	if b.Title != "" {
		fmt.Fprintf(&out, "%s: %s\n", keyTitle, quoted(b.Title))
	}
	if len(b.Bindings) > 0 {
		out.WriteString(keyBindings + ":\n")
	}
	for _, one := range b.Bindings {
		fmt.Fprintf(&out, "  - name: %s\n    gatekeeper: %s\n    form: %s\n    operations: [", quoted(string(one.Name)), quoted(one.Gatekeeper), quoted(one.Form))
		for i, op := range one.Operations {
			if i > 0 {
				out.WriteString(", ")
			}
			out.WriteString(quoted(op))
		}
		out.WriteString("]\n")
	}
	if len(b.Skills) > 0 {
		out.WriteString(keySkills + ":\n")
	}
	for _, one := range b.Skills {
		switch {
		case one.Hole():
			out.WriteString("  - hole: \"a collection that is not for everybody\"\n")
		case one.Source == "":
			fmt.Fprintf(&out, "  - collection: %s\n", quoted(one.Collection))
		default:
			fmt.Fprintf(&out, "  - collection: %s\n    source: %s\n", quoted(one.Collection), quoted(one.Source))
		}
	}
	if b.Instructions != "" {
		out.WriteString(keyInstructions + ": |2\n")
		for line := range strings.Lines(b.Instructions) {
			if line != "\n" {
				out.WriteString("  ")
			}
			out.WriteString(line)
		}
	}
	if out.Len() > BlueprintLimit {
		return nil, core.Invalid("blueprint: %d bytes, %d at most", out.Len(), BlueprintLimit)
	}
	// What reads back as something else is not written: no text of anybody may become a field.
	back, err := ParseBlueprint(out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("blueprint: cannot be written: %w", err)
	}
	if !sameBlueprint(b, back) {
		return nil, core.Invalid("blueprint: holds characters that a file of this kind cannot carry; write the instructions in plain text")
	}
	return out.Bytes(), nil
}

// quoted is a string as JSON writes it, which YAML reads too.
func quoted(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string never fails
	return strings.TrimSuffix(b.String(), "\n")
}

// instructionsForm ends every line with one line feed and leaves out empty lines at the end.
func instructionsForm(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	s = strings.Trim(strings.Join(lines, "\n"), "\n")
	if s == "" {
		return ""
	}
	return s + "\n"
}

func sameBlueprint(a, b core.Blueprint) bool {
	return a.Title == b.Title && a.Instructions == b.Instructions && slices.Equal(a.Skills, b.Skills) &&
		slices.EqualFunc(a.Bindings, b.Bindings, func(a, b core.BlueprintBinding) bool {
			return a.Name == b.Name && a.Gatekeeper == b.Gatekeeper && a.Form == b.Form && slices.Equal(a.Operations, b.Operations)
		})
}

// BlueprintDigest names the bytes of a blueprint in the record.
func BlueprintDigest(raw []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(raw)) }

// checkBlueprint holds a blueprint against what one may be, made here or read.
func checkBlueprint(b core.Blueprint) error {
	if err := cleanText("title", b.Title, blueprintTitle); err != nil {
		return err
	}
	if len(b.Instructions) > InstructionsLimit {
		return core.Invalid("instructions: %d bytes, %d at most", len(b.Instructions), InstructionsLimit)
	}
	if line := uncleanLine(b.Instructions); line > 0 {
		return core.Invalid("instructions, line %d: holds characters that cannot be seen; write plain text", line)
	}
	switch {
	case len(b.Bindings) > blueprintBindings:
		return core.Invalid("blueprint: %d bindings, %d at most", len(b.Bindings), blueprintBindings)
	case len(b.Skills) > blueprintSkills:
		return core.Invalid("blueprint: %d skills, %d at most", len(b.Skills), blueprintSkills)
	}
	seen := make(map[core.BindingName]bool)
	for _, one := range b.Bindings {
		if err := checkShape(one); err != nil {
			return err
		}
		if seen[one.Name] {
			return core.Invalid("binding %s: stands twice", one.Name)
		}
		seen[one.Name] = true
	}
	for _, one := range b.Skills {
		if err := cleanText("collection", one.Collection, blueprintSource); err != nil {
			return err
		}
		if err := cleanText("source", one.Source, blueprintSource); err != nil {
			return err
		}
		if one.Hole() && one.Source != "" {
			return core.Invalid("skills: a source without its collection")
		}
	}
	return nil
}

func checkShape(one core.BlueprintBinding) error {
	if _, err := core.ParseBindingName(string(one.Name)); err != nil {
		return err
	}
	if err := core.CheckBlueprintWord(one.Gatekeeper); err != nil {
		return fmt.Errorf("binding %s, gatekeeper %w", one.Name, err)
	}
	if err := core.CheckForm(one.Form); err != nil {
		return fmt.Errorf("binding %s, %w", one.Name, err)
	}
	if len(one.Operations) > blueprintOperations {
		return core.Invalid("binding %s: %d operations, %d at most", one.Name, len(one.Operations), blueprintOperations)
	}
	for _, op := range one.Operations {
		if err := core.CheckBlueprintWord(op); err != nil {
			return fmt.Errorf("binding %s, operation %w", one.Name, err)
		}
	}
	return nil
}

func cleanText(what, s string, most int) error {
	clean, hidden := text.CleanLine(s, text.NoLimit)
	switch {
	case hidden || clean != s:
		return core.Invalid("%s %q: not one plain line", what, clean)
	case utf8.RuneCountInString(s) > most:
		return core.Invalid("%s: %d characters, %d at most", what, utf8.RuneCountInString(s), most)
	}
	return nil
}

// uncleanLine is the first line, from 1, that is not what a person sees; 0 where there is none.
func uncleanLine(s string) int {
	for i, line := range strings.Split(s, "\n") {
		if clean, hidden := text.CleanBlock(line); hidden || clean != line || strings.ContainsAny(line, "\u0085\u2028\u2029") {
			return i + 1
		}
	}
	return 0
}

// ScanBlueprint looks for the shapes of secrets in every string of a blueprint.
func (s *Scanner) ScanBlueprint(b core.Blueprint) []Finding {
	w := &walk{scanner: s, found: make(map[[2]string]int)}
	w.text(b.Title, "title", false)
	// Line by line for its place, and whole for what goes over several.
	for i, line := range strings.Split(b.Instructions, "\n") {
		at := fmt.Sprintf("instructions, line %d", i+1)
		w.text(line, at, false)
		if slices.ContainsFunc(strings.Fields(line), absolutePath) {
			w.note(at, []string{"path that only one machine has"})
		}
	}
	if w.total == 0 {
		w.text(b.Instructions, "instructions", false)
	}
	for _, one := range b.Bindings {
		for _, part := range append([]string{string(one.Name), one.Gatekeeper, one.Form}, one.Operations...) {
			w.text(part, "binding "+string(one.Name), false)
		}
	}
	for i, one := range b.Skills {
		w.text(one.Collection, fmt.Sprintf("skill %d, collection", i+1), false)
		w.text(one.Source, fmt.Sprintf("skill %d, source", i+1), false)
	}
	return w.findings()
}

// absolutePath reports a word that leads to a place on somebody's machine.
func absolutePath(word string) bool {
	word = strings.TrimLeft(word, "\"'`(<[{=:")
	if strings.HasPrefix(word, "file://") || len(word) > 3 && word[1:3] == `:\` {
		return true
	}
	first, rest, _ := strings.Cut(strings.TrimPrefix(word, "/"), "/")
	return strings.HasPrefix(word, "/") && rest != "" && slices.Contains([]string{
		"home", "Users", "root", "srv", "var", "etc", "opt", "tmp", "mnt", "media", "usr", "private", "data", "Volumes",
	}, first)
}
