package skills_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"gatehouse/core/text"
	"gatehouse/skills"
)

// yamlDisagrees says in what a full YAML parser reads an accepted file
// otherwise than we do; "" if it refuses or reads the same. The hint is raw by
// rule, and is not compared.
func yamlDisagrees(file string) string {
	p := skills.Parse([]byte(file))
	if !p.Valid() {
		return ""
	}
	text := strings.ReplaceAll(strings.TrimPrefix(file[:p.Body], "\uFEFF"), "\r\n", "\n")
	lines := strings.SplitAfter(text, "\n")
	end := len(lines) - 1
	for end > 0 && !strings.HasPrefix(lines[end], "---") {
		end--
	}
	var doc yaml.Node
	if yaml.Unmarshal([]byte(strings.Join(lines[1:end], "")), &doc) != nil {
		return ""
	}
	if doc.Kind != yaml.DocumentNode || doc.Content[0].Kind != yaml.MappingNode {
		return "YAML reads no map"
	}
	got := map[string][]string{}
	flatten(doc.Content[0], "", got)
	read := map[string][]string{}
	for _, s := range p.Scalars {
		read[s.Key] = append(read[s.Key], s.Text)
	}
	for key, texts := range read {
		if a, b := strings.Join(got[key], "\x00"), strings.Join(texts, "\x00"); a != b {
			return key + ": YAML reads " + a + ", we " + b
		}
	}
	return ""
}

func flatten(node *yaml.Node, prefix string, into map[string][]string) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := prefix+node.Content[i].Value, node.Content[i+1]
		switch value.Kind {
		case yaml.ScalarNode:
			into[key] = append(into[key], value.Value)
		case yaml.SequenceNode:
			for _, item := range value.Content {
				if item.Kind == yaml.ScalarNode {
					into[key] = append(into[key], item.Value)
				} else {
					into[key] = append(into[key], "no scalar")
				}
			}
		case yaml.MappingNode:
			if prefix == "" {
				flatten(value, key+".", into)
			}
		default:
			into[key] = append(into[key], "no scalar")
		}
	}
}

// pieces are what heads are put together from, to hit upon the odd ones.
func pieces() []string {
	return []string{
		"name: ", "description: ", "description:", "license: ", "compatibility: ", "metadata:", "allowed-tools: ", "allowed-tools:", "argument-hint: ", "other: ", "other:",
		"deploy", "x", "two words", "\n", "\n", "\n", "\n  ", "\n  ", "\n    ", "\n- ", "\n  - ", "\"", "'", "''", "\\", "\\\"", "\\u2014", "[", "]", "{", "}", ",", ", ",
		": ", ":", "#", " #", "# ", "|", ">", ">-", "|+", "|-", "- ", "-", "&a ", "*a", "!t ", "%", "@", "`", "? ", "?", "é", "日本", "\t", "  ", " ", "a: ", "b: ", "k:", "---", "~", "123", "true", "<<: ",
	}
}

func TestS37_YAMLReadsTheSame(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom(pieces()), 0, 14)
		plain := func(label string) string { return strings.Join(words.Draw(t, label), "") }
		file := "---\n" + plain("before") + "\nname: deploy\n" + plain("between") + "\ndescription: " + plain("description") + "\n" + plain("after") + "\n---\n"
		if rapid.Bool().Draw(t, "tame") {
			tame := rapid.SampledFrom([]string{"", "x: [a, 'b c']", "metadata:\n  a: 'b'", "allowed-tools: [a, b]", "other:\n  - k: |\n      \"\n", "#"})
			text := rapid.SampledFrom([]string{"ships it", "\"a \\u2014\"", "'x''y'", ">-\n  a\n  b", "|\n  a\n   b\n\n  c", "\n  a\n\n   b"})
			file = "---\n" + tame.Draw(t, "first") + "\nname: deploy\ndescription: " + text.Draw(t, "text") + plain("description") + "\n" + tame.Draw(t, "last") + "\n---\n"
		}
		if skills.Parse([]byte(file)).Valid() {
			accepted++
		}
		if differs := yamlDisagrees(file); differs != "" {
			t.Fatalf("%s in:\n%s", differs, file)
		}
	})
	if accepted == 0 {
		t.Error("no file was accepted, so nothing was compared")
	}
}

// What a reader of YAML takes for part of an unread value must not be taken for
// a name here.
func TestS37_UnreadValuesEnd(t *testing.T) {
	for _, file := range []string{
		head("x: \"abc", "name: evil", "description: d", "y: \""),
		head("x: [", "name: evil, description: d,", "y: ]"),
		head("x:", "  y: \"abc", "name: evil", "description: d", "z: \""),
		head("x:", "  - k: |", "    \"abc", "name: evil", "description: d", "z: \""),
		head("x: &a \"abc", "name: evil", "description: d", "y: \""),
		head("x: [&a \"]", "name: evil", "description: d", "y: \"]"),
		head("argument-hint: [a", "name: evil", "description: d", "x: ]"),
		head("# a\u2028name: other", named, described),
	} {
		p := skills.Parse([]byte(file))
		if p.Valid() {
			t.Errorf("accepted:\n%s", file)
		}
		if differs := yamlDisagrees(file); differs != "" {
			t.Errorf("%s in:\n%s", differs, file)
		}
	}
}

func fieldSeeds(f *testing.F) []string {
	f.Helper()
	paths, err := filepath.Glob("testdata/field/*/SKILL.md")
	if err != nil || len(paths) == 0 {
		f.Fatalf("no seed matches: %v", err)
	}
	var seeds []string
	for _, path := range paths {
		file, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		seeds = append(seeds, string(file))
	}
	return seeds
}

func FuzzParse(f *testing.F) {
	for _, seed := range fieldSeeds(f) {
		f.Add(seed)
	}
	f.Add(head(named, "description: |+", "  a", "", "   b", " # c"))
	f.Add(head(named, described, "x:", "- 'a': [b, \"c\"]", "allowed-tools: ['a', b]", "metadata:", "  a:", "  - b", "  c: >", "    d"))
	f.Fuzz(func(t *testing.T, file string) {
		p := skills.Parse([]byte(file))
		lines := strings.Count(file, "\n") + 1
		for i, fault := range p.Faults {
			if fault.Line < 1 || fault.Line > lines || fault.Column < 1 || fault.Reason == "" || fault.Repair == "" {
				t.Errorf("fault %+v in a file of %d lines", fault, lines)
			}
			if line, hidden := text.CleanLine(fault.Reason+" "+fault.Repair, text.NoLimit); hidden || line != fault.Reason+" "+fault.Repair {
				t.Errorf("fault %+v is not clean", fault)
			}
			if i > 0 && fault.Line < p.Faults[i-1].Line {
				t.Errorf("faults are not in order: %v", p.Faults)
			}
		}
		if p.Body < 0 || p.Body > len(file) {
			t.Errorf("body begins at %d of %d", p.Body, len(file))
		}
		if differs := yamlDisagrees(file); differs != "" {
			t.Errorf("%s in:\n%s", differs, file)
		}
		skills.ProposeFix([]byte(file))
	})
}
