package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"
)

// crowd is one store that several processes of the program work on.
type crowd struct {
	t   *testing.T
	dir string
	env []string
}

func newCrowd(t *testing.T) *crowd {
	dir := t.TempDir()
	return &crowd{t, dir, []string{
		"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "HOME=" + dir, "XDG_DATA_HOME=" + dir,
		"XDG_CONFIG_HOME=" + dir, "XDG_STATE_HOME=" + dir,
	}}
}

// gatehouse runs a command to its end. What a person would read on standard error is checked whatever the exit code is.
func (c *crowd) gatehouse(args ...string) (out string, err error) {
	command := exec.Command("gatehouse", args...)
	command.Env, command.Dir = c.env, c.dir
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err = command.Run()
	c.clean(fmt.Sprintf("gatehouse %q", args), stderr.String()+stdout.String())
	if err != nil {
		err = fmt.Errorf("gatehouse %q: %w: %s", args, err, stderr.String())
	}
	return stdout.String(), err
}

// clean: nobody is told that the store was busy (A12).
func (c *crowd) clean(who, words string) {
	if found := regexp.MustCompile(`(?i)sqlite|database is locked|busy`).FindString(words); found != "" {
		c.t.Errorf("%s said %q: %s", who, found, words)
	}
}

func (c *crowd) must(args ...string) string {
	c.t.Helper()
	out, err := c.gatehouse(args...)
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

// screens are the screens of the program on a terminal; wait returns when some words were written to it.
type screens struct {
	t       *testing.T
	keys    io.Writer
	mu      sync.Mutex
	written []byte
	more    chan struct{}
}

func (c *crowd) screens() *screens {
	c.t.Helper()
	outer, inner := openTerminal(c.t)
	command := exec.Command("gatehouse")
	command.Env, command.Dir, command.Stdin, command.Stdout, command.Stderr = c.env, c.dir, inner, inner, inner
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := command.Start(); err != nil {
		c.t.Fatal(err)
	}
	_ = inner.Close() // the program has its own
	s := &screens{t: c.t, keys: outer, more: make(chan struct{}, 1)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(s, outer) // ends with the program
	}()
	c.t.Cleanup(func() {
		_ = command.Process.Kill() // it may have ended
		_ = command.Wait()
		_ = outer.Close()
		<-read
		c.clean("the screens", string(s.written))
	})
	return s
}

// Write takes what the program writes.
func (s *screens) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written = append(s.written, p...)
	select {
	case s.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

// wait asks for what is new whenever something was written: what arrives stays out of a list until then (T22).
func (s *screens) wait(words string) {
	s.t.Helper()
	given := time.After(time.Minute)
	for {
		s.mu.Lock()
		there := bytes.Contains(s.written, []byte(words))
		s.mu.Unlock()
		if there {
			return
		}
		if _, err := io.WriteString(s.keys, "."); err != nil {
			s.t.Fatal(err)
		}
		select {
		case <-s.more:
		case <-given:
			s.t.Fatalf("the screens never wrote %q: %q", words, s.written[max(0, len(s.written)-3000):])
		}
	}
}

// TestA12_OneQueueForAll: five processes that call, two that decide, each one command after the other, and the screens,
// on one store. Nobody is told of a busy store, nothing is lost and nothing happens twice, and the screens see it.
func TestA12_OneQueueForAll(t *testing.T) {
	const callers, each, deciders = 5, 4, 2
	c := newCrowd(t)
	service := filepath.Join(c.dir, "acme.json")
	c.must("session", "new", "work")
	c.must("bind", "work", "MEM", "memory://acme/notes?file="+service+"&seed=1")
	ui := c.screens()
	ui.wait("Queue")

	var group, calling sync.WaitGroup
	done := make(chan struct{})
	for i := range callers {
		calling.Go(func() {
			for n := range each {
				_, err := c.gatehouse("call", "work", "MEM.create", fmt.Sprintf(`{"title":"from %d, %d"}`, i, n))
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range deciders {
		group.Go(func() {
			for {
				_, err := c.gatehouse("queue", "approve", "@work", "--yes", "--json")
				if err != nil && !regexp.MustCompile("exit status [14]").MatchString(err.Error()) { // some were decided by the other, or all
					t.Error(err)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	calling.Wait()
	close(done)
	group.Wait()
	_, _ = c.gatehouse("queue", "approve", "@work", "--yes") // what came last; there may be nothing
	c.wantAll(service, callers*each)
	c.must("call", "work", "MEM.create", `{"title":"the last one"}`)
	ui.wait("the last one")
}

// wantAll: every action is applied and has its one effect, and the store is whole.
func (c *crowd) wantAll(service string, n int) {
	c.t.Helper()
	listed := c.must("queue", "list", "--state", "applied", "--json")
	if got := len(regexp.MustCompile(`"state": ?"applied"`).FindAllString(listed, -1)); got != n {
		c.t.Errorf("got %d applied, want %d: %s", got, n, listed)
	}
	content, err := os.ReadFile(service)
	if err != nil {
		c.t.Fatal(err)
	}
	if got := len(regexp.MustCompile(`"kind": ?"create"`).FindAll(content, -1)); got != n {
		c.t.Errorf("got %d effects, want %d", got, n)
	}
	c.must("log", "verify")
	c.must("fsck")
}
