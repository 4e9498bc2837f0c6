package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gatehouse/core"
	"gatehouse/core/share"
)

// exportFlags are what a person says of a file.
type exportFlags struct {
	people  []string
	level   string
	until   int
	out     string
	expires time.Duration
	redact  bool
	yes     bool
}

func (a *app) exportCommand() *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use:   "export SESSION",
		Short: "Seal a session into a file for colleagues",
		Long: `Seal a session into a file for colleagues. Before a byte is written it shows what
leaves, for whom, and what looked like a secret; without --yes it asks.

  replay    what was asked and called before the first source that is not
            cleared for them, and no results
  sealed    what was said and read; every source it was made from is asked about
            every recipient now, and theirs are asked again when they open it
  archive   everything, sealed to yourself; never called sharing

` + share.Promise,
		Example: `  gatehouse session export site --for bob --level sealed --out site.gatehouse
  gatehouse session export site --for bob --level sealed --until 2 --out site.gatehouse --yes
  gatehouse session export site --level archive --out site.gatehouse`,
		Args: exactly("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.out == "":
				return usage("say where to write it", "session export: --out is missing")
			case f.level == "":
				return usage("use replay, sealed or archive", "session export: --level is missing")
			case f.expires < 0:
				return usage("give a time to come, such as 720h", "session export: --expires %s", f.expires)
			case f.level == string(core.LevelBlueprint):
				return usage("gatehouse blueprint export makes one", "level blueprint: is a file of another kind")
			}
			return a.export(cmd.Context(), args[0], f)
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.people, "for", nil, "`PERSON` to seal it for; several are possible")
	flags.StringVar(&f.level, "level", "", "replay, sealed or archive")
	flags.IntVar(&f.until, "until", 0, "the last `TURN` that goes along")
	flags.StringVar(&f.out, "out", "", "the `FILE` to write")
	flags.DurationVar(&f.expires, "expires", 0, "how `LONG` it opens, such as 720h; always otherwise")
	flags.BoolVar(&f.redact, "redact", false, "take out what looks like a secret, and list it")
	flags.BoolVar(&f.yes, "yes", false, "do not ask")
	return c
}

func (a *app) export(ctx context.Context, session string, f exportFlags) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	if err := a.enter(ctx, p, session, core.RoleOwner); err != nil {
		return err
	}
	if _, err := os.Lstat(f.out); err == nil {
		return &fault{code: codeFailed, message: fmt.Sprintf("file %s: exists already", f.out), hint: "give another name with --out"}
	}
	id, err := a.identity(ctx)
	if err != nil {
		return err
	}
	request := core.ExportRequest{Session: session, Level: core.ShareLevel(f.level), Until: f.until, Tenant: id.Person().Tenant}
	for _, name := range f.people {
		request.For = append(request.For, core.PersonID(name))
	}
	d, err := p.kernel.PrepareExport(ctx, request, a.authority(p))
	if err != nil {
		return a.exportDenied(err)
	}
	packing := share.Packing{Redact: f.redact}
	if f.expires > 0 {
		packing.Expires = time.Now().Add(f.expires)
	}
	parcel, err := share.Pack(ctx, d, id, packing)
	if err != nil {
		return a.secretsFound(err)
	}
	if err := a.askLeave(ctx, parcel, f); err != nil {
		return err
	}
	return a.writeParcel(ctx, parcel, f.out)
}

// exportDenied shows every person and source that speaks against a file.
func (a *app) exportDenied(err error) error {
	var denied *core.ExportDeniedError
	if !errors.As(err, &denied) {
		return err
	}
	f := &fault{code: codeDenied, message: denied.Error(), hint: denied.Hint()}
	type lineObject struct {
		Person  core.PersonID `json:"person"`
		Unit    string        `json:"unit"`
		Verdict core.Access   `json:"verdict"`
		Reason  string        `json:"reason"`
	}
	objects := []lineObject{}
	t := newTable("PERSON", "SOURCE", "VERDICT", "REASON")
	for _, l := range denied.Lines {
		objects = append(objects, lineObject{l.Person, l.Unit.String(), l.Check.Access, l.Check.Reason})
		t.add(string(l.Person), l.Unit.String(), string(l.Check.Access), l.Check.Reason)
	}
	if a.json {
		f.told = true
		return errors.Join(f, a.object(struct {
			Refused []lineObject      `json:"refused"`
			Offers  []core.ShareLevel `json:"offers"`
			Error   faultObject       `json:"error"`
		}{objects, denied.Offers, faultObject{string(f.code), f.message, f.hint}}))
	}
	return errors.Join(f, t.print(a.out, ""))
}

// secretsFound lists the places of what looks like a secret.
func (a *app) secretsFound(err error) error {
	var found *share.SecretsError
	if !errors.As(err, &found) {
		return err
	}
	f := &fault{code: codeDenied, message: found.Error(), hint: "look at it, then take it out of what leaves with --redact"}
	if a.json {
		f.told = true
		return errors.Join(f, a.object(struct {
			Secrets []share.Finding `json:"secrets"`
			Error   faultObject     `json:"error"`
		}{found.Findings, faultObject{string(f.code), f.message, f.hint}}))
	}
	return errors.Join(f, printFindings(a, found.Findings))
}

func printFindings(a *app, findings []share.Finding) error {
	t := newTable("LOOKS LIKE", "TIMES", "WHERE")
	for _, f := range findings {
		t.add(f.Kind, strconv.Itoa(f.Count), f.Place)
	}
	return t.print(a.out, "")
}

// askLeave shows exactly what leaves and returns nil when it may.
func (a *app) askLeave(ctx context.Context, p *share.Parcel, f exportFlags) error {
	if f.yes {
		if a.json {
			return nil
		}
		return a.printParcel(p)
	}
	if !a.in.tty.stdin {
		fault := usage("look at what leaves, then add --yes", "nothing was written: there is no terminal to ask at")
		if a.json {
			fault.told = true
			o := objectOfParcel(p)
			o.Error = &faultObject{string(fault.code), fault.message, fault.hint}
			return errors.Join(fault, a.object(o))
		}
		return errors.Join(fault, a.printParcel(p))
	}
	if err := errors.Join(a.printParcel(p), a.out.Flush()); err != nil {
		return err
	}
	fmt.Fprint(a.in.stderr, "Type yes to write it: ")
	answer, err := interruptibly(ctx, func() (string, error) { return bufio.NewReader(a.in.stdin).ReadString('\n') })
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("standard input: %w", err)
	}
	if strings.TrimSpace(answer) != "yes" {
		return failedWith(errUnwritten)
	}
	return nil
}

// parcelObject is what --json prints of what leaves, or left.
type parcelObject struct {
	Session  core.SessionID  `json:"session"`
	Level    core.ShareLevel `json:"level"`
	For      []core.PersonID `json:"for"`
	Until    int             `json:"until"`
	Units    []string        `json:"units"`
	Counts   share.Counts    `json:"counts"`
	Parts    []share.Part    `json:"parts"`
	Redacted []share.Finding `json:"redacted"`
	Promise  string          `json:"promise"`
	File     string          `json:"file,omitempty"`
	Serial   uint64          `json:"serial,omitempty"`
	Written  string          `json:"written,omitempty"`
	Error    *faultObject    `json:"error,omitempty"`
}

func objectOfParcel(p *share.Parcel) parcelObject {
	d := p.Departure
	o := parcelObject{
		Session: d.Session.ID, Level: p.Level, Until: d.Until, Counts: p.Counts, Parts: list(p.Parts), Redacted: list(p.Findings), Promise: share.Promise,
		For: []core.PersonID{}, Units: []string{},
	}
	for _, q := range d.People {
		o.For = append(o.For, q.ID)
	}
	for _, u := range d.Set {
		o.Units = append(o.Units, u.Found.Unit.String())
	}
	return o
}

func (a *app) printParcel(p *share.Parcel) error {
	if err := a.printParts(p); err != nil {
		return err
	}
	c := p.Counts
	rows := [][2]string{
		{"session", string(p.Departure.Session.ID) + " " + p.Departure.Session.Name},
		{"level", string(p.Level) + ": " + p.Level.Says()},
		{"turns", fmt.Sprintf("%d, with %d messages, %d steps, %d answers", c.Turns, c.Messages, c.Steps, c.Answers)},
		{"left out", fmt.Sprintf("%d steps", c.Holes)},
		{"proposals", strconv.Itoa(c.Proposals)},
		{"size", strconv.FormatInt(c.Bytes, 10) + " bytes"},
	}
	if len(p.Departure.People) == 0 {
		rows = append(rows, [2]string{"for", "yourself"})
	}
	for _, q := range p.Departure.People {
		rows = append(rows, [2]string{"for", string(q.ID) + ": " + share.Fingerprint(q)})
	}
	for _, u := range p.Departure.Set {
		rows = append(rows, [2]string{"made from", u.Found.Unit.String()})
	}
	if err := pairs(a.out, "", rows...); err != nil {
		return err
	}
	if len(p.Findings) > 0 {
		if err := printFindings(a, p.Findings); err != nil {
			return err
		}
		a.say("the above are taken out")
	}
	if p.Level != core.LevelArchive {
		a.say("%s", share.Promise)
	}
	return nil
}

// printParts lists what leaves, in its order.
func (a *app) printParts(p *share.Parcel) error {
	t := newTable("TURN", "STEP", "WHAT LEAVES", "BYTES", "BEGINS")
	for _, part := range p.Parts {
		t.add(number(part.Turn), number(part.Step), part.Kind, strconv.Itoa(part.Bytes), part.Text)
	}
	if more := p.Manifest.Pieces - len(p.Parts); more > 0 {
		t.add("", "", fmt.Sprintf("and %d more", more), "", "")
	}
	if err := t.print(a.out, ""); err != nil {
		return err
	}
	_, err := fmt.Fprintln(a.out)
	return err
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// writeParcel seals beside the place where the file is to be and moves it there
// when it is whole: no half file is ever left under its name.
func (a *app) writeParcel(ctx context.Context, p *share.Parcel, path string) (err error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	header, err := leaveAs(ctx, p, absolute, a.bar("sealing"))
	if err != nil {
		return err
	}
	if a.json {
		o := objectOfParcel(p)
		o.File, o.Serial, o.Written = header.File.String(), header.Serial, absolute
		return a.object(o)
	}
	a.say("written to %s", absolute)
	return nil
}

// leaveAs asks the policy, writes the file and completes the record.
func leaveAs(ctx context.Context, p *share.Parcel, absolute string, bar share.Progress) (share.Header, error) {
	leaving := p.Leaving("file "+filepath.Base(absolute), rand.Reader)
	given, err := p.Departure.Leave(ctx, leaving)
	if err != nil {
		return share.Header{}, err
	}
	header, err := sealInto(ctx, p, given, absolute, bar)
	noted := p.Departure.Left(context.WithoutCancel(ctx), given, leaving, header.ManifestHash.String(), err)
	return header, errors.Join(err, noted)
}

func sealInto(ctx context.Context, p *share.Parcel, s core.Share, path string, bar share.Progress) (h share.Header, err error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".gatehouse-*")
	if err != nil {
		return h, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	h, err = p.Write(ctx, file, s, bar)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return h, err
	}
	err = os.Rename(file.Name(), path)
	return h, err
}
