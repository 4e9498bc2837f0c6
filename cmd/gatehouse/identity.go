package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"gatehouse/core"
	"gatehouse/core/share"
)

// keyFile is the variable that names a file with an identity to use instead of
// the kept one: what a process without a terminal has to have.
const keyFile = "GATEHOUSE_KEY_FILE"

const hintIdentity = "gatehouse identity init --name NAME makes one"

func (a *app) identityInitCommand() *cobra.Command {
	var name, tenant string
	c := &cobra.Command{
		Use:   "init",
		Short: "Make your keys: one signs files, one opens files for you",
		Long: `Make your keys: one signs the files you send, the other opens files that were
sealed to you. They are kept in one file that only you can read, under a
passphrase. With GATEHOUSE_KEY_FILE set they go to that file without one, for
scripts: whoever can read it is you.

Send colleagues the line that gatehouse identity export prints, and compare the
fingerprint with them by another way.`,
		Example: `  gatehouse identity init --name alice --tenant acme`,
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if name == "" {
				return usage("give the name by which colleagues know you", "identity init: --name is missing")
			}
			return a.identityInit(cmd.Context(), core.PersonID(name), tenant)
		},
	}
	c.Flags().StringVar(&name, "name", "", "the `NAME` by which colleagues know you")
	c.Flags().StringVar(&tenant, "tenant", "", "the `ORGANISATION` you belong to, as colleagues call it")
	return c
}

func (a *app) identityShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show",
		Short: "Show who you are to colleagues, with the fingerprint",
		Args:  exactly(),
		RunE: func(*cobra.Command, []string) error {
			locked, err := keptIdentity()
			if err != nil {
				return err
			}
			return a.printIdentity(locked)
		},
	}
}

func (a *app) identityExportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "export",
		Short: "Print the line to send to a colleague",
		Args:  exactly(),
		RunE: func(*cobra.Command, []string) error {
			locked, err := keptIdentity()
			if err != nil {
				return err
			}
			if a.json {
				return a.object(map[string]string{"line": locked.Public.Line(), "fingerprint": share.Fingerprint(locked.Public)})
			}
			a.say("compare the fingerprint by another way: %s", share.Fingerprint(locked.Public))
			_, err = fmt.Fprintln(a.out, line(locked.Public.Line()))
			return err
		},
	}
}

// identityPath is where the identity is kept, and whether a person named it.
func identityPath() (path string, named bool) {
	if path := os.Getenv(keyFile); path != "" {
		return path, true
	}
	return filepath.Join(configDir(), "identity.key"), false
}

// identityFile is identityPath for whom it does not matter who named it.
func identityFile() string {
	path, _ := identityPath()
	return path
}

func (a *app) identityInit(ctx context.Context, name core.PersonID, tenant string) error {
	path, named := identityPath()
	if _, err := os.Lstat(path); err == nil {
		return &fault{code: codeFailed, message: fmt.Sprintf("identity %s: exists already", path), hint: "move it away to make another; files for it open with it alone"}
	}
	id, err := share.NewIdentity(rand.Reader, name, tenant)
	if err != nil {
		return err
	}
	passphrase := ""
	if !named {
		if passphrase, err = a.newPassphrase(ctx); err != nil {
			return err
		}
	}
	raw, err := id.Encode(passphrase, 0)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(raw)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	locked, err := share.ParseIdentity(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	return a.printIdentity(locked)
}

func (a *app) printIdentity(l *share.Locked) error {
	path, _ := identityPath()
	words := share.Fingerprint(l.Public)
	if a.json {
		return a.object(struct {
			Name        core.PersonID `json:"name"`
			Tenant      string        `json:"tenant"`
			Line        string        `json:"line"`
			Fingerprint string        `json:"fingerprint"`
			File        string        `json:"file"`
			Protected   bool          `json:"protected"`
		}{l.Public.ID, l.Public.Tenant, l.Public.Line(), words, path, l.Protected})
	}
	return pairs(
		a.out, "",
		[2]string{"name", string(l.Public.ID)}, [2]string{"tenant", l.Public.Tenant}, [2]string{"fingerprint", words},
		[2]string{"kept in", path}, [2]string{"passphrase", yesNo(l.Protected)}, [2]string{"line", l.Public.Line()},
	)
}

// keptIdentity reads the identity as far as no passphrase is needed.
func keptIdentity() (*share.Locked, error) {
	path, named := identityPath()
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		hint := hintIdentity
		if named {
			hint = keyFile + " names it; " + hintIdentity
		}
		return nil, &fault{code: codeNotFound, message: fmt.Sprintf("identity %s: not found", path), hint: hint}
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	if info, err := file.Stat(); err == nil && info.Mode().Perm()&0o077 != 0 {
		return nil, &fault{code: codeDenied, message: fmt.Sprintf("identity %s: others can read it", path), hint: "chmod 600 " + path}
	}
	locked, err := share.ParseIdentity(file)
	var bad *share.InvalidError
	if errors.As(err, &bad) {
		return nil, invalidFile(hintIdentity, "identity %s: %s", path, bad.Reason)
	}
	return locked, err
}

// identity is the identity of this process, unlocked.
func (a *app) identity(ctx context.Context) (*share.Identity, error) {
	locked, err := keptIdentity()
	if err != nil {
		return nil, err
	}
	id, err := locked.UnlockAsking(func(attempt int) (string, error) {
		if !a.in.tty.stdin {
			return "", &fault{
				code: codeDenied, message: "identity: is kept under a passphrase, and there is no terminal to ask at",
				hint: "set " + keyFile + " to a file with an identity of its own, made by gatehouse identity init",
			}
		}
		prompt := "Passphrase of your identity: "
		if attempt > 0 {
			prompt = "That was not it. Passphrase: "
		}
		return a.passphrase(ctx, prompt)
	})
	if errors.Is(err, share.ErrPassphrase) {
		return nil, &fault{code: codeDenied, message: "identity: wrong passphrase, three times", hint: "nothing was opened"}
	}
	return id, err
}

func (a *app) newPassphrase(ctx context.Context) (string, error) {
	if !a.in.tty.stdin {
		return "", &fault{
			code: codeDenied, message: "identity: there is no terminal to ask for a passphrase at",
			hint: "set " + keyFile + " to the file that is to hold it without one",
		}
	}
	first, err := a.passphrase(ctx, "Passphrase for your identity: ")
	if err != nil {
		return "", err
	}
	again, err := a.passphrase(ctx, "Once more: ")
	switch {
	case err != nil:
		return "", err
	case first != again:
		return "", failedWith(errors.New("the two passphrases differ; nothing was made"))
	case len(first) < 8:
		return "", failedWith(errors.New("a passphrase has at least 8 characters; nothing was made"))
	}
	return first, nil
}

// passphrase reads one line that is not shown.
func (a *app) passphrase(ctx context.Context, prompt string) (string, error) {
	fmt.Fprint(a.in.stderr, prompt)
	defer fmt.Fprintln(a.in.stderr)
	in, ok := a.in.stdin.(*os.File)
	if !ok {
		return "", errors.New("passphrase: standard input is no terminal")
	}
	state, err := term.GetState(in.Fd())
	if err != nil {
		return "", fmt.Errorf("passphrase: %w", err)
	}
	raw, err := interruptibly(ctx, func() ([]byte, error) { return term.ReadPassword(in.Fd()) })
	if err != nil {
		return "", errors.Join(fmt.Errorf("passphrase: %w", err), term.Restore(in.Fd(), state))
	}
	return string(raw), nil
}
