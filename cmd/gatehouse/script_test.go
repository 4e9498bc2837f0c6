package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"gatehouse/core"
	"gatehouse/gatekeepers/memory"
)

// The scripts run the program as processes of their own. Their binary is this
// test's: it has the in-memory gatekeeper (memory://) and fails, or is killed,
// at a point that GATEHOUSE_FAULT names. The shipped one has neither.

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"gatehouse": func() {
			os.Exit(run(process(), additions{
				gatekeepers: func() []core.Gatekeeper { return []core.Gatekeeper{memory.New()} },
				fault:       faultFrom(os.Getenv("GATEHOUSE_FAULT")),
			}))
		},
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		Setup:               quarantine,
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  exits,
			"field":  field,
			"needs":  needs,
			"home":   goHome,
			"meet":   meet,
			"setkey": setKey,
			"race":   race,

			"modelserver": modelServer,

			"acquaint": acquaint,
			"knows":    knows,
		},
	})
}

// quarantine gives a script folders of its own, and nothing of the person or
// the agent that runs the tests.
func quarantine(env *testscript.Env) error {
	current, err := user.Current()
	if err != nil {
		return err
	}
	env.Values[raceKey{}] = env
	env.Setenv("NL", "\n")
	env.Setenv("PERSON", current.Username)
	env.Setenv("PLATFORM", runtime.GOOS+"/"+runtime.GOARCH)
	env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv("XDG_DATA_HOME", filepath.Join(env.WorkDir, "data"))
	env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
	env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
	env.Setenv("TERM", "xterm-256color")
	return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o700)
}

// exits runs gatehouse and wants an exit code: exits CODE [ARGUMENT…].
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("write it as: exits CODE [ARGUMENT…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var ended *exec.ExitError
	switch err := ts.Exec("gatehouse", args[1:]...); {
	case errors.As(err, &ended):
		got = ended.ExitCode()
	case err != nil:
		ts.Fatalf("gatehouse: %v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// field compares a value in the JSON of stdout: field PATH WANT. The path has
// names and numbers with dots between; where there are several lines its first
// part is the number of the line. Any value that is no string is compared as
// compact JSON; count is the length of a list. A line break is written \n.
func field(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("write it as: field PATH WANT")
	}
	value, err := lookUp(ts.ReadFile("stdout"), args[0])
	if err != nil {
		ts.Fatalf("%v in %s", err, ts.ReadFile("stdout"))
	}
	if (value == args[1]) == neg {
		ts.Fatalf("%s is %s, want %s (negated: %t)", args[0], value, args[1], neg)
	}
}

func lookUp(output, path string) (string, error) {
	var lines []any
	decoder := json.NewDecoder(strings.NewReader(output))
	for decoder.More() {
		var v any
		if err := decoder.Decode(&v); err != nil {
			return "", err
		}
		lines = append(lines, v)
	}
	var value any = lines
	if len(lines) == 1 {
		value = lines[0]
	}
	for _, part := range strings.Split(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			found := false
			if value, found = v[part]; !found {
				return "", fmt.Errorf("no %q", part)
			}
		case []any:
			if part == "count" {
				return strconv.Itoa(len(v)), nil
			}
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(v) {
				return "", fmt.Errorf("no %q", part)
			}
			value = v[i]
		default:
			return "", fmt.Errorf("nothing below %q", part)
		}
	}
	if s, ok := value.(string); ok {
		return strings.ReplaceAll(s, "\n", `\n`), nil
	}
	raw, err := json.Marshal(value)
	return string(raw), err
}

// setKey puts the operator key that stands in the file key into the environment.
func setKey(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Setenv(operatorKey, strings.TrimSpace(ts.ReadFile("key")))
}

type raceKey struct{}

// race runs gatehouse several times at once, whatever the exit codes, with what
// each printed in race.out: race N ARGUMENT….
func race(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("write it as: race N ARGUMENT…")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	outputs := make([][]byte, n)
	var group sync.WaitGroup
	for i := range outputs {
		command := exec.Command("gatehouse", args[1:]...)
		command.Dir, command.Env = ts.MkAbs("."), ts.Value(raceKey{}).(*testscript.Env).Vars
		group.Go(func() { outputs[i], _ = command.CombinedOutput() })
	}
	group.Wait()
	all := bytes.Join(outputs, nil)
	ts.Logf("%s", all)
	ts.Check(os.WriteFile(ts.MkAbs("race.out"), all, 0o600))
}

// needs skips a script without a program that it cannot do without, and fails
// it in CI, where everything is there.
func needs(ts *testscript.TestScript, _ bool, args []string) {
	for _, program := range args {
		if _, err := exec.LookPath(program); err == nil {
			continue
		}
		if os.Getenv("CI") == "true" {
			ts.Fatalf("%s is not installed", program)
		}
		ts.Logf("skipped: %s is not installed", program)
		ts.Setenv("SKIPPED", program)
	}
}

// pointFault fails or kills the process when a point is passed the nth time.
type pointFault struct {
	point core.FaultPoint
	nth   int
	kill  bool

	mu     sync.Mutex
	passed int
}

// faultFrom reads POINT:N:kill or POINT:N:fail; nil for nothing.
func faultFrom(spec string) core.Fault {
	if spec == "" {
		return nil
	}
	parts := strings.Split(spec, ":")
	if len(parts) != 3 {
		panic("GATEHOUSE_FAULT: " + spec)
	}
	nth, err := strconv.Atoi(parts[1])
	if err != nil || nth < 1 {
		panic("GATEHOUSE_FAULT: " + spec)
	}
	return &pointFault{point: core.FaultPoint(parts[0]), nth: nth, kill: parts[2] == "kill"}
}

var errPlanted = errors.New("planted fault")

func (f *pointFault) At(point core.FaultPoint) error {
	if point != f.point {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.passed++
	if f.passed != f.nth {
		return nil
	}
	if f.kill {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // no return
		select {}
	}
	return fmt.Errorf("%w at %s", errPlanted, point)
}
