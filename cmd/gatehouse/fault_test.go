package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/store"
)

func TestExitCodes(t *testing.T) {
	stopped, stop := context.WithCancel(context.Background())
	stop()
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want int
	}{
		{context.Background(), errors.New("anything else"), 1},
		{context.Background(), fmt.Errorf("name: %w", core.ErrNameTaken), 1},
		{context.Background(), &core.LostRaceError{Action: 3, State: core.StateApplied}, 1},
		{context.Background(), store.ErrReadOnly, 1},
		{context.Background(), usage("", "wrong"), 2},
		{context.Background(), core.Invalid("wrong"), 2},
		{context.Background(), &core.JSONError{Offset: 3, Err: errors.New("x")}, 2},
		{context.Background(), &core.DecisionRefusedError{Text: "no"}, 3},
		{context.Background(), core.ErrNoPerson, 3},
		{context.Background(), &core.NotFoundError{What: "session", Name: "x"}, 4},
		{context.Background(), fmt.Errorf("folder: %w", core.ErrNotFound), 4},
		{context.Background(), &fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}, 4},
		{context.Background(), &fault{code: codeUnreachable}, 5},
		{context.Background(), core.ErrForeignFile, 6},
		{context.Background(), core.ErrNewerSchema, 6},
		{context.Background(), store.ErrDamaged, 6},
		{stopped, fmt.Errorf("call: %w", context.Canceled), 130},
	} {
		if got := new(app).faultOf(c.ctx, c.err).code.exit(); got != c.want {
			t.Errorf("%v: got %d, want %d", c.err, got, c.want)
		}
	}
}

// K19: whatever is in an error, a person gets one clean line, a program one object.
func TestK19_FaultIsOneCleanLine(t *testing.T) {
	f := &fault{code: codeFailed, message: "two\nlines \x1b[31mred\u202e", hint: "do\nthis"}
	var out, complaints bytes.Buffer
	a := newApp(invocation{stdout: &out, stderr: &complaints}, additions{})
	a.showFault(f)
	if got, want := complaints.String(), "gatehouse: two lines red; do this\n"; got != want || out.Len() > 0 {
		t.Errorf("got %q and %q on stdout, want %q", got, out.String(), want)
	}
	complaints.Reset()
	a.json = true
	a.showFault(f)
	want := `{"error":{"code":"failed","message":"two lines red","hint":"do this"}}` + "\n"
	if got := out.String(); got != want || complaints.Len() > 0 {
		t.Errorf("got %q and %q on stderr, want %q", got, complaints.String(), want)
	}
}

// T29: no screen is opened without a terminal that can show one.
func TestT29_NoScreen(t *testing.T) {
	for _, c := range []struct {
		tty  terminals
		term string
		want string
	}{
		{terminals{true, true, true}, "xterm", ""},
		{terminals{false, true, true}, "xterm", "standard input"},
		{terminals{true, false, true}, "xterm", "standard output"},
		{terminals{true, true, true}, "dumb", "TERM"},
		{terminals{true, true, true}, "", "TERM"},
	} {
		t.Setenv("TERM", c.term)
		got := newApp(invocation{tty: c.tty}, additions{}).noScreen()
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v, TERM=%s: got %q, want %q", c.tty, c.term, got, c.want)
		}
	}
}

// Ctrl-C ends a command that waits at a prompt or for standard input.
func TestInterruptibly(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	forever := make(chan struct{})
	defer close(forever)
	begun := make(chan struct{})
	go func() { <-begun; stop() }()
	_, err := interruptibly(ctx, func() (int, error) {
		close(begun)
		<-forever
		return 1, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if got, err := interruptibly(context.Background(), func() (int, error) { return 7, nil }); got != 7 || err != nil {
		t.Errorf("got %d, %v; want 7", got, err)
	}
}
