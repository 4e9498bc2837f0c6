package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"gatehouse/core"
	"gatehouse/core/share"
	"gatehouse/skills"
)

func (a *app) blueprintCommand() *cobra.Command {
	return a.family(
		"blueprint", "Take the shape of a session along, without its data",
		a.blueprintExportCommand(), a.blueprintShowCommand(), a.blueprintNewCommand(),
	)
}

// blueprintWish is what a person asks of an export.
type blueprintWish struct {
	session      string
	out          string
	title        string
	instructions string // a file
	yes          bool
	latched      bool
}

func (a *app) blueprintExportCommand() *cobra.Command {
	var w blueprintWish
	c := &cobra.Command{
		Use:   "export SESSION",
		Short: "Write the shape of a session to a file",
		Long: `Write a blueprint of a session of yours: the names, kinds and forms of its
bindings, the operations that were used, the public collections of skills it
read, and the title and instructions that you give. Nothing that was read, said
or queued is in it, no name of what was reached, and no rule.

The whole file is shown before it is written. It is refused when a title, a
name or a line of the instructions holds something that the session observed,
or what looks like a secret; the place is told. A binding whose name is that of
what it reaches gets another one. What people typed is not looked for, nor what
was read by hand, which is not kept. The same session gives the same bytes.

A latched session needs your word for that: at the prompt, or by
--confirm-latched together with --yes.`,
		Example: `  gatehouse blueprint export site-refresh --out refresh.yaml --title 'Weekly refresh' --instructions how.md`,
		Args:    exactly("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			w.session = args[0]
			return a.blueprintExport(cmd.Context(), w)
		},
	}
	c.Flags().StringVar(&w.out, "out", "", "the `FILE` to make; one that exists is left alone")
	c.Flags().StringVar(&w.title, "title", "", "a `TITLE` for whoever reads it")
	c.Flags().StringVar(&w.instructions, "instructions", "", "a text `FILE` that says how to work")
	c.Flags().BoolVar(&w.yes, "yes", false, "write it without asking")
	c.Flags().BoolVar(&w.latched, "confirm-latched", false, "with --yes: also of a latched session")
	return c
}

// blueprintObject is what --json prints of a blueprint.
type blueprintObject struct {
	File     string                                `json:"file"`
	Session  core.SessionID                        `json:"session,omitempty"`
	Written  bool                                  `json:"written"`
	Latched  bool                                  `json:"latched"`
	Bytes    int                                   `json:"bytes"`
	Digest   string                                `json:"digest"`
	Renamed  map[core.BindingName]core.BindingName `json:"renamed"`
	Contents string                                `json:"contents"`
	Error    *faultObject                          `json:"error,omitempty"`
}

func (a *app) blueprintExport(ctx context.Context, w blueprintWish) error {
	if w.out == "" {
		return usage("add --out FILE; the whole file is shown before it is written", "blueprint export: --out is missing")
	}
	d, err := a.desk(ctx)
	if err != nil {
		return err
	}
	if err := a.enter(ctx, d.parts, w.session, core.RoleOwner); err != nil {
		return err
	}
	s, err := d.kernel.Session(ctx, w.session)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(w.out); err == nil {
		return usage("give another --out, or move it away", "%s: exists", w.out)
	}
	b, renamed, err := d.outline(ctx, string(s.ID), w)
	if err != nil {
		return err
	}
	raw, err := d.vetted(ctx, string(s.ID), b)
	if err != nil {
		return err
	}
	o := blueprintObject{
		File: w.out, Session: s.ID, Latched: s.Latched, Bytes: len(raw), Digest: share.BlueprintDigest(raw), Renamed: renamed, Contents: string(raw),
	}
	if !a.json {
		if err := a.printBlueprint(o); err != nil {
			return err
		}
	}
	consent, err := a.askExport(ctx, d.parts, s, w, o)
	if err != nil {
		return err
	}
	err = d.kernel.ExportBlueprint(ctx, core.BlueprintExport{
		Session: string(s.ID), Blueprint: b, Destination: filepath.Base(w.out), Contents: o.Contents, Digest: o.Digest, Consent: consent,
		Write: func() error { return writeFresh(w.out, raw) },
	}, a.authority(d.parts))
	if err != nil {
		return blueprintFault(err)
	}
	o.Written = true
	if a.json {
		return a.object(o)
	}
	a.say("%s: %d bytes, written", w.out, len(raw))
	return nil
}

// outline is the blueprint of a session with what the person adds.
func (d *desk) outline(ctx context.Context, session string, w blueprintWish) (core.Blueprint, map[core.BindingName]core.BindingName, error) {
	b, renamed, err := d.kernel.Outline(ctx, session, d.person)
	if err != nil {
		return b, nil, err
	}
	b.Title = w.title
	if w.instructions != "" {
		raw, err := readBounded(w.instructions, share.InstructionsLimit)
		if err != nil {
			return b, nil, err
		}
		b.Instructions = string(raw)
	}
	collections, err := d.all.Collections(ctx, d.scope)
	if err != nil {
		return b, nil, err
	}
	for i := range b.Skills {
		for _, c := range collections {
			if string(c.ID) == b.Skills[i].Collection && c.Visibility == skills.VisibilityPublic {
				b.Skills[i].Source = publicSource(c.Source)
			}
		}
	}
	return b, renamed, nil
}

// publicSource says where a public collection came from, if that is a place that others can reach. A folder is not.
func publicSource(s skills.Source) string {
	remote := strings.HasPrefix(s.Remote, "https://") && !strings.Contains(s.Remote, "@")
	if s.Kind != skills.SourceBuiltIn && (s.Kind != skills.SourceGit || !remote) {
		return ""
	}
	return line(s.String())
}

// vetted encodes a blueprint that holds no secret and nothing observed.
func (d *desk) vetted(ctx context.Context, session string, b core.Blueprint) ([]byte, error) {
	raw, err := share.EncodeBlueprint(b)
	if err != nil {
		return nil, err
	}
	if found := share.NewScanner().ScanBlueprint(b); len(found) > 0 {
		words := make([]string, len(found))
		for i, f := range found {
			words[i] = fmt.Sprintf("%s holds a %s", f.Place, f.Kind)
		}
		return nil, &fault{code: codeDenied, message: "blueprint: refused, " + strings.Join(words, "; "), hint: "take it out and try again"}
	}
	return raw, blueprintFault(d.kernel.CheckBlueprint(ctx, session, b, d.person))
}

// blueprintFault places what the kernel says against an export.
func blueprintFault(err error) error {
	var tells *core.BlueprintError
	var left *core.EgressError
	switch {
	case errors.As(err, &tells):
		return &fault{code: codeDenied, message: tells.Error(), hint: "write it without that, and try again"}
	case errors.As(err, &left):
		f := &fault{code: codeDenied, message: left.Error()}
		if left.Question != 0 {
			f.hint = fmt.Sprintf("answer it with gatehouse queue answer %d %s, then try again", left.Question, core.EgressAllow)
		}
		return f
	}
	return err
}

func (a *app) printBlueprint(o blueprintObject) error {
	fmt.Fprintf(a.out, "%s\n", block(o.Contents))
	for _, name := range sortedNames(o.Renamed) {
		fmt.Fprintf(a.out, "Binding %s is called %s in it: its name is that of something it reaches.\n", name, o.Renamed[name])
	}
	_, err := fmt.Fprintf(a.out, "This is all of it: %d bytes. %s\n", o.Bytes, share.Promise)
	return err
}

func sortedNames(renamed map[core.BindingName]core.BindingName) []core.BindingName {
	var names []core.BindingName
	for name := range renamed {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// errUnwritten ends a command at whose prompt a person did not confirm.
var errUnwritten = errors.New("nothing was written")

// askExport returns the owner's word on a latched session, when a person wants the file.
func (a *app) askExport(ctx context.Context, p *parts, s core.SessionSummary, w blueprintWish, o blueprintObject) (core.LatchConsent, error) {
	consent := core.LatchConsent(0)
	if w.latched {
		consent = core.LatchConfirmed
	}
	if w.yes {
		return consent, nil
	}
	if !a.in.tty.stdin {
		f := usage("look at it, then add --yes", "nothing was written: there is no terminal to ask at")
		if a.json {
			f.told = true
			o.Error = &faultObject{string(f.code), f.message, f.hint}
			return 0, errors.Join(f, a.object(o))
		}
		return 0, f
	}
	word := "yes"
	if s.Latched {
		latch, _, err := p.kernel.Latch(ctx, string(s.ID))
		if err != nil {
			return 0, err
		}
		word = "latched"
		fmt.Fprintf(a.out, "The session is latched: %s read what only you may see.\n", line(latch.String()))
	}
	answer, err := a.prompt(ctx, bufio.NewReader(a.in.stdin), fmt.Sprintf("Type %s to write %s: ", word, line(w.out)))
	if err != nil {
		return 0, err
	}
	if answer != word {
		return 0, failedWith(errUnwritten)
	}
	if s.Latched {
		consent = core.LatchConfirmed
	}
	return consent, nil
}

// prompt asks a person at a terminal for a line.
func (a *app) prompt(ctx context.Context, from *bufio.Reader, question string) (string, error) {
	if err := a.out.Flush(); err != nil {
		return "", err
	}
	fmt.Fprint(a.in.stderr, question)
	answer, err := interruptibly(ctx, func() (string, error) { return from.ReadString('\n') })
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("standard input: %w", err)
	}
	return strings.TrimSpace(answer), nil
}

// readBounded reads a regular file of at most so many bytes.
func readBounded(path string, most int) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe would wait for its writer
	if err != nil {
		return nil, missingPath(path, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, usage("give a file", "%s: is no file", path)
	}
	raw, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > most {
		return nil, invalidFile("", "%s: more than %s bytes", path, strconv.Itoa(most))
	}
	return raw, nil
}

// writeFresh makes a file whole or not at all, and never in the place of another.
func writeFresh(path string, raw []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".gatehouse-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone where it was renamed
	_, err = f.Write(raw)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return usage("give another --out, or move it away", "%s: exists", path)
	}
	return os.Rename(f.Name(), path)
}
