package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gatehouse/core"
)

// childEnv makes the test binary a process that carries out one action, or reads as somebody else, and ends.
const childEnv = "GATEHOUSE_FILES_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "":
		os.Exit(m.Run())
	case "apply":
		os.Exit(obey(childApply))
	case "read":
		os.Exit(obey(childRead))
	}
}

// order is what a child is to do.
type order struct {
	Dir      string
	Dispatch core.Dispatch
	Kill     core.FaultPoint // where it dies
	Nth      int             // at which passing of that point
	UID      int
	Path     string
}

func obey(run func(order) error) int {
	var o order
	if err := json.NewDecoder(os.Stdin).Decode(&o); err != nil {
		fmt.Println(err)
		return 2
	}
	if err := run(o); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// killer ends its process, without a chance to tidy up, at a point.
type killer struct {
	at  core.FaultPoint
	nth int
}

func (k *killer) At(p core.FaultPoint) error {
	if p != k.at {
		return nil
	}
	if k.nth--; k.nth > 0 {
		return nil
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		return err
	}
	select {}
}

func openAt(dir string, options Options) (core.Resource, error) {
	d := New(options)
	url := place{root: dir}.String()
	c, err := d.Connect(context.Background(), url)
	if err != nil {
		return nil, err
	}
	return d.Open(context.Background(), c, url)
}

func childApply(o order) error {
	r, err := openAt(o.Dir, Options{Fault: &killer{at: o.Kill, nth: o.Nth}})
	if err != nil {
		return err
	}
	out, err := r.Apply(context.Background(), o.Dispatch)
	if err == nil && out.End != core.EndApplied {
		err = errors.New(out.Text)
	}
	return err
}

func runChild(t *testing.T, as string, o order) (output string, killed bool) {
	t.Helper()
	in, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childEnv+"="+as)
	cmd.Stdin = strings.NewReader(string(in))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if exit != nil {
		status, ok := exit.Sys().(syscall.WaitStatus)
		killed = ok && status.Signaled() && status.Signal() == syscall.SIGKILL
	}
	return string(out), killed
}

// TestF6_KilledAtEveryStep kills the process that applies at every step it passes. What a person finds then is the old
// or the new, never half, and nothing unfinished shows; the next apply in the folder tidies up.
func TestF6_KilledAtEveryStep(t *testing.T) {
	before := map[string]string{"d/f.txt": "old\n", "d/sub/x.txt": "x", "d/sub/y.txt": "y"}
	for name, args := range map[string][]any{
		"write":       {opWrite, "path", "d/f.txt", "text", strings.Repeat("new\n", 1000)},
		"write new":   {opWrite, "path", "n/m/f.txt", "text", "new\n"},
		"edit":        {opEdit, "path", "d/f.txt", "old", "old", "new", "new"},
		"move":        {opMove, "from", "d/f.txt", "to", "n/g.txt"},
		"delete":      {opDelete, "path", "d/f.txt"},
		"delete tree": {opDelete, "path", "d/sub"},
		"mkdir":       {opMkdir, "path", "n/m"},
	} {
		t.Run(name, func(t *testing.T) {
			passed := 0
			for _, point := range FaultPoints() {
				for nth := 1; nth <= 2; nth++ {
					b := newBench(t, before)
					old := b.tree()
					id, _ := b.queue(args[0].(string), args[1:]...)
					dispatch := b.dispatch(id)
					output, killed := runChild(t, "apply", order{Dir: b.dir, Dispatch: dispatch, Kill: point, Nth: nth})
					if !killed {
						if output != "" {
							t.Fatalf("%s %d: %s", point, nth, output)
						}
						break // it does not pass this point so often
					}
					passed++
					b.drop(id)
					b.wantOldOrNew(fmt.Sprintf("%s %d", point, nth), old, dispatch)
				}
			}
			if passed < 3 {
				t.Errorf("killed at %d steps; want 3 at least", passed)
			}
		})
	}
}

// wantOldOrNew compares what is left of a killed apply with the folder before it, and after it.
func (b *bench) wantOldOrNew(when string, old map[string]string, dispatch core.Dispatch) {
	b.t.Helper()
	got := b.tree()
	unfinished := 0
	maps.DeleteFunc(got, func(p, _ string) bool {
		hidden := strings.Contains(p, tempPrefix)
		if hidden {
			unfinished++
		}
		return hidden
	})
	for _, list := range []string{"", "d"} {
		for _, name := range b.names(list) {
			if isTemp(name) {
				b.t.Errorf("%s: the list of %q shows %s", when, list, name)
			}
		}
	}
	whole := newBench(b.t, nil)
	for p, content := range old {
		if !strings.HasSuffix(p, "/") {
			whole.disk(p, content)
		}
	}
	id, _ := whole.queue(dispatch.Kind, argsOf(dispatch)...)
	whole.apply(id)
	// A process may die between the folders that it makes and what goes into them: those are new, whole, and empty.
	withFolders := maps.Clone(old)
	for p := range whole.tree() {
		if strings.HasSuffix(p, "/") {
			if _, made := got[p]; made {
				withFolders[p] = ""
			}
		}
	}
	if !maps.Equal(got, withFolders) && !maps.Equal(got, whole.tree()) {
		b.t.Errorf("%s: got %v, want it as before or as after", when, got)
	}
	if unfinished == 0 {
		return
	}
	for _, folder := range []string{"d", "n/m", "n"} {
		if info, err := os.Stat(filepath.Join(b.dir, folder)); err == nil && info.IsDir() {
			id, _ := b.queue(opWrite, "path", folder+"/tidy.txt", "text", "t")
			b.apply(id)
		}
	}
	for p := range b.tree() {
		if strings.Contains(p, tempPrefix) {
			b.t.Errorf("%s: %s is left behind", when, p)
		}
	}
}

// argsOf are the arguments that made an action.
func argsOf(d core.Dispatch) []any {
	p, err := decodePayload(d.Payload)
	if err != nil {
		panic(err)
	}
	switch d.Kind {
	case opWrite:
		return []any{"path", p.Path, "text", string(p.Content)}
	case opEdit:
		return []any{"path", p.Path, "old", p.Old, "new", p.New}
	case opMove:
		return []any{"from", p.From, "to", p.To}
	default:
		return []any{"path", p.Path}
	}
}

// failer fails at a point, as a full disk would.
type failer struct {
	at  core.FaultPoint
	err error
}

func (f *failer) At(p core.FaultPoint) error {
	if p == f.at {
		return f.err
	}
	return nil
}

func TestF6_AFullDiskChangesNothing(t *testing.T) {
	for _, point := range FaultPoints() {
		for _, path := range []string{"f.txt", "n/m/f.txt"} {
			b := newBenchIn(t, t.TempDir(), "", map[string]string{"f.txt": "old\n"}, Options{Fault: &failer{at: point, err: syscall.ENOSPC}})
			old := b.tree()
			id, _ := b.queue(opWrite, "path", path, "text", "new\n")
			o, err := b.res.Apply(context.Background(), b.dispatch(id))
			switch {
			case point == FaultErased, path == "f.txt" && point == FaultParent: // not passed
				if err != nil || o.End != core.EndApplied {
					t.Errorf("%s %s: got %+v %v, want applied", point, path, o, err)
				}
			case point == FaultDone, point == FaultDurable: // the effect is there: nobody knows whether it lasts
				if err == nil || core.IsNotSent(err) {
					t.Errorf("%s %s: got %+v %v, want an unknown outcome", point, path, o, err)
				}
				b.wantDisk(path, "new\n")
			default:
				if err != nil || o.End != core.EndRetryable || !strings.Contains(o.Text, "disk is full") {
					t.Errorf("%s %s: got %+v %v, want retryable, the disk is full", point, path, o, err)
				}
				if got := b.tree(); !maps.Equal(got, old) {
					t.Errorf("%s %s: got %v, want %v", point, path, got, old)
				}
			}
		}
	}
}
