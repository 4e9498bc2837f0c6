// Gatehouse is the front door: flags, configuration, wiring. It builds the
// parts, hands them to each other and starts a front end; no rule lives here.
//
// Where to look:
//
//	main.go     start and end of the process
//	fault.go    every error a person sees, and the one switch of exit codes
//	root.go     the tree of commands, misspelt ones
//	config.go   the table of configuration keys
//	parts.go    the wiring
//	print.go    what reaches a terminal or a script, and cleaned how
//
// and one file for each family of commands. Every command is a function of the
// invocation, so
// that tests run it with streams and drivers of their own.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"gatehouse/core"
)

func main() {
	os.Exit(run(process(), additions{}))
}

// invocation is what a process was started with.
type invocation struct {
	args   []string // without the program's name
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	tty    terminals
}

// terminals says which of the three streams a person sits at.
type terminals struct{ stdin, stdout, stderr bool }

// additions are what a test's binary has beyond the shipped one.
type additions struct {
	gatekeepers func() []core.Gatekeeper
	fault       core.Fault
}

// process is the invocation of this process.
func process() invocation {
	return invocation{
		args: os.Args[1:], stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		tty: terminals{stdin: terminal(os.Stdin), stdout: terminal(os.Stdout), stderr: terminal(os.Stderr)},
	}
}

// run carries an invocation out and returns the exit code.
func run(in invocation, more additions) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	a := newApp(in, more)
	err := a.execute(ctx)
	if flushed := a.out.Flush(); err == nil && flushed != nil {
		err = failedWith(flushed)
	}
	if closed := a.close(); err == nil && closed != nil {
		err = failedWith(closed)
	}
	if err == nil {
		return 0
	}
	f := a.faultOf(ctx, err)
	a.showFault(f)
	return f.code.exit()
}

// interruptibly waits for a read of standard input, which no context ends by
// itself: the read that is given up ends with the process.
func interruptibly[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		value, err := read()
		answers <- answer{value, err}
	}()
	select {
	case got := <-answers:
		return got.value, got.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
