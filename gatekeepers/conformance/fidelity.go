package conformance

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"gatehouse/core"
)

// figure is the outcome of the fidelity measure.
type figure struct {
	histories, answers, equal, incomplete, writes, refused int
}

func (f figure) line(name string) string {
	s := fmt.Sprintf("fidelity %s: %d of %d answers equal over %d histories", name, f.equal, f.answers, f.histories)
	if f.incomplete > 0 {
		s += fmt.Sprintf(" (%d more said incomplete)", f.incomplete)
	}
	return s
}

// GK12: what reads showed while everything was pending is what the service returns once everything was approved.
func fidelity(b *bench) {
	b.need(b.setup.Write != nil && len(b.setup.Reads) > 0 && b.setup.Histories > 0, "Write, Reads and Histories")
	histories := number(b, "GATEHOUSE_HISTORIES", b.setup.Histories)
	seed := number(b, "GATEHOUSE_SEED", int(rand.Uint32()))
	b.t.Logf("fidelity %s: GATEHOUSE_SEED=%d", b.setup.Name, seed)
	f := figure{histories: histories}
	for i := range histories {
		b.begin(fmt.Sprintf("history %d", i))
		b.history(&f, seed+i)
		if b.t.Failed() {
			return
		}
	}
	if f.writes == 0 || f.answers == 0 {
		b.t.Errorf("no write was queued, or nothing was compared: %+v", f)
	}
	b.t.Logf("%d writes queued, %d refused when they were queued", f.writes, f.refused)
	b.t.Log(f.line(b.setup.Name))
}

func number(b *bench, variable string, otherwise int) int {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		b.t.Fatalf("%s: %q is not a number", variable, text)
	}
	return n
}

// history queues random writes, keeps what reads show, approves everything, and compares.
func (b *bench) history(f *figure, seed int) {
	b.t.Helper()
	r := rand.New(rand.NewPCG(uint64(seed), 0))
	most := b.setup.Writes
	if most == 0 {
		most = 8
	}
	var told []string
	var queued []core.ActionID
	blind := make(map[core.ActionID]bool) // queued by someone who was told that not everything could be shown
	for range 1 + r.IntN(most) {
		w := b.setup.Write(r)
		out := b.call(w)
		switch {
		case out.Action() != 0:
			queued = append(queued, out.Action())
			blind[out.Action()] = len(out.Incomplete()) > 0
			told = append(told, fmt.Sprintf("%d: %s", out.Action(), w))
		case out.Status() == core.StatusError:
			f.refused++
		default:
			b.t.Errorf("seed %d: %s: got %s (%s)", seed, w, out.Status(), out.Reason())
		}
	}
	f.writes += len(queued)
	reads := b.someReads(r)
	shown := make([][]core.Released, len(reads))
	for i, read := range reads {
		shown[i], _ = b.pages(read)
	}
	compare := func(when string) {
		b.t.Helper()
		for i, read := range reads {
			b.compare(f, read, shown[i], fmt.Sprintf("seed %d, %s:\n%s", seed, when, strings.Join(told, "\n")))
		}
	}
	// sometimes in two parts: what was queued under a provisional id meets what stands under a real one
	parts := [][]core.ActionID{queued}
	if len(queued) > 1 && r.IntN(3) == 0 {
		cut := 1 + r.IntN(len(queued)-1)
		parts = [][]core.ActionID{queued[:cut], queued[cut:]}
	}
	for i, part := range parts {
		if !b.approveAll(part, blind) {
			b.t.Errorf("seed %d: not everything could be approved:\n%s", seed, strings.Join(told, "\n"))
			return
		}
		compare(fmt.Sprintf("part %d of %d approved", i+1, len(parts)))
	}
}

// compare asks a read again. What said incomplete, then or now, is no answer.
func (b *bench) compare(f *figure, read Request, shown []core.Released, history string) {
	b.t.Helper()
	now, _ := b.pages(read)
	incomplete := func(p core.Released) bool { return len(p.Incomplete()) > 0 }
	if slices.ContainsFunc(shown, incomplete) || slices.ContainsFunc(now, incomplete) {
		f.incomplete++
		return
	}
	f.answers++
	got, want := b.answers(now), b.answers(shown)
	if got == want {
		f.equal++
		return
	}
	b.t.Errorf("%s\nwhile pending %s\nafterwards    %s\n%s", read, want, got, history)
}

// someReads are the first of the setup's reads, which shows most, and some of the others: over many histories all of
// them are asked, and each history stays cheap.
func (b *bench) someReads(r *rand.Rand) []Request {
	const others = 2
	reads := []Request{b.setup.Reads[0]}
	for _, i := range r.Perm(len(b.setup.Reads) - 1)[:min(others, len(b.setup.Reads)-1)] {
		reads = append(reads, b.setup.Reads[1+i])
	}
	return reads
}

func (b *bench) answers(pages []core.Released) string {
	b.t.Helper()
	var s strings.Builder
	for _, p := range pages {
		fmt.Fprintln(&s, b.comparable(p))
	}
	return s.String()
}

// approveAll approves until nothing is pending. What comes behind an awaited action may drift, because nobody can see
// its result before, and may even turn out to be impossible; then it is rejected.
func (b *bench) approveAll(ids []core.ActionID, blind map[core.ActionID]bool) bool {
	b.t.Helper()
	for range len(ids) + 1 { // each round applies one at least, and what drifted needs one more
		if len(ids) == 0 {
			return true
		}
		var rest []core.ActionID
		for _, r := range b.approve(ids...) {
			switch r.Outcome {
			case core.OutcomeApplied, core.OutcomeStranded:
			case core.OutcomeDrifted, core.OutcomeSkipped:
				if a := b.action(r.Action); blind[a.ID] && a.Drift == core.DriftBlocked {
					b.reject(a.ID)
					continue
				}
				rest = append(rest, r.Action)
			default:
				if a := b.action(r.Action); a.State != core.StateStranded {
					b.t.Errorf("action %d: %s (%s)", r.Action, r.Outcome, r.Reason)
					return false
				}
			}
		}
		ids = rest
	}
	for _, id := range ids {
		b.t.Logf("action %d: %s, drift %q: %s", id, b.action(id).State, b.action(id).Drift, b.action(id).Reason)
	}
	return len(ids) == 0
}
