package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"gatehouse/skills"
)

func (a *app) skillsLintCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lint PATH…",
		Short: "Say what is wrong with skill files, and how to mend it",
		Long: `Say what is wrong with skill files: every fault of each at once, with its place and
what mends it. A PATH is a file, or a folder in which every SKILL.md is looked at.
A skill with a warning works; one with an error is refused everywhere, and the exit
code is 1. Nothing is stored and no store is needed.`,
		Example: `  gatehouse skills lint ./skills
  gatehouse skills lint --json runbooks/deploy/SKILL.md`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("write it as gatehouse skills lint PATH…", "skills lint: PATH is missing")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.lint(cmd.Context(), args) },
	}
}

// lintLine is what --json prints of a fault.
type lintLine struct {
	File     string           `json:"file"`
	Line     int              `json:"line"`
	Column   int              `json:"column"`
	Severity skills.Severity  `json:"severity"`
	Code     skills.FaultCode `json:"code"`
	Message  string           `json:"message"`
	Repair   string           `json:"repair"`
	First    int              `json:"first_line,omitempty"` // of FM_DUP_KEY: where the key stood first
	Offset   *int             `json:"offset,omitempty"`     // of FM_NOT_UTF8: the first bad byte
}

// lintCount counts what lint looked at.
type lintCount struct{ skills, refused, warnings int }

func (a *app) lint(ctx context.Context, paths []string) error {
	var n lintCount
	for _, given := range paths {
		before := n.skills
		files, err := skillFilesAt(ctx, given)
		if err != nil {
			return err
		}
		for _, file := range files {
			if err := a.lintFile(file, &n); err != nil {
				return err
			}
		}
		if n.skills == before {
			return &fault{code: codeNotFound, message: given + ": there is no SKILL.md in it", hint: "a skill is a file that is named exactly SKILL.md"}
		}
	}
	a.say("%s: %d refused, %s", count(n.skills, "skill"), n.refused, count(n.warnings, "warning"))
	if n.refused > 0 {
		return told(codeFailed)
	}
	return nil
}

// skillFilesAt lists the skill files at a path, in order. A file that is named is one whatever its name. Links that lie
// in a folder are not followed, so that loops are nothing.
func skillFilesAt(ctx context.Context, given string) ([]string, error) {
	info, err := os.Stat(given)
	if err != nil {
		return nil, missingPath(given, err)
	}
	if !info.IsDir() {
		return []string{given}, nil
	}
	var files []string
	err = filepath.WalkDir(given, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case entry.Type().IsRegular() && skills.IsSkillPath(filepath.ToSlash(path)):
			files = append(files, path)
		}
		return nil
	})
	return files, err
}

func (a *app) lintFile(file string, n *lintCount) error {
	n.skills++
	faults, err := lintFaults(file)
	if err != nil {
		return err
	}
	refused := false
	for _, f := range faults {
		if f.Severity() == skills.SeverityError {
			refused = true
		} else {
			n.warnings++
		}
		if err := a.printFault(file, f); err != nil {
			return err
		}
	}
	if refused {
		n.refused++
	}
	return nil
}

// lintFaults judges a file. One that is too large is not read.
func lintFaults(file string) ([]skills.Fault, error) {
	content, err := readSkillFile(file)
	if skills.CodeOf(err) == skills.CodeTooLarge {
		return []skills.Fault{{
			Line: 1, Column: 1, Code: skills.FaultTooLarge, Reason: "the file is larger than a document may be: " + err.Error(), Repair: "split it",
		}}, nil
	}
	if err != nil {
		return nil, err
	}
	whole, err := filepath.Abs(file) // the name is compared with that of the folder
	if err != nil {
		return nil, err
	}
	return skills.Lint(filepath.ToSlash(whole), content).Faults, nil
}

// readSkillFile reads a regular file that is small enough to be a document; its size is judged first.
func readSkillFile(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, missingPath(file, err)
	}
	if !info.Mode().IsRegular() {
		return nil, usage("give a file or a folder", "%s: is no regular file", file)
	}
	if err := skills.CheckSize(file, info.Size()); err != nil {
		return nil, err
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	content, err := io.ReadAll(io.LimitReader(f, skills.DocumentLimit+1))
	if err == nil {
		err = skills.CheckSize(file, int64(len(content)))
	}
	return content, err
}

func (a *app) printFault(file string, f skills.Fault) error {
	if !a.json {
		_, err := fmt.Fprintln(a.out, f.In(file))
		return err
	}
	l := lintLine{
		File: line(file), Line: f.Line, Column: f.Column, Severity: f.Severity(), Code: f.Code, Message: f.Reason, Repair: f.Repair, First: f.FirstLine,
	}
	if f.Code == skills.FaultNotUTF8 {
		l.Offset = &f.Offset
	}
	return a.object(l)
}

func (a *app) skillsFixCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "fix FILE",
		Short: "Mend a skill file by quoting what was meant as text",
		Long: `Mend a skill file: values that were meant as text and read as something else are
quoted. The change is shown as a diff and written only when you say yes. No other
byte of the file changes; faults that only you can mend are listed.`,
		Example: `  gatehouse skills fix runbooks/deploy/SKILL.md`,
		Args:    exactly("FILE"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.fix(cmd.Context(), args[0], yes) },
	}
	c.Flags().BoolVar(&yes, "yes", false, "write it without asking")
	return c
}

func (a *app) fix(ctx context.Context, file string, yes bool) error {
	content, err := readSkillFile(file)
	if err != nil {
		return err
	}
	fix := skills.ProposeFix(content)
	if len(fix.Lines) == 0 {
		return a.endOfFix(file, "nothing can be mended by quoting")
	}
	if err := a.showDiff(file, fix.Diff(filepath.Base(file), content)); err != nil {
		return err
	}
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	if err := p.kernel.MayChangeLibrary(ctx, a.authority(p)); err != nil {
		return err
	}
	if !yes {
		if err := a.askYes(ctx, "write it", "nothing was written"); err != nil {
			return err
		}
	}
	now, err := readSkillFile(file)
	if err != nil {
		return err
	}
	if skills.Digest(now) != skills.Digest(content) {
		return &fault{code: codeFailed, message: file + ": was changed meanwhile", hint: "look at the diff again"}
	}
	if err := replaceFile(file, fix.File); err != nil {
		return err
	}
	return a.endOfFix(file, fmt.Sprintf("%s mended", count(len(fix.Lines), "line")))
}

// showDiff prints what a change of a file or document would be.
func (a *app) showDiff(name, diff string) error {
	if a.json {
		return a.object(struct {
			File string `json:"file"`
			Diff string `json:"diff"`
		}{line(name), diff})
	}
	_, err := io.WriteString(a.out, block(diff))
	return err
}

// endOfFix says what is left to mend, and fails where the skill is still refused.
func (a *app) endOfFix(file, done string) error {
	var n lintCount
	if err := a.lintFile(file, &n); err != nil {
		return err
	}
	a.say("%s: %s", file, done)
	if n.refused > 0 {
		return told(codeFailed)
	}
	return nil
}

// askYes lets a person at a terminal confirm what stands on the screen. Without one it is a usage error.
func (a *app) askYes(ctx context.Context, question, otherwise string) error {
	if err := a.out.Flush(); err != nil {
		return err
	}
	if !a.in.tty.stdin {
		return usage("look at it, then add --yes", "%s: there is no terminal to ask at", otherwise)
	}
	fmt.Fprintf(a.in.stderr, "Type yes to %s: ", question)
	answer, err := interruptibly(ctx, func() (string, error) { return bufio.NewReader(a.in.stdin).ReadString('\n') })
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("standard input: %w", err)
	}
	if strings.TrimSpace(answer) != "yes" {
		return &fault{code: codeFailed, message: otherwise}
	}
	return nil
}

// replaceFile puts new content in the place of a file, whole or not at all, with its mode. A link stays one.
func replaceFile(file string, content []byte) error {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return err
	}
	info, err := os.Stat(real)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(real), ".gatehouse-fix-*")
	if err != nil {
		return err
	}
	_, wrote := f.Write(content)
	err = errors.Join(wrote, f.Chmod(info.Mode().Perm()), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), real)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error says more
	}
	return err
}
