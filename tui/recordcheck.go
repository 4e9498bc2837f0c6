package tui

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// recordCheck is the walk over the whole record and what it found last.
type recordCheck struct {
	running bool
	stop    context.CancelFunc
	steps   *checkSteps
	done    int64
	all     int64
	ended   time.Time // of the last whole walk; zero: there was none here
	result  core.Verification
	err     string
}

// checkSteps carries the newest progress from the goroutine that walks to the
// loop. What the loop has not looked at is overwritten.
type checkSteps struct {
	mu        sync.Mutex
	done, all int64
	ended     bool
	more      chan struct{}
}

func (s *checkSteps) put(done, all int64, ended bool) {
	s.mu.Lock()
	s.done, s.all, s.ended = max(done, s.done), max(all, s.all), ended
	s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// checkMsg is how far a walk has come.
type checkMsg struct {
	steps     *checkSteps
	done, all int64
	ended     bool
}

// take waits for the next progress.
func (s *checkSteps) take() term.Msg {
	<-s.more
	s.mu.Lock()
	defer s.mu.Unlock()
	return checkMsg{s, s.done, s.all, s.ended}
}

// checkEndedMsg is what a walk found.
type checkEndedMsg struct {
	steps  *checkSteps
	result core.Verification
	err    error
}

// verify walks the record off the loop; while it does, the key stops it.
func (v *record) verify() term.Cmd {
	if v.check.running {
		v.check.stop()
		return nil
	}
	ctx, cancel := context.WithCancel(v.a.ctx)
	steps := &checkSteps{more: make(chan struct{}, 1)}
	v.check.running, v.check.stop, v.check.steps, v.check.err = true, cancel, steps, ""
	v.check.done, v.check.all = 0, 0
	kernel := v.a.kernel
	walk := func() term.Msg {
		defer cancel()
		defer steps.put(0, 0, true)
		result, err := kernel.VerifyRecordWatched(ctx, func(done, all int64) { steps.put(done, all, false) })
		return checkEndedMsg{steps, result, err}
	}
	return term.All(walk, steps.take)
}

// checked draws progress; the next is looked for when this one has been seen.
func (v *record) checked(msg checkMsg) term.Cmd {
	if msg.steps != v.check.steps {
		return nil
	}
	v.check.done, v.check.all = msg.done, msg.all
	if msg.ended {
		return nil
	}
	return term.After(batchFor, checkOnMsg{msg.steps})
}

// checkOnMsg asks for the next progress.
type checkOnMsg struct{ steps *checkSteps }

func (v *record) checkEnded(msg checkEndedMsg) {
	if msg.steps != v.check.steps {
		return
	}
	stopped := v.a.ctx.Err() == nil && msg.err != nil && errors.Is(msg.err, context.Canceled)
	v.check.running = false
	switch {
	case stopped:
		v.a.say(roleMuted, "the check was stopped; nothing is known from it")
	case msg.err != nil:
		v.check.err, _ = cleanLine(msg.err.Error(), reasonLimit)
		v.a.fail(msg.err)
	default:
		v.check.ended, v.check.result = v.a.now(), msg.result
		if bad := msg.result.FirstBad; bad != nil {
			v.a.say(roleDanger, "the record was changed: "+badWords(*bad)+"; rows before it are as they were written: compare with a backup")
		}
	}
}

// badWords names the first bad row.
func badWords(bad core.BadRow) string {
	reason, _ := cleanLine(bad.Reason, reasonLimit)
	return fmt.Sprintf("row %d %s", bad.Seq, reason)
}

// state says in the head line what is known of the record.
func (c *recordCheck) state(zone *time.Location) (string, role) {
	at := c.ended.In(zone).Format("15:04")
	switch {
	case c.running && c.all > 0:
		return fmt.Sprintf("verifying %s of %s", thousands(int(c.done)), thousands(int(c.all))), roleAccent
	case c.running:
		return "verifying", roleAccent
	case c.err != "":
		return "✗ could not be verified", roleWarn
	case c.ended.IsZero():
		return "not verified", roleMuted
	case c.result.FirstBad != nil:
		return fmt.Sprintf("✗ %s, found at %s", badWords(*c.result.FirstBad), at), roleDanger
	}
	return fmt.Sprintf("✓ verified %s at %s", plural(int(c.result.Rows), "row", "rows"), at), roleGood
}
