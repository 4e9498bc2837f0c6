package faulty_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"testing"

	"golang.org/x/sys/unix"
)

// cramped goes through the history in a process whose files cannot grow, those of the store and that of the service.
func cramped(p *process, room int64) error {
	signal.Ignore(unix.SIGXFSZ)
	limit := &unix.Rlimit{Cur: uint64(room), Max: uint64(room)}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, limit); err != nil {
		return err
	}
	h, end := newHistory(p)
	defer end()
	h.run()
	_ = p.leave() // without room it may fail; the next process has to find everything all the same
	return json.NewEncoder(os.Stdout).Encode(crampedReport{h.faults, h.said})
}

// crampedReport is what the process says in the end.
type crampedReport struct{ Faults, Said []string }

// TestFault_NoRoomForTheFiles lets the files of the store end in the middle of the history, as a full disk does: what a
// write could not finish is not there, every error is one line, and where there is room again everything goes on.
func TestFault_NoRoomForTheFiles(t *testing.T) {
	for _, room := range []int64{1 << 10, 40 << 10, 150 << 10, 400 << 10, 700 << 10, 1500 << 10} {
		t.Run(fmt.Sprint(room), func(t *testing.T) {
			t.Parallel()
			dir := folder(t)
			p := mustEnter(t, dir)
			if err := errors.Join(p.furnish(), p.leave()); err != nil {
				t.Fatal(err)
			}
			c := startChild(t, childSpec{Dir: dir, Room: room})
			var said crampedReport
			if !c.lines.Scan() {
				t.Fatalf("the child said nothing: %v", c.cmd.Wait())
			}
			if err := json.Unmarshal(c.lines.Bytes(), &said); err != nil {
				t.Fatal(err)
			}
			if err := c.cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			if len(said.Said) == 0 && room < 100<<10 {
				t.Error("nothing failed, so nothing was shown")
			}
			t.Logf("%d steps failed, such as %q", len(said.Said), said.Said[:min(2, len(said.Said))])
			p = mustEnter(t, dir)
			h, end := newHistory(p)
			defer end()
			h.recover()
			h.finish()
			report(t, outcome{faults: append(said.Faults, append(h.faults, h.said...)...)})
			if err := p.leave(); err != nil {
				t.Error(err)
			}
		})
	}
}
