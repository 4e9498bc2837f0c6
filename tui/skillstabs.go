package tui

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"gatehouse/core"
	"gatehouse/skills"
)

// libraryKind is the gatekeeper whose units are collections.
const libraryKind = "library"

// text is the document as it is to be read, or as it is written.
func (p pageReader) text(ctx context.Context, w *pageWriter) error {
	if p.key.ref.Path == "" {
		p.describe(w)
		return nil
	}
	d, err := p.library.Document(ctx, p.key.ref)
	if err != nil {
		return err
	}
	if d.Binary() && !strings.HasPrefix(d.ContentType, "text/") {
		w.say(rolePlain, "", "", fmt.Sprintf("This document is binary: %s, %s.", cleanWord(d.ContentType), plural(len(d.Bytes), "byte", "bytes")))
		return nil
	}
	skill, valid, faults := skills.Inspect(d.Document)
	markdown := d.ContentType == "text/markdown" || skills.IsSkillPath(p.key.ref.Path)
	w.body.note = "Markdown"
	if p.key.raw || !markdown || len(faults) > 0 && !valid {
		w.body.note = "as written"
		if len(faults) > 0 && !valid {
			w.say(roleDanger, "", "", "✗ no skill: "+plural(len(faults), "problem", "problems")+"; ] shows what mends it")
			w.empty()
		}
		raw(w, d.Bytes)
		return nil
	}
	body := d.Bytes
	if valid {
		p.head(w, skill)
		body = d.Bytes[skill.Body:]
	}
	ctx, cancel := context.WithTimeout(ctx, pageDeadline)
	defer cancel()
	renderMarkdown(ctx, w, body)
	return nil
}

// raw shows a text as it is written, cleaned.
func raw(w *pageWriter, text []byte) {
	lines, hidden := cleanLines(string(text))
	if hidden {
		w.say(roleWarn, "! ", "  ", "characters that a terminal would obey, or not show, were taken out")
	}
	for _, l := range lines {
		w.say(rolePlain, "", "", l)
	}
}

// head is what the frontmatter of a skill says.
func (p pageReader) head(w *pageWriter, s skills.Skill) {
	f := s.Frontmatter
	w.fact(roleTitle, "skill", cleanWord(f.Name))
	w.fact(rolePlain, "says", cleanWord(f.Description))
	if f.ArgumentHint != "" {
		w.fact(roleMuted, "arguments", cleanWord(f.ArgumentHint))
	}
	if s.Author != "" {
		w.fact(roleMuted, "author", cleanWord(string(s.Author)))
	}
	switch {
	case !f.UserInvocable && !f.ModelInvocable:
		w.fact(roleMuted, "for", "nobody: neither people nor models may call it")
	case !f.UserInvocable:
		w.fact(roleMuted, "for", "models alone")
	case !f.ModelInvocable:
		w.fact(roleMuted, "for", "people alone")
	}
	w.fact(roleMuted, "sha256", s.SHA256[:min(len(s.SHA256), 12)])
	w.empty()
}

func cleanWord(s string) string {
	s, _ = cleanLine(s, 2000)
	return s
}

// describe is what is known of a collection.
func (p pageReader) describe(w *pageWriter) {
	s := p.shelf
	w.fact(roleTitle, "collection", cleanWord(string(s.ID)))
	if s.Title != "" {
		w.fact(rolePlain, "title", cleanWord(s.Title))
	}
	if s.Description != "" {
		w.fact(rolePlain, "says", cleanWord(s.Description))
	}
	switch s.Visibility {
	case skills.VisibilityPublic:
		w.fact(rolePlain, "visibility", "public: everybody reads it")
	default:
		w.fact(rolePlain, "visibility", "private: "+cleanWord(string(s.Owner))+" alone reads it")
	}
	w.fact(rolePlain, "holds", plural(s.Documents, "document", "documents")+", "+plural(s.Skills, "skill", "skills"))
	if s.Broken > 0 {
		w.fact(roleDanger, "broken", plural(s.Broken, "file that is", "files that are")+" named as a skill and no skill; ] shows what mends them")
	}
	w.fact(rolePlain, "source", cleanWord(string(s.Source.Kind)))
	for _, f := range []struct{ name, value string }{
		{"  place", s.Place}, {"  remote", s.Source.Remote}, {"  branch", s.Source.Branch}, {"  commit", s.Source.Commit},
	} {
		if f.value != "" {
			w.fact(roleMuted, f.name, cleanWord(f.value))
		}
	}
	if !s.ImportedAt.IsZero() {
		w.fact(roleMuted, "  imported", s.ImportedAt.Format("2006-01-02 15:04")+" ("+ago(p.now, s.ImportedAt)+")")
	}
	if s.Place != "" {
		w.empty()
		w.say(roleMuted, "", "", "gatehouse skills sync "+quoteWord(cleanWord(string(s.ID)))+" reads it anew, and shows what changed first.")
	}
}

// quoteWord makes a clean word one that a shell takes for one.
func quoteWord(s string) string {
	if strings.ContainsAny(s, " \t\"'\\$`*?[](){}<>|&;#~!") || s == "" {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

// problems lists what is wrong with a document, or with all of a collection.
func (p pageReader) problems(ctx context.Context, w *pageWriter) error {
	if p.key.ref.Path == "" {
		return p.allProblems(ctx, w)
	}
	d, err := p.library.Document(ctx, p.key.ref)
	if err != nil {
		return err
	}
	_, valid, faults := skills.Inspect(d.Document)
	switch {
	case !skills.IsSkillPath(p.key.ref.Path):
		w.say(rolePlain, "", "", "This document is not named SKILL.md: it is no skill, and nothing is wrong with it.")
		return nil
	case len(faults) == 0:
		w.say(roleGood, "", "", "✓ Nothing is wrong with this skill.")
		return nil
	case valid:
		w.say(roleWarn, "", "", "It is a skill, with "+plural(len(faults), "warning", "warnings")+".")
	default:
		w.say(roleDanger, "", "", "✗ It is no skill: it is listed and read as a document alone.")
	}
	w.empty()
	file := cleanWord(path.Base(p.key.ref.Path))
	for _, f := range faults {
		sayFault(w, file, f)
	}
	w.empty()
	p.mend(w, d, faults)
	return nil
}

func sayFault(w *pageWriter, file string, f skills.Fault) {
	r, sign := roleDanger, "✗ "
	if f.Severity() == skills.SeverityWarning {
		r, sign = roleWarn, "! "
	}
	place := file + ":" + strconv.Itoa(f.Line) + ":" + strconv.Itoa(f.Column)
	w.say(r, sign, "  ", place+" "+string(f.Code)+": "+cleanWord(f.Reason))
	w.say(rolePlain, "  → ", "    ", cleanWord(f.Repair))
}

// mend names the command that mends a file, and shows what it would change.
func (p pageReader) mend(w *pageWriter, d LibraryDocument, faults []skills.Fault) {
	fix := skills.ProposeFix(d.Bytes)
	file := quoteWord(cleanWord(d.File))
	switch {
	case d.File == "" && p.shelf.Source.Kind == skills.SourceBuiltIn:
		w.say(roleMuted, "", "", "It is part of the program.")
		return
	case d.File == "":
		w.say(roleMuted, "", "", "gatehouse skills edit "+quoteWord(cleanWord(p.key.ref.String()))+" opens it in your editor.")
	case len(fix.Lines) == 0:
		w.say(roleMuted, "", "", "Nothing can be mended by quoting: change "+file+", then gatehouse skills sync "+quoteWord(cleanWord(string(p.key.ref.Collection)))+".")
	default:
		w.say(roleMuted, "", "", "gatehouse skills fix "+file+" mends "+plural(len(fix.Lines), "line", "lines")+" when you say yes; then gatehouse skills sync "+
			quoteWord(cleanWord(string(p.key.ref.Collection)))+".")
	}
	switch {
	case len(fix.Lines) == 0:
	case !p.key.fix:
		w.say(roleMuted, "", "", "f shows the change that is proposed.")
	default:
		w.empty()
		w.say(roleTitle, "", "", "Proposed; nothing is written here")
		w.diff(fix.Diff(path.Base(p.key.ref.Path), d.Bytes))
	}
}

// problemsShown is how many faults of a collection are listed.
const problemsShown = 500

func (p pageReader) allProblems(ctx context.Context, w *pageWriter) error {
	found, err := p.library.Problems(ctx, p.key.ref.Collection)
	if err != nil {
		return err
	}
	n := 0
	for _, problem := range found {
		file := cleanWord(problem.Ref.Path)
		for _, f := range problem.Faults {
			if n++; n <= problemsShown {
				sayFault(w, file, f)
			}
		}
	}
	switch {
	case n == 0:
		w.say(roleGood, "", "", "✓ Nothing is wrong with the skills of this collection.")
	case n > problemsShown:
		w.empty()
		w.say(roleWarn, "", "", fmt.Sprintf("%s of %s; gatehouse skills list shows all.", thousands(problemsShown), thousands(n)))
	}
	w.body.note = plural(n, "problem", "problems")
	return nil
}

// changed compares a document with what this person used last.
func (p pageReader) changed(ctx context.Context, w *pageWriter) error {
	if p.key.ref.Path == "" {
		w.say(rolePlain, "", "", "Choose a skill: here stands how it changed since you used it last.")
		return nil
	}
	d, err := p.library.Document(ctx, p.key.ref)
	if err != nil {
		return err
	}
	change, err := p.library.Change(ctx, d.Document)
	switch {
	case err != nil:
		return err
	case change.First && !skills.IsSkillPath(p.key.ref.Path):
		w.say(rolePlain, "", "", "This document is no skill: nobody uses it as a command.")
	case change.First:
		w.say(rolePlain, "", "", "You have not used this skill yet.")
	case !change.Changed:
		w.say(roleGood, "", "", "✓ It is what you used last, "+ago(p.now, change.Since)+".")
	default:
		w.say(roleWarn, "", "", "≠ It changed since you used it "+ago(p.now, change.Since)+" ("+change.Since.Format("2006-01-02 15:04")+").")
		w.empty()
		if bytes.IndexByte(d.Bytes, 0) < 0 {
			w.diff(change.Diff)
		}
	}
	return nil
}

// readers lists which sessions have read a collection, from what was observed.
func (p pageReader) readers(ctx context.Context, w *pageWriter) error {
	page, err := p.kernel.Observed(ctx, core.ObservedQuery{})
	if err != nil {
		return err
	}
	n, reads := 0, 0
	for _, o := range page.Rows {
		if o.Found.Unit.Gatekeeper != libraryKind || o.Found.Unit.Name != string(p.key.ref.Collection) {
			continue
		}
		n++
		reads += o.Reads
		how := turnWord(o.Turn)
		if o.Reads == 0 {
			how += ", by its catalog alone"
		}
		w.say(rolePlain, "", spaces(2), fmt.Sprintf("%s · first %s (%s), %s · %s", cleanWord(o.SessionName), o.FirstSeenAt.Format("2006-01-02 15:04"),
			ago(p.now, o.FirstSeenAt), how, plural(o.Reads, "read", "reads")))
	}
	switch {
	case n == 0 && page.Total > len(page.Rows):
		w.say(rolePlain, "", "", fmt.Sprintf("Nobody read it among the newest %s of %s observations.", thousands(len(page.Rows)), thousands(page.Total)))
	case n == 0:
		w.say(rolePlain, "", "", "No session has read this collection.")
	default:
		w.empty()
		w.say(roleMuted, "", "", "Whoever joins one of these sessions must be able to read the collection.")
		w.body.note = plural(n, "session", "sessions") + ", " + plural(reads, "read", "reads")
	}
	return nil
}
