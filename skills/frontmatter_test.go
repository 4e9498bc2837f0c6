package skills_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gatehouse/skills"
)

// head wraps lines in fences, with a body.
func head(lines ...string) string {
	return "---\n" + strings.Join(lines, "\n") + "\n---\nbody\n"
}

const (
	named     = "name: deploy"
	described = "description: Ships it"
)

func accept(t *testing.T, file string) skills.Parsed {
	t.Helper()
	p := skills.Parse([]byte(file))
	if len(p.Faults) > 0 {
		t.Fatalf("got %v, want no fault in:\n%s", p.Faults, file)
	}
	return p
}

// faults writes code and place of each fault, as in "FM_COLON 3:18".
func faults(p skills.Parsed) string {
	var all []string
	for _, f := range p.Faults {
		all = append(all, fmt.Sprintf("%s %d:%d", f.Code, f.Line, f.Column))
	}
	return strings.Join(all, ", ")
}

func wantFaults(t *testing.T, file, want string) skills.Parsed {
	t.Helper()
	p := skills.Parse([]byte(file))
	if got := faults(p); got != want {
		t.Errorf("got %q, want %q in:\n%s", got, want, file)
	}
	for _, f := range p.Faults {
		if f.Reason == "" || f.Repair == "" {
			t.Errorf("%s has reason %q and repair %q, want both", f.Code, f.Reason, f.Repair)
		}
	}
	return p
}

func wantDescription(t *testing.T, file, want string) {
	t.Helper()
	if got := accept(t, file).Frontmatter.Description; got != want {
		t.Errorf("got description %q, want %q", got, want)
	}
}

func TestS1_PlainNameAndDescription(t *testing.T) {
	file := head(named, described)
	p := accept(t, file)
	if p.Frontmatter.Name != "deploy" || p.Frontmatter.Description != "Ships it" {
		t.Errorf("got %+v", p.Frontmatter)
	}
	if got := file[p.Body:]; got != "body\n" {
		t.Errorf("got body %q", got)
	}
	if got := accept(t, head("name: 123", described)).Frontmatter.Name; got != "123" {
		t.Errorf("got name %q, want the string 123", got)
	}
}

func TestS2_MarkTrailingSpaceAndCRLF(t *testing.T) {
	plain := head(named, "description: >-", "  one", "  two")
	odd := "\uFEFF" + strings.ReplaceAll(strings.ReplaceAll(plain, "---\n", "--- \n"), "\n", "\r\n")
	want, got := accept(t, plain), accept(t, odd)
	if fmt.Sprint(got.Frontmatter) != fmt.Sprint(want.Frontmatter) {
		t.Errorf("got %+v, want %+v", got.Frontmatter, want.Frontmatter)
	}
	if body := odd[got.Body:]; body != "body\r\n" {
		t.Errorf("got body %q", body)
	}
}

func TestS3_SkillFileName(t *testing.T) {
	for path, want := range map[string]bool{"SKILL.md": true, "a/SKILL.md": true, "skill.md": false, "SKILL.MD": false, "a/SKILL.md/b": false} {
		d := skills.Document{Ref: skills.Ref{Collection: "c", Path: path}, Bytes: []byte(head("name: a", described))}
		if _, ok, _ := skills.Inspect(d); ok != want {
			t.Errorf("%s: got skill %t, want %t", path, ok, want)
		}
	}
}

func TestS5_IndentedFenceIsContent(t *testing.T) {
	wantDescription(t, head(named, "description: |", "  one", "  ---", "  two"), "one\n---\ntwo")
}

func TestS6_FoldedBlock(t *testing.T) {
	wantDescription(t, head(named, "description: >-", "  one", "  two", "  three"), "one two three")
}

func TestS8_DoubleQuoted(t *testing.T) {
	wantDescription(t, head(named, `description: "Use \"deploy\" \u2014 now"`), `Use "deploy" — now`)
}

func TestS9_SingleQuoted(t *testing.T) {
	wantDescription(t, head(named, `description: 'It''s ready'`), "It's ready")
}

func TestS10_Paragraph(t *testing.T) {
	wantDescription(t, head(named, "description:", "  one", "   two", "", "  three"), "one two\nthree")
}

func TestS11_Metadata(t *testing.T) {
	p := accept(t, head(named, described, "metadata:", "  author: x", `  version: "1.0"`))
	if m := p.Frontmatter.Metadata; len(m) != 2 || m["author"] != "x" || m["version"] != "1.0" {
		t.Errorf("got %v", m)
	}
}

func TestS13_ToolsOnOneLine(t *testing.T) {
	for line, want := range map[string][]string{
		"Bash(git:*) Read":            {"Bash(git:*)", "Read"},
		"Bash(git add:*), Read, Grep": {"Bash(git add:*)", "Read", "Grep"},
	} {
		if got := accept(t, head(named, described, "allowed-tools: "+line)).Frontmatter.AllowedTools; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

func TestS14_ToolsAsList(t *testing.T) {
	for _, lines := range []string{
		"allowed-tools: [Read, Grep]", "allowed-tools: ['Read', \"Grep\",] # two", "allowed-tools:\n  - Read\n  - Grep", "allowed-tools:\n- Read\n- \"Grep\"",
	} {
		if got := accept(t, head(named, described, lines)).Frontmatter.AllowedTools; !slices.Equal(got, []string{"Read", "Grep"}) {
			t.Errorf("%s: got %q", lines, got)
		}
	}
	wantFaults(t, head(named, described, "allowed-tools: [Read, [Grep]]"), "OPT_UNREAD 4:16")
	wantFaults(t, head(named, described, "allowed-tools:", "- \t"), "OPT_UNREAD 5:1")
}

func TestS15_HintIsRaw(t *testing.T) {
	for line, want := range map[string]string{"[a] [b]": "[a] [b]", "<env>: which": "<env>: which", `"[env]"`: "[env]"} {
		if got := accept(t, head(named, described, "argument-hint: "+line)).Frontmatter.ArgumentHint; got != want {
			t.Errorf("got hint %q, want %q", got, want)
		}
	}
}

func TestS17_LongBody(t *testing.T) {
	accept(t, "---\nname: a\ndescription: b\n---\n"+strings.Repeat("x", 10_001))
}

func TestS18_CommentsAndBlankLines(t *testing.T) {
	p := accept(t, head("# head", "", named, "  # between", "   ", "description: Ships it # really", "#end"))
	if p.Frontmatter.Description != "Ships it" {
		t.Errorf("got %q", p.Frontmatter.Description)
	}
}

func TestS19_NoOpeningFence(t *testing.T) {
	for _, file := range []string{"", "name: a\n", "\n---\n", "----\n", " ---\n"} {
		wantFaults(t, file, "FM_MISSING 1:1")
	}
}

func TestS20_NoClosingFence(t *testing.T) {
	wantFaults(t, "---\nname: a\n ---\ntext\n", "FM_UNCLOSED 1:1")
}

func TestS21_NameCharacters(t *testing.T) {
	for name, column := range map[string]int{"Bad": 7, "bad--name": 11, "-x": 7, "x-": 8, "a b": 8, `"Ab"`: 8} {
		wantFaults(t, head("name: "+name, described), fmt.Sprintf("NAME_CHARS 2:%d", column))
	}
}

func TestS22_EmptyName(t *testing.T) {
	wantFaults(t, head("name:", described), "NAME_MISSING 2:6")
	wantFaults(t, head(`name: ""`, described), "NAME_MISSING 2:8")
	wantFaults(t, head(described), "NAME_MISSING 1:1")
}

func TestS23_NameLength(t *testing.T) {
	accept(t, head("name: "+strings.Repeat("a", 64), described))
	wantFaults(t, head("name: "+strings.Repeat("a", 65), described), "NAME_LONG 2:71")
}

func TestS24_BlankDescription(t *testing.T) {
	wantFaults(t, head(named, "description:    "), "DESC_MISSING 3:13")
	wantFaults(t, head(named, `description: "   "`), "DESC_MISSING 3:15")
	wantFaults(t, head(named), "DESC_MISSING 1:1")
}

func TestS26_Colon(t *testing.T) {
	file := head(named, "description: Use when: asked")
	p := wantFaults(t, file, "FM_COLON 3:22")
	if !strings.Contains(p.Faults[0].Repair, "double quotes") {
		t.Errorf("got repair %q", p.Faults[0].Repair)
	}
	fix := skills.ProposeFix([]byte(file))
	want := []skills.FixedLine{{Line: 3, Old: "description: Use when: asked", New: `description: "Use when: asked"`}}
	if !slices.Equal(fix.Lines, want) {
		t.Errorf("got %+v, want %+v", fix.Lines, want)
	}
	wantDescription(t, string(fix.File), "Use when: asked")
	wantFaults(t, head(named, "description: ends in:"), "FM_COLON 3:21")
}

func TestS27_AliasAndIndicator(t *testing.T) {
	for value, code := range map[string]string{
		"*ref": "FM_ALIAS", "&a text": "FM_ALIAS", "!tag x": "FM_INDICATOR", "%x": "FM_INDICATOR", "@x": "FM_INDICATOR", "`x`": "FM_INDICATOR",
		"- x": "FM_INDICATOR", "-": "FM_INDICATOR", "? x": "FM_INDICATOR", "> x": "FM_INDICATOR", "|x": "FM_INDICATOR", "[Beta] text": "FM_INDICATOR",
		`"A" and "B"`: "FM_INDICATOR", "'It's ready'": "FM_INDICATOR", ",": "FM_INDICATOR",
	} {
		wantFaults(t, head(named, "description: "+value), code+" 3:14")
	}
}

func TestS28_QuoteOverTwoLines(t *testing.T) {
	for _, second := range []string{"  two\"", "two\"", "two\" # x"} {
		wantFaults(t, head(named, `description: "one`, second), "FM_MULTILINE_QUOTE 3:14")
	}
	wantFaults(t, head(`description: 'one`, named), "FM_MULTILINE_QUOTE 2:14")
}

func TestS29_Tab(t *testing.T) {
	wantFaults(t, head(named, "description: |", "\tone"), "FM_TAB 4:1")
	wantFaults(t, head(named, "description:\tone"), "FM_TAB 3:13")
}

func TestS30_KeyTwice(t *testing.T) {
	p := wantFaults(t, head(named, described, "name: other"), "FM_DUP_KEY 4:1")
	if f := p.Faults[0]; f.FirstLine != 2 || !strings.Contains(f.Reason, "line 2") || !strings.Contains(f.Reason, "line 4") {
		t.Errorf("got %+v, want both lines named", f)
	}
	wantFaults(t, head(named, described, "x: 1", "x: 2"), "FM_DUP_KEY 5:1")
}

func TestS31_NotScalar(t *testing.T) {
	for _, value := range []string{" {a: b}", " [a]", " [a", "\n  - a", "\n- a", "\n  a: b\n  c: d"} {
		p := skills.Parse([]byte(head(named, "description:"+value)))
		if len(p.Faults) != 1 || p.Faults[0].Code != skills.FaultNotScalar {
			t.Errorf("description:%s: got %q, want FM_NOT_SCALAR", value, faults(p))
		}
	}
	p := wantFaults(t, head(named, described, "compatibility:", "  - a"), "OPT_UNREAD 5:3")
	if !p.Valid() || p.Frontmatter.Compatibility != "" {
		t.Errorf("got valid %t and %q, want a skill without it", p.Valid(), p.Frontmatter.Compatibility)
	}
}

func TestS32_BlockDigits(t *testing.T) {
	wantFaults(t, head(named, "description: >2", "   x"), "FM_BLOCK_INDENT 3:15")
	wantFaults(t, head(named, "description: |-2", "   x"), "FM_BLOCK_INDENT 3:16")
}

func TestS35_NotUTF8(t *testing.T) {
	p := skills.Parse([]byte(head(named, described) + "a\xffb"))
	if len(p.Faults) != 1 || p.Faults[0].Code != skills.FaultNotUTF8 || p.Faults[0].Offset != 49 || p.Faults[0].Line != 6 || p.Faults[0].Column != 2 {
		t.Errorf("got %+v", p.Faults)
	}
	d, err := skills.NewDocument(skills.Ref{Collection: "c", Path: "SKILL.md"}, []byte(head(named, described)+"a\xffb"))
	if err != nil {
		t.Fatal(err)
	}
	if problems := skills.Problems([]skills.Document{d}); len(problems) != 1 {
		t.Errorf("got problems %v, want it listed", problems)
	}
	if w, err := skills.ReadWindow(d, 0, skills.WindowLimit); err != nil || !w.Binary || len(w.Bytes) != len(d.Bytes) {
		t.Errorf("got %+v, %v, want it readable", w, err)
	}
}

// Every code of the rules, each with the smallest file that has it.
func TestFaults_EveryCode(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{head("na me: x", named, described), "FM_KEY 2:3"},
		{head(strings.Repeat("k", 65)+": x", named, described), "FM_KEY 2:65"},
		{head("just text", named, described), "FM_LINE 2:1"},
		{head("name:x", described), "FM_LINE 2:5"},
		{head(named, "description: a\u2028b"), "FM_LINE 3:15"},
		{head(named, "description: a\x1b[0m"), "FM_LINE 3:15"},
		{head(named, described, strings.Repeat("#\n", 200)), "FM_TOO_LARGE 1:1"},
		{head(named, described, "#"+strings.Repeat("x", 16<<10)), "FM_TOO_LARGE 1:1"},
		{head(named, `description: "\q"`), "FM_BAD_ESCAPE 3:15"},
		{head(named, `description: "a\uD83D"`), "FM_BAD_ESCAPE 3:16"},
		{head(named, `description: "\x1b"`), "FM_BAD_ESCAPE 3:15"},
		{head(named, "description: a", "  b"), "FM_INDENT 4:3"},
		{head("  x", named, described), "FM_INDENT 2:3"},
		{head("name:", "  deploy", described), "FM_INDENT 3:3"},
		{head(named, "description: |", "   a", "  b"), "FM_INDENT 5:3"},
		{head(named, "description: |", "    ", "  b"), "FM_BLOCK_INDENT 4:3"},
		{head(named, "description: "+strings.Repeat("a", 1025)), "DESC_LONG 3:14"},
		{head(named, "description: "+strings.Repeat("a", 401)), "DESC_CATALOG 3:14"},
		{head(named, described, "compatibility: "+strings.Repeat("a", 501)), "COMPAT_LONG 4:16"},
		{head("name: compact", described), "NAME_RESERVED 2:7"},
		{head(named, described, "user-invocable: yes"), "OPT_UNREAD 4:17"},
		{head(named, described, `x: "open`, "y: z"), "FM_MULTILINE_QUOTE 4:4"},
		{head(named, described, "x: [open", "y: z"), "FM_MULTILINE_QUOTE 4:4"},
		{head(named, described, "metadata:", "  a: 1", "  a: 2"), "FM_DUP_KEY 6:3"},
		{head(named, described, "license: a: b"), "OPT_UNREAD 4:11"},
	} {
		wantFaults(t, c.file, c.want)
	}
	p := skills.Lint("b/SKILL.md", []byte(head("name: a", described)))
	if got := faults(p); got != "NAME_FOLDER 2:7" || !p.Valid() {
		t.Errorf("got %q", got)
	}
}

func TestFaults_AllAtOnceInOrder(t *testing.T) {
	wantFaults(t, head("Name: x", "bad line", "name: A", "description: a: b", "\tx", "license: [a"),
		"FM_LINE 3:1, NAME_CHARS 4:7, FM_COLON 5:15, FM_TAB 6:1, FM_MULTILINE_QUOTE 7:10")
}

func readField(t *testing.T, name string) []byte {
	t.Helper()
	file, err := os.ReadFile("testdata/field/" + name + "/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestField_IncidentNotes(t *testing.T) {
	file := readField(t, "incident-notes")
	p := skills.Lint("incident-notes/SKILL.md", file)
	if got := faults(p); got != "FM_COLON 3:63" || p.Valid() {
		t.Errorf("got %q, valid %t", got, p.Valid())
	}
	fix := skills.ProposeFix(file)
	if len(fix.Lines) != 1 || fix.Lines[0].New != `description: "Keep notes during an incident. Covers three parts: timeline, owners, open questions"` {
		t.Errorf("got %+v", fix.Lines)
	}
	if got := faults(skills.Lint("incident-notes/SKILL.md", fix.File)); got != "" {
		t.Errorf("mended, got %q", got)
	}
}

func TestField_ReleaseTrain(t *testing.T) {
	file := readField(t, "release-train")
	p := skills.Lint("release-train/SKILL.md", file)
	if got := faults(p); got != "" {
		t.Errorf("got %q", got)
	}
	fm := p.Frontmatter
	if fm.Description != "Prepare the weekly release. Use when someone asks for release notes or a version bump." {
		t.Errorf("got description %q", fm.Description)
	}
	if fm.ArgumentHint != "[version] [--dry]" || !slices.Equal(fm.AllowedTools, []string{"Read", "Grep"}) {
		t.Errorf("got hint %q, tools %q", fm.ArgumentHint, fm.AllowedTools)
	}
	if len(fm.Metadata) != 1 || fm.Metadata["owner"] != "platform" {
		t.Errorf("got metadata %v", fm.Metadata)
	}
	if len(fm.Opaque) != 1 || fm.Opaque[0].Key != "metadata.checks" || !strings.HasSuffix(fm.Opaque[0].Raw, "required: true") {
		t.Errorf("got opaque %+v", fm.Opaque)
	}
}

func TestField_TicketTriage(t *testing.T) {
	p := skills.Lint("ticket-triage/SKILL.md", readField(t, "ticket-triage"))
	if got := faults(p); got != "NAME_CHARS 2:7, FM_DUP_KEY 3:1, FM_ALIAS 4:14, OPT_UNREAD 5:16" {
		t.Errorf("got %q", got)
	}
	if p.Valid() || p.Faults[1].FirstLine != 2 || p.Faults[3].Severity() != skills.SeverityWarning {
		t.Errorf("got %+v", p.Faults)
	}
}

func TestFix_ChangesNothingElse(t *testing.T) {
	for _, c := range []struct{ before, after string }{
		{"description: 'It's ready'", `description: "It's ready"`},
		{"description: **Bold** \\ text # note", `description: "**Bold** \\ text" # note`},
		{`description: "A" and "B"`, `description: "\"A\" and \"B\""`},
		{"description:\n  Use when: asked\n  often", "description: >-\n  Use when: asked\n  often"},
		{"description: 'one\n  two'", "description: 'one\n  two'"},
	} {
		for _, ending := range []string{"\n", "\r\n"} {
			before := "\uFEFF" + strings.ReplaceAll(head(named, c.before), "\n", ending)
			after := "\uFEFF" + strings.ReplaceAll(head(named, c.after), "\n", ending)
			fix := skills.ProposeFix([]byte(before))
			if string(fix.File) != after {
				t.Errorf("got %q, want %q", fix.File, after)
			}
			if len(fix.Lines) > 0 && !skills.Parse(fix.File).Valid() {
				t.Errorf("%q is still refused: %s", fix.File, faults(skills.Parse(fix.File)))
			}
			if again := skills.ProposeFix(fix.File); len(fix.Lines) > 0 && len(again.Lines) > 0 {
				t.Errorf("a second fix of %q proposes %+v", fix.File, again.Lines)
			}
		}
	}
}
