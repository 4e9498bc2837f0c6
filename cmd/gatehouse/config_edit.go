package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"gatehouse/tui"
)

// setting is one value that is to stand in the file.
type setting struct{ key, value string }

// planEdit says how the configuration file would read with other values. It
// changes text: comments, order and everything else stay as they are.
func planEdit(path string, wanted []setting) (tui.ConfigEdit, error) {
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return tui.ConfigEdit{}, invalidFile("", "configuration %s: %s", path, reason(err))
	}
	edit := tui.ConfigEdit{Path: path, Before: string(content), After: string(content)}
	if _, err := checkFile(path, content, configKeys()); err != nil {
		return edit, err
	}
	for _, w := range wanted {
		if edit.After, err = setText(edit.After, w); err != nil {
			return edit, invalidFile("write them by hand: "+spelled(wanted), "configuration %s: %s", path, err)
		}
	}
	// What was made of the text is read back: it says what was wanted, and the
	// rest says what it said.
	before, after := valuesOf([]byte(edit.Before)), valuesOf([]byte(edit.After))
	for _, w := range wanted {
		if after[w.key] != w.value {
			return edit, invalidFile("write them by hand: "+spelled(wanted), "configuration %s: cannot be changed line by line", path)
		}
		delete(before, w.key)
		delete(after, w.key)
	}
	if fmt.Sprint(before) != fmt.Sprint(after) {
		return edit, invalidFile("write them by hand: "+spelled(wanted), "configuration %s: cannot be changed line by line", path)
	}
	_, err = checkFile(path, []byte(edit.After), configKeys())
	return edit, err
}

func spelled(wanted []setting) string {
	words := make([]string, len(wanted))
	for i, w := range wanted {
		words[i] = w.key + ": " + w.value
	}
	return strings.Join(words, ", ")
}

// valuesOf are the scalars of a file, by dotted key.
func valuesOf(content []byte) map[string]string {
	out := map[string]string{}
	var document yaml.Node
	if yaml.Unmarshal(content, &document) != nil || len(document.Content) == 0 {
		return out
	}
	var walk func(n *yaml.Node, at string)
	walk = func(n *yaml.Node, at string) {
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				walk(n.Content[i+1], strings.TrimPrefix(at+"."+n.Content[i].Value, "."))
			}
		case yaml.SequenceNode:
			for i, one := range n.Content {
				walk(one, fmt.Sprintf("%s[%d]", at, i))
			}
		default:
			out[at] = n.Value
		}
	}
	walk(document.Content[0], "")
	return out
}

// setText puts one value into the text of a file that was checked.
func setText(content string, w setting) (string, error) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(content), &document); err != nil {
		return "", err
	}
	group, name, grouped := strings.Cut(w.key, ".")
	if !grouped {
		group, name = "", w.key
	}
	quoted, err := json.Marshal(w.value) // a JSON string is a YAML one
	if err != nil {
		return "", err
	}
	lines := strings.SplitAfter(content, "\n")
	top := &yaml.Node{}
	if len(document.Content) > 0 {
		top = document.Content[0]
	}
	in := top
	if grouped {
		in = child(top, group)
	}
	switch {
	case in == nil: // the group is not there yet
		return ended(content) + group + ":\n  " + name + ": " + string(quoted) + "\n", nil
	case in.Style&yaml.FlowStyle != 0:
		return "", fmt.Errorf("line %d holds several keys", in.Line)
	}
	if value := child(in, name); value != nil {
		at := value.Line - 1
		line := strings.TrimRight(lines[at], "\r\n")
		lead, rest := line[:value.Column-1], line[value.Column-1:]
		comment := ""
		if value.LineComment != "" {
			if i := strings.LastIndex(rest, value.LineComment); i > 0 {
				comment = rest[len(strings.TrimRight(rest[:i], " \t")):]
			}
		}
		lines[at] = lead + string(quoted) + comment + lines[at][len(line):]
		return strings.Join(lines, ""), nil
	}
	if !grouped {
		return ended(content) + name + ": " + string(quoted) + "\n", nil
	}
	at := lineOf(top, group) // below the name of the group, so that comments stay with their keys
	fresh := strings.Repeat(" ", in.Content[0].Column-1) + name + ": " + string(quoted) + "\n"
	return strings.Join(lines[:at], "") + fresh + strings.Join(lines[at:], ""), nil
}

func child(n *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

// lineOf is the line of a key, from 1.
func lineOf(n *yaml.Node, name string) int {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i].Line
		}
	}
	return 0
}

func ended(content string) string {
	if content == "" || strings.HasSuffix(content, "\n") {
		return content
	}
	return content + "\n"
}

// writeEdit puts an edit into effect, unless the file is no longer what it was
// when the edit was shown. It is replaced in one step.
func writeEdit(e tui.ConfigEdit) error {
	if real, err := filepath.EvalSymlinks(e.Path); err == nil {
		e.Path = real
	}
	content, err := os.ReadFile(e.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return invalidFile("", "configuration %s: %s", e.Path, reason(err))
	}
	if !bytes.Equal(content, []byte(e.Before)) {
		return invalidFile("look at the difference again", "configuration %s: was changed since it was shown", e.Path)
	}
	if err := os.MkdirAll(filepath.Dir(e.Path), 0o700); err != nil {
		return invalidFile("", "configuration %s: %s", e.Path, reason(err))
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(e.Path); err == nil {
		mode = info.Mode().Perm()
	}
	fresh, err := os.CreateTemp(filepath.Dir(e.Path), ".config-*")
	if err != nil {
		return invalidFile("", "configuration %s: %s", e.Path, reason(err))
	}
	_, err = fresh.WriteString(e.After)
	err = errors.Join(err, fresh.Chmod(mode), fresh.Sync(), fresh.Close())
	if err == nil {
		err = os.Rename(fresh.Name(), e.Path)
	}
	if err != nil {
		_ = os.Remove(fresh.Name()) // nothing of it stays; the error says why
		return invalidFile("", "configuration %s: %s", e.Path, reason(err))
	}
	return nil
}
