package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gatehouse/core"
	"gatehouse/gatekeepers/files"
	"gatehouse/store"
)

const benchActions = 10_000

// BenchmarkP1_Start measures whole processes against an empty Go program in the same run: the screens, from start to the
// first full frame over a store with 10,000 actions, and plain commands (performance P1).
func BenchmarkP1_Start(b *testing.B) {
	dir := b.TempDir()
	path := crowdedStore(b, dir)
	program, empty := buildProgram(b, dir), buildEmpty(b, dir)
	env := append(os.Environ(), "GATEHOUSE_STORE="+path, "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_STATE_HOME="+dir, "TERM=xterm-256color")

	for b.Loop() {
		floor := medianOf(b, func() time.Duration { return timeCommand(b, env, empty) })
		frame := medianOf(b, func() time.Duration { return timeFirstFrame(b, env, program, "page-00001") })
		version := medianOf(b, func() time.Duration { return timeCommand(b, env, program, "version") })
		list := medianOf(b, func() time.Duration { return timeCommand(b, env, program, "session", "list") })
		b.ReportMetric(float64((frame - floor).Milliseconds()), "ms-above-empty")
		b.Logf("P1 first frame %v, an empty program %v: %v above, to reach 60 ms", frame, floor, frame-floor)
		b.Logf("P1 version %v, session list %v: %v and %v above, to reach 25 ms", version, list, version-floor, list-floor)
	}
}

// medianOf runs something nine times after one that does not count.
func medianOf(b *testing.B, run func() time.Duration) time.Duration {
	b.Helper()
	run()
	times := make([]time.Duration, 9)
	for i := range times {
		times[i] = run()
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// crowdedStore queues 10,000 writes.
func crowdedStore(b *testing.B, dir string) string {
	b.Helper()
	ctx := context.Background()
	path, site := filepath.Join(dir, "gatehouse.db"), filepath.Join(dir, "site")
	if err := os.Mkdir(site, 0o700); err != nil {
		b.Fatal(err)
	}
	db, err := store.Open(ctx, store.Options{Path: path})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	processes, err := store.Join(db.Path())
	if err != nil {
		b.Fatal(err)
	}
	defer processes.Close()
	k, err := core.New(core.Options{
		Store: db, Gatekeepers: []core.Gatekeeper{files.New(files.Options{Host: "bench", User: "alice"})},
		Clock: systemClock{}, Rand: rand.Reader, Alive: processes, Cap: benchActions,
	})
	if err != nil {
		b.Fatal(err)
	}
	defer k.Close()
	session, err := k.NewSession(ctx, core.NewSession{Name: "bench", Owner: "alice"})
	if err != nil {
		b.Fatal(err)
	}
	bind := core.BindRequest{Session: string(session.ID), Name: "SITE", URL: "file://" + site, Person: "alice"}
	if _, err := k.Bind(ctx, bind); err != nil {
		b.Fatal(err)
	}
	for n := 1; n <= benchActions; n++ {
		out, err := k.Call(ctx, core.CallRequest{
			Session: string(session.ID), Binding: "SITE", Method: "write", Caller: core.Caller{Kind: core.CallerPerson, Person: "alice"},
			Args: json.RawMessage(fmt.Sprintf(`{"path":"page-%05d.html","text":"hello"}`, n)),
		})
		if err != nil || out.Action() == 0 {
			b.Fatalf("write %d: %v %s", n, err, out.Reason())
		}
	}
	return path
}

func buildProgram(b *testing.B, dir string) string {
	b.Helper()
	out := filepath.Join(dir, "program")
	if msg, err := exec.Command("go", "build", "-o", out, ".").CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, msg)
	}
	return out
}

func buildEmpty(b *testing.B, dir string) string {
	b.Helper()
	source, out := filepath.Join(dir, "empty.go"), filepath.Join(dir, "empty")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	if msg, err := exec.Command("go", "build", "-o", out, source).CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, msg)
	}
	return out
}

func timeCommand(b *testing.B, env []string, program string, args ...string) time.Duration {
	b.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = env
	start := time.Now()
	if msg, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %v\n%s", args, err, msg)
	}
	return time.Since(start)
}

// timeFirstFrame starts the screens on a terminal of 120×40 and waits until a row of the queue was written.
func timeFirstFrame(b *testing.B, env []string, program, row string) time.Duration {
	b.Helper()
	terminal, inner := openTerminal(b)
	defer terminal.Close()
	cmd := exec.Command(program)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, inner, inner, inner
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	_ = inner.Close() // the child has its own
	seen := readUntil(b, terminal, row)
	took := seen.Sub(start)
	if err := cmd.Process.Kill(); err != nil {
		b.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	return took
}

func readUntil(b *testing.B, terminal *os.File, row string) time.Time {
	b.Helper()
	var all []byte
	buf := make([]byte, 1<<16)
	for !bytes.Contains(all, []byte(row)) {
		n, err := terminal.Read(buf)
		if err != nil {
			b.Fatalf("no first frame: %v, after %q", err, all)
		}
		all = append(all, buf[:n]...)
	}
	return time.Now()
}

// openTerminal makes a pseudo terminal: the outer end for the test, the inner one for a program.
func openTerminal(b testing.TB) (outer, inner *os.File) {
	b.Helper()
	outer, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		b.Fatal(err)
	}
	fd := int(outer.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		b.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		b.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}); err != nil {
		b.Fatal(err)
	}
	inner, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		b.Fatal(err)
	}
	return outer, inner
}
