package memory

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gatehouse/core"
)

// Mode is a way to fail on demand.
type Mode string

// The modes. For a read and for "current" every mode but Hang, Slow and Leak is a plain error.
const (
	FailBefore    Mode = "before"     // nothing left: an error made by core.NotSent
	FailAfter     Mode = "after"      // the effect is made, then the answer is lost: unknown
	FailUnknown   Mode = "unknown"    // no effect is made and no answer comes: unknown
	FailRetryable Mode = "retryable"  // the service says not now
	FailForGood   Mode = "good"       // the service says no
	FailLeak      Mode = "leak"       // the service says no, and its text holds the item's body
	FailLeakError Mode = "leak-error" // as FailLeak, but as an error: unknown
	FailHang      Mode = "hang"       // waits until the context ends: unknown
	FailSlow      Mode = "slow"       // waits a moment, then works
	FailProject   Mode = "project"    // effects of the kind cannot be projected
	FailMoved     Mode = "moved"      // the item changes behind our back between the claim and the effect
)

func modes() []Mode {
	return []Mode{
		FailBefore, FailAfter, FailUnknown, FailRetryable, FailForGood, FailLeak, FailLeakError, FailHang, FailSlow,
		FailProject, FailMoved,
	}
}

// failure is one entry of the option fail.
type failure struct {
	mode  Mode
	where string // action kind, method of a read, "current"; "*" is every action kind
	nth   int    // 0 is every time
}

func (f failure) matches(where string, count int) bool {
	anyKind := f.where == "*" && isKind(where)
	return (anyKind || f.where == where) && (f.nth == 0 || f.nth == count)
}

func parseFailures(s string) ([]failure, error) {
	var list []failure
	for _, part := range strings.Split(s, ",") {
		words := strings.Split(part, ":")
		f := failure{mode: Mode(words[0]), where: "*"}
		known := false
		for _, m := range modes() {
			known = known || m == f.mode
		}
		if !known || len(words) > 3 {
			return nil, fmt.Errorf("option fail: %q is not MODE[:WHERE[:N]] with MODE one of %v", part, modes())
		}
		if len(words) > 1 {
			f.where = words[1]
		}
		if len(words) > 2 {
			n, err := strconv.Atoi(words[2])
			if err != nil || n < 1 {
				return nil, fmt.Errorf("option fail: %q does not say which time with a number from 1", part)
			}
			f.nth = n
		}
		list = append(list, f)
	}
	return list, nil
}

func printFailures(list []failure) string {
	words := make([]string, len(list))
	for i, f := range list {
		words[i] = string(f.mode)
		if f.where != "*" || f.nth != 0 {
			words[i] += ":" + f.where
		}
		if f.nth != 0 {
			words[i] += ":" + strconv.Itoa(f.nth)
		}
	}
	return strings.Join(words, ",")
}

var errFailed = errors.New("memory: failed on demand")

// failAsked is what a call that changes nothing does about a failure: an error, or a wait and then none.
func failAsked(ctx context.Context, mode Mode) error {
	switch mode {
	case "", FailProject, FailMoved:
		return nil
	case FailHang:
		<-ctx.Done()
		return ctx.Err()
	case FailSlow:
		return pause(ctx, slowness)
	default:
		return errFailed
	}
}

// failSend is what an apply does about a failure before the effect; done means that outcome and err stand.
func failSend(ctx context.Context, mode Mode, held Item, unit core.Found) (outcome core.Outcome, err error, done bool) {
	text := fmt.Sprintf("item %q was refused: its body is %q", held.ID, held.Body)
	switch mode {
	case FailBefore:
		return core.Outcome{}, core.NotSent(errFailed), true
	case FailUnknown:
		return core.Outcome{End: core.EndUnknown}, nil, true
	case FailRetryable:
		return core.Outcome{End: core.EndRetryable, Text: "the service is busy"}, nil, true
	case FailForGood:
		return core.Outcome{End: core.EndFailed, Text: "the service refuses this"}, nil, true
	case FailLeak:
		return core.Outcome{End: core.EndFailed, Text: text, Found: []core.Found{unit}}, nil, true
	case FailLeakError:
		return core.Outcome{}, errors.New(text), true
	case FailHang:
		<-ctx.Done()
		return core.Outcome{}, ctx.Err(), true
	case FailSlow:
		if err := pause(ctx, slowness); err != nil {
			return core.Outcome{}, err, true
		}
	}
	return core.Outcome{}, nil, false
}
