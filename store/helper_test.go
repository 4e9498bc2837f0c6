package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"gatehouse/core"
)

// The test binary runs again as another process that does one of these things with the store in GATEHOUSE_TEST_PATH.
const (
	helperVariable = "GATEHOUSE_TEST_HELPER"
	pathVariable   = "GATEHOUSE_TEST_PATH"
	countVariable  = "GATEHOUSE_TEST_COUNT"
)

func TestMain(m *testing.M) {
	if what := os.Getenv(helperVariable); what != "" {
		if err := helpers()[what](os.Getenv(pathVariable)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func helpers() map[string]func(path string) error {
	return map[string]func(path string) error{
		"open":       helpOpen,
		"open-other": helpOpenOther,
		"write":      helpWrite,
		"hold":       helpHold,
		"join":       helpJoin,
	}
}

// helpOpen opens the store and closes it.
func helpOpen(path string) error {
	db, err := Open(context.Background(), Options{Path: path})
	if err != nil {
		return err
	}
	return db.Close()
}

// helpOpenOther does it as a user for whom modes bind.
func helpOpenOther(path string) error {
	if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(65534), syscall.Setuid(65534)); err != nil {
		return err
	}
	return helpOpen(path)
}

// helpWrite counts its own row up, reading before it writes, and appends to the record each time.
func helpWrite(path string) error {
	rounds, err := strconv.Atoi(os.Getenv(countVariable))
	if err != nil {
		return err
	}
	db, err := Open(context.Background(), Options{Path: path})
	if err != nil {
		return err
	}
	for range rounds {
		err := db.Write(context.Background(), func(tx core.Tx) error {
			a, err := tx.ActionState(1)
			if err != nil {
				return err
			}
			after := a
			after.Reason = strconv.FormatInt(a.Version, 10)
			if won, err := tx.ChangeAction(a, &after); err != nil || !won {
				return fmt.Errorf("compare-and-set inside a transaction: %t (%w)", won, err)
			}
			return tx.Append(core.Entry{At: noon, Type: core.EventOpened, Actor: "bob"})
		})
		if err != nil {
			return err
		}
	}
	return db.Close()
}

// helpHold sits in a transaction until its standard input ends.
func helpHold(path string) error {
	db, err := Open(context.Background(), Options{Path: path})
	if err != nil {
		return err
	}
	err = db.Write(context.Background(), func(core.Tx) error {
		fmt.Println("held")
		return waitForInput()
	})
	return errors.Join(err, db.Close())
}

// helpJoin lives as a process until its standard input ends, and prints its id.
func helpJoin(path string) error {
	p, err := Join(path)
	if err != nil {
		return err
	}
	fmt.Println(p.Self())
	return waitForInput() // and ends without Close, as if killed
}

func waitForInput() error {
	_, err := os.Stdin.Read(make([]byte, 1))
	if err != nil && err.Error() == "EOF" {
		return nil
	}
	return err
}

func helper(t testing.TB, what, path string, env ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), append(env, helperVariable+"="+what, pathVariable+"="+path)...)
	return cmd
}

// together runs several processes at once and gives back what they printed as errors.
func together(t testing.TB, cmds ...*exec.Cmd) {
	t.Helper()
	outputs := make([]bytes.Buffer, len(cmds))
	for i, c := range cmds {
		c.Stdout, c.Stderr = &outputs[i], &outputs[i]
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range cmds {
		if err := c.Wait(); err != nil {
			t.Errorf("process %d: %v: %s", i, err, outputs[i].String())
		}
	}
}

// started runs a helper that prints one line when it is ready; end lets it finish and waits.
func started(t testing.TB, cmd *exec.Cmd) (line string, end func()) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 256)
	n, err := out.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	ended := false
	end = func() {
		if ended {
			return
		}
		ended = true
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(end)
	return strings.TrimSpace(string(buf[:n])), end
}
