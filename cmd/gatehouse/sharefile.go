package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"gatehouse/core"
	"gatehouse/core/share"
)

func (a *app) inspectCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "inspect FILE",
		Short: "Show what a session file says of itself; needs no key",
		Args:  exactly("FILE"),
		RunE:  func(cmd *cobra.Command, args []string) error { return a.inspect(cmd.Context(), args[0]) },
	}
}

func (a *app) verifyFileCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify FILE",
		Short: "Check a session file and every source in it, and open nothing",
		Args:  exactly("FILE"),
		RunE:  func(cmd *cobra.Command, args []string) error { return a.openFile(cmd.Context(), args[0], false) },
	}
}

func (a *app) openFileCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "open FILE",
		Short: "Open a session file, after every source was checked",
		Long: `Open a session file: its signature, who sent it, whether it is for you, and then
every source it was made from, asked with your own connections. Where all pass
it becomes a session that is only to be looked at; gatehouse session continue
makes it one to work in. Given the notice of a withdrawal, keeps that.

Exit codes: 3 denied, 4 not found, 5 a service did not answer, 6 no valid file.`,
		Args: exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.openFile(cmd.Context(), args[0], true) },
	}
}

func (a *app) continueCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "continue SESSION",
		Short: "Make a session that came in a file one to work in",
		Long: `Make a session that came in a file one to work in. It has no bindings: its agent
reaches what you bind from now on. What is in it are somebody else's words.`,
		Args: exactly("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.parts(cmd.Context())
			if err != nil {
				return err
			}
			s, err := p.kernel.ContinueShared(cmd.Context(), args[0], a.authority(p))
			if err != nil {
				return err
			}
			return a.printSession(cmd.Context(), p, string(s.ID))
		},
	}
}

func (a *app) withdrawCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "withdraw FILE",
		Short: "Print a notice that takes a file of yours back",
		Long: `Print a signed notice that takes a session file of yours back, and all before it.
It holds for whoever opens the notice (gatehouse session open) before the file.
It cannot take back what somebody has opened already.`,
		Example: `  gatehouse session withdraw site.gatehouse > site.notice`,
		Args:    exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, closeFile, err := openShared(args[0])
			if err != nil {
				return err
			}
			defer closeFile()
			id, err := a.identity(cmd.Context())
			if err != nil {
				return err
			}
			if f.Header.Sender != id.SigningKey() {
				return &fault{code: codeDenied, message: "file " + args[0] + ": was not sent by you", hint: "its sender can take it back"}
			}
			_, err = fmt.Fprintln(a.out, id.Withdraw(f.Header.File, f.Header.Serial))
			return err
		},
	}
}

func (a *app) proposalsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "proposals SESSION",
		Short: "List what was pending in a session that came in a file",
		Long: `List what was pending in a session that came in a file. Nothing of it is queued:
submit what you want again, through a binding of yours, with gatehouse call.`,
		Args: exactly("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.proposals(cmd.Context(), args[0]) },
	}
}

func (a *app) proposals(ctx context.Context, session string) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	if err := a.enter(ctx, p, session, core.RoleView); err != nil {
		return err
	}
	proposals, err := p.kernel.SharedProposals(ctx, session)
	if err != nil {
		return err
	}
	t := newTable("NUMBER", "KIND", "TITLE", "CALL")
	for _, q := range proposals {
		if a.json {
			if err := a.object(q); err != nil {
				return err
			}
			continue
		}
		t.add(strconv.Itoa(q.Number), q.Kind, q.Title, string(q.Binding)+"."+q.Method+" "+string(q.Args))
	}
	if a.json {
		return nil
	}
	return t.print(a.out, "nothing was pending")
}

// openShared opens a file as far as its header. Its faults are exit 6, and 4
// where there is none.
func openShared(path string) (*share.File, func(), error) {
	file, size, err := openRegular(path)
	if err != nil {
		return nil, nil, err
	}
	f, err := share.Open(file, size)
	if err != nil {
		_ = file.Close() // only read
		return nil, nil, err
	}
	return f, func() { _ = file.Close() }, nil
}

// openRegular opens a file that has an end. What is none is refused without
// waiting for it: opening a pipe the usual way lasts until somebody writes.
func openRegular(path string) (*os.File, int64, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = invalidFile("give the path of a session file", "file %s: is no regular file", path)
	}
	if err != nil {
		_ = file.Close() // nothing was read
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// headerObject is what --json prints of a header.
type headerObject struct {
	File       string   `json:"file"`
	Level      string   `json:"level"`
	Promise    string   `json:"promise"`
	Serial     uint64   `json:"serial"`
	Sender     string   `json:"sender"`
	SenderKey  string   `json:"sender_key"`
	Recipients []string `json:"recipients"`
	Created    *string  `json:"created"`
	Expires    *string  `json:"expires"`
	Size       uint64   `json:"size"`
	Whole      bool     `json:"whole"`
}

func (a *app) inspect(ctx context.Context, path string) error {
	f, closeFile, err := openShared(path)
	if err != nil {
		return err
	}
	defer closeFile()
	if err := f.CheckSealed(a.bar("checking")); err != nil {
		return err
	}
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	people, err := p.kernel.People(ctx)
	if err != nil {
		return err
	}
	h := f.Header
	sender := ""
	names := make([]string, len(h.Recipients))
	for _, q := range people {
		if q.Signing != "" && q.Signing == h.Sender {
			sender = string(q.ID)
		}
		for i, key := range h.Recipients {
			if q.Sealing == key {
				names[i] = string(q.ID)
			}
		}
	}
	if locked, err := keptIdentity(); err == nil {
		if locked.Public.Signing == h.Sender {
			sender = "you"
		}
		for i, key := range h.Recipients {
			if key == locked.Public.Sealing {
				names[i] = "you"
			}
		}
	}
	size := uint64(h.ManifestSize) + h.BodySize
	if a.json {
		return a.object(headerObject{
			File: h.File.String(), Level: string(h.Level), Promise: h.Level.Says(), Serial: h.Serial, Sender: sender, SenderKey: h.Sender,
			Recipients: h.Recipients, Created: jsonTime(h.Created), Expires: jsonTime(h.Expires), Size: size, Whole: true,
		})
	}
	if sender == "" {
		sender = "nobody this store knows: " + h.Sender
	}
	rows := [][2]string{
		{"file", h.File.String()},
		{"level", string(h.Level) + ": " + h.Level.Says()},
		{"serial", strconv.FormatUint(h.Serial, 10)},
		{"sender", sender},
		{"created", stamp(h.Created)},
		{"expires", stamp(h.Expires)},
		{"size", strconv.FormatUint(size, 10) + " bytes"},
	}
	for i, key := range h.Recipients {
		if names[i] == "" {
			names[i] = key
		}
		rows = append(rows, [2]string{"for", names[i]})
	}
	if err := pairs(a.out, "", rows...); err != nil {
		return err
	}
	a.say("%s", share.Promise)
	return nil
}

// openedObject is what --json prints of an open or a verify.
type openedObject struct {
	File     string          `json:"file"`
	Level    string          `json:"level"`
	Sender   core.PersonID   `json:"sender"`
	Verdicts []verdictObject `json:"verdicts"`
	Opened   bool            `json:"opened"`
	Session  core.SessionID  `json:"session,omitempty"`
	Error    *faultObject    `json:"error,omitempty"`
}

func (a *app) openFile(ctx context.Context, path string, release bool) error {
	if notice, err := noticeIn(path); err != nil || notice != nil {
		return errors.Join(err, a.keepNotice(ctx, notice))
	}
	f, closeFile, err := openShared(path)
	if err != nil {
		return err
	}
	defer closeFile()
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	id, err := a.identity(ctx)
	if err != nil {
		return err
	}
	entry, err := share.Enter(ctx, p.kernel, f, id, a.authority(p), a.bar("checking"))
	if err != nil {
		return err
	}
	out := openedObject{File: f.Header.File.String(), Level: string(f.Header.Level), Sender: entry.Sender}
	var session core.Session
	if err = entry.Passed(ctx); err == nil && release {
		session, err = entry.Release(ctx, a.bar("opening"))
		out.Opened, out.Session = err == nil, session.ID
	}
	out.Verdicts = verdictsOf(entry.Lines())
	return a.printOpened(ctx, p, out, err)
}

func verdictsOf(lines []core.OpenLine) []verdictObject {
	out := make([]verdictObject, len(lines))
	for i, l := range lines {
		out[i] = verdictObject{l.Name, l.Connection, l.Check.Access, l.Check.Reason}
	}
	return out
}

func (a *app) printOpened(ctx context.Context, p *parts, o openedObject, err error) error {
	var f *fault
	if err != nil {
		f = a.faultOf(ctx, err)
	}
	if a.json {
		if f != nil {
			o.Error = &faultObject{string(f.code), f.message, f.hint}
			f.told = true
			return errors.Join(f, a.object(o))
		}
		return a.object(o)
	}
	t := newTable("SOURCE", "CONNECTION", "VERDICT", "REASON")
	for _, v := range o.Verdicts {
		t.add(v.Unit, string(v.Connection), string(v.Verdict), v.Reason)
	}
	if printed := t.print(a.out, "no source has to be checked"); f != nil || printed != nil {
		if f == nil {
			return printed
		}
		return errors.Join(f, printed)
	}
	if !o.Opened {
		a.say("it would open; gatehouse session open does")
		return nil
	}
	if err := a.printSession(ctx, p, string(o.Session)); err != nil {
		return err
	}
	a.say("only to be looked at: gatehouse session continue %s makes it one to work in", string(o.Session))
	return nil
}

// noticeIn reads the notice of a withdrawal, where that is what a file is.
func noticeIn(path string) (*share.Notice, error) {
	file, _, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	raw, err := io.ReadAll(io.LimitReader(file, 4096))
	if err != nil || !share.IsNotice(raw) {
		return nil, err
	}
	n, err := share.ParseNotice(string(raw))
	return &n, err
}

func (a *app) keepNotice(ctx context.Context, n *share.Notice) error {
	if n == nil {
		return nil
	}
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	seen := core.SeenFile{Sender: n.Sender, File: n.File.String(), Revoked: n.Serial}
	if err := p.kernel.Withdraw(ctx, seen, a.authority(p)); err != nil {
		return err
	}
	if a.json {
		return a.object(map[string]any{"file": n.File.String(), "serial": n.Serial, "withdrawn": true})
	}
	a.say("file %s up to serial %d was taken back by its sender and does not open any more", n.File.String(), int(n.Serial))
	return nil
}

// progress is a bar on a terminal and nothing elsewhere.
func (a *app) bar(what string) share.Progress {
	if !a.in.tty.stderr || a.json {
		return nil
	}
	var last time.Time
	return func(done, total int64) {
		now := time.Now()
		if total == 0 || (done < total && now.Sub(last) < 100*time.Millisecond) {
			return
		}
		last = now
		fmt.Fprintf(a.in.stderr, "\r%s %3d %%", what, done*100/total)
		if done == total {
			fmt.Fprint(a.in.stderr, "\r\033[K")
		}
	}
}
